/* SPDX-License-Identifier: MIT */
/* The floor: the same work without any runtime, by function pointers and the dynamic loader alone. */
#include "abi.h"
#include "bench.h"

#include <dlfcn.h>
#include <stdio.h>

static tenon_call_fn raw;
static void *handle;

static int prepare_raw(int argument)
{
	tenon_call_fn volatile hidden = bench_empty; /* or the compiler calls it directly */

	(void)argument;
	raw = hidden;
	return 0;
}

static BENCH_NOINLINE double call_raw(const struct tenon_value *args, int32_t count, long n)
{
	struct tenon_value ret = { TENON_TYPE_NONE, 0, { 0 } };
	tenon_call_fn f = raw;
	double start = bench_now();
	long i;

	for (i = 0; i < n; i++)
		f(NULL, args, count, &ret);
	return bench_now() - start;
}

static double batch_0(long n)
{
	return call_raw(NULL, 0, n);
}

static double batch_4(long n)
{
	const struct tenon_value args[4] = { tenon_arg_int(1), tenon_arg_int(2), tenon_arg_int(3),
					     tenon_arg_int(4) };

	return call_raw(args, 4, n);
}

static double batch_tensor(long n)
{
	const struct tenon_value args[1] = { tenon_arg_tensor(bench_tensor()) };

	return call_raw(args, 1, n);
}

static int prepare_symbol(const char *file, const char *symbol)
{
	if (handle)
		dlclose(handle);
	handle = dlopen(bench_module(file), RTLD_LAZY | RTLD_LOCAL);
	raw = handle ? (tenon_call_fn)dlsym(handle, symbol) : NULL;
	return raw ? 0 : -1;
}

static int prepare_library_int(int argument)
{
	(void)argument;
	return prepare_symbol("modern.so", "__tvm_ffi_add_one");
}

static int prepare_library_tensor(int argument)
{
	(void)argument;
	return prepare_symbol("modern.so", "__tvm_ffi_look");
}

static double batch_add_one(long n)
{
	struct tenon_value args[1] = { tenon_arg_int(0) }, ret = { TENON_TYPE_NONE, 0, { 0 } };
	double start = bench_now();
	long i;

	for (i = 0; i < n; i++) {
		raw(NULL, args, 1, &ret);
		args[0].as.integer = ret.as.integer;
	}
	start = bench_now() - start;
	return ret.as.integer == n ? start : -1;
}

typedef int (*legacy_fn)(void *args, int *codes, int count, void *ret, int *ret_code,
			 void *context);

static legacy_fn legacy;

static int prepare_legacy(const char *symbol)
{
	if (handle)
		dlclose(handle);
	handle = dlopen(bench_module("legacy.so"), RTLD_LAZY | RTLD_LOCAL);
	legacy = handle ? (legacy_fn)dlsym(handle, symbol) : NULL;
	return legacy ? 0 : -1;
}

static int prepare_legacy_4(int argument)
{
	(void)argument;
	return prepare_legacy("empty");
}

static int prepare_legacy_int(int argument)
{
	(void)argument;
	return prepare_legacy("add_one");
}

static int prepare_legacy_tensor(int argument)
{
	(void)argument;
	return prepare_legacy("look");
}

static double batch_legacy_tensor(long n)
{
	void *arg = bench_tensor();
	int64_t ret = 0;
	int code = 7, ret_code = 4;
	double start = bench_now();
	long i;

	for (i = 0; i < n; i++)
		legacy(&arg, &code, 1, &ret, &ret_code, NULL);
	return bench_now() - start;
}

static double batch_legacy_4(long n)
{
	int64_t args[4] = { 1, 2, 3, 4 }, ret = 0;
	int codes[4] = { 0 }, code = 4;
	double start = bench_now();
	long i;

	for (i = 0; i < n; i++)
		legacy(args, codes, 4, &ret, &code, NULL);
	return bench_now() - start;
}

static double batch_legacy_int(long n)
{
	int64_t arg = 0, ret = 0;
	int code = 0, ret_code = 4;
	double start = bench_now();
	long i;

	for (i = 0; i < n; i++) {
		legacy(&arg, &code, 1, &ret, &ret_code, NULL);
		arg = ret;
	}
	start = bench_now() - start;
	return arg == n ? start : -1;
}

static int prepare_nothing(int argument)
{
	(void)argument;
	return 0;
}

static double batch_load(long n)
{
	struct tenon_value args[1] = { tenon_arg_int(41) }, ret = { TENON_TYPE_NONE, 0, { 0 } };
	double spent = 0;
	long i;

	for (i = 0; i < n; i++) {
		double start = bench_now();
		void *h = dlopen(bench_module("load.so"), RTLD_LAZY | RTLD_LOCAL);
		tenon_call_fn f = h ? (tenon_call_fn)dlsym(h, "__tvm_ffi_add_one") : NULL;

		if (!f || f(NULL, args, 1, &ret) || ret.as.integer != 42)
			return -1;
		spent += bench_now() - start;
		dlclose(h);
	}
	return spent;
}

static double batch_load_legacy(long n)
{
	double spent = 0;
	long i;

	for (i = 0; i < n; i++) {
		int64_t arg = 41, ret = 0;
		int code = 0, ret_code = 4;
		double start = bench_now();
		void *h = dlopen(bench_module("load_legacy.so"), RTLD_LAZY | RTLD_LOCAL);
		legacy_fn f = h ? (legacy_fn)dlsym(h, "add_one") : NULL;

		if (!f || f(&arg, &code, 1, &ret, &ret_code, NULL) || ret != 42)
			return -1;
		spent += bench_now() - start;
		dlclose(h);
	}
	return spent;
}

static const char *blob;

static int prepare_blob(int imports)
{
	blob = bench_blob("const_loader", imports);
	return blob ? 0 : -1;
}

static int prepare_cl(int imports)
{
	blob = bench_blob("opencl", imports);
	return blob ? 0 : -1;
}

static double batch_open(long n)
{
	double spent = 0;
	long i;

	for (i = 0; i < n; i++) {
		double start = bench_now();
		void *h = dlopen(blob, RTLD_LAZY | RTLD_LOCAL);

		spent += bench_now() - start;
		if (!h)
			return -1;
		dlclose(h);
	}
	return spent;
}

static const struct bench_op ops[ROW_COUNT] = {
	[ROW_CALL_0] = { prepare_raw, batch_0 },
	[ROW_CALL_4] = { prepare_raw, batch_4 },
	[ROW_CALL_TENSOR] = { prepare_raw, batch_tensor },
	[ROW_LIBRARY_INT] = { prepare_library_int, batch_add_one },
	[ROW_LIBRARY_TENSOR] = { prepare_library_tensor, batch_tensor },
	[ROW_LEGACY_4] = { prepare_legacy_4, batch_legacy_4 },
	[ROW_LEGACY_TENSOR] = { prepare_legacy_tensor, batch_legacy_tensor },
	[ROW_LEGACY_INT] = { prepare_legacy_int, batch_legacy_int },
	[ROW_LOAD_CALL] = { prepare_nothing, batch_load },
	[ROW_LEGACY_LOAD_CALL] = { prepare_nothing, batch_load_legacy },
	[ROW_BLOB_LOAD_0] = { prepare_blob, batch_open },
	[ROW_BLOB_LOAD_1] = { prepare_blob, batch_open },
	[ROW_BLOB_LOAD_10] = { prepare_blob, batch_open },
	[ROW_BLOB_LOAD_100] = { prepare_blob, batch_open },
	[ROW_BLOB_LOAD_1000] = { prepare_blob, batch_open },
	[ROW_CL_LOAD_1000] = { prepare_cl, batch_open },
};

static int open_floor(void)
{
	return 0;
}

static const char *library_floor(void)
{
	return bench_module("nothing.so");
}

static const char *version_floor(void)
{
	return "";
}

const struct bench_runtime bench_floor = { "floor", open_floor, ops, library_floor, version_floor };
