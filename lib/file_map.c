/* SPDX-License-Identifier: MIT */
/* Read a whole file into memory, or map it and only read its head. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tenon/error.h>
#include "lib/file_map.h"

#include "lib/brief_errors.h"
#include "lib/large_pages.h"

static int check_file(int fd, const char *path, size_t *size)
{
	struct stat st;

	if (fstat(fd, &st))
		return tenon_error(-TENON_E_IO, "%s: %s", path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return tenon_error(-TENON_E_IO, "%s: is a directory, want a file", path);
	if (!S_ISREG(st.st_mode))
		return tenon_error(-TENON_E_IO, "%s: is not a regular file", path);
	if ((uint64_t)st.st_size > SIZE_MAX / 2)
		return tenon_error(-TENON_E_IO, "%s: too large to be mapped here", path);
	*size = (size_t)st.st_size;
	return 0;
}

int file_open(const char *path, int *fd, size_t *size)
{
	int err;

	/* O_NONBLOCK: opening a pipe must not wait for a writer */
	*fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (*fd < 0)
		return tenon_error(-TENON_E_IO, "%s: %s", path, strerror(errno));
	err = check_file(*fd, path, size);
	if (err) {
		close(*fd);
		*fd = -1;
	}
	return err;
}

static int cut_error(const char *path)
{
	return tenon_error(-TENON_E_IO,
			   "%s: it became shorter while it was in use; replace files by renaming",
			   path);
}

int file_read_at(int fd, const char *path, void *to, size_t size, uint64_t offset)
{
	char *at = to;

	while (size) {
		ssize_t n = pread(fd, at, size, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return tenon_error(-TENON_E_IO, "%s: %s", path, strerror(errno));
		if (!n)
			return cut_error(path);
		at += n;
		offset += (uint64_t)n;
		size -= (size_t)n;
	}
	return 0;
}

static int map(int fd, int access, int flags, const char *path, size_t size,
	       struct tenon_slice *out)
{
	void *data;

	*out = (struct tenon_slice){ NULL, 0 };
	if (!size)
		return 0;
	data = mmap(NULL, size, access, MAP_PRIVATE | flags, fd, 0);
	if (data == MAP_FAILED)
		return tenon_error(errno == ENOMEM ? -TENON_E_NOMEM : -TENON_E_IO,
				   "%s: cannot be mapped: %s", path, strerror(errno));
	*out = (struct tenon_slice){ data, size };
	return 0;
}

/* Is the file still as long as it was when it was opened? */
static int check_size(int fd, const char *path, size_t size)
{
	size_t now;
	int err = check_file(fd, path, &now);

	return err || now >= size ? err : cut_error(path);
}

int file_map(int fd, const char *path, size_t size, struct tenon_slice *out)
{
	int err;

	err = map(fd, PROT_READ, 0, path, size, out);
	if (!err)
		err = check_size(fd, path, size);
	if (err)
		file_map_close(out);
	return err;
}

int file_map_reserve(const char *path, size_t size, struct tenon_slice *out)
{
	return map(-1, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_NORESERVE, path, size, out);
}

/* Skip the holes of a sparse file: writing their zeros would allocate pages. */
static int read_extents(int fd, const char *path, char *to, size_t size)
{
	size_t at = 0, end;
	off_t found;
	int err = 0;

	while (at < size && !err) {
		found = lseek(fd, (off_t)at, SEEK_DATA);
		/* a hole up to the end, or no bytes there any more */
		if (found < 0 && errno == ENXIO)
			return check_size(fd, path, size);
		at = found < 0 ? at : (size_t)found;
		found = lseek(fd, (off_t)at, SEEK_HOLE);
		end = found <= (off_t)at || (size_t)found > size ? size : (size_t)found;
		if (at < end)
			err = file_read_at(fd, path, to + at, end - at, at);
		at = end;
	}
	return err;
}

int file_map_head(const char *path, size_t most, struct tenon_slice *out)
{
	size_t size;
	int fd, err;

	*out = (struct tenon_slice){ NULL, 0 };
	err = file_open(path, &fd, &size);
	if (err)
		return err;
	err = file_map_reserve(path, size < most ? size : most, out);
	if (!err)
		large_pages_use(out->data, out->size);
	if (!err)
		err = read_extents(fd, path, (char *)(uintptr_t)out->data, out->size);
	if (err)
		file_map_close(out);
	close(fd);
	return err;
}

int file_map_ends(const char *path, size_t head, size_t tail, struct tenon_slice *out)
{
	size_t size, whole;
	int fd, err;

	*out = (struct tenon_slice){ NULL, 0 };
	err = file_open(path, &fd, &whole);
	if (err)
		return err;
	size = whole < head + tail ? whole : head + tail;
	head = size < head ? size : head;
	err = file_map_reserve(path, size, out);
	if (!err)
		err = file_read_at(fd, path, (char *)(uintptr_t)out->data, head, 0);
	if (!err)
		err = file_read_at(fd, path, (char *)(uintptr_t)out->data + head, size - head,
				   whole - (size - head));
	if (err)
		file_map_close(out);
	close(fd);
	return err;
}

int file_map_open(const char *path, struct tenon_slice *out)
{
	return file_map_head(path, SIZE_MAX, out);
}

void file_map_close(struct tenon_slice *bytes)
{
	if (bytes->size)
		munmap((void *)(uintptr_t)bytes->data, bytes->size);
	*bytes = (struct tenon_slice){ NULL, 0 };
}
