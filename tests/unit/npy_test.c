/* SPDX-License-Identifier: MIT */
/* The files below are what numpy 2.4 (with ml_dtypes 0.6) saved, byte for byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/unit/suite.h"

#include "tools/file/file.h"
#include "tools/tensor/array_file.h"
#include "tools/tensor/npy.h"
#include "tools/tensor/spec.h"

static char folder[512];

static const char *in_folder(const char *name)
{
	static char path[2][640];
	static int turn;

	turn = !turn;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", folder, name);
	return path[turn];
}

/* a file as numpy makes it: header padded to 128 bytes */
static size_t array_file(char *file, const char *header, const void *data, size_t size)
{
	memcpy(file, "\x93NUMPY\x01\x00v\x00", 10);
	memset(file + 10, ' ', 117);
	memcpy(file + 10, header, strlen(header));
	file[127] = '\n';
	if (size)
		memcpy(file + 128, data, size);
	return 128 + size;
}

static int read_of(const char *header, const void *data, size_t size, struct npy *npy)
{
	static char file[1024];
	struct tenon_slice bytes = { file, array_file(file, header, data, size) };

	return npy_read(bytes, "x.npy", npy);
}

static void save(const char *name, const char *header, const void *data, size_t size)
{
	char file[1024];
	struct tenon_slice bytes = { file, array_file(file, header, data, size) };

	assert_int_equal(file_write(in_folder(name), &bytes, 1), 0);
}

static void a_plain_array_is_read(void **state)
{
	const float data[] = { 1, 2, 3, 4, 5, 6 };
	float copy[6];
	struct npy npy;

	(void)state;
	assert_int_equal(read_of("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
				 data, sizeof(data), &npy),
			 0);
	assert_int_equal(npy.dtype.code, TENON_DTYPE_FLOAT);
	assert_int_equal(npy.dtype.bits, 32);
	assert_int_equal(npy.head.ndim, 2);
	assert_int_equal(npy.head.shape[0], 2);
	assert_int_equal(npy.head.shape[1], 3);
	npy_copy(&npy, copy);
	assert_memory_equal(copy, data, sizeof(data));
}

static void an_array_in_column_order_with_high_bytes_first_is_turned_round(void **state)
{
	/* np.array([[1, 2, 3], [4, 5, 6]], dtype=">i2", order="F") */
	const uint8_t data[] = { 0, 1, 0, 4, 0, 2, 0, 5, 0, 3, 0, 6 };
	const int16_t want[] = { 1, 2, 3, 4, 5, 6 };
	int16_t copy[6];
	struct npy npy;

	(void)state;
	assert_int_equal(read_of("{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }", data,
				 sizeof(data), &npy),
			 0);
	npy_copy(&npy, copy);
	assert_memory_equal(copy, want, sizeof(want));
}

static void three_dimensions_in_column_order_are_turned_round(void **state)
{
	/* np.asfortranarray(np.arange(24, dtype="u1").reshape(2, 3, 4)) */
	const uint8_t data[] = { 0, 12, 4, 16, 8,  20, 1, 13, 5, 17, 9,	 21,
				 2, 14, 6, 18, 10, 22, 3, 15, 7, 19, 11, 23 };
	uint8_t copy[24];
	struct npy npy;

	(void)state;
	assert_int_equal(read_of("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 4), }",
				 data, sizeof(data), &npy),
			 0);
	npy_copy(&npy, copy);
	for (int i = 0; i < 24; i++)
		assert_int_equal(copy[i], i);
}

static void types_of_numpy_become_types_of_tensors(void **state)
{
	static const struct {
		const char *descr;
		uint8_t code, bits;
	} types[] = {
		{ "|b1", TENON_DTYPE_BOOL, 8 },	    { "|i1", TENON_DTYPE_INT, 8 },
		{ "<i8", TENON_DTYPE_INT, 64 },	    { "<u2", TENON_DTYPE_UINT, 16 },
		{ "<f2", TENON_DTYPE_FLOAT, 16 },   { "<f8", TENON_DTYPE_FLOAT, 64 },
		{ "<c8", TENON_DTYPE_COMPLEX, 64 }, { "<c16", TENON_DTYPE_COMPLEX, 128 },
		{ "<V2", TENON_DTYPE_HANDLE, 16 },  { "|V1", TENON_DTYPE_HANDLE, 8 },
	};
	const uint8_t data[16] = { 0 };
	char header[96];
	struct npy npy;

	(void)state;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		snprintf(header, sizeof(header),
			 "{'descr': '%s', 'fortran_order': False, 'shape': (), }", types[i].descr);
		assert_int_equal(read_of(header, data, types[i].bits / 8, &npy), 0);
		assert_int_equal(npy.dtype.code, types[i].code);
		assert_int_equal(npy.dtype.bits, types[i].bits);
		assert_int_equal(npy.raw, types[i].code == TENON_DTYPE_HANDLE);
		assert_int_equal(npy.head.ndim, 0);
		assert_int_equal(npy.head.elements, 1);
	}
}

static void headers_of_versions_2_and_3_are_read(void **state)
{
	static const char header[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }\n";
	char file[256] = "\x93NUMPY\x02\x00";
	struct tenon_slice bytes = { file, 12 + sizeof(header) - 1 + 4 };
	struct npy npy;

	(void)state;
	file[8] = sizeof(header) - 1;
	memcpy(file + 12, header, sizeof(header) - 1);
	for (char version = 2; version <= 3; version++) {
		file[6] = version;
		assert_int_equal(npy_read(bytes, "x.npy", &npy), 0);
		assert_int_equal(npy.head.shape[0], 1);
	}
	file[6] = 4;
	assert_int_equal(npy_read(bytes, "x.npy", &npy), -TENON_E_UNSUPPORTED);
	tenon_error_clear();
}

static void assert_refused(const char *header, size_t size, int status, const char *message)
{
	const uint8_t data[64] = { 0 };
	struct npy npy;

	assert_int_equal(read_of(header, data, size, &npy), status);
	if (!strstr(tenon_error_message(), message))
		fail_msg("%s", tenon_error_message());
	tenon_error_clear();
}

static void what_no_tensor_can_hold_is_refused_by_name(void **state)
{
	(void)state;
	assert_refused("{'descr': '<U5', 'fortran_order': False, 'shape': (1,), }", 20,
		       -TENON_E_UNSUPPORTED, "numpy's type \"<U5\"");
	assert_refused("{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (1,), }", 8,
		       -TENON_E_UNSUPPORTED, "numpy's type \"<M8[ns]\"");
	assert_refused("{'descr': '<f16', 'fortran_order': False, 'shape': (1,), }", 16,
		       -TENON_E_UNSUPPORTED, "numpy's type \"<f16\"");
	assert_refused("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", 16,
		       -TENON_E_UNSUPPORTED, "numpy's type \"|O\"");
	assert_refused("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", 4,
		       -TENON_E_UNSUPPORTED, "an array of records");
}

static void a_damaged_header_is_refused(void **state)
{
	(void)state;
	assert_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", 8,
		       -TENON_E_TRUNCATED, "needs 12 bytes of data, the file has 8");
	assert_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", 16,
		       -TENON_E_TRUNCATED, "needs 12 bytes of data, the file has more");
	assert_refused("{'descr': '<f4', 'fortran_order': False, }", 8, -TENON_E_FORMAT,
		       "lacks \"shape\"");
	assert_refused("{'descr': '<f4', 'fortran_order': Maybe, 'shape': (), }", 4,
		       -TENON_E_FORMAT, "\"False\" expected");
	assert_refused("{'descr': '<f4', 'extra': 1, 'shape': (), }", 4, -TENON_E_FORMAT,
		       "unknown key \"extra\"");
	assert_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", 4,
		       -TENON_E_FORMAT, "an extent expected");
	assert_refused("{'descr': '<f4', 'fortran_order': False, "
		       "'shape': (9223372036854775807, 9), }",
		       4, -TENON_E_OVERFLOW, "more elements than 64 bits");
	assert_refused(
		"{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775808,), }", 4,
		-TENON_E_OVERFLOW, "beyond 2^63");
	assert_refused("{'descr': '<f4", 4, -TENON_E_FORMAT, "a string that does not end");
	assert_refused("nonsense", 4, -TENON_E_FORMAT, "\"{\" expected");
}

static void every_cut_of_a_file_is_refused(void **state)
{
	const float data[] = { 1, 2 };
	char file[256], *copy;
	size_t size = array_file(file, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }",
				 data, sizeof(data));
	struct npy npy;

	(void)state;
	for (size_t cut = 0; cut < size; cut++) {
		/* a block of its own, so that a sanitizer sees a read beyond it */
		struct tenon_slice bytes = { copy = malloc(cut + !cut), cut };

		memcpy(copy, file, cut);
		assert_true(npy_read(bytes, "x.npy", &npy) < 0);
		tenon_error_clear();
		free(copy);
	}
}

static struct tenon_tensor *loaded(const char *format, const char *name)
{
	struct tenon_tensor *t = NULL;
	struct spec spec;
	char text[800];

	snprintf(text, sizeof(text), "%s%s", format, in_folder(name));
	if (spec_parse(SPEC_INPUT, text, &spec) || spec_tensor(&spec, &t))
		fail_msg("%s", tenon_error_message());
	return t;
}

static void assert_not_loaded(const char *format, const char *name, const char *message)
{
	struct tenon_tensor *t = NULL;
	struct spec spec;
	char text[800];

	snprintf(text, sizeof(text), "%s%s", format, in_folder(name));
	assert_int_equal(spec_parse(SPEC_INPUT, text, &spec), 0);
	assert_true(spec_tensor(&spec, &t) < 0);
	if (!strstr(tenon_error_message(), message))
		fail_msg("%s", tenon_error_message());
	tenon_error_clear();
}

static void an_array_is_read_as_another_type_of_the_same_size(void **state)
{
	const uint16_t data[] = { 0x3f80, 0xc000, 0x4049 };
	struct tenon_tensor *t;

	(void)state;
	save("u2.npy", "{'descr': '<u2', 'fortran_order': False, 'shape': (3,), }", data, 6);
	save("v2.npy", "{'descr': '<V2', 'fortran_order': False, 'shape': (3,), }", data, 6);
	t = loaded("3xbfloat16=@", "u2.npy");
	assert_int_equal(t->dl.dtype.code, TENON_DTYPE_BFLOAT);
	assert_memory_equal(t->dl.data, data, 6);
	tenon_object_unref(t);
	t = loaded("3xbfloat16=@", "v2.npy");
	assert_memory_equal(t->dl.data, data, 6);
	tenon_object_unref(t);
	assert_not_loaded("@", "v2.npy", "put the type in front, as in 2x3xbfloat16=@FILE");
	assert_not_loaded("3xfloat32=@", "u2.npy",
			  "holds 3xuint16 with elements of 2 bytes, those of 3xfloat32 have 4");
	assert_not_loaded("2xbfloat16=@", "u2.npy",
			  "holds 3xuint16, not of the shape of 2xbfloat16");
}

static void elements_of_four_bits_are_packed_out_of_bytes(void **state)
{
	/* np.array([-3, 7, 1], dtype=ml_dtypes.int4) */
	const uint8_t data[] = { 0x0d, 0x07, 0x01 }, widened[] = { 0xfd, 0x07, 0x01 };
	const uint8_t packed[] = { 0x7d, 0x01 };
	struct tenon_tensor *t;

	(void)state;
	save("i4.npy", "{'descr': '<V1', 'fortran_order': False, 'shape': (3,), }", data, 3);
	save("i1.npy", "{'descr': '|i1', 'fortran_order': False, 'shape': (3,), }", widened, 3);
	t = loaded("3xint4=@", "i4.npy");
	assert_memory_equal(t->dl.data, packed, 2);
	tenon_object_unref(t);
	t = loaded("3xint4=@", "i1.npy");
	assert_memory_equal(t->dl.data, packed, 2);
	tenon_object_unref(t);
	assert_not_loaded("3xuint4=@", "i1.npy", "element 0 is 0xfd, too much for uint4");
}

static void raw_bytes_fill_a_tensor_of_just_their_size(void **state)
{
	const float data[] = { 1, 2, 3 };
	struct tenon_slice bytes = { (const char *)data, sizeof(data) };
	struct tenon_tensor *t;

	(void)state;
	assert_int_equal(file_write(in_folder("raw.bin"), &bytes, 1), 0);
	t = loaded("3xfloat32=@", "raw.bin");
	assert_memory_equal(t->dl.data, data, sizeof(data));
	tenon_object_unref(t);
	assert_not_loaded("4xfloat32=@", "raw.bin", "raw.bin has 12 bytes, 4xfloat32 needs 16");
	assert_not_loaded("@", "raw.bin", "no array file of numpy, but ");
	assert_not_loaded("@", "absent.npy", "cannot open: No such file or directory");
}

/* A pipe into which a child writes an array's head and zeros without end; ended by SIGPIPE. */
static pid_t endless_array(const char *path, const char *shape)
{
	static const char zeros[4096];
	char head[129];
	pid_t child;
	FILE *f;

	remove(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	child = fork();
	assert_true(child >= 0);
	if (child)
		return child;
	memcpy(head, "\x93NUMPY\x01\x00\x76\x00", 10);
	snprintf(head + 10, 119, "{'descr': '<f4', 'fortran_order': False, 'shape': %s, }%60s",
		 shape, "");
	head[127] = '\n';
	f = fopen(path, "wb");
	fwrite(head, 1, 128, f);
	while (fwrite(zeros, 1, sizeof(zeros), f))
		;
	_exit(0);
}

static void assert_endless_array_is_refused(const char *type, const char *shape, const char *words)
{
	pid_t child = endless_array(in_folder("endless.npy"), shape);

	assert_not_loaded(type, "endless.npy", words);
	assert_int_equal(waitpid(child, NULL, 0), child);
	remove(in_folder("endless.npy"));
}

static void a_file_without_end_is_read_as_far_as_wanted(void **state)
{
	struct tenon_tensor *t;
	struct spec spec;

	(void)state;
	assert_int_equal(spec_parse(SPEC_INPUT, "4xfloat32=@/dev/zero", &spec), 0);
	assert_int_equal(spec_tensor(&spec, &t), -TENON_E_VALUE);
	assert_error_has("/dev/zero has more than the 16 bytes that 4xfloat32 needs");
	assert_int_equal(spec_parse(SPEC_INPUT, "@/dev/zero", &spec), 0);
	assert_int_equal(spec_tensor(&spec, &t), -TENON_E_FORMAT);
	assert_error_has("/dev/zero at 0x0: no array file of numpy");
	assert_endless_array_is_refused("@", "(2, 2)", "needs 16 bytes of data, the file has more");
	assert_endless_array_is_refused("4xfloat32=@", "(4,)", "the file has more");
	assert_endless_array_is_refused("4xfloat32=@", "(1152921504606846976,)",
					"not of the shape of 4xfloat32");
	assert_endless_array_is_refused("@", "(1152921504606846976, 64)", "64 bits");
}

static void assert_written(const char *type, const char *name, const char *header, const char *back)
{
	struct tenon_buffer file = TENON_BUFFER_INIT;
	struct tenon_tensor *t, *again;
	struct spec spec;
	char text[800];

	snprintf(text, sizeof(text), "%s", type);
	assert_int_equal(spec_parse(SPEC_INPUT, text, &spec), 0);
	assert_int_equal(spec_tensor(&spec, &t), 0);
	assert_int_equal(array_file_write(in_folder(name), &t->dl), 0);
	assert_int_equal(file_read_text(in_folder(name), &file), 0);
	assert_true(npy_is((struct tenon_slice){ file.data, file.size }));
	assert_non_null(strstr(file.data + 10, header));
	/* the data start at a multiple of 64, right behind the newline */
	assert_int_equal(file.data[9] * 256 + (uint8_t)file.data[8], 118);
	assert_int_equal(file.data[127], '\n');
	tenon_buffer_fini(&file);
	again = loaded(back, name);
	assert_memory_equal(again->dl.data, t->dl.data, 3);
	tenon_object_unref(again);
	tenon_object_unref(t);
}

static void what_is_written_reads_back_the_same(void **state)
{
	(void)state;
	assert_written("2x3xfloat32=random:1", "a.npy",
		       "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3,), }", "@");
	assert_written("3xbool=1,0,1", "b.npy", "'descr': '|b1'", "@");
	assert_written("3xbfloat16=1,2,3", "c.npy", "'descr': '<u2'", "3xbfloat16=@");
	assert_written("6xint4=-8,7,-1,0,1,2", "d.npy", "'descr': '|i1'", "6xint4=@");
	assert_written("6xfloat4_e2m1fn=-6,0.5,1,2,3,4", "e.npy", "'descr': '|u1'",
		       "6xfloat4_e2m1fn=@");
	assert_written("2xfloat32x4=random:3", "f.npy", "'shape': (2, 4,)", "2xfloat32x4=@");
	assert_written("complex64=1+2j", "g.npy", "'descr': '<c8'", "@");
}

static void a_file_is_replaced_whole_or_not_at_all(void **state)
{
	struct tenon_slice old = { "old", 3 }, fresh[2] = { { "ne", 2 }, { "w", 1 } };
	struct tenon_buffer got = TENON_BUFFER_INIT;
	struct stat st;

	(void)state;
	umask(022);
	assert_int_equal(file_write(in_folder("t"), &old, 1), 0);
	assert_int_equal(file_write(in_folder("t"), fresh, 2), 0);
	assert_int_equal(file_read_text(in_folder("t"), &got), 0);
	assert_string_equal(got.data, "new");
	assert_int_equal(stat(in_folder("t"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0644);
	tenon_buffer_fini(&got);
	assert_int_equal(file_write(in_folder("absent/t"), fresh, 2), -TENON_E_IO);
	assert_error_has("absent/t: cannot write: No such file");
	assert_int_equal(file_read_text(folder, &got), -TENON_E_IO);
	tenon_error_clear();
	tenon_buffer_fini(&got);
}

static void assert_file(const char *name, const char *want)
{
	struct tenon_buffer got = TENON_BUFFER_INIT;

	assert_int_equal(file_read_text(in_folder(name), &got), 0);
	assert_string_equal(got.data, want);
	tenon_buffer_fini(&got);
}

static void assert_link(const char *name)
{
	struct stat st;

	assert_int_equal(lstat(in_folder(name), &st), 0);
	assert_true(S_ISLNK(st.st_mode));
}

static void a_link_stays_and_what_it_leads_to_is_written(void **state)
{
	struct tenon_slice old = { "old", 3 }, fresh = { "new", 3 };
	struct stat st;

	(void)state;
	assert_int_equal(mkdir(in_folder("far"), 0755), 0);
	assert_int_equal(file_write(in_folder("far/file"), &old, 1), 0);
	assert_int_equal(chmod(in_folder("far/file"), 0640), 0);
	assert_int_equal(symlink("file", in_folder("far/link")), 0);
	assert_int_equal(symlink("far/link", in_folder("link")), 0);
	assert_int_equal(file_write(in_folder("link"), &fresh, 1), 0);
	assert_link("link");
	assert_link("far/link");
	assert_file("far/file", "new");
	assert_int_equal(stat(in_folder("far/file"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	/* to a file that is not there yet */
	assert_int_equal(symlink(in_folder("far/made"), in_folder("early")), 0);
	assert_int_equal(file_write(in_folder("early"), &fresh, 1), 0);
	assert_link("early");
	assert_file("far/made", "new");
	assert_int_equal(symlink("round", in_folder("round")), 0);
	assert_int_equal(file_write(in_folder("round"), &fresh, 1), -TENON_E_IO);
	assert_error_has("round: cannot write: Too many levels of symbolic links");
}

/* as "tenon run … --output '=>/dev/stdout' > file" writes between what the shell and others wrote */
static void a_name_for_an_open_file_writes_where_it_stands(void **state)
{
	struct tenon_slice bytes = { "bytes ", 6 };
	char name[64];
	int fd;

	(void)state;
	if (access("/proc/self/fd", X_OK))
		skip();
	fd = open(in_folder("open"), O_WRONLY | O_CREAT, 0600);
	assert_true(fd >= 0);
	assert_int_equal(dup2(fd, 9), 9);
	close(fd);
	fd = 9;
	assert_int_equal(write(fd, "before ", 7), 7);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	assert_int_equal(file_write(name, &bytes, 1), 0);
	assert_int_equal(symlink(name, in_folder("stdout")), 0);
	assert_int_equal(file_write(in_folder("stdout"), &bytes, 1), 0);
	assert_int_equal(write(fd, "after", 5), 5);
	close(fd);
	assert_link("stdout");
	assert_file("open", "before bytes bytes after");
}

static int make_folder(void **state)
{
	const char *parent = getenv("TMPDIR");

	(void)state;
	snprintf(folder, sizeof(folder), "%s/npy-XXXXXX", parent ? parent : P_tmpdir);
	return !mkdtemp(folder);
}

static int remove_folder(void **state)
{
	char command[600];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plain_array_is_read),
		cmocka_unit_test(an_array_in_column_order_with_high_bytes_first_is_turned_round),
		cmocka_unit_test(three_dimensions_in_column_order_are_turned_round),
		cmocka_unit_test(types_of_numpy_become_types_of_tensors),
		cmocka_unit_test(headers_of_versions_2_and_3_are_read),
		cmocka_unit_test(what_no_tensor_can_hold_is_refused_by_name),
		cmocka_unit_test(a_damaged_header_is_refused),
		cmocka_unit_test(every_cut_of_a_file_is_refused),
		cmocka_unit_test(an_array_is_read_as_another_type_of_the_same_size),
		cmocka_unit_test(elements_of_four_bits_are_packed_out_of_bytes),
		cmocka_unit_test(raw_bytes_fill_a_tensor_of_just_their_size),
		cmocka_unit_test(a_file_without_end_is_read_as_far_as_wanted),
		cmocka_unit_test(what_is_written_reads_back_the_same),
		cmocka_unit_test(a_file_is_replaced_whole_or_not_at_all),
		cmocka_unit_test(a_link_stays_and_what_it_leads_to_is_written),
		cmocka_unit_test(a_name_for_an_open_file_writes_where_it_stands),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
