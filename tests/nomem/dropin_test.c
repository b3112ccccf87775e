/* SPDX-License-Identifier: MIT */
/*
 * Functions of the drop-in libraries, each called once for each allocation in it, with that one failing: it returns what it
 * returns undisturbed, or an error with a text. It can be called again right after, and nothing is lost.
 */
#include "tests/unit/dropin.h"

#include "tests/nomem/failing_malloc.h"

#define MOST 4

/*
 * A call. Arguments begin with a letter: i an integer, f a float, s a string, j a value in JSON, l a list and d a dict of one, g a graph
 * in JSON, t a tensor, m a map of a tensor, h a shape, R a recurrent state, p the bytes that parameters are saved to; n is None.
 */
struct row {
	const char *function;
	const char *args[MOST + 1];
};

#define LONG		 "a text of more letters than fit into a value"
#define GRAPH(nodes)	 "g{\"root_index\": 0, \"nodes\": [" nodes "]}"
#define NODE(type, data) "{\"type\": \"ffi." type "\", \"data\": " data "}"
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
#define TREE "[1, -2.5, true, null, \"" LONG "\", {\"a\": [1, 2, 3], \"" LONG "\": {}}, []]"
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
	{ "ffi.FunctionListGlobalNamesFunctor", { NULL } },
	{ "ffi.FunctionRemoveGlobal", { "sno.such.function" } },
	{ "ffi.GetFirstStructuralMismatch",
	  { "j" TREE, "j[1, -2.5, true, null, \"another\"]", "i0", "i0" } },
	{ "ffi.GetFirstStructuralMismatch", { "j" WIDE, "j{\"a\": 1}", "i0", "i0" } },
	{ "ffi.GetFirstStructuralMismatch", { "j" TREE, "j" TREE, "i1", "i0" } },
	{ "ffi.GetGlobalFuncMetadata", { "sffi.Array" } },
	{ "ffi.GetGlobalFuncMetadata", { "sno.such.function" } },
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
	{ "ffi.ReprPrint", { GRAPH(CONTEXT) } },
	{ "ffi.Shape", { "i1", "i2" } },
	{ "ffi.String", { "s" LONG } },
	{ "ffi.StructuralEqual", { "j" TREE, "j" TREE } },
	{ "ffi.StructuralEqual", { "j" WIDE, "j" WIDE } },
	{ "ffi.StructuralEqual", { GRAPH(PATH), GRAPH(PATH) } },
	{ "ffi.StructuralHash", { "j" TREE } },
	{ "ffi.StructuralHash", { GRAPH(PATH) } },
	{ "ffi.StructuralKey", { "j" TREE } },
	{ "ffi.StructuralMap", { "j" TREE, "j[]", "j[]" } },
	{ "ffi.StructuralMutate", { "j" TREE, "j[]", "j[]" } },
	{ "ffi.StructuralVisit", { "j" TREE, "j[]", "j[]" } },
	{ "ffi.StructuralWalk", { "j" TREE, "j[]", "j[]", "i0" } },
	{ "ffi.ToJSONGraph", { "j" TREE, "n" } },
	{ "ffi.ToJSONGraphString", { "j" TREE, "j" WIDE } },
	{ "ffi.ToJSONGraphString", { "d" WIDE, "n" } },
	{ "ffi.ToJSONGraphString", { GRAPH(PATH), "n" } },
	{ "ffi.ToJSONGraphString", { "m", "n" } },
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
	{ "runtime.RuntimeEnabled", { "sgpu" } },
	{ "runtime.GetDeviceAttr", { "i1", "i0", "i5" } },
	{ "runtime.TVMTensorCopyFromTo", { "t", "t" } },
};

/* ---- arguments */

static void *make_array, *make_rnn, *add_sequence, *make_list, *make_dict, *make_map, *make_shape,
	*make_tensor, *parse, *load, *save, *iterate;

static struct tenon_value text_of(const char *text)
{
	return tenon_arg_string(text);
}

static struct tenon_value make_tensor_value(void)
{
	struct tenon_value args[3], two = tenon_arg_int(2), v;

	args[0] = dropin_made(make_shape, &two, 1);
	args[1] = tenon_arg_dtype(tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));
	args[2] = tenon_arg_device((DLDevice){ kDLCPU, 0 });
	v = dropin_made(make_tensor, args, 3);
	dropin_release(&args[0]);
	return v;
}

static struct tenon_value make_params(void)
{
	struct tenon_value pair[2] = { text_of("weight"), make_tensor_value() }, v;

	v = dropin_made(make_map, pair, 2);
	dropin_release(&pair[1]);
	return v;
}

static int nothing(void *self, const struct tenon_value *args, int32_t count,
		   struct tenon_value *ret)
{
	(void)self;
	(void)args;
	(void)count;
	*ret = tenon_arg_none();
	return 0;
}

/* A recurrent state of one layer and two sequences, of which 0 is there */
static struct tenon_value make_state(void)
{
	struct tenon_value args[6], f = tenon_arg_none(), t = make_tensor_value(), v;
	void *function;
	int i;

	assert_int_equal(ffi.create(NULL, nothing, NULL, &function), 0);
	f.type = TENON_TYPE_FUNCTION;
	f.as.object = function;
	args[0] = tenon_arg_int(1);
	args[1] = args[2] = tenon_arg_int(2);
	args[3] = dropin_made(make_array, &f, 1);
	args[4] = dropin_made(make_array, &f, 1);
	args[5] = dropin_made(make_array, &t, 1);
	v = dropin_made(make_rnn, args, 6);
	for (i = 3; i < 6; i++)
		dropin_release(&args[i]);
	dropin_release(&f);
	dropin_release(&t);
	args[0] = v;
	args[1] = tenon_arg_int(0);
	dropin_made(add_sequence, args, 2);
	return v;
}

/* A dict of the pairs of a map */
static struct tenon_value make_dict_of(const struct tenon_value *map)
{
	static const struct tenon_value next = { .type = TENON_TYPE_INT, .as.integer = 2 };
	struct tenon_value walk = dropin_made(iterate, map, 1), pairs[64], v;
	int32_t n = 0, i;

	do {
		for (i = 0; i < 2; i++) {
			v = tenon_arg_int(i);
			pairs[n++] = dropin_made(walk.as.object, &v, 1);
		}
	} while (dropin_made(walk.as.object, &next, 1).as.integer && n < 64);
	v = dropin_made(make_dict, pairs, n);
	while (n)
		dropin_release(&pairs[--n]);
	dropin_release(&walk);
	return v;
}

static struct tenon_value make_argument(const char *arg)
{
	struct tenon_value text = text_of(arg + 1), v, made;

	switch (*arg) {
	case 'i':
		return tenon_arg_int(strtoll(arg + 1, NULL, 10));
	case 'f':
		return tenon_arg_float(strtod(arg + 1, NULL));
	case 's':
		return text;
	case 'j':
		return dropin_made(parse, &text, 1);
	case 'g':
		return dropin_made(load, &text, 1);
	case 'l':
		v = dropin_made(parse, &text, 1);
		made = dropin_made(make_list, ((struct tenon_array *)v.as.object)->data,
				   (int32_t)((struct tenon_array *)v.as.object)->size);
		dropin_release(&v);
		return made;
	case 'd':
		v = dropin_made(parse, &text, 1);
		made = make_dict_of(&v);
		dropin_release(&v);
		return made;
	case 't':
		return make_tensor_value();
	case 'm':
		return make_params();
	case 'h':
		v = tenon_arg_int(strtoll(arg + 1, NULL, 10));
		return dropin_made(make_shape, &v, 1);
	case 'R':
		return make_state();
	case 'p':
		v = make_params();
		made = dropin_made(save, &v, 1);
		dropin_release(&v);
		return made;
	default:
		return tenon_arg_none();
	}
}

/* ---- calls */

/* Call a row with allocation @n failing. Return: requests for memory; *@failed whether the call failed */
static long call_row(const struct row *row, void *f, long n, bool *failed)
{
	struct tenon_value args[MOST], ret = tenon_arg_none();
	struct dropin_error *error = NULL;
	int32_t count;
	long requests;

	for (count = 0; count < MOST && row->args[count]; count++)
		args[count] = make_argument(row->args[count]);
	failing_malloc_start(n);
	*failed = ffi.call(f, args, count, &ret) != 0;
	requests = failing_malloc_stop();
	ffi.take_error((void **)&error);
	if (*failed != (error != NULL) || (error && (!error->kind.size || !error->message.size)))
		fail_msg("%s, allocation %ld: %s", row->function, n,
			 !*failed ? "an error without a failure"
			 : !error ? "a failure without an error"
				  : "an error without a text");
	if (error)
		ffi.unref(error);
	else
		dropin_release(&ret);
	while (count)
		dropin_release(&args[--count]);
	return requests;
}

/* Whether memory is lost with each call, and not only kept from the first on */
static bool loses_memory(const struct row *row, void *f, long n)
{
	bool failed;
	long live;
	int i;

	for (i = 0; i < 4; i++) {
		live = failing_malloc_live();
		call_row(row, f, n, &failed);
		if (failing_malloc_live() <= live)
			return false;
	}
	print_error("%s, allocation %ld: leaks\n", row->function, n);
	return true;
}

static void a_function_without_memory_fails_and_loses_nothing(void **state)
{
	long requests, n, wrong = 0;
	bool fails, failed;
	size_t i;
	void *f;

	(void)state;
	if (!failing_malloc_works())
		skip();
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		f = dropin_find(rows[i].function);
		requests = call_row(&rows[i], f, 0, &fails);
		for (n = 1; n <= requests; n += failing_malloc_step())
			wrong += loses_memory(&rows[i], f, n);
		call_row(&rows[i], f, 0, &failed);
		if (failed != fails)
			fail_msg("%s: returns something else afterwards", rows[i].function);
		ffi.unref(f);
	}
	assert_int_equal(wrong, 0);
}

static int make_ready(void **state)
{
	if (dropin_open(state))
		return -1;
	make_array = dropin_find("ffi.Array");
	make_rnn = dropin_find("vm.builtin.rnn_state_create");
	add_sequence = dropin_find("vm.builtin.kv_state_add_sequence");
	make_list = dropin_find("ffi.List");
	make_dict = dropin_find("ffi.Dict");
	make_map = dropin_find("ffi.Map");
	make_shape = dropin_find("ffi.Shape");
	make_tensor = dropin_find("runtime.TVMTensorAllocWithScope");
	parse = dropin_find("ffi.json.Parse");
	load = dropin_find("ffi.FromJSONGraphString");
	save = dropin_find("runtime.SaveParams");
	iterate = dropin_find("ffi.MapForwardIterFunctor");
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_without_memory_fails_and_loses_nothing),
	};

	return cmocka_run_group_tests(tests, make_ready, NULL);
}
