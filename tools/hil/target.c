/* SPDX-License-Identifier: MIT */
/* Read the file of a board and check that it is complete. */
#include "tools/hil/target.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/brief_errors.h"
#include "lib/json_read.h"
#include "lib/nearest_name.h"
#include "tools/file/file.h"

#define SECONDS_MOST (7 * 24 * 3600)

enum kind {
	STRING,
	SECONDS,
	WORDS,
};

/* a key, and the member of the struct that receives its value */
struct key {
	const char *table;
	const char *key;
	enum kind kind;
	size_t offset;
};

#define KEY(table, key, kind, member)                                                              \
	{                                                                                          \
		table, key, kind, offsetof(struct target, member)                                  \
	}
#define SUITE_KEY(key, kind)                                                                       \
	{                                                                                          \
		"suite", #key, kind, offsetof(struct target_suite, key)                            \
	}

static const struct key keys[] = {
	KEY("board", "name", STRING, name),
	KEY("board", "prepare", STRING, prepare),
	KEY("board", "run", STRING, run),
	KEY("board", "start", STRING, start),
	KEY("board", "reset", STRING, reset),
	KEY("board", "stop", STRING, stop),
	KEY("build", "command", STRING, build),
	KEY("reach", "exec", STRING, exec),
	KEY("reach", "check", STRING, check),
	KEY("reach", "directory", STRING, directory),
	KEY("reach", "wrap", STRING, wrap),
	KEY("deadlines", "build", SECONDS, deadlines.build),
	KEY("deadlines", "prepare", SECONDS, deadlines.prepare),
	KEY("deadlines", "start", SECONDS, deadlines.start),
	KEY("deadlines", "reach", SECONDS, deadlines.reach),
	KEY("deadlines", "copy", SECONDS, deadlines.copy),
	KEY("deadlines", "suite", SECONDS, deadlines.suite),
	KEY("deadlines", "stop", SECONDS, deadlines.stop),
	KEY("deadlines", "run", SECONDS, deadlines.run),
	SUITE_KEY(file, STRING),
	SUITE_KEY(arguments, WORDS),
	SUITE_KEY(needs, WORDS),
	SUITE_KEY(deadline, SECONDS),
};

#define KEYS (sizeof(keys) / sizeof(keys[0]))

/* members of the file; "about" is for its readers */
static const char *const tables[] = { "about", "board", "build", "reach", "deadlines", "suites" };

#define TABLES (sizeof(tables) / sizeof(tables[0]))

/*
 * @room: where the next string goes, in the target's text
 * @words: where the next word of an array goes, in the target's words
 */
struct reader {
	struct target *target;
	struct json_text json;
	char *room;
	const char **words;
};

/* ---- values */

static int unknown(struct reader *r, uint32_t at, const char *what,
		   const struct nearest_name *nearest)
{
	struct tenon_buffer hint = TENON_BUFFER_INIT;
	int err;

	nearest_name_print(nearest, &hint);
	err = json_error(&r->json, at, -TENON_E_FORMAT, "no %s is called \"%.*s\".%s", what,
			 json_shown(nearest->wanted), nearest->wanted.data,
			 hint.data ? hint.data : "");
	tenon_buffer_fini(&hint);
	return err;
}

static int read_string(struct reader *r, uint32_t *at, const char *what, const char **out)
{
	uint32_t begin = *at;
	struct tenon_slice text;
	int err = json_string(&r->json, at, what, &r->room, &text);

	if (!err && strlen(text.data) != text.size)
		err = json_error(&r->json, begin, -TENON_E_FORMAT, "%s has a zero byte", what);
	*out = err ? NULL : text.data;
	return err;
}

static int read_words(struct reader *r, uint32_t *at, const char *what, struct target_words *out)
{
	uint32_t count;
	int err = json_enter(&r->json, at, JSMN_ARRAY, what, &count);

	*out = (struct target_words){ r->words, count };
	while (!err && count--)
		err = read_string(r, at, what, r->words++);
	return err;
}

static int read_value(struct reader *r, uint32_t *at, const struct key *key, char *object)
{
	void *member = object + key->offset;
	const char *text;
	int err;

	switch (key->kind) {
	case SECONDS:
		return json_integer(&r->json, at, key->key, 1, SECONDS_MOST, member);
	case WORDS:
		return read_words(r, at, key->key, member);
	default:
		err = read_string(r, at, key->key, &text);
		/* An empty string is the same as none. */
		if (!err && *text)
			memcpy(member, &text, sizeof(text));
		return err;
	}
}

/* Note that a key or table is there; it is an error the second time. */
static int see(struct reader *r, uint32_t at, size_t number, struct tenon_slice name,
	       uint64_t *seen)
{
	if (*seen >> number & 1)
		return json_error(&r->json, at, -TENON_E_FORMAT, "\"%.*s\" is there twice",
				  json_shown(name), name.data);
	*seen |= UINT64_C(1) << number;
	return 0;
}

static int read_member(struct reader *r, uint32_t *at, const char *table, char *object,
		       uint64_t *seen)
{
	struct nearest_name nearest = { 0 };
	uint32_t begin = *at;
	int err = json_key(&r->json, at, &nearest.wanted);

	if (err)
		return err;
	for (size_t i = 0; i < KEYS; i++) {
		struct tenon_slice name = tenon_slice_of(keys[i].key);

		if (strcmp(keys[i].table, table) != 0)
			continue;
		if (tenon_slice_equal(name, nearest.wanted)) {
			err = see(r, begin, i, name, seen);
			return err ? err : read_value(r, at, &keys[i], object);
		}
		nearest_name_offer(&nearest, name);
	}
	return unknown(r, begin, "key of this table", &nearest);
}

/* @object: the target or the suite that has the members of @table */
static int read_table(struct reader *r, uint32_t *at, const char *table, void *object)
{
	uint64_t seen = 0;
	uint32_t count;
	int err = json_enter(&r->json, at, JSMN_OBJECT, table, &count);

	while (!err && count--)
		err = read_member(r, at, table, object, &seen);
	return err;
}

/* ---- the whole file */

/* The name of a suite becomes that of a log file and is printed in results: other characters would forge these. */
static bool is_suite_name(struct tenon_slice name)
{
	return name.size &&
	       strspn(name.data, "abcdefghijklmnopqrstuvwxyz"
				 "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") == name.size;
}

static int read_suites(struct reader *r, uint32_t *at)
{
	struct target *t = r->target;
	uint32_t count;
	int err = json_enter(&r->json, at, JSMN_OBJECT, "suites", &count);

	if (err)
		return err;
	t->suites = calloc(count + 1, sizeof(*t->suites));
	if (!t->suites)
		return tenon_error(-TENON_E_NOMEM, "%s: no memory for suites", t->path);
	while (!err && count--) {
		struct target_suite *suite = &t->suites[t->suite_count];
		uint32_t begin = *at;
		struct tenon_slice name;

		err = json_key_string(&r->json, at, &r->room, &name);
		if (!err && !is_suite_name(name))
			return json_error(&r->json, begin, -TENON_E_FORMAT,
					  "a suite has no name, or one with other characters than "
					  "letters, digits, \"_\", \".\" and \"-\"");
		if (!err && target_suite(t, name.data))
			return json_error(&r->json, begin, -TENON_E_FORMAT,
					  "the suite \"%.*s\" is there twice", json_shown(name),
					  name.data);
		if (err)
			break;
		suite->name = name.data;
		t->suite_count++;
		err = read_table(r, at, "suite", suite);
		if (!err && !suite->file)
			err = json_error(&r->json, begin, -TENON_E_FORMAT,
					 "the suite \"%.*s\" needs a file", json_shown(name),
					 name.data);
	}
	return err;
}

static int read_tables(struct reader *r)
{
	uint64_t seen = 0;
	uint32_t at = 0, count;
	int err = json_enter(&r->json, &at, JSMN_OBJECT, "the description of a board", &count);

	while (!err && count--) {
		struct nearest_name nearest = { 0 };
		uint32_t begin = at;
		size_t i = 0;

		err = json_key(&r->json, &at, &nearest.wanted);
		if (err)
			break;
		for (; i < TABLES; i++) {
			if (tenon_slice_equal(tenon_slice_of(tables[i]), nearest.wanted))
				break;
			nearest_name_offer(&nearest, tenon_slice_of(tables[i]));
		}
		err = i == TABLES ? unknown(r, begin, "table", &nearest)
				  : see(r, begin, i, nearest.wanted, &seen);
		if (err)
			break;
		if (!strcmp(tables[i], "about"))
			json_skip(&r->json, &at);
		else if (!strcmp(tables[i], "suites"))
			err = read_suites(r, &at);
		else
			err = read_table(r, &at, tables[i], r->target);
	}
	return err;
}

static int check_whole(const struct target *t)
{
	if (!t->name)
		return tenon_error(-TENON_E_FORMAT, "%s: \"board\" needs a name", t->path);
	if (!t->exec)
		return tenon_error(
			-TENON_E_FORMAT,
			"%s: \"reach\" needs exec, the words before a command for the board",
			t->path);
	if (strlen(t->directory) > 200 || strchr(t->directory, '\''))
		return tenon_error(-TENON_E_FORMAT,
				   "%s: the directory of \"reach\" has more than 200 bytes or a "
				   "quotation mark",
				   t->path);
	if (strchr(t->check, '\n'))
		return tenon_error(-TENON_E_FORMAT,
				   "%s: the check of \"reach\" is one line; call a script of the "
				   "board for more",
				   t->path);
	if (t->run && t->start)
		return tenon_error(
			-TENON_E_FORMAT,
			"%s: \"board\" has run and start. Give run if the command runs as "
			"long as the board, or start if it returns when the board runs",
			t->path);
	return 0;
}

static int set_folder(struct target *t)
{
	const char *slash = strrchr(t->path, '/');
	char *relative = slash ? strndup(t->path, (size_t)(slash - t->path + 1)) : strdup(".");

	if (relative)
		t->folder = realpath(relative, NULL);
	free(relative);
	if (!t->folder && errno == ENOMEM)
		return tenon_error(-TENON_E_NOMEM, "%s: no memory for a target", t->path);
	return t->folder ? 0 : tenon_error(-TENON_E_IO, "%s: its folder cannot be found", t->path);
}

static int read_text(struct target *t, struct tenon_slice text)
{
	struct reader r = { .target = t };
	int err = json_text_read(text, t->path, &r.json);

	if (err)
		return err;
	/* A string that is decoded is no longer than in the file, with its quotes. */
	r.room = t->text = malloc(text.size);
	r.words = t->words = malloc(r.json.count * sizeof(*t->words));
	err = t->text && t->words
		      ? read_tables(&r)
		      : tenon_error(-TENON_E_NOMEM, "%s: no memory for a target", t->path);
	json_text_fini(&r.json);
	return err;
}

int target_read(const char *path, struct target *out)
{
	struct tenon_buffer text = TENON_BUFFER_INIT;
	int err;

	*out = (struct target){
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
	err = file_read_text(path, &text);
	if (!err)
		err = read_text(out, (struct tenon_slice){ text.data ? text.data : "", text.size });
	tenon_buffer_fini(&text);
	if (!err)
		err = set_folder(out);
	return err ? err : check_whole(out);
}

void target_fini(struct target *target)
{
	free(target->words);
	free(target->text);
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
