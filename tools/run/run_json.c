/* SPDX-License-Identifier: MIT */
#include "tools/json/json_value.h"
#include "tools/run/run.h"
#include "tools/run/run_device.h"

static cJSON *json_of_comparison(const struct comparison *c)
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

static cJSON *json_of_model_outputs(const struct run *run)
{
	cJSON *list = cJSON_CreateArray(), *json;
	struct tenon_port port;

	for (size_t i = 0; i < run->model_output_count; i++) {
		json = cJSON_CreateObject();
		if (!tenon_model_output(run->model, i, &port))
			json_set(json, "name", json_of_text(port.name));
		json_set(json, "value", json_of_value(&run->model_outputs[i]));
		json_append(list, json);
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
		json_set(json, "argument", json_of_int((int64_t)i));
		if (a->spec.write)
			cJSON_AddStringToObject(json, "file", a->spec.write);
		json_append(list, json);
	}
	return list;
}

static cJSON *json_of_times(const struct run *run)
{
	struct timing t = timing_summary(run->ns, run->repeat);
	cJSON *json = cJSON_CreateObject();

	json_set(json, "calls", json_of_int((int64_t)run->repeat));
	json_set(json, "min", json_of_int((int64_t)t.min));
	json_set(json, "median", json_of_int((int64_t)t.median));
	json_set(json, "p90", json_of_int((int64_t)t.p90));
	json_set(json, "max", json_of_int((int64_t)t.max));
	return json;
}

int run_report_json(const struct run *run, FILE *out)
{
	cJSON *json = cJSON_CreateObject(), *expected;
	char name[64];

	json_set(json, "file", json_of_text(tenon_slice_of(run->file)));
	if (run->model)
		cJSON_AddStringToObject(json, "executor", tenon_model_kind(run->model));
	else
		json_set(json, "function", json_of_text(tenon_slice_of(run->function)));
	cJSON_AddStringToObject(json, "device", run_device_name(run, name));
	json_set(json, "outputs", run->model ? json_of_model_outputs(run) : json_of_outputs(run));
	if (!run->model)
		json_set(json, "returned", json_of_value(&run->result));
	expected = cJSON_AddArrayToObject(json, "expected");
	for (size_t i = 0; i < run->expect_count; i++)
		json_append(expected, json_of_comparison(&run->comparisons[i]));
	json_set(json, "nanoseconds", json_of_times(run));
#ifdef CONFIG_EXECUTORS
	if (run->profile)
		json_set(json, "operators", profile_json(&run->operators));
#endif
	return json_print(json, out);
}
