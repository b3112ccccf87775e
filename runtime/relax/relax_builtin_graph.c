/* SPDX-License-Identifier: MIT */
/*
 * vm.builtin.cuda_graph.*: parts of a program without dynamic shapes, whose storages come from
 * get_cached_alloc() and stay the same. TVM captures their launches once, with CUDA, and replays
 * them; here each device with queues repeats a recording (relax_recorded.h).
 */
#include <stdlib.h>

#include "lib/brief_errors.h"
#include "runtime/relax/relax_builtin.h"
#include "runtime/relax/relax_cached.h"
#include "runtime/relax/relax.h"
#include "runtime/relax/relax_recorded.h"

#define ITEMS_MOST 256 /* arguments of a part */

/* run_or_capture(machine, closure, arguments, index [, shape]) */
RELAX_BUILTIN_SAID(graph_run_or_capture, "cuda_graph.run_or_capture", 4, 5)
{
	struct relax_part part = { .closure = &a->args[1] };
	struct tenon_array *items;
	struct tenon_shape *shape = NULL;
	struct relax_vm *vm;
	int err;

	err = relax_argument_machine(a, 0, &vm);
	if (!err)
		err = relax_argument_array(a, 2, &items);
	if (!err)
		err = relax_argument_int(a, 3, &part.index);
	if (!err && a->count == 5)
		err = relax_argument_shape(a, 4, &shape);
	if (err)
		return err;
	if (items->size > ITEMS_MOST)
		return relax_argument_error(a, 2, -TENON_E_OVERFLOW, "more than %d arguments",
					    ITEMS_MOST);
	/* registers of the program hold the tuple and the shape during the call */
	part.shape = shape;
	part.items = items;
	return relax_run_recorded(vm, &part, ret);
}

/* get_cached_alloc(machine, closure, index): what the closure returned the first time */
RELAX_BUILTIN_SAID(graph_get_cached_alloc, "cuda_graph.get_cached_alloc", 3, 3)
{
	struct tenon_value made = tenon_arg_none();
	const struct tenon_value *kept;
	struct relax_vm *vm;
	int64_t index;
	int err;

	err = relax_argument_machine(a, 0, &vm);
	if (!err)
		err = relax_argument_int(a, 2, &index);
	if (err)
		return err;
	kept = relax_cached(vm, index);
	if (kept)
		return tenon_value_own(kept, ret);
	err = relax_invoke(vm, &a->args[1], NULL, 0, &made);
	if (!err)
		err = relax_cache_keep(vm, index, &made);
	if (!err)
		*ret = made;
	return err;
}
