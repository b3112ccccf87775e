/* SPDX-License-Identifier: MIT */
/* scale(in, out, k, b, text) in the calling convention of TVM 0.8 to 0.19, to be called by modern code. */
#include <stdint.h>
#include <tenon/dlpack.h>

union legacy_value {
	int64_t integer;
	double real;
	void *handle;
	const char *string;
};

int scale(union legacy_value *args, int *codes, int count, union legacy_value *ret, int *ret_code,
	  void *resource);

int scale(union legacy_value *args, int *codes, int count, union legacy_value *ret, int *ret_code,
	  void *resource)
{
	const DLTensor *in, *out;
	int64_t i;

	(void)resource;
	/* int 0, float 2, DLTensor 7, string 11 */
	if (count != 5 || codes[0] != 7 || codes[1] != 7 || codes[2] != 0 || codes[3] != 2 ||
	    codes[4] != 11)
		return -1;
	in = args[0].handle;
	out = args[1].handle;
	for (i = 0; i < in->shape[0]; i++)
		((float *)out->data)[i] = ((const float *)in->data)[i] * (float)args[2].integer +
					  (float)args[3].real + 2000;
	ret->integer = args[2].integer + 1;
	*ret_code = 0;
	return 0;
}
