/* SPDX-License-Identifier: MIT */
/* relax.run.print, relax.run.assert_op, relax.run.shape_to_tensor, vm.builtin.debug_print. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <tenon/backend/buffer.h>

#include "lib/brief_errors.h"
#include "lib/number.h"
#include "lib/slice_text.h"
#include "runtime/model/tensor_place.h"
#include "runtime/relax/relax.h"
#include "runtime/relax/relax_builtin.h"
#include "runtime/relax/relax_device.h"

#define PRINTED_MOST 1000 /* elements of a tensor that are printed */

/* The shortest text that reads as the same number, as Python prints it. */
static void print_float(struct tenon_buffer *out, double v, bool single)
{
	char text[NUMBER_ROOM];
	int digits;

	if (v != v || v - v != 0) {
		tenon_buffer_printf(out, "%s", v != v ? "nan" : v > 0 ? "inf" : "-inf");
		return;
	}
	for (digits = 1; digits < 17; digits++) {
		number_print(text, digits, v);
		if (single ? number_read_float(text, NULL) == (float)v
			   : number_read(text, NULL) == v)
			break;
	}
	number_print(text, digits, v);
	tenon_buffer_printf(out, "%s%s", text, strpbrk(text, ".e") ? "" : ".");
}

static void print_element(struct tenon_buffer *out, const DLTensor *t, uint64_t index)
{
	const char *at = (const char *)relax_tensor_data(t) + index * (t->dtype.bits / 8);
	bool is_signed = t->dtype.code == TENON_DTYPE_INT;
	uint64_t bits = 0, sign;
	double both;
	float single;

	memcpy(&bits, at, t->dtype.bits / 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	bits >>= 64 - t->dtype.bits;
#endif
	if (t->dtype.code == TENON_DTYPE_FLOAT && t->dtype.bits == 32) {
		memcpy(&single, at, 4);
		print_float(out, single, true);
	} else if (t->dtype.code == TENON_DTYPE_FLOAT && t->dtype.bits == 64) {
		memcpy(&both, at, 8);
		print_float(out, both, false);
	} else if (t->dtype.code == TENON_DTYPE_BOOL) {
		tenon_buffer_printf(out, "%s", bits ? "True" : "False");
	} else if (is_signed) {
		sign = UINT64_C(1) << (t->dtype.bits - 1);
		tenon_buffer_printf(out, "%" PRIi64, (int64_t)((bits ^ sign) - sign));
	} else {
		tenon_buffer_printf(out, "%" PRIu64, bits);
	}
}

/* Is an element a number or a bool of whole bytes, which print_element() reads? */
static bool is_plain(DLDataType t)
{
	if (t.code == TENON_DTYPE_FLOAT)
		return t.lanes == 1 && (t.bits == 32 || t.bits == 64);
	return t.lanes == 1 && t.bits && t.bits % 8 == 0 && t.bits <= 64 &&
	       (t.code < TENON_DTYPE_FLOAT || t.code == TENON_DTYPE_BOOL);
}

/* Print a host tensor with brackets around each dimension; large ones as their type. */
static void print_tensor(struct tenon_buffer *out, const DLTensor *t)
{
	char name[TENON_DTYPE_NAME];
	uint64_t elements, i, block;
	int32_t d;

	if (tenon_tensor_elements(t, &elements) || !is_plain(t->dtype) || elements > PRINTED_MOST ||
	    !elements || !tenon_tensor_compact(t) || !place_is_host(t->device)) {
		tenon_error_clear();
		tenon_buffer_printf(out, "Tensor(%s, [", tenon_dtype_name(t->dtype, name));
		for (d = 0; d < t->ndim && d < 64; d++)
			tenon_buffer_printf(out, "%s%" PRIi64, d ? ", " : "", t->shape[d]);
		tenon_buffer_printf(out, "])");
		return;
	}
	for (i = 0; i < elements; i++) {
		block = 1;
		for (d = t->ndim; d-- > 0;) {
			block *= (uint64_t)t->shape[d];
			if (i % block == 0)
				tenon_buffer_printf(out, "[");
		}
		print_element(out, t, i);
		block = 1;
		for (d = t->ndim; d-- > 0;) {
			block *= (uint64_t)t->shape[d];
			if ((i + 1) % block == 0)
				tenon_buffer_printf(out, "]");
		}
		if (i + 1 < elements)
			tenon_buffer_printf(out, " ");
	}
}

static void print_value(struct tenon_buffer *out, const struct tenon_value *v)
{
	const struct tenon_shape *shape;
	struct tenon_slice text;
	size_t i;

	if (v->type == TENON_TYPE_INT) {
		tenon_buffer_printf(out, "%" PRIi64, v->as.integer);
	} else if (v->type == TENON_TYPE_BOOL) {
		tenon_buffer_printf(out, "%s", v->as.integer ? "True" : "False");
	} else if (v->type == TENON_TYPE_FLOAT) {
		print_float(out, v->as.real, false);
	} else if (v->type == TENON_TYPE_NONE) {
		tenon_buffer_printf(out, "None");
	} else if (v->type == TENON_TYPE_TENSOR) {
		print_tensor(out, &((struct tenon_tensor *)v->as.object)->dl);
	} else if (v->type == TENON_TYPE_DLTENSOR) {
		print_tensor(out, v->as.tensor);
	} else if (v->type == TENON_TYPE_SHAPE) {
		shape = (const struct tenon_shape *)v->as.object;
		tenon_buffer_printf(out, "(");
		for (i = 0; i < shape->size && i < PRINTED_MOST; i++)
			tenon_buffer_printf(out, "%s%" PRIi64, i ? ", " : "", shape->data[i]);
		tenon_buffer_printf(out, ")");
	} else if (!tenon_value_text(v, &text)) {
		tenon_buffer_append(out, text.data, text.size);
	} else {
		tenon_error_clear();
		tenon_buffer_printf(out, "<%s>", tenon_type_key(v->type));
	}
}

/* Print values with @between after each but the last. */
static void print_list(struct tenon_buffer *out, const struct tenon_value *values, int32_t count,
		       const char *between)
{
	int32_t i;

	for (i = 0; i < count; i++) {
		print_value(out, &values[i]);
		if (i + 1 < count)
			tenon_buffer_printf(out, "%s", between);
	}
}

/* Print Python's format: {} and {2}; what follows a colon is ignored, {{ and }} are braces. */
static int print_format(struct tenon_buffer *out, struct tenon_slice format,
			const struct tenon_value *values, int32_t count)
{
	int64_t next = 0, which;
	size_t i, digits;
	char c;

	for (i = 0; i < format.size; i++) {
		c = format.data[i];
		if ((c != '{' && c != '}') || (i + 1 < format.size && format.data[i + 1] == c)) {
			i += c == '{' || c == '}';
			tenon_buffer_append(out, &c, 1);
			continue;
		}
		which = 0;
		for (digits = 0, i++; i < format.size && format.data[i] >= '0' &&
				      format.data[i] <= '9' && digits < 9;
		     i++, digits++)
			which = 10 * which + (format.data[i] - '0');
		while (i < format.size && format.data[i] != '}')
			i++;
		if (!digits)
			which = next++;
		if (c == '}' || i == format.size || which >= count)
			return tenon_error(-TENON_E_VALUE,
					   "the format \"%.*s\" does not fit %" PRIi32 " values",
					   slice_shown(format, 80), format.data, count);
		print_value(out, &values[which]);
	}
	return 0;
}

static void print_text(const struct tenon_buffer *text)
{
	fwrite(text->data, 1, text->size, stdout);
	putchar('\n');
}

/* print(format, values …): to the standard output; without a format the values with spaces */
RELAX_BUILTIN(print, 1, -1)
{
	struct tenon_buffer text = TENON_BUFFER_INIT;
	struct tenon_slice format;
	int err;

	err = relax_argument_text(a, 0, &format);
	if (err)
		return err;
	if (format.size)
		err = print_format(&text, format, a->args + 1, a->count - 1);
	else
		print_list(&text, a->args + 1, a->count - 1, " ");
	if (err)
		err = relax_argument_refuse(a, 0, err);
	else
		err = text.status;
	if (!err)
		print_text(&text);
	tenon_buffer_fini(&text);
	return err;
}

/* debug_print(where, tensor): to the standard output, also of a tensor on a device */
RELAX_BUILTIN(debug_print, 2, 2)
{
	struct tenon_buffer text = TENON_BUFFER_INIT;
	struct tenon_tensor *copy = NULL;
	char name[TENON_DTYPE_NAME];
	struct tenon_slice where;
	DLTensor *t;
	int32_t d;
	int err;

	err = relax_argument_text(a, 0, &where);
	if (!err)
		err = relax_argument_any_tensor(a, 1, &t);
	if (!err && !place_is_host(t->device)) {
		err = relax_tensor_move(relax_current(), t, (DLDevice){ kDLCPU, 0 }, &copy);
		t = err ? t : &copy->dl;
	}
	if (err)
		return err;
	tenon_buffer_append(&text, where.data, where.size);
	tenon_buffer_printf(&text, ": shape = (");
	for (d = 0; d < t->ndim; d++)
		tenon_buffer_printf(&text, "%s%" PRIi64, d ? ", " : "", t->shape[d]);
	tenon_buffer_printf(&text, "%s), dtype = %s, data =\n", t->ndim == 1 ? "," : "",
			    tenon_dtype_name(t->dtype, name));
	print_tensor(&text, t);
	tenon_object_unref(copy);
	err = text.status;
	if (!err)
		print_text(&text);
	tenon_buffer_fini(&text);
	return err;
}

static int read_condition(const struct relax_arguments *a, bool *out)
{
	DLTensor *t;
	int err;

	if (a->args[0].type == TENON_TYPE_INT || a->args[0].type == TENON_TYPE_BOOL) {
		*out = a->args[0].as.integer != 0;
		return 0;
	}
	err = relax_argument_host_tensor(a, 0, &t);
	if (err)
		return err;
	if (t->ndim || t->dtype.lanes != 1 ||
	    (t->dtype.code != TENON_DTYPE_BOOL &&
	     (t->dtype.code != TENON_DTYPE_UINT || t->dtype.bits != 1)))
		return relax_argument_error(a, 0, -TENON_E_TYPE,
					    "one bool without dimensions is wanted");
	*out = *(const char *)relax_tensor_data(t) != 0;
	return 0;
}

static void raise_assertion(struct tenon_buffer *text)
{
	struct tenon_slice part = { text->data, text->size };

	tenon_error_raise_text("AssertionError", &part, 1);
}

/* assert_op(condition, format, values …) */
RELAX_BUILTIN(assert_op, 1, -1)
{
	struct tenon_buffer text = TENON_BUFFER_INIT;
	struct tenon_slice format = { "", 0 };
	bool holds = false;
	int err = 0;

	if (a->count > 1)
		err = relax_argument_text(a, 1, &format);
	if (!err)
		err = read_condition(a, &holds);
	if (err || holds)
		return err;
	if (format.size)
		err = print_format(&text, format, a->args + 2, a->count - 2);
	else if (a->count > 2)
		print_list(&text, a->args + 2, a->count - 2, ", ");
	else
		tenon_buffer_printf(&text, "Assertion Failed");
	if (!err && !text.status) {
		raise_assertion(&text);
		err = -TENON_E_CALL;
	}
	tenon_buffer_fini(&text);
	return err ? err : -TENON_E_NOMEM;
}

/* shape_to_tensor(shape) -> int64[n] */
RELAX_BUILTIN(shape_to_tensor, 1, 1)
{
	static const DLDataType int64 = { TENON_DTYPE_INT, 64, 1 };
	struct relax_pool *pool = relax_current_pool();
	struct tenon_tensor *t;
	struct tenon_shape *s;
	int64_t size;
	int err;

	err = relax_argument_shape(a, 0, &s);
	if (err)
		return err;
	size = (int64_t)s->size;
	err = pool ? relax_tensor_new(pool, &size, 1, int64, &t)
		   : tenon_tensor_create(&size, 1, int64, &t);
	if (err)
		return err;
	if (size)
		memcpy(t->dl.data, s->data, s->size * sizeof(*s->data));
	*ret = tenon_arg_object(t);
	return 0;
}
