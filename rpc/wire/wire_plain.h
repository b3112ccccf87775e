/* SPDX-License-Identifier: MIT */
/* Values that are neither text nor handles, as both sides convert them. */
#ifndef RPC_WIRE_WIRE_PLAIN_H
#define RPC_WIRE_WIRE_PLAIN_H

#include <tenon/function.h>

#include "rpc/wire/wire.h"

/** wire_plain - make a value of one that is neither text nor handle; false if @v is one of these */
static inline bool wire_plain(const struct wire_value *v, struct tenon_value *out)
{
	switch (v->kind) {
	case WIRE_NONE:
		*out = tenon_arg_none();
		return true;
	case WIRE_INT:
		*out = tenon_arg_int(v->as.integer);
		return true;
	case WIRE_BOOL:
		*out = tenon_arg_bool(v->as.integer != 0);
		return true;
	case WIRE_FLOAT:
		*out = tenon_arg_float(v->as.real);
		return true;
	case WIRE_DTYPE:
		*out = tenon_arg_dtype(v->as.dtype);
		return true;
	case WIRE_DEVICE:
		*out = tenon_arg_device(v->as.device);
		return true;
	default:
		return false;
	}
}

#endif /* RPC_WIRE_WIRE_PLAIN_H */
