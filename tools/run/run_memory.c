/* SPDX-License-Identifier: MIT */
/* tenon run --memory: print how much memory a model takes, for what and when, and what would reduce it. */
#include "tools/run/run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/clock.h"
#include "lib/trace.h"
#include "runtime/model/model_regions.h"
#include "tools/json/json_value.h"

/* a piece of memory, from taking to giving back */
struct taken {
	struct heap_event event;
	enum model_phase from, to; /* MODEL_AGAIN: not given back before the end */
	uint64_t begin, end;	   /* nanoseconds of CLOCK_MONOTONIC */
	size_t count;		   /* in a sum: of how many */
};

struct collected {
	enum model_phase phase;
	struct taken *at;
	size_t count, room;
	bool failed; /* no memory for the list itself */
	size_t peak[HEAP_SORTS];
	struct model_devices devices;
};

static const char *const sorts[HEAP_SORTS] = { "persistent", "planned", "temporary" };
static const char *const phases[] = { "-", "opening", "running", "closing" };

/* ---- collecting */

static void give(struct collected *c, const struct heap_event *e)
{
	size_t i;

	for (i = c->count; i-- > 0;) {
		struct taken *t = &c->at[i];

		if (t->to || t->event.sort != e->sort || t->event.offset != e->offset)
			continue;
		t->to = c->phase;
		t->end = clock_now();
		return;
	}
}

static void on_event(void *context, const struct heap_event *e)
{
	struct collected *c = context;
	struct taken *more;

	if (!e->what) {
		give(c, e);
		return;
	}
	if (c->count == c->room) {
		more = realloc(c->at, (2 * c->room + 64) * sizeof(*more));
		c->failed |= !more;
		if (!more)
			return;
		c->at = more;
		c->room = 2 * c->room + 64;
	}
	c->at[c->count++] =
		(struct taken){ .event = *e, .from = c->phase, .begin = clock_now(), .count = 1 };
}

static void on_phase(void *context, enum model_phase phase)
{
	struct collected *c = context;

	c->phase = phase;
	if (phase == MODEL_AGAIN)
		c->count = 0;
}

static int by_size(const void *a, const void *b)
{
	const struct taken *x = a, *y = b;

	if (x->event.size != y->event.size)
		return x->event.size < y->event.size ? 1 : -1;
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static void collect_end(struct collected *c)
{
	uint64_t now = clock_now();
	size_t i;

	for (i = 0; i < c->count; i++)
		if (!c->at[i].to)
			c->at[i].end = now;
	if (c->count)
		qsort(c->at, c->count, sizeof(*c->at), by_size);
}

/* ---- the report */

/* Pieces that are taken and given back within a phase are not in use at once. */
static bool in_turn(const struct taken *t)
{
	return t->from == t->to;
}

/* Add up pieces that are for the same, and were taken and given back in the same phases; of those in turn, the largest. */
static size_t sum_up(struct taken *at, size_t count)
{
	size_t i, k, sums = 0;

	for (i = 0; i < count; i++) {
		for (k = 0; k < sums; k++)
			if (!strcmp(at[k].event.what, at[i].event.what) &&
			    at[k].event.sort == at[i].event.sort && at[k].from == at[i].from &&
			    at[k].to == at[i].to)
				break;
		if (k == sums) {
			at[sums++] = at[i];
			continue;
		}
		if (!in_turn(&at[k]))
			at[k].event.size += at[i].event.size;
		at[k].count++;
	}
	qsort(at, sums, sizeof(*at), by_size);
	return sums;
}

/* What would shrink memory, by its name. */
static const struct {
	const char *what, *advice;
} advices[] = {
	{ "parameters and constants",
	  "parameters that are not aligned are copied: tenon params align" },
	{ "nodes and entries", "a graph keeps its names and shapes: a model compiled ahead of time "
			       "(--executor aot) has none" },
	{ "tokens of JSON",
	  "graph.json is taken apart while the model is opened: planned memory of "
	  "another model may lie there meanwhile" },
	{ "workspace",
	  "operators take workspace in turn: compile with USMP (an ahead-of-time model), "
	  "or with smaller tiles" },
	{ "tensors", "activations: a smaller input or batch, or int8" },
};

static void advise(const struct taken *sums, size_t count, FILE *out)
{
	size_t i, k, given = 0;

	for (i = 0; i < count && given < 3; i++)
		for (k = 0; k < sizeof(advices) / sizeof(*advices); k++)
			if (!strcmp(sums[i].event.what, advices[k].what))
				fprintf(out, "%s%s: %s\n", given++ ? "        " : "smaller ",
					advices[k].what, advices[k].advice);
}

static void print(struct collected *c, FILE *out)
{
	size_t i, sums = sum_up(c->at, c->count);
	int sort;

	for (sort = 0; sort < HEAP_SORTS; sort++)
		fprintf(out, "%-10s %12zu bytes\n", sorts[sort], c->peak[sort]);
	if (c->devices.bytes)
		fprintf(out, "%-10s %12" PRIu64 " bytes at most\n", "device", c->devices.bytes);
	fprintf(out, "\n%12s  %-10s  %-8s  %-8s  what for\n", "bytes", "sort", "taken", "back");
	for (i = 0; i < sums; i++) {
		const struct taken *t = &c->at[i];

		fprintf(out, "%12zu  %-10s  %-8s  %-8s  %s", t->event.size, sorts[t->event.sort],
			phases[t->from], phases[t->to], t->event.what);
		if (t->count > 1)
			fprintf(out, in_turn(t) ? " (%zu times)" : " (%zu)", t->count);
		fputc('\n', out);
	}
	fputc('\n', out);
	advise(c->at, sums, out);
}

#ifdef CONFIG_JSON
static int print_json(const struct run *run, const struct collected *c, FILE *out)
{
	cJSON *json = cJSON_CreateObject(), *need, *list, *item;
	size_t i;

	json_set(json, "file", json_of_text(tenon_slice_of(run->options.file)));
	need = cJSON_AddObjectToObject(json, "need");
	for (i = 0; i < HEAP_SORTS; i++)
		json_set(need, sorts[i], json_of_int((int64_t)c->peak[i]));
	json_set(need, "device", json_of_int((int64_t)c->devices.bytes));
	json_set(need, "align", json_of_int(HEAP_ALIGN));
	list = cJSON_AddArrayToObject(json, "allocations");
	for (i = 0; i < c->count; i++) {
		const struct taken *t = &c->at[i];

		item = cJSON_CreateObject();
		cJSON_AddStringToObject(item, "what", t->event.what);
		cJSON_AddStringToObject(item, "sort", sorts[t->event.sort]);
		json_set(item, "bytes", json_of_int((int64_t)t->event.size));
		json_set(item, "offset", json_of_int((int64_t)t->event.offset));
		cJSON_AddStringToObject(item, "taken", phases[t->from]);
		cJSON_AddStringToObject(item, "back", phases[t->to]);
		json_append(list, item);
	}
	return json_print(json, out);
}
#else
static int print_json(const struct run *run, const struct collected *c, FILE *out)
{
	return 0;
}
#endif

/* Add each piece to the trace, on a track for each sort. */
static void trace(const struct collected *c)
{
	static const char *const tracks[HEAP_SORTS] = { "persistent memory", "planned memory",
							"temporary memory" };
	size_t i;

	for (i = 0; i < c->count; i++) {
		const struct taken *t = &c->at[i];
		const struct trace_span span = { .track = tracks[t->event.sort],
						 .category = "memory",
						 .name = tenon_slice_of(t->event.what),
						 .bytes = t->event.size,
						 .begin = t->begin,
						 .end = t->end };

		trace_put(&span);
	}
}

int run_memory(struct cli *cli, struct run *run)
{
	struct tenon_model_options o = { .size = sizeof(o),
					 .function = run->options.function,
					 .devices = run->targets.id,
					 .device_count = run->targets.count };
	struct collected c = { .count = 0 };
	const struct model_watch watch = { { on_event, &c }, on_phase };
	int err, code = 0;

	err = run->options.params.count ? model_params_open(&run->options.params, &o.params) : 0;
	if (!err)
		err = model_measure(run->module, &o, true, &watch, c.peak, &c.devices);
	if (!err && c.failed)
		err = tenon_error(-TENON_E_NOMEM, "no memory for a list of allocations");
	if (err) {
		tenon_error_in(err, "%s", run->options.file);
		code = cli_error(cli, cli_exit_of(err, CLI_FAILED));
		goto free;
	}
	collect_end(&c);
	trace(&c);
	if (!run->options.json)
		print(&c, cli->out);
	else if (print_json(run, &c, cli->out))
		code = cli_error(cli, CLI_FAILED);
free:
	tenon_object_unref(o.params);
	free(c.at);
	return code;
}
