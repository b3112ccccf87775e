/* SPDX-License-Identifier: MIT */
/* Structs of options, whose first member is their size in the program that filled them in. */
#ifndef LIB_OPTIONS_H
#define LIB_OPTIONS_H

#include <stddef.h>
#include <string.h>

#include "lib/brief_errors.h"

/**
 * options_read - copy options that a program gave to a struct of this library
 * @given: the program's struct, which begins with its size as a size_t; NULL for all defaults
 * @out: receives the members that both structs have, 0 in the others, and its own size
 * @room: that size
 *
 * A program that was built with older headers has a shorter struct, one with newer headers a longer one.
 *
 * Return: 0; -TENON_E_USAGE for a struct without a size, because no other member would be read.
 */
static inline int options_read(const void *given, void *out, size_t room)
{
	size_t size = 0;

	memset(out, 0, room);
	if (given)
		memcpy(&size, given, sizeof(size));
	if (given && size < sizeof(size))
		return tenon_error(-TENON_E_USAGE,
				   "options without a size: set the member \"size\" to sizeof() of "
				   "their struct");
	if (given)
		memcpy(out, given, size < room ? size : room);
	memcpy(out, &room, sizeof(room));
	return 0;
}

#endif /* LIB_OPTIONS_H */
