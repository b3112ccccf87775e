/* SPDX-License-Identifier: MIT */
/* Read the JSON of an earlier tenon bench. */
#include <stdlib.h>
#include <string.h>

#include "lib/json_tree.h"
#include "tools/file/file.h"
#include "tools/report/report.h"

/* operators of a measurement; their numbers are untrusted */
#define OPERATORS_MOST (1u << 20)

/* A number that was written as an integer; 0 for none. */
static uint64_t number_of(const cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

	/* false for NaN as well */
	return cJSON_IsNumber(item) && item->valuedouble >= 1 && item->valuedouble < 9e18
		       ? (uint64_t)item->valuedouble
		       : 0;
}

static char *text_of(const cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

	return strdup(cJSON_IsString(item) ? item->valuestring : "");
}

static size_t operators_of(const cJSON *list)
{
	const cJSON *item;
	uint64_t number, count = 0;

	cJSON_ArrayForEach(item, list)
	{
		number = number_of(item, "number");
		if (number < OPERATORS_MOST && number >= count)
			count = number + 1;
	}
	return (size_t)count;
}

static int read_operators(const cJSON *list, struct profile *p)
{
	const size_t count = operators_of(list);
	const cJSON *item;
	uint64_t number;

	p->ops = calloc(count + 1, sizeof(*p->ops));
	if (!p->ops)
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu operators", count);
	p->count = count;
	cJSON_ArrayForEach(item, list)
	{
		struct profile_op *op;

		number = number_of(item, "number");
		op = number < count ? &p->ops[number] : NULL;
		if (!op || op->name)
			continue;
		op->name = text_of(item, "name");
		op->function = text_of(item, "function");
		op->calls = number_of(item, "calls");
		op->ns = number_of(item, "nanoseconds");
		if (!op->name || !op->function)
			return tenon_error(-TENON_E_NOMEM, "no memory for %zu operators", count);
	}
	return 0;
}

int baseline_read(const char *path, struct report_run *run)
{
	struct tenon_buffer text = TENON_BUFFER_INIT;
	const cJSON *ns;
	cJSON *json;
	int err;

	err = file_read_text(path, &text);
	if (!err)
		err = json_tree_read((struct tenon_slice){ text.data, text.size }, path, &json);
	tenon_buffer_fini(&text);
	if (err)
		return err;
	ns = cJSON_GetObjectItemCaseSensitive(json, "nanoseconds");
	run->name = path;
	run->timing.min = number_of(ns, "min");
	run->timing.median = number_of(ns, "median");
	run->timing.p90 = number_of(ns, "p90");
	run->timing.max = number_of(ns, "max");
	run->m.runs = number_of(ns, "runs");
	run->m.open_ns = number_of(ns, "open");
	err = run->m.runs && run->timing.median
		      ? read_operators(cJSON_GetObjectItemCaseSensitive(json, "operators"),
				       &run->m.profile)
		      : tenon_error(-TENON_E_FORMAT,
				    "%s is not what tenon bench --json --per-op prints: it has no "
				    "\"nanoseconds\" with \"runs\" and \"median\"",
				    path);
	cJSON_Delete(json);
	return err;
}
