/* SPDX-License-Identifier: MIT */
/*
 * Recordings are secondary command buffers. The buffers in a command buffer cannot be changed, so a
 * recording with slots is written once for each set of bindings, and the last few are kept.
 */
#include <stdlib.h>
#include <string.h>

#include <tenon/backend/commands.h>

#include "devices/vulkan/vulkan_queue.h"
#include "lib/brief_errors.h"

#define VARIANTS_KEPT 4

/* identifies the memory bound to a slot, even if memory is freed and its address is reused */
struct binding {
	uint64_t id;
	uint64_t offset;
	uint64_t size;
};

/** struct variant - command buffer for one set of bindings */
struct variant {
	struct vulkan_device *device;
	VkCommandPool pool;
	VkCommandBuffer commands;
	struct vulkan_arena arena;
	struct vulkan_sets sets;
	struct binding bindings[];
};

struct vulkan_commands {
	struct tenon_commands base;
	pthread_mutex_t lock; /* protects the variants */
	struct variant *kept[VARIANTS_KEPT];
	uint32_t oldest;
};

static inline struct vulkan_commands *commands_of(struct tenon_commands *commands)
{
	return (struct vulkan_commands *)commands;
}

static int vulkan_commands_create(struct tenon_device *device, struct tenon_commands **out)
{
	struct vulkan_commands *c = calloc(1, sizeof(*c));
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

static void free_variant(void *item)
{
	struct variant *v = item;
	struct vulkan_device *d = v->device;

	d->api.DestroyCommandPool(d->handle, v->pool, NULL);
	vulkan_arena_free(d, &v->arena);
	vulkan_sets_free(d, &v->sets);
	free(v);
}

static void drop_variant(struct vulkan_commands *c, uint32_t i)
{
	if (c->kept[i])
		tenon_device_retire(c->base.device, free_variant, c->kept[i]);
	c->kept[i] = NULL;
}

static void vulkan_commands_destroy(struct tenon_commands *commands)
{
	struct vulkan_commands *c = commands_of(commands);
	uint32_t i;

	for (i = 0; i < VARIANTS_KEPT; i++)
		drop_variant(c, i);
	pthread_mutex_destroy(&c->lock);
	tenon_commands_fini(commands);
	free(c);
}

/* The core keeps the list. Timestamps are not supported: each run would need its own query. */
static int vulkan_commands_record(struct tenon_commands *commands, const struct tenon_operation *op)
{
	return op->kind == TENON_OP_TIMESTAMP
		       ? tenon_error(-TENON_E_UNSUPPORTED, "vulkan: a timestamp in a recording")
		       : 0;
}

static int write_operation(void *context, const struct tenon_operation *op)
{
	return vulkan_record(context, op);
}

static int write_commands(struct vulkan_commands *c, struct variant *v,
			  struct tenon_memory *const *bindings)
{
	struct vulkan_device *d = v->device;
	struct vulkan_recorder r = {
		.device = d,
		.commands = v->commands,
		.arena = &v->arena,
		.sets = &v->sets,
		.serial = UINT64_MAX,
	};
	VkResult result;
	int err;

	err = vulkan_record_begin(d, v->commands, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
	if (!err)
		err = tenon_commands_each(&c->base, bindings, write_operation, &r);
	if (err)
		return err;
	result = d->api.EndCommandBuffer(v->commands);
	return vulkan_check(d, result, "EndCommandBuffer");
}

static struct binding binding_of(struct tenon_memory *memory)
{
	struct binding b = { .size = memory->size };

	b.id = vulkan_memory_of(tenon_memory_root(memory, &b.offset))->id;
	return b;
}

static bool is_bound(const struct variant *v, uint32_t slots, struct tenon_memory *const *bindings)
{
	struct binding b;
	uint32_t i;

	for (i = 0; i < slots; i++) {
		b = binding_of(bindings[i]);
		if (memcmp(&b, &v->bindings[i], sizeof(b)))
			return false;
	}
	return true;
}

static int make_variant(struct vulkan_commands *c, struct tenon_memory *const *bindings,
			struct variant **out)
{
	struct variant *v = calloc(1, sizeof(*v) + c->base.slots * sizeof(v->bindings[0]));
	uint32_t i;
	int err;

	if (!v)
		return tenon_error(-TENON_E_NOMEM, "no memory for a recording");
	v->device = vulkan_device_of(c->base.device);
	for (i = 0; i < c->base.slots; i++)
		v->bindings[i] = binding_of(bindings[i]);
	err = vulkan_record_buffer(v->device, VK_COMMAND_BUFFER_LEVEL_SECONDARY, &v->pool,
				   &v->commands);
	if (!err)
		err = write_commands(c, v, bindings);
	if (err)
		free_variant(v);
	*out = v;
	return err;
}

/* Find or create the variant for these bindings. Called with the recording's lock held. */
static int get_variant(struct vulkan_commands *c, struct tenon_memory *const *bindings,
		       struct variant **out)
{
	uint32_t i;
	int err;

	for (i = 0; i < VARIANTS_KEPT; i++) {
		*out = c->kept[i];
		if (*out && is_bound(*out, c->base.slots, bindings))
			return 0;
	}
	err = make_variant(c, bindings, out);
	if (err)
		return err;
	i = c->oldest++ % VARIANTS_KEPT;
	drop_variant(c, i);
	c->kept[i] = *out;
	return 0;
}

/* Without slots there is a single variant: write it now. */
static int vulkan_commands_finish(struct tenon_commands *commands)
{
	struct variant *v;

	return commands->slots ? 0 : get_variant(commands_of(commands), NULL, &v);
}

int vulkan_commands_run(struct vulkan_queue *q, const struct tenon_operation *op)
{
	struct vulkan_commands *c = commands_of(op->as.execute.commands);
	struct variant *v;
	int err;

	pthread_mutex_lock(&c->lock);
	err = get_variant(c, op->as.execute.bindings, &v);
	if (!err) {
		pthread_mutex_lock(&q->lock);
		err = vulkan_batch_execute(q, v->commands);
		pthread_mutex_unlock(&q->lock);
	}
	pthread_mutex_unlock(&c->lock);
	return err;
}

const struct tenon_commands_ops vulkan_commands_ops = {
	.size = sizeof(struct tenon_commands_ops),
	.create = vulkan_commands_create,
	.destroy = vulkan_commands_destroy,
	.record = vulkan_commands_record,
	.finish = vulkan_commands_finish,
};
