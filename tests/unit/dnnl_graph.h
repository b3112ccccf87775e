/* SPDX-License-Identifier: MIT */
/* Make modules of the kind dnnl_json of a graph in JSON. */
#ifndef TESTS_UNIT_DNNL_GRAPH_H
#define TESTS_UNIT_DNNL_GRAPH_H

#include "tests/unit/blob.h"

#include <tenon/array.h>
#include <tenon/backend/buffer.h>

#define TENSOR(op, type, shape)                                                                    \
	"{\"op\": \"" op "\", \"name\": \"x\", \"attrs\": {\"dtype\": [[\"" type                   \
	"\"]], \"shape\": [[" shape "]]}}"
#define INPUT(shape)	TENSOR("input", "float32", shape)
#define CONSTANT(shape) TENSOR("const", "float32", shape)
#define KERNEL(name, inputs, shape, attrs)                                                         \
	"{\"op\": \"kernel\", \"name\": \"" name "\", \"inputs\": [" inputs                        \
	"], \"attrs\": {" attrs "\"dtype\": [[\"float32\"]], \"shape\": [[" shape "]]}}"
#define GRAPH(nodes, arguments, head)                                                              \
	"{\"symbol\": \"dnnl_f\", \"nodes\": [" nodes "], \"arg_nodes\": [" arguments              \
	"], \"heads\": [[" head ", 0, 0]], \"node_row_ptr\": []}"

static inline int load_graph(const char *json, uint64_t constants, struct tenon_module **out)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	uint64_t i;
	int err;

	put_string(&b, "f");
	put_string(&b, json);
	tenon_buffer_u64(&b, constants);
	for (i = 0; i < constants; i++)
		put_string(&b, "c");
	err = tenon_module_load_bytes("dnnl_json", slice_of(&b), out);
	tenon_buffer_fini(&b);
	return err;
}

static inline struct tenon_module *module_of(const char *json, uint64_t constants)
{
	struct tenon_module *m;

	if (load_graph(json, constants, &m)) {
		print_error("%s\n", tenon_error_message());
		fail();
	}
	return m;
}

/* Call __init_f with tensors of these shapes and values. */
static inline int initialise(struct tenon_module *m, int64_t (*shapes)[4],
			     const float *const *values, size_t count)
{
	struct tenon_value tensors[4], ret = tenon_arg_none(), arg;
	struct tenon_array *array;
	struct tenon_tensor *t;
	struct tenon_function *f;
	size_t i, bytes;
	int err, ndim;

	for (i = 0; i < count; i++) {
		for (ndim = 0; ndim < 4 && shapes[i][ndim];)
			ndim++;
		assert_int_equal(tenon_tensor_create(shapes[i], ndim,
						     tenon_dtype(TENON_DTYPE_FLOAT, 32, 1), &t),
				 0);
		assert_int_equal(tenon_tensor_bytes(&t->dl, &bytes), 0);
		memcpy(t->dl.data, values[i], bytes);
		tensors[i] = tenon_arg_object(t);
	}
	assert_int_equal(tenon_array_create(tensors, count, &array), 0);
	for (i = 0; i < count; i++)
		tenon_value_release(&tensors[i]);
	assert_int_equal(tenon_module_get_function(m, "__init_f", &f), 0);
	arg = tenon_arg_object(array);
	err = tenon_call(f, &ret, arg);
	tenon_value_release(&arg);
	tenon_object_unref(f);
	return err;
}

#endif /* TESTS_UNIT_DNNL_GRAPH_H */
