/* SPDX-License-Identifier: MIT */
/* Collect text in memory. A stream of open_memstream() does not tell that a part was lost for want of memory. */
#include "runtime/ffi/text_stream.h"

#include <stdlib.h>

#include "lib/array_room.h"

static ssize_t append(void *cookie, const char *data, size_t size)
{
	struct text_stream *s = cookie;

	/* what comes behind a part that was lost does not count */
	s->lost = s->lost || !array_reserve(s->text, s->room, s->size + size);
	if (s->lost)
		return 0;
	memcpy(s->text + s->size, data, size);
	s->size += size;
	return (ssize_t)size;
}

int text_stream_open(struct text_stream *s)
{
	const cookie_io_functions_t functions = { .write = append };

	*s = (struct text_stream){ .out = NULL };
	s->out = fopencookie(s, "w", functions);
	return s->out ? 0 : ffi_nomem("a text");
}

int text_stream_close(struct text_stream *s, int err, struct tenon_value *out)
{
	if ((fclose(s->out) || s->lost) && !err)
		err = ffi_nomem("a text");
	if (!err)
		err = ffi_string(s->size ? s->text : "", s->size, out);
	free(s->text);
	return err;
}
