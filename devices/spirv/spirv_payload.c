/* SPDX-License-Identifier: MIT */
/* Take the named programs of a payload, with and without lengths. */
#include "devices/spirv/spirv_payload.h"

#include "lib/brief_errors.h"
#include "lib/cursor_fast.h"

#define SPIRV_MAGIC 0x07230203u

/* bytes of the smallest part: an empty name, a flag, a count and one word */
#define PART_LEAST 24

/* flag, number of words, words */
static int take_program(struct tenon_cursor *c, struct tenon_slice *code, uint32_t *flag)
{
	const struct tenon_cursor from = *c;
	uint64_t words;
	int err;

	err = tenon_cursor_u32(c, flag);
	if (!err)
		err = take_count(c, 4, &words);
	if (err)
		return err;
	if (*flag > 1 || !words || load_u32(c->at) != SPIRV_MAGIC)
		return tenon_cursor_error(&from, -TENON_E_FORMAT, "no SPIR-V program");
	return tenon_cursor_bytes(c, 4 * words, code);
}

static int take_sized_program(struct tenon_cursor *c, struct tenon_slice *code, uint32_t *flag)
{
	struct tenon_cursor inner = *c;
	struct tenon_slice bytes;
	int err;

	err = take_string(c, &bytes);
	if (err)
		return err;
	inner.at = (const uint8_t *)bytes.data;
	inner.end = c->at;
	err = take_program(&inner, code, flag);
	if (!err && tenon_cursor_left(&inner))
		err = tenon_cursor_error(&inner, -TENON_E_FORMAT,
					 "%zu bytes left behind a SPIR-V program",
					 tenon_cursor_left(&inner));
	return err;
}

/* Test for a length before the program: it moves the flag and the magic number by eight bytes. */
static bool has_length(const struct tenon_cursor *c)
{
	return tenon_cursor_left(c) >= 24 && load_u32(c->at + 12) != SPIRV_MAGIC &&
	       load_u32(c->at + 20) == SPIRV_MAGIC;
}

int spirv_payload_parts(struct tenon_cursor *c, struct tenon_payload_info *info)
{
	struct tenon_slice name, code;
	uint64_t i, count;
	uint32_t flag;
	int err;

	err = take_count(c, PART_LEAST, &count);
	for (i = 0; i < count && !err; i++) {
		err = take_string(c, &name);
		if (!err)
			err = has_length(c) ? take_sized_program(c, &code, &flag)
					    : take_program(c, &code, &flag);
		if (!err)
			err = tenon_payload_add_part(info, name, code, flag);
	}
	return err;
}
