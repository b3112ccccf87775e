/* SPDX-License-Identifier: MIT */
/*
 * Each system call of torq:0 fails, in turn, on the kernel's model (a named fake): of its node, of networks, of their
 * bindings and jobs, of dma-bufs. So does each allocation. It is reported, and leaves nothing.
 */
#include <errno.h>
#include <sys/ioctl.h>

#include "devices/torq/torq_device.h"
#include "devices/torq/torq_uapi.h"
#include "driver/dmabuf/dmabuf_uapi.h"
#include "tests/driver/faults.h"
#include "tests/driver/tree.h"
#include "tests/nomem/deeds.h"
#include "tests/nomem/failing_malloc.h"
#include "tests/torq/torq_kernel.h"
#include "tests/torq/torq_session.h"
#include "tests/unit/suite.h"

/* all that the driver's source returns */
static const int errors[] = { EINVAL, ENOMEM, EBUSY,  ENODEV, ETIMEDOUT, EIO, EFAULT,
			      ENOENT, EBADF,  ERANGE, EPERM,  ENOTTY,	 0 };

/* where the scenario stands: the device is opened, the network loaded, it runs */
enum { OPENING, RUNNING };

/* Two runs; of the second, a part of memory is copied. */
static int scenario(const struct system_calls *calls)
{
	const struct tenon_memory_request request = { .size = sizeof(request),
						      .bytes = 8192,
						      .usage = TENON_MEMORY_DEFAULT };
	struct tenon_memory *whole, *m;
	struct torq_session s;
	int err;

	torq_source.calls = calls;
	err = torq_session_try(&s, &torq_networks[0]);
	faults_step = RUNNING;
	err = err ? err : torq_session_run(&s);
	err = err ? err : tenon_memory_alloc(s.device, &request, &whole);
	if (!err) {
		err = tenon_memory_subrange(whole, 512, 256, &m);
		err = err ? err : torq_session_put(&s, 1, m);
		tenon_object_unref(whole);
	}
	err = err ? err : torq_session_run(&s);
	if (!err)
		torq_session_assert_output(&s);
	torq_session_stop(&s);
	return err;
}

/* What opening says of any error is that there is no device; what is released says nothing. */
static int expected(const struct fault *f)
{
	const bool is_node = strstr(f->path, "/dev/torq") != NULL;

	if (f->call == CALL_OPEN && f->error == EINTR)
		return 0;
	if (f->call == CALL_CLOSE || (f->call == CALL_IOCTL && f->request == TORQ_UAPI_DESTROY))
		return 0;
	if (f->call == CALL_MADVISE)
		return 1;
	if (f->call == CALL_OPEN && !is_node)
		return 1;
	if (is_node && f->error != ENOMEM &&
	    (f->call == CALL_OPEN || (f->call == CALL_IOCTL && f->request == TORQ_UAPI_HARDWARE)))
		return -TENON_E_DEVICE;
	if (f->call == CALL_IOCTL && f->request == TORQ_UAPI_START && f->error == EBUSY)
		return 0;
	if (f->call == CALL_IOCTL && f->request == TORQ_UAPI_WAIT &&
	    (f->error == ETIMEDOUT || f->error == EIO))
		return -TENON_E_DEVICE;
	/* of a run, a time-out is a failure: the wait for the run has none */
	if (f->step == RUNNING && f->error == ETIMEDOUT)
		return _IOC_TYPE(f->request) == 'H' ? 1 : -TENON_E_DEVICE;
	if (f->error == EBADF || f->error == ERANGE)
		return f->error == EBADF ? -TENON_E_IO : -TENON_E_VALUE;
	/* as of any call */
	return 2;
}

/* A call that failed has done nothing: of a stop, the network stays active, and goes with the node. */
static unsigned int reset(const struct fault *f)
{
	const unsigned int left = torq_left();

	(void)f;
	torq_begin(&torq_networks[0]);
	return left;
}

static void each_call_failing_with_each_error_is_reported(void **state)
{
	const struct sweep sweep = { .under = &torq_calls,
				     .scenario = scenario,
				     .ioctl_errors = errors,
				     .expected = expected,
				     .reset = reset };
	unsigned int faults;

	(void)state;
	torq_begin(&torq_networks[0]);
	faults = sweep_faults(&sweep);
	print_message("%u faults\n", faults);
	assert_true(faults > 400);
}

/* ---- allocations */

/* the model of the kernel has memory */
static int ioctl_with_memory(int fd, unsigned long request, void *argument)
{
	int err;

	failing_malloc_pass(true);
	err = torq_calls.ioctl(fd, request, argument);
	failing_malloc_pass(false);
	return err;
}

static int run_network(uint64_t *facts)
{
	static struct system_calls calls;
	struct torq_session s;
	int err;

	calls = torq_calls;
	calls.ioctl = ioctl_with_memory;
	torq_source.calls = &calls;
	failing_malloc_pass(true);
	torq_begin(&torq_networks[0]);
	failing_malloc_pass(false);
	err = torq_session_try(&s, &torq_networks[0]);
	err = err ? err : torq_session_run(&s);
	failing_malloc_pass(true);
	if (!err)
		torq_session_assert_output(&s);
	failing_malloc_pass(false);
	torq_session_stop(&s);
	deed_fact(facts, &err, sizeof(err));
	return err;
}

static int prepare(void **state)
{
	tree_pretend("/model-of-the-kernel");
	torq_source.root = tree;
	return deeds_prepare(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		DEED("allocations", run_network),
		cmocka_unit_test(each_call_failing_with_each_error_is_reported),
	};

	return cmocka_run_group_tests(tests, prepare, NULL);
}
