/* SPDX-License-Identifier: MIT */
/* Objects of devices that only weak references are left of, and those that a child process has from its parent. */
#include <sys/wait.h>
#include <unistd.h>

#include <tenon/commands.h>
#include <tenon/fence.h>

#include "tests/device/fake_device.h"

enum { DEVICE, QUEUE, MEMORY, PART, COMMANDS, TIMELINE, WAIT_SET, OBJECTS };

/* One object of each kind, and a queue that has something to do. */
struct scene {
	void *objects[OBJECTS];
	struct tenon_device *device;
	struct tenon_queue *queue;
};

static struct scene begin(void)
{
	const struct tenon_memory_request request = { sizeof(request), 64, TENON_MEMORY_DEFAULT, -1,
						      NULL };
	struct tenon_memory *memory, *part;
	struct tenon_wait_set *set;
	struct tenon_commands *c;
	struct tenon_timeline *t;
	struct scene s;

	s.device = fake_open("fake:0", &s.queue);
	assert_int_equal(tenon_memory_alloc(s.device, &request, &memory), 0);
	assert_int_equal(tenon_memory_subrange(memory, 16, 16, &part), 0);
	assert_int_equal(tenon_commands_create(s.device, &c), 0);
	assert_int_equal(tenon_timeline_create(0, &t), 0);
	assert_int_equal(tenon_wait_set_create(&set), 0);
	s.objects[DEVICE] = s.device;
	s.objects[QUEUE] = s.queue;
	s.objects[MEMORY] = memory;
	s.objects[PART] = part;
	s.objects[COMMANDS] = c;
	s.objects[TIMELINE] = t;
	s.objects[WAIT_SET] = set;
	return s;
}

static void an_object_lies_until_the_last_weak_reference_goes(void **state)
{
	struct scene s = begin();
	int i;

	(void)state;
	for (i = 0; i < OBJECTS; i++)
		tenon_object_ref_weak(s.objects[i]);
	for (i = OBJECTS; i--;)
		tenon_object_unref(s.objects[i]);
	tenon_device_close_all();
	assert_int_equal(fake.frees, 0);
	assert_int_equal(fake.queues_gone, 0);
	for (i = OBJECTS; i--;) {
		/* what is left of the part holds its memory, and what is left of most of them the device */
		const bool held = i == DEVICE || i == MEMORY;

		assert_int_equal(tenon_object_promote(s.objects[i]), held);
		if (held)
			tenon_object_unref(s.objects[i]);
	}
	for (i = OBJECTS; i--;)
		tenon_object_unref_weak(s.objects[i]);
	assert_int_equal(fake.frees, 1);
	assert_int_equal(fake.queues_gone, 1);
}

/* In a child: a step that did not end as it must, counted from 1; 0 if all did. */
static int use_of_a_child(const struct scene *s)
{
	struct tenon_device *other = NULL;
	int i;

	if (tenon_device_check(s->device) != -TENON_E_LOST ||
	    !strstr(tenon_error_message(), "parent process"))
		return 1;
	if (tenon_queue_sync(s->queue, TENON_FOREVER) != -TENON_E_LOST)
		return 2;
	if (tenon_device_sync(s->device, TENON_FOREVER) != -TENON_E_LOST)
		return 3;
	if (tenon_device_reset(s->device, &other) != -TENON_E_LOST || other)
		return 4;
	/* the driver is the parent's */
	if (tenon_device_open("fake:1", &other) != -TENON_E_DEVICE || other ||
	    !strstr(tenon_error_message(), "before fork()"))
		return 5;
	if (tenon_device_reopen(s->device, &other) != -TENON_E_DEVICE || other)
		return 6;
	/* nothing of the parent's is given back or waited for here */
	for (i = OBJECTS; i--;)
		tenon_object_unref(s->objects[i]);
	tenon_device_close_all();
	return fake.frees || fake.queues_gone ? 7 : 0;
}

static void a_child_process_leaves_devices_to_its_parent(void **state)
{
	struct scene s = begin();
	int i, status;
	pid_t child;

	(void)state;
	assert_int_equal(tenon_queue_fill(s.queue, s.objects[MEMORY], 0, 16, 0, 4, NULL), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		/* SIGALRM ends the child if one of these calls never returns */
		alarm(120);
		_exit(use_of_a_child(&s));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(tenon_device_check(s.device), 0);
	fake_finish(s.queue);
	for (i = OBJECTS; i--;)
		tenon_object_unref(s.objects[i]);
	assert_int_equal(fake.frees, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(an_object_lies_until_the_last_weak_reference_goes,
				       fake_reset),
		cmocka_unit_test_setup(a_child_process_leaves_devices_to_its_parent, fake_reset),
	};

	return cmocka_run_group_tests_name("references to devices", tests, fake_setup, fake_reset);
}
