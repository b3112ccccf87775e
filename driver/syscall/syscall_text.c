/* SPDX-License-Identifier: MIT */
/* Read and write attributes of sysfs as text and numbers. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/error.h>

#include "driver/syscall/syscall.h"
#include "lib/brief_errors.h"

int system_read_text(const struct system_calls *calls, const char *path, char *text, size_t room)
{
	int fd = system_open(calls, path, O_RDONLY);
	size_t used = 0;
	ssize_t n;
	int err = 0;

	*text = 0;
	if (fd < 0)
		return fd;
	for (;;) {
		n = calls->read(fd, text + used, room - 1 - used);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		used += (size_t)n;
		if (used == room - 1)
			break;
	}
	if (n < 0) {
		err = system_error(errno, path, "read it");
		used = 0;
	}
	while (used && isspace((unsigned char)text[used - 1]))
		used--;
	text[used] = 0;
	system_close(calls, &fd);
	return err;
}

int system_read_number(const struct system_calls *calls, const char *path, uint64_t *number)
{
	char text[64], *end;
	int err = system_read_text(calls, path, text, sizeof(text));

	*number = 0;
	if (err)
		return err;
	errno = 0;
	*number = strtoull(text, &end, 0);
	if (isdigit((unsigned char)*text) && !*end && !errno)
		return 0;
	*number = 0;
	return tenon_error(-TENON_E_FORMAT, "%s: expected a number, found \"%s\"", path, text);
}

int system_write_text(const struct system_calls *calls, const char *path, const char *text)
{
	int fd = system_open(calls, path, O_WRONLY);
	size_t size = strlen(text);
	ssize_t n;
	int err = 0;

	if (fd < 0)
		return fd;
	do
		n = calls->write(fd, text, size);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		err = system_error(errno, path, "write it");
	else if ((size_t)n != size)
		err = tenon_error(-TENON_E_TRUNCATED, "%s: %zd of %zu bytes written", path, n,
				  size);
	system_close(calls, &fd);
	return err;
}
