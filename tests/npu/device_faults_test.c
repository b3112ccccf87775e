/* SPDX-License-Identifier: MIT */
/*
 * Each system call of ethosu://accel/0 and of its memory fails, in turn, on the kernel's model (a named fake): of buffers
 * that networks use in place, of dma-bufs of the driver and of others, and of runs that change what they use. It is
 * reported, and leaves nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <tenon/device.h>
#include <tenon/memory.h>
#include <tenon/queue.h>

#include "devices/ethosu/ethosu_device.h"
#include "driver/dmabuf/dmabuf_uapi.h"
#include "tests/driver/faults.h"
#include "tests/driver/tree.h"
#include "tests/npu/model_session.h"
#include "tests/npu/npu_kernel.h"
#include "tests/unit/suite.h"

#define TENSOR 576

static const struct model addition = {
	"u65_add2_cop2", "u65.npz", { "in0.bin", "in1.bin", "ref0.bin" }, 3
};

/* ---- a memfd stands for a dma-buf of another driver, and this for what that does in accesses (a named fake) */

static int foreign_ioctl(int fd, unsigned long request, void *argument)
{
	return request == DMABUF_UAPI_SYNC ? 0 : npu_calls.ioctl(fd, request, argument);
}

/* ---- memory: each takes the place of an argument, and the argument's before goes */

static void put(struct model_session *s, size_t i, struct tenon_memory *m)
{
	tenon_object_unref(s->memory[i]);
	s->memory[i] = m;
	s->arguments[i] = (uintptr_t)m;
}

static int put_part(struct model_session *s, size_t i, struct tenon_memory *whole, uint64_t offset)
{
	static uint8_t bytes[FILE_MOST];
	const size_t size = network_file(s->model->folder, s->model->arguments[i], bytes);
	struct tenon_memory *m;
	int err = tenon_memory_subrange(whole, offset, TENSOR, &m);

	if (err)
		return err;
	memcpy(m->host, bytes, size);
	put(s, i, m);
	return 0;
}

/* The inputs are in one region, and so in one buffer. */
static int put_inputs(struct model_session *s)
{
	const struct tenon_memory_request request = { sizeof(request), 2 * (uint64_t)TENSOR,
						      TENON_MEMORY_DEFAULT, ETHOSU_HEAP_OWN, NULL };
	struct tenon_memory *m;
	int err = tenon_memory_alloc(s->device, &request, &m);

	if (err)
		return err;
	err = put_part(s, 0, m, 0);
	if (!err)
		err = put_part(s, 1, m, TENSOR);
	tenon_object_unref(m);
	return err;
}

static int import(const struct model_session *s, int fd, struct tenon_memory **out)
{
	const struct tenon_memory_import from = { .size = sizeof(from),
						  .type = TENON_HANDLE_DMA_BUF,
						  .fd = fd,
						  .bytes = TENSOR,
						  .usage = TENON_MEMORY_DEFAULT };

	return tenon_memory_import(s->device, &from, out);
}

/* Two pieces of memory that are one buffer, of which the second stays. */
static int put_own_dma_buf(struct model_session *s)
{
	const struct tenon_memory_request request = { sizeof(request), TENSOR,
						      TENON_MEMORY_DEFAULT | TENON_MEMORY_EXPORT,
						      -1, NULL };
	struct tenon_memory *m, *again;
	int fd, err = tenon_memory_alloc(s->device, &request, &m);

	if (err)
		return err;
	err = tenon_memory_export(m, TENON_HANDLE_DMA_BUF, &fd);
	if (!err) {
		err = import(s, fd, &again);
		faulty_calls.close(fd);
	}
	if (!err) {
		memset(again->host, 0xee, TENSOR);
		put(s, 2, again);
	}
	tenon_object_unref(m);
	return err;
}

static int put_foreign_dma_buf(struct model_session *s)
{
	const int fd = memfd_create("foreign", MFD_CLOEXEC);
	struct tenon_memory *m;
	int err;

	assert_int_equal(ftruncate(fd, 4096), 0);
	err = import(s, fd, &m);
	close(fd);
	if (err)
		return err;
	put(s, 2, m);
	return tenon_memory_invalidate(m, 0, TENSOR);
}

static int run_right(struct model_session *s)
{
	int err = model_session_run(s);

	if (!err)
		model_session_assert_output(s);
	return err;
}

/* ---- the scenario */

/* In place, with other buffers, and copied. */
static int use_memory(struct model_session *s)
{
	int err = put_inputs(s);

	if (!err)
		err = put_own_dma_buf(s);
	if (!err)
		err = run_right(s);
	if (!err)
		err = put_inputs(s);
	if (!err)
		err = put_own_dma_buf(s);
	if (!err)
		err = run_right(s);
	if (!err)
		err = put_foreign_dma_buf(s);
	if (!err)
		err = run_right(s);
	return err ? err : tenon_memory_flush(s->memory[2], 0, TENSOR);
}

static int scenario(const struct system_calls *calls)
{
	struct model_session s;
	int err;

	(void)calls;
	err = model_session_try(&s, "ethosu://accel/0", &addition);
	if (!err)
		err = use_memory(&s);
	model_session_stop(&s);
	tenon_device_close_all();
	return err;
}

/* What a device that does not open is, whatever the reason. */
static int refusal_of_the_device(int error)
{
	return error == ENOMEM || error == ENOSPC ? -TENON_E_NOMEM : -TENON_E_DEVICE;
}

static int expected_of_drm(const struct fault *f)
{
	/* any status is accepted: a wait that ends with ETIME is no failure of the operation */
	if (f->error == ETIME && (_IOC_NR(f->request) == 0x45 || _IOC_NR(f->request) == 0x2d))
		return 1;
	/* a signal, or DRM, asks for another try */
	if (f->error == EINTR || f->error == EAGAIN)
		return 0;
	switch (_IOC_NR(f->request)) {
	case 0x0c:
		/* what it does not know, it has not: without PRIME nothing is exported */
		if (f->error == EINVAL || f->error == EOPNOTSUPP || f->error == ENOTTY)
			return f->nth == 2 ? -TENON_E_UNSUPPORTED : 0;
		return refusal_of_the_device(f->error);
	case 0x00:
	case 0x40:
		return refusal_of_the_device(f->error);
	case 0x09:
		/* the object ends with the node */
		return 0;
	case 0x2e:
		/* a buffer that the kernel does not take is mapped, and copied */
		return f->error == EINVAL || f->error == ENODEV || f->error == ENOSYS ||
				       f->error == EOPNOTSUPP || f->error == ENOTTY
			       ? 0
			       : 2;
	case 0x42:
		/* the queue waits again, until the job has ended */
		return f->error == ETIME ? 0 : 2;
	case 0x44:
		return f->error == EINVAL ? -TENON_E_UNSUPPORTED : 2;
	}
	return 2;
}

static int expected(const struct fault *f)
{
	if (f->call == CALL_OPEN)
		return f->error == EINTR ? 0 : refusal_of_the_device(f->error);
	if (f->call != CALL_IOCTL)
		return 2;
	if (_IOC_TYPE(f->request) == 'd')
		return expected_of_drm(f);
	if (f->error == ETIME)
		return 1;
	/* an exporter may be busy for a moment */
	return f->request == DMABUF_UAPI_SYNC && f->error == EAGAIN ? 0 : 2;
}

/* The library copies descriptors by a call that the sweep does not see. */
static unsigned int open_descriptors(void)
{
	unsigned int count = 0;
	int fd;

	for (fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static unsigned int descriptors;

/* What the kernel could not be told to drop, it drops with the node. */
static unsigned int restart(const struct fault *f)
{
	unsigned int left;

	npu_pass_time(NPU_SECOND);
	left = npu_left() + open_descriptors() - descriptors;
	if (!f->happened || _IOC_NR(f->request) != 0x09)
		left += npu.left_handles;
	npu_start();
	return left;
}

static void every_call_that_fails_is_reported_and_leaves_nothing(void **state)
{
	static const int errors[] = { EINTR, EAGAIN, EINVAL, EFAULT, ENOMEM,	ENOENT,
				      EBUSY, ENODEV, EACCES, ENOSYS, EPERM,	EOPNOTSUPP,
				      EIO,   ETIME,  ENOTTY, ENOSPC, EOVERFLOW, 0 };
	static struct system_calls with_foreign;
	static const struct sweep sweep = {
		.under = &with_foreign,
		.scenario = scenario,
		.ioctl_errors = errors,
		.expected = expected,
		.reset = restart,
	};

	(void)state;
	with_foreign = npu_calls;
	with_foreign.ioctl = foreign_ioctl;
	npu_start();
	descriptors = open_descriptors();
	ethosu_accel_source.calls = &faulty_calls;
	ethosu_accel_source.root = tree;
	assert_true(sweep_faults(&sweep) > 600);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_call_that_fails_is_reported_and_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, tree_setup, tree_teardown);
}
