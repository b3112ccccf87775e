/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_FILE_FILE_H
#define TOOLS_FILE_FILE_H

/** DOC: whole files, read */

#include <tenon/buffer.h>

#include "lib/file_map.h" /* file_write() */

/**
 * struct file_want - how much of a file is wanted, when it is a device or a pipe that may never end
 * @bytes: called with what was read so far; returns the size at which to stop
 * @context: handed to @bytes
 */
struct file_want {
	uint64_t (*bytes)(void *context, struct tenon_slice have);
	void *context;
};

/**
 * file_read - read a file as far as it is wanted
 * @path: file, or anything else that can be read
 * @want: what is wanted
 * @out: an empty buffer; receives the bytes, and one more than @want asks for where there are more: its
 *	size then says that the file is longer
 *
 * Return: 0; -TENON_E_IO; -TENON_E_NOMEM.
 */
int file_read(const char *path, const struct file_want *want, struct tenon_buffer *out);

/** file_read_text - read a whole file of text; -TENON_E_OVERFLOW for one of more than 256 MiB */
int file_read_text(const char *path, struct tenon_buffer *out);

#endif /* TOOLS_FILE_FILE_H */
