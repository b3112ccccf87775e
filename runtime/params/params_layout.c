/* SPDX-License-Identifier: MIT */
/* Check that parameters have names and data of their own. */
#include "runtime/params/params_interface.h"

#include <inttypes.h>
#include <stdlib.h>

#include "lib/brief_errors.h"

/* bytes of a name that a message shows */
#define SHOWN(name) ((name).size < 60 ? (int)(name).size : 60), (name).data

static int by_name(const void *a, const void *b)
{
	return params_name_order((*(const struct tenon_param *const *)a)->name,
				 (*(const struct tenon_param *const *)b)->name);
}

static int by_place(const void *a, const void *b)
{
	const struct tenon_param *x = *(const struct tenon_param *const *)a;
	const struct tenon_param *y = *(const struct tenon_param *const *)b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static int check(const struct tenon_params *p, const char *name, uint64_t start, uint64_t end,
		 bool holes, const struct tenon_param **order)
{
	uint64_t place = start;
	size_t i;

	for (i = 0; i < p->count; i++)
		order[i] = &p->items[i];
	qsort(order, p->count, sizeof(*order), by_name);
	for (i = 1; i < p->count; i++)
		if (!by_name(&order[i - 1], &order[i]))
			return tenon_error(-TENON_E_FORMAT, "%s: two tensors are called \"%.*s\"",
					   name, SHOWN(order[i]->name));
	qsort(order, p->count, sizeof(*order), by_place);
	for (i = 0; i < p->count; place = order[i]->offset + order[i]->bytes, i++)
		if (holes ? order[i]->offset < place : order[i]->offset != place)
			return tenon_error(-TENON_E_FORMAT,
					   "%s: tensor \"%.*s\" begins at 0x%" PRIx64
					   ", the one before it ends at 0x%" PRIx64,
					   name, SHOWN(order[i]->name), order[i]->offset, place);
	if (holes ? place > end : place != end)
		return tenon_error(-TENON_E_FORMAT,
				   "%s: the last tensor ends at 0x%" PRIx64
				   ", the file at 0x%" PRIx64,
				   name, place, end);
	return 0;
}

int params_check_layout(const struct tenon_params *p, const char *name, uint64_t start,
			uint64_t end, bool holes)
{
	const struct tenon_param **order = malloc((p->count + 1) * sizeof(*order));
	int err;

	if (!order)
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu parameters", p->count);
	err = check(p, name, start, end, holes, order);
	free(order);
	return err;
}
