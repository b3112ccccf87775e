/* SPDX-License-Identifier: MIT */
/* The module of the compiled host code of a mapping, kind "library". */
#ifndef RUNTIME_LIBRARY_DSO_LIBRARY_H
#define RUNTIME_LIBRARY_DSO_LIBRARY_H

#include "lib/option.h"
#include "runtime/library/dso.h"
#include "runtime/library/loaded_object.h"

/* context variables of compiled code; a C host may add its own to LLVM's */
#define DSO_CONTEXTS 4

/* Calling convention of compiled functions without a prefix. */
enum dso_unprefixed_abi {
	DSO_UNPREFIXED_UNKNOWN, /* not detected yet */
	DSO_UNPREFIXED_NONE,	/* all functions have the prefix: 0.22 and later */
	DSO_UNPREFIXED_LEGACY,	/* 0.8 to 0.20 */
	DSO_UNPREFIXED_021,	/* today's packed values, older objects */
};

struct dso {
	struct tenon_object object;
	const char *path; /* stored behind the struct */
	void *handle;	  /* NULL for symbols linked into the program */
	const struct dso_symbols *symbols;
	struct dso_env *env;
	struct tenon_module *library; /* not referenced: it holds the dso */
	struct tenon_module *root;    /* a weak reference */
	enum dso_unprefixed_abi unprefixed_abi;
	bool pinned; /* never unmapped */
	bool uses_workspace;
	size_t context_count;
	void **context[DSO_CONTEXTS];
	struct loaded_object loaded;
	struct tenon_slice prefix; /* CONFIG_SYSTEM_LIB: see dso_prefix() */
	struct tenon_slice
		processors; /* CONFIG_FAST_CALLS: keys of additional code, see processor_code.h */
	struct tenon_slice processor; /* the key in use; empty without one */
};

/* Test whether its symbols are linked into the program instead of opened from a file. */
static inline bool dso_is_linked(const struct dso *dso)
{
	return OPTION_ON(SYSTEM_LIB) && !dso->handle;
}

/* Prefix of the module's names if it was built for static linking; otherwise empty. */
static inline struct tenon_slice dso_prefix(const struct dso *dso)
{
	return OPTION_ON(SYSTEM_LIB) && dso->prefix.size ? dso->prefix
							 : (struct tenon_slice){ "", 0 };
}

/* Find a symbol of the mapping itself, not of its dependencies. */
bool dso_find(const struct dso *dso, const char *name, struct loaded_symbol *out);

/* Create a library module that holds the mapping; NULL if out of memory. */
struct tenon_module *dso_library_create(struct dso *dso);

#endif /* RUNTIME_LIBRARY_DSO_LIBRARY_H */
