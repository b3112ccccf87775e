/* SPDX-License-Identifier: MIT */
/* Counted objects: the header, strong and weak references. */
#include "tests/unit/suite.h"

#include <pthread.h>
#include <stdlib.h>

struct counted {
	struct tenon_object object;
	int *content;
	int *memory;
};

static void counted_delete(void *self, int flags)
{
	struct counted *c = self;

	if (flags & TENON_DELETE_CONTENT)
		++*c->content;
	if (flags & TENON_DELETE_MEMORY) {
		++*c->memory;
		free(c);
	}
}

static struct counted *counted_new(int *content, int *memory)
{
	struct counted *c = malloc(sizeof(*c));

	*content = *memory = 0;
	c->content = content;
	c->memory = memory;
	tenon_object_init(&c->object, TENON_TYPE_OBJECT, counted_delete);
	return c;
}

static void the_header_has_the_layout_of_the_abi(void **state)
{
	(void)state;
	assert_int_equal(sizeof(struct tenon_object), 24);
	assert_int_equal(offsetof(struct tenon_object, type), 8);
	assert_int_equal(offsetof(struct tenon_object, deleter), 16);
	assert_int_equal(sizeof(struct tenon_value), 16);
	assert_int_equal(offsetof(struct tenon_value, as), 8);
}

static void the_last_strong_reference_destroys_all_at_once(void **state)
{
	int content, memory;
	struct counted *c = counted_new(&content, &memory);

	(void)state;
	assert_true(c->object.refs == UINT64_C(0x100000001));
	tenon_object_ref(c);
	tenon_object_unref(c);
	assert_int_equal(content, 0);
	tenon_object_unref(c);
	assert_int_equal(content, 1);
	assert_int_equal(memory, 1);
}

static void a_weak_reference_keeps_the_memory_only(void **state)
{
	int content, memory;
	struct counted *c = counted_new(&content, &memory);

	(void)state;
	tenon_object_ref_weak(c);
	assert_int_equal(tenon_object_promote(c), 1);
	tenon_object_unref(c);
	tenon_object_unref(c);
	assert_int_equal(content, 1);
	assert_int_equal(memory, 0);
	assert_int_equal(tenon_object_promote(c), 0);
	tenon_object_unref_weak(c);
	assert_int_equal(content, 1);
	assert_int_equal(memory, 1);
}

static void *ref_and_unref(void *object)
{
	int i;

	for (i = 0; i < 20000; i++) {
		tenon_object_ref(object);
		tenon_object_ref_weak(object);
		tenon_object_unref(object);
		tenon_object_unref_weak(object);
	}
	tenon_object_unref(object);
	return NULL;
}

static void threads_drop_an_object_exactly_once(void **state)
{
	int content, memory, i;
	struct counted *c = counted_new(&content, &memory);
	pthread_t t[4];

	(void)state;
	for (i = 0; i < 4; i++) {
		tenon_object_ref(c);
		pthread_create(&t[i], NULL, ref_and_unref, c);
	}
	tenon_object_unref(c);
	for (i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	assert_int_equal(content, 1);
	assert_int_equal(memory, 1);
}

static void an_object_without_deleter_is_never_destroyed(void **state)
{
	struct tenon_object o;

	(void)state;
	tenon_object_init(&o, TENON_TYPE_OBJECT, NULL);
	tenon_object_unref(&o);
	assert_int_equal(strong_count(&o), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_header_has_the_layout_of_the_abi),
		cmocka_unit_test(the_last_strong_reference_destroys_all_at_once),
		cmocka_unit_test(a_weak_reference_keeps_the_memory_only),
		cmocka_unit_test(threads_drop_an_object_exactly_once),
		cmocka_unit_test(an_object_without_deleter_is_never_destroyed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
