/* SPDX-License-Identifier: MIT */
/* Name what a file is, and advise what to do with a file that Tenon does not open. */
#ifndef RUNTIME_KIND_FILE_KIND_H
#define RUNTIME_KIND_FILE_KIND_H

#include <tenon/value.h>

#include "lib/elf.h"
#include "lib/plugin_api.h"

/* of an archive, this many bytes at the beginning and at the end are looked at */
#define FILE_KIND_HEAD 4096
#define FILE_KIND_TAIL 65536

/* What a file is for a build, or an installation, without the part that knows more. */
static inline const char *file_kind_unknown(struct tenon_slice bytes)
{
	return bytes.size ? "a file of another kind" : "an empty file";
}

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
	return file_kind_unknown(bytes);
}
#endif

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

/**
 * file_open_elf - elf_open(), but its message names what a file is that is not ELF, and advises what to do with it
 * @elf, @bytes, @path: as there
 *
 * Return: as there. Only in builds with CONFIG_INSPECT.
 */
int file_open_elf(struct elf_file *elf, struct tenon_slice bytes, const char *path)
	TO_PLUGINS(file_open_elf);

#endif /* RUNTIME_KIND_FILE_KIND_H */
