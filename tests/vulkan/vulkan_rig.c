/* SPDX-License-Identifier: MIT */
/* Open a Vulkan device behind the fake, and build and run kernels on it. */
#include "tests/vulkan/vulkan_rig.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

struct rig rig_now;

const char *rig_unavailable(void)
{
	const struct tenon_slice name = { "vulkan", 6 };
	const struct tenon_backend *backend = tenon_backend_find(name);
	uint32_t count = 0;

	if (!backend || tenon_backend_count(backend, &count))
		return tenon_error_message();
	return count ? NULL : "no device";
}

static struct fake_vulkan *find_fake(void)
{
	void *handle = dlopen(getenv("TENON_VULKAN_LIBRARY"), RTLD_NOW);

	return handle ? dlsym(handle, "fake_vulkan") : NULL;
}

const char *rig_unavailable_as(uint32_t version)
{
	struct fake_vulkan *fake = find_fake();

	if (fake)
		fake->loader_version = version;
	return rig_unavailable();
}

void rig_find(struct rig *rig)
{
	rig->device = NULL;
	rig->queue = NULL;
	rig->fake = find_fake();
}

int rig_open(struct rig *rig, const char *uri)
{
	int err;

	rig_find(rig);
	if (!rig->fake)
		return -TENON_E_NOT_FOUND;
	err = tenon_device_open(uri, &rig->device);
	return err ? err : tenon_queue_create(rig->device, &rig->queue);
}

int rig_close(struct rig *rig)
{
	int live, complaints;

	tenon_object_unref(rig->queue);
	tenon_object_unref(rig->device);
	rig->queue = NULL;
	rig->device = NULL;
	tenon_device_close_all();
	tenon_error_clear();
	live = rig->fake->live;
	complaints = rig->fake->complaints;
	if (live)
		print_error("%d objects of Vulkan were not given back\n", live);
	if (complaints)
		print_error("%d complaints; the first: %s\n", complaints, rig->fake->complaint);
	memset(rig->fake, 0, sizeof(*rig->fake));
	return live || complaints ? -1 : 0;
}

void rig_describe(struct rig_kernel *k, const struct spirv_sum *sum)
{
	uint32_t i, n = sum->buffers + sum->scalars;

	memset(k, 0, sizeof(*k));
	k->sum = *sum;
	for (i = 0; i < n; i++) {
		struct tenon_argument *a = &k->arguments[i];
		bool memory = i < sum->buffers;

		a->type = memory ? (DLDataType){ kDLOpaqueHandle, 64, 1 }
				 : (DLDataType){ kDLUInt, 32, 1 };
		a->kind = memory ? TENON_ARGUMENT_MEMORY : TENON_ARGUMENT_SCALAR;
		a->size = memory ? 8 : 4;
		a->index = (uint16_t)(memory ? i : i - sum->buffers);
	}
	k->info.name.data = sum->name;
	k->info.name.size = strlen(sum->name);
	k->info.arguments = k->arguments;
	k->info.argument_count = n;
	k->info.memory_count = sum->buffers;
	k->info.scalar_count = sum->scalars;
	k->info.dimensions = 1;
	k->info.code.data = (const char *)k->words;
	k->info.code.size = spirv_sum_write(sum, k->words) * 4;
	k->info.code_flags = sum->block;
	k->program.kind = (struct tenon_slice){ "vulkan", 6 };
	k->program.format = (struct tenon_slice){ "vulkan", 6 };
	k->program.kernels = &k->info;
	k->program.kernel_count = 1;
	k->program.label = "made here";
}

int rig_build(struct rig *rig, struct rig_kernel *k)
{
	int err = 0;

	if (!k->executable)
		err = tenon_executable_create(rig->device, &k->program, NULL, &k->executable);
	return err ? err : tenon_executable_kernel(k->executable, 0, &k->kernel);
}

void rig_sum(struct rig *rig, struct rig_kernel *k, uint32_t buffers, uint32_t scalars, bool block)
{
	const struct spirv_sum sum = { "sum", buffers, scalars, block, 0 };
	int err;

	rig_describe(k, &sum);
	err = rig_build(rig, k);
	if (err)
		print_error("%s\n", tenon_error_message());
	assert_int_equal(err, 0);
}

void rig_drop(struct rig_kernel *k)
{
	tenon_object_unref(k->executable);
	k->executable = NULL;
}

uint64_t rig_soon(void)
{
	return tenon_deadline(UINT64_C(60000000000));
}

static uint32_t *numbers(size_t count, uint32_t first, uint32_t step)
{
	uint32_t *n = malloc(count * sizeof(*n) + 1);
	size_t i;

	assert_non_null(n);
	for (i = 0; i < count; i++)
		n[i] = first + (uint32_t)i * step;
	return n;
}

struct tenon_memory *rig_memory(struct rig *rig, size_t count, uint32_t first, uint32_t step)
{
	const struct tenon_memory_request request = { sizeof(request), count * 4,
						      TENON_MEMORY_DEFAULT, -1, NULL };
	struct tenon_memory *m = NULL;
	uint32_t *n = numbers(count, first, step);

	assert_int_equal(tenon_memory_alloc(rig->device, &request, &m), 0);
	assert_int_equal(tenon_queue_write(rig->queue, m, 0, n, count * 4, NULL), 0);
	assert_int_equal(tenon_queue_sync(rig->queue, rig_soon()), 0);
	free(n);
	return m;
}

struct tenon_operation rig_operation(struct tenon_dispatch *dispatch, const struct rig_kernel *k,
				     uint32_t count, struct tenon_memory *const *memory,
				     const uint32_t *scalars, uint64_t arguments[RIG_ARGUMENTS])
{
	struct tenon_operation op = { .kind = TENON_OP_DISPATCH };
	uint32_t i;

	memset(dispatch, 0, sizeof(*dispatch));
	for (i = 0; i < k->sum.buffers; i++)
		arguments[i] = (uintptr_t)memory[i];
	for (i = 0; i < k->sum.scalars; i++)
		arguments[k->sum.buffers + i] = i ? scalars[i - 1] : count;
	dispatch->kernel = k->kernel;
	dispatch->arguments = arguments;
	for (i = 0; i < 3; i++)
		dispatch->grid[i] = dispatch->block[i] = dispatch->cluster[i] =
			dispatch->preferred_cluster[i] = 1;
	dispatch->grid[0] = (count + 63) / 64;
	op.as.dispatch = dispatch;
	return op;
}

int rig_launch(struct tenon_queue *queue, const struct rig_kernel *k, uint32_t count,
	       struct tenon_memory *const *memory, const uint32_t *scalars)
{
	uint64_t arguments[RIG_ARGUMENTS];
	struct tenon_dispatch dispatch;
	struct tenon_operation op = rig_operation(&dispatch, k, count, memory, scalars, arguments);

	return tenon_queue_submit(queue, &op, NULL);
}

void rig_expect(struct rig *rig, struct tenon_memory *memory, size_t count, uint32_t first,
		uint32_t step)
{
	uint32_t *want = numbers(count, first, step), *found = calloc(count + 1, 4);
	int err = tenon_queue_read(rig->queue, found, memory, 0, count * 4, NULL);

	if (!err)
		err = tenon_queue_sync(rig->queue, rig_soon());
	if (err)
		print_error("%s\n", tenon_error_message());
	assert_int_equal(err, 0);
	assert_memory_equal(found, want, count * 4);
	free(want);
	free(found);
}

int rig_program(struct rig *rig, const char *uri)
{
	const struct tenon_memory_request request = { sizeof(request), 256, TENON_MEMORY_DEFAULT,
						      -1, NULL };
	const struct spirv_sum sum = { "sum", 2, 20, 1, 0 };
	static const uint32_t scalars[19];
	struct tenon_memory *m[2] = { NULL, NULL };
	struct tenon_commands *c = NULL;
	struct tenon_device *device = NULL;
	struct tenon_queue *queue = NULL;
	struct rig_kernel k;
	uint64_t arguments[RIG_ARGUMENTS], stamp;
	struct tenon_dispatch d;
	struct tenon_operation op;
	uint32_t in[64];
	int err, i;

	rig_describe(&k, &sum);
	err = tenon_device_open(uri, &device);
	rig->device = device;
	if (!err)
		err = tenon_queue_create(device, &queue);
	for (i = 0; !err && i < 2; i++)
		err = tenon_memory_alloc(device, &request, &m[i]);
	if (!err)
		err = tenon_queue_fill(queue, m[1], 0, 256, 3, 4, NULL);
	if (!err)
		err = rig_build(rig, &k);
	if (!err)
		err = rig_launch(queue, &k, 64, m, scalars);
	if (!err)
		err = tenon_queue_timestamp(queue, &stamp, NULL);
	if (!err)
		err = tenon_commands_create(device, &c);
	if (!err) {
		op = rig_operation(&d, &k, 64, m, scalars, arguments);
		err = tenon_commands_record(c, &op);
	}
	if (!err)
		err = tenon_commands_finish(c);
	if (!err)
		err = tenon_queue_execute(queue, c, NULL, 0, NULL);
	if (!err)
		err = tenon_queue_read(queue, in, m[0], 0, 256, NULL);
	if (!err)
		err = tenon_queue_sync(queue, rig_soon());
	if (!err)
		assert_true(in[0] == 3 && in[63] == 3);
	tenon_object_unref(c);
	rig_drop(&k);
	tenon_object_unref(m[0]);
	tenon_object_unref(m[1]);
	tenon_object_unref(queue);
	tenon_object_unref(device);
	tenon_device_close_all();
	rig->device = NULL;
	return err;
}

static int open_it(void **state)
{
	int err;

	if (rig_unavailable())
		return 0;
	err = rig_open(&rig_now, *state);
	if (err)
		print_error("%s\n", tenon_error_message());
	return err;
}

static int close_it(void **state)
{
	(void)state;
	return rig_unavailable() ? 0 : rig_close(&rig_now);
}

void rig_needs_device(void)
{
	const char *why = rig_unavailable();

	if (why) {
		print_message("# skip: no Vulkan here: %s\n", why);
		skip();
	}
}

void rig_sync(void)
{
	int err = tenon_queue_sync(rig_now.queue, rig_soon());

	if (err)
		print_error("%s\n", tenon_error_message());
	assert_int_equal(err, 0);
}

/* the device, and what is taken from it */
static char *const devices[] = {
	"vulkan:0",
	"vulkan://0?without=1.2",
	"vulkan://0?without=push-descriptors",
	"vulkan://0?without=host-memory",
	"vulkan://0?without=1.2&without=push-descriptors&without=host-memory",
};

#define DEVICES	   (sizeof(devices) / sizeof(devices[0]))
#define CASES_MOST 32

int rig_group(const char *name, const struct CMUnitTest *cases, size_t count)
{
	static struct CMUnitTest tests[CASES_MOST * DEVICES];
	static char names[CASES_MOST * DEVICES][160];
	size_t i;

	vulkan_environment("validate");
	for (i = 0; i < count * DEVICES && i < CASES_MOST * DEVICES; i++) {
		snprintf(names[i], sizeof(names[i]), "%s (%s)", cases[i % count].name,
			 devices[i / count]);
		tests[i] = (struct CMUnitTest){ names[i], cases[i % count].test_func, open_it,
						close_it, devices[i / count] };
	}
	return _cmocka_run_group_tests(name, tests, i, NULL, NULL);
}
