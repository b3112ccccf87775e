/* SPDX-License-Identifier: MIT */
/* Record calls of operators: the tensors before and after each. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>
#include <tenon/error.h>
#include <tenon/function.h>
#include <tenon/memory.h>

#include "lib/error_slot.h"
#include "lib/json_quote.h"
#include "runtime/record/record.h"

/**
 * struct operator_frame - a call that is under way on this thread
 * @begun: for the caller
 * @outer: call that this one is inside of
 * @place: its place in the record
 * @name: copied
 * @function: copied
 * @arguments: @count descriptions
 * @tensors: where the data of those that are tensors is
 * @count: number of arguments
 * @outputs: as in struct operator_call
 * @lack: 1 + why it is left out; 0 if it is not
 */
struct operator_frame {
	struct operator_begun begun;
	struct operator_frame *outer;
	struct record_place place;
	char *name, *function;
	struct record_argument *arguments;
	DLTensor *tensors;
	uint32_t count;
	uint32_t outputs;
	int lack;
};

static __thread struct operator_frame *innermost;

/* Keep the contents of a tensor. Return: as record_keep(). */
static int keep_tensor(const struct operator_frame *f, uint32_t i, char name[SHA256_TEXT])
{
	const DLTensor *t = &f->tensors[i];
	const struct record_argument *a = &f->arguments[i];
	DLTensor host = {
		.device = { kDLCPU, 0 }, .ndim = a->ndim, .dtype = a->dtype, .shape = a->shape
	};
	int why = 1 + RECORD_LACK_READING;

	if (!a->size)
		return record_keep(&f->place, (struct tenon_slice){ "", 0 }, name);
	if (t->device.device_type == kDLCPU && !t->device.device_id)
		return record_keep(
			&f->place,
			(struct tenon_slice){ (char *)t->data + t->byte_offset, a->size }, name);
	host.data = malloc(a->size ? a->size : 1);
	if (host.data && !tenon_tensor_copy(t, &host))
		why = record_keep(&f->place, (struct tenon_slice){ host.data, a->size }, name);
	free(host.data);
	return why;
}

/* Keep the contents of all tensors, before or after the call. */
static void keep_tensors(struct operator_frame *f, bool before)
{
	uint32_t i;

	record_inside = true;
	for (i = 0; i < f->count && !f->lack; i++) {
		struct record_argument *a = &f->arguments[i];

		if (a->kind != RECORD_TENSOR || (f->outputs && before != (i < f->outputs)))
			continue;
		f->lack = keep_tensor(f, i, before ? a->before : a->after);
	}
	record_inside = false;
}

static void put_entry(struct tenon_buffer *out, const struct operator_frame *f)
{
	DLDevice device = { kDLCPU, 0 };
	uint32_t i;

	for (i = 0; i < f->count; i++)
		if (f->arguments[i].kind == RECORD_TENSOR &&
		    f->tensors[i].device.device_type != kDLCPU)
			device = f->tensors[i].device;
	tenon_buffer_printf(out, "{\"number\":%" PRIu64 ",\"kind\":\"operator\",", f->place.number);
	if (f->outer)
		tenon_buffer_printf(out, "\"within\":%" PRIu64 ",", f->outer->place.number);
	tenon_buffer_printf(out, "\"name\":");
	json_quote(out, tenon_slice_of(f->name));
	tenon_buffer_printf(out, ",\"function\":");
	json_quote(out, tenon_slice_of(f->function));
	tenon_buffer_printf(out, ",\"device\":\"%s:%d\",\"arguments\":[",
			    tenon_device_name(device.device_type), (int)device.device_id);
	for (i = 0; i < f->count; i++) {
		tenon_buffer_printf(out, "%s", i ? "," : "");
		record_argument_put(out, &f->arguments[i]);
	}
	tenon_buffer_printf(out, "]}");
}

static void frame_free(struct operator_frame *f)
{
	record_arguments_free(f->arguments, f->count);
	free(f->tensors);
	free(f->name);
	free(f->function);
	free(f);
}

static void end_operator(struct operator_begun *begun, int err)
{
	struct operator_frame *f = (struct operator_frame *)begun;
	struct tenon_buffer text = TENON_BUFFER_INIT;
	struct error_slot *aside = error_set_aside();

	innermost = f->outer;
	if (err)
		f->lack = 1 + RECORD_LACK_FAILED;
	keep_tensors(f, false);
	if (f->lack) {
		record_leave_out(&f->place, (enum record_lack)(f->lack - 1));
	} else {
		put_entry(&text, f);
		record_close_place(&f->place, &text);
	}
	frame_free(f);
	error_put_back(aside);
}

static struct operator_frame *frame_create(const struct operator_call *call)
{
	struct operator_frame *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->begun.end = end_operator;
	f->count = call->count;
	f->outputs = call->outputs;
	f->name = strndup(call->name.data ? call->name.data : "", call->name.size);
	f->function = strndup(call->function.data ? call->function.data : "", call->function.size);
	f->arguments = calloc((size_t)call->count + 1, sizeof(*f->arguments));
	f->tensors = calloc((size_t)call->count + 1, sizeof(*f->tensors));
	if (f->name && f->function && f->arguments && f->tensors)
		return f;
	frame_free(f);
	return NULL;
}

/* Describe the arguments. Return: 0; or 1 + why the call is left out. */
static int describe_arguments(struct operator_frame *f, const struct operator_call *call)
{
	uint32_t i, tensors = 0;
	DLTensor *t;

	for (i = 0; i < call->count; i++) {
		if (!record_value(&call->args[i], &f->arguments[i]))
			return 1 + RECORD_LACK_ARGUMENT;
		if (f->arguments[i].kind != RECORD_TENSOR)
			continue;
		tenon_value_tensor(&call->args[i], &t);
		f->tensors[i] = *t;
		/* the caller's extents may be gone when the tensor is looked up */
		f->tensors[i].shape = f->arguments[i].shape;
		f->tensors[i].strides = NULL;
		f->tensors[i].dtype = f->arguments[i].dtype;
		tensors++;
	}
	return tensors ? 0 : 1 + RECORD_LACK_ARGUMENT;
}

struct operator_begun *record_before_operator(const struct operator_call *call)
{
	struct error_slot *aside;
	struct operator_frame *f;

	if (record_inside)
		return NULL;
	aside = error_set_aside();
	f = frame_create(call);
	if (f && !record_open_place(&f->place)) {
		frame_free(f);
		f = NULL;
	}
	if (f) {
		f->lack = describe_arguments(f, call);
		keep_tensors(f, true);
		f->outer = innermost;
		innermost = f;
	}
	error_put_back(aside);
	return f ? &f->begun : NULL;
}

const DLTensor *record_operator_tensor(const void *data, uint64_t *number)
{
	const struct operator_frame *f;
	const DLTensor *t;
	uint32_t i;

	*number = innermost ? innermost->place.number : 0;
	for (f = innermost; f; f = f->outer)
		for (i = 0; i < f->count; i++) {
			t = &f->tensors[i];
			if (f->arguments[i].kind == RECORD_TENSOR && t->data &&
			    t->device.device_type != kDLCPU &&
			    (const char *)t->data + t->byte_offset == (const char *)data)
				return t;
		}
	return NULL;
}
