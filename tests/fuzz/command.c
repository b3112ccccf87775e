/* SPDX-License-Identifier: MIT */
/* Run a command of tenon in this process, and check its exit status, messages and JSON. */
#include "tests/fuzz/command.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef CONFIG_JSON
#include <cjson/cJSON.h>
#endif

#include "tools/commands.h"

#define WORDS_MOST 32

/* more than any small file can make the command say */
#define OUTPUT_MOST (UINT64_C(64) << 20)

/* what a command wrote, as far as it is kept */
struct sink {
	FILE *stream;
	uint64_t total;
	size_t size;
	char text[1 << 20];
};

static struct sink out, err;
static const char *const *running;
static unsigned long ended[CLI_FAILED + 1]; /* by exit status */

static _Noreturn void stop(const char *why)
{
	const char *const *word;

	fputs("tenon", stderr);
	for (word = running; *word; word++)
		fprintf(stderr, " %s", *word);
	fprintf(stderr, ": %s\n%.2000s%.2000s\n", why, out.text, err.text);
	abort();
}

static ssize_t keep(void *cookie, const char *bytes, size_t size)
{
	struct sink *s = cookie;
	size_t room = sizeof(s->text) - 1 - s->size, kept = size < room ? size : room;

	memcpy(s->text + s->size, bytes, kept);
	s->size += kept;
	s->total += size;
	if (s->total > OUTPUT_MOST)
		stop("the output does not end");
	return (ssize_t)size;
}

static FILE *sink_open(struct sink *s)
{
	static const cookie_io_functions_t io = { .write = keep };

	if (!s->stream)
		s->stream = fopencookie(s, "w", io);
	if (!s->stream)
		abort();
	s->total = s->size = 0;
	return s->stream;
}

static void sink_end(struct sink *s)
{
	fflush(s->stream);
	s->text[s->size] = '\0';
}

/* ---- what is true of every answer */

static bool has(const char *const *words, const char *word)
{
	while (*words && strcmp(*words, word))
		words++;
	return *words;
}

static void check_json(void)
{
#ifdef CONFIG_JSON
	cJSON *json;

	if (out.total > out.size)
		return;
	json = cJSON_ParseWithOpts(out.text, NULL, true);
	if (!json)
		stop("what it printed is no JSON");
	cJSON_Delete(json);
#endif
}

/* Bytes of a file that reach a terminal must not be orders to it. */
static void check_text(const struct sink *s)
{
	size_t i;

	for (i = 0; i < s->size; i++) {
		unsigned char c = (unsigned char)s->text[i];

		if ((c < ' ' && c != '\n' && c != '\t') || c == 127)
			stop("it printed a control character");
	}
}

/* Not strstr(): libFuzzer learns what that looks for, and puts it into the file. */
static bool says(const char *text, const char *words)
{
	size_t i;

	for (; *text; text++) {
		for (i = 0; words[i] && text[i] == words[i]; i++)
			;
		if (!words[i])
			return true;
	}
	return false;
}

static void check(const char *const *words, int code)
{
	if (code < CLI_OK || code > CLI_FAILED)
		stop("the exit status is none of tenon(1)");
	if (code > CLI_DIFFERS && strncmp(err.text, "tenon: ", 7))
		stop("it failed without a message");
	if (!strcmp(err.text, "tenon: failed without saying why\n"))
		stop("it failed without a reason");
	/* what is only looked at costs what the file is worth, whatever its numbers say */
	if (!strcmp(words[0], "inspect") && says(err.text, "no memory"))
		stop("it asked for too much memory");
	check_text(&err);
	if (code <= CLI_DIFFERS && has(words, "--json"))
		check_json();
	else
		check_text(&out);
}

/* the lowest descriptor that is free: it moves up when one stays open */
static int free_descriptor(void)
{
	int fd = fcntl(STDERR_FILENO, F_DUPFD, 3);

	close(fd);
	return fd;
}

int command_run(const char *const *words)
{
	char *argv[WORDS_MOST] = { "tenon" };
	int argc = 1, code, fd = free_descriptor();

	for (; words[argc - 1]; argc++)
		argv[argc] = (char *)(uintptr_t)words[argc - 1];
	running = words;
	code = cli_main(argc, argv, sink_open(&out), sink_open(&err));
	sink_end(&out);
	sink_end(&err);
	check(words, code);
	ended[code]++;
	if (free_descriptor() != fd)
		stop("a descriptor stays open");
	return code;
}

void command_report(void)
{
	unsigned long all = 0;
	int code;

	for (code = 0; code <= CLI_FAILED; code++)
		all += ended[code];
	if (!all)
		return;
	fprintf(stderr, "%lu commands; exit status", all);
	for (code = 0; code <= CLI_FAILED; code++)
		fprintf(stderr, "%s %d: %lu", code ? "," : "", code, ended[code]);
	fputc('\n', stderr);
}

/* ---- choice */

static bool all;

void command_choose_all(bool yes)
{
	all = yes;
}

struct command_choice command_choose(struct tenon_slice input, unsigned int count)
{
	uint32_t hash = 2166136261u, which;
	size_t i;

	for (i = 0; i < input.size; i++)
		hash = (hash ^ (uint8_t)input.data[i]) * 16777619u;
	which = (hash ^ hash >> 16) % count;
	return all ? (struct command_choice){ 0, count }
		   : (struct command_choice){ which, which + 1 };
}
