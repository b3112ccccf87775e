/* SPDX-License-Identifier: MIT */
#ifndef LIB_FILE_MAP_H
#define LIB_FILE_MAP_H

/**
 * DOC: whole files
 *
 * Files are read by mapping them. A mapped file that somebody truncates under a reader kills the
 * reader (SIGBUS): files are to be replaced by renaming, as all writers here do.
 */

#include <tenon/value.h>

/**
 * file_map_open - map a file read-only
 * @path: a regular file
 * @out: receives its bytes; an empty file gives an empty slice
 *
 * Return: 0; -TENON_E_IO for a missing file, a directory, a device, a pipe.
 */
int file_map_open(const char *path, struct tenon_slice *out);

/** file_map_close - give a mapping back, and empty the slice */
void file_map_close(struct tenon_slice *bytes);

/**
 * file_write - write a file, whole or not at all
 * @path: the file; one that is there is replaced, and keeps its permissions. A link stays, and what
 *	it leads to is replaced, or made. What is no regular file, and what a link such as
 *	/dev/stdout says is open, is written straight.
 * @parts: what it will hold, one after the other
 * @count: number of parts
 *
 * The bytes go to a temporary name in the same folder, are synced and renamed, and the folder is
 * synced: after a power cut there is the old file or the new one. What a writer that was killed left under
 * a temporary name is removed by the next that writes the same file.
 *
 * Return: 0; -TENON_E_IO; -TENON_E_NOMEM.
 */
int file_write(const char *path, const struct tenon_slice *parts, size_t count);

#endif /* LIB_FILE_MAP_H */
