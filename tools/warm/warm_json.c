/* SPDX-License-Identifier: MIT */
/* The result as JSON. */
#include "tools/json/json_value.h"
#include "tools/warm/warm.h"

int warm_json(const struct warm *w, FILE *out)
{
	cJSON *json = cJSON_CreateObject();

	json_set(json, "file", json_of_text(tenon_slice_of(w->file)));
	json_set(json, "device", json_of_text(tenon_slice_of(w->device)));
	json_set(json, "kernels", json_of_int(w->kernels));
	json_set(json, "failed", json_of_int(w->failed));
	json_set(json, "processes", json_of_int(w->processes));
	json_set(json, "nanoseconds", json_of_int((int64_t)w->nanoseconds));
	return json_print(json, out);
}
