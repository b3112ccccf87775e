/* SPDX-License-Identifier: MIT */
/*
 * Connects the compatibility library to the runtime. It must not depend on libtenon.so, which may
 * be linked into the program, loaded under another name, or not loaded yet. So libtenon opens it
 * and passes the result of its own tenon_tvm_table() to tenon_tvm_bind() of that library.
 */
#ifndef RUNTIME_LIBRARY_TVM_TABLE_H
#define RUNTIME_LIBRARY_TVM_TABLE_H

#include <tenon/module.h>

#include "runtime/library/tvm_types.h"

/* incremented when a member changes its meaning; new members go at the end */
#define TVM_TABLE_VERSION 1

struct tenon_tvm_table {
	uint32_t version;
	uint32_t size; /* in bytes, of the members that this build sets */
#define NAME(type, fail, name, impl, params, args) type(*name) params;
#define NAME_VOID(name, impl, params, args)	   void(*name) params;
#include "runtime/library/tvm_names.h"
#undef NAME
#undef NAME_VOID
	/* beside the names, for the part of the library that completes it as tvm-ffi's */
	int (*function_each)(int (*visit)(void *context, const char *name,
					  struct tenon_function *function),
			     void *context);
	int (*function_remove)(const char *name);
	int32_t (*type_end)(void);
	bool (*nested_delete)(void *self, int flags);
	bool (*module_is_ours)(const struct tenon_object *object);
	size_t (*module_import_count)(const struct tenon_module *m);
	struct tenon_module *(*module_import_at)(const struct tenon_module *m, size_t index);
	void (*error_clear)(void);
};

/* the implementations */
#define NAME(type, fail, name, impl, params, args) type impl params;
#define NAME_VOID(name, impl, params, args)	   void impl params;
#include "runtime/library/tvm_names.h"
#undef NAME
#undef NAME_VOID

/* Get the implementation of a name; NULL for unknown names. */
void *tvm_table_find(const char *name);

/* libtenon's table; exported. */
__attribute__((visibility("default"))) const struct tenon_tvm_table *tenon_tvm_table(void);

/* Exported by the compatibility library: use @table from now on. -1 if it does not fit. */
__attribute__((visibility("default"))) int tenon_tvm_bind(const struct tenon_tvm_table *table);

/*
 * In the compatibility library: set by a part of it that replaces some of the runtime's functions.
 * Called with the table that the library is bound to; returns the one that its names use.
 */
extern const struct tenon_tvm_table *(*tenon_tvm_extend)(const struct tenon_tvm_table *table);

#endif /* RUNTIME_LIBRARY_TVM_TABLE_H */
