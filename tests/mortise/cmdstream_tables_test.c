/* SPDX-License-Identifier: MIT */
/* The tables of a command stream: which are accepted, and each reason to refuse one. No device is needed. */
#include "devices/cmdstream/cmdstream_payload.h"
#include "devices/cmdstream/cmdstream_emit.h"
#include "tests/mortise/stream.h"
#include "tests/mortise/stream_check.h"
#include "tests/unit/suite.h"

/* The sample with one number changed is refused. */
static void edit(uint32_t tag, size_t offset, size_t size, uint64_t value, int status,
		 const char *why)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;

	assert_int_equal(sample_stream(&b), 0);
	stream_set_word(&b, (tag ? stream_find(&b, tag).at : 0) + offset, value, size);
	stream_is_refused(&b, status, why);
	tenon_buffer_fini(&b);
}

static void the_sample_is_accepted(void **unused)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct cmdstream s;
	struct tenon_cursor c;
	struct cmdstream_kernel k;
	uint64_t used;

	(void)unused;
	assert_int_equal(sample_stream(&b), 0);
	assert_int_equal(stream_check(&b), 0);
	c = tenon_cursor_of(b.data, b.size, "payload", 0);
	assert_int_equal(cmdstream_read(&c, &s), 0);
	assert_int_equal(tenon_cursor_left(&c), 0);
	assert_int_equal(s.kernel_count, 2);
	assert_int_equal(s.region_count, SAMPLE_COUNT);
	assert_int_equal(cmdstream_kernel(&s, 0, &k), 0);
	assert_true(tenon_slice_equal(k.name, tenon_slice_of("dense")));
	assert_int_equal(cmdstream_check(&s, &stream_target, &k, &used), 0);
	assert_int_equal(used, 0x1f);
	assert_int_equal(cmdstream_kernel(&s, 1, &k), 0);
	assert_int_equal(cmdstream_check(&s, &stream_target, &k, &used), 0);
	assert_int_equal(used, 1 << SAMPLE_Y);
	tenon_buffer_fini(&b);
}

static void the_emitter_refuses_what_was_not_reserved(void **unused)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct cmdstream_emitter e;

	(void)unused;
	cmdstream_emitter_init(&e);
	assert_int_equal(cmdstream_reserve(&e, 8), 0);
	cmdstream_emit(&e, "12345678", 8);
	cmdstream_emit(&e, "9", 1);
	assert_int_equal(cmdstream_reserve(&e, 8), -TENON_E_VALUE);
	assert_int_equal(flush_stream(&e, &b), -TENON_E_VALUE);
	assert_int_equal(b.size, 0);
	/* a flush begins anew */
	assert_int_equal(cmdstream_reserve(&e, 8), 0);
	cmdstream_emit(&e, "1234", 4);
	assert_int_equal(cmdstream_reserve(&e, 8), -TENON_E_VALUE);
	assert_error_has("4 bytes less");
	tenon_error_clear();
	cmdstream_emitter_fini(&e);
}

/* ---- tables */

#define HEADER	    0
#define REGION(n)   ((n) * sizeof(struct tenon_cmdstream_region))
#define RELOC(n)    ((n) * sizeof(struct tenon_cmdstream_relocation))
#define FORMAT	    (-TENON_E_FORMAT)
#define UNSUPPORTED (-TENON_E_UNSUPPORTED)
#define TRUNCATED   (-TENON_E_TRUNCATED)

static void headers_and_sections_are_checked(void **unused)
{
	(void)unused;
	edit(HEADER, 0, 4, 0x31504f43, FORMAT, "no command stream");
	edit(HEADER, 4, 2, 2, UNSUPPORTED, "version 2");
	edit(HEADER, 8, 8, 15, TRUNCATED, "15 bytes");
	edit(HEADER, 8, 8, UINT64_MAX, TRUNCATED, "bytes");
	edit(HEADER, 16, 4, 9, FORMAT, "tag 9");
	edit(HEADER, 16, 4, 0, FORMAT, "tag 0");
	edit(HEADER, 20, 4, 1, FORMAT, "section");
	edit(HEADER, 24, 8, UINT64_MAX, TRUNCATED, "payload at");
	/* code before the target: the order is wrong for what follows */
	edit(HEADER, 16, 4, TENON_CMDSTREAM_KERNEL_TABLE, FORMAT, "payload at");
	edit(TENON_CMDSTREAM_TARGET, 0, 1, 0, FORMAT, "name of a target");
	edit(TENON_CMDSTREAM_TARGET, 15, 1, 'x', FORMAT, "name of a target");
}

static void regions_are_checked(void **unused)
{
	const uint32_t table = TENON_CMDSTREAM_REGION_TABLE;

	(void)unused;
	edit(table, REGION(0), 4, 5, FORMAT, "kind 5");
	edit(table, REGION(0), 4, 0, FORMAT, "kind 0");
	edit(table, REGION(0) + 4, 4, TENON_REGION_WRITE, FORMAT, "access 0x2");
	edit(table, REGION(1) + 4, 4, TENON_REGION_READ, FORMAT, "access 0x1");
	edit(table, REGION(1) + 4, 4, 6, FORMAT, "access 0x6");
	edit(table, REGION(2) + 4, 4, READ_WRITE, FORMAT, "access 0x3");
	edit(table, REGION(4) + 4, 4, TENON_REGION_READ, FORMAT, "access 0x1");
	edit(table, REGION(4) + 8, 8, 0, FORMAT, "has no bytes");
	edit(table, REGION(0) + 16, 8, 8, FORMAT, "must be 0");
	edit(table, REGION(0) + 24, 4, 0, FORMAT, "alignment 0");
	edit(table, REGION(0) + 24, 4, 24, FORMAT, "alignment 24");
	edit(table, REGION(0) + 24, 4, 8192, FORMAT, "alignment 8192");
	edit(table, REGION(0) + 28, 4, 1, FORMAT, "must be 0");
	edit(table, REGION(2) + 16, 8, 33, FORMAT, "constants, which have 160");
	edit(table, REGION(2) + 16, 8, UINT64_MAX, FORMAT, "constants, which have 160");
	edit(table, REGION(3) + 8, 8, UINT64_MAX, FORMAT, "constants, which have 160");
}

static void relocations_are_checked(void **unused)
{
	const uint32_t table = TENON_CMDSTREAM_RELOCATIONS;

	(void)unused;
	edit(table, RELOC(0) + 20, 4, 2, FORMAT, "relocation 0 writes 2 bytes");
	edit(table, RELOC(0) + 20, 4, 4, FORMAT, "writes 4 bytes, want 8");
	edit(table, RELOC(0), 8, UINT64_MAX - 3, FORMAT, "of the code, which has");
	edit(table, RELOC(6), 8, 184 - 7, FORMAT, "of the code, which has 184");
	edit(table, RELOC(1), 8, 12, FORMAT, "overlaps");
	edit(table, RELOC(1), 8, 8, FORMAT, "overlaps");
	edit(table, RELOC(0) + 16, 4, SAMPLE_COUNT, FORMAT, "names region 5; there are 5");
	edit(table, RELOC(0) + 8, 8, 9, FORMAT, "byte 9 of region 4 (scratch), which has 8");
	edit(table, RELOC(0) + 8, 8, UINT64_MAX, FORMAT, "which has 8");
	/* a byte that is no address */
	edit(table, RELOC(0), 8, 7, FORMAT, "no relocation writes");
}

static void kernels_are_checked(void **unused)
{
	const uint32_t table = TENON_CMDSTREAM_KERNEL_TABLE;

	(void)unused;
	edit(table, 0, 8, UINT64_MAX, FORMAT, "of the code, which has 184");
	edit(table, 8, 8, UINT64_MAX, FORMAT, "of the code, which has 184");
	edit(table, 8, 8, 0, FORMAT, "a kernel with 0 bytes");
	edit(table, 8, 8, 12, FORMAT, "inside the 8 bytes that relocation 0 writes");
	edit(table, 0, 8, 12, FORMAT, "inside the 8 bytes that relocation 0 writes");
	edit(table, 8, 8, 143, FORMAT, "multiples of 8");
	edit(table, 16, 4, 65, UNSUPPORTED, "65 arguments");
	edit(table, 16, 4, UINT32_MAX, UNSUPPORTED, "arguments");
	edit(table, 20, 4, UINT32_MAX, TRUNCATED, "payload at");
	edit(table, 20, 4, 0, FORMAT, "without a name");
	edit(table, 24, 4, SAMPLE_COUNT, FORMAT, "argument 0 is region 5; there are 5");
	edit(table, 24, 4, SAMPLE_SUMS, FORMAT, "argument 0 is region 4 (scratch)");
	edit(table, 24, 4, SAMPLE_Y, FORMAT, "arguments 0 and 1 are both region 1");
	/* behind the name */
	edit(table, 39, 1, 1, FORMAT, "where zero bytes fill up");
}

static void every_edit_of_a_byte_is_read_safely(void **unused)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	unsigned int value, accepted = 0;
	size_t i;

	(void)unused;
	assert_int_equal(sample_stream(&b), 0);
	for (i = 0; i < b.size; i++) {
		char old = b.data[i];

		for (value = 0; value < 256; value += 17) {
			b.data[i] = (char)(old ^ value);
			accepted += !stream_check(&b);
		}
		b.data[i] = old;
	}
	assert_true(accepted > b.size);
	for (i = 0; i < b.size; i++) {
		struct tenon_buffer cut = b;

		cut.size = i;
		assert_int_not_equal(stream_check(&cut), 0);
	}
	tenon_error_clear();
	tenon_buffer_fini(&b);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_sample_is_accepted),
		cmocka_unit_test(the_emitter_refuses_what_was_not_reserved),
		cmocka_unit_test(headers_and_sections_are_checked),
		cmocka_unit_test(regions_are_checked),
		cmocka_unit_test(relocations_are_checked),
		cmocka_unit_test(kernels_are_checked),
		cmocka_unit_test(every_edit_of_a_byte_is_read_safely),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
