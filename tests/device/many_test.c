/* SPDX-License-Identifier: MIT */
/* As many devices, queues and types of devices as there is room for, and one more. */
#include <stdio.h>

#include "runtime/device/device_table.h"
#include "runtime/device/device_thread.h"
#include "tests/device/fake_device.h"

#define MANY 12 /* queues: more than lists hold before they allocate */

static int open_numbered(int number)
{
	struct tenon_device *d;
	char uri[32];
	int err;

	snprintf(uri, sizeof(uri), "fake:0?mode=%d", number);
	err = tenon_device_open(uri, &d);
	tenon_object_unref(d);
	return err;
}

/* Open devices until the table is full. Return: how many were opened */
static int fill_table(void)
{
	char words[64];
	int count = 0;

	snprintf(words, sizeof(words), "%d devices are open; no more can be", DEVICES_MOST);
	while (count <= DEVICES_MOST && !open_numbered(count))
		count++;
	assert_error_has(words);
	return count;
}

static void one_device_more_than_there_is_room_for_is_refused(void **state)
{
	struct tenon_device *d;

	(void)state;
	assert_int_equal(fill_table(), DEVICES_MOST);
	assert_int_equal(tenon_device_open("fake:1", &d), -TENON_E_DEVICE);
	assert_null(d);
	/* those that are open are found */
	assert_int_equal(open_numbered(DEVICES_MOST - 1), 0);
	tenon_device_close_all();
	assert_int_equal(open_numbered(DEVICES_MOST), 0);
}

static void a_device_whose_place_was_given_away_is_not_reopened(void **state)
{
	struct tenon_device *old = fake_open("fake:1", NULL), *fresh;

	(void)state;
	tenon_device_close_all();
	assert_int_equal(fill_table(), DEVICES_MOST);
	assert_int_equal(tenon_device_reopen(old, &fresh), -TENON_E_DEVICE);
	assert_null(fresh);
	assert_error_has("no more can be");
	tenon_device_close_all();
	assert_int_equal(tenon_device_reopen(old, &fresh), 0);
	assert_int_equal(fresh->index, 1);
	tenon_object_unref(fresh);
	tenon_object_unref(old);
}

static void a_device_whose_number_was_given_away_is_not_reopened(void **state)
{
	struct tenon_device *old = fake_open("fake:0?mode=a", NULL), *other, *same, *fresh;

	(void)state;
	tenon_device_close_all();
	other = fake_open("fake:0?mode=b", NULL);
	assert_int_equal(other->id.device_id, old->id.device_id);
	assert_int_equal(tenon_device_reopen(old, &fresh), -TENON_E_DEVICE);
	assert_null(fresh);
	assert_error_has("fake:2 was closed, and is another device by now");
	/* it is not lost for that: its own name still opens it, with another number */
	same = fake_open("fake:0?mode=a", NULL);
	assert_int_not_equal(same->id.device_id, old->id.device_id);
	assert_int_equal(tenon_device_reopen(old, &fresh), -TENON_E_DEVICE);
	assert_null(fresh);
	tenon_object_unref(same);
	tenon_object_unref(other);
	/* the number is free, and the device open under another one: it is opened once */
	tenon_device_close_all();
	other = fake_open("fake:0?mode=b", NULL);
	same = fake_open("fake:0?mode=a", NULL);
	tenon_object_unref(old);
	old = same;
	tenon_object_unref(other);
	tenon_device_close_all();
	same = fake_open("fake:0?mode=a", NULL);
	assert_int_not_equal(same->id.device_id, old->id.device_id);
	assert_int_equal(tenon_device_reopen(old, &fresh), 0);
	assert_ptr_equal(fresh, same);
	tenon_object_unref(fresh);
	tenon_object_unref(same);
	tenon_object_unref(old);
}

/* ---- a backend that opens while the last place is taken */

static bool others_come;

static int open_as(int32_t type, const struct tenon_device_choice *choice,
		   struct tenon_device **out)
{
	int err = fake_backend.open(choice, out);

	if (!err)
		(*out)->id.device_type = (DLDeviceType)type;
	return err;
}

static int open_busily(const struct tenon_device_choice *choice, struct tenon_device **out)
{
	if (others_come)
		fill_table();
	others_come = false;
	tenon_error_clear();
	return open_as(75, choice, out);
}

static void a_place_that_is_taken_while_a_device_opens_is_an_error(void **state)
{
	static struct tenon_backend b;
	struct tenon_device *d, *fresh;

	(void)state;
	b = fake_backend;
	b.name = "busy";
	b.device_type = 75;
	b.flags = TENON_BACKEND_CONCURRENT_OPEN;
	b.open = open_busily;
	assert_int_equal(tenon_backend_register(&b), 0);
	others_come = true;
	assert_int_equal(tenon_device_open("busy:0?mode=a", &d), -TENON_E_DEVICE);
	assert_null(d);
	assert_error_has("no more can be");
	tenon_device_close_all();
	/* a device that is not in the table any more, when it is opened again */
	d = fake_open("busy:0?mode=a", NULL);
	tenon_device_close_all();
	others_come = true;
	assert_int_equal(tenon_device_reopen(d, &fresh), -TENON_E_DEVICE);
	assert_null(fresh);
	assert_error_has("no more can be");
	tenon_object_unref(d);
}

/* ---- queues */

static void give(struct tenon_queue *q, struct tenon_memory *m)
{
	assert_int_equal(tenon_queue_fill(q, m, 0, 16, 0, 4, NULL), 0);
}

static void a_sync_and_memory_wait_for_each_of_many_queues(void **state)
{
	const struct tenon_memory_request request = { sizeof(request), 64, TENON_MEMORY_DEFAULT, -1,
						      NULL };
	struct tenon_device *d = fake_open("fake:0", NULL);
	struct tenon_queue *queues[MANY];
	struct tenon_memory *m;
	int i;

	(void)state;
	assert_int_equal(tenon_memory_alloc(d, &request, &m), 0);
	for (i = 0; i < MANY; i++) {
		assert_int_equal(tenon_queue_create(d, &queues[i]), 0);
		give(queues[i], m);
	}
	tenon_object_unref(m);
	for (i = 0; i < MANY; i++) {
		assert_int_equal(tenon_device_sync(d, 0), -TENON_E_TIMEOUT);
		assert_int_equal(fake.frees, 0);
		fake_finish(queues[i]);
	}
	assert_int_equal(tenon_device_sync(d, 0), 0);
	assert_int_equal(fake.frees, 1);
	tenon_error_clear();
	/* the last one as a stream that code of others chose by its address */
	assert_int_equal(device_thread_set_stream(d->id, queues[MANY - 1], NULL), 0);
	assert_ptr_equal(device_thread_stream(d->id), queues[MANY - 1]);
	for (i = 0; i < MANY; i++) {
		struct tenon_queue *current;

		assert_int_equal(tenon_queue_current(d, &current), 0);
		assert_ptr_equal(current, queues[MANY - 1]);
	}
	assert_int_equal(tenon_queue_set_current(d, NULL), 0);
	for (i = 0; i < MANY; i++)
		tenon_object_unref(queues[i]);
	tenon_object_unref(d);
}

/* ---- types of devices */

static int32_t next_type;

static int open_next(const struct tenon_device_choice *choice, struct tenon_device **out)
{
	return open_as(next_type, choice, out);
}

static void a_thread_uses_more_types_of_devices_than_it_has_places(void **state)
{
	static struct tenon_backend b[DEVICE_PLACES + 2];
	static char names[DEVICE_PLACES + 2][8];
	struct device_place *p;
	int i, round;

	(void)state;
	for (i = 0; i < DEVICE_PLACES + 2; i++) {
		b[i] = fake_backend;
		snprintf(names[i], sizeof(names[i]), "type%d", i);
		b[i].name = names[i];
		b[i].device_type = 80 + i;
		b[i].open = open_next;
		assert_int_equal(tenon_backend_register(&b[i]), 0);
	}
	for (round = 0; round < 2; round++)
		for (i = 0; i < DEVICE_PLACES + 2; i++) {
			next_type = 80 + i;
			assert_int_equal(device_place_get(next_type, &p), 0);
			assert_int_equal(p->device->id.device_type, 80 + i);
			assert_ptr_equal(p->queue->device, p->device);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(one_device_more_than_there_is_room_for_is_refused,
				       fake_reset),
		cmocka_unit_test_setup(a_device_whose_number_was_given_away_is_not_reopened,
				       fake_reset),
		cmocka_unit_test_setup(a_device_whose_place_was_given_away_is_not_reopened,
				       fake_reset),
		cmocka_unit_test_setup(a_place_that_is_taken_while_a_device_opens_is_an_error,
				       fake_reset),
		cmocka_unit_test_setup(a_sync_and_memory_wait_for_each_of_many_queues, fake_reset),
		cmocka_unit_test_setup(a_thread_uses_more_types_of_devices_than_it_has_places,
				       fake_reset),
	};

	return cmocka_run_group_tests_name("many devices", tests, fake_setup, fake_reset);
}
