/* SPDX-License-Identifier: MIT */
/* Registers, constants and functions of a frame as lists for native code. */
#include <inttypes.h>

#include "lib/brief_errors.h"
#include "runtime/relax/relax.h"

/* Native code may access its frame's registers, the constants and the functions. */
int relax_list_find(const void *list, int index, bool write, struct any_list_place *out)
{
	struct relax_vm *vm = relax_current();
	const struct relax_frame *f;
	uint32_t size = 0;

	if (vm && vm->stack.depth) {
		f = &vm->stack.frames[vm->stack.depth - 1];
		if (list == f->registers)
			size = vm->x->functions[f->function].registers;
		else if (!write && list == vm->values && vm->x->constant_count)
			size = vm->x->constant_count;
		else if (!write && list == vm->values + vm->x->constant_count)
			size = vm->x->function_count;
	}
	if (index < 0 || (uint32_t)index >= size)
		return tenon_error(-TENON_E_VALUE, "place %d of a list of %" PRIu32 " values",
				   index, size);
	out->value = (struct tenon_value *)(uintptr_t)list + index;
	out->legacy = vm->x->legacy;
	out->scratch = &vm->scratch;
	return 0;
}
