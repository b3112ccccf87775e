/* SPDX-License-Identifier: MIT */
/* Libraries of CUDA that are not there, not whole, or do not start; and the compiler of source. */
#include "tests/cuda/cuda_rig.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <tenon/backend/buffer.h>
#include <unistd.h>

#include "driver/cuda/cuda_api.h"
#include "runtime/device/device_table.h"
#include "tests/cuda/fake_nvrtc.h"

static const char *library(const char *name)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/tests/cuda/%s.so", getenv("TENON_BUILD"), name);
	return path;
}

/* A library is opened once in a process: what has to be seen with another one runs in a child. */
static int in_child(const char *cuda, const char *nvrtc, int (*run)(void))
{
	int status = -1;
	pid_t child = fork();

	if (!child) {
		setenv("TENON_CUDA_LIBRARY", cuda, 1);
		setenv("TENON_NVRTC_LIBRARY", nvrtc, 1);
		setenv("TENON_FAKE_CUDA", "inline", 1);
		alarm(120);
		_exit(run());
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return -1;
	return status;
}

static int lacks(const char *text)
{
	if (message_has(text))
		return 0;
	print_error("want:  %s\nfound: %s\n", text, tenon_error_message());
	return 1;
}

static int run_absent(void)
{
	struct tenon_buffer out = TENON_BUFFER_INIT;
	struct tenon_device *d = NULL;
	const struct tenon_backend *b = tenon_backend_find(tenon_slice_of("cuda"));
	int bad;

	if (tenon_device_open("cuda:0", &d) != -TENON_E_DEVICE)
		return 1;
	bad = lacks("libcuda-not-there.so") | lacks("apt install nvidia-driver libcuda1");
	tenon_error_clear();
	/* for the doctor it is a line, and no failure */
	bad |= backend_opened(b)->doctor(&out) != 0;
	tenon_buffer_u8(&out, 0);
	bad |= !strstr((char *)out.data, "libcuda-not-there.so");
	bad |= tenon_error_status() != 0;
	tenon_buffer_fini(&out);
	return bad;
}

static int run_broken(void)
{
	struct tenon_device *d = NULL;

	if (tenon_device_open("cuda:0", &d) != -TENON_E_DEVICE)
		return 1;
	return lacks("cuEventRecord");
}

static int run_mismatch(void)
{
	struct fake_cuda *fake = dlsym(dlopen(getenv("TENON_CUDA_LIBRARY"), RTLD_NOW), "fake_cuda");
	struct tenon_device *d = NULL;

	fake->failing = "cuInit";
	fake->fail_at = 1;
	fake->result = CU_SYSTEM_DRIVER_MISMATCH;
	if (tenon_device_open("cuda:0", &d) != -TENON_E_DEVICE)
		return 1;
	if (lacks("CUDA does not start: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803: ") ||
	    lacks("libcuda and the kernel's driver are of different versions: reboot"))
		return 1;
	/* and it is looked at again */
	if (tenon_device_open("cuda:0", &d))
		return 1;
	tenon_object_unref(d);
	return 0;
}

static int run_none(void)
{
	struct fake_cuda *fake = dlsym(dlopen(getenv("TENON_CUDA_LIBRARY"), RTLD_NOW), "fake_cuda");
	const struct tenon_backend *b = tenon_backend_find(tenon_slice_of("cuda"));
	uint32_t count = 7;

	fake->failing = "cuInit";
	fake->fail_at = 1;
	fake->result = CU_NO_DEVICE;
	return tenon_backend_count(b, &count) || count;
}

static int run_old(void)
{
	static const struct tenon_kernel_info info = { .name = { "bump", 4 },
						       .flags = TENON_KERNEL_CLUSTER,
						       .dimensions = 1 };
	struct tenon_program p = { { "cuda", 4 }, { "ptx", 3 }, { NULL, 0 }, &info, 1, "old.so" };
	struct tenon_buffer out = TENON_BUFFER_INIT;
	struct tenon_executable *e = NULL;
	struct tenon_device *d = NULL;
	struct tenon_kernel *k = NULL;
	int bad;

	if (tenon_device_open("cuda:0", &d))
		return lacks("no error");
	bad = d->properties->flags & TENON_DEVICE_STREAM_ORDERED ? 1 : 0;
	bad |= d->properties->uuid[0] != 0x10;
	p.code = tenon_slice_of(rig_bump);
	if (tenon_executable_create(d, &p, NULL, &e))
		return lacks("no error");
	bad |= tenon_executable_kernel(e, 0, &k) != -TENON_E_UNSUPPORTED;
	bad |= lacks("kernel bump wants clusters of blocks: a GPU of compute capability 9.0 and a "
		     "driver of CUDA 11.8 have them");
	bad |= backend_opened(d->backend)->doctor(&out) != 0;
	tenon_buffer_u8(&out, 0);
	bad |= !strstr((char *)out.data, "no stream-ordered memory: a driver of CUDA 11.2 has it");
	return bad;
}

static struct tenon_program source_program(struct tenon_kernel_info *info, const char *text)
{
	static const struct tenon_argument pointer = {
		{ kDLOpaqueHandle, 64, 1 }, TENON_ARGUMENT_MEMORY, 8, 0
	};
	const struct tenon_program p = {
		{ "cuda", 4 }, { "cuda", 4 }, { text, strlen(text) }, info, 1, "source.so"
	};

	*info = (struct tenon_kernel_info){ .name = { "bump", 4 },
					    .arguments = &pointer,
					    .argument_count = 1,
					    .memory_count = 1,
					    .dimensions = 1 };
	return p;
}

/* Compile and get the kernel; what getting it answers. */
static int compile(struct tenon_device *d, const char *text)
{
	struct tenon_kernel_info info;
	struct tenon_program p = source_program(&info, text);
	struct tenon_executable *e = NULL;
	struct tenon_kernel *k = NULL;
	int err = tenon_executable_create(d, &p, NULL, &e);

	if (!err)
		err = tenon_executable_kernel(e, 0, &k);
	tenon_object_unref(e);
	return err;
}

static int run_no_compiler(void)
{
	struct tenon_device *d = NULL;

	if (tenon_device_open("cuda:0", &d) || compile(d, "x") != -TENON_E_DEVICE)
		return 1;
	return lacks("source.so: kernel bump on cuda:0: libnvrtc-not-there.so") |
	       lacks("apt install libnvrtc12");
}

static int run_source(void)
{
	struct fake_nvrtc *nvrtc =
		dlsym(dlopen(getenv("TENON_NVRTC_LIBRARY"), RTLD_NOW), "fake_nvrtc");
	char folder[] = "/tmp/tenon-cuda-XXXXXX", command[64];
	struct tenon_buffer text = TENON_BUFFER_INIT;
	struct tenon_device *d = NULL;
	int bad = 0;

	tenon_buffer_printf(&text, "//ptx\n%s", rig_bump);
	tenon_buffer_u8(&text, 0);
	if (!mkdtemp(folder) || setenv("TENON_CACHE_DIR", folder, 1) ||
	    tenon_device_open("cuda:0", &d))
		return 1;
	bad |= compile(d, "int f(void) {}") != -TENON_E_DEVICE;
	bad |= lacks("cuda:0 (Fake GPU 0): CUDA source does not compile (NVRTC error 6):\n"
		     "module.cu(1): error: this declaration has no storage class");
	bad |= compile(d, (char *)text.data) || nvrtc->binaries != 1;
	bad |= strcmp(nvrtc->option, "--gpu-architecture=sm_90a") != 0;
	/* from the cache */
	nvrtc->compiles = 0;
	bad |= compile(d, (char *)text.data) || nvrtc->compiles != 0;
	/* a compiler that is older than the GPU makes text for one it knows */
	setenv("TENON_CACHE_DIR", "", 1);
	nvrtc->knows = "compute_80";
	bad |= compile(d, (char *)text.data) || nvrtc->texts != 1 || nvrtc->compiles != 4;
	bad |= nvrtc->live != 0;
	tenon_buffer_fini(&text);
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return bad | system(command);
}

static void an_absent_library_is_a_reason_with_a_remedy(void **state)
{
	(void)state;
	assert_int_equal(in_child("libcuda-not-there.so", "", run_absent), 0);
}

static void a_library_that_lacks_a_function_names_it(void **state)
{
	(void)state;
	assert_int_equal(in_child(library("fake_cuda_broken"), "", run_broken), 0);
}

static void a_driver_that_does_not_start_says_what_to_do(void **state)
{
	(void)state;
	assert_int_equal(in_child(library("fake_cuda"), "", run_mismatch), 0);
}

static void no_device_is_no_failure(void **state)
{
	(void)state;
	assert_int_equal(in_child(library("fake_cuda"), "", run_none), 0);
}

static void an_old_driver_does_without_what_came_later(void **state)
{
	(void)state;
	assert_int_equal(in_child(library("fake_cuda_old"), "", run_old), 0);
}

static void source_without_a_compiler_is_a_reason_with_a_remedy(void **state)
{
	(void)state;
	assert_int_equal(in_child(library("fake_cuda"), "libnvrtc-not-there.so", run_no_compiler),
			 0);
}

static void source_is_compiled_for_the_device_once(void **state)
{
	char nvrtc[4096];

	(void)state;
	snprintf(nvrtc, sizeof(nvrtc), "%s", library("fake_nvrtc"));
	assert_int_equal(in_child(library("fake_cuda"), nvrtc, run_source), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_absent_library_is_a_reason_with_a_remedy),
		cmocka_unit_test(a_library_that_lacks_a_function_names_it),
		cmocka_unit_test(a_driver_that_does_not_start_says_what_to_do),
		cmocka_unit_test(no_device_is_no_failure),
		cmocka_unit_test(an_old_driver_does_without_what_came_later),
		cmocka_unit_test(source_without_a_compiler_is_a_reason_with_a_remedy),
		cmocka_unit_test(source_is_compiled_for_the_device_once),
	};

	return getenv("TENON_BUILD") ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
