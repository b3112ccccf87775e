/* SPDX-License-Identifier: MIT */
/* Open, submit and collect batches, with their timeline values and read-backs. */
#include "devices/vulkan/vulkan_queue.h"
#include "lib/brief_errors.h"

#include <stdlib.h>
#include <string.h>

/* a batch is submitted when it has this many operations or staged bytes */
#define OPERATIONS_MOST 256
#define BYTES_MOST	(4 << 20)

static void free_list(struct vulkan_device *d, struct vulkan_batch *b)
{
	struct vulkan_batch *next;

	for (; b; b = next) {
		next = b->next;
		vulkan_arena_free(d, &b->arena);
		d->api.DestroyQueryPool(d->handle, b->stamps, NULL);
		d->api.DestroyCommandPool(d->handle, b->pool, NULL);
		free(b->reads);
		free(b);
	}
}

static int make_batch(struct vulkan_device *d, struct vulkan_batch **out)
{
	struct vulkan_batch *b = calloc(1, sizeof(*b));
	int err;

	if (!b)
		return tenon_error(-TENON_E_NOMEM, "no memory for a batch of commands");
	err = vulkan_record_buffer(d, VK_COMMAND_BUFFER_LEVEL_PRIMARY, &b->pool, &b->commands);
	if (err)
		free_list(d, b);
	*out = b;
	return err;
}

static int begin(struct vulkan_queue *q, struct vulkan_batch *b)
{
	struct vulkan_device *d = vulkan_queue_device(q);
	struct vulkan_recorder *r = &q->recorder;
	int err;

	err = vulkan_record_begin(d, b->commands, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
	if (err)
		return err;
	b->serial = q->submitted + 1;
	b->operations = b->wait_count = b->read_count = b->stamp_count = 0;
	b->exported = VK_NULL_HANDLE;
	vulkan_recorder_forget(r);
	r->device = d;
	r->commands = b->commands;
	r->arena = &b->arena;
	r->idle = &q->idle;
	r->sets = &q->sets;
	r->serial = b->serial;
	r->done = q->done;
	q->open = b;
	/* what Tenon submits ends with a barrier; what the program does need not */
	r->dirty = r->shared = vulkan_queue_is_shared(q);
	vulkan_record_barrier(r);
	return 0;
}

int vulkan_batch_open(struct vulkan_queue *q)
{
	struct vulkan_batch *b;
	int err;

	if (q->open) {
		vulkan_record_barrier(&q->recorder);
		return 0;
	}
	b = q->spare;
	if (b) {
		q->spare = b->next;
	} else {
		err = make_batch(vulkan_queue_device(q), &b);
		if (err)
			return err;
	}
	err = begin(q, b);
	if (err) {
		b->next = q->spare;
		q->spare = b;
	}
	return err;
}

int vulkan_batch_wrote(struct vulkan_queue *q)
{
	struct vulkan_batch *b = q->open;

	__atomic_store_n(&q->marked, b->serial, __ATOMIC_RELEASE);
	if (++b->operations < OPERATIONS_MOST && b->arena.bytes < BYTES_MOST &&
	    !vulkan_queue_is_shared(q))
		return 0;
	return vulkan_batch_flush(q);
}

/* A batch without commands signals when all that is on the port before it is done. */
static VkResult submit(struct vulkan_queue *q, const struct vulkan_batch *b)
{
	struct vulkan_device *d = vulkan_queue_device(q);
	VkPipelineStageFlags stages[VULKAN_BATCH_WAITS];
	/* signal the timeline last: after that the other semaphore may be destroyed */
	const VkSemaphore signals[] = { b->exported, q->timeline };
	const uint64_t signal_values[] = { 0, b->serial };
	const uint32_t first = b->exported ? 0 : 1;
	const VkTimelineSemaphoreSubmitInfo values = {
		.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
		.waitSemaphoreValueCount = b->wait_count,
		.pWaitSemaphoreValues = b->wait_values,
		.signalSemaphoreValueCount = 2 - first,
		.pSignalSemaphoreValues = signal_values + first,
	};
	const VkSubmitInfo info = {
		.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
		.pNext = &values,
		.waitSemaphoreCount = b->wait_count,
		.pWaitSemaphores = b->waits,
		.pWaitDstStageMask = stages,
		.commandBufferCount = b->commands ? 1 : 0,
		.pCommandBuffers = &b->commands,
		.signalSemaphoreCount = 2 - first,
		.pSignalSemaphores = signals + first,
	};
	VkResult r;
	uint32_t i;

	for (i = 0; i < b->wait_count; i++)
		stages[i] = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
	pthread_mutex_lock(&q->port->lock);
	r = d->api.QueueSubmit(q->port->handle, 1, &info, VK_NULL_HANDLE);
	pthread_mutex_unlock(&q->port->lock);
	return r;
}

/*
 * Recorded operations could not be submitted: mark the device as lost, whatever the reason. Memory
 * may be freed then, so wait for operations that still run.
 */
static int abandon(struct vulkan_queue *q, VkResult result, const char *call)
{
	if (result != VK_ERROR_DEVICE_LOST)
		vulkan_quiesce(vulkan_queue_device(q));
	return tenon_device_lose(q->base.device, vulkan_result(result, call));
}

int vulkan_batch_flush(struct vulkan_queue *q)
{
	struct vulkan_device *d = vulkan_queue_device(q);
	struct vulkan_batch *b = q->open;
	VkResult r;
	int err;

	if (!b || q->marked < b->serial)
		return 0;
	err = tenon_device_check(q->base.device);
	if (err)
		return err;
	vulkan_record_end(&q->recorder);
	r = d->api.EndCommandBuffer(b->commands);
	if (r)
		return abandon(q, r, "EndCommandBuffer");
	r = submit(q, b);
	if (r)
		return abandon(q, r, "QueueSubmit");
	q->submitted = b->serial;
	q->open = NULL;
	b->next = NULL;
	*(q->first ? &q->last->next : &q->first) = b;
	q->last = b;
	return 0;
}

static void read_stamps(struct vulkan_queue *q, const struct vulkan_batch *b)
{
	struct vulkan_device *d = vulkan_queue_device(q);
	uint64_t period = q->base.device->properties->timestamp_period;
	uint64_t ticks[VULKAN_BATCH_STAMPS] = { 0 };
	uint32_t i;

	if (!b->stamp_count)
		return;
	d->api.GetQueryPoolResults(d->handle, b->stamps, 0, b->stamp_count, sizeof(ticks), ticks,
				   sizeof(ticks[0]), VK_QUERY_RESULT_64_BIT);
	for (i = 0; i < b->stamp_count; i++)
		*b->stamp_to[i] = ticks[i] / 1000 * period + ticks[i] % 1000 * period / 1000;
}

static void finish(struct vulkan_queue *q, struct vulkan_batch *b)
{
	struct vulkan_device *d = vulkan_queue_device(q);
	uint32_t i;

	for (i = 0; i < b->read_count; i++)
		memcpy(b->reads[i].to, b->reads[i].from, b->reads[i].size);
	read_stamps(q, b);
	vulkan_arena_recycle(d, &b->arena, &q->idle);
	d->api.ResetCommandPool(d->handle, b->pool, 0);
	b->next = q->spare;
	q->spare = b;
}

int vulkan_batch_collect(struct vulkan_queue *q)
{
	struct vulkan_device *d = vulkan_queue_device(q);
	struct vulkan_batch *b;
	uint64_t value;
	VkResult r;

	if (q->done == q->submitted)
		return 0;
	r = d->api.GetSemaphoreCounterValue(d->handle, q->timeline, &value);
	if (r)
		return vulkan_check(d, r, "GetSemaphoreCounterValue");
	/* some drivers return the largest number after a loss */
	if (value > q->submitted)
		return vulkan_check(d, VK_ERROR_DEVICE_LOST, "GetSemaphoreCounterValue");
	while ((b = q->first) && b->serial <= value) {
		q->first = b->next;
		finish(q, b);
	}
	/* marks without a batch are counted, too */
	__atomic_store_n(&q->done, value, __ATOMIC_RELEASE);
	return 0;
}

int vulkan_batch_read(struct vulkan_queue *q, void *to, struct tenon_range from, uint64_t size)
{
	struct vulkan_batch *b = q->open;
	struct vulkan_read *reads = b->reads;
	uint32_t room = b->read_room;
	int err;

	if (!size)
		return 0;
	if (b->read_count == room) {
		room = room ? room * 2 : 8;
		reads = realloc(reads, room * sizeof(*reads));
		if (!reads)
			return tenon_error(-TENON_E_NOMEM, "no memory for a list of reads");
		b->reads = reads;
		b->read_room = room;
	}
	err = vulkan_record_read(&q->recorder, from, size, &reads[b->read_count].from);
	if (err)
		return err;
	reads[b->read_count].to = to;
	reads[b->read_count++].size = size;
	return 0;
}

int vulkan_batch_stamp(struct vulkan_queue *q, uint64_t *to)
{
	const VkQueryPoolCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
		.queryType = VK_QUERY_TYPE_TIMESTAMP,
		.queryCount = VULKAN_BATCH_STAMPS,
	};
	struct vulkan_device *d = vulkan_queue_device(q);
	struct vulkan_batch *b = q->open;
	VkResult r;

	if (!b->stamps) {
		r = d->api.CreateQueryPool(d->handle, &info, NULL, &b->stamps);
		if (r)
			return vulkan_check(d, r, "CreateQueryPool");
	}
	if (!b->stamp_count)
		d->api.CmdResetQueryPool(b->commands, b->stamps, 0, VULKAN_BATCH_STAMPS);
	d->api.CmdWriteTimestamp(b->commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, b->stamps,
				 b->stamp_count);
	b->stamp_to[b->stamp_count++] = to;
	return 0;
}

int vulkan_batch_wait(struct vulkan_queue *q, VkSemaphore semaphore, uint64_t value)
{
	struct vulkan_batch *b = q->open;
	int err;

	/* a batch waits before all its commands, so begin a new batch */
	if (b && (b->operations || b->wait_count == VULKAN_BATCH_WAITS)) {
		err = vulkan_batch_flush(q);
		if (err)
			return err;
	}
	err = vulkan_batch_open(q);
	if (err)
		return err;
	b = q->open;
	b->waits[b->wait_count] = semaphore;
	b->wait_values[b->wait_count++] = value;
	__atomic_store_n(&q->marked, b->serial, __ATOMIC_RELEASE);
	return vulkan_queue_is_shared(q) ? vulkan_batch_flush(q) : 0;
}

int vulkan_batch_mark(struct vulkan_queue *q, VkSemaphore semaphore)
{
	const struct vulkan_batch bare = { .serial = q->submitted + 1, .exported = semaphore };
	VkResult r;
	int err;

	if (q->open) {
		q->open->exported = semaphore;
		__atomic_store_n(&q->marked, q->open->serial, __ATOMIC_RELEASE);
		return vulkan_batch_flush(q);
	}
	err = tenon_device_check(q->base.device);
	if (err)
		return err;
	r = submit(q, &bare);
	if (r)
		return abandon(q, r, "QueueSubmit");
	q->submitted = bare.serial;
	__atomic_store_n(&q->marked, bare.serial, __ATOMIC_RELEASE);
	return 0;
}

int vulkan_batch_execute(struct vulkan_queue *q, VkCommandBuffer commands)
{
	int err = vulkan_batch_open(q);

	if (err)
		return err;
	vulkan_queue_device(q)->api.CmdExecuteCommands(q->open->commands, 1, &commands);
	vulkan_recorder_forget(&q->recorder);
	q->recorder.dirty = true;
	return vulkan_batch_wrote(q);
}

void vulkan_batches_free(struct vulkan_queue *q)
{
	struct vulkan_device *d = vulkan_queue_device(q);

	if (q->open)
		q->open->next = NULL;
	free_list(d, q->open);
	free_list(d, q->first);
	free_list(d, q->spare);
}
