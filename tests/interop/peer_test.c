/* SPDX-License-Identifier: MIT */
/*
 * The original runtime in the same process: opened before us, by somebody who keeps it to himself or
 * shows it to all, or opened after. Each case is a process of its own. Skipped where no libtvm_ffi.so
 * is named in $TENON_PEER_TVM_FFI or installed by scripts/interop-generate.
 */
#include "environments.h"
#include "fixture.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *peer;

#if defined(__x86_64__) && defined(__GLIBC__)
static const char *find_peer(void)
{
	static char path[1024];
	const char *named = getenv("TENON_PEER_TVM_FFI");

	if (named && *named)
		return named;
	return environments_file("[0-9]*/lib/python3*/site-packages/tvm_ffi/lib/libtvm_ffi.so",
				 path, sizeof(path));
}
#endif

static int fail(const char *what)
{
	printf("# %s: %s: %s\n", what, tenon_error_kind(), tenon_error_message());
	return 1;
}

static struct tenon_function *open_function(const char *file, const char *name)
{
	struct tenon_function *f = NULL;
	struct tenon_module *m;

	if (tenon_module_load(fixture_path(file), &m))
		return NULL;
	tenon_module_get_function(m, name, &f);
	tenon_object_unref(m);
	return f;
}

/* host code adds, refuses in its own words, and adds again */
static int host_code_works(const char *file)
{
	struct tenon_function *f = open_function(file, "vecadd");
	struct tenon_value ret = tenon_arg_none();
	struct tenon_tensor *a;
	int64_t n = 128;
	int i;

	if (!f || tenon_tensor_create(&n, 1, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1), &a))
		return fail(file);
	for (i = 0; i < n; i++)
		((float *)a->dl.data)[i] = (float)i;
	if (tenon_call(f, &ret, tenon_arg_object(a), tenon_arg_object(a), tenon_arg_object(a)))
		return fail("vecadd");
	for (i = 0; i < n; i++)
		if (((const float *)a->dl.data)[i] != 2 * (float)i)
			return fail("wrong sum");
	if (!tenon_call(f, &ret, tenon_arg_int(1), tenon_arg_object(a), tenon_arg_object(a)))
		return fail("a wrong argument was taken");
	if (strcmp(tenon_error_kind(), "TypeError") || !strstr(tenon_error_message(), "Tensor"))
		return fail("other words than the module's");
	tenon_error_clear();
	if (tenon_call(f, &ret, tenon_arg_object(a), tenon_arg_object(a), tenon_arg_object(a)))
		return fail("vecadd after a failure");
	tenon_object_unref(a);
	tenon_object_unref(f);
	return 0;
}

static int cpp_works(const char *file)
{
	struct tenon_function *raise = open_function(file, "raise_value_error");
	struct tenon_function *add = open_function(file, "add_ints");
	struct tenon_value ret = tenon_arg_none();

	if (!raise || !add)
		return fail(file);
	if (!tenon_call(raise, &ret, tenon_arg_int(7)))
		return fail("no error");
	if (strcmp(tenon_error_kind(), "ValueError") ||
	    !strstr(tenon_error_message(), "refused at 7"))
		return fail("other words");
	tenon_error_clear();
	if (tenon_call(add, &ret, tenon_arg_int(40), tenon_arg_int(2)) || ret.as.integer != 42)
		return fail("add_ints");
	tenon_object_unref(add);
	tenon_object_unref(raise);
	return 0;
}

static int all_work(void)
{
	return host_code_works("tvm-0.25.0.post1/host_vecadd/lib.so") ||
	       host_code_works("tvm-0.27.0.post1/host_vecadd/lib.so") ||
	       cpp_works("tvm-ffi-0.1.0/cpp_scalars/lib.so") ||
	       cpp_works("tvm-ffi-0.1.15.post2/cpp_scalars/lib.so");
}

static int the_peer_is_open_for_all(void)
{
	if (!dlopen(peer, RTLD_NOW | RTLD_GLOBAL))
		return 1;
	return all_work();
}

static int the_peer_is_open_for_itself(void)
{
	if (!dlopen(peer, RTLD_NOW | RTLD_LOCAL))
		return 1;
	return all_work();
}

static int the_peer_is_opened_after_us(void)
{
	if (all_work())
		return 1;
	if (!dlopen(peer, RTLD_NOW | RTLD_GLOBAL))
		return 1;
	return all_work();
}

static int the_peer_loads_what_is_open_here(void)
{
	int (*get_global)(const struct tenon_slice *, void **);
	struct tenon_slice name = tenon_slice_of("ffi.ModuleLoadFromFile");
	struct tenon_function *f = open_function("tvm-0.27.0.post1/host_vecadd/lib.so", "vecadd");
	struct tenon_value ret = tenon_arg_none();
	void *load = NULL, *handle;

	if (!f)
		return fail("vecadd");
	handle = dlopen(peer, RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		return 1;
	*(void **)&get_global = dlsym(handle, "TVMFFIFunctionGetGlobal");
	/* the same layout: its function objects are called as ours are */
	if (get_global(&name, &load) || !load)
		return 1;
	if (tenon_call((struct tenon_function *)load, &ret,
		       tenon_arg_string(fixture_path("tvm-0.27.0.post1/host_vecadd/lib.so"))))
		return 1;
	if (ret.type != TENON_TYPE_MODULE)
		return 1;
	tenon_value_release(&ret);
	tenon_object_unref(f);
	tenon_object_unref(load);
	return host_code_works("tvm-0.27.0.post1/host_vecadd/lib.so");
}

static const struct fixture_case cases[] = {
	{ "the_peer_is_open_for_all", the_peer_is_open_for_all },
	{ "the_peer_is_open_for_itself", the_peer_is_open_for_itself },
	{ "the_peer_is_opened_after_us", the_peer_is_opened_after_us },
	{ "the_peer_loads_what_is_open_here", the_peer_loads_what_is_open_here },
};

int main(void)
{
#if defined(__x86_64__) && defined(__GLIBC__)
	peer = find_peer();
#endif
	if (!peer) {
		puts("no libtvm_ffi.so: scripts/interop-generate --venv-only 0.27 installs one");
		return 77;
	}
	return fixture_isolated(cases, sizeof(cases) / sizeof(*cases));
}
