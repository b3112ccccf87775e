/* SPDX-License-Identifier: MIT */
/*
 * The names that modules import. In the compatibility library each stub jumps through a table that
 * libtenon passes, or that the first call finds. In libtenon.a, for modules linked into the
 * program, each is the implementation.
 */
#include "runtime/library/tvm_table.h"

#define EXPORT __attribute__((visibility("default")))

#ifdef TENON_COMPAT_LIBRARY

#include <dlfcn.h>

const struct tenon_slice abi_no_text = { "", 0 };
const struct type_info abi_unknown_type = { .index = -1, .key = { "?", 1 } };

static const struct tenon_tvm_table *bound;

int tenon_tvm_bind(const struct tenon_tvm_table *table)
{
	if (!table || table->version != TVM_TABLE_VERSION || table->size < sizeof(*table))
		return -1;
	__atomic_store_n(&bound, table, __ATOMIC_RELEASE);
	return 0;
}

/* Used when the process loads this library without libtenon, as a dependency of a module. */
static __attribute__((noinline, cold)) const struct tenon_tvm_table *find_table(void)
{
	const struct tenon_tvm_table *(*find)(void);
	void *library;

	*(void **)&find = dlsym(RTLD_DEFAULT, "tenon_tvm_table");
	if (!find) {
		library = dlopen("libtenon.so.0", RTLD_NOW | RTLD_LOCAL);
		if (library)
			*(void **)&find = dlsym(library, "tenon_tvm_table");
	}
	return find && !tenon_tvm_bind(find()) ? bound : NULL;
}

static inline const struct tenon_tvm_table *table(void)
{
	const struct tenon_tvm_table *t = __atomic_load_n(&bound, __ATOMIC_ACQUIRE);

	return __builtin_expect(!!t, 1) ? t : find_table();
}

#define NAME(type, fail, name, impl, params, args)                                                 \
	EXPORT type name params;                                                                   \
	EXPORT type name params                                                                    \
	{                                                                                          \
		const struct tenon_tvm_table *t = table();                                         \
                                                                                                   \
		return t ? t->name args : fail;                                                    \
	}
#define NAME_VOID(name, impl, params, args)                                                        \
	EXPORT void name params;                                                                   \
	EXPORT void name params                                                                    \
	{                                                                                          \
		const struct tenon_tvm_table *t = table();                                         \
                                                                                                   \
		if (t)                                                                             \
			t->name args;                                                              \
	}

#else

#define NAME(type, fail, name, impl, params, args)                                                 \
	EXPORT type name params;                                                                   \
	EXPORT type name params                                                                    \
	{                                                                                          \
		return impl args;                                                                  \
	}
#define NAME_VOID(name, impl, params, args)                                                        \
	EXPORT void name params;                                                                   \
	EXPORT void name params                                                                    \
	{                                                                                          \
		impl args;                                                                         \
	}

#endif

#include "runtime/library/tvm_names.h"
