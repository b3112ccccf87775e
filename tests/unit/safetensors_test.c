/* SPDX-License-Identifier: MIT */
/* Files in safetensors, written here as text and bytes; folders of several; lists joined of others. */
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <tenon/backend/buffer.h>
#include <unistd.h>

static char folder[200];
static struct tenon_params *params;

static int set_up(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void)state;
	snprintf(folder, sizeof(folder), "%s/safetensors-XXXXXX", tmp ? tmp : "/tmp");
	return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
	char command[300];

	(void)state;
	tenon_object_unref(params);
	params = NULL;
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return system(command);
}

static const char *path_of(const char *name)
{
	static char path[4][300];
	static int next;
	char *p = path[next++ % 4];

	snprintf(p, sizeof(path[0]), "%s/%s", folder, name);
	return p;
}

/* a file of a header and so many bytes of data: 1, 2, 3 and so on */
static struct tenon_buffer bytes_of(const char *header, size_t data)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	size_t i;

	tenon_buffer_string(&b, tenon_slice_of(header));
	for (i = 1; i <= data; i++)
		tenon_buffer_u8(&b, (uint8_t)i);
	assert_int_equal(b.status, 0);
	return b;
}

static const char *write_text(const char *name, const void *data, size_t size)
{
	const char *path = path_of(name);
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
	return path;
}

static const char *write_file(const char *name, const char *header, size_t data)
{
	struct tenon_buffer b = bytes_of(header, data);
	const char *path = write_text(name, b.data, b.size);

	tenon_buffer_fini(&b);
	return path;
}

static int read_of(const char *header, size_t data)
{
	struct tenon_buffer b = bytes_of(header, data);
	int err;

	tenon_object_unref(params);
	err = tenon_params_read((struct tenon_slice){ b.data, b.size }, NULL, "f", &params);
	tenon_object_unref(params);
	params = NULL;
	tenon_buffer_fini(&b);
	return err;
}

static const struct tenon_param *param_of(const char *name)
{
	const struct tenon_param *p = tenon_params_find(params, tenon_slice_of(name));

	if (!p)
		fail_msg("no %s", name);
	return p;
}

#define TENSOR(dtype, shape, begin, end)                                                           \
	"{\"dtype\":\"" dtype "\",\"shape\":[" shape "],\"data_offsets\":[" #begin "," #end "]}"
#define TWO "{\"a\":" TENSOR("F32", "2", 0, 8) ",\"b\":" TENSOR("I8", "3,1", 8, 11) "}"

/* ---- reading */

static void names_types_and_data_are_those_of_the_file(void **state)
{
	static const uint8_t data[] = { 9, 10, 11 };

	(void)state;
	assert_int_equal(tenon_params_open(write_file("f.safetensors", TWO, 11), &params), 0);
	assert_int_equal(tenon_params_count(params), 2);
	assert_int_equal(param_of("a")->tensor.ndim, 1);
	assert_int_equal(param_of("a")->bytes, 8);
	assert_int_equal(param_of("b")->tensor.shape[0], 3);
	assert_int_equal(param_of("b")->tensor.shape[1], 1);
	assert_memory_equal(param_of("b")->tensor.data, data, 3);
}

static void each_type_of_the_format_has_a_dtype(void **state)
{
	static const char *const types[][2] = {
		{ "F64", "float64" },
		{ "F32", "float32" },
		{ "F16", "float16" },
		{ "BF16", "bfloat16" },
		{ "F8_E4M3", "float8_e4m3fn" },
		{ "F8_E5M2", "float8_e5m2" },
		{ "F8_E8M0", "float8_e8m0fnu" },
		{ "F8_E4M3FNUZ", "float8_e4m3fnuz" },
		{ "F6_E2M3", "float6_e2m3fn" },
		{ "F6_E3M2", "float6_e3m2fn" },
		{ "F4", "float4_e2m1fn" },
		{ "I64", "int64" },
		{ "I32", "int32" },
		{ "I16", "int16" },
		{ "I8", "int8" },
		{ "U64", "uint64" },
		{ "U32", "uint32" },
		{ "U16", "uint16" },
		{ "U8", "uint8" },
		{ "BOOL", "bool" },
		{ "C64", "complex64" },
	};
	char header[200], dtype[TENON_DTYPE_NAME];
	size_t i, bytes;
	DLDataType d;

	(void)state;
	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		assert_int_equal(tenon_dtype_parse(tenon_slice_of(types[i][1]), &d), 0);
		bytes = d.bits; /* of eight elements */
		snprintf(header, sizeof(header),
			 "{\"t\":{\"dtype\":\"%s\",\"shape\":[8],\"data_offsets\":[0,%zu]}}",
			 types[i][0], bytes);
		tenon_object_unref(params);
		assert_int_equal(
			tenon_params_open(write_file("f.safetensors", header, bytes), &params), 0);
		assert_string_equal(tenon_dtype_name(param_of("t")->tensor.dtype, dtype),
				    types[i][1]);
		assert_int_equal(param_of("t")->bytes, bytes);
	}
}

static void escapes_in_names_are_decoded_and_the_metadata_is_no_tensor(void **state)
{
	(void)state;
	assert_int_equal(
		tenon_params_open(write_file("f.safetensors",
					     "{\"__metadata__\":{\"format\":\"pt\"},"
					     "\"a\\\"\\u00e4\":" TENSOR("F32", "", 0, 4) "}  ",
					     4),
				  &params),
		0);
	assert_int_equal(tenon_params_count(params), 1);
	assert_int_equal(param_of("a\"\xc3\xa4")->bytes, 4);
}

static void what_does_not_fit_is_refused_with_the_place(void **state)
{
	static const struct {
		const char *header;
		size_t data;
		int status;
		const char *text;
	} cases[] = {
		{ "{\"a\":" TENSOR("F32", "3", 0, 8) "}", 8, -TENON_E_FORMAT,
		  "the shape wants 12" },
		{ "{\"a\":" TENSOR("F32", "2", 0, 12) "}", 8, -TENON_E_VALUE,
		  "where the data ends" },
		{ "{\"a\":" TENSOR("F32", "2", 8, 0) "}", 8, -TENON_E_VALUE,
		  "where the data ends" },
		{ "{\"a\":" TENSOR("F32", "2", 0, 8) "}", 9, -TENON_E_FORMAT,
		  "the last tensor ends" },
		{ "{\"a\":" TENSOR("F32", "2", 1, 9) "}", 9, -TENON_E_FORMAT, "begins at" },
		{ "{\"a\":" TENSOR("U8", "5", 0, 5) ",\"b\":" TENSOR("U8", "5", 4, 9) "}", 9,
		  -TENON_E_FORMAT, "begins at" },
		{ "{\"a\":" TENSOR("U8", "5", 0, 5) ",\"a\":" TENSOR("U8", "4", 5, 9) "}", 9,
		  -TENON_E_FORMAT, "two tensors are called \"a\"" },
		{ "{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}"
		  "}",
		  1, -TENON_E_FORMAT, "dtype is there twice" },
		{ "{\"a\":{\"dtype\":\"U8\",\"data_offsets\":[0,1]}}", 1, -TENON_E_FORMAT,
		  "no shape" },
		{ "{\"a\":" TENSOR("Q9", "1", 0, 1) "}", 1, -TENON_E_UNSUPPORTED, "\"Q9\"" },
		{ "{\"a\":" TENSOR("F4", "1", 0, 1) "}", 1, -TENON_E_FORMAT, "no whole bytes" },
		{ "{\"a\":" TENSOR("U8", "9223372036854775807,9223372036854775807", 0, 1) "}", 1,
		  -TENON_E_FORMAT, "too many elements" },
		{ "{\"a\":" TENSOR("U8", "-1", 0, 1) "}", 1, -TENON_E_VALUE, "an extent" },
		{ "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0]}}", 1,
		  -TENON_E_FORMAT, "want two" },
		{ "{\"a\":7}", 0, -TENON_E_FORMAT, "want an object" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(read_of(cases[i].header, cases[i].data), cases[i].status);
		assert_error_has(cases[i].text);
	}
}

static void a_header_that_is_too_large_or_cut_off_is_refused(void **state)
{
	static const char large[] = "\xff\xff\xff\x7f\0\0\0\0{}";
	static const char cut[] = "\x10\0\0\0\0\0\0\0{\"a\":";

	(void)state;
	assert_int_equal(tenon_params_read((struct tenon_slice){ large, 10 }, NULL, "f", &params),
			 -TENON_E_FORMAT);
	assert_error_has("a header of 2147483647 bytes, 100000000 at most");
	assert_int_equal(tenon_params_read((struct tenon_slice){ cut, 13 }, NULL, "f", &params),
			 -TENON_E_TRUNCATED);
	assert_error_has("f");
}

static void every_edit_and_every_cut_is_read_or_refused_in_words(void **state)
{
	struct tenon_buffer b = bytes_of(TWO, 11);
	char *copy = malloc(b.size);
	size_t i;
	int bit;

	(void)state;
	for (i = 0; i < b.size; i++) {
		if (!tenon_params_read((struct tenon_slice){ b.data, i }, NULL, "f", &params))
			fail_msg("cut at %zu", i);
		assert_error_has("f");
		for (bit = 0; bit < 8; bit++) {
			memcpy(copy, b.data, b.size);
			copy[i] ^= (char)(1 << bit);
			if (tenon_params_read((struct tenon_slice){ copy, b.size }, NULL, "f",
					      &params))
				assert_error_has("f");
			tenon_object_unref(params);
			params = NULL;
		}
	}
	free(copy);
	tenon_buffer_fini(&b);
}

static void data_is_used_where_it_is_and_copied_where_it_is_not_aligned(void **state)
{
	struct tenon_tensor *t;
	const struct tenon_param *p;

	(void)state;
	assert_int_equal(tenon_params_open(write_file("f.safetensors", TWO, 11), &params), 0);
	p = param_of("b");
	assert_int_equal(tenon_params_tensor(params, p, 1, &t), 0);
	assert_ptr_equal(t->dl.data, p->tensor.data);
	tenon_object_unref(t);
	assert_int_equal(tenon_params_tensor(params, p, 128, &t), 0);
	assert_int_equal((uintptr_t)t->dl.data % 128, 0);
	assert_memory_equal(t->dl.data, "\x09\x0a\x0b", 3);
	tenon_object_unref(t);
}

static void copying_from_a_file_that_became_shorter_is_an_error(void **state)
{
	const char *path = write_file("f.safetensors", TWO, 11);
	char to[8];

	(void)state;
	assert_int_equal(tenon_params_open(path, &params), 0);
	assert_int_equal(truncate(path, 20), 0);
	/* on a machine of the other byte order the data has been copied */
	if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
		return;
	assert_int_equal(tenon_params_load(params, param_of("b"), to), -TENON_E_IO);
	assert_error_has("it became shorter while it was in use");
}

/* ---- writing */

static struct tenon_param param_like(const char *name, void *data, int64_t *shape, DLDataType d)
{
	struct tenon_param p = { .name = tenon_slice_of(name),
				 .tensor = tenon_dltensor(data, shape, 1, d) };

	assert_int_equal(tenon_tensor_bytes(&p.tensor, &p.bytes), 0);
	return p;
}

static void what_is_written_is_read_again_and_aligned_as_wanted(void **state)
{
	static uint8_t data[256];
	int64_t few = 5, many = 128, none = 0;
	const DLDataType u8 = tenon_dtype(TENON_DTYPE_UINT, 8, 1);
	const struct tenon_param list[] = {
		param_like("few", data, &few, u8),
		param_like("halves", data + 8, &few, tenon_dtype(TENON_DTYPE_FLOAT, 16, 1)),
		param_like("many", data + 64, &many, u8),
		param_like("none", data, &none, u8),
		param_like("a\"\n\xc3\xa4", data + 3, &few, u8),
	};
	const size_t aligns[] = { 0, 64, 4096 };
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(7 * i);
	for (k = 0; k < 3; k++) {
		const char *path = path_of("out.safetensors");

		assert_int_equal(tenon_params_write_safetensors(path, list, 5, aligns[k]), 0);
		assert_int_equal(tenon_params_open(path, &params), 0);
		assert_int_equal(tenon_params_count(params), 5);
		for (i = 0; i < 5; i++) {
			const struct tenon_param *p = tenon_params_find(params, list[i].name);

			assert_non_null(p);
			assert_int_equal(p->bytes, list[i].bytes);
			assert_memory_equal(p->tensor.data, list[i].tensor.data, p->bytes);
			assert_true(!p->bytes || !aligns[k] || !(p->offset % aligns[k]));
		}
		assert_int_equal(param_of("many")->offset % 128, 0);
		assert_int_equal(param_of("halves")->offset % 2, 0);
		tenon_object_unref(params);
		params = NULL;
	}
}

static void what_the_format_cannot_hold_is_not_written(void **state)
{
	uint8_t data[64] = { 0 };
	int64_t one = 1;
	struct tenon_param list[2] = {
		param_like("w", data, &one, tenon_dtype(TENON_DTYPE_COMPLEX, 128, 1)),
	};

	(void)state;
	assert_int_equal(tenon_params_write_safetensors(path_of("x"), list, 1, 0), -TENON_E_VALUE);
	assert_error_has("parameter \"w\": is of a dtype that safetensors has no name for");
	list[0] = list[1] = param_like("w", data, &one, tenon_dtype(TENON_DTYPE_INT, 8, 1));
	assert_int_equal(tenon_params_write_safetensors(path_of("x"), list, 2, 0), -TENON_E_EXISTS);
	assert_error_has("two parameters are called \"w\"");
	list[0].name = tenon_slice_of("\xff");
	assert_int_equal(tenon_params_write_safetensors(path_of("x"), list, 1, 0), -TENON_E_VALUE);
	assert_error_has("not in UTF-8");
	assert_int_equal(access(path_of("x"), F_OK), -1);
}

/* ---- folders */

#define ONE(name) "{\"" name "\":" TENSOR("U8", "4", 0, 4) "}"

static int open_index(const char *text)
{
	write_text("model.safetensors.index.json", text, strlen(text));
	return tenon_params_open(folder, &params);
}

static void files_of_a_folder_are_one_list(void **state)
{
	(void)state;
	write_file("one.safetensors", ONE("a"), 4);
	write_file("two.safetensors", ONE("b"), 4);
	assert_int_equal(open_index("{\"metadata\":{\"total_size\":8},\"weight_map\":{"
				    "\"a\":\"one.safetensors\",\"b\":\"two.safetensors\"}}"),
			 0);
	assert_int_equal(tenon_params_count(params), 2);
	assert_memory_equal(param_of("b")->tensor.data, "\1\2\3\4", 4);
	tenon_object_unref(params);
	assert_int_equal(tenon_params_open(path_of("model.safetensors.index.json"), &params), 0);
	assert_int_equal(tenon_params_count(params), 2);
}

static void a_folder_may_have_one_file_and_no_index(void **state)
{
	(void)state;
	assert_int_equal(tenon_params_open(folder, &params), -TENON_E_IO);
	assert_error_has("a folder without model.safetensors");
	write_file("model.safetensors", ONE("a"), 4);
	assert_int_equal(tenon_params_open(folder, &params), 0);
	assert_int_equal(param_of("a")->bytes, 4);
}

static void an_index_that_does_not_fit_its_files_is_refused(void **state)
{
	static const struct {
		const char *index, *text;
	} cases[] = {
		{ "{\"weight_map\":{\"b\":\"one.safetensors\"}}", "has no tensor \"b\"" },
		{ "{\"weight_map\":{\"a\":\"one.safetensors\",\"b\":\"same.safetensors\"}}",
		  "parameter \"a\" is in " },
		{ "{\"weight_map\":{\"a\":\"../one.safetensors\"}}", "no name of a file" },
		{ "{\"weight_map\":{\"a\":\"/etc/passwd\"}}", "no name of a file" },
		{ "{\"weight_map\":{\"a\":\"gone.safetensors\"}}", "gone.safetensors" },
		{ "{\"weight_map\":{\"a\":\"model.safetensors.index.json\"}}", "no parameters" },
		{ "{\"weight_map\":{\"a\":7}}", "want a string" },
		{ "{\"weight_map\":[]}", "want an object" },
		{ "{}", "no weight_map" },
		{ "{", "too early" },
	};
	size_t i;

	(void)state;
	write_file("one.safetensors", ONE("a"), 4);
	write_file("same.safetensors", ONE("a"), 4);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(open_index(cases[i].index) < 0);
		assert_error_has(cases[i].text);
		assert_null(params);
	}
}

/* ---- lists of several */

static struct tenon_params *list_of(const char *header)
{
	struct tenon_params *list;

	assert_int_equal(tenon_params_open(write_file("part", header, 4), &list), 0);
	return list;
}

static int join(struct tenon_params *a, struct tenon_params *b, const char *scope,
		const struct tenon_params_rename *renames, size_t count)
{
	const struct tenon_params_part parts[] = { { { "", 0 }, a }, { tenon_slice_of(scope), b } };
	int err;

	tenon_object_unref(params);
	err = tenon_params_join(parts, 2, renames, count, &params);
	tenon_object_unref(a);
	tenon_object_unref(b);
	return err;
}

static void lists_are_joined_under_scopes_and_keep_their_data(void **state)
{
	uint8_t to[4];

	(void)state;
	assert_int_equal(join(list_of(ONE("w")), list_of(ONE("w")), "head", NULL, 0), 0);
	assert_int_equal(tenon_params_count(params), 2);
	assert_memory_equal(param_of("w")->tensor.data, "\1\2\3\4", 4);
	assert_int_equal(tenon_params_load(params, param_of("head.w"), to), 0);
	assert_memory_equal(to, "\1\2\3\4", 4);
}

static void what_was_joined_is_joined_again(void **state)
{
	struct tenon_params *before;
	uint8_t to[4];
	int i;

	(void)state;
	assert_int_equal(join(list_of(ONE("w")), list_of(ONE("v")), "", NULL, 0), 0);
	for (i = 0; i < 3; i++) {
		before = params;
		params = NULL;
		assert_int_equal(join(list_of(ONE("w")), before, "in", NULL, 0), 0);
	}
	assert_int_equal(tenon_params_count(params), 5);
	memset(to, 0, sizeof(to));
	assert_int_equal(tenon_params_load(params, param_of("in.in.in.v"), to), 0);
	assert_memory_equal(to, "\1\2\3\4", 4);
}

static void a_name_in_two_lists_is_refused(void **state)
{
	(void)state;
	assert_int_equal(join(list_of(ONE("w")), list_of(ONE("w")), "", NULL, 0), -TENON_E_EXISTS);
	assert_error_has("parameter \"w\" is in ");
}

static void renames_give_other_names_and_several_of_one_give_several(void **state)
{
	const struct tenon_params_rename renames[] = {
		{ tenon_slice_of("model.*"), tenon_slice_of("*") },
		{ tenon_slice_of("h.embed"), tenon_slice_of("embed") },
		{ tenon_slice_of("h.embed"), tenon_slice_of("lm_head") },
	};

	(void)state;
	assert_int_equal(join(list_of(ONE("model.w")), list_of(ONE("embed")), "h", renames, 3), 0);
	assert_int_equal(tenon_params_count(params), 3);
	assert_int_equal(param_of("w")->bytes, 4);
	assert_ptr_equal(param_of("embed")->tensor.data, param_of("lm_head")->tensor.data);
}

static void a_rename_of_nothing_is_refused_with_the_nearest_name(void **state)
{
	const struct tenon_params_rename one = { tenon_slice_of("wait"), tenon_slice_of("b") };

	(void)state;
	assert_int_equal(join(list_of(ONE("weight")), list_of(ONE("x")), "", &one, 1),
			 -TENON_E_NOT_FOUND);
	assert_error_has("no parameter is called \"wait\"");
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(names_types_and_data_are_those_of_the_file),
		CASE(each_type_of_the_format_has_a_dtype),
		CASE(escapes_in_names_are_decoded_and_the_metadata_is_no_tensor),
		CASE(what_does_not_fit_is_refused_with_the_place),
		CASE(a_header_that_is_too_large_or_cut_off_is_refused),
		CASE(every_edit_and_every_cut_is_read_or_refused_in_words),
		CASE(data_is_used_where_it_is_and_copied_where_it_is_not_aligned),
		CASE(copying_from_a_file_that_became_shorter_is_an_error),
		CASE(what_is_written_is_read_again_and_aligned_as_wanted),
		CASE(what_the_format_cannot_hold_is_not_written),
		CASE(files_of_a_folder_are_one_list),
		CASE(a_folder_may_have_one_file_and_no_index),
		CASE(an_index_that_does_not_fit_its_files_is_refused),
		CASE(lists_are_joined_under_scopes_and_keep_their_data),
		CASE(what_was_joined_is_joined_again),
		CASE(a_name_in_two_lists_is_refused),
		CASE(renames_give_other_names_and_several_of_one_give_several),
		CASE(a_rename_of_nothing_is_refused_with_the_nearest_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
