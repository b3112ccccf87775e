/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include <tenon/string.h>

#include "lib/brief_errors.h"
#include "tools/toml/toml.h"

static const char example[] = "# a board\r\n"
			      "top = 1000\n"
			      "[board] # comment\n"
			      "name = \"caf\xc3\xa9 \\\"x\\\" \\t\\\\n\"\n"
			      "start = '''\n"
			      "first \\ line\n"
			      "second''' # and so on\n"
			      "[ suite.unit-a_b ]\n"
			      "needs = [ \"one\",'two', ]\n"
			      "none = []\n"
			      "[suite]\n"
			      "deadline = 0\n";

static const struct toml_entry *entry_of(const struct toml *t, const char *table, const char *key)
{
	for (size_t i = 0; i < t->entry_count; i++)
		if (!strcmp(t->entries[i].table, table) && !strcmp(t->entries[i].key, key))
			return &t->entries[i];
	fail_msg("there is no %s in [%s]", key, table);
	return NULL;
}

static void all_forms_are_read(void **state)
{
	struct toml t;

	(void)state;
	assert_int_equal(toml_parse(tenon_slice_of(example), "x.toml", &t), 0);
	assert_int_equal(entry_of(&t, "", "top")->integer, 1000);
	assert_string_equal(entry_of(&t, "board", "name")->text, "caf\xc3\xa9 \"x\" \t\\n");
	assert_string_equal(entry_of(&t, "board", "start")->text, "first \\ line\nsecond");
	assert_int_equal(entry_of(&t, "suite.unit-a_b", "needs")->strings.count, 2);
	assert_string_equal(entry_of(&t, "suite.unit-a_b", "needs")->strings.at[1], "two");
	assert_int_equal(entry_of(&t, "suite.unit-a_b", "none")->strings.count, 0);
	assert_int_equal(entry_of(&t, "suite", "deadline")->line, 12);
	assert_int_equal(t.table_count, 3);
	toml_fini(&t);
}

/* a document, and the line that the error names */
struct refusal {
	const char *text;
	int line;
};

static void other_documents_are_refused(void **state)
{
	static const struct refusal refusals[] = {
		{ "a", 1 },
		{ "a =", 1 },
		{ "\na = \"x", 2 },
		{ "a = \"x\ny\"", 1 },
		{ "a = \"\\q\"", 1 },
		{ "a = \"\\u00e9\"", 1 },
		{ "a = \"\\", 1 },
		{ "a = \"\xff\"", 1 },
		{ "\n# \x01", 2 },
		{ "a = 1\na = 2", 2 },
		{ "a = 1 b = 2", 1 },
		{ "a = 012", 1 },
		{ "a = 1__2", 1 },
		{ "a = 99999999999999999999", 1 },
		{ "a = 1.5", 1 },
		{ "a = -1", 1 },
		{ "a = true", 1 },
		{ "a = 1979-05-27", 1 },
		{ "a = {}", 1 },
		{ "a.b = 1", 1 },
		{ "\"a\" = 1", 1 },
		{ "a = [1]", 1 },
		{ "a = ['x' 'y']", 1 },
		{ "a = ['x'", 1 },
		{ "a = [\n]", 1 },
		{ "a = \"\"\"x\"\"\"", 1 },
		{ "a = '''\n\n", 3 },
		{ "a = ''''x''''", 1 },
		{ "[a\n", 1 },
		{ "[]", 1 },
		{ "[a..b]", 1 },
		{ "[.a]", 1 },
		{ "[a]\n[a]", 2 },
		{ "[[a]]", 1 },
		{ "[a]\nb = 1\n[a.b]", 3 },
		{ "[a]\nb = 1\n[a.b.c]", 3 },
		{ "[a.b]\n[a]\nb = 1", 3 },
	};
	struct toml t;

	(void)state;
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		char place[32];

		snprintf(place, sizeof(place), "x.toml:%d: ", refusals[i].line);
		if (toml_parse(tenon_slice_of(refusals[i].text), "x.toml", &t) != -TENON_E_FORMAT ||
		    !strstr(tenon_error_message(), place))
			fail_msg("%s: %s", refusals[i].text, tenon_error_message());
		tenon_error_clear();
		toml_fini(&t);
	}
}

/* ---- the same as a complete reader */

static void print_hex(FILE *out, const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		fprintf(out, "%02x", (unsigned char)text[i]);
}

static void dump_entry(const struct toml_entry *e, FILE *out)
{
	static const char *const kinds[] = { "string", "integer", "strings" };
	char number[32];

	print_hex(out, e->table, strlen(e->table));
	fputc('\t', out);
	print_hex(out, e->key, strlen(e->key));
	fprintf(out, "\t%s", kinds[e->kind]);
	snprintf(number, sizeof(number), "%lld", (long long)e->integer);
	if (e->kind != TOML_STRINGS) {
		const char *text = e->kind == TOML_STRING ? e->text : number;

		fputc('\t', out);
		print_hex(out, text, strlen(text));
	}
	for (size_t i = 0; i < e->strings.count; i++) {
		fputc('\t', out);
		print_hex(out, e->strings.at[i], strlen(e->strings.at[i]));
	}
	fputc('\n', out);
}

static void dump(const struct toml *t, struct tenon_slice text, FILE *out)
{
	char *lines = NULL;
	size_t size = 0;
	FILE *dump = open_memstream(&lines, &size);

	assert_non_null(dump);
	for (size_t i = 0; i < t->table_count; i++) {
		print_hex(dump, t->tables[i].name, strlen(t->tables[i].name));
		fputs("\t\ttable\n", dump);
	}
	for (size_t i = 0; i < t->entry_count; i++)
		dump_entry(&t->entries[i], dump);
	fclose(dump);
	print_hex(out, text.data, text.size);
	fputc('\n', out);
	print_hex(out, lines, size);
	fputc('\n', out);
	free(lines);
}

/* One to three edits: a byte of TOML's own characters is written over, put in or taken out. */
static size_t mutate(char *text, size_t size, uint32_t *random)
{
	static const char alphabet[] = "\"'[]=.,#\\ \n\r\tab019_-ntu{}\xc3\xa9\x80";

	for (int edits = 0; edits < 3; edits++) {
		size_t at = (*random = *random * 1664525 + 1013904223) % size;
		char byte = alphabet[(*random >> 8) % (sizeof(alphabet) - 1)];

		switch (*random >> 24 & 3) {
		case 0:
			memmove(text + at, text + at + 1, size - at - 1);
			size--;
			break;
		case 1:
			memmove(text + at + 1, text + at, size - at);
			size++;
			text[at] = byte;
			break;
		case 2:
			text[at] = byte;
			break;
		default:
			return size;
		}
	}
	return size;
}

static void accepted_documents_are_read_as_by_python(void **state)
{
	char path[512], command[1200], text[sizeof(example) + 8];
	const char *folder = getenv("TMPDIR");
	uint32_t random = 1;
	unsigned int accepted = 0;
	FILE *out;

	(void)state;
	if (system("python3 -c 'import tomllib' 2> /dev/null")) {
		print_message("python3 has no tomllib\n");
		skip();
	}
	snprintf(path, sizeof(path), "%s/toml-%d", folder ? folder : "/tmp", (int)getpid());
	out = fopen(path, "w");
	assert_non_null(out);
	for (int i = 0; i < 4000; i++) {
		/* An exact copy, so that AddressSanitizer sees a read beyond the end. */
		size_t size = sizeof(example) - 1;
		struct tenon_slice slice;
		struct toml t;
		char *copy;

		memcpy(text, example, size);
		if (i)
			size = mutate(text, size, &random);
		copy = malloc(size);
		assert_non_null(copy);
		memcpy(copy, text, size);
		slice = (struct tenon_slice){ copy, size };
		if (!toml_parse(slice, "x.toml", &t)) {
			dump(&t, slice, out);
			accepted++;
		}
		tenon_error_clear();
		toml_fini(&t);
		free(copy);
	}
	fclose(out);
	assert_true(accepted > 200);
	snprintf(command, sizeof(command), "python3 tests/board/toml_compare.py '%s'", path);
	assert_int_equal(system(command), 0);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_forms_are_read),
		cmocka_unit_test(other_documents_are_refused),
		cmocka_unit_test(accepted_documents_are_read_as_by_python),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
