/* SPDX-License-Identifier: MIT */
/* Hand a program to the kernel's driver, attach arguments, and do the host's actions. */
#include "devices/torq/torq_network.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "devices/torq/torq_uapi.h"
#include "lib/brief_errors.h"

/* a network of another program is active: how often its end is looked for, and how long; a job ends within 5 seconds */
#define BUSY_NAP  20000000 /* nanoseconds */
#define BUSY_MOST 1500

/* ---- opening and closing */

static int write_segments(const struct torq_network *n, const struct torq_program *p)
{
	struct torq_segment s;
	uint32_t i;
	int err = dmabuf_begin(&n->memory, DMABUF_WRITE), end;

	if (err)
		return err;
	for (i = 0; i < p->segments.count && !err; i++) {
		err = torq_program_segment(p, i, &s);
		if (!err && s.data.size)
			memcpy((uint8_t *)n->memory.base + (s.address - n->base), s.data.data,
			       s.data.size);
	}
	end = dmabuf_end(&n->memory, DMABUF_WRITE);
	return err ? err : end;
}

static int make_memory(struct torq_network *n, const struct torq_program *p)
{
	struct torq_uapi_create c = { .address = (uint32_t)n->base };
	int err;

	err = dmabuf_allocate(n->node->calls, n->node->root, TORQ_HEAPS, n->end - n->base,
			      &n->memory);
	err = err ? err : dmabuf_map(&n->memory);
	err = err ? err : write_segments(n, p);
	if (err)
		return err;
	c.fd = n->memory.fd;
	err = torq_call(n->node, TORQ_UAPI_CREATE, &c);
	if (err)
		return system_error(-err, TORQ_NODE, "create a network");
	n->id = c.network;
	return 0;
}

/* The program's bytes may be gone when it runs. */
static int keep_program(struct torq_network *n, const struct torq_program *p)
{
	uint32_t i;
	int err = 0;

	n->actions = calloc(p->actions.count, sizeof(*n->actions));
	if (!n->actions)
		return tenon_error(-TENON_E_NOMEM, "no memory for %u actions", p->actions.count);
	for (i = 0; i < p->actions.count && !err; i++)
		err = torq_program_action(p, i, &n->actions[i]);
	n->action_count = i;
	for (i = 0; i < p->bindings.count && !err; i++)
		err = torq_program_binding(p, i, &n->bindings[i]);
	n->binding_count = i;
	return err;
}

static int check_program(struct torq_network *n, const struct torq_program *p)
{
	struct torq_extents e;
	int err = torq_check(p, &e);

	if (err)
		return err;
	if (p->hardware != n->node->hardware)
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "%s: made for hardware %u, and " TORQ_NODE
				   " is %u; compile it for that",
				   p->file, p->hardware, n->node->hardware);
	n->base = e.base;
	n->end = e.end;
	memcpy(n->arguments, e.arguments, sizeof(n->arguments));
	return 0;
}

int torq_network_open(const struct torq_node *node, const struct torq_program *program,
		      struct torq_network *out)
{
	uint32_t i;
	int err;

	memset(out, 0, sizeof(*out));
	out->node = node;
	dmabuf_adopt(node->calls, -1, 0, &out->memory);
	for (i = 0; i < TORQ_ARGUMENTS; i++)
		dmabuf_adopt(node->calls, -1, 0, &out->copies[i]);
	err = check_program(out, program);
	err = err ? err : keep_program(out, program);
	if (!err && out->end > out->base)
		err = make_memory(out, program);
	if (err)
		torq_network_close(out);
	return err;
}

void torq_network_close(struct torq_network *n)
{
	struct torq_uapi_network d = { n->id };
	uint32_t i;

	if (!n->node)
		return;
	if (n->id)
		(void)torq_call(n->node, TORQ_UAPI_DESTROY, &d);
	dmabuf_close(&n->memory);
	for (i = 0; i < TORQ_ARGUMENTS; i++)
		dmabuf_close(&n->copies[i]);
	free(n->actions);
	n->node = NULL;
}

/* ---- bindings */

/**
 * struct run - a run
 * @n: of which network
 * @call: its arguments
 * @places: of bindings, where the NPU has them
 * @attached: how many are
 */
struct run {
	struct torq_network *n;
	const struct torq_call *call;
	struct torq_place places[TORQ_ARGUMENTS];
	uint32_t attached;
};

/* Copy between a binding's own buffer and the argument. */
static int copy_binding(struct torq_network *n, uint32_t size, const struct torq_place *from,
			const struct torq_place *to)
{
	int err = dmabuf_begin(from->buffer, DMABUF_READ), end;

	if (err)
		return err;
	err = dmabuf_begin(to->buffer, DMABUF_WRITE);
	if (!err) {
		memcpy(to->bytes, from->bytes, size);
		__atomic_fetch_add(&n->copied, size, __ATOMIC_RELAXED);
		err = dmabuf_end(to->buffer, DMABUF_WRITE);
	}
	end = dmabuf_end(from->buffer, DMABUF_READ);
	return err ? err : end;
}

/* Give a binding a buffer of its own. */
static int place_copy(struct run *r, uint32_t index, const struct torq_binding *b,
		      const struct torq_place *argument)
{
	struct dmabuf *own = &r->n->copies[index];
	int err = 0;

	if (own->fd < 0)
		err = dmabuf_allocate(r->n->node->calls, r->n->node->root, TORQ_HEAPS, b->size,
				      own);
	err = err ? err : dmabuf_map(own);
	r->places[index] = (struct torq_place){ own, 0, own->base, true };
	if (!err && b->reads)
		err = copy_binding(r->n, b->size, argument, &r->places[index]);
	return err;
}

static int place_bindings(struct run *r)
{
	const struct torq_place *arguments = r->call->places;
	uint32_t i;
	int err = 0;

	for (i = 0; i < r->n->binding_count && !err; i++) {
		r->places[i] = arguments[i];
		if (!arguments[i].is_mappable)
			err = place_copy(r, i, &r->n->bindings[i], &arguments[i]);
	}
	return err;
}

static int take_results(const struct run *r)
{
	const struct torq_place *arguments = r->call->places;
	uint32_t i;
	int err = 0;

	for (i = 0; i < r->n->binding_count && !err; i++)
		if (r->n->bindings[i].writes && !arguments[i].is_mappable)
			err = copy_binding(r->n, r->n->bindings[i].size, &r->places[i],
					   &arguments[i]);
	return err;
}

static int attach(struct run *r)
{
	const struct torq_binding *b;
	struct torq_uapi_attach a = { .network = r->n->id };
	int err;

	for (r->attached = 0; r->attached < r->n->binding_count; r->attached++) {
		b = &r->n->bindings[r->attached];
		a.fd = r->places[r->attached].buffer->fd;
		a.address = b->address;
		a.offset = (uint32_t)r->places[r->attached].offset;
		a.size = b->size;
		err = torq_call(r->n->node, TORQ_UAPI_ATTACH, &a);
		if (err)
			return system_error(-err, TORQ_NODE, "attach an argument");
	}
	return 0;
}

/* Return: 0; the negative errno of the first that failed. No message is raised. */
static int detach(struct run *r)
{
	struct torq_uapi_detach d = { .network = r->n->id };
	int err, first = 0;

	while (r->attached) {
		r->attached--;
		d.address = r->n->bindings[r->attached].address;
		d.offset = (uint32_t)r->places[r->attached].offset;
		d.size = r->n->bindings[r->attached].size;
		err = torq_call(r->n->node, TORQ_UAPI_DETACH, &d);
		first = first ? first : err;
	}
	return first;
}

/* ---- copies by the host */

/* Where the CPU has bytes of XRAM, which the check found in the program's memory or in a binding. */
static uint8_t *bytes_at(const struct run *r, uint64_t address, const struct dmabuf **buffer)
{
	const struct torq_network *n = r->n;
	uint32_t i;

	if (address >= n->base && address < n->end) {
		*buffer = &n->memory;
		return (uint8_t *)n->memory.base + (address - n->base);
	}
	for (i = 0; i + 1 < n->binding_count; i++)
		if (address >= n->bindings[i].address &&
		    address - n->bindings[i].address < n->bindings[i].size)
			break;
	*buffer = r->places[i].buffer;
	return r->places[i].bytes + (address - n->bindings[i].address);
}

static int move_lram(const struct run *r, unsigned long request, uint64_t address, uint8_t *bytes,
		     uint32_t size)
{
	struct torq_uapi_lram l = { r->n->id, (uint32_t)address, size, bytes };
	int err = torq_call(r->n->node, request, &l);

	if (err == -ENOENT && request == TORQ_UAPI_READ_LRAM)
		return tenon_error(-TENON_E_UNSUPPORTED,
				   TORQ_NODE
				   ": cannot read LRAM at 0x%" PRIx64
				   ": the driver returns only bytes that were written before the "
				   "first start",
				   address);
	return err ? system_error(-err, TORQ_NODE, "access LRAM") : 0;
}

static int copy_elements(const struct run *r, const struct torq_copy *c, uint8_t *source,
			 uint8_t *target)
{
	uint32_t index[TORQ_RANK] = { 0 };
	uint64_t from, to;
	int err = 0;

	while (!err && torq_copy_next(c, index, &from, &to)) {
		if (c->to == TORQ_LRAM)
			err = move_lram(r, TORQ_UAPI_WRITE_LRAM, c->target + to, source + from,
					c->element);
		else if (c->from == TORQ_LRAM)
			err = move_lram(r, TORQ_UAPI_READ_LRAM, c->source + from, target + to,
					c->element);
		else
			memmove(target + to, source + from, c->element);
	}
	return err;
}

static int copy(const struct run *r, const struct torq_copy *c)
{
	const struct dmabuf *from = NULL, *to = NULL;
	uint8_t *source = c->from == TORQ_XRAM ? bytes_at(r, c->source, &from) : NULL;
	uint8_t *target = c->to == TORQ_XRAM ? bytes_at(r, c->target, &to) : NULL;
	int err = from ? dmabuf_begin(from, DMABUF_BOTH) : 0, end;

	if (err)
		return err;
	if (to && to != from)
		err = dmabuf_begin(to, DMABUF_BOTH);
	if (!err) {
		err = copy_elements(r, c, source, target);
		end = to && to != from ? dmabuf_end(to, DMABUF_BOTH) : 0;
		err = err ? err : end;
	}
	end = from ? dmabuf_end(from, DMABUF_BOTH) : 0;
	return err ? err : end;
}

/* The number in an argument that moves copies. */
static int read_index(const struct torq_place *place, int32_t *out)
{
	int err = dmabuf_begin(place->buffer, DMABUF_READ);

	if (err)
		return err;
	memcpy(out, place->bytes, sizeof(*out));
	return dmabuf_end(place->buffer, DMABUF_READ);
}

static int copy_moved(const struct run *r, const struct torq_copy *c)
{
	struct torq_copy moved;
	int32_t index;
	int err = read_index(&r->call->indices[c->index], &index);

	err = err ? err : torq_copy_move(c, index, r->n->bindings, r->n->binding_count, &moved);
	return err ? err : copy(r, &moved);
}

/* ---- the NPU */

static void nap(const struct torq_node *node)
{
	const struct timespec t = { 0, BUSY_NAP };
	struct pollfd none = { .fd = -1 };

	(void)node->calls->ppoll(&none, 1, &t);
}

static int activate(const struct torq_network *n)
{
	struct torq_uapi_network s = { n->id };
	unsigned int naps = 0;
	int err;

	while ((err = torq_call(n->node, TORQ_UAPI_START, &s)) == -EBUSY && naps++ < BUSY_MOST)
		nap(n->node);
	if (err == -EBUSY)
		return tenon_error(-TENON_E_DEVICE,
				   TORQ_NODE
				   ": the NPU is in use by another program for %d seconds",
				   BUSY_MOST / 50);
	return err ? system_error(-err, TORQ_NODE, "start a network") : 0;
}

static int start(const struct run *r, uint32_t entry)
{
	struct torq_uapi_run u = { r->n->id, entry };
	int err = torq_call(r->n->node, TORQ_UAPI_RUN, &u);

	return err ? system_error(-err, TORQ_NODE, "run a job") : 0;
}

static int wait(const struct run *r)
{
	struct torq_uapi_wait w = { r->n->id, TORQ_UAPI_DONE };
	int err = torq_call(r->n->node, TORQ_UAPI_WAIT, &w);

	if (err == -ETIMEDOUT || err == -EIO)
		return tenon_error(
			-TENON_E_DEVICE, TORQ_NODE ": %s; the next run resets the NPU",
			err == -EIO ? "the NPU was interrupted before its program ended"
				    : "the NPU did not end within the driver's five seconds");
	return err ? system_error(-err, TORQ_NODE, "wait for a job") : 0;
}

static int do_actions(const struct run *r)
{
	const struct torq_action *a;
	uint32_t i;
	int err = 0;

	for (i = 0; i < r->n->action_count && !err; i++) {
		a = &r->n->actions[i];
		if (a->kind == TORQ_COPY)
			err = a->copy.move ? copy_moved(r, &a->copy) : copy(r, &a->copy);
		else if (a->kind == TORQ_START)
			err = start(r, a->start);
		else if (a->kind == TORQ_WAIT)
			err = wait(r);
	}
	return err;
}

/* Of an action that failed, the message stays; what fails afterwards is not told. */
static int leave(struct run *r, int err)
{
	struct torq_uapi_network s = { r->n->id };
	const int detached = detach(r), stopped = torq_call(r->n->node, TORQ_UAPI_STOP, &s);

	if (err)
		return err;
	if (detached)
		return system_error(-detached, TORQ_NODE, "detach an argument");
	return stopped ? system_error(-stopped, TORQ_NODE, "stop a network") : 0;
}

int torq_network_run(struct torq_network *n, const struct torq_call *call)
{
	struct run r = { .n = n, .call = call };
	int err = place_bindings(&r);

	if (err)
		return err;
	/* without memory of its own, a program has copies alone, which need no NPU */
	if (!n->id)
		err = do_actions(&r);
	else
		err = activate(n);
	if (!err && n->id) {
		err = attach(&r);
		err = err ? err : do_actions(&r);
		err = leave(&r, err);
	}
	return err ? err : take_results(&r);
}
