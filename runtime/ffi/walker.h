/* SPDX-License-Identifier: MIT */
/* What structural visitors and mutators share: callbacks by type, the region, errors as values. */
#ifndef RUNTIME_FFI_WALKER_H
#define RUNTIME_FFI_WALKER_H

#include "runtime/ffi/structural.h"
#include "runtime/ffi/walk.h"

/* The first members of both. The first three are C++'s. */
struct ffi_walker {
	struct tenon_object object;
	const void *table;
	int32_t region;		       /* enum ffi_region */
	bool after;		       /* a callback comes after what is within the value */
	struct tenon_array *callbacks; /* by type; NULL for none */
	struct tenon_array *with_region;
};

/*
 * Make an object of @size bytes that begins with a struct ffi_walker, and is zero behind it. The lists are referenced.
 *
 * Return: the object; NULL with an error raised, which names @what.
 */
void *ffi_walker_create(size_t size, int32_t type, void (*deleter)(void *self, int flags),
			const void *table, struct tenon_array *callbacks,
			struct tenon_array *with_region, const char *what);

/* A deleter, for a walker with nothing behind it; others call it last. */
void ffi_walker_delete(void *self, int flags);

/* Levels that this thread is in; those of walks within callbacks of walks count as well. */
extern __thread int ffi_walker_depth;

/* Take the error that is raised as a value. */
struct tenon_value ffi_raised(void);

/* Return a value from a function, or raise the error that it is. Return: 0; -1. */
int ffi_give_back(struct tenon_value result, struct tenon_value *ret);

/*
 * Check an argument: an array of entries of @size values, a type and a function first.
 *
 * Return: 0; -1 with an error raised.
 */
int ffi_callbacks_check(const char *function, const struct tenon_value *args, int32_t i,
			int64_t size, struct tenon_array **out);

/* Find the entry for a value among callbacks, which may be NULL; NULL if there is none. */
const struct tenon_value *ffi_callback_for(const struct tenon_array *callbacks,
					   const struct tenon_value *value);

/* Functions that get the region, and call a function with another one. Return: 0; -1. */
int ffi_walker_region(const char *function, int32_t type, const struct tenon_value *args,
		      int32_t count, struct tenon_value *ret);
int ffi_walker_with_region(const char *function, int32_t type, const struct tenon_value *args,
			   int32_t count, struct tenon_value *ret);

#endif /* RUNTIME_FFI_WALKER_H */
