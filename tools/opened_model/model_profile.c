/* SPDX-License-Identifier: MIT */
/* Run a model with the time of each operator, and print the longest. */
#include <inttypes.h>
#include <stdlib.h>

#include "tools/opened_model/model.h"
#include "tools/text/text.h"

/* bytes of an operator's name that are printed */
#define NAME_MOST 60

struct tenon_slice model_short_name(struct tenon_slice function)
{
	static const char prefix[] = "tvmgen_default_";
	const size_t size = sizeof(prefix) - 1;

	if (function.size <= size || memcmp(function.data, prefix, size) != 0)
		return function;
	return (struct tenon_slice){ function.data + size, function.size - size };
}

static char *copy(struct tenon_slice s)
{
	return strndup(s.data ? s.data : "", s.size);
}

static bool grow(struct profile *p, size_t index, const struct tenon_op *op)
{
	struct profile_op *more;

	if (index >= p->count) {
		more = realloc(p->ops, (index + 1) * sizeof(*more));
		if (!more)
			return false;
		memset(more + p->count, 0, (index + 1 - p->count) * sizeof(*more));
		p->ops = more;
		p->count = index + 1;
	}
	if (!p->ops[index].name) {
		p->ops[index].name = copy(op->name);
		p->ops[index].function = copy(op->function);
	}
	return p->ops[index].name && p->ops[index].function;
}

static void add(void *context, size_t index, const struct tenon_op *op, uint64_t begin,
		uint64_t end)
{
	struct profile *p = context;

	if (!grow(p, index, op)) {
		p->failed = true;
		return;
	}
	p->ops[index].calls++;
	p->ops[index].ns += end - begin;
}

int profile_run(struct profile *p, struct tenon_model *model)
{
	struct tenon_profiler profiler = { sizeof(profiler), add, p };
	int err = tenon_model_run_profiled(model, &profiler);

	if (!err && p->failed)
		err = tenon_error(-TENON_E_NOMEM, "no memory for the profile");
	return err;
}

static int longer_first(const void *a, const void *b)
{
	const struct profile_op *x = a, *y = b;

	return x->ns < y->ns ? 1 : x->ns > y->ns ? -1 : strcmp(x->name, y->name);
}

/* Sort the called operators by descending time. Others, such as unlisted calls, have no name. */
static size_t sort_called(const struct profile *p, struct profile_op *sorted)
{
	size_t i, n = 0;

	for (i = 0; i < p->count; i++)
		if (p->ops[i].calls)
			sorted[n++] = p->ops[i];
	if (n)
		qsort(sorted, n, sizeof(*sorted), longer_first);
	return n;
}

int profile_print(const struct profile *p, FILE *out)
{
	struct profile_op *sorted = malloc((p->count + 1) * sizeof(*sorted));
	char each[TIMING_TEXT], all[TIMING_TEXT];
	uint64_t total = 0;
	size_t i, n;
	int width = 8;

	if (!sorted)
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu operators", p->count);
	n = sort_called(p, sorted);
	for (i = 0; i < n; i++) {
		total += sorted[i].ns;
		if (sorted[i].name && (int)strlen(sorted[i].name) > width)
			width = (int)strlen(sorted[i].name);
	}
	width = width > NAME_MOST ? NAME_MOST : width;
	fprintf(out, "%-*s %8s %11s %11s %7s\n", width, "operator", "calls", "each", "together",
		"share");
	for (i = 0; i < n; i++) {
		const struct profile_op *op = &sorted[i];

		printable_cell((struct tenon_slice){ op->name, strnlen(op->name, NAME_MOST) },
			       width, out);
		fprintf(out, " %8" PRIu64 " %11s %11s %6.1f%%\n", op->calls,
			timing_text(op->ns / op->calls, each), timing_text(op->ns, all),
			total ? 100.0 * (double)op->ns / (double)total : 0.0);
	}
	free(sorted);
	return 0;
}

#ifdef CONFIG_JSON
cJSON *profile_json(const struct profile *p)
{
	cJSON *list = cJSON_CreateArray(), *json;
	size_t i;

	for (i = 0; i < p->count; i++) {
		const struct profile_op *op = &p->ops[i];

		if (!op->calls)
			continue;
		json = cJSON_CreateObject();
		json_set(json, "number", json_of_int((int64_t)i));
		json_set(json, "name", json_of_text(tenon_slice_of(op->name)));
		json_set(json, "function", json_of_text(tenon_slice_of(op->function)));
		json_set(json, "calls", json_of_int((int64_t)op->calls));
		json_set(json, "nanoseconds", json_of_int((int64_t)op->ns));
		json_append(list, json);
	}
	return list;
}
#endif

void profile_fini(struct profile *p)
{
	size_t i;

	for (i = 0; i < p->count; i++) {
		free(p->ops[i].name);
		free(p->ops[i].function);
	}
	free(p->ops);
}
