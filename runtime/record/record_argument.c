/* SPDX-License-Identifier: MIT */
/* Describe the arguments of an operation. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>
#include <tenon/error.h>
#include <tenon/function.h>

#include "runtime/record/record.h"

bool record_tensor(const DLTensor *t, struct record_argument *out)
{
	DLTensor own = *t;
	size_t size;

	/* what TVM up to 0.20 calls bool */
	if (own.dtype.code == TENON_DTYPE_UINT && own.dtype.bits == 1)
		own.dtype = tenon_dtype(TENON_DTYPE_BOOL, 8, own.dtype.lanes);
	if (!tenon_tensor_compact(&own) || tenon_tensor_bytes(&own, &size)) {
		tenon_error_clear();
		return false;
	}
	out->kind = RECORD_TENSOR;
	out->ndim = own.ndim;
	out->dtype = own.dtype;
	out->size = size;
	out->shape = calloc((size_t)own.ndim + 1, sizeof(*out->shape));
	if (out->shape && own.ndim)
		memcpy(out->shape, own.shape, (size_t)own.ndim * sizeof(*out->shape));
	return out->shape;
}

bool record_bytes(uint64_t size, struct record_argument *out)
{
	int64_t extent = (int64_t)size;
	const DLTensor t = { .ndim = 1,
			     .dtype = tenon_dtype(TENON_DTYPE_UINT, 8, 1),
			     .shape = &extent };

	out->bytes_only = true;
	return size <= INT64_MAX && record_tensor(&t, out);
}

bool record_value(const struct tenon_value *v, struct record_argument *out)
{
	DLTensor *t;

	switch (v->type) {
	case TENON_TYPE_NONE:
		out->kind = RECORD_NONE;
		return true;
	case TENON_TYPE_INT:
	case TENON_TYPE_BOOL:
		out->kind = v->type == TENON_TYPE_INT ? RECORD_INT : RECORD_BOOL;
		out->integer = v->as.integer;
		return true;
	case TENON_TYPE_FLOAT:
		out->kind = RECORD_REAL;
		out->real = v->as.real;
		return true;
	case TENON_TYPE_DLTENSOR:
	case TENON_TYPE_TENSOR:
		return !tenon_value_tensor(v, &t) && t && record_tensor(t, out);
	default:
		return false;
	}
}

static void put_type(struct tenon_buffer *out, const struct record_argument *a)
{
	char name[TENON_DTYPE_NAME];
	int32_t i;

	for (i = 0; i < a->ndim; i++)
		tenon_buffer_printf(out, "%" PRIi64 "x", a->shape[i]);
	tenon_buffer_printf(out, "%s", tenon_dtype_name(a->dtype, name));
}

void record_argument_put(struct tenon_buffer *out, const struct record_argument *a)
{
	uint64_t bits;

	switch (a->kind) {
	case RECORD_INT:
		tenon_buffer_printf(out, "{\"int\":\"%" PRIi64 "\"}", a->integer);
		return;
	case RECORD_BOOL:
		tenon_buffer_printf(out, "{\"bool\":%s}", a->integer ? "true" : "false");
		return;
	case RECORD_REAL:
		/* its bits, so that none is lost, whatever the locale */
		memcpy(&bits, &a->real, sizeof(bits));
		tenon_buffer_printf(out, "{\"real\":\"%016" PRIx64 "\"}", bits);
		return;
	case RECORD_TENSOR:
		break;
	default:
		tenon_buffer_printf(out, "{}");
		return;
	}
	tenon_buffer_printf(out, "{\"tensor\":\"");
	put_type(out, a);
	tenon_buffer_printf(out, "\"%s", a->bytes_only ? ",\"bytes_only\":true" : "");
	if (*a->before)
		tenon_buffer_printf(out, ",\"before\":\"%s\"", a->before);
	if (*a->after)
		tenon_buffer_printf(out, ",\"after\":\"%s\"", a->after);
	tenon_buffer_printf(out, "}");
}

void record_arguments_free(struct record_argument *a, size_t count)
{
	size_t i;

	for (i = 0; a && i < count; i++)
		free(a[i].shape);
	free(a);
}
