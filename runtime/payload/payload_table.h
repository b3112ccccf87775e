/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_PAYLOAD_PAYLOAD_TABLE_H
#define RUNTIME_PAYLOAD_PAYLOAD_TABLE_H

#include <tenon/buffer.h>

/**
 * payload_table_of_json - append a kernel table as payloads have it, with argument tags
 * @text: the table as TVM writes it to a file of its own
 * @path: of that file, for messages
 * @out: buffer
 *
 * Return: 0; -TENON_E_FORMAT and -TENON_E_TRUNCATED with line and column; -TENON_E_NOMEM.
 */
int payload_table_of_json(struct tenon_slice text, const char *path, struct tenon_buffer *out);

#endif /* RUNTIME_PAYLOAD_PAYLOAD_TABLE_H */
