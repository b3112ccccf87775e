/* SPDX-License-Identifier: MIT */
/* Maps of strings, and names that are near to one. */
#include "tests/unit/suite.h"

#include <stdio.h>

#include "lib/heap.h"
#include "lib/nearest_name.h"
#include "lib/string_map.h"

#define KEYS	  5000
#define COLLIDING 20000

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

/* A factor of the hash is nought for these eight bytes with this seed: what stands before them does not count. */
static uint64_t nought_of(uint64_t seed)
{
	return UINT64_C(0xd6e8feb86659fd93) ^ (seed >> 1 | seed << 63);
}

static void two_names_with_one_hash_are_two_keys(void **state)
{
	const uint64_t nought = nought_of(string_hash_seed());
	struct string_map m = STRING_MAP_INIT;
	char one[17] = "one name", other[17] = "another ";
	int x, y;

	(void)state;
	memcpy(one + 8, &nought, sizeof(nought));
	memcpy(other + 8, &nought, sizeof(nought));
	assert_int_equal(string_hash((struct tenon_slice){ one, sizeof(one) }),
			 string_hash((struct tenon_slice){ other, sizeof(other) }));
	*string_map_slot(&m, (struct tenon_slice){ one, sizeof(one) }) = &x;
	assert_null(string_map_get(&m, (struct tenon_slice){ other, sizeof(other) }));
	*string_map_slot(&m, (struct tenon_slice){ other, sizeof(other) }) = &y;
	assert_ptr_equal(string_map_get(&m, (struct tenon_slice){ one, sizeof(one) }), &x);
	assert_ptr_equal(string_map_get(&m, (struct tenon_slice){ other, sizeof(other) }), &y);
	string_map_fini(&m);
}

/* Slots that a lookup compares with a key until it finds it. */
static size_t compared(const struct string_map *m, struct tenon_slice key)
{
	size_t at = (size_t)string_hash(key) & (m->slots - 1), count = 1;

	for (; !tenon_slice_equal(m->entries[at].key, key); at = (at + 1) & (m->slots - 1))
		count++;
	return count;
}

/* What a hostile file could have: the seed is not known to who wrote it. */
static void names_with_one_hash_but_for_the_seed_are_found_in_linear_work(void **state)
{
	static char keys[COLLIDING][17];
	const uint64_t nought = nought_of(0);
	struct string_map m = STRING_MAP_INIT;
	struct tenon_slice key;
	size_t i, work = 0;

	(void)state;
	for (i = 0; i < COLLIDING; i++) {
		memset(keys[i], 'k', sizeof(keys[i]));
		snprintf(keys[i], 8, "%zu", i);
		memcpy(keys[i] + 8, &nought, sizeof(nought));
		key = (struct tenon_slice){ keys[i], sizeof(keys[i]) };
		assert_int_equal(string_hash_seeded(key, 0),
				 string_hash_seeded((struct tenon_slice){ keys[0], 17 }, 0));
		*string_map_slot(&m, key) = keys[i];
	}
	assert_int_equal(m.used, COLLIDING);
	for (i = 0; i < COLLIDING; i++) {
		key = (struct tenon_slice){ keys[i], sizeof(keys[i]) };
		assert_ptr_equal(string_map_get(&m, key), keys[i]);
		work += compared(&m, key);
	}
	/* a third of the slots and more are free: a lookup compares some two of them, and 10 000 without the seed */
	assert_true(work < 8 * COLLIDING);
	string_map_fini(&m);
}

/* Hash of a name of two words. */
static uint64_t hash_of(uint64_t first, uint64_t second, uint64_t seed)
{
	const uint64_t words[] = { first, second };

	return string_hash_seeded((struct tenon_slice){ (const char *)words, sizeof(words) }, seed);
}

/* Such names make the two factors of the hash change places when the seed is 0. */
static void names_with_one_hash_without_a_seed_have_two_with_any(void **state)
{
	const uint64_t between = UINT64_C(0xd6e8feb86659fd93) ^ UINT64_C(0xa0f2ec75a1fe1575) ^ 16;
	const uint64_t first = UINT64_C(0x6b5f656e6f5f6e61), second = UINT64_C(0x6d6f775f6c656e72);
	uint64_t seed = string_hash_seed();

	(void)state;
	assert_int_equal(hash_of(first, second, 0), hash_of(second ^ between, first ^ between, 0));
	assert_int_not_equal(hash_of(first, second, seed),
			     hash_of(second ^ between, first ^ between, seed));
	for (seed = 1; seed; seed <<= 1)
		assert_int_not_equal(hash_of(first, second, seed),
				     hash_of(second ^ between, first ^ between, seed));
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
		cmocka_unit_test(two_names_with_one_hash_are_two_keys),
		cmocka_unit_test(names_with_one_hash_but_for_the_seed_are_found_in_linear_work),
		cmocka_unit_test(names_with_one_hash_without_a_seed_have_two_with_any),
		cmocka_unit_test(the_nearest_names_come_first),
		cmocka_unit_test(names_that_are_far_are_not_offered),
		cmocka_unit_test(long_names_are_compared_by_their_beginnings),
#ifdef CONFIG_EXECUTORS
		cmocka_unit_test(a_map_without_memory_is_an_error),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
