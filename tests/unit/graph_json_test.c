/* SPDX-License-Identifier: MIT */
/* Graphs in JSON that are read, and those that are refused. */
#include "suite.h"
#include "graph_library.h"
#include "lib/json_read.h"
#include "runtime/graph/graph.h"

static int read_graph(const char *text, struct graph *g)
{
	return graph_read(tenon_slice_of(text), "graph.json", g);
}

static void refused(const char *text, int status, const char *words)
{
	struct graph g;
	int err = read_graph(text, &g);

	if (err != status) {
		print_error("%s\ngave %d: %s\n", text, err, tenon_error_message());
		fail();
	}
	if (!strstr(tenon_error_message(), words)) {
		print_error("expected: %s\nfound:    %s\n", words, tenon_error_message());
		fail();
	}
	assert_null(g.nodes);
	tenon_error_clear();
}

/* one input and one operator, with one part replaced */
#define ONE(nodes, args, heads, dtypes, storages, shapes, rows)                                    \
	G_GRAPH(G_IN("x") ", " nodes, args, heads, dtypes, storages, shapes, rows)
#define OP(inputs)	  G_OP("y", "twice", "1", inputs)
#define TWO_F32		  F32 ", " F32
#define NODE(node)	  ONE(node, "0", "[1, 0]", TWO_F32, "0, 1", "[4], [4]", "0, 1, 2")
#define ENDS(args, heads) ONE(OP("[0, 0]"), args, heads, TWO_F32, "0, 1", "[4], [4]", "0, 1, 2")
#define LISTS(dtypes, storages, shapes, rows)                                                      \
	ONE(OP("[0, 0]"), "0", "[1, 0]", dtypes, storages, shapes, rows)

static void a_graph_is_read_with_all_it_says(void **state)
{
	struct graph g;

	(void)state;
	assert_int_equal(read_graph(CHAIN, &g), 0);
	assert_int_equal(g.node_count, 5);
	assert_int_equal(g.entry_count, 5);
	assert_int_equal(g.input_count, 2);
	assert_int_equal(g.head_count, 2);
	assert_int_equal(g.storage_count, 4);
	assert_slice(g.nodes[2].name, "first");
	assert_slice(g.nodes[2].function, "add");
	assert_int_equal(g.nodes[2].input_count, 2);
	assert_int_equal(g.nodes[2].inputs[0], 0);
	assert_int_equal(g.nodes[2].inputs[1], 1);
	assert_int_equal(g.nodes[4].inputs[0], 3);
	assert_int_equal(g.heads[1], 4);
	assert_int_equal(g.entries[4].storage, 2);
	assert_int_equal(g.entries[4].bytes, 16);
	assert_int_equal(g.storages[2].bytes, 16);
	graph_fini(&g);
}

static void a_storage_is_as_large_as_its_largest_entry(void **state)
{
	static const char text[] = LISTS(F32 ", \"float64\"", "0, 0", "[4], [3, 5]", "0, 1, 2");
	struct graph g;

	(void)state;
	assert_int_equal(read_graph(text, &g), 0);
	assert_int_equal(g.storages[0].bytes, 120);
	graph_fini(&g);
}

static void keys_come_in_any_order_and_metadata_ends_the_graph(void **state)
{
	static const char text[] = "{\"node_row_ptr\": [0, 1], \"heads\": [[0, 0]], \"attrs\": "
				   "{\"shape\": [\"list_shape\", "
				   "[[]]], \"storage_id\": [\"list_int\", [0]], \"device_index\": "
				   "[\"list_int\", [1]], "
				   "\"more\": [\"size_t\", 3], \"dltype\": [\"list_str\", "
				   "[\"bool\"]]}, \"arg_nodes\": [0], "
				   "\"nodes\": [{\"inputs\": [], \"name\": "
				   "\"a\\u00e9\\n\\ud83d\\ude00\", \"op\": \"null\"}], "
				   "\"metadata\": {\"any\": [1, {}]}}";
	struct graph g;

	(void)state;
	assert_int_equal(read_graph(text, &g), 0);
	assert_slice(g.nodes[0].name, "a\xc3\xa9\n\xf0\x9f\x98\x80");
	assert_int_equal(g.entries[0].ndim, 0);
	assert_int_equal(g.entries[0].bytes, 1);
	assert_int_equal(g.entries[0].dtype.code, TENON_DTYPE_UINT);
	assert_int_equal(g.entries[0].dtype.bits, 1);
	assert_int_equal(g.entries[0].device, 1);
	graph_fini(&g);
}

#define SCOPED(scopes)                                                                             \
	"{\"nodes\": [{\"op\": \"null\", \"name\": \"x\", \"inputs\": []}], \"arg_nodes\": [0], "  \
	"\"heads\": "                                                                              \
	"[[0, 0]], \"attrs\": {\"dltype\": [\"list_str\", [" F32                                   \
	"]], \"storage_id\": [\"list_int\", "                                                      \
	"[0]], \"shape\": [\"list_shape\", [[4]]], \"storage_scope\": [\"list_str\", [" scopes     \
	"]]}, \"node_row_ptr\": [0, 1]}"

static void memory_of_another_scope_is_refused(void **state)
{
	struct graph g;

	(void)state;
	assert_int_equal(read_graph(SCOPED("\"global\""), &g), 0);
	graph_fini(&g);
	assert_int_equal(read_graph(SCOPED("\"\""), &g), 0);
	graph_fini(&g);
	refused(SCOPED("\"global.texture\""), -TENON_E_UNSUPPORTED,
		"entry 0 is in memory \"global.texture\"");
	refused(SCOPED("3"), -TENON_E_FORMAT, "a storage_scope is no string");
}

static void what_is_no_json_is_refused_with_its_place(void **state)
{
	(void)state;
	refused("", -TENON_E_FORMAT, "graph.json");
	refused("3", -TENON_E_TRUNCATED, "ends too early, after 1 bytes");
	refused("3 ", -TENON_E_FORMAT, "no object");
	refused("[]", -TENON_E_FORMAT, "a graph is an array, want an object");
	refused("{}", -TENON_E_FORMAT, "key \"nodes\" is missing");
	refused("{} {}", -TENON_E_FORMAT, "something follows");
	refused("{\"nodes\": [", -TENON_E_TRUNCATED, "ends too early");
	refused("{\"nodes\":\n  ]}", -TENON_E_FORMAT, "line 2, column 3: not JSON");
	refused("{\"nodes\": [], \"nodes\": []}", -TENON_E_FORMAT, "comes twice");
	refused("{\"nodes\": [], \"knots\": []}", -TENON_E_FORMAT, "key \"knots\" has no place");
	refused("{\"nodes\" [], \"heads\"}", -TENON_E_FORMAT, "graph.json");
}

static void nodes_are_checked(void **state)
{
	(void)state;
	refused(NODE("{\"op\": \"tvm_op\", \"name\": \"y\", \"inputs\": []}"), -TENON_E_FORMAT,
		"operator \"y\" has no num_inputs");
	refused(NODE("{\"op\": \"conv\", \"name\": \"y\", \"inputs\": []}"), -TENON_E_FORMAT,
		"a node of op \"conv\"");
	refused(NODE("{\"op\": \"null\", \"inputs\": []}"), -TENON_E_FORMAT, "a node without name");
	refused(NODE("{\"op\": \"null\", \"name\": \"y\", \"inputs\": [[0, 0]]}"), -TENON_E_FORMAT,
		"input \"y\" has inputs itself");
	refused(NODE(G_OP("y", "twice", "2", "[0, 0]")), -TENON_E_FORMAT,
		"operator \"y\" has 1 inputs, its num_inputs is 2");
	refused(NODE(G_OP("y", "twice", "-1", "[0, 0]")), -TENON_E_FORMAT,
		"num_inputs is \"-1\", want a number");
	refused(NODE(OP("[0]")), -TENON_E_FORMAT, "an entry of 1 numbers");
	refused(NODE(OP("[0, 0.5]")), -TENON_E_FORMAT,
		"an output number is 0.5, want a whole number");
	refused(NODE(OP("[0, -1]")), -TENON_E_VALUE, "an output number is -1");
	refused(NODE(OP("[0, 99999999999999999999]")), -TENON_E_FORMAT, "want a whole number");
}

static void cycles_and_forward_references_are_refused(void **state)
{
	(void)state;
	refused(NODE(OP("[1, 0]")), -TENON_E_CYCLE, "node 1 (\"y\"): reads its own output");
	refused(ONE(OP("[2, 0]") ", " G_OP("z", "twice", "1", "[1, 0]"), "0", "[2, 0]",
		    TWO_F32 ", " F32, "0, 1, 2", "[4], [4], [4]", "0, 1, 2, 3"),
		-TENON_E_CYCLE,
		"node 1 (\"y\"): reads node 2 (\"z\"), which runs after it: a cycle");
	refused(NODE(OP("[7, 0]")), -TENON_E_FORMAT, "reads node 7, there are 2");
	refused(NODE(OP("[0, 1]")), -TENON_E_FORMAT,
		"reads output 1 of node 0 (\"x\"), which has 1");
	refused(ENDS("0", "[2, 0]"), -TENON_E_FORMAT, "head 0: reads node 2, there are 2");
	refused(ENDS("1", "[1, 0]"), -TENON_E_FORMAT, "arg_nodes has node 1, which is an operator");
	refused(ENDS("5", "[1, 0]"), -TENON_E_VALUE, "arg_nodes is 5");
}

static void lists_must_have_an_item_for_each_entry(void **state)
{
	(void)state;
	refused(LISTS(F32, "0, 1", "[4], [4]", "0, 1, 2"), -TENON_E_FORMAT,
		"dltype has 1 items for 2 entries");
	refused(LISTS(TWO_F32, "0, 1", "[4]", "0, 1, 2"), -TENON_E_FORMAT,
		"shape has 1 items for 2 entries");
	refused(LISTS(TWO_F32, "0", "[4], [4]", "0, 1, 2"), -TENON_E_VALUE,
		"node_row_ptr is 2, want 1 to 1");
	refused(LISTS(TWO_F32, "0, 1", "[4], [4]", "0, 1"), -TENON_E_FORMAT,
		"node_row_ptr has 2 numbers for 2 nodes, want one more");
	refused(LISTS(TWO_F32, "0, 1", "[4], [4]", "0, 1, 1"), -TENON_E_FORMAT,
		"gives node 1 (\"y\") 0 outputs, it has 1");
	refused(LISTS(TWO_F32, "0, 1", "[4], [4]", "0, 2, 1"), -TENON_E_FORMAT, "gives node 0");
}

static void sizes_that_do_not_fit_are_refused(void **state)
{
	(void)state;
	refused(LISTS(TWO_F32, "0, 1", "[4], [4294967296, 4294967296, 4294967296]", "0, 1, 2"),
		-TENON_E_OVERFLOW,
		"node 1 (\"y\"): output 0 (entry 1): has a shape whose size does not fit");
	refused(LISTS(TWO_F32, "0, 1", "[4], [-1]", "0, 1, 2"), -TENON_E_VALUE, "an extent is -1");
	refused(LISTS(TWO_F32, "0, 2147483647", "[4], [4]", "0, 1, 2"), -TENON_E_VALUE,
		"lies in storage 2147483647");
	refused(LISTS(TWO_F32, "0, -1", "[4], [4]", "0, 1, 2"), -TENON_E_FORMAT,
		"node 1 (\"y\"): output 0 has no storage");
	refused(LISTS(F32 ", \"floaty\"", "0, 1", "[4], [4]", "0, 1, 2"), -TENON_E_VALUE,
		"\"floaty\" is no dtype");
}

static void a_dtype_that_no_tensor_has_is_refused(void **state)
{
	(void)state;
	refused(LISTS(F32 ", \"\"", "0, 1", "[4], [4]", "0, 1, 2"), -TENON_E_VALUE, "void");
	refused(LISTS(F32 ", \"uint248\"", "0, 1", "[4], [4]", "0, 1, 2"), -TENON_E_VALUE,
		"node 1 (\"y\"): output 0 (entry 1)");
	refused(LISTS(F32 ", \"uint248\"", "0, 1", "[4], [0]", "0, 1, 2"), -TENON_E_VALUE,
		"uint248");
	refused(LISTS(F32 ", \"float32x65535\"", "0, 1", "[4], [4]", "0, 1, 2"), -TENON_E_VALUE,
		"float32x65535");
}

/* TVM keeps a byte for each lane of a bool, though it writes its type as one bit */
static void lanes_of_bools_have_a_byte_each(void **state)
{
	static const char text[] = LISTS(F32 ", \"boolx4\"", "0, 1", "[4], [5]", "0, 1, 2");
	struct graph g;

	(void)state;
	assert_int_equal(read_graph(text, &g), 0);
	assert_int_equal(g.storages[1].bytes, 20);
	graph_fini(&g);
}

static void storages_that_together_exceed_memory_are_refused(void **state)
{
	static const char text[] =
		LISTS(TWO_F32, "0, 1", "[1000000000000000000], [1000000000000000000]", "0, 1, 2");
	struct tenon_module *lib = make_library();
	struct tenon_model *model;
	int err;

	(void)state;
	err = open_text(lib, text, NULL, &model);
	assert_true(err == -TENON_E_OVERFLOW || err == -TENON_E_NOMEM);
	assert_null(model);
	tenon_error_clear();
	tenon_object_unref(lib);
}

/* One input and one operator, with attributes of its own. */
#define ATTRS(attrs)                                                                               \
	"{\"nodes\": [" G_IN("x") ", " OP("[0, 0]") "], \"arg_nodes\": [0], \"heads\": "           \
						    "[[1, 0]], \"attrs\": {" attrs                 \
						    "}, \"node_row_ptr\": [0, 1, 2]}"
#define DTYPES	 "\"dltype\": [\"list_str\", [" TWO_F32 "]]"
#define STORAGES "\"storage_id\": [\"list_int\", [0, 1]]"
#define SHAPES	 "\"shape\": [\"list_shape\", [[4], [4]]]"

static void attributes_have_the_form_that_tvm_reads(void **state)
{
	struct graph g;

	(void)state;
	assert_int_equal(
		read_graph(ATTRS(DTYPES ", \"more\": [\"list_int\", [5]], " SHAPES ", " STORAGES),
			   &g),
		0);
	graph_fini(&g);
	refused(ATTRS(DTYPES ", " STORAGES), -TENON_E_FORMAT, "attribute \"shape\" is missing");
	refused(ATTRS(STORAGES ", " SHAPES), -TENON_E_FORMAT, "attribute \"dltype\" is missing");
	refused(ATTRS(DTYPES ", " SHAPES), -TENON_E_FORMAT, "no \"storage_id\" list");
	refused(ATTRS("\"storage_id\": 3"), -TENON_E_FORMAT, "no \"storage_id\" list");
	refused(ATTRS("\"storage_id\": [\"list_int\"]"), -TENON_E_FORMAT, "no \"storage_id\" list");
	refused(ATTRS("\"storage_id\": [\"list_int\", 3]"), -TENON_E_FORMAT,
		"no \"storage_id\" list");
	refused(ATTRS(DTYPES ", " DTYPES ", " STORAGES ", " SHAPES), -TENON_E_FORMAT,
		"attribute \"dltype\" is unknown");
	refused(ATTRS(DTYPES ", " STORAGES ", " SHAPES ", " SHAPES), -TENON_E_FORMAT,
		"attribute \"shape\" is unknown");
	refused(ATTRS(DTYPES ", \"more\": 3, " STORAGES), -TENON_E_FORMAT,
		"attribute \"more\" is unknown");
	refused(ATTRS(DTYPES ", \"more\": [3], " STORAGES), -TENON_E_FORMAT,
		"neither list_int nor size_t");
	refused(ATTRS(DTYPES ", \"more\": [\"list_str\", []], " STORAGES), -TENON_E_FORMAT,
		"neither list_int nor size_t");
	refused(ATTRS("\"dltype\": 3, " STORAGES), -TENON_E_FORMAT, "dltype");
	refused(ATTRS("\"dltype\": [\"list_str\"], " STORAGES), -TENON_E_FORMAT,
		"dltype wants [\"list_str\"");
	refused(ATTRS("\"dltype\": [3, []], " STORAGES), -TENON_E_FORMAT,
		"dltype wants [\"list_str\"");
	refused(ATTRS("\"dltype\": [\"list_str\", 3], " STORAGES), -TENON_E_FORMAT, "dltype");
	refused(ATTRS("\"shape\": [\"list_shape\", [[4], 4]], " STORAGES), -TENON_E_FORMAT,
		"a shape");
	refused(ATTRS("\"shape\": [\"list_shape\", [[4], "
		      "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
		      "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
		      "1,1,1,1,1,1]]], " STORAGES),
		-TENON_E_FORMAT, "a shape of 65 dimensions");
	refused(ATTRS(DTYPES ", \"storage_scope\": 3, " STORAGES), -TENON_E_FORMAT,
		"storage_scope");
}

#define NUMBERED(number)                                                                           \
	NODE("{\"op\": \"tvm_op\", \"name\": \"y\", \"attrs\": {\"num_inputs\": " number "}, "     \
	     "\"inputs\": [[0, 0]]}")

static void nodes_have_the_keys_that_tvm_reads(void **state)
{
	struct graph g;

	(void)state;
	assert_int_equal(
		read_graph(NODE("{\"op\": \"tvm_op\", \"name\": \"y\", \"attr\": {\"num_outputs\": "
				"\"1\", \"num_inputs\": \"1\", \"flatten_data\": \"0\", "
				"\"func_name\": "
				"\"f\"}, \"control_deps\": [0], \"inputs\": [[0, 0]]}"),
			   &g),
		0);
	graph_fini(&g);
	refused(NODE("{\"op\": \"null\", \"name\": \"y\", \"inputs\": [], \"inputs\": []}"),
		-TENON_E_FORMAT, "key \"inputs\" has no place in a node");
	refused(NODE("{\"op\": \"null\", \"name\": \"y\"}"), -TENON_E_FORMAT,
		"a node without inputs");
	refused(NODE("{\"name\": \"y\", \"inputs\": []}"), -TENON_E_FORMAT, "a node without op");
	refused(NUMBERED("1"), -TENON_E_FORMAT, "num_inputs is no string");
	refused(NUMBERED("\"\""), -TENON_E_FORMAT, "num_inputs is \"\", want a number");
	refused(NUMBERED("\"4294967296\""), -TENON_E_FORMAT, "num_inputs is \"4294967296\"");
	refused(NUMBERED("\"1x\""), -TENON_E_FORMAT, "num_inputs is \"1x\"");
	refused(ONE(OP("[0, 0]"), "0", "[1, 0]", TWO_F32, "0, 1", "[4], [4]", "[]"),
		-TENON_E_FORMAT, "node_row_ptr");
	refused("{\"nodes\": [], \"arg_nodes\": [], \"heads\": [], \"attrs\": {" STORAGES
		"}, \"node_row_ptr\": 3}",
		-TENON_E_FORMAT, "\"node_row_ptr\"");
}

static void nops_copies_and_heads_are_checked(void **state)
{
	(void)state;
	refused(NODE(G_OP("y", "__nop", "0", "")), -TENON_E_FORMAT, "a __nop of 0 inputs");
	refused(NODE(G_OP("y", "__copy", "0", "")), -TENON_E_FORMAT, "a __copy of 0 inputs");
	refused(NODE(G_OP("y", "__copy", "2", "[0, 0], [0, 0]")), -TENON_E_FORMAT,
		"a __copy of 2 inputs");
	refused(ONE(G_OP("y", "__copy", "1", "[0, 0]"), "0", "[1, 0]", TWO_F32, "0, 1", "[4], [5]",
		    "0, 1, 2"),
		-TENON_E_VALUE, "a __copy of 16 bytes to 20");
	refused(G_GRAPH(G_IN("x"), "0", "[0, 0]", F32, "-1", "[4]", "0, 1"), -TENON_E_FORMAT,
		"head 0: entry 0 has no storage");
	refused(LISTS(F32 ", \"uint8\"", "0, 1", "[4], [9223372036854775807]", "0, 1, 2"),
		-TENON_E_OVERFLOW, "has a shape whose size does not fit");
}

static void two_storages_of_half_of_the_memory_are_refused(void **state)
{
	static const char text[] = LISTS("\"uint8\", \"uint8\"", "0, 1",
					 "[4611686018427387903], [4611686018427387903]", "0, 1, 2");
	struct tenon_module *lib = make_library();
	struct tenon_model *model;

	(void)state;
	assert_int_equal(open_text(lib, text, NULL, &model), -TENON_E_OVERFLOW);
	assert_error_has("storage 1 of 4611686018427387903 bytes: all together do not fit");
	tenon_object_unref(lib);
}

/* ---- every byte edited or cut */

static void try_text(struct tenon_module *lib, const char *text, size_t size)
{
	/* exactly as many bytes as are to be read, so that a read behind the end is seen */
	char *bytes = malloc(size ? size : 1);
	struct tenon_model_options o = { .size = sizeof(o), .describe = true };
	struct tenon_model *model = NULL;
	struct tenon_op op;

	(void)op;
	memcpy(bytes, text, size);
	if (!tenon_model_open_graph(lib, (struct tenon_slice){ bytes, size }, NULL, &o, &model)) {
		assert_true(tenon_model_input_count(model) < 100);
		tenon_model_close(model);
	} else {
		assert_true(strlen(tenon_error_message()) > 5);
		tenon_error_clear();
	}
	free(bytes);
}

static void a_graph_cut_anywhere_is_refused(void **state)
{
	struct tenon_module *lib = make_library();
	struct graph g;
	size_t i;

	(void)state;
	for (i = 0; i + 1 < sizeof(CHAIN); i++) {
		char *bytes = malloc(i ? i : 1);

		memcpy(bytes, CHAIN, i);
		assert_true(graph_read((struct tenon_slice){ bytes, i }, "graph.json", &g) < 0);
		assert_true(strlen(tenon_error_message()) > 5);
		tenon_error_clear();
		free(bytes);
	}
	tenon_object_unref(lib);
}

static void every_edit_of_a_byte_is_read_or_refused_in_words(void **state)
{
	static const char replaced[] = "\0 \"\\,:{}[]09-tnx\xff";
	struct tenon_module *lib = make_library();
	char text[] = CHAIN;
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(text) - 1; i++) {
		char was = text[i];

		for (k = 0; k < sizeof(replaced) - 1; k++) {
			text[i] = replaced[k];
			try_text(lib, text, sizeof(text) - 1);
		}
		text[i] = (char)(was ^ 1);
		try_text(lib, text, sizeof(text) - 1);
		text[i] = was;
	}
	tenon_object_unref(lib);
}

static void deep_nesting_costs_neither_stack_nor_time(void **state)
{
	size_t depth = 200000, i;
	char *text = malloc(2 * depth + 64);
	struct graph g;

	(void)state;
	strcpy(text, "{\"nodes\": ");
	for (i = 0; i < depth; i++)
		text[10 + i] = '[';
	for (i = 0; i < depth; i++)
		text[10 + depth + i] = ']';
	strcpy(text + 10 + 2 * depth, "}");
	assert_int_equal(read_graph(text, &g), -TENON_E_FORMAT);
	assert_error_has("more than 64 arrays and objects inside each other");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_graph_is_read_with_all_it_says),
		cmocka_unit_test(a_storage_is_as_large_as_its_largest_entry),
		cmocka_unit_test(keys_come_in_any_order_and_metadata_ends_the_graph),
		cmocka_unit_test(memory_of_another_scope_is_refused),
		cmocka_unit_test(what_is_no_json_is_refused_with_its_place),
		cmocka_unit_test(nodes_are_checked),
		cmocka_unit_test(cycles_and_forward_references_are_refused),
		cmocka_unit_test(lists_must_have_an_item_for_each_entry),
		cmocka_unit_test(a_dtype_that_no_tensor_has_is_refused),
		cmocka_unit_test(lanes_of_bools_have_a_byte_each),
		cmocka_unit_test(sizes_that_do_not_fit_are_refused),
		cmocka_unit_test(storages_that_together_exceed_memory_are_refused),
		cmocka_unit_test(attributes_have_the_form_that_tvm_reads),
		cmocka_unit_test(nodes_have_the_keys_that_tvm_reads),
		cmocka_unit_test(nops_copies_and_heads_are_checked),
		cmocka_unit_test(two_storages_of_half_of_the_memory_are_refused),
		cmocka_unit_test(a_graph_cut_anywhere_is_refused),
		cmocka_unit_test(every_edit_of_a_byte_is_read_or_refused_in_words),
		cmocka_unit_test(deep_nesting_costs_neither_stack_nor_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
