/* SPDX-License-Identifier: MIT */
/* Fill new arrays, and free them and their items after a failure. */
#ifndef RUNTIME_CORE_ARRAY_OBJECT_H
#define RUNTIME_CORE_ARRAY_OBJECT_H

#include <tenon/array.h>

/*
 * Fill a new array whose items follow the struct, and store it in @out. If an item cannot be owned,
 * free the array and the items.
 */
static inline int array_fill(struct tenon_array *a, const struct tenon_value *items, size_t count,
			     struct tenon_array **out)
{
	size_t i;
	int err;

	a->data = (struct tenon_value *)(a + 1);
	a->size = 0;
	a->capacity = (int64_t)count;
	a->data_deleter = NULL;
	for (i = 0; i < count; i++) {
		err = tenon_value_own(&items[i], &a->data[i]);
		if (err) {
			tenon_object_unref(a);
			return err;
		}
		a->size++;
	}
	*out = a;
	return 0;
}

#endif /* RUNTIME_CORE_ARRAY_OBJECT_H */
