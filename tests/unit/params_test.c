/* SPDX-License-Identifier: MIT */
/* Parameters of TVM: read, aligned, viewed, copied and written. */
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <tenon/backend/cursor.h>
#include <tenon/buffer.h>
#include <tenon/error.h>

#define FIXTURE "tests/interop/data/tvm-0.18/params_file/all.params"

static char path[2][300];

static int set_up(void **state)
{
	const char *folder = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";

	(void)state;
	snprintf(path[0], sizeof(path[0]), "%s/one.params", folder);
	snprintf(path[1], sizeof(path[1]), "%s/two.params", folder);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	remove(path[0]);
	remove(path[1]);
	return 0;
}

static struct tenon_slice whole_file(const char *name)
{
	struct tenon_slice s = { NULL, 0 };
	struct stat st;
	char *bytes;
	FILE *f = fopen(name, "rb");

	assert_non_null(f);
	assert_int_equal(fstat(fileno(f), &st), 0);
	bytes = malloc((size_t)st.st_size + 1);
	s.size = fread(bytes, 1, (size_t)st.st_size, f);
	s.data = bytes;
	fclose(f);
	return s;
}

/* the data of a .npy file behind its header */
static void assert_like_npy(const struct tenon_param *p, const char *name)
{
	char file[300];
	struct tenon_slice npy;
	size_t header;

	snprintf(file, sizeof(file), "tests/interop/data/tvm-0.18/params_file/p_%s.npy", name);
	npy = whole_file(file);
	header = 10 + (unsigned char)npy.data[8] + 256u * (unsigned char)npy.data[9];
	assert_int_equal(npy.size - header, p->bytes);
	if (p->bytes)
		assert_memory_equal(p->tensor.data, npy.data + header, p->bytes);
	free((void *)(uintptr_t)npy.data);
}

static void a_file_of_tvm_is_read_as_numpy_saved_it(void **state)
{
	static const struct {
		const char *name, *dtype;
		int ndim;
	} want[] = { { "f32", "float32", 2 },  { "f64", "float64", 2 }, { "f16", "float16", 1 },
		     { "i8", "int8", 1 },      { "u8", "uint8", 2 },	{ "i64", "int64", 1 },
		     { "i32_5d", "int32", 5 }, { "bool", "bool", 1 },	{ "scalar", "float32", 0 },
		     { "empty", "float32", 2 } };
	char dtype[TENON_DTYPE_NAME];
	struct tenon_params *params;
	size_t i;

	(void)state;
	assert_int_equal(tenon_params_open(FIXTURE, &params), 0);
	assert_int_equal(tenon_params_count(params), 10);
	for (i = 0; i < 10; i++) {
		const struct tenon_param *p =
			tenon_params_find(params, tenon_slice_of(want[i].name));

		if (!p)
			fail_msg("no %s", want[i].name);
		assert_string_equal(tenon_dtype_name(p->tensor.dtype, dtype), want[i].dtype);
		assert_int_equal(p->tensor.ndim, want[i].ndim);
		assert_like_npy(p, want[i].name);
	}
	assert_null(tenon_params_find(params, tenon_slice_of("p_none")));
	assert_null(tenon_params_at(params, 10));
	tenon_object_unref(params);
}

/* parameters of many sizes and ranks */
static struct tenon_param *make_some(size_t count, int64_t shapes[][3], unsigned char *data)
{
	static char names[64][24];
	struct tenon_param *p = calloc(count, sizeof(*p));
	size_t i, k;

	assert_non_null(p);
	for (i = 0; i < count; i++) {
		snprintf(names[i], sizeof(names[i]), "w%zu", i * 37);
		p[i].name = tenon_slice_of(names[i]);
		shapes[i][0] = (int64_t)(i % 5);
		shapes[i][1] = (int64_t)(1 + i % 7);
		shapes[i][2] = (int64_t)(1 + i % 3);
		p[i].tensor = tenon_dltensor(data + 50 * i, shapes[i], (int32_t)(i % 4),
					     tenon_dtype(TENON_DTYPE_UINT, 8, 1));
		p[i].bytes = 1;
		for (k = 0; k < i % 4; k++)
			p[i].bytes *= (size_t)shapes[i][k];
	}
	return p;
}

static void the_aligned_layout_aligns_every_tensor_with_data(void **state)
{
	static const size_t aligns[] = { 1, 2, 64, 128, 4096 };
	unsigned char data[60 * 50 + 200];
	int64_t shapes[60][3];
	struct tenon_params *params;
	struct tenon_param *some;
	size_t a, i;

	(void)state;
	for (i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i * 7);
	some = make_some(60, shapes, data);
	for (a = 0; a < 5; a++) {
		assert_int_equal(tenon_params_write(path[0], some, 60, aligns[a]), 0);
		assert_int_equal(tenon_params_open(path[0], &params), 0);
		assert_int_equal(tenon_params_count(params), 60);
		for (i = 0; i < 60; i++) {
			const struct tenon_param *p = tenon_params_at(params, i);

			assert_true(tenon_slice_equal(p->name, some[i].name));
			assert_int_equal(p->bytes, some[i].bytes);
			assert_int_equal(p->tensor.ndim, some[i].tensor.ndim);
			if (!p->bytes)
				continue;
			assert_memory_equal(p->tensor.data, some[i].tensor.data, p->bytes);
			assert_int_equal(p->offset % aligns[a], 0);
			assert_int_equal((uintptr_t)p->tensor.data % aligns[a], 0);
		}
		tenon_object_unref(params);
	}
	free(some);
}

/* what TVM's reader does with the bytes: names and tensors one by one, without knowing of padding */
static void the_aligned_layout_is_a_plain_list_to_other_readers(void **state)
{
	static const float values[3] = { 1, 2, 3 };
	int64_t three = 3;
	struct tenon_param p = { .name = { "w", 1 }, .bytes = 12 };
	struct tenon_slice file, name;
	struct tenon_cursor c;
	uint64_t v, names, tensors, i;
	uint32_t word;

	(void)state;
	p.tensor = tenon_dltensor((void *)(uintptr_t)values, &three, 1,
				  tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));
	assert_int_equal(tenon_params_write(path[0], &p, 1, 64), 0);
	file = whole_file(path[0]);
	c = tenon_cursor_of(file.data, file.size, "file", 0);
	assert_int_equal(tenon_cursor_u64(&c, &v), 0);
	assert_true(v == UINT64_C(0xf7e58d4f05049cb7));
	assert_int_equal(tenon_cursor_u64(&c, &v), 0);
	assert_int_equal(v, 0);
	assert_int_equal(tenon_cursor_u64(&c, &names), 0);
	assert_int_equal(names, 2);
	for (i = 0; i < names; i++)
		assert_int_equal(tenon_cursor_string(&c, &name), 0);
	assert_slice(name, "w");
	assert_int_equal(tenon_cursor_u64(&c, &tensors), 0);
	assert_int_equal(tensors, names);
	for (i = 0; i < tensors; i++) {
		uint64_t extent, bytes;

		assert_int_equal(tenon_cursor_u64(&c, &v), 0);
		assert_true(v == UINT64_C(0xdd5e40f096b4a13f));
		assert_int_equal(tenon_cursor_u64(&c, &v), 0);
		assert_int_equal(tenon_cursor_u64(&c, &v), 0);
		assert_int_equal(v, 1);
		assert_int_equal(tenon_cursor_u32(&c, &word), 0);
		assert_int_equal(word, 1);
		assert_int_equal(tenon_cursor_u32(&c, &word), 0);
		assert_int_equal(tenon_cursor_u64(&c, &extent), 0);
		assert_int_equal(tenon_cursor_u64(&c, &bytes), 0);
		assert_int_equal(bytes, extent * (word == 0x10801 ? 1 : 4));
		if (i)
			assert_int_equal(tenon_cursor_place(&c) % 64, 0);
		assert_int_equal(tenon_cursor_skip(&c, bytes), 0);
	}
	assert_int_equal(tenon_cursor_left(&c), 0);
	free((void *)(uintptr_t)file.data);
}

static void an_aligned_tensor_is_a_view_and_another_a_copy(void **state)
{
	unsigned char data[200];
	int64_t shapes[4][3];
	struct tenon_param *some = make_some(4, shapes, data);
	struct tenon_params *params;
	struct tenon_tensor *t;

	(void)state;
	memset(data, 7, sizeof(data));
	assert_int_equal(tenon_params_write(path[0], some, 4, 128), 0);
	assert_int_equal(tenon_params_open(path[0], &params), 0);
	assert_int_equal(tenon_params_tensor(params, tenon_params_at(params, 3), 128, &t), 0);
	assert_ptr_equal(t->dl.data, tenon_params_at(params, 3)->tensor.data);
	assert_int_equal(strong_count(params), 2);
	tenon_object_unref(t);
	tenon_object_unref(params);

	assert_int_equal(tenon_params_write(path[0], some, 4, 0), 0);
	assert_int_equal(tenon_params_open(path[0], &params), 0);
	assert_int_equal(tenon_params_tensor(params, tenon_params_at(params, 3), 4096, &t), 0);
	assert_ptr_not_equal(t->dl.data, tenon_params_at(params, 3)->tensor.data);
	assert_memory_equal(t->dl.data, data, some[3].bytes);
	assert_int_equal(strong_count(params), 1);
	tenon_object_unref(params);
	assert_memory_equal(t->dl.data, data, some[3].bytes);
	tenon_object_unref(t);
	free(some);
}

static void large_copies_are_read_from_the_file(void **state)
{
	int64_t extent = 3 << 20;
	unsigned char *data = malloc(3 << 20);
	struct tenon_param p = { .name = { "w", 1 }, .bytes = 3 << 20 };
	struct tenon_params *params;
	struct tenon_tensor *t;
	size_t i;

	(void)state;
	for (i = 0; i < 3 << 20; i++)
		data[i] = (unsigned char)(i ^ i >> 9);
	p.tensor = tenon_dltensor(data, &extent, 1, tenon_dtype(TENON_DTYPE_UINT, 8, 1));
	assert_int_equal(tenon_params_write(path[0], &p, 1, 0), 0);
	assert_int_equal(tenon_params_open(path[0], &params), 0);
	assert_int_equal(tenon_params_tensor(params, tenon_params_at(params, 0), 128, &t), 0);
	assert_int_equal((uintptr_t)t->dl.data % 128, 0);
	assert_memory_equal(t->dl.data, data, 3 << 20);
	tenon_object_unref(t);
	tenon_object_unref(params);
	free(data);
}

/* A head has 40 bytes and 8 for each dimension. */
static void heads_of_any_length_are_read_behind_data(void **state)
{
	static const int dimensions[] = { 1, 11, 12, 1, 63, 64, 0, 1 };
	enum { COUNT = sizeof(dimensions) / sizeof(dimensions[0]), BYTES = 5000 };
	struct tenon_param list[COUNT];
	unsigned char data[BYTES];
	struct tenon_params *params;
	int64_t shape[64];
	int i, k;

	(void)state;
	for (i = 0; i < 64; i++)
		shape[i] = 1;
	shape[0] = BYTES;
	memset(data, 5, sizeof(data));
	for (i = 0; i < COUNT; i++) {
		list[i] = (struct tenon_param){ .name = { &"abcdefgh"[i], 1 },
						.bytes = dimensions[i] ? BYTES : 1 };
		list[i].tensor = tenon_dltensor(data, shape, dimensions[i],
						tenon_dtype(TENON_DTYPE_UINT, 8, 1));
	}
	assert_int_equal(tenon_params_write(path[0], list, COUNT, 0), 0);
	assert_int_equal(tenon_params_open(path[0], &params), 0);
	assert_int_equal(tenon_params_count(params), COUNT);
	for (i = 0; i < COUNT; i++) {
		const struct tenon_param *p = tenon_params_at(params, (size_t)i);
		unsigned char got[BYTES];

		assert_int_equal(p->tensor.ndim, dimensions[i]);
		for (k = 0; k < dimensions[i]; k++)
			assert_int_equal(p->tensor.shape[k], shape[k]);
		assert_int_equal(p->bytes, list[i].bytes);
		assert_int_equal(tenon_params_load(params, p, got), 0);
		assert_memory_equal(got, data, p->bytes);
	}
	tenon_object_unref(params);
}

static void a_file_of_one_tensor_is_read_too(void **state)
{
	struct tenon_slice file = whole_file(FIXTURE);
	struct tenon_params *all, *one;
	const struct tenon_param *p;
	size_t start;

	(void)state;
	assert_int_equal(tenon_params_read(file, NULL, "file", &all), 0);
	p = tenon_params_at(all, 0);
	start = (size_t)p->offset - 40 - 8 * (size_t)p->tensor.ndim;
	assert_int_equal(tenon_params_read(
				 (struct tenon_slice){ file.data + start,
						       40 + 8 * (size_t)p->tensor.ndim + p->bytes },
				 NULL, "one", &one),
			 0);
	assert_int_equal(tenon_params_count(one), 1);
	assert_int_equal(tenon_params_at(one, 0)->name.size, 0);
	assert_int_equal(tenon_params_at(one, 0)->bytes, p->bytes);
	tenon_object_unref(one);
	tenon_object_unref(all);
	free((void *)(uintptr_t)file.data);
}

static void what_the_format_has_no_room_for_is_not_written(void **state)
{
	static float values[8];
	int64_t shape[2] = { 2, 4 }, strides[2] = { 1, 2 };
	struct tenon_param p = { .name = { "w", 1 }, .bytes = 32 };

	(void)state;
	p.tensor = tenon_dltensor(values, shape, 2, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));
	assert_int_equal(tenon_params_write(path[0], &p, 1, 48), -TENON_E_VALUE);
	assert_error_has("no power of two");
	p.tensor.strides = strides;
	assert_int_equal(tenon_params_write(path[0], &p, 1, 0), -TENON_E_VALUE);
	assert_error("parameter \"w\": has strides, want a compact tensor");
	p.tensor.strides = NULL;
	p.bytes = 31;
	assert_int_equal(tenon_params_write(path[0], &p, 1, 0), -TENON_E_VALUE);
	assert_error_has("has 31 bytes, its shape wants 32");
	p.bytes = 32;
	p.tensor.dtype.lanes = 4;
	assert_int_equal(tenon_params_write(path[0], &p, 1, 0), -TENON_E_VALUE);
	assert_error_has("float32x4");
	p.tensor.dtype.lanes = 1;
	p.tensor.device.device_type = kDLCUDA;
	assert_int_equal(tenon_params_write(path[0], &p, 1, 0), -TENON_E_VALUE);
	assert_error_has("lies on cuda");
}

static void faults_are_told_with_file_and_place(void **state)
{
	static const char wrong[24] = "no parameters at all   ";
	struct tenon_params *params;

	(void)state;
	assert_int_equal(tenon_params_open("tests/no.params", &params), -TENON_E_IO);
	assert_error_has("tests/no.params: No such file");
	assert_int_equal(
		tenon_params_read((struct tenon_slice){ wrong, 24 }, NULL, "x.params", &params),
		-TENON_E_FORMAT);
	assert_error("x.params at 0x0: no parameters of TVM, but unknown bytes: 0x6d61726170206f6e "
		     "is not their "
		     "magic number, 0xf7e58d4f05049cb7");
	assert_null(params);
	assert_int_equal(
		tenon_params_read((struct tenon_slice){ wrong, 0 }, NULL, "x.params", &params),
		-TENON_E_TRUNCATED);
	tenon_error_clear();
}

/* ---- every byte cut or edited */

static int try_bytes(const char *data, size_t size)
{
	char *bytes = malloc(size ? size : 1), *copy;
	struct tenon_params *params;
	size_t i;
	int err;

	memcpy(bytes, data, size);
	err = tenon_params_read((struct tenon_slice){ bytes, size }, NULL, "file", &params);
	if (err) {
		assert_true(strlen(tenon_error_message()) > 5);
		assert_null(params);
		tenon_error_clear();
		free(bytes);
		return err;
	}
	for (i = 0; i < tenon_params_count(params); i++) {
		const struct tenon_param *p = tenon_params_at(params, i);

		assert_true(p->bytes <= size);
		copy = malloc(p->bytes + 1);
		assert_int_equal(tenon_params_load(params, p, copy), 0);
		free(copy);
	}
	tenon_object_unref(params);
	free(bytes);
	return 0;
}

static void a_file_cut_anywhere_is_refused(void **state)
{
	struct tenon_slice file = whole_file(FIXTURE);
	size_t i;

	(void)state;
	assert_int_equal(try_bytes(file.data, file.size), 0);
	for (i = 0; i < file.size; i++)
		assert_true(try_bytes(file.data, i) < 0);
	free((void *)(uintptr_t)file.data);
}

static void every_edit_of_a_byte_is_read_or_refused_in_words(void **state)
{
	struct tenon_slice file = whole_file(FIXTURE);
	char *bytes = (char *)(uintptr_t)file.data;
	static const unsigned char edits[] = { 0x01, 0x80, 0xff, 0x7f, 0x10 };
	size_t i, k;

	(void)state;
	for (i = 0; i < file.size; i++)
		for (k = 0; k < sizeof(edits); k++) {
			bytes[i] = (char)(bytes[i] ^ edits[k]);
			try_bytes(bytes, file.size);
			bytes[i] = (char)(bytes[i] ^ edits[k]);
		}
	free(bytes);
}

static void of_many_parameters_each_is_found_and_of_equal_names_the_last(void **state)
{
	static struct tenon_param list[1000];
	static char names[1000][8];
	int64_t shape[1] = { 0 };
	struct tenon_params *params;
	size_t i, count;

	(void)state;
	for (count = 4; count <= 1000; count *= 250) {
		for (i = 0; i < count; i++) {
			snprintf(names[i], sizeof(names[i]), "p%zu", i == count - 1 ? 1 : i);
			list[i].name = tenon_slice_of(names[i]);
			list[i].tensor = tenon_dltensor(NULL, shape, 1,
							tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));
		}
		assert_int_equal(tenon_params_create(list, count, NULL, &params), 0);
		for (i = 2; i < count - 1; i++)
			assert_ptr_equal(tenon_params_find(params, list[i].name),
					 tenon_params_at(params, i));
		assert_ptr_equal(tenon_params_find(params, tenon_slice_of("p1")),
				 tenon_params_at(params, count - 1));
		assert_null(tenon_params_find(params, tenon_slice_of("p1000")));
		tenon_object_unref(params);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_many_parameters_each_is_found_and_of_equal_names_the_last),
		cmocka_unit_test(a_file_of_tvm_is_read_as_numpy_saved_it),
		cmocka_unit_test(the_aligned_layout_aligns_every_tensor_with_data),
		cmocka_unit_test(the_aligned_layout_is_a_plain_list_to_other_readers),
		cmocka_unit_test(an_aligned_tensor_is_a_view_and_another_a_copy),
		cmocka_unit_test(large_copies_are_read_from_the_file),
		cmocka_unit_test(heads_of_any_length_are_read_behind_data),
		cmocka_unit_test(a_file_of_one_tensor_is_read_too),
		cmocka_unit_test(what_the_format_has_no_room_for_is_not_written),
		cmocka_unit_test(faults_are_told_with_file_and_place),
		cmocka_unit_test(a_file_cut_anywhere_is_refused),
		cmocka_unit_test(every_edit_of_a_byte_is_read_or_refused_in_words),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
