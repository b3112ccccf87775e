/* SPDX-License-Identifier: MIT */
#ifndef TENON_BACKEND_BUFFER_H
#define TENON_BACKEND_BUFFER_H

/**
 * DOC: writing to a buffer
 *
 * A buffer keeps the status of the first append that failed, so a writer may check for errors once, at
 * the end. Integers are little-endian.
 */

#include <tenon/buffer.h>
#include <tenon/error.h>
#include <tenon/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * tenon_buffer_append - add bytes
 * @b: buffer
 * @data: @size bytes
 * @size: number of bytes
 *
 * Return: 0; -TENON_E_NOMEM, now or from an earlier append.
 */
TENON_API int tenon_buffer_append(struct tenon_buffer *b, const void *data, size_t size);

/** tenon_buffer_slice - add the bytes of a slice */
TENON_API int tenon_buffer_slice(struct tenon_buffer *b, struct tenon_slice s);
/** tenon_buffer_u8 - add one byte */
TENON_API int tenon_buffer_u8(struct tenon_buffer *b, uint8_t v);
/** tenon_buffer_u32 - add four bytes, little-endian */
TENON_API int tenon_buffer_u32(struct tenon_buffer *b, uint32_t v);
/** tenon_buffer_u64 - add eight bytes, little-endian */
TENON_API int tenon_buffer_u64(struct tenon_buffer *b, uint64_t v);
/** tenon_buffer_string - add a u64 length and the bytes: the reverse of tenon_cursor_string() */
TENON_API int tenon_buffer_string(struct tenon_buffer *b, struct tenon_slice s);
/** tenon_buffer_printf - add formatted text */
TENON_API int tenon_buffer_printf(struct tenon_buffer *b, const char *format, ...)
	TENON_PRINTF(2, 3);

#ifdef __cplusplus
}
#endif

#endif /* TENON_BACKEND_BUFFER_H */
