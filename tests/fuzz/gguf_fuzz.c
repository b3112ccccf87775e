/* SPDX-License-Identifier: MIT */
/* The bytes are a file in GGUF, whose blocks become numbers. */
#include <stdlib.h>

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct tenon_slice bytes = { (const char *)data, size };
	struct tenon_params *params, *numbers;
	int err;

	fuzz_params(bytes);
	if (tenon_params_read(bytes, NULL, "params", &params))
		return 0;
	err = tenon_params_dequantize(params, tenon_dtype(TENON_DTYPE_FLOAT, 16, 1), &numbers);
	fuzz_check(err);
	tenon_object_unref(numbers);
	tenon_object_unref(params);
	return 0;
}
