/* SPDX-License-Identifier: MIT */
/* A command stream in the import tree of a library, called by the library's code. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <tenon/module.h>
#include <tenon/tensor.h>

#include "devices/mortise/mortise_device.h"
#include "tests/mortise/stream.h"
#include "tests/unit/suite.h"

#define ok(call)                                                                                   \
	do {                                                                                       \
		int err_ = (call);                                                                 \
		if (err_)                                                                          \
			print_error("%s: %s\n", #call, tenon_error_message());                     \
		assert_int_equal(err_, 0);                                                         \
	} while (0)

static char folder[4096];

static void path_of(char *path, size_t size, const char *name)
{
	snprintf(path, size, "%s/%s", folder, name);
}

static void save(const char *name, const struct tenon_buffer *b)
{
	char path[4200];
	FILE *f;

	path_of(path, sizeof(path), name);
	f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(b->data, 1, b->size, f), b->size);
	fclose(f);
}

static void compile(const char *out, bool imports)
{
	char command[24000], define[4300] = "";

	if (imports)
		snprintf(define, sizeof(define), "-DIMPORTS='\"%s/imports.bin\"'", folder);
	snprintf(command, sizeof(command),
		 "%s -shared -fPIC -I'%s/include' -I'%s' %s '%s/tests/mortise/stream_host.c' -o "
		 "'%s/%s'",
		 getenv("CC"), getenv("TENON_SOURCE"), getenv("TENON_SOURCE"), define,
		 getenv("TENON_SOURCE"), folder, out);
	assert_int_equal(system(command), 0);
}

/* model.so: host code, and the sample as its import */
static void link_module(void)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct tenon_module *host, *stream;
	char path[4200];

	ok(sample_stream(&b));
	save("sample.cmdstream", &b);
	tenon_buffer_fini(&b);
	compile("host.so", false);
	path_of(path, sizeof(path), "host.so");
	ok(tenon_module_load(path, &host));
	path_of(path, sizeof(path), "sample.cmdstream");
	ok(tenon_module_load(path, &stream));
	ok(tenon_module_import(host, stream));
	tenon_object_unref(stream);
	b = (struct tenon_buffer)TENON_BUFFER_INIT;
	ok(tenon_module_write_blob(host, TENON_GENERATION_FFI, &b));
	tenon_object_unref(host);
	save("imports.bin", &b);
	tenon_buffer_fini(&b);
	compile("model.so", true);
}

static void call(struct tenon_module *m, const char *name, struct tenon_tensor *x,
		 struct tenon_tensor *y)
{
	const struct tenon_value args[] = { tenon_arg_object(x), tenon_arg_object(y) };
	struct tenon_value ret = tenon_arg_none();
	struct tenon_function *f = NULL;

	ok(tenon_module_get_function(m, name, &f));
	assert_non_null(f);
	ok(tenon_function_call(f, args, 2, &ret));
	tenon_object_unref(f);
}

static void fill(struct tenon_tensor *x, int step)
{
	int i;

	for (i = 0; i < SAMPLE_INPUTS; i++)
		((int8_t *)x->dl.data)[i] = (int8_t)(i * step - 50);
}

static void assert_dense(const struct tenon_tensor *x, const struct tenon_tensor *y)
{
	unsigned int n;

	for (n = 0; n < SAMPLE_OUTPUTS; n++)
		assert_int_equal(((int8_t *)y->dl.data)[n], sample_result(x->dl.data, n));
}

static void host_code_calls_a_stream_in_its_imports(void **unused)
{
	const DLDataType int8 = tenon_dtype(TENON_DTYPE_INT, 8, 1);
	const int64_t inputs = SAMPLE_INPUTS, outputs = SAMPLE_OUTPUTS;
	struct tenon_tensor *x, *y, *dx, *dy;
	struct tenon_device *device;
	struct tenon_module *m;
	char path[4200];

	(void)unused;
	link_module();
	path_of(path, sizeof(path), "model.so");
	ok(tenon_module_load(path, &m));
	ok(tenon_device_open("mortise:0", &device));
	ok(tenon_tensor_create(&inputs, 1, int8, &x));
	ok(tenon_tensor_create(&outputs, 1, int8, &y));
	ok(tenon_tensor_create_on(device->id, &inputs, 1, int8, &dx));
	ok(tenon_tensor_create_on(device->id, &outputs, 1, int8, &dy));
	fill(x, 7);
	ok(tenon_tensor_copy(&x->dl, &dx->dl));
	call(m, "layer", dx, dy);
	ok(tenon_tensor_copy(&dy->dl, &y->dl));
	assert_dense(x, y);
	fill(x, 3);
	call(m, "layer_on_host", x, y);
	assert_dense(x, y);
	tenon_object_unref(x);
	tenon_object_unref(y);
	tenon_object_unref(dx);
	tenon_object_unref(dy);
	tenon_object_unref(m);
	tenon_object_unref(device);
}

static int setup(void **unused)
{
	const char *tmpdir = getenv("TMPDIR");

	(void)unused;
	snprintf(folder, sizeof(folder), "%s/stream-XXXXXX", tmpdir && *tmpdir ? tmpdir : "/tmp");
	if (!mkdtemp(folder))
		return -1;
	if (!tenon_backend_find(tenon_slice_of("mortise")) &&
	    tenon_backend_register(&mortise_backend))
		return -1;
	return 0;
}

static int teardown(void **unused)
{
	static const char *const names[] = { "sample.cmdstream", "host.so", "imports.bin",
					     "model.so" };
	char path[4200];
	size_t i;

	(void)unused;
	tenon_device_close_all();
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		path_of(path, sizeof(path), names[i]);
		remove(path);
	}
	rmdir(folder);
	return 0;
}

static void a_stream_for_another_target_says_that_no_backend_has_it(void **state)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct tenon_function *f;
	struct tenon_module *m;
	char *target;

	(void)state;
	ok(sample_stream(&b));
	target = memmem(b.data, b.size, "mortise", 7);
	assert_non_null(target);
	memcpy(target, "mortals", 7);
	ok(tenon_module_load_bytes("cmdstream", (struct tenon_slice){ b.data, b.size }, &m));
	assert_int_equal(tenon_module_get_function(m, "dense", &f), -TENON_E_NO_LOADER);
	assert_error_has("code for \"mortals\"; no backend of this build has that name");
	tenon_error_clear();
	tenon_object_unref(m);
	tenon_buffer_fini(&b);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(host_code_calls_a_stream_in_its_imports),
		cmocka_unit_test(a_stream_for_another_target_says_that_no_backend_has_it),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
