/* SPDX-License-Identifier: MIT */
/*
 * A launcher: host code of a module whose imports are device code for a small core (firmware/kernels). It is what TVM's
 * C backend would write. All tensors are on the device.
 *
 *	make O=build build/device/firmware/kernels/{dense,depthwise}_int8.mortise
 *	cc -shared -fPIC $(pkg-config --cflags tenon) examples/mortise/classifier.c -o classifier.so
 *	tenon run classifier.so --import dense_int8.mortise --import depthwise_int8.mortise --device mortise:0 …
 *
 * With -DIMPORTS='"file"' the import tree, as tenon_module_write_blob() writes it, is part of the library.
 */
#include <tenon/tensor.h>

#ifdef IMPORTS
__asm__(".section .rodata\n.balign 8\n.globl __tvm_ffi__library_bin\n.type __tvm_ffi__library_bin, "
	"%object\n"
	"__tvm_ffi__library_bin:\n.incbin \"" IMPORTS "\"\n"
	".size __tvm_ffi__library_bin, . - __tvm_ffi__library_bin\n.previous\n");
#endif

/* the runtime fills these when it opens the library */
void *__tvm_ffi__library_ctx;
int (*__TVMFFIEnvModLookupFromImports)(void *library, const char *name, void **out);
int (*__TVMFFIFunctionCall)(void *function, const struct tenon_value *args, int32_t count,
			    struct tenon_value *ret);
int __tvm_ffi_classify(void *self, const struct tenon_value *args, int32_t count,
		       struct tenon_value *ret);

static int call(const char *name, const struct tenon_value *args, int32_t count)
{
	struct tenon_value ret = tenon_arg_none();
	void *f;

	if (__TVMFFIEnvModLookupFromImports(__tvm_ffi__library_ctx, name, &f))
		return -1;
	return __TVMFFIFunctionCall(f, args, count, &ret);
}

/* The size of a dimension. */
static int64_t extent(const struct tenon_value *tensor, int dimension)
{
	return ((const struct tenon_tensor *)tensor->as.object)->dl.shape[dimension];
}

/* a: image, weight, bias, scale, shape, result */
static int depthwise(const struct tenon_value *a)
{
	/* the grid: columns and rows of the image */
	const struct tenon_value args[] = { a[5],
					    a[0],
					    a[1],
					    a[2],
					    a[3],
					    a[4],
					    tenon_arg_int(extent(&a[0], 1)),
					    tenon_arg_int(extent(&a[0], 0)) };

	return call("depthwise_int8", args, 8);
}

/* a: weight, bias, scale, result */
static int dense(const struct tenon_value *x, const struct tenon_value *a)
{
	const struct tenon_value args[] = { a[3],
					    *x,
					    a[0],
					    a[1],
					    a[2],
					    tenon_arg_int(extent(&a[0], 1)),
					    tenon_arg_int(extent(&a[0], 0)),
					    tenon_arg_int(1) };

	return call("dense_int8", args, 8);
}

/* image; then for each layer what is said above: a depthwise convolution, two dense layers */
int __tvm_ffi_classify(void *self, const struct tenon_value *args, int32_t count,
		       struct tenon_value *ret)
{
	(void)self;
	*ret = tenon_arg_none();
	if (count != 14 || depthwise(args) || dense(&args[5], &args[6]))
		return -1;
	return dense(&args[9], &args[10]);
}
