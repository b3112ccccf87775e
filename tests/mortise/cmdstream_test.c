/* SPDX-License-Identifier: MIT */
/* Which command streams are accepted, and each reason to refuse one. No device is needed. */
#include <inttypes.h>
#include <stdlib.h>

#include "devices/cmdstream/cmdstream_emit.h"
#include "devices/mortise/mortise_walk.h"
#include "tests/mortise/stream.h"
#include "tests/unit/suite.h"

static const struct cmdstream_target target = {
	.name = "mortise",
	.unit = MORTISE_WORD,
	.setter = mortise_setter,
	.walk = mortise_walk,
};

/* Read a payload, and check all its kernels. */
static int check(const void *data, size_t size)
{
	struct tenon_cursor c = tenon_cursor_of(data, size, "payload", 0);
	struct cmdstream_kernel k;
	struct cmdstream s;
	size_t i;
	int err = cmdstream_read(&c, &s);

	for (i = 0; !err && i < s.kernel_count; i++) {
		err = cmdstream_kernel(&s, i, &k);
		err = err ? err : cmdstream_check(&s, &target, &k, NULL);
	}
	return err;
}

/* Run the check on memory of exactly this size, so that a sanitizer sees a read behind it. */
static int check_copy(const struct tenon_buffer *b)
{
	void *copy = malloc(b->size ? b->size : 1);
	int err;

	memcpy(copy, b->data, b->size);
	err = check(copy, b->size);
	free(copy);
	return err;
}

static void is_refused(const struct tenon_buffer *b, int status, const char *why)
{
	int err = check_copy(b);

	if (err != status || !message_has(why))
		print_error("wanted %d: %s\nfound %d: %s\n", status, why, err,
			    err ? tenon_error_message() : "accepted");
	assert_int_equal(err, status);
	assert_error_has(why);
	tenon_error_clear();
}

/* ---- bytes of the sample, and edits of it */

/* where a section begins, and its size */
struct section {
	size_t at;
	size_t size;
};

static uint64_t word_at(const struct tenon_buffer *b, size_t at, size_t size)
{
	uint64_t value = 0;
	size_t i;

	for (i = 0; i < size; i++)
		value |= (uint64_t)(uint8_t)b->data[at + i] << 8 * i;
	return value;
}

static void set_word(struct tenon_buffer *b, size_t at, uint64_t value, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++)
		b->data[at + i] = (char)(value >> 8 * i);
}

static struct section find(const struct tenon_buffer *b, uint32_t tag)
{
	size_t at = sizeof(struct tenon_cmdstream_header);
	struct section s = { 0, 0 };

	while (at < b->size) {
		s.at = at + sizeof(struct tenon_cmdstream_section);
		s.size = (size_t)word_at(b, at + 8, 8);
		if (word_at(b, at, 4) == tag)
			return s;
		at = s.at + (s.size + 7) / 8 * 8;
	}
	fail_msg("no section %u", tag);
	return s;
}

/* The sample with one number changed is refused. */
static void edit(uint32_t tag, size_t offset, size_t size, uint64_t value, int status,
		 const char *why)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;

	assert_int_equal(sample_stream(&b), 0);
	set_word(&b, (tag ? find(&b, tag).at : 0) + offset, value, size);
	is_refused(&b, status, why);
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
	assert_int_equal(check_copy(&b), 0);
	c = tenon_cursor_of(b.data, b.size, "payload", 0);
	assert_int_equal(cmdstream_read(&c, &s), 0);
	assert_int_equal(tenon_cursor_left(&c), 0);
	assert_int_equal(s.kernel_count, 2);
	assert_int_equal(s.region_count, SAMPLE_COUNT);
	assert_int_equal(cmdstream_kernel(&s, 0, &k), 0);
	assert_true(tenon_slice_equal(k.name, tenon_slice_of("dense")));
	assert_int_equal(cmdstream_check(&s, &target, &k, &used), 0);
	assert_int_equal(used, 0x1f);
	assert_int_equal(cmdstream_kernel(&s, 1, &k), 0);
	assert_int_equal(cmdstream_check(&s, &target, &k, &used), 0);
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
			accepted += !check_copy(&b);
		}
		b.data[i] = old;
	}
	assert_true(accepted > b.size);
	for (i = 0; i < b.size; i++) {
		struct tenon_buffer cut = b;

		cut.size = i;
		assert_int_not_equal(check_copy(&cut), 0);
	}
	tenon_error_clear();
	tenon_buffer_fini(&b);
}

/* ---- packets */

/* A stream of one kernel "k", whose arguments are regions 0 and 1: input and output of 64 bytes, scratch of 64. */
static void begin(struct cmdstream_emitter *e)
{
	cmdstream_emitter_init(e);
	put_region(e, TENON_REGION_INPUT, TENON_REGION_READ, 64, NULL);
	put_region(e, TENON_REGION_OUTPUT, TENON_REGION_WRITE, 64, NULL);
	put_region(e, TENON_REGION_SCRATCH, READ_WRITE, 64, NULL);
	put_region(e, TENON_REGION_OUTPUT, READ_WRITE, 64, NULL);
}

#define IN	0
#define OUT	1
#define SCRATCH 2
#define OTHER	3

static void finish(struct cmdstream_emitter *e, struct tenon_buffer *b)
{
	const uint32_t arguments[] = { IN, OUT };

	cmdstream_end_kernel(e, "k", arguments, 2);
	assert_int_equal(flush_stream(e, b), 0);
	cmdstream_emitter_fini(e);
}

static void code_is_refused(struct cmdstream_emitter *e, const char *why)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;

	finish(e, &b);
	is_refused(&b, FORMAT, why);
	tenon_buffer_fini(&b);
}

static void code_is_accepted(struct cmdstream_emitter *e)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	int err;

	finish(e, &b);
	err = check_copy(&b);
	if (err)
		print_error("%s\n", tenon_error_message());
	assert_int_equal(err, 0);
	tenon_buffer_fini(&b);
}

static void put_copy(struct cmdstream_emitter *e, uint32_t to, uint64_t to_offset, uint32_t from,
		     uint64_t from_offset, uint64_t size)
{
	struct mortise_copy copy = { .size = size };

	PUT(e, MORTISE_OP_COPY, copy, HOLE(mortise_copy, to, to, to_offset),
	    HOLE(mortise_copy, from, from, from_offset));
}

static void every_access_lies_inside_its_region(void **unused)
{
	struct cmdstream_emitter e;

	(void)unused;
	begin(&e);
	put_copy(&e, OUT, 0, IN, 0, 64);
	put_copy(&e, OUT, 64, IN, 64, 0);
	code_is_accepted(&e);
	begin(&e);
	put_copy(&e, OUT, 0, IN, 0, 65);
	code_is_refused(&e,
			"from of copy accesses 65 bytes at 0 of region 0 (input), which has 64");
	begin(&e);
	put_copy(&e, OUT, 1, IN, 0, 64);
	code_is_refused(&e, "to of copy accesses 64 bytes at 1 of region 1 (output)");
	begin(&e);
	put_copy(&e, OUT, 1, IN, 1, UINT64_MAX);
	code_is_refused(&e, "which has 64");
	begin(&e);
	put_copy(&e, OUT, 8, IN, 8, UINT64_MAX - 7);
	code_is_refused(&e, "which has 64");
}

static void read_only_regions_are_not_written(void **unused)
{
	struct cmdstream_emitter e;

	(void)unused;
	begin(&e);
	put_copy(&e, IN, 0, IN, 0, 8);
	code_is_refused(&e,
			"to of copy writes to region 0 (input), whose access does not allow it");
	begin(&e);
	put_copy(&e, OUT, 0, IN, 0, 8);
	put_copy(&e, SCRATCH, 0, OUT, 0, 8);
	code_is_refused(&e, "from of copy reads region 1 (output), whose access");
	/* also when no byte is accessed */
	begin(&e);
	put_copy(&e, IN, 0, IN, 0, 0);
	code_is_refused(&e, "writes to region 0");
}

static void what_is_read_was_written_before(void **unused)
{
	struct cmdstream_emitter e;

	(void)unused;
	begin(&e);
	put_copy(&e, OUT, 0, SCRATCH, 0, 8);
	code_is_refused(&e, "reads region 2 (scratch) before anything was written to it");
	begin(&e);
	put_copy(&e, OUT, 0, SCRATCH, 0, 0);
	code_is_refused(&e, "reads region 2 (scratch) before");
	begin(&e);
	put_copy(&e, SCRATCH, 0, IN, 0, 8);
	put_copy(&e, OUT, 0, SCRATCH, 0, 8);
	code_is_accepted(&e);
}

static void a_wait_needs_a_signal(void **unused)
{
	struct mortise_semaphore wait = { .value = 1 }, signal = { .value = 1 };
	struct cmdstream_emitter e;

	(void)unused;
	begin(&e);
	put_copy(&e, SCRATCH, 0, IN, 0, 8);
	PUT(&e, MORTISE_OP_WAIT, wait, HOLE(mortise_semaphore, address, SCRATCH, 0));
	code_is_refused(&e, "wait needs a signal to the same region before it");
	begin(&e);
	PUT(&e, MORTISE_OP_SIGNAL, signal, HOLE(mortise_semaphore, address, SCRATCH, 0));
	PUT(&e, MORTISE_OP_WAIT, wait, HOLE(mortise_semaphore, address, SCRATCH, 0));
	code_is_accepted(&e);
	begin(&e);
	PUT(&e, MORTISE_OP_SIGNAL, signal, HOLE(mortise_semaphore, address, SCRATCH, 2));
	code_is_refused(&e, "want multiples of 4");
	begin(&e);
	PUT(&e, MORTISE_OP_WAIT, wait, HOLE(mortise_semaphore, address, IN, 60));
	code_is_accepted(&e);
}

static void only_regions_of_the_kernel_are_named(void **unused)
{
	struct cmdstream_emitter e;

	(void)unused;
	begin(&e);
	put_copy(&e, OTHER, 0, IN, 0, 8);
	code_is_refused(&e, "to of copy is in region 3 (output), which is no argument");
}

static void an_address_is_written_by_a_relocation(void **unused)
{
	struct mortise_copy copy = { .to = 0x80000000, .size = 8 };
	struct mortise_vector vector = { .count = 4, .b = 0x80000000 };
	struct cmdstream_emitter e;

	(void)unused;
	begin(&e);
	PUT(&e, MORTISE_OP_COPY, copy, HOLE(mortise_copy, from, IN, 0));
	code_is_refused(&e, "to of copy is an address that no relocation writes");
	begin(&e);
	PUT(&e, MORTISE_OP_VECTOR, vector, HOLE(mortise_vector, to, OUT, 0),
	    HOLE(mortise_vector, a, IN, 0));
	code_is_refused(&e, "b of vector is an address that no relocation writes");
	vector.b = 0;
	begin(&e);
	PUT(&e, MORTISE_OP_VECTOR, vector, HOLE(mortise_vector, to, OUT, 0),
	    HOLE(mortise_vector, a, IN, 0));
	code_is_accepted(&e);
}

static void a_relocation_writes_nothing_but_addresses(void **unused)
{
	struct mortise_copy copy = { .size = 8 };
	struct mortise_header barrier = { .words = 1 };
	struct cmdstream_emitter e;

	(void)unused;
	begin(&e);
	PUT(&e, MORTISE_OP_COPY, copy, HOLE(mortise_copy, to, OUT, 0),
	    HOLE(mortise_copy, from, IN, 0), HOLE(mortise_copy, size, IN, 0));
	code_is_refused(&e, "3 relocations, of which 2 write an address");
	begin(&e);
	PUT(&e, MORTISE_OP_BARRIER, barrier, { 0, IN, 0 });
	code_is_refused(&e, "a packet of 0 words");
}

static void rows_are_multiplied_without_overflow(void **unused)
{
	struct mortise_gemm gemm = { .m = UINT32_MAX,
				     .n = 1,
				     .k = 1,
				     .a_stride = UINT32_MAX,
				     .b_stride = 1,
				     .to_stride = 4 };
	struct cmdstream_emitter e;

	(void)unused;
	begin(&e);
	PUT(&e, MORTISE_OP_GEMM, gemm, HOLE(mortise_gemm, to, OUT, 0), HOLE(mortise_gemm, a, IN, 0),
	    HOLE(mortise_gemm, b, IN, 0));
	code_is_refused(&e, "a of gemm accesses 18446744060824649731 bytes");
	assert_true(cmdstream_rows(UINT64_MAX, UINT64_MAX, 8) == UINT64_MAX);
	assert_true(cmdstream_rows(2, UINT64_MAX - 4, 8) == UINT64_MAX);
	assert_true(cmdstream_rows(0, 5, 8) == 0);
	assert_true(cmdstream_add(UINT64_MAX, UINT64_MAX) == UINT64_MAX);
}

static void one_packet_is_refused(uint8_t opcode, const char *why)
{
	struct mortise_header packets[6] = { { 0 } };
	struct cmdstream_emitter e;

	begin(&e);
	put_packet(&e, opcode, packets, sizeof(packets), NULL, 0);
	code_is_refused(&e, why);
}

static void packets_that_no_stream_may_have_are_refused(void **unused)
{
	struct mortise_header barrier = { 0 };
	struct cmdstream_emitter e;

	(void)unused;
	one_packet_is_refused(MORTISE_OP_CALL, "opcode 3 (call) is not allowed");
	one_packet_is_refused(MORTISE_OP_SELFTEST, "opcode 10 (selftest)");
	one_packet_is_refused(MORTISE_OP_SHUTDOWN, "opcode 11 (shutdown)");
	one_packet_is_refused(12, "opcode 12 (not known)");
	one_packet_is_refused(255, "opcode 255 (not known)");
	one_packet_is_refused(MORTISE_OP_COPY, "copy has 6 words, want 4");
	begin(&e);
	barrier.flags = MORTISE_NOTIFY;
	put_packet(&e, MORTISE_OP_BARRIER, &barrier, sizeof(barrier), NULL, 0);
	code_is_refused(&e, "flags 0x1");
	begin(&e);
	barrier = (struct mortise_header){ .position = 8 };
	put_packet(&e, MORTISE_OP_BARRIER, &barrier, sizeof(barrier), NULL, 0);
	code_is_refused(&e, "position 8");
}

static void a_packet_needs_the_feature_in_the_configuration(void **unused)
{
	const uint32_t with[] = { MORTISE_ABI, MORTISE_FEATURE_TIMESTAMP }, argument = OUT;
	struct mortise_timestamp stamp = { .address = 0 };
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct cmdstream_emitter e;

	(void)unused;
	begin(&e);
	PUT(&e, MORTISE_OP_TIMESTAMP, stamp, HOLE(mortise_timestamp, address, OUT, 0));
	code_is_refused(&e, "timestamp needs feature 0x10");
	begin(&e);
	PUT(&e, MORTISE_OP_TIMESTAMP, stamp, HOLE(mortise_timestamp, address, OUT, 0));
	cmdstream_end_kernel(&e, "k", &argument, 1);
	assert_int_equal(cmdstream_flush(&e, "mortise", with, 2, &b), 0);
	assert_int_equal(check_copy(&b), 0);
	cmdstream_emitter_fini(&e);
	tenon_buffer_fini(&b);
}

/* ---- fields: what the firmware would fault for */

static void gemm_is_refused(struct mortise_gemm gemm, const char *why)
{
	struct cmdstream_emitter e;

	begin(&e);
	PUT(&e, MORTISE_OP_GEMM, gemm, HOLE(mortise_gemm, to, OUT, 0), HOLE(mortise_gemm, a, IN, 0),
	    HOLE(mortise_gemm, b, IN, 0));
	code_is_refused(&e, why);
}

static void vector_is_refused(struct mortise_vector vector, const char *why)
{
	struct cmdstream_emitter e;

	begin(&e);
	PUT(&e, MORTISE_OP_VECTOR, vector, HOLE(mortise_vector, to, OUT, 0),
	    HOLE(mortise_vector, a, IN, 0));
	code_is_refused(&e, why);
}

static void fill_is_refused(struct mortise_fill fill, uint64_t offset, const char *why)
{
	struct cmdstream_emitter e;

	begin(&e);
	PUT(&e, MORTISE_OP_FILL, fill, HOLE(mortise_fill, to, OUT, offset));
	code_is_refused(&e, why);
}

static const struct mortise_gemm plain = {
	.m = 1, .n = 1, .k = 4, .a_stride = 4, .b_stride = 4, .to_stride = 4
};

#define GEMM_REFUSED(field, number, why)                                                           \
	do {                                                                                       \
		struct mortise_gemm gemm_ = plain;                                                 \
		gemm_.field = (number);                                                            \
		gemm_is_refused(gemm_, why);                                                       \
	} while (0)

static void fields_are_checked_as_the_firmware_does(void **unused)
{
	(void)unused;
	fill_is_refused((struct mortise_fill){ .size = 8, .width = 3 }, 0, "width of fill");
	fill_is_refused((struct mortise_fill){ .size = 8, .width = 0 }, 0, "width of fill");
	fill_is_refused((struct mortise_fill){ .size = 7, .width = 2 }, 0, "size of fill");
	fill_is_refused((struct mortise_fill){ .size = 8, .width = 4 }, 2, "multiples of 4");
	fill_is_refused((struct mortise_fill){ .size = 8, .width = 4, .reserved = 1 }, 0,
			"reserved of fill");
	vector_is_refused((struct mortise_vector){ .count = 1, .operation = 5 }, "operation");
	vector_is_refused((struct mortise_vector){ .count = 1, .type = 2 }, "type of vector");
	vector_is_refused((struct mortise_vector){ .count = 1, .scalar = 128 }, "scalar");
	vector_is_refused((struct mortise_vector){ .count = 1, .reserved = 1 }, "reserved");
	vector_is_refused((struct mortise_vector){ .count = 17, .type = MORTISE_INT32 },
			  "68 bytes");
	GEMM_REFUSED(k, 0, "m, n or k");
	GEMM_REFUSED(a_stride, 3, "a_stride");
	GEMM_REFUSED(b_stride, 3, "b_stride");
	GEMM_REFUSED(to_stride, 2, "to_stride");
	GEMM_REFUSED(to_stride, 6, "to_stride");
	GEMM_REFUSED(a_zero, 128, "a_zero");
	GEMM_REFUSED(reserved, 1, "reserved");
	GEMM_REFUSED(multiplier, 1, "shift");
	gemm_is_refused((struct mortise_gemm){ .m = 1,
					       .n = 1,
					       .k = 4,
					       .a_stride = 4,
					       .b_stride = 4,
					       .to_stride = 4,
					       .multiplier = 1,
					       .shift = 63 },
			"shift");
	gemm_is_refused((struct mortise_gemm){ .m = 1,
					       .n = 1,
					       .k = 4,
					       .a_stride = 4,
					       .b_stride = 4,
					       .to_stride = 4,
					       .multiplier = 1,
					       .shift = 1,
					       .to_zero = 200 },
			"to_zero");
	gemm_is_refused((struct mortise_gemm){ .m = 1,
					       .n = 1,
					       .k = 4,
					       .a_stride = 4,
					       .b_stride = 4,
					       .to_stride = 4,
					       .multiplier = 1,
					       .shift = 1,
					       .least = 3,
					       .most = 2 },
			"least and most");
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
		cmocka_unit_test(every_access_lies_inside_its_region),
		cmocka_unit_test(read_only_regions_are_not_written),
		cmocka_unit_test(what_is_read_was_written_before),
		cmocka_unit_test(a_wait_needs_a_signal),
		cmocka_unit_test(only_regions_of_the_kernel_are_named),
		cmocka_unit_test(an_address_is_written_by_a_relocation),
		cmocka_unit_test(a_relocation_writes_nothing_but_addresses),
		cmocka_unit_test(rows_are_multiplied_without_overflow),
		cmocka_unit_test(packets_that_no_stream_may_have_are_refused),
		cmocka_unit_test(a_packet_needs_the_feature_in_the_configuration),
		cmocka_unit_test(fields_are_checked_as_the_firmware_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
