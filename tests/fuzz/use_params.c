/* SPDX-License-Identifier: MIT */
/* Read bytes as parameters, and make a tensor of each. */
#include <stdlib.h>

#include "tests/fuzz/fuzz.h"

int fuzz_params(struct tenon_slice bytes)
{
	struct tenon_params *params;
	struct tenon_tensor *t;
	size_t i;
	int err;

	err = tenon_params_read(bytes, NULL, "params", &params);
	fuzz_check(err);
	if (err)
		return 0;
	for (i = 0; i < tenon_params_count(params); i++) {
		err = tenon_params_tensor(params, tenon_params_at(params, i), 128, &t);
		/* what was read has been checked: a tensor of it can be had */
		if (err)
			abort();
		tenon_object_unref(t);
	}
	tenon_object_unref(params);
	return 0;
}
