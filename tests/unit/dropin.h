/* SPDX-License-Identifier: MIT */
/* Open the drop-in libraries as a foreign program does: libtvm_ffi.so and libtvm_runtime.so by path, with a libtenon of their own. */
#ifndef TESTS_UNIT_DROPIN_H
#define TESTS_UNIT_DROPIN_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/library/tvm_types.h"
#include "tests/unit/dropin_file.h"
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
	int32_t (*add_type)(const struct tenon_slice *key, int32_t fixed, int32_t depth,
			    int32_t child_slots, int32_t may_overflow, int32_t parent);
	int (*add_field)(int32_t type, const struct type_field *field);
	int (*add_metadata)(int32_t type, const struct type_metadata *metadata);
	int (*add_attribute)(int32_t type, const struct tenon_slice *name,
			     const struct tenon_value *value);
	int (*set_method)(const struct type_method *method, int replace);
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

/* Open a library that is at a path from the folder of libtvm_ffi.so. Return: its handle, or NULL */
static inline void *dropin_open_beside(const char *name)
{
	const char *file = dropin_file();
	char path[4096];

	snprintf(path, sizeof(path), "%.*s/%s", (int)(strrchr(file, '/') - file), file, name);
	return dlopen(path, RTLD_NOW | (strcmp(name, "libtvm_ffi.so") ? RTLD_LOCAL : RTLD_GLOBAL));
}

/* Open libtvm_ffi.so, without a call into it. Return: 0; -1 */
static inline int dropin_open_ffi(void)
{
	void *library = dropin_open_beside("libtvm_ffi.so");

	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		return -1;
	}
	*(void **)&ffi.global = dlsym(library, "TVMFFIFunctionGetGlobal");
	*(void **)&ffi.create = dlsym(library, "TVMFFIFunctionCreate");
	*(void **)&ffi.call = dlsym(library, "TVMFFIFunctionCall");
	*(void **)&ffi.own = dlsym(library, "TVMFFIAnyViewToOwnedAny");
	*(void **)&ffi.unref = dlsym(library, "TVMFFIObjectDecRef");
	*(void **)&ffi.take_error = dlsym(library, "TVMFFIErrorMoveFromRaised");
	*(void **)&ffi.type_index = dlsym(library, "TVMFFITypeKeyToIndex");
	*(void **)&ffi.type_info = dlsym(library, "TVMFFIGetTypeInfo");
	*(void **)&ffi.column = dlsym(library, "TVMFFIGetTypeAttrColumn");
	*(void **)&ffi.add_type = dlsym(library, "TVMFFITypeGetOrAllocIndex");
	*(void **)&ffi.add_field = dlsym(library, "TVMFFITypeRegisterField");
	*(void **)&ffi.add_metadata = dlsym(library, "TVMFFITypeRegisterMetadata");
	*(void **)&ffi.add_attribute = dlsym(library, "TVMFFITypeRegisterAttr");
	*(void **)&ffi.set_method = dlsym(library, "TVMFFIFunctionSetGlobalFromMethodInfo");
	return 0;
}

/* Before all cases */
static inline int dropin_open(void **state)
{
	(void)state;
	if (dropin_open_ffi())
		return -1;
	/* libtvm_runtime.so needs it */
	if (!dropin_open_beside("libtvm_runtime.so")) {
		fprintf(stderr, "%s\n", dlerror());
		return -1;
	}
	/* with a sanitizer, dlopen() does not search the run path of the library that calls it */
	dropin_open_beside("../libtenon-rpc.so.0");
	return 0;
}

#endif /* TESTS_UNIT_DROPIN_H */
