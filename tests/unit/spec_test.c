/* SPDX-License-Identifier: MIT */
/* Arguments on the command line as values and tensors. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <tenon/backend/buffer.h>
#include <tenon/string.h>

#include "tools/tensor/element.h"
#include "tools/tensor/spec.h"

static struct spec parsed(enum spec_role role, const char *text)
{
	struct spec spec;

	if (spec_parse(role, text, &spec))
		fail_msg("%s: %s", text, tenon_error_message());
	return spec;
}

static void assert_type(const struct spec *spec, const char *type)
{
	char text[TYPE_TEXT];

	assert_int_equal(spec->form, SPEC_TENSOR);
	assert_string_equal(type_text(spec->shape, spec->ndim, spec->dtype, text), type);
}

static void refused(enum spec_role role, const char *text, const char *message)
{
	struct spec spec;

	assert_int_equal(spec_parse(role, text, &spec), -TENON_E_USAGE);
	if (!strstr(tenon_error_message(), message))
		fail_msg("%s: %s", text, tenon_error_message());
	tenon_error_clear();
}

static void scalars_are_told_by_how_they_are_written(void **state)
{
	(void)state;
	assert_int_equal(parsed(SPEC_INPUT, "3").form, SPEC_INT);
	assert_int_equal(parsed(SPEC_INPUT, "3").integer, 3);
	assert_int_equal(parsed(SPEC_INPUT, "-1048576").integer, -1048576);
	assert_int_equal(parsed(SPEC_INPUT, "+7").integer, 7);
	assert_int_equal(parsed(SPEC_INPUT, "010").integer, 10);
	assert_int_equal(parsed(SPEC_INPUT, "-0x1F").integer, -31);
	assert_int_equal(parsed(SPEC_INPUT, "0x3").integer, 3);
	assert_true(parsed(SPEC_INPUT, "-9223372036854775808").integer == INT64_MIN);
	assert_int_equal(parsed(SPEC_INPUT, "2.5").form, SPEC_FLOAT);
	assert_true(parsed(SPEC_INPUT, "2.5").real == 2.5);
	assert_true(parsed(SPEC_INPUT, "-1e-3").real == -1e-3);
	assert_true(parsed(SPEC_INPUT, "-inf").real == -INFINITY);
	assert_true(isnan(parsed(SPEC_INPUT, "nan").real));
	assert_int_equal(parsed(SPEC_INPUT, "true").form, SPEC_BOOL);
	assert_int_equal(parsed(SPEC_INPUT, "true").integer, 1);
	assert_int_equal(parsed(SPEC_INPUT, "false").integer, 0);
	assert_int_equal(parsed(SPEC_INPUT, "null").form, SPEC_NULL);
	assert_string_equal(parsed(SPEC_INPUT, "str:a=b 1").string, "a=b 1");
	assert_string_equal(parsed(SPEC_INPUT, "str:").string, "");
}

static void a_number_that_fits_no_value_is_refused(void **state)
{
	(void)state;
	refused(SPEC_INPUT, "9223372036854775808", "does not fit int64");
	refused(SPEC_INPUT, "-9223372036854775809", "does not fit int64");
	refused(SPEC_INPUT, "0x1ffffffffffffffff", "does not fit int64");
	refused(SPEC_INPUT, "1e999", "does not fit float64");
}

static void a_type_is_extents_and_an_element_type(void **state)
{
	struct spec spec;

	(void)state;
	spec = parsed(SPEC_INPUT, "2x3xfloat32=1,2,3,4,5,6");
	assert_type(&spec, "2x3xfloat32");
	assert_int_equal(spec.fill, SPEC_LIST);
	assert_string_equal(spec.list, "1,2,3,4,5,6");
	spec = parsed(SPEC_INPUT, "float32=1.5");
	assert_type(&spec, "float32");
	assert_int_equal(spec.ndim, 0);
	spec = parsed(SPEC_INPUT, "0xfloat32=");
	assert_type(&spec, "0xfloat32");
	spec = parsed(SPEC_INPUT, "0xfloat32");
	assert_type(&spec, "0xfloat32");
	spec = parsed(SPEC_INPUT, "4xfloat32x4=zeros");
	assert_type(&spec, "4xfloat32x4");
	assert_int_equal(spec.dtype.lanes, 4);
	spec = parsed(SPEC_INPUT, "8xint4=ones");
	assert_int_equal(spec.dtype.bits, 4);
	spec = parsed(SPEC_INPUT, "2xbool=true,false");
	assert_int_equal(spec.dtype.code, TENON_DTYPE_BOOL);
	assert_int_equal(spec.dtype.bits, 8);
	spec = parsed(SPEC_INPUT, "2xuint1=1,0");
	assert_int_equal(spec.dtype.code, TENON_DTYPE_BOOL);
}

static void contents_are_files_seeds_and_words(void **state)
{
	struct spec spec;

	(void)state;
	spec = parsed(SPEC_INPUT, "2x3xbfloat16=@a=b.npy");
	assert_type(&spec, "2x3xbfloat16");
	assert_int_equal(spec.fill, SPEC_LOAD);
	assert_string_equal(spec.path, "a=b.npy");
	spec = parsed(SPEC_EXPECT, "@x.npy");
	assert_int_equal(spec.form, SPEC_FILE);
	assert_string_equal(spec.path, "x.npy");
	spec = parsed(SPEC_INPUT, "2xfloat32=random:0xff");
	assert_int_equal(spec.fill, SPEC_RANDOM);
	assert_int_equal(spec.seed, 255);
	assert_int_equal(parsed(SPEC_INPUT, "2xint8=arange").fill, SPEC_ARANGE);
	refused(SPEC_EXPECT, "2xfloat32=random", "random needs the seed");
	refused(SPEC_INPUT, "2xfloat32=random:x", "seed of random");
	refused(SPEC_INPUT, "2xfloat32=@", "a file name must follow @");
	refused(SPEC_INPUT, "@", "a file name must follow @");
}

static void an_output_is_a_type_and_perhaps_a_file(void **state)
{
	struct spec spec = parsed(SPEC_OUTPUT, "2x3xfloat32");

	(void)state;
	assert_type(&spec, "2x3xfloat32");
	assert_null(spec.write);
	spec = parsed(SPEC_OUTPUT, "2x3xfloat32=>y.npy");
	assert_string_equal(spec.write, "y.npy");
	assert_int_equal(spec.fill, SPEC_ZEROS);
	refused(SPEC_OUTPUT, "3", "an output is a tensor");
	refused(SPEC_OUTPUT, "2xfloat32=1,2", "an output starts as zeros");
	refused(SPEC_OUTPUT, "2xfloat32=>", "a file name must follow =>");
	refused(SPEC_INPUT, "2xfloat32=>y.npy", "only an --output is written");
	refused(SPEC_INPUT, "2xfloat32", "a type without contents");
}

static void a_name_in_front_names_the_input(void **state)
{
	struct spec spec = parsed(SPEC_INPUT, "input_1:0=2xfloat32=1,2");

	(void)state;
	assert_memory_equal(spec.name.data, "input_1:0", spec.name.size);
	assert_int_equal(spec.name.size, 9);
	assert_type(&spec, "2xfloat32");
	spec = parsed(SPEC_INPUT, "x=@in_x.npy");
	assert_int_equal(spec.name.size, 1);
	assert_string_equal(spec.path, "in_x.npy");
	/* a slip in a type becomes a name, and whoever takes no names says so */
	spec = parsed(SPEC_INPUT, "flaot32=1.5");
	assert_int_equal(spec.name.size, 7);
	assert_true(spec.real == 1.5);
	refused(SPEC_INPUT, "x=", "an empty SPEC");
	refused(SPEC_INPUT, "x=y=1", "no elements of type \"y\"");
}

static void assert_name(const char *text, const char *name)
{
	struct spec spec = parsed(SPEC_INPUT, text);

	assert_int_equal(spec.name.size, strlen(name));
	assert_memory_equal(spec.name.data, name, spec.name.size);
	assert_type(&spec, "1x4xfloat32");
}

static void a_name_may_have_any_characters(void **state)
{
	(void)state;
	assert_name("in put=1x4xfloat32=ones", "in put");
	assert_name("größe=1x4xfloat32=ones", "größe");
	assert_name("x[0]=1x4xfloat32=ones", "x[0]");
	assert_name("0=1x4xfloat32=ones", "0");
	assert_name("/a/b:0=1x4xfloat32=ones", "/a/b:0");
}

static void a_name_in_quotes_is_taken_whole(void **state)
{
	(void)state;
	assert_name("\"a=b\"=1x4xfloat32=ones", "a=b");
	assert_name("\"3x\"=1x4xfloat32=ones", "3x");
	assert_name("\"float32\"=1x4xfloat32=ones", "float32");
	assert_name("\"str:a\"=1x4xfloat32=ones", "str:a");
	assert_name("\"a\"b\"=1x4xfloat32=ones", "a\"b");
	assert_name("\"@x\"=1x4xfloat32=ones", "@x");
	refused(SPEC_INPUT, "\"a\"=", "an empty SPEC");
	refused(SPEC_INPUT, "\"\"=1", "no elements of type");
	refused(SPEC_INPUT, "\"a=1", "no elements of type");
}

static void a_wrong_type_is_named(void **state)
{
	(void)state;
	refused(SPEC_INPUT, "2xfloat33=1,2", "no elements of type \"float33\" are known");
	refused(SPEC_INPUT, "2x3=1", "no elements of type \"3\"");
	refused(SPEC_INPUT, "2x-3xfloat32=1", "no elements of type \"-3xfloat32\"");
	refused(SPEC_INPUT, "nonsense", "no elements of type \"nonsense\"");
	refused(SPEC_INPUT, "", "an empty SPEC");
	refused(SPEC_INPUT, "99999999999999999999xint8=zeros", "an extent does not fit 64 bits");
	refused(SPEC_INPUT, "4294967296x4294967296xint8=zeros", "more elements than 64 bits");
	refused(SPEC_INPUT, "4611686018427387904xint64=zeros", "more bytes than an address");
}

/* ---- what becomes of it */

static void assert_content(const char *text, const void *bytes, size_t size)
{
	struct spec spec = parsed(SPEC_INPUT, text);
	struct tenon_tensor *t;
	uint64_t count;
	size_t room;

	if (spec_tensor(&spec, &t))
		fail_msg("%s: %s", text, tenon_error_message());
	assert_int_equal((uintptr_t)t->dl.data % TENON_TENSOR_ALIGN, 0);
	assert_int_equal(tenon_tensor_elements(&t->dl, &count), 0);
	assert_int_equal(element_bytes(count, t->dl.dtype, &room), 0);
	assert_int_equal(room, size);
	assert_memory_equal(t->dl.data, bytes, size);
	tenon_object_unref(t);
}

static void contents_become_tensors(void **state)
{
	const float six[] = { 1, 2, 3, 4, 5, -6 };
	const int8_t wrapped[] = { 0, 1, 2 };
	const uint16_t halves[] = { 0x3c00, 0x3c00 };
	const uint8_t nibbles[] = { 0x10, 0x32, 0x04 };
	const uint8_t ones[] = { 1, 1 };

	(void)state;
	assert_content("2x3xfloat32=1,2,3,4,5,-6", six, sizeof(six));
	assert_content("float32=1", six, 4);
	assert_content("3xint8=arange", wrapped, 3);
	assert_content("2xfloat16=ones", halves, 4);
	assert_content("5xuint4=arange", nibbles, 3);
	assert_content("2xbool=ones", ones, 2);
	assert_content("0xfloat32=", ones, 0);
	assert_content("3x0xint64=random:1", ones, 0);
}

static void a_name_is_written_as_it_is_read(void **state)
{
	static const char *const names[] = { "x",	 "0",  "a=b",	 "größe", "float32",
					     "3x3xint8", "@x", "in put", "str:x" };
	struct tenon_buffer word;
	struct spec spec;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		word = (struct tenon_buffer)TENON_BUFFER_INIT;
		spec_print_name(tenon_slice_of(names[i]), &word);
		if (i < 2)
			assert_string_equal(word.data, names[i]);
		tenon_buffer_printf(&word, "=2xint8=ones");
		spec = parsed(SPEC_INPUT, word.data);
		assert_true(tenon_slice_equal(spec.name, tenon_slice_of(names[i])));
		tenon_buffer_fini(&word);
	}
}

static void random_numbers_are_the_same_everywhere(void **state)
{
	/* splitmix64 of seeds 1 and 2, from its published reference */
	const double reals[] = { 0x910a2dec89025cc1p-63, 0x975835de1c9756cep-63 };
	const int8_t bytes[] = { (int8_t)0x91, (int8_t)0x97 };
	double got[2];
	int8_t small[2];

	(void)state;
	spec_random(got, 2, tenon_dtype(TENON_DTYPE_FLOAT, 64, 1), 1);
	for (int i = 0; i < 2; i++)
		assert_true(fabs(got[i] - (reals[i] - 1)) < 1e-15);
	spec_random(small, 2, tenon_dtype(TENON_DTYPE_INT, 8, 1), 1);
	assert_memory_equal(small, bytes, 2);
}

static void refused_content(const char *text, const char *message)
{
	struct spec spec = parsed(SPEC_INPUT, text);
	struct tenon_tensor *t = NULL;

	assert_int_equal(spec_tensor(&spec, &t), -TENON_E_USAGE);
	assert_null(t);
	if (!strstr(tenon_error_message(), message))
		fail_msg("%s: %s", text, tenon_error_message());
	tenon_error_clear();
}

static void contents_that_do_not_fit_their_type_are_refused(void **state)
{
	(void)state;
	refused_content("2x3xfloat32=1,2,3,4,5", "5 numbers are given, the shape has 6");
	refused_content("2xint8=1,200", "number 2: 200 does not fit int8");
	refused_content("2xint8=1,x", "number 2: \"x\" is not a number of type int8");
	refused_content("3xfloat32=zeroes", "contents are numbers, @FILE, zeros");
	refused_content("3xfloat32=", "0 numbers are given, the shape has 3");
	refused_content("2049xfloat8_e4m3fn=arange", "arange ends at 2048, the largest");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scalars_are_told_by_how_they_are_written),
		cmocka_unit_test(a_number_that_fits_no_value_is_refused),
		cmocka_unit_test(a_type_is_extents_and_an_element_type),
		cmocka_unit_test(contents_are_files_seeds_and_words),
		cmocka_unit_test(an_output_is_a_type_and_perhaps_a_file),
		cmocka_unit_test(a_name_in_front_names_the_input),
		cmocka_unit_test(a_name_may_have_any_characters),
		cmocka_unit_test(a_name_in_quotes_is_taken_whole),
		cmocka_unit_test(a_wrong_type_is_named),
		cmocka_unit_test(contents_become_tensors),
		cmocka_unit_test(a_name_is_written_as_it_is_read),
		cmocka_unit_test(random_numbers_are_the_same_everywhere),
		cmocka_unit_test(contents_that_do_not_fit_their_type_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
