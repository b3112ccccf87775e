/* SPDX-License-Identifier: MIT */
/* Add to a tree of cJSON, and print it. */
#include "lib/json_build.h"

#include <inttypes.h>
#include <stdio.h>
#include <tenon/buffer.h>
#include <tenon/error.h>

#include "lib/brief_errors.h"
#include "lib/error_slot.h"

static int no_memory(void)
{
	return tenon_error(-TENON_E_NOMEM, "no memory for the JSON output");
}

void json_set(cJSON *object, const char *key, cJSON *value)
{
	if (cJSON_AddItemToObject(object, key, value))
		return;
	cJSON_Delete(value);
	no_memory();
}

void json_append(cJSON *list, cJSON *value)
{
	if (cJSON_AddItemToArray(list, value))
		return;
	cJSON_Delete(value);
	no_memory();
}

/* Length of the UTF-8 sequence at @s, or 0 if invalid. */
static size_t sequence(const unsigned char *s, size_t left)
{
	uint32_t c = *s;
	size_t size = c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;

	if (!c || size > left)
		return 0;
	for (size_t i = 1; i < size; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	}
	/* overlong forms, surrogates, code points beyond Unicode */
	if ((c == 0xe0 && s[1] < 0xa0) || (c == 0xed && s[1] > 0x9f) ||
	    (c == 0xf0 && s[1] < 0x90) || (c == 0xf4 && s[1] > 0x8f))
		return 0;
	return size;
}

cJSON *json_of_text(struct tenon_slice text)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	cJSON *json;

	for (size_t i = 0; i < text.size;) {
		const unsigned char *at = (const unsigned char *)text.data + i;
		size_t size = sequence(at, text.size - i);

		if (size)
			tenon_buffer_append(&b, at, size);
		else
			tenon_buffer_append(&b, "\xef\xbf\xbd", 3);
		i += size ? size : 1;
	}
	json = b.status ? NULL : cJSON_CreateString(b.data ? b.data : "");
	tenon_buffer_fini(&b);
	return json;
}

cJSON *json_of_int(int64_t integer)
{
	char text[24];

	/* a cJSON number is a double */
	snprintf(text, sizeof(text), "%" PRId64, integer);
	return cJSON_CreateRaw(text);
}

int json_build(void (*fill)(void *context, cJSON *root), void *context, struct tenon_buffer *out)
{
	const bool ran_out = error_ran_out();
	cJSON *root = cJSON_CreateObject();
	char *text = NULL;
	int err;

	error_set_ran_out(false);
	fill(context, root);
	if (!error_ran_out())
		text = cJSON_Print(root);
	err = text ? tenon_buffer_printf(out, "%s\n", text) : no_memory();
	cJSON_free(text);
	cJSON_Delete(root);
	error_set_ran_out(ran_out || err == -TENON_E_NOMEM);
	return err;
}
