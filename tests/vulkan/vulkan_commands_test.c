/* SPDX-License-Identifier: MIT */
/* Recordings: written once, run often, with what each run binds. */
#include "tests/vulkan/vulkan_rig.h"

static struct rig *const rig = &rig_now;

/* out = in + 1, a barrier, in = out: each run adds one */
static struct tenon_commands *counting(const struct rig_kernel *k, struct tenon_memory *const *m,
				       const int32_t *slots)
{
	const uint32_t one = 1;
	uint64_t arguments[RIG_ARGUMENTS];
	struct tenon_dispatch dispatch;
	struct tenon_operation op = rig_operation(&dispatch, k, 64, m, &one, arguments);
	struct tenon_range from = tenon_range(m ? m[0] : NULL, 0),
			   to = tenon_range(m ? m[1] : NULL, 0);
	struct tenon_commands *c;

	if (slots) {
		dispatch.slots = slots;
		from = tenon_slot(0, 0);
		to = tenon_slot(1, 0);
	}
	assert_int_equal(tenon_commands_create(rig->device, &c), 0);
	assert_int_equal(tenon_commands_record(c, &op), 0);
	assert_int_equal(tenon_commands_barrier(c), 0);
	assert_int_equal(tenon_commands_copy(c, to, from, 256), 0);
	assert_int_equal(tenon_commands_finish(c), 0);
	return c;
}

static void a_recording_is_written_once_and_run_often(void **state)
{
	struct tenon_memory *m[2];
	struct tenon_commands *c;
	struct rig_kernel k;
	int i, records;

	(void)state;
	rig_needs_device();
	rig_sum(rig, &k, 2, 2, false);
	m[0] = rig_memory(rig, 64, 0, 0);
	m[1] = rig_memory(rig, 64, 10, 2);
	c = counting(&k, m, NULL);
	records = rig->fake->records;
	assert_int_equal(records, 1);
	for (i = 0; i < 300; i++)
		assert_int_equal(tenon_queue_execute(rig->queue, c, NULL, 0, NULL), 0);
	/* it outlives its last reference while it runs */
	tenon_object_unref(c);
	rig_expect(rig, m[1], 64, 310, 2);
	assert_int_equal(rig->fake->records, records);
	tenon_object_unref(m[0]);
	tenon_object_unref(m[1]);
	rig_drop(&k);
}

static void a_recording_in_a_block_of_scalars_works_too(void **state)
{
	struct tenon_memory *m[2];
	struct tenon_commands *c;
	struct rig_kernel k;
	int i;

	(void)state;
	rig_needs_device();
	rig_sum(rig, &k, 2, 2, true);
	m[0] = rig_memory(rig, 64, 0, 0);
	m[1] = rig_memory(rig, 64, 10, 2);
	c = counting(&k, m, NULL);
	for (i = 0; i < 3; i++)
		assert_int_equal(tenon_queue_execute(rig->queue, c, NULL, 0, NULL), 0);
	rig_expect(rig, m[1], 64, 13, 2);
	tenon_object_unref(c);
	tenon_object_unref(m[0]);
	tenon_object_unref(m[1]);
	rig_drop(&k);
}

static void slots_take_what_each_run_binds(void **state)
{
	const int32_t slots[] = { 0, 1, -1, -1 };
	struct tenon_memory *none[2] = { NULL, NULL }, *m[7][2];
	struct tenon_commands *c;
	struct rig_kernel k;
	uint32_t i, round;
	int records;

	(void)state;
	rig_needs_device();
	rig_sum(rig, &k, 2, 2, false);
	c = counting(&k, none, slots);
	for (i = 0; i < 7; i++) {
		m[i][0] = rig_memory(rig, 64, 0, 0);
		m[i][1] = rig_memory(rig, 64, 100 * i, 1);
	}
	/* two sets in turn are written once each */
	for (round = 0; round < 4; round++)
		for (i = 0; i < 2; i++)
			assert_int_equal(tenon_queue_execute(rig->queue, c, m[i], 2, NULL), 0);
	records = rig->fake->records;
	assert_int_equal(records, 2);
	/* more than are kept are still right */
	for (round = 0; round < 3; round++)
		for (i = 0; i < 7; i++)
			assert_int_equal(tenon_queue_execute(rig->queue, c, m[i], 2, NULL), 0);
	for (i = 0; i < 7; i++)
		rig_expect(rig, m[i][1], 64, 100 * i + 3 + (i < 2 ? 4 : 0), 1);
	/* memory that comes anew is not taken for what was there before */
	for (round = 0; round < 5; round++) {
		tenon_object_unref(m[0][1]);
		m[0][1] = rig_memory(rig, 64, 5000, 1);
		assert_int_equal(tenon_queue_execute(rig->queue, c, m[0], 2, NULL), 0);
		rig_expect(rig, m[0][1], 64, 5001, 1);
	}
	for (i = 0; i < 7; i++) {
		tenon_object_unref(m[i][0]);
		tenon_object_unref(m[i][1]);
	}
	tenon_object_unref(c);
	rig_drop(&k);
}

static void a_slot_too_small_for_its_range_is_refused(void **state)
{
	const int32_t slots[] = { 0, 1, -1, -1 };
	struct tenon_memory *none[2] = { NULL, NULL }, *m[2];
	struct tenon_commands *c;
	struct rig_kernel k;

	(void)state;
	rig_needs_device();
	rig_sum(rig, &k, 2, 2, false);
	c = counting(&k, none, slots);
	m[0] = rig_memory(rig, 64, 0, 0);
	m[1] = rig_memory(rig, 63, 0, 0);
	assert_int_equal(tenon_queue_execute(rig->queue, c, m, 2, NULL), -TENON_E_VALUE);
	assert_error_has("256 bytes at 0");
	rig_sync();
	tenon_object_unref(c);
	tenon_object_unref(m[0]);
	tenon_object_unref(m[1]);
	rig_drop(&k);
}

int main(void)
{
	static const struct CMUnitTest cases[] = {
		RIG_CASE(a_recording_is_written_once_and_run_often),
		RIG_CASE(a_recording_in_a_block_of_scalars_works_too),
		RIG_CASE(slots_take_what_each_run_binds),
		RIG_CASE(a_slot_too_small_for_its_range_is_refused),
	};

	return rig_group("Vulkan recordings", cases, sizeof(cases) / sizeof(cases[0]));
}
