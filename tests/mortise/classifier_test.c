/* SPDX-License-Identifier: MIT */
/* A small classifier of int8: its layers run on a small core, called by host code through the import tree. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <tenon/module.h>
#include <tenon/tensor.h>

#include "devices/mortise/mortise_device.h"
#include "tests/unit/suite.h"

#define SIDE	  8
#define CHANNELS  4
#define PIXELS	  (SIDE * SIDE * CHANNELS)
#define HIDDEN	  32
#define CLASSES	  10
#define ARGUMENTS 14

/* multiplier, shift, zero point, least, most */
static const int32_t depth_scale[] = { 1, 6, 0, -128, 127 }, scale1[] = { 1, 7, 0, 0, 127 },
		     scale2[] = { 1, 7, 0, -128, 127 };
/* height, width, channels, kernel, stride, pad, zero point */
static const int32_t depth_shape[] = { SIDE, SIDE, CHANNELS, 3, 1, 1, 0 };

static int8_t image[PIXELS], depth_weight[9 * CHANNELS], weight1[HIDDEN * PIXELS],
	weight2[CLASSES * HIDDEN];
static int32_t depth_bias[CHANNELS], bias1[HIDDEN], bias2[CLASSES];
static int8_t expected[CLASSES];

static uint32_t state = 1;

static int32_t number(int32_t most)
{
	state = state * 1664525 + 1013904223;
	return (int32_t)(state >> 8) % (2 * most + 1) - most;
}

static int8_t scale(int32_t sum, int shift, int32_t least)
{
	int32_t scaled = (sum + (1 << (shift - 1))) >> shift;

	return (int8_t)(scaled > 127 ? 127 : scaled < least ? least : scaled);
}

/* ---- the same on the host, written apart from the kernels */

static void depthwise(int8_t *out)
{
	int y, x, c, i;

	for (i = 0; i < PIXELS; i++) {
		int32_t sum = depth_bias[i % CHANNELS];

		c = i % CHANNELS;
		for (y = i / CHANNELS / SIDE - 1; y <= i / CHANNELS / SIDE + 1; y++)
			for (x = i / CHANNELS % SIDE - 1; x <= i / CHANNELS % SIDE + 1; x++) {
				int row = y - i / CHANNELS / SIDE + 1;
				int column = x - i / CHANNELS % SIDE + 1;

				if (y >= 0 && y < SIDE && x >= 0 && x < SIDE)
					sum += image[(y * SIDE + x) * CHANNELS + c] *
					       depth_weight[(row * 3 + column) * CHANNELS + c];
			}
		out[i] = scale(sum, 6, -128);
	}
}

static void dense(int8_t *out, int rows, const int8_t *x, int size, const int8_t *weight,
		  const int32_t *bias, int32_t least)
{
	int n, k;

	for (n = 0; n < rows; n++) {
		int32_t sum = bias[n];

		for (k = 0; k < size; k++)
			sum += x[k] * weight[n * size + k];
		out[n] = scale(sum, 7, least);
	}
}

static int make_model(void **unused)
{
	int8_t features[PIXELS], hidden[HIDDEN];
	size_t i;

	(void)unused;
	for (i = 0; i < sizeof(image); i++)
		image[i] = (int8_t)number(127);
	for (i = 0; i < sizeof(depth_weight); i++)
		depth_weight[i] = (int8_t)number(60);
	for (i = 0; i < sizeof(weight1); i++)
		weight1[i] = (int8_t)number(9);
	for (i = 0; i < sizeof(weight2); i++)
		weight2[i] = (int8_t)number(30);
	for (i = 0; i < HIDDEN; i++)
		bias1[i] = number(1000);
	for (i = 0; i < CLASSES; i++)
		bias2[i] = number(1000);
	for (i = 0; i < CHANNELS; i++)
		depth_bias[i] = number(500);
	depthwise(features);
	dense(hidden, HIDDEN, features, PIXELS, weight1, bias1, 0);
	dense(expected, CLASSES, hidden, HIDDEN, weight2, bias2, -128);
	if (!tenon_backend_find(tenon_slice_of("mortise")) &&
	    tenon_backend_register(&mortise_backend))
		return -1;
	return 0;
}

static int drop_devices(void **unused)
{
	(void)unused;
	tenon_device_close_all();
	return 0;
}

/* ---- the module */

#define ok(call)                                                                                   \
	do {                                                                                       \
		int err_ = (call);                                                                 \
		if (err_)                                                                          \
			print_error("%s: %s\n", #call, tenon_error_message());                     \
		assert_int_equal(err_, 0);                                                         \
	} while (0)

static void compile(const char *out, const char *imports)
{
	char command[8192], define[4200] = "";

	if (imports)
		snprintf(define, sizeof(define), "-DIMPORTS='\"%s\"'", imports);
	snprintf(command, sizeof(command),
		 "%s -shared -fPIC -I'%s/include' %s '%s/examples/mortise/classifier.c' -o '%s'",
		 getenv("CC"), getenv("TENON_SOURCE"), define, getenv("TENON_SOURCE"), out);
	assert_int_equal(system(command), 0);
}

static void import(struct tenon_module *m, const char *name)
{
	struct tenon_module *kernels;
	char path[4096];

	snprintf(path, sizeof(path), "%s/device/firmware/kernels/%s.mortise", getenv("TENON_BUILD"),
		 name);
	ok(tenon_module_load(path, &kernels));
	ok(tenon_module_import(m, kernels));
	tenon_object_unref(kernels);
}

/* One file with all: host code, and device code for each machine that was compiled for. */
static void link_module(const char *folder, char *path, size_t size)
{
	struct tenon_buffer blob = TENON_BUFFER_INIT;
	struct tenon_module *launcher;
	char part[4096];
	FILE *f;

	snprintf(part, sizeof(part), "%s/launcher.so", folder);
	compile(part, NULL);
	ok(tenon_module_load(part, &launcher));
	import(launcher, "dense_int8");
	import(launcher, "depthwise_int8");
	ok(tenon_module_write_blob(launcher, TENON_GENERATION_FFI, &blob));
	tenon_object_unref(launcher);
	snprintf(part, sizeof(part), "%s/imports.bin", folder);
	f = fopen(part, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(blob.data, 1, blob.size, f), blob.size);
	fclose(f);
	tenon_buffer_fini(&blob);
	snprintf(path, size, "%s/classifier.so", folder);
	compile(path, part);
}

/* ---- tensors on the device */

static struct tenon_tensor *put(DLDevice on, const char *type, const void *from,
				const int64_t *shape, int dimensions)
{
	struct tenon_tensor *host, *t;
	DLDataType dtype;
	size_t size;

	ok(tenon_dtype_parse(tenon_slice_of(type), &dtype));
	ok(tenon_tensor_create_on(on, shape, dimensions, dtype, &t));
	if (!from)
		return t;
	ok(tenon_tensor_create(shape, dimensions, dtype, &host));
	ok(tenon_tensor_bytes(&host->dl, &size));
	memcpy(host->dl.data, from, size);
	ok(tenon_tensor_copy(&host->dl, &t->dl));
	tenon_object_unref(host);
	return t;
}

#define SHAPE(...)                                                                                 \
	(const int64_t[])                                                                          \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}

static void classify(struct tenon_module *m, const char *uri)
{
	struct tenon_tensor *t[ARGUMENTS], *host;
	struct tenon_value args[ARGUMENTS], ret = tenon_arg_none();
	struct tenon_device *device;
	struct tenon_function *f;
	DLDevice on;
	size_t i;

	ok(tenon_device_open(uri, &device));
	on = tenon_device_id(device);
	t[0] = put(on, "int8", image, SHAPE(SIDE, SIDE, CHANNELS), 3);
	t[1] = put(on, "int8", depth_weight, SHAPE(3, 3, CHANNELS), 3);
	t[2] = put(on, "int32", depth_bias, SHAPE(CHANNELS), 1);
	t[3] = put(on, "int32", depth_scale, SHAPE(5), 1);
	t[4] = put(on, "int32", depth_shape, SHAPE(7), 1);
	t[5] = put(on, "int8", NULL, SHAPE(PIXELS), 1);
	t[6] = put(on, "int8", weight1, SHAPE(HIDDEN, PIXELS), 2);
	t[7] = put(on, "int32", bias1, SHAPE(HIDDEN), 1);
	t[8] = put(on, "int32", scale1, SHAPE(5), 1);
	t[9] = put(on, "int8", NULL, SHAPE(HIDDEN), 1);
	t[10] = put(on, "int8", weight2, SHAPE(CLASSES, HIDDEN), 2);
	t[11] = put(on, "int32", bias2, SHAPE(CLASSES), 1);
	t[12] = put(on, "int32", scale2, SHAPE(5), 1);
	t[13] = put(on, "int8", NULL, SHAPE(CLASSES), 1);
	for (i = 0; i < ARGUMENTS; i++)
		args[i] = tenon_arg_object(t[i]);
	ok(tenon_device_set_current(device));
	ok(tenon_module_get_function(m, "classify", &f));
	assert_non_null(f);
	ok(tenon_function_call(f, args, ARGUMENTS, &ret));
	ok(tenon_tensor_create(SHAPE(CLASSES), 1, t[13]->dl.dtype, &host));
	ok(tenon_tensor_copy(&t[13]->dl, &host->dl));
	assert_memory_equal(host->dl.data, expected, CLASSES);
	tenon_object_unref(host);
	tenon_object_unref(f);
	for (i = 0; i < ARGUMENTS; i++)
		tenon_object_unref(t[i]);
	tenon_object_unref(device);
}

/* ---- cases */

static void one_file_classifies_on_every_board_with_a_core(void **unused)
{
	char folder[] = "classifier-XXXXXX", path[4096], uri[32];
	const struct board_kind *kind;
	struct tenon_module *m;
	const char *hil = getenv("HIL"), *full = getenv("FULL");
	bool all = (hil && *hil) || (full && *full);

	(void)unused;
	if (getenv("TMPDIR") && chdir(getenv("TMPDIR")))
		skip();
	assert_non_null(mkdtemp(folder));
	link_module(folder, path, sizeof(path));
	snprintf(path, sizeof(path), "./%s/classifier.so", folder);
	ok(tenon_module_load(path, &m));
	for (kind = board_kinds; kind->name; kind++) {
		if (kind->ready(kind) || (kind->firmware && !all && strcmp(kind->name, "rv64"))) {
			print_message("# %s is left out: %s\n", kind->name, tenon_error_message());
			tenon_error_clear();
			continue;
		}
		/* it runs streams alone: see stream_rtl_test */
		if (!strcmp(kind->name, "rtl"))
			continue;
		snprintf(uri, sizeof(uri), "mortise://%s", kind->name);
		classify(m, uri);
		print_message("# %s classifies as the host does\n", kind->name);
	}
	tenon_object_unref(m);
	snprintf(path, sizeof(path), "rm -r '%s'", folder);
	assert_int_equal(system(path), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_file_classifies_on_every_board_with_a_core),
	};

	return cmocka_run_group_tests(tests, make_model, drop_devices);
}
