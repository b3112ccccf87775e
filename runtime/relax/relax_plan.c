/* SPDX-License-Identifier: MIT */
/* Recognise allocations with constant operands and prepare them once. */
#include <inttypes.h>
#include <stdlib.h>

#include "lib/brief_errors.h"
#include "lib/heap.h"
#include "runtime/relax/relax.h"
#include "runtime/relax/relax_builtin.h"
#include "runtime/relax/relax_device.h"

/* Test for one of the two allocations with the operands that the compiler emits. */
static bool is_allocation(const struct relax_vm *vm, const int64_t *words)
{
	const struct tenon_value *f;
	tenon_call_fn call;

	if (words[0] != RELAX_CALL || words[3] < 4 || words[3] > 6)
		return false;
	f = &vm->values[vm->x->constant_count + (uint32_t)words[2]];
	if (f->type != TENON_TYPE_FUNCTION)
		return false;
	call = ((const struct tenon_function *)f->as.object)->call;
	return call == relax_builtin_alloc_tensor || call == relax_builtin_alloc_storage;
}

int relax_plan_alloc(struct relax_vm *vm)
{
	const struct relax_executable *x = vm->x;
	const struct relax_function *f;
	size_t count = 0;
	uint32_t i, pc;

	for (i = 0; i < x->function_count; i++) {
		f = &x->functions[i];
		for (pc = f->first; f->kind == RELAX_FUNCTION_BYTECODE && pc < f->end; pc++)
			count += is_allocation(vm, x->words + x->offsets[pc]);
	}
	vm->plans = heap_zeroed(count + 1, sizeof(*vm->plans), "planned allocations");
	vm->extents = heap_zeroed(count + 1, 2 * RELAX_PLAN_NDIM * sizeof(*vm->extents),
				  "planned shapes");
	if (!vm->plans || !vm->extents)
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu allocations", count);
	vm->plan_count = 0;
	return 0;
}

void relax_plan_free(struct relax_vm *vm)
{
	heap_free(vm->plans);
	heap_free(vm->extents);
	vm->plans = NULL;
	vm->extents = NULL;
}

static const struct tenon_value *constant(const struct relax_vm *vm, int64_t word, int32_t type)
{
	const struct tenon_value *v;

	if (relax_operand_kind(word) != RELAX_OPERAND_CONSTANT)
		return NULL;
	v = &vm->x->constants[relax_operand_value(word)];
	return v->type == type ? v : NULL;
}

/* Check shape and dtype like the builtin; false where the builtin would fail. */
static bool plan_shape(struct relax_plan *p, const struct tenon_value *shape,
		       const struct tenon_value *dtype)
{
	const struct tenon_shape *s;
	int64_t step = 1;
	DLTensor dl;
	size_t i;

	if (!shape || !dtype)
		return false;
	s = (const struct tenon_shape *)shape->as.object;
	if (s->size > RELAX_PLAN_NDIM)
		return false;
	dl = tenon_dltensor(NULL, (int64_t *)s->data, (int32_t)s->size, dtype->as.dtype);
	if (tenon_tensor_bytes(&dl, &p->bytes)) {
		tenon_error_clear();
		return false;
	}
	p->ndim = dl.ndim;
	p->dtype = dl.dtype;
	for (i = s->size; i-- > 0;) {
		p->extents[i] = s->data[i];
		p->extents[s->size + i] = step;
		step = (int64_t)((uint64_t)step * (uint64_t)s->data[i]);
	}
	return true;
}

static bool plan_tensor(struct relax_vm *vm, struct relax_plan *p, const int64_t *words)
{
	int64_t offset = relax_operand_value(words[5]);

	if (relax_operand_kind(words[5]) != RELAX_OPERAND_IMMEDIATE || offset < 0)
		return false;
	p->offset = (uint64_t)offset;
	return plan_shape(p, constant(vm, words[6], TENON_TYPE_SHAPE),
			  constant(vm, words[7], TENON_TYPE_DTYPE));
}

/* Test for the global scope. The builtin refuses others, such as textures, on devices. */
static bool is_global(const struct relax_vm *vm, int64_t word)
{
	struct tenon_slice scope;

	if (relax_operand_kind(word) != RELAX_OPERAND_CONSTANT)
		return false;
	if (!tenon_value_text(&vm->x->constants[relax_operand_value(word)], &scope))
		return tenon_slice_equal(scope, tenon_slice_of("global"));
	tenon_error_clear();
	return false;
}

static bool plan_storage(struct relax_vm *vm, struct relax_plan *p, const int64_t *words)
{
	if (words[4] != RELAX_REGISTER_MACHINE || words[3] > 5 ||
	    relax_operand_kind(words[6]) != RELAX_OPERAND_IMMEDIATE)
		return false;
	p->pool = relax_device_pool(vm, relax_operand_value(words[6]));
	if (!p->pool || (p->pool != vm->pool && !(words[3] == 5 && is_global(vm, words[8]))))
		return false;
	return plan_shape(p, constant(vm, words[5], TENON_TYPE_SHAPE),
			  constant(vm, words[7], TENON_TYPE_DTYPE));
}

bool relax_plan_op(struct relax_vm *vm, struct relax_op *op, const int64_t *words)
{
	struct relax_plan *p = vm->plans + vm->plan_count;
	bool planned;

	if (!is_allocation(vm, words))
		return false;
	p->extents = vm->extents + (size_t)vm->plan_count * 2 * RELAX_PLAN_NDIM;
	if (op->function->call == relax_builtin_alloc_tensor) {
		op->code = RELAX_OP_TENSOR;
		planned = plan_tensor(vm, p, words);
	} else {
		op->code = RELAX_OP_STORAGE;
		planned = plan_storage(vm, p, words);
	}
	op->plan = p;
	vm->plan_count += planned;
	return planned;
}
