/* SPDX-License-Identifier: MIT */
/* Keep and find values of a machine by their number. */
#include "runtime/relax/relax_cached.h"

#include <inttypes.h>
#include <stdlib.h>

#include "lib/brief_errors.h"

#define CACHED_MOST 4096

struct relax_cached_value {
	int64_t index;
	struct tenon_value value;
};

const struct tenon_value *relax_cached(const struct relax_vm *vm, int64_t index)
{
	uint32_t i;

	for (i = 0; i < vm->cached_count; i++)
		if (vm->cached[i].index == index)
			return &vm->cached[i].value;
	return NULL;
}

static int reserve_cached(struct relax_vm *vm)
{
	struct relax_cached_value *more;

	if (vm->cached_count >= CACHED_MOST)
		return tenon_error(-TENON_E_OVERFLOW,
				   "cuda_graph.get_cached_alloc: more than %d cached allocations",
				   CACHED_MOST);
	more = realloc(vm->cached, (vm->cached_count + 1) * sizeof(*more));
	if (!more)
		return tenon_error(-TENON_E_NOMEM, "no memory for a cached allocation");
	vm->cached = more;
	return 0;
}

int relax_cache_keep(struct relax_vm *vm, int64_t index, struct tenon_value *value)
{
	struct tenon_value own;
	int err;

	/* The closure may have called the builtin for the same number. */
	if (relax_cached(vm, index))
		return 0;
	err = reserve_cached(vm);
	if (!err)
		err = tenon_value_own(value, &own);
	if (err) {
		tenon_value_release(value);
		return err;
	}
	vm->cached[vm->cached_count++] = (struct relax_cached_value){ index, own };
	return 0;
}

void relax_cached_free(struct relax_vm *vm)
{
	while (vm->cached_count)
		tenon_value_release(&vm->cached[--vm->cached_count].value);
	free(vm->cached);
	vm->cached = NULL;
}
