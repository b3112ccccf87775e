/* SPDX-License-Identifier: MIT */
/* What tenon inspect prints: of a tree made by hand, to the letter; of files that TVM exported, in part. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <tenon/backend/module_kind.h>
#include <tenon/tenon.h>

#include "link/inspection.h"
#include "tests/unit/cli_run.h"
#include "tools/inspect/inspect.h"

#define DATA "tests/interop/data/"

/* ---- modules that show what they are told to */

struct shown {
	const char *name;
	const char *text; /* NULL for a number */
	int64_t number;
};

struct test_module {
	struct tenon_module base;
	const struct shown *fields;
	const char *const *functions; /* ends with NULL */
	bool kernels;
};

static int show_lists(const struct test_module *t, const struct tenon_visitor *v)
{
	struct tenon_value names[8], launches[8], args[2], tags[1], pairs[4], list;
	struct tenon_array *array, *arg_array, *tag_array;
	struct tenon_map *map;
	size_t count = 0;
	int err;

	args[0] = tenon_arg_string("handle");
	args[1] = tenon_arg_string("int32");
	tags[0] = tenon_arg_string("blockIdx.x");
	assert_int_equal(tenon_array_create(args, 2, &arg_array), 0);
	assert_int_equal(tenon_array_create(tags, 1, &tag_array), 0);
	pairs[0] = tenon_arg_string("args");
	pairs[1] = tenon_arg_object(arg_array);
	pairs[2] = tenon_arg_string("tags");
	pairs[3] = tenon_arg_object(tag_array);
	assert_int_equal(tenon_map_create(pairs, 2, &map), 0);
	for (; t->functions[count]; count++) {
		names[count] = tenon_arg_string(t->functions[count]);
		launches[count] = tenon_arg_object(map);
	}
	assert_int_equal(tenon_array_create(names, count, &array), 0);
	list = tenon_arg_object(array);
	err = v->field(v->context, "functions", &list);
	tenon_object_unref(array);
	if (!err && t->kernels) {
		assert_int_equal(tenon_array_create(launches, count, &array), 0);
		list = tenon_arg_object(array);
		err = v->field(v->context, "launch", &list);
		tenon_object_unref(array);
	}
	tenon_object_unref(map);
	tenon_object_unref(arg_array);
	tenon_object_unref(tag_array);
	return err;
}

static int test_visit(const struct tenon_module *m, const struct tenon_visitor *v)
{
	const struct test_module *t = (const struct test_module *)m;
	int err = 0;

	for (const struct shown *f = t->fields; !err && f->name; f++) {
		struct tenon_value value =
			f->text ? tenon_arg_string(f->text) : tenon_arg_int(f->number);

		err = v->field(v->context, f->name, &value);
	}
	return err || !t->functions ? err : show_lists(t, v);
}

static const struct tenon_module_ops test_ops = { .visit = test_visit };

static struct tenon_module *module_of(const char *kind, const struct shown *fields,
				      const char *const *functions, bool kernels)
{
	struct test_module *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	t->fields = fields;
	t->functions = functions;
	t->kernels = kernels;
	tenon_module_init(&t->base, &test_ops, tenon_slice_of(kind), 0);
	return &t->base;
}

static void import(struct tenon_module *m, struct tenon_module *child)
{
	assert_int_equal(tenon_module_import(m, child), 0);
	tenon_object_unref(child);
}

static const char *const host_names[] = { "one", "two", NULL };
static const char *const kernel_names[] = { "one_kernel", NULL };
static const struct shown graph[] = {
	{ "name", "default", 0 },
	{ "nodes", NULL, 12 },
	{ "parameters", NULL, 9 },
	{ "size", NULL, 1126 },
	{ "parameter_bytes", NULL, 626688 },
	{ 0 },
};
static const struct shown host[] = { { "machine", "x86-64", 0 },
				     { "generation", "legacy", 0 },
				     { "tvm", "0.8 to 0.20", 0 },
				     { "size", NULL, 1258291 },
				     { 0 } };
static const struct shown opencl[] = { { "format", "cl", 0 },	      { "size", NULL, 18432 },
				       { "offset", NULL, 0x4a1c0 },   { "loader", "missing", 0 },
				       { "remedy", "Enable it.", 0 }, { 0 } };
static const struct shown cuda[] = { { "format", "ptx", 0 },	     { "size", NULL, 1 },
				     { "offset", NULL, 0 },	     { "loader", "ready", 0 },
				     { "fault", "at 0x10: cut", 0 }, { 0 } };

/* GraphExecutorFactory ─ library ┬ opencl ─ opencl
 *                                └ cuda          */
static struct tenon_module *tree(void)
{
	struct tenon_module *root = module_of("GraphExecutorFactory", graph, NULL, false);
	struct tenon_module *library = module_of("library", host, host_names, false);
	struct tenon_module *cl = module_of("opencl", opencl, kernel_names, true);

	import(cl, module_of("opencl", opencl, kernel_names, true));
	import(library, cl);
	import(library, module_of("cu\033da", cuda, kernel_names, true));
	import(root, library);
	return root;
}

static char *printed(bool functions, bool dot)
{
	struct tenon_module *root = tree();
	struct inspection *n;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(inspection_make(root, &n), 0);
	n->result.file_size = 1258291;
	if (dot)
		inspect_dot(&n->result, "r\"18.so", out);
	else
		inspect_text(&n->result, "r\"18.so", functions, out);
	fclose(out);
	tenon_link_inspection_free(&n->result);
	tenon_object_unref(root);
	return text;
}

static void a_tree_is_printed_in_columns(void **state)
{
	char *text = printed(false, false);

	(void)state;
	assert_string_equal(
		text, "r\"18.so   ELF x86-64, TVM 0.8 to 0.20, 5 modules, 1.2 MiB\n"
		      "  GraphExecutorFactory  \"default\"  12 nodes, 9 parameters (612 KiB)\n"
		      "  └─ library            host       2 functions\n"
		      "     ├─ opencl          cl source  1 kernel, 18 KiB at 0x4a1c0       "
		      "loader: missing\n"
		      "     │  └─ opencl       cl source  1 kernel, 18 KiB at 0x4a1c0       "
		      "loader: missing\n"
		      "     └─ cu?da           ptx        1 kernel, 1 byte at 0x0           "
		      "loader: ready\n"
		      "no loader for opencl: Enable it.\n"
		      "cu?da: cannot be read: at 0x10: cut\n");
	free(text);
}

static void functions_stand_below_their_module(void **state)
{
	char *text = printed(true, false);

	(void)state;
	assert_non_null(strstr(text, "2 functions\n"
				     "     │    one\n"
				     "     │    two\n"
				     "     ├─ opencl "));
	assert_non_null(strstr(text, "     │  │    one_kernel(handle, int32)  blockIdx.x\n"
				     "     │  └─ opencl "));
	assert_non_null(strstr(text, "     │          one_kernel(handle, int32)  blockIdx.x\n"
				     "     └─ cu?da "));
	assert_non_null(
		strstr(text, "\n             one_kernel(handle, int32)  blockIdx.x\nno loader"));
	free(text);
}

static void a_graph_has_a_box_for_every_module(void **state)
{
	char *text = printed(false, true);

	(void)state;
	assert_string_equal(
		text,
		"digraph modules {\n"
		"\tlabel=\"r\\\"18.so\";\n"
		"\tnode [shape=box, fontname=\"sans-serif\"];\n"
		"\tm0 [label=\"GraphExecutorFactory\\n\\\"default\\\"\\n12 nodes, 9 parameters "
		"(612 "
		"KiB)\"];\n"
		"\tm1 [label=\"library\\nhost\\n2 functions\"];\n"
		"\tm0 -> m1;\n"
		"\tm2 [label=\"opencl\\ncl source\\n1 kernel, 18 KiB at 0x4a1c0\", style=dashed];\n"
		"\tm1 -> m2;\n"
		"\tm3 [label=\"opencl\\ncl source\\n1 kernel, 18 KiB at 0x4a1c0\", style=dashed];\n"
		"\tm2 -> m3;\n"
		"\tm4 [label=\"cu?da\\nptx\\n1 kernel, 1 byte at 0x0\"];\n"
		"\tm1 -> m4;\n"
		"}\n");
	free(text);
}

/* ---- files */

static void a_file_of_tvm_0_18_is_listed(void **state)
{
	struct cli_run r = RUN("inspect", DATA "tvm-0.18/opencl_multi/lib.so", "--functions");

	(void)state;
	assert_string_equal(r.err, "");
	assert_int_equal(r.code, CLI_OK);
	assert_non_null(strstr(r.out, "ELF x86-64, "));
	assert_non_null(strstr(r.out, ", 2 modules, "));
	assert_non_null(strstr(r.out, "  library "));
	assert_non_null(strstr(r.out, " host  "));
	assert_non_null(strstr(r.out, " 3 functions\n"));
	assert_non_null(strstr(r.out, "  └─ opencl  cl source  4 kernels, 3"));
	assert_non_null(strstr(r.out, "   transpose_zy_kernel(handle, handle)  blockIdx.z "
				      "blockIdx.y threadIdx.z\n"));
	cli_run_free(&r);
}

static void what_is_no_module_cannot_be_listed(void **state)
{
	(void)state;
	assert_refused(RUN("inspect", "/nowhere.so"), CLI_NO_FILE,
		       "/nowhere.so: No such file or directory");
	assert_refused(RUN("inspect", "LICENSE"), CLI_NO_FILE, "LICENSE: not an ELF file");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tree_is_printed_in_columns),
		cmocka_unit_test(functions_stand_below_their_module),
		cmocka_unit_test(a_graph_has_a_box_for_every_module),
		cmocka_unit_test(a_file_of_tvm_0_18_is_listed),
		cmocka_unit_test(what_is_no_module_cannot_be_listed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
