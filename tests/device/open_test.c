/* SPDX-License-Identifier: MIT */
/* Open devices by number, name, UUID, keys and place; reopen those that were lost. */
#include "tests/device/fake_device.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>

static void opened(const char *uri, uint32_t index)
{
	struct tenon_device *d = fake_open(uri, NULL);

	if (d->index != index)
		print_error("%s: device %u, want %u\n", uri, d->index, index);
	assert_int_equal(d->index, index);
	tenon_object_unref(d);
}

static void refused(const char *uri, int status, const char *text)
{
	struct tenon_device *d;

	assert_int_equal(tenon_device_open(uri, &d), status);
	assert_null(d);
	assert_error_has(text);
}

static void a_device_is_named_by_number_name_and_uuid(void **state)
{
	(void)state;
	opened("fake", 0);
	opened("fake:1", 1);
	opened("fake://1", 1);
	opened("fake://second", 1);
	opened("fake://Fake", 0);
	opened("fake://uuid:b0b1b2b3b4b5b6b7b8b9babbbcbdbebf", 1);
	opened("fake://uuid:B0B1B2B3-B4B5-B6B7-B8B9-BABBBCBDBEBF", 1);
	opened("fake://uuid:a0a1a2a3-a4a5-a6a7-a8a9-aaabacadaeaf", 0);
}

static void a_device_that_does_not_exist_is_said_so(void **state)
{
	(void)state;
	refused("fake:2", -TENON_E_DEVICE, "fake:2: fake has 2 devices");
	refused("fake://third", -TENON_E_DEVICE,
		"none of the 2 devices of fake has a name, driver or uuid with \"third\"");
	refused("fake://uuid:b0", -TENON_E_DEVICE, "none of the 2 devices");
	refused("nobody:0", -TENON_E_DEVICE, "no device \"nobody\". Those it has: ");
	refused("nobody:0", -TENON_E_DEVICE, "fake");
}

static void a_backend_that_does_not_work_gives_its_reason(void **state)
{
	(void)state;
	fake.count_fails = true;
	refused("fake", -TENON_E_DEVICE, "libfake.so.1 is not installed");
	fake.count_fails = false;
	/* installed meanwhile */
	fake.open_fails = 1;
	refused("fake:1", -TENON_E_DEVICE, "fake:1: the fake is busy");
	opened("fake:1", 1);
}

static void a_device_is_opened_once(void **state)
{
	struct tenon_device *a = fake_open("fake:1", NULL), *b = fake_open("fake://second", NULL),
			    *c;

	(void)state;
	assert_ptr_equal(a, b);
	assert_int_equal(tenon_device_get(a->id, &c), 0);
	assert_ptr_equal(a, c);
	tenon_object_unref(a);
	tenon_object_unref(b);
	tenon_object_unref(c);
}

static void keys_open_an_instance_of_its_own_behind_the_others(void **state)
{
	struct tenon_device *plain = fake_open("fake:0", NULL);
	struct tenon_device *a = fake_open("fake:0?mode=a", NULL), *again, *by_number;
	struct tenon_device *b = fake_open("fake:0?mode=b", NULL);

	(void)state;
	assert_ptr_not_equal(a, plain);
	assert_ptr_not_equal(a, b);
	assert_int_equal(a->id.device_id, 2);
	assert_int_equal(b->id.device_id, 3);
	assert_int_equal(a->index, 0);
	again = fake_open("fake://0?mode=a", NULL);
	assert_ptr_equal(again, a);
	assert_int_equal(tenon_device_get(b->id, &by_number), 0);
	assert_ptr_equal(by_number, b);
	refused("fake:0?mood=good", -TENON_E_VALUE, "fake:0: fake has no key \"mood\"");
	tenon_object_unref(plain);
	tenon_object_unref(a);
	tenon_object_unref(b);
	tenon_object_unref(again);
	tenon_object_unref(by_number);
}

static void a_lost_device_is_reopened_with_its_keys_and_number(void **state)
{
	struct tenon_device *a = fake_open("fake:1?mode=a", NULL), *fresh, *found;

	(void)state;
	tenon_error(-TENON_E_DEVICE, "fell off the bus");
	assert_int_equal(tenon_device_lose(a, -TENON_E_DEVICE), -TENON_E_LOST);
	assert_error("fake:2 is lost: fell off the bus. Reopen it");
	/* losing it again changes nothing */
	tenon_error(-TENON_E_DEVICE, "something else");
	tenon_device_lose(a, -TENON_E_DEVICE);
	assert_error_has("fell off the bus");
	fake.open_fails = 1;
	assert_int_equal(tenon_device_reopen(a, &fresh), -TENON_E_DEVICE);
	assert_null(fresh);
	assert_int_equal(tenon_device_reopen(a, &fresh), 0);
	assert_ptr_not_equal(fresh, a);
	assert_int_equal(fresh->index, 1);
	assert_int_equal(fresh->id.device_id, 2);
	found = fake_open("fake:1?mode=a", NULL);
	assert_ptr_equal(found, fresh);
	tenon_object_unref(found);
	/* the old one asked a second time gives the same */
	assert_int_equal(tenon_device_reopen(a, &found), 0);
	assert_ptr_equal(found, fresh);
	tenon_object_unref(found);
	tenon_object_unref(fresh);
	tenon_object_unref(a);
}

/* ---- a backend with devices that it cannot list, and that can be reset */

static char placed[64];
static int resets;

static int reset_placed(struct tenon_device *device)
{
	assert_int_equal(tenon_device_check(device), -TENON_E_LOST);
	tenon_error_clear();
	resets++;
	return 0;
}

static int open_placed(const struct tenon_device_choice *choice, struct tenon_device **out)
{
	static struct tenon_device_ops ops;
	struct tenon_device_choice first = *choice;
	int err;

	if (choice->place.size) {
		assert_int_equal(choice->index, UINT32_MAX);
		snprintf(placed, sizeof(placed), "%.*s", (int)choice->place.size,
			 choice->place.data);
		first.index = 0;
	}
	if (!strcmp(placed, "shelf/nothing"))
		return tenon_error(-TENON_E_DEVICE, "nothing is there");
	err = fake_backend.open(&first, out);
	if (err)
		return err;
	(*out)->index = choice->index;
	ops = *(*out)->ops;
	ops.reset = reset_placed;
	(*out)->ops = &ops;
	return 0;
}

static void a_place_is_the_backends_to_find(void **state)
{
	static struct tenon_backend b;
	struct tenon_device *a, *other, *again, *fresh;

	(void)state;
	b = fake_backend;
	b.name = "placed";
	b.device_type = 72;
	b.flags = TENON_BACKEND_PLACES;
	b.open = open_placed;
	assert_int_equal(tenon_backend_register(&b), 0);
	opened("placed:1", 1);
	opened("placed://second", 1);
	refused("placed:2", -TENON_E_DEVICE, "placed has 2 devices");
	assert_string_equal(placed, "");
	refused("placed://shelf/nothing", -TENON_E_DEVICE, "nothing is there");
	a = fake_open("placed://shelf/a%20b?mode=a", NULL);
	assert_string_equal(placed, "shelf/a b");
	other = fake_open("placed://shelf/c?mode=a", NULL);
	again = fake_open("placed://shelf/a%20b?mode=a", NULL);
	assert_ptr_not_equal(a, other);
	assert_ptr_equal(a, again);
	tenon_object_unref(again);
	/* a reset loses the device, and opens the same place */
	assert_int_equal(tenon_device_reset(a, &fresh), 0);
	assert_int_equal(resets, 1);
	assert_string_equal(placed, "shelf/a b");
	assert_int_equal(tenon_device_check(a), -TENON_E_LOST);
	assert_error_has("reset");
	assert_int_equal(tenon_device_check(fresh), 0);
	assert_int_equal(tenon_device_check(other), 0);
	tenon_object_unref(fresh);
	tenon_object_unref(other);
	tenon_object_unref(a);
}

/* ---- a backend whose devices take long to open */

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int entered; /* threads that came into open */
	int opened;
	bool go_on;
} slow = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

/* Wait for a condition for at most a minute, so that a failing test ends. Caller holds slow.lock. */
static void slow_wait(const bool *condition, int entered)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += 60;
	while (condition ? !*condition : slow.entered < entered)
		if (pthread_cond_timedwait(&slow.changed, &slow.lock, &end))
			return;
}

static int open_slowly(const struct tenon_device_choice *choice, struct tenon_device **out)
{
	int err;

	pthread_mutex_lock(&slow.lock);
	slow.entered++;
	pthread_cond_broadcast(&slow.changed);
	slow_wait(&slow.go_on, 0);
	err = fake_backend.open(choice, out);
	slow.opened += !err;
	pthread_mutex_unlock(&slow.lock);
	return err;
}

static void *open_in_thread(void *uri)
{
	struct tenon_device *d;

	return tenon_device_open(uri, &d) ? NULL : d;
}

static void *reopen_in_thread(void *lost)
{
	struct tenon_device *d;

	return tenon_device_reopen(lost, &d) ? NULL : d;
}

/* Two threads open the same device: each is in open, and other devices can be opened. */
static struct tenon_device *open_twice(void *(*in_thread)(void *argument), void *argument)
{
	pthread_t threads[2];
	void *found[2];
	int i;

	slow.entered = slow.opened = 0;
	slow.go_on = false;
	for (i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, in_thread, argument), 0);
	pthread_mutex_lock(&slow.lock);
	slow_wait(NULL, 2);
	pthread_mutex_unlock(&slow.lock);
	opened("fake:1", 1);
	pthread_mutex_lock(&slow.lock);
	/* none has left it */
	assert_int_equal(slow.entered, 2);
	assert_int_equal(slow.opened, 0);
	slow.go_on = true;
	pthread_cond_broadcast(&slow.changed);
	pthread_mutex_unlock(&slow.lock);
	for (i = 0; i < 2; i++)
		assert_int_equal(pthread_join(threads[i], &found[i]), 0);
	assert_int_equal(slow.opened, 2);
	assert_non_null(found[0]);
	assert_ptr_equal(found[0], found[1]);
	tenon_object_unref(found[1]);
	return found[0];
}

static void a_device_that_opens_slowly_stops_no_other(void **state)
{
	static char uri[] = "slow:0?mode=a";
	static struct tenon_backend b;
	struct tenon_device *a, *fresh;

	(void)state;
	b = fake_backend;
	b.name = "slow";
	b.device_type = 73;
	b.flags = TENON_BACKEND_CONCURRENT_OPEN;
	b.open = open_slowly;
	assert_int_equal(tenon_backend_register(&b), 0);
	a = open_twice(open_in_thread, uri);
	assert_int_equal(a->id.device_id, 2);
	tenon_error(-TENON_E_DEVICE, "gone");
	tenon_device_lose(a, -TENON_E_DEVICE);
	tenon_error_clear();
	fresh = open_twice(reopen_in_thread, a);
	assert_ptr_not_equal(fresh, a);
	assert_int_equal(fresh->id.device_id, 2);
	assert_int_equal(tenon_device_check(fresh), 0);
	tenon_object_unref(fresh);
	tenon_object_unref(a);
}

static void a_device_that_cannot_be_reset_goes_on(void **state)
{
	struct tenon_device *a = fake_open("fake:0", NULL), *fresh = a;

	(void)state;
	assert_int_equal(tenon_device_reset(a, &fresh), -TENON_E_UNSUPPORTED);
	assert_error_has("fake:0 cannot be reset");
	assert_null(fresh);
	assert_int_equal(tenon_device_check(a), 0);
	tenon_object_unref(a);
}

static void half_a_backend_is_not_registered(void **state)
{
	static struct tenon_backend b;

	(void)state;
	b = fake_backend;
	assert_int_equal(tenon_backend_register(&b), -TENON_E_EXISTS);
	assert_error("backend \"fake\" (device type 70): name or type is taken");
	b.name = "other";
	assert_int_equal(tenon_backend_register(&b), -TENON_E_EXISTS);
	b.device_type = 71;
	b.abi = TENON_PLUGIN_ABI + 1;
	assert_int_equal(tenon_backend_register(&b), -TENON_E_USAGE);
	assert_error_has("this library takes ABI");
	b.abi = TENON_PLUGIN_ABI;
	b.size = offsetof(struct tenon_backend, doctor);
	assert_int_equal(tenon_backend_register(&b), -TENON_E_USAGE);
	b.size = sizeof(b);
	b.name = "a:b";
	assert_int_equal(tenon_backend_register(&b), -TENON_E_USAGE);
	b.name = NULL;
	assert_int_equal(tenon_backend_register(&b), -TENON_E_USAGE);
	b.name = "other";
	b.open = NULL;
	assert_int_equal(tenon_backend_register(&b), -TENON_E_USAGE);
	assert_error_has("count, describe and open");
	tenon_error_clear();
}

static void integer(DLDevice id, int attribute, int64_t want)
{
	struct tenon_value v;

	assert_int_equal(tenon_device_attribute(id, attribute, &v), 0);
	assert_int_equal(v.type, TENON_TYPE_INT);
	assert_int_equal(v.as.integer, want);
}

static void text(DLDevice id, int attribute, const char *want)
{
	struct tenon_slice found;
	struct tenon_value v;

	assert_int_equal(tenon_device_attribute(id, attribute, &v), 0);
	assert_int_equal(tenon_value_text(&v, &found), 0);
	assert_int_equal(found.size, strlen(want));
	assert_memory_equal(found.data, want, found.size);
	tenon_value_release(&v);
}

static void whether_a_device_exists_is_told_without_opening_it(void **state)
{
	const DLDevice id = { (DLDeviceType)FAKE_TYPE, 1 }, nobody = { (DLDeviceType)99, 0 };
	struct tenon_device *d;

	(void)state;
	fake.open_fails = 1;
	integer(id, TENON_ATTRIBUTE_EXISTS, 1);
	assert_int_equal(fake.open_fails, 1);
	integer((DLDevice){ (DLDeviceType)FAKE_TYPE, 2 }, TENON_ATTRIBUTE_EXISTS, 0);
	integer((DLDevice){ (DLDeviceType)FAKE_TYPE, -1 }, TENON_ATTRIBUTE_EXISTS, 0);
	integer(nobody, TENON_ATTRIBUTE_EXISTS, 0);
	fake.count_fails = true;
	integer(id, TENON_ATTRIBUTE_EXISTS, 0);
	assert_string_equal(tenon_error_message(), "");
	fake.count_fails = false;
	fake.open_fails = 0;
	d = fake_open("fake:1", NULL);
	tenon_error(-TENON_E_DEVICE, "gone");
	tenon_device_lose(d, -TENON_E_DEVICE);
	tenon_error_clear();
	integer(id, TENON_ATTRIBUTE_EXISTS, 0);
	tenon_object_unref(d);
}

static void every_attribute_of_tvm_is_answered(void **state)
{
	const DLDevice id = { (DLDeviceType)FAKE_TYPE, 1 }, none = { (DLDeviceType)FAKE_TYPE, 9 };
	struct tenon_value v;

	(void)state;
	integer(id, TENON_ATTRIBUTE_EXISTS, 1);
	integer(none, TENON_ATTRIBUTE_EXISTS, 0);
	integer(id, TENON_ATTRIBUTE_MAX_THREADS, 1024);
	integer(id, TENON_ATTRIBUTE_WARP_SIZE, 32);
	integer(id, TENON_ATTRIBUTE_MAX_SHARED, 49152);
	text(id, TENON_ATTRIBUTE_COMPUTE_VERSION, "9.9");
	text(id, TENON_ATTRIBUTE_NAME, "Fake Second");
	integer(id, TENON_ATTRIBUTE_CLOCK_KHZ, 1700000);
	integer(id, TENON_ATTRIBUTE_PROCESSORS, 84);
	text(id, TENON_ATTRIBUTE_MAX_BLOCK, "[1024, 512, 64]");
	integer(id, TENON_ATTRIBUTE_MAX_REGISTERS, 65536);
	text(id, TENON_ATTRIBUTE_GCN_ARCH, "fk_99");
	integer(id, TENON_ATTRIBUTE_API_VERSION, 12040);
	text(id, TENON_ATTRIBUTE_DRIVER_VERSION, "fake 7.1");
	integer(id, TENON_ATTRIBUTE_L2_BYTES, 6291456);
	integer(id, TENON_ATTRIBUTE_TOTAL_MEMORY, 2000);
	integer(id, TENON_ATTRIBUTE_AVAILABLE_MEMORY, 1500);
	assert_int_equal(tenon_device_attribute(id, 99, &v), 0);
	assert_int_equal(v.type, TENON_TYPE_NONE);
	assert_int_equal(tenon_device_attribute(none, TENON_ATTRIBUTE_NAME, &v), -TENON_E_DEVICE);
	tenon_error_clear();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_device_is_named_by_number_name_and_uuid, fake_reset),
		cmocka_unit_test_setup(a_device_that_does_not_exist_is_said_so, fake_reset),
		cmocka_unit_test_setup(a_backend_that_does_not_work_gives_its_reason, fake_reset),
		cmocka_unit_test_setup(a_device_is_opened_once, fake_reset),
		cmocka_unit_test_setup(keys_open_an_instance_of_its_own_behind_the_others,
				       fake_reset),
		cmocka_unit_test_setup(a_lost_device_is_reopened_with_its_keys_and_number,
				       fake_reset),
		cmocka_unit_test_setup(a_place_is_the_backends_to_find, fake_reset),
		cmocka_unit_test_setup(a_device_that_opens_slowly_stops_no_other, fake_reset),
		cmocka_unit_test_setup(a_device_that_cannot_be_reset_goes_on, fake_reset),
		cmocka_unit_test(half_a_backend_is_not_registered),
		cmocka_unit_test_setup(whether_a_device_exists_is_told_without_opening_it,
				       fake_reset),
		cmocka_unit_test_setup(every_attribute_of_tvm_is_answered, fake_reset),
	};

	return cmocka_run_group_tests_name("opening devices", tests, fake_setup, fake_reset);
}
