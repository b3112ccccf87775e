/* SPDX-License-Identifier: MIT */
/* Read, map and replace whole files, safe against their truncation. */
#ifndef LIB_FILE_MAP_H
#define LIB_FILE_MAP_H

/*
 * Access to a mapped page beyond the end of a truncated file raises SIGBUS, and cp(1) truncates the
 * file it writes to. So files that are parsed are read into memory; only large data that is passed
 * on unparsed is mapped. Replace files by renaming, as all writers here do.
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
int file_open(const char *path, int *fd, size_t *size) TO_PLUGINS(file_open);

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
int file_read_at(int fd, const char *path, void *to, size_t size, uint64_t offset)
	TO_PLUGINS(file_read_at);

/**
 * file_map_reserve - reserve zeroed memory for a file that is read in parts
 * @path: for messages
 * @size: bytes
 * @out: receives the memory; pages are allocated when they are written
 *
 * Return: 0; -TENON_E_IO.
 */
int file_map_reserve(const char *path, size_t size, struct tenon_slice *out)
	TO_PLUGINS(file_map_reserve);

/**
 * file_map - map an open file read-only
 * @fd: the file; may be closed afterwards
 * @path: for messages
 * @size: from file_open()
 * @out: receives its bytes
 *
 * Return: 0; -TENON_E_IO, also when the file is shorter by now.
 */
int file_map(int fd, const char *path, size_t size, struct tenon_slice *out) TO_PLUGINS(file_map);

/**
 * file_map_open - read a file into memory
 * @path: a regular file
 * @out: receives its bytes; an empty file gives an empty slice
 *
 * The bytes are a copy: later changes of the file do not affect them. The holes of a sparse file
 * take no memory.
 *
 * Return: 0; -TENON_E_IO for a missing file, a directory, a device, a pipe, and for a file that
 *	becomes shorter while it is read.
 */
int file_map_open(const char *path, struct tenon_slice *out) TO_PLUGINS(file_map_open);

/** file_map_head - read at most the first @most bytes of a file into memory */
int file_map_head(const char *path, size_t most, struct tenon_slice *out) TO_PLUGINS(file_map_head);

/**
 * file_map_ends - read the beginning and the end of a file into memory, one behind the other
 * @path: a regular file
 * @head: bytes of the beginning at most
 * @tail: bytes of the end at most
 * @out: receives them; the whole file if it has no more
 *
 * Return: as file_map_open().
 */
int file_map_ends(const char *path, size_t head, size_t tail, struct tenon_slice *out);

/** file_map_close - unmap the bytes and empty the slice */
void file_map_close(struct tenon_slice *bytes) TO_PLUGINS(file_map_close);

/**
 * file_write - write a file, whole or not at all
 * @path: the file; an existing file is replaced and keeps its permissions. Symbolic links are
 *	followed. A file that is not regular, or that is already open through a link such as
 *	/dev/stdout, is written in place.
 * @parts: the contents, in order
 * @count: number of parts
 *
 * Writes a temporary file in the same folder, syncs and renames it, and syncs the folder: after a
 * power failure either the old or the new file exists. The next writer of the same file removes
 * temporary files of writers that were killed.
 *
 * Return: 0; -TENON_E_IO; -TENON_E_NOMEM.
 */
int file_write(const char *path, const struct tenon_slice *parts, size_t count);

/** file_replace - as file_write(), but a symbolic link or special file of this name is replaced */
int file_replace(const char *path, const struct tenon_slice *parts, size_t count);

#endif /* LIB_FILE_MAP_H */
