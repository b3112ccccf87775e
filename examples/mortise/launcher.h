/* SPDX-License-Identifier: MIT */
/*
 * What host code of a module needs to call device code in its imports. It is what TVM's C backend would write; include
 * it in one file of a library. With -DIMPORTS='"file"' the import tree, as tenon_module_write_blob() writes it, is part
 * of the library.
 */
#ifndef EXAMPLES_MORTISE_LAUNCHER_H
#define EXAMPLES_MORTISE_LAUNCHER_H

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

/* A function that the runtime finds by NAME; one that fails returns something else than 0. */
#define OPERATOR(name)                                                                             \
	int __tvm_ffi_##name(void *self, const struct tenon_value *args, int32_t count,            \
			     struct tenon_value *ret);                                             \
	int __tvm_ffi_##name(void *self, const struct tenon_value *args, int32_t count,            \
			     struct tenon_value *ret)

/* Call a function of the imports, or one of the runtime's. */
static inline int call(const char *name, const struct tenon_value *args, int32_t count)
{
	struct tenon_value ret = tenon_arg_none();
	void *f;

	if (__TVMFFIEnvModLookupFromImports(__tvm_ffi__library_ctx, name, &f))
		return -1;
	return __TVMFFIFunctionCall(f, args, count, &ret);
}

/* The tensor of an argument: executors pass pointers, programs pass objects. */
static inline const DLTensor *tensor(const struct tenon_value *arg)
{
	if (arg->type == TENON_TYPE_DLTENSOR)
		return arg->as.pointer;
	return &((const struct tenon_tensor *)arg->as.object)->dl;
}

/*
 * Launch a kernel on the device where its first argument lies. A kernel takes its arguments, then the extents of its
 * launch tags.
 */
static inline int launch(const char *kernel, const struct tenon_value *args, int32_t count)
{
	DLDevice device = tensor(args)->device;
	const struct tenon_value place[] = { tenon_arg_int(device.device_type),
					     tenon_arg_int(device.device_id) };

	return call("__tvm_set_device", place, 2) ? -1 : call(kernel, args, count);
}

#endif /* EXAMPLES_MORTISE_LAUNCHER_H */
