/* SPDX-License-Identifier: MIT */
/* Open a device of the fake OpenCL for a suite, and find out what a case left behind. */
#include "tests/opencl/opencl_rig.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

struct fake_opencl *fake;
struct tenon_device *device;
struct tenon_queue *queue;
char rig_cache[4096];

static const struct tenon_argument arguments[] = {
	{ { kDLOpaqueHandle, 64, 1 }, TENON_ARGUMENT_MEMORY, 8, 0 },
	{ { kDLOpaqueHandle, 64, 1 }, TENON_ARGUMENT_MEMORY, 8, 1 },
	{ { kDLInt, 32, 1 }, TENON_ARGUMENT_SCALAR, 4, 0 },
};

#define KERNEL(text)                                                                               \
	{                                                                                          \
		.name = { text, sizeof(text) - 1 }, .arguments = arguments, .argument_count = 3,   \
		.memory_count = 2, .scalar_count = 1, .dimensions = 1,                             \
	}

const struct tenon_kernel_info rig_kernels[2] = { KERNEL("add"), KERNEL("other") };

bool rig_prepare(void)
{
	const char *folder = getenv("TMPDIR"), *build = getenv("TENON_BUILD");
	char library[4096];

	snprintf(rig_cache, sizeof(rig_cache), "%s/tenon-cache-XXXXXX", folder ? folder : "/tmp");
	if (!build || !mkdtemp(rig_cache))
		return false;
	setenv("TENON_CACHE_DIR", "", 1);
	snprintf(library, sizeof(library), "%s/tests/opencl/fake_opencl.so", build);
	setenv("TENON_OPENCL_LIBRARY", library, 1);
	return true;
}

static int open_device(void)
{
	if (tenon_device_open("opencl:0", &device))
		return -1;
	return tenon_queue_create(device, &queue);
}

void rig_close(void)
{
	tenon_object_unref(queue);
	tenon_object_unref(device);
	queue = NULL;
	device = NULL;
	tenon_device_close_all();
}

int rig_setup(void **state)
{
	void *handle = dlopen(getenv("TENON_OPENCL_LIBRARY"), RTLD_NOW);

	(void)state;
	fake = handle ? dlsym(handle, "fake_opencl") : NULL;
	if (!fake)
		return -1;
	memset(fake, 0, sizeof(*fake));
	return open_device();
}

int rig_teardown(void **state)
{
	long live;

	(void)state;
	rig_close();
	setenv("TENON_CACHE_DIR", "", 1);
	tenon_error_clear();
	live = fake->live;
	if (live)
		print_error("%ld objects of OpenCL were not given back\n", live);
	if (fake->unordered)
		print_error("%ld events were done, and nobody waited for them\n", fake->unordered);
	return live || fake->unordered ? -1 : 0;
}

void rig_reopen(void)
{
	rig_close();
	assert_int_equal(open_device(), 0);
}

uint64_t rig_soon(void)
{
	return tenon_deadline(UINT64_C(60000000000));
}

struct tenon_memory *rig_memory(uint64_t size)
{
	const struct tenon_memory_request request = { sizeof(request), size, TENON_MEMORY_DEFAULT,
						      -1, NULL };
	struct tenon_memory *m = NULL;

	assert_int_equal(tenon_memory_alloc(device, &request, &m), 0);
	return m;
}

struct tenon_executable *rig_executable(const char *format, const char *code, size_t size)
{
	static struct tenon_program program;
	struct tenon_executable *e = NULL;

	program = (struct tenon_program){
		{ "opencl", 6 }, { format, strlen(format) }, { code, size }, rig_kernels, 2,
		"fake.so"
	};
	assert_int_equal(tenon_executable_create(device, &program, NULL, &e), 0);
	return e;
}

struct tenon_executable *rig_source(void)
{
	static const char source[] = "// Function: other\nother\n// Function: add\nadd\n";

	return rig_executable("cl", source, sizeof(source) - 1);
}

void rig_launch(struct rig_launch *l)
{
	memset(l, 0, sizeof(*l));
	l->executable = rig_source();
	l->out = rig_memory(256);
	l->in = rig_memory(256);
	l->arguments[0] = (uintptr_t)l->out;
	l->arguments[1] = (uintptr_t)l->in;
	l->arguments[2] = 7;
	l->dispatch = (struct tenon_dispatch){ .arguments = l->arguments,
					       .grid = { 1, 1, 1 },
					       .block = { 64, 1, 1 },
					       .cluster = { 1, 1, 1 },
					       .preferred_cluster = { 1, 1, 1 } };
	assert_int_equal(tenon_executable_kernel(l->executable, 0, &l->dispatch.kernel), 0);
}

void rig_launch_drop(struct rig_launch *l)
{
	tenon_object_unref(l->executable);
	tenon_object_unref(l->out);
	tenon_object_unref(l->in);
}
