/* SPDX-License-Identifier: MIT */
/* Write copies, fills, launches and the barriers between them to a command buffer. */
#include "devices/vulkan/vulkan_record.h"

#include "lib/brief_errors.h"

#include <inttypes.h>
#include <string.h>

#define STAGES (VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT)
#define WRITES (VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT)
#define READS  (VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_UNIFORM_READ_BIT)
#define ANY    (VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT)

int vulkan_record_buffer(struct vulkan_device *d, VkCommandBufferLevel level, VkCommandPool *pool,
			 VkCommandBuffer *commands)
{
	const VkCommandPoolCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
		.queueFamilyIndex = d->facts.family,
	};
	VkCommandBufferAllocateInfo buffer = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
		.level = level,
		.commandBufferCount = 1,
	};
	VkResult r;

	r = d->api.CreateCommandPool(d->handle, &info, NULL, pool);
	if (r)
		return vulkan_check(d, r, "CreateCommandPool");
	buffer.commandPool = *pool;
	r = d->api.AllocateCommandBuffers(d->handle, &buffer, commands);
	return vulkan_check(d, r, "AllocateCommandBuffers");
}

int vulkan_record_begin(struct vulkan_device *d, VkCommandBuffer commands,
			VkCommandBufferUsageFlags usage)
{
	const VkCommandBufferInheritanceInfo inheritance = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO,
	};
	const VkCommandBufferBeginInfo info = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
		.flags = usage,
		.pInheritanceInfo = &inheritance, /* ignored by primary command buffers */
	};
	VkResult r = d->api.BeginCommandBuffer(commands, &info);

	return vulkan_check(d, r, "BeginCommandBuffer");
}

void vulkan_recorder_forget(struct vulkan_recorder *r)
{
	r->pipeline = VK_NULL_HANDLE;
	r->layout = NULL;
}

static void barrier(struct vulkan_recorder *r, VkPipelineStageFlags host_stage,
		    VkAccessFlags host_access)
{
	const VkPipelineStageFlags stages = r->shared ? VK_PIPELINE_STAGE_ALL_COMMANDS_BIT : STAGES;
	const VkMemoryBarrier all = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
		.srcAccessMask = r->shared ? ANY : WRITES,
		.dstAccessMask = (r->shared ? ANY : READS | WRITES) | host_access,
	};

	r->device->api.CmdPipelineBarrier(r->commands, stages, stages | host_stage, 0, 1, &all, 0,
					  NULL, 0, NULL);
	r->dirty = false;
}

void vulkan_record_barrier(struct vulkan_recorder *r)
{
	if (r->dirty)
		barrier(r, 0, 0);
}

void vulkan_record_end(struct vulkan_recorder *r)
{
	barrier(r, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT | VK_ACCESS_HOST_WRITE_BIT);
}

static struct vulkan_memory *place(struct tenon_range *range)
{
	return vulkan_memory_of(tenon_memory_root(range->memory, &range->offset));
}

static int too_large(struct vulkan_recorder *r, const struct tenon_argument *a, uint64_t size)
{
	return tenon_error(-TENON_E_UNSUPPORTED,
			   "buffer %u has %" PRIu64 " bytes; kernels on %s reach %" PRIu64
			   " of a buffer. Hand on a part of it",
			   a->index, size, r->device->base.properties->name,
			   r->device->facts.range_most);
}

/* Store a buffer argument; sets @changed if it differs from the bound one. */
static inline int note_buffer(struct vulkan_recorder *r, const struct tenon_argument *a,
			      struct tenon_memory *memory, bool *changed)
{
	struct tenon_range range = tenon_range(memory, 0);
	VkDescriptorBufferInfo *info = &r->buffers[a->index];
	const struct vulkan_memory *m;

	if (!memory)
		return tenon_error(-TENON_E_VALUE, "buffer %u is NULL", a->index);
	if (memory->size > r->device->facts.range_most)
		return too_large(r, a, memory->size);
	m = place(&range);
	if (r->ids[a->index] == m->id && info->offset == range.offset &&
	    info->range == memory->size)
		return 0;
	*changed = true;
	r->ids[a->index] = m->id;
	info->buffer = m->buffer;
	info->offset = range.offset;
	info->range = memory->size;
	return 0;
}

static int note_arguments(struct vulkan_recorder *r, const struct tenon_dispatch *d, bool *buffers,
			  bool *scalars)
{
	const struct tenon_kernel_info *info = d->kernel->info;
	const struct tenon_argument *a = info->arguments;
	uint32_t i;
	int err;

	for (i = 0; i < info->argument_count; i++, a++) {
		if (a->kind == TENON_ARGUMENT_MEMORY) {
			err = note_buffer(r, a, (struct tenon_memory *)(uintptr_t)d->arguments[i],
					  buffers);
			if (err)
				return err;
		} else if (r->scalars[a->index] != d->arguments[i]) {
			r->scalars[a->index] = d->arguments[i];
			*scalars = true;
		}
	}
	return 0;
}

static int place_block(struct vulkan_recorder *r, const struct vulkan_layout *l)
{
	VkDescriptorBufferInfo *info = &r->buffers[l->buffers];
	uint64_t size = (uint64_t)l->scalars * 8;
	int err;

	err = vulkan_arena_take(r->device, r->arena, r->idle, size,
				r->device->facts.block_alignment, &r->block);
	if (err)
		return err;
	memcpy(r->block.host, r->scalars, size);
	r->ids[l->buffers] = r->block.id;
	info->buffer = r->block.buffer;
	info->offset = r->block.offset;
	info->range = size;
	return 0;
}

static int bind_buffers(struct vulkan_recorder *r, const struct vulkan_layout *l)
{
	const struct vulkan_device_api *api = &r->device->api;
	uint32_t offset = (uint32_t)r->block.offset;
	VkWriteDescriptorSet writes[2];
	VkDescriptorSet set;
	int err;

	if (l->push) {
		api->CmdPushDescriptorSetKHR(
			r->commands, VK_PIPELINE_BIND_POINT_COMPUTE, l->pipeline, 0,
			vulkan_sets_writes(l, VK_NULL_HANDLE, r->buffers, writes), writes);
		return 0;
	}
	err = vulkan_sets_get(r->device, r->sets, l, r->ids, r->buffers, r->serial, r->done, &set);
	if (err)
		return err;
	api->CmdBindDescriptorSets(r->commands, VK_PIPELINE_BIND_POINT_COMPUTE, l->pipeline, 0, 1,
				   &set, l->block, &offset);
	return 0;
}

static int bind_arguments(struct vulkan_recorder *r, const struct tenon_dispatch *d)
{
	const struct vulkan_layout *l = ((const struct vulkan_kernel *)d->kernel)->layout;
	bool buffers = l != r->layout, scalars = buffers;
	int err;

	/* if this fails half-way, later launches must bind all arguments */
	r->layout = NULL;
	err = note_arguments(r, d, &buffers, &scalars);
	if (!err && l->block && scalars) {
		err = place_block(r, l);
		buffers = true;
	} else if (!err && l->scalars && scalars) {
		r->device->api.CmdPushConstants(r->commands, l->pipeline,
						VK_SHADER_STAGE_COMPUTE_BIT, 0, l->scalars * 8,
						r->scalars);
	}
	if (!err && buffers && vulkan_layout_bindings(l))
		err = bind_buffers(r, l);
	if (!err)
		r->layout = l;
	return err;
}

static int grid_too_large(struct vulkan_recorder *r, const struct tenon_dispatch *d)
{
	const uint32_t *most = r->device->base.properties->max_grid;

	return tenon_error(-TENON_E_VALUE, "grid of %u x %u x %u; the most is %u x %u x %u",
			   d->grid[0], d->grid[1], d->grid[2], most[0], most[1], most[2]);
}

static int dispatch(struct vulkan_recorder *r, const struct tenon_dispatch *d)
{
	const struct vulkan_kernel *kernel = (const struct vulkan_kernel *)d->kernel;
	const struct vulkan_device_api *api = &r->device->api;
	const uint32_t *most = r->device->base.properties->max_grid;
	int err;

	if (d->grid[0] > most[0] || d->grid[1] > most[1] || d->grid[2] > most[2])
		err = grid_too_large(r, d);
	else
		err = bind_arguments(r, d);
	if (err)
		return tenon_error_in(err, "%.*s", (int)d->kernel->info->name.size,
				      d->kernel->info->name.data);
	if (r->pipeline != kernel->pipeline) {
		r->pipeline = kernel->pipeline;
		api->CmdBindPipeline(r->commands, VK_PIPELINE_BIND_POINT_COMPUTE, kernel->pipeline);
	}
	api->CmdDispatch(r->commands, d->grid[0], d->grid[1], d->grid[2]);
	r->dirty = true;
	return 0;
}

static void copy_bytes(struct vulkan_recorder *r, VkBuffer to, uint64_t to_offset, VkBuffer from,
		       uint64_t from_offset, uint64_t size)
{
	const VkBufferCopy region = { from_offset, to_offset, size };

	r->device->api.CmdCopyBuffer(r->commands, from, to, 1, &region);
	r->dirty = true;
}

static int copy(struct vulkan_recorder *r, struct tenon_range to, struct tenon_range from,
		uint64_t size)
{
	VkBuffer t = place(&to)->buffer, f = place(&from)->buffer;

	if (size)
		copy_bytes(r, t, to.offset, f, from.offset, size);
	return 0;
}

/* Fill the bytes before and after the whole words by copies. */
static int fill_edges(struct vulkan_recorder *r, VkBuffer to, uint64_t offset, uint64_t head,
		      uint64_t tail_offset, uint64_t tail, uint32_t word)
{
	struct vulkan_piece piece;
	int err;

	err = vulkan_arena_take(r->device, r->arena, r->idle, sizeof(word), 4, &piece);
	if (err)
		return err;
	memcpy(piece.host, &word, sizeof(word));
	if (head)
		copy_bytes(r, to, offset, piece.buffer, piece.offset, head);
	if (tail)
		copy_bytes(r, to, tail_offset, piece.buffer, piece.offset, tail);
	return 0;
}

static int fill(struct vulkan_recorder *r, struct tenon_range to, uint64_t size, uint32_t pattern,
		uint32_t width)
{
	VkBuffer buffer = place(&to)->buffer;
	uint64_t head = -to.offset & 3, words;
	uint32_t word = pattern;

	if (width == 1)
		word = (pattern & 0xff) * 0x01010101u;
	else if (width == 2)
		word = (pattern & 0xffff) * 0x00010001u;
	if (head > size)
		head = size;
	words = (size - head) & ~(uint64_t)3;
	if (words) {
		r->device->api.CmdFillBuffer(r->commands, buffer, to.offset + head, words, word);
		r->dirty = true;
	}
	if (words == size)
		return 0;
	return fill_edges(r, buffer, to.offset, head, to.offset + head + words, size - head - words,
			  word);
}

static int write_bytes(struct vulkan_recorder *r, struct tenon_range to, const void *host,
		       uint64_t size)
{
	VkBuffer buffer = place(&to)->buffer;
	struct vulkan_piece piece;
	int err;

	if (!size)
		return 0;
	err = vulkan_arena_take(r->device, r->arena, r->idle, size, 16, &piece);
	if (err)
		return err;
	memcpy(piece.host, host, size);
	copy_bytes(r, buffer, to.offset, piece.buffer, piece.offset, size);
	return 0;
}

int vulkan_record(struct vulkan_recorder *r, const struct tenon_operation *op)
{
	switch (op->kind) {
	case TENON_OP_BARRIER:
		vulkan_record_barrier(r);
		return 0;
	case TENON_OP_DISPATCH:
		return dispatch(r, op->as.dispatch);
	case TENON_OP_COPY:
		return copy(r, op->as.copy.to, op->as.copy.from, op->as.copy.size);
	case TENON_OP_FILL:
		return fill(r, op->as.fill.to, op->as.fill.size, op->as.fill.pattern,
			    op->as.fill.width);
	case TENON_OP_WRITE:
		return write_bytes(r, op->as.write.to, op->as.write.host, op->as.write.size);
	default:
		return tenon_error(-TENON_E_UNSUPPORTED, "vulkan: operation %u is not known",
				   op->kind);
	}
}

int vulkan_record_read(struct vulkan_recorder *r, struct tenon_range from, uint64_t size,
		       const void **host)
{
	VkBuffer buffer = place(&from)->buffer;
	struct vulkan_piece piece;
	int err;

	err = vulkan_arena_take(r->device, r->arena, r->idle, size, 16, &piece);
	if (err)
		return err;
	*host = piece.host;
	copy_bytes(r, piece.buffer, piece.offset, buffer, from.offset, size);
	return 0;
}
