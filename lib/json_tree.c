/* SPDX-License-Identifier: MIT */
/* Parse untrusted JSON into a cJSON tree with a bounded number of values. */
#include "lib/json_tree.h"

#include <tenon/error.h>

#include "lib/brief_errors.h"

/* Count the most values that a text can have: one, and one for each comma and each bracket that opens. */
static size_t values_most(struct tenon_slice text)
{
	bool in_string = false;
	size_t count = 1, i;

	for (i = 0; i < text.size && count <= JSON_TREE_VALUES_MOST; i++) {
		const char c = text.data[i];

		if (in_string && c == '\\')
			i++;
		else if (c == '"')
			in_string = !in_string;
		else if (!in_string)
			count += c == ',' || c == '[' || c == '{';
	}
	return count;
}

int json_tree_read(struct tenon_slice text, const char *name, cJSON **out)
{
	*out = NULL;
	if (values_most(text) > JSON_TREE_VALUES_MOST)
		return tenon_error(-TENON_E_OVERFLOW,
				   "%s: more than %u values in a JSON text of %zu bytes", name,
				   JSON_TREE_VALUES_MOST, text.size);
	*out = cJSON_ParseWithLength(text.data, text.size);
	return *out ? 0 : tenon_error(-TENON_E_FORMAT, "%s: not JSON", name);
}
