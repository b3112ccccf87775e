/* SPDX-License-Identifier: MIT */
/* What a replay found, as text or JSON. */
#include "tools/replay/replay.h"

#include <inttypes.h>
#include <string.h>

#include "tools/json/json_value.h"
#include "tools/text/text.h"

static const char *kind_text(enum replay_kind kind)
{
	static const char *const kinds[] = {
		"operator", "kernel", "copy", "write", "read", "fill"
	};

	return kinds[kind];
}

/* "operation 3: operator dense of function fused_dense" */
static void print_operation(const struct replay_operation *op, FILE *out)
{
	fprintf(out, "operation %" PRIu64 ": %s", op->number, kind_text(op->kind));
	if (op->kind == REPLAY_OPERATOR || op->kind == REPLAY_KERNEL) {
		fputc(' ', out);
		printable_print(op->name, out);
	}
	if (op->kind == REPLAY_OPERATOR && strcmp(op->name, op->function)) {
		fputs(" of function ", out);
		printable_print(op->function, out);
	}
}

static void print_difference(const struct replay_difference *d, FILE *out)
{
	const struct replay_argument *a = &d->operation->arguments[d->argument];

	print_operation(d->operation, out);
	fprintf(out, "\n  argument %zu, ", d->argument);
	printable_print(a->type, out);
	fputs(a->bytes_only ? ", of unknown element type, byte for byte: " : ": ", out);
	compare_print(&d->comparison, out);
	fputc('\n', out);
}

static const char *compared_with(const struct replay_options *o)
{
	return o->target_count == 2 ? o->targets[0].name : "the record";
}

static void print_equal(const struct replay_options *o, const struct replay_comparison *c,
			FILE *out)
{
	const char *name = o->targets[o->target_count - 1].name;

	printable_format(out, "%" PRIu64 " operation%s of %s on %s", c->compared,
			 c->compared == 1 ? "" : "s", o->folder, name);
	if (c->compared && !c->first.operation)
		fprintf(out, ": equal to %s (largest difference %.3g absolute, %.3g relative)",
			compared_with(o), c->absolute, c->relative);
	else if (c->compared)
		fprintf(out, ": the last one differs from %s", compared_with(o));
	else
		fprintf(out, ": nothing to compare with %s", compared_with(o));
	fputc('\n', out);
}

void replay_report(const struct replay_options *o, const struct replay_comparison *c, FILE *out)
{
	const struct replay_failure *f = &c->failure;

	print_equal(o, c, out);
	if (c->first.operation)
		print_difference(&c->first, out);
	if (c->kernel.operation) {
		fputs("  its ", out);
		print_difference(&c->kernel, out);
	}
	if (c->absent) {
		fprintf(out,
			"%" PRIu64 " not compared: a device, or the module for it, lacks them; the "
			"first on %s, ",
			c->absent, c->missing.target->name);
		print_operation(c->missing.operation, out);
		fputc('\n', out);
	}
	if (!f->operation)
		return;
	fprintf(out, "%" PRIu64 " failed; the first on %s, ", c->failed, f->target->name);
	print_operation(f->operation, out);
	fputs(": ", out);
	printable_print(f->reason ? f->reason : "?", out);
	fputc('\n', out);
}

/* ---- JSON */

static cJSON *json_of_operation(const struct replay_operation *op)
{
	cJSON *json = cJSON_CreateObject();

	json_set(json, "number", json_of_int((int64_t)op->number));
	json_set(json, "kind", json_of_text(tenon_slice_of(kind_text(op->kind))));
	json_set(json, "name", json_of_text(tenon_slice_of(op->name)));
	if (op->kind == REPLAY_OPERATOR)
		json_set(json, "function", json_of_text(tenon_slice_of(op->function)));
	return json;
}

static cJSON *json_of_difference(const struct replay_difference *d)
{
	const struct replay_argument *a;
	cJSON *json;

	if (!d->operation)
		return cJSON_CreateNull();
	a = &d->operation->arguments[d->argument];
	json = json_of_operation(d->operation);
	json_set(json, "argument", json_of_int((int64_t)d->argument));
	json_set(json, "type", json_of_text(tenon_slice_of(a->type)));
	json_set(json, "comparison", json_of_comparison(&d->comparison));
	return json;
}

static cJSON *json_of_failure(const struct replay_failure *f)
{
	cJSON *json;

	if (!f->operation)
		return cJSON_CreateNull();
	json = json_of_operation(f->operation);
	json_set(json, "device", json_of_text(tenon_slice_of(f->target->name)));
	if (f->reason)
		json_set(json, "reason", json_of_text(tenon_slice_of(f->reason)));
	return json;
}

int replay_report_json(const struct replay_options *o, const struct replay_comparison *c, FILE *out)
{
	cJSON *json = cJSON_CreateObject(), *devices = cJSON_CreateArray();
	size_t i;

	for (i = 0; i < o->target_count; i++)
		json_append(devices, json_of_text(tenon_slice_of(o->targets[i].name)));
	json_set(json, "record", json_of_text(tenon_slice_of(o->folder)));
	json_set(json, "devices", devices);
	json_set(json, "compared", json_of_int((int64_t)c->compared));
	json_set(json, "absent", json_of_int((int64_t)c->absent));
	json_set(json, "failed", json_of_int((int64_t)c->failed));
	json_set(json, "equal", cJSON_CreateBool(c->compared && !c->first.operation && !c->failed));
	json_set(json, "largest_absolute", json_of_real(c->absolute));
	json_set(json, "largest_relative", json_of_real(c->relative));
	json_set(json, "first", json_of_difference(&c->first));
	json_set(json, "kernel", json_of_difference(&c->kernel));
	json_set(json, "failure", json_of_failure(&c->failure));
	json_set(json, "missing", json_of_failure(&c->missing));
	return json_print(json, out);
}
