/* SPDX-License-Identifier: MIT */
/* tvm-ffi and TVM's runtime from PyPI, opened by path. Their types are Tenon's: it is the same ABI. */
#include "../interop/environments.h"
#include "abi.h"
#include "bench.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
	int (*call)(void *f, const struct tenon_value *args, int32_t count,
		    struct tenon_value *ret);
	int (*unref)(void *object);
	int (*create)(void *self, tenon_call_fn fn, void (*release)(void *), void **out);
	void (*raise)(const char *kind, const char *message);
	void (*take)(void **out);
	int (*set_global)(const struct tenon_slice *name, void *f, int replace);
	int (*get_global)(const struct tenon_slice *name, void **out);
	void (*version)(uint32_t version[3]);
	int (*system_symbol)(const char *name, void *address);
	void *load_file, *get_function, *system_lib; /* function objects */
	void *(*workspace)(int type, int id, uint64_t size, int code, int bits);
	int (*workspace_free)(int type, int id, void *memory);
	int (*parallel)(int (*fn)(int, void *, void *), void *closure, int tasks);
} ffi;

/* $variable, or the file in the environment of the newest TVM that scripts/interop-generate made */
static const char *find_file(const char *variable, const char *tail, char *path, size_t size)
{
	const char *named = getenv(variable);
	char pattern[1024];

	if (named && *named)
		return named;
	snprintf(pattern, sizeof(pattern), "[0-9]*/lib/python3*/site-packages/%s", tail);
	return environments_file(pattern, path, size);
}

static const char *ffi_library(void)
{
	static char path[1024];

	return find_file("TENON_PEER_TVM_FFI", "tvm_ffi/lib/libtvm_ffi.so", path, sizeof(path));
}

static const char *ffi_version(void)
{
	static char text[64];
	const char *path = ffi_library();
	void *handle = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	void (*version)(uint32_t[3]) =
		handle ? (void (*)(uint32_t[3]))dlsym(handle, "TVMFFIGetVersion") : NULL;
	uint32_t v[3] = { 0 };

	if (!version)
		return "";
	version(v);
	snprintf(text, sizeof(text), "%u.%u.%u", v[0], v[1], v[2]);
	return text;
}

static int open_runtime(void)
{
	static char path[1024];
	const char *file = find_file("TENON_PEER_TVM_RUNTIME", "tvm/lib/libtvm_runtime.so", path,
				     sizeof(path));
	void *handle = file ? dlopen(file, RTLD_NOW | RTLD_GLOBAL) : NULL;

	if (!handle)
		return -1;
	*(void **)&ffi.workspace = dlsym(handle, "TVMBackendAllocWorkspace");
	*(void **)&ffi.workspace_free = dlsym(handle, "TVMBackendFreeWorkspace");
	*(void **)&ffi.parallel = dlsym(handle, "TVMBackendParallelLaunch");
	return 0;
}

static void *ffi_find(const char *name)
{
	struct tenon_slice slice = tenon_slice_of(name);
	void *f = NULL;

	return ffi.get_global(&slice, &f) ? NULL : f;
}

/*
 * The loader of kind "bench": a module with one function, subgraph_<number>. The wheels have no
 * loader for a kind with functions that runs without a device, so each module is a system library
 * with a prefix of its own, which tvm-ffi keeps: searching costs what it always costs, loading less.
 */
static int ffi_load_bench(void *self, const struct tenon_value *args, int32_t count,
			  struct tenon_value *ret)
{
	static char symbols[1001][48];
	char prefix[16];
	struct tenon_value arg = tenon_arg_string(prefix);
	const struct tenon_string *bytes = (const struct tenon_string *)args[0].as.object;
	int number;

	(void)self, (void)count;
	if (args[0].type == TENON_TYPE_SMALL_BYTES)
		number = atoi(args[0].as.small);
	else if (args[0].type == TENON_TYPE_RAW_BYTES)
		number = atoi(args[0].as.bytes->data);
	else
		number = atoi(bytes->data);
	if (number < 1 || number > 1000)
		return -1;
	snprintf(prefix, sizeof(prefix), "p%d_", number);
	if (!symbols[number][0]) {
		snprintf(symbols[number], sizeof(symbols[number]), "__tvm_ffi_p%d_subgraph_%d",
			 number, number);
		ffi.system_symbol(symbols[number], (void *)bench_empty);
	}
	return ffi.call(ffi.system_lib, &arg, 1, ret);
}

static int ffi_add_loader(void)
{
	struct tenon_slice name = tenon_slice_of("ffi.Module.load_from_bytes.bench");
	void *f = NULL;

	if (!ffi.system_lib || ffi.create(NULL, ffi_load_bench, NULL, &f))
		return -1;
	return ffi.set_global(&name, f, 1);
}

static int ffi_open(void)
{
	const char *path = ffi_library();
	void *handle;

	if (!path) {
		snprintf(bench_why, sizeof(bench_why),
			 "no libtvm_ffi.so: run scripts/interop-generate --venv-only 0.27, or set "
			 "TENON_PEER_TVM_FFI to its path");
		return -1;
	}
	setenv("TVM_NUM_THREADS", "2", 1);
	handle = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	if (!handle) {
		snprintf(bench_why, sizeof(bench_why), "%s", dlerror());
		return -1;
	}
	*(void **)&ffi.call = dlsym(handle, "TVMFFIFunctionCall");
	*(void **)&ffi.unref = dlsym(handle, "TVMFFIObjectDecRef");
	*(void **)&ffi.create = dlsym(handle, "TVMFFIFunctionCreate");
	*(void **)&ffi.raise = dlsym(handle, "TVMFFIErrorSetRaisedFromCStr");
	*(void **)&ffi.take = dlsym(handle, "TVMFFIErrorMoveFromRaised");
	*(void **)&ffi.set_global = dlsym(handle, "TVMFFIFunctionSetGlobal");
	*(void **)&ffi.get_global = dlsym(handle, "TVMFFIFunctionGetGlobal");
	*(void **)&ffi.system_symbol = dlsym(handle, "TVMFFIEnvModRegisterSystemLibSymbol");
	open_runtime();
	ffi.system_lib = ffi_find("ffi.SystemLib");
	ffi.load_file = ffi_find("ffi.ModuleLoadFromFile");
	ffi.get_function = ffi_find("ffi.ModuleGetFunction");
	return ffi.load_file && ffi.get_function ? ffi_add_loader() : -1;
}

static void *ffi_create(tenon_call_fn fn)
{
	void *f = NULL;

	return ffi.create(NULL, fn, NULL, &f) ? NULL : f;
}

static int ffi_refuse(void)
{
	ffi.raise("ValueError", "refused");
	return -1;
}

static void *ffi_take(void)
{
	void *error = NULL;

	ffi.take(&error);
	return error;
}

static int ffi_register(const char *name, void *f)
{
	struct tenon_slice slice = tenon_slice_of(name);

	return ffi.set_global(&slice, f, 1);
}

static void ffi_drop(void *object)
{
	if (object)
		ffi.unref(object);
}

static void *ffi_load(const char *path)
{
	struct tenon_value args[1] = { tenon_arg_string(path) },
			   ret = { TENON_TYPE_NONE, 0, { 0 } };

	if (ffi.call(ffi.load_file, args, 1, &ret)) {
		ffi_drop(ffi_take());
		return NULL;
	}
	return ret.as.object;
}

static void *ffi_get(void *module, const char *name)
{
	struct tenon_value args[3] = { tenon_arg_object(module), tenon_arg_string(name),
				       tenon_arg_bool(true) };
	struct tenon_value ret = { TENON_TYPE_NONE, 0, { 0 } };

	if (ffi.call(ffi.get_function, args, 3, &ret)) {
		ffi_drop(ffi_take());
		return NULL;
	}
	return ret.type == TENON_TYPE_FUNCTION ? ret.as.object : NULL;
}

static int prepare_workspace(int argument)
{
	(void)argument;
	return ffi.workspace ? 0 : -1;
}

static double batch_workspace(long n)
{
	double start = bench_now();
	long i;

	if (!ffi.workspace)
		return -1;
	for (i = 0; i < n; i++)
		ffi.workspace_free(1, 0, ffi.workspace(1, 0, 4096, 2, 32));
	return bench_now() - start;
}

static int nothing(int task, void *env, void *closure)
{
	(void)task, (void)env, (void)closure;
	return 0;
}

static int prepare_parallel(int argument)
{
	(void)argument;
	return ffi.parallel ? 0 : -1;
}

static double batch_parallel(long n)
{
	double start;
	long i;

	if (!ffi.parallel)
		return -1;
	bench_pin(0);
	start = bench_now();
	for (i = 0; i < n; i++)
		ffi.parallel(nothing, NULL, 2);
	start = bench_now() - start;
	bench_pin(1);
	return start;
}

#define RT_CALL(f, args, n, ret) ffi.call(f, args, n, ret)
#define RT_UNREF(object)	 ffi_drop(object)
#define RT_CREATE(fn)		 ffi_create(fn)
#define RT_RAISE()		 ffi_refuse()
#define RT_TAKE()		 ffi_take()
#define RT_REGISTER(name, f)	 ffi_register(name, f)
#define RT_FIND(name)		 ffi_find(name)
#define RT_LOAD(path)		 ffi_load(path)
#define RT_GET(module, name)	 ffi_get(module, name)
#define RT_SEEK(module, name)	 ffi_get(module, name)
#define RT_PLAIN_KIND		 "bench"
#define RT_EXAMPLE_KIND		 "bench"
#define RT_CLEAR()		 ffi_drop(ffi_take())
#include "template.h"

const struct bench_runtime bench_tvm_ffi = { "tvm-ffi", ffi_open, runtime_ops, ffi_library,
					     ffi_version };
