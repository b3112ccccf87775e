/* SPDX-License-Identifier: MIT */
/*
 * The functions that a library's compiled code looked up. The code keeps their addresses in static
 * variables, so each is a stand-in with a constant address while the library is mapped, even if its
 * tree is released and loaded again. The target is released with the tree.
 */
#ifndef RUNTIME_LIBRARY_DSO_ENV_H
#define RUNTIME_LIBRARY_DSO_ENV_H

#include <tenon/function.h>
#include <tenon/string.h>

struct dso;

struct dso_env_function {
	struct tenon_function base; /* object that compiled code caches */
	struct dso_env *env;
	struct dso_env_function *next;
	struct tenon_function *target; /* atomic; NULL until found, and while the tree is closed */
	size_t size;
	char name[];
};

/* One per mapping that the dynamic linker may keep, found by its handle. */
struct dso_env {
	void *handle;
	struct dso *dso;      /* current user; NULL between two openings */
	unsigned int users;   /* every dso of the mapping, including ones being closed */
	unsigned int changes; /* number of times the mapping was opened or closed */
	struct dso_env_function *functions;
	struct dso_env *next;
};

/* Get the stand-in for @name; create it if new, and look up its target if it has none. */
int dso_env_get(struct dso_env *env, struct tenon_slice name, struct tenon_function **borrowed);

/* Release all targets. Caller holds the lock. */
void dso_env_forget(struct dso_env *env);

/* Free the stand-ins, after the code that cached their addresses was unmapped. */
void dso_env_free(struct dso_env *env);

/*
 * Get the target of a stand-in with a reference; look it up if there is none. Called without the
 * lock, because a lookup may run compiled code that looks up names. A target that may reference the
 * library is not cached: the cycle would keep both alive.
 */
int dso_env_target(struct dso_env_function *f, struct tenon_function **out);

/* Lock of all dso and env structures. Recursive: loaders may open further files. */
void dso_lock(void);
void dso_unlock(void);

#endif /* RUNTIME_LIBRARY_DSO_ENV_H */
