/* SPDX-License-Identifier: MIT */
/*
 * The batches that every runtime of the tvm-ffi ABI does alike. The including file says how:
 *
 * RT_CALL(f, args, n, ret)   call a function object, 0 on success
 * RT_UNREF(object)	      drop a reference
 * RT_CREATE(fn)	      a function object of a C function, NULL on failure
 * RT_RAISE()		      raise a ValueError "refused", return its non-zero status
 * RT_TAKE()		      take the error object
 * RT_REGISTER(name, f)	      0 on success
 * RT_FIND(name)	      a global function with a reference, or NULL
 * RT_LOAD(path)	      a module, or NULL
 * RT_GET(module, name)	      a function of it or its imports, or NULL
 * RT_SEEK(module, name)      the same without raising an error, where the runtime can
 * RT_PLAIN_KIND	      a kind of module that may be asked for a name it does not have
 * RT_EXAMPLE_KIND	      a kind with one function, subgraph_<number>
 * RT_CLEAR()		      forget the thread's error, if there may be one
 *
 * RT_LEGACY is defined where the runtime opens legacy modules.
 */

static void *subject; /* the function or module that a row is about */
static void *subject2;

static int run_failing(void *self, const struct tenon_value *args, int32_t count,
		       struct tenon_value *ret)
{
	(void)self, (void)args, (void)count, (void)ret;
	return RT_RAISE();
}

static int prepare_call(int argument)
{
	(void)argument;
	subject = RT_CREATE(bench_empty);
	return subject ? 0 : -1;
}

static BENCH_NOINLINE double call_with(const struct tenon_value *args, int32_t count, long n)
{
	struct tenon_value ret = { TENON_TYPE_NONE, 0, { 0 } };
	void *f = subject;
	double start = bench_now();
	long i;

	for (i = 0; i < n; i++)
		RT_CALL(f, args, count, &ret);
	return bench_now() - start;
}

static double batch_call_0(long n)
{
	return call_with(NULL, 0, n);
}

static double batch_call_4(long n)
{
	const struct tenon_value args[4] = { tenon_arg_int(1), tenon_arg_int(2), tenon_arg_int(3),
					     tenon_arg_int(4) };

	return call_with(args, 4, n);
}

static double batch_call_tensor(long n)
{
	const struct tenon_value args[1] = { tenon_arg_tensor(bench_tensor()) };

	return call_with(args, 1, n);
}

static int prepare_module(const char *file, const char *name)
{
	if (subject2)
		RT_UNREF(subject2);
	subject2 = RT_LOAD(bench_module(file));
	subject = subject2 ? RT_GET(subject2, name) : NULL;
	return subject ? 0 : -1;
}

static int prepare_library_int(int argument)
{
	(void)argument;
	return prepare_module("modern.so", "add_one");
}

static int prepare_library_tensor(int argument)
{
	(void)argument;
	return prepare_module("modern.so", "look");
}

#ifdef RT_LEGACY
static int prepare_legacy_4(int argument)
{
	(void)argument;
	return prepare_module("legacy.so", "empty");
}

static int prepare_legacy_int(int argument)
{
	(void)argument;
	return prepare_module("legacy.so", "add_one");
}
#endif

#ifdef RT_LEGACY
static int prepare_legacy_tensor(int argument)
{
	(void)argument;
	return prepare_module("legacy.so", "look");
}
#endif

static double batch_add_one(long n)
{
	struct tenon_value args[1] = { tenon_arg_int(0) }, ret = { TENON_TYPE_NONE, 0, { 0 } };
	void *f = subject;
	double start = bench_now();
	long i;

	for (i = 0; i < n; i++) {
		RT_CALL(f, args, 1, &ret);
		args[0].as.integer = ret.as.integer;
	}
	start = bench_now() - start;
	return ret.as.integer == n ? start : -1;
}

static int prepare_fail(int argument)
{
	(void)argument;
	subject = RT_CREATE(run_failing);
	return subject ? 0 : -1;
}

static int prepare_fail_library(int argument)
{
	(void)argument;
	return prepare_module("modern.so", "refuse");
}

static double batch_fail(long n)
{
	struct tenon_value ret = { TENON_TYPE_NONE, 0, { 0 } };
	double start = bench_now();
	long i, taken = 0;

	for (i = 0; i < n; i++) {
		if (RT_CALL(subject, NULL, 0, &ret)) {
			struct tenon_error *error = RT_TAKE();

			taken += error && error->message.size >= 7;
			RT_UNREF(error);
		}
	}
	start = bench_now() - start;
	return taken == n ? start : -1;
}

static int prepare_lookup(int argument)
{
	(void)argument;
	subject = RT_CREATE(bench_empty);
	return subject ? RT_REGISTER("bench.lookup", subject) : -1;
}

static double batch_lookup_hit(long n)
{
	double start = bench_now();
	long i;

	for (i = 0; i < n; i++) {
		void *f = RT_FIND("bench.lookup");

		if (f != subject)
			return -1;
		RT_UNREF(f);
	}
	return bench_now() - start;
}

static double batch_lookup_miss(long n)
{
	double start = bench_now();
	long i;

	for (i = 0; i < n; i++)
		if (RT_FIND("bench.no_such_function"))
			return -1;
	return bench_now() - start;
}

static double load_get_call(const char *path, long n)
{
	struct tenon_value args[1] = { tenon_arg_int(41) }, ret = { TENON_TYPE_NONE, 0, { 0 } };
	double spent = 0;
	long i;

	for (i = 0; i < n; i++) {
		double start = bench_now();
		void *m = RT_LOAD(path), *f = m ? RT_GET(m, "add_one") : NULL;

		if (!f || RT_CALL(f, args, 1, &ret) || ret.as.integer != 42)
			return -1;
		spent += bench_now() - start;
		RT_UNREF(f);
		RT_UNREF(m);
	}
	return spent;
}

static int prepare_load(int argument)
{
	(void)argument;
	return 0;
}

static double batch_load(long n)
{
	return load_get_call(bench_module("load.so"), n);
}

static double batch_load_plain(long n)
{
	return load_get_call(bench_module("load_plain.so"), n);
}

#ifdef RT_LEGACY
static double batch_load_legacy(long n)
{
	return load_get_call(bench_module("load_legacy.so"), n);
}
#endif

static const char *blob_kind;
static int blob_imports;

static int prepare_imports(const char *kind, int imports)
{
	void *m;

	blob_kind = kind;
	blob_imports = imports;
	m = RT_LOAD(bench_blob(blob_kind, imports));
	if (!m)
		return -1;
	RT_UNREF(m);
	return 0;
}

static int prepare_blob(int imports)
{
	return prepare_imports("const_loader", imports);
}

static int prepare_plain(int imports)
{
	return prepare_imports(RT_PLAIN_KIND, imports);
}

/* modules of a kind that has functions, where this runtime loads it */
static int prepare_kernels(const char *kind, int imports)
{
	void *m, *f;
	char name[32];

	blob_kind = kind;
	blob_imports = imports;
	m = RT_LOAD(bench_blob(blob_kind, imports));
	if (!m)
		return -1;
	snprintf(name, sizeof(name), "subgraph_%d", imports);
	f = RT_GET(m, name);
	RT_CLEAR();
	if (f)
		RT_UNREF(f);
	RT_UNREF(m);
	return f ? 0 : -1;
}

static int prepare_cl(int imports)
{
	return prepare_kernels("opencl", imports);
}

static int prepare_example(int imports)
{
	return prepare_kernels(RT_EXAMPLE_KIND, imports);
}

static double batch_blob_load(long n)
{
	const char *path = bench_blob(blob_kind, blob_imports);
	double spent = 0;
	long i;

	for (i = 0; i < n; i++) {
		double start = bench_now();
		void *m = RT_LOAD(path);

		spent += bench_now() - start;
		if (!m)
			return -1;
		RT_UNREF(m);
	}
	return spent;
}

/* The first lookup in a tree makes its index: a row of its own, and not a part of the others. */
static double blob_get(const char *name, int found, long n, int again)
{
	void *m = RT_LOAD(bench_blob(blob_kind, blob_imports)), *f;
	double start = 0;
	long i;

	if (!m)
		return -1;
	for (i = -again; i < n; i++) {
		if (!i)
			start = bench_now();
		f = RT_SEEK(m, name);
		if (!f != !found)
			return -1;
		if (f)
			RT_UNREF(f);
	}
	start = bench_now() - start;
	RT_UNREF(m);
	return start;
}

static double batch_blob_miss(long n)
{
	return blob_get("no_such_function", 0, n, 1);
}

static double batch_blob_hit(long n)
{
	char name[32];

	snprintf(name, sizeof(name), "subgraph_%d", blob_imports);
	return blob_get(name, 1, n, 1);
}

/* loaded anew for each */
static double batch_blob_first(long n)
{
	double spent = 0, one;
	char name[32];
	long i;

	snprintf(name, sizeof(name), "subgraph_%d", blob_imports);
	for (i = 0; i < n; i++) {
		one = blob_get(name, 1, 1, 0);
		if (one < 0)
			return -1;
		spent += one;
	}
	return spent;
}

/* not nanoseconds but allocations: of all that compiled code does while it runs */
static double batch_allocations(long n)
{
	long before = bench_allocations();

	if (before < 0 || batch_call_4(n) < 0 || batch_call_tensor(n) < 0 ||
	    batch_lookup_hit(n) < 0)
		return -1;
	if (batch_workspace(n) < 0 || batch_parallel(n) < 0)
		return -1;
	return (double)(bench_allocations() - before);
}

static const struct bench_op runtime_ops[ROW_COUNT] = {
	[ROW_CALL_0] = { prepare_call, batch_call_0 },
	[ROW_CALL_4] = { prepare_call, batch_call_4 },
	[ROW_CALL_TENSOR] = { prepare_call, batch_call_tensor },
	[ROW_LIBRARY_INT] = { prepare_library_int, batch_add_one },
	[ROW_LIBRARY_TENSOR] = { prepare_library_tensor, batch_call_tensor },
#ifdef RT_LEGACY
	[ROW_LEGACY_4] = { prepare_legacy_4, batch_call_4 },
	[ROW_LEGACY_INT] = { prepare_legacy_int, batch_add_one },
	[ROW_LEGACY_TENSOR] = { prepare_legacy_tensor, batch_call_tensor },
	[ROW_LEGACY_LOAD_CALL] = { prepare_load, batch_load_legacy },
#endif
	[ROW_FAIL] = { prepare_fail, batch_fail },
	[ROW_FAIL_LIBRARY] = { prepare_fail_library, batch_fail },
	[ROW_LOOKUP_HIT] = { prepare_lookup, batch_lookup_hit },
	[ROW_LOOKUP_MISS] = { prepare_load, batch_lookup_miss },
	[ROW_LOAD_CALL] = { prepare_load, batch_load },
	[ROW_LOAD_PLAIN] = { prepare_load, batch_load_plain },
	[ROW_BLOB_LOAD_0] = { prepare_blob, batch_blob_load },
	[ROW_BLOB_LOAD_1] = { prepare_blob, batch_blob_load },
	[ROW_BLOB_LOAD_10] = { prepare_blob, batch_blob_load },
	[ROW_BLOB_LOAD_100] = { prepare_blob, batch_blob_load },
	[ROW_BLOB_LOAD_1000] = { prepare_blob, batch_blob_load },
	[ROW_BLOB_GET_1] = { prepare_plain, batch_blob_miss },
	[ROW_BLOB_GET_10] = { prepare_plain, batch_blob_miss },
	[ROW_BLOB_GET_100] = { prepare_plain, batch_blob_miss },
	[ROW_BLOB_GET_1000] = { prepare_plain, batch_blob_miss },
	[ROW_CL_LOAD_1000] = { prepare_cl, batch_blob_load },
	[ROW_CL_FIRST_1000] = { prepare_cl, batch_blob_first },
	[ROW_CL_GET_1000] = { prepare_cl, batch_blob_hit },
	[ROW_EX_LOAD_1] = { prepare_example, batch_blob_load },
	[ROW_EX_LOAD_1000] = { prepare_example, batch_blob_load },
	[ROW_EX_GET_1] = { prepare_example, batch_blob_hit },
	[ROW_EX_GET_1000] = { prepare_example, batch_blob_hit },
	[ROW_WORKSPACE] = { prepare_workspace, batch_workspace },
	[ROW_ALLOCATIONS] = { prepare_lookup, batch_allocations },
	[ROW_PARALLEL] = { prepare_parallel, batch_parallel },
};
