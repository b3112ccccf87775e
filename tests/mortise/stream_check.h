/* SPDX-License-Identifier: MIT */
/* Check a command stream, and find and edit its bytes, for the tests that need no device. */
#ifndef TESTS_MORTISE_STREAM_CHECK_H
#define TESTS_MORTISE_STREAM_CHECK_H

#include <stddef.h>
#include <stdint.h>
#include <tenon/buffer.h>

#include "devices/cmdstream/cmdstream.h"

/* that of mortise, with a device of any configuration */
extern const struct cmdstream_target stream_target;

/*
 * Read a payload and check all its kernels, on memory of exactly its size, so that a sanitizer sees a read behind it.
 * Return: 0; the negative status.
 */
int stream_check(const struct tenon_buffer *b);

/* Assert that the check fails with this status and these words. */
void stream_is_refused(const struct tenon_buffer *b, int status, const char *why);

/* where a section begins, and its size */
struct stream_section {
	size_t at;
	size_t size;
};

/* Find the first section with this tag, which is there. */
struct stream_section stream_find(const struct tenon_buffer *b, uint32_t tag);

/* Overwrite @size bytes with a number, little-endian. */
void stream_set_word(struct tenon_buffer *b, size_t at, uint64_t value, size_t size);

#endif /* TESTS_MORTISE_STREAM_CHECK_H */
