/* SPDX-License-Identifier: MIT */
/* Tensors: vm.builtin.shape_of, reshape, to_device, read_if_cond. */
#include <inttypes.h>

#include "lib/brief_errors.h"
#include "runtime/relax/relax_builtin.h"
#include "runtime/relax/relax_device.h"

RELAX_BUILTIN(shape_of, 1, 1)
{
	struct tenon_shape *s;
	int64_t *extents;
	DLTensor *t;
	int err;

	err = relax_argument_any_tensor(a, 0, &t);
	if (!err)
		err = relax_shape_create(relax_current_pool(), (size_t)t->ndim, &extents, &s);
	if (err)
		return err;
	if (t->ndim)
		memcpy(extents, t->shape, (size_t)t->ndim * sizeof(*extents));
	*ret = tenon_arg_object(s);
	return 0;
}

RELAX_BUILTIN(reshape, 2, 2)
{
	struct tenon_tensor *from, *t;
	struct tenon_shape *s;
	uint64_t before, after;
	DLTensor want;
	int err;

	err = relax_argument_tensor_object(a, 0, &from);
	if (!err)
		err = relax_argument_shape(a, 1, &s);
	if (err)
		return err;
	if (s->size > 64)
		return tenon_error(-TENON_E_VALUE, "reshape: %zu dimensions", s->size);
	if (!tenon_tensor_compact(&from->dl))
		return tenon_error(-TENON_E_VALUE,
				   "reshape: the tensor has gaps between its elements");
	want = from->dl;
	want.shape = (int64_t *)s->data;
	want.ndim = (int32_t)s->size;
	err = tenon_tensor_elements(&from->dl, &before);
	if (!err)
		err = tenon_tensor_elements(&want, &after);
	if (err)
		return tenon_error_in(err, "reshape");
	if (before < after)
		return tenon_error(-TENON_E_VALUE,
				   "reshape: %" PRIu64
				   " elements are wanted, the tensor has %" PRIu64,
				   after, before);
	err = relax_tensor_view(from, 0, s->data, (int32_t)s->size, from->dl.dtype, &t);
	if (!err)
		*ret = tenon_arg_object(t);
	return err;
}

/* tensor_view(tensor, shape, dtype, offset in bytes): other elements in the same bytes */
RELAX_BUILTIN_SAID(tensor_view, "TVMTensorCreateView", 3, 4)
{
	struct tenon_tensor *from, *t;
	struct tenon_shape *s;
	size_t room, bytes;
	int64_t offset = 0;
	DLTensor want;
	int err;

	err = relax_argument_tensor_object(a, 0, &from);
	if (!err)
		err = relax_argument_shape(a, 1, &s);
	want = err ? (DLTensor){ 0 } : from->dl;
	if (!err)
		err = relax_argument_dtype(a, 2, &want.dtype);
	if (!err && a->count > 3)
		err = relax_argument_int(a, 3, &offset);
	if (err)
		return err;
	if (s->size > 64 || !tenon_tensor_compact(&from->dl))
		return relax_argument_error(
			a, s->size > 64, -TENON_E_VALUE,
			"a compact tensor and at most 64 dimensions are wanted");
	want.shape = (int64_t *)s->data;
	want.ndim = (int32_t)s->size;
	err = tenon_tensor_bytes(&from->dl, &room);
	if (!err)
		err = tenon_tensor_bytes(&want, &bytes);
	if (err)
		return tenon_error_in(err, "%s", a->name);
	if (offset < 0)
		return tenon_error(-TENON_E_VALUE, "%s: offset %" PRIi64, a->name, offset);
	if ((uint64_t)offset > room || bytes > room - (size_t)offset)
		return tenon_error(-TENON_E_VALUE,
				   "%s: the view would occupy bytes %" PRIi64
				   " <= i_byte < %" PRIu64
				   ". However, the Tensor being viewed only contains %zu bytes",
				   a->name, offset, (uint64_t)offset + bytes, room);
	err = relax_tensor_view(from, (uint64_t)offset, s->data, (int32_t)s->size, want.dtype, &t);
	if (!err)
		*ret = tenon_arg_object(t);
	return err;
}

RELAX_BUILTIN(to_device, 3, 4)
{
	struct tenon_tensor *t, *moved;
	int64_t type, id;
	DLDevice device;
	int err;

	err = relax_argument_tensor_object(a, 0, &t);
	if (!err)
		err = relax_argument_int(a, 1, &type);
	if (!err)
		err = relax_argument_int(a, 2, &id);
	if (err)
		return err;
	if (type < 1 || type > INT32_MAX || id < 0 || id > INT32_MAX)
		return tenon_error(-TENON_E_VALUE,
				   "to_device: no device has the numbers %" PRIi64 " and %" PRIi64,
				   type, id);
	device = (DLDevice){ (DLDeviceType)type, (int32_t)id };
	/* Already on that device: share it, as tensors are not written after their creation. */
	if (place_same(t->dl.device, device))
		return tenon_value_own(&a->args[0], ret);
	err = relax_tensor_move(relax_current(), &t->dl, device, &moved);
	if (err)
		return tenon_error_in(err, "to_device");
	*ret = tenon_arg_object(moved);
	return 0;
}

/*
 * A tensor that the host can read: the argument, or a copy of it if it is on a device. The caller
 * releases *@copy, which is NULL without a copy.
 */
static int read_tensor(const struct relax_arguments *a, DLTensor **t, struct tenon_tensor **copy)
{
	static const DLDevice host = { kDLCPU, 0 };
	int err;

	*copy = NULL;
	if (place_is_host((*t)->device))
		return 0;
	err = relax_tensor_move(relax_current(), *t, host, copy);
	if (err)
		return tenon_error_in(err, "%s", a->name);
	*t = &(*copy)->dl;
	return 0;
}

/* Read one integer of a CPU tensor; it need not be aligned. */
static int read_integer(const struct relax_arguments *a, const DLTensor *t, int64_t index,
			int64_t *out)
{
	const char *at = relax_tensor_data(t);
	char name[TENON_DTYPE_NAME];
	DLDataType d = t->dtype;
	int16_t two;
	int32_t four;

	/* bool of TVM up to 0.22 takes a byte; other 1-bit dtypes are packed */
	if (d.bits == 1 && d.code == TENON_DTYPE_UINT)
		d.bits = 8;
	switch (d.lanes == 1 && d.code != TENON_DTYPE_FLOAT ? d.bits : 0) {
	case 8:
		*out = (int8_t)at[index];
		return 0;
	case 16:
		memcpy(&two, at + index * 2, 2);
		*out = two;
		return 0;
	case 32:
		memcpy(&four, at + index * 4, 4);
		*out = four;
		return 0;
	case 64:
		memcpy(out, at + index * 8, 8);
		return 0;
	default:
		return tenon_error(-TENON_E_TYPE, "%s: a tensor of %s, integers are wanted",
				   a->name, tenon_dtype_name(t->dtype, name));
	}
}

static bool is_integer(DLDataType d)
{
	return d.code == TENON_DTYPE_INT || d.code == TENON_DTYPE_UINT ||
	       d.code == TENON_DTYPE_BOOL;
}

RELAX_BUILTIN(tensor_to_shape, 1, 1)
{
	char name[TENON_DTYPE_NAME];
	struct tenon_shape *s;
	int64_t *extents, i;
	struct tenon_tensor *copy;
	DLTensor *t;
	int err;

	err = relax_argument_any_tensor(a, 0, &t);
	if (err)
		return err;
	if (t->ndim != 1 || t->dtype.code != TENON_DTYPE_INT || !tenon_tensor_compact(t))
		return tenon_error(
			-TENON_E_TYPE,
			"tensor_to_shape: one dimension of integers is wanted, found %" PRIi32
			" of %s",
			t->ndim, tenon_dtype_name(t->dtype, name));
	err = relax_shape_create(relax_current_pool(), (size_t)t->shape[0], &extents, &s);
	if (err)
		return err;
	err = read_tensor(a, &t, &copy);
	for (i = 0; !err && i < t->shape[0]; i++)
		err = read_integer(a, t, i, &extents[i]);
	tenon_object_unref(copy);
	if (err) {
		tenon_object_unref(s);
		return err;
	}
	*ret = tenon_arg_object(s);
	return 0;
}

RELAX_BUILTIN(ensure_zero_offset, 1, 1)
{
	struct tenon_tensor *from, *t;
	int err;

	err = relax_argument_tensor_object(a, 0, &from);
	if (err)
		return err;
	if (!from->dl.byte_offset)
		return tenon_value_own(&a->args[0], ret);
	err = relax_tensor_move(relax_current(), &from->dl, from->dl.device, &t);
	if (err)
		return tenon_error_in(err, "ensure_zero_offset");
	*ret = tenon_arg_object(t);
	return 0;
}

RELAX_BUILTIN(read_if_cond, 1, 1)
{
	char name[TENON_DTYPE_NAME];
	struct tenon_tensor *copy;
	uint64_t elements;
	int64_t value;
	DLTensor *t;
	int err;

	if (a->args[0].type == TENON_TYPE_INT || a->args[0].type == TENON_TYPE_BOOL) {
		*ret = tenon_arg_bool(a->args[0].as.integer != 0);
		return 0;
	}
	err = relax_argument_any_tensor(a, 0, &t);
	if (!err)
		err = tenon_tensor_elements(t, &elements);
	if (err)
		return err;
	if (!is_integer(t->dtype) || elements != 1)
		return tenon_error(-TENON_E_TYPE,
				   "read_if_cond: one integer or bool is wanted, found %" PRIu64
				   " of %s",
				   elements, tenon_dtype_name(t->dtype, name));
	err = read_tensor(a, &t, &copy);
	if (!err)
		err = read_integer(a, t, 0, &value);
	tenon_object_unref(copy);
	if (err)
		return err;
	*ret = tenon_arg_bool(value != 0);
	return 0;
}
