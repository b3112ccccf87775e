/* SPDX-License-Identifier: MIT */
/* Tuples, which are arrays: vm.builtin.make_tuple, tuple_getitem, tuple_reset_item. */
#include <inttypes.h>

#include "lib/brief_errors.h"
#include "lib/error_slot.h"
#include "runtime/relax/relax.h"
#include "runtime/relax/relax_builtin.h"

/* Tuples are represented as arrays. */

RELAX_BUILTIN(make_tuple, 0, -1)
{
	struct tenon_array *t;
	int err;

	err = relax_array_create(relax_current_pool(), a->args, (size_t)a->count, &t);
	if (err)
		return tenon_error_in(err, "make_tuple");
	*ret = tenon_arg_object(t);
	return 0;
}

static int tuple_item(const struct relax_arguments *a, struct tenon_value **out)
{
	struct tenon_array *t;
	int64_t index;
	int err;

	err = relax_argument_array(a, 0, &t);
	if (!err)
		err = relax_argument_int(a, 1, &index);
	if (err)
		return err;
	if (index < 0 || index >= t->size)
		return error_of_kind("IndexError", -TENON_E_VALUE,
				     "%s: item %" PRIi64 " of a tuple of %" PRIi64, a->name, index,
				     t->size);
	*out = &t->data[index];
	return 0;
}

RELAX_BUILTIN(tuple_getitem, 2, 2)
{
	struct tenon_value *item;
	int err;

	err = tuple_item(a, &item);
	return err ? err : tenon_value_own(item, ret);
}

/* Release an item of the tuple early: the compiler ensures that no instruction reads it again. */
RELAX_BUILTIN(tuple_reset_item, 2, 2)
{
	struct tenon_value *item, old;
	int err;

	err = tuple_item(a, &item);
	if (err)
		return err;
	old = *item;
	*item = tenon_arg_none();
	tenon_value_release(&old);
	return 0;
}
