/* SPDX-License-Identifier: MIT */
/* Record a part while it is called, and run the recording at later calls. */
#include "runtime/relax/relax_recorded.h"

#include <stdlib.h>
#include <string.h>
#include <tenon/backend/backend.h>
#include <tenon/backend/commands.h>
#include <tenon/queue.h>

#include "lib/brief_errors.h"
#include "lib/record.h"
#include "runtime/relax/relax_device.h"
#include "runtime/relax/relax_step.h"

/* parts whose arguments differ that often are called each time */
#define MISSES_MOST 4

/**
 * struct relax_recorded - a part that ran
 * @commands: NULL for a part that is called each time
 * @result: of the first call; None without a recording
 * @items: arguments of that call, owned: their memory is what the recording uses; None for a cache
 * @form: of the last step of the cache
 * @layers: that the recording writes in the cache
 * @misses: how often the arguments were others
 */
struct relax_recorded {
	struct relax_recorded *next;
	int64_t index;
	int64_t *extents;
	size_t extent_count;
	struct tenon_commands *commands;
	struct tenon_value result;
	struct tenon_value *items;
	int64_t item_count;
	uint64_t form;
	int64_t layers;
	uint32_t misses;
};

static struct relax_recorded *find(const struct relax_vm *vm, const struct relax_part *part)
{
	const struct tenon_shape *shape = part->shape;
	size_t count = shape ? shape->size : 0;
	struct relax_recorded *r;

	for (r = vm->recorded; r; r = r->next)
		if (r->index == part->index && r->extent_count == count &&
		    (!count || !memcmp(r->extents, shape->data, count * sizeof(*r->extents))))
			return r;
	return NULL;
}

static void forget(struct relax_recorded *r)
{
	tenon_object_unref(r->commands);
	r->commands = NULL;
	tenon_value_release(&r->result);
	while (r->item_count)
		tenon_value_release(&r->items[--r->item_count]);
	free(r->items);
	r->items = NULL;
}

static struct relax_recorded *add(struct relax_vm *vm, const struct relax_part *part)
{
	const struct tenon_shape *shape = part->shape;
	struct relax_recorded *r = calloc(1, sizeof(*r));

	if (r && shape && shape->size) {
		r->extents = calloc(shape->size, sizeof(*r->extents));
		if (r->extents)
			memcpy(r->extents, shape->data, shape->size * sizeof(*r->extents));
		r->extent_count = shape->size;
	}
	if (!r || (r->extent_count && !r->extents)) {
		free(r);
		tenon_error(-TENON_E_NOMEM, "no memory for a recording");
		return NULL;
	}
	r->index = part->index;
	r->next = vm->recorded;
	vm->recorded = r;
	return r;
}

/* Tensors may be made anew at each run, in storages that stay. */
static bool same_place(const DLTensor *a, const DLTensor *b)
{
	size_t extents = (size_t)a->ndim * sizeof(*a->shape);

	return a->data == b->data && a->byte_offset == b->byte_offset && a->ndim == b->ndim &&
	       !memcmp(&a->dtype, &b->dtype, sizeof(a->dtype)) &&
	       !memcmp(&a->device, &b->device, sizeof(a->device)) &&
	       !memcmp(a->shape, b->shape, extents) && !a->strides == !b->strides &&
	       (!a->strides || !memcmp(a->strides, b->strides, extents));
}

static bool same_value(const struct tenon_value *a, const struct tenon_value *b)
{
	if (relax_is_cache(b))
		return a->type == TENON_TYPE_NONE;
	/* a small string may end in zeros: the size is a part of it */
	if (a->type != b->type || a->small_size != b->small_size)
		return false;
	if (a->type == TENON_TYPE_TENSOR)
		return same_place(&((const struct tenon_tensor *)a->as.object)->dl,
				  &((const struct tenon_tensor *)b->as.object)->dl);
	return a->as.bits == b->as.bits;
}

/* What was recorded is kept, so an equal address is the same memory. */
static bool same_items(const struct relax_recorded *r, const struct tenon_array *items)
{
	int64_t i;

	if (r->item_count != items->size)
		return false;
	for (i = 0; i < items->size; i++)
		if (!same_value(&r->items[i], &items->data[i]))
			return false;
	return true;
}

static int keep_items(struct relax_recorded *r, const struct tenon_array *items)
{
	int err = 0;

	r->items = calloc((size_t)items->size + 1, sizeof(*r->items));
	if (!r->items)
		return tenon_error(-TENON_E_NOMEM, "no memory for the arguments of a recording");
	while (!err && r->item_count < items->size) {
		struct tenon_value item = items->data[r->item_count];

		/* the form names the cache, which has functions that may refer to the machine */
		if (relax_is_cache(&item))
			item = tenon_arg_none();
		err = tenon_value_own(&item, &r->items[r->item_count]);
		r->item_count += !err;
	}
	return err;
}

static int call(struct relax_vm *vm, const struct relax_part *part, struct tenon_value *ret)
{
	return relax_invoke(vm, part->closure, part->items->data, (uint32_t)part->items->size, ret);
}

/* Get the queue whose work a recording could repeat; NULL if the machine has none or several. */
static int queue_to_follow(struct relax_vm *vm, struct tenon_queue **out)
{
	const struct relax_device *d = vm->devices;
	struct tenon_device *device;
	int err;

	*out = NULL;
	/* the host is the last one */
	if (!vm->elsewhere || vm->device_count != 2 || place_is_host(d->id))
		return 0;
	err = tenon_device_get(d->id, &device);
	if (err)
		return err;
	if (!(device->properties->flags & TENON_DEVICE_INLINE))
		err = tenon_queue_current(device, out);
	tenon_object_unref(device);
	return err;
}

static int count_one(void *context, const struct tenon_operation *operation)
{
	++*(size_t *)context;
	return 0;
}

static uint64_t storages_of(const struct relax_vm *vm)
{
	struct relax_pool_figures figures;

	relax_pool_figures(vm->devices[0].pool, &figures);
	return figures.created;
}

/* Call a part while @commands follows @q. @usable: the recording does the same. */
static int call_followed(struct relax_vm *vm, const struct relax_part *part, struct tenon_queue *q,
			 struct tenon_commands *commands, bool *usable, struct tenon_value *ret)
{
	uint64_t storages = storages_of(vm);
	size_t operations = 0;
	int err = tenon_commands_follow(commands, q);

	if (err)
		return err;
	err = call(vm, part, ret);
	/* a failure of the recording is none of the call */
	*usable = !tenon_commands_finish(commands);
	if (!*usable && !err)
		tenon_error_clear();
	tenon_commands_each(commands, NULL, count_one, &operations);
	/* storage that the part gives back serves others before the next run */
	if (!operations || storages_of(vm) != storages)
		*usable = false;
	return err;
}

static int record(struct relax_vm *vm, const struct relax_part *part, struct relax_recorded *r,
		  const struct relax_step *step, struct tenon_value *ret)
{
	struct tenon_commands *commands;
	struct tenon_queue *q;
	bool usable = false;
	int err;

	r->misses++;
	err = queue_to_follow(vm, &q);
	if (!err && !q) {
		r->misses = MISSES_MOST;
		return call(vm, part, ret);
	}
	if (!err)
		err = tenon_commands_create(q->device, &commands);
	if (err)
		return err;
	err = call_followed(vm, part, q, commands, &usable, ret);
	if (!err)
		err = relax_step_layers(step, &usable, &r->layers);
	if (!err && usable)
		err = keep_items(r, part->items);
	if (!err && usable)
		err = tenon_value_own(ret, &r->result);
	if (!err && usable) {
		r->commands = commands;
		return 0;
	}
	tenon_object_unref(commands);
	forget(r);
	if (!err)
		r->misses = MISSES_MOST;
	else
		tenon_value_release(ret);
	return err;
}

static int repeat(const struct relax_recorded *r, const struct relax_step *step,
		  struct tenon_value *ret)
{
	struct tenon_queue *q;
	int err = tenon_queue_current(r->commands->device, &q);

	if (!err)
		err = tenon_queue_execute(q, r->commands, NULL, 0, NULL);
	if (!err)
		err = relax_step_repeated(step, r->layers);
	return err ? err : tenon_value_own(&r->result, ret);
}

/* A step of another form is recorded if the next one is like it. */
static bool is_new_form(struct relax_recorded *r, const struct relax_step *step)
{
	if (r->form == step->form)
		return false;
	forget(r);
	r->form = step->form;
	r->misses = 0;
	return true;
}

int relax_run_recorded(struct relax_vm *vm, const struct relax_part *part, struct tenon_value *ret)
{
	struct relax_recorded *r;
	struct relax_step step;
	int err;

	/* the record of a run has the operators of the part */
	if (record_on())
		return call(vm, part, ret);
	err = relax_step_of(part->items, &step);
	if (err)
		return err;
	if (step.formless)
		return call(vm, part, ret);
	r = find(vm, part);
	if (!r)
		r = add(vm, part);
	if (!r)
		return -TENON_E_NOMEM;
	if (is_new_form(r, &step))
		return call(vm, part, ret);
	if (r->commands && same_items(r, part->items))
		return repeat(r, &step, ret);
	if (r->commands)
		forget(r);
	if (r->misses >= MISSES_MOST)
		return call(vm, part, ret);
	return record(vm, part, r, &step, ret);
}

void relax_recorded_free(struct relax_vm *vm)
{
	struct relax_recorded *r;

	while ((r = vm->recorded)) {
		vm->recorded = r->next;
		forget(r);
		free(r->extents);
		free(r);
	}
}
