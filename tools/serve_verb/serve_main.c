/* SPDX-License-Identifier: MIT */
/* tenon-serve: language models by HTTP. */
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/serve.h>
#include <tenon/tenon.h>
#include <unistd.h>

#include "lib/file_secret.h"
#include "lib/option.h"
#include "lib/printable_character.h"
#include "lib/standard_streams.h"
#include "runtime/device/backend_choice.h"

/* exit codes, as those of tenon(1) */
enum { OK = 0, USAGE = 2, NO_FILE = 3, UNAVAILABLE = 4, FAILED = 5 };

struct arguments {
	const char *model;
	const char *device;
	const char *key_file;
	struct tenon_llm_serve_options serve;
	struct tenon_llm_options llm;
};

/**
 * struct row - an option, and where its value goes
 * @name: without the dashes
 * @flag: set when the option is given, which has no value
 * @text: receives the value
 * @count: receives a whole number, @from to @to
 * @from: the smallest
 * @to: the largest
 */
struct row {
	const char *name;
	bool *flag;
	const char **text;
	uint64_t *count;
	uint64_t from;
	uint64_t to;
};

#define ROWS_MOST 16

static const char help[] =
	"Usage: tenon-serve MODEL [OPTION]...\n"
	"\n"
	"Serves a language model by HTTP: /v1/chat/completions, /v1/completions and /v1/models, in "
	"the\n"
	"form of OpenAI's interface. MODEL is as for tenon chat. Ends with SIGTERM or SIGINT.\n"
	"\n"
	"  --host ADDRESS       numeric address to listen on (127.0.0.1: this machine alone)\n"
	"  --port N             0 for any free one (8080)\n"
	"  --key-file FILE      clients must send the key that is the first line of FILE,\n"
	"                       which other users cannot read\n"
	"  --connections N      connections at a time (64)\n"
	"  --requests N         requests at a time, waiting ones included; others get status 429 "
	"(64)\n"
	"  --request-timeout S  longest time of a request (600; 0 for no limit)\n"
	"  --body-size KIB      largest request (1024)\n"
	"  --max-tokens N       longest reply (as the context has room)\n"
	"  --cache-tokens N     room of the key-value cache (one context)\n"
	"  --weights DIR        folder of the weights and of tokenizer.json (the model's); or a\n"
	"                       file in safetensors or GGUF\n"
	"  --bytes              use bytes as tokens, even if there is a tokenizer\n"
	"  --device NAME        device to run on (cpu)\n"
	"\n"
	"There is no encryption. To serve other machines, put a proxy with TLS in front of it.\n";

static void __attribute__((format(printf, 1, 2))) complain(const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fputs("tenon-serve: ", stderr);
	printable_message_print(text, stderr);
	fputc('\n', stderr);
}

static int usage(const char *what)
{
	complain("%s", what);
	fputs("Try \"tenon-serve --help\".\n", stderr);
	return USAGE;
}

static int failed(int code)
{
	fputs("tenon-serve: ", stderr);
	printable_message_print(tenon_error_message(), stderr);
	fputc('\n', stderr);
	tenon_error_clear();
	return code;
}

static int read_count(const struct row *row)
{
	char *end, text[160];

	*row->count = strtoull(optarg, &end, 10);
	if (!*end && end != optarg && *optarg != '-' && *row->count >= row->from &&
	    *row->count <= row->to)
		return OK;
	snprintf(text, sizeof(text), "--%s %.40s: a number from %llu to %llu is wanted", row->name,
		 optarg, (unsigned long long)row->from, (unsigned long long)row->to);
	return usage(text);
}

static int read_key(struct tenon_llm_serve_options *o, const char *file)
{
	static char key[1024];
	ssize_t size;
	int fd;

	if (file_secret_open(file, "key", &fd))
		return failed(NO_FILE);
	size = read(fd, key, sizeof(key) - 1);
	close(fd);
	if (size <= 0) {
		complain("%s: no key can be read", file);
		return NO_FILE;
	}
	key[size] = '\0';
	key[strcspn(key, "\r\n")] = '\0';
	if (!*key)
		return usage("the key is empty");
	o->key = key;
	return OK;
}

/* Take all options; optind is the first of the other words then. */
static int read_rows(const struct row *rows, int argc, char **argv)
{
	struct option all[ROWS_MOST] = { { 0 } };
	const struct row *row;
	int i, found, code = OK;

	for (i = 0; rows[i].name; i++)
		all[i] = (struct option){ rows[i].name,
					  rows[i].flag ? no_argument : required_argument, NULL, i };
	while (!code && (found = getopt_long(argc, argv, "", all, NULL)) != -1) {
		if (found == '?') {
			fputs("Try \"tenon-serve --help\".\n", stderr);
			return USAGE;
		}
		row = &rows[found];
		if (row->flag)
			*row->flag = true;
		else if (row->text)
			*row->text = optarg;
		else
			code = read_count(row);
	}
	return code;
}

/* Read the command line; -1 if the program is to go on. */
static int read_arguments(struct arguments *a, int argc, char **argv)
{
	uint64_t kib = a->serve.body_most >> 10, tokens = 0, most = 0;
	uint64_t connections = a->serve.connections_most, requests = a->serve.requests_most;
	uint64_t port = a->serve.port, seconds = a->serve.deadline_ms / 1000;
	bool wants_help = false, wants_version = false;
	const struct row rows[] = {
		{ "body-size", .count = &kib, .from = 1, .to = 1 << 20 },
		{ "bytes", .flag = &a->llm.bytes },
		{ "cache-tokens", .count = &tokens, .from = 1, .to = INT32_MAX / 2 },
		{ "connections", .count = &connections, .from = 1, .to = 100000 },
		{ "device", .text = &a->device },
		{ "help", .flag = &wants_help },
		{ "host", .text = &a->serve.host },
		{ "key-file", .text = &a->key_file },
		{ "max-tokens", .count = &most, .to = INT32_MAX },
		{ "port", .count = &port, .to = 65535 },
		{ "request-timeout", .count = &seconds, .to = 1000000 },
		{ "requests", .count = &requests, .from = 1, .to = 100000 },
		{ "version", .flag = &wants_version },
		{ "weights", .text = &a->llm.weights },
		{ .name = NULL },
	};
	int code = read_rows(rows, argc, argv);

	_Static_assert(sizeof(rows) / sizeof(rows[0]) <= ROWS_MOST, "read_rows() has room for all");
	if (code)
		return code;
	if (wants_help || wants_version) {
		if (wants_help)
			fputs(help, stdout);
		else
			printf("tenon-serve %s\n", tenon_version());
		return OK;
	}
	if (optind + 1 != argc)
		return usage("one MODEL is wanted");
	a->model = argv[optind];
	a->serve.body_most = (size_t)kib << 10;
	a->serve.connections_most = (unsigned int)connections;
	a->serve.requests_most = (unsigned int)requests;
	a->serve.tokens_most = (size_t)most;
	a->serve.port = (unsigned int)port;
	a->serve.deadline_ms = seconds * 1000;
	a->llm.tokens = (int64_t)tokens;
	code = a->key_file ? read_key(&a->serve, a->key_file) : OK;
	return code ? code : -1;
}

static int exit_code(int err)
{
	if (err == -TENON_E_NOMEM)
		return FAILED;
	return err == -TENON_E_UNSUPPORTED || err == -TENON_E_DEVICE || err == -TENON_E_NO_LOADER
		       ? UNAVAILABLE
		       : NO_FILE;
}

/* Signals are for the main thread, which asks for them while it serves. */
static void block_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
}

/* What the server says quotes the model's files. */
static void print_line(void *context, const char *line)
{
	(void)context;
	fputs("tenon-serve: ", stderr);
	printable_lines_print(tenon_slice_of(line), stderr);
	fputc('\n', stderr);
}

/* Warn of names in TENON_BACKENDS, or its file, that no backend has. */
static void warn_of_choice(void)
{
	struct tenon_buffer problems = TENON_BUFFER_INIT;
	char *line, *save;

	if (!backend_choice_problems(&problems) && problems.size)
		for (line = strtok_r(problems.data, "\n", &save); line;
		     line = strtok_r(NULL, "\n", &save))
			print_line(NULL, line);
	tenon_buffer_fini(&problems);
	tenon_error_clear();
}

static int serve(struct arguments *a)
{
	struct tenon_llm *llm;
	int err, code = OK;

	if (OPTION_ON(DEVICES))
		warn_of_choice();
	err = tenon_llm_open(a->model, &a->llm, &llm);
	if (err)
		return failed(exit_code(err));
	err = tenon_llm_serve(llm, &a->serve);
	if (err)
		code = failed(UNAVAILABLE);
	tenon_llm_close(llm);
	return code;
}

int main(int argc, char **argv)
{
	struct arguments a = { .llm.size = sizeof(a.llm) };
	struct tenon_device *device = NULL;
	int code;

	standard_streams_open();
	tenon_llm_serve_options_init(&a.serve, sizeof(a.serve));
	a.serve.say = print_line;
	code = read_arguments(&a, argc, argv);
	if (code >= 0)
		return code;
	block_signals();
	if (a.device && strcmp(a.device, "cpu")) {
		if (tenon_device_open(a.device, &device))
			return failed(UNAVAILABLE);
		a.llm.device = tenon_device_id(device);
	}
	code = serve(&a);
	tenon_object_unref(device);
	return code;
}
