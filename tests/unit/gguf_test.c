/* SPDX-License-Identifier: MIT */
/* Files in GGUF, put together here; quantised blocks beside what the package gguf of PyPI makes of them. */
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <tenon/backend/buffer.h>
#include <unistd.h>

static struct tenon_params *params;

static int tear_down(void **state)
{
	(void)state;
	tenon_object_unref(params);
	params = NULL;
	return 0;
}

struct tensor {
	const char *name;
	uint32_t ndim;
	uint64_t extents[5]; /* innermost first, as in the file */
	uint32_t type;
	uint64_t offset;
};

static void put_text(struct tenon_buffer *b, const char *text)
{
	tenon_buffer_string(b, tenon_slice_of(text));
}

static void put_head(struct tenon_buffer *b, uint32_t version, uint64_t tensors, uint64_t entries)
{
	tenon_buffer_append(b, "GGUF", 4);
	tenon_buffer_u32(b, version);
	tenon_buffer_u64(b, tensors);
	tenon_buffer_u64(b, entries);
}

/* metadata as language models have it: a string, an array of strings, a number, the alignment */
static void put_metadata(struct tenon_buffer *b, uint32_t alignment)
{
	put_text(b, "general.name");
	tenon_buffer_u32(b, 8);
	put_text(b, "small");
	put_text(b, "tokens");
	tenon_buffer_u32(b, 9);
	tenon_buffer_u32(b, 8);
	tenon_buffer_u64(b, 2);
	put_text(b, "a");
	put_text(b, "bc");
	put_text(b, "half");
	tenon_buffer_u32(b, 12);
	tenon_buffer_u64(b, 0);
	put_text(b, "general.alignment");
	tenon_buffer_u32(b, 4);
	tenon_buffer_u32(b, alignment);
}

static void put_tensor(struct tenon_buffer *b, const struct tensor *t)
{
	uint32_t i;

	put_text(b, t->name);
	tenon_buffer_u32(b, t->ndim);
	for (i = 0; i < t->ndim; i++)
		tenon_buffer_u64(b, t->extents[i]);
	tenon_buffer_u32(b, t->type);
	tenon_buffer_u64(b, t->offset);
}

static struct tenon_buffer file_of(const struct tensor *list, size_t count, const uint8_t *data,
				   size_t size)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	size_t i;

	put_head(&b, 3, count, 4);
	put_metadata(&b, 64);
	for (i = 0; i < count; i++)
		put_tensor(&b, &list[i]);
	while (!b.status && b.size % 64)
		tenon_buffer_u8(&b, 0);
	tenon_buffer_append(&b, data, size);
	assert_int_equal(b.status, 0);
	return b;
}

static int read_buffer(const struct tenon_buffer *b)
{
	tenon_object_unref(params);
	return tenon_params_read((struct tenon_slice){ b->data, b->size }, NULL, "f", &params);
}

static const struct tenon_param *param_of(const char *name)
{
	const struct tenon_param *p = tenon_params_find(params, tenon_slice_of(name));

	if (!p)
		fail_msg("no %s", name);
	return p;
}

static const uint8_t some[196] = { 1, 2, 3, 4, 5, 6, 7, 8 };

static const struct tensor two[] = { { "w", 2, { 2, 3 }, 0, 64 }, { "q", 2, { 64, 1 }, 8, 128 } };

static void names_shapes_and_data_are_those_of_the_file(void **state)
{
	struct tenon_buffer b;
	uint8_t data[256] = { 0 };

	(void)state;
	memcpy(data + 64, some, 24);
	b = file_of(two, 2, data, 128 + 68);
	assert_int_equal(read_buffer(&b), 0);
	assert_int_equal(tenon_params_count(params), 2);
	assert_int_equal(param_of("w")->tensor.shape[0], 3);
	assert_int_equal(param_of("w")->tensor.shape[1], 2);
	assert_int_equal(param_of("w")->bytes, 24);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	assert_memory_equal(param_of("w")->tensor.data, some, 24);
#endif
	assert_null(tenon_params_block_type(params, param_of("w")));
	assert_string_equal(tenon_params_block_type(params, param_of("q")), "Q8_0");
	assert_int_equal(param_of("q")->tensor.shape[1], 68);
	tear_down(NULL);
	tenon_buffer_fini(&b);
}

static uint64_t hash(const void *data, size_t size)
{
	const uint8_t *bytes = data;
	uint64_t h = UINT64_C(14695981039346656037);

	while (size--)
		h = (h ^ *bytes++) * UINT64_C(1099511628211);
	return h;
}

static void blocks_become_the_numbers_that_the_reference_makes(void **state)
{
	/* type, elements, bytes, where the scale is, hashes of float32 and float16 */
	static const struct {
		uint32_t type;
		unsigned int elements, bytes, scale;
		uint64_t float32, float16;
	} rows[] = {
		{ 2, 32, 18, 0, UINT64_C(0x635b752f1e6acf21), UINT64_C(0x09a9253a8ff84fe9) },
		{ 3, 32, 20, 0, UINT64_C(0xc20edd204a26e886), UINT64_C(0x6ab178f18e791875) },
		{ 6, 32, 22, 0, UINT64_C(0x5b30e4f06c2971a7), UINT64_C(0x8a304b7441387e16) },
		{ 7, 32, 24, 0, UINT64_C(0x004026e36222b967), UINT64_C(0x54da09dd9f41b36c) },
		{ 8, 32, 34, 0, UINT64_C(0x75d7c751636ea867), UINT64_C(0xadf182c4e2b912b1) },
		{ 12, 256, 144, 0, UINT64_C(0xf50795cbfef9f125), UINT64_C(0x34e7b74aa238ab1a) },
		{ 13, 256, 176, 0, UINT64_C(0x5e3b5e6bedacf5ac), UINT64_C(0x6aaee8521e4a7c41) },
		{ 14, 256, 210, 208, UINT64_C(0x41770e2ac5c1a416), UINT64_C(0x76a0fc6e6d05b651) },
	};
	struct tenon_tensor *one, *none;
	struct tenon_params *numbers;
	uint8_t block[256];
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct tensor t = { "t", 1, { rows[i].elements }, rows[i].type, 0 };
		struct tenon_buffer b;
		int bits;

		for (k = 0; k < rows[i].bytes; k++)
			block[k] = (uint8_t)(k * 37 + 11);
		memcpy(block + rows[i].scale, "\x67\x2e", 2);
		if (rows[i].type == 3 || rows[i].type == 7 || rows[i].type == 12 ||
		    rows[i].type == 13)
			memcpy(block + 2, "\x55\x35", 2);
		b = file_of(&t, 1, block, rows[i].bytes);
		assert_int_equal(read_buffer(&b), 0);
		for (bits = 16; bits <= 32; bits += 16) {
			const struct tenon_param *p;

			assert_int_equal(
				tenon_params_dequantize(
					params, tenon_dtype(TENON_DTYPE_FLOAT, bits, 1), &numbers),
				0);
			p = tenon_params_at(numbers, 0);
			assert_int_equal(p->tensor.shape[0], rows[i].elements);
			assert_null(tenon_params_block_type(numbers, p));
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
			assert_int_equal(hash(p->tensor.data, p->bytes),
					 bits == 32 ? rows[i].float32 : rows[i].float16);
#endif
			assert_int_equal(tenon_params_load(numbers, p, (char[1024]){ 0 }), 0);
			/* one by one, they are the same */
			assert_int_equal(tenon_params_numbers(params, tenon_params_at(params, 0),
							      p->tensor.dtype, &one),
					 0);
			assert_int_equal(one->dl.shape[0], rows[i].elements);
			assert_memory_equal(one->dl.data, p->tensor.data, p->bytes);
			assert_int_equal(tenon_params_numbers(numbers, p, p->tensor.dtype, &none),
					 -TENON_E_VALUE);
			assert_null(none);
			tenon_error_clear();
			tenon_object_unref(one);
			tenon_object_unref(numbers);
		}
		tear_down(NULL);
		tenon_buffer_fini(&b);
	}
}

static void only_floats_are_made_of_blocks(void **state)
{
	struct tenon_buffer b = file_of(two, 2, some, sizeof(some));
	struct tenon_params *numbers;

	(void)state;
	assert_int_equal(read_buffer(&b), 0);
	assert_int_equal(
		tenon_params_dequantize(params, tenon_dtype(TENON_DTYPE_INT, 8, 1), &numbers),
		-TENON_E_VALUE);
	assert_null(numbers);
	tenon_error_clear();
	tear_down(NULL);
	tenon_buffer_fini(&b);
}

static void assert_refused(const struct tensor *list, size_t count, int status, const char *text)
{
	struct tenon_buffer b = file_of(list, count, some, sizeof(some));

	assert_int_equal(read_buffer(&b), status);
	assert_error_has(text);
	tenon_buffer_fini(&b);
}

static void tensors_that_do_not_fit_are_refused(void **state)
{
	const struct tensor twins[] = { { "w", 1, { 4 }, 0, 0 }, { "w", 1, { 4 }, 0, 64 } };
	const struct tensor over[] = { { "a", 1, { 32 }, 0, 0 }, { "b", 1, { 4 }, 0, 64 } };
	const struct tensor unaligned = { "w", 1, { 4 }, 0, 32 };
	const struct tensor behind = { "w", 1, { 64 }, 0, 0 };
	const struct tensor rows = { "w", 1, { 33 }, 8, 0 };
	const struct tensor unknown = { "w", 1, { 256 }, 10, 0 };
	const struct tensor large = { "w", 2, { UINT64_C(1) << 62, 64 }, 0, 0 };
	const struct tensor deep = { "w", 5, { 1 }, 0, 0 };

	(void)state;
	assert_refused(twins, 2, -TENON_E_FORMAT, "two tensors are called \"w\"");
	assert_refused(over, 2, -TENON_E_FORMAT, "begins at");
	assert_refused(&unaligned, 1, -TENON_E_FORMAT, "no multiple of 64");
	assert_refused(&behind, 1, -TENON_E_TRUNCATED, "256 bytes");
	assert_refused(&rows, 1, -TENON_E_FORMAT, "no whole blocks of Q8_0");
	assert_refused(&unknown, 1, -TENON_E_UNSUPPORTED, "type 10 of a tensor");
	assert_refused(&large, 1, -TENON_E_FORMAT, "");
	assert_refused(&deep, 1, -TENON_E_FORMAT, "5 dimensions");
}

static void heads_that_cannot_be_are_refused(void **state)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;

	(void)state;
	put_head(&b, 1, 0, 0);
	assert_int_equal(read_buffer(&b), -TENON_E_UNSUPPORTED);
	assert_error_has("version 1 of GGUF");
	b.size = 0;
	put_head(&b, 3, UINT64_C(1) << 60, 0);
	assert_int_equal(read_buffer(&b), -TENON_E_TRUNCATED);
	assert_error_has("f at 0x8");
	b.size = 0;
	put_head(&b, 3, 0, 4);
	put_metadata(&b, 48);
	assert_int_equal(read_buffer(&b), -TENON_E_FORMAT);
	assert_error_has("general.alignment is 48");
	tenon_buffer_fini(&b);
}

static void every_edit_and_every_cut_is_read_or_refused_in_words(void **state)
{
	struct tenon_buffer b = file_of(two, 2, some, sizeof(some));
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
			tear_down(NULL);
		}
	}
	free(copy);
	tenon_buffer_fini(&b);
}

static int note_entry(void *context, const struct tenon_params_entry *e)
{
	struct tenon_buffer *text = context;

	tenon_buffer_printf(text, "%.*s:%u%s:%u:%u ", (int)e->key.size, e->key.data, e->type,
			    e->array ? "[]" : "", (unsigned int)e->count,
			    (unsigned int)e->bytes.size);
	return e->type == 12 ? tenon_error(-TENON_E_VALUE, "enough") : 0;
}

static void a_file_that_became_shorter_is_not_dequantised(void **state)
{
	struct tenon_buffer b = file_of(two, 2, some, sizeof(some));
	struct tenon_buffer text = TENON_BUFFER_INIT;
	struct tenon_params *numbers;
	char path[300];
	FILE *f;

	(void)state;
	snprintf(path, sizeof(path), "%s/short.gguf", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(b.data, 1, b.size, f), b.size);
	fclose(f);
	assert_int_equal(tenon_params_open(path, &params), 0);
	assert_int_equal(truncate(path, 64), 0);
	/* on a machine of the other byte order the data has been copied */
	if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) {
		assert_int_equal(tenon_params_dequantize(
					 params, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1), &numbers),
				 -TENON_E_IO);
		assert_error_has("parameter \"q\": ");
	}
	assert_int_equal(tenon_params_metadata(params, note_entry, &text), -TENON_E_IO);
	tenon_buffer_fini(&text);
	remove(path);
	tenon_buffer_fini(&b);
}

static void entries_of_metadata_are_visited_until_one_stops(void **state)
{
	static const char want[] = "general.name:8:1:13 tokens:8[]:2:19 half:12:1:8 ";
	struct tenon_buffer b = file_of(two, 2, some, sizeof(some)), text = TENON_BUFFER_INIT;

	(void)state;
	assert_int_equal(read_buffer(&b), 0);
	assert_int_equal(tenon_params_metadata(params, note_entry, &text), -TENON_E_VALUE);
	assert_int_equal(text.size, sizeof(want) - 1);
	assert_memory_equal(text.data, want, sizeof(want) - 1);
	tenon_buffer_fini(&text);
	tenon_buffer_fini(&b);
}

#define CASE(f) cmocka_unit_test_teardown(f, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(names_shapes_and_data_are_those_of_the_file),
		CASE(blocks_become_the_numbers_that_the_reference_makes),
		CASE(only_floats_are_made_of_blocks),
		CASE(tensors_that_do_not_fit_are_refused),
		CASE(heads_that_cannot_be_are_refused),
		CASE(every_edit_and_every_cut_is_read_or_refused_in_words),
		CASE(a_file_that_became_shorter_is_not_dequantised),
		CASE(entries_of_metadata_are_visited_until_one_stops),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
