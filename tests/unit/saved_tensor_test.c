/* SPDX-License-Identifier: MIT */
/* Tensors as TVM saved them, read as views of a file. */
#include "tests/unit/blob.h"

#include <stdalign.h>
#include <tenon/backend/buffer.h>

#include "runtime/core/saved_tensor.h"

static const float first[4] = { 1.5f, -2, 3.25f, 4 };

static void keep_nothing(void *self, int flags)
{
	(void)self;
	(void)flags;
}

static void aligned_constants_are_views_of_the_file(void **state)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	alignas(TENON_TENSOR_ALIGN) char place[512];
	struct tenon_object file;
	struct saved_tensor saved;
	struct tenon_tensor *t;
	struct tenon_cursor c;
	size_t shift;

	(void)state;
	tenon_object_init(&file, TENON_TYPE_OBJECT, keep_nothing);
	put_tensor(&b, first, 4);
	for (shift = 0; shift < 2; shift++) {
		size_t at = TENON_TENSOR_ALIGN - (b.size - sizeof(first)) + shift;

		memcpy(place + at, b.data, b.size);
		c = tenon_cursor_of(place + at, b.size, "file", 0);
		assert_int_equal(saved_tensor_read(&c, &saved), 0);
		assert_int_equal(tenon_cursor_left(&c), 0);
		assert_int_equal(saved_tensor_make(&saved, &file, &t), 0);
		if (shift) {
			assert_ptr_not_equal(t->dl.data, saved.data.data);
			assert_int_equal((uintptr_t)t->dl.data % TENON_TENSOR_ALIGN, 0);
			assert_int_equal(strong_count(&file), 1);
		} else {
			assert_ptr_equal(t->dl.data, saved.data.data);
			assert_int_equal(strong_count(&file), 2);
		}
		assert_memory_equal(t->dl.data, first, sizeof(first));
		tenon_object_unref(t);
	}
	/* nobody keeps the bytes: a copy, aligned or not */
	assert_int_equal(saved_tensor_make(&saved, NULL, &t), 0);
	assert_ptr_not_equal(t->dl.data, saved.data.data);
	tenon_object_unref(t);
	tenon_buffer_fini(&b);
}

static void put_saved(struct tenon_buffer *b, uint32_t dtype, uint32_t ndim, const uint64_t *shape,
		      const void *data, uint64_t bytes)
{
	uint32_t i;

	tenon_buffer_u64(b, UINT64_C(0xdd5e40f096b4a13f));
	tenon_buffer_u64(b, 0);
	tenon_buffer_u64(b, 1);
	tenon_buffer_u32(b, ndim);
	tenon_buffer_u32(b, dtype);
	for (i = 0; i < ndim; i++)
		tenon_buffer_u64(b, shape[i]);
	tenon_buffer_u64(b, bytes);
	tenon_buffer_append(b, data, bytes);
}

static void bools_scalars_and_empty_tensors_are_read_whole(void **state)
{
	static const struct {
		uint32_t dtype;
		uint32_t ndim;
		uint64_t shape[2];
		uint64_t bytes;
	} cases[] = {
		{ 0x00010101, 1, { 5 }, 5 },	/* a bool of one bit stands in a byte */
		{ 0x00014002, 0, { 0 }, 8 },	/* a 0-dimensional float64 */
		{ 0x00011002, 2, { 0, 3 }, 0 }, /* nothing, of shape [0, 3] */
		{ 0x00010400, 2, { 2, 3 }, 6 }, /* int4, unpacked */
	};
	static const char bytes[8] = { 1, 0, 1, 1, 0, 1, 7, 8 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tenon_buffer b = TENON_BUFFER_INIT;
		struct saved_tensor saved;
		struct tenon_tensor *t;
		struct tenon_cursor c;

		put_saved(&b, cases[i].dtype, cases[i].ndim, cases[i].shape, bytes, cases[i].bytes);
		c = tenon_cursor_of(b.data, b.size, "file", 0);
		assert_int_equal(saved_tensor_read(&c, &saved), 0);
		assert_int_equal(saved_tensor_make(&saved, NULL, &t), 0);
		assert_int_equal(t->dl.ndim, cases[i].ndim);
		assert_int_equal(t->dl.dtype.bits, cases[i].dtype >> 8 & 255);
		assert_memory_equal(t->dl.data, bytes, cases[i].bytes);
		tenon_object_unref(t);
		tenon_buffer_fini(&b);
	}
}

static void several_lanes_are_refused(void **state)
{
	static const uint64_t shape[] = { 1 };
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct saved_tensor saved;
	struct tenon_cursor c;

	(void)state;
	put_saved(&b, 0x00042002, 1, shape, "abcd", 4);
	c = tenon_cursor_of(b.data, b.size, "file", 0);
	assert_int_equal(saved_tensor_read(&c, &saved), -TENON_E_UNSUPPORTED);
	assert_error_has("a tensor whose elements have 4 lanes: TVM saves one only");
	tenon_buffer_fini(&b);
}

static void a_zero_does_not_hide_extents_that_overflow(void **state)
{
	static const uint64_t shapes[][3] = {
		{ 0, UINT64_C(1) << 62, 8 },
		{ UINT64_C(1) << 62, 8, 0 },
		{ 0, UINT64_C(1) << 63, 1 },
	};
	struct saved_tensor saved;
	struct tenon_cursor c;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		struct tenon_buffer b = TENON_BUFFER_INIT;

		put_saved(&b, 0x00012002, 3, shapes[i], "", 0);
		c = tenon_cursor_of(b.data, b.size, "file", 0);
		assert_int_equal(saved_tensor_read(&c, &saved), -TENON_E_FORMAT);
		assert_error_has("of a tensor");
		tenon_buffer_fini(&b);
	}
}

static void a_dtype_that_no_tensor_has_is_refused(void **state)
{
	/* uint248, a handle of no bits, float24, code 200 */
	static const uint32_t dtypes[] = { 0x0001f801, 0x00010003, 0x00011802, 0x000120c8 };
	static const uint64_t shape[] = { 0 };
	struct saved_tensor saved;
	struct tenon_cursor c;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(dtypes) / sizeof(dtypes[0]); i++) {
		struct tenon_buffer b = TENON_BUFFER_INIT;

		put_saved(&b, dtypes[i], 1, shape, "", 0);
		c = tenon_cursor_of(b.data, b.size, "file", 0);
		assert_int_equal(saved_tensor_read(&c, &saved), -TENON_E_FORMAT);
		assert_error_has("a tensor of dtype");
		tenon_buffer_fini(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(aligned_constants_are_views_of_the_file),
		cmocka_unit_test(bools_scalars_and_empty_tensors_are_read_whole),
		cmocka_unit_test(several_lanes_are_refused),
		cmocka_unit_test(a_dtype_that_no_tensor_has_is_refused),
		cmocka_unit_test(a_zero_does_not_hide_extents_that_overflow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
