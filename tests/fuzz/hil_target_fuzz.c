/* SPDX-License-Identifier: MIT */
/* The bytes are the file of a board for "tenon hil". */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/scratch.h"
#include "tools/hil/target.h"

/* jsmn's tokens, a suite, and a word of an array */
const size_t fuzz_memory_per_byte = 256;
/* a file is read 64 KiB at a time */
const size_t fuzz_memory_at_all = 96 << 10;

#define SECONDS_MOST (7 * 24 * 3600)

void fuzz_seeds(void (*visit)(void *context, const char *name, struct tenon_slice bytes),
		void *context)
{
	static const char all[] =
		"{\"about\": [\"any\", {\"thing\": 1}],\n\"board\": {\"name\": \"desk\", "
		"\"prepare\": \"make\", "
		"\"start\": \"on\", \"reset\": \"cycle\", \"stop\": \"off\"},\n\"build\": "
		"{\"command\": \"make\"},\n\"reach\": {\"exec\": \"ssh 192.0.2.7\", \"check\": "
		"\"true\", \"directory\": \"/tmp/a\", \"wrap\": \"qemu\"},\n\"deadlines\": "
		"{\"build\": 1, \"prepare\": 2, \"start\": 3, \"reach\": 4, \"copy\": 5, "
		"\"suite\": 6, \"stop\": 7, \"run\": 604800},\n\"suites\": {\"a\": {\"file\": "
		"\"build/a\", \"arguments\": [\"one\", \"\\u0074wo\"], \"needs\": [\"b\"], "
		"\"deadline\": 9}, \"b.1\": {\"file\": \"c\"}}}";
	static const char least[] =
		"{\"board\": {\"name\": \"here\", \"run\": \"sim\"}, \"reach\": "
		"{\"exec\": \"sh -c\"}}";

	visit(context, "all", (struct tenon_slice){ all, sizeof(all) - 1 });
	visit(context, "least", (struct tenon_slice){ least, sizeof(least) - 1 });
}

void fuzz_mutate(struct mutant *m)
{
	mutate_json(m);
}

static void check_seconds(int64_t seconds)
{
	if (seconds < 1 || seconds > SECONDS_MOST)
		abort();
}

/* what was read, so that no compiler leaves the reading out */
static volatile size_t letters;

static void check_words(const struct target_words *words)
{
	for (size_t i = 0; i < words->count; i++) {
		if (!words->at[i])
			abort();
		letters += strlen(words->at[i]);
	}
}

/* The name becomes that of a log file, and a suite is found by it. */
static void check_suite(const struct target *t, const struct target_suite *suite)
{
	if (!*suite->name || strpbrk(suite->name, "/ \n\"'") ||
	    target_suite(t, suite->name) != suite || !suite->file)
		abort();
	check_words(&suite->arguments);
	check_words(&suite->needs);
	if (suite->deadline)
		check_seconds(suite->deadline);
}

static void check(const struct target *t)
{
	const struct target_deadlines *d = &t->deadlines;

	/* what is put between quotation marks for a shell, and what is a line for one */
	if (!t->name || !t->exec || !t->folder || strchr(t->directory, '\'') ||
	    strchr(t->check, '\n') || (t->run && t->start))
		abort();
	check_seconds(d->build);
	check_seconds(d->prepare);
	check_seconds(d->start);
	check_seconds(d->reach);
	check_seconds(d->copy);
	check_seconds(d->suite);
	check_seconds(d->stop);
	check_seconds(d->run);
	for (size_t i = 0; i < t->suite_count; i++)
		check_suite(t, &t->suites[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *path = scratch_write("board.json", data, size);
	struct target t;
	int err = target_read(path, &t);

	fuzz_check(err);
	if (!err)
		check(&t);
	target_fini(&t);
	return 0;
}
