/* SPDX-License-Identifier: MIT */
/*
 * Files of several arrays of numpy: good ones are read, and spoilt ones are refused with a reason. They are made here,
 * by libzip, and then spoilt byte by byte.
 */
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <zip.h>

#include "cli_run.h"
#include "tools/tensor/npz.h"

static const float values[6] = { 1, 2, 3, 4, 5, 6 };

/* ---- making them */

struct array {
	char bytes[512];
	size_t size;
};

static struct array array_of(const char *header, const void *data, size_t size)
{
	struct array a;
	size_t length = strlen(header) + 1, room = (length + 10 + 63) / 64 * 64 - 10;

	memset(a.bytes, ' ', sizeof(a.bytes));
	memcpy(a.bytes, "\x93NUMPY\x01\x00", 8);
	a.bytes[8] = (char)room;
	a.bytes[9] = (char)(room >> 8);
	memcpy(a.bytes + 10, header, length - 1);
	a.bytes[10 + room - 1] = '\n';
	memcpy(a.bytes + 10 + room, data, size);
	a.size = 10 + room + size;
	return a;
}

#define HEADER(descr, fortran, shape)                                                              \
	"{'descr': '" descr "', 'fortran_order': " fortran ", 'shape': (" shape "), }"

static struct array matrix(void)
{
	return array_of(HEADER("<f4", "False", "2, 3"), values, sizeof(values));
}

static char *path_of(const char *name)
{
	static char path[2][300];
	static int next;
	char *p = path[next++ % 2];

	snprintf(p, sizeof(path[0]), "%s/%s", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", name);
	return p;
}

struct maker {
	char path[300];
	zip_t *zip;
};

static struct maker begin(void)
{
	struct maker m;

	snprintf(m.path, sizeof(m.path), "%s", path_of("arrays.npz"));
	remove(m.path);
	m.zip = zip_open(m.path, ZIP_CREATE | ZIP_TRUNCATE, NULL);
	assert_non_null(m.zip);
	return m;
}

static zip_int64_t add(struct maker *m, const char *name, const struct array *a, zip_int32_t method)
{
	zip_source_t *source = zip_source_buffer(m->zip, a->bytes, a->size, 0);
	zip_int64_t index = zip_file_add(m->zip, name, source, 0);

	assert_true(index >= 0);
	assert_int_equal(zip_set_file_compression(m->zip, (zip_uint64_t)index, method, 0), 0);
	return index;
}

static const char *end(struct maker *m)
{
	static char path[300];

	if (zip_close(m->zip))
		fail_msg("%s", zip_strerror(m->zip));
	strcpy(path, m->path);
	return path;
}

/* A file with one array. */
static const char *one(const char *name, const struct array *a, zip_int32_t method)
{
	struct maker m = begin();

	add(&m, name, a, method);
	return end(&m);
}

/* ---- a file's bytes */

struct bytes {
	char data[4096];
	size_t size;
};

static struct bytes bytes_of(const char *path)
{
	FILE *f = fopen(path, "rb");
	struct bytes b;

	assert_non_null(f);
	b.size = fread(b.data, 1, sizeof(b.data), f);
	assert_true(b.size < sizeof(b.data));
	fclose(f);
	return b;
}

static void put(const char *path, const void *data, size_t size)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, size, f), size);
	fclose(f);
}

/* Put other bytes for all that are as these; returns how often. */
static int replace(const char *path, const void *old, const void *new, size_t size)
{
	struct bytes b = bytes_of(path);
	size_t i;
	int n = 0;

	for (i = 0; i + size <= b.size; i++) {
		if (memcmp(b.data + i, old, size))
			continue;
		memcpy(b.data + i, new, size);
		n++;
	}
	put(path, b.data, b.size);
	return n;
}

static void refused(const char *path, int status, const char *words)
{
	struct npz npz;

	assert_int_equal(npz_read(path, &npz), status);
	assert_error_has(words);
	npz_fini(&npz);
	remove(path);
}

/* ---- reading */

static void stored_and_deflated_arrays_keep_their_names(void **state)
{
	static const int64_t shape[] = { 2, 3 };
	struct array a = matrix(),
		     scalar = array_of(HEADER("<i8", "False", ""), "\7\0\0\0\0\0\0\0", 8);
	struct maker m = begin();
	struct npz npz;
	const char *path;

	(void)state;
	add(&m, "weight.npy", &a, ZIP_CM_STORE);
	add(&m, "layer.0/bias.npy", &a, ZIP_CM_DEFLATE);
	add(&m, "n.npy", &scalar, ZIP_CM_DEFLATE);
	path = end(&m);
	if (npz_read(path, &npz))
		fail_msg("%s", tenon_error_message());
	assert_int_equal(npz.count, 3);
	assert_slice(npz.params[0].name, "weight");
	assert_slice(npz.params[1].name, "layer.0/bias");
	assert_slice(npz.params[2].name, "n");
	assert_int_equal(npz.params[1].tensor.ndim, 2);
	assert_memory_equal(npz.params[1].tensor.shape, shape, sizeof(shape));
	assert_memory_equal(npz.params[0].tensor.data, values, sizeof(values));
	assert_memory_equal(npz.params[1].tensor.data, values, sizeof(values));
	assert_int_equal(npz.params[2].tensor.ndim, 0);
	assert_int_equal(*(int64_t *)npz.params[2].tensor.data, 7);
	npz_fini(&npz);
	remove(path);
}

static void other_orders_are_turned_round(void **state)
{
	/* columns first, and the highest byte first: 1 2 3 / 4 5 6 */
	static const uint8_t words[12] = { 0, 1, 0, 4, 0, 2, 0, 5, 0, 3, 0, 6 };
	static const int16_t want[6] = { 1, 2, 3, 4, 5, 6 };
	struct array a = array_of(HEADER(">i2", "True", "2, 3"), words, sizeof(words));
	const char *path = one("f.npy", &a, ZIP_CM_DEFLATE);
	struct npz npz;

	(void)state;
	assert_int_equal(npz_read(path, &npz), 0);
	assert_memory_equal(npz.params[0].tensor.data, want, sizeof(want));
	npz_fini(&npz);
	remove(path);
}

static void the_command_makes_parameters_of_them(void **state)
{
	struct array a = matrix();
	char *made = path_of("npz.params");
	struct tenon_params *params;
	const struct tenon_param *p;
	struct cli_run r;
	const char *path = one("w.npy", &a, ZIP_CM_DEFLATE);

	(void)state;
	r = RUN("params", "from-npz", (char *)(uintptr_t)path, "-o", made, "--align", "4096");
	assert_string_equal(r.err, "");
	assert_non_null(strstr(r.out, "1 parameters, aligned to 4096 bytes\n"));
	assert_int_equal(r.code, CLI_OK);
	cli_run_free(&r);
	assert_int_equal(tenon_params_open(made, &params), 0);
	p = tenon_params_find(params, tenon_slice_of("w"));
	assert_non_null(p);
	assert_int_equal(p->offset % 4096, 0);
	assert_memory_equal(p->tensor.data, values, sizeof(values));
	tenon_object_unref(params);
	remove(made);
	assert_refused(RUN("params", "from-npz", (char *)(uintptr_t)path), CLI_USAGE,
		       "FILE.npz TO");
	assert_refused(RUN("params", "from-npz", "none.npz", made), CLI_NO_FILE,
		       "none.npz: cannot open");
	assert_refused(RUN("params", "from-npz", "none.npz", "made.npz"), CLI_USAGE,
		       "made.npz: this name is for NumPy files");
	assert_refused(RUN("params", "from-npz", (char *)(uintptr_t)path, (char *)(uintptr_t)path),
		       CLI_USAGE, "name a different file");
	remove(path);
}

/* ---- refusing */

static void what_is_no_array_is_named(void **state)
{
	struct array a = matrix(), text = { "hello", 5 }, object;
	const char *path;

	(void)state;
	refused(one("readme.txt", &a, ZIP_CM_STORE), -TENON_E_FORMAT, "\"readme.txt\": no array");
	refused(one(".npy", &a, ZIP_CM_STORE), -TENON_E_FORMAT, "\".npy\": no array");
	refused(one("folder/", &text, ZIP_CM_STORE), -TENON_E_FORMAT, "\"folder/\": no array");
	refused(one("x.npy", &text, ZIP_CM_STORE), -TENON_E_FORMAT, "\"x.npy\"");
	object = array_of(HEADER("|O", "False", "2,"), "\0\0\0\0", 4);
	refused(one("o.npy", &object, ZIP_CM_STORE), -TENON_E_UNSUPPORTED, "numpy's type \"|O\"");
	object = array_of(HEADER("<f4", "False", "2, 4"), values, sizeof(values));
	refused(one("s.npy", &object, ZIP_CM_DEFLATE), -TENON_E_TRUNCATED,
		"\"s.npy\" at 0x80: its shape needs 32 bytes of data, the file has 24");
	object = array_of(HEADER("|V2", "False", "2,"), "\0\0\0\0", 4);
	path = one("v.npy", &object, ZIP_CM_STORE);
	assert_refused(RUN("params", "from-npz", (char *)(uintptr_t)path, "v.params"), CLI_NO_FILE,
		       "2 raw bytes");
	refused(path, -TENON_E_UNSUPPORTED, "2 raw bytes");
}

static void a_name_that_comes_twice_is_refused(void **state)
{
	struct array a = matrix();
	struct maker m = begin();
	const char *path;

	(void)state;
	add(&m, "first.npy", &a, ZIP_CM_STORE);
	add(&m, "other.npy", &a, ZIP_CM_STORE);
	path = end(&m);
	assert_int_equal(replace(path, "other.npy", "first.npy", 9), 2);
	refused(path, -TENON_E_EXISTS, "two arrays of one name");
}

static void packing_that_numpy_does_not_do_is_refused(void **state)
{
	struct array a = matrix();
	struct maker m;

	(void)state;
	if (zip_compression_method_supported(ZIP_CM_BZIP2, 1))
		refused(one("b.npy", &a, ZIP_CM_BZIP2), -TENON_E_UNSUPPORTED,
			"\"b.npy\" is packed by method 12");
	if (!zip_encryption_method_supported(ZIP_EM_AES_256, 1))
		return;
	m = begin();
	assert_int_equal(zip_file_set_encryption(m.zip,
						 (zip_uint64_t)add(&m, "e.npy", &a, ZIP_CM_STORE),
						 ZIP_EM_AES_256, "secret"),
			 0);
	refused(end(&m), -TENON_E_UNSUPPORTED, "\"e.npy\" is encrypted");
}

static void what_is_no_zip_is_refused(void **state)
{
	static const char nothing[22] = "PK\5\6";
	struct array a = matrix();
	const char *path = one("w.npy", &a, ZIP_CM_STORE);
	struct bytes b = bytes_of(path);

	(void)state;
	put(path, b.data, b.size - 1);
	refused(path, -TENON_E_FORMAT, "no whole zip file");
	put(path, a.bytes, a.size);
	refused(path, -TENON_E_FORMAT, "no whole zip file");
	put(path, nothing, sizeof(nothing));
	refused(path, -TENON_E_FORMAT, "no array is in it");
	refused(path, -TENON_E_IO, "cannot open");
}

static void damaged_data_is_found_by_its_checksum(void **state)
{
	static const float other = 7;
	struct array a = matrix();
	const char *path = one("w.npy", &a, ZIP_CM_STORE);

	(void)state;
	assert_int_equal(replace(path, &values[3], &other, sizeof(other)), 1);
	refused(path, -TENON_E_FORMAT, "\"w.npy\": CRC error");
}

static void a_size_that_cannot_be_is_refused_before_memory_is_taken(void **state)
{
	static const uint8_t huge[4] = { 0xf0, 0xff, 0xff, 0xff };
	struct array a = matrix();
	const char *path = one("w.npy", &a, ZIP_CM_DEFLATE);
	uint8_t size[4] = { (uint8_t)a.size, (uint8_t)(a.size >> 8), 0, 0 };

	(void)state;
	/* beside the entry, and in the directory */
	assert_int_equal(replace(path, size, huge, sizeof(size)), 2);
	refused(path, -TENON_E_FORMAT, "\"w.npy\" promises 4294967280 bytes");
}

/* Any byte may be anything: an answer, and nothing read or written outside. */
/* zeros of 65 MiB in 64 KiB of a file */
static void arrays_far_larger_than_their_file_are_refused(void **state)
{
	const size_t size = (size_t)65 << 20;
	struct array head = array_of(HEADER("|u1", "False", "68157440"), "", 0);
	char *bytes = calloc(1, head.size + size);
	struct maker m = begin();
	zip_source_t *source;
	zip_int64_t index;

	(void)state;
	assert_non_null(bytes);
	memcpy(bytes, head.bytes, head.size);
	source = zip_source_buffer(m.zip, bytes, head.size + size, 0);
	index = zip_file_add(m.zip, "zeros.npy", source, 0);
	assert_true(index >= 0);
	assert_int_equal(zip_set_file_compression(m.zip, (zip_uint64_t)index, ZIP_CM_DEFLATE, 1),
			 0);
	refused(end(&m), -TENON_E_OVERFLOW, "zeros.npy");
	free(bytes);
}

static void no_byte_breaks_it(void **state)
{
	static const uint8_t flips[] = { 0x01, 0xff };
	struct array a = matrix();
	struct maker m = begin();
	struct bytes b;
	struct npz npz;
	const char *path;
	size_t i, k;

	(void)state;
	add(&m, "w.npy", &a, ZIP_CM_DEFLATE);
	add(&m, "b.npy", &a, ZIP_CM_STORE);
	path = end(&m);
	b = bytes_of(path);
	for (i = 0; i < b.size; i++) {
		for (k = 0; k < sizeof(flips); k++) {
			b.data[i] = (char)(b.data[i] ^ flips[k]);
			put(path, b.data, b.size);
			if (npz_read(path, &npz))
				assert_true(*tenon_error_message());
			tenon_error_clear();
			npz_fini(&npz);
			b.data[i] = (char)(b.data[i] ^ flips[k]);
		}
		put(path, b.data, i);
		assert_true(npz_read(path, &npz) < 0);
		tenon_error_clear();
		npz_fini(&npz);
	}
	remove(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stored_and_deflated_arrays_keep_their_names),
		cmocka_unit_test(other_orders_are_turned_round),
		cmocka_unit_test(the_command_makes_parameters_of_them),
		cmocka_unit_test(what_is_no_array_is_named),
		cmocka_unit_test(a_name_that_comes_twice_is_refused),
		cmocka_unit_test(packing_that_numpy_does_not_do_is_refused),
		cmocka_unit_test(what_is_no_zip_is_refused),
		cmocka_unit_test(damaged_data_is_found_by_its_checksum),
		cmocka_unit_test(a_size_that_cannot_be_is_refused_before_memory_is_taken),
		cmocka_unit_test(arrays_far_larger_than_their_file_are_refused),
		cmocka_unit_test(no_byte_breaks_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
