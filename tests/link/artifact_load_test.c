/* SPDX-License-Identifier: MIT */
/* Sets of artifacts that are loaded from memory. */
#include "tests/unit/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/artifact.h>
#include <tenon/backend/module_kind.h>

static int loads; /* order in which artifacts were loaded */

struct made {
	struct tenon_module base;
	const char *name;
	int number;
};

static int call_made(void *self, const struct tenon_value *args, int32_t count,
		     struct tenon_value *ret)
{
	(void)args;
	(void)count;
	*ret = tenon_arg_int(((struct made *)self)->number);
	return 0;
}

static int get_function(struct tenon_module *m, struct tenon_slice name,
			struct tenon_function **out)
{
	*out = NULL;
	if (!tenon_slice_equal(name, tenon_slice_of("order")) &&
	    !tenon_slice_equal(name, tenon_slice_of(((struct made *)m)->name)))
		return 0;
	tenon_object_ref(m);
	return tenon_function_create(m, call_made, tenon_object_unref, out);
}

static const struct tenon_module_ops ops = { .get_function = get_function };

static int make(void *context, struct tenon_module **out)
{
	struct made *m = calloc(1, sizeof(*m));

	assert_non_null(m);
	tenon_module_init(&m->base, &ops, tenon_slice_of("made"), TENON_MODULE_RUNNABLE);
	m->name = context;
	m->number = loads++;
	*out = &m->base;
	return 0;
}

static int make_nothing(void *context, struct tenon_module **out)
{
	(void)context;
	(void)out;
	return tenon_error(-TENON_E_CALL, "the generator has no code");
}

static int64_t number_of(struct tenon_module *m, const char *name)
{
	struct tenon_value ret = tenon_arg_none();
	struct tenon_function *f;

	assert_int_equal(tenon_module_find_function(m, tenon_slice_of(name), true, &f), 0);
	if (!f)
		return -1;
	assert_int_equal(tenon_call(f, &ret), 0);
	tenon_object_unref(f);
	return ret.as.integer;
}

static struct tenon_artifact artifact(const char *loader, const char *key, const char *file)
{
	return (struct tenon_artifact){ .codegen_id = "test",
					.loader = loader,
					.target_key = key,
					.file_name = file,
					.load = make,
					.context = (void *)(uintptr_t)file };
}

static void a_set_is_loaded_group_by_group(void **state)
{
	const struct tenon_artifact items[] = {
		artifact("opencl", "b", "two"),		artifact("opencl", "a", "one"),
		artifact("native", "host", "code"),	artifact("cuda", NULL, "ptx"),
		artifact("const_loader", NULL, "data"),
	};
	struct tenon_module *m, *code;

	(void)state;
	loads = 0;
	assert_int_equal(tenon_artifacts_load(items, 5, NULL, 0, &m), 0);
	assert_int_equal(tenon_module_import_count(m), 4);
	assert_int_equal(number_of(m, "data"), 0);
	assert_int_equal(number_of(m, "code"), 1);
	assert_int_equal(number_of(m, "ptx"), 2);
	assert_int_equal(number_of(m, "one"), 3);
	assert_int_equal(number_of(m, "two"), 4);
	/* constants are the root, and the code of the host is next */
	assert_int_equal(number_of(m, "order"), 0);
	code = tenon_module_import_at(m, 0);
	assert_int_equal(number_of(code, "order"), 1);
	assert_int_equal(tenon_module_import_count(code), 3);
	tenon_object_unref(m);

	loads = 0;
	assert_int_equal(tenon_artifacts_load(items, 4, NULL, 0, &m), 0);
	assert_int_equal(tenon_module_import_count(m), 3);
	/* without constants that code is the root */
	assert_int_equal(number_of(m, "order"), 0);
	tenon_object_unref(m);
}

static void a_key_names_one_of_several_functions(void **state)
{
	const struct tenon_artifact items[] = { artifact("native", NULL, "code"),
						artifact("npu", "left", "l"),
						artifact("npu", "right", "r") };
	struct tenon_module *m;

	(void)state;
	loads = 0;
	assert_int_equal(tenon_artifacts_load(items, 3, NULL, 0, &m), 0);
	assert_int_equal(number_of(m, "left:order"), 1);
	assert_int_equal(number_of(m, "right:order"), 2);
	assert_int_equal(number_of(m, "middle:order"), -1);
	tenon_object_unref(m);
}

static void without_host_code_the_first_is_the_root(void **state)
{
	const struct tenon_artifact items[] = { artifact("npu", NULL, "b"),
						artifact("npu", NULL, "a") };
	struct tenon_module *m;

	(void)state;
	loads = 0;
	assert_int_equal(tenon_artifacts_load(items, 2, NULL, 0, &m), 0);
	assert_int_equal(number_of(m, "a"), 0);
	assert_int_equal(number_of(m, "order"), 0);
	assert_int_equal(tenon_module_import_count(m), 1);
	tenon_object_unref(m);
}

static void refused(const struct tenon_artifact *items, size_t count,
		    const struct tenon_target *targets, size_t target_count, int status,
		    const char *words)
{
	struct tenon_module *m;

	assert_int_equal(tenon_artifacts_load(items, count, targets, target_count, &m), status);
	assert_null(m);
	if (!strstr(tenon_error_message(), words))
		fail_msg("\"%s\" does not say \"%s\"", tenon_error_message(), words);
	tenon_error_clear();
}

static void bad_sets_are_refused(void **state)
{
	struct tenon_artifact items[] = { artifact("npu", NULL, "a"), artifact("npu", "k", "b") };
	const struct tenon_target target = { "other", "opencl:0" };

	(void)state;
	refused(items, 0, NULL, 0, -TENON_E_VALUE, "no artifacts");
	refused(items, 2, &target, 1, -TENON_E_NOT_FOUND, "\"other\"");
	items[1].file_name = "a";
	refused(items, 2, NULL, 0, -TENON_E_EXISTS, "\"a\"");
	items[1].file_name = "b";
	items[1].load = make_nothing;
	refused(items, 2, NULL, 0, -TENON_E_CALL, "b: the generator has no code");
	items[1].load = NULL;
	refused(items, 2, NULL, 0, -TENON_E_NO_LOADER, "npu");
	items[1].loader = "native";
	items[1].content = tenon_slice_of("text, and no shared object");
	refused(items, 2, NULL, 0, -TENON_E_FORMAT, "b: ");
	items[1].loader = NULL;
	refused(items, 2, NULL, 0, -TENON_E_VALUE, "artifact 1");
}

#ifdef __x86_64__
/* A shared object of TVM's as a set of its own, with the function @name. */
static struct tenon_module *load_native(const char *file, const char *name)
{
	const char *source = getenv("TENON_SOURCE");
	struct tenon_artifact a = { .loader = "native", .file_name = file };
	struct tenon_function *f = NULL;
	struct tenon_module *m = NULL;
	static char bytes[1 << 20];
	char path[600];
	FILE *in;

	snprintf(path, sizeof(path), "%s/tests/interop/data/tvm-0.27.0.post1/c_host/%s",
		 source ? source : ".", file);
	in = fopen(path, "rb");
	assert_non_null(in);
	a.content = (struct tenon_slice){ bytes, fread(bytes, 1, sizeof(bytes), in) };
	fclose(in);
	if (tenon_artifacts_load(&a, 1, NULL, 0, &m))
		fail_msg("%s", tenon_error_message());
	assert_int_equal(tenon_module_find_function(m, tenon_slice_of(name), true, &f), 0);
	assert_non_null(f);
	tenon_object_unref(f);
	return m;
}
#endif

static void host_code_of_two_sets_stays_apart(void **state)
{
	(void)state;
#ifdef __x86_64__
	struct tenon_module *first = load_native("lib.so", "vecadd_c");
	struct tenon_module *second = load_native("work.so", "sq_mirror_c");

	assert_ptr_not_equal(first, second);
	tenon_object_unref(second);
	tenon_object_unref(first);
#else
	print_message("skip: the libraries are for x86-64\n");
	skip();
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_set_is_loaded_group_by_group),
		cmocka_unit_test(a_key_names_one_of_several_functions),
		cmocka_unit_test(without_host_code_the_first_is_the_root),
		cmocka_unit_test(bad_sets_are_refused),
		cmocka_unit_test(host_code_of_two_sets_stays_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
