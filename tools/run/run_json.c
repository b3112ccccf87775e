/* SPDX-License-Identifier: MIT */
/* Print the report of a run as JSON. */
#include <stdio.h>

#include "lib/option.h"
#include "tools/json/json_value.h"
#include "tools/run/run.h"
#include "tools/text/text.h"

static cJSON *json_of_model_outputs(const struct run *run)
{
	cJSON *list = cJSON_CreateArray(), *json;
	struct tenon_port port;

	for (size_t i = 0; i < run->results.count; i++) {
		json = cJSON_CreateObject();
		if (!tenon_model_output(run->model, i, &port))
			json_set(json, "name", json_of_text(port.name));
		json_set(json, "value", json_of_value(&run->results.at[i]));
		json_append(list, json);
	}
	return list;
}

static cJSON *json_of_outputs(const struct arguments *arguments)
{
	cJSON *list = cJSON_CreateArray(), *json;

	for (size_t i = 0; i < arguments->count; i++) {
		const struct argument *a = &arguments->at[i];

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

static cJSON *json_of_times(const struct times *times)
{
	struct timing t = timing_summary(times->ns, times->count);
	cJSON *json = cJSON_CreateObject();

	json_set(json, "calls", json_of_int((int64_t)times->count));
	json_set(json, "min", json_of_int((int64_t)t.min));
	json_set(json, "median", json_of_int((int64_t)t.median));
	json_set(json, "p90", json_of_int((int64_t)t.p90));
	json_set(json, "max", json_of_int((int64_t)t.max));
	return json;
}

static cJSON *json_of_returned(const struct results *r, size_t output_count)
{
	const struct tenon_value none = tenon_arg_none();

	return json_of_value(r->count > output_count ? &r->at[output_count] : &none);
}

/* a device name like "opencl:0" */
static cJSON *json_of_device(const struct target_list *targets)
{
	const DLDevice id = targets->count ? targets->id[0] : (DLDevice){ kDLCPU, 0 };
	char name[64];

	snprintf(name, sizeof(name), "%s:%d", tenon_device_name(id.device_type), id.device_id);
	return cJSON_CreateString(name);
}

int run_report_json(const struct run *run, FILE *out)
{
	const struct expectations *e = &run->expectations;
	cJSON *json = cJSON_CreateObject(), *expected;

	json_set(json, "file", json_of_text(tenon_slice_of(run->options.file)));
	if (run->model)
		cJSON_AddStringToObject(json, "executor", tenon_model_kind(run->model));
	else
		json_set(json, "function", json_of_text(tenon_slice_of(run->name)));
	json_set(json, "device", json_of_device(&run->targets));
	json_set(json, "outputs",
		 run->model ? json_of_model_outputs(run) : json_of_outputs(&run->arguments));
	if (!run->model)
		json_set(json, "returned",
			 json_of_returned(&run->results, run->arguments.output_count));
	expected = cJSON_AddArrayToObject(json, "expected");
	for (size_t i = 0; i < e->count; i++)
		json_append(expected, json_of_comparison(&e->comparisons[i]));
	json_set(json, "nanoseconds", json_of_times(&run->times));
	if (OPTION_ON(EXECUTORS) && run->options.profile)
		json_set(json, "operators", profile_json(&run->operators));
	return json_print(json, out);
}
