/* SPDX-License-Identifier: MIT */
#ifndef TENON_BUFFER_H
#define TENON_BUFFER_H

/**
 * DOC: buffer
 *
 * Bytes or text of any length that a function returns: the names of devices, a module that was linked, a reply. A
 * program begins with TENON_BUFFER_INIT, reads data and size, and ends with tenon_buffer_fini(). So programs need this
 * much of a buffer. What writes to one is for plug-ins: tenon/backend/buffer.h.
 */

#include <tenon/error.h>
#include <tenon/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct tenon_buffer - bytes that were written
 * @data: the bytes, followed by a NUL that @size does not count; NULL until the first append
 * @size: bytes written
 * @room: capacity in bytes
 * @status: 0, or the negative status of the first append that failed; later appends do nothing
 */
struct tenon_buffer {
	char *data;
	size_t size;
	size_t room;
	int status;
};

#define TENON_BUFFER_INIT                                                                          \
	{                                                                                          \
		0, 0, 0, 0                                                                         \
	}

/** tenon_buffer_fini - free the bytes, and make the buffer empty */
TENON_API void tenon_buffer_fini(struct tenon_buffer *b);

#ifdef __cplusplus
}
#endif

#endif /* TENON_BUFFER_H */
