/* SPDX-License-Identifier: MIT */
/* Payloads that a compiler made, and streams that are written here word by word. */
#include "tests/unit/suite.h"

#include <stdio.h>
#include <stdlib.h>

#include "devices/ethosu/ethosu_check.h"

#define U55_128                                                                                    \
	{                                                                                          \
		0x00001807, 0x10066001                                                             \
	}
#define U65_256                                                                                    \
	{                                                                                          \
		0x10003008, 0x10066001                                                             \
	}
#define U65_512                                                                                    \
	{                                                                                          \
		0x10006009, 0x10066001                                                             \
	}
#define U85_256                                                                                    \
	{                                                                                          \
		0x20000118, 0x20007000                                                             \
	}

#define WORDS_MOST 512

/* ---- payloads of files */

static struct tenon_slice file(const char *name)
{
	static char bytes[8192];
	char path[512];
	struct tenon_slice s = { bytes, 0 };
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/ethosu/data/%s",
		 getenv("TENON_SOURCE") ? getenv("TENON_SOURCE") : ".", name);
	f = fopen(path, "rb");
	assert_non_null(f);
	s.size = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	return s;
}

static struct ethosu_payload payload_of(const char *name)
{
	struct tenon_slice bytes = file(name);
	struct tenon_cursor c = tenon_cursor_of(bytes.data, bytes.size, name, 0);
	struct ethosu_payload p;

	assert_int_equal(ethosu_payload_read(&c, &p), 0);
	assert_int_equal(tenon_cursor_left(&c), 0);
	return p;
}

static int check_payload(const struct ethosu_payload *p, const uint64_t *sizes,
			 struct ethosu_extents *e)
{
	return ethosu_check(tenon_cursor_of(p->stream.data, p->stream.size, "stream", p->stream_at),
			    &p->target, sizes, e);
}

static void payloads_have_a_target_and_a_stream(void **state)
{
	struct ethosu_payload p = payload_of("u65_softmax_mix/payload.bin");
	char name[ETHOSU_TARGET_NAME];

	(void)state;
	assert_int_equal(p.version, 1);
	assert_int_equal(p.stream_at, 32);
	assert_int_equal(p.stream.size, 2836);
	ethosu_target_name(&p.target, name);
	assert_string_equal(name, "u65-256");

	p = payload_of("u65_add2_cop2/payload.bin");
	assert_int_equal(p.version, 2);
	assert_int_equal(p.stream_at, 64);
	assert_int_equal(p.stream.size, 344);
	assert_true(p.local);
}

static void extents_are_those_of_the_memory_that_is_touched(void **state)
{
	static const struct {
		const char *file;
		uint64_t read[5], write[5];
	} rows[] = {
		{ "u55_avgpool/payload.bin", { 0, 2132 }, { 0, 500 } },
		{ "u65_conv1x1/payload.bin", { 496, 2048 }, { 0, 1024 } },
		{ "u65_add2_cop2/payload.bin", { 0, 0, 0, 1152 }, { 0, 0, 0, 0, 576 } },
		{ "u65_cpu_fallback/payload0.bin", { 1520, 512 }, { 0, 5120 } },
		{ "u65_cpu_fallback/payload1.bin", { 1776, 1536 }, { 0, 1536 } },
		{ "u65_softmax_mix/payload.bin", { 6496, 768, 4992 }, { 0, 12, 4992 } },
		{ "u85_residual/payload.bin", { 56368, 18432, 57360 }, { 0, 18432, 57360 } },
	};
	struct ethosu_payload p;
	struct ethosu_extents e;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		p = payload_of(rows[i].file);
		assert_int_equal(check_payload(&p, NULL, &e), 0);
		assert_memory_equal(e.read, rows[i].read, sizeof(rows[i].read));
		assert_memory_equal(e.write, rows[i].write, sizeof(rows[i].write));
	}
}

static void one_byte_too_few_is_refused(void **state)
{
	uint64_t sizes[ETHOSU_REGIONS] = { 496, 2048 };
	struct ethosu_payload p = payload_of("u65_conv1x1/payload.bin");
	struct ethosu_extents e;

	(void)state;
	assert_int_equal(check_payload(&p, sizes, &e), 0);
	sizes[0]--;
	assert_int_equal(check_payload(&p, sizes, &e), -TENON_E_FORMAT);
	assert_error_has("496 bytes of region 0 for the weights");
	sizes[0]++;
	sizes[1]--;
	assert_int_equal(check_payload(&p, sizes, &e), -TENON_E_FORMAT);
	assert_error_has("2048 bytes of region 1 for the input");
}

static void a_payload_cut_anywhere_is_refused(void **state)
{
	static const char *const names[] = { "u65_conv1x1/payload.bin",
					     "u65_add2_cop2/payload.bin" };
	struct tenon_slice bytes;
	struct ethosu_payload p;
	struct tenon_cursor c;
	size_t i, size;

	(void)state;
	for (i = 0; i < 2; i++) {
		bytes = file(names[i]);
		for (size = 0; size < bytes.size; size++) {
			c = tenon_cursor_of(bytes.data, size, "cut", 0);
			assert_int_not_equal(ethosu_payload_read(&c, &p), 0);
			tenon_error_clear();
		}
	}
}

static void a_payload_has_one_stream_behind_its_configuration(void **state)
{
	/* the magic number, a configuration, NOPs, a stream of OP_STOP */
	static const uint32_t good[] = { 0x31504f43, 0x00100001, 0x10003008, 0x10066001, 5,
					 5,	     5,		 0x00010002, 0xffff0000 };
	static const struct {
		size_t word;
		uint32_t value;
		const char *what;
	} rows[] = {
		{ 1, 0x00100101, "tag" },      { 1, 5, "tag" },
		{ 2, 0x30003008, "product" },  { 2, 0x10003018, "version" },
		{ 4, 0x00010002, "multiple" }, { 4, 3, "old drivers" },
		{ 4, 0x00100001, "second" },   { 6, 0x00010002, "multiple" },
		{ 7, 0x00000002, "0 bytes" },  { 7, 0x00020002, "8 bytes" },
	};
	uint32_t words[9];
	struct ethosu_payload p;
	struct tenon_cursor c = tenon_cursor_of(good, sizeof(good), "payload", 0);
	size_t i;

	(void)state;
	assert_int_equal(ethosu_payload_read(&c, &p), 0);
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		memcpy(words, good, sizeof(good));
		words[rows[i].word] = rows[i].value;
		c = tenon_cursor_of(words, sizeof(words), "payload", 0);
		assert_int_not_equal(ethosu_payload_read(&c, &p), 0);
		assert_error_has(rows[i].what);
	}
}

static void metadata_begins_with_its_magic_number(void **state)
{
	struct tenon_slice bytes = file("u65_add2_cop2/payload.bin");
	char *copy = malloc(bytes.size);
	struct tenon_cursor c = tenon_cursor_of(copy, bytes.size, "payload", 0);
	struct ethosu_payload p;

	(void)state;
	assert_non_null(copy);
	memcpy(copy, bytes.data, bytes.size);
	copy[28] = 'W';
	assert_int_equal(ethosu_payload_read(&c, &p), -TENON_E_FORMAT);
	assert_error_has("payload at 0x1c: the metadata");
	free(copy);
}

/* ---- streams */

struct stream {
	uint32_t words[WORDS_MOST];
	size_t count;
};

static void set(struct stream *s, uint32_t code, uint32_t parameter)
{
	s->words[s->count++] = parameter << 16 | code;
}

static void set_wide(struct stream *s, uint32_t code, uint64_t value)
{
	set(s, code, (uint32_t)(value >> 32));
	s->words[s->count++] = (uint32_t)value;
}

/* Setters of a map of 8 x 8 elements with 16 channels of a byte each. */
static void put_map(struct stream *s, uint32_t low, uint32_t high, uint32_t region)
{
	uint32_t i;

	set(s, low + 0x5 - (low == 0x110 ? 1 : 0), low == 0x110 ? 0x100 : 0);
	set(s, low + 0x9 - (low == 0x110 ? 1 : 0), 0);
	set(s, low + 0xa, 7);
	set(s, low + 0xb, 7);
	set(s, low + 0xc, 7);
	set(s, low + 0xf, region);
	for (i = 0; i < 4; i++)
		set_wide(s, high + i, 0);
	set_wide(s, high + 4, 16);
	set_wide(s, high + 5, 128);
	set_wide(s, high + 6, 1);
}

/* All that a pool on U65 needs. */
static void put_setters(struct stream *s)
{
	uint32_t code;

	s->count = 0;
	put_map(s, 0x100, 0x4000, 1);
	put_map(s, 0x110, 0x4010, 1);
	for (code = 0x100; code <= 0x103; code++)
		set(s, code, 0);
	set(s, 0x104, 15);
	set(s, 0x107, 0);
	for (code = 0x111; code <= 0x112; code++)
		set(s, code, 7);
	set(s, 0x113, 15);
	for (code = 0x115; code <= 0x117; code++)
		set(s, code, 7);
	for (code = 0x120; code <= 0x122; code++)
		set(s, code, 0);
	for (code = 0x124; code <= 0x127; code++)
		set(s, code, 0);
	set(s, 0x12f, 0);
	set(s, 0x10d, 2);
	set(s, 0x12d, 4);
	set_wide(s, 0x4024, 1);
}

static int check(struct stream *s, struct ethosu_target target, struct ethosu_extents *e)
{
	set(s, 0, 0xffff);
	return ethosu_check(tenon_cursor_of(s->words, 4 * s->count, "stream", 0), &target, NULL, e);
}

static int check_pool(struct stream *s, struct ethosu_extents *e)
{
	set(s, 5, 0);
	return check(s, (struct ethosu_target)U65_256, e);
}

static void every_setter_that_an_operation_uses_must_be_there(void **state)
{
	struct stream all, s;
	struct ethosu_extents e;
	size_t i, next, refused = 0, total = 0;

	(void)state;
	put_setters(&all);
	s = all;
	assert_int_equal(check_pool(&s, &e), 0);
	assert_int_equal(e.read[1], 1024);
	/* without any one of them */
	for (i = 0; i < all.count; i = next) {
		next = i + (all.words[i] & 0x4000 ? 2 : 1);
		s = all;
		memmove(s.words + i, s.words + next, 4 * (all.count - next));
		s.count -= next - i;
		if (check_pool(&s, &e)) {
			refused++;
			assert_error_has("needs");
		}
		total++;
	}
	assert_int_equal(refused, total);
}

static void tiles_have_a_place_each(void **state)
{
	struct stream s;
	struct ethosu_extents e;

	(void)state;
	put_setters(&s);
	/* the input is divided after 6 columns, left after 5 rows, right after 2 */
	set(&s, 0x10a, 5);
	set(&s, 0x10b, 4);
	set(&s, 0x10c, 1);
	set_wide(&s, 0x4000, 10000);
	assert_int_equal(check_pool(&s, &e), 0);
	assert_int_equal(e.read[1], 10000 + 4 * 128 + 5 * 16 + 16);
	s.count -= 2;
	set_wide(&s, 0x4001, 20000);
	assert_int_equal(check_pool(&s, &e), 0);
	assert_int_equal(e.read[1], 20000 + 1 * 128 + 1 * 16 + 16);
	s.count -= 2;
	set_wide(&s, 0x4002, 30000);
	assert_int_equal(check_pool(&s, &e), 0);
	assert_int_equal(e.read[1], 30000 + 2 * 128 + 5 * 16 + 16);
	s.count -= 2;
	set_wide(&s, 0x4003, 40000);
	assert_int_equal(check_pool(&s, &e), 0);
	assert_int_equal(e.read[1], 40000 + 5 * 128 + 1 * 16 + 16);
}

static void elements_have_their_size(void **state)
{
	struct stream s;
	struct ethosu_extents e;

	(void)state;
	put_setters(&s);
	set(&s, 0x105, 2 << 2);
	assert_int_equal(check_pool(&s, &e), 0);
	assert_int_equal(e.read[1], 7 * 128 + 7 * 16 + 16 * 4);
	/* bricks of 16 channels */
	s.count -= 2;
	set(&s, 0x105, 2 << 2 | 1 << 6);
	set(&s, 0x104, 31);
	set_wide(&s, 0x4006, 512);
	assert_int_equal(check_pool(&s, &e), 0);
	assert_int_equal(e.read[1], 7 * 128 + 7 * 16 * 4 + 512 + 16 * 4);
}

static void what_has_no_bound_is_refused(void **state)
{
	static const struct {
		uint32_t code;
		uint64_t value;
		const char *what;
	} rows[] = {
		{ 0x4005, UINT64_C(1) << 39, "negative" },
		{ 0x4000, UINT64_C(0xffffffffff), "40 bits" },
		{ 0x4000, UINT64_C(1) << 40, "parameter" },
		{ 0x10f, 8, "region 8" },
		{ 0x105, 2 << 6, "format" },
		{ 0x107, 3, "UPSCALE" },
		{ 0x122, 0x80, "STRIDE" },
		{ 0x100, 128, "PAD_TOP" },
		{ 0x100, 100, "rows" },
		{ 0x125, 16, "table" },
		{ 0x4100, 0, "0x4100" },
		{ 0x2100, 0, "0x2100" },
		{ 0x8100, 0, "0x8100" },
		{ 0x108, 0, "0x0108" },
	};
	struct stream s;
	struct ethosu_extents e;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		put_setters(&s);
		if (rows[i].code & 0x4000)
			set_wide(&s, rows[i].code, rows[i].value);
		else
			set(&s, rows[i].code, (uint32_t)rows[i].value);
		assert_int_equal(check_pool(&s, &e), -TENON_E_FORMAT);
		assert_error_has(rows[i].what);
	}
}

static void a_stream_ends_with_op_stop_and_not_before(void **state)
{
	const uint32_t stop[] = { 0xffff0000, 0xffff0000 }, half[] = { 0x4000 };
	const struct ethosu_target target = U65_256;
	struct ethosu_extents e;

	(void)state;
	assert_int_equal(ethosu_check(tenon_cursor_of(stop, 4, "s", 0), &target, NULL, &e), 0);
	assert_int_not_equal(ethosu_check(tenon_cursor_of(stop, 8, "s", 0), &target, NULL, &e), 0);
	assert_error_has("follow OP_STOP");
	assert_int_not_equal(ethosu_check(tenon_cursor_of(stop, 0, "s", 0), &target, NULL, &e), 0);
	assert_error_has("without OP_STOP");
	assert_int_not_equal(ethosu_check(tenon_cursor_of(half, 4, "s", 0), &target, NULL, &e), 0);
	assert_error_has("two words");
}

static void put_table(struct stream *s, uint64_t offset)
{
	set(s, 0x130, 0);
	set_wide(s, 0x4030, 0);
	set(s, 0x131, 0x103);
	set_wide(s, 0x4031, offset);
	set_wide(s, 0x4032, 256);
	set(s, 0x10, 0);
}

static void a_table_is_loaded_and_waited_for(void **state)
{
	struct stream s;
	struct ethosu_extents e;

	(void)state;
	put_setters(&s);
	set(&s, 0x125, 16);
	put_table(&s, 46 * 1024);
	assert_int_not_equal(check_pool(&s, &e), 0);
	assert_error_has("on its way");
	s.count -= 2;
	set(&s, 0x11, 0);
	assert_int_equal(check_pool(&s, &e), 0);
	assert_int_equal(e.read[0], 256);
	/* the memory for tables is the last of the shared memory */
	put_setters(&s);
	put_table(&s, 46 * 1024 - 16);
	assert_int_not_equal(check_pool(&s, &e), 0);
	assert_error_has("internal memory");
	put_setters(&s);
	put_table(&s, 48 * 1024 - 240);
	assert_int_not_equal(check_pool(&s, &e), 0);
	assert_error_has("internal memory");
}

/* Vela for U85 starts the load of the next table, and waits until one transfer at most is left. */
static void a_wait_leaves_the_last_transfers_running(void **state)
{
	struct stream s;
	struct ethosu_extents e;

	(void)state;
	put_setters(&s);
	put_table(&s, 46 * 1024);
	put_table(&s, 46 * 1024 + 256);
	set(&s, 0x11, 1);
	set(&s, 0x125, 16);
	assert_int_equal(check_pool(&s, &e), 0);
	s.count -= 2;
	set(&s, 0x125, 17);
	assert_int_not_equal(check_pool(&s, &e), 0);
	assert_error_has("table 1, which may still be on its way");
	s.count -= 2;
	set(&s, 0x11, 0);
	assert_int_equal(check_pool(&s, &e), 0);
	s.count -= 2;
	set(&s, 0x125, 18);
	assert_int_not_equal(check_pool(&s, &e), 0);
	assert_error_has("table 2, and no OP_DMA_START before it loads all");
}

static void weights_of_the_second_core_count(void **state)
{
	struct stream s;
	struct ethosu_extents e;

	(void)state;
	put_setters(&s);
	set(&s, 0x128, 0);
	set(&s, 0x129, 0);
	set_wide(&s, 0x4020, 0);
	set_wide(&s, 0x4021, 64);
	set_wide(&s, 0x4022, 64);
	set_wide(&s, 0x4023, 16);
	set(&s, 0x123, 1);
	set(&s, 2, 0);
	assert_int_not_equal(check(&s, (struct ethosu_target)U65_512, &e), 0);
	assert_error_has("WEIGHT1_BASE");
	s.count -= 2;
	set_wide(&s, 0x4090, 1000);
	set_wide(&s, 0x4091, 64);
	set_wide(&s, 0x4092, 2000);
	set_wide(&s, 0x4093, 16);
	set(&s, 2, 0);
	assert_int_equal(check(&s, (struct ethosu_target)U65_512, &e), 0);
	/* OFM_SCALE instead of scales of channels */
	assert_int_equal(e.read[0], 1064);
	s.count -= 2;
	set(&s, 0x114, 0);
	set(&s, 2, 0);
	assert_int_equal(check(&s, (struct ethosu_target)U65_512, &e), 0);
	assert_int_equal(e.read[0], 2016);
	/* U55 has one core */
	assert_int_not_equal(check(&s, (struct ethosu_target)U55_128, &e), 0);
	assert_error_has("0x0123");
}

static void a_device_runs_what_was_compiled_for_it(void **state)
{
	const struct ethosu_target u55 = U55_128, u65 = U65_256, two = U65_512, u85 = U85_256;
	struct ethosu_target other = u65;

	(void)state;
	assert_null(ethosu_target_runs(&u65, &u65));
	assert_non_null(ethosu_target_runs(&u55, &u65));
	assert_non_null(ethosu_target_runs(&two, &u65));
	assert_non_null(ethosu_target_runs(&u85, &u65));
	other.id += 1 << 20; /* a later minor version */
	assert_null(ethosu_target_runs(&other, &u65));
	assert_non_null(ethosu_target_runs(&u65, &other));
	other = u65;
	other.id += 1 << 28;
	assert_non_null(ethosu_target_runs(&other, &u65));
	other = u65;
	other.config |= 1 << 27;
	assert_null(ethosu_target_runs(&other, &u65));
	assert_non_null(ethosu_target_runs(&u65, &other));
	assert_int_equal(ethosu_target_find("ethos-u65-512", &other), 0);
	assert_memory_equal(&other, &two, sizeof(two));
	assert_int_equal(ethosu_target_find("u65", &other), -TENON_E_NOT_FOUND);
	assert_error_has("u65-256");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(payloads_have_a_target_and_a_stream),
		cmocka_unit_test(extents_are_those_of_the_memory_that_is_touched),
		cmocka_unit_test(one_byte_too_few_is_refused),
		cmocka_unit_test(a_payload_cut_anywhere_is_refused),
		cmocka_unit_test(a_payload_has_one_stream_behind_its_configuration),
		cmocka_unit_test(metadata_begins_with_its_magic_number),
		cmocka_unit_test(every_setter_that_an_operation_uses_must_be_there),
		cmocka_unit_test(tiles_have_a_place_each),
		cmocka_unit_test(elements_have_their_size),
		cmocka_unit_test(what_has_no_bound_is_refused),
		cmocka_unit_test(a_stream_ends_with_op_stop_and_not_before),
		cmocka_unit_test(a_table_is_loaded_and_waited_for),
		cmocka_unit_test(a_wait_leaves_the_last_transfers_running),
		cmocka_unit_test(weights_of_the_second_core_count),
		cmocka_unit_test(a_device_runs_what_was_compiled_for_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
