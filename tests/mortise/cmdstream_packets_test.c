/* SPDX-License-Identifier: MIT */
/* The packets of a command stream: which are accepted, and each reason to refuse one. No device is needed. */
#include "devices/cmdstream/cmdstream.h"
#include "devices/cmdstream/cmdstream_emit.h"
#include "tests/mortise/stream.h"
#include "tests/mortise/stream_check.h"
#include "tests/unit/suite.h"

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
	stream_is_refused(&b, -TENON_E_FORMAT, why);
	tenon_buffer_fini(&b);
}

static void code_is_accepted(struct cmdstream_emitter *e)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	int err;

	finish(e, &b);
	err = stream_check(&b);
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
	assert_int_equal(stream_check(&b), 0);
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

#define PLAIN .m = 1, .n = 1, .k = 4, .a_stride = 4, .b_stride = 4, .to_stride = 4

#define GEMM_REFUSED(field, number, why)                                                           \
	do {                                                                                       \
		struct mortise_gemm gemm_ = { PLAIN };                                             \
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
	gemm_is_refused((struct mortise_gemm){ PLAIN, .multiplier = 1, .shift = 63 }, "shift");
	gemm_is_refused((struct mortise_gemm){ PLAIN, .multiplier = 1, .shift = 1, .to_zero = 200 },
			"to_zero");
	gemm_is_refused(
		(struct mortise_gemm){ PLAIN, .multiplier = 1, .shift = 1, .least = 3, .most = 2 },
		"least and most");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
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
