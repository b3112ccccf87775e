/* SPDX-License-Identifier: MIT */
/* What host code needs of the processor, as JSON. */
#include "tools/host_code/code_text.h"

static cJSON *json_of_extension(const struct tenon_link_extension *e)
{
	cJSON *item = cJSON_CreateObject();

	json_set(item, "name", json_of_text(tenon_slice_of(e->name)));
	if (*e->level)
		json_set(item, "level", json_of_text(tenon_slice_of(e->level)));
	if (*e->function)
		json_set(item, "function", json_of_text(tenon_slice_of(e->function)));
	json_set(item, "functions", json_of_int((int64_t)e->functions));
	json_set(item, "missing", cJSON_CreateBool(e->missing));
	return item;
}

cJSON *code_json(const struct tenon_link_processor *p)
{
	cJSON *root = cJSON_CreateObject(), *list;
	size_t i;

	json_set(root, "known", cJSON_CreateBool(p->known));
	if (!p->known)
		return root;
	json_set(root, "needs", json_of_text(tenon_slice_of(p->needs)));
	if (*p->has)
		json_set(root, "has", json_of_text(tenon_slice_of(p->has)));
	list = cJSON_AddArrayToObject(root, "extensions");
	for (i = 0; i < p->extension_count; i++)
		json_append(list, json_of_extension(p->extensions[i]));
	json_set(root, "missing", json_of_int((int64_t)p->missing));
	json_set(root, "chooses", cJSON_CreateBool(p->chooses));
	json_set(root, "code", json_of_int((int64_t)p->code));
	json_set(root, "unknown", json_of_int((int64_t)p->unknown));
	return root;
}
