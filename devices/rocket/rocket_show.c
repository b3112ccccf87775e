/* SPDX-License-Identifier: MIT */
/* Register commands as text, a line each. */
#include <inttypes.h>
#include <tenon/backend/buffer.h>

#include "devices/rocket/rocket_registers.h"
#include "devices/rocket/rocket_walk.h"

#define VALUE 2

static void show_units(uint32_t units, struct tenon_buffer *out)
{
	static const struct {
		uint32_t unit;
		const char *name;
	} names[] = {
		{ ROCKET_UNIT_CNA, "CNA" }, { ROCKET_UNIT_CORE, "CORE" },
		{ ROCKET_UNIT_DPU, "DPU" }, { ROCKET_UNIT_DPU_RDMA, "DPU_RDMA" },
		{ ROCKET_UNIT_PPU, "PPU" }, { ROCKET_UNIT_PPU_RDMA, "PPU_RDMA" },
	};
	size_t i;

	tenon_buffer_printf(out, "enable");
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (units & names[i].unit)
			tenon_buffer_printf(out, " %s", names[i].name);
	/* unchecked code may set bits that name no unit */
	if (units & ~(uint32_t)ROCKET_UNITS)
		tenon_buffer_printf(out, " 0x%x", units & ~(uint32_t)ROCKET_UNITS);
}

static void show_register(struct cmdstream_view *v, uint64_t word, uint64_t at,
			  const struct rocket_register *r)
{
	struct cmdstream_place place;

	tenon_buffer_printf(v->out, "%s %s", rocket_target_name(rocket_word_target(word)),
			    *r->name ? r->name : "?");
	if (!*r->name)
		tenon_buffer_printf(v->out, " (0x%04x)", r->at);
	if (cmdstream_relocated(v, at + VALUE, &place))
		tenon_buffer_printf(v->out, " = region %u + 0x%" PRIx64, place.region,
				    place.offset);
	else
		tenon_buffer_printf(v->out, " = 0x%x", rocket_word_value(word));
}

static bool is_enable(uint64_t word)
{
	return rocket_word_target(word) == ROCKET_TARGET_ENABLE &&
	       rocket_word_register(word) == ROCKET_ENABLE;
}

bool rocket_show(struct cmdstream_view *v)
{
	const uint64_t at = (uint64_t)(v->code.at - v->code.start);
	const struct rocket_register *r;
	struct tenon_cursor c = v->code;
	uint64_t word;

	if (tenon_cursor_left(&c) < ROCKET_WORD || tenon_cursor_u64(&c, &word))
		return false;
	r = rocket_register_of(rocket_word_target(word), rocket_word_register(word));
	if (!r && word && word != ROCKET_READY && !is_enable(word))
		return false;
	tenon_buffer_printf(v->out, "  0x%04" PRIx64 "  ", at);
	if (r)
		show_register(v, word, at, r);
	else if (is_enable(word))
		show_units(rocket_word_value(word), v->out);
	else
		tenon_buffer_printf(v->out, "%s", word ? "ready" : "nothing");
	tenon_buffer_printf(v->out, "\n");
	v->code = c;
	return true;
}
