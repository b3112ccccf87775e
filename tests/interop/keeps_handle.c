/* SPDX-License-Identifier: MIT */
/* A module that looks a function up at its first call, and keeps it, as compiled code does. */
#include <stddef.h>
#include <tenon/value.h>

void *__tvm_ffi__library_ctx;
int (*__TVMFFIEnvModLookupFromImports)(void *library, const char *name, void **out);
int (*__TVMFFIFunctionCall)(void *function, const struct tenon_value *args, int32_t count,
			    struct tenon_value *ret);
int __tvm_ffi_call_kept(void *self, const struct tenon_value *args, int32_t count,
			struct tenon_value *ret);

static void *kept;

int __tvm_ffi_call_kept(void *self, const struct tenon_value *args, int32_t count,
			struct tenon_value *ret)
{
	void *f = __atomic_load_n(&kept, __ATOMIC_ACQUIRE);

	(void)self;
	if (!f) {
		if (__TVMFFIEnvModLookupFromImports(__tvm_ffi__library_ctx, "fixture.kept", &f))
			return -1;
		__atomic_store_n(&kept, f, __ATOMIC_RELEASE);
	}
	return __TVMFFIFunctionCall(f, args, count, ret);
}
