/* SPDX-License-Identifier: MIT */
/* The two permanent objects. */
#include "runtime/ffi/sentinels.h"

/* Without a deleter they are permanent, whatever their count is. */
static struct tenon_object sentinels[2] = {
	{ .refs = FFI_ONE_REFERENCE, .type = TENON_TYPE_OBJECT },
	{ .refs = FFI_ONE_REFERENCE, .type = TENON_TYPE_OBJECT },
};

struct tenon_value ffi_sentinel(enum ffi_sentinel which)
{
	struct tenon_value v = tenon_arg_none();

	v.type = TENON_TYPE_OBJECT;
	v.as.object = &sentinels[which];
	ffi_ref(v.as.object);
	return v;
}

bool ffi_is_sentinel(const struct tenon_object *object, enum ffi_sentinel which)
{
	return object == &sentinels[which];
}
