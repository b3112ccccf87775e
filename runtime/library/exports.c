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
#include <limits.h>
#include <stdlib.h>
#include <string.h>

const struct tenon_slice abi_no_text = { "", 0 };
const struct type_info abi_unknown_type = { .index = -1, .key = { "?", 1 } };

const struct tenon_tvm_table *(*tenon_tvm_extend)(const struct tenon_tvm_table *table);

static const struct tenon_tvm_table *bound;

int tenon_tvm_bind(const struct tenon_tvm_table *table)
{
	if (!table || table->version != TVM_TABLE_VERSION || table->size < sizeof(*table))
		return -1;
	if (tenon_tvm_extend)
		table = tenon_tvm_extend(table);
	__atomic_store_n(&bound, table, __ATOMIC_RELEASE);
	return 0;
}

#define TENON_SONAME "libtenon.so.0"

/*
 * Open libtenon from where programs look for libraries, or from the folder above the file of this
 * library, links followed: that is where it is built and installed.
 */
static void *open_tenon(void)
{
	void *library = dlopen(TENON_SONAME, RTLD_NOW | RTLD_LOCAL);
	char file[PATH_MAX + sizeof("/../" TENON_SONAME)];
	char *slash;
	Dl_info info;

	if (library || !dladdr((void *)open_tenon, &info) || !realpath(info.dli_fname, file))
		return library;
	slash = strrchr(file, '/');
	if (!slash)
		return NULL;
	memcpy(slash, "/../" TENON_SONAME, sizeof("/../" TENON_SONAME));
	return dlopen(file, RTLD_NOW | RTLD_LOCAL);
}

/* Used when the process loads this library without libtenon, as a dependency of a module. */
static __attribute__((noinline, cold)) const struct tenon_tvm_table *find_table(void)
{
	const struct tenon_tvm_table *(*find)(void);
	void *library;

	*(void **)&find = dlsym(RTLD_DEFAULT, "tenon_tvm_table");
	if (!find) {
		library = open_tenon();
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
