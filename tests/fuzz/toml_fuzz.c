/* SPDX-License-Identifier: MIT */
/* the bytes are a file in TOML */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tools/toml/toml.h"

/* an entry takes 72 bytes, and their array doubles */
const size_t fuzz_memory_per_byte = 128;

void fuzz_seeds(void (*visit)(void *context, const char *name, struct tenon_slice bytes),
		void *context)
{
	static const char board[] =
		"# a board\n[board]\nname = \"desk\"\nrun = '''\ncd \"$WORK\" && exec qemu "
		"\\\n\t-m 512'''\n"
		"[reach]\nconsole = \"unix:work/console\"\nspeed = 115200\npassword = ''\n"
		"[deadlines]\nreach = 300\n[suite.a-b]\nfile = 'build/a'\nneeds = [ 'x', \"y\", "
		"] # both\n";
	static const char strings[] = "a = \"\\t\\n\\\"\\\\\xc3\xa9\"\r\n"
				      "c = '''a 'quoted' word'''\nd_1 = 0\n"
				      "g=[]\n[ x.y.z ]\nq = 'no end'";

	visit(context, "board", (struct tenon_slice){ board, sizeof(board) - 1 });
	visit(context, "strings", (struct tenon_slice){ strings, sizeof(strings) - 1 });
}

void fuzz_mutate(struct mutant *m)
{
	static const char *const words[] = {
		"\n",
		"\r\n",
		"[",
		"]",
		"=",
		"#",
		".",
		",",
		"\"",
		"'",
		"\"\"\"",
		"'''",
		"\\",
		"\\u0000",
		"\\Ud8000000",
		"true",
		"[]",
		"a = 1\n",
		"[t]\n",
		"[[t]]\n",
		"0x1",
		"_",
		"9223372036854775808",
		"1e9",
		"\xc3",
		"\x7f",
		"-",
		"[\"a\", ",
	};

	if (random_one_in(&m->random, 3))
		mutate_bytes(m);
	else
		mutate_lines(m, words, sizeof(words) / sizeof(words[0]));
}

/* What was read can be used, and has a table that was before it. */
static void check_entry(const struct toml *toml, const struct toml_entry *e, unsigned int lines)
{
	size_t i = 0;

	while (*e->table && i < toml->table_count && strcmp(toml->tables[i].name, e->table))
		i++;
	if (!e->line || e->line > lines || !*e->key || (*e->table && i == toml->table_count))
		abort();
	if (e->kind == TOML_STRING && strlen(e->text) > TOML_SIZE_MOST)
		abort();
	for (i = 0; e->kind == TOML_STRINGS && i < e->strings.count; i++)
		if (strlen(e->strings.at[i]) > TOML_SIZE_MOST)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tenon_slice text = { (const char *)data, size };
	struct toml toml;
	unsigned int lines = 1;
	int err = toml_parse(text, "file.toml", &toml);

	fuzz_check(err);
	for (size_t i = 0; i < size; i++)
		lines += data[i] == '\n';
	for (size_t i = 0; !err && i < toml.entry_count; i++)
		check_entry(&toml, &toml.entries[i], lines);
	toml_fini(&toml);
	return 0;
}
