/* SPDX-License-Identifier: MIT */
/* What a tokenizer.json may not do. tests/llm/tokenizer.sh compares tokens with those of Hugging Face. */
#include "tests/unit/suite.h"

#include <stdio.h>

#include "runtime/llm/tokenizer_bpe.h"

/* Read a tokenizer with an added token and an expression, both as JSON has them. */
static int read_file(const char *added, const char *expression, struct tokenizer **t)
{
	static char text[1024];

	snprintf(text, sizeof(text),
		 "{\"added_tokens\":[{\"id\":5,\"content\":\"%s\"}],\"model\":{\"type\":\"BPE\","
		 "\"unk_token\":\"?\",\"vocab\":{\"?\":0,\"a\":1,\"b\":2,\"ab\":3},"
		 "\"merges\":[\"a b\"]},\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":"
		 "{\"Regex\":\"%s\"},\"behavior\":\"Isolated\"}}",
		 added, expression);
	return bpe_read(tenon_slice_of(text), "tokenizer.json", t);
}

static int encode(const char *expression, const char *text, int32_t *tokens, size_t *count)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct tokenizer *t;
	int err;

	assert_int_equal(read_file("<x>", expression, &t), 0);
	err = tokenizer_encode(t, tenon_slice_of(text), NULL, 0, &b);
	*count = b.size / sizeof(*tokens);
	assert_true(*count <= 8);
	if (b.size)
		memcpy(tokens, b.data, b.size);
	tenon_buffer_fini(&b);
	tokenizer_close(t);
	return err;
}

static void an_expression_divides_a_text_into_words(void **state)
{
	static const int32_t together[] = { 3, 5, 2 }, apart[] = { 1, 2, 5, 2 };
	int32_t tokens[8];
	size_t count;

	(void)state;
	assert_int_equal(encode("[ab]+", "ab<x>b", tokens, &count), 0);
	assert_int_equal(count, 3);
	assert_memory_equal(tokens, together, sizeof(together));
	assert_int_equal(encode("b", "ab<x>b", tokens, &count), 0);
	assert_int_equal(count, 4);
	assert_memory_equal(tokens, apart, sizeof(apart));
}

/* Such a match would be repeated without end. */
static void a_match_that_ends_before_it_starts_is_an_error(void **state)
{
	int32_t tokens[8];
	size_t count;

	(void)state;
	assert_int_equal(encode("(?=(?1))a|(abb\\\\K)", "abb", tokens, &count), -TENON_E_VALUE);
	assert_error_has("an expression of the tokenizer matches bytes 3 to 1");
	assert_int_equal(count, 0);
}

/* What is left of a character is not UTF-8, which the next match would rely on. */
static void an_expression_cannot_divide_a_character(void **state)
{
	struct tokenizer *t;

	(void)state;
	assert_int_equal(read_file("<x>", "\\\\C", &t), -TENON_E_FORMAT);
	assert_null(t);
	assert_error_has("tokenizer.json");
}

static void an_added_token_cannot_divide_a_character(void **state)
{
	struct tokenizer *t;

	(void)state;
	assert_int_equal(read_file("x\xa9", "b", &t), -TENON_E_FORMAT);
	assert_null(t);
	assert_error_has("byte 1 of an added token is not UTF-8");
}

static void an_expression_that_takes_too_long_is_an_error(void **state)
{
	int32_t tokens[8];
	size_t count;

	(void)state;
	assert_int_equal(encode("(?:a|aa)+!", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab!",
				tokens, &count),
			 -TENON_E_VALUE);
	assert_error_has("an expression of the tokenizer fails on this text");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_expression_divides_a_text_into_words),
		cmocka_unit_test(a_match_that_ends_before_it_starts_is_an_error),
		cmocka_unit_test(an_expression_cannot_divide_a_character),
		cmocka_unit_test(an_added_token_cannot_divide_a_character),
		cmocka_unit_test(an_expression_that_takes_too_long_is_an_error),
	};

	return cmocka_run_group_tests_name("tokenizers", tests, NULL, NULL);
}
