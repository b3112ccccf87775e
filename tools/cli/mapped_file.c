/* SPDX-License-Identifier: MIT */
/* Handle SIGBUS: find the mapped file of the address and name it. */
#include "tools/cli/mapped_file.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "tools/cli/cli.h"

/* Everything here runs in a signal handler: no stdio, no allocation. */

#define LINE_MOST 4352 /* PATH_MAX, and what stands in front of a path */

static const char *hexadecimal(const char *text, uintptr_t *value)
{
	for (*value = 0; *text; text++) {
		if (*text >= '0' && *text <= '9')
			*value = *value << 4 | (uintptr_t)(*text - '0');
		else if (*text >= 'a' && *text <= 'f')
			*value = *value << 4 | (uintptr_t)(*text - 'a' + 10);
		else
			break;
	}
	return text;
}

/*
 * The path in a line of /proc/self/maps, "7f00-7fff r--p 00000000 08:01 4711 /path", if @address is
 * in there.
 */
static const char *path_of(const char *line, uintptr_t address)
{
	uintptr_t start, end;

	line = hexadecimal(line, &start);
	if (*line != '-')
		return NULL;
	hexadecimal(line + 1, &end);
	return address >= start && address < end ? strchr(line, '/') : NULL;
}

/* Read the next line; cut when it is too long. */
static bool read_line(int fd, char line[LINE_MOST])
{
	size_t n = 0;
	char c;

	while (read(fd, &c, 1) == 1) {
		if (c == '\n') {
			line[n] = '\0';
			return true;
		}
		if (n < LINE_MOST - 1)
			line[n++] = c;
	}
	return false;
}

static const char *find_path(uintptr_t address, char line[LINE_MOST])
{
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	const char *path = NULL;

	while (fd >= 0 && !path && read_line(fd, line))
		path = path_of(line, address);
	if (fd >= 0)
		close(fd);
	return path;
}

static void say(const char *text)
{
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		return;
}

static void cut_off(int number, siginfo_t *info, void *context)
{
	static char line[LINE_MOST];
	const char *path;

	(void)context;
	if (info->si_code != BUS_ADRERR) {
		/* the instruction is run again, and ends the process */
		signal(number, SIG_DFL);
		return;
	}
	path = find_path((uintptr_t)info->si_addr, line);
	say("tenon: ");
	say(path ? path : "a mapped file");
	say(": it became shorter while it was in use; replace files by renaming (mv), not by "
	    "writing to "
	    "them (cp)\n");
	_exit(CLI_NO_FILE);
}

void mapped_file_handle_sigbus(void)
{
	struct sigaction action = { .sa_sigaction = cut_off, .sa_flags = SA_SIGINFO };

	sigaction(SIGBUS, &action, NULL);
}
