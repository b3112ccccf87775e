/* SPDX-License-Identifier: MIT */
/* Write comparisons of tensors as JSON, for each command that has --json. */
#include "tools/json/json_value.h"

cJSON *json_of_comparison(const struct comparison *c)
{
	cJSON *json = cJSON_CreateObject();

	cJSON_AddBoolToObject(json, "equal", c->equal);
	if (*c->mismatch) {
		cJSON_AddStringToObject(json, "mismatch", c->mismatch);
		return json;
	}
	json_set(json, "elements", json_of_int((int64_t)c->elements));
	json_set(json, "differing", json_of_int((int64_t)c->differing));
	json_set(json, "largest_absolute", json_of_real(c->absolute));
	json_set(json, "largest_relative", json_of_real(c->relative));
	if (c->differing) {
		json_set(json, "first", json_of_int((int64_t)c->first));
		cJSON_AddStringToObject(json, "got", c->got);
		cJSON_AddStringToObject(json, "want", c->want);
	}
	return json;
}
