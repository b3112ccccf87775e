/* SPDX-License-Identifier: MIT */
/*
 * A queue collects operations in a batch and submits it as a whole: at a wait, a query or a flush,
 * or when it is long. The number of a batch is the value that it signals on the queue's timeline
 * semaphore; a mark is the number of its batch.
 */
#ifndef DEVICES_VULKAN_QUEUE_H
#define DEVICES_VULKAN_QUEUE_H

#include "devices/vulkan/vulkan_record.h"

#define VULKAN_BATCH_WAITS  8
#define VULKAN_BATCH_STAMPS 16

/* bytes to copy to the caller's memory when the batch is done */
struct vulkan_read {
	void *to;
	const void *from;
	uint64_t size;
};

struct vulkan_batch {
	struct vulkan_batch *next;
	VkCommandPool pool;
	VkCommandBuffer commands;
	uint64_t serial;
	uint32_t operations;
	uint32_t wait_count;
	uint32_t read_count;
	uint32_t read_room;
	uint32_t stamp_count;
	VkSemaphore waits[VULKAN_BATCH_WAITS];
	uint64_t wait_values[VULKAN_BATCH_WAITS]; /* of timelines */
	VkSemaphore exported; /* signalled with the queue's timeline; or VK_NULL_HANDLE */
	struct vulkan_read *reads;
	VkQueryPool stamps;
	uint64_t *stamp_to[VULKAN_BATCH_STAMPS];
	struct vulkan_arena arena;
};

struct vulkan_queue {
	struct tenon_queue base;
	struct vulkan_queue *next; /* in the list of spare queues */
	struct vulkan_port *port;
	VkSemaphore timeline;
	bool shared;	    /* atomic; the program may submit to the port, too */
	uint64_t marked;    /* batch of the newest operation; atomic */
	uint64_t done;	    /* batches whose work and reads are done; atomic */
	uint64_t submitted; /* from here on protected by @lock */
	pthread_mutex_t lock;
	struct vulkan_batch *open;
	struct vulkan_batch *first, *last; /* submitted, oldest first */
	struct vulkan_batch *spare;
	struct vulkan_arena idle;
	struct vulkan_sets sets;
	struct vulkan_recorder recorder;
};

static inline struct vulkan_device *vulkan_queue_device(struct vulkan_queue *q)
{
	return vulkan_device_of(q->base.device);
}

/* Whether the program was given the handle, and may submit to it, too. */
static inline bool vulkan_queue_is_shared(const struct vulkan_queue *q)
{
	return __atomic_load_n(&q->shared, __ATOMIC_ACQUIRE);
}

/* The functions below are called with the queue's lock held. */

/* Open a batch if none is open, and record a barrier if needed. */
int vulkan_batch_open(struct vulkan_queue *q);
/* Count an operation in the open batch; submits one that is full, or of a shared queue. */
int vulkan_batch_wrote(struct vulkan_queue *q);
/* Submit the open batch. */
int vulkan_batch_flush(struct vulkan_queue *q);
/* Finish the batches that are done: copy their reads to the callers' memory. */
int vulkan_batch_collect(struct vulkan_queue *q);
int vulkan_batch_read(struct vulkan_queue *q, void *to, struct tenon_range from, uint64_t size);
int vulkan_batch_stamp(struct vulkan_queue *q, uint64_t *to);
/* Execute a secondary command buffer, owned by the caller. */
int vulkan_batch_execute(struct vulkan_queue *q, VkCommandBuffer commands);
/* Make later operations wait for a value of a timeline semaphore, or for a binary semaphore. */
int vulkan_batch_wait(struct vulkan_queue *q, VkSemaphore semaphore, uint64_t value);
/*
 * Submit the open batch, or else a signal alone, as the mark of all that is on the port. Fails only
 * when the device is lost, or makes it so. @semaphore: to be signalled with it; or VK_NULL_HANDLE
 */
int vulkan_batch_mark(struct vulkan_queue *q, VkSemaphore semaphore);
void vulkan_batches_free(struct vulkan_queue *q);

/* vulkan_commands.c */
int vulkan_commands_run(struct vulkan_queue *q, const struct tenon_operation *operation);

#endif /* DEVICES_VULKAN_QUEUE_H */
