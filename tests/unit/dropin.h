/* SPDX-License-Identifier: MIT */
#ifndef TESTS_UNIT_DROPIN_H
#define TESTS_UNIT_DROPIN_H

/*
 * The drop-in libraries as a foreign program uses them: libtvm_ffi.so and libtvm_runtime.so, opened by path, with another
 * libtenon than the program's own.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/library/tvm_types.h"
#include "tests/unit/suite.h"

/* tvm-ffi's functions */
static struct {
	int (*global)(const struct tenon_slice *name, void **out);
	int (*create)(void *self, tenon_call_fn fn, void (*release)(void *), void **out);
	int (*call)(void *f, const struct tenon_value *args, int32_t count,
		    struct tenon_value *ret);
	int (*own)(const struct tenon_value *view, struct tenon_value *out);
	int (*unref)(void *object);
	void (*take_error)(void **out);
	int (*type_index)(const struct tenon_slice *key, int32_t *out);
	const struct type_info *(*type_info)(int32_t type);
	const struct ffi_column *(*column)(const struct tenon_slice *name);
} ffi;

struct dropin_error {
	struct tenon_object object;
	struct tenon_slice kind, message;
};

static inline void dropin_release(struct tenon_value *v)
{
	if (v->type >= TENON_TYPE_OBJECT && v->as.object)
		ffi.unref(v->as.object);
	*v = tenon_arg_none();
}

static inline void dropin_drop_error(void)
{
	void *error = NULL;

	ffi.take_error(&error);
	if (error)
		ffi.unref(error);
}

/* A global function, which the test keeps */
static inline void *dropin_find(const char *name)
{
	const struct tenon_slice text = tenon_slice_of(name);
	void *f = NULL;

	if (ffi.global(&text, &f) || !f)
		fail_msg("no function %s", name);
	return f;
}

/* What a function makes */
static inline struct tenon_value dropin_made(void *f, const struct tenon_value *args, int32_t count)
{
	struct tenon_value ret = tenon_arg_none();

	assert_int_equal(ffi.call(f, args, count, &ret), 0);
	return ret;
}

/* Before all cases */
static inline int dropin_open(void **state)
{
	const char *file = getenv("TENON_COMPAT_LIBRARY");
	char path[4096];
	void *library;
	int folder;

	(void)state;
	file = file ? file : "build/compat/libtvm_ffi.so";
	folder = (int)(strrchr(file, '/') - file);
	/* libtvm_runtime.so lies beside it, and needs it */
	snprintf(path, sizeof(path), "%.*s/libtvm_runtime.so", folder, file);
	library = dlopen(file, RTLD_NOW | RTLD_GLOBAL);
	if (!library || !dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
		fprintf(stderr, "%s\n", dlerror());
		return -1;
	}
	/* with a sanitizer, dlopen() does not search the run path of the library that calls it */
	snprintf(path, sizeof(path), "%.*s/../libtenon-rpc.so.0", folder, file);
	dlopen(path, RTLD_NOW | RTLD_LOCAL);
	*(void **)&ffi.global = dlsym(library, "TVMFFIFunctionGetGlobal");
	*(void **)&ffi.create = dlsym(library, "TVMFFIFunctionCreate");
	*(void **)&ffi.call = dlsym(library, "TVMFFIFunctionCall");
	*(void **)&ffi.own = dlsym(library, "TVMFFIAnyViewToOwnedAny");
	*(void **)&ffi.unref = dlsym(library, "TVMFFIObjectDecRef");
	*(void **)&ffi.take_error = dlsym(library, "TVMFFIErrorMoveFromRaised");
	*(void **)&ffi.type_index = dlsym(library, "TVMFFITypeKeyToIndex");
	*(void **)&ffi.type_info = dlsym(library, "TVMFFIGetTypeInfo");
	*(void **)&ffi.column = dlsym(library, "TVMFFIGetTypeAttrColumn");
	return 0;
}

#endif /* TESTS_UNIT_DROPIN_H */
