/* SPDX-License-Identifier: MIT */
/*
 * Record what a function submits, with slots in place of the memory that stands for them.
 *
 * A recorded call submits its operations to a queue of the recording. They do not run, so that queue stays idle. Its pool
 * keeps the workspace of the calls for as long as the recording lives.
 */
#include "runtime/device/device_capture.h"

#include <inttypes.h>
#include <stdlib.h>
#include <tenon/function.h>

#include "lib/brief_errors.h"
#include "runtime/device/device_thread.h"

/**
 * struct stand_in - memory that stands for a slot
 * @next: the one before
 * @root: the memory that it is a part of, or it; referenced; NULL on devices with addresses
 * @place: its first byte there, or its address
 * @size: bytes that stand for the slot
 * @slot: its number
 */
struct stand_in {
	struct stand_in *next;
	struct tenon_memory *root;
	uint64_t place;
	uint64_t size;
	uint32_t slot;
};

static const struct capture capture;

static bool has_addresses(const struct tenon_device *device)
{
	return device->properties->flags & TENON_DEVICE_ADDRESSES;
}

/* ---- stand-ins */

/* Where a byte of memory is: on a device without addresses, in the memory that it is a part of. */
static uint64_t place_of(const struct tenon_memory *m, uint64_t offset,
			 const struct tenon_memory **root)
{
	*root = NULL;
	if (has_addresses(m->device))
		return m->address + offset;
	*root = tenon_memory_root((struct tenon_memory *)(uintptr_t)m, &offset);
	return offset;
}

/* Find the stand-in that has the byte at a place; @offset receives where in it. */
static const struct stand_in *find(const struct tenon_commands *c, const struct tenon_memory *root,
				   uint64_t place, uint64_t *offset)
{
	const struct stand_in *s;

	for (s = c->core->stand_ins; s; s = s->next) {
		*offset = place - s->place;
		if (s->root == root && *offset < s->size)
			return s;
	}
	return NULL;
}

static bool overlaps(const struct stand_in *a, const struct stand_in *b)
{
	return a->root == b->root && a->place < b->place + b->size && b->place < a->place + a->size;
}

static int add_stand_in(struct tenon_commands *c, const struct stand_in *new)
{
	struct stand_in *s;

	for (s = c->core->stand_ins; s; s = s->next) {
		if (s->slot == new->slot)
			return tenon_error(-TENON_E_VALUE, "slot %u has a buffer already", s->slot);
		if (overlaps(s, new))
			return tenon_error(-TENON_E_VALUE,
					   "the memory given for slot %u is in use for slot %u",
					   new->slot, s->slot);
	}
	s = malloc(sizeof(*s));
	if (!s)
		return tenon_error(-TENON_E_NOMEM, "no memory for a slot of a recording");
	*s = *new;
	s->next = c->core->stand_ins;
	c->core->stand_ins = s;
	tenon_object_ref(s->root);
	if (s->slot >= c->slots)
		c->slots = s->slot + 1;
	return 0;
}

int tenon_commands_stand_in(struct tenon_commands *c, uint32_t slot, struct tenon_memory *memory,
			    uint64_t size)
{
	struct stand_in new = { .size = size, .slot = slot };
	const struct tenon_memory *root;

	if (c->finished)
		return tenon_error(-TENON_E_USAGE, "the recording is finished; make a new one");
	if (memory->device != c->device || size > memory->size || slot > INT32_MAX)
		return tenon_error(-TENON_E_VALUE,
				   "%" PRIu64 " bytes of a memory of %" PRIu64
				   " cannot be recorded as slot %u on %s: want memory of this "
				   "device, and no more bytes than it has",
				   size, memory->size, slot, c->device->backend->name);
	new.place = place_of(memory, 0, &root);
	new.root = (struct tenon_memory *)(uintptr_t)root;
	c->core->capture = &capture;
	return add_stand_in(c, &new);
}

static int inside_a_slot(const struct stand_in *s, const struct tenon_dispatch *d, size_t i,
			 uint64_t offset)
{
	const struct tenon_slice name = d->kernel->info->name;

	return tenon_error(-TENON_E_UNSUPPORTED,
			   "%.*s: argument %zu begins %" PRIu64
			   " bytes into slot %u: a kernel can be "
			   "recorded with whole slots",
			   (int)name.size, name.data, i, offset, s->slot);
}

static int name_arguments(const struct tenon_commands *c, struct slotted *out)
{
	const struct tenon_dispatch *d = out->operation.as.dispatch;
	const struct tenon_memory *root;
	const struct stand_in *s;
	uint64_t offset, place;
	size_t i;

	for (i = 0; i < d->kernel->info->argument_count; i++) {
		out->slots[i] = d->slots ? d->slots[i] : -1;
		if (d->kernel->info->arguments[i].kind != TENON_ARGUMENT_MEMORY ||
		    out->slots[i] >= 0 || !d->arguments[i])
			continue;
		root = NULL;
		place = d->arguments[i];
		if (!has_addresses(c->device))
			place = place_of((const struct tenon_memory *)(uintptr_t)place, 0, &root);
		s = find(c, root, place, &offset);
		if (s && offset)
			return inside_a_slot(s, d, i, offset);
		if (s)
			out->slots[i] = (int32_t)s->slot;
	}
	out->dispatch = *d;
	out->dispatch.slots = out->slots;
	out->operation.as.dispatch = &out->dispatch;
	return 0;
}

static void name_range(const struct tenon_commands *c, struct tenon_range *r)
{
	const struct tenon_memory *root;
	const struct stand_in *s;
	uint64_t offset, place;

	if (!r->memory)
		return;
	place = place_of(r->memory, r->offset, &root);
	s = find(c, root, place, &offset);
	if (s)
		*r = tenon_slot(s->slot, offset);
}

static int capture_name_slots(const struct tenon_commands *c, const struct tenon_operation *op,
			      struct slotted *out)
{
	out->operation = *op;
	switch (op->kind) {
	case TENON_OP_COPY:
		name_range(c, &out->operation.as.copy.to);
		name_range(c, &out->operation.as.copy.from);
		return 0;
	case TENON_OP_FILL:
		name_range(c, &out->operation.as.fill.to);
		return 0;
	case TENON_OP_DISPATCH:
		return name_arguments(c, out);
	default:
		return 0;
	}
}

static int capture_check_bindings(const struct tenon_commands *c,
				  struct tenon_memory *const *bindings)
{
	const struct stand_in *s;

	for (s = c->core->stand_ins; s; s = s->next)
		if (bindings[s->slot]->size < s->size)
			return tenon_error(-TENON_E_VALUE,
					   "binding %u has %" PRIu64
					   " bytes; the slot was recorded with "
					   "%" PRIu64,
					   s->slot, bindings[s->slot]->size, s->size);
	return 0;
}

/* ---- calls */

static int capture_operation(struct tenon_commands *c, const struct tenon_operation *op,
			     const struct tenon_sync *sync)
{
	int err;

	/* a timestamp writes to host memory that may be freed before a run */
	if (!commands_can_record(op->kind) || op->kind == TENON_OP_TIMESTAMP ||
	    (sync && (sync->wait_count || sync->signal_count)))
		err = tenon_error(
			-TENON_E_UNSUPPORTED,
			"a call that is recorded submits a \"%s\"%s: that cannot be recorded",
			operation_name(op->kind),
			commands_can_record(op->kind) ? " that waits or signals" : "");
	else
		err = tenon_commands_record(c, op);
	if (!err && op->kind != TENON_OP_BARRIER)
		err = tenon_commands_barrier(c);
	c->core->captured++;
	/* the function may go on as if nothing had failed */
	c->core->incomplete |= err != 0;
	return err;
}

/* Let the thread submit to the recording's queue; @former receives the current queue, referenced. */
static int begin(struct tenon_commands *c, struct tenon_queue **former)
{
	int err;

	/* capture_fini() also releases the queue */
	c->core->capture = &capture;
	err = c->core->queue ? 0 : tenon_queue_create(c->device, &c->core->queue);
	if (!err)
		err = tenon_device_set_current(c->device);
	if (!err)
		err = tenon_queue_current(c->device, former);
	if (err)
		return err;
	tenon_object_ref(*former);
	err = tenon_queue_set_current(c->device, c->core->queue);
	if (err) {
		tenon_object_unref(*former);
		return err;
	}
	c->core->captured = 0;
	c->core->capturing = true;
	c->core->queue->core->follower = c;
	return 0;
}

static int end(struct tenon_commands *c, struct tenon_queue *former)
{
	int err;

	c->core->queue->core->follower = NULL;
	c->core->capturing = false;
	err = tenon_queue_set_current(c->device, former);
	tenon_object_unref(former);
	return err;
}

int tenon_commands_call(struct tenon_commands *c, struct tenon_function *function,
			const struct tenon_value *args, int32_t count)
{
	struct tenon_value result = tenon_arg_none();
	struct tenon_queue *former;
	int err;

	if (c->finished || c->core->followed || c->core->capturing)
		return tenon_error(-TENON_E_USAGE, c->finished ? "the recording is finished"
						   : c->core->followed
							   ? "the recording follows a queue"
							   : "the recording records a call");
	err = begin(c, &former);
	if (err)
		return err;
	err = tenon_function_call(function, args, count, &result);
	c->core->incomplete |= err && c->core->captured;
	if (!err)
		tenon_value_release(&result);
	if (end(c, former) && !err)
		return -TENON_E_NOMEM;
	if (err || c->core->captured)
		return err;
	return tenon_error(
		-TENON_E_UNSUPPORTED,
		"the function submitted nothing to %s:%d, so that there is nothing to record",
		c->device->backend->name, c->device->id.device_id);
}

static void capture_fini(struct tenon_commands *c)
{
	struct stand_in *s, *next;

	for (s = c->core->stand_ins; s; s = next) {
		next = s->next;
		tenon_object_unref(s->root);
		free(s);
	}
	if (!c->core->queue)
		return;
	/* A callback on the device may drop a recording, but must not destroy a queue. The pool's memory outlives runs that go on. */
	tenon_memory_trim(c->core->queue);
	device_give_queue_back(c->core->queue);
}

static const struct capture capture = {
	.name_slots = capture_name_slots,
	.operation = capture_operation,
	.check_bindings = capture_check_bindings,
	.fini = capture_fini,
};
