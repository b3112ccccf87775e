/* SPDX-License-Identifier: MIT */
/*
 * A module of C functions for the command to call in unit tests.
 *
 * load_test() "loads" files named .runtest, whose names say which functions they have. Include it after cmocka.h.
 */
#ifndef TESTS_UNIT_RUN_MODULE_H
#define TESTS_UNIT_RUN_MODULE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/module_kind.h>
#include <tenon/tenon.h>
#include <unistd.h>

static char folder[512];

static char *in_folder(const char *name)
{
	static char path[4][640];
	static int turn;

	turn = (turn + 1) % 4;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", folder, name);
	return path[turn];
}

/* ---- the functions */

static int calls;

/* add(int, int) */
static int add(void *self, const struct tenon_value *args, int32_t count, struct tenon_value *ret)
{
	int64_t a, b;

	(void)self;
	calls++;
	if (count != 2)
		return tenon_error(-TENON_E_TYPE, "2 arguments wanted, %d given", count);
	if (tenon_value_int(&args[0], &a) || tenon_value_int(&args[1], &b))
		return -TENON_E_TYPE;
	*ret = tenon_arg_int(a + b);
	return 0;
}

/* scale(float32 tensor, float, float32 tensor): returns nothing */
static int scale(void *self, const struct tenon_value *args, int32_t count, struct tenon_value *ret)
{
	DLTensor *in, *out;
	uint64_t elements;
	double factor;

	(void)self;
	(void)ret;
	calls++;
	if (count != 3)
		return tenon_error(-TENON_E_TYPE, "3 arguments wanted, %d given", count);
	if (tenon_value_tensor(&args[0], &in) || tenon_value_float(&args[1], &factor) ||
	    tenon_value_tensor(&args[2], &out) || tenon_tensor_elements(in, &elements))
		return -TENON_E_TYPE;
	for (uint64_t i = 0; i < elements; i++)
		((float *)out->data)[i] += ((float *)in->data)[i] * (float)factor;
	return 0;
}

/* give(str): returns a value of the type named */
static int give(void *self, const struct tenon_value *args, int32_t count, struct tenon_value *ret)
{
	static const int64_t extents[] = { 2, 3 };
	struct tenon_value two[2] = { tenon_arg_string("a key longer than seven"),
				      tenon_arg_int(1) };
	struct tenon_tensor *tensor;
	struct tenon_array *array;
	struct tenon_shape *shape;
	struct tenon_slice name;
	struct tenon_map *map;
	struct tenon_module *module;
	struct tenon_function *function;
	int err;

	(void)self;
	if (count != 1 || tenon_value_text(&args[0], &name))
		return tenon_error(-TENON_E_TYPE, "the name of a type wanted");
	if (tenon_slice_equal(name, tenon_slice_of("text")))
		return tenon_string_value(tenon_slice_of("a longer text"), ret);
	if (tenon_slice_equal(name, tenon_slice_of("bytes")))
		return tenon_bytes_value((struct tenon_slice){ "\x00\xff", 2 }, ret);
	if (tenon_slice_equal(name, tenon_slice_of("float")))
		*ret = tenon_arg_float(0.1);
	if (tenon_slice_equal(name, tenon_slice_of("bool")))
		*ret = tenon_arg_bool(true);
	if (tenon_slice_equal(name, tenon_slice_of("device")))
		*ret = tenon_arg_device((DLDevice){ kDLCPU, 0 });
	if (tenon_slice_equal(name, tenon_slice_of("dtype")))
		*ret = tenon_arg_dtype(tenon_dtype(TENON_DTYPE_BFLOAT, 16, 1));
	if (tenon_slice_equal(name, tenon_slice_of("tensor"))) {
		err = tenon_tensor_create(extents, 2, tenon_dtype(TENON_DTYPE_INT, 8, 1), &tensor);
		if (err)
			return err;
		((int8_t *)tensor->dl.data)[5] = -7;
		*ret = tenon_arg_object(tensor);
	}
	if (tenon_slice_equal(name, tenon_slice_of("array"))) {
		err = tenon_array_create(two, 2, &array);
		if (err)
			return err;
		*ret = tenon_arg_object(array);
	}
	if (tenon_slice_equal(name, tenon_slice_of("map"))) {
		err = tenon_map_create(two, 1, &map);
		if (err)
			return err;
		*ret = tenon_arg_object(map);
	}
	if (tenon_slice_equal(name, tenon_slice_of("shape"))) {
		err = tenon_shape_create(extents, 2, &shape);
		if (err)
			return err;
		*ret = tenon_arg_object(shape);
	}
	if (tenon_slice_equal(name, tenon_slice_of("module"))) {
		err = tenon_module_load(in_folder("one.runtest"), &module);
		if (err)
			return err;
		*ret = tenon_arg_object(module);
	}
	if (tenon_slice_equal(name, tenon_slice_of("function"))) {
		err = tenon_function_create(NULL, give, NULL, &function);
		if (err)
			return err;
		*ret = tenon_arg_object(function);
	}
	return 0;
}

/* kind(any): the type it is called with */
static int kind(void *self, const struct tenon_value *args, int32_t count, struct tenon_value *ret)
{
	(void)self;
	return tenon_string_value(tenon_slice_of(count ? tenon_type_key(args[0].type) : "-"), ret);
}

/* same(tensor): the dtype, shape and alignment it is called with */
static int describe(void *self, const struct tenon_value *args, int32_t count,
		    struct tenon_value *ret)
{
	char text[128], name[TENON_DTYPE_NAME];
	DLTensor *dl;

	(void)self;
	if (count != 1 || tenon_value_tensor(&args[0], &dl))
		return -TENON_E_TYPE;
	snprintf(text, sizeof(text), "%d dimensions of %s {%d,%d,%d}, device %d:%d, aligned %d",
		 dl->ndim, tenon_dtype_name(dl->dtype, name), dl->dtype.code, dl->dtype.bits,
		 dl->dtype.lanes, dl->device.device_type, dl->device.device_id,
		 (uintptr_t)dl->data % 128 == 0);
	return tenon_string_value(tenon_slice_of(text), ret);
}

static int broken(void *self, const struct tenon_value *args, int32_t count,
		  struct tenon_value *ret)
{
	(void)self;
	(void)args;
	(void)count;
	/* compiled code is known to leave garbage in the result */
	ret->type = TENON_TYPE_ARRAY;
	ret->as.bits = 42;
	return tenon_error(-TENON_E_VALUE, "it is broken");
}

static int no_loader(void *self, const struct tenon_value *args, int32_t count,
		     struct tenon_value *ret)
{
	(void)self;
	(void)args;
	(void)count;
	(void)ret;
	return tenon_error(-TENON_E_NO_LOADER, "no loader for kind \"hexagon\"");
}

static int hang(void *self, const struct tenon_value *args, int32_t count, struct tenon_value *ret)
{
	(void)self;
	(void)args;
	(void)count;
	(void)ret;
	while (pause())
		continue;
	return 0;
}

/* ---- the module */

static const struct {
	const char *name;
	tenon_call_fn call;
} functions[] = {
	{ "add", add },	  { "scale", scale },	    { "give", give },
	{ "kind", kind }, { "broken", broken },	    { "no_loader", no_loader },
	{ "hang", hang }, { "describe", describe },
};

struct test_module {
	struct tenon_module base;
	size_t count; /* it has the first of the functions */
	bool main;    /* and add under the name main */
};

static int test_each(struct tenon_module *m, int (*visit)(void *context, struct tenon_slice name),
		     void *context)
{
	struct test_module *t = (struct test_module *)m;

	for (size_t i = 0; i < t->count; i++) {
		int err = visit(context, tenon_slice_of(functions[i].name));

		if (err)
			return err;
	}
	return t->main ? visit(context, tenon_slice_of("main")) : 0;
}

static int test_get(struct tenon_module *m, struct tenon_slice name, struct tenon_function **out)
{
	struct test_module *t = (struct test_module *)m;

	*out = NULL;
	if (t->main && tenon_slice_equal(name, tenon_slice_of("main")))
		return tenon_function_create(NULL, add, NULL, out);
	for (size_t i = 0; i < t->count; i++) {
		if (tenon_slice_equal(name, tenon_slice_of(functions[i].name)))
			return tenon_function_create(NULL, functions[i].call, NULL, out);
	}
	return 0;
}

static int test_visit(const struct tenon_module *m, const struct tenon_visitor *v)
{
	const struct test_module *t = (const struct test_module *)m;
	struct tenon_value count = tenon_arg_int((int64_t)t->count);

	return v->field(v->context, "count", &count);
}

static const struct tenon_module_ops test_ops = {
	.get_function = test_get,
	.each_function = test_each,
	.visit = test_visit,
};

/* load_from_file.runtest(path, extension) */
static int load_test(void *self, const struct tenon_value *args, int32_t count,
		     struct tenon_value *ret)
{
	struct test_module *t;
	struct tenon_slice path;
	const char *name; /* the folder may be called anything */

	(void)self;
	if (!count || tenon_value_text(&args[0], &path))
		return -TENON_E_TYPE;
	name = strrchr(path.data, '/');
	assert_non_null(name);
	if (strstr(name, "bad"))
		return tenon_error(-TENON_E_FORMAT, "%s: damaged", path.data);
	t = calloc(1, sizeof(*t));
	assert_non_null(t);
	t->count = strstr(name, "one") ? 1 : sizeof(functions) / sizeof(functions[0]);
	t->main = strstr(name, "main") != NULL;
	tenon_module_init(&t->base, &test_ops, tenon_slice_of("runtest"), TENON_MODULE_RUNNABLE);
	*ret = tenon_arg_object(t);
	return 0;
}

#endif /* TESTS_UNIT_RUN_MODULE_H */
