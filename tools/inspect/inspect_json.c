/* SPDX-License-Identifier: MIT */
/* A module tree as JSON. */
#include <stdlib.h>

#include "lib/option.h"
#include "tools/inspect/inspect.h"
#include "tools/json/json_value.h"

static bool has_hashes(const struct tenon_link_inspection *n)
{
	size_t i;

	for (i = 0; i < n->module_count; i++)
		if (*n->modules[i]->sha256)
			return true;
	return false;
}

/* The hashes of payloads in the order of the import tree, null for the library; NULL for a file without hashes. */
static cJSON *hashes_of(const struct tenon_link_inspection *n)
{
	const struct tenon_link_module **numbered;
	cJSON *list;
	size_t i;

	if (!has_hashes(n))
		return NULL;
	list = cJSON_CreateArray();
	numbered = calloc(n->module_count + 1, sizeof(*numbered));
	if (!numbered)
		tenon_error(-TENON_E_NOMEM, "no memory for %zu hashes", n->module_count);
	for (i = 0; numbered && i < n->module_count; i++)
		if (n->modules[i]->number < n->module_count)
			numbered[n->modules[i]->number] = n->modules[i];
	for (i = 0; numbered && numbered[i]; i++)
		json_append(list, *numbered[i]->sha256
					  ? json_of_text(tenon_slice_of(numbered[i]->sha256))
					  : cJSON_CreateNull());
	free(numbered);
	return list;
}

int inspect_json(const struct tenon_link_inspection *n, const char *file, struct tenon_model *model,
		 FILE *out)
{
	const struct tenon_link_module *library = n->library;
	struct tenon_value root = tenon_arg_object(n->root);
	cJSON *json = cJSON_CreateObject(), *hashes = hashes_of(n);

	json_set(json, "file", json_of_text(tenon_slice_of(file)));
	json_set(json, "size", json_of_int((int64_t)n->file_size));
	if (library) {
		cJSON_AddStringToObject(json, "machine", library->machine);
		cJSON_AddStringToObject(json, "generation", library->generation);
		cJSON_AddStringToObject(json, "tvm", library->tvm);
	}
	json_set(json, "modules", json_of_int((int64_t)n->module_count));
	json_set(json, "root", json_of_value(&root));
	if (OPTION_ON(LINK))
		inspect_code_json(n, file, json);
	if (hashes)
		json_set(json, "payload_hashes", hashes);
	if (OPTION_ON(SELF_TEST))
		inspect_cases_json(n, file, json);
	if (OPTION_ON(EXECUTORS) && model)
		json_set(json, "model", inspect_model_json(model));
	return json_print(json, out);
}
