/* SPDX-License-Identifier: MIT */
/* Strings and byte strings as values, short ones inside the value. */
#include <stdlib.h>
#include <string.h>
#include <tenon/error.h>
#include <tenon/string.h>

#include "lib/brief_errors.h"

#define SMALL_MOST 7

struct wrapped_bytes {
	struct tenon_string base;
	struct tenon_object *keep;
};

static void block_delete(void *self, int flags)
{
	if (flags & TENON_DELETE_MEMORY)
		free(self);
}

static void wrapped_delete(void *self, int flags)
{
	struct wrapped_bytes *w = self;

	if (flags & TENON_DELETE_CONTENT)
		tenon_object_unref(w->keep);
	if (flags & TENON_DELETE_MEMORY)
		free(w);
}

static int text_value(struct tenon_slice text, int32_t small, int32_t type, struct tenon_value *out)
{
	struct tenon_string *s;
	char *data;

	if (text.size && !text.data)
		return tenon_error(-TENON_E_VALUE, "%zu bytes without data: the pointer is NULL",
				   text.size);
	if (text.size <= SMALL_MOST) {
		*out = tenon_arg_none();
		out->type = small;
		out->small_size = (uint32_t)text.size;
		if (text.size)
			memcpy(out->as.small, text.data, text.size);
		return 0;
	}
	if (text.size > SIZE_MAX - sizeof(*s) - 1)
		return tenon_error(-TENON_E_OVERFLOW, "a string of %zu bytes", text.size);
	s = malloc(sizeof(*s) + text.size + 1);
	if (!s)
		return tenon_error(-TENON_E_NOMEM, "no memory for a string of %zu bytes",
				   text.size);
	tenon_object_init(&s->object, type, block_delete);
	data = (char *)(s + 1);
	memcpy(data, text.data, text.size);
	data[text.size] = '\0';
	s->data = data;
	s->size = text.size;
	*out = tenon_arg_object(s);
	return 0;
}

int tenon_string_value(struct tenon_slice text, struct tenon_value *out)
{
	return text_value(text, TENON_TYPE_SMALL_STRING, TENON_TYPE_STRING, out);
}

int tenon_bytes_value(struct tenon_slice bytes, struct tenon_value *out)
{
	return text_value(bytes, TENON_TYPE_SMALL_BYTES, TENON_TYPE_BYTES, out);
}

int tenon_bytes_wrap(struct tenon_slice bytes, struct tenon_object *keep, struct tenon_string **out)
{
	struct wrapped_bytes *w = malloc(sizeof(*w));

	*out = NULL;
	if (!w)
		return tenon_error(-TENON_E_NOMEM, "no memory for a bytes object");
	tenon_object_init(&w->base.object, TENON_TYPE_BYTES, wrapped_delete);
	w->base.data = bytes.data;
	w->base.size = bytes.size;
	w->keep = keep;
	tenon_object_ref(keep);
	*out = &w->base;
	return 0;
}
