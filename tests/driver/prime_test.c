/* SPDX-License-Identifier: MIT */
/*
 * Devices of the library beside devices of DRM, in the guest of guest.sh: memory of vgem and of virtio-gpu is a tensor's
 * without a copy, work of a queue waits for a fence of theirs, and a fence of theirs is signalled when a queue gets there.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <tenon/device.h>
#include <tenon/fence.h>
#include <tenon/memory.h>
#include <tenon/queue.h>
#include <tenon/timeline.h>
#include <unistd.h>

#include "driver/dmabuf/dmabuf.h"
#include "driver/drm/drm.h"
#include "lib/clock.h"
#include "tests/driver/card_buffer.h"
#include "tests/unit/suite.h"

#define SIZE   65536
#define SECOND UINT64_C(1000000000)

/* calls of vgem, as in drm/vgem_drm.h */
struct vgem_attach {
	uint32_t handle;
	uint32_t flags;
	uint32_t fence;
	uint32_t pad;
};
struct vgem_signal {
	uint32_t fence;
	uint32_t flags;
};
#define VGEM_WRITE  1u
#define VGEM_ATTACH _IOWR('d', 0x41, struct vgem_attach)
#define VGEM_SIGNAL _IOW('d', 0x42, struct vgem_signal)

static struct drm vgem, gpu;
static struct drm_buffer buffer, imported; /* of the card, and the same memory on vgem */
static struct dmabuf shared;
static struct tenon_device *device;
static struct tenon_queue *queue;
static struct tenon_memory *memory; /* of the device: the same memory, or its own */
static uint64_t attached_at;

static bool open_card(const char *driver, struct drm *out)
{
	char path[32];

	for (int i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "/dev/dri/card%d", i);
		if (drm_open(NULL, "", path, out))
			continue;
		if (!strcmp(out->driver, driver))
			return true;
		drm_close(out);
	}
	tenon_error_clear();
	return false;
}

/* Cards that people use are left alone: they are of the guest. */
static void needs_guest(void)
{
	const char *guest = getenv("TENON_GUEST");

	if (guest && *guest)
		return;
	print_message("tests/driver/guest.sh runs it, in a guest that has the cards\n");
	skip();
}

/* ---- memory of a card, as memory of cpu:0; vgem knows it too */

static void import_on_cpu(void)
{
	struct tenon_memory_import from = { .size = sizeof(from),
					    .type = TENON_HANDLE_DMA_BUF,
					    .fd = shared.fd,
					    .bytes = SIZE,
					    .usage = TENON_MEMORY_DEFAULT };
	struct tenon_memory *none;

	assert_int_equal(tenon_device_open("cpu:0", &device), 0);
	assert_int_equal(tenon_queue_create(device, &queue), 0);
	assert_int_equal(tenon_memory_import(device, &from, &memory), 0);
	from.bytes = SIZE + 1;
	assert_int_equal(tenon_memory_import(device, &from, &none), -TENON_E_VALUE);
	assert_error_has("fewer than 65537 bytes");
	tenon_error_clear();
}

static void share(struct drm *card)
{
	int fd;

	assert_int_equal(card_buffer_create(card, SIZE, &buffer), 0);
	fd = drm_export(card, &buffer);
	assert_true(fd >= 0);
	dmabuf_adopt(NULL, fd, SIZE, &shared);
	if (card != &vgem)
		assert_int_equal(drm_import(&vgem, fd, SIZE, &imported), 0);
}

static int open_all(const char *driver)
{
	const char *guest = getenv("TENON_GUEST");

	if (!guest || !*guest)
		return 0;
	if (!open_card("vgem", &vgem) || (strcmp(driver, "vgem") && !open_card(driver, &gpu)))
		return -1;
	share(strcmp(driver, "vgem") ? &gpu : &vgem);
	return 0;
}

static int setup_vgem(void **state)
{
	(void)state;
	return open_all("vgem");
}

static int setup_gpu(void **state)
{
	(void)state;
	return open_all("virtio_gpu");
}

static int close_all(void **state)
{
	(void)state;
	tenon_object_unref(memory);
	tenon_object_unref(queue);
	tenon_object_unref(device);
	memory = NULL;
	queue = NULL;
	device = NULL;
	tenon_device_close_all();
	if (!shared.calls)
		return 0;
	dmabuf_close(&shared);
	if (imported.handle)
		drm_buffer_close(&vgem, &imported);
	drm_buffer_close(gpu.calls ? &gpu : &vgem, &buffer);
	if (gpu.calls)
		drm_close(&gpu);
	drm_close(&vgem);
	memset(&shared, 0, sizeof(shared));
	memset(&imported, 0, sizeof(imported));
	memset(&gpu, 0, sizeof(gpu));
	return 0;
}

/* ---- fences of vgem, which the kernel ends after ten seconds: a machine that stalls so long shows nothing */

static uint32_t attach(void)
{
	struct vgem_attach a = { .handle = imported.handle ? imported.handle : buffer.handle,
				 .flags = VGEM_WRITE };

	attached_at = clock_now();
	assert_int_equal(drm_call(&vgem, VGEM_ATTACH, &a), 0);
	return a.fence;
}

static bool too_late(void)
{
	return clock_now() > attached_at + 9 * SECOND;
}

static void signal_fence(uint32_t fence)
{
	struct vgem_signal s = { .fence = fence };

	assert_true(!drm_call(&vgem, VGEM_SIGNAL, &s) || too_late());
}

static uint64_t soon(void)
{
	return clock_now() + 100 * SECOND;
}

static void bytes_are(const uint8_t *bytes, uint8_t value)
{
	for (int i = 0; i < SIZE; i++)
		assert_int_equal(bytes[i], value);
}

/* ---- cases */

static void memory_of_a_card_is_memory_of_the_cpu(void **state)
{
	uint8_t back[SIZE];

	(void)state;
	needs_guest();
	import_on_cpu();
	memset(buffer.base, 0x3c, SIZE);
	assert_int_equal(tenon_memory_invalidate(memory, 0, SIZE), 0);
	assert_int_equal(tenon_queue_read(queue, back, memory, 0, SIZE, NULL), 0);
	assert_int_equal(tenon_queue_fill(queue, memory, 0, SIZE, 0x5a, 1, NULL), 0);
	assert_int_equal(tenon_queue_sync(queue, soon()), 0);
	assert_int_equal(tenon_memory_flush(memory, 0, SIZE), 0);
	bytes_are(back, 0x3c);
	bytes_are(buffer.base, 0x5a);
}

/* The fence of the buffer's writer, as a sync_file, as a timeline. */
static struct tenon_timeline *fence_of_buffer(void)
{
	struct tenon_timeline *t;
	int fd = dmabuf_export_fence(&shared, DMABUF_READ);

	assert_true(fd >= 0);
	assert_int_equal(tenon_fence_import(TENON_FENCE_SYNC_FILE, fd, &t), 0);
	system_close(&system_calls_of_kernel, &fd);
	return t;
}

static void work_waits_for(uint32_t fence)
{
	struct tenon_point wait = { fence_of_buffer(), 1 }, done = { NULL, 1 };
	struct tenon_sync sync = { &wait, 1, &done, 1 };

	assert_int_equal(tenon_timeline_create(0, &done.timeline), 0);
	assert_int_equal(tenon_queue_fill(queue, memory, 0, SIZE, 0x77, 1, &sync), 0);
	/* the device that writes has not ended */
	if (tenon_timeline_wait(done.timeline, 1, clock_now() + SECOND / 50) != -TENON_E_TIMEOUT)
		assert_true(too_late());
	tenon_error_clear();
	signal_fence(fence);
	if (!too_late()) {
		assert_int_equal(tenon_timeline_wait(done.timeline, 1, soon()), 0);
		assert_int_equal(tenon_queue_sync(queue, soon()), 0);
	}
	tenon_object_unref(wait.timeline);
	tenon_object_unref(done.timeline);
}

static void a_queue_waits_for_a_fence_of_a_buffer(void **state)
{
	uint32_t fence;

	(void)state;
	needs_guest();
	import_on_cpu();
	memset(buffer.base, 0, SIZE);
	fence = attach();
	work_waits_for(fence);
	if (!too_late())
		bytes_are(buffer.base, 0x77);
}

/* A wait for the buffer's fence is a wait for the queue: the loop that polls the wait set signals the fence. */
static void work_ends(uint32_t fence)
{
	struct tenon_point gate = { NULL, 1 }, done = { NULL, 1 };
	struct tenon_sync sync = { &gate, 1, &done, 1 };
	struct tenon_wait_result result;
	struct tenon_wait_set *set;
	struct pollfd polled = { .events = POLLIN };

	assert_int_equal(tenon_timeline_create(0, &gate.timeline), 0);
	assert_int_equal(tenon_timeline_create(0, &done.timeline), 0);
	assert_int_equal(tenon_wait_set_create(&set), 0);
	assert_int_equal(tenon_queue_fill(queue, memory, 0, SIZE, 0x19, 1, &sync), 0);
	assert_int_equal(tenon_wait_set_add(set, &done, &fence), 0);
	if (card_buffer_wait(&shared, DMABUF_READ, 0) != -TENON_E_TIMEOUT)
		assert_true(too_late());
	tenon_error_clear();
	assert_int_equal(tenon_timeline_signal(gate.timeline, 1), 0);
	polled.fd = tenon_wait_set_fd(set);
	while (!tenon_wait_set_next(set, &result))
		assert_int_equal(poll(&polled, 1, 100000), 1);
	assert_int_equal(result.status, 0);
	signal_fence(*(uint32_t *)result.context);
	assert_int_equal(card_buffer_wait(&shared, DMABUF_READ, soon()), 0);
	tenon_object_unref(set);
	tenon_object_unref(gate.timeline);
	tenon_object_unref(done.timeline);
}

static void a_fence_of_a_buffer_waits_for_a_queue(void **state)
{
	(void)state;
	needs_guest();
	import_on_cpu();
	memset(buffer.base, 0, SIZE);
	work_ends(attach());
	bytes_are(buffer.base, 0x19);
}

/* The simulator's core reaches its window alone: bytes of a buffer are copied there, and fences go both ways. */
static void fences_of_a_buffer_order_work_of_a_board(void **state)
{
	const struct tenon_memory_request request = { sizeof(request), SIZE, TENON_MEMORY_DEFAULT,
						      -1, NULL };

	(void)state;
	needs_guest();
	if (tenon_device_open("mortise://sim", &device)) {
		print_message("%s\n", tenon_error_message());
		tenon_error_clear();
		skip();
	}
	assert_int_equal(tenon_queue_create(device, &queue), 0);
	assert_int_equal(tenon_memory_alloc(device, &request, &memory), 0);
	work_waits_for(attach());
	work_ends(attach());
}

/* Memory of a board as memory of the CPU and, in the guest, of vgem: one memory for all three. */
static void memory_of_a_board_is_memory_of_others(void **state)
{
	const struct tenon_memory_request request = { sizeof(request), SIZE - 100,
						      TENON_MEMORY_DEFAULT | TENON_MEMORY_EXPORT,
						      -1, NULL };
	struct tenon_memory_import from = { .size = sizeof(from),
					    .type = TENON_HANDLE_DMA_BUF,
					    .bytes = SIZE - 100,
					    .usage = TENON_MEMORY_DEFAULT };
	struct tenon_device *cpu;
	struct tenon_queue *other;
	struct tenon_memory *same;
	uint8_t back[SIZE - 100];
	void *start;

	(void)state;
	if (access("/dev/udmabuf", R_OK | W_OK)) {
		print_message("no access to /dev/udmabuf\n");
		skip();
	}
	if (tenon_device_open("mortise://sim", &device)) {
		print_message("%s\n", tenon_error_message());
		tenon_error_clear();
		skip();
	}
	assert_int_equal(tenon_queue_create(device, &queue), 0);
	assert_int_equal(tenon_device_properties(device)->exports, 1u << TENON_HANDLE_DMA_BUF);
	assert_int_equal(tenon_memory_alloc(device, &request, &memory), 0);
	assert_int_equal(tenon_memory_export(memory, TENON_HANDLE_DMA_BUF, &from.fd), 0);
	assert_int_equal(tenon_device_open("cpu:0", &cpu), 0);
	assert_int_equal(tenon_queue_create(cpu, &other), 0);
	assert_int_equal(tenon_memory_import(cpu, &from, &same), 0);
	assert_int_equal(tenon_queue_fill(queue, memory, 0, SIZE - 100, 0x2b, 1, NULL), 0);
	assert_int_equal(tenon_queue_sync(queue, soon()), 0);
	assert_int_equal(tenon_memory_invalidate(same, 0, SIZE - 100), 0);
	assert_int_equal(tenon_queue_read(other, back, same, 0, SIZE - 100, NULL), 0);
	assert_int_equal(tenon_queue_fill(other, same, 0, SIZE - 100, 0x6d, 1, NULL), 0);
	assert_int_equal(tenon_queue_sync(other, soon()), 0);
	assert_int_equal(tenon_memory_flush(same, 0, SIZE - 100), 0);
	for (int i = 0; i < SIZE - 100; i++)
		assert_int_equal(back[i], 0x2b);
	assert_int_equal(tenon_queue_read(queue, back, memory, 0, SIZE - 100, NULL), 0);
	assert_int_equal(tenon_queue_sync(queue, soon()), 0);
	for (int i = 0; i < SIZE - 100; i++)
		assert_int_equal(back[i], 0x6d);
	if (vgem.calls) {
		assert_int_equal(drm_import(&vgem, from.fd, SIZE, &imported), 0);
		assert_true(imported.handle);
	}
	close(from.fd);
	tenon_object_unref(same);
	/* a part that was imported shares its pages with others */
	assert_int_equal(tenon_memory_map(memory, TENON_MAP_READ, 0, 64, &start), 0);
	from = (struct tenon_memory_import){ .size = sizeof(struct tenon_memory_import),
					     .type = TENON_HANDLE_HOST_POINTER,
					     .pointer = start,
					     .bytes = 64,
					     .usage = request.usage };
	assert_int_equal(tenon_memory_import(device, &from, &same), 0);
	assert_int_equal(tenon_memory_export(same, TENON_HANDLE_DMA_BUF, &from.fd),
			 -TENON_E_UNSUPPORTED);
	assert_error_has("that was imported");
	tenon_error_clear();
	tenon_object_unref(same);
	tenon_object_unref(other);
	tenon_object_unref(cpu);
}

static void a_descriptor_of_another_sort_is_refused(void **state)
{
	struct tenon_memory_import from = { .size = sizeof(from),
					    .type = TENON_HANDLE_DMA_BUF,
					    .fd = memfd_create("file", MFD_CLOEXEC),
					    .bytes = SIZE,
					    .usage = TENON_MEMORY_DEFAULT };
	struct tenon_memory *none;

	(void)state;
	assert_int_equal(ftruncate(from.fd, SIZE), 0);
	assert_int_equal(tenon_device_open("cpu:0", &device), 0);
	assert_int_equal(tenon_memory_import(device, &from, &none), -TENON_E_VALUE);
	assert_error_has("is not a dma-buf");
	tenon_error_clear();
	close(from.fd);
}

int main(void)
{
#define on(name, test, how)                                                                        \
	{                                                                                          \
		name, test, how, close_all, NULL                                                   \
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_descriptor_of_another_sort_is_refused, close_all),
		on("memory_of_vgem_is_memory_of_the_cpu", memory_of_a_card_is_memory_of_the_cpu,
		   setup_vgem),
		on("memory_of_virtio_gpu_is_memory_of_the_cpu",
		   memory_of_a_card_is_memory_of_the_cpu, setup_gpu),
		on("a_queue_waits_for_a_fence_of_vgem", a_queue_waits_for_a_fence_of_a_buffer,
		   setup_vgem),
		on("a_queue_waits_for_a_fence_of_vgem_on_memory_of_virtio_gpu",
		   a_queue_waits_for_a_fence_of_a_buffer, setup_gpu),
		on("a_fence_of_vgem_waits_for_a_queue", a_fence_of_a_buffer_waits_for_a_queue,
		   setup_vgem),
		on("a_fence_of_vgem_on_memory_of_virtio_gpu_waits_for_a_queue",
		   a_fence_of_a_buffer_waits_for_a_queue, setup_gpu),
		on("memory_of_a_board_is_memory_of_the_cpu_and_of_vgem",
		   memory_of_a_board_is_memory_of_others, setup_vgem),
		on("fences_of_vgem_order_work_of_a_board", fences_of_a_buffer_order_work_of_a_board,
		   setup_vgem),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
