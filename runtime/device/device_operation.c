/* SPDX-License-Identifier: MIT */
/* Check an operation, and keep references to what it uses. */
#include "runtime/core/tensor_data.h"
#include "runtime/device/device_operation.h"

#include "lib/brief_errors.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* bytes of a tensor map */
#define TENSOR_MAP_SIZE 128

const char *operation_name(uint32_t kind)
{
	static const char *const names[] = {
		"?",	    "copy",    "write", "read",	     "fill",
		"dispatch", "execute", "call",	"timestamp", "barrier"
	};

	return kind < sizeof(names) / sizeof(names[0]) ? names[kind] : names[0];
}

static int check_range(struct tenon_device *device, const struct tenon_range *r, uint64_t size,
		       const char *what)
{
	char label[DEVICE_LABEL], other[DEVICE_LABEL];
	uint64_t end;

	if (!r->memory)
		return 0; /* a slot: checked when it is bound */
	if (r->memory->device != device)
		return tenon_error(-TENON_E_VALUE, "%s: memory of %s on a queue of %s", what,
				   device_label(r->memory->device, other),
				   device_label(device, label));
	if (__builtin_add_overflow(r->offset, size, &end) || end > r->memory->size)
		return tenon_error(-TENON_E_VALUE,
				   "%s: %" PRIu64 " bytes at %" PRIu64 " of memory of %" PRIu64
				   " bytes",
				   what, size, r->offset, r->memory->size);
	return 0;
}

static int check_fill(const struct tenon_operation *op)
{
	uint32_t width = op->as.fill.width;

	if ((width == 1 || width == 2 || width == 4) && op->as.fill.to.offset % width == 0 &&
	    op->as.fill.size % width == 0)
		return 0;
	return tenon_error(-TENON_E_VALUE,
			   "fill: %" PRIu64 " bytes at %" PRIu64
			   " with a pattern of %u bytes: want "
			   "1, 2 or 4, and multiples of it",
			   op->as.fill.size, op->as.fill.to.offset, width);
}

/* offset within the whole memory */
static uint64_t absolute(const struct tenon_range *r)
{
	return r->offset + (r->memory->parent ? r->memory->offset : 0);
}

static int check_overlap(const struct tenon_operation *op)
{
	const struct tenon_range *to = &op->as.copy.to, *from = &op->as.copy.from;
	uint64_t size = op->as.copy.size, a, b;

	if (!to->memory || !from->memory || !size ||
	    (to->memory->parent ? to->memory->parent : to->memory) !=
		    (from->memory->parent ? from->memory->parent : from->memory))
		return 0;
	a = absolute(to);
	b = absolute(from);
	if (a >= b + size || b >= a + size)
		return 0;
	return tenon_error(-TENON_E_VALUE,
			   "copy: %" PRIu64 " bytes from %" PRIu64 " to %" PRIu64
			   " of the same memory overlap",
			   size, b, a);
}

static int check_dispatch(struct tenon_device *device, const struct tenon_dispatch *d)
{
	const struct tenon_kernel_info *info = d->kernel->info;
	char label[DEVICE_LABEL];
	size_t i;

	if (d->kernel->executable->device != device)
		return tenon_error(-TENON_E_VALUE, "%.*s: a kernel of another device on %s",
				   (int)info->name.size, info->name.data,
				   device_label(device, label));
	for (i = 0; i < 3; i++)
		if (!d->grid[i] || !d->block[i])
			return tenon_error(-TENON_E_VALUE, "%.*s: extent %zu of the launch is 0",
					   (int)info->name.size, info->name.data, i);
	return 0;
}

int operation_check(struct tenon_device *device, const struct tenon_operation *op)
{
	int err;

	switch (op->kind) {
	case TENON_OP_COPY:
		err = check_range(device, &op->as.copy.to, op->as.copy.size, "copy");
		if (!err)
			err = check_range(device, &op->as.copy.from, op->as.copy.size, "copy");
		return err ? err : check_overlap(op);
	case TENON_OP_WRITE:
		err = bytes_check_data(op->as.write.host, op->as.write.size);
		return err ? err
			   : check_range(device, &op->as.write.to, op->as.write.size, "write");
	case TENON_OP_READ:
		err = bytes_check_data(op->as.read.host, op->as.read.size);
		return err ? err : check_range(device, &op->as.read.from, op->as.read.size, "read");
	case TENON_OP_FILL:
		err = check_fill(op);
		return err ? err : check_range(device, &op->as.fill.to, op->as.fill.size, "fill");
	case TENON_OP_DISPATCH:
		return check_dispatch(device, op->as.dispatch);
	case TENON_OP_EXECUTE:
	case TENON_OP_CALL:
	case TENON_OP_TIMESTAMP:
	case TENON_OP_BARRIER:
		return 0;
	default:
		return tenon_error(-TENON_E_UNSUPPORTED, "operation %u is not known", op->kind);
	}
}

static void keep_range(struct tenon_range *r, struct tenon_memory *bare)
{
	if (!r->memory)
		return;
	if (r->memory->object.deleter) {
		tenon_object_ref(r->memory);
		return;
	}
	*bare = *r->memory;
	r->memory = bare;
}

static void drop_range(const struct tenon_range *r)
{
	if (r->memory && r->memory->object.deleter)
		tenon_object_unref(r->memory);
}

static bool data_is_object(const struct tenon_dispatch *d, size_t i)
{
	return d->kernel->info->arguments[i].kind == TENON_ARGUMENT_MEMORY &&
	       !(d->kernel->executable->device->properties->flags & TENON_DEVICE_ADDRESSES) &&
	       !(d->slots && d->slots[i] >= 0);
}

static void each_argument(const struct tenon_dispatch *d, void (*visit)(void *object))
{
	size_t i;

	for (i = 0; i < d->kernel->info->argument_count; i++)
		if (data_is_object(d, i))
			visit((void *)(uintptr_t)d->arguments[i]);
}

static size_t tensor_maps(const struct tenon_kernel_info *info)
{
	size_t i, n = 0;

	for (i = 0; i < info->argument_count; i++)
		n += info->arguments[i].kind == TENON_ARGUMENT_TENSOR_MAP;
	return n;
}

/* Copy tensor maps, since the caller may change them after the call. */
static void keep_maps(const struct tenon_kernel_info *info, char *maps, uint64_t *arguments)
{
	size_t i;

	for (i = 0; i < info->argument_count; i++) {
		if (info->arguments[i].kind != TENON_ARGUMENT_TENSOR_MAP)
			continue;
		memcpy(maps, (const void *)(uintptr_t)arguments[i], TENSOR_MAP_SIZE);
		arguments[i] = (uintptr_t)maps;
		maps += TENSOR_MAP_SIZE;
	}
}

static size_t arguments_size(const struct tenon_dispatch *d)
{
	return d->kernel->info->argument_count *
	       (sizeof(uint64_t) + (d->slots ? sizeof(int32_t) : 0));
}

static int keep_dispatch(struct kept_operation *k, void *tail)
{
	const struct tenon_dispatch *d = k->operation.as.dispatch;
	size_t n = d->kernel->info->argument_count;
	size_t maps = tensor_maps(d->kernel->info) * TENSOR_MAP_SIZE;
	size_t size = maps + arguments_size(d);
	uint64_t *arguments;
	int32_t *slots;

	if (!tail) {
		/* tensor maps want 64 bytes, which takes more time; at least one byte, so that NULL means failure */
		k->tail = maps ? aligned_alloc(64, (size + 63) / 64 * 64) : malloc(size + 1);
		if (!k->tail)
			return tenon_error(-TENON_E_NOMEM, "no memory to keep a launch");
		tail = k->tail;
	}
	arguments = (uint64_t *)(void *)((char *)tail + maps);
	if (n)
		memcpy(arguments, d->arguments, n * sizeof(*arguments));
	keep_maps(d->kernel->info, tail, arguments);
	slots = (int32_t *)(arguments + n);
	if (n && d->slots)
		memcpy(slots, d->slots, n * sizeof(*slots));
	k->dispatch = *d;
	k->dispatch.arguments = arguments;
	k->dispatch.slots = d->slots ? slots : NULL;
	k->operation.as.dispatch = &k->dispatch;
	tenon_object_ref(d->kernel->executable);
	each_argument(&k->dispatch, tenon_object_ref);
	return 0;
}

static int keep_execute(struct kept_operation *k)
{
	size_t i, n = k->operation.as.execute.binding_count;
	struct tenon_memory **bindings;

	bindings = malloc(n * sizeof(struct tenon_memory *) + 1);
	if (!bindings)
		return tenon_error(-TENON_E_NOMEM, "no memory to keep %zu bindings", n);
	for (i = 0; i < n; i++) {
		bindings[i] = k->operation.as.execute.bindings[i];
		tenon_object_ref(bindings[i]);
	}
	k->operation.as.execute.bindings = bindings;
	k->tail = bindings;
	tenon_object_ref(k->operation.as.execute.commands);
	return 0;
}

size_t operation_tail_size(const struct tenon_operation *op)
{
	return op->kind != TENON_OP_DISPATCH || tensor_maps(op->as.dispatch->kernel->info)
		       ? 0
		       : arguments_size(op->as.dispatch);
}

size_t operation_kept_size(const struct tenon_operation *op)
{
	switch (op->kind) {
	case TENON_OP_DISPATCH:
		return offsetof(struct kept_operation, dispatch) + sizeof(struct tenon_dispatch);
	case TENON_OP_COPY:
	case TENON_OP_WRITE:
	case TENON_OP_READ:
	case TENON_OP_FILL:
		return sizeof(struct kept_operation);
	default:
		return offsetof(struct kept_operation, dispatch);
	}
}

int operation_keep(const struct tenon_operation *from, struct kept_operation *to, void *tail)
{
	to->operation = *from;
	to->tail = NULL;
	switch (from->kind) {
	case TENON_OP_COPY:
		keep_range(&to->operation.as.copy.to, &to->bare[0]);
		keep_range(&to->operation.as.copy.from, &to->bare[1]);
		return 0;
	case TENON_OP_WRITE:
		keep_range(&to->operation.as.write.to, &to->bare[0]);
		return 0;
	case TENON_OP_READ:
		keep_range(&to->operation.as.read.from, &to->bare[0]);
		return 0;
	case TENON_OP_FILL:
		keep_range(&to->operation.as.fill.to, &to->bare[0]);
		return 0;
	case TENON_OP_DISPATCH:
		return keep_dispatch(to, tail);
	case TENON_OP_EXECUTE:
		return keep_execute(to);
	default:
		return 0;
	}
}

void operation_drop(struct kept_operation *k)
{
	const struct tenon_operation *op = &k->operation;
	size_t i;

	switch (op->kind) {
	case TENON_OP_COPY:
		drop_range(&op->as.copy.to);
		drop_range(&op->as.copy.from);
		break;
	case TENON_OP_WRITE:
		drop_range(&op->as.write.to);
		break;
	case TENON_OP_READ:
		drop_range(&op->as.read.from);
		break;
	case TENON_OP_FILL:
		drop_range(&op->as.fill.to);
		break;
	case TENON_OP_DISPATCH:
		each_argument(&k->dispatch, tenon_object_unref);
		tenon_object_unref(k->dispatch.kernel->executable);
		break;
	case TENON_OP_EXECUTE:
		for (i = 0; i < op->as.execute.binding_count; i++)
			tenon_object_unref(op->as.execute.bindings[i]);
		tenon_object_unref(op->as.execute.commands);
		break;
	default:
		break;
	}
	free(k->tail);
}

static void note_slot(const struct tenon_range *r, uint32_t *most)
{
	if (!r->memory && r->slot >= *most)
		*most = r->slot + 1;
}

uint32_t operation_slots(const struct tenon_operation *op)
{
	const struct tenon_dispatch *d;
	uint32_t most = 0;
	size_t i;

	switch (op->kind) {
	case TENON_OP_COPY:
		note_slot(&op->as.copy.to, &most);
		note_slot(&op->as.copy.from, &most);
		break;
	case TENON_OP_FILL:
		note_slot(&op->as.fill.to, &most);
		break;
	case TENON_OP_DISPATCH:
		d = op->as.dispatch;
		for (i = 0; d->slots && i < d->kernel->info->argument_count; i++)
			if (d->slots[i] >= 0 && (uint32_t)d->slots[i] >= most)
				most = (uint32_t)d->slots[i] + 1;
		break;
	default:
		break;
	}
	return most;
}
