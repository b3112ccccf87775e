/* SPDX-License-Identifier: MIT */
/*
 * The OpenCL backend on a real driver, where that has to be asked beside it: names, attributes, the
 * cache of compiled kernels, queues and sizes. With PoCL there are two devices, basic and pthread.
 */
#include "tests/unit/suite.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include <tenon/backend/executable.h>
#include <tenon/backend/memory.h>
#include <tenon/backend/queue.h>
#include "driver/opencl/opencl_api.h"

static struct tenon_device *device;
static struct tenon_queue *queue;
static ocl_device native;
static char cache[4096];

static uint64_t soon(void)
{
	return tenon_deadline(UINT64_C(60000000000));
}

static void ok_at(int status, int line)
{
	if (status)
		print_error("line %d: %s\n", line, tenon_error_message());
	assert_int_equal(status, 0);
}

#define ok(expression) ok_at(expression, __LINE__)

static struct tenon_memory *memory_on(struct tenon_device *d, uint64_t size)
{
	const struct tenon_memory_request request = { sizeof(request), size, TENON_MEMORY_DEFAULT,
						      -1, NULL };
	struct tenon_memory *m = NULL;

	ok(tenon_memory_alloc(d, &request, &m));
	return m;
}

/* ---- a kernel of three dimensions */

static const struct tenon_argument argument = {
	{ kDLOpaqueHandle, 64, 1 }, TENON_ARGUMENT_MEMORY, 8, 0
};
static const struct tenon_kernel_info place = { .name = { "place", 5 },
						.arguments = &argument,
						.argument_count = 1,
						.memory_count = 1,
						.dimensions = 3 };

static struct tenon_executable *executable_of(struct tenon_device *d, const char *source)
{
	static struct tenon_program program;
	struct tenon_executable *e = NULL;

	program = (struct tenon_program){ { "opencl", 6 }, { "cl", 2 }, { source, strlen(source) },
					  &place,	   1,		"test.so" };
	ok(tenon_executable_create(d, &program, NULL, &e));
	return e;
}

static const char place_source[] =
	"__kernel void place(__global int *out)\n"
	"{ int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);\n"
	"  int i = (z * get_global_size(1) + y) * get_global_size(0) + x;\n"
	"  out[i] = 10000 * get_local_id(2) + 100 * get_local_id(1) + get_local_id(0); }\n";

static struct tenon_dispatch launch_of(struct tenon_kernel *k, const uint64_t *arguments)
{
	return (struct tenon_dispatch){ .kernel = k,
					.arguments = arguments,
					.grid = { 2, 3, 2 },
					.block = { 4, 2, 3 },
					.cluster = { 1, 1, 1 },
					.preferred_cluster = { 1, 1, 1 } };
}

/* Launch on a queue of a device, look at all that came out. */
static void launch_and_check(struct tenon_device *d, struct tenon_executable *e)
{
	struct tenon_memory *m = memory_on(d, 4 * 8 * 6 * 6);
	const uint64_t arguments[1] = { (uintptr_t)m };
	struct tenon_dispatch dispatch;
	struct tenon_kernel *k = NULL;
	struct tenon_queue *q = NULL;
	int32_t out[6][6][8];
	int x, y, z;

	ok(tenon_queue_create(d, &q));
	ok(tenon_executable_kernel(e, 0, &k));
	dispatch = launch_of(k, arguments);
	ok(tenon_queue_dispatch(q, &dispatch, NULL));
	ok(tenon_queue_read(q, out, m, 0, sizeof(out), NULL));
	ok(tenon_queue_sync(q, soon()));
	for (z = 0; z < 6; z++)
		for (y = 0; y < 6; y++)
			for (x = 0; x < 8; x++)
				assert_int_equal(out[z][y][x],
						 10000 * (z % 3) + 100 * (y % 2) + x % 4);
	tenon_object_unref(q);
	tenon_object_unref(m);
}

static void a_launch_has_three_dimensions_of_blocks_and_threads(void **state)
{
	struct tenon_executable *e = executable_of(device, place_source);

	(void)state;
	launch_and_check(device, e);
	tenon_object_unref(e);
}

static void a_block_that_is_too_large_names_the_limits(void **state)
{
	struct tenon_executable *e = executable_of(device, place_source);
	struct tenon_memory *m = memory_on(device, 64);
	const uint64_t arguments[1] = { (uintptr_t)m };
	struct tenon_dispatch dispatch;
	struct tenon_kernel *k = NULL;
	char limit[64];

	(void)state;
	ok(tenon_executable_kernel(e, 0, &k));
	dispatch = launch_of(k, arguments);
	dispatch.block[0] = device->properties->max_threads + 1;
	assert_int_equal(tenon_queue_dispatch(queue, &dispatch, NULL), -TENON_E_DEVICE);
	snprintf(limit, sizeof(limit), "at most %u, and %u x %u x %u",
		 device->properties->max_threads, device->properties->max_block[0],
		 device->properties->max_block[1], device->properties->max_block[2]);
	assert_error_has(limit);
	tenon_object_unref(e);
	tenon_object_unref(m);
}

/* ---- names and attributes */

static void a_device_is_found_by_its_driver_and_a_number(void **state)
{
	const char *driver = device->properties->driver;
	struct tenon_device *d = NULL;
	char uri[256];

	(void)state;
	snprintf(uri, sizeof(uri), "opencl://%.*s", (int)strcspn(driver, " "), driver);
	ok(tenon_device_open(uri, &d));
	assert_ptr_equal(d, device);
	tenon_object_unref(d);
	strcat(uri, "/0");
	ok(tenon_device_open(uri, &d));
	assert_ptr_equal(d, device);
	tenon_object_unref(d);
	strcpy(strrchr(uri, '/'), "/63");
	assert_int_equal(tenon_device_open(uri, &d), -TENON_E_DEVICE);
	assert_error_has("has a name, driver or uuid with");
	assert_int_equal(tenon_device_open("opencl://no-such-driver", &d), -TENON_E_DEVICE);
	tenon_error_clear();
}

static int64_t attribute(int which)
{
	struct tenon_value v = tenon_arg_none();

	ok(tenon_device_attribute(device->id, which, &v));
	assert_int_equal(v.type, TENON_TYPE_INT);
	return v.as.integer;
}

static void text_attribute(int which, char *text, size_t size)
{
	struct tenon_value v = tenon_arg_none();
	struct tenon_slice s;

	ok(tenon_device_attribute(device->id, which, &v));
	ok(tenon_value_text(&v, &s));
	snprintf(text, size, "%.*s", (int)s.size, s.data);
	tenon_value_release(&v);
}

static int64_t raw(uint32_t what, size_t size)
{
	uint64_t v = 0;

	assert_int_equal(ocl.GetDeviceInfo(native, what, size, &v, NULL), 0);
	return (int64_t)v;
}

static void attributes_are_those_of_the_driver(void **state)
{
	char text[256], name[256] = "", version[256] = "";
	size_t items[3], got;

	(void)state;
	assert_int_equal(attribute(TENON_ATTRIBUTE_EXISTS), 1);
	assert_int_equal(attribute(TENON_ATTRIBUTE_MAX_THREADS),
			 raw(OCL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(size_t)));
	assert_int_equal(attribute(TENON_ATTRIBUTE_MAX_SHARED), raw(OCL_DEVICE_LOCAL_MEM_SIZE, 8));
	assert_int_equal(attribute(TENON_ATTRIBUTE_CLOCK_KHZ),
			 1000 * raw(OCL_DEVICE_MAX_CLOCK_FREQUENCY, 4));
	assert_int_equal(attribute(TENON_ATTRIBUTE_PROCESSORS),
			 raw(OCL_DEVICE_MAX_COMPUTE_UNITS, 4));
	assert_int_equal(attribute(TENON_ATTRIBUTE_TOTAL_MEMORY),
			 raw(OCL_DEVICE_GLOBAL_MEM_SIZE, 8));
	assert_true(attribute(TENON_ATTRIBUTE_WARP_SIZE) >= 1);
	assert_true(attribute(TENON_ATTRIBUTE_AVAILABLE_MEMORY) > 0);
	ocl.GetDeviceInfo(native, OCL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof(items), items, NULL);
	snprintf(name, sizeof(name), "[%zu, %zu, %zu]", items[0], items[1], items[2]);
	text_attribute(TENON_ATTRIBUTE_MAX_BLOCK, text, sizeof(text));
	assert_string_equal(text, name);
	ocl.GetDeviceInfo(native, OCL_DEVICE_NAME, sizeof(name) - 1, name, &got);
	text_attribute(TENON_ATTRIBUTE_NAME, text, sizeof(text));
	assert_memory_equal(text, name, strlen(text));
	ocl.GetDeviceInfo(native, OCL_DEVICE_VERSION, sizeof(version) - 1, version, &got);
	text_attribute(TENON_ATTRIBUTE_COMPUTE_VERSION, text, sizeof(text));
	assert_memory_equal(version + strlen("OpenCL "), text, 3);
	assert_int_equal(attribute(TENON_ATTRIBUTE_API_VERSION),
			 100 * (text[0] - '0') + 10 * (text[2] - '0'));
	text_attribute(TENON_ATTRIBUTE_DRIVER_VERSION, text, sizeof(text));
	assert_true(strlen(text) > 0);
}

/* ---- compiled kernels */

static int entries(void)
{
	char path[sizeof(cache) + 16];
	struct dirent *e;
	int count = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/opencl", cache);
	dir = opendir(path);
	while (dir && (e = readdir(dir)))
		count += e->d_name[0] != '.';
	if (dir)
		closedir(dir);
	return count;
}

static void a_kernel_from_the_cache_does_what_the_compiled_one_does(void **state)
{
	char command[sizeof(cache) + 128];
	struct tenon_executable *e;
	int round;

	(void)state;
	setenv("TENON_CACHE_DIR", cache, 1);
	assert_int_equal(entries(), 0);
	for (round = 0; round < 4; round++) {
		e = executable_of(device, place_source);
		launch_and_check(device, e);
		tenon_object_unref(e);
		assert_int_equal(entries(), 1);
		/* the third finds a head alone, the fourth what it wrote */
		snprintf(command, sizeof(command),
			 "for f in '%s'/opencl/*; do dd if=\"$f\" of=\"$f.cut\" bs=80 count=1 2> "
			 "/dev/null; mv \"$f.cut\" \"$f\"; done",
			 cache);
		if (round == 1)
			assert_int_equal(system(command), 0);
	}
	setenv("TENON_CACHE_DIR", "", 1);
}

static void the_compilers_own_lines_are_in_the_message(void **state)
{
	struct tenon_executable *e = executable_of(
		device, "__kernel void place(__global int *out) { out[0] = nobody; }");
	struct tenon_kernel *k = NULL;

	(void)state;
	assert_int_equal(tenon_executable_kernel(e, 0, &k), -TENON_E_DEVICE);
	assert_true(message_has("kernel place does not compile:\n"));
	assert_error_has("nobody");
	tenon_object_unref(e);
}

static void spirv_is_taken_or_refused_with_the_reason(void **state)
{
	/* a head without a module: no driver makes a kernel of it */
	static const uint32_t words[5] = { 0x07230203, 0x00010000, 0, 1, 0 };
	const struct tenon_program program = {
		{ "opencl", 6 }, { "", 0 }, { (const char *)words, sizeof(words) },
		&place,		 1,	    "test.so"
	};
	struct tenon_executable *e = NULL;
	struct tenon_kernel *k = NULL;
	char il[256] = "";
	int err;

	(void)state;
	if (ocl.GetDeviceInfo(native, OCL_DEVICE_IL_VERSION, sizeof(il) - 1, il, NULL))
		il[0] = '\0';
	ok(tenon_executable_create(device, &program, NULL, &e));
	err = tenon_executable_kernel(e, 0, &k);
	assert_true(err < 0);
	if (!strstr(il, "SPIR-V")) {
		assert_int_equal(err, -TENON_E_UNSUPPORTED);
		assert_error_has("kernel place is SPIR-V, which this driver does not take");
	}
	tenon_error_clear();
	tenon_object_unref(e);
}

/* ---- queues and memory */

static void a_queue_of_the_programs_own_is_used_in_order(void **state)
{
	struct tenon_memory *m = memory_on(device, 4096);
	struct tenon_queue *wrapped = NULL;
	ocl_context context = NULL;
	uint32_t back[1024];
	int status = 0, i;
	ocl_queue own;

	(void)state;
	assert_int_equal(ocl.GetCommandQueueInfo(queue->native, OCL_QUEUE_CONTEXT, sizeof(context),
						 &context, NULL),
			 0);
	own = ocl.CreateCommandQueue(context, native, 0, &status);
	assert_non_null(own);
	ok(device->ops->queue->wrap(device, own, &wrapped));
	for (i = 0; i < 100; i++)
		ok(tenon_queue_fill(wrapped, m, 0, 4096, (uint32_t)i, 4, NULL));
	ok(tenon_queue_read(wrapped, back, m, 0, sizeof(back), NULL));
	ok(tenon_queue_sync(wrapped, soon()));
	assert_int_equal(back[0], 99);
	assert_int_equal(back[1023], 99);
	tenon_object_unref(wrapped);
	ocl.ReleaseCommandQueue(own);
	tenon_object_unref(m);
}

static void a_queue_of_another_context_is_refused(void **state)
{
	struct tenon_queue *wrapped = NULL;
	ocl_context context;
	ocl_queue own;
	int status = 0;

	(void)state;
	context = ocl.CreateContext(NULL, 1, &native, NULL, NULL, &status);
	assert_non_null(context);
	own = ocl.CreateCommandQueue(context, native, 0, &status);
	assert_int_equal(device->ops->queue->wrap(device, own, &wrapped), -TENON_E_VALUE);
	assert_error_has("want an in-order queue of this device's context");
	ocl.ReleaseCommandQueue(own);
	ocl.ReleaseContext(context);
	ok(tenon_device_check(device));
}

static void a_part_is_right_where_it_is_aligned_and_refused_elsewhere(void **state)
{
	uint64_t align = device->properties->alignment;
	struct tenon_memory *m = memory_on(device, 4 * align), *part = NULL;
	uint8_t *bytes = calloc(4, align);
	uint64_t i;

	(void)state;
	if (align > 1) {
		assert_int_equal(tenon_memory_subrange(m, align / 2, align, &part), -TENON_E_VALUE);
		assert_error_has("at a multiple of");
	}
	ok(tenon_memory_subrange(m, 2 * align, align, &part));
	ok(tenon_queue_fill(queue, m, 0, 4 * align, 1, 1, NULL));
	ok(tenon_queue_fill(queue, part, 0, align, 2, 1, NULL));
	ok(tenon_queue_read(queue, bytes, m, 0, 4 * align, NULL));
	ok(tenon_queue_sync(queue, soon()));
	for (i = 0; i < 4 * align; i++)
		assert_int_equal(bytes[i], i / align == 2 ? 2 : 1);
	tenon_object_unref(part);
	tenon_object_unref(m);
	free(bytes);
}

static void devices_side_by_side_run_the_same_program(void **state)
{
	struct tenon_executable *first, *second;
	struct tenon_device *other = NULL;

	(void)state;
	if (tenon_device_open("opencl:1", &other)) {
		print_message("# skip: there is one device of OpenCL\n");
		tenon_error_clear();
		skip();
	}
	first = executable_of(device, place_source);
	second = executable_of(other, place_source);
	launch_and_check(other, second);
	launch_and_check(device, first);
	tenon_object_unref(first);
	tenon_object_unref(second);
	tenon_object_unref(other);
}

static void times_grow_along_a_queue_and_across_queues(void **state)
{
	struct tenon_memory *m = memory_on(device, 1 << 20);
	struct tenon_queue *other = NULL;
	uint64_t times[3] = { 0 };

	(void)state;
	ok(tenon_queue_create(device, &other));
	ok(tenon_queue_timestamp(queue, &times[0], NULL));
	ok(tenon_queue_fill(queue, m, 0, 1 << 20, 7, 4, NULL));
	ok(tenon_queue_timestamp(queue, &times[1], NULL));
	ok(tenon_queue_sync(queue, soon()));
	ok(tenon_queue_timestamp(other, &times[2], NULL));
	ok(tenon_queue_sync(other, soon()));
	assert_true(times[0] > 0);
	assert_true(times[1] > times[0]);
	assert_true(times[2] >= times[1]);
	assert_true(times[2] - times[0] < UINT64_C(60000000000));
	tenon_object_unref(other);
	tenon_object_unref(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_launch_has_three_dimensions_of_blocks_and_threads),
		cmocka_unit_test(a_block_that_is_too_large_names_the_limits),
		cmocka_unit_test(a_device_is_found_by_its_driver_and_a_number),
		cmocka_unit_test(attributes_are_those_of_the_driver),
		cmocka_unit_test(a_kernel_from_the_cache_does_what_the_compiled_one_does),
		cmocka_unit_test(the_compilers_own_lines_are_in_the_message),
		cmocka_unit_test(spirv_is_taken_or_refused_with_the_reason),
		cmocka_unit_test(a_queue_of_the_programs_own_is_used_in_order),
		cmocka_unit_test(a_queue_of_another_context_is_refused),
		cmocka_unit_test(a_part_is_right_where_it_is_aligned_and_refused_elsewhere),
		cmocka_unit_test(devices_side_by_side_run_the_same_program),
		cmocka_unit_test(times_grow_along_a_queue_and_across_queues),
	};
	const char *folder = getenv("TMPDIR");
	int failed;

	snprintf(cache, sizeof(cache), "%s/tenon-cache-XXXXXX", folder ? folder : "/tmp");
	if (!mkdtemp(cache))
		return 1;
	setenv("TENON_CACHE_DIR", "", 1);
	setenv("POCL_DEVICES", "basic pthread", 0);
	if (tenon_device_open("opencl:0", &device)) {
		printf("1..0 # SKIP opencl:0: %s\n", tenon_error_message());
		return 77;
	}
	native = device->ops->native(device);
	if (tenon_queue_create(device, &queue))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	tenon_object_unref(queue);
	tenon_object_unref(device);
	tenon_device_close_all();
	return failed;
}
