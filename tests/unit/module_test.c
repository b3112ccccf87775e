/* SPDX-License-Identifier: MIT */
/* Modules and their imports: lookups, cycles, and names that are near. */
#include "tests/unit/suite.h"

#include <stdio.h>
#include <stdlib.h>

#include <tenon/backend/module_kind.h>

/* A module that answers to one name with its own number. */
struct numbered {
	struct tenon_module base;
	char name[24];
	int64_t number;
	int asked;
};

static int alive;

static int give_number(void *self, const struct tenon_value *args, int32_t count,
		       struct tenon_value *ret)
{
	(void)args;
	(void)count;
	*ret = tenon_arg_int(((struct numbered *)self)->number);
	return 0;
}

static void drop_module(void *self)
{
	tenon_object_unref(self);
}

static int numbered_get_function(struct tenon_module *m, struct tenon_slice name,
				 struct tenon_function **out)
{
	struct numbered *n = (struct numbered *)m;

	*out = NULL;
	n->asked++;
	if (!tenon_slice_equal(name, tenon_slice_of(n->name)))
		return 0;
	tenon_object_ref(m);
	return tenon_function_create(m, give_number, drop_module, out);
}

static int numbered_each_function(struct tenon_module *m,
				  int (*visit)(void *context, struct tenon_slice name),
				  void *context)
{
	return visit(context, tenon_slice_of(((struct numbered *)m)->name));
}

static void numbered_destroy(struct tenon_module *m)
{
	(void)m;
	alive--;
}

static const struct tenon_module_ops listed_ops = {
	.get_function = numbered_get_function,
	.each_function = numbered_each_function,
	.destroy = numbered_destroy,
};

static const struct tenon_module_ops closed_ops = {
	.get_function = numbered_get_function,
	.destroy = numbered_destroy,
};

static int unread_each_function(struct tenon_module *m,
				int (*visit)(void *context, struct tenon_slice name), void *context)
{
	(void)visit;
	(void)context;
	return tenon_error(-TENON_E_FORMAT, "table of %s", ((struct numbered *)m)->name);
}

static int unread_get_function(struct tenon_module *m, struct tenon_slice name,
			       struct tenon_function **out)
{
	(void)name;
	*out = NULL;
	return unread_each_function(m, NULL, NULL);
}

static const struct tenon_module_ops unread_ops = {
	.get_function = unread_get_function,
	.each_function = unread_each_function,
	.destroy = numbered_destroy,
};

static struct numbered *numbered_new(const struct tenon_module_ops *ops, const char *name,
				     int64_t number)
{
	struct numbered *n = calloc(1, sizeof(*n));

	tenon_module_init(&n->base, ops, tenon_slice_of("numbered"), TENON_MODULE_RUNNABLE);
	snprintf(n->name, sizeof(n->name), "%s", name);
	n->number = number;
	alive++;
	return n;
}

static int64_t call_number(struct numbered *root, const char *name)
{
	struct tenon_value ret = tenon_arg_none();
	struct tenon_function *f;

	assert_int_equal(tenon_module_get_function(&root->base, name, &f), 0);
	assert_int_equal(tenon_call(f, &ret), 0);
	tenon_object_unref(f);
	return ret.as.integer;
}

static void import_and_drop(struct numbered *m, struct numbered *child)
{
	assert_int_equal(tenon_module_import(&m->base, &child->base), 0);
	tenon_object_unref(child);
}

static void a_lookup_goes_depth_first_and_asks_the_module_itself_first(void **state)
{
	struct numbered *root = numbered_new(&listed_ops, "f", 1);
	struct numbered *a = numbered_new(&listed_ops, "g", 2);
	struct numbered *b = numbered_new(&listed_ops, "h", 3);
	struct numbered *deep = numbered_new(&listed_ops, "h", 4);

	(void)state;
	import_and_drop(root, a);
	import_and_drop(a, deep);
	import_and_drop(root, b);
	assert_int_equal(call_number(root, "f"), 1);
	assert_int_equal(call_number(root, "g"), 2);
	assert_int_equal(call_number(root, "h"), 4);
	tenon_object_unref(root);
	assert_int_equal(alive, 0);
}

static void a_module_that_lists_no_names_keeps_its_place_in_the_order(void **state)
{
	struct numbered *root = numbered_new(&listed_ops, "f", 1);
	struct numbered *closed = numbered_new(&closed_ops, "g", 2);
	struct numbered *listed = numbered_new(&listed_ops, "g", 3);
	struct numbered *last = numbered_new(&closed_ops, "k", 4);

	(void)state;
	import_and_drop(root, closed);
	import_and_drop(root, listed);
	import_and_drop(root, last);
	assert_int_equal(call_number(root, "g"), 2);
	assert_int_equal(call_number(root, "k"), 4);
	tenon_object_unref(root);
	assert_int_equal(alive, 0);
}

static void names_that_cannot_be_read_fail_only_a_lookup_that_finds_nothing(void **state)
{
	struct numbered *root = numbered_new(&listed_ops, "f", 1);
	struct tenon_function *f;

	(void)state;
	import_and_drop(root, numbered_new(&unread_ops, "first", 2));
	import_and_drop(root, numbered_new(&listed_ops, "g", 3));
	import_and_drop(root, numbered_new(&unread_ops, "last", 4));
	import_and_drop(root, numbered_new(&closed_ops, "k", 5));
	assert_int_equal(call_number(root, "g"), 3);
	assert_int_equal(call_number(root, "k"), 5);
	assert_int_equal(tenon_error_status(), 0);
	assert_int_equal(tenon_module_get_function(&root->base, "h", &f), -TENON_E_FORMAT);
	assert_string_equal(tenon_error_message(), "table of first");
	assert_null(f);
	tenon_object_unref(root);
	assert_int_equal(alive, 0);
}

static void the_thousandth_import_is_the_only_one_asked(void **state)
{
	struct numbered *root = numbered_new(&listed_ops, "root", 0), *m[1000];
	char name[24];
	int i, asked = 0;

	(void)state;
	for (i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "kernel_%d", i);
		m[i] = numbered_new(&listed_ops, name, i);
		import_and_drop(root, m[i]);
	}
	assert_int_equal(call_number(root, "kernel_999"), 999);
	for (i = 0; i < 1000; i++)
		asked += m[i]->asked;
	assert_int_equal(asked, 1);
	tenon_object_unref(root);
	assert_int_equal(alive, 0);
}

static void an_import_added_later_is_found(void **state)
{
	struct numbered *root = numbered_new(&listed_ops, "f", 1);
	struct numbered *a = numbered_new(&listed_ops, "g", 2);
	struct numbered *b = numbered_new(&listed_ops, "h", 3);
	struct tenon_function *f;

	(void)state;
	import_and_drop(root, a);
	assert_int_equal(call_number(root, "g"), 2);
	import_and_drop(a, b);
	assert_int_equal(call_number(root, "h"), 3);
	tenon_module_clear_imports(&root->base);
	assert_int_equal(tenon_module_get_function(&root->base, "h", &f), -TENON_E_NOT_FOUND);
	tenon_error_clear();
	tenon_object_unref(root);
	assert_int_equal(alive, 0);
}

static void a_cycle_is_refused_however_long(void **state)
{
	struct numbered *a = numbered_new(&listed_ops, "a", 1);
	struct numbered *b = numbered_new(&listed_ops, "b", 2);
	struct numbered *c = numbered_new(&listed_ops, "c", 3);

	(void)state;
	assert_int_equal(tenon_module_import(&a->base, &a->base), -TENON_E_CYCLE);
	assert_error(
		"module \"numbered\" cannot import \"numbered\", which imports it: they are one");
	assert_int_equal(tenon_module_import(&a->base, &b->base), 0);
	assert_int_equal(tenon_module_import(&b->base, &c->base), 0);
	assert_int_equal(tenon_module_import(&c->base, &a->base), -TENON_E_CYCLE);
	assert_error("module \"numbered\" cannot import \"numbered\", which imports it");
	tenon_object_unref(a);
	tenon_object_unref(b);
	tenon_object_unref(c);
	assert_int_equal(alive, 0);
}

static void a_missing_function_names_the_nearest(void **state)
{
	struct numbered *root = numbered_new(&listed_ops, "vecadd", 1);
	struct numbered *child = numbered_new(&listed_ops, "matmul", 2);
	struct tenon_function *f;

	(void)state;
	import_and_drop(root, child);
	assert_int_equal(tenon_module_get_function(&root->base, "vec_add", &f), -TENON_E_NOT_FOUND);
	assert_null(f);
	assert_error("no function \"vec_add\" in module \"numbered\" and its 1 import. "
		     "Nearest: \"vecadd\".");
	assert_int_equal(tenon_module_get_function(&root->base, "qqqqqq", &f), -TENON_E_NOT_FOUND);
	assert_error("no function \"qqqqqq\" in module \"numbered\" and its 1 import. "
		     "It lists 2 functions.");
	tenon_object_unref(root);
}

/* A payload without a loader: it cannot run, and does not list what it has. */
static int no_names(struct tenon_module *m, int (*visit)(void *context, struct tenon_slice name),
		    void *context)
{
	(void)m;
	(void)visit;
	(void)context;
	return 0;
}

static void a_missing_function_names_the_missing_loader(void **state)
{
	static const struct tenon_module_ops unlisted = { .get_function = numbered_get_function,
							  .each_function = no_names,
							  .destroy = numbered_destroy };
	struct numbered *root = numbered_new(&listed_ops, "vecadd", 1);
	struct numbered *child = numbered_new(&unlisted, "", 2);
	struct tenon_function *f;

	(void)state;
	child->base.kind = tenon_slice_of("firmware");
	child->base.properties = 0;
	import_and_drop(root, child);
	assert_int_equal(tenon_module_get_function(&root->base, "run", &f), -TENON_E_NOT_FOUND);
	assert_error_has("No loader for \"firmware\"");
	child->base.properties = TENON_MODULE_RUNNABLE;
	assert_int_equal(tenon_module_get_function(&root->base, "run", &f), -TENON_E_NOT_FOUND);
	assert_null(strstr(tenon_error_message(), "loader"));
	tenon_object_unref(root);
}

static void a_function_outlives_the_root_it_came_from(void **state)
{
	struct numbered *root = numbered_new(&listed_ops, "f", 1);
	struct numbered *child = numbered_new(&listed_ops, "g", 7);
	struct tenon_value ret = tenon_arg_none();
	struct tenon_function *g;

	(void)state;
	import_and_drop(root, child);
	tenon_module_get_function(&root->base, "g", &g);
	tenon_object_unref(root);
	assert_int_equal(alive, 1);
	assert_int_equal(tenon_call(g, &ret), 0);
	assert_int_equal(ret.as.integer, 7);
	tenon_object_unref(g);
	assert_int_equal(alive, 0);
}

static void a_chain_of_a_hundred_thousand_imports_is_dropped(void **state)
{
	struct numbered *root = numbered_new(&listed_ops, "root", 0), *m = root, *next;
	struct tenon_function *f;
	int i;

	(void)state;
	for (i = 1; i < 100000; i++) {
		next = numbered_new(&listed_ops, i == 99999 ? "last" : "x", i);
		import_and_drop(m, next);
		m = next;
	}
	assert_int_equal(call_number(root, "last"), 99999);
	assert_int_equal(tenon_module_find_function(&root->base, tenon_slice_of("y"), true, &f), 0);
	assert_null(f);
	tenon_object_unref(root);
	assert_int_equal(alive, 0);
}

static void what_a_kind_does_not_offer_is_said(void **state)
{
	struct numbered *m = numbered_new(&closed_ops, "f", 1);
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct tenon_value v;

	(void)state;
	assert_int_equal(tenon_module_save(&m->base, &b), -TENON_E_UNSUPPORTED);
	assert_error("a module of kind \"numbered\" cannot be written as bytes");
	assert_int_equal(tenon_module_source(&m->base, "", &v), -TENON_E_UNSUPPORTED);
	assert_error("a module of kind \"numbered\" has no source text");
	assert_int_equal(tenon_module_write(&m->base, "/x", ""), -TENON_E_UNSUPPORTED);
	assert_error("a module of kind \"numbered\" cannot be written to a file");
	tenon_object_unref(m);
}

static void stays(struct tenon_module *m)
{
	(void)m;
}

/* another module may lie where one was: the index must not take the one for the other */
static void an_import_in_the_place_of_a_dead_one_is_looked_up_anew(void **state)
{
	static const struct tenon_module_ops ops = {
		.get_function = numbered_get_function,
		.each_function = numbered_each_function,
		.destroy = numbered_destroy,
		.free = stays,
	};
	struct numbered *root = numbered_new(&listed_ops, "root", 1);
	struct numbered *between = numbered_new(&listed_ops, "between", 2);
	static struct numbered place;
	int i;

	(void)state;
	tenon_module_import(&root->base, &between->base);
	for (i = 0; i < 6; i++) {
		struct numbered *importer = i < 3 ? root : between;

		memset(&place, 0, sizeof(place));
		tenon_module_init(&place.base, &ops, tenon_slice_of("numbered"),
				  TENON_MODULE_RUNNABLE);
		snprintf(place.name, sizeof(place.name), "name %d", i);
		place.number = 10 + i;
		alive++;
		tenon_module_import(&importer->base, &place.base);
		tenon_object_unref(&place);
		assert_int_equal(call_number(root, place.name), 10 + i);
		tenon_module_clear_imports(&importer->base);
		if (importer == root)
			tenon_module_import(&root->base, &between->base);
	}
	tenon_object_unref(between);
	tenon_object_unref(root);
	assert_int_equal(alive, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lookup_goes_depth_first_and_asks_the_module_itself_first),
		cmocka_unit_test(a_module_that_lists_no_names_keeps_its_place_in_the_order),
		cmocka_unit_test(names_that_cannot_be_read_fail_only_a_lookup_that_finds_nothing),
		cmocka_unit_test(the_thousandth_import_is_the_only_one_asked),
		cmocka_unit_test(an_import_added_later_is_found),
		cmocka_unit_test(a_cycle_is_refused_however_long),
		cmocka_unit_test(a_missing_function_names_the_nearest),
		cmocka_unit_test(a_missing_function_names_the_missing_loader),
		cmocka_unit_test(a_function_outlives_the_root_it_came_from),
		cmocka_unit_test(a_chain_of_a_hundred_thousand_imports_is_dropped),
		cmocka_unit_test(what_a_kind_does_not_offer_is_said),
		cmocka_unit_test(an_import_in_the_place_of_a_dead_one_is_looked_up_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
