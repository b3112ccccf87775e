/* SPDX-License-Identifier: MIT */
/* Name what a file is, and advise what to do with a file that Tenon does not open. */
#ifndef LIB_FILE_KIND_H
#define LIB_FILE_KIND_H

#include <tenon/value.h>

#include "lib/plugin_api.h"

/* of an archive, this many bytes at the beginning and at the end are looked at */
#define FILE_KIND_HEAD 4096
#define FILE_KIND_TAIL 65536

/**
 * file_kind - describe the type of a file, from its first bytes, for error messages
 * @bytes: the file, or its beginning, or that and its end as file_map_ends() reads them
 *
 * Return: a static string that fits behind "looks like": "a tar archive", "text", "unknown bytes".
 */
#ifdef CONFIG_INSPECT
const char *file_kind(struct tenon_slice bytes) TO_PLUGINS(file_kind);
#else
static inline const char *file_kind(struct tenon_slice bytes)
{
	return bytes.size ? "other bytes" : "an empty file";
}
#endif

/** file_is_elf - test for the ELF magic number */
static inline bool file_is_elf(struct tenon_slice bytes)
{
	return bytes.size >= 4 && bytes.data[0] == 0x7f && bytes.data[1] == 'E' &&
	       bytes.data[2] == 'L' && bytes.data[3] == 'F';
}

/**
 * file_advice - tell the user how to make a module of a file that is not one
 * @bytes: as above
 *
 * Return: a static string that begins with "; "; "" for an unknown type of file.
 */
#ifdef CONFIG_INSPECT
const char *file_advice(struct tenon_slice bytes);
#else
static inline const char *file_advice(struct tenon_slice bytes)
{
	return "";
}
#endif

#endif /* LIB_FILE_KIND_H */
