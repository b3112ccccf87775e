/* SPDX-License-Identifier: MIT */
/* Symbolic extents: vm.builtin.match_shape, make_shape and the shape heap. */
#include <inttypes.h>

#include "lib/brief_errors.h"
#include "lib/error_slot.h"
#include "runtime/relax/relax.h"
#include "runtime/relax/relax_builtin.h"

/*
 * Symbolic extents. Shapes are matched against codes; extents are stored in an array of integers,
 * the shape heap, from which other shapes are made.
 */

enum match_code {
	MATCH_CONSTANT = 0, /* must equal the given number */
	MATCH_STORE = 1,    /* store in the heap */
	MATCH_ANY = 2,
	MATCH_STORED = 3, /* must equal the number in the heap */
};

enum make_code {
	MAKE_CONSTANT = 0,
	MAKE_LOAD = 1,
};

struct heap {
	int64_t *data;
	int64_t size;
};

/*
 * Get the shape heap. Programs without symbolic extents pass None: an empty heap. Others must pass
 * memory that the machine allocated, because heaps are written and constants are memory of the
 * file. Outside a program the heap is a tensor of the caller's own.
 */
static int heap_argument(const struct relax_arguments *a, int32_t i, struct heap *out)
{
	struct tenon_tensor *object;
	DLTensor *t;
	int err;

	out->data = NULL;
	out->size = 0;
	if (a->args[i].type == TENON_TYPE_NONE)
		return 0;
	err = relax_argument_tensor_object(a, i, &object);
	if (err)
		return err;
	t = &object->dl;
	if ((relax_current() && !relax_tensor_in_storage(object)) ||
	    t->device.device_type != kDLCPU || t->ndim != 1 || t->dtype.code != TENON_DTYPE_INT ||
	    t->dtype.bits != 64 || t->dtype.lanes != 1 ||
	    (uintptr_t)relax_tensor_data(t) % sizeof(int64_t))
		return tenon_error(-TENON_E_TYPE,
				   "%s: argument %" PRIi32
				   " is no shape heap (int64, one dimension, of "
				   "the machine's memory on the host)",
				   a->name, i);
	out->data = relax_tensor_data(t);
	out->size = t->shape[0];
	return 0;
}

static int heap_place(const struct relax_arguments *a, const struct heap *h, int64_t place,
		      int64_t **out)
{
	*out = h->data;
	if (place < 0 || place >= h->size)
		return tenon_error(-TENON_E_VALUE,
				   "%s: place %" PRIi64 " of a shape heap of %" PRIi64, a->name,
				   place, h->size);
	*out += place;
	return 0;
}

RELAX_BUILTIN(alloc_shape_heap, 2, 2)
{
	struct tenon_tensor *t;
	struct relax_vm *vm;
	int64_t size;
	int err;

	err = relax_argument_machine(a, 0, &vm);
	if (!err)
		err = relax_argument_int(a, 1, &size);
	if (!err)
		err = relax_tensor_new(vm->pool, &size, 1, tenon_dtype(TENON_DTYPE_INT, 64, 1), &t);
	if (err)
		return err;
	memset(t->dl.data, 0, (size_t)size * sizeof(int64_t));
	*ret = tenon_arg_object(t);
	return 0;
}

/* Match one number against one code; 1 when it differs, with the required number in *@wanted. */
static int match(const struct relax_arguments *a, const struct heap *h, int64_t found,
		 const int64_t code[2], int64_t *wanted)
{
	int64_t *place;
	int err;

	switch (code[0]) {
	case MATCH_CONSTANT:
		*wanted = code[1];
		return found != *wanted;
	case MATCH_STORE:
		err = heap_place(a, h, code[1], &place);
		if (!err)
			*place = found;
		return err;
	case MATCH_ANY:
		return 0;
	case MATCH_STORED:
		err = heap_place(a, h, code[1], &place);
		if (err)
			return err;
		*wanted = *place;
		return found != *wanted;
	default:
		return tenon_error(-TENON_E_VALUE, "%s: code %" PRIi64 "; codes are 0 to 3",
				   a->name, code[0]);
	}
}

static const char *how(int64_t code)
{
	return code == MATCH_CONSTANT ? "specified constant" : "a previous populated value";
}

/* A number that does not match is a RuntimeError, not the ValueError of the other checks. */
static int mismatch(int status)
{
	return error_slot_set_kind(status, "RuntimeError");
}

static int code_argument(const struct relax_arguments *a, int32_t i, int64_t code[2])
{
	int err = relax_argument_int(a, i, &code[0]);

	return err ? err : relax_argument_int(a, i + 1, &code[1]);
}

/* Get the number of codes and check that they all follow argument @i. */
static int code_count(const struct relax_arguments *a, int32_t i, int64_t *out)
{
	int err = relax_argument_int(a, i, out);

	if (err)
		return err;
	if (*out < 0 || *out > (a->count - i - 1) / 2)
		return tenon_error(-TENON_E_VALUE,
				   "%s: %" PRIi64 " codes promised, %" PRIi32 " arguments left",
				   a->name, *out, a->count - i - 1);
	return 0;
}

static int shape_argument(const struct relax_arguments *a, int32_t i, const int64_t **extents,
			  int64_t *count)
{
	struct tenon_shape *s;
	DLTensor *t;
	int err;

	if (a->args[i].type == TENON_TYPE_TENSOR || a->args[i].type == TENON_TYPE_DLTENSOR) {
		t = a->args[i].type == TENON_TYPE_DLTENSOR
			    ? a->args[i].as.tensor
			    : &((struct tenon_tensor *)a->args[i].as.object)->dl;
		*extents = t->shape;
		*count = t->ndim;
		return 0;
	}
	err = relax_argument_shape(a, i, &s);
	if (err)
		return err;
	*extents = s->data;
	*count = (int64_t)s->size;
	return 0;
}

RELAX_BUILTIN(match_shape, 3, -1)
{
	int64_t codes, found_count, i, code[2], wanted;
	const int64_t *found;
	struct tenon_slice context;
	struct heap heap;
	int err;

	err = shape_argument(a, 0, &found, &found_count);
	if (!err)
		err = heap_argument(a, 1, &heap);
	if (!err)
		err = code_count(a, 2, &codes);
	if (err)
		return err;
	if (found_count != codes) {
		context = relax_argument_context(a, 3 + 2 * (int32_t)codes);
		return mismatch(tenon_error(
			-TENON_E_VALUE,
			"Check failed: %.*s match_cast shape size mismatch: expected %" PRIi64
			" dimensions, found %" PRIi64,
			(int)context.size, context.data, codes, found_count));
	}
	for (i = 0; i < codes; i++) {
		err = code_argument(a, 3 + 2 * (int32_t)i, code);
		if (!err)
			err = match(a, &heap, found[i], code, &wanted);
		if (err < 0)
			return err;
		if (err) {
			context = relax_argument_context(a, 3 + 2 * (int32_t)codes);
			return mismatch(tenon_error(
				-TENON_E_VALUE,
				"Check failed: %.*s match_cast error,  shape[%" PRIi64
				"] mismatch to %s: expected %" PRIi64 ", found %" PRIi64,
				(int)context.size, context.data, i, how(code[0]), wanted,
				found[i]));
		}
	}
	return 0;
}

static int load(const struct relax_arguments *a, const struct heap *h, const int64_t code[2],
		int64_t *out)
{
	int64_t *place;
	int err;

	switch (code[0]) {
	case MAKE_CONSTANT:
		*out = code[1];
		return 0;
	case MAKE_LOAD:
		err = heap_place(a, h, code[1], &place);
		if (!err)
			*out = *place;
		return err;
	default:
		return tenon_error(-TENON_E_VALUE, "%s: code %" PRIi64 "; codes are 0 and 1",
				   a->name, code[0]);
	}
}

RELAX_BUILTIN(make_shape, 2, -1)
{
	int64_t codes, i, code[2], *extents;
	struct tenon_shape *s;
	struct heap heap;
	int err;

	err = heap_argument(a, 0, &heap);
	if (!err)
		err = code_count(a, 1, &codes);
	if (!err)
		err = relax_shape_create(relax_current_pool(), (size_t)codes, &extents, &s);
	if (err)
		return err;
	for (i = 0; !err && i < codes; i++) {
		err = code_argument(a, 2 + 2 * (int32_t)i, code);
		if (!err)
			err = load(a, &heap, code, &extents[i]);
	}
	if (err) {
		tenon_object_unref(s);
		return err;
	}
	*ret = tenon_arg_object(s);
	return 0;
}

RELAX_BUILTIN(match_prim_value, 4, 5)
{
	int64_t found, code[2], wanted;
	struct tenon_slice context;
	struct heap heap;
	int err;

	err = relax_argument_int(a, 0, &found);
	if (!err)
		err = heap_argument(a, 1, &heap);
	if (!err)
		err = code_argument(a, 2, code);
	if (!err)
		err = match(a, &heap, found, code, &wanted);
	if (err < 0)
		return err;
	if (err) {
		context = relax_argument_context(a, 4);
		return mismatch(tenon_error(-TENON_E_VALUE,
					    "Check failed: %.*s match_cast error,  PrimExpr "
					    "mismatch to %s: expected %" PRIi64 ", found %" PRIi64,
					    (int)context.size, context.data, how(code[0]), wanted,
					    found));
	}
	return 0;
}

RELAX_BUILTIN(make_prim_value, 3, 3)
{
	int64_t code[2], value;
	struct heap heap;
	int err;

	err = heap_argument(a, 0, &heap);
	if (!err)
		err = code_argument(a, 1, code);
	if (!err)
		err = load(a, &heap, code, &value);
	if (err)
		return err;
	*ret = tenon_arg_int(value);
	return 0;
}
