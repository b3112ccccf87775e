/* SPDX-License-Identifier: MIT */
/* Keep descriptors 0 to 2 from being given to other files. */
#ifndef LIB_STANDARD_STREAMS_H
#define LIB_STANDARD_STREAMS_H

#include <fcntl.h>
#include <unistd.h>

/**
 * standard_streams_open - occupy descriptors 0 to 2 where the program was started without them
 *
 * Otherwise the next file or socket that the program opens gets such a number, and what is printed is
 * written to it. Reading and writing fail as they do for a closed descriptor: 0 is open for writing
 * alone, 1 and 2 for reading alone. For the beginning of main().
 */
static inline void standard_streams_open(void)
{
	int fd, got;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		got = open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
		/* a root without devices */
		if (got < 0)
			got = open("/", O_RDONLY | O_DIRECTORY);
		if (got != fd)
			_exit(126);
	}
}

#endif /* LIB_STANDARD_STREAMS_H */
