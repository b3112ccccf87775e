/* SPDX-License-Identifier: MIT */
/*
 * Each option of each command, as tools/completion/words lists them, used wrongly: without its value, with one that it does not take, and
 * with values of the wrong form. The command refuses the line, names the option, and writes no result.
 */
#include "suite.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli_run.h"

#define WORDS	  "tools/completion/words"
#define WORDS_MAX 12
#define OPERAND	  "tests/interop/data/tvm-0.18/graph_mlp/graph.so"

/* one option of one command */
struct use {
	const char *option; /* --name */
	const char *value;  /* what the list says of it; "-" for none */
	char command[64];   /* "rpc.tracker.status" */
};

static char *next_field(char **line)
{
	char *field = strsep(line, "|");

	if (!field)
		return NULL;
	field += strspn(field, " \t");
	for (size_t n = strlen(field); n && isspace((unsigned char)field[n - 1]);)
		field[--n] = '\0';
	return field;
}

/* Runs the words of a command, then others. Each word that getopt() may move is a copy. */
static struct cli_run run_with(const char *command, const char *const *more)
{
	char copy[64], *at = copy, *argv[WORDS_MAX] = { "tenon" };
	int argc = 1;

	snprintf(copy, sizeof(copy), "%s", command);
	while (at)
		argv[argc++] = strsep(&at, ".");
	while (*more && argc < WORDS_MAX - 1)
		argv[argc++] = (char *)*more++;
	argv[argc] = NULL;
	return run_words(argc, argv);
}

#define RUN_WITH(command, ...) run_with(command, (const char *[]){ __VA_ARGS__, NULL })

static bool is_built(const char *command)
{
	char name[64];
	struct cli_run r;
	bool known;

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(command, "."), command);
	r = RUN("help", name);
	known = r.code == CLI_OK;
	cli_run_free(&r);
	return known;
}

/* Calls a function for each option of each command of this build. */
static void each_use(void (*check)(const struct use *use))
{
	FILE *list = fopen(WORDS, "r");
	char *line = NULL, *rest, *options, *value, *commands, *word;
	size_t room = 0, uses = 0;
	struct use use;

	assert_non_null(list);
	while (getline(&line, &room, list) > 0) {
		if (line[0] != '-')
			continue;
		rest = line;
		options = next_field(&rest);
		value = next_field(&rest);
		commands = next_field(&rest);
		assert_non_null(commands);
		use.option = strstr(options, "--");
		use.value = value;
		while ((word = strsep(&commands, " "))) {
			snprintf(use.command, sizeof(use.command), "%s%s", word,
				 !strcmp(word, "hil") ? ".run" : "");
			if (!is_built(use.command))
				continue;
			check(&use);
			uses++;
		}
	}
	free(line);
	fclose(list);
	assert_true(uses > 20);
}

/* The line was refused with these words, and no result was written. */
static void assert_names(struct cli_run r, const struct use *use, const char *given,
			 const char *words)
{
	if (r.code != CLI_USAGE || *r.out || strncmp(r.err, "tenon: ", 7) || !strstr(r.err, words))
		fail_msg("%s %s %s: exit %d, wanted \"%s\" in: %s%s", use->command, use->option,
			 given, r.code, words, r.err, r.out);
	cli_run_free(&r);
}

static void without_value(const struct use *use)
{
	if (*use->value != '-')
		assert_names(RUN_WITH(use->command, use->option), use, "", "needs a value");
}

static void with_value(const struct use *use)
{
	char word[64];

	if (*use->value != '-')
		return;
	snprintf(word, sizeof(word), "%s=1", use->option);
	assert_names(RUN_WITH(use->command, word), use, "=1", "takes no value");
}

static void misspelt(const struct use *use)
{
	char word[64], nearest[64];

	snprintf(word, sizeof(word), "%sq", use->option);
	snprintf(nearest, sizeof(nearest), "\"%s\"", use->option + 2);
	assert_names(RUN_WITH(use->command, word), use, "q", nearest);
}

static bool is_number(const char *value)
{
	static const char *const kinds[] = { "NUMBER", "COUNT", "SECONDS", "BYTES", "MIB" };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!strcmp(value, kinds[i]))
			return true;
	}
	return false;
}

static void with_wrong_number(const struct use *use)
{
	static const char *const wrong[] = {
		"x", "1x", "", "nan", "--", "99999999999999999999999x"
	};

	for (size_t i = 0; is_number(use->value) && i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_names(RUN_WITH(use->command, use->option, wrong[i], OPERAND), use, wrong[i],
			     use->option + 2);
}

/* A list of words in brackets, all that there are; one alone is an example of a device. */
static void with_unknown_word(const struct use *use)
{
	static const char wrong[] = "nonsense";
	struct cli_run r;

	if (*use->value != '(' || use->value[strlen(use->value) - 1] != ')' ||
	    !strchr(use->value, ' '))
		return;
	r = RUN_WITH(use->command, use->option, wrong, OPERAND);
	/* the word, or the option where that needs another */
	assert_names(r, use, wrong, strstr(r.err, wrong) ? wrong : use->option);
}

/* ---- the cases */

static void an_option_without_its_value_is_refused(void **state)
{
	each_use(without_value);
}

static void an_option_with_a_value_that_it_does_not_take_is_refused(void **state)
{
	each_use(with_value);
}

static void a_misspelt_option_is_answered_with_the_nearest(void **state)
{
	each_use(misspelt);
}

static void a_value_that_is_no_number_is_refused(void **state)
{
	each_use(with_wrong_number);
}

static void a_word_that_is_not_in_the_list_is_refused(void **state)
{
	each_use(with_unknown_word);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_option_without_its_value_is_refused),
		cmocka_unit_test(an_option_with_a_value_that_it_does_not_take_is_refused),
		cmocka_unit_test(a_misspelt_option_is_answered_with_the_nearest),
		cmocka_unit_test(a_value_that_is_no_number_is_refused),
		cmocka_unit_test(a_word_that_is_not_in_the_list_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
