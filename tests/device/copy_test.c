/* SPDX-License-Identifier: MIT */
/* Tensors go between any two of the devices that are here, whatever their backends. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/suite.h"
#include "tests/vulkan/vulkan_environment.h"

#include <tenon/backend/memory.h>
#include <tenon/backend/queue.h>

#define BYTES  5000000 /* more than what goes through the host at once */
#define PLACES 8

static struct tenon_device *places[PLACES];
static size_t place_count;

static int open_first(void *context, const struct tenon_backend *b)
{
	uint32_t count;

	(void)context;
	if (tenon_backend_count(b, &count) || !count || place_count == PLACES ||
	    tenon_device_open(b->name, &places[place_count])) {
		print_message("# %s is not here: %s\n", b->name, tenon_error_message());
		tenon_error_clear();
		return 0;
	}
	place_count++;
	return 0;
}

static int open_all(void **state)
{
	(void)state;
	tenon_backend_each(open_first, NULL);
	if (!tenon_device_open("cpu?queue=worker", &places[place_count]))
		place_count++;
	tenon_error_clear();
	return 0;
}

static int close_all(void **state)
{
	(void)state;
	while (place_count--)
		tenon_object_unref(places[place_count]);
	tenon_device_close_all();
	return 0;
}

static struct tenon_tensor *tensor(DLDevice device, int64_t bytes)
{
	struct tenon_tensor *t = NULL;
	int err =
		tenon_tensor_create_on(device, &bytes, 1, tenon_dtype(TENON_DTYPE_UINT, 8, 1), &t);

	if (err)
		print_error("%s\n", tenon_error_message());
	assert_int_equal(err, 0);
	return t;
}

/* @count bytes of a tensor from @offset on */
static DLTensor window(const struct tenon_tensor *t, uint64_t offset, int64_t *count)
{
	DLTensor w = t->dl;

	w.shape = count;
	w.byte_offset = offset;
	return w;
}

static void copy(const DLTensor *from, const DLTensor *to)
{
	int err = tenon_tensor_copy(from, to);

	if (err)
		print_error("%s:%d to %s:%d: %s\n", tenon_device_name(from->device.device_type),
			    from->device.device_id, tenon_device_name(to->device.device_type),
			    to->device.device_id, tenon_error_message());
	assert_int_equal(err, 0);
}

static void there_and_back(DLDevice a, DLDevice b, int64_t size)
{
	const DLDevice cpu = { kDLCPU, 0 };
	struct tenon_tensor *from = tensor(cpu, size), *back = tensor(cpu, size);
	struct tenon_tensor *first = tensor(a, size + 64), *second = tensor(b, size + 64);
	DLTensor on_first = window(first, 13, &size), on_second = window(second, 52, &size);
	uint8_t *bytes = from->dl.data;
	int64_t i;

	for (i = 0; i < size; i++)
		bytes[i] = (uint8_t)(i * 31 + i / 251);
	copy(&from->dl, &on_first);
	copy(&on_first, &on_second);
	copy(&on_second, &back->dl);
	assert_memory_equal(bytes, back->dl.data, (size_t)size);
	tenon_object_unref(from);
	tenon_object_unref(back);
	tenon_object_unref(first);
	tenon_object_unref(second);
}

static void each_device_hands_its_bytes_to_each_at_any_offset(void **state)
{
	size_t i, j;

	(void)state;
	assert_true(place_count > 0);
	for (i = 0; i < place_count; i++)
		for (j = 0; j < place_count; j++) {
			there_and_back(places[i]->id, places[j]->id, 1);
			there_and_back(places[i]->id, places[j]->id, 4099);
		}
}

static void what_is_larger_than_a_piece_arrives_whole(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < place_count; i++)
		there_and_back(places[i]->id, places[(i + 1) % place_count]->id, BYTES);
}

static void a_copy_comes_behind_what_the_device_was_given(void **state)
{
	const DLDevice cpu = { kDLCPU, 0 };
	size_t i;

	(void)state;
	for (i = 0; i < place_count; i++) {
		struct tenon_tensor *t = tensor(places[i]->id, BYTES / 4 * 4),
				    *back = tensor(cpu, BYTES / 4 * 4);
		struct tenon_memory *m, room;
		struct tenon_queue *q;
		uint32_t n;

		/* memory of the processor's own lies on no queue */
		if (places[i]->id.device_type == kDLCPU && !places[i]->id.device_id) {
			tenon_object_unref(t);
			tenon_object_unref(back);
			continue;
		}
		assert_int_equal(tenon_memory_of_data(places[i], t->dl.data, &room, &m), 0);
		assert_int_equal(tenon_queue_create(places[i], &q), 0);
		for (n = 0; n < 10; n++)
			assert_int_equal(tenon_queue_fill(q, m, 0, BYTES / 4 * 4, n, 1, NULL), 0);
		copy(&t->dl, &back->dl);
		assert_int_equal(((uint8_t *)back->dl.data)[0], 9);
		assert_int_equal(((uint8_t *)back->dl.data)[BYTES / 4 * 4 - 1], 9);
		tenon_object_unref(q);
		tenon_object_unref(t);
		tenon_object_unref(back);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_device_hands_its_bytes_to_each_at_any_offset),
		cmocka_unit_test(what_is_larger_than_a_piece_arrives_whole),
		cmocka_unit_test(a_copy_comes_behind_what_the_device_was_given),
	};

	vulkan_environment(NULL);
	return cmocka_run_group_tests_name("copies between devices", tests, open_all, close_all);
}
