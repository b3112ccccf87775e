/* SPDX-License-Identifier: MIT */
/*
 * vgem, a device of memory and fences alone, and virtio-gpu, through driver/drm and driver/dmabuf. Debian 12's kernel has
 * no dma-heaps and no udmabuf; that of its backports has both.
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <tenon/error.h>
#include <time.h>
#include <unistd.h>

#include "driver/dmabuf/dmabuf.h"
#include "driver/drm/drm.h"
#include "driver/shm/shm.h"
#include "lib/clock.h"
#include "tests/driver/card_buffer.h"
#include "tests/driver/guest/cards.h"
#include "tests/driver/guest/guest.h"

#define SIZE 16384

/* calls of virtio-gpu, as in drm/virtgpu_drm.h */
struct virtgpu_map {
	uint64_t offset;
	uint32_t handle;
	uint32_t pad;
};
struct virtgpu_resource {
	uint32_t target, format, bind, width, height, depth, array_size, last_level, samples, flags;
	uint32_t handle, resource, size, stride;
};
#define VIRTGPU_MAP	 _IOWR('d', 0x41, struct virtgpu_map)
#define VIRTGPU_RESOURCE _IOWR('d', 0x44, struct virtgpu_resource)

static struct drm vgem, gpu, render;
static struct drm_buffer buffer, other; /* of vgem, of virtio-gpu */
static struct dmabuf shared, other_shared;

static void nodes_are_identified(void)
{
	struct drm none;

	expect(card_open("/dev/dri/card%d", 0, "vgem", &vgem));
	expect(card_open("/dev/dri/card%d", 0, "virtio_gpu", &gpu));
	expect(card_open("/dev/dri/renderD%d", 128, "virtio_gpu", &render));
	expect(vgem.major == 1 && vgem.can_export && vgem.can_import && !vgem.is_accel);
	expect(drm_open(NULL, "", "/dev/null", &none) == -TENON_E_UNSUPPORTED);
	expect(drm_open(NULL, "", "/dev/accel/accel0", &none) == -TENON_E_NOT_FOUND);
}

static void a_buffer_is_the_same_memory_as_its_dma_buf(void)
{
	int fd;

	expect(!card_buffer_create(&vgem, SIZE, &buffer));
	expect(buffer.size == SIZE);
	fd = drm_export(&vgem, &buffer);
	expect(fd >= 0);
	dmabuf_adopt(NULL, fd, SIZE, &shared);
	expect(!dmabuf_map(&shared));
	for (int i = 0; i < SIZE; i++)
		((uint8_t *)buffer.base)[i] = (uint8_t)(i * 31 + 7);
	expect(!card_buffer_wait(&shared, DMABUF_READ, 0));
	expect(!dmabuf_begin(&shared, DMABUF_READ));
	expect(!memcmp(buffer.base, shared.base, SIZE));
	expect(!dmabuf_end(&shared, DMABUF_READ));
}

static void a_buffer_of_one_device_is_used_by_the_other(void)
{
	struct drm_buffer imported;
	struct dmabuf again;
	uint32_t fence;
	int fd;

	expect(!card_buffer_create(&gpu, SIZE, &other));
	fd = drm_export(&gpu, &other);
	expect(fd >= 0);
	dmabuf_adopt(NULL, fd, SIZE, &other_shared);
	expect(!drm_import(&vgem, fd, SIZE, &imported));
	/* the CPU sees the bytes of the exporter through what the importer exports */
	dmabuf_adopt(NULL, drm_export(&vgem, &imported), SIZE, &again);
	expect(!dmabuf_map(&again));
	expect(!dmabuf_begin(&again, DMABUF_BOTH));
	memset(other.base, 0x5a, SIZE);
	for (int i = 0; i < SIZE; i++)
		expect(((uint8_t *)again.base)[i] == 0x5a);
	expect(!dmabuf_end(&again, DMABUF_BOTH));
	dmabuf_close(&again);
	/* work of the importer keeps the exporter's buffer */
	expect(!card_begin_work(&vgem, &imported, &fence));
	expect(card_is_held(card_buffer_wait(&other_shared, DMABUF_READ, 0)));
	expect(card_end_work(&vgem, fence));
	expect(!card_buffer_wait(&other_shared, DMABUF_READ, guest_deadline()));
	drm_buffer_close(&vgem, &imported);
	/* virtio-gpu's driver takes no buffers of others */
	expect(drm_import(&gpu, shared.fd, SIZE, &imported) == -TENON_E_UNSUPPORTED);
	expect(drm_import(&vgem, 0, SIZE, &imported) < 0);
}

static void a_buffer_of_a_driver_is_adopted_and_mapped(void)
{
	struct virtgpu_resource r = { .target = 2,
				      .format = 1,
				      .width = 64,
				      .height = 64,
				      .depth = 1,
				      .array_size = 1,
				      .size = SIZE };
	struct virtgpu_map m = { 0 };
	struct drm_buffer b;

	expect(!drm_call(&render, VIRTGPU_RESOURCE, &r));
	drm_adopt(r.handle, SIZE, &b);
	m.handle = r.handle;
	expect(!drm_call(&render, VIRTGPU_MAP, &m));
	expect(!drm_map(&render, &b, m.offset));
	memset(b.base, 1, SIZE);
	drm_buffer_close(&render, &b);
	expect(drm_call(&render, VIRTGPU_MAP, &m) == -ENOENT);
}

static void a_fence_keeps_a_buffer_until_it_is_signalled(void)
{
	uint32_t fence;
	int fd;

	expect(shared.base);
	expect(!card_begin_work(&vgem, &buffer, &fence));
	expect(card_is_held(card_buffer_wait(&shared, DMABUF_READ, 0)));
	fd = dmabuf_export_fence(&shared, DMABUF_READ);
	expect(fd >= 0);
	expect(card_is_held(sync_file_wait(NULL, fd, 0)));
	expect(card_is_held(sync_file_wait(NULL, fd, clock_now() + 1000000)));
	expect(card_end_work(&vgem, fence));
	expect(!sync_file_wait(NULL, fd, guest_deadline()));
	expect(!card_buffer_wait(&shared, DMABUF_WRITE, guest_deadline()));
	system_close(&system_calls_of_kernel, &fd);
}

/* The kernel ends such a fence after ten seconds: every wait has a deadline, and the caller's passes first. */
static void a_job_that_never_ends_is_given_up_by_the_kernel(void)
{
	uint32_t fence;
	int fd;

	expect(shared.base);
	expect(!card_begin_work(&vgem, &buffer, &fence));
	fd = dmabuf_export_fence(&shared, DMABUF_READ);
	expect(fd >= 0);
	expect(card_is_held(sync_file_wait(NULL, fd, clock_now() + 100000000)));
	expect(card_is_held(card_buffer_wait(&shared, DMABUF_READ, clock_now() + 100000000)));
	expect(!card_buffer_wait(&shared, DMABUF_READ, guest_deadline()));
	expect(sync_file_wait(NULL, fd, 0) != -TENON_E_TIMEOUT);
	/* the kernel knows that it is too late */
	expect(card_signal(&vgem, fence) < 0);
	system_close(&system_calls_of_kernel, &fd);
}

static void what_this_kernel_lacks_is_refused_in_words(void)
{
	struct dmabuf b;

	if (dmabuf_allocate(NULL, "", NULL, 4096, &b)) {
		expect(tenon_error_status() == -TENON_E_NOT_FOUND);
		expect(strstr(tenon_error_message(), "CONFIG_DMABUF_HEAPS"));
	}
	dmabuf_close(&b);
	if (access("/dev/udmabuf", F_OK)) {
		expect(dmabuf_of_memfd(NULL, "", 0, 0, 4096, &b) == -TENON_E_NOT_FOUND);
		dmabuf_close(&b);
	}
}

/* vgem uses the buffer as its own memory. */
static void is_shared_with_vgem(struct dmabuf *b, uint8_t value)
{
	struct drm_buffer imported;
	struct dmabuf again;

	expect(b->size == SIZE);
	expect(!drm_import(&vgem, b->fd, SIZE, &imported));
	dmabuf_adopt(NULL, drm_export(&vgem, &imported), SIZE, &again);
	expect(again.fd >= 0);
	expect(!dmabuf_map(&again));
	expect(!dmabuf_begin(&again, DMABUF_BOTH));
	memset(again.base, value, SIZE);
	expect(!dmabuf_end(&again, DMABUF_BOTH));
	dmabuf_close(&again);
	drm_buffer_close(&vgem, &imported);
}

static void memory_of_a_heap_is_used_by_vgem(void)
{
	struct dmabuf b;

	if (access("/dev/dma_heap/system", F_OK)) {
		guest_skip("the kernel has no /dev/dma_heap/system");
		return;
	}
	expect(!dmabuf_allocate(NULL, "", NULL, SIZE, &b));
	expect(!dmabuf_map(&b));
	is_shared_with_vgem(&b, 0x4e);
	expect(!dmabuf_begin(&b, DMABUF_READ));
	for (int i = 0; i < SIZE; i++)
		expect(((uint8_t *)b.base)[i] == 0x4e);
	expect(!dmabuf_end(&b, DMABUF_READ));
	dmabuf_close(&b);
}

/* Pages 1 to 4 of a memfd; the others keep their bytes. */
static void memory_of_the_process_is_used_by_vgem(void)
{
	struct dmabuf b;
	struct shm memory;

	if (access("/dev/udmabuf", F_OK)) {
		guest_skip("the kernel has no /dev/udmabuf");
		return;
	}
	expect(!shm_create("guest", SIZE + 2 * 4096, &memory));
	expect(!dmabuf_of_memfd(NULL, "", memory.fd, 4096, SIZE, &b));
	is_shared_with_vgem(&b, 0x73);
	expect(!memory.base[0] && !memory.base[4095] && !memory.base[4096 + SIZE]);
	for (int i = 0; i < SIZE; i++)
		expect(memory.base[4096 + i] == 0x73);
	dmabuf_close(&b);
	/* what is not whole pages is refused */
	expect(dmabuf_of_memfd(NULL, "", memory.fd, 1, SIZE, &b) == -TENON_E_VALUE);
	dmabuf_close(&b);
	shm_close(&memory);
}

/* ---- figures: processor time of the guest, which QEMU translates */

#define REPEATS 200

static uint64_t processor_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void say_cost(const char *what, uint64_t since)
{
	guest_say("# %-45s %6.1f us of processor time\n", what,
		  (double)(processor_time() - since) / REPEATS / 1000);
}

static void sharing_has_a_price(void)
{
	struct drm_buffer imported;
	struct dmabuf b;
	uint64_t since = processor_time();

	for (int i = 0; i < REPEATS; i++) {
		dmabuf_adopt(NULL, drm_export(&gpu, &other), SIZE, &b);
		dmabuf_close(&b);
	}
	say_cost("export of a buffer of virtio-gpu, and close", since);
	since = processor_time();
	for (int i = 0; i < REPEATS; i++) {
		expect(!drm_import(&vgem, other_shared.fd, SIZE, &imported));
		drm_buffer_close(&vgem, &imported);
	}
	say_cost("import by vgem, and close", since);
	since = processor_time();
	for (int i = 0; i < REPEATS; i++) {
		int fd = dup(other_shared.fd);

		expect(fd >= 0);
		dmabuf_adopt(NULL, fd, SIZE, &b);
		expect(!dmabuf_map(&b));
		*(volatile uint8_t *)b.base = 1;
		dmabuf_close(&b);
	}
	say_cost("mapping of a dma-buf, one page used, and close", since);
	since = processor_time();
	for (int i = 0; i < REPEATS; i++) {
		expect(!dmabuf_begin(&other_shared, DMABUF_BOTH));
		expect(!dmabuf_end(&other_shared, DMABUF_BOTH));
	}
	say_cost("begin and end of an access of the CPU", since);
}

static void everything_closes(void)
{
	expect(shared.calls && other_shared.calls && render.calls);
	dmabuf_close(&shared);
	dmabuf_close(&other_shared);
	drm_buffer_close(&vgem, &buffer);
	drm_buffer_close(&gpu, &other);
	drm_close(&render);
	drm_close(&gpu);
	drm_close(&vgem);
}

const struct guest_case drm_cases[] = {
	{ "drm: nodes are identified", nodes_are_identified },
	{ "drm: a buffer is the same memory as its dma-buf",
	  a_buffer_is_the_same_memory_as_its_dma_buf },
	{ "drm: a buffer of one device is used by the other",
	  a_buffer_of_one_device_is_used_by_the_other },
	{ "drm: a buffer of a driver is adopted and mapped",
	  a_buffer_of_a_driver_is_adopted_and_mapped },
	{ "dmabuf: a fence keeps a buffer until it is signalled",
	  a_fence_keeps_a_buffer_until_it_is_signalled },
	{ "dmabuf: a job that never ends is given up by the kernel",
	  a_job_that_never_ends_is_given_up_by_the_kernel },
	{ "drm, dmabuf: what this kernel lacks is refused in words",
	  what_this_kernel_lacks_is_refused_in_words },
	{ "dmabuf: memory of a heap is used by vgem", memory_of_a_heap_is_used_by_vgem },
	{ "dmabuf: memory of the process is used by vgem", memory_of_the_process_is_used_by_vgem },
	{ "drm, dmabuf: sharing has a price", sharing_has_a_price },
	{ "drm, dmabuf: everything closes", everything_closes },
	{ NULL, NULL },
};
