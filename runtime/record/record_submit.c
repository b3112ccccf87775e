/* SPDX-License-Identifier: MIT */
/* Record operations of queues: kernels, copies, fills. Each is done before the next is submitted. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>
#include <tenon/error.h>
#include <tenon/memory.h>

#include "lib/error_slot.h"
#include "lib/json_quote.h"
#include "runtime/device/device_core.h"
#include "runtime/record/record.h"

/**
 * struct submission - an operation that is being recorded
 * @queue: its queue
 * @operation: the operation
 * @place: its place in the record
 * @within: number of the operator that submits it; 0 for none
 * @arguments: @count descriptions
 * @ranges: where the memory of those that are tensors is
 * @count: number of arguments
 */
struct submission {
	struct tenon_queue *queue;
	const struct tenon_operation *operation;
	struct record_place place;
	uint64_t within;
	struct record_argument *arguments;
	struct tenon_range *ranges;
	struct tenon_memory *rooms;
	uint32_t count;
};

/* Read memory when all that was submitted is done; below the device layer, which submits this. */
static bool read_range(struct tenon_queue *queue, const struct tenon_range *from, void *host,
		       uint64_t size)
{
	const struct tenon_queue_ops *ops = queue->device->ops->queue;
	struct tenon_operation op = { .kind = TENON_OP_READ };
	uint64_t serial;

	op.as.read.host = host;
	op.as.read.from = *from;
	op.as.read.size = size;
	return !ops->submit(queue, &op) && !ops->mark(queue, &serial) &&
	       !ops->wait(queue, serial, TENON_FOREVER) && ops->reached(queue, serial) == 1;
}

static int keep_range(const struct submission *s, uint32_t i, char name[SHA256_TEXT])
{
	const uint64_t size = s->arguments[i].size;
	void *host = malloc(size ? size : 1);
	int why = 1 + RECORD_LACK_READING;

	if (host && (!size || read_range(s->queue, &s->ranges[i], host, size)))
		why = record_keep(&s->place, (struct tenon_slice){ host, size }, name);
	free(host);
	return why;
}

/* ---- arguments of kernels */

static int scalar(const struct tenon_argument *type, uint64_t slot, struct record_argument *out)
{
	const uint32_t low = (uint32_t)slot;
	float single;

	out->kind = RECORD_INT;
	if (type->type.code == TENON_DTYPE_FLOAT && type->size == 8) {
		out->kind = RECORD_REAL;
		memcpy(&out->real, &slot, sizeof(out->real));
	} else if (type->type.code == TENON_DTYPE_FLOAT && type->size == 4) {
		out->kind = RECORD_REAL;
		memcpy(&single, &low, sizeof(single));
		out->real = (double)single;
	} else if (type->type.code == TENON_DTYPE_INT) {
		const unsigned int shift = 64 - 8 * (unsigned int)type->size;

		out->integer = (int64_t)(slot << shift) >> shift;
	} else if (type->type.code == TENON_DTYPE_UINT || type->type.code == TENON_DTYPE_BOOL) {
		out->integer =
			(int64_t)(type->size == 8 ? slot
						  : slot & ((UINT64_C(1) << 8 * type->size) - 1));
	} else {
		return 1 + RECORD_LACK_ARGUMENT;
	}
	return 0;
}

static int memory(struct submission *s, uint32_t i, uint64_t slot)
{
	struct record_argument *a = &s->arguments[i];
	struct tenon_memory *m;
	const DLTensor *t;
	uint64_t number;

	if (!slot) {
		a->kind = RECORD_NONE;
		return 0;
	}
	t = record_operator_tensor((const void *)(uintptr_t)slot, &number);
	if (tenon_memory_of_data(s->queue->device, (void *)(uintptr_t)slot, &s->rooms[i], &m))
		return 1 + RECORD_LACK_ARGUMENT;
	s->ranges[i] = tenon_range(m, 0);
	/* of an address the size is not known, unless it is that of a tensor */
	if (t ? !record_tensor(t, a) : m->size > INT64_MAX || !record_bytes(m->size, a))
		return 1 + RECORD_LACK_ARGUMENT;
	return 0;
}

static int describe_kernel(struct submission *s)
{
	const struct tenon_dispatch *d = s->operation->as.dispatch;
	const struct tenon_argument *type = d->kernel->info->arguments;
	uint32_t i;
	int why = 0;

	for (i = 0; i < s->count && !why; i++) {
		if (type[i].kind == TENON_ARGUMENT_MEMORY)
			why = memory(s, i, d->arguments[i]);
		else if (type[i].kind == TENON_ARGUMENT_SCALAR)
			why = scalar(&type[i], d->arguments[i], &s->arguments[i]);
		else
			why = 1 + RECORD_LACK_ARGUMENT;
	}
	return why;
}

/* ---- other operations: the first argument is what is written to, or read */

static int describe_range(struct submission *s, uint32_t i, const struct tenon_range *range,
			  uint64_t size)
{
	s->ranges[i] = *range;
	return record_bytes(size, &s->arguments[i]) ? 0 : 1 + RECORD_LACK_ARGUMENT;
}

static int describe_operation(struct submission *s)
{
	const struct tenon_operation *op = s->operation;
	int why;

	switch (op->kind) {
	case TENON_OP_DISPATCH:
		return describe_kernel(s);
	case TENON_OP_COPY:
		why = describe_range(s, 0, &op->as.copy.to, op->as.copy.size);
		return why ? why : describe_range(s, 1, &op->as.copy.from, op->as.copy.size);
	case TENON_OP_WRITE:
		return describe_range(s, 0, &op->as.write.to, op->as.write.size);
	case TENON_OP_READ:
		return describe_range(s, 0, &op->as.read.from, op->as.read.size);
	default:
		return describe_range(s, 0, &op->as.fill.to, op->as.fill.size);
	}
}

/* Whether the contents of an argument are kept before, or after, the operation. */
static bool wants(const struct submission *s, uint32_t i, bool before)
{
	switch (s->operation->kind) {
	case TENON_OP_DISPATCH:
		return true;
	case TENON_OP_COPY:
		return before == (i == 1);
	case TENON_OP_READ:
		return before;
	default:
		return !before;
	}
}

static int keep_ranges(struct submission *s, bool before)
{
	uint32_t i;
	int why = 0;

	for (i = 0; i < s->count && !why; i++) {
		struct record_argument *a = &s->arguments[i];

		if (a->kind == RECORD_TENSOR && wants(s, i, before))
			why = keep_range(s, i, before ? a->before : a->after);
	}
	return why;
}

/* ---- entries */

static void put_extents(struct tenon_buffer *out, const struct tenon_dispatch *d)
{
	const struct tenon_kernel_info *info = d->kernel->info;
	/* consecutive, in the order of the tags */
	const uint32_t *extents = d->grid;
	uint32_t i;

	_Static_assert(offsetof(struct tenon_dispatch, shared) ==
			       offsetof(struct tenon_dispatch, grid) +
				       TENON_TAG_SHARED * sizeof(uint32_t),
		       "an extent for each tag");
	tenon_buffer_printf(out, ",\"extents\":[");
	for (i = 0; i < info->tag_count; i++)
		tenon_buffer_printf(out, "%s[%u,%" PRIu32 "]", i ? "," : "", info->tags[i],
				    extents[info->tags[i]]);
	tenon_buffer_printf(out, "]");
}

static void put_entry(struct tenon_buffer *out, const struct submission *s)
{
	static const char *const kinds[] = { [TENON_OP_COPY] = "copy",
					     [TENON_OP_WRITE] = "write",
					     [TENON_OP_READ] = "read",
					     [TENON_OP_FILL] = "fill",
					     [TENON_OP_DISPATCH] = "kernel" };
	const struct tenon_operation *op = s->operation;
	uint32_t i;

	tenon_buffer_printf(out, "{\"number\":%" PRIu64 ",\"kind\":\"%s\",", s->place.number,
			    kinds[op->kind]);
	if (s->within)
		tenon_buffer_printf(out, "\"within\":%" PRIu64 ",", s->within);
	tenon_buffer_printf(out, "\"device\":\"%s:%d\",\"name\":",
			    tenon_device_name(s->queue->device->id.device_type),
			    (int)s->queue->device->id.device_id);
	if (op->kind == TENON_OP_DISPATCH) {
		json_quote(out, op->as.dispatch->kernel->info->name);
		put_extents(out, op->as.dispatch);
	} else {
		json_quote(out, tenon_slice_of(kinds[op->kind]));
	}
	if (op->kind == TENON_OP_FILL)
		tenon_buffer_printf(out, ",\"pattern\":%" PRIu32 ",\"width\":%" PRIu32,
				    op->as.fill.pattern, op->as.fill.width);
	tenon_buffer_printf(out, ",\"arguments\":[");
	for (i = 0; i < s->count; i++) {
		tenon_buffer_printf(out, "%s", i ? "," : "");
		record_argument_put(out, &s->arguments[i]);
	}
	tenon_buffer_printf(out, "]}");
}

static int allocate_record(struct submission *s)
{
	const struct tenon_operation *op = s->operation;

	s->count = op->kind == TENON_OP_DISPATCH ? op->as.dispatch->kernel->info->argument_count
		   : op->kind == TENON_OP_COPY	 ? 2
						 : 1;
	s->arguments = calloc((size_t)s->count + 1, sizeof(*s->arguments));
	s->ranges = calloc((size_t)s->count + 1, sizeof(*s->ranges));
	s->rooms = calloc((size_t)s->count + 1, sizeof(*s->rooms));
	return s->arguments && s->ranges && s->rooms ? 0 : 1 + RECORD_LACK_LIMIT;
}

static int submit_recorded(struct submission *s)
{
	struct tenon_buffer text = TENON_BUFFER_INIT;
	int err, why = allocate_record(s);

	if (!why)
		why = describe_operation(s);
	if (!why)
		why = keep_ranges(s, true);
	tenon_error_clear();
	err = s->queue->device->ops->queue->submit(s->queue, s->operation);
	if (err)
		why = 1 + RECORD_LACK_FAILED;
	if (!why) {
		why = keep_ranges(s, false);
		tenon_error_clear();
	}
	if (why) {
		record_leave_out(&s->place, (enum record_lack)(why - 1));
	} else {
		put_entry(&text, s);
		record_close_place(&s->place, &text);
	}
	if (s->arguments)
		record_arguments_free(s->arguments, s->count);
	free(s->ranges);
	free(s->rooms);
	return err;
}

int record_submit(struct tenon_queue *queue, const struct tenon_operation *op)
{
	struct submission s = { .queue = queue, .operation = op };
	struct error_slot *aside;
	int err;

	if (op->kind == TENON_OP_EXECUTE)
		record_leave_out(NULL, RECORD_LACK_COMMANDS);
	if (record_inside || op->kind > TENON_OP_DISPATCH || !record_open_place(&s.place))
		return queue->device->ops->queue->submit(queue, op);
	record_operator_tensor(NULL, &s.within);
	record_inside = true;
	aside = error_set_aside();
	err = submit_recorded(&s);
	record_inside = false;
	/* what submit raised stays; otherwise what was there before */
	if (!err)
		error_put_back(aside);
	else if (aside) {
		struct error_slot *own = error_set_aside();

		error_put_back(aside);
		error_put_back(own);
	}
	return err;
}
