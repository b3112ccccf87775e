/* SPDX-License-Identifier: MIT */
/* Kinds, formats and facts of a module as words. */
#include <inttypes.h>

#include <tenon/backend/buffer.h>
#include <tenon/backend/module_kind.h>

#include "tools/opened_model/module_text.h"
#include "tools/text/text.h"

#define TEXT_MOST 64

void module_text_kind(const struct tenon_link_module *m, struct tenon_buffer *out)
{
	printable_append(out, m->kind, TEXT_MOST);
}

/* formats that are source code */
static bool is_source(const char *format)
{
	static const char *const sources[] = { "cl", "cuda", "metal", "wgsl", "c", "cc", "ll" };

	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		if (!strcmp(format, sources[i]))
			return true;
	}
	return false;
}

void module_text_format(const struct tenon_link_module *m, struct tenon_buffer *out)
{
	if (*m->name) {
		tenon_buffer_u8(out, '"');
		printable_append(out, tenon_slice_of(m->name), TEXT_MOST);
		tenon_buffer_u8(out, '"');
	} else if (*m->format) {
		printable_append(out, tenon_slice_of(m->format), TEXT_MOST);
		if (is_source(m->format))
			tenon_buffer_printf(out, " source");
	} else if (*m->machine) {
		tenon_buffer_printf(out, "host");
	}
}

static void add_count(struct tenon_buffer *out, int64_t count, const char *what)
{
	tenon_buffer_printf(out, "%s%" PRId64 " %s%s", out->size ? ", " : "", count, what,
			    count == 1 ? "" : "s");
}

void module_text_facts(const struct tenon_link_module *m, struct tenon_buffer *out)
{
	struct tenon_buffer facts = TENON_BUFFER_INIT;
	char size[SIZE_TEXT];

	if (m->nodes >= 0)
		add_count(&facts, m->nodes, "node");
	if (m->function_count)
		add_count(&facts, m->function_count, m->launch ? "kernel" : "function");
	if (m->parameters >= 0) {
		add_count(&facts, m->parameters, "parameter");
		if (m->parameter_bytes >= 0)
			tenon_buffer_printf(&facts, " (%s)",
					    size_text((uint64_t)m->parameter_bytes, size));
	}
	if (m->payload_offset >= 0 && m->payload_size >= 0)
		tenon_buffer_printf(&facts, "%s%s at 0x%" PRIx64, facts.size ? ", " : "",
				    size_text((uint64_t)m->payload_size, size),
				    (uint64_t)m->payload_offset);
	tenon_buffer_append(out, facts.data, facts.size);
	tenon_buffer_fini(&facts);
}
