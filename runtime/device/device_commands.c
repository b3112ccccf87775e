/* SPDX-License-Identifier: MIT */
/* Record operations and run recordings. The list of operations is also kept for native ones: it references what they use. */
#include "runtime/device/device_commands.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/brief_errors.h"
#include "runtime/device/device_capture.h"
#include "runtime/device/device_trace.h"

static void commands_delete(void *self, int flags)
{
	struct tenon_commands *c = self;
	struct tenon_device *device = c->device;

	if (!(flags & TENON_DELETE_MEMORY) || device_is_parents(device))
		return;
	/* destroy() drops the recording's reference */
	tenon_object_ref(device);
	if (c->core->bare) {
		tenon_commands_fini(c);
		free(c);
	} else {
		device->ops->commands->destroy(c);
	}
	tenon_object_unref(device);
}

int tenon_commands_init(struct tenon_commands *c, struct tenon_device *device)
{
	struct tenon_commands_core *core = calloc(1, sizeof(*core));

	if (!core)
		return tenon_error(-TENON_E_NOMEM, "no memory for a recording");
	tenon_object_init(&c->object, device_object_type(DEVICE_OBJECT_COMMANDS), commands_delete);
	tenon_object_ref(device);
	c->device = device;
	c->slots = 0;
	c->finished = 0;
	c->core = core;
	core->native = true;
	return 0;
}

void tenon_commands_fini(struct tenon_commands *c)
{
	struct kept_node *n, *next;

	if (c->core->followed) {
		c->core->followed->core->follower = NULL;
		tenon_object_unref(c->core->followed);
	}
	for (n = c->core->first; n; n = next) {
		next = n->next;
		operation_drop(&n->kept);
		free(n);
	}
	if (c->core->capture)
		c->core->capture->fini(c);
	free(c->core);
	c->core = NULL;
	tenon_object_unref(c->device);
}

static int create_bare(struct tenon_device *device, struct tenon_commands **out)
{
	struct tenon_commands *c = malloc(sizeof(*c));
	int err;

	if (!c)
		return tenon_error(-TENON_E_NOMEM, "no memory for a recording");
	err = tenon_commands_init(c, device);
	if (err) {
		free(c);
		return err;
	}
	c->core->native = false;
	c->core->bare = true;
	*out = c;
	return 0;
}

int tenon_commands_create(struct tenon_device *device, struct tenon_commands **out)
{
	int err;

	*out = NULL;
	err = tenon_device_check(device);
	if (err)
		return err;
	return device->ops->commands ? device->ops->commands->create(device, out)
				     : create_bare(device, out);
}

bool commands_can_record(uint32_t kind)
{
	return kind == TENON_OP_COPY || kind == TENON_OP_FILL || kind == TENON_OP_DISPATCH ||
	       kind == TENON_OP_TIMESTAMP || kind == TENON_OP_BARRIER;
}

/* A run submits all operations or none, so refuse extents that the device does not support. */
static int check_launch(const struct tenon_device_properties *p, const struct tenon_dispatch *d)
{
	const struct tenon_slice name = d->kernel->info->name;
	size_t i;

	/* subtract one, so that a limit of 0 (unknown) allows all extents */
	for (i = 0; i < 3; i++)
		if (d->grid[i] - 1 > p->max_grid[i] - 1 || d->block[i] - 1 > p->max_block[i] - 1)
			return tenon_error(
				-TENON_E_VALUE,
				"%.*s: %u blocks of %u threads along %zu; at most %u of %u",
				(int)name.size, name.data, d->grid[i], d->block[i], i,
				p->max_grid[i], p->max_block[i]);
	return 0;
}

/* On -TENON_E_UNSUPPORTED fall back to the list. */
static int native_answer(struct tenon_commands *c, int err)
{
	if (err != -TENON_E_UNSUPPORTED)
		return err;
	tenon_error_clear();
	c->core->native = false;
	return 0;
}

/* Add an operation that was checked. */
static int append(struct tenon_commands *c, const struct tenon_operation *op)
{
	const size_t align = _Alignof(uint64_t); /* of arguments, which stand behind the node */
	size_t size = offsetof(struct kept_node, kept) + operation_kept_size(op);
	size_t tail = operation_tail_size(op);
	struct kept_node *n;
	uint32_t slots;
	int err;

	size = (size + align - 1) / align * align;
	n = malloc(size + tail);
	if (!n)
		return tenon_error(-TENON_E_NOMEM, "no memory for a recorded operation");
	err = operation_keep(op, &n->kept, tail ? (char *)n + size : NULL);
	if (err) {
		free(n);
		return err;
	}
	n->next = NULL;
	if (c->core->native) {
		err = native_answer(c, c->device->ops->commands->record(c, &n->kept.operation));
		if (err) {
			operation_drop(&n->kept);
			free(n);
			return err;
		}
	}
	slots = operation_slots(op);
	if (slots > c->slots)
		c->slots = slots;
	if (slots && op->kind != TENON_OP_DISPATCH)
		c->core->ranges = true;
	if (c->core->last)
		c->core->last->next = n;
	else
		c->core->first = n;
	c->core->last = n;
	return 0;
}

int tenon_commands_record(struct tenon_commands *c, const struct tenon_operation *op)
{
	struct slotted slotted;
	int err;

	if (c->finished)
		return tenon_error(-TENON_E_USAGE, "the recording is finished; make a new one");
	if (!commands_can_record(op->kind))
		return tenon_error(-TENON_E_USAGE,
				   "\"%s\" cannot be recorded; submit it to a queue",
				   operation_name(op->kind));
	err = operation_check(c->device, op);
	if (!err && op->kind == TENON_OP_DISPATCH)
		err = check_launch(c->device->properties, op->as.dispatch);
	if (err || !c->core->capture)
		return err ? err : append(c, op);
	err = c->core->capture->name_slots(c, op, &slotted);
	return err ? err : append(c, &slotted.operation);
}

int tenon_commands_copy(struct tenon_commands *c, struct tenon_range to, struct tenon_range from,
			uint64_t size)
{
	struct tenon_operation op = { .kind = TENON_OP_COPY };

	op.as.copy.to = to;
	op.as.copy.from = from;
	op.as.copy.size = size;
	return tenon_commands_record(c, &op);
}

int tenon_commands_fill(struct tenon_commands *c, struct tenon_range to, uint64_t size,
			uint32_t pattern, uint32_t width)
{
	struct tenon_operation op = { .kind = TENON_OP_FILL };

	op.as.fill.to = to;
	op.as.fill.size = size;
	op.as.fill.pattern = pattern;
	op.as.fill.width = width;
	return tenon_commands_record(c, &op);
}

int tenon_commands_dispatch(struct tenon_commands *c, const struct tenon_dispatch *dispatch)
{
	struct tenon_operation op = { .kind = TENON_OP_DISPATCH };

	op.as.dispatch = dispatch;
	return tenon_commands_record(c, &op);
}

int tenon_commands_barrier(struct tenon_commands *c)
{
	const struct tenon_operation op = { .kind = TENON_OP_BARRIER };

	return tenon_commands_record(c, &op);
}

int tenon_commands_follow(struct tenon_commands *c, struct tenon_queue *queue)
{
	if (queue->device != c->device)
		return tenon_error(-TENON_E_VALUE, "a recording follows a queue of another device");
	if (c->finished || c->core->followed || c->core->capturing || queue->core->follower)
		return tenon_error(-TENON_E_USAGE,
				   c->finished		? "the recording is finished"
				   : c->core->followed	? "the recording follows a queue already"
				   : c->core->capturing ? "the recording records a call"
							: "another recording follows the queue");
	tenon_object_ref(queue);
	c->core->followed = queue;
	queue->core->follower = c;
	return 0;
}

void commands_note(struct tenon_commands *c, const struct tenon_operation *op,
		   const struct tenon_sync *sync)
{
	int err = -TENON_E_UNSUPPORTED;

	if (c->core->missed)
		return;
	/* a timestamp writes to host memory that may be freed before the next run */
	if (commands_can_record(op->kind) && op->kind != TENON_OP_TIMESTAMP &&
	    !(sync && (sync->wait_count || sync->signal_count)))
		err = tenon_commands_record(c, op);
	if (!err && op->kind != TENON_OP_BARRIER)
		err = tenon_commands_barrier(c);
	if (err && err != -TENON_E_UNSUPPORTED)
		tenon_error_clear();
	c->core->missed = err;
	c->core->missed_kind = op->kind;
}

static int unfollow(struct tenon_commands *c)
{
	if (!c->core->followed)
		return 0;
	c->core->followed->core->follower = NULL;
	tenon_object_unref(c->core->followed);
	c->core->followed = NULL;
	if (!c->core->missed)
		return 0;
	return tenon_error(c->core->missed, "the queue was given a \"%s\" that is not recorded",
			   operation_name(c->core->missed_kind));
}

int tenon_commands_finish(struct tenon_commands *c)
{
	int err;

	if (c->finished)
		return tenon_error(-TENON_E_USAGE, "the recording is finished already");
	err = unfollow(c);
	if (!err && c->core->incomplete)
		err = tenon_error(
			-TENON_E_USAGE,
			"a call that was recorded failed before its end: make a new recording");
	if (!err && c->core->native)
		err = native_answer(c, c->device->ops->commands->finish(c));
	if (!err)
		c->finished = 1;
	return err;
}

static void bind_range(struct tenon_range *r, struct tenon_memory *const *bindings)
{
	if (!r->memory)
		r->memory = bindings[r->slot];
}

/* Replace slots by bindings. @op may point to @dispatch and @arguments afterwards. */
static void bind(const struct kept_operation *k, struct tenon_memory *const *bindings,
		 struct tenon_operation *op, struct tenon_dispatch *dispatch, uint64_t *arguments)
{
	size_t i, n;

	*op = k->operation;
	switch (op->kind) {
	case TENON_OP_COPY:
		bind_range(&op->as.copy.to, bindings);
		bind_range(&op->as.copy.from, bindings);
		return;
	case TENON_OP_FILL:
		bind_range(&op->as.fill.to, bindings);
		return;
	case TENON_OP_DISPATCH:
		if (!k->dispatch.slots)
			return;
		n = k->dispatch.kernel->info->argument_count;
		for (i = 0; i < n; i++)
			arguments[i] = k->dispatch.slots[i] < 0
					       ? k->dispatch.arguments[i]
					       : (uintptr_t)tenon_memory_data(
							 bindings[k->dispatch.slots[i]]);
		*dispatch = k->dispatch;
		dispatch->arguments = arguments;
		dispatch->slots = NULL;
		op->as.dispatch = dispatch;
		return;
	default:
		return;
	}
}

static int check_bindings(struct tenon_queue *q, const struct tenon_operation *execute)
{
	const struct tenon_commands *c = execute->as.execute.commands;
	struct tenon_memory *const *bindings = execute->as.execute.bindings;
	uint64_t arguments[TENON_KERNEL_ARGUMENTS_MOST];
	struct tenon_dispatch dispatch;
	struct tenon_operation op;
	const struct kept_node *n;
	int err = 0;

	if (!c->core->ranges)
		return 0;
	for (n = c->core->first; n && !err; n = n->next) {
		/* launches were checked when they were recorded */
		if (n->kept.operation.kind == TENON_OP_DISPATCH ||
		    !operation_slots(&n->kept.operation))
			continue;
		bind(&n->kept, bindings, &op, &dispatch, arguments);
		err = operation_check(q->device, &op);
	}
	return err ? tenon_error_in(err, "recording") : 0;
}

int commands_check(struct tenon_queue *q, const struct tenon_operation *op)
{
	const struct tenon_commands *c = op->as.execute.commands;
	size_t i;
	int err = 0;

	if (!c->finished)
		return tenon_error(-TENON_E_USAGE, "the recording is not finished");
	if (c->device != q->device)
		return tenon_error(-TENON_E_VALUE, "a recording of another device");
	if (op->as.execute.binding_count < c->slots)
		return tenon_error(-TENON_E_VALUE, "%zu bindings for a recording with %u slots",
				   op->as.execute.binding_count, c->slots);
	for (i = 0; i < c->slots; i++)
		if (!op->as.execute.bindings[i] || op->as.execute.bindings[i]->device != q->device)
			return tenon_error(-TENON_E_VALUE, "binding %zu is no memory of the device",
					   i);
	if (c->core->capture)
		err = c->core->capture->check_bindings(c, op->as.execute.bindings);
	return err || !c->slots ? err : check_bindings(q, op);
}

int tenon_commands_each(const struct tenon_commands *c, struct tenon_memory *const *bindings,
			int (*visit)(void *context, const struct tenon_operation *operation),
			void *context)
{
	uint64_t arguments[TENON_KERNEL_ARGUMENTS_MOST];
	struct tenon_dispatch dispatch;
	struct tenon_operation op;
	const struct kept_node *n;
	int err = 0;

	for (n = c->core->first; n && !err; n = n->next) {
		bind(&n->kept, bindings, &op, &dispatch, arguments);
		err = visit(context, &op);
	}
	return err;
}

struct placing {
	struct tenon_queue *queue;
	bool *begun;
};

static int place(void *context, const struct tenon_operation *op)
{
	const struct placing *p = context;
	int err;

	/* queues are in order: a barrier needs no operation */
	if (op->kind == TENON_OP_BARRIER)
		return 0;
	err = queue_give(p->queue, op);
	*p->begun |= !err;
	return err;
}

int commands_place(struct tenon_queue *q, const struct tenon_operation *execute, bool *begun)
{
	const struct tenon_commands *c = execute->as.execute.commands;
	struct placing p = { q, begun };

	if (c->core->native)
		return queue_give(q, execute);
	return tenon_commands_each(c, execute->as.execute.bindings, place, &p);
}
