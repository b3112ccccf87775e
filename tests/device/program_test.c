/* SPDX-License-Identifier: MIT */
/* Payloads become programs: tables, launch tags, and each kernel's own piece of code. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/suite.h"

#include <tenon/backend/buffer.h>
#include <tenon/backend/executable.h>
#include <tenon/backend/payload_format.h>
#include <tenon/module.h>

static struct tenon_buffer payload;

static void text(const char *s)
{
	tenon_buffer_string(&payload, tenon_slice_of(s));
}

static void dtype(uint8_t code, uint8_t bits, uint8_t lanes)
{
	tenon_buffer_u8(&payload, code);
	tenon_buffer_u8(&payload, bits);
	tenon_buffer_u8(&payload, lanes);
	tenon_buffer_u8(&payload, 0);
}

/* a table of kernels that take a pointer and an int32 each, and these launch tags */
static void table(const char *const *names, size_t count, const char *const *tags, size_t tag_count)
{
	size_t i, j;

	tenon_buffer_u64(&payload, count);
	for (i = 0; i < count; i++) {
		text(names[i]);
		text("");
		tenon_buffer_u64(&payload, 2);
		dtype(TENON_DTYPE_HANDLE, 64, 1);
		dtype(TENON_DTYPE_INT, 32, 1);
		tenon_buffer_u64(&payload, tag_count);
		for (j = 0; j < tag_count; j++)
			text(tags[j]);
	}
}

static int read(const char *kind, struct tenon_program **out)
{
	const struct tenon_slice bytes = { payload.data, payload.size };

	return tenon_program_read(tenon_slice_of(kind), TENON_GENERATION_LEGACY, bytes, "test.so",
				  out);
}

static int begin(void **state)
{
	(void)state;
	tenon_buffer_fini(&payload);
	tenon_error_clear();
	return 0;
}

static int read_tags(const char *const *tags, size_t count, struct tenon_program **out)
{
	static const char *const name[] = { "k" };

	begin(NULL);
	text("ptx");
	table(name, 1, tags, count);
	text("the code");
	return read("cuda", out);
}

static void tags_name_extents_in_the_order_they_come(void **state)
{
	static const char *const tags[] = { "threadIdx.x", "blockIdx.z", "clusterCtaIdx.y",
					    "preferredClusterCtaIdx.x" };
	struct tenon_program *p;
	const struct tenon_kernel_info *k;

	(void)state;
	assert_int_equal(read_tags(tags, 4, &p), 0);
	k = &p->kernels[0];
	assert_slice(p->kind, "cuda");
	assert_slice(p->format, "ptx");
	assert_slice(p->code, "the code");
	assert_string_equal(p->label, "test.so");
	assert_slice(k->name, "k");
	assert_int_equal(k->argument_count, 2);
	assert_int_equal(k->memory_count, 1);
	assert_int_equal(k->scalar_count, 1);
	assert_int_equal(k->arguments[0].kind, TENON_ARGUMENT_MEMORY);
	assert_int_equal(k->arguments[0].size, 8);
	assert_int_equal(k->arguments[1].kind, TENON_ARGUMENT_SCALAR);
	assert_int_equal(k->arguments[1].size, 4);
	assert_int_equal(k->tag_count, 4);
	assert_int_equal(k->tags[0], TENON_TAG_BLOCK);
	assert_int_equal(k->tags[1], TENON_TAG_GRID + 2);
	assert_int_equal(k->tags[2], TENON_TAG_CLUSTER + 1);
	assert_int_equal(k->tags[3], TENON_TAG_PREFERRED_CLUSTER);
	assert_int_equal(k->dimensions, 3);
	assert_int_equal(k->flags, TENON_KERNEL_CLUSTER | TENON_KERNEL_PREFERRED_CLUSTER);
	tenon_program_free(p);
}

static void flags_take_no_extent_but_shared_memory_does(void **state)
{
	/* as TVM spells them, in the names of either generation */
	static const char *const tags[] = { "blockIdx.x", "tir.use_cooperative_launch",
					    "tirx.use_programtic_dependent_launch",
					    "tir.use_dyn_shared_memory" };
	struct tenon_program *p;

	(void)state;
	assert_int_equal(read_tags(tags, 4, &p), 0);
	assert_int_equal(p->kernels[0].tag_count, 2);
	assert_int_equal(p->kernels[0].tags[0], TENON_TAG_GRID);
	assert_int_equal(p->kernels[0].tags[1], TENON_TAG_SHARED);
	assert_int_equal(p->kernels[0].flags,
			 TENON_KERNEL_SHARED | TENON_KERNEL_COOPERATIVE | TENON_KERNEL_DEPENDENT);
	assert_int_equal(p->kernels[0].dimensions, 1);
	tenon_program_free(p);
}

static void a_tag_that_nobody_knows_is_refused_by_name(void **state)
{
	static const char *const wrong[] = { "blockIdx.w", "vthread", "tir.use_magic", "threadIdx.",
					     "threadIdx.xx" };
	struct tenon_program *p;
	char quoted[64];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(read_tags(&wrong[i], 1, &p), -TENON_E_UNSUPPORTED);
		assert_null(p);
		snprintf(quoted, sizeof(quoted), "test.so: kernel k: launch tag \"%s\"", wrong[i]);
		assert_error_has(quoted);
	}
}

static int read_type(uint8_t code, uint8_t bits, uint8_t lanes, struct tenon_program **out)
{
	begin(NULL);
	text("ptx");
	tenon_buffer_u64(&payload, 1);
	text("k");
	text("");
	tenon_buffer_u64(&payload, 1);
	dtype(code, bits, lanes);
	tenon_buffer_u64(&payload, 0);
	text("");
	return read("cuda", out);
}

static void arguments_are_of_types_that_kernels_take(void **state)
{
	static const struct {
		uint8_t code, bits, lanes, size;
	} good[] = {
		{ TENON_DTYPE_INT, 8, 1, 1 },	  { TENON_DTYPE_INT, 64, 1, 8 },
		{ TENON_DTYPE_UINT, 1, 1, 1 },	  { TENON_DTYPE_UINT, 16, 1, 2 },
		{ TENON_DTYPE_FLOAT, 16, 1, 2 },  { TENON_DTYPE_FLOAT, 64, 1, 8 },
		{ TENON_DTYPE_BFLOAT, 16, 1, 2 }, { TENON_DTYPE_BOOL, 8, 1, 1 },
	};
	static const struct {
		uint8_t code, bits, lanes;
	} bad[] = {
		{ TENON_DTYPE_INT, 4, 1 },     { TENON_DTYPE_INT, 32, 4 },
		{ TENON_DTYPE_INT, 1, 1 },     { TENON_DTYPE_FLOAT, 80, 1 },
		{ TENON_DTYPE_BFLOAT, 32, 1 }, { 77, 8, 1 },
		{ TENON_DTYPE_INT, 32, 0 },
	};
	struct tenon_program *p;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(read_type(good[i].code, good[i].bits, good[i].lanes, &p), 0);
		assert_int_equal(p->kernels[0].arguments[0].size, good[i].size);
		tenon_program_free(p);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(read_type(bad[i].code, bad[i].bits, bad[i].lanes, &p),
				 -TENON_E_UNSUPPORTED);
		assert_error_has("which kernels do not take");
	}
}

static struct tenon_program *read_source(const char *source)
{
	static const char *const names[] = { "a", "b", "c" }, *const tags[] = { "blockIdx.x" };
	struct tenon_program *p = NULL;

	begin(NULL);
	text("cl");
	table(names, 3, tags, 1);
	text(source);
	assert_int_equal(read("opencl", &p), 0);
	return p;
}

static void source_is_cut_at_its_markers(void **state)
{
	struct tenon_program *p = read_source("// head\n"
					      "// Function: b\r\nB body // Function: c\n"
					      "// Function: a\nA body\n"
					      "// Function: nobody\nlost\n"
					      "// Function: c");

	(void)state;
	assert_slice(p->kernels[0].code, "A body\n");
	/* a marker within a line is a comment like any other */
	assert_slice(p->kernels[1].code, "B body // Function: c\n");
	/* one that no line follows has no code */
	assert_int_equal(p->kernels[2].code.size, 0);
	tenon_program_free(p);
	p = read_source("__kernel void a() {}");
	assert_int_equal(p->kernels[0].code.size, 0);
	assert_slice(p->code, "__kernel void a() {}");
	tenon_program_free(p);
	tenon_program_free(read_source(""));
	tenon_program_free(NULL);
}

/* parts may come in any order, and a table may say a name twice */
static void each_of_many_kernels_has_its_own_code(void **state)
{
	enum { COUNT = 1000 };
	static char name[COUNT][8];
	struct tenon_buffer source = TENON_BUFFER_INIT;
	const char *names[COUNT];
	struct tenon_program *p;
	char code[32];
	int i;

	(void)state;
	for (i = 0; i < COUNT; i++) {
		snprintf(name[i], sizeof(name[i]), "k%d", i % (COUNT - 1));
		names[i] = name[i];
	}
	for (i = COUNT - 2; i >= 0; i--)
		tenon_buffer_printf(&source, "// Function: k%d\nbody %d\n", i, i);
	tenon_buffer_u8(&source, 0);
	text("cl");
	table(names, COUNT, NULL, 0);
	text(source.data);
	tenon_buffer_fini(&source);
	assert_int_equal(read("opencl", &p), 0);
	for (i = 0; i < COUNT - 1; i++) {
		snprintf(code, sizeof(code), "body %d\n", i);
		assert_true(tenon_slice_equal(p->kernels[i].code, tenon_slice_of(code)));
	}
	assert_int_equal(p->kernels[COUNT - 1].code.size, 0);
	tenon_program_free(p);
}

static int read_words(uint32_t last_word, struct tenon_program **out)
{
	static const char *const names[] = { "a", "b" }, *const tags[] = { "blockIdx.x" };

	begin(NULL);
	text("vulkan");
	table(names, 2, tags, 1);
	tenon_buffer_u64(&payload, 2);
	text("b");
	tenon_buffer_u32(&payload, 1);
	tenon_buffer_u64(&payload, 2);
	tenon_buffer_u32(&payload, 0x07230203);
	tenon_buffer_append(&payload, "word", 4);
	text("stranger");
	tenon_buffer_u32(&payload, 0);
	tenon_buffer_u64(&payload, 1);
	tenon_buffer_u32(&payload, last_word);
	return read("vulkan", out);
}

static void each_kernel_of_vulkan_has_words_and_a_flag(void **state)
{
	struct tenon_program *p;

	(void)state;
	assert_int_equal(read_words(0x07230203, &p), 0);
	assert_int_equal(p->kernels[0].code.size, 0);
	assert_int_equal(p->kernels[1].code.size, 8);
	assert_memory_equal(p->kernels[1].code.data + 4, "word", 4);
	assert_int_equal(p->kernels[1].code_flags, 1);
	tenon_program_free(p);
	/* of the form that was promised, not of the other that is tried too */
	assert_int_equal(read_words(0x12345678, &p), -TENON_E_FORMAT);
	assert_error_has("no SPIR-V program");
}

static void bytes_that_are_cut_short_are_refused_at_every_length(void **state)
{
	static const char *const names[] = { "a", "b" }, *const tags[] = { "blockIdx.x" };
	struct tenon_program *p;
	size_t whole, size;

	(void)state;
	text("ptx");
	table(names, 2, tags, 1);
	text("code");
	whole = payload.size;
	for (size = 0; size < whole; size++) {
		/* memory of just that size, so that a byte more is seen */
		char *bytes = malloc(size + !size);
		const struct tenon_slice cut = { bytes, size };

		assert_non_null(bytes);
		memcpy(bytes, payload.data, size);
		assert_true(tenon_program_read(tenon_slice_of("cuda"), TENON_GENERATION_LEGACY, cut,
					       "cut", &p) < 0);
		assert_null(p);
		free(bytes);
	}
	tenon_error_clear();
}

/* Arguments have numbers of 16 bits. */
static void more_arguments_than_have_numbers_are_refused(void **state)
{
	struct tenon_program *p;
	size_t i, count;

	(void)state;
	for (count = UINT16_MAX; count <= UINT16_MAX + 1; count++) {
		begin(NULL);
		text("ptx");
		tenon_buffer_u64(&payload, 1);
		text("k");
		text("");
		tenon_buffer_u64(&payload, count);
		for (i = 0; i < count; i++)
			dtype(i + 1 < count ? TENON_DTYPE_HANDLE : TENON_DTYPE_INT,
			      i + 1 < count ? 64 : 32, 1);
		tenon_buffer_u64(&payload, 0);
		text("the code");
		if (count <= UINT16_MAX) {
			assert_int_equal(read("cuda", &p), 0);
			assert_int_equal(p->kernels[0].argument_count, count);
			assert_int_equal(p->kernels[0].arguments[count - 1].kind,
					 TENON_ARGUMENT_SCALAR);
			assert_int_equal(p->kernels[0].memory_count, count - 1);
			tenon_program_free(p);
			continue;
		}
		assert_int_equal(read("cuda", &p), -TENON_E_UNSUPPORTED);
		assert_null(p);
		assert_error_has("test.so: kernel k takes 65536 arguments");
	}
}

static bool tag_of_its_own(struct tenon_slice tag, int *extent, uint32_t *flags)
{
	(void)flags;
	*extent = tenon_slice_equal(tag, tenon_slice_of("far")) ? TENON_TAG_COUNT : 0;
	return true;
}

static void an_extent_that_a_plug_in_makes_up_is_refused(void **state)
{
	static const char *const kinds[] = { "tagged", NULL }, *const name[] = { "k" };
	static const char *const near[] = { "near" }, *const far[] = { "far" };
	static const struct tenon_payload_format format = {
		.size = sizeof(format), .kinds = kinds, .fields = "m", .tag = tag_of_its_own
	};
	struct tenon_program *p;

	(void)state;
	assert_int_equal(tenon_payload_format_register(&format), 0);
	table(name, 1, near, 1);
	assert_int_equal(read("tagged", &p), 0);
	tenon_program_free(p);
	begin(NULL);
	table(name, 1, far, 1);
	assert_int_equal(read("tagged", &p), -TENON_E_UNSUPPORTED);
	assert_error_has("launch tag \"far\" is not known here");
}

static void a_kind_that_nobody_describes_is_refused(void **state)
{
	struct tenon_program *p;

	(void)state;
	text("ptx");
	assert_true(read("nobody", &p) < 0);
	assert_null(p);
	assert_true(*tenon_error_message());
	tenon_error_clear();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(tags_name_extents_in_the_order_they_come, begin),
		cmocka_unit_test_setup(flags_take_no_extent_but_shared_memory_does, begin),
		cmocka_unit_test_setup(a_tag_that_nobody_knows_is_refused_by_name, begin),
		cmocka_unit_test_setup(arguments_are_of_types_that_kernels_take, begin),
		cmocka_unit_test_setup(source_is_cut_at_its_markers, begin),
		cmocka_unit_test_setup(each_of_many_kernels_has_its_own_code, begin),
		cmocka_unit_test_setup(each_kernel_of_vulkan_has_words_and_a_flag, begin),
		cmocka_unit_test_setup(bytes_that_are_cut_short_are_refused_at_every_length, begin),
		cmocka_unit_test_setup(more_arguments_than_have_numbers_are_refused, begin),
		cmocka_unit_test_setup(an_extent_that_a_plug_in_makes_up_is_refused, begin),
		cmocka_unit_test_setup(a_kind_that_nobody_describes_is_refused, begin),
	};

	return cmocka_run_group_tests_name("programs", tests, NULL, begin);
}
