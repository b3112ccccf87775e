/* SPDX-License-Identifier: MIT */
/* A module tree as JSON */
#include "link/link_host.h"
#include "tools/inspect/inspect.h"
#include "tools/inspect/inspect_model.h"
#include "tools/json/json_value.h"

#ifdef CONFIG_LINK
/* The hashes of payloads in the order of modules, which is that of the import tree; NULL if there are none. */
static cJSON *hashes_of(const char *module)
{
	struct link_host h = { 0 };
	char text[SHA256_TEXT];
	cJSON *list = NULL;
	size_t i;

	if (link_host_open(module, &h))
		tenon_error_clear();
	else if (h.has_hashes)
		list = cJSON_CreateArray();
	for (i = 0; list && i < h.hashes.count; i++) {
		sha256_digits(h.hashes.at + i * SHA256_SIZE, text);
		json_append(list, i == h.tree.library ? cJSON_CreateNull()
						      : json_of_text(tenon_slice_of(text)));
	}
	link_host_fini(&h);
	return list;
}
#else
static cJSON *hashes_of(const char *module)
{
	(void)module;
	return NULL;
}
#endif

int inspect_json(const struct module_list *l, const char *module, FILE *out)
{
	cJSON *hashes = hashes_of(module);

	struct tenon_value root = tenon_arg_object(l->root);
	cJSON *json = cJSON_CreateObject();

	json_set(json, "file", json_of_text(tenon_slice_of(l->file)));
	json_set(json, "size", json_of_int((int64_t)l->size));
	if (l->library) {
		cJSON_AddStringToObject(json, "machine", l->library->machine);
		cJSON_AddStringToObject(json, "generation", l->library->generation);
		cJSON_AddStringToObject(json, "tvm", l->library->tvm);
	}
	json_set(json, "modules", json_of_int((int64_t)l->count));
	json_set(json, "root", json_of_value(&root));
	if (hashes)
		json_set(json, "payload_hashes", hashes);
#ifdef CONFIG_EXECUTORS
	if (l->model)
		json_set(json, "model", inspect_model_json(l->model));
#endif
	return json_print(json, out);
}
