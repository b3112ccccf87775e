/* SPDX-License-Identifier: MIT */
/* Chat templates: small ones beside what Jinja makes of them (jinja_record.py), what is refused, and the limits. */
#include "tests/unit/suite.h"

#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>

#include "llm/jinja.h"
#include "tests/llm/refused.h"

struct recorded {
	const char *program;
	const char *text;
};

#include "tests/llm/jinja_recorded.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static int render(const char *program, struct tenon_buffer *out)
{
	const struct tenon_llm_message messages[] = {
		{ tenon_slice_of("system"), tenon_slice_of(" Be good. ") },
		{ tenon_slice_of("user"), tenon_slice_of("a-b-c") },
		{ tenon_slice_of("assistant"), tenon_slice_of("") },
	};
	const struct jinja_input in = { messages, COUNT(messages), tenon_slice_of("<s>"),
					tenon_slice_of("</s>") };

	return jinja_render(tenon_slice_of(program), "file", &in, out);
}

static void templates_are_rendered_as_by_jinja(void **state)
{
	int wrong = 0;

	for (size_t i = 0; i < COUNT(recorded); i++) {
		struct tenon_buffer out = TENON_BUFFER_INIT;
		int err = render(recorded[i].program, &out);

		tenon_buffer_u8(&out, 0);
		if (err || strcmp((const char *)out.data, recorded[i].text)) {
			print_error("%s: \"%s\", want \"%s\" %s\n", recorded[i].program,
				    (const char *)out.data, recorded[i].text,
				    err ? tenon_error_message() : "");
			wrong++;
		}
		tenon_error_clear();
		tenon_buffer_fini(&out);
	}
	assert_int_equal(wrong, 0);
}

/* what is wrong, what is no part of chat templates, and what is true of no value */
static const struct refused refused_programs[] = {
	{ -TENON_E_FORMAT, "a tag without an end", "a\n{{ 1" },
	{ -TENON_E_FORMAT, "line 2", "a\n{{ 1" },
	{ -TENON_E_FORMAT, "a comment without an end", "{# a" },
	{ -TENON_E_FORMAT, "a string without an end", "{{ 'a }}" },
	{ -TENON_E_FORMAT, "not Jinja's", "{{ 1 $ 2 }}" },
	{ -TENON_E_FORMAT, "there is no \"endif\"", "{% if 1 %}a" },
	{ -TENON_E_FORMAT, "there is no \"endif\"", "{% if 1 %}a{% endfor %}" },
	{ -TENON_E_FORMAT, "there is no \"endfor\"", "{% for a in [1] %}a" },
	{ -TENON_E_FORMAT, "there is no \"endfor\"", "{% for a in [1] %}a{% endif %}" },
	{ -TENON_E_FORMAT, "there is no \"endset\"", "{% set a %}a" },
	{ -TENON_E_FORMAT, "\"else\" is followed", "{% if 0 %}{% else 1 %}{% endif %}" },
	{ -TENON_E_FORMAT, "an end without", "a{% endif %}" },
	{ -TENON_E_FORMAT, "want a name", "{% 1 %}" },
	{ -TENON_E_FORMAT, "want a name", "{% for 1 in [] %}{% endfor %}" },
	{ -TENON_E_FORMAT, "want \"in\"", "{% for a of [] %}{% endfor %}" },
	{ -TENON_E_FORMAT, "want a name", "{% set 1 = 2 %}" },
	{ -TENON_E_FORMAT, "want a name", "{{ a.1 }}" },
	{ -TENON_E_FORMAT, "want \")\"", "{{ (1 2) }}" },
	{ -TENON_E_FORMAT, "want \")\"", "{{ 'a'.strip('b' 'c') }}" },
	{ -TENON_E_FORMAT, "want \"]\"", "{{ [1 2] }}" },
	{ -TENON_E_FORMAT, "want \"]\"", "{{ 'a'[1:2 3] }}" },
	{ -TENON_E_FORMAT, "where a value should be", "{{ }}" },
	{ -TENON_E_FORMAT, "where a value should be", "{{ 1 + }}" },
	{ -TENON_E_UNSUPPORTED, "where a value should be", "{{ {} }}" },
	{ -TENON_E_UNSUPPORTED, "what follows a value", "{{ 1 2 }}" },
	{ -TENON_E_UNSUPPORTED, "what follows a value", "{{ 1 / 2 }}" },
	{ -TENON_E_UNSUPPORTED, "at the end of a tag", "{% if 1 2 %}{% endif %}" },
	{ -TENON_E_UNSUPPORTED, "at the end of a tag", "{% set a = 1 2 %}" },
	{ -TENON_E_UNSUPPORTED, "at the end of a tag", "{% for a in [1] recursive %}{% endfor %}" },
	{ -TENON_E_UNSUPPORTED, "\"macro\"", "{% macro a() %}{% endmacro %}" },
	{ -TENON_E_UNSUPPORTED, "two names", "{% for a, b in [] %}{% endfor %}" },
	{ -TENON_E_UNSUPPORTED, "over what is no list", "{% for a in 'abc' %}{% endfor %}" },
	{ -TENON_E_UNSUPPORTED, "printing a list", "{{ [1] }}" },
	{ -TENON_E_UNSUPPORTED, "printing a list", "{{ messages[0] }}" },
	{ -TENON_E_UNSUPPORTED, "function \"range\"", "{{ range(3) }}" },
	{ -TENON_E_UNSUPPORTED, "method \"title\"", "{{ 'a'.title() }}" },
	{ -TENON_E_UNSUPPORTED, "method \"items\"", "{{ messages[0].items() }}" },
	{ -TENON_E_UNSUPPORTED, "method \"append\"", "{{ messages.append(1) }}" },
	{ -TENON_E_UNSUPPORTED, "filter \"tojson\"", "{{ messages | tojson }}" },
	{ -TENON_E_UNSUPPORTED, "filter \"title\"", "{{ 'a' | title }}" },
	{ -TENON_E_UNSUPPORTED, "an argument of filter \"trim\"", "{{ 'a' | trim('a') }}" },
	{ -TENON_E_UNSUPPORTED, "test \"number\"", "{{ 1 is number }}" },
	{ -TENON_E_UNSUPPORTED, "test \"odd\"", "{{ 'a' is odd }}" },
	{ -TENON_E_UNSUPPORTED, "letters than ASCII", "{{ '\303\251' | upper }}" },
	{ -TENON_E_UNSUPPORTED, "not ASCII", "{{ '\303\251'[0] }}" },
	{ -TENON_E_UNSUPPORTED, "not ASCII", "{{ '\303\251'[:1] }}" },
	{ -TENON_E_UNSUPPORTED, "white space", "{{ 'a b'.split()[0] }}" },
	{ -TENON_E_UNSUPPORTED, "a step of a slice", "{{ [1][::2] }}" },
	{ -TENON_E_UNSUPPORTED, "a step of a slice", "{{ [1][0::-1] }}" },
	{ -TENON_E_UNSUPPORTED, "the reverse", "{{ 'ab'[::-1] }}" },
	{ -TENON_E_UNSUPPORTED, "divisor", "{{ 1 % 0 }}" },
	{ -TENON_E_UNSUPPORTED, "divisor", "{{ 1 % -2 }}" },
	{ -TENON_E_UNSUPPORTED, "\"<\" of other values", "{{ 'a' < 'b' }}" },
	{ -TENON_E_UNSUPPORTED, "in a text", "{{ '\\x41' }}" },
	{ -TENON_E_UNSUPPORTED, "more than",
	  "{{ [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,"
	  "21,22,23,24,25,26,27,28,29,30,31,32,33] }}" },
	{ -TENON_E_VALUE, "\"+\" of other values", "{{ 'a' + 1 }}" },
	{ -TENON_E_VALUE, "\"-\" of other values", "{{ 'a' - 'b' }}" },
	{ -TENON_E_VALUE, "\"*\" of other values", "{{ none * 2 }}" },
	{ -TENON_E_VALUE, "\"in\" what is no text", "{{ 1 in 2 }}" },
	{ -TENON_E_VALUE, "a member of what is undefined", "{{ a.b }}" },
	{ -TENON_E_VALUE, "a member of what is undefined", "{{ a['b'] }}" },
	{ -TENON_E_VALUE, "no integer or text", "{{ messages[none] }}" },
	{ -TENON_E_VALUE, "a slice of what is no list", "{{ 1[1:] }}" },
	{ -TENON_E_VALUE, "an end of what is no list", "{{ [] | first }}" },
	{ -TENON_E_VALUE, "an end of what is no list", "{{ 'a' | last }}" },
	{ -TENON_E_VALUE, "the length of what has none", "{{ 1 | length }}" },
	{ -TENON_E_VALUE, "without a name", "{{ messages[0].get() }}" },
	{ -TENON_E_VALUE, "without a name", "{{ messages[0].get(1) }}" },
	{ -TENON_E_VALUE, "want one text", "{{ 'a'.strip(1) }}" },
	{ -TENON_E_VALUE, "want one text", "{{ 'a'.strip('a', 'b') }}" },
	{ -TENON_E_VALUE, "want one text", "{{ raise_exception() }}" },
	{ -TENON_E_VALUE, "roles alternate", "{{ raise_exception('roles alternate') }}" },
	{ -TENON_E_VALUE, "no namespace()", "{% set a = 1 %}{% set a.b = 2 %}" },
	{ -TENON_E_VALUE, "no namespace()", "{% set a.b = 2 %}" },
	{ -TENON_E_VALUE, "want one text", "{{ strftime_now() }}" },
	{ -TENON_E_VALUE, "without a name", "{{ messages[0].get('a', 'b', 'c') }}" },
	{ -TENON_E_FORMAT, "want \"]\"", "{{ [1][::-1 2] }}" },
	{ -TENON_E_FORMAT, "want \":\"", "{{ [1][1 2] }}" },
	{ -TENON_E_FORMAT, "want a name", "{{ 1 | 2 }}" },
	{ -TENON_E_FORMAT, "want a name", "{{ 1 is 2 }}" },
	{ -TENON_E_FORMAT, "want a name", "{% set a.1 = 2 %}" },
	{ -TENON_E_FORMAT, "\"else\" is followed", "{% for a in [] %}{% else 1 %}{% endfor %}" },
	{ -TENON_E_FORMAT, "there is no \"endgeneration\"", "{% generation %}a{% endif %}" },
	{ -TENON_E_FORMAT, "not Jinja's", "{{ \x01 }}" },
	{ -TENON_E_UNSUPPORTED, "at the end of a tag", "{% generation 1 %}{% endgeneration %}" },
	{ -TENON_E_UNSUPPORTED, "at the end of a tag", "{% set a 1 %}{% endset %}" },
	{ -TENON_E_UNSUPPORTED, "\"<\" of other values", "{{ 1 < 'b' }}" },
	{ -TENON_E_UNSUPPORTED, "of a value that is no text, filter \"upper\"", "{{ 1 | upper }}" },
	{ -TENON_E_UNSUPPORTED, "more than",
	  "{{ strftime_now(1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,"
	  "21,22,23,24,25,26,27,28,29,30,31,32,33) }}" },
	{ -TENON_E_VALUE, "a form of a date",
	  "{{ strftime_now('0123456789012345678901234567890123456"
	  "7890123456789012345678901234567890') }}" },
	{ -TENON_E_OVERFLOW, "too large", "{{ 1234567890123456789 }}" },
	{ -TENON_E_OVERFLOW, "too large", "{{ 999999999999999999 * 999999999999999999 }}" },
	{ -TENON_E_OVERFLOW, "too large",
	  "{% set n = namespace(a=999999999999999999) %}{% for i in [1,2,3,4] %}"
	  "{% set n.a = n.a + n.a %}{% endfor %}" },
};

static int render_alone(struct tenon_slice program)
{
	struct tenon_buffer out = TENON_BUFFER_INIT;
	int err = render(program.data, &out);

	tenon_buffer_fini(&out);
	return err;
}

static void what_is_no_chat_template_is_refused(void **state)
{
	(void)state;
	assert_int_equal(count_wrong(refused_programs, COUNT(refused_programs), render_alone), 0);
}

/* In a part that is not done, and where training has its marks. */
static void what_jinja_knows_and_is_not_done_is_stepped_over(void **state)
{
	static const struct recorded programs[] = {
		{ "{% if 0 %}{% macro a(b) %}{% endmacro %}{% call a() %}{% endcall %}{% filter "
		  "upper %}"
		  "{% endfilter %}{% generation %}{% endgeneration %}{% set a = 1 %}{% set b %}{% "
		  "endset %}"
		  "{{ x.y }}{% endif %}a",
		  "a" },
		{ "{% generation %}a{% endgeneration %}b", "ab" },
		{ "{% for a in [1, 2] %}{% generation %}{{ a }}{% break %}{% endgeneration %}{% "
		  "endfor %}",
		  "1" },
		{ "{% for a in [1, 2] %}{% set b %}{% continue %}{% endset %}{{ a }}{% endfor %}c",
		  "c" },
		{ "{% for a in [1] %}{% if 0 %}{% elif 1 %}{% break %}{% endif %}{% endfor %}d",
		  "d" },
		{ "{{ strftime_now('') }}e", "e" },
	};

	for (size_t i = 0; i < COUNT(programs); i++) {
		struct tenon_buffer out = TENON_BUFFER_INIT;

		if (render(programs[i].program, &out))
			fail_msg("%s: %s", programs[i].program, tenon_error_message());
		tenon_buffer_u8(&out, 0);
		assert_string_equal(out.data, programs[i].text);
		tenon_buffer_fini(&out);
	}
}

/* It is rendered, or refused with a reason that names the file. */
static void check_any(const char *program)
{
	struct tenon_buffer out = TENON_BUFFER_INIT;

	if (render(program, &out) && !message_has("file: line "))
		fail_msg("%s: \"%s\"", program, tenon_error_message());
	tenon_error_clear();
	tenon_buffer_fini(&out);
}

static void each_template_may_lack_or_have_a_character(void **state)
{
	static const char letters[] = "}({'[,a";
	char program[2000];

	for (size_t i = 0; i < COUNT(recorded); i++) {
		const char *whole = recorded[i].program;
		const size_t size = strlen(whole);

		assert_true(size + 2 < sizeof(program));
		for (size_t at = 0; at < size; at++) {
			/* without what follows, without this one, and with another one in its place */
			memcpy(program, whole, at);
			program[at] = '\0';
			check_any(program);
			strcpy(program + at, whole + at + 1);
			check_any(program);
			strcpy(program + at, whole + at);
			program[at] = letters[(i + at) % (sizeof(letters) - 1)];
			check_any(program);
		}
	}
}

/* @open and @close so many times around @middle */
static int render_nested(const char *open, const char *middle, const char *close, size_t depth)
{
	const size_t size = depth * (strlen(open) + strlen(close)) + strlen(middle) + 1;
	struct tenon_buffer out = TENON_BUFFER_INIT;
	char *program = calloc(1, size), *at = program;
	int err;

	assert_non_null(program);
	for (size_t i = 0; i < depth; i++)
		at = stpcpy(at, open);
	at = stpcpy(at, middle);
	for (size_t i = 0; i < depth; i++)
		at = stpcpy(at, close);
	err = render(program, &out);
	free(program);
	tenon_buffer_fini(&out);
	tenon_error_clear();
	return err;
}

/* @before, then @repeated so many times, then @behind */
static int render_repeated(const char *before, const char *repeated, size_t count,
			   const char *behind)
{
	char *program = malloc(strlen(before) + count * strlen(repeated) + strlen(behind) + 1);
	struct tenon_buffer out = TENON_BUFFER_INIT;
	char *at;
	int err;

	assert_non_null(program);
	at = stpcpy(program, before);
	for (size_t i = 0; i < count; i++)
		at = stpcpy(at, repeated);
	strcpy(at, behind);
	err = render(program, &out);
	free(program);
	tenon_buffer_fini(&out);
	return err;
}

static void depth_and_length_of_values_have_limits(void **state)
{
	static const char doubled[] = "{% set a = a ~ a %}",
			  inside[] = "{% set a = [a] %}{% set b = [b] %}";

	assert_int_equal(render_repeated("{{ ", "- ", 6, "1 }}"), 0);
	assert_int_equal(render_repeated("{{ ", "- ", 5000, "1 }}"), -TENON_E_OVERFLOW);
	assert_error_has("too deep");
	assert_int_equal(render_repeated("{{ ", "1 if 0 else ", 5000, "1 }}"), -TENON_E_OVERFLOW);
	assert_int_equal(render_repeated("", inside, 8, "{{ a == b }}"), 0);
	assert_int_equal(render_repeated("", inside, 80, "{{ a == b }}"), -TENON_E_OVERFLOW);
	assert_error_has("lists that are too deep");
	assert_int_equal(render_repeated("", inside, 80, "{{ a in [b] }}"), -TENON_E_OVERFLOW);
	/* 2 to the power of 15 */
	assert_int_equal(render_repeated("{% set a = 'a' %}", doubled, 15,
					 "{% for b in messages %}{{ a }}{% endfor %}"),
			 0);
	assert_int_equal(render_repeated("{% set a = 'a' %}", doubled, 19,
					 "{% for b in messages %}{{ a }}{% endfor %}{{ a }}"),
			 -TENON_E_OVERFLOW);
	assert_error_has("bytes of text");
	tenon_error_clear();
}

static void depth_steps_and_memory_have_limits(void **state)
{
	static const char doubled[] = "{% set a = a ~ a %}";

	assert_int_equal(render_nested("{% if 1 %}", "a", "{% endif %}", 5), 0);
	assert_int_equal(render_nested("{% if 1 %}", "a", "{% endif %}", 5000), -TENON_E_OVERFLOW);
	assert_int_equal(render_nested("", "{% set a = 'ab' %}", doubled, 40), -TENON_E_OVERFLOW);
	assert_int_equal(render_nested("{% for a in messages %}", "a", "{% endfor %}", 25),
			 -TENON_E_OVERFLOW);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(templates_are_rendered_as_by_jinja),
		cmocka_unit_test(what_is_no_chat_template_is_refused),
		cmocka_unit_test(what_jinja_knows_and_is_not_done_is_stepped_over),
		cmocka_unit_test(each_template_may_lack_or_have_a_character),
		cmocka_unit_test(depth_and_length_of_values_have_limits),
		cmocka_unit_test(depth_steps_and_memory_have_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
