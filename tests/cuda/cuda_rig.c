/* SPDX-License-Identifier: MIT */
/* Open a device of the fake libcuda for a suite, and find out whether a case left anything behind. */
#include "tests/cuda/cuda_rig.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define EXECUTABLES 8
#define ARGUMENTS   8

struct rig rig;

const char rig_bump[] = RIG_PTX("bump", ".param .u64 data",
				"ld.param.u64 %rd1, [data];\n"
				"cvta.to.global.u64 %rd1, %rd1;\n"
				"mov.u32 %r1, %ctaid.x;\n"
				"mul.wide.u32 %rd2, %r1, 4;\n"
				"add.s64 %rd1, %rd1, %rd2;\n"
				"ld.global.u32 %r2, [%rd1];\n"
				"add.s32 %r2, %r2, 1;\n"
				"st.global.u32 [%rd1], %r2;\n");

const char rig_poke[] = RIG_PTX("poke", ".param .u64 data",
				"ld.param.u64 %rd1, [data];\n"
				"cvta.to.global.u64 %rd1, %rd1;\n"
				"mov.u32 %r1, 7;\n"
				"st.global.u32 [%rd1], %r1;\n");

static void *library;
static long baseline;
static int gave_up;
static struct tenon_executable *executables[EXECUTABLES];
static struct tenon_program programs[EXECUTABLES];
static struct tenon_kernel_info infos[EXECUTABLES];
static struct tenon_argument arguments_of[EXECUTABLES][ARGUMENTS];
static int program_count, executable_count;

int rig_start(const char *mode)
{
	const char *build = getenv("TENON_BUILD");
	static char path[4096];

	snprintf(path, sizeof(path), "%s/tests/cuda/fake_cuda.so", build ? build : "build");
	setenv("TENON_CUDA_LIBRARY", path, 1);
	setenv("TENON_FAKE_CUDA", mode, 1);
	library = dlopen(path, RTLD_NOW);
	rig.fake = library ? dlsym(library, "fake_cuda") : NULL;
	if (rig.fake)
		return 0;
	fprintf(stderr, "the fake libcuda is not built: %s\n", dlerror());
	return -1;
}

void *rig_function(const char *name)
{
	return dlsym(library, name);
}

void rig_fail(const char *function, int at, int result)
{
	rig.fake->failing = function;
	rig.fake->result = result;
	rig.fake->fail_at = at;
}

int rig_setup(void **state)
{
	long live = rig.fake->live;

	(void)state;
	memset(rig.fake, 0, sizeof(*rig.fake));
	rig.fake->live = live;
	baseline = live;
	gave_up = 0;
	program_count = executable_count = 0;
	if (tenon_device_open("cuda:0", &rig.device))
		return -1;
	return tenon_queue_create(rig.device, &rig.queue);
}

void rig_close(void)
{
	while (executable_count)
		tenon_object_unref(executables[--executable_count]);
	program_count = 0;
	tenon_object_unref(rig.queue);
	tenon_object_unref(rig.device);
	rig.queue = NULL;
	rig.device = NULL;
	tenon_device_close_all();
	tenon_error_clear();
}

static long left_of(const struct fake_cuda *fake)
{
	return gave_up ? 0 : __atomic_load_n(&fake->live, __ATOMIC_ACQUIRE) - baseline;
}

int rig_teardown(void **state)
{
	struct fake_cuda *fake = rig.fake;
	long left;
	int i;

	(void)state;
	fake->fail_at = 0;
	rig_close();
	fake_cuda_hang(fake, 0);
	/* the core's thread of a launch that waited may be the last to hold on to the queue */
	for (i = 0; i < 60000 && left_of(fake); i++)
		usleep(1000);
	left = left_of(fake);
	if (left)
		print_error("%ld objects of CUDA were not given back\n", left);
	if (fake->complaints)
		print_error("%ld complaints, the first: %s\n", fake->complaints, fake->complaint);
	if (fake->waits || fake->blocked)
		print_error("%ld calls waited, %ld for ever\n", fake->waits, fake->blocked);
	return left || fake->complaints || fake->waits || fake->blocked ? -1 : 0;
}

void rig_gives_up(void)
{
	gave_up = 1;
}

struct tenon_memory *rig_memory(uint64_t size)
{
	const struct tenon_memory_request request = { sizeof(request), size, TENON_MEMORY_DEFAULT,
						      -1, NULL };
	struct tenon_memory *m = NULL;

	assert_int_equal(tenon_memory_alloc(rig.device, &request, &m), 0);
	return m;
}

uint64_t rig_soon(void)
{
	return tenon_deadline(60 * SECOND);
}

static void read_letter(struct tenon_argument *a, char letter)
{
	static const struct tenon_argument pointer = {
		{ kDLOpaqueHandle, 64, 1 }, TENON_ARGUMENT_MEMORY, 8, 0
	};
	static const struct tenon_argument map = {
		{ kDLOpaqueHandle, 64, 1 }, TENON_ARGUMENT_TENSOR_MAP, 128, 0
	};
	static const struct tenon_argument number = {
		{ kDLInt, 32, 1 }, TENON_ARGUMENT_SCALAR, 4, 0
	};

	*a = letter == 'p' ? pointer : letter == 'm' ? map : number;
}

const struct tenon_program *rig_program(const char *format, const char *code, size_t size,
					const char *name, const char *arguments, uint32_t flags)
{
	struct tenon_kernel_info *k = &infos[program_count];
	struct tenon_program *p = &programs[program_count];
	struct tenon_argument *a = arguments_of[program_count];

	assert_true(program_count < EXECUTABLES);
	program_count++;
	memset(k, 0, sizeof(*k));
	k->name = tenon_slice_of(name);
	k->arguments = a;
	k->dimensions = 1;
	k->flags = flags;
	for (; *arguments; arguments++) {
		k->memory_count += *arguments == 'p';
		k->scalar_count += *arguments == 'i';
		read_letter(&a[k->argument_count++], *arguments);
	}
	*p = (struct tenon_program){
		{ "cuda", 4 }, { format, strlen(format) }, { code, size }, k, 1, "fake.so"
	};
	return p;
}

struct tenon_executable *rig_executable(const struct tenon_program *program)
{
	struct tenon_executable *e = NULL;

	assert_int_equal(tenon_executable_create(rig.device, program, NULL, &e), 0);
	return e;
}

struct tenon_kernel *rig_kernel(const char *text, const char *name, const char *arguments,
				uint32_t flags)
{
	struct tenon_executable *e =
		rig_executable(rig_program("ptx", text, strlen(text), name, arguments, flags));
	struct tenon_kernel *k = NULL;

	executables[executable_count++] = e;
	if (tenon_executable_kernel(e, 0, &k))
		print_error("%s\n", tenon_error_message());
	assert_non_null(k);
	return k;
}

struct tenon_dispatch rig_dispatch(struct tenon_kernel *kernel, const uint64_t *arguments)
{
	const struct tenon_dispatch d = { .kernel = kernel,
					  .arguments = arguments,
					  .grid = { 1, 1, 1 },
					  .block = { 1, 1, 1 },
					  .cluster = { 1, 1, 1 },
					  .preferred_cluster = { 1, 1, 1 } };

	return d;
}

int32_t rig_word(struct tenon_memory *memory, uint64_t index)
{
	int32_t word = 0;

	assert_int_equal(tenon_queue_read(rig.queue, &word, memory, 4 * index, 4, NULL), 0);
	assert_int_equal(tenon_queue_sync(rig.queue, rig_soon()), 0);
	return word;
}
