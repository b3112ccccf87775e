/* SPDX-License-Identifier: MIT */
/* Write the suite's kernels as PTX. */
#include "tests/cts/cuda_ptx.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <tenon/backend/buffer.h>
#include <unistd.h>

#include "tests/cuda/fake_cuda.h"

static const char head[] = ".version 6.0\n"
			   ".target sm_52\n"
			   ".address_size 64\n"
			   ".extern .shared .align 16 .b8 dynamic[];\n";

/* blockIdx.x * 32 + threadIdx.x in %r1, and nothing further when it is not below %r2 */
#define INDEX                                                                                      \
	"mov.u32 %r3, %ctaid.x;\n"                                                                 \
	"mov.u32 %r4, %tid.x;\n"                                                                   \
	"mad.lo.s32 %r1, %r3, 32, %r4;\n"                                                          \
	"setp.ge.s32 %p1, %r1, %r2;\n"                                                             \
	"@%p1 bra DONE;\n"                                                                         \
	"mul.wide.s32 %rd4, %r1, 4;\n"

#define REGISTERS                                                                                  \
	".reg .pred %p<4>;\n.reg .b16 %rs<4>;\n.reg .b32 %r<32>;\n.reg .f32 %f<8>;\n"              \
	".reg .f64 %fd<4>;\n.reg .b64 %rd<32>;\n"

static const char add[] =
	".visible .entry add(.param .u64 a, .param .u64 b, .param .u64 out, .param .u32 n)\n"
	"{\n" REGISTERS "ld.param.u64 %rd1, [a];\n"
	"ld.param.u64 %rd2, [b];\n"
	"ld.param.u64 %rd3, [out];\n"
	"ld.param.u32 %r2, [n];\n" INDEX "cvta.to.global.u64 %rd1, %rd1;\n"
	"cvta.to.global.u64 %rd2, %rd2;\n"
	"cvta.to.global.u64 %rd3, %rd3;\n"
	"add.s64 %rd1, %rd1, %rd4;\n"
	"add.s64 %rd2, %rd2, %rd4;\n"
	"add.s64 %rd3, %rd3, %rd4;\n"
	"ld.global.u32 %r5, [%rd1];\n"
	"ld.global.u32 %r6, [%rd2];\n"
	"add.s32 %r7, %r5, %r6;\n"
	"st.global.u32 [%rd3], %r7;\n"
	"DONE:\nret;\n}\n";

static const char scale[] =
	".visible .entry scale(.param .u64 data, .param .f32 factor, .param .u32 n)\n"
	"{\n" REGISTERS "ld.param.u64 %rd1, [data];\n"
	"ld.param.f32 %f1, [factor];\n"
	"ld.param.u32 %r2, [n];\n" INDEX "cvta.to.global.u64 %rd1, %rd1;\n"
	"add.s64 %rd1, %rd1, %rd4;\n"
	"ld.global.f32 %f2, [%rd1];\n"
	"mul.f32 %f3, %f2, %f1;\n"
	"st.global.f32 [%rd1], %f3;\n"
	"DONE:\nret;\n}\n";

static const char bump[] = ".visible .entry bump(.param .u64 data)\n"
			   "{\n" REGISTERS "ld.param.u64 %rd1, [data];\n"
			   "cvta.to.global.u64 %rd1, %rd1;\n"
			   "mov.u32 %r1, %ctaid.x;\n"
			   "mul.wide.u32 %rd2, %r1, 4;\n"
			   "add.s64 %rd1, %rd1, %rd2;\n"
			   "ld.global.u32 %r2, [%rd1];\n"
			   "add.s32 %r2, %r2, 1;\n"
			   "st.global.u32 [%rd1], %r2;\n"
			   "ret;\n}\n";

static const char order[] =
	".visible .entry order(.param .u32 a, .param .u64 out, .param .f32 b, .param .u32 c, "
	".param .u64 in, .param .u32 d)\n"
	"{\n" REGISTERS "ld.param.u32 %r1, [a];\n"
	"ld.param.u64 %rd1, [out];\n"
	"ld.param.f32 %f1, [b];\n"
	"ld.param.u32 %r3, [c];\n"
	"ld.param.u64 %rd2, [in];\n"
	"ld.param.u32 %r5, [d];\n"
	"cvta.to.global.u64 %rd1, %rd1;\n"
	"cvta.to.global.u64 %rd2, %rd2;\n"
	"mul.f32 %f2, %f1, 0f40800000;\n"
	"cvt.rzi.s32.f32 %r2, %f2;\n"
	"ld.global.u32 %r4, [%rd2];\n"
	"st.global.u32 [%rd1], %r1;\n"
	"st.global.u32 [%rd1+4], %r2;\n"
	"st.global.u32 [%rd1+8], %r3;\n"
	"st.global.u32 [%rd1+12], %r4;\n"
	"st.global.u32 [%rd1+16], %r5;\n"
	"ret;\n}\n";

static const char order_wide[] =
	".visible .entry order_wide(.param .u8 a, .param .u64 out, .param .f64 b, .param .u32 c, "
	".param .u64 d, .param .u64 in, .param .u16 e)\n"
	"{\n" REGISTERS "ld.param.s8 %rs1, [a];\n"
	"ld.param.u64 %rd1, [out];\n"
	"ld.param.f64 %fd1, [b];\n"
	"ld.param.u32 %r1, [c];\n"
	"ld.param.u64 %rd2, [d];\n"
	"ld.param.u64 %rd3, [in];\n"
	"ld.param.s16 %rs2, [e];\n"
	"cvta.to.global.u64 %rd1, %rd1;\n"
	"cvta.to.global.u64 %rd3, %rd3;\n"
	"cvt.s64.s16 %rd4, %rs1;\n"
	"mul.f64 %fd2, %fd1, 0d4010000000000000;\n"
	"cvt.rzi.s64.f64 %rd5, %fd2;\n"
	"cvt.s64.s32 %rd6, %r1;\n"
	"ld.global.u64 %rd7, [%rd3];\n"
	"cvt.s64.s16 %rd8, %rs2;\n"
	"st.global.u64 [%rd1], %rd4;\n"
	"st.global.u64 [%rd1+8], %rd5;\n"
	"st.global.u64 [%rd1+16], %rd6;\n"
	"st.global.u64 [%rd1+24], %rd2;\n"
	"st.global.u64 [%rd1+32], %rd7;\n"
	"st.global.u64 [%rd1+40], %rd8;\n"
	"ret;\n}\n";

static const char where[] = ".visible .entry where(.param .u64 out)\n"
			    "{\n" REGISTERS "ld.param.u64 %rd1, [out];\n"
			    "cvta.to.global.u64 %rd1, %rd1;\n"
			    "mov.u32 %r1, %ctaid.x;\n"
			    "mov.u32 %r2, %ctaid.y;\n"
			    "mov.u32 %r3, %ctaid.z;\n"
			    "mov.u32 %r4, %nctaid.x;\n"
			    "mov.u32 %r5, %nctaid.y;\n"
			    "mad.lo.s32 %r6, %r3, %r5, %r2;\n"
			    "mad.lo.s32 %r6, %r6, %r4, %r1;\n"
			    "mad.lo.s32 %r7, %r2, 10, %r1;\n"
			    "mad.lo.s32 %r7, %r3, 100, %r7;\n"
			    "mul.wide.s32 %rd2, %r6, 4;\n"
			    "add.s64 %rd1, %rd1, %rd2;\n"
			    "st.global.u32 [%rd1], %r7;\n"
			    "ret;\n}\n";

static const char threads[] = ".visible .entry threads(.param .u64 out)\n"
			      "{\n" REGISTERS "ld.param.u64 %rd1, [out];\n"
			      "cvta.to.global.u64 %rd1, %rd1;\n"
			      "mov.u32 %r1, %tid.x;\n"
			      "mov.u32 %r2, %tid.y;\n"
			      "mov.u32 %r3, %ctaid.x;\n"
			      "shl.b32 %r4, %r3, 3;\n"
			      "mad.lo.s32 %r4, %r2, 4, %r4;\n"
			      "add.s32 %r4, %r4, %r1;\n"
			      "mad.lo.s32 %r5, %r3, 1000, %r1;\n"
			      "mad.lo.s32 %r5, %r2, 10, %r5;\n"
			      "mul.wide.s32 %rd2, %r4, 4;\n"
			      "add.s64 %rd1, %rd1, %rd2;\n"
			      "st.global.u32 [%rd1], %r5;\n"
			      "ret;\n}\n";

static const char reverse[] = ".visible .entry reverse(.param .u64 data)\n"
			      "{\n" REGISTERS "ld.param.u64 %rd1, [data];\n"
			      "cvta.to.global.u64 %rd1, %rd1;\n"
			      "mov.u32 %r1, %tid.x;\n"
			      "mov.u32 %r2, %ntid.x;\n"
			      "mov.u32 %r3, %ctaid.x;\n"
			      "mad.lo.s32 %r4, %r3, 16, %r1;\n"
			      "mul.wide.s32 %rd2, %r4, 4;\n"
			      "add.s64 %rd1, %rd1, %rd2;\n"
			      "ld.global.u32 %r5, [%rd1];\n"
			      "mov.u32 %r6, dynamic;\n"
			      "shl.b32 %r7, %r1, 2;\n"
			      "add.s32 %r7, %r6, %r7;\n"
			      "st.shared.u32 [%r7], %r5;\n"
			      "bar.sync 0;\n"
			      "sub.s32 %r8, %r2, %r1;\n"
			      "shl.b32 %r8, %r8, 2;\n"
			      "add.s32 %r8, %r6, %r8;\n"
			      "ld.shared.u32 %r9, [%r8+-4];\n"
			      "st.global.u32 [%rd1], %r9;\n"
			      "ret;\n}\n";

static const struct {
	const char *name, *text;
} kernels[] = {
	{ "add", add },		{ "scale", scale },	      { "bump", bump },
	{ "order", order },	{ "order_wide", order_wide }, { "where", where },
	{ "threads", threads }, { "reverse", reverse },
};

static void write_many(struct tenon_buffer *out)
{
	int i;

	tenon_buffer_printf(out, ".visible .entry many(.param .u64 out");
	for (i = 0; i < 10; i++)
		tenon_buffer_printf(out, ", .param .u32 v%d", i);
	tenon_buffer_printf(out,
			    ")\n{\n%sld.param.u64 %%rd1, [out];\n"
			    "cvta.to.global.u64 %%rd1, %%rd1;\n",
			    REGISTERS);
	for (i = 0; i < 10; i++)
		tenon_buffer_printf(out,
				    "ld.param.u32 %%r1, [v%d];\nst.global.u32 [%%rd1+%d], %%r1;\n",
				    i, 4 * i);
	tenon_buffer_printf(out, "ret;\n}\n");
}

static unsigned int bits_of(const char *dtype)
{
	const char *digits = dtype + strcspn(dtype, "0123456789");

	return *digits ? (unsigned int)strtoul(digits, NULL, 10) : 8;
}

/* The bits alone matter. */
static void write_scalar(const struct cts_kernel *k, struct tenon_buffer *out)
{
	bool first = strcmp(k->arguments[0], "handle");
	unsigned int bits = bits_of(k->arguments[!first]);
	const char *reg = bits == 64 ? "%rd2" : bits == 32 ? "%r1" : "%rs1";

	if (first)
		tenon_buffer_printf(out, ".visible .entry %s(.param .u%u v, .param .u64 out)\n",
				    k->name, bits);
	else
		tenon_buffer_printf(out, ".visible .entry %s(.param .u64 out, .param .u%u v)\n",
				    k->name, bits);
	tenon_buffer_printf(
		out,
		"{\n%sld.param.u64 %%rd1, [out];\nld.param.u%u %s, [v];\n"
		"cvta.to.global.u64 %%rd1, %%rd1;\nst.global.u%u [%%rd1], %s;\nret;\n}\n",
		REGISTERS, bits, reg, bits, reg);
}

int cuda_ptx_code(struct tenon_buffer *out)
{
	const struct cts_kernel *k;
	size_t i;

	tenon_buffer_printf(out, "%s", head);
	for (k = cts_kernels; k->name; k++) {
		if (!strncmp(k->name, "scalar_", 7))
			write_scalar(k, out);
		if (!strcmp(k->name, "many"))
			write_many(out);
		for (i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++)
			if (!strcmp(kernels[i].name, k->name))
				tenon_buffer_slice(out, tenon_slice_of(kernels[i].text));
	}
	return out->status;
}

static char fake_path[4096];

/* When all devices are closed: did the backend do what no driver allows, and is all given back. */
static void fake_verdict(void)
{
	void *library = dlopen(fake_path, RTLD_NOW | RTLD_NOLOAD);
	const struct fake_cuda *fake = library ? dlsym(library, "fake_cuda") : NULL;
	int i;

	/* the thread of a queue whose wait ended with the device looks every 20 ms */
	for (i = 0; fake && i < 6000 && __atomic_load_n(&fake->live, __ATOMIC_ACQUIRE); i++)
		usleep(10000);
	if (!fake || (!fake->complaints && !fake->live && !fake->blocked && !fake->waits))
		return;
	fprintf(stderr,
		"# fake libcuda: %ld complaints, the first is \"%s\"; %ld objects are left; %ld "
		"calls waited, %ld for ever\n",
		fake->complaints, fake->complaint, fake->live, fake->waits, fake->blocked);
	fflush(NULL);
	_exit(1);
}

const char *cuda_fake_setup(const char *library, const char *mode)
{
	const char *build = getenv("TENON_BUILD");
	char *path = fake_path;

	if (sizeof(void *) != 8)
		return "the suite's PTX is for addresses of 64 bits, as all of CUDA since 9";
	snprintf(path, sizeof(fake_path), "%s/tests/cuda/%s.so", build ? build : "build", library);
	if (access(path, R_OK))
		return "the fake libcuda is not built";
	setenv("TENON_CUDA_LIBRARY", path, 1);
	setenv("TENON_FAKE_CUDA", mode, 1);
	atexit(fake_verdict);
	return NULL;
}
