/* SPDX-License-Identifier: MIT */
/*
 * What Linux computes of a command stream: devices/ethosu/ethosu_linux.c, which programs use, and the kernel's model,
 * which shares no code with it, agree on streams of a compiler and on damaged ones, for three generations. The kernel's
 * model takes all that the check and this rule let pass.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/npu/networks.h"
#include "tests/npu/npu_kernel.h"
#include "tests/unit/suite.h"

#define U65 0x10003008
#define U85 0x20000118

static const char *const files[][2] = {
	{ "u65_add2_cop2", "payload.bin" },	{ "u65_conv1x1", "payload.bin" },
	{ "u65_cpu_fallback", "payload0.bin" }, { "u65_cpu_fallback", "payload1.bin" },
	{ "u65_softmax_mix", "payload.bin" },	{ "u85_residual", "payload.bin" },
	{ "u55_avgpool", "payload.bin" },
};

#define FILES (sizeof(files) / sizeof(*files))

static uint8_t payload[FILE_MOST];
static struct ethosu_payload read_payload;
static uint32_t words[FILE_MOST / 4];

/* Read a payload; its stream is then in @words. Return: bytes of the stream. */
static uint32_t read_stream(const char *folder, const char *name)
{
	struct tenon_cursor c =
		tenon_cursor_of(payload, network_file(folder, name, payload), name, 0);

	assert_int_equal(ethosu_payload_read(&c, &read_payload), 0);
	memcpy(words, read_payload.stream.data, read_payload.stream.size);
	return (uint32_t)read_payload.stream.size;
}

static struct tenon_cursor stream_of(uint32_t bytes)
{
	return tenon_cursor_of(words, bytes, "stream", 0);
}

static bool is_equal(const struct ethosu_linux_extents *e, const struct npu_pass *p)
{
	return !memcmp(e->size, p->size, sizeof(e->size)) &&
	       !memcmp(e->written, p->written, sizeof(e->written));
}

/* Return: whether the rule of the generation refuses the stream. */
static bool compare(const char *name, uint32_t bytes, enum ethosu_linux generation)
{
	struct ethosu_linux_extents e;
	struct npu_pass p;
	int error = npu_pass(words, bytes, generation, read_payload.target.config, &p);
	int err = ethosu_linux_check(stream_of(bytes), &read_payload.target, generation, &e);

	/* the kernel passes over what is no command */
	if (err && err != -TENON_E_UNSUPPORTED)
		return true;
	/* a stream that makes the kernel write outside of its memory is refused here */
	if ((p.damages || error == EINVAL) != (err != 0))
		fail_msg("%s, generation %d: the model answers %d, here is %s", name,
			 (int)generation, error, err ? tenon_error_message() : "no fault");
	if (!err && !is_equal(&e, &p))
		fail_msg("%s, generation %d: other sizes", name, (int)generation);
	tenon_error_clear();
	return err != 0;
}

/* Sizes and written regions that a model in Python found, which agreed with functions of the kernel on 12136 streams. */
static void sizes_of_real_streams_are_those_of_the_kernel(void **state)
{
	static const struct {
		const char *folder;
		uint64_t size[ETHOSU_REGIONS];
		bool written[ETHOSU_REGIONS];
	} known[] = {
		{ "u55_avgpool", { 0, 2132 }, { false, true } },
		{ "u65_add2_cop2", { 0, 0, 0, 1152, 576 }, { false, false, false, false, true } },
		{ "u65_conv1x1", { 496, 2048 }, { false, true } },
		{ "u65_softmax_mix", { 6449, 768, 4992 }, { false, true, true } },
		{ "u85_residual", { 56368, 18432, 57360 }, { false, true, true } },
	};
	struct ethosu_linux_extents e;
	int generation;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(known) / sizeof(*known); i++)
		for (generation = 1; generation <= ETHOSU_LINUX_LAST; generation++) {
			const uint32_t bytes = read_stream(known[i].folder, "payload.bin");

			assert_int_equal(ethosu_linux_check(stream_of(bytes), &read_payload.target,
							    (enum ethosu_linux)generation, &e),
					 0);
			assert_memory_equal(e.size, known[i].size, sizeof(e.size));
			assert_memory_equal(e.written, known[i].written, sizeof(e.written));
			assert_false(
				compare(known[i].folder, bytes, (enum ethosu_linux)generation));
		}
}

static uint32_t seed;

static uint32_t next(uint32_t most)
{
	seed = seed * UINT32_C(1664525) + 1013904223;
	return (uint32_t)((uint64_t)(seed >> 4) * most >> 28);
}

/* Change some words: their codes to others of the stream, their parameters, their second words. */
static void damage(uint32_t bytes)
{
	const uint32_t count = bytes / 4;
	uint32_t i, at, changes = 1 + next(3);

	for (i = 0; i < changes; i++) {
		at = next(count);
		switch (next(6)) {
		case 0:
			words[at] = words[next(count)];
			break;
		case 1:
			words[at] ^= UINT32_C(1) << next(32);
			break;
		case 2:
			words[at] = (words[at] & 0xffff) | next(0x10000) << 16;
			break;
		case 3:
			words[at] |= 0xffff0000;
			break;
		case 4:
			words[at] = next(2) ? 0xffffffff : next(0x7fffffff);
			break;
		case 5:
			/* another command that the products have */
			words[at] = (words[at] & 0xffff0000) |
				    (next(2) ? 0x100 + next(0x90) : 2 + next(5));
			break;
		}
	}
}

static void both_rules_say_the_same_of_damaged_streams(void **state)
{
	const uint32_t rounds = getenv("FULL") && *getenv("FULL") ? 10000 : 1000;
	struct ethosu_extents extents;
	uint32_t i, refused = 0, passed = 0;
	int generation;

	(void)state;
	for (i = 0; i < rounds; i++) {
		const char *const *file = files[i % FILES];
		const uint32_t bytes = read_stream(file[0], file[1]);
		bool accepted;

		seed = i * 2654435761u + 1;
		damage(bytes);
		for (generation = 1; generation <= ETHOSU_LINUX_LAST; generation++)
			refused += compare(file[0], bytes, (enum ethosu_linux)generation);
		accepted = !ethosu_check(stream_of(bytes), &read_payload.target, NULL, &extents);
		tenon_error_clear();
		passed += accepted && !compare(file[0], bytes, ETHOSU_LINUX_LAST);
	}
	/* damage that is always or never seen would show nothing */
	assert_in_range(refused, rounds / 10, rounds * 3);
	assert_in_range(passed, rounds / 50, rounds);
}

/* ---- streams that are made here */

static uint32_t made;

static void put(uint16_t code, uint16_t parameter)
{
	words[made++] = (uint32_t)parameter << 16 | code;
}

static void put_wide(uint16_t code, uint64_t value)
{
	words[made++] = (uint32_t)(value >> 32) << 16 | code;
	words[made++] = (uint32_t)value;
}

/* ---- by chance: what no compiler writes */

/* a run of setters: the first code, how many follow each other, and which products have them */
struct setters {
	uint16_t first, count;
	bool u65, u85;
};

static const struct setters all_setters[] = {
	{ 0x100, 6, true, true },  { 0x107, 1, true, true },   { 0x108, 1, false, true },
	{ 0x109, 4, true, true },  { 0x10f, 1, true, true },   { 0x111, 8, true, true },
	{ 0x11a, 3, true, true },  { 0x11f, 4, true, true },   { 0x123, 1, true, false },
	{ 0x124, 6, true, true },  { 0x12f, 5, true, true },   { 0x180, 1, true, true },
	{ 0x185, 1, true, true },  { 0x189, 4, true, true },   { 0x18f, 1, true, true },
	{ 0x4000, 7, true, true }, { 0x4010, 7, true, true },  { 0x4020, 4, true, true },
	{ 0x4030, 5, true, true }, { 0x4035, 2, false, true }, { 0x4080, 7, true, true },
};

static void put_setter(uint16_t code)
{
	static const uint16_t usual[] = { 0,	0,    1,     2,	    4,	   7,	 15,
					  0x40, 0x80, 0x100, 0x200, 0x400, 0x600 };
	/* a length has no more than its second word */
	const bool is_length = code == 0x4021 || code == 0x4023;

	if (!(code & 0x4000))
		put(code, next(8) ? usual[next(13)]
				  : (uint16_t)(next(4) << 14 | next(2) << 6 | next(64)));
	else if (next(8) || is_length)
		put_wide(code, next(4096));
	else
		put_wide(code, (uint64_t)next(0x100) << 32 | (next(2) ? UINT32_MAX : next(4096)));
}

/* Most setters, and an operation. Return: bytes */
static uint32_t put_chance(bool u85)
{
	static const uint16_t operations[] = { 2, 3, 5, 6, 0x10, 0x10 };
	const uint32_t rarely = next(2) ? 12 : 200;
	size_t i;
	uint16_t k;

	made = 0;
	for (i = 0; i < sizeof(all_setters) / sizeof(*all_setters); i++)
		for (k = 0;
		     (u85 ? all_setters[i].u85 : all_setters[i].u65) && k < all_setters[i].count;
		     k++)
			if (next(rarely))
				put_setter((uint16_t)(all_setters[i].first + k));
	put(operations[next(6)], (uint16_t)next(next(2) ? 2 : 40));
	return made * 4;
}

static void both_rules_say_the_same_of_streams_by_chance(void **state)
{
	static const struct ethosu_target targets[] = { { .config = U65, .id = 0x10066001 },
							{ .config = U85, .id = 0x20007000 } };
	const uint32_t rounds = getenv("FULL") && *getenv("FULL") ? 40000 : 4000;
	uint32_t i, refused = 0;
	int generation;

	(void)state;
	for (i = 0; i < rounds; i++) {
		uint32_t bytes;

		seed = i * 2654435761u + 7;
		bytes = put_chance(i & 1);
		read_payload.target = targets[i & 1];
		for (generation = 1; generation <= ETHOSU_LINUX_LAST; generation++)
			refused += compare("chance", bytes, (enum ethosu_linux)generation);
	}
	assert_in_range(refused, rounds / 10, rounds * ETHOSU_LINUX_LAST - rounds / 10);
}

/* ---- by hand: where generations differ */

/* One map of 1 x 1 x @depth in a region, at an address; @base: code of its first base. */
static void put_map(uint16_t region_code, uint16_t base, uint16_t region, uint64_t at)
{
	put(region_code, region);
	put_wide(base, at);
	put_wide((uint16_t)(base + 4), 16);
	put_wide((uint16_t)(base + 5), 16);
	put_wide((uint16_t)(base + 6), 16);
}

/* Setters of a pool from region 1 to region 1. */
static void put_pool(uint64_t input, uint16_t pad)
{
	made = 0;
	put_map(0x10f, 0x4000, 1, input);
	put_map(0x11f, 0x4010, 1, 0);
	put(0x105, 0);
	put(0x10a, 0);
	put(0x10b, 0);
	put(0x10c, 0);
	put(0x104, 15);
	put(0x111, 0);
	put(0x112, 0);
	put(0x113, 15);
	put(0x114, 0x100);
	put(0x11a, 0);
	put(0x11b, 0);
	put(0x11c, 0);
	put(0x120, 0);
	put(0x121, 0);
	put(0x122, 0);
	put(0x100, pad);
	put(0x101, 0);
	put(0x102, 0);
	put(0x103, 0);
	put(0x005, 0);
	put(0x000, 0xffff);
}

/* Return: the status; the extents in @e. */
static int rule(enum ethosu_linux generation, uint32_t config, struct ethosu_linux_extents *e)
{
	const struct ethosu_target t = { .config = config, .id = 0x10066001 };
	int err = ethosu_linux_check(stream_of(made * 4), &t, generation, e);
	struct npu_pass p;
	int error = npu_pass(words, made * 4, generation, config, &p);

	assert_int_equal(error != 0, err != 0);
	if (!err)
		assert_true(is_equal(e, &p));
	tenon_error_clear();
	return err;
}

static void the_first_generation_loses_the_upper_bits_of_addresses(void **state)
{
	struct ethosu_linux_extents e;

	(void)state;
	put_pool(UINT64_C(0x100000040), 0);
	assert_int_equal(rule(ETHOSU_LINUX_FIRST, U65, &e), 0);
	assert_int_equal(e.size[1], 0x50);
	assert_int_equal(rule(ETHOSU_LINUX_SECOND, U65, &e), 0);
	assert_true(e.size[1] == UINT64_C(0x100000050));
	assert_true(e.written[1] && !e.written[0]);
}

static void later_generations_refuse_inputs_of_a_negative_size(void **state)
{
	struct ethosu_linux_extents e;

	(void)state;
	put_pool(0, 1);
	/* the row is number 2^32 - 1 */
	assert_int_equal(rule(ETHOSU_LINUX_FIRST, U65, &e), -TENON_E_UNSUPPORTED);
	memmove(words + 2, words, made * 4);
	words[0] = 0x4002;
	words[1] = 0;
	made += 2;
	assert_int_equal(rule(ETHOSU_LINUX_FIRST, U65, &e), 0);
	assert_true(e.size[1] > UINT32_MAX);
	assert_int_equal(rule(ETHOSU_LINUX_SECOND, U65, &e), -TENON_E_UNSUPPORTED);
	assert_int_equal(rule(ETHOSU_LINUX_THIRD, U65, &e), -TENON_E_UNSUPPORTED);
}

/* A scalar as second operand: bit 7 on U65, which the first generation does not know. */
static void the_first_generation_refuses_scalars_of_u65(void **state)
{
	struct ethosu_linux_extents e;

	(void)state;
	put_pool(0, 0);
	made -= 2;
	put(0x180, 0x80);
	put(0x006, 1);
	put(0x000, 0xffff);
	assert_int_equal(rule(ETHOSU_LINUX_FIRST, U65, &e), -TENON_E_UNSUPPORTED);
	assert_int_equal(rule(ETHOSU_LINUX_SECOND, U65, &e), 0);
	assert_int_equal(rule(ETHOSU_LINUX_THIRD, U65, &e), 0);
}

/* A map of U85 that passes from one operation to the next has no base; each kernel wants one. */
static void chained_maps_are_refused_by_each_generation(void **state)
{
	struct ethosu_linux_extents e;
	int generation;

	(void)state;
	put_pool(0, 0);
	made -= 2;
	put(0x185, 2 << 14);
	put(0x18f, 0);
	put(0x108, 0);
	put(0x180, 0);
	put(0x006, 1);
	put(0x000, 0xffff);
	for (generation = 1; generation <= ETHOSU_LINUX_LAST; generation++)
		assert_int_equal(rule((enum ethosu_linux)generation, U85, &e),
				 -TENON_E_UNSUPPORTED);
}

static void the_third_generation_refuses_dma_that_overflows(void **state)
{
	struct ethosu_linux_extents e;

	(void)state;
	made = 0;
	put(0x130, 1 << 9);
	put(0x131, 1);
	put(0x132, 8);
	put_wide(0x4030, 0);
	put_wide(0x4031, 0);
	put_wide(0x4032, 16);
	put_wide(0x4033, UINT64_C(0xffffffff00)); /* -256 */
	put_wide(0x4035, 0);
	put(0x010, 0);
	assert_int_equal(rule(ETHOSU_LINUX_SECOND, U85, &e), 0);
	assert_true(e.written[1]);
	assert_int_equal(rule(ETHOSU_LINUX_THIRD, U85, &e), -TENON_E_UNSUPPORTED);
	/* no length */
	made = 0;
	put(0x130, 0);
	put(0x131, 1);
	put_wide(0x4030, 0);
	put_wide(0x4031, 0);
	put(0x010, 0);
	assert_int_equal(rule(ETHOSU_LINUX_SECOND, U85, &e), 0);
	assert_int_equal(rule(ETHOSU_LINUX_THIRD, U85, &e), -TENON_E_UNSUPPORTED);
}

static void the_third_generation_refuses_resize(void **state)
{
	struct ethosu_linux_extents e;

	(void)state;
	made = 0;
	put(0x007, 0);
	assert_int_equal(rule(ETHOSU_LINUX_FIRST, U85, &e), 0);
	assert_int_equal(rule(ETHOSU_LINUX_SECOND, U85, &e), 0);
	assert_int_equal(rule(ETHOSU_LINUX_THIRD, U85, &e), -TENON_E_UNSUPPORTED);
}

static void half_a_command_at_the_end_damages_older_kernels(void **state)
{
	const uint32_t half[] = { 0x00004000 };
	struct npu_pass p;

	(void)state;
	assert_int_equal(npu_pass(half, 4, 1, U65, &p), 0);
	assert_true(p.damages);
	assert_int_equal(npu_pass(half, 4, 2, U65, &p), 0);
	assert_true(p.damages);
	assert_int_equal(npu_pass(half, 4, 3, U65, &p), EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_of_real_streams_are_those_of_the_kernel),
		cmocka_unit_test(both_rules_say_the_same_of_damaged_streams),
		cmocka_unit_test(both_rules_say_the_same_of_streams_by_chance),
		cmocka_unit_test(the_first_generation_loses_the_upper_bits_of_addresses),
		cmocka_unit_test(later_generations_refuse_inputs_of_a_negative_size),
		cmocka_unit_test(the_first_generation_refuses_scalars_of_u65),
		cmocka_unit_test(chained_maps_are_refused_by_each_generation),
		cmocka_unit_test(the_third_generation_refuses_dma_that_overflows),
		cmocka_unit_test(the_third_generation_refuses_resize),
		cmocka_unit_test(half_a_command_at_the_end_damages_older_kernels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
