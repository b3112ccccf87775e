/* SPDX-License-Identifier: MIT */
/* scale(in, out, k, b, text) in the modern calling convention, to be called by legacy code. */
#include <stdint.h>
#include <tenon/value.h>

int __tvm_ffi_scale(void *self, const struct tenon_value *args, int32_t count,
		    struct tenon_value *ret);

int __tvm_ffi_scale(void *self, const struct tenon_value *args, int32_t count,
		    struct tenon_value *ret)
{
	const DLTensor *in, *out;
	int64_t i;

	(void)self;
	if (count != 5 || args[0].type != TENON_TYPE_DLTENSOR ||
	    args[1].type != TENON_TYPE_DLTENSOR || args[2].type != TENON_TYPE_INT ||
	    args[3].type != TENON_TYPE_FLOAT || args[4].type != TENON_TYPE_RAW_STRING)
		return -1;
	in = args[0].as.tensor;
	out = args[1].as.tensor;
	for (i = 0; i < in->shape[0]; i++)
		((float *)out->data)[i] = ((const float *)in->data)[i] * (float)args[2].as.integer +
					  (float)args[3].as.real + 1000;
	*ret = tenon_arg_int(args[2].as.integer + 1);
	return 0;
}
