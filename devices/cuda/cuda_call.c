/* SPDX-License-Identifier: MIT */
/*
 * Contexts of host functions in a stream. A queue reuses them after the functions have run, so that
 * a warm queue allocates nothing. The functions run in a thread of CUDA and must not take locks.
 */
#include <stdlib.h>

#include "devices/cuda/cuda_device.h"

static __thread bool in_function;

bool cuda_in_function(void)
{
	return in_function;
}

struct cuda_call *cuda_call_take(struct cuda_queue *q)
{
	struct cuda_call *c = q->idle_calls;

	if (!c)
		c = __atomic_exchange_n(&q->done_calls, NULL, __ATOMIC_ACQUIRE);
	if (!c) {
		c = calloc(1, sizeof(*c));
		if (!c)
			return NULL;
		c->queue = q;
		c->all = q->calls;
		q->calls = c;
	}
	q->idle_calls = c->next;
	c->uses = 1;
	return c;
}

void cuda_call_drop(struct cuda_call *c)
{
	struct cuda_queue *q = c->queue;

	if (__atomic_sub_fetch(&c->uses, 1, __ATOMIC_ACQ_REL))
		return;
	free(c->kept);
	c->kept = NULL;
	c->next = __atomic_load_n(&q->done_calls, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&q->done_calls, &c->next, c, true, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED))
		;
}

int cuda_call_put(struct cuda_call *c, void (*function)(void *call))
{
	const struct cuda_api *cu = cuda_device_of(c->queue->base.device)->cu;
	int status;

	__atomic_add_fetch(&c->uses, 1, __ATOMIC_RELAXED);
	status = cu->LaunchHostFunc(c->queue->handle, function, c);
	if (status)
		__atomic_sub_fetch(&c->uses, 1, __ATOMIC_RELAXED);
	return status;
}

static void run_callback(void *call)
{
	struct cuda_call *c = call;
	void (*function)(void *) = c->function;
	void *context = c->context;

	/* drop first: after the function, the queue of a lost device may be freed */
	cuda_call_drop(c);
	in_function = true;
	function(context);
	in_function = false;
}

int cuda_call(struct cuda_queue *q, void (*function)(void *context), void *context)
{
	struct cuda_call *c = cuda_call_take(q);
	int status;

	if (!c)
		return CU_OUT_OF_MEMORY;
	c->function = function;
	c->context = context;
	status = cuda_call_put(c, run_callback);
	cuda_call_drop(c);
	return status;
}

void cuda_calls_end(struct cuda_queue *q)
{
	struct cuda_call *c;

	while ((c = q->calls)) {
		q->calls = c->all;
		free(c->kept);
		free(c);
	}
}
