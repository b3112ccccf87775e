/* SPDX-License-Identifier: MIT */
#include "tools/inspect/inspect.h"
#include "tools/inspect/inspect_model.h"
#include "tools/json/json_value.h"

int inspect_json(const struct module_list *l, FILE *out)
{
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
#ifdef CONFIG_EXECUTORS
	if (l->model)
		json_set(json, "model", inspect_model_json(l->model));
#endif
	return json_print(json, out);
}
