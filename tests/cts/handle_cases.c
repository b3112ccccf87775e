/* SPDX-License-Identifier: MIT */
/* Memory that comes from elsewhere, and memory that goes there. */
#include <stdlib.h>
#include <unistd.h>

#include <tenon/backend/backend.h>
#include <tenon/backend/memory.h>

#include "tests/cts/cts.h"

#define PAGE 4096
#define SIZE (16 * PAGE)

static bool imports(struct cts *cts, unsigned int type)
{
	return cts->device->properties->imports & 1u << type;
}

static bool exports(struct cts *cts, unsigned int type)
{
	return cts->device->properties->exports & 1u << type;
}

static void host_memory_serves_the_device_in_place(struct cts *cts)
{
	struct tenon_memory_import from = { .size = sizeof(from),
					    .type = TENON_HANDLE_HOST_POINTER,
					    .fd = -1,
					    .bytes = SIZE,
					    .usage = TENON_MEMORY_DEFAULT };
	struct tenon_memory *m;
	uint8_t *host, back[100];
	size_t i;
	int err;

	if (!imports(cts, TENON_HANDLE_HOST_POINTER))
		cts_skip("the device does not import host memory");
	host = aligned_alloc(PAGE, SIZE);
	assert_non_null(host);
	for (i = 0; i < SIZE; i++)
		host[i] = cts_byte(i, 4);
	from.pointer = host;
	err = tenon_memory_import(cts->device, &from, &m);
	if (err == -TENON_E_UNSUPPORTED) {
		tenon_error_clear();
		free(host);
		cts_skip("the device imports some host memory, not this");
	}
	ok(err);
	cts_get(cts, m, 1000, back, 100);
	for (i = 0; i < 100; i++)
		assert_int_equal(back[i], cts_byte(1000 + i, 4));
	ok(tenon_queue_fill(cts->queue, m, 0, 400, 0xab, 1, NULL));
	ok(tenon_queue_sync(cts->queue, cts_soon()));
	if (m->flags & TENON_HEAP_HOST_COHERENT && m->host) {
		assert_int_equal(host[0], 0xab);
		assert_int_equal(host[399], 0xab);
		assert_int_equal(host[400], cts_byte(400, 4));
	}
	cts_get(cts, m, 300, back, 100);
	assert_int_equal(back[99], 0xab);
	tenon_object_unref(m);
	ok(tenon_device_sync(cts->device, cts_soon()));
	free(host);
}

static void round_trip(struct cts *cts, unsigned int type, int heap)
{
	const struct tenon_memory_request request = { sizeof(request), SIZE,
						      TENON_MEMORY_DEFAULT | TENON_MEMORY_EXPORT,
						      heap, NULL };
	struct tenon_memory_import from = { .size = sizeof(from),
					    .type = type,
					    .bytes = SIZE,
					    .usage = TENON_MEMORY_DEFAULT,
					    .heap = (uint32_t)(heap + 1) };
	struct tenon_memory *a, *b;
	uint8_t back[64];
	size_t i;
	int fd = -1, err = tenon_memory_alloc(cts->device, &request, &a);

	/* not every heap is one to give away from */
	if (err == -TENON_E_UNSUPPORTED && heap >= 0) {
		tenon_error_clear();
		return;
	}
	ok(err);
	cts_put(cts, a, 8);
	ok(tenon_memory_export(a, type, &fd));
	assert_true(fd >= 0);
	from.fd = fd;
	ok(tenon_memory_import(cts->device, &from, &b));
	/* the fd stays ours */
	assert_int_equal(close(fd), 0);
	cts_get(cts, b, 5000, back, 64);
	for (i = 0; i < 64; i++)
		assert_int_equal(back[i], cts_byte(5000 + i, 8));
	ok(tenon_queue_fill(cts->queue, b, 0, 64, 0x5a, 1, NULL));
	ok(tenon_queue_sync(cts->queue, cts_soon()));
	tenon_object_unref(b);
	cts_get(cts, a, 0, back, 64);
	assert_int_equal(back[63], 0x5a);
	tenon_object_unref(a);
}

static void memory_given_away_as_an_opaque_fd_is_the_same_memory(struct cts *cts)
{
	int heap;

	if (!exports(cts, TENON_HANDLE_OPAQUE_FD) || !imports(cts, TENON_HANDLE_OPAQUE_FD))
		cts_skip("the device does not give away and take such memory");
	for (heap = -1; heap < (int)cts->device->properties->heap_count; heap++)
		round_trip(cts, TENON_HANDLE_OPAQUE_FD, heap);
}

static void memory_given_away_as_a_dma_buf_is_the_same_memory(struct cts *cts)
{
	if (!exports(cts, TENON_HANDLE_DMA_BUF) || !imports(cts, TENON_HANDLE_DMA_BUF))
		cts_skip("the device does not give away and take such memory");
	round_trip(cts, TENON_HANDLE_DMA_BUF, -1);
}

static void what_the_device_cannot_import_is_refused(struct cts *cts)
{
	struct tenon_memory_import from = {
		.size = sizeof(from), .bytes = SIZE, .usage = TENON_MEMORY_DEFAULT, .fd = 0
	};
	struct tenon_memory *m;
	unsigned int type;

	for (type = 0; type <= TENON_HANDLE_DMA_BUF + 1; type++) {
		if (imports(cts, type))
			continue;
		from.type = type;
		fails(tenon_memory_import(cts->device, &from, &m), -TENON_E_UNSUPPORTED);
		assert_null(m);
	}
	from.type = TENON_HANDLE_HOST_POINTER;
	from.pointer = NULL;
	if (imports(cts, TENON_HANDLE_HOST_POINTER))
		fails(tenon_memory_import(cts->device, &from, &m), -TENON_E_VALUE);
	from.pointer = cts;
	from.heap = cts->device->properties->heap_count + 1;
	if (imports(cts, TENON_HANDLE_HOST_POINTER))
		fails(tenon_memory_import(cts->device, &from, &m), -TENON_E_VALUE);
}

static void only_memory_made_for_it_is_given_away(struct cts *cts)
{
	struct tenon_memory *m = cts_memory(cts, SIZE, 0);
	bool any = exports(cts, TENON_HANDLE_OPAQUE_FD);
	int fd;

	fails(tenon_memory_export(m, TENON_HANDLE_OPAQUE_FD, &fd),
	      any ? -TENON_E_VALUE : -TENON_E_UNSUPPORTED);
	assert_int_equal(fd, -1);
	fails(tenon_memory_export(m, TENON_HANDLE_HOST_POINTER, &fd), -TENON_E_UNSUPPORTED);
	tenon_object_unref(m);
}

const struct cts_case cts_handle_cases[] = {
	CTS_CASE(host_memory_serves_the_device_in_place),
	CTS_CASE(memory_given_away_as_an_opaque_fd_is_the_same_memory),
	CTS_CASE(memory_given_away_as_a_dma_buf_is_the_same_memory),
	CTS_CASE(what_the_device_cannot_import_is_refused),
	CTS_CASE(only_memory_made_for_it_is_given_away),
	{ NULL, NULL },
};
