/* SPDX-License-Identifier: MIT */
#ifndef LIB_FILE_MAP_H
#define LIB_FILE_MAP_H

/**
 * DOC: whole files
 *
 * A process that touches a mapped page whose part of the file has been cut off meanwhile is ended by SIGBUS, and
 * cp(1) cuts the file it writes to. So what is parsed is read into memory, and only data that is passed on as it
 * is, and that can be large, is mapped. Files are to be replaced by renaming, as all writers here do.
 */

#include <tenon/value.h>

#include "lib/plugin_api.h"

/**
 * file_open - open a regular file for reading
 * @path: the file
 * @fd: receives a descriptor; -1 on failure
 * @size: receives its size in bytes
 *
 * Return: 0; -TENON_E_IO for a missing file, a directory, a device, a pipe.
 */
int file_open(const char *path, int *fd, size_t *size);

/**
 * file_read_at - read a part of a file
 * @fd: the file
 * @path: for messages
 * @to: @size bytes
 * @size: how many
 * @offset: where they are
 *
 * Return: 0; -TENON_E_IO, also when the file ends before.
 */
int file_read_at(int fd, const char *path, void *to, size_t size, uint64_t offset);

/**
 * file_map_reserve - memory for a file, of which parts will be read
 * @path: for messages
 * @size: of the file
 * @out: receives zeros, which take no memory until they are written to
 *
 * Return: 0; -TENON_E_IO.
 */
int file_map_reserve(const char *path, size_t size, struct tenon_slice *out);

/**
 * file_map - map an open file read-only
 * @fd: the file; may be closed afterwards
 * @path: for messages
 * @size: what file_open() said
 * @out: receives its bytes
 *
 * Return: 0; -TENON_E_IO, also when the file is shorter by now.
 */
int file_map(int fd, const char *path, size_t size, struct tenon_slice *out);

/**
 * file_map_open - read a file into memory
 * @path: a regular file
 * @out: receives its bytes; an empty file gives an empty slice
 *
 * The bytes are a copy, so nothing that happens to the file later concerns them. The holes of a sparse file
 * take no memory.
 *
 * Return: 0; -TENON_E_IO for a missing file, a directory, a device, a pipe, and for a file that becomes
 *	shorter while it is read.
 */
int file_map_open(const char *path, struct tenon_slice *out);

/** file_map_head - the same, but no more than the first @most bytes */
int file_map_head(const char *path, size_t most, struct tenon_slice *out);

/** file_map_close - give such memory back, and empty the slice */
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
int file_write(const char *path, const struct tenon_slice *parts, size_t count)
	TO_PLUGINS(file_write);

#endif /* LIB_FILE_MAP_H */
