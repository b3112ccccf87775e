/* SPDX-License-Identifier: MIT */
/* Read and write as many bytes as are asked for, in however many calls the kernel takes. */
#ifndef LIB_WHOLE_IO_H
#define LIB_WHOLE_IO_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

/** write_whole - write @size bytes to a descriptor; false with errno set */
static inline bool write_whole(int fd, const void *data, size_t size)
{
	size_t done = 0;
	ssize_t n;

	while (done < size) {
		n = write(fd, (const char *)data + done, size - done);
		if (n < 0 && errno != EINTR)
			return false;
		done += n > 0 ? (size_t)n : 0;
	}
	return true;
}

/** read_whole - read @size bytes from a descriptor; false with errno set, which is 0 where the file ends before */
static inline bool read_whole(int fd, void *data, size_t size)
{
	size_t done = 0;
	ssize_t n;

	while (done < size) {
		n = read(fd, (char *)data + done, size - done);
		if (!n)
			errno = 0;
		if (!n || (n < 0 && errno != EINTR))
			return false;
		done += n > 0 ? (size_t)n : 0;
	}
	return true;
}

#endif /* LIB_WHOLE_IO_H */
