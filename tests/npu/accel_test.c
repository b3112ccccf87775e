/* SPDX-License-Identifier: MIT */
/*
 * Ethos-U behind the kernel's accel interface, on the kernel's model (npu_kernel.h, a named fake): networks of a
 * compiler run bit for bit, failures of jobs are seen, and each call that fails is reported and leaves nothing.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <tenon/timeline.h>
#include <unistd.h>

#include "tests/driver/faults.h"
#include "tests/driver/tree.h"
#include "tests/npu/networks.h"
#include "tests/npu/npu_kernel.h"
#include "tests/unit/suite.h"

static struct ethosu_accel accel;
static struct ethosu_network net, other_net;
static struct rig rig;

static void open_accel(struct ethosu_accel *a)
{
	if (ethosu_accel_open(&faulty_calls, tree, NPU_NODE, a))
		fail_msg("%s", tenon_error_message());
}

/* A device that runs a network, and the network on it. */
static void begin(enum network_id id)
{
	npu_start();
	faults_over(&npu_calls);
	network_read(id, &rig);
	npu.config = rig.network->config;
	open_accel(&accel);
}

static void open_network(void)
{
	if (ethosu_network_open(&accel, &rig.plan, &net))
		fail_msg("%s", tenon_error_message());
}

static void end(void)
{
	ethosu_network_close(&net);
	ethosu_accel_close(&accel);
	npu_pass_time(NPU_SECOND);
	assert_nothing_open();
	assert_int_equal(npu.left_handles, 0);
	assert_int_equal(npu_left(), 0);
	assert_false(npu.damaged);
}

static void run_network(const char *what)
{
	network_put(&rig, &net);
	if (ethosu_network_start(&net) || ethosu_network_finish(&net, npu.now + NPU_SECOND))
		fail_msg("%s: %s", what, tenon_error_message());
	if (!network_is_right(&rig, &net))
		fail_msg("%s: wrong outputs", what);
}

static void networks_give_the_outputs_of_the_reference_kernels(void **state)
{
	unsigned int generation;
	int id;

	(void)state;
	for (generation = 1; generation <= 3; generation++)
		for (id = 0; id < NETWORKS; id++) {
			begin((enum network_id)id);
			npu.generation = generation;
			open_network();
			run_network(rig.network->folder);
			run_network(rig.network->folder);
			/* what is prepared once is not made again */
			assert_int_equal(npu.streams, 1);
			assert_int_equal(npu.jobs, 2);
			assert_int_equal(npu.refused, 0);
			end();
		}
}

/* ---- what is checked before anything is allocated */

static void open_fails(int status, const char *words)
{
	const unsigned int streams = npu.streams;

	assert_int_equal(ethosu_network_open(&accel, &rig.plan, &net), status);
	assert_error_has(words);
	assert_int_equal(npu.streams, streams);
}

static void other_drivers_and_products_are_refused(void **state)
{
	(void)state;
	npu_start();
	faults_over(&npu_calls);
	npu.driver = "rocket";
	assert_int_equal(ethosu_accel_open(&faulty_calls, tree, NPU_NODE, &accel),
			 -TENON_E_UNSUPPORTED);
	assert_error_has("its driver is \"rocket\"");
	npu.driver = "ethosu";
	npu.config = 0x70000000;
	assert_int_equal(ethosu_accel_open(&faulty_calls, tree, NPU_NODE, &accel),
			 -TENON_E_UNSUPPORTED);
	tenon_error_clear();
	npu.unplugged = true;
	assert_int_equal(ethosu_accel_open(&faulty_calls, tree, NPU_NODE, &accel), -TENON_E_DEVICE);
	tenon_error_clear();
	assert_nothing_open();
}

static void old_and_new_kernels_say_what_the_device_is(void **state)
{
	(void)state;
	begin(CONVOLUTION);
	assert_false(accel.is_old);
	assert_int_equal(accel.target.config, npu.config);
	assert_int_equal(accel.target.id, npu.id);
	assert_int_equal(accel.sram_size, npu.sram_size);
	ethosu_accel_close(&accel);
	npu.info_size = ETHOSU_UAPI_INFO_OLD;
	open_accel(&accel);
	assert_true(accel.is_old);
	assert_int_equal(accel.sram_size, npu.sram_size);
	open_network();
	run_network("old kernel");
	end();
}

static void networks_for_other_targets_are_refused(void **state)
{
	(void)state;
	begin(CONVOLUTION);
	accel.target.config = 0x10006009;
	open_fails(-TENON_E_UNSUPPORTED, "compiled for u65-256 (config 0x10003008");
	accel.target.config = 0x00003008;
	open_fails(-TENON_E_UNSUPPORTED, "compile it for that target");
	/* a later minor version of the architecture runs it, another major one does not */
	accel.target = (struct ethosu_target){ npu.config, 0x20066001 };
	open_fails(-TENON_E_UNSUPPORTED, "compiled for u65-256");
	accel.target.id = 0x10166001;
	open_network();
	end();
}

static void streams_are_checked_by_both_rules(void **state)
{
	static const struct ethosu_range outside = { 1, 2040, 16 }, nowhere = { 5, 0, 16 };

	(void)state;
	begin(CONVOLUTION);
	rig.plan.sizes[0] = 495;
	open_fails(-TENON_E_FORMAT, "it has 495");
	rig.plan.sizes[0] = 496;
	/* the rest of the page is in the buffer, and none of the stream's */
	rig.plan.outputs = &outside;
	open_fails(-TENON_E_FORMAT, "an output of 16 bytes at 2040 of region 1, which has 2048");
	rig.plan.outputs = &nowhere;
	open_fails(-TENON_E_FORMAT, "which has 0");
	rig.plan.outputs = rig.outputs;
	rig.plan.constant_region = 1;
	open_fails(-TENON_E_FORMAT, "writes to region 1, which has the constants");
	end();
}

static void memory_that_ends_is_said(void **state)
{
	(void)state;
	begin(CONVOLUTION);
	npu.cma = NPU_PAGE;
	open_fails(-TENON_E_NOMEM, "no contiguous memory");
	npu.cma = 16 << 20;
	end();
}

/* ---- memory */

static void scratch_memory_is_in_sram_if_it_fits(void **state)
{
	(void)state;
	begin(SOFTMAX);
	open_network();
	assert_int_equal(net.job.sram_size, 4992);
	assert_int_equal(net.job.regions[2], 0);
	run_network("in SRAM");
	run_network("in SRAM again");
	ethosu_network_close(&net);
	ethosu_accel_close(&accel);
	npu.sram_size = 4991;
	open_accel(&accel);
	open_network();
	assert_int_equal(net.job.sram_size, 0);
	assert_int_not_equal(net.job.regions[2], 0);
	run_network("in a buffer");
	end();
}

static void regions_that_are_not_in_use_get_no_buffer(void **state)
{
	unsigned int i;

	(void)state;
	begin(ADDITION);
	rig.plan.sizes[0] = 4096;
	open_network();
	for (i = 0; i < ETHOSU_REGIONS; i++)
		assert_int_equal(net.job.regions[i] != 0, i == 3 || i == 4);
	assert_int_equal(net.output, 4);
	run_network("addition");
	end();
}

static void other_buffers_of_the_device_are_used_without_copies(void **state)
{
	struct drm_buffer in, out, small;

	(void)state;
	begin(ADDITION);
	open_network();
	assert_int_equal(ethosu_accel_allocate(&accel, 1152, &in), 0);
	assert_int_equal(ethosu_accel_allocate(&accel, 576, &out), 0);
	assert_int_equal(in.size, NPU_PAGE);
	assert_int_equal(ethosu_network_bind(&net, 3, &in), 0);
	assert_int_equal(ethosu_network_bind(&net, 4, &in), -TENON_E_VALUE);
	assert_error_has("in use for region 3");
	assert_int_equal(ethosu_network_bind(&net, 4, &out), 0);
	assert_int_equal(ethosu_network_bind(&net, 1, &out), -TENON_E_VALUE);
	assert_error_has("region 1 has no buffer");
	small = out;
	small.size = 575;
	small.handle = 50;
	assert_int_equal(ethosu_network_bind(&net, 4, &small), -TENON_E_VALUE);
	assert_error_has("the buffer has 575");
	run_network("other buffers");
	assert_ptr_equal(net.bound[4], out.base);
	ethosu_network_close(&net);
	drm_buffer_close(&accel.drm, &in);
	drm_buffer_close(&accel.drm, &out);
	end();
}

static void buffers_of_others_are_refused_with_a_reason(void **state)
{
	int fd = memfd_create("foreign", MFD_CLOEXEC);
	struct ethosu_accel second;
	struct drm_buffer b, own;

	(void)state;
	begin(ADDITION);
	assert_int_equal(ethosu_accel_import(&accel, fd, NPU_PAGE, &b), -TENON_E_UNSUPPORTED);
	assert_error_has("driver \"ethosu\" cannot import this buffer");
	assert_int_equal(b.handle, 0);
	close(fd);
	/* but it takes its own, into another descriptor too */
	open_accel(&second);
	assert_int_equal(ethosu_accel_allocate(&accel, 1152, &own), 0);
	fd = drm_export(&accel.drm, &own);
	assert_int_equal(ethosu_accel_import(&second, fd, own.size, &b), 0);
	faulty_calls.close(fd);
	drm_buffer_close(&second.drm, &b);
	drm_buffer_close(&accel.drm, &own);
	ethosu_accel_close(&second);
	end();
}

/* ---- what a run costs */

#define RUNS 501

static struct system_calls watched;
static uint64_t submitted_at;
static unsigned int calls_before;

static int watched_ioctl(int fd, unsigned long request, void *argument)
{
	if (request == ETHOSU_UAPI_SUBMIT)
		submitted_at = tenon_now();
	else if (!submitted_at)
		calls_before++;
	return npu_calls.ioctl(fd, request, argument);
}

static int compare_times(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Return: nanoseconds from the call to the submission. */
static uint64_t time_of_start(void)
{
	uint64_t before;

	submitted_at = 0;
	calls_before = 0;
	before = tenon_now();
	assert_int_equal(ethosu_network_start(&net), 0);
	before = submitted_at - before;
	assert_int_equal(calls_before, 0);
	return before;
}

/* Time is printed, and no verdict: goals are those of an idle machine. */
static void a_run_is_one_call_that_copies_nothing(void **state)
{
	static uint8_t inputs[NPU_PAGE], outputs[NPU_PAGE];
	static uint64_t times[RUNS];
	size_t i, changed = 0;

	(void)state;
	begin(ADDITION);
	watched = npu_calls;
	watched.ioctl = watched_ioctl;
	faults_over(&watched);
	open_network();
	network_put(&rig, &net);
	memcpy(inputs, net.bound[3], NPU_PAGE);
	memcpy(outputs, net.bound[4], NPU_PAGE);
	for (i = 0; i < RUNS; i++) {
		times[i] = time_of_start();
		if (!i) {
			/* the job has not begun: what changed is the mark */
			assert_memory_equal(net.bound[3], inputs, NPU_PAGE);
			assert_memory_equal(net.bound[4], outputs, 576 - ETHOSU_MARK);
			changed = ETHOSU_MARK;
		}
		assert_int_equal(ethosu_network_finish(&net, UINT64_MAX), 0);
	}
	assert_int_equal(npu.jobs, RUNS);
	qsort(times, RUNS, sizeof(*times), compare_times);
	print_message("from the call to the submission: %llu ns (median of %d); bytes copied: 0; "
		      "marked: %zu\n",
		      (unsigned long long)times[RUNS / 2], RUNS, changed);
	assert_true(network_is_right(&rig, &net));
	end();
	faults_over(&npu_calls);
}

/* ---- time, and failures */

static void not_yet_is_not_done(void **state)
{
	(void)state;
	begin(CONVOLUTION);
	open_network();
	network_put(&rig, &net);
	assert_int_equal(ethosu_network_finish(&net, 0), -TENON_E_USAGE);
	assert_int_equal(ethosu_network_start(&net), 0);
	assert_int_equal(ethosu_network_start(&net), -TENON_E_USAGE);
	tenon_error_clear();
	assert_int_equal(ethosu_network_finish(&net, 0), -TENON_E_TIMEOUT);
	assert_error_has("has not ended yet");
	assert_int_equal(ethosu_network_finish(&net, npu.now + npu.job_time / 2), -TENON_E_TIMEOUT);
	tenon_error_clear();
	assert_int_equal(npu.jobs, 0);
	/* the job goes on after each of these */
	assert_int_equal(ethosu_network_finish(&net, UINT64_MAX), 0);
	assert_int_equal(npu.jobs, 1);
	assert_int_equal(npu.submits, 1);
	assert_true(network_is_right(&rig, &net));
	end();
}

static void interrupted_calls_are_made_again(void **state)
{
	(void)state;
	begin(CONVOLUTION);
	npu.interrupts = 3;
	open_network();
	network_put(&rig, &net);
	npu.interrupts = 2;
	assert_int_equal(ethosu_network_start(&net), 0);
	npu.interrupts = 2;
	assert_int_equal(ethosu_network_finish(&net, UINT64_MAX), 0);
	assert_int_equal(npu.jobs, 1);
	assert_true(network_is_right(&rig, &net));
	end();
}

static void fail_once(enum network_id id, enum npu_fate fate, uint64_t job_time, int status)
{
	begin(id);
	npu.fates = &fate;
	npu.fate_count = 1;
	npu.job_time = job_time;
	open_network();
	network_put(&rig, &net);
	assert_int_equal(ethosu_network_start(&net), 0);
	assert_int_equal(ethosu_network_finish(&net, UINT64_MAX), status);
	tenon_error_clear();
	assert_int_equal(npu.resets, 1);
	/* the device works again */
	run_network("after a reset");
	end();
}

static void jobs_that_fail_are_seen_though_the_wait_succeeds(void **state)
{
	int id;

	(void)state;
	for (id = 0; id < NETWORKS; id++) {
		fail_once((enum network_id)id, NPU_HANGS, NPU_SECOND / 1000, -TENON_E_LOST);
		fail_once((enum network_id)id, NPU_FAULTS, NPU_SECOND / 1000, -TENON_E_LOST);
		fail_once((enum network_id)id, NPU_WRITES_AND_FAULTS, NPU_SECOND / 1000,
			  -TENON_E_LOST);
		/* its fence is gone before it can be taken */
		fail_once((enum network_id)id, NPU_FAULTS, 0, -TENON_E_DEVICE);
	}
}

/* A job that succeeds at once has no fence to be taken either. */
static void jobs_that_end_at_once_succeed(void **state)
{
	int id;

	(void)state;
	for (id = 0; id < NETWORKS; id++) {
		begin((enum network_id)id);
		npu.job_time = 0;
		open_network();
		run_network(rig.network->folder);
		assert_true(net.was_done);
		end();
	}
}

static void a_reset_ends_jobs_of_other_descriptors(void **state)
{
	static const enum npu_fate fates[] = { NPU_HANGS };
	struct ethosu_accel second;

	(void)state;
	begin(CONVOLUTION);
	npu.fates = fates;
	npu.fate_count = 1;
	open_accel(&second);
	open_network();
	assert_int_equal(ethosu_network_open(&second, &rig.plan, &other_net), 0);
	network_put(&rig, &net);
	network_put(&rig, &other_net);
	assert_int_equal(ethosu_network_start(&net), 0);
	assert_int_equal(ethosu_network_start(&other_net), 0);
	assert_int_equal(ethosu_network_finish(&other_net, UINT64_MAX), -TENON_E_LOST);
	assert_error_has("the work behind a fence failed");
	assert_int_equal(ethosu_network_finish(&net, UINT64_MAX), -TENON_E_LOST);
	tenon_error_clear();
	assert_int_equal(npu.resets, 1);
	network_put(&rig, &other_net);
	assert_int_equal(ethosu_network_start(&other_net), 0);
	assert_int_equal(ethosu_network_finish(&other_net, UINT64_MAX), 0);
	assert_true(network_is_right(&rig, &other_net));
	ethosu_network_close(&other_net);
	ethosu_accel_close(&second);
	end();
}

/* A scheduler that gives up the job that hangs alone: those that wait run. */
static void a_reset_may_leave_jobs_that_wait(void **state)
{
	static const enum npu_fate fates[] = { NPU_HANGS };
	struct ethosu_accel second;

	(void)state;
	begin(CONVOLUTION);
	npu.fates = fates;
	npu.fate_count = 1;
	npu.keeps_queue = true;
	open_accel(&second);
	open_network();
	assert_int_equal(ethosu_network_open(&second, &rig.plan, &other_net), 0);
	network_put(&rig, &net);
	network_put(&rig, &other_net);
	assert_int_equal(ethosu_network_start(&net), 0);
	assert_int_equal(ethosu_network_start(&other_net), 0);
	assert_int_equal(ethosu_network_finish(&net, UINT64_MAX), -TENON_E_LOST);
	tenon_error_clear();
	assert_int_equal(ethosu_network_finish(&other_net, UINT64_MAX), 0);
	assert_true(network_is_right(&rig, &other_net));
	assert_int_equal(npu.resets, 1);
	ethosu_network_close(&other_net);
	ethosu_accel_close(&second);
	end();
}

static void networks_of_several_descriptors_run_after_each_other(void **state)
{
	static struct rig second_rig;
	struct ethosu_accel second;
	int i;

	(void)state;
	network_read(FALLBACK_0, &second_rig);
	begin(SOFTMAX);
	open_accel(&second);
	open_network();
	assert_int_equal(ethosu_network_open(&second, &second_rig.plan, &other_net), 0);
	for (i = 0; i < 3; i++) {
		network_put(&rig, &net);
		network_put(&second_rig, &other_net);
		assert_int_equal(ethosu_network_start(&net), 0);
		assert_int_equal(ethosu_network_start(&other_net), 0);
		assert_int_equal(ethosu_network_finish(&other_net, UINT64_MAX), 0);
		assert_int_equal(ethosu_network_finish(&net, 0), 0);
		assert_true(network_is_right(&rig, &net));
		assert_true(network_is_right(&second_rig, &other_net));
	}
	ethosu_network_close(&other_net);
	ethosu_accel_close(&second);
	end();
}

/* The kernel takes a stream for U85, and the functional model does not run it. */
static void a_stream_for_u85_is_handed_over(void **state)
{
	static const struct ethosu_range output = { 1, 0, 576 };
	struct tenon_cursor c;

	(void)state;
	begin(CONVOLUTION);
	ethosu_accel_close(&accel);
	npu.config = 0x20000118;
	npu.id = 0x20007000;
	open_accel(&accel);
	c = tenon_cursor_of(rig.payload, network_file("u85_residual", "payload.bin", rig.payload),
			    "u85", 0);
	assert_int_equal(ethosu_payload_read(&c, &rig.p), 0);
	memset(rig.plan.sizes, 0xff, sizeof(rig.plan.sizes));
	rig.plan.constants.size = 0;
	rig.plan.inputs = rig.plan.outputs = &output;
	rig.plan.input_count = rig.plan.output_count = 1;
	open_network();
	assert_int_equal(net.job.sram_size, 57360);
	assert_int_equal(ethosu_network_start(&net), 0);
	assert_int_equal(npu.refused, 0);
	assert_int_equal(ethosu_network_finish(&net, UINT64_MAX), -TENON_E_LOST);
	tenon_error_clear();
	end();
}

static void a_network_that_is_closed_leaves_its_job_to_the_kernel(void **state)
{
	(void)state;
	begin(CONVOLUTION);
	open_network();
	network_put(&rig, &net);
	assert_int_equal(ethosu_network_start(&net), 0);
	ethosu_network_close(&net);
	ethosu_network_close(&net);
	assert_int_equal(npu.jobs, 0);
	npu_pass_time(NPU_SECOND);
	assert_int_equal(npu.jobs, 1);
	end();
}

static void a_device_that_is_gone_is_lost(void **state)
{
	(void)state;
	begin(CONVOLUTION);
	open_network();
	network_put(&rig, &net);
	npu.unplugged = true;
	assert_int_equal(ethosu_network_start(&net), -TENON_E_LOST);
	tenon_error_clear();
	npu.unplugged = false;
	assert_int_equal(ethosu_network_start(&net), 0);
	npu.unplugged = true;
	assert_int_equal(ethosu_network_finish(&net, UINT64_MAX), -TENON_E_LOST);
	tenon_error_clear();
	npu.unplugged = false;
	end();
}

/* ---- each call fails, in turn */

enum step { OPENING, LOADING, RUNNING, FINISHING, AGAIN };

static int run_it(const struct system_calls *calls, struct ethosu_network *n)
{
	int err;

	(void)calls;
	network_put(&rig, n);
	faults_step = RUNNING;
	err = ethosu_network_start(n);
	faults_step = FINISHING;
	if (!err)
		err = ethosu_network_finish(n, UINT64_MAX);
	if (!err)
		assert_true(network_is_right(&rig, n));
	return err;
}

static int scenario(const struct system_calls *calls)
{
	struct ethosu_network n;
	struct ethosu_accel a;
	int err = ethosu_accel_open(calls, tree, NPU_NODE, &a);

	if (err)
		return err;
	faults_step = LOADING;
	err = ethosu_network_open(&a, &rig.plan, &n);
	if (!err) {
		err = run_it(calls, &n);
		ethosu_network_close(&n);
	}
	ethosu_accel_close(&a);
	return err;
}

static int expected(const struct fault *f)
{
	if (f->call != CALL_IOCTL)
		return 2;
	/* EAGAIN of a dma-buf and of a sync_file is an error: only DRM asks for another try */
	if (f->error == EAGAIN)
		return _IOC_TYPE(f->request) == 'd' ? 0 : 2;
	switch (_IOC_TYPE(f->request) == 'd' ? _IOC_NR(f->request) : 0x100) {
	case 0x0c:
		/* what it does not know, it has not */
		return f->error == EINVAL || f->error == EOPNOTSUPP || f->error == ENOTTY ? 0 : 2;
	case 0x00:
		return f->error == ENOTTY ? -TENON_E_UNSUPPORTED : 2;
	case 0x09:
		/* the object ends with the node */
		return 0;
	case 0x44:
		return f->error == EINVAL ? -TENON_E_UNSUPPORTED : 2;
	}
	return 2;
}

/* What the kernel could not be told to drop, it drops with the node. */
static unsigned int restart(const struct fault *f)
{
	unsigned int left;

	(void)f;
	npu_pass_time(NPU_SECOND);
	left = npu_left();
	if (!f->happened || _IOC_NR(f->request) != 0x09)
		left += npu.left_handles;
	npu_start();
	npu.config = rig.network->config;
	return left;
}

static void every_call_that_fails_is_reported_and_leaves_nothing(void **state)
{
	static const int errors[] = { EINTR, EAGAIN, EINVAL, EFAULT, ENOMEM,	ENOENT,
				      EBUSY, ENODEV, EACCES, ENOSYS, EPERM,	EOPNOTSUPP,
				      EIO,   ETIME,  ENOTTY, ENOSPC, EOVERFLOW, 0 };
	static const struct sweep sweep = {
		.under = &npu_calls,
		.scenario = scenario,
		.ioctl_errors = errors,
		.expected = expected,
		.reset = restart,
	};
	unsigned int faults;

	(void)state;
	npu_start();
	network_read(ADDITION, &rig);
	npu.config = rig.network->config;
	faults = sweep_faults(&sweep);
	print_message("%u faults\n", faults);
	assert_true(faults > 300);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(networks_give_the_outputs_of_the_reference_kernels),
		cmocka_unit_test(other_drivers_and_products_are_refused),
		cmocka_unit_test(old_and_new_kernels_say_what_the_device_is),
		cmocka_unit_test(networks_for_other_targets_are_refused),
		cmocka_unit_test(streams_are_checked_by_both_rules),
		cmocka_unit_test(memory_that_ends_is_said),
		cmocka_unit_test(scratch_memory_is_in_sram_if_it_fits),
		cmocka_unit_test(regions_that_are_not_in_use_get_no_buffer),
		cmocka_unit_test(other_buffers_of_the_device_are_used_without_copies),
		cmocka_unit_test(buffers_of_others_are_refused_with_a_reason),
		cmocka_unit_test(a_run_is_one_call_that_copies_nothing),
		cmocka_unit_test(not_yet_is_not_done),
		cmocka_unit_test(interrupted_calls_are_made_again),
		cmocka_unit_test(jobs_that_fail_are_seen_though_the_wait_succeeds),
		cmocka_unit_test(jobs_that_end_at_once_succeed),
		cmocka_unit_test(a_reset_ends_jobs_of_other_descriptors),
		cmocka_unit_test(a_reset_may_leave_jobs_that_wait),
		cmocka_unit_test(networks_of_several_descriptors_run_after_each_other),
		cmocka_unit_test(a_stream_for_u85_is_handed_over),
		cmocka_unit_test(a_network_that_is_closed_leaves_its_job_to_the_kernel),
		cmocka_unit_test(a_device_that_is_gone_is_lost),
		cmocka_unit_test(every_call_that_fails_is_reported_and_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, tree_setup, tree_teardown);
}
