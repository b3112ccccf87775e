/* SPDX-License-Identifier: MIT */
/* Find the largest difference of two tensors, and print the comparison. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <tenon/array.h>
#include <tenon/string.h>

#include "lib/difference.h"
#include "lib/slice_text.h"
#include "tools/tensor/compare.h"
#include "tools/tensor/spec.h"
#include "tools/text/text.h"

/* difference of two numbers, and the magnitude of the expected one */
struct difference {
	double absolute;
	double scale;
};

static double magnitude(const struct element *e)
{
	if (e->class == ELEMENT_COMPLEX)
		return hypot(e->real, e->imaginary);
	return fabs(element_real(e));
}

static bool negative(const struct element *e)
{
	return e->class == ELEMENT_SIGNED && e->integer < 0;
}

static struct difference difference_of(const struct element *got, const struct element *want)
{
	struct difference d = { 0, magnitude(want) };
	bool integers = got->class <= ELEMENT_UNSIGNED && want->class <= ELEMENT_UNSIGNED;

	if (integers && got->class != want->class && !negative(got) && !negative(want)) {
		d.absolute = (double)difference_integer(got->natural, want->natural, false);
	} else if (integers && got->class == want->class) {
		d.absolute = (double)difference_integer(got->natural, want->natural,
							want->class == ELEMENT_SIGNED);
	} else if (got->class == ELEMENT_COMPLEX && want->class == ELEMENT_COMPLEX) {
		double re = difference_real(got->real, want->real);
		double im = difference_real(got->imaginary, want->imaginary);

		d.absolute = isinf(re) || isinf(im) ? INFINITY : hypot(re, im);
	} else {
		d.absolute = difference_real(element_real(got), element_real(want));
	}
	return d;
}

static bool within(const struct difference *d, enum element_class class, const struct tolerance *t)
{
	bool exact = class <= ELEMENT_UNSIGNED;
	double rtol = exact && !t->rtol_given ? 0 : t->rtol;
	double atol = exact && !t->atol_given ? 0 : t->atol;

	return difference_within(d->absolute, d->scale, rtol, atol);
}

static void note(struct comparison *c, const struct element *got, const struct element *want,
		 DLDataType dtype, const struct tolerance *t)
{
	struct difference d = difference_of(got, want);
	double relative = d.absolute == 0 ? 0 : d.absolute / d.scale;

	if (isnan(relative)) /* NaN and infinity differ infinitely */
		relative = INFINITY;
	if (d.absolute > c->absolute)
		c->absolute = d.absolute;
	if (relative > c->relative)
		c->relative = relative;
	if (!within(&d, want->class, t)) {
		if (!c->differing++) {
			c->first = c->elements;
			element_text(got, dtype, 0, c->got);
			element_text(want, dtype, 0, c->want);
		}
	}
	c->elements++;
}

static bool comparable(const DLTensor *got, const DLTensor *want, struct comparison *c)
{
	char a[TYPE_TEXT], b[TYPE_TEXT];
	bool shape = got->ndim == want->ndim;

	type_text(got->shape, got->ndim, got->dtype, a);
	type_text(want->shape, want->ndim, want->dtype, b);
	for (int32_t i = 0; shape && i < got->ndim; i++)
		shape = got->shape[i] == want->shape[i];
	if (!shape) {
		snprintf(c->mismatch, sizeof(c->mismatch),
			 "the shape is that of %.100s, expected %.100s", a, b);
		return false;
	}
	if (!tenon_dtype_equal(element_storage(got->dtype), element_storage(want->dtype))) {
		snprintf(c->mismatch, sizeof(c->mismatch), "the type is %.80s, expected %.80s%s", a,
			 b,
			 got->dtype.bits == want->dtype.bits || got->dtype.bits < 8
				 ? "; put the type in front of the file to read it as such"
				 : "");
		return false;
	}
	if (element_class_of(got->dtype) < 0) {
		snprintf(c->mismatch, sizeof(c->mismatch), "elements of %.80s cannot be compared",
			 a);
		return false;
	}
	return true;
}

void compare_tensors(const DLTensor *got, const DLTensor *want, const struct tolerance *t,
		     struct comparison *out)
{
	struct element a, b;
	uint64_t count;

	memset(out, 0, sizeof(*out));
	if (got->device.device_type != kDLCPU) {
		snprintf(out->mismatch, sizeof(out->mismatch),
			 "the tensor lies on %s:%d, not in CPU memory",
			 tenon_device_name(got->device.device_type), got->device.device_id);
		return;
	}
	if (!comparable(got, want, out) || tenon_tensor_elements(got, &count))
		return;
	count *= got->dtype.lanes;
	for (uint64_t i = 0; i < count; i++) {
		tensor_element(got, i, &a);
		tensor_element(want, i, &b);
		note(out, &a, &b, got->dtype, t);
	}
	out->equal = !out->differing;
}

/* ---- values */

static bool number_of(const struct tenon_value *v, struct element *out, DLDataType *dtype)
{
	memset(out, 0, sizeof(*out));
	switch (v->type) {
	case TENON_TYPE_INT:
		out->class = ELEMENT_SIGNED;
		out->integer = v->as.integer;
		*dtype = tenon_dtype(TENON_DTYPE_INT, 64, 1);
		return true;
	case TENON_TYPE_BOOL:
		out->class = ELEMENT_BOOL;
		out->natural = v->as.integer != 0;
		*dtype = tenon_dtype(TENON_DTYPE_BOOL, 8, 1);
		return true;
	case TENON_TYPE_FLOAT:
		out->class = ELEMENT_REAL;
		out->real = v->as.real;
		*dtype = tenon_dtype(TENON_DTYPE_FLOAT, 64, 1);
		return true;
	default:
		return false;
	}
}

static bool is_tensor(const struct tenon_value *v, DLTensor **out)
{
	if (!tenon_value_tensor(v, out))
		return true;
	tenon_error_clear();
	return false;
}

static bool is_text(const struct tenon_value *v, struct tenon_slice *out)
{
	if (!tenon_value_text(v, out))
		return true;
	tenon_error_clear();
	return false;
}

static void compare_texts(struct tenon_slice got, struct tenon_slice want, struct comparison *out)
{
	out->elements = 1;
	out->equal = tenon_slice_equal(got, want);
	if (out->equal)
		return;
	out->differing = 1;
	out->absolute = out->relative = INFINITY;
	snprintf(out->got, sizeof(out->got), "\"%.*s\"", slice_shown(got, 60), got.data);
	snprintf(out->want, sizeof(out->want), "\"%.*s\"", slice_shown(want, 60), want.data);
}

static bool is_shape(const struct tenon_value *v)
{
	return v->type == TENON_TYPE_SHAPE;
}

/* Extents must be equal: the tolerance does not apply. */
static void compare_shapes(const struct tenon_shape *got, const struct tenon_shape *want,
			   struct comparison *out)
{
	const DLDataType dtype = tenon_dtype(TENON_DTYPE_INT, 64, 1);
	const struct tolerance exact = { .rtol_given = true, .atol_given = true };
	struct element a = { .class = ELEMENT_SIGNED }, b = a;
	size_t i;

	if (got->size != want->size) {
		snprintf(out->mismatch, sizeof(out->mismatch),
			 "the shape has %zu dimensions, expected %zu", got->size, want->size);
		return;
	}
	for (i = 0; i < got->size; i++) {
		a.integer = got->data[i];
		b.integer = want->data[i];
		note(out, &a, &b, dtype, &exact);
	}
	out->equal = !out->differing;
}

void compare_values(const struct tenon_value *got, const struct tenon_value *want,
		    const struct tolerance *t, struct comparison *out)
{
	struct tenon_slice text, expected;
	DLTensor *tensor, *model;
	DLDataType dtype, other;
	struct element a, b;

	memset(out, 0, sizeof(*out));
	if (is_tensor(got, &tensor) && is_tensor(want, &model)) {
		compare_tensors(tensor, model, t, out);
	} else if (is_text(got, &text) && is_text(want, &expected)) {
		compare_texts(text, expected, out);
	} else if (is_shape(got) && is_shape(want)) {
		compare_shapes((const struct tenon_shape *)got->as.object,
			       (const struct tenon_shape *)want->as.object, out);
	} else if (number_of(got, &a, &dtype) && number_of(want, &b, &other)) {
		/*
		 * An int differs from a float of the same value, but an expected 1.0 may match an
		 * int 1.
		 */
		note(out, &a, &b, b.class == ELEMENT_REAL ? other : dtype, t);
		out->equal = !out->differing;
	} else if (got->type == TENON_TYPE_NONE && want->type == TENON_TYPE_NONE) {
		out->equal = true;
	} else {
		snprintf(out->mismatch, sizeof(out->mismatch), "this is a %s, expected %s",
			 tenon_type_key(got->type), tenon_type_key(want->type));
	}
}

void compare_print(const struct comparison *c, FILE *out)
{
	if (*c->mismatch) {
		fprintf(out, "differs: %s", c->mismatch);
		return;
	}
	if (c->equal) {
		fprintf(out, "equal (largest difference %.3g absolute, %.3g relative)", c->absolute,
			c->relative);
		return;
	}
	fprintf(out,
		"differs in %" PRIu64 " of %" PRIu64
		" element%s (largest difference %.3g absolute, "
		"%.3g relative; first at %" PRIu64 ": ",
		c->differing, c->elements, c->elements == 1 ? "" : "s", c->absolute, c->relative,
		c->first);
	printable_print(c->got, out);
	fputs(", expected ", out);
	printable_print(c->want, out);
	fputc(')', out);
}
