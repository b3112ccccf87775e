/* SPDX-License-Identifier: MIT */
/* What host code chooses per thread: devices, streams, workspace. */
#include <pthread.h>
#include <tenon/function.h>
#include <tenon/workspace.h>

#include "runtime/library/context.h"
#include "runtime/library/tvm_table.h"
#include "runtime/device/device_thread.h"
#include "tests/device/fake_device.h"

static const DLDevice first = { (DLDeviceType)FAKE_TYPE, 0 };
static const DLDevice second = { (DLDeviceType)FAKE_TYPE, 1 };

static struct device_place *place(void)
{
	struct device_place *p = NULL;

	assert_int_equal(device_place_get(FAKE_TYPE, &p), 0);
	return p;
}

static void a_thread_chooses_the_device_of_its_kernels(void **state)
{
	(void)state;
	assert_int_equal(place()->device->id.device_id, 0);
	assert_int_equal(device_thread_choose(second), 0);
	assert_int_equal(fake.made_current, 1);
	assert_int_equal(place()->device->id.device_id, 1);
	assert_ptr_equal(place()->queue->device, place()->device);
	/* again: the backend hears of it, nothing else changes */
	assert_int_equal(device_thread_choose(second), 0);
	assert_int_equal(fake.made_current, 2);
	assert_int_equal(device_thread_choose(first), 0);
	assert_int_equal(place()->device->id.device_id, 0);
}

static void host_code_chooses_by_the_name_it_knows(void **state)
{
	struct tenon_function *f = NULL;
	struct tenon_value ret = tenon_arg_none();

	(void)state;
	abi_register_globals();
	assert_int_equal(tenon_function_find("__tvm_set_device", &f), 0);
	assert_int_equal(tenon_call(f, &ret, tenon_arg_int(FAKE_TYPE), tenon_arg_int(1)), 0);
	assert_int_equal(place()->device->id.device_id, 1);
	assert_int_equal(tenon_call(f, &ret, tenon_arg_int(FAKE_TYPE), tenon_arg_int(2)),
			 -TENON_E_DEVICE);
	assert_error_has("fake has 2 devices");
	/* the choice stays */
	assert_int_equal(place()->device->id.device_id, 1);
	assert_int_equal(tenon_call(f, &ret, tenon_arg_int(kDLCPU), tenon_arg_int(0)), 0);
	tenon_object_unref(f);
}

static void a_stream_is_a_queue_its_handle_or_somebody_elses(void **state)
{
	struct tenon_queue *q, *own;
	struct tenon_device *d = fake_open("fake:0", &q);
	void *old = NULL, *foreign = &old;

	(void)state;
	/* nothing was chosen and nothing made yet */
	assert_null(device_thread_stream(first));
	own = place()->queue;
	assert_ptr_equal(device_thread_stream(first), own->native);
	assert_int_equal(device_thread_set_stream(first, q->native, &old), 0);
	assert_ptr_equal(old, own->native);
	assert_ptr_equal(device_thread_stream(first), q->native);
	assert_ptr_equal(place()->queue, q);
	/* a handle that the vendor's own code made */
	assert_int_equal(device_thread_set_stream(first, foreign, &old), 0);
	assert_ptr_equal(old, q->native);
	assert_ptr_equal(place()->queue->native, foreign);
	assert_ptr_not_equal(place()->queue, q);
	/* the same one comes back for it while it lives */
	q->native = q;
	own = place()->queue;
	assert_int_equal(device_thread_set_stream(first, foreign, NULL), 0);
	assert_ptr_equal(place()->queue, own);
	/* back to the thread's own */
	assert_int_equal(device_thread_set_stream(first, NULL, &old), 0);
	assert_ptr_equal(old, foreign);
	assert_ptr_not_equal(place()->queue, own);
	tenon_object_unref(q);
	tenon_object_unref(d);
}

static void a_stream_may_be_set_before_the_device_is_open(void **state)
{
	int handle;

	(void)state;
	assert_int_equal(device_thread_set_stream(second, &handle, NULL), 0);
	assert_ptr_equal(device_thread_stream(second), &handle);
	assert_int_equal(device_thread_choose(second), 0);
	assert_ptr_equal(place()->queue->native, &handle);
	assert_int_equal(device_thread_set_stream(second, NULL, NULL), 0);
	assert_int_equal(device_thread_choose(first), 0);
}

static void *queue_of_thread(void *context)
{
	struct device_place *p = NULL;

	(void)context;
	if (device_thread_choose(second) || device_place_get(FAKE_TYPE, &p))
		return NULL;
	return p->queue;
}

static void threads_choose_for_themselves(void **state)
{
	struct tenon_queue *mine = place()->queue;
	pthread_t thread;
	void *theirs;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, queue_of_thread, NULL), 0);
	pthread_join(thread, &theirs);
	assert_non_null(theirs);
	assert_ptr_not_equal(theirs, mine);
	assert_int_equal(place()->device->id.device_id, 0);
	assert_ptr_equal(place()->queue, mine);
}

static void a_reopened_device_has_new_queues(void **state)
{
	struct tenon_device *old = place()->device, *fresh;

	(void)state;
	tenon_object_ref(old);
	tenon_error(-TENON_E_DEVICE, "gone");
	tenon_device_lose(old, -TENON_E_DEVICE);
	tenon_error_clear();
	{
		struct device_place *p;

		assert_int_equal(device_place_get(FAKE_TYPE, &p), -TENON_E_LOST);
		assert_error_has("gone");
	}
	assert_int_equal(tenon_device_reopen(old, &fresh), 0);
	assert_ptr_equal(place()->device, fresh);
	assert_ptr_equal(place()->queue->device, fresh);
	tenon_object_unref(fresh);
	tenon_object_unref(old);
}

static void workspace_lies_on_the_device_it_is_asked_for(void **state)
{
	struct tenon_memory *a, *b, *c;

	(void)state;
	a = tenon_workspace_alloc(first, 1000);
	b = tenon_workspace_alloc(second, 1000);
	assert_non_null(a);
	assert_non_null(b);
	assert_int_equal(a->device->id.device_id, 0);
	assert_int_equal(b->device->id.device_id, 1);
	assert_ptr_equal(fake.last_request.queue->device, b->device);
	assert_int_equal(tenon_workspace_free(first, a), 0);
	c = tenon_workspace_alloc(first, 600);
	assert_ptr_equal(c, a);
	/* what a failing call leaves is taken back, whichever device it lies on */
	tenon_workspace_reclaim(0);
	assert_int_equal(tenon_workspace_free(second, b), -TENON_E_USAGE);
	tenon_error_clear();
	assert_null(tenon_workspace_alloc((DLDevice){ (DLDeviceType)FAKE_TYPE, 5 }, 10));
	assert_error_has("fake has 2 devices");
	fake.allocations_left = 0;
	assert_null(tenon_workspace_alloc(first, 1 << 20));
	assert_error_has("fake: no memory");
}

/* TVMBackendAllocWorkspace and its like, as compiled code enters them */
static void compiled_code_gets_workspace_and_streams_of_any_device(void **state)
{
	struct tenon_queue *q;
	struct tenon_device *d = fake_open("fake:1", &q);
	struct tenon_memory *a, *b;
	void *old = &old;

	(void)state;
	a = abi_backend_alloc(FAKE_TYPE, 1, 3000, 2, 32);
	assert_non_null(a);
	assert_ptr_equal(a->device, d);
	assert_true(a->size >= 3000);
	assert_int_equal(abi_backend_free(FAKE_TYPE, 1, a), 0);
	b = abi_backend_alloc(FAKE_TYPE, 1, 3000, 2, 32);
	assert_ptr_equal(a, b);
	assert_int_equal(abi_backend_free(FAKE_TYPE, 1, b), 0);
	assert_int_equal(abi_backend_free(FAKE_TYPE, 1, b), -1);
	tenon_error_clear();
	assert_null(abi_backend_alloc(FAKE_TYPE, 7, 3000, 2, 32));
	tenon_error_clear();
	assert_int_equal(abi_ffi_env_set_stream(FAKE_TYPE, 1, q->native, &old), 0);
	assert_ptr_equal(abi_ffi_env_get_stream(FAKE_TYPE, 1), q->native);
	assert_int_equal(abi_ffi_env_set_stream(FAKE_TYPE, 1, old, NULL), 0);
	assert_ptr_equal(abi_ffi_env_get_stream(FAKE_TYPE, 1), old);
	tenon_object_unref(q);
	tenon_object_unref(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_thread_chooses_the_device_of_its_kernels, fake_reset),
		cmocka_unit_test_setup(host_code_chooses_by_the_name_it_knows, fake_reset),
		cmocka_unit_test_setup(a_stream_is_a_queue_its_handle_or_somebody_elses,
				       fake_reset),
		cmocka_unit_test_setup(a_stream_may_be_set_before_the_device_is_open, fake_reset),
		cmocka_unit_test_setup(threads_choose_for_themselves, fake_reset),
		cmocka_unit_test_setup(a_reopened_device_has_new_queues, fake_reset),
		cmocka_unit_test_setup(workspace_lies_on_the_device_it_is_asked_for, fake_reset),
		cmocka_unit_test_setup(compiled_code_gets_workspace_and_streams_of_any_device,
				       fake_reset),
	};

	return cmocka_run_group_tests_name("what a thread chose", tests, fake_setup, fake_reset);
}
