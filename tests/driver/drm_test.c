/* SPDX-License-Identifier: MIT */
/*
 * DRM on a named fake: a node with dumb buffers and PRIME that counts its handles. vgem and virtio-gpu of a real kernel are
 * in guest/drm_cases.c.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "driver/drm/drm.h"
#include "driver/drm/drm_uapi.h"
#include "tests/driver/faults.h"
#include "tests/driver/tree.h"
#include "tests/unit/suite.h"

#define NODE "/dev/dri/card0"
#define MOST 32

static struct {
	bool buffers[MOST]; /* by handle; 0 is none */
	uint64_t caps[0x20];
	const char *name;
	unsigned int busy; /* EAGAINs before a call succeeds */
	int import_error;
} node;

static int refuse(int error)
{
	errno = error;
	return -1;
}

static unsigned int start(void)
{
	unsigned int left = 0;

	for (int i = 0; i < MOST; i++)
		left += node.buffers[i];
	memset(&node, 0, sizeof(node));
	node.name = "npu";
	node.caps[DRM_UAPI_CAP_PRIME] = DRM_UAPI_PRIME_IMPORT | DRM_UAPI_PRIME_EXPORT;
	return left;
}

static uint32_t take(bool *handles)
{
	uint32_t i = 1;

	while (i < MOST && handles[i])
		i++;
	assert_true(i < MOST);
	handles[i] = true;
	return i;
}

static int drop(bool *handles, uint32_t handle)
{
	if (handle >= MOST || !handles[handle])
		return refuse(EINVAL);
	handles[handle] = false;
	return 0;
}

static int hand_out(const char *what)
{
	int fd = memfd_create(what, MFD_CLOEXEC);

	assert_true(fd >= 0);
	fake_opened(fd, what);
	return fd;
}

static int fake_ioctl(int fd, unsigned long request, void *argument)
{
	struct drm_uapi_version *v = argument;
	struct drm_uapi_cap *c = argument;
	struct drm_uapi_prime *p = argument;
	size_t length = strlen(node.name);

	(void)fd;
	if (node.busy) {
		node.busy--;
		return refuse(EAGAIN);
	}
	switch (request) {
	case DRM_UAPI_VERSION:
		memcpy(v->name, node.name, length < v->name_size ? length : v->name_size);
		v->name_size = length;
		v->major = 1;
		v->minor = 2;
		v->patch = 3;
		return 0;
	case DRM_UAPI_GET_CAP:
		if (c->capability >= 0x20)
			return refuse(EINVAL);
		c->value = node.caps[c->capability];
		return 0;
	case DRM_UAPI_CLOSE:
		return drop(node.buffers, *(uint32_t *)argument);
	case DRM_UAPI_HANDLE_TO_FD:
		p->fd = hand_out("dma-buf");
		return 0;
	case DRM_UAPI_FD_TO_HANDLE:
		if (node.import_error)
			return refuse(node.import_error);
		p->handle = take(node.buffers);
		return 0;
	}
	return refuse(EINVAL);
}

static struct system_calls fake;

static int setup(void **state)
{
	int err = tree_setup(state);

	fake = system_calls_of_kernel;
	fake.ioctl = fake_ioctl;
	faults_over(&fake);
	start();
	tree_zeroes(NODE, 64 * 4096);
	tree_zeroes("/dev/accel/accel0", 0);
	return err;
}

static void open_it(struct drm *d)
{
	assert_int_equal(drm_open(&faulty_calls, tree, NODE, d), 0);
}

static void close_it(struct drm *d)
{
	drm_close(d);
	drm_close(d);
	assert_nothing_open();
	assert_int_equal(start(), 0);
}

static void a_node_is_identified(void **state)
{
	struct drm d;

	(void)state;
	node.busy = 2;
	open_it(&d);
	assert_string_equal(d.driver, "npu");
	assert_int_equal(d.major * 100 + d.minor * 10 + d.patch, 123);
	assert_true(d.can_import && d.can_export);
	assert_false(d.is_accel);
	close_it(&d);
	node.name = "a driver whose name is longer than the room for it";
	memset(node.caps, 0, sizeof(node.caps));
	assert_int_equal(drm_open(&faulty_calls, tree, "/dev/accel/accel0", &d), 0);
	assert_true(d.is_accel);
	assert_string_equal(d.driver, "a driver whose name is longer t");
	assert_false(d.can_import || d.can_export);
	close_it(&d);
}

static void buffers_are_mapped_and_shared(void **state)
{
	struct drm_buffer b, other;
	struct drm d;
	int fd;

	(void)state;
	open_it(&d);
	drm_adopt(take(node.buffers), 8192, &b);
	assert_int_equal(drm_map(&d, &b, 0), 0);
	((char *)b.base)[8191] = 1;
	fd = drm_export(&d, &b);
	assert_true(fd >= 0);
	assert_int_equal(drm_import(&d, fd, b.size, &other), 0);
	assert_int_not_equal(other.handle, 0);
	node.import_error = ENODEV;
	drm_buffer_close(&d, &other);
	drm_buffer_close(&d, &other);
	assert_int_equal(drm_import(&d, fd, b.size, &other), -TENON_E_UNSUPPORTED);
	assert_error_has("driver \"npu\" cannot import this buffer");
	tenon_error_clear();
	faulty_calls.close(fd);
	drm_buffer_close(&d, &b);
	close_it(&d);
}

static int use_buffers(struct drm *d, struct drm_buffer *b, int *fd)
{
	int err;

	drm_adopt(take(node.buffers), 4096, &b[0]);
	err = drm_map(d, &b[0], 0);
	if (err)
		return err;
	*fd = drm_export(d, &b[0]);
	return *fd < 0 ? *fd : drm_import(d, *fd, 4096, &b[1]);
}

static int use(const struct system_calls *calls)
{
	struct drm_buffer b[2] = { { 0, 0, NULL }, { 0, 0, NULL } };
	struct drm d;
	int err, fd = -1;

	err = drm_open(calls, tree, NODE, &d);
	if (err)
		return err;
	err = use_buffers(&d, b, &fd);
	system_close(calls, &fd);
	drm_buffer_close(&d, &b[0]);
	drm_buffer_close(&d, &b[1]);
	drm_close(&d);
	return err;
}

static int expected(const struct fault *f)
{
	if (f->call != CALL_IOCTL)
		return 2;
	if (f->error == EAGAIN)
		return 0;
	switch (f->request) {
	case DRM_UAPI_VERSION:
		return 2;
	case DRM_UAPI_GET_CAP:
		/* a driver that does not know the question lacks the thing: what is used then may refuse */
		return f->error == EINVAL || f->error == EOPNOTSUPP || f->error == ENOTTY ? 1 : 2;
	case DRM_UAPI_FD_TO_HANDLE:
		return f->error == EINVAL || f->error == ENODEV || f->error == ENOSYS
			       ? -TENON_E_UNSUPPORTED
			       : 2;
	case DRM_UAPI_CLOSE:
		/* the object ends with the node */
		return 0;
	}
	return 2;
}

/* What the kernel could not be told to drop, it drops with the node. */
static unsigned int restart(const struct fault *f)
{
	bool kept = f->happened && f->error != EINTR && f->error != EAGAIN &&
		    f->request == DRM_UAPI_CLOSE;

	return start() - kept;
}

static void every_call_that_fails_is_reported_and_leaves_nothing(void **state)
{
	static const int errors[] = { EINTR, EAGAIN, EINVAL, EFAULT, ENOMEM, ENOENT,
				      EBUSY, ENODEV, EACCES, ENOSYS, EPERM,  EOPNOTSUPP,
				      EIO,   ETIME,  ENOTTY, ENOSPC, 0 };
	static const struct sweep sweep = {
		.under = &fake,
		.scenario = use,
		.ioctl_errors = errors,
		.expected = expected,
		.reset = restart,
	};

	(void)state;
	assert_true(sweep_faults(&sweep) > 100);
}

int main(void)
{
#define on(test) cmocka_unit_test_setup_teardown(test, setup, tree_teardown)
	const struct CMUnitTest tests[] = {
		on(a_node_is_identified),
		on(buffers_are_mapped_and_shared),
		on(every_call_that_fails_is_reported_and_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
