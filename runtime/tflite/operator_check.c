/* SPDX-License-Identifier: MIT */
/* Check types, shapes and scales of an operator's tensors when a model is opened. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "lib/brief_errors.h"
#include "runtime/tflite/operator.h"

/* room for what is wrong with a tensor */
#define FAULT_TEXT 256

/* ---- messages */

int operator_fault(const struct operator_call *c, const struct tflite_value *v, int status,
		   const char *format, ...)
{
	const struct tenon_slice name = tflite_operator_name(&c->op);
	char text[FAULT_TEXT];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (!v)
		return tenon_error(status, "operator %" PRIu32 " (%.*s) %s", c->index,
				   (int)name.size, name.data, text);
	return tenon_error(status, "operator %" PRIu32 " (%.*s): tensor %" PRIu32 " (\"%.*s\") %s",
			   c->index, (int)name.size, name.data, v->index, (int)v->info.name.size,
			   v->info.name.data, text);
}

/* ---- numbers of tensors */

int operator_prepare(const struct operator_kind *kind, struct operator_call *c)
{
	uint32_t i;

	if (c->input_count < kind->least || c->input_count > kind->most ||
	    c->output_count != kind->outputs)
		return operator_fault(c, NULL, -TENON_E_FORMAT,
				      "has %" PRIu32 " inputs and %" PRIu32
				      " outputs, want %" PRIu32 " to %" PRIu32 " and %" PRIu32,
				      c->input_count, c->output_count, kind->least, kind->most,
				      kind->outputs);
	for (i = 0; i < c->input_count; i++)
		if (!c->inputs[i])
			return operator_fault(c, NULL, -TENON_E_FORMAT,
					      "has no tensor for input %" PRIu32, i);
	return kind->prepare(c);
}

/* ---- types and shapes */

int operator_want_type(const struct operator_call *c, const struct tflite_value *v, uint32_t mask)
{
	char names[FAULT_TEXT / 2] = "";
	size_t used = 0;
	unsigned int i;

	if (v->info.type < 32 && mask & 1u << v->info.type)
		return 0;
	for (i = 0; i < 32 && used < sizeof(names); i++)
		if (mask & 1u << i)
			used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
						 used ? ", " : "", tflite_type_name((uint8_t)i));
	return operator_fault(c, v, -TENON_E_UNSUPPORTED, "is of type %s; %s %s supported",
			      tflite_type_name(v->info.type), names,
			      mask & (mask - 1) ? "are" : "is");
}

int operator_want_same_type(const struct operator_call *c, const struct tflite_value *v,
			    const struct tflite_value *like)
{
	if (v->info.type == like->info.type)
		return 0;
	return operator_fault(c, v, -TENON_E_FORMAT, "is of type %s, want %s as of tensor %" PRIu32,
			      tflite_type_name(v->info.type), tflite_type_name(like->info.type),
			      like->index);
}

int operator_want_shape(const struct operator_call *c, const struct tflite_value *v, uint32_t ndim,
			const uint64_t *shape)
{
	uint32_t i;

	if (v->info.ndim != ndim)
		return operator_fault(c, v, -TENON_E_FORMAT, "has %u dimensions, want %" PRIu32,
				      v->info.ndim, ndim);
	for (i = 0; i < ndim; i++)
		if (v->info.shape[i] != shape[i])
			return operator_fault(c, v, -TENON_E_FORMAT,
					      "has extent %" PRIu32 " in dimension %" PRIu32
					      ", want %" PRIu64,
					      v->info.shape[i], i, shape[i]);
	return 0;
}

int operator_want_elements(const struct operator_call *c, const struct tflite_value *v,
			   const struct tflite_value *like)
{
	if (v->elements == like->elements)
		return 0;
	return operator_fault(c, v, -TENON_E_FORMAT,
			      "has %" PRIu64 " elements, want %" PRIu64 " as of tensor %" PRIu32,
			      v->elements, like->elements, like->index);
}

/* ---- quantisation */

void operator_range(uint8_t type, int32_t *least, int32_t *most)
{
	*least = type == TFLITE_UINT8 ? 0 : type == TFLITE_INT8 ? INT8_MIN : INT16_MIN;
	*most = type == TFLITE_UINT8 ? UINT8_MAX : type == TFLITE_INT8 ? INT8_MAX : INT16_MAX;
}

int operator_want_scale(const struct operator_call *c, const struct tflite_value *v)
{
	int32_t least, most;
	int64_t zero;
	float scale;

	if (v->info.scales.count != 1)
		return operator_fault(c, v, -TENON_E_UNSUPPORTED,
				      "has %" PRIu32 " scales; one is supported",
				      v->info.scales.count);
	scale = tflite_scale(&v->info, 0);
	zero = tflite_zero_point(&v->info, 0);
	operator_range(v->info.type, &least, &most);
	if (!isfinite(scale) || scale <= 0 || zero < least || zero > most)
		return operator_fault(c, v, -TENON_E_FORMAT,
				      "has scale %g and zero point %" PRId64
				      "; a scale is above 0, and a zero point a number of type %s",
				      (double)scale, zero, tflite_type_name(v->info.type));
	return 0;
}

int operator_want_same_scale(const struct operator_call *c, const struct tflite_value *v,
			     const struct tflite_value *like)
{
	const bool has = v->info.scales.count, wanted = like->info.scales.count;

	if (!has && !wanted)
		return 0;
	if (v->info.scales.count == 1 && like->info.scales.count == 1 &&
	    tflite_scale(&v->info, 0) == tflite_scale(&like->info, 0) &&
	    tflite_zero_point(&v->info, 0) == tflite_zero_point(&like->info, 0))
		return 0;
	return operator_fault(c, v, -TENON_E_UNSUPPORTED,
			      "has another scale or zero point than tensor %" PRIu32
			      "; this operator converts none",
			      like->index);
}

/* ---- parameters */

int operator_want_numbers(const struct operator_call *c, const struct tflite_value *v,
			  uint32_t count, int64_t *out)
{
	const bool is_long = v->info.type == TFLITE_INT64;
	uint32_t i;
	int err = operator_want_type(c, v, 1u << TFLITE_INT32 | 1u << TFLITE_INT64);

	if (err)
		return err;
	if (!v->info.data.size && v->elements)
		return operator_fault(c, v, -TENON_E_UNSUPPORTED,
				      "is computed by the model; a constant is supported");
	if (v->elements != count)
		return operator_fault(c, v, -TENON_E_FORMAT,
				      "has %" PRIu64 " elements, want %" PRIu32, v->elements,
				      count);
	for (i = 0; i < count; i++)
		out[i] = is_long ? ((const int64_t *)(const void *)v->data)[i]
				 : ((const int32_t *)(const void *)v->data)[i];
	return 0;
}

int operator_option(const struct operator_call *c, unsigned int field, unsigned int size,
		    uint64_t absent, uint64_t *out)
{
	int err = 0;

	*out = absent;
	if (c->op.has_options)
		err = flatbuffer_number(&c->op.options, field, size, absent, out);
	return err ? tenon_error_in(err, "operator %" PRIu32 ", its options", c->index) : 0;
}
