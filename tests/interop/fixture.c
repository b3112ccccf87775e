/* SPDX-License-Identifier: MIT */
/* Load a fixture's module, and read the tensors that numpy saved for it. */
#include "fixture.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

const char *const fixture_ffis[FIXTURE_FFIS] = { "tvm-ffi-0.1.0", "tvm-ffi-0.1.8.post2",
						 "tvm-ffi-0.1.15.post2" };

const char *fixture_path(const char *file)
{
	static char paths[2][1024];
	static int turn;
	const char *source = getenv("TENON_SOURCE");

	turn = !turn;
	if (*file == '/')
		snprintf(paths[turn], sizeof(paths[turn]), "%s", file);
	else
		snprintf(paths[turn], sizeof(paths[turn]), "%s/tests/interop/data/%s",
			 source ? source : ".", file);
	return paths[turn];
}

const char *fixture_in(const char *suite, const char *file)
{
	static char paths[4][200];
	static int turn;

	turn = (turn + 1) % 4;
	snprintf(paths[turn], sizeof(paths[turn]), "%s/%s", suite, file);
	return paths[turn];
}

const char *fixture_module_path(const char *file)
{
	static char path[1024];
	const char *build = getenv("TENON_BUILD");

	snprintf(path, sizeof(path), "%s/tests/interop/%s", build ? build : "build", file);
	return path;
}

void fixture_ok(int status, const char *what)
{
	if (status)
		fail_msg("%s: status %d, %s: %s", what, status, tenon_error_kind(),
			 tenon_error_message());
}

struct tenon_module *fixture_load(const char *file)
{
	struct tenon_module *m = NULL;

	fixture_ok(tenon_module_load(fixture_path(file), &m), file);
	return m;
}

struct tenon_function *fixture_function(const char *file, const char *name)
{
	struct tenon_module *m = fixture_load(file);
	struct tenon_function *f = NULL;

	fixture_ok(tenon_module_get_function(m, name, &f), name);
	tenon_object_unref(m);
	return f;
}

struct tenon_function *fixture_function_in(const char *suite, const char *file, const char *name)
{
	return fixture_function(fixture_in(suite, file), name);
}

/* "'descr': '<f4', … 'shape': (2, 3), " of a version 1 header; enough for what numpy.save wrote here */
static int parse_header(const char *header, DLDataType *dtype, int64_t shape[8])
{
	static const struct {
		const char *descr;
		uint8_t code, bits;
	} kinds[] = { { "<f4", 2, 32 }, { "<f8", 2, 64 }, { "<f2", 2, 16 },
		      { "<i4", 0, 32 }, { "<i8", 0, 64 }, { "|i1", 0, 8 },
		      { "|u1", 1, 8 },	{ "|b1", 6, 8 },  { "<u2", 1, 16 } };
	const char *at = strstr(header, "'descr': '"), *end;
	int ndim = 0;
	size_t i;

	assert_non_null(at);
	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strncmp(at + 10, kinds[i].descr, 3))
			break;
	assert_true(i < sizeof(kinds) / sizeof(*kinds));
	*dtype = tenon_dtype(kinds[i].code, kinds[i].bits, 1);
	at = strstr(header, "'shape': (");
	assert_non_null(at);
	for (at += 10; *at && *at != ')' && ndim < 8; at = end + strspn(end, ", "))
		shape[ndim++] = strtoll(at, (char **)&end, 10);
	return ndim;
}

struct tenon_tensor *fixture_tensor(const char *file)
{
	struct tenon_tensor *t = NULL;
	unsigned char start[10];
	char header[65536];
	DLDataType dtype;
	int64_t shape[8];
	size_t length, bytes;
	FILE *f = fopen(fixture_path(file), "rb");
	int ndim;

	if (!f)
		fail_msg("%s cannot be opened", file);
	assert_int_equal(fread(start, 1, 10, f), 10);
	length = start[8] | (size_t)start[9] << 8;
	assert_true(start[6] == 1 && length < sizeof(header));
	assert_int_equal(fread(header, 1, length, f), length);
	header[length] = '\0';
	ndim = parse_header(header, &dtype, shape);
	fixture_ok(tenon_tensor_create(shape, ndim, dtype, &t), file);
	fixture_ok(tenon_tensor_bytes(&t->dl, &bytes), file);
	assert_int_equal(fread(t->dl.data, 1, bytes, f), bytes);
	fclose(f);
	return t;
}

struct tenon_tensor *fixture_zeros(int64_t n, DLDataType dtype)
{
	struct tenon_tensor *t = NULL;

	fixture_ok(tenon_tensor_create(&n, 1, dtype, &t), "zeros");
	return t;
}

static size_t same_shape(const struct tenon_tensor *have, const struct tenon_tensor *want)
{
	size_t bytes;
	int i;

	assert_int_equal(have->dl.ndim, want->dl.ndim);
	for (i = 0; i < want->dl.ndim; i++)
		assert_int_equal(have->dl.shape[i], want->dl.shape[i]);
	assert_true(tenon_dtype_equal(have->dl.dtype, want->dl.dtype));
	fixture_ok(tenon_tensor_bytes(&want->dl, &bytes), "size");
	return bytes;
}

void fixture_equal(const struct tenon_tensor *have, const struct tenon_tensor *want)
{
	size_t bytes = same_shape(have, want);

	assert_memory_equal((char *)have->dl.data + have->dl.byte_offset,
			    (char *)want->dl.data + want->dl.byte_offset, bytes);
}

void fixture_near(const struct tenon_tensor *have, const struct tenon_tensor *want)
{
	size_t i, n = same_shape(have, want) / sizeof(float);
	const float *x = have->dl.data, *y = want->dl.data;

	for (i = 0; i < n; i++)
		if (!(fabsf(x[i] - y[i]) <= 1e-5f))
			fail_msg("element %zu is %.9g, want %.9g", i, (double)x[i], (double)y[i]);
}

void fixture_says(const char *words)
{
	if (!strstr(tenon_error_message(), words))
		fail_msg("the error says \"%s\", not \"%s\"", tenon_error_message(), words);
	tenon_error_clear();
}

int fixture_isolated(const struct fixture_case *cases, size_t count)
{
	int status, failed = 0;
	size_t i;

	printf("TAP version 14\n1..%zu\n", count);
	for (i = 0; i < count; i++) {
		pid_t child;

		fflush(stdout);
		child = fork();
		if (!child) {
			status = cases[i].run();
			fflush(stdout);
			_exit(status);
		}
		waitpid(child, &status, 0);
		if (WIFSIGNALED(status))
			printf("# killed by signal %d\n", WTERMSIG(status));
		printf("%sok %zu %s\n", status ? "not " : "", i + 1, cases[i].name);
		failed |= status;
	}
	return failed != 0;
}

int fixture_scale(void *self, const struct tenon_value *args, int32_t count,
		  struct tenon_value *ret)
{
	struct tenon_slice text;
	DLTensor *in, *out;
	double b;
	int64_t k, i;

	(void)self;
	if (count != 5)
		return tenon_error(-TENON_E_TYPE, "fixture.scale takes 5 arguments, not %d", count);
	if (tenon_value_tensor(&args[0], &in) || tenon_value_tensor(&args[1], &out) ||
	    tenon_value_int(&args[2], &k) || tenon_value_float(&args[3], &b) ||
	    tenon_value_text(&args[4], &text))
		return -TENON_E_TYPE;
	if (!tenon_slice_equal(text, tenon_slice_of("hello")))
		return tenon_error(-TENON_E_VALUE, "fixture.scale wants hello");
	for (i = 0; i < in->shape[0]; i++)
		((float *)((char *)out->data + out->byte_offset))[i] =
			((const float *)((const char *)in->data + in->byte_offset))[i] * (float)k +
			(float)b;
	*ret = tenon_arg_int(k + 1);
	return 0;
}

int fixture_observe(void *self, const struct tenon_value *args, int32_t count,
		    struct tenon_value *ret)
{
	struct tenon_slice text;
	int64_t i;
	double f;
	bool b;

	(void)self;
	if (count != 4 || tenon_value_int(&args[0], &i) || tenon_value_float(&args[1], &f) ||
	    tenon_value_bool(&args[2], &b) || tenon_value_text(&args[3], &text))
		return tenon_error(-TENON_E_TYPE, "fixture.observe takes int, float, bool, str");
	if (f != 1.5 || !b)
		return tenon_error(-TENON_E_VALUE, "fixture.observe got %g and %d", f, b);
	*ret = tenon_arg_int(7);
	return 0;
}

int fixture_give(void *self, const struct tenon_value *args, int32_t count, struct tenon_value *ret)
{
	int64_t k;

	(void)self;
	if (count != 1 || tenon_value_int(&args[0], &k))
		return tenon_error(-TENON_E_TYPE, "fixture.give takes an int");
	*ret = tenon_arg_int(2 * k);
	return 0;
}
