/* SPDX-License-Identifier: MIT */
/* Report numbers, texts and lists as fields. */
#include <stdlib.h>
#include <tenon/error.h>

#include "lib/array_room.h"
#include "runtime/core/visit_field.h"

#include "lib/brief_errors.h"

static int show(const struct tenon_visitor *v, const char *name, struct tenon_value *value)
{
	int err = v->field(v->context, name, value);

	tenon_value_release(value);
	return err;
}

int visit_number(const struct tenon_visitor *v, const char *name, uint64_t number)
{
	struct tenon_value value = tenon_arg_int((int64_t)number);

	return v->field(v->context, name, &value);
}

int visit_text(const struct tenon_visitor *v, const char *name, struct tenon_slice text)
{
	struct tenon_value value;
	int err;

	if (!text.size)
		return 0;
	err = tenon_string_value(text, &value);
	return err ? err : show(v, name, &value);
}

int visit_list_add(struct visit_list *l, struct tenon_value *item)
{
	if (!l->status && !array_reserve(l->items, l->room, l->count + 1))
		l->status =
			tenon_error(-TENON_E_NOMEM, "no memory for a list of %zu", l->count + 1);
	if (l->status)
		tenon_value_release(item);
	else
		l->items[l->count++] = *item;
	return l->status;
}

int visit_list_text(struct visit_list *l, struct tenon_slice text)
{
	struct tenon_value value;
	int err;

	err = tenon_string_value(text, &value);
	if (!err)
		return visit_list_add(l, &value);
	if (!l->status)
		l->status = err;
	return err;
}

void visit_list_drop(struct visit_list *l)
{
	size_t i;

	for (i = 0; i < l->count; i++)
		tenon_value_release(&l->items[i]);
	free(l->items);
	*l = (struct visit_list){ 0 };
}

int visit_list_value(struct visit_list *l, struct tenon_value *out)
{
	struct tenon_array *array = NULL;
	int err = l->status;

	if (!err)
		err = tenon_array_create(l->items, l->count, &array);
	visit_list_drop(l);
	*out = tenon_arg_object(array);
	return err;
}

int visit_list_show(struct visit_list *l, const struct tenon_visitor *v, const char *name)
{
	struct tenon_value value;
	int err;

	err = visit_list_value(l, &value);
	return err ? err : show(v, name, &value);
}
