/* SPDX-License-Identifier: MIT */
/* Shapes, arrays and maps, also those that foreign code laid out. */
#include "tests/unit/suite.h"

#include <stdlib.h>

static void a_shape_keeps_its_extents(void **state)
{
	const int64_t extents[] = { 1, 3, 224, 224 };
	struct tenon_shape *s;

	(void)state;
	assert_int_equal(tenon_shape_create(extents, 4, &s), 0);
	assert_int_equal(s->size, 4);
	assert_memory_equal(s->data, extents, sizeof(extents));
	tenon_object_unref(s);
	assert_int_equal(tenon_shape_create(NULL, 0, &s), 0);
	assert_int_equal(s->size, 0);
	tenon_object_unref(s);
}

static void an_array_owns_its_items(void **state)
{
	struct tenon_value string, items[3];
	struct tenon_array *a;

	(void)state;
	assert_int_equal(tenon_string_value(tenon_slice_of("a boxed string"), &string), 0);
	items[0] = tenon_arg_int(5);
	items[1] = string;
	items[2] = tenon_arg_string("raw, and long enough");
	assert_int_equal(tenon_array_create(items, 3, &a), 0);
	assert_int_equal(a->size, 3);
	assert_int_equal(strong_count(string.as.object), 2);
	assert_int_equal(a->data[2].type, TENON_TYPE_STRING);
	tenon_object_unref(a);
	assert_int_equal(strong_count(string.as.object), 1);
	tenon_value_release(&string);
}

static void an_item_that_cannot_be_owned_undoes_the_array(void **state)
{
	struct tenon_value string, items[2];
	struct tenon_array *a;
	DLTensor t = { 0 };

	(void)state;
	assert_int_equal(tenon_string_value(tenon_slice_of("a boxed string"), &string), 0);
	items[0] = string;
	items[1] = tenon_arg_tensor(&t);
	assert_int_equal(tenon_array_create(items, 2, &a), -TENON_E_TYPE);
	assert_null(a);
	assert_int_equal(strong_count(string.as.object), 1);
	tenon_error_clear();
	tenon_value_release(&string);
}

static void a_map_finds_strings_in_every_encoding(void **state)
{
	struct tenon_value pairs[6], key;
	struct tenon_map *m;

	(void)state;
	pairs[0] = tenon_arg_string("shape");
	pairs[1] = tenon_arg_int(1);
	pairs[2] = tenon_arg_string("a key of many bytes");
	pairs[3] = tenon_arg_int(2);
	pairs[4] = tenon_arg_string("shape");
	pairs[5] = tenon_arg_int(3);
	assert_int_equal(tenon_map_create(pairs, 3, &m), 0);
	assert_int_equal(m->size, 2);
	assert_true(m->slots & TENON_MAP_SMALL);
	assert_int_equal(tenon_string_value(tenon_slice_of("shape"), &key), 0);
	assert_int_equal(tenon_map_find(m, &key)->as.integer, 3);
	key = tenon_arg_string("a key of many bytes");
	assert_int_equal(tenon_map_find(m, &key)->as.integer, 2);
	key = tenon_arg_string("dtype");
	assert_null(tenon_map_find(m, &key));
	tenon_object_unref(m);
}

static void a_map_of_five_pairs_is_refused(void **state)
{
	struct tenon_value pairs[10];
	struct tenon_map *m;
	int i;

	(void)state;
	for (i = 0; i < 10; i++)
		pairs[i] = tenon_arg_int(i);
	assert_int_equal(tenon_map_create(pairs, 5, &m), -TENON_E_OVERFLOW);
	tenon_error_clear();
}

/* As C++ lays a hash table out: blocks of 16 metadata bytes and 16 linked items. */
static void a_foreign_hash_table_is_walked_in_its_order(void **state)
{
	struct item {
		struct tenon_value key, value;
		uint64_t previous, next;
	};
	struct block {
		uint8_t meta[16];
		struct item item[16];
	} *blocks = calloc(2, sizeof(*blocks));
	struct {
		struct tenon_map base;
		uint32_t fib_shift;
		uint64_t head, tail;
	} m = { .base = { .data = blocks, .size = 3, .slots = 31 }, .head = 20, .tail = 5 };
	const struct tenon_value *k, *v;
	const void *at = NULL;
	int i, order[3] = { 20, 3, 5 };

	(void)state;
	for (i = 0; i < 3; i++) {
		struct item *item = &blocks[order[i] / 16].item[order[i] % 16];

		item->key = tenon_arg_int(order[i]);
		item->value = tenon_arg_int(10 * order[i]);
		item->next = i < 2 ? (uint64_t)order[i + 1] : UINT64_MAX;
	}
	for (i = 0; i < 3; i++) {
		at = tenon_map_next(&m.base, at, &k, &v);
		assert_non_null(at);
		assert_int_equal(k->as.integer, order[i]);
		assert_int_equal(v->as.integer, 10 * order[i]);
	}
	assert_null(tenon_map_next(&m.base, at, &k, &v));
	free(blocks);
}

#define DEEP 300000

static struct tenon_value array_around(struct tenon_value inner)
{
	struct tenon_value items[2] = { tenon_arg_int(1), inner };
	struct tenon_array *a;

	assert_int_equal(tenon_array_create(items, 2, &a), 0);
	return tenon_arg_object(a);
}

static struct tenon_value map_around(struct tenon_value inner)
{
	struct tenon_value pair[2] = { tenon_arg_string("key"), inner };
	struct tenon_map *m;

	assert_int_equal(tenon_map_create(pair, 1, &m), 0);
	return tenon_arg_object(m);
}

static struct tenon_value error_around(struct tenon_value inner)
{
	struct tenon_slice text = tenon_slice_of("RuntimeError");

	return tenon_arg_object(tenon_error_create(text, text, text, inner.as.pointer));
}

static int call_nothing(void *self, const struct tenon_value *args, int32_t count,
			struct tenon_value *ret)
{
	(void)self, (void)args, (void)count, (void)ret;
	return 0;
}

static int died;

static void tell_death(void *self)
{
	(void)self;
	died++;
}

/* releasing one inside the other would need a stack as deep */
static void containers_nest_to_any_depth(void **state)
{
	struct tenon_value (*const around[])(struct tenon_value) = { array_around, map_around,
								     error_around };
	struct tenon_value value, next;
	struct tenon_function *f;
	size_t how;
	int i;

	(void)state;
	for (how = 0; how < 4; how++) {
		died = 0;
		assert_int_equal(tenon_function_create(&died, call_nothing, tell_death, &f), 0);
		/* the cause of an error is an error */
		value = how == 2 ? error_around(tenon_arg_none()) : tenon_arg_object(f);
		if (how == 2)
			tenon_object_unref(f);
		for (i = 0; i < DEEP; i++) {
			next = around[how < 3 ? how : (size_t)i & 1](value);
			tenon_value_release(&value);
			value = next;
		}
		tenon_value_release(&value);
		assert_int_equal(died, 1);
	}
}

static void a_weak_reference_keeps_the_memory_of_what_nests(void **state)
{
	struct tenon_value inner = array_around(tenon_arg_int(2)), middle = array_around(inner);
	struct tenon_value outer = array_around(middle);
	struct tenon_object *weak[2] = { middle.as.object, outer.as.object };
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++)
		tenon_object_ref_weak(weak[i]);
	tenon_value_release(&middle);
	tenon_value_release(&outer);
	assert_int_equal(strong_count(inner.as.object), 1);
	for (i = 0; i < 2; i++) {
		assert_false(tenon_object_promote(weak[i]));
		tenon_object_unref_weak(weak[i]);
	}
	tenon_value_release(&inner);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_shape_keeps_its_extents),
		cmocka_unit_test(an_array_owns_its_items),
		cmocka_unit_test(an_item_that_cannot_be_owned_undoes_the_array),
		cmocka_unit_test(a_map_finds_strings_in_every_encoding),
		cmocka_unit_test(a_map_of_five_pairs_is_refused),
		cmocka_unit_test(a_foreign_hash_table_is_walked_in_its_order),
		cmocka_unit_test(containers_nest_to_any_depth),
		cmocka_unit_test(a_weak_reference_keeps_the_memory_of_what_nests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
