/* SPDX-License-Identifier: MIT */
/* Memory of networks behind the kernel's accel interface, on the kernel's model (a named fake), and what a run costs. */
#include <stdlib.h>
#include <sys/mman.h>
#include <tenon/timeline.h>
#include <unistd.h>

#include "tests/driver/faults.h"
#include "tests/driver/tree.h"
#include "tests/npu/accel_rig.h"
#include "tests/npu/npu_kernel.h"
#include "tests/unit/suite.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scratch_memory_is_in_sram_if_it_fits),
		cmocka_unit_test(regions_that_are_not_in_use_get_no_buffer),
		cmocka_unit_test(other_buffers_of_the_device_are_used_without_copies),
		cmocka_unit_test(buffers_of_others_are_refused_with_a_reason),
		cmocka_unit_test(a_run_is_one_call_that_copies_nothing),
	};

	return cmocka_run_group_tests(tests, tree_setup, tree_teardown);
}
