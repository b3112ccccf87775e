/* SPDX-License-Identifier: MIT */
/*
 * tvm.contrib.sort.*: sorting along an axis. Equal elements keep their order in both directions,
 * and NaN comes last.
 */
#include <inttypes.h>

#include "lib/brief_errors.h"
#include "lib/slice_text.h"
#include "runtime/relax/relax_builtin.h"
#include "runtime/relax/relax_element.h"

/* lines of a tensor along an axis: element k of line l is at line_start(l) + k * step */
struct lines {
	const DLTensor *t;
	int64_t axis; /* at least 0 */
	int64_t count;
	int64_t length;
	int64_t step;
};

static int64_t line_start(const struct lines *l, int64_t line, int64_t length)
{
	return line / l->step * l->step * length + line % l->step;
}

static int open_lines(const struct relax_arguments *a, const DLTensor *t, int32_t axis_argument,
		      struct lines *l)
{
	uint64_t elements;
	int64_t axis;
	int32_t i;
	int err = relax_argument_int(a, axis_argument, &axis);

	if (err)
		return err;
	if (axis < -(int64_t)t->ndim || axis >= t->ndim)
		return relax_argument_error(
			a, axis_argument, -TENON_E_VALUE,
			"axis %" PRIi64 " of a tensor with %" PRIi32 " dimensions", axis, t->ndim);
	if (axis < 0)
		axis += t->ndim;
	err = tenon_tensor_elements(t, &elements);
	if (err)
		return err;
	*l = (struct lines){ .t = t, .axis = axis, .length = t->shape[axis], .step = 1 };
	if (!elements)
		return 0;
	for (i = (int32_t)axis + 1; i < t->ndim; i++)
		l->step *= t->shape[i];
	l->count = (int64_t)elements / l->length;
	return 0;
}

/* Check that @t has the shape of @like, except for @extent elements along the axis. */
static int check_shape(const struct relax_arguments *a, int32_t i, const struct lines *like,
		       int64_t extent, const DLTensor *t)
{
	int32_t k;

	for (k = 0; t->ndim == like->t->ndim && k < t->ndim; k++)
		if (t->shape[k] != (k == like->axis ? extent : like->t->shape[k]))
			break;
	if (t->ndim == like->t->ndim && k == t->ndim)
		return 0;
	return relax_argument_error(a, i, -TENON_E_VALUE,
				    "the shape does not fit the input: %" PRIi64
				    " elements are wanted along the axis, and as many as the input "
				    "has along the others",
				    extent);
}

static int refuse_dtype(const struct relax_arguments *a, int32_t i, const DLTensor *t)
{
	char name[TENON_DTYPE_NAME];

	return relax_argument_error(a, i, -TENON_E_TYPE, "dtype %s cannot be sorted here",
				    tenon_dtype_name(t->dtype, name));
}

/* The dtypes that TVM's own functions sort: floats of each size that there is, and large integers. */
static bool sortable(DLDataType d)
{
	return d.code == TENON_DTYPE_FLOAT || (d.code == TENON_DTYPE_INT && d.bits >= 32);
}

static bool top_sortable(DLDataType d)
{
	return sortable(d) ||
	       (d.bits == 8 && (d.code == TENON_DTYPE_INT || d.code == TENON_DTYPE_UINT));
}

static bool holds_indices(DLDataType d)
{
	if (d.lanes != 1)
		return false;
	return (d.code == TENON_DTYPE_INT || d.code == TENON_DTYPE_FLOAT) &&
	       (d.bits == 32 || d.bits == 64);
}

static size_t width_of(const DLTensor *t)
{
	return t->dtype.bits / 8;
}

static void sort_line(const struct lines *l, int64_t line, int64_t count, bool ascending,
		      struct relax_sort_item *items)
{
	relax_element_key_fn key = relax_element_key(l->t->dtype);
	size_t width = width_of(l->t);
	const char *at = (const char *)relax_tensor_data(l->t) +
			 line_start(l, line, l->length) * (int64_t)width;
	int64_t i;

	for (i = 0; i < count; i++, at += l->step * (int64_t)width)
		items[i] = (struct relax_sort_item){ key(at, ascending), i };
	relax_sort(items, items + l->length, (size_t)count);
}

/* what sort, argsort and topk write */
struct targets {
	DLTensor *values;  /* or NULL */
	DLTensor *indices; /* or NULL */
	int64_t most;	   /* elements of a line that are written */
	int64_t length;	   /* elements of a line of a target */
};

static void write_line(const struct lines *l, int64_t line, const struct relax_sort_item *items,
		       const struct targets *to)
{
	size_t width = width_of(l->t);
	const char *from = (const char *)relax_tensor_data(l->t);
	int64_t source = line_start(l, line, l->length), at = line_start(l, line, to->length), i;

	for (i = 0; i < to->most; i++, at += l->step) {
		if (to->values)
			memcpy((char *)relax_tensor_data(to->values) + at * (int64_t)width,
			       from + (source + items[i].index * l->step) * (int64_t)width, width);
		if (to->indices)
			relax_element_put(to->indices->dtype, relax_tensor_data(to->indices), at,
					  items[i].index);
	}
}

static int sort_lines(const struct lines *l, bool ascending, const struct targets *to)
{
	struct relax_sort_item *items;
	int64_t line;

	if (!l->count)
		return 0;
	items = relax_sort_memory((size_t)l->length);
	if (!items)
		return tenon_error_status();
	for (line = 0; line < l->count; line++) {
		sort_line(l, line, l->length, ascending, items);
		write_line(l, line, items, to);
	}
	relax_sort_done(items);
	return 0;
}

/* sort(in, out, axis, ascending) and argsort() of the same arguments */
static int sort_or_argsort(const struct relax_arguments *a, bool indices)
{
	struct targets to = { 0 };
	DLTensor *in, *out;
	int64_t ascending;
	struct lines l;
	int err;

	err = relax_argument_host_tensor(a, 0, &in);
	if (!err)
		err = relax_argument_host_tensor(a, 1, &out);
	if (!err)
		err = open_lines(a, in, 2, &l);
	if (!err)
		err = relax_argument_int(a, 3, &ascending);
	if (!err)
		err = check_shape(a, 1, &l, l.length, out);
	if (err)
		return err;
	if (!sortable(in->dtype) || in->dtype.lanes != 1)
		return refuse_dtype(a, 0, in);
	if (indices ? !holds_indices(out->dtype) : !tenon_dtype_equal(in->dtype, out->dtype))
		return refuse_dtype(a, 1, out);
	to.most = l.length;
	to.length = l.length;
	*(indices ? &to.indices : &to.values) = out;
	return sort_lines(&l, ascending, &to);
}

RELAX_BUILTIN(sort, 4, 4)
{
	return sort_or_argsort(a, false);
}

RELAX_BUILTIN(argsort, 4, 4)
{
	return sort_or_argsort(a, true);
}

/* Read the count of a line of argsort_nms(), which may be anything. */
static int64_t line_count(const DLTensor *counts, int64_t line, int64_t most)
{
	int32_t count;

	memcpy(&count, (const char *)relax_tensor_data(counts) + line * 4, 4);
	return count < 0 ? 0 : count < most ? count : most;
}

static void argsort_counted(const struct lines *l, const DLTensor *counts, DLTensor *out,
			    bool ascending, struct relax_sort_item *items)
{
	struct targets to = { .indices = out, .most = l->length, .length = l->length };
	int64_t line, i, sorted;

	for (line = 0; line < l->count; line++) {
		sorted = line_count(counts, line, l->length);
		sort_line(l, line, sorted, ascending, items);
		for (i = sorted; i < l->length; i++)
			items[i].index = i;
		write_line(l, line, items, &to);
	}
}

/* argsort_nms(in, count, out, axis, ascending): sorts the first elements of each line */
RELAX_BUILTIN(argsort_nms, 5, 5)
{
	static const DLDataType int32 = { TENON_DTYPE_INT, 32, 1 };
	static const DLDataType float32 = { TENON_DTYPE_FLOAT, 32, 1 };
	struct relax_sort_item *items;
	DLTensor *in, *counts, *out;
	int64_t ascending;
	uint64_t counted;
	struct lines l;
	int err;

	err = relax_argument_host_tensor(a, 0, &in);
	if (!err)
		err = relax_argument_host_tensor(a, 1, &counts);
	if (!err)
		err = relax_argument_host_tensor(a, 2, &out);
	if (!err)
		err = open_lines(a, in, 3, &l);
	if (!err)
		err = relax_argument_int(a, 4, &ascending);
	if (!err)
		err = check_shape(a, 2, &l, l.length, out);
	if (!err)
		err = tenon_tensor_elements(counts, &counted);
	if (err)
		return err;
	if (!tenon_dtype_equal(in->dtype, float32))
		return refuse_dtype(a, 0, in);
	if (!tenon_dtype_equal(counts->dtype, int32))
		return refuse_dtype(a, 1, counts);
	if (!tenon_dtype_equal(out->dtype, int32))
		return refuse_dtype(a, 2, out);
	if ((int64_t)counted < l.count)
		return relax_argument_error(a, 1, -TENON_E_VALUE,
					    "%" PRIu64 " counts for %" PRIi64 " lines", counted,
					    l.count);
	if (!l.count)
		return 0;
	items = relax_sort_memory((size_t)l.length);
	if (!items)
		return tenon_error_status();
	argsort_counted(&l, counts, out, ascending, items);
	relax_sort_done(items);
	return 0;
}

/* Which tensors topk() writes: "both", "values" or "indices". */
static int read_targets(const struct relax_arguments *a, struct targets *to)
{
	struct tenon_slice what;
	DLTensor *first, *second = NULL;
	int err;

	err = relax_argument_text(a, a->count - 2, &what);
	if (!err)
		err = relax_argument_host_tensor(a, 1, &first);
	if (!err && a->count == 7)
		err = relax_argument_host_tensor(a, 2, &second);
	if (err)
		return err;
	if (slice_is(what, "both") && second) {
		to->values = first;
		to->indices = second;
	} else if (slice_is(what, "values") && !second) {
		to->values = first;
	} else if (slice_is(what, "indices") && !second) {
		to->indices = first;
	} else {
		return tenon_error(-TENON_E_VALUE,
				   "topk: \"%.*s\" with %" PRIi32
				   " arguments; want \"both\" with 7, or \"values\" or "
				   "\"indices\" with 6",
				   slice_shown(what, 32), what.data, a->count);
	}
	return 0;
}

static int check_targets(const struct relax_arguments *a, const struct lines *l,
			 const struct targets *to)
{
	DLTensor *list[] = { to->values, to->indices };
	int32_t i, argument = 1;
	bool fits;
	int err;

	for (i = 0; i < 2; i++) {
		if (!list[i])
			continue;
		err = check_shape(a, argument, l, to->length, list[i]);
		if (err)
			return err;
		if (i == 0)
			fits = tenon_dtype_equal(list[i]->dtype, l->t->dtype);
		else if (l->t->dtype.bits == 8)
			fits = tenon_dtype_equal(list[i]->dtype, l->t->dtype) ||
			       holds_indices(list[i]->dtype);
		else
			fits = holds_indices(list[i]->dtype);
		if (!fits)
			return refuse_dtype(a, argument, list[i]);
		argument++;
	}
	return 0;
}

/* topk(in, [values,] [indices,] k, axis, "both" | "values" | "indices", ascending) */
RELAX_BUILTIN(topk, 6, 7)
{
	int64_t k, ascending;
	struct targets to = { 0 };
	struct lines l;
	DLTensor *in;
	int err;

	err = relax_argument_host_tensor(a, 0, &in);
	if (!err)
		err = read_targets(a, &to);
	if (!err)
		err = relax_argument_int(a, a->count - 4, &k);
	if (!err)
		err = open_lines(a, in, a->count - 3, &l);
	if (!err)
		err = relax_argument_int(a, a->count - 1, &ascending);
	if (err)
		return err;
	if (!top_sortable(in->dtype) || in->dtype.lanes != 1)
		return refuse_dtype(a, 0, in);
	to.length = k < 1 ? l.length : k;
	to.most = to.length < l.length ? to.length : l.length;
	err = check_targets(a, &l, &to);
	return err ? err : sort_lines(&l, ascending, &to);
}
