/* SPDX-License-Identifier: MIT */
/* Describe a network: its target, operations, regions, tensors and commands. */
#include <inttypes.h>
#include <stdio.h>
#include <tenon/backend/buffer.h>
#include <tenon/string.h>

#include "devices/ethosu/ethosu_device.h"

/* what Linux does with dma-bufs that are not of its driver */
#define OF_OTHERS "of other drivers are copied: Linux's driver ethosu imports its own alone"

static const char *const roles[ETHOSU_ROLES] = { "input", "output", "variable" };

/**
 * struct network - what is described
 * @c: what was read
 * @name: of the file
 * @extents: what the stream does
 * @is_refused: the check refused it; its message is the thread's error
 * @arguments: of a call, if @has_arguments
 * @has_arguments: they are known; of a model's operator those between decide
 */
struct network {
	struct ethosu_container c;
	const char *name;
	struct ethosu_extents extents;
	bool is_refused;
	struct ethosu_arguments arguments;
	bool has_arguments;
};

static const char *region_role(const struct network *n, unsigned int region)
{
	static const char *const names[] = { "constants", "scratch", "fast scratch" };

	if (region < 3)
		return names[region];
	if (n->c.payload.local && region < 5)
		return region == 3 ? "inputs" : "outputs";
	return "";
}

static void describe_target(const struct network *n, struct tenon_report *out)
{
	const struct ethosu_payload *p = &n->c.payload;
	const char *container = p->version == 1 ? "COP1" : "COP2";
	char target[ETHOSU_TARGET_NAME];

	ethosu_target_name(&p->target, target);
	tenon_report_line(out, "payload of Ethos-U for %s (%s)", target, container);
	tenon_report_line(out, "  target            config 0x%08x, id 0x%08x", p->target.config,
			  p->target.id);
	tenon_report_line(out, "  command stream    %zu bytes at 0x%" PRIx64 ", %u commands",
			  p->stream.size, p->stream_at, n->extents.commands);
	tenon_report_text(out, "container", tenon_slice_of(container));
	tenon_report_text(out, "target", tenon_slice_of(target));
	tenon_report_number(out, "config", p->target.config);
	tenon_report_number(out, "id", p->target.id);
	tenon_report_number(out, "stream_offset", (int64_t)p->stream_at);
	tenon_report_number(out, "stream_bytes", (int64_t)p->stream.size);
	if (p->version > 1 && p->fast_scratch <= INT64_MAX)
		tenon_report_number(out, "fast_scratch_bytes", (int64_t)p->fast_scratch);
	tenon_report_number(out, "commands", n->extents.commands);
}

static void describe_operations(const struct network *n, struct tenon_report *out)
{
	struct tenon_buffer list = TENON_BUFFER_INIT;
	const uint32_t *count = n->extents.operations;
	unsigned int i;

	tenon_report_object(out, "operations");
	for (i = ETHOSU_OP_CONV; i <= ETHOSU_OP_DMA_START; i++) {
		if (!count[i])
			continue;
		tenon_buffer_printf(&list, "%s%s %u", list.size ? ", " : "", ethosu_command_name(i),
				    count[i]);
		tenon_report_number(out, ethosu_command_name(i), count[i]);
	}
	tenon_report_close(out);
	tenon_report_line(out, "  operations        %s", list.data ? list.data : "");
	tenon_buffer_fini(&list);
	if (n->c.payload.fast_scratch)
		tenon_report_line(out, "  fast scratch      %" PRIu64 " bytes in use",
				  n->c.payload.fast_scratch);
}

static bool has_arguments(const struct network *n, unsigned int region)
{
	const struct ethosu_arguments *a = &n->arguments;
	size_t i;

	for (i = 0; n->has_arguments && i < a->count; i++)
		if (a->items[i].region == region && a->items[i].bytes)
			return true;
	return false;
}

static void describe_region(const struct network *n, unsigned int i, struct tenon_report *out)
{
	const uint64_t read = n->extents.read[i], write = n->extents.write[i], size = n->c.sizes[i];
	const bool known = size != ETHOSU_UNLIMITED;
	char has[40] = "";
	const char *why;

	if (known)
		snprintf(has, sizeof(has), ", has %" PRIu64, size);
	if (read || write || (known && size))
		tenon_report_line(out,
				  "  region %u          %-13s  reads %" PRIu64 ", writes %" PRIu64
				  "%s bytes",
				  i, region_role(n, i), read, write, has);
	tenon_report_object(out, NULL);
	tenon_report_text(out, "role", tenon_slice_of(region_role(n, i)));
	tenon_report_number(out, "reads", (int64_t)read);
	tenon_report_number(out, "writes", (int64_t)write);
	if (known)
		tenon_report_number(out, "bytes", (int64_t)size);
	if (has_arguments(n, i)) {
		why = ethosu_arguments_in_place(&n->arguments, i);
		tenon_report_truth(out, "in_place", !why);
		if (why)
			tenon_report_text(out, "copied_because", tenon_slice_of(why));
	}
	tenon_report_close(out);
}

static void describe_regions(const struct network *n, struct tenon_report *out)
{
	unsigned int i;

	tenon_report_list(out, "regions");
	for (i = 0; i < ETHOSU_REGIONS; i++)
		describe_region(n, i, out);
	tenon_report_close(out);
	tenon_report_text(out, "dma_bufs", tenon_slice_of(OF_OTHERS));
}

static void describe_tensor(const struct ethosu_tensor *t, struct tenon_report *out)
{
	struct tenon_buffer shape = TENON_BUFFER_INIT;
	int i;

	tenon_report_object(out, NULL);
	tenon_report_text(out, "role", tenon_slice_of(roles[t->role]));
	tenon_report_number(out, "region", (int64_t)t->region);
	tenon_report_number(out, "offset", (int64_t)t->offset);
	tenon_report_number(out, "element_bytes", (int64_t)t->element);
	tenon_report_list(out, "shape");
	for (i = 0; i < ETHOSU_DIMENSIONS; i++) {
		tenon_report_number(out, NULL, (int64_t)t->shape[i]);
		tenon_buffer_printf(&shape, "%s%" PRIu64, i ? "x" : "", t->shape[i]);
	}
	tenon_report_close(out);
	tenon_report_close(out);
	tenon_report_line(out, "  %-17s %s of %" PRIu64 " byte%s at %" PRIu64 " of region %" PRIu64,
			  roles[t->role], shape.data ? shape.data : "", t->element,
			  t->element == 1 ? "" : "s", t->offset, t->region);
	tenon_buffer_fini(&shape);
}

static void describe_tensors(const struct network *n, struct tenon_report *out)
{
	struct ethosu_tensor t;
	unsigned int role;
	uint64_t i;

	tenon_report_list(out, "tensors");
	for (role = 0; role < ETHOSU_ROLES; role++)
		for (i = 0; i < n->c.counts[role]; i++) {
			t = ethosu_container_tensor(&n->c, role, i);
			describe_tensor(&t, out);
		}
	tenon_report_close(out);
}

/* where arguments of a call are when the network runs */
static void describe_places(const struct network *n, struct tenon_report *out)
{
	const char *why;
	unsigned int i;

	for (i = 0; i < ETHOSU_REGIONS; i++) {
		if (!has_arguments(n, i))
			continue;
		why = ethosu_arguments_in_place(&n->arguments, i);
		tenon_report_line(out, "  arguments         region %u: %s%s", i,
				  why ? "copied: "
				      : "used where they are in a buffer of the device",
				  why ? why : "");
	}
	if (n->has_arguments)
		tenon_report_line(out, "  dma-bufs          %s", OF_OTHERS);
}

/* ---- commands */

static void describe_command(const struct ethosu_command *c, struct tenon_report *out)
{
	const uint64_t at = tenon_cursor_place(&c->place);
	const char *name = ethosu_command_name(c->id);
	char value[48] = "";

	switch (ethosu_command_form(c->id)) {
	case ETHOSU_NUMBER:
		snprintf(value, sizeof(value), " %u", c->param);
		break;
	case ETHOSU_SIGNED:
		snprintf(value, sizeof(value), " %d", (int16_t)c->param);
		break;
	case ETHOSU_OFFSET:
		snprintf(value, sizeof(value), " 0x%" PRIx64, ethosu_offset(c->param, c->word));
		break;
	case ETHOSU_LENGTH:
		snprintf(value, sizeof(value), " %u", c->word);
		break;
	case ETHOSU_SCALE:
		snprintf(value, sizeof(value), " %u >> %u", c->word, c->param & 0x3f);
		break;
	case ETHOSU_STEPS:
		snprintf(value, sizeof(value), " %u and %u parts", c->param & 0xf, c->word & 0x7ff);
		break;
	}
	tenon_report_line(out, "  0x%06" PRIx64 "  %-18s%s", at, name, value);
	tenon_report_object(out, NULL);
	tenon_report_number(out, "offset", (int64_t)at);
	tenon_report_text(out, "command", tenon_slice_of(name));
	tenon_report_number(out, "parameter", c->param);
	if (ethosu_command_form(c->id) >= ETHOSU_OFFSET)
		tenon_report_number(out, "word", c->word);
	tenon_report_close(out);
}

static void describe_stream(const struct network *n, struct tenon_report *out)
{
	const struct ethosu_payload *p = &n->c.payload;
	struct tenon_cursor c =
		tenon_cursor_of(p->stream.data, p->stream.size, n->name, p->stream_at);
	struct ethosu_command command;

	tenon_report_list(out, "stream");
	while (tenon_cursor_left(&c)) {
		if (ethosu_command_next(&c, ethosu_product_of(&p->target), &command)) {
			/* the check has said why */
			tenon_error_clear();
			break;
		}
		describe_command(&command, out);
	}
	tenon_report_close(out);
}

int ethosu_describe(const struct tenon_payload_request *r, struct tenon_report *out)
{
	struct network n = { .name = r->program.name };
	int err = ethosu_container_read(&r->program, &n.c);

	if (err)
		return err;
	n.is_refused = ethosu_container_check(&n.c, n.name, &n.extents);
	if (!n.is_refused && !ethosu_is_parts(&n.c)) {
		n.has_arguments = !ethosu_arguments_of(&n.c, n.name, &n.arguments);
		tenon_error_clear();
	}
	describe_target(&n, out);
	describe_operations(&n, out);
	describe_regions(&n, out);
	if (!ethosu_is_parts(&n.c))
		describe_tensors(&n, out);
	describe_places(&n, out);
	if (n.is_refused) {
		tenon_report_line(out, "  refused           %s", tenon_error_message());
		tenon_report_text(out, "fault", tenon_slice_of(tenon_error_message()));
		tenon_error_clear();
	}
	if (r->commands)
		describe_stream(&n, out);
	return 0;
}
