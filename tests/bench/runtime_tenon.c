/* SPDX-License-Identifier: MIT */
/* Tenon as an embedding program uses it: the public headers, linked statically. */
#include "abi.h"
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <tenon/backend/parallel.h>
#include <tenon/tenon.h>

#include "examples/example_json/example_json.h"

static int open_tenon(void)
{
	tenon_parallel_configure(2, false);
	return example_json_register();
}

static const char *library_tenon(void)
{
	static char path[1024];
	const char *build = getenv("TENON_BUILD");

	snprintf(path, sizeof(path), "%s/libtenon.so.0", build ? build : "build");
	return path;
}

static const char *version_tenon(void)
{
	return tenon_version();
}

static void *create(tenon_call_fn fn)
{
	struct tenon_function *f;

	return tenon_function_create(NULL, fn, NULL, &f) ? NULL : f;
}

static void *find(const char *name)
{
	struct tenon_function *f;

	return tenon_function_find(name, &f) ? NULL : f;
}

static void *load(const char *path)
{
	struct tenon_module *m;

	return tenon_module_load(path, &m) ? NULL : m;
}

static void *get(void *module, const char *name)
{
	struct tenon_function *f;

	return tenon_module_get_function(module, name, &f) ? NULL : f;
}

static void *seek(void *module, const char *name)
{
	struct tenon_function *f;

	return tenon_module_find_function(module, tenon_slice_of(name), true, &f) ? NULL : f;
}

static int prepare_workspace(int argument)
{
	(void)argument;
	return 0;
}

static double batch_workspace(long n)
{
	const DLDevice cpu = { kDLCPU, 0 };
	double start = bench_now();
	long i;

	for (i = 0; i < n; i++)
		tenon_workspace_free(cpu, tenon_workspace_alloc(cpu, 4096));
	return bench_now() - start;
}

static int nothing(int task, struct tenon_parallel_env *env, void *closure)
{
	(void)task, (void)env, (void)closure;
	return 0;
}

static int prepare_parallel(int argument)
{
	(void)argument;
	return 0;
}

static double batch_parallel(long n)
{
	double start;
	long i;

	bench_pin(0);
	start = bench_now();
	for (i = 0; i < n; i++)
		tenon_parallel_launch(nothing, NULL, 2);
	start = bench_now() - start;
	bench_pin(1);
	return start;
}

#define RT_CALL(f, args, n, ret) tenon_function_call(f, args, n, ret)
#define RT_UNREF(object)	 tenon_object_unref(object)
#define RT_CREATE(fn)		 create(fn)
#define RT_RAISE()		 tenon_error(-TENON_E_VALUE, "refused")
#define RT_TAKE()		 tenon_error_take()
#define RT_REGISTER(name, f)	 tenon_function_register(name, f, true)
#define RT_FIND(name)		 find(name)
#define RT_LOAD(path)		 load(path)
#define RT_GET(module, name)	 get(module, name)
#define RT_SEEK(module, name)	 seek(module, name)
#define RT_PLAIN_KIND		 "const_loader"
#define RT_EXAMPLE_KIND		 "examplejson"
#define RT_CLEAR()		 tenon_error_clear()
#define RT_LEGACY
#include "template.h"

const struct bench_runtime bench_tenon = { "tenon", open_tenon, runtime_ops, library_tenon,
					   version_tenon };
