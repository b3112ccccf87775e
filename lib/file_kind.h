/* SPDX-License-Identifier: MIT */
#ifndef LIB_FILE_KIND_H
#define LIB_FILE_KIND_H

#include <tenon/value.h>

/**
 * file_kind - what a file looks like by its first bytes, for a person
 * @bytes: the file, or its beginning
 *
 * Return: a static string that fits behind "looks like": "a tar archive", "text", "unknown bytes".
 */
const char *file_kind(struct tenon_slice bytes);

/** file_is_elf - does a file begin as ELF files do */
static inline bool file_is_elf(struct tenon_slice bytes)
{
	return bytes.size >= 4 && bytes.data[0] == 0x7f && bytes.data[1] == 'E' &&
	       bytes.data[2] == 'L' && bytes.data[3] == 'F';
}

/**
 * file_advice - what a person can do with a file that is no module, when its content tells
 * @bytes: the whole file
 *
 * Return: a static string that begins with "; "; "" when there is nothing to say.
 */
const char *file_advice(struct tenon_slice bytes);

#endif /* LIB_FILE_KIND_H */
