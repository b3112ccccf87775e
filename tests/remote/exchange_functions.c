/* SPDX-License-Identifier: MIT */
/* Functions for the exchanges, uploaded to servers that have none of TVM's tests. */
#include <tenon/value.h>

#define FUNCTION(name)                                                                             \
	int __tvm_ffi_##name(void *self, const struct tenon_value *args, int32_t count,            \
			     struct tenon_value *ret);                                             \
	int __tvm_ffi_##name(void *self, const struct tenon_value *args, int32_t count,            \
			     struct tenon_value *ret)

/* for values that are no objects */
FUNCTION(echo)
{
	(void)self;
	(void)count;
	*ret = args[0];
	return 0;
}

FUNCTION(addone)
{
	(void)self;
	(void)count;
	*ret = args[0];
	ret->as.integer++;
	return 0;
}
