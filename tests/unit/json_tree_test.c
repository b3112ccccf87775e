/* SPDX-License-Identifier: MIT */
/* JSON of strangers as a tree of cJSON: its values are limited, because each takes far more than its bytes. */
#include "suite.h"

#include <stdlib.h>
#include <string.h>

#include "lib/json_tree.h"

static struct tenon_slice repeated(char *room, const char *head, const char *part, size_t count,
				   const char *tail)
{
	char *at = stpcpy(room, head);

	while (count--)
		at = stpcpy(at, part);
	at = stpcpy(at, tail);
	return (struct tenon_slice){ room, (size_t)(at - room) };
}

static void a_text_becomes_a_tree(void **state)
{
	cJSON *tree;

	(void)state;
	assert_int_equal(json_tree_read(tenon_slice_of("{\"a\": [1, \"b\\\"c\"]}"), "text", &tree),
			 0);
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(tree, "a")), 2);
	cJSON_Delete(tree);
}

static void what_is_no_json_is_refused_by_its_name(void **state)
{
	cJSON *tree;

	(void)state;
	assert_int_equal(json_tree_read(tenon_slice_of("{"), "metadata.json", &tree),
			 -TENON_E_FORMAT);
	assert_null(tree);
	assert_error_has("metadata.json");
}

static void more_values_than_a_tree_may_have_are_refused(void **state)
{
	const char *const parts[] = { "1,", "[],", "{}," };
	char *room = malloc(4 * (size_t)JSON_TREE_VALUES_MOST + 8);
	cJSON *tree;
	size_t i;

	(void)state;
	assert_non_null(room);
	for (i = 0; i < 3; i++) {
		assert_int_equal(
			json_tree_read(repeated(room, "[", parts[i], JSON_TREE_VALUES_MOST, "1]"),
				       "text", &tree),
			-TENON_E_OVERFLOW);
		assert_null(tree);
		assert_error_has("values");
	}
	free(room);
}

static void a_long_string_is_one_value(void **state)
{
	char *room = malloc(4 * (size_t)JSON_TREE_VALUES_MOST + 8);
	cJSON *tree;

	(void)state;
	assert_non_null(room);
	assert_int_equal(
		json_tree_read(repeated(room, "[\"", "\\\",[", JSON_TREE_VALUES_MOST, "\"]"),
			       "text", &tree),
		0);
	assert_int_equal(cJSON_GetArraySize(tree), 1);
	cJSON_Delete(tree);
	free(room);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_text_becomes_a_tree),
		cmocka_unit_test(what_is_no_json_is_refused_by_its_name),
		cmocka_unit_test(more_values_than_a_tree_may_have_are_refused),
		cmocka_unit_test(a_long_string_is_one_value),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
