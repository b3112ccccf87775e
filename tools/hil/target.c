/* SPDX-License-Identifier: MIT */
/* Read the tables and keys of the file and check that they are complete. */
#include "tools/hil/target.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/string.h>

#include "lib/brief_errors.h"
#include "lib/nearest_name.h"
#include "tools/file/file.h"

#define SUITE_TABLE  "suite."
#define SECONDS_MOST (7 * 24 * 3600)

/* a key, and the member of the struct that receives its value */
struct key {
	const char *table;
	const char *key;
	enum toml_kind kind;
	size_t offset;
};

#define KEY(table, key, kind, member)                                                              \
	{                                                                                          \
		table, key, kind, offsetof(struct target, member)                                  \
	}
#define SUITE_KEY(key, kind, member)                                                               \
	{                                                                                          \
		NULL, key, kind, offsetof(struct target_suite, member)                             \
	}

static const struct key keys[] = {
	KEY("board", "name", TOML_STRING, name),
	KEY("board", "prepare", TOML_STRING, prepare),
	KEY("board", "run", TOML_STRING, run),
	KEY("board", "start", TOML_STRING, start),
	KEY("board", "reset", TOML_STRING, reset),
	KEY("board", "stop", TOML_STRING, stop),
	KEY("build", "command", TOML_STRING, build),
	KEY("reach", "exec", TOML_STRING, exec),
	KEY("reach", "console", TOML_STRING, console),
	KEY("reach", "speed", TOML_INTEGER, speed),
	KEY("reach", "login", TOML_STRING, login),
	KEY("reach", "password", TOML_STRING, password),
	KEY("reach", "check", TOML_STRING, check),
	KEY("reach", "directory", TOML_STRING, directory),
	KEY("reach", "wrap", TOML_STRING, wrap),
	KEY("deadlines", "build", TOML_INTEGER, deadlines.build),
	KEY("deadlines", "prepare", TOML_INTEGER, deadlines.prepare),
	KEY("deadlines", "start", TOML_INTEGER, deadlines.start),
	KEY("deadlines", "reach", TOML_INTEGER, deadlines.reach),
	KEY("deadlines", "copy", TOML_INTEGER, deadlines.copy),
	KEY("deadlines", "suite", TOML_INTEGER, deadlines.suite),
	KEY("deadlines", "stop", TOML_INTEGER, deadlines.stop),
	KEY("deadlines", "run", TOML_INTEGER, deadlines.run),
	SUITE_KEY("file", TOML_STRING, file),
	SUITE_KEY("arguments", TOML_STRINGS, arguments),
	SUITE_KEY("needs", TOML_STRINGS, needs),
	SUITE_KEY("deadline", TOML_INTEGER, deadline),
};

#define KEYS (sizeof(keys) / sizeof(keys[0]))

static const char *const tables[] = { "board", "build", "reach", "deadlines" };

#define TABLES (sizeof(tables) / sizeof(tables[0]))

static const char *kind_name(enum toml_kind kind)
{
	static const char *const names[] = { "a string", "an integer", "an array of strings" };

	return names[kind];
}

/* ---- what the file may hold */

static bool is_suite(const char *table)
{
	size_t prefix = strlen(SUITE_TABLE);

	return !strncmp(table, SUITE_TABLE, prefix) && !strchr(table + prefix, '.');
}

static bool is_table(const char *name)
{
	for (size_t i = 0; i < TABLES; i++) {
		if (!strcmp(name, tables[i]))
			return true;
	}
	return is_suite(name);
}

static int unknown(const struct target *t, unsigned int line, const char *what, const char *name,
		   const struct nearest_name *nearest)
{
	struct tenon_buffer hint = TENON_BUFFER_INIT;
	int err;

	nearest_name_print(nearest, &hint);
	err = tenon_error(-TENON_E_FORMAT, "%s:%u: no %s is called \"%s\".%s", t->path, line, what,
			  name, hint.data ? hint.data : "");
	tenon_buffer_fini(&hint);
	return err;
}

static int check_tables(const struct target *t)
{
	for (size_t i = 0; i < t->toml.table_count; i++) {
		const struct toml_table *table = &t->toml.tables[i];
		struct nearest_name nearest = { .wanted = tenon_slice_of(table->name) };

		if (is_table(table->name))
			continue;
		for (size_t k = 0; k < TABLES; k++)
			nearest_name_offer(&nearest, tenon_slice_of(tables[k]));
		return unknown(t, table->line, "table", table->name, &nearest);
	}
	return 0;
}

/* The key of an entry; NULL, with an error, if there is none or its value has another kind. */
static const struct key *key_of(const struct target *t, const struct toml_entry *entry)
{
	struct nearest_name nearest = { .wanted = tenon_slice_of(entry->key) };

	for (size_t i = 0; i < KEYS; i++) {
		const struct key *key = &keys[i];

		if (key->table ? strcmp(key->table, entry->table) != 0 : !is_suite(entry->table))
			continue;
		nearest_name_offer(&nearest, tenon_slice_of(key->key));
		if (strcmp(key->key, entry->key) != 0)
			continue;
		if (key->kind == entry->kind)
			return key;
		tenon_error(-TENON_E_FORMAT, "%s:%u: %s is %s; %s is expected", t->path,
			    entry->line, entry->key, kind_name(entry->kind), kind_name(key->kind));
		return NULL;
	}
	unknown(t, entry->line, "key of this table", entry->key, &nearest);
	return NULL;
}

/* ---- values */

static int set_integer(const struct target *t, const struct toml_entry *entry, int64_t *out)
{
	if (entry->integer < 1 || entry->integer > SECONDS_MOST * INT64_C(10))
		return tenon_error(-TENON_E_FORMAT, "%s:%u: %s is %lld; 1 to %d are possible",
				   t->path, entry->line, entry->key, (long long)entry->integer,
				   SECONDS_MOST * 10);
	*out = entry->integer;
	return 0;
}

static int set_value(const struct target *t, const struct toml_entry *entry, const struct key *key,
		     char *object)
{
	if (entry->kind == TOML_INTEGER)
		return set_integer(t, entry, (int64_t *)(void *)(object + key->offset));
	if (entry->kind == TOML_STRINGS) {
		memcpy(object + key->offset, &entry->strings, sizeof(entry->strings));
		return 0;
	}
	/* An empty string is the same as none. */
	if (entry->text[0])
		memcpy(object + key->offset, &entry->text, sizeof(entry->text));
	return 0;
}

static struct target_suite *suite_of(const struct target *t, const char *table)
{
	for (size_t i = 0; i < t->suite_count; i++) {
		if (!strcmp(t->suites[i].name, table + strlen(SUITE_TABLE)))
			return &t->suites[i];
	}
	return NULL;
}

static int set_all(struct target *t)
{
	for (size_t i = 0; i < t->toml.entry_count; i++) {
		const struct toml_entry *entry = &t->toml.entries[i];
		const struct key *key = key_of(t, entry);
		int err;

		if (!key)
			return -TENON_E_FORMAT;
		err = set_value(t, entry, key,
				key->table ? (char *)t : (char *)suite_of(t, entry->table));
		if (err)
			return err;
	}
	return 0;
}

static int add_suites(struct target *t)
{
	t->suites = calloc(t->toml.table_count + 1, sizeof(*t->suites));
	if (!t->suites)
		return tenon_error(-TENON_E_NOMEM, "%s: no memory for suites", t->path);
	for (size_t i = 0; i < t->toml.table_count; i++) {
		if (is_suite(t->toml.tables[i].name))
			t->suites[t->suite_count++].name =
				t->toml.tables[i].name + strlen(SUITE_TABLE);
	}
	return 0;
}

static int check_whole(const struct target *t)
{
	if (!t->name)
		return tenon_error(-TENON_E_FORMAT, "%s: [board] needs a name", t->path);
	if (!t->exec == !t->console)
		return tenon_error(-TENON_E_FORMAT,
				   "%s: [reach] needs either exec, the words before a command for "
				   "the board, or console, a serial line",
				   t->path);
	if (strlen(t->directory) > 200 || strchr(t->directory, '\''))
		return tenon_error(
			-TENON_E_FORMAT,
			"%s: [reach] directory has more than 200 bytes or a quotation mark",
			t->path);
	if (strchr(t->check, '\n') || (t->console && strlen(t->check) > 1000))
		return tenon_error(
			-TENON_E_FORMAT,
			"%s: [reach] check is one line, of 1000 bytes on a console; call "
			"a script of the board for more",
			t->path);
	if (t->run && t->start)
		return tenon_error(-TENON_E_FORMAT,
				   "%s: [board] has run and start; run is the board as long as it "
				   "runs, start returns: give one of them",
				   t->path);
	for (size_t i = 0; i < t->suite_count; i++) {
		if (!t->suites[i].file)
			return tenon_error(-TENON_E_FORMAT, "%s: [suite.%s] needs a file", t->path,
					   t->suites[i].name);
	}
	return 0;
}

/* ---- the file */

static int set_folder(struct target *t)
{
	const char *slash = strrchr(t->path, '/');
	char *relative = slash ? strndup(t->path, (size_t)(slash - t->path + 1)) : strdup(".");

	if (relative)
		t->folder = realpath(relative, NULL);
	free(relative);
	return t->folder ? 0 : tenon_error(-TENON_E_IO, "%s: its folder cannot be found", t->path);
}

static int read_file(struct target *t)
{
	struct tenon_buffer text = TENON_BUFFER_INIT;
	int err = file_read_text(t->path, &text);

	if (!err)
		err = toml_parse((struct tenon_slice){ text.data, text.size }, t->path, &t->toml);
	tenon_buffer_fini(&text);
	return err;
}

int target_read(const char *path, struct target *out)
{
	int err;

	*out = (struct target){
		.speed = 115200,
		.check = "true",
		.directory = "/tmp/tenon-hil",
		.deadlines = { .build = 1800,
			       .prepare = 300,
			       .start = 60,
			       .reach = 120,
			       .copy = 300,
			       .suite = 120,
			       .stop = 30,
			       .run = 3600 },
	};
	out->path = strdup(path);
	if (!out->path)
		return tenon_error(-TENON_E_NOMEM, "%s: no memory for a target", path);
	err = read_file(out);
	if (!err)
		err = set_folder(out);
	if (!err)
		err = check_tables(out);
	if (!err)
		err = add_suites(out);
	if (!err)
		err = set_all(out);
	return err ? err : check_whole(out);
}

void target_fini(struct target *target)
{
	toml_fini(&target->toml);
	free(target->suites);
	free(target->folder);
	free(target->path);
}

const struct target_suite *target_suite(const struct target *target, const char *name)
{
	for (size_t i = 0; i < target->suite_count; i++) {
		if (!strcmp(target->suites[i].name, name))
			return &target->suites[i];
	}
	return NULL;
}
