/* SPDX-License-Identifier: MIT */
/* Cases in a module: written, read, refused where they are damaged, and run. */
#include "tests/unit/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <tenon/link.h>
#include <tenon/self_test.h>

#include "lib/elf.h"
#include "lib/file_map.h"
#include "lib/sha256.h"
#include "runtime/self_test/cases_format.h"

#define GRAPH "tests/interop/data/tvm-0.8/graph_mlp/graph.so"

#ifdef __x86_64__
#define NEEDS_X86
#else
#define NEEDS_X86 skip()
#endif

/* bytes in front of what is hashed: size, version, hash */
#define HASHED 44

static const char *in_folder(const char *name, char path[300])
{
	snprintf(path, 300, "%s/%s", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", name);
	return path;
}

static struct tenon_param param(const char *name, const int64_t *shape, DLDataType dtype,
				void *data)
{
	return (struct tenon_param){ .name = tenon_slice_of(name),
				     .tensor = tenon_dltensor(data, (int64_t *)(uintptr_t)shape, 2,
							      dtype) };
}

static struct tenon_model *open_model(const char *path)
{
	struct tenon_module *root = NULL;
	struct tenon_model *model = NULL;

	assert_int_equal(tenon_module_load(path, &root), 0);
	assert_int_equal(tenon_model_open(root, NULL, &model), 0);
	tenon_object_unref(root);
	return model;
}

static const int64_t in_shape[] = { 1, 32 }, out_shape[] = { 1, 10 };
static float in[32], out[10];

/* what the model gives for halves */
static void compute(void)
{
	struct tenon_model *model = open_model(GRAPH);
	struct tenon_param p = param("x", in_shape, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1), in);
	struct tenon_value value = tenon_arg_tensor(&p.tensor);
	DLTensor *t;
	size_t i;

	for (i = 0; i < 32; i++)
		in[i] = 0.5f;
	assert_int_equal(tenon_model_set_input(model, 0, &value), 0);
	assert_int_equal(tenon_model_run(model), 0);
	assert_int_equal(tenon_model_output_value(model, 0, &value), 0);
	assert_int_equal(tenon_value_tensor(&value, &t), 0);
	memcpy(out, (const char *)t->data + t->byte_offset, sizeof(out));
	tenon_value_release(&value);
	tenon_model_close(model);
}

/* write the module with one case, whose output @change is added to */
static void link_case(const char *path, float change, bool hash)
{
	const DLDataType float32 = tenon_dtype(TENON_DTYPE_FLOAT, 32, 1);
	float wanted[10];
	struct tenon_param input = param("x", in_shape, float32, in);
	struct tenon_param output = param("", out_shape, float32, wanted);
	const struct tenon_link_case c = { .name = "halves",
					   .inputs = &input,
					   .input_count = 1,
					   .outputs = &output,
					   .output_count = 1,
					   .rtol = 1e-5,
					   .hash = hash };
	const struct tenon_link_file file = { .path = GRAPH };
	struct tenon_link_options o;

	compute();
	memcpy(wanted, out, sizeof(out));
	wanted[3] += change;
	tenon_link_options_init(&o, sizeof(o));
	o.files = &file;
	o.file_count = 1;
	o.cases = &c;
	o.case_count = 1;
	assert_int_equal(tenon_link(&o, path), 0);
}

static int run_case(const char *path, struct tenon_model *reference, struct tenon_buffer *why)
{
	struct tenon_model *model = open_model(path);
	struct tenon_cases *cases = NULL;
	int result;

	assert_int_equal(tenon_cases_open(path, &cases), 0);
	assert_int_equal(tenon_cases_count(cases), 1);
	assert_null(tenon_cases_at(cases, 1));
	result = tenon_self_test(model, tenon_cases_at(cases, 0), reference, why);
	tenon_cases_close(cases);
	tenon_model_close(model);
	return result;
}

static void a_model_that_computes_the_outputs_passes(void **state)
{
	struct tenon_buffer why = TENON_BUFFER_INIT;
	char path[300];

	(void)state;
	NEEDS_X86;
	link_case(in_folder("right.so", path), 0, false);
	assert_int_equal(run_case(path, NULL, &why), 0);
	assert_int_equal(why.size, 0);
	link_case(in_folder("right.so", path), 0, true);
	assert_int_equal(run_case(path, NULL, &why), 0);
	tenon_buffer_fini(&why);
}

static void another_output_fails_with_the_first_element_that_differs(void **state)
{
	struct tenon_buffer why = TENON_BUFFER_INIT;
	char path[300];

	(void)state;
	NEEDS_X86;
	link_case(in_folder("wrong.so", path), 0.25f, false);
	assert_int_equal(run_case(path, NULL, &why), 1);
	assert_non_null(strstr(why.data, "output 0: differs in 1 of 10 elements"));
	assert_non_null(strstr(why.data, "first at 3"));
	why.size = 0;
	link_case(in_folder("wrong.so", path), 0.25f, true);
	assert_int_equal(run_case(path, NULL, &why), 1);
	assert_non_null(strstr(why.data, "another hash"));
	tenon_buffer_fini(&why);
}

static void a_case_describes_itself(void **state)
{
	const struct tenon_case *c;
	struct tenon_cases *cases;
	char path[300];

	(void)state;
	NEEDS_X86;
	link_case(in_folder("right.so", path), 0, false);
	assert_int_equal(tenon_cases_open(path, &cases), 0);
	c = tenon_cases_at(cases, 0);
	assert_true(tenon_slice_equal(c->name, tenon_slice_of("halves")));
	assert_true(tenon_slice_equal(c->inputs[0].name, tenon_slice_of("x")));
	assert_int_equal(c->inputs[0].ndim, 2);
	assert_int_equal(c->inputs[0].shape[1], 32);
	assert_memory_equal(c->inputs[0].data.data, in, sizeof(in));
	assert_memory_equal(c->outputs[0].data.data, out, sizeof(out));
	assert_true(c->rtol == 1e-5);
	tenon_cases_close(cases);
	assert_int_equal(tenon_cases_open(GRAPH, &cases), -TENON_E_NOT_FOUND);
	assert_null(cases);
}

/* a copy of the file whose second layer has another parameter */
static void damage_parameter(const char *from, const char *to)
{
	static const unsigned char magic[8] = { 0x3f, 0xa1, 0xb4, 0x96, 0xf0, 0x40, 0x5e, 0xdd };
	struct tenon_slice bytes, written;
	char *copy, *at = NULL, *next;
	float changed;

	assert_int_equal(file_map_open(from, &bytes), 0);
	copy = malloc(bytes.size);
	assert_non_null(copy);
	memcpy(copy, bytes.data, bytes.size);
	for (next = copy; (next = memmem(next, bytes.size - (size_t)(next - copy), magic, 8));
	     next++)
		at = next;
	assert_non_null(at);
	/* three extents and a size are in front of the data */
	memcpy(&changed, at + 64, sizeof(changed));
	changed += 1;
	memcpy(at + 64, &changed, sizeof(changed));
	written = (struct tenon_slice){ copy, bytes.size };
	assert_int_equal(file_write(to, &written, 1), 0);
	free(copy);
	file_map_close(&bytes);
}

static void the_first_operator_that_differs_from_the_reference_is_named(void **state)
{
	struct tenon_buffer why = TENON_BUFFER_INIT;
	struct tenon_model *reference;
	char right[300], wrong[300];

	(void)state;
	NEEDS_X86;
#ifndef CONFIG_RECORD
	skip();
#endif
	link_case(in_folder("right.so", right), 0, false);
	damage_parameter(right, in_folder("damaged.so", wrong));
	reference = open_model(right);
	assert_int_equal(run_case(wrong, reference, &why), 1);
	/* the one in front of it is equal, the one behind it differs too */
	assert_non_null(strstr(why.data, "first operator that differs: number 1, "
					 "tvmgen_default_fused_nn_contrib_dense_pack, argument 2"));
	tenon_model_close(reference);
	tenon_buffer_fini(&why);
}

static void operators_that_are_all_equal_are_counted(void **state)
{
	struct tenon_buffer why = TENON_BUFFER_INIT;
	struct tenon_model *reference;
	char path[300];

	(void)state;
	NEEDS_X86;
#ifndef CONFIG_RECORD
	skip();
#endif
	link_case(in_folder("wrong.so", path), 0.25f, false);
	reference = open_model(path);
	assert_int_equal(run_case(path, reference, &why), 1);
	assert_non_null(strstr(why.data, "no operator differs: 3 are equal"));
	tenon_model_close(reference);
	tenon_buffer_fini(&why);
}

/* ---- damaged cases */

/* the section of the file in @bytes, which is written again with its hash made new if @rehash */
static int open_changed(char *bytes, size_t size, size_t at, size_t count, bool rehash)
{
	struct tenon_slice file = { bytes, size };
	struct tenon_cases *cases;
	struct sha256 h;
	char path[300];
	int err;

	if (rehash) {
		sha256_init(&h);
		sha256_add(&h, bytes + at + HASHED, count - HASHED);
		sha256_end(&h, (uint8_t *)bytes + at + 12);
	}
	assert_int_equal(file_write(in_folder("changed.so", path), &file, 1), 0);
	err = tenon_cases_open(path, &cases);
	assert_true(err ? !cases : cases != NULL);
	tenon_cases_close(cases);
	return err;
}

static char *copy_with_cases(size_t *size, size_t *at, size_t *count)
{
	struct tenon_slice bytes, section;
	struct elf_file elf;
	char path[300], *copy;

	link_case(in_folder("right.so", path), 0, false);
	assert_int_equal(file_map_open(path, &bytes), 0);
	assert_int_equal(elf_open(&elf, bytes, path), 0);
	assert_true(elf_find_section(&elf, CASES_SECTION, &section));
	*size = bytes.size;
	*at = (size_t)(section.data - bytes.data);
	*count = section.size;
	copy = malloc(bytes.size);
	assert_non_null(copy);
	memcpy(copy, bytes.data, bytes.size);
	file_map_close(&bytes);
	return copy;
}

static void a_changed_byte_is_found(void **state)
{
	size_t size, at, count;
	char *bytes;

	(void)state;
	NEEDS_X86;
	bytes = copy_with_cases(&size, &at, &count);
	bytes[at + count - 1] ^= 1;
	assert_int_equal(open_changed(bytes, size, at, count, false), -TENON_E_VALUE);
	assert_int_equal(open_changed(bytes, size, at, count, true), 0);
	bytes[at + 8] = 2;
	assert_int_equal(open_changed(bytes, size, at, count, true), -TENON_E_UNSUPPORTED);
	free(bytes);
}

/* each byte of the head, with the hash of what is there then: nothing is read outside, and an error has a reason */
static void no_byte_makes_the_reader_leave_the_section(void **state)
{
	static const unsigned char values[] = { 0, 1, 0x7f, 0x80, 0xff };
	size_t size, at, count, i, v;
	char *bytes, before;

	(void)state;
	NEEDS_X86;
	bytes = copy_with_cases(&size, &at, &count);
	for (i = HASHED; i < HASHED + 120; i++) {
		before = bytes[at + i];
		for (v = 0; v < sizeof(values); v++) {
			bytes[at + i] = (char)values[v];
			if (open_changed(bytes, size, at, count, true))
				assert_true(*tenon_error_message());
			tenon_error_clear();
		}
		bytes[at + i] = before;
	}
	assert_int_equal(open_changed(bytes, size, at, count, true), 0);
	free(bytes);
}

static void counts_that_the_bytes_cannot_hold_are_refused(void **state)
{
	size_t size, at, count;
	char *bytes;

	(void)state;
	NEEDS_X86;
	bytes = copy_with_cases(&size, &at, &count);
	memset(bytes + at + HASHED, 0xff, 8);
	assert_int_equal(open_changed(bytes, size, at, count, true), -TENON_E_TRUNCATED);
	memset(bytes + at + HASHED, 0, 8);
	assert_int_equal(open_changed(bytes, size, at, count, true), -TENON_E_FORMAT);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_model_that_computes_the_outputs_passes),
		cmocka_unit_test(another_output_fails_with_the_first_element_that_differs),
		cmocka_unit_test(a_case_describes_itself),
		cmocka_unit_test(the_first_operator_that_differs_from_the_reference_is_named),
		cmocka_unit_test(operators_that_are_all_equal_are_counted),
		cmocka_unit_test(a_changed_byte_is_found),
		cmocka_unit_test(no_byte_makes_the_reader_leave_the_section),
		cmocka_unit_test(counts_that_the_bytes_cannot_hold_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
