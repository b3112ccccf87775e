/* SPDX-License-Identifier: MIT */
/* The vocabulary and the chat template of a file in GGUF, beside what llama.cpp and Jinja make of them (gguf_record.py). */
#include "tests/unit/suite.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>
#include <unistd.h>

#include "llm/jinja.h"
#include "llm/llm_engine.h"
#include "llm/llm_gguf.h"
#include "llm/tokenizer.h"

struct recorded {
	const char *pre;
	const char *text;
	const char *tokens;
};

struct template
{
	const char *name;
	const char *program;
	const char *text;  /* of the conversation; NULL for an error */
	const char *shape; /* conv_template; NULL if it cannot be stated so */
};

#include "tests/llm/gguf_recorded.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define BEGIN_TOKEN (COUNT(tokens) - 3)
#define END_TOKEN   (COUNT(tokens) - 2)

static char path[512];

/* ---- files */

static void put_key(struct tenon_buffer *b, const char *key, uint32_t type)
{
	tenon_buffer_string(b, tenon_slice_of(key));
	tenon_buffer_u32(b, type);
}

static void put_text(struct tenon_buffer *b, const char *key, const char *text)
{
	put_key(b, key, 8);
	tenon_buffer_string(b, tenon_slice_of(text));
}

static void put_texts(struct tenon_buffer *b, const char *key, const char *const *texts,
		      size_t count)
{
	size_t i;

	put_key(b, key, 9);
	tenon_buffer_u32(b, 8);
	tenon_buffer_u64(b, count);
	for (i = 0; i < count; i++)
		tenon_buffer_string(b, tenon_slice_of(texts[i]));
}

/* Write a file without tensors: @pre and @program, and @more entries of metadata. */
static void write_file(const char *pre, const char *program, const struct tenon_buffer *more,
		       uint64_t more_count)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	FILE *f = fopen(path, "wb");
	size_t i;

	assert_non_null(f);
	tenon_buffer_append(&b, "GGUF\3\0\0\0", 8);
	tenon_buffer_u64(&b, 0);
	tenon_buffer_u64(&b, 7 + (program != NULL) + more_count);
	put_text(&b, "tokenizer.ggml.model", "gpt2");
	put_text(&b, "tokenizer.ggml.pre", pre);
	put_texts(&b, "tokenizer.ggml.tokens", tokens, COUNT(tokens));
	put_key(&b, "tokenizer.ggml.token_type", 9);
	tenon_buffer_u32(&b, 5);
	tenon_buffer_u64(&b, COUNT(tokens));
	for (i = 0; i < COUNT(tokens); i++)
		tenon_buffer_u32(&b, i + 1 == COUNT(tokens) ? 4 : i >= BEGIN_TOKEN ? 3 : 1);
	put_texts(&b, "tokenizer.ggml.merges", merges, COUNT(merges));
	put_key(&b, "tokenizer.ggml.bos_token_id", 4);
	tenon_buffer_u32(&b, BEGIN_TOKEN);
	put_key(&b, "tokenizer.ggml.eos_token_id", 4);
	tenon_buffer_u32(&b, END_TOKEN);
	if (program)
		put_text(&b, "tokenizer.chat_template", program);
	if (more)
		tenon_buffer_append(&b, more->data, more->size);
	assert_int_equal(b.status, 0);
	assert_int_equal(fwrite(b.data, 1, b.size, f), b.size);
	fclose(f);
	tenon_buffer_fini(&b);
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

/* ---- tokens */

static void print_tokens(const struct tenon_buffer *b, char *to, size_t room)
{
	size_t i, at = 0;

	*to = '\0';
	for (i = 0; i < b->size / sizeof(int32_t) && at < room; i++)
		at += (size_t)snprintf(to + at, room - at, i ? " %d" : "%d",
				       ((const int32_t *)(const void *)b->data)[i]);
}

static void the_tokens_are_those_of_llama_cpp(void **state)
{
	struct tokenizer *t = NULL;
	struct tenon_buffer b;
	char line[512];
	size_t i;
	int wrong = 0;

	(void)state;
	for (i = 0; i < COUNT(recorded); i++) {
		if (!i || strcmp(recorded[i].pre, recorded[i - 1].pre)) {
			tokenizer_close(t);
			write_file(recorded[i].pre, NULL, NULL, 0);
			if (tokenizer_open(NULL, path, &t))
				fail_msg("%s", tenon_error_message());
		}
		b = (struct tenon_buffer)TENON_BUFFER_INIT;
		assert_int_equal(tokenizer_encode(t, tenon_slice_of(recorded[i].text), NULL, 0, &b),
				 0);
		print_tokens(&b, line, sizeof(line));
		if (strcmp(line, recorded[i].tokens)) {
			print_error("%s: \"%s\": %s, want %s\n", recorded[i].pre, recorded[i].text,
				    line, recorded[i].tokens);
			wrong++;
		}
		tenon_buffer_fini(&b);
	}
	tokenizer_close(t);
	assert_int_equal(wrong, 0);
}

static void a_vocabulary_that_is_not_understood_encodes_no_text(void **state)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct tokenizer *t;

	(void)state;
	write_file("deepseek-v9", NULL, NULL, 0);
	assert_int_equal(tokenizer_open(NULL, path, &t), 0);
	assert_non_null(t);
	assert_false(tokenizer_works(t));
	assert_int_equal(tokenizer_encode(t, tenon_slice_of("a"), NULL, 0, &b),
			 -TENON_E_UNSUPPORTED);
	assert_error_has("deepseek-v9");
	assert_int_equal(tokenizer_decode(t, 'a').size, 0);
	tokenizer_close(t);
	tenon_buffer_fini(&b);
}

static void a_vocabulary_that_is_damaged_is_refused(void **state)
{
	static const char *const twice[] = { "a" };
	struct tenon_buffer more = TENON_BUFFER_INIT;
	struct tokenizer *t;

	(void)state;
	put_texts(&more, "tokenizer.ggml.tokens", twice, 1);
	write_file("gpt-2", NULL, &more, 1);
	assert_int_equal(tokenizer_open(NULL, path, &t), -TENON_E_FORMAT);
	assert_error_has("tokenizer.ggml.tokens is there twice");
	tenon_buffer_fini(&more);
}

/* ---- templates */

static const struct tenon_llm_message messages[] = {
	{ { "user", 4 }, { "first0text", 10 } },
	{ { "assistant", 9 }, { "reply0text", 10 } },
	{ { "user", 4 }, { "second0text", 11 } },
};

static int render(const char *program, struct tenon_buffer *out)
{
	const struct jinja_input in = { messages, COUNT(messages), tenon_slice_of("<|a|>"),
					tenon_slice_of("<|z|>") };

	return jinja_render(tenon_slice_of(program), "file", &in, out);
}

static void templates_are_rendered_as_by_jinja(void **state)
{
	const struct template *t;
	struct tenon_buffer b;

	(void)state;
	for (t = templates; t < templates + COUNT(templates); t++) {
		b = (struct tenon_buffer)TENON_BUFFER_INIT;
		if (render(t->program, &b)) {
			if (t->text)
				fail_msg("%s: %s", t->name, tenon_error_message());
			tenon_error_clear();
		} else if (!t->text) {
			fail_msg("%s is taken", t->name);
		} else if (b.size != strlen(t->text) || memcmp(b.data, t->text, b.size)) {
			fail_msg("%s: \"%.*s\", want \"%s\"", t->name, (int)b.size, b.data,
				 t->text);
		}
		tenon_buffer_fini(&b);
	}
}

#define OPEN_10	 "(((((((((("
#define CLOSE_10 "))))))))))"

/* What Jinja would not do, or what takes too long. */
static void a_template_that_is_wrong_or_does_not_end_is_refused(void **state)
{
	static const struct {
		const char *program, *why;
	} wrong[] = {
		{ "{% if true %}", "endif" },
		{ "a\n{{ 'b", "line 2" },
		{ "{% endfor %}", "without its beginning" },
		{ "{% set ns = namespace() %}{% set ns.a %}{% set ns = 'twenty-four bytes of text' "
		  "%}"
		  "{% endset %}{{ ns.a.b }}",
		  "undefined" },
		{ "{% set ns = namespace(a=[1], b=[1]) %}{% for i in [1, 2, 3, 4, 5] %}"
		  "{% for k in [1, 2, 3, 4, 5, 6, 7, 8] %}{% set ns.a = [ns.a, ns.a] %}"
		  "{% set ns.b = [ns.b, ns.b] %}{% endfor %}{% endfor %}{{ ns.a == ns.b }}",
		  "steps" },
		{ "{{ 'a' | trim('b') }}", "an argument of filter" },
		{ "{{ messages | tojson }}", "tojson" },
		{ "{{ nothing.here }}", "undefined" },
		{ "{{ 1 + 'a' }}", "two integers" },
		{ "{{ raise_exception('no tools') }}", "no tools" },
		{ "{{ 9223372036854775807 }}", "too large" },
		{ "{{ open('/etc/passwd') }}", "open" },
		{ "{{ ''.__class__.__mro__ }}", "undefined" },
		{ "{% for a in messages %}{% for b in messages %}{% for c in messages %}"
		  "{% for d in messages %}{% for e in messages %}{% for f in messages %}"
		  "{% for g in messages %}{% for h in messages %}{% for i in messages %}"
		  "{% for j in messages %}{% for k in messages %}{% for l in messages %}{% endfor "
		  "%}"
		  "{% endfor %}{% endfor %}{% endfor %}{% endfor %}{% endfor %}{% endfor %}"
		  "{% endfor %}{% endfor %}{% endfor %}{% endfor %}{% endfor %}",
		  "more than" },
		{ "{% set ns = namespace(a='aaaaaaaa') %}{% for a in messages %}{% for b in "
		  "messages %}"
		  "{% for c in messages %}{% set ns.a = ns.a + ns.a %}{% endfor %}{% endfor %}"
		  "{% endfor %}",
		  "memory" },
		{ "{{ " OPEN_10 OPEN_10 OPEN_10 OPEN_10 OPEN_10 OPEN_10 OPEN_10
		  "1" CLOSE_10 CLOSE_10 CLOSE_10 CLOSE_10 CLOSE_10 CLOSE_10 CLOSE_10 " }}",
		  "too deep" },
	};
	struct tenon_buffer b = TENON_BUFFER_INIT;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(wrong); i++) {
		if (!render(wrong[i].program, &b))
			fail_msg("%s is taken", wrong[i].program);
		assert_error_has(wrong[i].why);
		tenon_buffer_fini(&b);
	}
}

/* The conv_template of a configuration; NULL for none. */
static cJSON *shape_of(struct tenon_slice text)
{
	cJSON *json = cJSON_ParseWithLength(text.data, text.size), *shape;

	assert_non_null(json);
	shape = cJSON_DetachItemFromObject(json, "conv_template");
	cJSON_Delete(json);
	return shape;
}

static void a_template_becomes_the_one_that_tenon_compile_writes(void **state)
{
	struct tenon_buffer text, why;
	const struct template *t;
	cJSON *have, *want;

	(void)state;
	for (t = templates; t < templates + COUNT(templates); t++) {
		text = why = (struct tenon_buffer)TENON_BUFFER_INIT;
		write_file("gpt-2", t->program, NULL, 0);
		if (gguf_chat_json(path, &text, &why))
			fail_msg("%s: %s", t->name, tenon_error_message());
		have = shape_of((struct tenon_slice){ text.data, text.size });
		want = t->shape ? cJSON_Parse(t->shape) : NULL;
		if (!have != !want || (want && !cJSON_Compare(have, want, true)))
			fail_msg("%s: %.*s, want %s", t->name, (int)text.size, text.data,
				 t->shape ? t->shape : "none");
		assert_true(have || why.size);
		cJSON_Delete(have);
		cJSON_Delete(want);
		tenon_buffer_fini(&text);
		tenon_buffer_fini(&why);
	}
}

/* ---- whole models: what is asked for and what ends a reply */

static void a_conversation_is_read_from_the_file(void **state)
{
	struct llm_template t;

	(void)state;
	write_file("gpt-2", templates[0].program, NULL, 0);
	assert_int_equal(llm_template_read("/nonexistent", path, &t), 0);
	assert_true(t.present);
	assert_null(t.problem);
	assert_int_equal(t.end_count, 1);
	assert_int_equal(t.ends[0], END_TOKEN);
	assert_true(tenon_slice_equal(t.roles[LLM_USER], tenon_slice_of("<|a|>user\n")));
	llm_template_fini(&t);
	write_file("gpt-2", "{% macro a() %}{% endmacro %}", NULL, 0);
	assert_int_equal(llm_template_read("/nonexistent", path, &t), 0);
	assert_false(t.present);
	assert_non_null(strstr(t.problem, "macro"));
	assert_int_equal(t.ends[0], END_TOKEN);
	llm_template_fini(&t);
}

static void a_token_beyond_the_vocabulary_is_an_error(void **state)
{
	struct tenon_buffer more = TENON_BUFFER_INIT, text = TENON_BUFFER_INIT,
			    why = TENON_BUFFER_INIT;

	(void)state;
	put_key(&more, "tokenizer.ggml.eot_token_id", 4);
	tenon_buffer_u32(&more, COUNT(tokens));
	write_file("gpt-2", NULL, &more, 1);
	assert_int_equal(gguf_chat_json(path, &text, &why), -TENON_E_FORMAT);
	assert_error_has("tokenizer.ggml.eot_token_id");
	tenon_buffer_fini(&more);
	tenon_buffer_fini(&text);
	tenon_buffer_fini(&why);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_tokens_are_those_of_llama_cpp),
		cmocka_unit_test(a_vocabulary_that_is_not_understood_encodes_no_text),
		cmocka_unit_test(a_vocabulary_that_is_damaged_is_refused),
		cmocka_unit_test(templates_are_rendered_as_by_jinja),
		cmocka_unit_test(a_template_that_is_wrong_or_does_not_end_is_refused),
		cmocka_unit_test(a_template_becomes_the_one_that_tenon_compile_writes),
		cmocka_unit_test(a_conversation_is_read_from_the_file),
		cmocka_unit_test(a_token_beyond_the_vocabulary_is_an_error),
	};

	return cmocka_run_group_tests(tests, make_path, remove_path);
}
