/* SPDX-License-Identifier: MIT */
/* Tables of kernels, from JSON to the binary form. */
#ifndef RUNTIME_PAYLOAD_PAYLOAD_TABLE_H
#define RUNTIME_PAYLOAD_PAYLOAD_TABLE_H

#include <tenon/buffer.h>

/**
 * payload_table_of_json - convert a JSON kernel table to payload form, with argument tags
 * @text: JSON that TVM writes next to a program
 * @path: its path, for messages
 * @out: buffer that the table is appended to
 *
 * Return: 0; -TENON_E_FORMAT and -TENON_E_TRUNCATED with line and column; -TENON_E_NOMEM.
 */
int payload_table_of_json(struct tenon_slice text, const char *path, struct tenon_buffer *out);

#endif /* RUNTIME_PAYLOAD_PAYLOAD_TABLE_H */
