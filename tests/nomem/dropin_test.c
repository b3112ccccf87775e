/* SPDX-License-Identifier: MIT */
/* Functions of the drop-in libraries without memory, and the libraries when they are loaded without. */
#include "tests/nomem/dropin_rows.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATH                                                                                       \
	NODE("reflection.AccessPath", "{\"parent\": 1, \"step\": 2, \"depth\": 1}")                \
	", " NODE(                                                                                 \
		"reflection.AccessPath",                                                           \
		"{\"parent\": 3, \"step\": 3, \"depth\": 0}") ", " NODE("reflection.AccessStep",   \
									"{\"kind\": 3, \"key\": "  \
									"4}") ", {\"type\": "      \
									      "\"None\"}, " NODE(  \
										      "String",    \
										      "\"" LONG    \
										      "\"")
#define CONTEXT                                                                                    \
	NODE("VisitErrorContext", "{\"reverse_visit_pattern\": 1, \"prev_error_context\": 2}")     \
	", " NODE("List", "[3, 3]") ", {\"type\": \"None\"}, " NODE("List", "[]")
#define BASE64	   "AAECAwQFBgcICQ=="
#define BIG	   NODE("BigInt", "\"-123456789012345678901234567890\"")
#define TEXT(node) "s{\"root_index\": 0, \"nodes\": [" node "]}"
#define FOUR(text) text text text text
#define TREE	   "[1, -2.5, true, null, \"" LONG "\", {\"a\": [1, 2, 3], \"" LONG "\": {}}, []]"
#define MANY                                                                                       \
	"[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32]"
#define WIDE                                                                                       \
	"{\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6,\"g\":7,\"h\":8,\"i\":9,\"j\":{\"a\":["  \
	"\"" LONG "\"]}}"

static const struct row rows[] = {
	{ "ffi.Array", { "i1", "s" LONG, "f0.5", "n" } },
	{ "ffi.ArrayContains", { "j" TREE, "s" LONG } },
	{ "ffi.ArrayGetItem", { "j" TREE, "i4" } },
	{ "ffi.ArrayGetItem", { "j" TREE, "i7" } },
	{ "ffi.Bytes", { "s" LONG } },
	{ "ffi.ContainerFindFirstNonCPUDevice", { "m" } },
	{ "ffi.DeepCopy", { "j" TREE } },
	{ "ffi.DeepCopy", { "l" TREE } },
	{ "ffi.DeepCopy", { "d" WIDE } },
	{ "ffi.DeepCopy", { GRAPH(PATH) } },
	{ "ffi.Dict", { "s" LONG, "i1", "i2", "s" LONG } },
	{ "ffi.DictErase", { "d" WIDE, "sa" } },
	{ "ffi.DictForwardIterFunctor", { "d" WIDE } },
	{ "ffi.DictGetItem", { "d" WIDE, "s" LONG } },
	{ "ffi.DictGetItemOrMissing", { "d" WIDE, "s" LONG } },
	{ "ffi.DictSetItem", { "d" WIDE, "s" LONG, "j" TREE } },
	{ "ffi.FromJSONGraphString", { "s" } },
	{ "ffi.FromJSONGraphString", { TEXT(NODE("Bytes", "\"" BASE64 "\"")) } },
	{ "ffi.FromJSONGraphString", { TEXT(BIG) } },
	{ "ffi.FromJSONGraphString", { TEXT(PATH) } },
	{ "ffi.FromJSONGraphString", { TEXT(CONTEXT) } },
	{ "ffi.FromJSONGraphString",
	  { TEXT(NODE("Dict", "[1, 2]") ", " NODE("List", "[2]") ", " NODE("Shape", "[1]")) } },
	{ "ffi.FunctionListGlobalNamesFunctor", { NULL } },
	{ "ffi.FunctionRemoveGlobal", { "sno.such.function" } },
	{ "ffi.GetFirstStructuralMismatch",
	  { "j" TREE, "j[1, -2.5, true, null, \"another\"]", "i0", "i0" } },
	{ "ffi.GetFirstStructuralMismatch", { "j" WIDE, "j{\"a\": 1}", "i0", "i0" } },
	{ "ffi.GetFirstStructuralMismatch", { "j" TREE, "j" TREE, "i1", "i0" } },
	{ "ffi.GetGlobalFuncMetadata", { "sffi.Array" } },
	{ "ffi.GetGlobalFuncMetadata", { "sno.such.function" } },
	{ "ffi.GetGlobalFuncMetadata", { "s" FOUR(FOUR("no.such.function " LONG)) } },
	{ "ffi.GetRegisteredTypeKeys", { NULL } },
	{ "ffi.List", { "i1", "s" LONG, "f0.5", "n" } },
	{ "ffi.ListAppend", { "l" MANY, "s" LONG } },
	{ "ffi.ListClear", { "l" MANY } },
	{ "ffi.ListEraseRange", { "l" MANY, "i3", "i9" } },
	{ "ffi.ListInsert", { "l" MANY, "i3", "s" LONG } },
	{ "ffi.ListPop", { "l" MANY, "i3" } },
	{ "ffi.ListReplaceSlice", { "l" MANY, "i3", "i5", "l" TREE } },
	{ "ffi.ListReserve", { "l[]", "i1000" } },
	{ "ffi.ListReserve", { "l[]", "i9223372036854775807" } },
	{ "ffi.ListSetItem", { "l" MANY, "i3", "s" LONG } },
	{ "ffi.MakeFieldSetter", { "i1", "i16", "i16" } },
	{ "ffi.MakeObjectFromPackedArgs", { "sffi.VisitInterrupt", "svalue", "s" LONG } },
	{ "ffi.MakeObjectFromPackedArgs", { "sffi.VisitInterrupt", "sno field", "i1" } },
	{ "ffi.Map", { "s" LONG, "i1", "i2", "s" LONG } },
	{ "ffi.MapForwardIterFunctor", { "j" WIDE } },
	{ "ffi.RecursiveEq", { "j" TREE, "j" TREE } },
	{ "ffi.RecursiveEq", { "d" WIDE, "d" WIDE } },
	{ "ffi.RecursiveEq", { GRAPH(PATH), GRAPH(PATH) } },
	{ "ffi.RecursiveHash", { "j" TREE } },
	{ "ffi.RecursiveHash", { GRAPH(PATH) } },
	{ "ffi.RecursiveLt", { "j[1, \"" LONG "\"]", "j[1, \"" LONG "\", 2]" } },
	{ "ffi.RecursiveLt", { "j" WIDE, "j" WIDE } },
	{ "ffi.ReprPrint", { "j" TREE } },
	{ "ffi.ReprPrint", { "l" TREE } },
	{ "ffi.ReprPrint", { "d" WIDE } },
	{ "ffi.ReprPrint", { "m" } },
	{ "ffi.ReprPrint", { GRAPH(PATH) } },
	{ "ffi.ReprPrint", { GRAPH(BIG) } },
	{ "ffi.ReprPrint",
	  { GRAPH(NODE("Array", "[1, 1]") ", {\"type\": \"DataType\", \"data\": "
					  "\"float8_e4m3fnx16\"}") } },
	{ "ffi.ReprPrint", { GRAPH(CONTEXT) } },
	{ "ffi.Shape", { "i1", "i2" } },
	{ "ffi.String", { "s" LONG } },
	{ "ffi.StructuralEqual", { "j" TREE, "j" TREE } },
	{ "ffi.StructuralEqual", { "j" WIDE, "j" WIDE } },
	{ "ffi.StructuralEqual", { GRAPH(PATH), GRAPH(PATH) } },
	{ "ffi.StructuralHash", { "j" TREE } },
	{ "ffi.StructuralHash", { GRAPH(PATH) } },
	{ "ffi.StructuralKey", { "j" TREE } },
	{ "ffi.StructuralMap", { "j" TREE, "j[]", "j[]", "i0" } },
	{ "ffi.StructuralMutate", { "j" TREE, "j[]" } },
	{ "ffi.StructuralVisit", { "j" TREE, "j[]" } },
	{ "ffi.StructuralWalk", { "j" TREE, "j[]", "j[]", "i0" } },
	{ "ffi.ToJSONGraph", { "j" TREE, "n" } },
	{ "ffi.ToJSONGraphString", { "j" TREE, "j" WIDE } },
	{ "ffi.ToJSONGraphString", { "d" WIDE, "n" } },
	{ "ffi.ToJSONGraphString", { GRAPH(PATH), "n" } },
	{ "ffi.ToJSONGraphString", { "m", "n" } },
	{ "ffi.ToJSONGraphString", { GRAPH(NODE("Shape", "[1, 2, 3, 4, 5]")), "n" } },
	{ "ffi.ToJSONGraphString", { GRAPH(NODE("Bytes", "\"" BASE64 "\"")), "n" } },
	{ "ffi.ToJSONGraphString", { GRAPH(BIG), "n" } },
	{ "ffi.ToJSONGraphString", { GRAPH("{\"type\": \"Device\", \"data\": [1, 0]}"), "n" } },
	{ "ffi.ToJSONGraphString",
	  { GRAPH("{\"type\": \"DataType\", \"data\": \"float8_e4m3fnx16\"}"), "n" } },
	{ "ffi.VisitErrorContext.FindAccessPaths", { "j" TREE, GRAPH(CONTEXT) } },
	{ "ffi.VisitErrorContext.FindAccessPaths", { GRAPH(PATH), GRAPH(CONTEXT), "i1" } },
	{ "ffi.VisitInterrupt", { "s" LONG } },
	{ "ffi.json.Parse", { "s" TREE } },
	{ "ffi.json.Parse", { "s" WIDE } },
	{ "ffi.json.Parse", { "s[\"\\u00e4\\n" LONG "\", 1e5, nul]" } },
	{ "ffi.json.Stringify", { "j" TREE } },
	{ "ffi.json.Stringify", { "j" WIDE, "i2" } },
	{ "vm.builtin.alloc_shape_heap", { "n", "i4" } },
	{ "vm.builtin.copy", { "t" } },
	{ "vm.builtin.kv_state_add_sequence", { "R", "i7" } },
	{ "vm.builtin.kv_state_fork_sequence", { "R", "i0", "i7", "i-1" } },
	{ "vm.builtin.kv_state_popn", { "R", "i0", "i1" } },
	{ "vm.builtin.kv_state_begin_forward", { "R", "h0", "h1" } },
	{ "vm.builtin.kv_state_clear", { "R" } },
	{ "vm.builtin.make_shape", { "n", "i2", "i0", "i7" } },
	{ "vm.builtin.make_tuple", { "t", "s" LONG, "j" TREE } },
	{ "vm.builtin.ndarray_cache.get", { "s" LONG } },
	{ "vm.builtin.ndarray_cache.load", { "s/nowhere/at.all", "i1", "i0" } },
	{ "vm.builtin.reshape", { "t", "h2" } },
	{ "vm.builtin.reshape", { "t", "h3" } },
	{ "vm.builtin.rnn_state_debug_get", { "R", "i0", "i0", "i0" } },
	{ "vm.builtin.rnn_state_get", { "R", "i0", "i0", "t" } },
	{ "vm.builtin.sample_top_p_from_logits", { "t", "f1", "f0.9", "f0.5" } },
	{ "vm.builtin.shape_of", { "t" } },
	{ "vm.builtin.tensor_to_shape", { "t" } },
	{ "vm.builtin.tuple_getitem", { "j" TREE, "i4" } },
	{ "vm.builtin.tuple_reset_item", { "l" TREE, "i4" } },
	{ "runtime.LoadParams", { "p" } },
	{ "runtime.LoadParams", { "s" LONG } },
	{ "runtime.LoadParamsFromFile", { "s/nowhere/at.all" } },
	{ "runtime.SaveParams", { "m" } },
	{ "runtime.SaveParamsToFile", { "m", "s/nowhere/at.all" } },
	{ "runtime.ModuleLoadStaticLibrary", { "s/bin/sh", "j[\"f\", \"g\"]" } },
	{ "runtime.RuntimeEnabled", { "sgpu" } },
	{ "runtime.GetDeviceAttr", { "i1", "i0", "i5" } },
	{ "runtime.TVMTensorCopyFromTo", { "t", "t" } },
};

static void a_function_without_memory_fails_and_loses_nothing(void **state)
{
	(void)state;
	rows_lose_nothing(rows, sizeof(rows) / sizeof(rows[0]));
}

/* ---- the libraries, loaded without memory: what could not be added is missing, and the rest works */

static int fail_call(void *self, const struct tenon_value *args, int32_t count,
		     struct tenon_value *ret)
{
	(void)self;
	(void)args;
	(void)count;
	(void)ret;
	return -1;
}

static bool has_function(const char *name)
{
	const struct tenon_slice text = tenon_slice_of(name);
	void *f = NULL;

	if (ffi.global(&text, &f))
		dropin_drop_error();
	else if (f)
		ffi.unref(f);
	return f != NULL;
}

/* Register a function as C++ code does, with its metadata, and ask for these. */
static bool takes_functions(void)
{
	struct type_method method = { .name = tenon_slice_of("test.nomem.method"),
				      .metadata = tenon_slice_of("{}") };
	struct tenon_value name = tenon_arg_string("test.nomem.method"), ret = tenon_arg_none();
	bool done;
	void *f;

	if (ffi.create(NULL, fail_call, NULL, &f))
		return false;
	method.method = tenon_arg_object(f);
	done = !ffi.set_method(&method, 1) && has_function("test.nomem.method");
	ffi.unref(f);
	if (!done || !has_function("ffi.GetGlobalFuncMetadata"))
		return done;
	f = dropin_find("ffi.GetGlobalFuncMetadata");
	done = !ffi.call(f, &name, 1, &ret) && ret.type == TENON_TYPE_SMALL_STRING;
	dropin_release(&ret);
	ffi.unref(f);
	return done;
}

/* Give a type its constructor and other functions, as Python does for a class. */
static void define_class(void)
{
	struct tenon_value args[2] = { tenon_arg_int(TENON_TYPE_MODULE), tenon_arg_int(64) };
	struct tenon_value ret = tenon_arg_none();
	void *f;

	if (!has_function("ffi._PyClassRegisterTypeAttrColumns"))
		return;
	f = dropin_find("ffi._PyClassRegisterTypeAttrColumns");
	if (ffi.call(f, args, 2, &ret))
		dropin_drop_error();
	ffi.unref(f);
}

/* Load libtvm_runtime.so, whose constructor adds all, with request @n failing. */
static int load_without_memory(long n)
{
	struct tenon_value arg = tenon_arg_int(1), ret = tenon_arg_none();
	void *f;

	failing_malloc_start(n);
	dropin_open_beside("libtvm_runtime.so");
	define_class();
	failing_malloc_stop();
	dropin_drop_error();
	/* libtenon's own functions do not depend on what was to be added */
	if (!has_function("ffi.ModuleLoadFromFile") || !takes_functions())
		return 1;
	if (!has_function("ffi.Array") || !has_function("ffi.ReprPrint"))
		return 0;
	f = dropin_find("ffi.Array");
	if (ffi.call(f, &arg, 1, &arg))
		return 2;
	ffi.unref(f);
	f = dropin_find("ffi.ReprPrint");
	if (ffi.call(f, &arg, 1, &ret) || ret.type != TENON_TYPE_SMALL_STRING)
		return 3;
	ffi.unref(f);
	return 0;
}

/* In a child, as a process loads them once; what the library says about it is not of interest. */
static int load_in_child(long n)
{
	int status, null;
	pid_t child;

	fflush(NULL);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		null = open("/dev/null", O_WRONLY);
		dup2(null, STDERR_FILENO);
		_exit(load_without_memory(n));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static void the_libraries_work_without_what_could_not_be_added(void **state)
{
	atomic_long *requests;
	long n, all;
	int status;

	(void)state;
	if (!failing_malloc_works())
		skip();
	assert_int_equal(dropin_open_ffi(), 0);
	/* what the first count opens, once for all children */
	failing_malloc_start(0);
	failing_malloc_stop();
	/* loaded once, and not by each child */
	assert_non_null(dropin_open_beside("../libtenon.so.0"));
	requests = mmap(NULL, sizeof(*requests), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	assert_true(requests != MAP_FAILED);
	failing_malloc_share(requests);
	assert_int_equal(load_in_child(0), 0);
	all = atomic_load(requests);
	assert_true(all > 100);
	for (n = 1; n <= all; n += failing_malloc_step()) {
		atomic_store(requests, 0);
		status = load_in_child(n);
		if (status)
			fail_msg("allocation %ld of %ld: wait status %x", n, all, status);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_libraries_work_without_what_could_not_be_added),
		cmocka_unit_test_setup(a_function_without_memory_fails_and_loses_nothing,
				       rows_ready),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
