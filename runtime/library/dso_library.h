/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_LIBRARY_DSO_LIBRARY_H
#define RUNTIME_LIBRARY_DSO_LIBRARY_H

/* The module that stands for the compiled host code of a mapping, kind "library". */

#include "runtime/library/dso.h"
#include "runtime/library/loaded_object.h"

/* names under which compiled code keeps its context; a C host may have its own beside LLVM's */
#define DSO_CONTEXTS 4

/* How compiled functions that have no prefix are called. */
enum dso_plain_abi {
	DSO_PLAIN_UNKNOWN, /* not looked at yet */
	DSO_PLAIN_NONE,	   /* all functions have the prefix: 0.22 and later */
	DSO_PLAIN_LEGACY,  /* 0.8 to 0.20 */
	DSO_PLAIN_021,	   /* packed as today, objects not */
};

struct dso {
	struct tenon_object object;
	const char *path; /* behind the struct */
	void *handle;	  /* NULL for symbols linked into the program */
	const struct dso_symbols *symbols;
#ifdef CONFIG_SYSTEM_LIB
	struct tenon_slice prefix; /* see dso_prefix() */
#endif
	struct dso_env *env;
	struct tenon_module *library; /* not counted: it holds the dso */
	struct tenon_module *root;    /* a weak reference */
	enum dso_plain_abi plain_abi;
	bool pinned; /* never unmapped */
	bool uses_workspace;
	size_t context_count;
	void **context[DSO_CONTEXTS];
	struct loaded_object loaded;
};

/* Are its symbols part of the program, rather than of a file that was opened? */
static inline bool dso_is_linked(const struct dso *dso)
{
#ifdef CONFIG_SYSTEM_LIB
	return !dso->handle;
#else
	(void)dso;
	return false;
#endif
}

/* What names of the module have in front, when it was built for static linking; else empty. */
static inline struct tenon_slice dso_prefix(const struct dso *dso)
{
#ifdef CONFIG_SYSTEM_LIB
	return dso->prefix.size ? dso->prefix : (struct tenon_slice){ "", 0 };
#else
	(void)dso;
	return (struct tenon_slice){ "", 0 };
#endif
}

/* A symbol of the mapping itself, not of what it needs. */
bool dso_find(const struct dso *dso, const char *name, struct loaded_symbol *out);

/* A new library module, holding the mapping; NULL without memory. */
struct tenon_module *dso_library_create(struct dso *dso);

#endif /* RUNTIME_LIBRARY_DSO_LIBRARY_H */
