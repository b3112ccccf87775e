/* SPDX-License-Identifier: MIT */
/* tvm-ffi's C interface: types, their ancestors, fields and methods. */
#include "ffi_suite.h"

#include <stdio.h>

static int released;

static void release_self(void *self)
{
	(void)self;
	released++;
}

static void an_opaque_object_releases_what_it_holds(void **state)
{
	void *o;

	(void)state;
	released = 0;
	assert_int_equal(
		abi_ffi_object_opaque(&released, TENON_TYPE_OPAQUE_PYTHON, release_self, &o), 0);
	assert_ptr_equal(*(void **)((char *)o + 24), &released);
	abi_ffi_object_ref(o);
	abi_ffi_object_unref(o);
	assert_int_equal(released, 0);
	abi_ffi_object_unref(o);
	assert_int_equal(released, 1);
	assert_int_equal(abi_ffi_object_opaque(NULL, 64, NULL, &o), -1);
	assert_error("an opaque object must be of type 74, found 64");
}

static void an_allocator_is_always_there(void **state)
{
	struct ffi_allocator *a = abi_ffi_allocator(), other = { NULL, NULL };
	void (*release)(void *body);
	size_t align;
	char *body;

	(void)state;
	assert_non_null(a);
	for (align = 1; align <= 4096; align *= 2) {
		body = a->allocate(100, align, 64, a->context);
		assert_non_null(body);
		assert_int_equal((uintptr_t)body % align, 0);
		memset(body, 1, 100);
		memcpy(&release, body - sizeof(void *), sizeof(release));
		release(body);
	}
	assert_int_equal(abi_ffi_allocator_set(&other), 0);
	assert_ptr_equal(abi_ffi_allocator(), &other);
	assert_int_equal(abi_ffi_allocator_set(NULL), 0);
	assert_ptr_equal(abi_ffi_allocator(), a);
}

static void every_fixed_type_is_known_with_its_ancestors(void **state)
{
	const struct type_info *info;
	int32_t i;

	(void)state;
	for (i = 0; i <= TYPE_STATIC_LAST; i++) {
		info = abi_ffi_type_info(i);
		assert_non_null(info);
		if (i >= TYPE_VALUE_END && i < TENON_TYPE_OBJECT) {
			assert_string_equal(info->key.data, "?");
			continue;
		}
		assert_int_equal(info->index, i);
		assert_string_equal(info->key.data, tenon_type_key(i));
		assert_int_equal(info->depth, i > TENON_TYPE_OBJECT);
		if (info->depth)
			assert_int_equal(info->ancestors[0]->index, TENON_TYPE_OBJECT);
	}
	assert_string_equal(tenon_type_key(TENON_TYPE_VISIT_INTERRUPT), "ffi.VisitInterrupt");
	assert_string_equal(tenon_type_key(TENON_TYPE_SMALL_BYTES), "ffi.SmallBytes");
	assert_string_equal(abi_ffi_type_info(-1)->key.data, "?");
	assert_string_equal(abi_ffi_type_info(1000000)->key.data, "?");
	assert_string_equal(abi_ffi_type_info(INT32_MAX)->key.data, "?");
}

static int32_t allocate(const char *key, int32_t slots, int32_t overflow, int32_t parent)
{
	const struct tenon_slice k = s(key);

	return abi_ffi_type_allocate(&k, -1, 0, slots, overflow, parent);
}

static void children_take_the_slots_of_their_parent(void **state)
{
	int32_t base = allocate("test.Base", 2, 1, 64), other = allocate("test.Other", 0, 1, 64);
	int32_t a = allocate("test.A", 0, 1, base), b = allocate("test.B", 0, 1, base);
	int32_t c = allocate("test.C", 0, 1, base), d = allocate("test.D", 0, 1, c);
	const struct type_info *info = abi_ffi_type_info(d);
	const struct tenon_slice key = s("test.D"), none = s("test.E");
	int32_t index;

	(void)state;
	assert_true(base >= TENON_TYPE_DYNAMIC);
	assert_int_equal(a, base + 1);
	assert_int_equal(b, base + 2);
	assert_true(c > base + 2 && c != other);
	assert_true(other > base + 2);
	assert_int_equal(info->depth, 3);
	assert_int_equal(info->ancestors[0]->index, 64);
	assert_int_equal(info->ancestors[1]->index, base);
	assert_int_equal(info->ancestors[2]->index, c);
	assert_true(tenon_type_is(d, base) && tenon_type_is(d, c) && tenon_type_is(d, 64));
	assert_false(tenon_type_is(d, other) || tenon_type_is(base, d) || tenon_type_is(d, a));
	assert_int_equal(allocate("test.D", 0, 1, 64), d);
	assert_int_equal(allocate("test.D", 0, 1, -2), d);
	assert_int_equal(allocate("test.E", 0, 1, -2), -2);
	assert_int_equal(abi_ffi_type_index(&key, &index), 0);
	assert_int_equal(index, d);
	assert_int_equal(abi_ffi_type_index(&none, &index), -1);
	assert_error("no type \"test.E\" is registered");
	assert_int_equal(allocate("ffi.Tensor", 0, 1, 64), TENON_TYPE_TENSOR);
}

static void a_parent_without_room_refuses_a_child(void **state)
{
	int32_t full = allocate("test.Full", 1, 0, 64);

	(void)state;
	assert_int_equal(allocate("test.Full.1", 0, 1, full), full + 1);
	assert_int_equal(allocate("test.Full.2", 0, 1, full), -2);
	assert_error("type \"test.Full.2\": its parent \"test.Full\" has no index left");
}

static void many_types_keep_their_records_in_place(void **state)
{
	const struct type_info *first = NULL;
	int32_t index = 0;
	char key[32];
	int i;

	(void)state;
	for (i = 0; i < 3000; i++) {
		snprintf(key, sizeof(key), "test.many.%d", i);
		index = allocate(key, 0, 1, 64);
		if (!i)
			first = abi_ffi_type_info(index);
	}
	assert_string_equal(first->key.data, "test.many.0");
	assert_ptr_equal(abi_ffi_type_info(first->index), first);
	assert_string_equal(tenon_type_key(index), "test.many.2999");
}

struct point {
	struct tenon_object object;
	int64_t x;
	double y;
};

static int get_int(void *field, struct tenon_value *owned)
{
	*owned = tenon_arg_int(*(int64_t *)field);
	return 0;
}

static int get_text(void *field, struct tenon_value *owned)
{
	char text[64];

	snprintf(text, sizeof(text), "y is %g exactly", *(double *)field);
	return tenon_string_value(s(text), owned);
}

static int get_nothing(void *field, struct tenon_value *owned)
{
	(void)field;
	(void)owned;
	return tenon_error(-TENON_E_VALUE, "the field is gone");
}

struct shown {
	char text[256];
	int stop_at;
};

static int show_field(void *context, const char *name, const struct tenon_value *value)
{
	struct shown *shown = context;
	size_t n = strlen(shown->text);
	struct tenon_slice text;

	if (!tenon_value_text(value, &text))
		snprintf(shown->text + n, sizeof(shown->text) - n, "%s=\"%.*s\" ", name,
			 (int)text.size, text.data);
	else
		snprintf(shown->text + n, sizeof(shown->text) - n, "%s=%lld ", name,
			 (long long)value->as.integer);
	tenon_error_clear();
	return shown->stop_at && !--shown->stop_at ? 5 : 0;
}

static void add_field(int32_t type, const char *name, size_t offset,
		      int (*getter)(void *, struct tenon_value *))
{
	char copy[32];
	struct type_field field = { .offset = (int64_t)offset, .getter = getter };

	/* what is registered must not be used afterwards */
	snprintf(copy, sizeof(copy), "%s", name);
	field.name = s(copy);
	assert_int_equal(abi_ffi_type_add_field(type, &field), 0);
	memset(copy, 'X', sizeof(copy));
}

static void registered_fields_are_visited(void **state)
{
	int32_t type = allocate("test.Point", 0, 1, 64), child = allocate("test.Pixel", 0, 1, type);
	struct point p = { { 0 }, 7, 2.5 };
	struct shown shown = { "", 0 };
	struct tenon_visitor v = { sizeof(v), show_field, NULL, &shown };
	const struct type_info *info = abi_ffi_type_info(type);

	(void)state;
	tenon_object_init(&p.object, child, NULL);
	add_field(type, "x", offsetof(struct point, x), get_int);
	add_field(type, "y", offsetof(struct point, y), get_text);
	add_field(child, "again", offsetof(struct point, x), get_int);
	assert_int_equal(info->field_count, 2);
	assert_int_equal(tenon_object_visit(&p.object, &v), 0);
	assert_string_equal(shown.text, "x=7 y=\"y is 2.5 exactly\" again=7 ");
	shown.text[0] = '\0';
	shown.stop_at = 2;
	assert_int_equal(tenon_object_visit(&p.object, &v), 5);
	assert_string_equal(shown.text, "x=7 y=\"y is 2.5 exactly\" ");
	shown.stop_at = 0;
	v.size = 0;
	assert_int_equal(tenon_object_visit(&p.object, &v), -TENON_E_USAGE);
	v.size = sizeof(v);
	add_field(child, "broken", 0, get_nothing);
	assert_int_equal(tenon_object_visit(&p.object, &v), -TENON_E_CALL);
	assert_error("the field is gone");
	assert_int_equal(abi_ffi_type_add_field(1000000, info->fields), -1);
	assert_error("there is no type 1000000");
}

static void methods_and_metadata_are_kept(void **state)
{
	int32_t type = allocate("test.Rich", 0, 1, 64);
	const struct type_info *info = abi_ffi_type_info(type);
	struct type_metadata metadata = { .doc = s("what it is"), .total_size = 48 };
	struct type_method method = { .name = s("m"), .method = tenon_arg_int(5) };
	int i;

	(void)state;
	for (i = 0; i < 20; i++)
		assert_int_equal(abi_ffi_type_add_method(type, &method), 0);
	assert_int_equal(info->method_count, 20);
	assert_slice(info->methods[19].name, "m");
	assert_int_equal(info->methods[19].method.as.integer, 5);
	assert_int_equal(abi_ffi_type_set_metadata(type, &metadata), 0);
	assert_slice(info->metadata->doc, "what it is");
	assert_int_equal(info->metadata->total_size, 48);
	assert_int_equal(abi_ffi_type_set_metadata(type, &metadata), -1);
	assert_error("type \"test.Rich\" has metadata already");
}

static void attributes_lie_in_columns(void **state)
{
	const struct tenon_slice name = s("test.color"), none = s("test.weight");
	const struct tenon_slice hash = s("__any_hash__");
	struct tenon_value red = tenon_arg_string("deeply and utterly red");
	int32_t type = allocate("test.Painted", 0, 1, 64);
	const struct ffi_column *column;
	struct tenon_slice text;

	(void)state;
	assert_null(abi_ffi_type_column(&none));
	assert_non_null(abi_ffi_type_column(&hash));
	assert_int_equal(abi_ffi_type_column(&hash)->size, 0);
	assert_int_equal(abi_ffi_type_set_attribute(TENON_TYPE_STRING, &name, &red), 0);
	column = abi_ffi_type_column(&name);
	assert_int_equal(column->size, TENON_TYPE_STRING + 1);
	assert_int_equal(abi_ffi_type_set_attribute(type, &name, &red), 0);
	assert_ptr_equal(abi_ffi_type_column(&name), column);
	assert_int_equal(column->begin, 0);
	assert_int_equal(column->size, type + 1);
	assert_int_equal(tenon_value_text(&column->data[type], &text), 0);
	assert_slice(text, "deeply and utterly red");
	assert_int_equal(tenon_value_text(&column->data[TENON_TYPE_STRING], &text), 0);
	assert_slice(text, "deeply and utterly red");
	assert_int_equal(column->data[TENON_TYPE_BYTES].type, TENON_TYPE_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(an_opaque_object_releases_what_it_holds, afresh),
		cmocka_unit_test_setup(an_allocator_is_always_there, afresh),
		cmocka_unit_test_setup(every_fixed_type_is_known_with_its_ancestors, afresh),
		cmocka_unit_test_setup(children_take_the_slots_of_their_parent, afresh),
		cmocka_unit_test_setup(a_parent_without_room_refuses_a_child, afresh),
		cmocka_unit_test_setup(many_types_keep_their_records_in_place, afresh),
		cmocka_unit_test_setup(registered_fields_are_visited, afresh),
		cmocka_unit_test_setup(methods_and_metadata_are_kept, afresh),
		cmocka_unit_test_setup(attributes_lie_in_columns, afresh),
	};

	return cmocka_run_group_tests_name("tvm_ffi_type", tests, NULL, NULL);
}
