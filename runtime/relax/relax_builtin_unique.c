/* SPDX-License-Identifier: MIT */
/* relax.run.nonzero and relax.run.unique: operators whose results have a size that depends on data. */
#include <inttypes.h>
#include <stdlib.h>

#include "lib/brief_errors.h"
#include "runtime/relax/relax.h"
#include "runtime/relax/relax_builtin.h"
#include "runtime/relax/relax_element.h"

static const DLDataType int64_type = { TENON_DTYPE_INT, 64, 1 };

static int new_tensor(const int64_t *shape, int32_t ndim, DLDataType dtype,
		      struct tenon_tensor **out)
{
	struct relax_pool *pool = relax_current_pool();

	return pool ? relax_tensor_new(pool, shape, ndim, dtype, out)
		    : tenon_tensor_create(shape, ndim, dtype, out);
}

static int refuse_dtype(const struct relax_arguments *a, const DLTensor *t)
{
	char name[TENON_DTYPE_NAME];

	return relax_argument_error(a, 0, -TENON_E_TYPE,
				    "dtype %s; integers, floats and bool are wanted",
				    tenon_dtype_name(t->dtype, name));
}

/* Write the index of an element of @t in each dimension; results are columns of @columns numbers. */
static void put_place(const DLTensor *t, uint64_t element, int64_t *to, int64_t columns)
{
	int32_t d;

	for (d = t->ndim; d-- > 0; element /= (uint64_t)t->shape[d])
		to[d * columns] = (int64_t)(element % (uint64_t)t->shape[d]);
	if (!t->ndim)
		*to = 0;
}

/* nonzero(x) -> int64[ndim, count] */
RELAX_BUILTIN(nonzero, 1, 1)
{
	static const uint64_t zeros;
	relax_element_key_fn key;
	uint64_t elements, i, zero;
	struct tenon_tensor *out;
	int64_t shape[2], *to;
	const char *at;
	DLTensor *t;
	size_t width;
	int err;

	err = relax_argument_host_tensor(a, 0, &t);
	if (!err)
		err = tenon_tensor_elements(t, &elements);
	if (err)
		return err;
	key = relax_element_key(t->dtype);
	if (!key)
		return refuse_dtype(a, t);
	zero = key(&zeros, true);
	width = t->dtype.bits < 8 ? 1 : t->dtype.bits / 8;
	shape[0] = t->ndim ? t->ndim : 1;
	shape[1] = 0;
	at = relax_tensor_data(t);
	for (i = 0; i < elements; i++)
		shape[1] += key(at + i * width, true) != zero;
	err = new_tensor(shape, 2, int64_type, &out);
	if (err)
		return err;
	to = relax_tensor_data(&out->dl);
	for (i = 0; i < elements; i++)
		if (key(at + i * width, true) != zero)
			put_place(t, i, to++, shape[1]);
	*ret = tenon_arg_object(out);
	return 0;
}

/* A tensor as rows along an axis; without an axis every element is a row. */
struct rows {
	const DLTensor *t;
	relax_element_key_fn key;
	const char *data;
	size_t width;
	int32_t axis;  /* -1 for none */
	int64_t count; /* of rows */
	int64_t outer; /* elements of a row: outer * inner */
	int64_t inner;
};

static const char *row_at(const struct rows *r, int64_t row, int64_t outer)
{
	return r->data + (size_t)((outer * r->count + row) * r->inner) * r->width;
}

static int compare_rows(const struct rows *r, int64_t a, int64_t b)
{
	uint64_t x, y;
	int64_t o, i;

	for (o = 0; o < r->outer; o++)
		for (i = 0; i < r->inner; i++) {
			x = r->key(row_at(r, a, o) + (size_t)i * r->width, true);
			y = r->key(row_at(r, b, o) + (size_t)i * r->width, true);
			if (x != y)
				return x < y ? -1 : 1;
		}
	return 0;
}

/* Sort row numbers; equal rows stay in order. @spare has room for as many. */
static void sort_rows(const struct rows *r, int64_t *rows, int64_t *spare, int64_t count)
{
	int64_t half = count / 2, a = 0, b = half, i;

	if (count < 2)
		return;
	sort_rows(r, rows, spare, half);
	sort_rows(r, rows + half, spare, count - half);
	for (i = 0; i < count; i++)
		if (b == count || (a < half && compare_rows(r, rows[a], rows[b]) <= 0))
			spare[i] = rows[a++];
		else
			spare[i] = rows[b++];
	memcpy(rows, spare, (size_t)count * sizeof(*rows));
}

/*
 * struct groups - equal rows
 * @first: for each group, its first row
 * @size: for each group, how many rows
 * @group: for each row, its group
 * @memory: of these, and of temporaries
 */
struct groups {
	int64_t count;
	int64_t *first;
	int64_t *size;
	int64_t *group;
	int64_t *memory;
};

static void make_groups(const struct rows *r, struct groups *g, int64_t *sorted)
{
	int64_t i;

	for (i = 0; i < r->count; i++) {
		if (!i || compare_rows(r, sorted[i - 1], sorted[i])) {
			g->first[g->count] = sorted[i];
			g->size[g->count++] = 0;
		}
		g->group[sorted[i]] = g->count - 1;
		g->size[g->count - 1]++;
	}
}

/* Renumber the groups in the order of their first rows. @map and @spare have room for them. */
static void order_by_first_row(struct groups *g, int64_t rows, int64_t *map, int64_t *spare)
{
	int64_t i, n = 0;

	for (i = 0; i < rows; i++)
		if (g->first[g->group[i]] == i)
			map[g->group[i]] = n++;
	for (i = 0; i < rows; i++)
		g->group[i] = map[g->group[i]];
	for (i = 0; i < n; i++)
		spare[map[i]] = g->first[i];
	memcpy(g->first, spare, (size_t)n * sizeof(*spare));
	for (i = 0; i < n; i++)
		spare[map[i]] = g->size[i];
	memcpy(g->size, spare, (size_t)n * sizeof(*spare));
}

static int group_rows(const struct rows *r, bool sorted, struct groups *g)
{
	size_t n = (size_t)r->count + 1;
	int64_t *order, *spare, i;

	*g = (struct groups){ 0 };
	g->memory = n < SIZE_MAX / 40 ? malloc(n * 5 * sizeof(*g->memory)) : NULL;
	if (!g->memory)
		return tenon_error(-TENON_E_NOMEM, "unique: no memory for %" PRIi64 " rows",
				   r->count);
	g->first = g->memory;
	g->size = g->memory + n;
	g->group = g->memory + 2 * n;
	order = g->memory + 3 * n;
	spare = g->memory + 4 * n;
	for (i = 0; i < r->count; i++)
		order[i] = i;
	sort_rows(r, order, spare, r->count);
	make_groups(r, g, order);
	if (!sorted)
		order_by_first_row(g, r->count, order, spare);
	return 0;
}

static int make_values(const struct rows *r, const struct groups *g, struct tenon_tensor **out)
{
	int64_t shape[64], i, o;
	int32_t ndim = r->axis < 0 ? 1 : r->t->ndim;
	size_t bytes = (size_t)r->inner * r->width;
	char *to;
	int err;

	if (r->axis >= 0)
		memcpy(shape, r->t->shape, (size_t)ndim * sizeof(*shape));
	shape[r->axis < 0 ? 0 : r->axis] = g->count;
	err = new_tensor(shape, ndim, r->t->dtype, out);
	if (err)
		return err;
	to = relax_tensor_data(&(*out)->dl);
	for (o = 0; o < r->outer; o++)
		for (i = 0; i < g->count; i++, to += bytes)
			if (bytes)
				memcpy(to, row_at(r, g->first[i], o), bytes);
	return 0;
}

static int make_numbers(const int64_t *shape, int32_t ndim, const int64_t *numbers, int64_t count,
			struct tenon_tensor **out)
{
	int err = new_tensor(shape, ndim, int64_type, out);

	if (!err && count)
		memcpy(relax_tensor_data(&(*out)->dl), numbers, (size_t)count * sizeof(*numbers));
	return err;
}

/* The results that are asked for, as an array; values alone as a tensor. */
static int make_results(const struct rows *r, const struct groups *g, const int64_t asked[3],
			struct tenon_value *ret)
{
	struct tenon_value items[4];
	struct tenon_tensor *t;
	struct tenon_array *array;
	uint32_t n = 0, i;
	int err = make_values(r, g, &t);

	if (!err)
		items[n++] = tenon_arg_object(t);
	if (!err && asked[0]) {
		err = make_numbers(&g->count, 1, g->first, g->count, &t);
		if (!err)
			items[n++] = tenon_arg_object(t);
	}
	if (!err && asked[1]) {
		err = r->axis < 0 ? make_numbers(r->t->shape, r->t->ndim, g->group, r->count, &t)
				  : make_numbers(&r->count, 1, g->group, r->count, &t);
		if (!err)
			items[n++] = tenon_arg_object(t);
	}
	if (!err && asked[2]) {
		err = make_numbers(&g->count, 1, g->size, g->count, &t);
		if (!err)
			items[n++] = tenon_arg_object(t);
	}
	if (!err && n == 1) {
		*ret = items[0];
		return 0;
	}
	if (!err)
		err = relax_array_create(relax_current_pool(), items, n, &array);
	for (i = 0; i < n; i++)
		tenon_value_release(&items[i]);
	if (!err)
		*ret = tenon_arg_object(array);
	return err;
}

static int open_rows(const struct relax_arguments *a, struct rows *r)
{
	uint64_t elements;
	DLTensor *t;
	int64_t axis;
	int32_t i;
	int err = relax_argument_host_tensor(a, 0, &t);

	if (!err)
		err = tenon_tensor_elements(t, &elements);
	if (err)
		return err;
	*r = (struct rows){ .t = t, .key = relax_element_key(t->dtype), .axis = -1 };
	if (!r->key)
		return refuse_dtype(a, t);
	r->data = relax_tensor_data(t);
	r->width = t->dtype.bits < 8 ? 1 : t->dtype.bits / 8;
	r->outer = 1;
	r->inner = 1;
	r->count = (int64_t)elements;
	if (a->count < 6 || a->args[5].type == TENON_TYPE_NONE)
		return 0;
	err = relax_argument_range(a, 5, -(int64_t)t->ndim, (int64_t)t->ndim - 1, &axis);
	if (err)
		return err;
	r->axis = (int32_t)(axis < 0 ? axis + t->ndim : axis);
	r->count = t->shape[r->axis];
	if (!elements && r->count)
		return relax_argument_error(a, 0, -TENON_E_VALUE, "rows without elements");
	for (i = 0; i < t->ndim; i++)
		if (i != r->axis)
			*(i < r->axis ? &r->outer : &r->inner) *= t->shape[i];
	return 0;
}

/* unique(x, sorted, index, inverse, counts [, axis]) */
RELAX_BUILTIN(unique, 5, 6)
{
	int64_t flags[4];
	struct groups g;
	struct rows r;
	int32_t i;
	int err = 0;

	for (i = 0; i < 4 && !err; i++)
		err = relax_argument_int(a, 1 + i, &flags[i]);
	if (!err)
		err = open_rows(a, &r);
	if (!err)
		err = group_rows(&r, flags[0], &g);
	if (err)
		return err;
	err = make_results(&r, &g, flags + 1, ret);
	free(g.memory);
	return err;
}
