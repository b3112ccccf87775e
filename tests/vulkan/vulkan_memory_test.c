/* SPDX-License-Identifier: MIT */
/* Bytes on their way to the device and back, and memory that others gave. */
#include "tests/vulkan/vulkan_rig.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static struct rig *const rig = &rig_now;

/* Reading and writing while the queue is empty is done in place, else behind what is on its way. */
static void bytes_come_back(bool busy)
{
	const size_t sizes[] = { 1, 3, 4, 100, 4099, 300001 };
	uint8_t *out = malloc(300010), *in = malloc(300010);
	struct tenon_memory *m = rig_memory(rig, 100000, 0, 0), *other = rig_memory(rig, 64, 0, 0);
	size_t i, k, offset;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (offset = 0; offset < 6; offset += 5) {
			for (k = 0; k < sizes[i]; k++)
				out[k] = (uint8_t)(k * 7 + i + offset);
			memset(in, 0xcc, sizes[i] + 8);
			if (busy)
				assert_int_equal(
					tenon_queue_fill(rig->queue, other, 0, 64, 1, 4, NULL), 0);
			assert_int_equal(
				tenon_queue_write(rig->queue, m, offset, out, sizes[i], NULL), 0);
			assert_int_equal(
				tenon_queue_read(rig->queue, in, m, offset, sizes[i], NULL), 0);
			rig_sync();
			assert_memory_equal(in, out, sizes[i]);
			assert_int_equal(in[sizes[i]], 0xcc);
		}
	}
	tenon_object_unref(m);
	tenon_object_unref(other);
	free(out);
	free(in);
}

static void bytes_come_back_from_an_idle_queue(void **state)
{
	(void)state;
	rig_needs_device();
	bytes_come_back(false);
}

static void bytes_come_back_from_a_busy_queue(void **state)
{
	(void)state;
	rig_needs_device();
	bytes_come_back(true);
}

/* without=host-memory stands for a device whose memory the host does not see */
static void only_memory_that_the_host_does_not_see_is_staged(void **state)
{
	bool sees = !strstr(*state, "host-memory");
	struct tenon_memory *m;
	int copies;

	rig_needs_device();
	m = rig_memory(rig, 64, 0, 0);
	assert_true(sees == (m->host != NULL));
	assert_true(sees == !!(m->flags & TENON_HEAP_HOST_VISIBLE));
	copies = rig->fake->copies;
	rig_expect(rig, m, 64, 0, 0);
	tenon_object_unref(m);
	m = rig_memory(rig, 64, 5, 1);
	rig_expect(rig, m, 64, 5, 1);
	assert_int_equal(rig->fake->copies - copies, sees ? 0 : 3);
	tenon_object_unref(m);
}

static void fills_reach_exactly_their_range(void **state)
{
	static const struct {
		uint64_t offset, size;
		uint32_t width;
	} fills[] = { { 0, 64, 4 }, { 4, 8, 4 },  { 2, 6, 2 },	{ 6, 2, 2 }, { 1, 1, 1 },
		      { 3, 7, 1 },  { 5, 30, 1 }, { 63, 1, 1 }, { 8, 0, 1 }, { 2, 0, 2 } };
	const uint32_t pattern = 0x44332211;
	uint8_t want[64], found[64];
	struct tenon_memory *m;
	size_t i, k;

	(void)state;
	rig_needs_device();
	m = rig_memory(rig, 16, 0, 0);
	for (i = 0; i < sizeof(fills) / sizeof(fills[0]); i++) {
		memset(want, 0xee, sizeof(want));
		for (k = 0; k < fills[i].size; k++)
			want[fills[i].offset + k] = ((const uint8_t *)&pattern)[k % fills[i].width];
		assert_int_equal(tenon_queue_fill(rig->queue, m, 0, 64, 0xee, 1, NULL), 0);
		assert_int_equal(tenon_queue_fill(rig->queue, m, fills[i].offset, fills[i].size,
						  pattern, fills[i].width, NULL),
				 0);
		assert_int_equal(tenon_queue_read(rig->queue, found, m, 0, 64, NULL), 0);
		rig_sync();
		assert_memory_equal(found, want, sizeof(want));
	}
	tenon_object_unref(m);
}

static void parts_of_memory_are_arguments(void **state)
{
	struct tenon_memory *whole, *m[2];
	struct rig_kernel k;

	(void)state;
	rig_needs_device();
	rig_sum(rig, &k, 2, 0, false);
	whole = rig_memory(rig, 1024, 0, 1);
	assert_int_equal(tenon_memory_subrange(whole, 1024, 256, &m[0]), 0);
	assert_int_equal(tenon_memory_subrange(whole, 2048, 256, &m[1]), 0);
	assert_int_equal(rig_launch(rig->queue, &k, 64, m, NULL), 0);
	rig_expect(rig, m[0], 64, 512, 1);
	rig_expect(rig, whole, 256, 0, 1);
	/* the same kernel, the parts the other way round */
	whole = (tenon_object_unref(whole), m[0]);
	m[0] = m[1];
	m[1] = whole;
	assert_int_equal(tenon_queue_fill(rig->queue, m[1], 0, 256, 9, 4, NULL), 0);
	assert_int_equal(rig_launch(rig->queue, &k, 64, m, NULL), 0);
	rig_expect(rig, m[0], 64, 9, 0);
	tenon_object_unref(m[0]);
	tenon_object_unref(m[1]);
	rig_drop(&k);
}

static void memory_of_the_process_is_used_in_place(void **state)
{
	const size_t size = 1 << 16;
	struct tenon_memory_import import = { .size = sizeof(import),
					      .type = TENON_HANDLE_HOST_POINTER,
					      .bytes = size,
					      .usage = TENON_MEMORY_DEFAULT };
	struct tenon_memory *m[2], *none;
	struct rig_kernel k;
	uint32_t *host;

	(void)state;
	rig_needs_device();
	if (!(rig->device->properties->imports & (1u << TENON_HANDLE_HOST_POINTER)))
		skip();
	rig_sum(rig, &k, 2, 0, false);
	host = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(host, MAP_FAILED);
	import.pointer = host;
	assert_int_equal(tenon_memory_import(rig->device, &import, &m[0]), 0);
	m[1] = rig_memory(rig, 64, 10, 1);
	assert_int_equal(rig_launch(rig->queue, &k, 64, m, NULL), 0);
	rig_sync();
	assert_int_equal(host[63], 73);
	import.pointer = (char *)host + 8;
	assert_int_equal(tenon_memory_import(rig->device, &import, &none), -TENON_E_VALUE);
	assert_error_has("multiples of");
	tenon_object_unref(m[0]);
	tenon_object_unref(m[1]);
	tenon_device_sync(rig->device, TENON_FOREVER);
	munmap(host, size);
	rig_drop(&k);
}

static void memory_is_exported_and_imported(void **state)
{
	struct tenon_memory_request request = { sizeof(request), 4096,
						TENON_MEMORY_DEFAULT | TENON_MEMORY_EXPORT, -1,
						NULL };
	struct tenon_memory_import import = { .size = sizeof(import),
					      .type = TENON_HANDLE_OPAQUE_FD,
					      .bytes = 4096,
					      .usage = TENON_MEMORY_DEFAULT };
	struct tenon_memory *m, *same;
	int fd = -1;

	(void)state;
	rig_needs_device();
	if (!(rig->device->properties->exports & (1u << TENON_HANDLE_OPAQUE_FD)))
		skip();
	assert_int_equal(tenon_memory_alloc(rig->device, &request, &m), 0);
	assert_int_equal(tenon_memory_export(m, TENON_HANDLE_OPAQUE_FD, &fd), 0);
	import.fd = fd;
	assert_int_equal(tenon_memory_import(rig->device, &import, &same), 0);
	/* the fd stays ours */
	assert_int_equal(close(fd), 0);
	assert_int_equal(tenon_queue_fill(rig->queue, m, 0, 4096, 77, 4, NULL), 0);
	rig_expect(rig, same, 1024, 77, 0);
	import.fd = -1;
	tenon_object_unref(same);
	assert_int_equal(tenon_memory_import(rig->device, &import, &same), -TENON_E_VALUE);
	tenon_error_clear();
	tenon_object_unref(m);
}

int main(void)
{
	static const struct CMUnitTest cases[] = {
		RIG_CASE(bytes_come_back_from_an_idle_queue),
		RIG_CASE(bytes_come_back_from_a_busy_queue),
		RIG_CASE(only_memory_that_the_host_does_not_see_is_staged),
		RIG_CASE(fills_reach_exactly_their_range),
		RIG_CASE(parts_of_memory_are_arguments),
		RIG_CASE(memory_of_the_process_is_used_in_place),
		RIG_CASE(memory_is_exported_and_imported),
	};

	return rig_group("Vulkan memory", cases, sizeof(cases) / sizeof(cases[0]));
}
