/* SPDX-License-Identifier: MIT */
/* Record operations as steps, and replay them with other bindings. */
#include <stdlib.h>
#include <string.h>

#include "devices/cuda/cuda_graph.h"
#include "lib/brief_errors.h"

static struct cuda_commands *commands_of(struct tenon_commands *commands)
{
	return (struct cuda_commands *)commands;
}

static int cuda_commands_create(struct tenon_device *device, struct tenon_commands **out)
{
	struct cuda_commands *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return tenon_error(-TENON_E_NOMEM, "no memory for a recording");
	err = tenon_commands_init(&c->base, device);
	if (err) {
		free(c);
		return err;
	}
	pthread_mutex_init(&c->lock, NULL);
	*out = &c->base;
	return 0;
}

static void cuda_commands_destroy(struct tenon_commands *commands)
{
	struct cuda_commands *c = commands_of(commands);
	struct cuda_step *s;

	/* retire the graph before the memory that it uses */
	if (c->graph)
		cuda_retire(&c->graph->late);
	while ((s = c->first)) {
		c->first = s->next;
		free(s);
	}
	pthread_mutex_destroy(&c->lock);
	tenon_commands_fini(commands);
	free(c);
}

static struct cuda_place place_of(struct tenon_range range)
{
	struct cuda_place p = { .offset = range.offset, .slot = range.slot };

	if (range.memory) {
		p.address = cuda_address(range);
		p.slot = -1;
	}
	return p;
}

static bool has_slots(const struct tenon_dispatch *p)
{
	uint32_t i;

	for (i = 0; p->slots && i < p->kernel->info->argument_count; i++)
		if (p->slots[i] >= 0)
			return true;
	return false;
}

/* A step with slots has its own copy of the arguments, which each run updates. */
static struct cuda_step *dispatch_step(const struct tenon_dispatch *p)
{
	bool slotted = has_slots(p);
	size_t size = slotted ? p->kernel->info->argument_count * sizeof(uint64_t) : 0;
	struct cuda_step *s = calloc(1, sizeof(*s) + size);

	if (!s)
		return NULL;
	s->slotted = slotted;
	s->dispatch = *p;
	if (slotted) {
		memcpy(s->arguments, p->arguments, size);
		s->dispatch.arguments = s->arguments;
	}
	return s;
}

static struct cuda_step *plain_step(const struct tenon_operation *o)
{
	struct cuda_step *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->to.slot = -1;
	s->from.slot = -1;
	if (o->kind == TENON_OP_COPY) {
		s->to = place_of(o->as.copy.to);
		s->from = place_of(o->as.copy.from);
		s->size = o->as.copy.size;
	} else if (o->kind == TENON_OP_FILL) {
		s->to = place_of(o->as.fill.to);
		s->size = o->as.fill.size;
		s->pattern = o->as.fill.pattern;
		s->width = o->as.fill.width;
		/* CUDA rejects patterns with bits beyond the width */
		if (s->width < 4)
			s->pattern &= (1u << 8 * s->width) - 1;
	}
	s->slotted = s->to.slot >= 0 || s->from.slot >= 0;
	return s;
}

static int check_dispatch(struct cuda_device *d, const struct tenon_dispatch *p)
{
	const uint32_t attributes =
		TENON_KERNEL_COOPERATIVE | TENON_KERNEL_CLUSTER | TENON_KERNEL_PREFERRED_CLUSTER;

	if (p->kernel->info->flags & attributes && !d->cu->GraphKernelAttribute)
		return -TENON_E_UNSUPPORTED;
	return cuda_launch_ready((struct cuda_kernel *)p->kernel, p->shared);
}

static int cuda_record(struct tenon_commands *commands, const struct tenon_operation *o)
{
	struct cuda_device *d = cuda_device_of(commands->device);
	struct cuda_commands *c = commands_of(commands);
	struct cuda_step *s;
	int err = 0;

	if (o->kind == TENON_OP_TIMESTAMP)
		return -TENON_E_UNSUPPORTED;
	if ((o->kind == TENON_OP_COPY && !o->as.copy.size) ||
	    (o->kind == TENON_OP_FILL && !o->as.fill.size))
		return 0;
	if (o->kind == TENON_OP_DISPATCH) {
		cuda_enter(d);
		err = check_dispatch(d, o->as.dispatch);
	}
	if (err)
		return err;
	s = o->kind == TENON_OP_DISPATCH ? dispatch_step(o->as.dispatch) : plain_step(o);
	if (!s)
		return tenon_error(-TENON_E_NOMEM, "no memory for a recorded operation");
	s->kind = o->kind;
	c->slotted |= s->slotted;
	c->step_count += s->kind != TENON_OP_BARRIER;
	if (c->last)
		c->last->next = s;
	else
		c->first = s;
	c->last = s;
	return 0;
}

static int cuda_commands_finish(struct tenon_commands *commands)
{
	struct cuda_device *d = cuda_device_of(commands->device);
	struct cuda_commands *c = commands_of(commands);

	if (c->slotted || !c->step_count)
		return 0;
	cuda_enter(d);
	return cuda_graph_make(d, c);
}

static bool bind_place(struct cuda_place *p, struct tenon_memory *const *bindings)
{
	cu_address address;

	if (p->slot < 0)
		return false;
	address = bindings[p->slot]->address + p->offset;
	if (address == p->address)
		return false;
	p->address = address;
	return true;
}

/* Set the addresses of a step for this run; true if any changed. */
static bool bind_step(struct cuda_step *s, struct tenon_memory *const *bindings)
{
	const struct tenon_dispatch *p = &s->dispatch;
	bool changed = false;
	uint32_t i;

	if (s->kind != TENON_OP_DISPATCH) {
		changed = bind_place(&s->to, bindings);
		return bind_place(&s->from, bindings) || changed;
	}
	for (i = 0; i < p->kernel->info->argument_count; i++) {
		if (p->slots[i] < 0 || s->arguments[i] == bindings[p->slots[i]]->address)
			continue;
		s->arguments[i] = bindings[p->slots[i]]->address;
		changed = true;
	}
	return changed;
}

/* Update or recreate the graph for these bindings. The recording's lock is held. */
static int bind(struct cuda_device *d, struct cuda_commands *c,
		struct tenon_memory *const *bindings)
{
	struct cuda_step *s;
	bool recreate = !c->graph;

	for (s = c->first; s; s = s->next)
		if (s->slotted && bind_step(s, bindings) && !recreate &&
		    cuda_graph_change(d, c->graph, s))
			recreate = true;
	if (!recreate)
		return 0;
	if (c->graph)
		cuda_retire(&c->graph->late);
	c->graph = NULL;
	return cuda_graph_make(d, c);
}

int cuda_replay(struct cuda_queue *q, struct tenon_commands *commands,
		struct tenon_memory *const *bindings)
{
	struct cuda_device *d = cuda_device_of(commands->device);
	struct cuda_commands *c = commands_of(commands);
	int status = 0, err = 0;

	if (!c->step_count)
		return 0;
	pthread_mutex_lock(&c->lock);
	if (c->slotted)
		err = bind(d, c, bindings);
	if (!err)
		status = d->cu->GraphLaunch(c->graph->exec, q->handle);
	pthread_mutex_unlock(&c->lock);
	return status ? cuda_failed(d, status, "running a graph of %u operations", c->step_count)
		      : err;
}

const struct tenon_commands_ops cuda_commands_ops = {
	.size = sizeof(struct tenon_commands_ops),
	.create = cuda_commands_create,
	.destroy = cuda_commands_destroy,
	.record = cuda_record,
	.finish = cuda_commands_finish,
};
