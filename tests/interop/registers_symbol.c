/* SPDX-License-Identifier: MIT */
/* A library of statically linked code that is opened, not linked: its constructor registers a symbol. */
#include <tenon/value.h>

int TVMFFIEnvModRegisterSystemLibSymbol(const char *name, void *symbol);

static int thirteen(void *self, const struct tenon_value *args, int32_t count,
		    struct tenon_value *ret)
{
	(void)self, (void)args, (void)count;
	*ret = tenon_arg_int(13);
	return 0;
}

__attribute__((constructor)) static void start(void)
{
	int (*call)(void *, const struct tenon_value *, int32_t, struct tenon_value *) = thirteen;

	TVMFFIEnvModRegisterSystemLibSymbol("__tvm_ffi_thirteen", *(void **)&call);
}
