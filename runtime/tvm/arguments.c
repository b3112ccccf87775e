/* SPDX-License-Identifier: MIT */
/* Arguments of global functions, checked. */
#include <tenon/tensor.h>

#include "lib/brief_errors.h"
#include "runtime/tvm/tvm.h"

static int about(int err, const char *function, int32_t i)
{
	return err ? tenon_error_in(err, "%s: argument %d", function, (int)i + 1) : 0;
}

int tvm_int(const char *function, const struct tenon_value *args, int32_t i, int64_t *out)
{
	return about(tenon_value_int(&args[i], out), function, i);
}

int tvm_text(const char *function, const struct tenon_value *args, int32_t i,
	     struct tenon_slice *out)
{
	return about(tenon_value_text(&args[i], out), function, i);
}

int tvm_pointer(const char *function, const struct tenon_value *args, int32_t i, void **out)
{
	*out = NULL;
	if (args[i].type == TENON_TYPE_INT && !args[i].as.integer)
		return 0;
	return about(tenon_value_pointer(&args[i], out), function, i);
}

int tvm_device(const char *function, const struct tenon_value *args, int32_t i, DLDevice *out)
{
	if (args[i].type != TENON_TYPE_DEVICE)
		return about(tenon_error(-TENON_E_TYPE, "expected Device, found %s",
					 tenon_type_key(args[i].type)),
			     function, i);
	*out = args[i].as.device;
	return 0;
}

int tvm_tensor(const char *function, const struct tenon_value *args, int32_t i, DLTensor **out)
{
	return about(tenon_value_tensor(&args[i], out), function, i);
}

int tvm_object(const char *function, const struct tenon_value *args, int32_t i, int32_t type,
	       void *out)
{
	return about((tenon_value_object)(&args[i], type, out), function, i);
}
