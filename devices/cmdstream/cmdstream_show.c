/* SPDX-License-Identifier: MIT */
/* A command stream as text: its tables, and the code of each kernel in the words of its target. */
#include <inttypes.h>
#include <tenon/backend/buffer.h>

#include "devices/cmdstream/cmdstream.h"
#include "devices/cmdstream/cmdstream_payload.h"

/* bytes of code in a line that no target explains */
#define LINE 4

/* A name from the file, on its line: control characters are replaced. */
static void show_name(struct tenon_slice name, struct tenon_buffer *out)
{
	size_t i;

	for (i = 0; i < name.size; i++) {
		const unsigned char c = (unsigned char)name.data[i];

		tenon_buffer_u8(out, c < ' ' || c == 0x7f ? '?' : c);
	}
}

static void show_head(const struct cmdstream *s, struct tenon_buffer *out)
{
	const struct tenon_cmdstream_region *r;
	uint32_t i;

	tenon_buffer_printf(out, "target ");
	show_name(s->target, out);
	tenon_buffer_printf(out, ", config");
	for (i = 0; i < s->config_count; i++)
		tenon_buffer_printf(out, " 0x%x", s->config[i]);
	tenon_buffer_printf(out, "\n");
	for (i = 0; i < s->region_count; i++) {
		r = &s->regions[i];
		tenon_buffer_printf(out, "region %u: %s, %" PRIu64 " bytes, aligned to %u%s%s\n", i,
				    cmdstream_region_name(r->kind), r->size, r->alignment,
				    r->access & TENON_REGION_READ ? ", read" : "",
				    r->access & TENON_REGION_WRITE ? ", written" : "");
	}
}

bool cmdstream_relocated(const struct cmdstream_view *v, uint64_t at, struct cmdstream_place *out)
{
	struct tenon_cmdstream_relocation r;

	if (!cmdstream_relocation_at(v->stream, v->kernel, at, &r))
		return false;
	*out = (struct cmdstream_place){ r.region, r.addend, at };
	return true;
}

/* Show a word that the target does not explain, or the region whose address it becomes. */
static void show_word(struct cmdstream_view *v)
{
	const uint64_t at = (uint64_t)(v->code.at - v->code.start);
	struct cmdstream_place place;
	uint8_t byte;
	size_t i;

	tenon_buffer_printf(v->out, "  0x%04" PRIx64 " ", at);
	for (i = 0; i < LINE && tenon_cursor_left(&v->code) && !tenon_cursor_u8(&v->code, &byte);
	     i++)
		tenon_buffer_printf(v->out, " %02x", byte);
	if (cmdstream_relocated(v, at, &place))
		tenon_buffer_printf(v->out, "  region %u + 0x%" PRIx64, place.region, place.offset);
	tenon_buffer_printf(v->out, "\n");
}

/*
 * Show a kernel. Kernels may overlap, so that a small file could make a text of any size: no more code is shown
 * than the stream has, of which @left bytes are left.
 */
static void show_kernel(const struct cmdstream *s, const struct cmdstream_target *target,
			const struct cmdstream_kernel *k, uint64_t *left, struct tenon_buffer *out)
{
	struct cmdstream_view v = { .stream = s, .kernel = k, .out = out };
	uint32_t i;

	tenon_buffer_printf(out, "\n");
	show_name(k->name, out);
	tenon_buffer_printf(out, "(");
	for (i = 0; i < k->argument_count; i++)
		tenon_buffer_printf(out, "%sregion %u", i ? ", " : "", k->arguments[i]);
	tenon_buffer_printf(out, "): %" PRIu64 " bytes at 0x%" PRIx64 "\n", k->size, k->offset);
	if (k->size > *left) {
		tenon_buffer_printf(out, "  kernels overlap: this code is not shown again\n");
		return;
	}
	*left -= k->size;
	v.code = tenon_cursor_of(s->code.data + k->offset, k->size, s->name, s->place + k->offset);
	while (tenon_cursor_left(&v.code) && !out->status)
		if (!target || !target->show || !target->show(&v))
			show_word(&v);
}

int cmdstream_show(const struct tenon_payload_info *info, const struct cmdstream_target *target,
		   struct tenon_buffer *out)
{
	struct tenon_cursor c = tenon_cursor_of(info->code.data, info->code.size, "payload", 0);
	struct cmdstream_kernel k;
	struct cmdstream s;
	uint64_t left;
	int err;

	err = cmdstream_read(&c, &s);
	if (err)
		return err;
	if (!tenon_slice_equal(s.target, tenon_slice_of(target->name)))
		target = NULL;
	show_head(&s, out);
	left = s.code.size;
	c = tenon_cursor_of(s.kernels.data, s.kernels.size, s.name, 0);
	while (tenon_cursor_left(&c) && !err && !out->status) {
		err = cmdstream_next_kernel(&s, &c, &k);
		if (!err)
			show_kernel(&s, target, &k, &left, out);
	}
	return err ? err : out->status;
}
