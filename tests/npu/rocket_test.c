/* SPDX-License-Identifier: MIT */
/*
 * Buffers, jobs and lanes of devices/rocket on the kernel's model (npu_kernel.h, a named fake), and where a node of
 * the driver "rocket" exists, its buffers on that.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "devices/rocket/rocket_lane.h"
#include "tests/driver/faults.h"
#include "tests/driver/tree.h"
#include "tests/npu/npu_kernel.h"
#include "tests/npu/rocket_stream.h"
#include "tests/unit/suite.h"

static struct rocket_accel accel;

/* one task on buffers of its own */
struct rig {
	struct rocket_accel *accel;
	struct rocket_lane lane;
	struct rocket_buffer in, weights, out, commands;
	struct rocket_uapi_task task;
	struct rocket_use uses[4];
	uint8_t *marks[1];
	struct rocket_job job;
};

static struct rig rig, other;

static uint64_t *words_of(struct rig *r, size_t i)
{
	return (uint64_t *)r->commands.drm.base + i;
}

/* The words of a convolution of tests/npu/rocket_stream.h, with the addresses of these buffers. */
static void put_words(struct rig *r)
{
	const uint64_t words[] = {
		ROCKET_COMMAND(ROCKET_TARGET_CNA, 0x1030, SAMPLE_WEIGHED),
		ROCKET_COMMAND(ROCKET_TARGET_CNA, 0x1070, r->in.address),
		ROCKET_COMMAND(ROCKET_TARGET_CNA, 0x1110, r->weights.address),
		ROCKET_COMMAND(ROCKET_TARGET_DPU, 0x4020, r->out.address),
		ROCKET_COMMAND(ROCKET_TARGET_DPU, 0x4024, 128),
		ROCKET_COMMAND(ROCKET_TARGET_DPU, 0x4030, 3),
		ROCKET_COMMAND(ROCKET_TARGET_DPU, 0x4034, 1),
		ROCKET_COMMAND(ROCKET_TARGET_DPU, 0x403c, 19 << 16),
		ROCKET_READY,
		ROCKET_COMMAND(ROCKET_TARGET_ENABLE, ROCKET_ENABLE, 0xd),
	};

	memcpy(words_of(r, 0), words, sizeof(words));
	r->task = (struct rocket_uapi_task){ r->commands.address, sizeof(words) / ROCKET_WORD };
}

static int rig_open(struct rig *r, struct rocket_accel *a)
{
	size_t i;
	int err;

	memset(r, 0, sizeof(*r));
	r->accel = a;
	err = rocket_lane_open(a, &r->lane);
	err = err ? err : rocket_buffer_open(a, SAMPLE_BYTES, &r->in);
	err = err ? err : rocket_buffer_open(a, SAMPLE_WEIGHED, &r->weights);
	err = err ? err : rocket_buffer_open(a, SAMPLE_BYTES, &r->out);
	err = err ? err : rocket_buffer_open(a, 4096, &r->commands);
	if (err)
		return err;
	for (i = 0; i < SAMPLE_BYTES; i++)
		((uint8_t *)r->in.drm.base)[i] = (uint8_t)(i * 7);
	for (i = 0; i < SAMPLE_WEIGHED; i++)
		((uint8_t *)r->weights.drm.base)[i] = SAMPLE_WEIGHT(i);
	put_words(r);
	r->uses[0] = (struct rocket_use){ &r->in, false, false };
	r->uses[1] = (struct rocket_use){ &r->weights, false, false };
	r->uses[2] = (struct rocket_use){ &r->out, true, false };
	r->uses[3] = (struct rocket_use){ &r->commands, false, false };
	r->marks[0] = r->out.drm.base;
	r->job = (struct rocket_job){ &r->task, 1, r->uses, 4, r->marks, 1 };
	return 0;
}

static void rig_close(struct rig *r)
{
	rocket_lane_close(&r->lane);
	rocket_buffer_close(r->accel, &r->in);
	rocket_buffer_close(r->accel, &r->weights);
	rocket_buffer_close(r->accel, &r->out);
	rocket_buffer_close(r->accel, &r->commands);
}

static bool is_right(const struct rig *r, unsigned int layers)
{
	const uint8_t *out = r->out.drm.base;
	size_t i;

	for (i = 0; i < SAMPLE_BYTES; i++)
		if (out[i] != (uint8_t)(i * 7 + layers * SAMPLE_WEIGHT(i)))
			return false;
	return true;
}

static void begin(void)
{
	npu_start_rocket();
	faults_over(&npu_calls);
	if (rocket_accel_open(&faulty_calls, tree, NPU_NODE, &accel) || rig_open(&rig, &accel))
		fail_msg("%s", tenon_error_message());
}

static void end(void)
{
	rig_close(&rig);
	rocket_accel_close(&accel);
	npu_pass_time(NPU_SECOND);
	assert_nothing_open();
	assert_int_equal(npu.left_handles, 0);
	assert_int_equal(npu_left(), 0);
}

static void start(struct rig *r)
{
	if (rocket_lane_start(&r->lane, &r->job))
		fail_msg("%s", tenon_error_message());
}

static void finish(struct rig *r)
{
	if (rocket_lane_finish(&r->lane, UINT64_MAX))
		fail_msg("%s", tenon_error_message());
}

/* ---- jobs */

static void a_job_reads_and_writes_its_buffers(void **state)
{
	(void)state;
	begin();
	/* it is an address like any other */
	assert_int_equal(rig.lane.page.address, 0);
	start(&rig);
	finish(&rig);
	assert_true(is_right(&rig, 1));
	assert_int_equal(npu_records[0].commands, rig.commands.address);
	assert_int_equal(npu_records[0].count, 10);
	/* what the CPU writes between jobs arrives */
	memset(rig.weights.drm.base, 0, SAMPLE_WEIGHED);
	start(&rig);
	finish(&rig);
	assert_true(is_right(&rig, 0));
	assert_int_equal(npu.jobs, 2);
	assert_int_equal(npu.dropped, 0);
	end();
}

static void a_driver_without_a_version_is_known_by_its_name(void **state)
{
	struct rocket_accel a;

	(void)state;
	begin();
	assert_int_equal(accel.drm.major | accel.drm.minor | accel.drm.patch, 0);
	npu.drivers[1] = "ethosu";
	assert_int_equal(rocket_accel_open(&faulty_calls, tree, "/dev/accel/accel1", &a),
			 -TENON_E_UNSUPPORTED);
	assert_error_has("its driver is \"ethosu\"");
	npu.unplugged = true;
	assert_int_equal(rocket_accel_open(&faulty_calls, tree, NPU_NODE, &a), -TENON_E_DEVICE);
	tenon_error_clear();
	npu.unplugged = false;
	end();
}

static void buffers_that_registers_do_not_reach_are_refused(void **state)
{
	struct rocket_buffer b;

	(void)state;
	begin();
	npu.base = (UINT64_C(1) << 32) - NPU_PAGE;
	assert_int_equal(rocket_buffer_open(&accel, 2 * NPU_PAGE, &b), -TENON_E_UNSUPPORTED);
	assert_error_has("its registers reach 4 GiB");
	assert_int_equal(b.drm.handle, 0);
	assert_int_equal(rocket_buffer_open(&accel, NPU_PAGE, &b), 0);
	assert_int_equal(b.address, 0xfffff000);
	rocket_buffer_close(&accel, &b);
	assert_int_equal(rocket_buffer_open(&accel, 0, &b), -TENON_E_OVERFLOW);
	assert_int_equal(rocket_buffer_open(&accel, UINT64_C(1) << 32, &b), -TENON_E_OVERFLOW);
	tenon_error_clear();
	npu.memory = 0;
	assert_int_equal(rocket_buffer_open(&accel, 1, &b), -TENON_E_NOMEM);
	assert_error_has("no memory for a buffer");
	npu.base = 0;
	end();
}

/* The kernel would say that all is well, and do nothing. */
static void what_the_kernel_would_drop_is_refused(void **state)
{
	const struct rocket_uapi_task empty = { 0, 0 };
	struct rocket_buffer closed = { .address = 0 };
	struct rocket_job job;

	(void)state;
	begin();
	job = rig.job;
	job.task_count = 0;
	assert_int_equal(rocket_lane_start(&rig.lane, &job), -TENON_E_VALUE);
	assert_error_has("a job of 0 tasks");
	job = rig.job;
	job.tasks = &empty;
	assert_int_equal(rocket_lane_start(&rig.lane, &job), -TENON_E_VALUE);
	assert_error_has("task 0 has 0 words");
	rig.uses[1].buffer = &rig.in;
	assert_int_equal(rocket_lane_start(&rig.lane, &rig.job), -TENON_E_VALUE);
	assert_error_has("buffers 0 and 1 of a job are the same");
	rig.uses[1].buffer = &closed;
	assert_int_equal(rocket_lane_start(&rig.lane, &rig.job), -TENON_E_VALUE);
	assert_error_has("buffer 1 of a job is closed");
	assert_int_equal(npu.submits, 0);
	end();
}

static void a_job_that_the_kernel_dropped_is_noticed(void **state)
{
	(void)state;
	begin();
	npu.drops = 1;
	start(&rig);
	assert_int_equal(rocket_lane_finish(&rig.lane, UINT64_MAX), -TENON_E_DEVICE);
	assert_error_has("the kernel dropped the job");
	assert_int_equal(npu.jobs, 0);
	start(&rig);
	finish(&rig);
	assert_true(is_right(&rig, 1));
	end();
}

static void jobs_that_end_at_once_succeed(void **state)
{
	(void)state;
	begin();
	npu.job_time = 0;
	start(&rig);
	assert_true(rig.lane.was_done);
	finish(&rig);
	assert_true(is_right(&rig, 1));
	end();
}

static void a_reset_is_seen_though_the_wait_succeeds(void **state)
{
	static const enum npu_fate fates[] = { NPU_HANGS, NPU_WRITES_AND_HANGS };
	size_t i;

	(void)state;
	begin();
	npu.fates = fates;
	npu.fate_count = 2;
	for (i = 0; i < 2; i++) {
		start(&rig);
		assert_int_equal(rocket_lane_finish(&rig.lane, UINT64_MAX), -TENON_E_LOST);
		tenon_error_clear();
		assert_int_equal(npu.resets, i + 1);
	}
	start(&rig);
	finish(&rig);
	assert_true(is_right(&rig, 1));
	end();
}

static void not_yet_is_not_done(void **state)
{
	(void)state;
	begin();
	assert_int_equal(rocket_lane_finish(&rig.lane, 0), -TENON_E_USAGE);
	start(&rig);
	assert_int_equal(rocket_lane_start(&rig.lane, &rig.job), -TENON_E_USAGE);
	assert_int_equal(rocket_lane_finish(&rig.lane, 0), -TENON_E_TIMEOUT);
	assert_error_has("has not ended yet");
	assert_int_equal(rocket_lane_finish(&rig.lane, npu.now + 1), -TENON_E_TIMEOUT);
	tenon_error_clear();
	assert_int_equal(npu.jobs, 0);
	finish(&rig);
	assert_int_equal(npu.submits, 1);
	assert_true(is_right(&rig, 1));
	end();
}

static void interrupted_calls_are_made_again(void **state)
{
	(void)state;
	begin();
	npu.interrupts = 3;
	start(&rig);
	npu.interrupts = 3;
	finish(&rig);
	assert_int_equal(npu.jobs, 1);
	assert_true(is_right(&rig, 1));
	end();
}

static void a_device_that_is_gone_is_lost(void **state)
{
	(void)state;
	begin();
	npu.unplugged = true;
	assert_int_equal(rocket_lane_start(&rig.lane, &rig.job), -TENON_E_LOST);
	tenon_error_clear();
	npu.unplugged = false;
	start(&rig);
	npu.unplugged = true;
	assert_int_equal(rocket_lane_finish(&rig.lane, UINT64_MAX), -TENON_E_LOST);
	tenon_error_clear();
	npu.unplugged = false;
	end();
}

/* ---- several jobs, and several descriptors */

/* The second job reads what the first writes; the test does not wait between the two submissions. */
static void a_job_waits_for_those_that_write_what_it_reads(void **state)
{
	(void)state;
	begin();
	assert_int_equal(rig_open(&other, &accel), 0);
	*words_of(&other, 1) = ROCKET_COMMAND(ROCKET_TARGET_CNA, 0x1070, rig.out.address);
	other.uses[0] = (struct rocket_use){ &rig.out, false, true };
	start(&rig);
	start(&other);
	assert_int_equal(npu.jobs, 0);
	assert_int_equal(npu.most_at_once, 1);
	finish(&other);
	finish(&rig);
	assert_true(is_right(&rig, 1));
	assert_true(is_right(&other, 2));
	rig_close(&other);
	end();
}

static void lanes_and_descriptors_run_at_a_time(void **state)
{
	struct rocket_accel second;

	(void)state;
	begin();
	assert_int_equal(rocket_accel_open(&faulty_calls, tree, NPU_NODE, &second), 0);
	assert_int_equal(rig_open(&other, &second), 0);
	/* each descriptor has addresses of its own */
	assert_int_equal(other.in.address, rig.in.address);
	memset(other.weights.drm.base, 0, SAMPLE_WEIGHED);
	start(&rig);
	start(&other);
	assert_int_equal(npu.most_at_once, 2);
	finish(&other);
	finish(&rig);
	assert_true(is_right(&rig, 1));
	assert_true(is_right(&other, 0));
	rig_close(&other);
	rocket_accel_close(&second);
	end();
}

static void a_reset_may_end_jobs_of_other_descriptors(void **state)
{
	static const enum npu_fate fates[] = { NPU_HANGS, NPU_WRITES_AND_HANGS };
	struct rocket_accel second;

	(void)state;
	begin();
	npu.fates = fates;
	npu.fate_count = 2;
	npu.cancels_all = true;
	assert_int_equal(rocket_accel_open(&faulty_calls, tree, NPU_NODE, &second), 0);
	assert_int_equal(rig_open(&other, &second), 0);
	start(&rig);
	start(&other);
	assert_int_equal(rocket_lane_finish(&other.lane, UINT64_MAX), -TENON_E_LOST);
	assert_int_equal(rocket_lane_finish(&rig.lane, UINT64_MAX), -TENON_E_LOST);
	tenon_error_clear();
	assert_int_equal(npu.resets, 1);
	start(&other);
	finish(&other);
	assert_true(is_right(&other, 1));
	rig_close(&other);
	rocket_accel_close(&second);
	end();
}

static void a_lane_that_is_closed_leaves_its_job_to_the_kernel(void **state)
{
	(void)state;
	begin();
	start(&rig);
	rocket_lane_close(&rig.lane);
	rocket_lane_close(&rig.lane);
	assert_int_equal(npu.jobs, 0);
	npu_pass_time(NPU_SECOND);
	assert_int_equal(npu.jobs, 1);
	end();
}

/* ---- the model itself: what no call of the driver room does */

static int submit_raw(struct rocket_uapi_submit *s)
{
	return drm_call(&accel.drm, ROCKET_UAPI_SUBMIT, s);
}

static void the_model_has_the_errors_of_the_description(void **state)
{
	uint32_t handle = 200;
	struct rocket_uapi_job j = { .tasks = (uintptr_t)&rig.task,
				     .out_handles = (uintptr_t)&handle,
				     .task_count = 1,
				     .task_size = sizeof(rig.task),
				     .out_count = 1 };
	struct rocket_uapi_submit s = { .jobs = (uintptr_t)&j, .job_size = sizeof(j) };
	struct rocket_uapi_prepare p = { .handle = 200, .deadline = INT64_MAX };
	struct rocket_uapi_finish f = { .handle = 200 };

	(void)state;
	begin();
	s.reserved = 1;
	assert_int_equal(submit_raw(&s), 0); /* no jobs: nothing is looked at */
	s.count = 1;
	assert_int_equal(submit_raw(&s), -EINVAL);
	s.reserved = 0;
	s.job_size = sizeof(j) - 1;
	assert_int_equal(submit_raw(&s), -EINVAL);
	s.job_size = sizeof(j);
	s.jobs = 8;
	assert_int_equal(submit_raw(&s), -EFAULT);
	s.jobs = (uintptr_t)&j;
	/* errors of jobs are kept to itself */
	assert_int_equal(submit_raw(&s), 0);
	j.out_count = 0;
	j.task_size = sizeof(rig.task) - 1;
	assert_int_equal(submit_raw(&s), 0);
	j.task_size = sizeof(rig.task);
	j.tasks = 8;
	assert_int_equal(submit_raw(&s), 0);
	assert_int_equal(npu.dropped, 3);
	assert_int_equal(npu.jobs, 0);
	assert_int_equal(drm_call(&accel.drm, ROCKET_UAPI_PREPARE, &p), -ENOENT);
	assert_int_equal(drm_call(&accel.drm, ROCKET_UAPI_FINISH, &f), -ENOENT);
	p.handle = f.handle = rig.in.drm.handle;
	p.reserved = f.reserved = 1;
	assert_int_equal(drm_call(&accel.drm, ROCKET_UAPI_PREPARE, &p), -EINVAL);
	assert_int_equal(drm_call(&accel.drm, ROCKET_UAPI_FINISH, &f), -EINVAL);
	end();
}

/* A buffer that is not given back and forth has old bytes: the model would show a room that forgets to. */
static void the_model_shows_caches_that_were_not_synchronised(void **state)
{
	(void)state;
	begin();
	start(&rig);
	npu_pass_time(NPU_SECOND);
	assert_int_equal(npu.jobs, 1);
	assert_false(is_right(&rig, 1));
	finish(&rig);
	assert_true(is_right(&rig, 1));
	end();
}

/* ---- each call fails, in turn */

static int scenario(const struct system_calls *calls)
{
	struct rocket_accel a;
	int err = rocket_accel_open(calls, tree, NPU_NODE, &a);

	if (err)
		return err;
	err = rig_open(&rig, &a);
	err = err ? err : rocket_lane_start(&rig.lane, &rig.job);
	err = err ? err : rocket_lane_finish(&rig.lane, UINT64_MAX);
	if (!err)
		assert_true(is_right(&rig, 1));
	rig_close(&rig);
	rocket_accel_close(&a);
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
	case 0x42:
		return f->error == EBUSY || f->error == ETIMEDOUT ? -TENON_E_TIMEOUT : 2;
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
	npu_start_rocket();
	return left;
}

static void every_call_that_fails_is_reported_and_leaves_nothing(void **state)
{
	static const int errors[] = { EINTR,  EAGAIN,	  EINVAL,    EFAULT, ENOMEM,
				      ENOENT, EBUSY,	  ENODEV,    EACCES, ENOSYS,
				      EPERM,  EOPNOTSUPP, EIO,	     ETIME,  ENOTTY,
				      ENOSPC, EOVERFLOW,  ETIMEDOUT, 0 };
	static const struct sweep sweep = {
		.under = &npu_calls,
		.scenario = scenario,
		.ioctl_errors = errors,
		.expected = expected,
		.reset = restart,
	};
	unsigned int faults;

	(void)state;
	npu_start_rocket();
	faults = sweep_faults(&sweep);
	print_message("%u faults\n", faults);
	assert_true(faults > 300);
}

/* ---- a real node */

static void a_node_of_the_kernel_gives_buffers_back_and_forth(void **state)
{
	struct rocket_accel a;
	struct rocket_buffer b;
	char path[32];
	int i;

	(void)state;
	for (i = 0; i < 16; i++) {
		snprintf(path, sizeof(path), "/dev/accel/accel%d", i);
		if (!rocket_accel_open(NULL, "", path, &a))
			break;
	}
	if (i == 16) {
		print_message("SKIP: no node below /dev/accel has the driver rocket\n");
		tenon_error_clear();
		skip();
	}
	assert_int_equal(rocket_buffer_open(&a, 100, &b), 0);
	memset(b.drm.base, 0x3c, 100);
	assert_int_equal(rocket_buffer_end(&a, &b), 0);
	assert_int_equal(rocket_buffer_begin(&a, &b, 0), 0);
	assert_int_equal(((uint8_t *)b.drm.base)[99], 0x3c);
	rocket_buffer_close(&a, &b);
	rocket_accel_close(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_reads_and_writes_its_buffers),
		cmocka_unit_test(a_driver_without_a_version_is_known_by_its_name),
		cmocka_unit_test(buffers_that_registers_do_not_reach_are_refused),
		cmocka_unit_test(what_the_kernel_would_drop_is_refused),
		cmocka_unit_test(a_job_that_the_kernel_dropped_is_noticed),
		cmocka_unit_test(jobs_that_end_at_once_succeed),
		cmocka_unit_test(a_reset_is_seen_though_the_wait_succeeds),
		cmocka_unit_test(not_yet_is_not_done),
		cmocka_unit_test(interrupted_calls_are_made_again),
		cmocka_unit_test(a_device_that_is_gone_is_lost),
		cmocka_unit_test(a_job_waits_for_those_that_write_what_it_reads),
		cmocka_unit_test(lanes_and_descriptors_run_at_a_time),
		cmocka_unit_test(a_reset_may_end_jobs_of_other_descriptors),
		cmocka_unit_test(a_lane_that_is_closed_leaves_its_job_to_the_kernel),
		cmocka_unit_test(every_call_that_fails_is_reported_and_leaves_nothing),
		cmocka_unit_test(the_model_has_the_errors_of_the_description),
		cmocka_unit_test(the_model_shows_caches_that_were_not_synchronised),
		cmocka_unit_test(a_node_of_the_kernel_gives_buffers_back_and_forth),
	};

	return cmocka_run_group_tests(tests, tree_setup, tree_teardown);
}
