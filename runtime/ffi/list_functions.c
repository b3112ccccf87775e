/* SPDX-License-Identifier: MIT */
/* Global functions for arrays and lists. */
#include <inttypes.h>

#include "runtime/ffi/sequence.h"

static int out_of_bounds(int64_t i, int64_t size)
{
	return ffi_raise("IndexError", "Index %" PRId64 " out of bounds %" PRId64, i, size);
}

static int make_sequence(const char *function, int32_t type, const struct tenon_value *args,
			 int32_t count, struct tenon_value *ret)
{
	struct tenon_array *s = ffi_sequence_create(type, args, count);

	*ret = tenon_arg_object(s);
	return s ? 0 : -1;
}

static int get_sequence(const char *function, const struct tenon_value *args, int32_t count,
			int32_t arguments, int32_t type, struct tenon_array **s)
{
	return ffi_count(function, count, arguments, arguments)
		       ? -1
		       : ffi_arg_object(function, args, 0, type, s);
}

static int sequence_item(const char *function, int32_t type, const struct tenon_value *args,
			 int32_t count, struct tenon_value *ret)
{
	struct tenon_array *s;
	int64_t i;

	if (get_sequence(function, args, count, 2, type, &s) || ffi_arg_int(function, args, 1, &i))
		return -1;
	if (i < 0 || i >= s->size)
		return out_of_bounds(i, s->size);
	*ret = ffi_copy(&s->data[i]);
	return 0;
}

static int sequence_size(const char *function, int32_t type, const struct tenon_value *args,
			 int32_t count, struct tenon_value *ret)
{
	struct tenon_array *s;

	if (get_sequence(function, args, count, 1, type, &s))
		return -1;
	*ret = tenon_arg_int(s->size);
	return 0;
}

static int sequence_contains(const char *function, int32_t type, const struct tenon_value *args,
			     int32_t count, struct tenon_value *ret)
{
	struct tenon_value wanted, item;
	struct tenon_array *s;
	bool found = false;
	int64_t i;

	if (get_sequence(function, args, count, 2, type, &s) || ffi_own(&args[1], &wanted))
		return -1;
	for (i = 0; !found && i < s->size; i++) {
		item = ffi_copy(&s->data[i]); /* a callback may change the list */
		found = ffi_key_equal(&item, &wanted);
		ffi_release(&item);
	}
	ffi_release(&wanted);
	*ret = tenon_arg_bool(found);
	return 0;
}

#define BOTH(array_call, list_call, body, name)                                                    \
	static PACKED_CALL(array_call)                                                             \
	{                                                                                          \
		return body("ffi.Array" name, TENON_TYPE_ARRAY, args, count, ret);                 \
	}                                                                                          \
	static PACKED_CALL(list_call)                                                              \
	{                                                                                          \
		return body("ffi.List" name, TENON_TYPE_LIST, args, count, ret);                   \
	}

BOTH(make_array, make_list, make_sequence, "")
BOTH(array_contains, list_contains, sequence_contains, "Contains")
BOTH(array_item, list_item, sequence_item, "GetItem")
BOTH(array_size, list_size, sequence_size, "Size")

static PACKED_CALL(list_set)
{
	struct tenon_value fresh, old;
	struct tenon_array *s;
	int64_t i;
	*ret = tenon_arg_none();
	if (get_sequence("ffi.ListSetItem", args, count, 3, TENON_TYPE_LIST, &s) ||
	    ffi_arg_int("ffi.ListSetItem", args, 1, &i))
		return -1;
	if (i < 0 || i >= s->size)
		return out_of_bounds(i, s->size);
	if (ffi_own(&args[2], &fresh))
		return -1;
	old = s->data[i];
	s->data[i] = fresh;
	ffi_release(&old);
	return 0;
}

static PACKED_CALL(list_append)
{
	struct tenon_array *s;
	*ret = tenon_arg_none();
	if (get_sequence("ffi.ListAppend", args, count, 2, TENON_TYPE_LIST, &s))
		return -1;
	return ffi_sequence_append(s, &args[1]);
}

static PACKED_CALL(list_insert)
{
	struct tenon_array *s;
	int64_t i;
	*ret = tenon_arg_none();
	if (get_sequence("ffi.ListInsert", args, count, 3, TENON_TYPE_LIST, &s) ||
	    ffi_arg_int("ffi.ListInsert", args, 1, &i))
		return -1;
	if (i < 0 || i > s->size)
		return out_of_bounds(i, s->size);
	return ffi_sequence_replace(s, i, i, &args[2], 1);
}

static PACKED_CALL(list_pop)
{
	struct tenon_array *s;
	int64_t i;
	if (get_sequence("ffi.ListPop", args, count, 2, TENON_TYPE_LIST, &s) ||
	    ffi_arg_int("ffi.ListPop", args, 1, &i))
		return -1;
	if (i < 0 || i >= s->size)
		return out_of_bounds(i, s->size);
	*ret = ffi_copy(&s->data[i]);
	if (!ffi_sequence_replace(s, i, i + 1, NULL, 0))
		return 0;
	ffi_release(ret);
	return -1;
}

static PACKED_CALL(list_erase)
{
	struct tenon_array *s;
	int64_t i;
	*ret = tenon_arg_none();
	if (get_sequence("ffi.ListErase", args, count, 2, TENON_TYPE_LIST, &s) ||
	    ffi_arg_int("ffi.ListErase", args, 1, &i))
		return -1;
	if (i < 0 || i >= s->size)
		return out_of_bounds(i, s->size);
	return ffi_sequence_replace(s, i, i + 1, NULL, 0);
}

static int list_range(const char *function, const struct tenon_value *args, int32_t count,
		      int32_t arguments, struct tenon_array **s, int64_t *from, int64_t *to)
{
	if (get_sequence(function, args, count, arguments, TENON_TYPE_LIST, s) ||
	    ffi_arg_int(function, args, 1, from) || ffi_arg_int(function, args, 2, to))
		return -1;
	return 0;
}

static PACKED_CALL(list_erase_range)
{
	struct tenon_array *s;
	int64_t from, to;
	*ret = tenon_arg_none();
	if (list_range("ffi.ListEraseRange", args, count, 3, &s, &from, &to))
		return -1;
	return from == to ? 0 : ffi_sequence_replace(s, from, to, NULL, 0);
}

static PACKED_CALL(list_replace)
{
	struct tenon_array *s;
	struct tenon_object *by;
	int64_t from, to;
	*ret = tenon_arg_none();
	if (list_range("ffi.ListReplaceSlice", args, count, 4, &s, &from, &to))
		return -1;
	by = ffi_object(&args[3]);
	if (!by || !ffi_is_sequence(by->type))
		return ffi_arg_object("ffi.ListReplaceSlice", args, 3, TENON_TYPE_LIST, &by);
	return ffi_sequence_replace(s, from, to, ((struct tenon_array *)by)->data,
				    ((struct tenon_array *)by)->size);
}

static PACKED_CALL(list_reverse)
{
	struct tenon_array *s;
	*ret = tenon_arg_none();
	if (get_sequence("ffi.ListReverse", args, count, 1, TENON_TYPE_LIST, &s))
		return -1;
	ffi_sequence_reverse(s);
	return 0;
}

static PACKED_CALL(list_clear)
{
	struct tenon_array *s;
	*ret = tenon_arg_none();
	if (get_sequence("ffi.ListClear", args, count, 1, TENON_TYPE_LIST, &s))
		return -1;
	return ffi_sequence_replace(s, 0, s->size, NULL, 0);
}

static PACKED_CALL(list_reserve)
{
	struct tenon_array *s;
	int64_t n;
	*ret = tenon_arg_none();
	if (get_sequence("ffi.ListReserve", args, count, 2, TENON_TYPE_LIST, &s) ||
	    ffi_arg_int("ffi.ListReserve", args, 1, &n))
		return -1;
	return n < 0 ? 0 : ffi_sequence_reserve(s, n);
}

const struct global_function list_functions_globals[] = {
	{ "ffi.Array", make_array },
	{ "ffi.ArrayContains", array_contains },
	{ "ffi.ArrayGetItem", array_item },
	{ "ffi.ArraySize", array_size },
	{ "ffi.List", make_list },
	{ "ffi.ListAppend", list_append },
	{ "ffi.ListClear", list_clear },
	{ "ffi.ListContains", list_contains },
	{ "ffi.ListErase", list_erase },
	{ "ffi.ListEraseRange", list_erase_range },
	{ "ffi.ListGetItem", list_item },
	{ "ffi.ListInsert", list_insert },
	{ "ffi.ListPop", list_pop },
	{ "ffi.ListReplaceSlice", list_replace },
	{ "ffi.ListReserve", list_reserve },
	{ "ffi.ListReverse", list_reverse },
	{ "ffi.ListSetItem", list_set },
	{ "ffi.ListSize", list_size },
	{ NULL, NULL },
};
