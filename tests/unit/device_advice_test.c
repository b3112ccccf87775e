/* SPDX-License-Identifier: MIT */
/* What the command says of a --device that does not exist, or that a module needs. */
#include "suite.h"

#include <stdlib.h>
#include "cli_run.h"

#define DATA  "tests/interop/data/"
#define ADD   DATA "tvm-0.27.0.post1/opencl_vecadd/lib.so"
#define OLD   DATA "tvm-0.18/opencl_vecadd/lib.so"
#define METAL DATA "tvm-0.27.0.post1/metal_vecadd/lib.so"
#define MLP   DATA "tvm-0.27.0.post1/model_mlp_opencl/model.so"
#define CUDA  DATA "tvm-0.27.0.post1/model_mlp_cuda/model.so"
#define GRAPH DATA "tvm-0.18/graph_mlp_opencl/graph.so"
#define HOST  DATA "tvm-0.27.0.post1/host_vecadd/lib.so"

#ifdef __x86_64__
#define NEEDS_X86
#else
#define NEEDS_X86 skip()
#endif

/* the run failed, and its errors have one text and not another */
static void assert_advises(struct cli_run r, int code, const char *words, const char *riddle)
{
	if (!strstr(r.err, words))
		fail_msg("wanted \"%s\" in: %s", words, r.err);
	if (strstr(r.err, riddle))
		fail_msg("did not want \"%s\" in: %s", riddle, r.err);
	assert_int_equal(r.code, code);
	cli_run_free(&r);
}

static void an_unknown_kind_of_device_is_named_with_those_of_the_build(void **state)
{
	(void)state;
	assert_refused(RUN("run", HOST, "--device", "gpu"), CLI_USAGE,
		       "--device gpu: no kind of device is called \"gpu\"; this build has cpu");
	assert_refused(RUN("run", HOST, "--device", "gpu:0"), CLI_USAGE, "called \"gpu\"");
	assert_refused(RUN("run", HOST, "--target-key", "npu=gpu://x"), CLI_USAGE,
		       "--target-key gpu://x: no kind of device is called \"gpu\"");
	assert_refused(RUN("bench", HOST, "--device", "gpu"), CLI_USAGE, "called \"gpu\"");
	assert_refused(RUN("warm", HOST, "--device", "gpu"), CLI_USAGE, "called \"gpu\"");
	assert_refused(RUN("device", "reset", "gpu"), CLI_USAGE, "called \"gpu\"");
}

static void kernels_for_a_device_ask_for_it_in_place_of_the_compilers_words(void **state)
{
	(void)state;
	NEEDS_X86;
	assert_advises(RUN("run", ADD, "--input", "64xfloat32=ones", "--input", "64xfloat32=ones",
			   "--output", "64xfloat32"),
		       CLI_FAILED, "lib.so has kernels for opencl: add --device opencl:0\n",
		       "device_type");
	assert_advises(RUN("run", OLD, "--input", "1024xfloat32=ones", "--input",
			   "1024xfloat32=ones", "--output", "1024xfloat32"),
		       CLI_FAILED, "add --device opencl:0\n", "tvm_struct_get");
	assert_advises(RUN("run", MLP, "--function", "forward", "--input", "x=3x16xfloat32=ones"),
		       CLI_FAILED, "add --device opencl:0\n", "Mismatched");
	assert_advises(RUN("bench", MLP), CLI_FAILED, "add --device opencl:0\n", "Mismatched");
	assert_advises(RUN("bench", CUDA), CLI_FAILED, "kernels for cuda: add --device cuda:0\n",
		       "Mismatched");
	assert_advises(RUN("bench", GRAPH), CLI_UNAVAILABLE, "add --device opencl:0\n", "without");
	assert_advises(RUN("warm", MLP), CLI_USAGE, "kernels for opencl: add --device opencl:0\n",
		       "Mismatched");
}

static void kernels_that_no_device_of_the_build_runs_are_named(void **state)
{
	(void)state;
	NEEDS_X86;
	assert_advises(RUN("run", METAL, "--input", "64xfloat32=ones", "--input", "64xfloat32=ones",
			   "--output", "64xfloat32"),
		       CLI_FAILED,
		       "lib.so has kernels for metal, and this build has no such device",
		       "Mismatched");
}

static void other_errors_stay_beside_the_advice(void **state)
{
	(void)state;
	NEEDS_X86;
	assert_advises(RUN("run", ADD), CLI_FAILED, "Expected 3 arguments", "failed without");
	assert_advises(RUN("run", ADD), CLI_FAILED, "add --device opencl:0\n", "failed without");
	/* a function of the processor gets no advice */
	assert_advises(RUN("run", HOST), CLI_FAILED, "Expected 3 arguments", "--device");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_unknown_kind_of_device_is_named_with_those_of_the_build),
		cmocka_unit_test(kernels_for_a_device_ask_for_it_in_place_of_the_compilers_words),
		cmocka_unit_test(kernels_that_no_device_of_the_build_runs_are_named),
		cmocka_unit_test(other_errors_stay_beside_the_advice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
