/* SPDX-License-Identifier: MIT */
/*
 * What native functions of a Relax program (`__vmtir__…`) do with arrays of registers, constants and
 * functions, which they know by address only.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "lib/brief_errors.h"
#include "runtime/library/tvm_table.h"
#include "runtime/relax/relax.h"
#ifdef CONFIG_TVM_LEGACY
#include "runtime/library/legacy_value.h"
#include "runtime/library/old_bool.h"
#endif

/* A place in one of the three arrays that the running native function was given. */
static struct tenon_value *find(struct relax_vm *vm, const void *list, int index, bool write)
{
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
	if (index >= 0 && (uint32_t)index < size)
		return (struct tenon_value *)(uintptr_t)list + index;
	tenon_error(-TENON_E_VALUE, "place %d of a list of %" PRIu32 " values", index, size);
	return NULL;
}

#ifdef CONFIG_TVM_LEGACY
#define SCRATCH 256 /* arguments of one call, more than code has */

/*
 * Tensors go as handles, as in TVM's own machine: the checks that compiled code calls and the tuples it
 * makes want the object. A compiled function takes a handle as it takes a DLTensor.
 */
static bool tensor_handle(const struct tenon_value *v, union legacy_value *out, int *code)
{
	struct tenon_tensor *t;

	if (v->type != TENON_TYPE_TENSOR)
		return false;
	t = (struct tenon_tensor *)v->as.object;
	if (is_new_bool(&t->dl))
		return false;
	out->pointer = &t->dl;
	*code = LEGACY_NDARRAY;
	return true;
}

static int set_legacy(struct relax_vm *vm, const struct tenon_value *v, int place,
		      union legacy_value *out, int *code)
{
	if (tensor_handle(v, out, code))
		return 0;
	if (!vm->scratch)
		vm->scratch = calloc(SCRATCH, sizeof(struct legacy_scratch));
	if (!vm->scratch)
		return tenon_error(-TENON_E_NOMEM, "no memory for arguments");
	if (v->type == TENON_TYPE_NONE) {
		memset(out, 0, sizeof(*out));
		*code = LEGACY_NULL;
		return 0;
	}
	return legacy_argument(v, place, out, code,
			       (struct legacy_scratch *)vm->scratch +
				       (unsigned int)place % SCRATCH);
}
#endif

/*
 * TVM 0.16 to 0.20 pass values and codes apart, and so one argument more: @codes_or_offset is the
 * codes there, and @legacy_offset the offset. The machine knows which its code means.
 */
int abi_backend_list_set_argument(void *list, int index, void *args, intptr_t codes_or_offset,
				  int legacy_offset)
{
	struct relax_vm *vm = relax_current();
	const struct tenon_value *v = find(vm, list, index, false);

	(void)legacy_offset;
	if (!v)
		return -1;
	if (!vm->x->legacy) {
		((struct tenon_value *)args)[(int)codes_or_offset] = *v;
		return 0;
	}
#ifdef CONFIG_TVM_LEGACY
	return set_legacy(vm, v, legacy_offset, (union legacy_value *)args + legacy_offset,
			  (int *)codes_or_offset + legacy_offset)
		       ? -1
		       : 0;
#else
	return -1;
#endif
}

int abi_backend_list_reset(void *list, int index)
{
	struct tenon_value *v = find(relax_current(), list, index, true);

	if (!v)
		return -1;
	tenon_value_release(v);
	return 0;
}

int abi_backend_list_take_result(void *list, int index, void *args, intptr_t codes_or_offset,
				 int legacy_offset)
{
	struct relax_vm *vm = relax_current();
	struct tenon_value *v = find(vm, list, index, true), result, *from;

	(void)legacy_offset;
	if (!v)
		return -1;
	if (!vm->x->legacy) {
		from = (struct tenon_value *)args + (int)codes_or_offset;
		result = *from;
		*from = tenon_arg_none();
	} else {
#ifdef CONFIG_TVM_LEGACY
		if (legacy_result((union legacy_value *)args + legacy_offset,
				  ((int *)codes_or_offset)[legacy_offset], &result))
			return -1;
#else
		return -1;
#endif
	}
	tenon_value_release(v);
	*v = result;
	return 0;
}
