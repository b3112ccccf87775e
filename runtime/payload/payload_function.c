/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "lib/cursor_fast.h"
#include "runtime/payload/payload_format.h"

static int next_function(struct tenon_cursor *c, const struct payload_facts *facts,
			 struct payload_function *f)
{
	if (facts->names == PAYLOAD_TABLE)
		return payload_table_entry(c, facts->dialect, f);
	memset(f, 0, sizeof(*f));
	if (facts->names == PAYLOAD_RELAX)
		return payload_relax_function(c, &f->name);
	return take_string(c, &f->name);
}

int payload_each_function(const struct payload_facts *facts,
			  int (*visit)(void *context, const struct payload_function *f),
			  void *context)
{
	struct tenon_cursor c = facts->functions;
	struct payload_function f;
	uint64_t i;
	int err;

	for (i = 0; i < facts->function_count; i++) {
		err = next_function(&c, facts, &f);
		if (!err && f.name.data)
			err = visit(context, &f);
		if (err)
			return err;
	}
	return 0;
}

static bool is_text(struct tenon_slice s)
{
	return s.size && !memchr(s.data, 0, s.size < 4096 ? s.size : 4096) &&
	       (unsigned char)s.data[0] < 0x7f;
}

int payload_source(const struct payload_facts *facts, struct tenon_buffer *out)
{
	struct tenon_cursor c = facts->parts;
	struct tenon_slice name, part;
	uint64_t i;

	if (facts->text.size)
		return tenon_buffer_slice(out, facts->text);
	if (is_text(facts->code))
		return tenon_buffer_slice(out, facts->code);
	for (i = 0; i < facts->part_count; i++) {
		if (take_string(&c, &name) || take_string(&c, &part) || !is_text(part))
			break;
		tenon_buffer_slice(out, part);
		if (part.data[part.size - 1] != '\n')
			tenon_buffer_u8(out, '\n');
	}
	return i && i == facts->part_count ? out->status : -TENON_E_UNSUPPORTED;
}
