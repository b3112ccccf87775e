/* SPDX-License-Identifier: MIT */
#include "tools/json_value.h"
#include "tools/run.h"
#include "tools/run_device.h"

static cJSON *json_of_comparison(const struct comparison *c)
{
	cJSON *json = cJSON_CreateObject();

	cJSON_AddBoolToObject(json, "equal", c->equal);
	if (*c->mismatch) {
		cJSON_AddStringToObject(json, "mismatch", c->mismatch);
		return json;
	}
	cJSON_AddItemToObject(json, "elements", json_of_int((int64_t)c->elements));
	cJSON_AddItemToObject(json, "differing", json_of_int((int64_t)c->differing));
	cJSON_AddItemToObject(json, "largest_absolute", json_of_real(c->absolute));
	cJSON_AddItemToObject(json, "largest_relative", json_of_real(c->relative));
	if (c->differing) {
		cJSON_AddItemToObject(json, "first", json_of_int((int64_t)c->first));
		cJSON_AddStringToObject(json, "got", c->got);
		cJSON_AddStringToObject(json, "want", c->want);
	}
	return json;
}

static cJSON *json_of_model_outputs(const struct run *run)
{
	cJSON *list = cJSON_CreateArray(), *json;
	struct tenon_port port;

	for (size_t i = 0; i < run->model_output_count; i++) {
		json = cJSON_CreateObject();
		if (!tenon_model_output(run->model, i, &port))
			cJSON_AddItemToObject(json, "name", json_of_text(port.name));
		cJSON_AddItemToObject(json, "value", json_of_value(&run->model_outputs[i]));
		cJSON_AddItemToArray(list, json);
	}
	return list;
}

static cJSON *json_of_outputs(const struct run *run)
{
	cJSON *list = cJSON_CreateArray(), *json;

	for (size_t i = 0; i < run->argument_count; i++) {
		const struct argument *a = &run->arguments[i];

		if (a->spec.role != SPEC_OUTPUT)
			continue;
		json = json_of_tensor(&a->tensor->dl);
		cJSON_AddItemToObject(json, "argument", json_of_int((int64_t)i));
		if (a->spec.write)
			cJSON_AddStringToObject(json, "file", a->spec.write);
		cJSON_AddItemToArray(list, json);
	}
	return list;
}

static cJSON *json_of_times(const struct run *run)
{
	struct timing t = timing_summary(run->ns, run->repeat);
	cJSON *json = cJSON_CreateObject();

	cJSON_AddItemToObject(json, "calls", json_of_int((int64_t)run->repeat));
	cJSON_AddItemToObject(json, "min", json_of_int((int64_t)t.min));
	cJSON_AddItemToObject(json, "median", json_of_int((int64_t)t.median));
	cJSON_AddItemToObject(json, "p90", json_of_int((int64_t)t.p90));
	cJSON_AddItemToObject(json, "max", json_of_int((int64_t)t.max));
	return json;
}

int run_report_json(const struct run *run, FILE *out)
{
	cJSON *json = cJSON_CreateObject(), *expected;
	char name[64];

	cJSON_AddItemToObject(json, "file", json_of_text(tenon_slice_of(run->file)));
	if (run->model)
		cJSON_AddStringToObject(json, "executor", tenon_model_kind(run->model));
	else
		cJSON_AddItemToObject(json, "function",
				      json_of_text(tenon_slice_of(run->function)));
	cJSON_AddStringToObject(json, "device", run_device_name(run, name));
	cJSON_AddItemToObject(json, "outputs",
			      run->model ? json_of_model_outputs(run) : json_of_outputs(run));
	if (!run->model)
		cJSON_AddItemToObject(json, "returned", json_of_value(&run->result));
	expected = cJSON_AddArrayToObject(json, "expected");
	for (size_t i = 0; i < run->expect_count; i++)
		cJSON_AddItemToArray(expected, json_of_comparison(&run->comparisons[i]));
	cJSON_AddItemToObject(json, "nanoseconds", json_of_times(run));
#ifdef CONFIG_EXECUTORS
	if (run->profile)
		cJSON_AddItemToObject(json, "operators", profile_json(&run->operators));
#endif
	return json_print(json, out);
}
