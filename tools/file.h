/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_FILE_H
#define TOOLS_FILE_H

/** DOC: whole files, read */

#include <tenon/buffer.h>

#include "lib/file_map.h" /* file_write() */

/**
 * file_read - read a whole file
 * @path: file, or anything else that can be read to its end
 * @out: an empty buffer; receives the bytes
 *
 * Return: 0; -TENON_E_IO; -TENON_E_NOMEM.
 */
int file_read(const char *path, struct tenon_buffer *out);

#endif /* TOOLS_FILE_H */
