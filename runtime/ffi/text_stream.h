/* SPDX-License-Identifier: MIT */
/* A stream whose text becomes a string. */
#ifndef RUNTIME_FFI_TEXT_STREAM_H
#define RUNTIME_FFI_TEXT_STREAM_H

#include "runtime/ffi/ffi.h"

struct text_stream {
	FILE *out;
	char *text;
	size_t size;
	size_t room;
	bool lost; /* a part, for which there was no memory */
};

/* Open a stream, which keeps the address of @s. Return: 0; -1 with an error raised. */
int text_stream_open(struct text_stream *s);

/*
 * Close a stream and make a string of its text.
 * @err: not 0 for a text that failed, with an error raised
 *
 * Return: 0; -1 with an error raised and @out not set.
 */
int text_stream_close(struct text_stream *s, int err, struct tenon_value *out);

#endif /* RUNTIME_FFI_TEXT_STREAM_H */
