/* SPDX-License-Identifier: MIT */
/* A backend for tests of the device layer: a case says what fails, and sees what was asked of it. */
#include "tests/device/fake_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct fake fake;

static void fake_close(struct tenon_device *device)
{
	free(device);
}

static int make_current(struct tenon_device *device)
{
	(void)device;
	fake.made_current++;
	return 0;
}

static int available_memory(struct tenon_device *device, uint64_t *bytes)
{
	(void)device;
	*bytes = 1500;
	return 0;
}

static int alloc(struct tenon_device *device, const struct tenon_memory_request *request,
		 struct tenon_memory **out)
{
	struct tenon_memory *m;

	if (!fake.allocations_left)
		return tenon_error(-TENON_E_NOMEM, "fake: no memory for %llu bytes",
				   (unsigned long long)request->bytes);
	if (fake.allocations_left > 0)
		fake.allocations_left--;
	m = malloc(sizeof(*m));
	if (!m)
		return tenon_error(-TENON_E_NOMEM, "no memory");
	tenon_memory_init(m, device, request->bytes, request->usage);
	fake.allocations++;
	fake.last_request = *request;
	*out = m;
	return 0;
}

static void release(void *memory)
{
	/* the thread that held an operation may drop the last reference */
	__atomic_add_fetch(&fake.frees, 1, __ATOMIC_RELAXED);
	free(memory);
}

static void free_memory(struct tenon_memory *memory)
{
	tenon_device_retire(memory->device, release, memory);
}

static int create(struct tenon_device *device, struct tenon_queue **out)
{
	struct fake_queue *q = calloc(1, sizeof(*q));
	int err;

	if (!q)
		return tenon_error(-TENON_E_NOMEM, "no memory");
	err = tenon_queue_init(&q->base, device);
	if (err) {
		free(q);
		return err;
	}
	*out = &q->base;
	return 0;
}

static int wrap(struct tenon_device *device, void *native, struct tenon_queue **out)
{
	int err = create(device, out);

	if (!err)
		(*out)->native = native;
	return err;
}

static void destroy(struct tenon_queue *queue)
{
	tenon_queue_fini(queue);
	free(queue);
	fake.queues_gone++;
}

static int submit(struct tenon_queue *queue, const struct tenon_operation *op)
{
	struct fake_queue *q = fake_queue(queue);

	if (!fake.submits_left)
		return tenon_error(-TENON_E_VALUE, "fake: no operation %u", op->kind);
	if (fake.submits_left > 0)
		fake.submits_left--;
	q->last_kind = op->kind;
	q->last_priority = op->priority;
	if (op->kind == TENON_OP_TIMESTAMP)
		q->stamp = op->as.timestamp;
	__atomic_add_fetch(&q->given, 1, __ATOMIC_ACQ_REL);
	return 0;
}

static int mark(struct tenon_queue *queue, uint64_t *serial)
{
	if (fake.marks_fail) {
		fake.marks_fail--;
		return tenon_error(-TENON_E_NOMEM, "fake: no memory for a mark");
	}
	*serial = __atomic_load_n(&fake_queue(queue)->given, __ATOMIC_ACQUIRE);
	return 0;
}

static int reached(struct tenon_queue *queue, uint64_t serial)
{
	struct fake_queue *q = fake_queue(queue);
	uint64_t failed = __atomic_load_n(&q->failed, __ATOMIC_ACQUIRE);

	if (failed && serial >= failed)
		return tenon_error(-TENON_E_DEVICE, "operation %llu of the fake failed",
				   (unsigned long long)failed);
	if (__atomic_load_n(&q->done, __ATOMIC_ACQUIRE) >= serial)
		return 1;
	return __atomic_load_n(&queue->device->lost, __ATOMIC_ACQUIRE)
		       ? tenon_device_check(queue->device)
		       : 0;
}

static int wait(struct tenon_queue *queue, uint64_t serial, uint64_t deadline)
{
	const struct timespec nap = { 0, 200 * 1000 };
	int state;

	while (!(state = reached(queue, serial))) {
		if (tenon_deadline(0) >= deadline)
			return tenon_error(-TENON_E_TIMEOUT, "fake: not done in time");
		nanosleep(&nap, NULL);
	}
	return state < 0 ? state : 0;
}

static int order(struct tenon_queue *queue, struct tenon_queue *other, uint64_t serial)
{
	(void)queue;
	(void)other;
	(void)serial;
	__atomic_add_fetch(&fake.orders, 1, __ATOMIC_RELAXED);
	return 0;
}

static const struct tenon_memory_ops memory_ops = {
	.size = sizeof(memory_ops),
	.alloc = alloc,
	.free = free_memory,
};

#define QUEUE_OPS                                                                                  \
	.size = sizeof(struct tenon_queue_ops), .create = create, .destroy = destroy,              \
	.wrap = wrap, .submit = submit, .mark = mark, .reached = reached, .wait = wait

static const struct tenon_queue_ops queue_ops = { QUEUE_OPS, .order = order };
static const struct tenon_queue_ops queue_ops_without_order = { QUEUE_OPS };

#define DEVICE_OPS(queues)                                                                         \
	{                                                                                          \
		.size = sizeof(struct tenon_device_ops), .close = fake_close,                      \
		.available_memory = available_memory, .make_current = make_current,                \
		.memory = &memory_ops, .queue = (queues),                                          \
	}

static const struct tenon_device_ops device_ops = DEVICE_OPS(&queue_ops);
static const struct tenon_device_ops device_ops_without_order =
	DEVICE_OPS(&queue_ops_without_order);

static int count(uint32_t *out)
{
	if (fake.count_fails)
		return tenon_error(-TENON_E_DEVICE, "libfake.so.1 is not installed");
	*out = 2;
	return 0;
}

static int describe(uint32_t index, struct tenon_device_properties *p)
{
	uint8_t i;

	snprintf(p->name, sizeof(p->name), "Fake %s", index ? "Second" : "First");
	snprintf(p->driver, sizeof(p->driver), "fake 7.1");
	snprintf(p->compute_version, sizeof(p->compute_version), "9.9");
	snprintf(p->architecture, sizeof(p->architecture), "fk_99");
	p->api_version = 12040;
	p->flags = TENON_DEVICE_STREAM_ORDERED;
	for (i = 0; i < 16; i++)
		p->uuid[i] = (uint8_t)(i + 0xa0 + 16 * index);
	p->max_threads = 1024;
	p->max_block[0] = 1024;
	p->max_block[1] = 512;
	p->max_block[2] = 64;
	p->warp_size = 32;
	p->max_shared = 49152;
	p->max_registers = 65536;
	p->clock_khz = 1700000;
	p->processors = 84;
	p->l2_bytes = 6291456;
	p->total_memory = 2000;
	p->alignment = 1;
	p->queues = 1;
	p->heap_count = 1;
	p->heaps[0].size = 2000;
	return 0;
}

static int open_device(const struct tenon_device_choice *choice, struct tenon_device **out)
{
	struct tenon_device *d;
	size_t i;

	for (i = 0; i < choice->option_count; i++)
		if (!tenon_slice_equal(choice->options[i].key, tenon_slice_of("mode")))
			return tenon_error(
				-TENON_E_VALUE, "fake has no key \"%.*s\"; it knows mode",
				(int)choice->options[i].key.size, choice->options[i].key.data);
	if (fake.open_fails) {
		fake.open_fails--;
		return tenon_error(-TENON_E_DEVICE, "the fake is busy");
	}
	d = calloc(1, sizeof(*d));
	if (!d || tenon_device_init(d, fake.no_order ? &device_ops_without_order : &device_ops,
				    &fake_backend, choice->index)) {
		free(d);
		return -TENON_E_NOMEM;
	}
	describe(choice->index, d->properties);
	*out = d;
	return 0;
}

const struct tenon_backend fake_backend = {
	.abi = TENON_PLUGIN_ABI,
	.size = sizeof(fake_backend),
	.name = "fake",
	.device_type = FAKE_TYPE,
	.count = count,
	.describe = describe,
	.open = open_device,
};

int fake_setup(void **state)
{
	(void)state;
	return tenon_backend_register(&fake_backend);
}

int fake_reset(void **state)
{
	(void)state;
	tenon_device_close_all();
	memset(&fake, 0, sizeof(fake));
	fake.allocations_left = -1;
	fake.submits_left = -1;
	return 0;
}

struct tenon_device *fake_open(const char *uri, struct tenon_queue **queue)
{
	struct tenon_device *d = NULL;

	assert_int_equal(tenon_device_open(uri, &d), 0);
	if (queue)
		assert_int_equal(tenon_queue_create(d, queue), 0);
	return d;
}
