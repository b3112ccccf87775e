/* SPDX-License-Identifier: MIT */
/* Read whole files of any sort, also devices and pipes that never end. */
#ifndef TOOLS_FILE_FILE_H
#define TOOLS_FILE_FILE_H

#include <tenon/buffer.h>

#include "lib/file_map.h" /* file_write() */

/**
 * struct file_want - limit on reading a device or pipe that may never end
 * @bytes: called with the bytes read so far; returns the size at which to stop
 * @context: argument of @bytes
 */
struct file_want {
	uint64_t (*bytes)(void *context, struct tenon_slice have);
	void *context;
};

/**
 * file_read - read a file up to a limit
 * @path: file, or anything else that can be read
 * @want: the limit
 * @out: an empty buffer; receives the bytes, plus one more than @want requests if the file is
 * longer, which the buffer's size then shows
 *
 * Return: 0; -TENON_E_IO; -TENON_E_NOMEM.
 */
int file_read(const char *path, const struct file_want *want, struct tenon_buffer *out);

/** file_read_text - read a whole file of text; -TENON_E_OVERFLOW for one of more than 256 MiB */
int file_read_text(const char *path, struct tenon_buffer *out);

#endif /* TOOLS_FILE_FILE_H */
