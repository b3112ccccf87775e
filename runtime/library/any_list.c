/* SPDX-License-Identifier: MIT */
/* Map addresses to lists, and pass arguments and results by index. */
#include "runtime/library/any_list.h"

#include <stdlib.h>
#include <tenon/tensor.h>

#include "lib/brief_errors.h"
#include "lib/option.h"
#include "runtime/library/old_bool.h"
#include "runtime/library/tvm_table.h"

static any_list_find_fn find_place;

void any_list_set_find(any_list_find_fn find)
{
	__atomic_store_n(&find_place, find, __ATOMIC_RELEASE);
}

static int find(const void *list, int index, bool write, struct any_list_place *out)
{
	any_list_find_fn fn = __atomic_load_n(&find_place, __ATOMIC_ACQUIRE);

	if (!fn)
		return tenon_error(-TENON_E_VALUE, "no Relax program has run");
	return fn(list, index, write, out);
}

/*
 * Pass tensors as handles, as TVM's virtual machine does: the checks and tuples of compiled code
 * need the object. Compiled functions accept a handle like a DLTensor.
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

static int set_legacy(const struct any_list_place *p, int index, union legacy_value *out, int *code)
{
	const struct tenon_value *v = p->value;

	if (tensor_handle(v, out, code))
		return 0;
	if (!*p->scratch)
		*p->scratch = calloc(ANY_LIST_ARGUMENTS, sizeof(**p->scratch));
	if (!*p->scratch)
		return tenon_error(-TENON_E_NOMEM, "no memory for arguments");
	if (v->type == TENON_TYPE_NONE) {
		memset(out, 0, sizeof(*out));
		*code = LEGACY_NULL;
		return 0;
	}
	return legacy_argument(v, index, out, code,
			       &(*p->scratch)[(unsigned int)index % ANY_LIST_ARGUMENTS]);
}

/*
 * TVM 0.16 to 0.20 pass values and codes as two arguments: then @codes_or_offset is the codes, and
 * @legacy_offset the offset. The virtual machine knows which convention its code uses.
 */
int abi_backend_list_set_argument(void *list, int index, void *args, intptr_t codes_or_offset,
				  int legacy_offset)
{
	struct any_list_place p;

	if (find(list, index, false, &p))
		return -1;
	if (!p.legacy) {
		((struct tenon_value *)args)[(int)codes_or_offset] = *p.value;
		return 0;
	}
	if (!OPTION_ON(TVM_LEGACY))
		return -1;
	return set_legacy(&p, legacy_offset, (union legacy_value *)args + legacy_offset,
			  (int *)codes_or_offset + legacy_offset)
		       ? -1
		       : 0;
}

int abi_backend_list_reset(void *list, int index)
{
	struct any_list_place p;

	if (find(list, index, true, &p))
		return -1;
	tenon_value_release(p.value);
	return 0;
}

int abi_backend_list_take_result(void *list, int index, void *args, intptr_t codes_or_offset,
				 int legacy_offset)
{
	struct tenon_value result, *from;
	struct any_list_place p;

	if (find(list, index, true, &p))
		return -1;
	if (!p.legacy) {
		from = (struct tenon_value *)args + (int)codes_or_offset;
		result = *from;
		*from = tenon_arg_none();
	} else if (!OPTION_ON(TVM_LEGACY) ||
		   legacy_result((union legacy_value *)args + legacy_offset,
				 ((int *)codes_or_offset)[legacy_offset], &result)) {
		return -1;
	}
	tenon_value_release(p.value);
	*p.value = result;
	return 0;
}
