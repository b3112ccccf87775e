/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_LIBRARY_TVM_TABLE_H
#define RUNTIME_LIBRARY_TVM_TABLE_H

/*
 * How the compatibility library reaches the runtime. It must not depend on libtenon.so, which may
 * be linked into the program, loaded under another name, or not be there yet: so libtenon exports
 * tenon_tvm_table(), and hands what that returns to tenon_tvm_bind() of the library it opened.
 */

#include "runtime/library/tvm_types.h"

/* raised when a member changes its meaning; members are only ever added at the end */
#define TVM_TABLE_VERSION 1

struct tenon_tvm_table {
	uint32_t version;
	uint32_t size; /* in bytes, of all that this build fills */
#define NAME(type, fail, name, impl, params, args) type(*name) params;
#define NAME_VOID(name, impl, params, args)	   void(*name) params;
#include "runtime/library/tvm_names.h"
#undef NAME
#undef NAME_VOID
};

/* the implementations */
#define NAME(type, fail, name, impl, params, args) type impl params;
#define NAME_VOID(name, impl, params, args)	   void impl params;
#include "runtime/library/tvm_names.h"
#undef NAME
#undef NAME_VOID

/* The implementation of one of the names; NULL for others. */
void *tvm_table_find(const char *name);

/* libtenon's table; exported. */
__attribute__((visibility("default"))) const struct tenon_tvm_table *tenon_tvm_table(void);

/* Exported by the compatibility library: use @table from now on. -1 for one that does not fit. */
__attribute__((visibility("default"))) int tenon_tvm_bind(const struct tenon_tvm_table *table);

#endif /* RUNTIME_LIBRARY_TVM_TABLE_H */
