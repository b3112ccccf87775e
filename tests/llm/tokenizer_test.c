/* SPDX-License-Identifier: MIT */
/*
 * A tokenizer.json that is wrong or hostile ends in an error with the name of its field. tests/llm/tokenizer.sh
 * compares tokens with those of Hugging Face.
 */
#include "tests/unit/suite.h"

#include <stdio.h>

#include "llm/tokenizer_bpe.h"

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

/* ---- fields of the file */

#define VOCABULARY                                                                                 \
	"\"vocab\":{\"?\":0,\"a\":1,\"b\":2,\"ab\":3,\" "                                          \
	"\":4,\"\\n\":5,\"\\u2581\":6,\"\\u2581a\":7}"
#define MERGES		"\"merges\":[\"a b\",[\"\\u2581\",\"a\"]]"
#define MODEL		"\"model\":{\"type\":\"BPE\",\"unk_token\":\"?\"," VOCABULARY "," MERGES "}"
#define FILE_OF(parts)	"{\"version\":\"1.0\"," parts MODEL "}"
#define MODEL_OF(parts) "{\"model\":{\"type\":\"BPE\"," parts VOCABULARY "," MERGES "}}"
#define ADDED(name, number, flags)                                                                 \
	"\"added_tokens\":[{\"id\":" number ",\"content\":\"" name "\",\"special\":true" flags "}" \
	"]"                                                                                        \
	","
#define SPLIT(pattern, behavior, invert)                                                           \
	FILE_OF("\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"String\":\"" pattern         \
		"\"},\"behavior\":\"" behavior "\",\"invert\":" invert "},")
#define NORMALIZER                                                                                 \
	"\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"Prepend\","            \
	"\"prepend\":"                                                                             \
	"\"\\u2581\"},{\"type\":\"Replace\",\"pattern\":{\"String\":\" "                           \
	"\"},\"content\":\"\\u2581\"}]},"
#define METASPACE(more)                                                                            \
	FILE_OF("\"pre_tokenizer\":{\"type\":\"Metaspace\",\"replacement\":\"\\u2581\"" more "},")

/* a file, a text, and the tokens that Hugging Face's tokenizers 0.23 give */
struct recorded {
	const char *file;
	const char *text;
	const char *tokens;
};

static const struct recorded recorded[] = {
#include "tests/llm/tokenizer_recorded.h"
};

static void the_tokens_are_those_of_hugging_face(void **state)
{
	char line[256], *to;
	struct tenon_buffer b;
	struct tokenizer *t;
	size_t i, k;
	int wrong = 0;

	(void)state;
	for (i = 0; i < sizeof(recorded) / sizeof(recorded[0]); i++) {
		b = (struct tenon_buffer)TENON_BUFFER_INIT;
		if (bpe_read(tenon_slice_of(recorded[i].file), "tokenizer.json", &t))
			fail_msg("%s: %s", recorded[i].file, tenon_error_message());
		assert_int_equal(tokenizer_encode(t, tenon_slice_of(recorded[i].text), NULL, 0, &b),
				 0);
		*line = '\0';
		for (k = 0, to = line; k < b.size / sizeof(int32_t); k++)
			to += snprintf(to, sizeof(line) - (size_t)(to - line), k ? " %d" : "%d",
				       ((const int32_t *)(const void *)b.data)[k]);
		if (strcmp(line, recorded[i].tokens)) {
			print_error("%s\n\"%s\": %s, want %s\n", recorded[i].file, recorded[i].text,
				    line, recorded[i].tokens);
			wrong++;
		}
		tenon_buffer_fini(&b);
		tokenizer_close(t);
	}
	assert_int_equal(wrong, 0);
}

static void a_field_that_is_not_applied_is_refused_by_its_name(void **state)
{
	static const struct {
		const char *file, *name;
	} files[] = {
		{ FILE_OF("\"truncation\":{\"max_length\":4},"), "truncation" },
		{ FILE_OF("\"padding\":{\"strategy\":\"BatchLongest\"},"), "padding" },
		{ FILE_OF("\"flavour\":1,"), "flavour" },
		{ "{\"version\":\"2.0\"," MODEL "}", "version" },
		{ FILE_OF(ADDED("x", "9", ",\"colour\":1")), "colour" },
		{ FILE_OF("\"normalizer\":{\"type\":\"Lowercase\"},"), "Lowercase" },
		{ FILE_OF("\"normalizer\":{\"type\":\"Prepend\",\"prepend\":\"x\",\"twice\":true}"
			  ","),
		  "twice" },
		{ FILE_OF("\"normalizer\":{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"a*\"},"
			  "\"content\":\"\"},"),
		  "matches no characters" },
		{ METASPACE(",\"replacement\":\"_\""), "replacement" },
		{ METASPACE(",\"prepend_scheme\":\"last\""), "prepend_scheme" },
		{ METASPACE(",\"str_rep\":\"_\""), "str_rep" },
		{ FILE_OF("\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"\\\\w+\"}"
			  ","
			  "\"behavior\":\"Isolated\"},"),
		  "\\w" },
		{ FILE_OF("\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"[^(a|[bc]"
			  ")]\"},"
			  "\"behavior\":\"Isolated\"},"),
		  "classes in classes" },
		{ FILE_OF("\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":"
			  "\"ByteLevel\"},{\"type\":\"Digits\"}]},"),
		  "Digits" },
		{ FILE_OF("\"decoder\":{\"type\":\"ByteLevel\"},"), "ByteLevel" },
		{ FILE_OF("\"decoder\":{\"type\":\"Strip\",\"content\":\" "
			  "\",\"start\":2,\"stop\":0},"),
		  "strips 2" },
		{ FILE_OF("\"decoder\":{\"type\":\"Strip\",\"content\":\"x\",\"start\":1,\"stop\":"
			  "0},"),
		  "content" },
		{ FILE_OF("\"decoder\":{\"type\":\"Replace\",\"pattern\":{\"String\":\"_\"},"
			  "\"content\":\" \"},"),
		  "\"_\"" },
		{ MODEL_OF("\"dropout\":0.1,"), "dropout" },
		{ MODEL_OF("\"continuing_subword_prefix\":\"##\","), "##" },
		{ MODEL_OF("\"end_of_word_suffix\":\"</w>\","), "</w>" },
		{ MODEL_OF("\"unk_token\":\"<unk>\","), "<unk>" },
		{ MODEL_OF("\"fuse_unk\":\"yes\","), "fuse_unk" },
		{ MODEL_OF("\"speed\":1,"), "speed" },
	};
	struct tokenizer *t;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (!bpe_read(tenon_slice_of(files[i].file), "tokenizer.json", &t))
			fail_msg("%s is taken", files[i].file);
		assert_null(t);
		assert_error_has(files[i].name);
	}
}

/* A user who types the name of a special token does not make one, in a normalized text either. */
static void a_special_token_in_a_plain_part_of_the_text_is_text(void **state)
{
	static const char file[] = FILE_OF(ADDED("b", "2", ",\"normalized\":true") NORMALIZER);
	const struct tokenizer_span typed = { 2, 3 };
	struct tenon_buffer b = TENON_BUFFER_INIT;
	static const int32_t want[] = { 2, 6, 2, 2 };
	struct tokenizer *t;

	(void)state;
	assert_int_equal(bpe_read(tenon_slice_of(file), "tokenizer.json", &t), 0);
	assert_int_equal(tokenizer_encode(t, tenon_slice_of("b b b"), &typed, 1, &b), 0);
	assert_int_equal(b.size, sizeof(want));
	assert_memory_equal(b.data, want, sizeof(want));
	tenon_buffer_fini(&b);
	tokenizer_close(t);
}

static void two_numbers_of_one_added_token_are_an_error(void **state)
{
	struct tokenizer *t;

	(void)state;
	assert_int_equal(
		bpe_read(tenon_slice_of(FILE_OF(ADDED("ab", "9", ""))), "tokenizer.json", &t),
		-TENON_E_FORMAT);
	assert_error_has("added token \"ab\" has number 9, and 3 in the vocabulary");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_expression_divides_a_text_into_words),
		cmocka_unit_test(a_match_that_ends_before_it_starts_is_an_error),
		cmocka_unit_test(an_expression_cannot_divide_a_character),
		cmocka_unit_test(an_added_token_cannot_divide_a_character),
		cmocka_unit_test(an_expression_that_takes_too_long_is_an_error),
		cmocka_unit_test(the_tokens_are_those_of_hugging_face),
		cmocka_unit_test(a_field_that_is_not_applied_is_refused_by_its_name),
		cmocka_unit_test(a_special_token_in_a_plain_part_of_the_text_is_text),
		cmocka_unit_test(two_numbers_of_one_added_token_are_an_error),
	};

	return cmocka_run_group_tests_name("tokenizers", tests, NULL, NULL);
}
