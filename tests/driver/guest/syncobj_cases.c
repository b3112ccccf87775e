/* SPDX-License-Identifier: MIT */
/*
 * Syncobjs and timelines of virtio-gpu through driver/drm, with fences of vgem as the work of another device. virtio-gpu
 * has them since Linux 6.6, so Debian 12's own kernel skips these cases and that of its backports runs them.
 */
#include <tenon/error.h>
#include <unistd.h>

#include "driver/dmabuf/dmabuf.h"
#include "lib/clock.h"
#include "tests/driver/guest/cards.h"
#include "tests/driver/guest/guest.h"

#define SIZE 4096

/* the render node of virtio-gpu, opened twice, as two processes would */
static struct drm gpu, second;
static struct drm vgem;
static struct drm_buffer buffer;
static struct dmabuf shared;

/* Return: whether there is something to test; else the case is skipped or has failed. */
static bool is_ready(void)
{
	if (gpu.has_syncobj && gpu.has_timeline && shared.calls)
		return true;
	guest_skip("the kernel's virtio-gpu has no syncobjs");
	return false;
}

static void a_node_says_that_it_has_them(void)
{
	expect(card_open("/dev/dri/renderD%d", 128, "virtio_gpu", &gpu));
	if (!gpu.has_syncobj) {
		uint32_t handle;

		expect(drm_syncobj_create(&gpu, &handle) == -TENON_E_UNSUPPORTED && !handle);
		guest_skip("the kernel's virtio-gpu has no syncobjs");
		return;
	}
	expect(gpu.has_timeline);
	expect(card_open("/dev/dri/renderD%d", 128, "virtio_gpu", &second));
	expect(card_open("/dev/dri/card%d", 0, "vgem", &vgem));
	expect(!vgem.has_syncobj && !vgem.has_timeline);
	expect(!drm_dumb_create(&vgem, SIZE, &buffer));
	dmabuf_adopt(NULL, drm_export(&vgem, &buffer), SIZE, &shared);
	expect(shared.fd >= 0);
}

static void a_fence_is_signalled_and_reset(void)
{
	uint32_t s, gone;
	int fd;

	if (!is_ready())
		return;
	expect(!drm_syncobj_create(&gpu, &s) && s);
	/* there is no fence yet: a wait is for the submission too, and a sync_file has nothing to hold */
	expect(drm_syncobj_wait(&gpu, s, 0, 0) == -TENON_E_TIMEOUT);
	expect(drm_syncobj_wait(&gpu, s, 0, clock_now() + 1000000) == -TENON_E_TIMEOUT);
	expect(drm_syncobj_export(&gpu, s, true) == -TENON_E_VALUE);
	expect(!drm_syncobj_signal(&gpu, s, 0));
	expect(!drm_syncobj_wait(&gpu, s, 0, 0));
	expect(!drm_syncobj_wait(&gpu, s, 0, UINT64_MAX));
	fd = drm_syncobj_export(&gpu, s, true);
	expect(fd >= 0);
	expect(!sync_file_wait(NULL, fd, 0));
	system_close(&system_calls_of_kernel, &fd);
	expect(!drm_syncobj_reset(&gpu, s));
	expect(drm_syncobj_wait(&gpu, s, 0, 0) == -TENON_E_TIMEOUT);
	gone = s;
	drm_syncobj_destroy(&gpu, &s);
	expect(!s);
	expect(drm_syncobj_wait(&gpu, gone, 0, 0) == -TENON_E_NOT_FOUND);
	expect(drm_syncobj_signal(&gpu, gone, 0) == -TENON_E_NOT_FOUND);
	expect(drm_syncobj_reset(&gpu, gone) == -TENON_E_NOT_FOUND);
}

/* Work of vgem on the buffer, whose fence becomes that of a syncobj. Return: 0; a negative status. */
static int put_work(uint32_t s, uint32_t *fence)
{
	int err = card_begin_work(&vgem, &buffer, fence);
	int fd = err ? err : dmabuf_export_fence(&shared, DMABUF_READ);

	if (fd < 0)
		return fd;
	err = drm_syncobj_import(&gpu, fd, true, &s);
	system_close(&system_calls_of_kernel, &fd);
	return err;
}

static void work_of_another_device_is_waited_for(void)
{
	uint32_t s, fence;
	int fd;

	if (!is_ready())
		return;
	expect(!drm_syncobj_create(&gpu, &s));
	expect(!put_work(s, &fence));
	expect(card_is_held(drm_syncobj_wait(&gpu, s, 0, clock_now() + 1000000)));
	/* and out again */
	fd = drm_syncobj_export(&gpu, s, true);
	expect(fd >= 0);
	expect(card_is_held(sync_file_wait(NULL, fd, 0)));
	expect(card_end_work(&vgem, fence));
	expect(!drm_syncobj_wait(&gpu, s, 0, guest_deadline()));
	expect(!sync_file_wait(NULL, fd, guest_deadline()));
	system_close(&system_calls_of_kernel, &fd);
	/* a file of another sort is no fence */
	expect(drm_syncobj_import(&gpu, vgem.fd, true, &s) < 0);
	expect(drm_syncobj_import(&gpu, -1, true, &s) < 0);
	drm_syncobj_destroy(&gpu, &s);
}

static void points_of_a_timeline_are_reached_in_order(void)
{
	uint32_t line, one, fence;
	uint64_t point;

	if (!is_ready())
		return;
	expect(!drm_syncobj_create(&gpu, &line) && !drm_syncobj_create(&gpu, &one));
	expect(!drm_syncobj_query(&gpu, line, &point) && point == 0);
	expect(!drm_syncobj_signal(&gpu, line, 5));
	expect(!drm_syncobj_query(&gpu, line, &point) && point == 5);
	expect(!drm_syncobj_wait(&gpu, line, 4, 0) && !drm_syncobj_wait(&gpu, line, 5, 0));
	expect(drm_syncobj_wait(&gpu, line, 6, clock_now() + 1000000) == -TENON_E_TIMEOUT);
	/* point 7 is work of the other device, point 8 comes from the CPU and not before it */
	expect(!put_work(one, &fence));
	expect(!drm_syncobj_transfer(&gpu, one, 0, line, 7));
	expect(card_is_held(drm_syncobj_wait(&gpu, line, 7, clock_now() + 1000000)));
	expect(!drm_syncobj_query(&gpu, line, &point) && (point == 5 || card_too_late()));
	expect(!drm_syncobj_signal(&gpu, line, 8));
	expect(card_is_held(drm_syncobj_wait(&gpu, line, 8, clock_now() + 1000000)));
	expect(card_end_work(&vgem, fence));
	expect(!drm_syncobj_wait(&gpu, line, 7, guest_deadline()));
	expect(!drm_syncobj_wait(&gpu, line, 8, guest_deadline()));
	expect(!drm_syncobj_query(&gpu, line, &point) && point == 8);
	/* a point becomes a fence without points */
	expect(!drm_syncobj_reset(&gpu, one));
	expect(drm_syncobj_wait(&gpu, one, 0, 0) == -TENON_E_TIMEOUT);
	expect(!drm_syncobj_transfer(&gpu, line, 8, one, 0));
	expect(!drm_syncobj_wait(&gpu, one, 0, guest_deadline()));
	drm_syncobj_destroy(&gpu, &one);
	drm_syncobj_destroy(&gpu, &line);
}

static void two_descriptors_share_one(void)
{
	uint32_t here, there;
	uint64_t point;
	int fd;

	if (!is_ready())
		return;
	expect(!drm_syncobj_create(&gpu, &here));
	fd = drm_syncobj_export(&gpu, here, false);
	expect(fd >= 0);
	expect(!drm_syncobj_import(&second, fd, false, &there) && there);
	system_close(&system_calls_of_kernel, &fd);
	expect(!drm_syncobj_signal(&second, there, 3));
	expect(!drm_syncobj_wait(&gpu, here, 3, 0));
	/* it lives as long as one of them */
	drm_syncobj_destroy(&gpu, &here);
	expect(!drm_syncobj_query(&second, there, &point) && point == 3);
	drm_syncobj_destroy(&second, &there);
	expect(drm_syncobj_import(&second, vgem.fd, false, &there) < 0 && !there);
}

/* The process that signals is another one, and signals when this one waits already. */
static void a_wait_ends_when_another_process_signals(void)
{
	uint32_t s;
	pid_t pid;

	if (!is_ready())
		return;
	expect(!drm_syncobj_create(&gpu, &s));
	pid = fork();
	if (!pid) {
		usleep(20000);
		_exit(drm_syncobj_signal(&gpu, s, 1) ? 1 : 0);
	}
	expect(pid > 0);
	expect(!drm_syncobj_wait(&gpu, s, 1, guest_deadline()));
	drm_syncobj_destroy(&gpu, &s);
}

static void everything_closes(void)
{
	if (shared.calls)
		dmabuf_close(&shared);
	if (vgem.calls) {
		drm_buffer_close(&vgem, &buffer);
		drm_close(&vgem);
	}
	if (second.calls)
		drm_close(&second);
	expect(gpu.calls);
	drm_close(&gpu);
}

const struct guest_case syncobj_cases[] = {
	{ "syncobj: a node says that it has them", a_node_says_that_it_has_them },
	{ "syncobj: a fence is signalled and reset", a_fence_is_signalled_and_reset },
	{ "syncobj: work of another device is waited for", work_of_another_device_is_waited_for },
	{ "syncobj: points of a timeline are reached in order",
	  points_of_a_timeline_are_reached_in_order },
	{ "syncobj: two descriptors share one", two_descriptors_share_one },
	{ "syncobj: a wait ends when another process signals",
	  a_wait_ends_when_another_process_signals },
	{ "syncobj: everything closes", everything_closes },
	{ NULL, NULL },
};
