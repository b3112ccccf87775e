/* SPDX-License-Identifier: MIT */
/* Collect text in memory. */
#include "runtime/ffi/text_stream.h"

#include <stdlib.h>

int text_stream_open(struct text_stream *s)
{
	s->text = NULL;
	s->size = 0;
	s->out = open_memstream(&s->text, &s->size);
	return s->out ? 0 : ffi_nomem("a text");
}

int text_stream_close(struct text_stream *s, int err, struct tenon_value *out)
{
	if (fclose(s->out) && !err)
		err = ffi_nomem("a text");
	if (!err)
		err = ffi_string(s->text, s->size, out);
	free(s->text);
	return err;
}
