/* SPDX-License-Identifier: MIT */
/* Read /proc/self/maps in a signal handler: no stdio, no allocation. */
#include "tools/cli/mapping.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

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

/* Read a line, "7f00-7fff r--p 00000000 08:01 4711 /path"; test whether @address is in there. */
static bool read_mapping(struct mapping *m, uintptr_t address)
{
	const char *at = hexadecimal(m->line, &m->start);

	if (*at != '-')
		return false;
	at = hexadecimal(at + 1, &m->end);
	if (address < m->start || address >= m->end)
		return false;
	/* behind the permissions */
	if (strlen(at) > 6)
		hexadecimal(at + 6, &m->offset);
	m->path = strchr(at, '/');
	return true;
}

/* Read the next line; cut when it is too long. */
static bool read_line(int fd, char line[MAPPING_LINE])
{
	size_t n = 0;
	char c;

	while (read(fd, &c, 1) == 1) {
		if (c == '\n') {
			line[n] = '\0';
			return true;
		}
		if (n < MAPPING_LINE - 1)
			line[n++] = c;
	}
	return false;
}

bool mapping_find(uintptr_t address, struct mapping *m)
{
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	bool found = false;

	m->path = NULL;
	m->offset = 0;
	while (fd >= 0 && !found && read_line(fd, m->line))
		found = read_mapping(m, address);
	if (fd >= 0)
		close(fd);
	return found;
}

void mapping_say(const char *text)
{
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		return;
}
