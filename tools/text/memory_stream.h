/* SPDX-License-Identifier: MIT */
/* A stream whose text stays in memory, and that tells when a part was lost. */
#ifndef TOOLS_TEXT_MEMORY_STREAM_H
#define TOOLS_TEXT_MEMORY_STREAM_H

#include <stdio.h>

#include <tenon/backend/buffer.h>

struct memory_stream {
	FILE *out;
	struct tenon_buffer text;
};

/**
 * memory_stream_open - open a stream for writing
 * @s: receives it; keeps its address until it is closed
 *
 * Unlike one of open_memstream(), which says nothing of text that it had no memory for.
 *
 * Return: 0; -TENON_E_NOMEM.
 */
int memory_stream_open(struct memory_stream *s);

/**
 * memory_stream_close - close a stream
 * @s: the stream; its @text ends with a NUL that does not count. The caller calls tenon_buffer_fini() for it.
 *
 * Return: 0; -TENON_E_NOMEM when a part of the text was lost, which leaves no text.
 */
int memory_stream_close(struct memory_stream *s);

#endif /* TOOLS_TEXT_MEMORY_STREAM_H */
