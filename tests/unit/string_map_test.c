/* SPDX-License-Identifier: MIT */
#include "tests/unit/suite.h"

#include <stdio.h>

#include "lib/heap.h"
#include "lib/nearest_name.h"
#include "lib/string_map.h"

#define KEYS 5000

static void every_key_keeps_its_own_value(void **state)
{
	struct string_map m = STRING_MAP_INIT;
	static char keys[KEYS][16];
	size_t i;

	(void)state;
	assert_null(string_map_get(&m, tenon_slice_of("a")));
	for (i = 0; i < KEYS; i++) {
		snprintf(keys[i], sizeof(keys[i]), "key%zu", i);
		*string_map_slot(&m, tenon_slice_of(keys[i])) = keys[i];
	}
	assert_int_equal(m.used, KEYS);
	for (i = 0; i < KEYS; i++)
		assert_ptr_equal(string_map_get(&m, tenon_slice_of(keys[i])), keys[i]);
	assert_null(string_map_get(&m, tenon_slice_of("key5000")));
	assert_null(string_map_get(&m, tenon_slice_of("")));
	string_map_fini(&m);
}

static void an_empty_key_is_a_key(void **state)
{
	struct string_map m = STRING_MAP_INIT;
	struct tenon_slice none = { NULL, 0 };
	int x;

	(void)state;
	*string_map_slot(&m, none) = &x;
	assert_ptr_equal(string_map_get(&m, tenon_slice_of("")), &x);
	assert_int_equal(m.used, 1);
	string_map_fini(&m);
}

static void a_prefix_of_a_key_is_another_key(void **state)
{
	struct string_map m = STRING_MAP_INIT;
	int x;

	(void)state;
	*string_map_slot(&m, tenon_slice_of("vecadd_kernel")) = &x;
	assert_null(string_map_get(&m, tenon_slice_of("vecadd_kerne")));
	assert_null(string_map_get(&m, tenon_slice_of("vecadd_kernel1")));
	string_map_fini(&m);
}

static void the_nearest_names_come_first(void **state)
{
	struct nearest_name n = { .wanted = tenon_slice_of("vecadd") };
	struct tenon_buffer b = TENON_BUFFER_INIT;

	(void)state;
	nearest_name_offer(&n, tenon_slice_of("matmul"));
	nearest_name_offer(&n, tenon_slice_of("vec_add_"));
	nearest_name_offer(&n, tenon_slice_of("vecad"));
	nearest_name_offer(&n, tenon_slice_of("vecad"));
	nearest_name_offer(&n, tenon_slice_of("tvmgen_default_fused_vecadd_kernel"));
	nearest_name_print(&n, &b);
	assert_string_equal(b.data, " Nearest: \"vecad\", \"vec_add_\", "
				    "\"tvmgen_default_fused_vecadd_kernel\".");
	tenon_buffer_fini(&b);
}

static void names_that_are_far_are_not_offered(void **state)
{
	struct nearest_name n = { .wanted = tenon_slice_of("vecadd") };
	struct tenon_buffer b = TENON_BUFFER_INIT;

	(void)state;
	nearest_name_offer(&n, tenon_slice_of("softmax"));
	nearest_name_print(&n, &b);
	n.wanted = tenon_slice_of("foo");
	nearest_name_offer(&n, tenon_slice_of("p0"));
	nearest_name_print(&n, &b);
	assert_int_equal(b.size, 0);
	tenon_buffer_fini(&b);
}

static void long_names_are_compared_by_their_beginnings(void **state)
{
	char wanted[200], other[300];
	struct nearest_name n = { .wanted = { wanted, sizeof(wanted) } };
	struct tenon_buffer b = TENON_BUFFER_INIT;

	(void)state;
	memset(wanted, 'a', sizeof(wanted));
	memset(other, 'a', sizeof(other));
	nearest_name_offer(&n, (struct tenon_slice){ other, sizeof(other) });
	nearest_name_print(&n, &b);
	assert_true(b.size > sizeof(other));
	tenon_buffer_fini(&b);
}

#ifdef CONFIG_EXECUTORS
static void a_map_without_memory_is_an_error(void **state)
{
	static _Alignas(HEAP_ALIGN) char persistent[4096], temporary[4096];
	const struct heap_region regions[HEAP_SORTS] = { { persistent, sizeof(persistent), NULL },
							 { NULL, 0, NULL },
							 { temporary, sizeof(temporary), NULL } };
	struct string_map m = STRING_MAP_INIT;
	struct heap *h;

	(void)state;
	m.memory = STRING_MAP_TEMPORARY;
	assert_int_equal(heap_create(regions, NULL, &h), 0);
	heap_enter(h);
	assert_int_equal(string_map_reserve(&m, 10), 0);
	assert_non_null(string_map_slot(&m, tenon_slice_of("a")));
	assert_int_equal(string_map_reserve(&m, 1000), -TENON_E_NOMEM);
	assert_error_has("no memory for a map of 1000 names");
	/* until there is no room for one more */
	for (size_t i = 0; i < 1000; i++) {
		static char names[1000][8];

		snprintf(names[i], sizeof(names[i]), "%zu", i);
		if (!string_map_slot(&m, tenon_slice_of(names[i]))) {
			assert_true(i > 10);
			assert_error_has("no memory");
			break;
		}
	}
	string_map_fini(&m);
	assert_int_equal(heap_live(h), 0);
	heap_enter(NULL);
	heap_close(h);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_key_keeps_its_own_value),
		cmocka_unit_test(an_empty_key_is_a_key),
		cmocka_unit_test(a_prefix_of_a_key_is_another_key),
		cmocka_unit_test(the_nearest_names_come_first),
		cmocka_unit_test(names_that_are_far_are_not_offered),
		cmocka_unit_test(long_names_are_compared_by_their_beginnings),
#ifdef CONFIG_EXECUTORS
		cmocka_unit_test(a_map_without_memory_is_an_error),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
