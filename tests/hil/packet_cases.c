/* SPDX-License-Identifier: MIT */
/* Each packet does what the contract says, and refuses what it says. */
#include "lib/clock.h"
#include "tests/hil/hil.h"

#define AT(offset) rig_at(&hil, offset)

static struct mortise_header op(uint8_t opcode)
{
	return (struct mortise_header){ opcode, 0, 0, 0 };
}

static void the_device_says_what_it_is(void)
{
	const struct board_kind *kind = board_kind_find(hil_board);
	struct ring_report r;

	ring_report(hil.ring, &r);
	assert_int_equal(r.identity.magic, MORTISE_MAGIC);
	assert_int_equal(r.identity.abi, MORTISE_ABI);
	assert_int_equal(r.identity.address_bits, kind->address_bits);
	assert_int_equal(r.identity.window_address, board_address(hil.board));
	assert_int_equal(r.state, MORTISE_RUNNING);
	assert_int_equal(r.loss, RING_ALIVE);
	assert_true(!kind->machine || r.identity.machine == kind->machine);
}

static void a_copy_copies(void)
{
	uint8_t want[300];
	size_t i;

	for (i = 0; i < sizeof(want); i++)
		want[i] = hil.heap[i + 3] = (uint8_t)(i * 7);
	assert_ok(RUN(&hil, (struct mortise_copy){ op(MORTISE_OP_COPY), AT(4097), AT(3), 300 }));
	assert_memory_equal(hil.heap + 4097, want, sizeof(want));
	assert_int_equal(hil.heap[4096] | hil.heap[4097 + 300], 0);
}

static void ranges_of_a_copy_may_overlap(void)
{
	static uint8_t want[200000];
	size_t size = sizeof(want) - 64, i;

	for (i = 0; i < sizeof(want); i++)
		want[i] = hil.heap[i] = (uint8_t)(i * 13 + (i >> 8));
	assert_ok(RUN(&hil, (struct mortise_copy){ op(MORTISE_OP_COPY), AT(40), AT(0), size }));
	memmove(want + 40, want, size);
	assert_memory_equal(hil.heap, want, sizeof(want));
	assert_ok(RUN(&hil, (struct mortise_copy){ op(MORTISE_OP_COPY), AT(3), AT(8), size }));
	memmove(want + 3, want + 8, size);
	assert_memory_equal(hil.heap, want, sizeof(want));
}

static void a_fill_repeats_its_pattern(void)
{
	static const uint8_t want[16] = { 0,	0,    0,    0,	  0x34, 0x12, 0x34, 0x12,
					  0x34, 0x12, 0x34, 0x12, 0x34, 0x12, 0,    0 };

	assert_ok(RUN(&hil, (struct mortise_fill){ op(MORTISE_OP_FILL), AT(4), 10, 0x1234, 2, 0 }));
	assert_memory_equal(hil.heap, want, sizeof(want));
}

static void a_signal_writes_and_a_wait_lets_pass(void)
{
	assert_ok(RUN(&hil, (struct mortise_semaphore){ op(MORTISE_OP_SIGNAL), AT(64), 7, 0 }));
	assert_int_equal(*rig_word(&hil, 64), 7);
	assert_ok(RUN(&hil, (struct mortise_semaphore){ op(MORTISE_OP_WAIT), AT(64), 7, 0 }));
	/* 32-bit counters wrap */
	*rig_word(&hil, 64) = 2;
	assert_ok(RUN(&hil,
		      (struct mortise_semaphore){ op(MORTISE_OP_WAIT), AT(64), 0xfffffff0, 0 }));
}

static void a_wait_holds_what_is_behind_it(void)
{
	struct mortise_semaphore wait = { op(MORTISE_OP_WAIT), AT(64), 1, 0 };
	struct mortise_semaphore signal = { op(MORTISE_OP_SIGNAL), AT(128), 5, 0 };
	uint64_t sequence, until = in_ms(60000);

	assert_ok(ring_emit(hil.ring, &wait, sizeof(wait), RING_NOW, NULL));
	assert_ok(ring_emit(hil.ring, &signal, sizeof(signal), RING_NOW, &sequence));
	/* a busy machine may give the board no time meanwhile */
	do
		assert_int_equal(ring_wait(hil.ring, sequence, in_ms(20)), -TENON_E_TIMEOUT);
	while (!strstr(tenon_error_message(), "last packet wait") && clock_now() < until);
	assert_error_has("last packet wait");
	assert_int_equal(*rig_word(&hil, 128), 0);
	__atomic_store_n(rig_word(&hil, 64), 1, __ATOMIC_RELEASE);
	assert_ok(ring_wait(hil.ring, sequence, in_ms(60000)));
	assert_int_equal(*rig_word(&hil, 128), 5);
}

static void timestamps_grow(void)
{
	const uint64_t *ticks = (const uint64_t *)(const void *)hil.heap;

	assert_ok(RUN(&hil, (struct mortise_timestamp){ op(MORTISE_OP_TIMESTAMP), AT(0) }));
	assert_ok(
		RUN(&hil, (struct mortise_fill){ op(MORTISE_OP_FILL), AT(4096), 65536, 0, 1, 0 }));
	assert_ok(RUN(&hil, (struct mortise_timestamp){ op(MORTISE_OP_TIMESTAMP), AT(8) }));
	assert_true(ticks[1] > ticks[0]);
}

static void vector_operations_saturate_int8_and_wrap_int32(void)
{
	int8_t *bytes = (int8_t *)hil.heap;
	int32_t *words = (int32_t *)(void *)(hil.heap + 256);

	bytes[0] = 100;
	bytes[1] = -100;
	bytes[16] = 100;
	bytes[17] = -100;
	assert_ok(RUN(&hil, (struct mortise_vector){ .header = op(MORTISE_OP_VECTOR),
						     .to = AT(32),
						     .a = AT(0),
						     .b = AT(16),
						     .count = 2,
						     .operation = MORTISE_VECTOR_ADD }));
	assert_int_equal(bytes[32], 127);
	assert_int_equal(bytes[33], -128);
	words[0] = INT32_MAX;
	assert_ok(RUN(&hil, (struct mortise_vector){ .header = op(MORTISE_OP_VECTOR),
						     .to = AT(256),
						     .a = AT(256),
						     .count = 1,
						     .operation = MORTISE_VECTOR_ADD,
						     .type = MORTISE_INT32,
						     .scalar = 1 }));
	assert_int_equal(words[0], INT32_MIN);
}

static void a_self_test_passes(void)
{
	assert_ok(RUN(&hil, (struct mortise_selftest){ op(MORTISE_OP_SELFTEST), AT(0), 65536 }));
}

/* a multiple of all alignments, and the whole of what may be named */
#define END (RIG_CODE - RIG_HEAP)

static void ranges_that_leave_their_region_are_refused(void)
{
	uint64_t ring = board_address(hil.board) + MORTISE_SHARED_OFFSET;
	uint64_t window_end = board_address(hil.board) + board_memory(hil.board)->size;
	struct mortise_fault f;

	f = assert_faults(MORTISE_FAULT_ADDRESS,
			  (struct mortise_copy){ op(MORTISE_OP_COPY), AT(0) - 1, AT(0), 8 });
	assert_int_equal(f.address, AT(0) - 1);
	assert_int_equal(f.opcode, MORTISE_OP_COPY);
	assert_faults(MORTISE_FAULT_ADDRESS,
		      (struct mortise_copy){ op(MORTISE_OP_COPY), AT(0), AT(END - 7), 8 });
	assert_faults(MORTISE_FAULT_ADDRESS,
		      (struct mortise_copy){ op(MORTISE_OP_COPY), ring, AT(0), 8 });
	assert_faults(MORTISE_FAULT_ADDRESS,
		      (struct mortise_copy){ op(MORTISE_OP_COPY), 0, AT(0), 8 });
	assert_faults(MORTISE_FAULT_ADDRESS,
		      (struct mortise_copy){ op(MORTISE_OP_COPY), AT(0), AT(8), UINT64_MAX });
	assert_faults(MORTISE_FAULT_ADDRESS,
		      (struct mortise_copy){ op(MORTISE_OP_COPY), UINT64_MAX - 3, AT(8), 8 });
	assert_faults(MORTISE_FAULT_ADDRESS,
		      (struct mortise_fill){ op(MORTISE_OP_FILL), AT(0) + (UINT64_C(1) << 32), 8, 0,
					     1, 0 });
	assert_faults(MORTISE_FAULT_ADDRESS,
		      (struct mortise_semaphore){ op(MORTISE_OP_SIGNAL), window_end, 7, 0 });
	assert_faults(MORTISE_FAULT_ADDRESS,
		      (struct mortise_semaphore){ op(MORTISE_OP_SIGNAL), AT(2), 7, 0 });
	assert_faults(MORTISE_FAULT_ADDRESS,
		      (struct mortise_timestamp){ op(MORTISE_OP_TIMESTAMP), AT(4) });
	assert_faults(MORTISE_FAULT_ADDRESS,
		      (struct mortise_selftest){ op(MORTISE_OP_SELFTEST), AT(END - 8), 16 });
	assert_faults(MORTISE_FAULT_ADDRESS,
		      (struct mortise_vector){ .header = op(MORTISE_OP_VECTOR),
					       .to = AT(0),
					       .a = AT(0),
					       .count = UINT32_MAX,
					       .type = MORTISE_INT32 });
}

static void fields_out_of_range_are_refused(void)
{
	struct mortise_gemm gemm = { .header = op(MORTISE_OP_GEMM),
				     .to = AT(0),
				     .a = AT(0),
				     .b = AT(0),
				     .m = 1,
				     .n = 1,
				     .k = 1,
				     .a_stride = 1,
				     .b_stride = 1,
				     .to_stride = 4 };
	struct mortise_fault f;

	f = assert_faults(MORTISE_FAULT_FIELD,
			  (struct mortise_fill){ op(MORTISE_OP_FILL), AT(0), 8, 0, 3, 0 });
	assert_int_equal(f.detail, offsetof(struct mortise_fill, width));
	assert_faults(MORTISE_FAULT_FIELD,
		      (struct mortise_fill){ op(MORTISE_OP_FILL), AT(0), 7, 0, 2, 0 });
	assert_faults(MORTISE_FAULT_FIELD,
		      (struct mortise_fill){ op(MORTISE_OP_FILL), AT(0), 8, 0, 2, 1 });
	assert_faults(MORTISE_FAULT_FIELD,
		      (struct mortise_vector){ .header = op(MORTISE_OP_VECTOR),
					       .to = AT(0),
					       .a = AT(0),
					       .count = 1,
					       .operation = MORTISE_VECTOR_COUNT });
	assert_faults(MORTISE_FAULT_FIELD, (struct mortise_vector){ .header = op(MORTISE_OP_VECTOR),
								    .to = AT(0),
								    .a = AT(0),
								    .count = 1,
								    .type = MORTISE_TYPE_COUNT });
	gemm.k = 0;
	assert_faults(MORTISE_FAULT_FIELD, gemm);
	gemm.k = 2;
	f = assert_faults(MORTISE_FAULT_FIELD, gemm);
	assert_int_equal(f.detail, offsetof(struct mortise_gemm, a_stride));
	gemm.k = 1;
	gemm.multiplier = 1;
	f = assert_faults(MORTISE_FAULT_FIELD, gemm);
	assert_int_equal(f.detail, offsetof(struct mortise_gemm, shift));
}

static void a_matrix_as_large_as_numbers_allow_is_refused(void)
{
	struct mortise_gemm gemm = { .header = op(MORTISE_OP_GEMM),
				     .to = AT(0),
				     .a = AT(0),
				     .b = AT(0),
				     .m = UINT32_MAX,
				     .n = UINT32_MAX / 4,
				     .k = UINT32_MAX,
				     .a_stride = UINT32_MAX,
				     .b_stride = UINT32_MAX,
				     .to_stride = UINT32_MAX - 3 };

	assert_faults(MORTISE_FAULT_ADDRESS, gemm);
}

static void unknown_packets_are_refused(void)
{
	struct mortise_fault f;

	f = assert_faults(MORTISE_FAULT_OPCODE,
			  (struct mortise_header){ MORTISE_OP_COUNT, 0, 0, 0 });
	assert_int_equal(f.opcode, MORTISE_OP_COUNT);
	assert_faults(MORTISE_FAULT_OPCODE, (struct mortise_header){ 255, 0, 0, 0 });
	/* too short, too long */
	assert_faults(MORTISE_FAULT_FIELD, (struct mortise_header){ MORTISE_OP_COPY, 0, 0, 0 });
	assert_faults(MORTISE_FAULT_FIELD, (struct mortise_timestamp){ op(MORTISE_OP_BARRIER), 0 });
}

const struct hil_case hil_packet_cases[] = {
	HIL_CASE(the_device_says_what_it_is),
	HIL_CASE(a_copy_copies),
	HIL_CASE(ranges_of_a_copy_may_overlap),
	HIL_CASE(a_fill_repeats_its_pattern),
	HIL_CASE(a_signal_writes_and_a_wait_lets_pass),
	HIL_CASE(a_wait_holds_what_is_behind_it),
	HIL_CASE(timestamps_grow),
	HIL_CASE(vector_operations_saturate_int8_and_wrap_int32),
	HIL_CASE(a_self_test_passes),
	HIL_CASE(ranges_that_leave_their_region_are_refused),
	HIL_CASE(fields_out_of_range_are_refused),
	HIL_CASE(a_matrix_as_large_as_numbers_allow_is_refused),
	HIL_CASE(unknown_packets_are_refused),
	{ NULL, NULL },
};
