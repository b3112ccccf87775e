/* SPDX-License-Identifier: MIT */
#include "tools/inspect.h"
#include "tools/inspect_model.h"
#include "tools/json_value.h"

int inspect_json(const struct listing *l, FILE *out)
{
	struct tenon_value root = tenon_arg_object(l->root);
	cJSON *json = cJSON_CreateObject();

	cJSON_AddItemToObject(json, "file", json_of_text(tenon_slice_of(l->file)));
	cJSON_AddItemToObject(json, "size", json_of_int((int64_t)l->size));
	if (l->library) {
		cJSON_AddStringToObject(json, "machine", l->library->machine);
		cJSON_AddStringToObject(json, "generation", l->library->generation);
		cJSON_AddStringToObject(json, "tvm", l->library->tvm);
	}
	cJSON_AddItemToObject(json, "modules", json_of_int((int64_t)l->count));
	cJSON_AddItemToObject(json, "root", json_of_value(&root));
#ifdef CONFIG_EXECUTORS
	if (l->model)
		cJSON_AddItemToObject(json, "model", inspect_model_json(l->model));
#endif
	return json_print(json, out);
}
