/* SPDX-License-Identifier: MIT */
/*
 * A graph that is linked into the program, for boards without files: no module is loaded, and malloc() is not called
 * while the model is open. MODEL is a folder with an archive in Model Library Format; operators.h lists its functions,
 * a line OPERATOR(name) each (README.md).
 */
#include <stdio.h>
#include <tenon/backend/module_kind.h>
#include <tenon/backend/parallel.h>
#include <tenon/tenon.h>

/* the contents of a file, from NAME to NAME_end */
#define CONTENTS(name, path)                                                                       \
	__asm__(".section .rodata\n.balign 128\n" #name ":\n.incbin \"" path "\"\n" #name          \
		"_end:\n.previous\n");                                                             \
	extern const char name[], name##_end[]

CONTENTS(graph_json, MODEL "/executor-config/graph/default.graph");
CONTENTS(parameters, MODEL "/parameters/default.params");

/* ---- operators */

union tvm_value {
	int64_t integer;
	void *pointer;
};

/* a function that TVM 0.8 to 0.19 compiled */
typedef int operator_fn(union tvm_value *args, int *codes, int count, union tvm_value *ret,
			int *ret_code, void *resource);

#define OPERATOR(name) operator_fn name;
#include "operators.h"
#undef OPERATOR

struct op {
	struct tenon_function base;
	const char *name;
	operator_fn *fn;
};

#define ARGS_MOST   16
#define CODE_TENSOR 7 /* kTVMDLTensorHandle */

static int call_operator(void *self, const struct tenon_value *args, int32_t count,
			 struct tenon_value *ret)
{
	union tvm_value values[ARGS_MOST], result;
	int codes[ARGS_MOST], code, i;

	(void)ret;
	if (count > ARGS_MOST)
		return -TENON_E_UNSUPPORTED;
	for (i = 0; i < count; i++) {
		values[i].pointer = args[i].as.tensor;
		codes[i] = CODE_TENSOR;
	}
	return ((struct op *)self)->fn(values, codes, count, &result, &code, NULL);
}

/* an object that is never freed: one reference, and no deleter */
#define FOREVER(which)                                                                             \
	{                                                                                          \
		.refs = UINT64_C(1) << 32 | 1, .type = (which)                                     \
	}

static struct op operators[] = {
#define OPERATOR(name) { { FOREVER(TENON_TYPE_FUNCTION), call_operator, NULL }, #name, name },
#include "operators.h"
};

static int get_function(struct tenon_module *m, struct tenon_slice name,
			struct tenon_function **out)
{
	size_t i;

	(void)m;
	*out = NULL;
	for (i = 0; i < sizeof(operators) / sizeof(*operators); i++)
		if (tenon_slice_equal(name, tenon_slice_of(operators[i].name))) {
			tenon_object_ref(&operators[i]);
			*out = &operators[i].base;
		}
	return 0;
}

static const struct tenon_module_ops ops = { .get_function = get_function };
static struct tenon_module library = { .object = FOREVER(TENON_TYPE_MODULE), .ops = &ops };

/* What compiled code calls by pointers of these names, of those that it has. */
extern __attribute__((weak)) int (*__TVMBackendParallelLaunch)(tenon_parallel_fn fn, void *closure,
							       int tasks);
extern __attribute__((weak)) void (*__TVMAPISetLastError)(const char *text);

static const char *reason;

static void set_error(const char *text)
{
	reason = text;
}

static void set_pointers(void)
{
	if (&__TVMBackendParallelLaunch)
		__TVMBackendParallelLaunch = tenon_parallel_launch;
	if (&__TVMAPISetLastError)
		__TVMAPISetLastError = set_error;
}

/* ---- the model */

#define MOST 65536 /* bytes of each sort; tenon run model.so --memory says how many a model needs */

static _Alignas(TENON_REGION_ALIGN) char own[MOST], tensors[MOST], work[MOST];

static const struct tenon_regions regions = {
	.size = sizeof(regions),
	.region = { { own, sizeof(own) }, { tensors, sizeof(tensors) }, { work, sizeof(work) } },
};

static _Alignas(TENON_TENSOR_ALIGN) float ones[1024];

/* The input is copied from the array, so it may not be larger. */
static int check_floats(const DLTensor *t)
{
	size_t bytes;

	if (!tenon_tensor_bytes(t, &bytes) && bytes <= sizeof(ones) &&
	    t->dtype.code == TENON_DTYPE_FLOAT && t->dtype.bits == 32)
		return 0;
	reason = "at most 1024 float32";
	return -TENON_E_UNSUPPORTED;
}

static int run(struct tenon_model *model, float *result)
{
	struct tenon_value value, output;
	struct tenon_port port;
	DLTensor input, *t;
	size_t i;
	int err;

	for (i = 0; i < sizeof(ones) / sizeof(*ones); i++)
		ones[i] = 1;
	err = tenon_model_input(model, 0, &port);
	if (err)
		return err;
	input = tenon_dltensor(ones, (int64_t *)port.shape, port.ndim, port.dtype);
	value = tenon_arg_tensor(&input);
	err = check_floats(&input);
	if (!err)
		err = tenon_model_set_input(model, 0, &value);
	if (!err)
		err = tenon_model_run(model);
	if (!err)
		err = tenon_model_output_value(model, 0, &output);
	if (err)
		return err;
	err = tenon_value_tensor(&output, &t);
	if (!err)
		*result = *(float *)t->data;
	tenon_value_release(&output);
	return err;
}

int main(void)
{
	struct tenon_model_options options = { .size = sizeof(options) };
	struct tenon_model *model = NULL;
	struct tenon_slice bytes;
	float result = 0;
	int err;

	set_pointers();
	options.graph = (struct tenon_slice){ graph_json, (size_t)(graph_json_end - graph_json) };
	bytes = (struct tenon_slice){ parameters, (size_t)(parameters_end - parameters) };
	err = tenon_params_read(bytes, NULL, "parameters", &options.params);
	if (!err)
		err = tenon_model_open_in(&library, &options, &regions, &model);
	if (!err)
		err = run(model, &result);
	if (err)
		fprintf(stderr, "%s\n", reason ? reason : tenon_error_message());
	else
		printf("%g ...\n", result);
	tenon_model_close(model);
	tenon_object_unref(options.params);
	return err ? 1 : 0;
}
