/* SPDX-License-Identifier: MIT */
/* Uploaded code that tries each way out of its sandbox (escapes.h). */
#include <tenon/value.h>

#include "escape_calls.h"

#define POINTER(name, part) name,
static int64_t (*const escapes[])(void) = { ESCAPES(POINTER) };

int __tvm_ffi_escape(void *self, const struct tenon_value *args, int32_t count,
		     struct tenon_value *ret);
int __tvm_ffi_escape(void *self, const struct tenon_value *args, int32_t count,
		     struct tenon_value *ret)
{
	const int64_t number = args[0].as.integer;

	(void)self, (void)count;
	ret->type = TENON_TYPE_INT;
	ret->as.integer = number < 0 || number >= (int64_t)(sizeof(escapes) / sizeof(*escapes))
				  ? -1
				  : escapes[number]();
	return 0;
}
