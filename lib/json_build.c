/* SPDX-License-Identifier: MIT */
/* Add to a tree of cJSON, and print it. */
#include "lib/json_build.h"

#include <inttypes.h>
#include <stdio.h>
#include <tenon/backend/buffer.h>
#include <tenon/error.h>

#include "lib/brief_errors.h"
#include "lib/error_slot.h"
#include "lib/utf8.h"

static int no_memory(void)
{
	return tenon_error(-TENON_E_NOMEM, "no memory for the JSON output");
}

bool json_set(cJSON *object, const char *key, cJSON *value)
{
	if (cJSON_AddItemToObject(object, key, value))
		return true;
	cJSON_Delete(value);
	no_memory();
	return false;
}

bool json_append(cJSON *list, cJSON *value)
{
	if (cJSON_AddItemToArray(list, value))
		return true;
	cJSON_Delete(value);
	no_memory();
	return false;
}

cJSON *json_of_text(struct tenon_slice text)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	cJSON *json;

	for (size_t i = 0; i < text.size;) {
		const struct tenon_slice rest = { text.data + i, text.size - i };
		/* cJSON ends a text at a NUL */
		const int size = *rest.data ? utf8_character(rest) : 0;

		if (size > 0)
			tenon_buffer_append(&b, rest.data, (size_t)size);
		else
			tenon_buffer_append(&b, "\xef\xbf\xbd", 3);
		i += size > 0 ? (size_t)size : 1;
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
