/* SPDX-License-Identifier: MIT */
/* Make any bytes a string that Python clients can decode. */
#ifndef RPC_WIRE_UTF8_H
#define RPC_WIRE_UTF8_H

#include <stddef.h>

/**
 * utf8_repair - replace bytes that are not UTF-8, and NUL, by '?'
 *
 * Python clients decode every string, and cut it at a NUL. Messages may name files with any bytes.
 */
void utf8_repair(char *text, size_t size);

#endif /* RPC_WIRE_UTF8_H */
