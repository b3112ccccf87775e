/* SPDX-License-Identifier: MIT */
/* Load a module, call a function of it with tensors, print what came out: call lib.so vecadd */
#include <stdio.h>
#include <tenon/tenon.h>

#define COUNT 1024

int main(int argc, char **argv)
{
	static _Alignas(TENON_TENSOR_ALIGN) float a[COUNT], b[COUNT], sum[COUNT];
	int64_t shape[] = { COUNT };
	DLDataType float32 = tenon_dtype(TENON_DTYPE_FLOAT, 32, 1);
	DLTensor x = tenon_dltensor(a, shape, 1, float32), y = tenon_dltensor(b, shape, 1, float32);
	DLTensor z = tenon_dltensor(sum, shape, 1, float32);
	struct tenon_value result = tenon_arg_none();
	struct tenon_module *module = NULL;
	struct tenon_function *add = NULL;
	int err;

	for (int i = 0; i < COUNT; i++)
		a[i] = (float)i, b[i] = 0.5f;
	err = tenon_module_load(argc > 1 ? argv[1] : "lib.so", &module);
	if (!err)
		err = tenon_module_get_function(module, argc > 2 ? argv[2] : "vecadd", &add);
	if (!err)
		err = tenon_call(add, &result, tenon_arg_tensor(&x), tenon_arg_tensor(&y),
				 tenon_arg_tensor(&z));
	if (err)
		fprintf(stderr, "%s\n", tenon_error_message());
	else
		printf("%g %g %g ... %g\n", sum[0], sum[1], sum[2], sum[COUNT - 1]);
	tenon_value_release(&result);
	tenon_object_unref(add);
	tenon_object_unref(module);
	return err ? 1 : 0;
}
