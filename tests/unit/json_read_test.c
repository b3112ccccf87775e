/* SPDX-License-Identifier: MIT */
/* The reader of JSON: escapes, numbers at their limits, nesting, and texts that are damaged. */
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/heap.h"
#include "lib/json_read.h"

static int read_text(const char *text, struct json_text *out)
{
	return json_text_read(tenon_slice_of(text), "text", out);
}

static void escapes_become_characters(void **state)
{
	static const struct {
		const char *text, *value;
	} cases[] = {
		{ "[\"\"]", "" },
		{ "[\"plain\"]", "plain" },
		{ "[\"\\b\\f\\n\\r\\t\\\"\\\\\\/\"]", "\b\f\n\r\t\"\\/" },
		{ "[\"\\u0041\\u00e4\\u20aC\"]", "A\xc3\xa4\xe2\x82\xac" },
		{ "[\"\\ud83d\\uDE00.\"]", "\xf0\x9f\x98\x80." },
		/* halves of a pair: alone, before another character, before one that is no second half */
		{ "[\"\\ud83d\"]", "\xef\xbf\xbd" },
		{ "[\"\\ude00\"]", "\xef\xbf\xbd" },
		{ "[\"\\ud83dx12345\"]", "\xef\xbf\xbdx12345" },
		{ "[\"\\ud83d\\n1234\"]", "\xef\xbf\xbd\n1234" },
		{ "[\"\\ud83d\\u0041\"]", "\xef\xbf\xbd"
					  "A" },
		{ "[\"\\ud83d\\ue000\"]", "\xef\xbf\xbd\xee\x80\x80" },
	};
	char room[64], *at;
	struct tenon_slice value;
	struct json_text t;
	uint32_t token;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		at = room;
		token = 1;
		assert_int_equal(read_text(cases[i].text, &t), 0);
		assert_int_equal(json_string(&t, &token, "value", &at, &value), 0);
		assert_int_equal(value.size, strlen(cases[i].value));
		assert_string_equal(value.data, cases[i].value);
		assert_int_equal(token, 2);
		json_text_fini(&t);
	}
}

static void whole_numbers_are_read_within_their_bounds(void **state)
{
	static const struct {
		const char *text;
		int64_t least, most, value;
		int status;
	} cases[] = {
		{ "[7]", 0, 7, 7, 0 },
		{ "[-7]", -7, 7, -7, 0 },
		{ "[9223372036854775807]", 0, INT64_MAX, INT64_MAX, 0 },
		{ "[-9223372036854775808]", INT64_MIN, 0, INT64_MIN, 0 },
		{ "[9223372036854775808]", 0, INT64_MAX, 0, -TENON_E_FORMAT },
		{ "[-9223372036854775809]", INT64_MIN, 0, 0, -TENON_E_FORMAT },
		{ "[12345678901234567890]", 0, INT64_MAX, 0, -TENON_E_FORMAT },
		{ "[1234567890123456789e1]", 0, INT64_MAX, 0, -TENON_E_FORMAT },
		{ "[8]", 0, 7, 8, -TENON_E_VALUE },
		{ "[-1]", 0, 7, -1, -TENON_E_VALUE },
		{ "[1.5]", 0, 7, 0, -TENON_E_FORMAT },
		{ "[true]", 0, 7, 0, -TENON_E_FORMAT },
		{ "[-]", 0, 7, 0, -TENON_E_FORMAT },
		{ "[\"7\"]", 0, 7, 0, -TENON_E_FORMAT },
		{ "[]", 0, 7, 0, -TENON_E_FORMAT },
	};
	struct json_text t;
	uint32_t token;
	int64_t value;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		token = 1;
		assert_int_equal(read_text(cases[i].text, &t), 0);
		if (json_integer(&t, &token, "count", cases[i].least, cases[i].most, &value) !=
		    cases[i].status)
			fail_msg("%s: %s", cases[i].text, tenon_error_message());
		assert_true(cases[i].status || value == cases[i].value);
		assert_int_equal(token, cases[i].status ? 1 : 2);
		assert_int_equal(*tenon_error_message() == 0, !cases[i].status);
		tenon_error_clear();
		json_text_fini(&t);
	}
}

static void words_have_no_escapes(void **state)
{
	struct tenon_slice word;
	struct json_text t;
	uint32_t token = 1;

	(void)state;
	assert_int_equal(read_text("[\"add\", \"a\\u0064d\", 3]", &t), 0);
	assert_int_equal(json_word(&t, &token, "op", &word), 0);
	assert_slice(word, "add");
	assert_int_equal(json_word(&t, &token, "op", &word), -TENON_E_FORMAT);
	assert_error_has("op has an escape");
	json_skip(&t, &token);
	assert_true(json_word(&t, &token, "op", &word) < 0);
	tenon_error_clear();
	json_text_fini(&t);
}

static void members_are_found_behind_others_that_nest(void **state)
{
	static const char text[] = "{\"a\": {\"z\": [1, {\"y\": 2}]}, \"b\": [[], {}], \"y\": 4}";
	struct json_text t;
	uint32_t at, end;
	int64_t value;

	(void)state;
	assert_int_equal(read_text(text, &t), 0);
	at = json_find(&t, 0, "y");
	assert_int_equal(json_integer(&t, &at, "y", 0, 9, &value), 0);
	assert_int_equal(value, 4);
	assert_int_equal(json_find(&t, 0, "z"), 0);
	at = json_find(&t, 0, "b");
	assert_true(at);
	assert_int_equal(json_find(&t, at, "y"), 0);
	/* behind the end there is nothing to pass over */
	end = t.count;
	json_skip(&t, &end);
	assert_int_equal(end, t.count);
	json_text_fini(&t);
}

static void containers_of_any_size_are_passed_over(void **state)
{
	char text[1000] = "{\"a\": [";
	struct json_text t;
	int64_t value;
	uint32_t at;
	size_t n;

	(void)state;
	for (n = 0; n < 70; n++) {
		const size_t size = strlen(text);

		strcpy(text + size, "], \"b\": 5, \"c\": [6]}");
		assert_int_equal(read_text(text, &t), 0);
		at = json_find(&t, 0, "b");
		assert_int_equal(json_integer(&t, &at, "b", 0, 9, &value), 0);
		assert_int_equal(value, 5);
		assert_int_equal(json_find(&t, 0, "c"), at + 1);
		json_text_fini(&t);
		strcpy(text + size, n ? ", [1]" : "[1]");
	}
}

static void broken_texts_are_refused_with_their_place(void **state)
{
	static const char *const texts[] = { "",	  "[",	       "{\"a\"",
					     "[1,\n 2\n", "[\"\\x\"]", "[\"\\u12g4\"]",
					     "[\"open",	  "]",	       "[] []",
					     "{} [1]" };
	struct json_text t;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (!read_text(texts[i], &t))
			fail_msg("taken: %s", texts[i]);
		assert_error_has("text");
	}
}

/* as deep as @depth, or the first refusal */
static int read_nested(size_t depth)
{
	struct json_text t;
	char *text = malloc(2 * depth + 1);
	int err;

	assert_non_null(text);
	memset(text, '[', depth);
	memset(text + depth, ']', depth);
	text[2 * depth] = '\0';
	err = read_text(text, &t);
	if (!err)
		json_text_fini(&t);
	free(text);
	return err;
}

static void nesting_has_a_limit(void **state)
{
	(void)state;
	assert_int_equal(read_nested(16), 0);
	assert_true(read_nested(1000000) < 0);
	assert_error_has("text");
}

static void many_values_are_read(void **state)
{
	enum { COUNT = 20000 };
	char *text = malloc(2 * COUNT + 2);
	struct json_text t;

	(void)state;
	assert_non_null(text);
	for (size_t i = 0; i < COUNT; i++)
		memcpy(text + 2 * i, i ? ",1" : "[1", 2);
	memcpy(text + 2 * (size_t)COUNT, "]", 2);
	assert_int_equal(read_text(text, &t), 0);
	assert_int_equal(t.count, COUNT + 1);
	json_text_fini(&t);
	free(text);
}

static void more_than_2_gib_are_refused(void **state)
{
	const struct tenon_slice huge = { "[", (size_t)INT32_MAX + 1 };
	struct json_text t;

	(void)state;
	assert_int_equal(json_text_read(huge, "text", &t), -TENON_E_OVERFLOW);
	assert_error_has("2 GiB is the most");
}

static void what_is_no_key_is_refused(void **state)
{
	struct tenon_slice key;
	struct json_text t;
	char room[32], *at = room;
	uint32_t place = 1;

	(void)state;
	/* texts that the splitter takes, though they are no JSON */
	assert_int_equal(read_text("[1, \"a\"]", &t), 0);
	assert_int_equal(json_key(&t, &place, &key), -TENON_E_FORMAT);
	assert_error_has("a key");
	assert_int_equal(json_key_string(&t, &place, &at, &key), -TENON_E_FORMAT);
	tenon_error_clear();
	place = 2;
	assert_int_equal(json_key(&t, &place, &key), -TENON_E_FORMAT);
	assert_error_has("0 values for a key");
	assert_int_equal(json_find(&t, 0, "a"), 0);
	json_text_fini(&t);
	if (!read_text("{\"b\": 1, \"a\"}", &t)) {
		assert_int_equal(json_find(&t, 0, "a"), 0);
		json_text_fini(&t);
	}
	tenon_error_clear();
	if (!read_text("{1: 2}", &t)) {
		assert_int_equal(json_find(&t, 0, "a"), 0);
		json_text_fini(&t);
	}
	tenon_error_clear();
}

#ifdef CONFIG_EXECUTORS
static int read_in_heap(const char *text, size_t temporary)
{
	static _Alignas(HEAP_ALIGN) char persistent[4096], other[65536];
	const struct heap_region regions[HEAP_SORTS] = {
		{ persistent, sizeof(persistent), NULL },
		{ NULL, 0, NULL },
		{ other, temporary, NULL },
	};
	struct json_text t;
	struct heap *h;
	int err;

	assert_int_equal(heap_create(regions, NULL, &h), 0);
	heap_enter(h);
	err = json_text_read_of_model(tenon_slice_of(text), "text", &t);
	if (!err)
		json_text_fini(&t);
	assert_int_equal(heap_live(h), 0);
	heap_enter(NULL);
	heap_close(h);
	return err;
}

static void a_text_of_a_model_is_read_in_its_memory(void **state)
{
	char text[2048];

	(void)state;
	for (size_t i = 0; i < 1000; i++)
		memcpy(text + 2 * i, i ? ",1" : "[1", 2);
	memcpy(text + 2000, "]", 2);
	assert_int_equal(read_in_heap("{\"a\": [1, 2]}", 65536), 0);
	assert_int_equal(read_in_heap(text, 65536), 0);
	assert_int_equal(read_in_heap(text, 1024), -TENON_E_NOMEM);
	assert_error_has("no memory for its tokens");
	assert_int_equal(read_in_heap("", 65536), -TENON_E_FORMAT);
	tenon_error_clear();
	assert_int_equal(read_in_heap("[1, 2", 65536), -TENON_E_TRUNCATED);
	tenon_error_clear();
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(escapes_become_characters),
		cmocka_unit_test(whole_numbers_are_read_within_their_bounds),
		cmocka_unit_test(words_have_no_escapes),
		cmocka_unit_test(members_are_found_behind_others_that_nest),
		cmocka_unit_test(containers_of_any_size_are_passed_over),
		cmocka_unit_test(broken_texts_are_refused_with_their_place),
		cmocka_unit_test(nesting_has_a_limit),
		cmocka_unit_test(many_values_are_read),
		cmocka_unit_test(more_than_2_gib_are_refused),
		cmocka_unit_test(what_is_no_key_is_refused),
#ifdef CONFIG_EXECUTORS
		cmocka_unit_test(a_text_of_a_model_is_read_in_its_memory),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
