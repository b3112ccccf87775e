/* SPDX-License-Identifier: MIT */
/* What signal handlers need: the mapping of an address, and messages without stdio. */
#ifndef TOOLS_CLI_MAPPING_H
#define TOOLS_CLI_MAPPING_H

#include <stdbool.h>
#include <stdint.h>

#define MAPPING_LINE 4352 /* PATH_MAX, and what stands in front of a path */

/**
 * struct mapping - a mapping of this process
 * @line: its line of /proc/self/maps
 * @path: the file, in @line; NULL if there is none
 * @start: first address
 * @end: address behind the last
 * @offset: in the file
 */
struct mapping {
	char line[MAPPING_LINE];
	const char *path;
	uintptr_t start;
	uintptr_t end;
	uintptr_t offset;
};

/** mapping_find - find the mapping of an address. Return: whether there is one. A signal handler may call it. */
bool mapping_find(uintptr_t address, struct mapping *m);

/** mapping_say - write a text to standard error. A signal handler may call it. */
void mapping_say(const char *text);

#endif /* TOOLS_CLI_MAPPING_H */
