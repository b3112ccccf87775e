/* SPDX-License-Identifier: MIT */
/* What a file in GGUF says of its vocabulary and of conversations, with each of its entries left out, and of each other type. */
#include "tests/unit/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <tenon/backend/buffer.h>
#include <unistd.h>

#include "llm/llm_engine.h"
#include "llm/tokenizer.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* types of values, as the format numbers them */
enum { U8, I8, U16, I16, U32, I32, F32, BOOL, TEXT, ARRAY, U64, I64, F64 };

/* an entry: integers have @number, texts @text; an array has @count texts, or that many times the number */
struct entry {
	const char *key;
	uint32_t type;
	uint32_t of; /* type of an array's items */
	uint64_t count;
	int64_t number;
	const char *text[6];
};

#define ENTRIES 10
#define TOKENS                                                                                     \
	{                                                                                          \
		"a", "b", "ab", "<s>", "</s>", "<x>"                                               \
	}

static const struct entry whole[ENTRIES] = {
	{ "tokenizer.ggml.model", TEXT, .text = { "gpt2" } },
	{ "tokenizer.ggml.pre", TEXT, .text = { "gpt-2" } },
	{ "tokenizer.ggml.tokens", ARRAY, TEXT, 6, .text = TOKENS },
	{ "tokenizer.ggml.token_type", ARRAY, I32, 6, .number = 1 },
	{ "tokenizer.ggml.merges", ARRAY, TEXT, 1, .text = { "a b" } },
	{ "tokenizer.ggml.bos_token_id", U32, .number = 3 },
	{ "tokenizer.ggml.eos_token_id", U32, .number = 4 },
	{ "tokenizer.ggml.eot_token_id", I32, .number = 5 },
	{ "tokenizer.ggml.add_bos_token", BOOL, .number = 1 },
	{ "tokenizer.chat_template", TEXT,
	  .text = { "{% for m in messages %}<{{ m.role }}>{{ m.content }}</s>{% endfor "
		    "%}<assistant>" } },
};

static char path[512];

/* ---- files */

static void put_number(struct tenon_buffer *b, uint32_t type, int64_t number)
{
	static const uint8_t sizes[] = { 1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8 };

	for (int i = 0; i < sizes[type]; i++)
		tenon_buffer_u8(b, (uint8_t)((uint64_t)number >> 8 * i));
}

static void put_entry(struct tenon_buffer *b, const struct entry *e)
{
	tenon_buffer_string(b, tenon_slice_of(e->key));
	tenon_buffer_u32(b, e->type);
	if (e->type == TEXT) {
		tenon_buffer_string(b, tenon_slice_of(e->text[0] ? e->text[0] : ""));
	} else if (e->type == ARRAY) {
		tenon_buffer_u32(b, e->of);
		tenon_buffer_u64(b, e->count);
		for (uint64_t i = 0; i < e->count; i++)
			if (e->of == TEXT)
				tenon_buffer_string(b,
						    tenon_slice_of(e->text[i] ? e->text[i] : "x"));
			else
				put_number(b, e->of, e->number);
	} else {
		put_number(b, e->type, e->number);
	}
}

/* Write a file of the entries, with @other in the place of one; that is left out if it has no key. */
static void write_file(size_t place, const struct entry *other)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	tenon_buffer_append(&b, "GGUF\3\0\0\0", 8);
	tenon_buffer_u64(&b, 0);
	tenon_buffer_u64(&b, ENTRIES - (other && !other->key));
	for (size_t i = 0; i < ENTRIES; i++)
		if (!other || i != place)
			put_entry(&b, &whole[i]);
		else if (other->key)
			put_entry(&b, other);
	assert_int_equal(b.status, 0);
	assert_int_equal(fwrite(b.data, 1, b.size, f), b.size);
	assert_int_equal(fclose(f), 0);
	tenon_buffer_fini(&b);
}

/* ---- reading */

static int read_tokenizer(void)
{
	struct tenon_buffer tokens = TENON_BUFFER_INIT;
	struct tokenizer *t = NULL;
	int err = tokenizer_open(NULL, path, &t);

	assert_true(!err || !t);
	/* a vocabulary that is not known may be there, and encodes nothing */
	if (t && tokenizer_works(t))
		assert_int_equal(tokenizer_encode(t, tenon_slice_of("ab<s>"), NULL, 0, &tokens), 0);
	tenon_buffer_fini(&tokens);
	tokenizer_close(t);
	return err;
}

static int read_template(void)
{
	struct llm_template t;
	int err = llm_template_read("/no/such/folder", path, &t);

	if (!err)
		llm_template_fini(&t);
	return err;
}

/* What is read is used; what is refused has a reason that names the file. */
static void check_any(const struct entry *e)
{
	for (int i = 0; i < 2; i++) {
		if ((i ? read_template() : read_tokenizer()) && !message_has(path))
			fail_msg("%s of type %u: %s", e->key ? e->key : "none", e->type,
				 tenon_error_message());
		tenon_error_clear();
	}
}

static void each_entry_may_be_missing_or_of_another_type(void **state)
{
	static const int64_t numbers[] = { 0, -1, 3, 7, INT64_MAX };

	(void)state;
	write_file(0, NULL);
	assert_int_equal(read_tokenizer(), 0);
	assert_int_equal(read_template(), 0);
	for (size_t i = 0; i < ENTRIES; i++) {
		struct entry e = { .key = NULL };

		write_file(i, &e);
		check_any(&e);
		for (uint32_t type = U8; type <= F64; type++)
			for (size_t k = 0; k < COUNT(numbers); k++) {
				e = whole[i];
				e.type = type;
				e.number = numbers[k];
				write_file(i, &e);
				check_any(&e);
				/* and an array of it */
				e.type = ARRAY;
				e.of = type == ARRAY ? U8 : type;
				e.count = k;
				write_file(i, &e);
				check_any(&e);
			}
	}
}

static void a_wrong_entry_is_refused_with_the_reason(void **state)
{
	static const struct {
		size_t place;
		struct entry other;
		const char *words;
	} wrong[] = {
		{ 0,
		  { "tokenizer.ggml.model", I32, .number = 1 },
		  "tokenizer.ggml.model is of type 5, want 8" },
		{ 0,
		  { "tokenizer.ggml.model", ARRAY, TEXT, 1, .text = { "gpt2" } },
		  "is of type array of 8, want" },
		{ 2, { "tokenizer.ggml.tokens", TEXT, .text = { "a" } }, "want an array of" },
		{ 2,
		  { "tokenizer.ggml.tokens", ARRAY, TEXT, .count = 0 },
		  "0 tokens and 1 merges are no vocabulary" },
		{ 3,
		  { "tokenizer.ggml.token_type", ARRAY, I32, 5, .number = 1 },
		  "kinds of 5 tokens, there are 6" },
		{ 3,
		  { "tokenizer.ggml.token_type", ARRAY, I32, 6, .number = 0 },
		  "token 0 is of kind 0" },
		{ 3,
		  { "tokenizer.ggml.token_type", ARRAY, I32, 6, .number = 7 },
		  "token 0 is of kind 7" },
		{ 4, { .key = NULL }, "are no vocabulary" },
	};
	int bad = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(wrong); i++) {
		write_file(wrong[i].place, &wrong[i].other);
		if (read_tokenizer() != -TENON_E_FORMAT || !message_has(wrong[i].words)) {
			print_error("want \"%s\" in: %s\n", wrong[i].words, tenon_error_message());
			bad++;
		}
		tenon_error_clear();
	}
	assert_int_equal(bad, 0);
}

static void a_file_that_ends_early_is_refused(void **state)
{
	FILE *f;
	long size;

	(void)state;
	write_file(0, NULL);
	f = fopen(path, "rb");
	assert_non_null(f);
	assert_int_equal(fseek(f, 0, SEEK_END), 0);
	size = ftell(f);
	fclose(f);
	while (size-- > 0) {
		assert_int_equal(truncate(path, size), 0);
		if (!read_tokenizer())
			fail_msg("%ld bytes are a vocabulary", size);
		assert_error_has(path);
		tenon_error_clear();
	}
}

static int make_path(void **state)
{
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "%s/gguf.XXXXXX", getenv("TMPDIR") ?: "/tmp");
	fd = mkstemp(path);
	return fd < 0 || close(fd);
}

static int remove_path(void **state)
{
	(void)state;
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_entry_may_be_missing_or_of_another_type),
		cmocka_unit_test(a_wrong_entry_is_refused_with_the_reason),
		cmocka_unit_test(a_file_that_ends_early_is_refused),
	};

	return cmocka_run_group_tests_name("entries of GGUF", tests, make_path, remove_path);
}
