/* SPDX-License-Identifier: MIT */
/* Describe a file for "tenon inspect", and check all of it for "tenon verify". */
#include <inttypes.h>
#include <stdio.h>
#include <tenon/string.h>

#include "devices/torq/torq_check.h"
#include "devices/torq/torq_file.h"
#include "devices/torq/torq_payload.h"
#include "lib/brief_errors.h"
#include "lib/slice_text.h"

#define NAME_MOST 200

static const char *const memories[] = { "LRAM", "XRAM", "ITCM", "DTCM", "another memory" };

static const char *memory_name(uint32_t memory)
{
	return memories[memory < 4 ? memory : 4];
}

/* "read", "written", "read and written" */
static const char *use_of(bool reads, bool writes)
{
	return !writes ? "read" : reads ? "read and written" : "written";
}

static void report_named(struct tenon_report *out, const struct torq_program *p)
{
	tenon_report_text(out, "name", p->name);
	tenon_report_number(out, "runtime", p->runtime);
	tenon_report_number(out, "hardware", p->hardware);
}

/* ---- what is in it */

static int describe_segments(const struct torq_program *p, struct tenon_report *out)
{
	struct torq_segment s;
	uint32_t i;
	int err = 0;

	tenon_report_list(out, "segments");
	for (i = 0; i < p->segments.count && !err; i++) {
		err = torq_program_segment(p, i, &s);
		if (err)
			break;
		tenon_report_line(out, "  segment %-9u %u bytes at 0x%08x%s", i, s.size, s.address,
				  s.data.size ? "" : ", without contents");
		tenon_report_object(out, NULL);
		tenon_report_number(out, "address", s.address);
		tenon_report_number(out, "bytes", s.size);
		tenon_report_truth(out, "has_contents", s.data.size);
		tenon_report_close(out);
	}
	tenon_report_close(out);
	return err;
}

static int describe_bindings(const struct torq_program *p, struct tenon_report *out)
{
	struct torq_binding b;
	uint32_t i;
	int err = 0;

	tenon_report_list(out, "bindings");
	for (i = 0; i < p->bindings.count && !err; i++) {
		err = torq_program_binding(p, i, &b);
		if (err)
			break;
		tenon_report_line(
			out, "  binding %-9u %u bytes at 0x%08x, argument %u from byte %u, %s", i,
			b.size, b.address, b.argument, b.offset, use_of(b.reads, b.writes));
		tenon_report_object(out, NULL);
		tenon_report_number(out, "argument", b.argument);
		tenon_report_number(out, "offset", b.offset);
		tenon_report_number(out, "address", b.address);
		tenon_report_number(out, "bytes", b.size);
		tenon_report_truth(out, "reads", b.reads);
		tenon_report_truth(out, "writes", b.writes);
		tenon_report_close(out);
	}
	tenon_report_close(out);
	return err;
}

static const char *where(enum torq_move move)
{
	return move == TORQ_BY_ARGUMENT	  ? ", where an argument says"
	       : move == TORQ_BY_CONSTANT ? ", where IREE's virtual machine says"
					  : "";
}

/* What an action does, as text. */
static void action_text(const struct torq_action *a, char *text, size_t room)
{
	switch (a->kind) {
	case TORQ_COPY:
		snprintf(text, room, "copy from %s 0x%x to %s 0x%x, %u bytes each time%s",
			 memory_name(a->copy.from), a->copy.source, memory_name(a->copy.to),
			 a->copy.target, a->copy.element, where(a->copy.move));
		break;
	case TORQ_START:
		snprintf(text, room, "start the NPU at LRAM 0x%x", a->start);
		break;
	case TORQ_WAIT:
		snprintf(text, room, "wait for the NPU");
		break;
	case TORQ_START_HOST:
		snprintf(text, room, "call \"%.*s\" of the host", (int)a->function.size,
			 a->function.data);
		break;
	case TORQ_WAIT_HOST:
		snprintf(text, room, "wait for the host");
		break;
	case TORQ_ALLOCATE:
		snprintf(text, room, "use %" PRIu64 " bytes of %s at 0x%" PRIx64, a->size,
			 memory_name(a->memory), a->address);
		break;
	case TORQ_FREE:
		snprintf(text, room, "leave memory");
		break;
	default:
		snprintf(text, room, "kind %u, which is not known", a->kind);
	}
}

static int describe_actions(const struct torq_program *p, struct tenon_report *out)
{
	char text[NAME_MOST + 160];
	struct torq_action a;
	uint32_t i;
	int err = 0;

	tenon_report_list(out, "actions");
	for (i = 0; i < p->actions.count && !err; i++) {
		err = torq_program_action(p, i, &a);
		if (err)
			break;
		if (a.function.size > NAME_MOST)
			a.function.size = NAME_MOST;
		action_text(&a, text, sizeof(text));
		tenon_report_line(out, "  action %-10u %s", i, text);
		tenon_report_text(out, NULL, tenon_slice_of(text));
	}
	tenon_report_close(out);
	return err;
}

/* ---- what it touches */

static void describe_extents(const struct torq_extents *e, struct tenon_report *out)
{
	const struct torq_argument *a;
	uint32_t i;

	tenon_report_line(out,
			  "  memory            %" PRIu64 " bytes of XRAM at 0x%08" PRIx64
			  ", %" PRIu64 " with contents",
			  e->end - e->base, e->base, e->initial);
	tenon_report_line(out,
			  "  the host          starts the NPU %u times, copies %" PRIu64 " bytes",
			  e->starts, e->copied);
	tenon_report_number(out, "memory_bytes", (int64_t)(e->end - e->base));
	tenon_report_number(out, "memory_address", (int64_t)e->base);
	tenon_report_number(out, "starts", e->starts);
	tenon_report_number(out, "host_copies", e->copies);
	tenon_report_number(out, "host_copied_bytes", (int64_t)e->copied);
	tenon_report_list(out, "arguments");
	for (i = 0; i < e->argument_count; i++) {
		a = &e->arguments[i];
		if (a->size)
			tenon_report_line(out, "  argument %-8u %" PRIu64 " bytes, %s", i, a->size,
					  use_of(a->reads, a->writes));
		tenon_report_object(out, NULL);
		tenon_report_number(out, "bytes", (int64_t)a->size);
		tenon_report_truth(out, "reads", a->reads);
		tenon_report_truth(out, "writes", a->writes);
		tenon_report_close(out);
	}
	tenon_report_close(out);
}

static void describe_fault(struct tenon_report *out)
{
	tenon_report_line(out, "  refused           %s", tenon_error_message());
	tenon_report_text(out, "fault", tenon_slice_of(tenon_error_message()));
	tenon_error_clear();
}

struct description {
	const struct tenon_payload_request *request;
	struct tenon_report *out;
};

static int describe_one(void *context, const struct torq_program *p)
{
	const struct description *d = context;
	struct tenon_report *out = d->out;
	struct torq_extents e;
	int err;

	tenon_report_line(out, "  executable        \"%.*s\", for hardware %u%s, runtime %u",
			  slice_shown(p->name, NAME_MOST), p->name.data, p->hardware,
			  p->hardware == TORQ_HARDWARE ? " (SL2610)" : "", p->runtime);
	tenon_report_object(out, NULL);
	report_named(out, p);
	err = describe_segments(p, out);
	err = err ? err : describe_bindings(p, out);
	if (!err && d->request->commands)
		err = describe_actions(p, out);
	if (!err && p->host_code.size) {
		tenon_report_line(out, "  host code         %zu bytes", p->host_code.size);
		tenon_report_number(out, "host_code_bytes", (int64_t)p->host_code.size);
	}
	if (!err && torq_check(p, &e))
		describe_fault(out);
	else if (!err)
		describe_extents(&e, out);
	tenon_report_close(out);
	return err;
}

int torq_describe(const struct tenon_payload_request *r, struct tenon_report *out)
{
	struct description d = { r, out };
	struct torq_file f;
	uint32_t count;
	int err;

	torq_file_begin(&r->program, &f);
	tenon_report_line(out, "payload of Torq (%s)",
			  f.is_archive ? "module of IREE" : "one executable");
	tenon_report_text(out, "container", tenon_slice_of(f.is_archive ? "vmfb" : "torq"));
	tenon_report_list(out, "executables");
	err = torq_file_each(&r->program, describe_one, &d, &count);
	tenon_report_close(out);
	return err;
}

/* ---- the check */

static int check_alone(void *context, const struct torq_program *p)
{
	return torq_check(p, context);
}

static int check_one(void *context, const struct torq_program *p)
{
	struct tenon_report *out = context;
	struct torq_extents e;
	int err = torq_check(p, &e);

	if (err)
		return err;
	tenon_report_line(out, "  executable        \"%.*s\"", slice_shown(p->name, NAME_MOST),
			  p->name.data);
	tenon_report_object(out, NULL);
	report_named(out, p);
	describe_extents(&e, out);
	tenon_report_close(out);
	return 0;
}

int torq_check_program(const struct tenon_payload_request *r, struct tenon_report *out)
{
	struct torq_extents e;
	uint32_t count;
	int err;

	if (r->option_count)
		return tenon_error(-TENON_E_USAGE, "--%s: programs for Torq have no such option",
				   r->options[0].name);
	err = torq_file_each(&r->program, check_alone, &e, &count);
	if (err)
		return err;
	tenon_report_line(out, "no fault: for SL2610, %u executable%s", count,
			  count == 1 ? "" : "s");
	tenon_report_list(out, "executables");
	err = torq_file_each(&r->program, check_one, out, &count);
	tenon_report_close(out);
	return err;
}
