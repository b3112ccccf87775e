/* SPDX-License-Identifier: MIT */
/*
 * A library of float32 operators, half of them in the older calling convention, and the text of graphs that call them.
 *
 * Include it after suite.h.
 */
#ifndef TESTS_UNIT_GRAPH_LIBRARY_H
#define TESTS_UNIT_GRAPH_LIBRARY_H

#include <stdio.h>
#include <stdlib.h>

#include <tenon/backend/module_kind.h>
#include "runtime/library/call.h"
#include "runtime/library/tvm_types.h"

static int operator_calls;

static size_t elements_of(const DLTensor *t)
{
	uint64_t n;

	assert_int_equal(tenon_tensor_elements(t, &n), 0);
	return (size_t)n;
}

static float *floats_of(const DLTensor *t)
{
	return t->data;
}

/* out = a + b; of the older convention */
static int legacy_add(union legacy_value *args, int *codes, int count, union legacy_value *ret,
		      int *ret_code, void *resource)
{
	const DLTensor *a = args[0].pointer, *b = args[1].pointer, *out = args[2].pointer;
	size_t i, n = elements_of(out);

	(void)ret;
	(void)ret_code;
	assert_null(resource);
	assert_int_equal(count, 3);
	for (i = 0; i < 3; i++)
		assert_int_equal(codes[i], LEGACY_DLTENSOR);
	assert_int_equal(elements_of(a), n);
	for (i = 0; i < n; i++)
		floats_of(out)[i] = floats_of(a)[i] + floats_of(b)[i];
	operator_calls++;
	return 0;
}

/* out = number of dimensions of in; of the older convention */
static int legacy_ndim(union legacy_value *args, int *codes, int count, union legacy_value *ret,
		       int *ret_code, void *resource)
{
	const DLTensor *in = args[0].pointer, *out = args[1].pointer;

	(void)codes;
	(void)count;
	(void)ret;
	(void)ret_code;
	(void)resource;
	floats_of(out)[0] = (float)in->ndim;
	floats_of(out)[1] = (float)in->shape[0];
	return 0;
}

static int legacy_fails(union legacy_value *args, int *codes, int count, union legacy_value *ret,
			int *ret_code, void *resource)
{
	(void)args;
	(void)codes;
	(void)count;
	(void)ret;
	(void)ret_code;
	(void)resource;
	tenon_error(-TENON_E_CALL, "the operator is out of order");
	return -1;
}

/* out = 2 * in; of today's convention, and returns something that the caller must drop */
static int twice(void *self, const struct tenon_value *args, int32_t count, struct tenon_value *ret)
{
	DLTensor *in, *out;
	size_t i;

	(void)self;
	assert_int_equal(count, 2);
	assert_int_equal(tenon_value_tensor(&args[0], &in), 0);
	assert_int_equal(tenon_value_tensor(&args[1], &out), 0);
	for (i = 0; i < elements_of(out); i++)
		floats_of(out)[i] = 2 * floats_of(in)[i];
	operator_calls++;
	return tenon_string_value(tenon_slice_of("a text of more than seven bytes"), ret);
}

static float linked_weights[4] __attribute__((aligned(128))) = { 10, 20, 30, 40 };
static int linked_storage = -1;

static int lookup_linked(void *self, const struct tenon_value *args, int32_t count,
			 struct tenon_value *ret)
{
	int64_t storage;

	(void)self;
	(void)count;
	assert_int_equal(tenon_value_int(&args[0], &storage), 0);
	if (storage == linked_storage)
		*ret = tenon_arg_pointer(linked_weights);
	return 0;
}

static int library_get_function(struct tenon_module *m, struct tenon_slice name,
				struct tenon_function **out)
{
	static const struct {
		const char *name;
		legacy_fn fn;
	} old[] = { { "add", legacy_add }, { "ndim", legacy_ndim }, { "fails", legacy_fails } };
	size_t i;

	for (i = 0; i < 3; i++)
		if (tenon_slice_equal(tenon_slice_of(old[i].name), name))
			return tvm_legacy_function_create((void *)old[i].fn, &m->object, out);
	if (tenon_slice_equal(tenon_slice_of("twice"), name))
		return tenon_function_create(NULL, twice, NULL, out);
	if (linked_storage >= 0 && tenon_slice_equal(tenon_slice_of("_lookup_linked_param"), name))
		return tenon_function_create(NULL, lookup_linked, NULL, out);
	*out = NULL;
	return 0;
}

static int library_each_function(struct tenon_module *m,
				 int (*visit)(void *context, struct tenon_slice name),
				 void *context)
{
	(void)m;
	return visit(context, tenon_slice_of("add")) || visit(context, tenon_slice_of("twice"));
}

static inline struct tenon_module *make_library(void)
{
	static const struct tenon_module_ops ops = { .get_function = library_get_function,
						     .each_function = library_each_function };
	struct tenon_module *m = malloc(sizeof(*m));

	assert_non_null(m);
	tenon_module_init(m, &ops, tenon_slice_of("library"), TENON_MODULE_RUNNABLE);
	m->flags |= TENON_MODULE_OPEN_NAMES;
	return m;
}

/* pieces of graphs */
#define G_IN(name) "{\"op\": \"null\", \"name\": \"" name "\", \"inputs\": []}"
#define G_OP(name, func, n_in, inputs)                                                             \
	"{\"op\": \"tvm_op\", \"name\": \"" name "\", \"attrs\": {\"num_outputs\": \"1\", "        \
	"\"num_inputs\": \"" n_in "\", \"flatten_data\": \"0\", \"func_name\": \"" func "\", "     \
	"\"hash\": \"1\"}, \"inputs\": [" inputs "]}"
#define G_GRAPH(nodes, args, heads, dtypes, storages, shapes, rows)                                \
	"{\"nodes\": [" nodes "], \"arg_nodes\": [" args "], \"heads\": [" heads "], \"attrs\": {" \
	"\"dltype\": [\"list_str\", [" dtypes "]], \"storage_id\": [\"list_int\", [" storages      \
	"]], \"shape\": [\"list_shape\", [" shapes "]]}, \"node_row_ptr\": [" rows "]}"

#define F32 "\"float32\""

/* y = (x + w) + w, and twice of that */
#define CHAIN                                                                                      \
	G_GRAPH(G_IN("x") ", " G_IN("w") ", " G_OP(                                                \
			"first", "add", "2",                                                       \
			"[0, 0, 0], [1, 0, 0]") ", " G_OP("second", "add", "2",                    \
							  "[2, 0, 0], [1, 0, 0]") ", " G_OP("thir" \
											    "d",   \
											    "twic" \
											    "e",   \
											    "1",   \
											    "[3, " \
											    "0, "  \
											    "0]"), \
		"0, 1", "[3, 0, 0], [4, 0, 0]", F32 ", " F32 ", " F32 ", " F32 ", " F32,           \
		"0, 1, 2, 3, 2", "[4], [4], [4], [4], [4]", "0, 1, 2, 3, 4, 5")

static inline int open_text(struct tenon_module *lib, const char *text, struct tenon_params *params,
			    struct tenon_model **out)
{
	return tenon_model_open_graph(lib, tenon_slice_of(text), params, NULL, out);
}

static inline void set_floats(struct tenon_model *model, const char *name, const float *values)
{
	struct tenon_port port;
	struct tenon_value v;
	DLTensor t;
	size_t i;

	assert_int_equal(tenon_model_find_input(model, tenon_slice_of(name), &i), 0);
	assert_int_equal(tenon_model_input(model, i, &port), 0);
	t = tenon_dltensor((void *)(uintptr_t)values, (int64_t *)(uintptr_t)port.shape, port.ndim,
			   port.dtype);
	v = tenon_arg_tensor(&t);
	if (tenon_model_set_input(model, i, &v))
		fail_msg("%s", tenon_error_message());
}

static inline void assert_output(struct tenon_model *model, size_t index, const float *want,
				 size_t count)
{
	struct tenon_value v;
	DLTensor *t;

	assert_int_equal(tenon_model_output_value(model, index, &v), 0);
	assert_int_equal(tenon_value_tensor(&v, &t), 0);
	assert_int_equal(elements_of(t), count);
	assert_memory_equal(t->data, want, count * sizeof(*want));
	tenon_value_release(&v);
}

#endif /* TESTS_UNIT_GRAPH_LIBRARY_H */
