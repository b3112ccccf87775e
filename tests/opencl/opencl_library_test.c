/* SPDX-License-Identifier: MIT */
/* Libraries of OpenCL that are not there, not whole, or old. */
#include "tests/unit/suite.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tenon/backend/memory.h>
#include <tenon/backend/queue.h>
#include "tests/opencl/fake_opencl.h"

static const char *library(const char *name)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/tests/opencl/%s.so", getenv("TENON_BUILD"), name);
	return path;
}

/* A library is opened once in a process: what has to be seen with another one runs in a child. */
static int in_child(const char *path, int (*run)(void))
{
	int status = -1;
	pid_t child = fork();

	if (!child) {
		setenv("TENON_OPENCL_LIBRARY", path, 1);
		alarm(120);
		_exit(run());
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return -1;
	return status;
}

static int has(const char *text)
{
	if (strstr(tenon_error_message(), text))
		return 0;
	print_error("found: %s\n", tenon_error_message());
	return 1;
}

static int run_absent(void)
{
	struct tenon_device *d = NULL;

	if (tenon_device_open("opencl:0", &d) != -TENON_E_DEVICE)
		return 1;
	return has("libOpenCL-not-there.so") | has("apt install ocl-icd-libopencl1");
}

static int run_broken(void)
{
	struct tenon_device *d = NULL;

	if (tenon_device_open("opencl:0", &d) != -TENON_E_DEVICE)
		return 1;
	return has("clFlush");
}

static int run_empty(void)
{
	struct tenon_device *d = NULL;

	/* the machine's own: it opens, or it is missed by its name */
	return tenon_device_open("opencl:0", &d) && !strstr(tenon_error_message(), "OpenCL");
}

static int run_old(void)
{
	struct tenon_memory *part = NULL;
	struct tenon_memory *m = NULL;
	struct tenon_device *device = NULL;
	struct tenon_queue *queue = NULL;
	const struct tenon_memory_request request = { sizeof(request), 256, TENON_MEMORY_DEFAULT,
						      -1, NULL };
	struct tenon_timeline *t = NULL;
	struct tenon_queue *other = NULL;
	struct tenon_point point;
	struct tenon_sync signal, wait;
	uint64_t time = 0;
	int word = 42, back = 0, bad = 0;

	if (tenon_device_open("opencl:0", &device) || tenon_queue_create(device, &queue) ||
	    tenon_queue_create(device, &other) || tenon_timeline_create(0, &t))
		return has("no error");
	if (tenon_memory_alloc(device, &request, &m))
		return has("no error");
	point = (struct tenon_point){ t, 1 };
	signal = (struct tenon_sync){ NULL, 0, &point, 1 };
	wait = (struct tenon_sync){ &point, 1, NULL, 0 };
	bad |= tenon_queue_fill(queue, m, 0, 64, 0, 4, NULL) != -TENON_E_UNSUPPORTED;
	bad |= has("fills need OpenCL 1.2");
	bad |= tenon_memory_subrange(m, 64, 64, &part) != -TENON_E_UNSUPPORTED;
	bad |= has("parts of memory need OpenCL 1.1");
	bad |= tenon_queue_write(queue, m, 0, &word, 4, &signal) != 0;
	bad |= tenon_queue_read(other, &back, m, 0, 4, &wait) != 0;
	bad |= tenon_queue_timestamp(other, &time, NULL) != 0;
	bad |= tenon_queue_sync(other, tenon_deadline(UINT64_C(60000000000))) != 0;
	return bad | (back != 42) | !time;
}

static struct fake_opencl *fake_of(const char *name)
{
	void *handle = dlopen(library(name), RTLD_NOW);

	return handle ? dlsym(handle, "fake_opencl") : NULL;
}

static int fails_with(const char *text)
{
	struct tenon_device *d = NULL;

	return tenon_device_open("opencl:0", &d) != -TENON_E_DEVICE || has(text);
}

/* Whatever is missing is looked for again the next time. */
static int run_nobody(void)
{
	struct fake_opencl *fake = fake_of("fake_opencl");
	struct tenon_device *d = NULL;
	int bad = 0;

	fake->platforms_status = -1001;
	bad |= fails_with("no driver is registered with it (/etc/OpenCL/vendors). Install");
	fake->platforms_status = 0;
	fake->no_platforms = 1;
	bad |= fails_with("no driver is registered with it");
	fake->no_platforms = 0;
	fake->platforms_status = -6;
	bad |= fails_with("listing OpenCL drivers failed with CL_OUT_OF_HOST_MEMORY (-6)");
	fake->platforms_status = 0;
	fake->no_devices = 1;
	bad |= fails_with("OpenCL has a driver, Fake, but no device. ");
	fake->no_devices = 0;
	if (tenon_device_open("opencl:0", &d))
		return has("no error");
	tenon_object_unref(d);
	tenon_device_close_all();
	return bad | (fake->live != 0);
}

static int run_no_driver(void)
{
	struct tenon_device *d = NULL;

	/* where the loader itself looks for drivers */
	setenv("OCL_ICD_VENDORS", "/nowhere", 1);
	setenv("OPENCL_VENDOR_PATH", "/nowhere", 1);
	setenv("OCL_ICD_FILENAMES", "", 1);
	if (tenon_device_open("opencl:0", &d) != -TENON_E_DEVICE)
		return 1;
	if (strstr(tenon_error_message(), "cannot open shared object"))
		return 77;
	return has("OpenCL has a loader, but no driver is registered with it");
}

static void a_loader_without_drivers_or_devices_says_which_and_is_asked_again(void **state)
{
	(void)state;
	assert_int_equal(in_child(library("fake_opencl"), run_nobody), 0);
}

static void the_machines_own_loader_without_drivers_says_so(void **state)
{
	int status = in_child("libOpenCL.so.1", run_no_driver);

	(void)state;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
		print_message("# skip: there is no libOpenCL.so.1\n");
		skip();
	}
	assert_int_equal(status, 0);
}

static void an_absent_library_is_a_reason_with_a_remedy(void **state)
{
	(void)state;
	assert_int_equal(in_child("libOpenCL-not-there.so", run_absent), 0);
}

static void an_empty_name_is_none(void **state)
{
	(void)state;
	assert_int_equal(in_child("", run_empty), 0);
}

static void a_library_that_lacks_a_function_names_it(void **state)
{
	(void)state;
	assert_int_equal(in_child(library("fake_opencl_broken"), run_broken), 0);
}

static void opencl_1_0_does_all_but_fills_and_parts(void **state)
{
	(void)state;
	assert_int_equal(in_child(library("fake_opencl_old"), run_old), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_loader_without_drivers_or_devices_says_which_and_is_asked_again),
		cmocka_unit_test(the_machines_own_loader_without_drivers_says_so),
		cmocka_unit_test(an_absent_library_is_a_reason_with_a_remedy),
		cmocka_unit_test(an_empty_name_is_none),
		cmocka_unit_test(a_library_that_lacks_a_function_names_it),
		cmocka_unit_test(opencl_1_0_does_all_but_fills_and_parts),
	};

	return getenv("TENON_BUILD") ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
