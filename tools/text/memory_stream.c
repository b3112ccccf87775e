/* SPDX-License-Identifier: MIT */
/* Collect what is written to a stream in a buffer. */
#include "tools/text/memory_stream.h"

static int no_memory(void)
{
	return tenon_error(-TENON_E_NOMEM, "no memory for a text");
}

static ssize_t append(void *cookie, const char *data, size_t size)
{
	struct memory_stream *s = cookie;

	/* after a failure the buffer takes nothing more: what follows a lost part would not be true */
	return tenon_buffer_append(&s->text, data, size) ? 0 : (ssize_t)size;
}

int memory_stream_open(struct memory_stream *s)
{
	const cookie_io_functions_t functions = { .write = append };

	*s = (struct memory_stream){ .text = TENON_BUFFER_INIT };
	s->out = fopencookie(s, "w", functions);
	return s->out ? 0 : no_memory();
}

int memory_stream_close(struct memory_stream *s)
{
	int lost = fclose(s->out);

	s->out = NULL;
	/* so that there is a text, if an empty one */
	if (!tenon_buffer_append(&s->text, "", 0) && !lost)
		return 0;
	tenon_buffer_fini(&s->text);
	return no_memory();
}
