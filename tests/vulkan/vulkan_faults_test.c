/* SPDX-License-Identifier: MIT */
/*
 * How the backend ends when its driver fails, on the named fake of fake_vulkan.h. Each case ends in
 * bounded time with the reason, gives back every object of Vulkan, and the next one goes on.
 */
#include "driver/vulkan/vulkan_api.h"
#include "tests/vulkan/vulkan_rig.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct rig rig;

static int open_it(void **state)
{
	(void)state;
	return rig_unavailable() ? 0 : rig_open(&rig, "vulkan:0");
}

static int close_it(void **state)
{
	(void)state;
	return rig_unavailable() ? 0 : rig_close(&rig);
}

static void needs_device(void)
{
	if (rig_unavailable())
		skip();
}

static void inject(const char *function, int at, int result)
{
	rig.fake->failing = function;
	rig.fake->fail_at = at;
	rig.fake->result = result;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- a process of its own, where the instance was not made yet */

/* Run in a child with the status that opening a device gave and its message; 0 when both are right. */
static int opening_fails(void (*prepare)(void), int status, const char *message)
{
	struct tenon_device *device;
	int end, err;
	pid_t child = fork();

	if (!child) {
		prepare();
		err = tenon_device_open("vulkan:0", &device);
		if (err != status || !strstr(tenon_error_message(), message))
			fprintf(stderr, "status %d: %s\n", err, tenon_error_message());
		_exit(err == status && strstr(tenon_error_message(), message) ? 0 : 1);
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &end, 0), child);
	return end;
}

static void without_loader(void)
{
	setenv("TENON_VULKAN_LIBRARY", "/nonexistent/libvulkan.so.1", 1);
}

static void without_driver(void)
{
	setenv("VK_DRIVER_FILES", "/nonexistent/icd.json", 1);
	setenv("VK_ICD_FILENAMES", "/nonexistent/icd.json", 1);
}

static void a_loader_that_is_absent_is_said_with_the_remedy(void **state)
{
	(void)state;
	assert_int_equal(opening_fails(without_loader, -TENON_E_DEVICE, "apt install"), 0);
	assert_int_equal(
		opening_fails(without_loader, -TENON_E_DEVICE, "/nonexistent/libvulkan.so.1"), 0);
}

/* the fake stands in front of a loader */
static void need_loader(void)
{
	if (dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL))
		return;
	print_message("%s\n", dlerror());
	skip();
}

static void a_loader_without_drivers_is_said_with_the_remedy(void **state)
{
	(void)state;
	need_loader();
	assert_int_equal(
		opening_fails(without_driver, -TENON_E_DEVICE, "no Vulkan driver works here"), 0);
}

static void old_loader(void)
{
	rig_unavailable_as(1u << 22);
}

static struct fake_vulkan *fake(void)
{
	struct rig own;

	rig_find(&own);
	return own.fake;
}

static void no_memory_for_an_instance(void)
{
	fake()->failing = "CreateInstance";
	fake()->fail_at = 1;
	fake()->result = VK_ERROR_OUT_OF_HOST_MEMORY;
}

static void list_fails(int at, int result)
{
	fake()->failing = "EnumeratePhysicalDevices";
	fake()->fail_at = at;
	fake()->result = result;
}

static void no_list_of_devices(void)
{
	list_fails(1, VK_ERROR_INITIALIZATION_FAILED);
}

static void devices_without_a_list(void)
{
	list_fails(2, VK_ERROR_INITIALIZATION_FAILED);
}

static void a_device_that_comes_in_between(void)
{
	list_fails(2, VK_INCOMPLETE);
}

static void no_properties(void)
{
	fake()->missing = "GetPhysicalDeviceProperties2";
}

static void nothing(void)
{
}

static void an_instance_that_cannot_be_had_is_said_with_the_reason(void **state)
{
	(void)state;
	if (opening_fails(nothing, 0, ""))
		skip();
	assert_int_equal(opening_fails(no_memory_for_an_instance, -TENON_E_NOMEM,
				       "vkCreateInstance: out of host memory"),
			 0);
	assert_int_equal(opening_fails(no_list_of_devices, -TENON_E_DEVICE,
				       "vkEnumeratePhysicalDevices: initialisation failed"),
			 0);
	assert_int_equal(opening_fails(devices_without_a_list, -TENON_E_DEVICE,
				       "vkEnumeratePhysicalDevices: initialisation failed"),
			 0);
	assert_int_equal(opening_fails(a_device_that_comes_in_between, 0, ""), 0);
	assert_int_equal(
		opening_fails(no_properties, -TENON_E_DEVICE, "no vkGetPhysicalDeviceProperties2"),
		0);
}

static void a_loader_of_version_1_0_is_refused(void **state)
{
	(void)state;
	need_loader();
	assert_int_equal(opening_fails(old_loader, -TENON_E_DEVICE, "version 1.0, want 1.1"), 0);
}

/* ---- */

static int only_fake(void **state)
{
	(void)state;
	if (rig_unavailable())
		return 0;
	if (rig_open(&rig, "vulkan:0"))
		return -1;
	return rig_close(&rig);
}

/* Each function, at each of its calls until there is none left to fail. */
static void each_call_fails_once(const char *uri, int result)
{
	static const char *const functions[] = {
		"CreateDevice",
		"AllocateMemory",
		"CreateBuffer",
		"BindBufferMemory",
		"MapMemory",
		"CreateCommandPool",
		"AllocateCommandBuffers",
		"BeginCommandBuffer",
		"EndCommandBuffer",
		"CreateDescriptorPool",
		"AllocateDescriptorSets",
		"CreateDescriptorSetLayout",
		"CreatePipelineLayout",
		"CreateQueryPool",
		"CreateSemaphore",
		"CreateShaderModule",
		"CreateComputePipelines",
		"QueueSubmit",
		"WaitSemaphores",
		"GetSemaphoreCounterValue",
	};
	size_t i;
	int at, err;

	for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		for (at = 1; at < 20; at++) {
			inject(functions[i], at, result);
			err = rig_program(&rig, uri);
			if (rig.fake->live)
				print_error("vk%s, call %d: %d objects left\n", functions[i], at,
					    rig.fake->live);
			assert_int_equal(rig.fake->live, 0);
			rig.fake->lost = 0;
			if (!rig.fake->failures) {
				assert_int_equal(err, 0);
				break;
			}
			rig.fake->failures = 0;
			if (!err || !strstr(tenon_error_message(), functions[i]))
				print_error("vk%s, call %d: %d: %s\n", functions[i], at, err,
					    tenon_error_message());
			assert_true(err < 0);
			assert_error_has(functions[i]);
		}
		assert_true(at < 20);
	}
	inject(NULL, 0, 0);
	assert_int_equal(rig_program(&rig, uri), 0);
	assert_int_equal(rig.fake->complaints, 0);
}

static void every_call_may_run_out_of_memory(void **state)
{
	(void)state;
	needs_device();
	each_call_fails_once("vulkan:0", VK_ERROR_OUT_OF_DEVICE_MEMORY);
}

static void every_call_may_run_out_of_memory_on_an_old_device(void **state)
{
	(void)state;
	needs_device();
	each_call_fails_once("vulkan://0?without=push-descriptors&without=host-memory",
			     VK_ERROR_OUT_OF_HOST_MEMORY);
}

static void a_pipeline_that_fails_is_tried_again(void **state)
{
	const struct spirv_sum sum = { "sum", 2, 0, 0, 0 };
	struct rig_kernel k;

	(void)state;
	needs_device();
	rig_describe(&k, &sum);
	inject("CreateComputePipelines", 1, VK_ERROR_INITIALIZATION_FAILED);
	assert_int_equal(rig_build(&rig, &k), -TENON_E_DEVICE);
	assert_error("made here: kernel sum on vulkan:0: vkCreateComputePipelines: initialisation "
		     "failed "
		     "(VkResult -3)");
	assert_int_equal(rig_build(&rig, &k), 0);
	rig_drop(&k);
}

static void a_device_lost_in_mid_queue_says_so_to_whoever_waits(void **state)
{
	struct tenon_memory_request request = { sizeof(request), 256, TENON_MEMORY_DEFAULT, -1,
						NULL };
	struct tenon_memory *m[2], *none;
	struct tenon_device *fresh;
	struct tenon_timeline *t;
	struct tenon_point p;
	struct tenon_sync signal = { NULL, 0, &p, 1 };
	struct rig_kernel k;
	uint32_t in[64];
	int i;

	(void)state;
	needs_device();
	rig_sum(&rig, &k, 2, 0, false);
	m[0] = rig_memory(&rig, 64, 0, 0);
	m[1] = rig_memory(&rig, 64, 1, 0);
	assert_int_equal(tenon_timeline_create(0, &t), 0);
	p.timeline = t;
	p.value = 1;
	inject("QueueSubmit", 2, VK_ERROR_DEVICE_LOST);
	/* the first batch goes, the second does not */
	for (i = 0; i < 300; i++)
		assert_int_equal(rig_launch(rig.queue, &k, 64, m, NULL), 0);
	assert_int_equal(tenon_queue_read(rig.queue, in, m[0], 0, 256, &signal), 0);
	assert_int_equal(tenon_timeline_wait(t, 1, rig_soon()), -TENON_E_LOST);
	assert_error("vulkan:0 is lost: vkQueueSubmit: device lost (VkResult -4). Reopen it");
	assert_int_equal(rig_launch(rig.queue, &k, 64, m, NULL), -TENON_E_LOST);
	assert_int_equal(tenon_memory_alloc(rig.device, &request, &none), -TENON_E_LOST);
	tenon_object_unref(m[0]);
	tenon_object_unref(m[1]);
	rig_drop(&k);
	tenon_object_unref(t);
	tenon_object_unref(rig.queue);
	/* and work goes on, on a fresh one */
	assert_int_equal(tenon_device_reopen(rig.device, &fresh), 0);
	tenon_object_unref(rig.device);
	rig.device = fresh;
	assert_int_equal(tenon_queue_create(fresh, &rig.queue), 0);
	m[0] = rig_memory(&rig, 64, 8, 1);
	rig_expect(&rig, m[0], 64, 8, 1);
	tenon_object_unref(m[0]);
}

static void a_loss_while_somebody_waits_ends_the_wait(void **state)
{
	struct tenon_memory *m;

	(void)state;
	needs_device();
	m = rig_memory(&rig, 64, 0, 0);
	assert_int_equal(tenon_queue_fill(rig.queue, m, 0, 256, 1, 4, NULL), 0);
	inject("WaitSemaphores", 1, VK_ERROR_DEVICE_LOST);
	assert_int_equal(tenon_queue_sync(rig.queue, TENON_FOREVER), -TENON_E_LOST);
	assert_error_has("vkWaitSemaphores: device lost");
	tenon_object_unref(m);
}

static void a_wait_that_never_ends_ends_by_its_deadline(void **state)
{
	struct tenon_memory *m;
	double start;

	(void)state;
	needs_device();
	m = rig_memory(&rig, 64, 0, 0);
	rig.fake->stuck = 1;
	assert_int_equal(tenon_queue_fill(rig.queue, m, 0, 256, 7, 4, NULL), 0);
	start = now();
	assert_int_equal(tenon_queue_sync(rig.queue, tenon_deadline(50000000)), -TENON_E_TIMEOUT);
	assert_error_has("was not done by the deadline");
	assert_true(now() - start >= 0.049 && now() - start < 1);
	start = now();
	assert_int_equal(tenon_queue_sync(rig.queue, 0), -TENON_E_TIMEOUT);
	assert_true(now() - start < 0.5);
	/* it was slow, not lost */
	rig.fake->stuck = 0;
	rig_expect(&rig, m, 64, 7, 0);
	tenon_object_unref(m);
}

/* Which of the driver's functions can be done without, and which are asked for. */
static void a_function_that_is_missing_is_named(void **state)
{
#define NAME(name) #name,
#define NONE(name)
	static const char *const needed[] = { VULKAN_DEVICE_FUNCTIONS(NAME, NONE) };
	static const char *const optional[] = { VULKAN_DEVICE_FUNCTIONS(NONE, NAME) };
	char text[64];
	size_t i;

	(void)state;
	needs_device();
	for (i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		/* nothing else ends a device */
		if (!strcmp(needed[i], "DestroyDevice"))
			continue;
		rig.fake->missing = needed[i];
		assert_int_equal(rig_program(&rig, "vulkan:0"), -TENON_E_DEVICE);
		snprintf(text, sizeof(text), "the driver has no vk%s;", needed[i]);
		assert_error_has(text);
		assert_int_equal(rig.fake->live, 0);
	}
	for (i = 0; i < sizeof(optional) / sizeof(optional[0]); i++) {
		rig.fake->missing = optional[i];
		assert_int_equal(rig_program(&rig, "vulkan:0"), 0);
		assert_int_equal(rig.fake->live, 0);
	}
	rig.fake->missing = NULL;
}

static void programs_that_are_damaged_never_reach_the_driver(void **state)
{
	const struct spirv_sum sum = { "sum", 2, 0, 0, 0 };
	struct rig_kernel k;

	(void)state;
	needs_device();
	rig_describe(&k, &sum);
	inject("CreateShaderModule", 1, VK_ERROR_INITIALIZATION_FAILED);
	k.words[0] = 0;
	assert_int_equal(rig_build(&rig, &k), -TENON_E_FORMAT);
	assert_error_has("made here: kernel sum on vulkan:0: no SPIR-V: it begins with 0,");
	k.words[0] = 0x07230203;
	k.info.code.size -= 2;
	assert_int_equal(rig_build(&rig, &k), -TENON_E_FORMAT);
	assert_error_has("want a multiple of 4");
	k.info.code.size = 24;
	assert_int_equal(rig_build(&rig, &k), -TENON_E_TRUNCATED);
	assert_error_has("instruction at word 5 has 2 words, 1 are left");
	k.info.code.size = 0;
	assert_int_equal(rig_build(&rig, &k), -TENON_E_TRUNCATED);
	tenon_error_clear();
	assert_int_equal(rig.fake->failures, 0);
	rig_drop(&k);
}

static void a_kernel_that_vulkan_does_not_have_is_refused(void **state)
{
	const struct spirv_sum many = { "sum", 2, 70, 0, 0 }, two = { "sum", 2, 0, 0, 0 };
	struct tenon_executable *none;
	struct rig_kernel k;

	(void)state;
	needs_device();
	rig_describe(&k, &many);
	assert_int_equal(rig_build(&rig, &k), -TENON_E_UNSUPPORTED);
	assert_error_has("takes 70 scalars; the most is");
	rig_drop(&k);
	rig_describe(&k, &two);
	k.info.scalar_count = 100000;
	k.info.code_flags = 1;
	assert_int_equal(rig_build(&rig, &k), -TENON_E_UNSUPPORTED);
	assert_error_has("takes 100000 scalars");
	k.info.scalar_count = 0;
	k.info.flags = ~(uint32_t)TENON_KERNEL_SHARED;
	assert_int_equal(rig_build(&rig, &k), -TENON_E_UNSUPPORTED);
	assert_error_has("launch tags for clusters or cooperation");
	k.info.flags = 0;
	k.arguments[1].kind = TENON_ARGUMENT_TENSOR_MAP;
	assert_int_equal(rig_build(&rig, &k), -TENON_E_UNSUPPORTED);
	assert_error_has("argument 1 is a tensor map");
	rig_drop(&k);
	k.program.format = tenon_slice_of("ptx");
	assert_int_equal(tenon_executable_create(rig.device, &k.program, NULL, &none),
			 -TENON_E_UNSUPPORTED);
	k.program.kind = tenon_slice_of("cuda");
	assert_int_equal(tenon_executable_create(rig.device, &k.program, NULL, &none),
			 -TENON_E_UNSUPPORTED);
	assert_error_has("a cuda program of format \"ptx\"");
}

static int descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void memory_that_cannot_be_shared_leaves_no_descriptor(void **state)
{
	static const char *const functions[] = { "CreateBuffer", "AllocateMemory",
						 "BindBufferMemory" };
	const struct tenon_memory_request request = { sizeof(request), 8192,
						      TENON_MEMORY_DEFAULT | TENON_MEMORY_EXPORT,
						      -1, NULL };
	struct tenon_memory_import import = { .size = sizeof(import),
					      .type = TENON_HANDLE_OPAQUE_FD,
					      .bytes = 8192,
					      .usage = TENON_MEMORY_DEFAULT };
	struct tenon_memory *m, *same;
	int before, fd;

	(void)state;
	needs_device();
	if (!(rig.device->properties->exports & (1u << TENON_HANDLE_OPAQUE_FD)))
		skip();
	assert_int_equal(tenon_memory_alloc(rig.device, &request, &m), 0);
	inject("GetMemoryFdKHR", 1, VK_ERROR_OUT_OF_HOST_MEMORY);
	assert_int_equal(tenon_memory_export(m, TENON_HANDLE_OPAQUE_FD, &fd), -TENON_E_NOMEM);
	assert_int_equal(tenon_memory_export(m, TENON_HANDLE_OPAQUE_FD, &import.fd), 0);
	before = descriptors();
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		inject(functions[i], 1, VK_ERROR_OUT_OF_DEVICE_MEMORY);
		assert_int_equal(tenon_memory_import(rig.device, &import, &same), -TENON_E_NOMEM);
		assert_error_has(functions[i]);
		assert_int_equal(descriptors(), before);
	}
	close(import.fd);
	tenon_object_unref(m);
}

static void what_is_staged_beyond_what_is_kept_is_given_back(void **state)
{
	const size_t size = (64 << 20) + (1 << 16);
	struct tenon_memory_request request = { sizeof(request), size, TENON_MEMORY_DEFAULT, -1,
						NULL };
	struct tenon_device *device;
	struct tenon_queue *queue;
	char *bytes = calloc(1, size);
	struct tenon_memory *m;
	int live, written;

	(void)state;
	needs_device();
	assert_non_null(bytes);
	assert_int_equal(tenon_device_open("vulkan://0?without=host-memory", &device), 0);
	assert_int_equal(tenon_queue_create(device, &queue), 0);
	assert_int_equal(tenon_memory_alloc(device, &request, &m), 0);
	live = rig.fake->live;
	bytes[size - 1] = 7;
	assert_int_equal(tenon_queue_write(queue, m, 0, bytes, size, NULL), 0);
	bytes[size - 1] = 0;
	written = rig.fake->live;
	assert_true(written > live + 1);
	assert_int_equal(tenon_queue_sync(queue, rig_soon()), 0);
	/* its buffer and the memory of that */
	assert_int_equal(rig.fake->live, written - 2);
	assert_int_equal(tenon_queue_read(queue, bytes, m, size - 1, 1, NULL), 0);
	assert_int_equal(tenon_queue_sync(queue, rig_soon()), 0);
	assert_int_equal(bytes[0], 7);
	free(bytes);
	tenon_object_unref(m);
	tenon_object_unref(queue);
	tenon_object_unref(device);
}

static void options_that_nobody_knows_are_refused(void **state)
{
	struct tenon_device *device;

	(void)state;
	needs_device();
	assert_int_equal(tenon_device_open("vulkan://0?colour=blue", &device), -TENON_E_VALUE);
	assert_error_has("colour=blue");
	assert_int_equal(tenon_device_open("vulkan://0?without=sense", &device), -TENON_E_VALUE);
	assert_error_has("there are without=push-descriptors, host-memory, 1.2");
}

#define WITH(f, setup) cmocka_unit_test_setup_teardown(f, setup, close_it)

int main(void)
{
	const struct CMUnitTest tests[] = {
		/* these first: the instance is made once in a process */
		cmocka_unit_test(a_loader_that_is_absent_is_said_with_the_remedy),
		cmocka_unit_test(a_loader_without_drivers_is_said_with_the_remedy),
		cmocka_unit_test(a_loader_of_version_1_0_is_refused),
		cmocka_unit_test(an_instance_that_cannot_be_had_is_said_with_the_reason),
		WITH(every_call_may_run_out_of_memory, only_fake),
		WITH(every_call_may_run_out_of_memory_on_an_old_device, only_fake),
		WITH(a_function_that_is_missing_is_named, only_fake),
		WITH(a_pipeline_that_fails_is_tried_again, open_it),
		WITH(a_device_lost_in_mid_queue_says_so_to_whoever_waits, open_it),
		WITH(a_loss_while_somebody_waits_ends_the_wait, open_it),
		WITH(a_wait_that_never_ends_ends_by_its_deadline, open_it),
		WITH(programs_that_are_damaged_never_reach_the_driver, open_it),
		WITH(a_kernel_that_vulkan_does_not_have_is_refused, open_it),
		WITH(memory_that_cannot_be_shared_leaves_no_descriptor, open_it),
		WITH(what_is_staged_beyond_what_is_kept_is_given_back, open_it),
		WITH(options_that_nobody_knows_are_refused, open_it),
	};

	vulkan_environment(NULL);
	return cmocka_run_group_tests_name("Vulkan faults", tests, NULL, NULL);
}
