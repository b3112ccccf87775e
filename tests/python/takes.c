/* SPDX-License-Identifier: MIT */
/* A module with functions that do nothing, for the costs of calls; and some that tests need. */
#include <tenon/function.h>
#include <tenon/tensor.h>
#include <tenon/value.h>
#include <time.h>

#define EXPORTED __attribute__((visibility("default")))

EXPORTED int __tvm_ffi_nothing(void *self, const struct tenon_value *args, int32_t count,
			       struct tenon_value *ret);
EXPORTED int __tvm_ffi_take(void *self, const struct tenon_value *args, int32_t count,
			    struct tenon_value *ret);
EXPORTED int __tvm_ffi_lend(void *self, const struct tenon_value *args, int32_t count,
			    struct tenon_value *ret);
EXPORTED int __tvm_ffi_wait_for(void *self, const struct tenon_value *args, int32_t count,
				struct tenon_value *ret);
EXPORTED int __tvm_ffi_refer(void *self, const struct tenon_value *args, int32_t count,
			     struct tenon_value *ret);
EXPORTED int __tvm_ffi_weaken(void *self, const struct tenon_value *args, int32_t count,
			      struct tenon_value *ret);
EXPORTED int __tvm_ffi_hold(void *self, const struct tenon_value *args, int32_t count,
			    struct tenon_value *ret);

int __tvm_ffi_nothing(void *self, const struct tenon_value *args, int32_t count,
		      struct tenon_value *ret)
{
	(void)self;
	(void)args;
	(void)count;
	(void)ret;
	return 0;
}

int __tvm_ffi_take(void *self, const struct tenon_value *args, int32_t count,
		   struct tenon_value *ret)
{
	(void)self;
	(void)args;
	ret->type = TENON_TYPE_INT;
	ret->as.integer = count;
	return 0;
}

/* Call args[0], a function, with a tensor whose memory ends with the call. */
int __tvm_ffi_lend(void *self, const struct tenon_value *args, int32_t count,
		   struct tenon_value *ret)
{
	float data[] = { 1, 2, 3, 4 };
	int64_t shape[] = { 4 };
	DLTensor lent = { 0 };
	struct tenon_value view = { TENON_TYPE_DLTENSOR, 0, { 0 } };
	struct tenon_function *function;
	int err;

	(void)self;
	if (count != 1 || args[0].type != TENON_TYPE_FUNCTION)
		return -1;
	lent.data = data;
	lent.device.device_type = kDLCPU;
	lent.ndim = 1;
	lent.dtype.code = kDLFloat;
	lent.dtype.bits = 32;
	lent.dtype.lanes = 1;
	lent.shape = shape;
	view.as.tensor = &lent;
	function = (struct tenon_function *)args[0].as.object;
	err = function->call(function, &view, 1, ret);
	if (err || ret->type != TENON_TYPE_NONE)
		return err;
	/* what it wrote */
	ret->type = TENON_TYPE_FLOAT;
	ret->as.real = (double)data[0];
	return 0;
}

/* Wait until args[0], an int32, is not 0; at most args[1] milliseconds. Returns it. */
int __tvm_ffi_wait_for(void *self, const struct tenon_value *args, int32_t count,
		       struct tenon_value *ret)
{
	const struct timespec while_ms = { 0, 1000000 };
	volatile int32_t *flag;
	int64_t left;

	(void)self;
	if (count != 2 || args[0].type != TENON_TYPE_TENSOR)
		return -1;
	flag = ((struct tenon_tensor *)args[0].as.object)->dl.data;
	for (left = args[1].as.integer; !*flag && left; left--)
		nanosleep(&while_ms, NULL);
	ret->type = TENON_TYPE_INT;
	ret->as.integer = *flag;
	return 0;
}

/* Use args[0], whatever it is, for 50 ms; set args[1] at the beginning and args[2] at the end, both int32. */
int __tvm_ffi_hold(void *self, const struct tenon_value *args, int32_t count,
		   struct tenon_value *ret)
{
	const struct timespec while_ms = { 0, 50000000 };

	(void)self;
	(void)ret;
	if (count != 3 || args[1].type != TENON_TYPE_TENSOR || args[2].type != TENON_TYPE_TENSOR)
		return -1;
	*(volatile int32_t *)((struct tenon_tensor *)args[1].as.object)->dl.data = 1;
	nanosleep(&while_ms, NULL);
	*(volatile int32_t *)((struct tenon_tensor *)args[2].as.object)->dl.data = 1;
	return 0;
}

/* Take references to args[0], an object, and drop them, until args[1], an int32, is not 0. */
int __tvm_ffi_refer(void *self, const struct tenon_value *args, int32_t count,
		    struct tenon_value *ret)
{
	volatile int32_t *flag;
	struct tenon_object *object;

	(void)self;
	(void)ret;
	if (count != 2 || args[0].type < TENON_TYPE_OBJECT || args[1].type != TENON_TYPE_TENSOR)
		return -1;
	object = args[0].as.object;
	flag = ((struct tenon_tensor *)args[1].as.object)->dl.data;
	while (!*flag) {
		__atomic_fetch_add(&object->refs, 1, __ATOMIC_RELAXED);
		__atomic_fetch_sub(&object->refs, 1, __ATOMIC_RELEASE);
	}
	return 0;
}

/* Keep a weak reference to args[0], an object; drop the former one. */
int __tvm_ffi_weaken(void *self, const struct tenon_value *args, int32_t count,
		     struct tenon_value *ret)
{
	static struct tenon_object *kept;
	const uint64_t weak = UINT64_C(1) << 32;

	(void)self;
	(void)ret;
	if (count != 1)
		return -1;
	/* that of the test is not the last one */
	if (kept)
		__atomic_fetch_sub(&kept->refs, weak, __ATOMIC_RELEASE);
	kept = args[0].type < TENON_TYPE_OBJECT ? NULL : args[0].as.object;
	if (kept)
		__atomic_fetch_add(&kept->refs, weak, __ATOMIC_RELAXED);
	return 0;
}
