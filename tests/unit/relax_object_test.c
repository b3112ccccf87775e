/* SPDX-License-Identifier: MIT */
/* Objects of a machine: what a weak reference keeps of them, and what a machine keeps of a program's parts. */
#include "tests/unit/one_builtin.h"

#include "runtime/relax/relax_builtin.h"

static struct relax_vm *vm, *outer;

/* A machine whose thread this is, and which calls builtins as a program would. */
static int enter(void **state)
{
	struct assembly a = ASSEMBLY_INIT;

	(void)state;
	assemble_function(&a, "main", 1, 1);
	assemble_ret(&a, 0);
	vm = machine_of(&a);
	return relax_enter(vm, &outer);
}

static int leave(void **state)
{
	(void)state;
	relax_leave(vm, outer);
	tenon_object_unref(vm);
	return 0;
}

#define MADE(builtin, ...)                                                                         \
	made(relax_builtin_##builtin, (const struct tenon_value[]){ __VA_ARGS__ },                 \
	     (int32_t)(sizeof((const struct tenon_value[]){ __VA_ARGS__ }) /                       \
		       sizeof(struct tenon_value)))

static struct tenon_value made(tenon_call_fn builtin, const struct tenon_value *args, int32_t count)
{
	struct tenon_value ret;

	if (builtin(NULL, args, count, &ret))
		fail_msg("%s", tenon_error_message());
	return ret;
}

static struct tenon_value new_storage(void)
{
	static const int64_t bytes = 64;
	struct tenon_shape *s = shape_of(&bytes, 1);
	struct tenon_value ret = MADE(alloc_storage, tenon_arg_pointer(vm), tenon_arg_object(s),
				      tenon_arg_int(0), tenon_arg_string("uint8"));

	tenon_object_unref(s);
	return ret;
}

static struct tenon_value new_tensor(void)
{
	static const int64_t extent = 4;
	struct tenon_shape *s = shape_of(&extent, 1);
	struct tenon_value storage = new_storage();
	struct tenon_value ret = MADE(alloc_tensor, storage, tenon_arg_int(0), tenon_arg_object(s),
				      tenon_arg_string("float32"));

	tenon_value_release(&storage);
	tenon_object_unref(s);
	return ret;
}

static struct tenon_value new_shape(void)
{
	struct tenon_value t = new_tensor(), ret = MADE(shape_of, t);

	tenon_value_release(&t);
	return ret;
}

static struct tenon_value new_tuple(void)
{
	struct tenon_value t = new_tensor(), ret = MADE(make_tuple, t, t);

	tenon_value_release(&t);
	return ret;
}

static struct tenon_value new_closure(void)
{
	struct tenon_value t = new_tuple();
	struct tenon_value ret = MADE(make_closure, vm->values[vm->x->constant_count], t);

	tenon_value_release(&t);
	return ret;
}

static void a_weak_reference_keeps_memory_alone(void **state)
{
	struct tenon_value (*const kinds[])(void) = { new_storage, new_tensor, new_shape, new_tuple,
						      new_closure };
	struct tenon_object *o;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		o = kinds[i]().as.object;
		tenon_object_ref_weak(o);
		tenon_object_unref(o);
		assert_false(tenon_object_promote(o));
		tenon_object_unref_weak(o);
	}
}

/* The inner tuple ends while the outer one lets its items go. */
static void a_weak_reference_keeps_the_memory_of_an_item(void **state)
{
	struct tenon_value inner = new_tuple(), middle = MADE(make_tuple, inner);
	struct tenon_value all = MADE(make_tuple, middle, middle);
	struct tenon_object *o = inner.as.object;

	(void)state;
	tenon_object_ref_weak(o);
	tenon_value_release(&inner);
	tenon_value_release(&middle);
	assert_true(tenon_object_promote(o));
	tenon_object_unref(o);
	tenon_value_release(&all);
	assert_false(tenon_object_promote(o));
	tenon_object_unref_weak(o);
}

/* ---- parts of a program that are made once */

static int parts_made;

static struct tenon_function *maker;

/* Gives a number; the first time it asks for the same part while it is made. */
static int make_part(void *self, const struct tenon_value *args, int32_t count,
		     struct tenon_value *ret)
{
	(void)self;
	(void)args;
	(void)count;
	if (parts_made++ == 0)
		MADE(graph_get_cached_alloc, tenon_arg_pointer(vm), tenon_arg_object(maker),
		     tenon_arg_int(1000));
	*ret = tenon_arg_int(40 + parts_made);
	return 0;
}

static struct tenon_value part(int64_t index)
{
	return MADE(graph_get_cached_alloc, tenon_arg_pointer(vm), tenon_arg_object(maker),
		    tenon_arg_int(index));
}

static void a_part_is_made_once(void **state)
{
	struct tenon_value ret;
	int64_t i;
	int err = 0;

	(void)state;
	assert_int_equal(tenon_function_create(NULL, make_part, NULL, &maker), 0);
	parts_made = 1;
	assert_int_equal(part(7).as.integer, 42);
	assert_int_equal(part(8).as.integer, 43);
	assert_int_equal(part(7).as.integer, 42);
	/* there is an end to their number */
	for (i = 9; !err && i < 1 << 20; i++) {
		const struct tenon_value args[] = { tenon_arg_pointer(vm), tenon_arg_object(maker),
						    tenon_arg_int(i) };

		err = relax_builtin_graph_get_cached_alloc(NULL, args, 3, &ret);
	}
	assert_int_equal(err, -TENON_E_OVERFLOW);
	assert_error_has("cached allocations");
	tenon_object_unref(maker);
}

static void a_part_may_ask_for_itself_while_it_is_made(void **state)
{
	(void)state;
	assert_int_equal(tenon_function_create(NULL, make_part, NULL, &maker), 0);
	parts_made = 0;
	/* the inner one is kept, and the outer one is given */
	assert_int_equal(part(1000).as.integer, 42);
	assert_int_equal(parts_made, 2);
	assert_int_equal(part(1000).as.integer, 42);
	assert_int_equal(parts_made, 2);
	tenon_object_unref(maker);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_weak_reference_keeps_memory_alone, enter, leave),
		cmocka_unit_test_setup_teardown(a_weak_reference_keeps_the_memory_of_an_item, enter,
						leave),
		cmocka_unit_test_setup_teardown(a_part_is_made_once, enter, leave),
		cmocka_unit_test_setup_teardown(a_part_may_ask_for_itself_while_it_is_made, enter,
						leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
