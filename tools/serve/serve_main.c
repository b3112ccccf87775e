/* SPDX-License-Identifier: MIT */
/* tenon-serve: language models by HTTP */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>

#include "lib/file_secret.h"
#include "lib/printable_character.h"
#include "lib/standard_streams.h"
#include "runtime/device/backend_choice.h"
#include "tools/serve/serve.h"

/* exit codes, as those of tenon(1) */
enum { OK = 0, USAGE = 2, NO_FILE = 3, UNAVAILABLE = 4, FAILED = 5 };

struct arguments {
	const char *model;
	const char *device;
	const char *key_file;
	struct serve_options serve;
	struct tenon_llm_options llm;
};

enum {
	BODY_SIZE = 256,
	BYTES,
	CACHE_TOKENS,
	CONNECTIONS,
	DEVICE,
	HELP,
	HOST,
	KEY_FILE,
	MAX_TOKENS,
	PORT,
	REQUESTS,
	REQUEST_TIMEOUT,
	VERSION,
	WEIGHTS,
};

static const struct option options[] = {
	{ "body-size", required_argument, NULL, BODY_SIZE },
	{ "bytes", no_argument, NULL, BYTES },
	{ "cache-tokens", required_argument, NULL, CACHE_TOKENS },
	{ "connections", required_argument, NULL, CONNECTIONS },
	{ "device", required_argument, NULL, DEVICE },
	{ "help", no_argument, NULL, HELP },
	{ "host", required_argument, NULL, HOST },
	{ "key-file", required_argument, NULL, KEY_FILE },
	{ "max-tokens", required_argument, NULL, MAX_TOKENS },
	{ "port", required_argument, NULL, PORT },
	{ "request-timeout", required_argument, NULL, REQUEST_TIMEOUT },
	{ "requests", required_argument, NULL, REQUESTS },
	{ "version", no_argument, NULL, VERSION },
	{ "weights", required_argument, NULL, WEIGHTS },
	{ NULL, 0, NULL, 0 },
};

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

static int read_number(const char *name, uint64_t least, uint64_t most, uint64_t *out)
{
	char *end, text[160];

	*out = strtoull(optarg, &end, 10);
	if (!*end && end != optarg && *optarg != '-' && *out >= least && *out <= most)
		return OK;
	snprintf(text, sizeof(text), "--%s %.40s: a number from %llu to %llu is wanted", name,
		 optarg, (unsigned long long)least, (unsigned long long)most);
	return usage(text);
}

static int read_key(struct serve_options *o, const char *file)
{
	static char key[1024];
	FILE *f = fopen(file, "re");
	struct stat st;

	if (!f || fstat(fileno(f), &st)) {
		complain("%s: %s", file, strerror(errno));
		goto close;
	}
	if (file_secret_check(&st, file, "key")) {
		failed(USAGE);
		goto close;
	}
	if (!fgets(key, sizeof(key), f)) {
		complain("%s: no key can be read", file);
		goto close;
	}
	fclose(f);
	key[strcspn(key, "\r\n")] = '\0';
	if (!*key)
		return usage("the key is empty");
	o->key = key;
	return OK;

close:
	if (f)
		fclose(f);
	return NO_FILE;
}

static int read_option(struct arguments *a, int option)
{
	uint64_t n = 0;
	int code = OK;

	switch (option) {
	case BODY_SIZE:
		code = read_number("body-size", 1, 1 << 20, &n);
		a->serve.body_most = (size_t)n << 10;
		return code;
	case BYTES:
		a->llm.bytes = true;
		return OK;
	case CACHE_TOKENS:
		code = read_number("cache-tokens", 1, INT32_MAX / 2, &n);
		a->llm.tokens = (int64_t)n;
		return code;
	case CONNECTIONS:
		code = read_number("connections", 1, 100000, &n);
		a->serve.connections_most = (unsigned int)n;
		return code;
	case DEVICE:
		a->device = optarg;
		return OK;
	case HOST:
		a->serve.host = optarg;
		return OK;
	case KEY_FILE:
		a->key_file = optarg;
		return OK;
	case MAX_TOKENS:
		code = read_number("max-tokens", 0, INT32_MAX, &n);
		a->serve.tokens_most = (size_t)n;
		return code;
	case PORT:
		code = read_number("port", 0, 65535, &n);
		a->serve.port = (unsigned int)n;
		return code;
	case REQUESTS:
		code = read_number("requests", 1, 100000, &n);
		a->serve.requests_most = (unsigned int)n;
		return code;
	case REQUEST_TIMEOUT:
		code = read_number("request-timeout", 0, 1000000, &n);
		a->serve.deadline_ms = n * 1000;
		return code;
	case WEIGHTS:
		a->llm.weights = optarg;
		return OK;
	default:
		fputs("Try \"tenon-serve --help\".\n", stderr);
		return USAGE;
	}
}

/* Read the command line; -1 if the program is to go on. */
static int read_arguments(struct arguments *a, int argc, char **argv)
{
	int option, code;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == HELP) {
			fputs(help, stdout);
			return OK;
		}
		if (option == VERSION) {
			printf("tenon-serve %s\n", tenon_version());
			return OK;
		}
		code = read_option(a, option);
		if (code)
			return code;
	}
	if (optind + 1 != argc)
		return usage("one MODEL is wanted");
	a->model = argv[optind];
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

/* Signals are for the main thread, which asks for them. */
static void block_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
}

/* Say why messages have another form than the model was made for. */
static void tell_about_template(const char *problem)
{
	fputs("tenon-serve: ", stderr);
	printable_lines_print(tenon_slice_of(problem ? problem
						     : "there is no mlc-chat-config.json with a "
						       "template of conversations"),
			      stderr);
	fputs(", so messages are \"user: ...\"\n", stderr);
}

#ifdef CONFIG_DEVICES
/* Warn of names in TENON_BACKENDS, or its file, that no backend has. */
static void warn_of_choice(void)
{
	struct tenon_buffer problems = TENON_BUFFER_INIT;
	char *line, *save;

	if (!backend_choice_problems(&problems) && problems.size)
		for (line = strtok_r(problems.data, "\n", &save); line;
		     line = strtok_r(NULL, "\n", &save)) {
			fputs("tenon-serve: ", stderr);
			printable_lines_print(tenon_slice_of(line), stderr);
			fputc('\n', stderr);
		}
	tenon_buffer_fini(&problems);
	tenon_error_clear();
}
#else
static void warn_of_choice(void)
{
}
#endif

static int serve(struct arguments *a)
{
	struct server s = { .options = &a->serve };
	pthread_condattr_t attributes;
	char address[128];
	int err, code = OK;

	warn_of_choice();
	err = tenon_llm_open(a->model, &a->llm, &s.llm);
	if (err)
		return failed(exit_code(err));
	pthread_mutex_init(&s.lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&s.work, &attributes);
	err = serve_listen(&s, address, sizeof(address));
	if (err) {
		code = failed(UNAVAILABLE);
		goto close;
	}
	fputs("tenon-serve: ", stderr);
	printable_lines_print(tenon_slice_of(tenon_llm_info(s.llm)->name), stderr);
	fprintf(stderr, " is at %s/v1\n", address);
	if (!tenon_llm_info(s.llm)->has_template)
		tell_about_template(tenon_llm_template_problem(s.llm));
	if (!s.loopback && !a->serve.key)
		fprintf(stderr, "tenon-serve: who can reach this address can use the model; "
				"--key-file asks for a key\n");
	serve_run(&s);
	MHD_stop_daemon(s.daemon);
close:
	pthread_cond_destroy(&s.work);
	pthread_condattr_destroy(&attributes);
	pthread_mutex_destroy(&s.lock);
	tenon_llm_close(s.llm);
	return code;
}

int main(int argc, char **argv)
{
	struct arguments a = {
		.llm.size = sizeof(a.llm),
		.serve = {
			.host = "127.0.0.1",
			.port = 8080,
			.body_most = 1 << 20,
			.connections_most = 64,
			.requests_most = 64,
			.deadline_ms = 600 * 1000,
		},
	};
	struct tenon_device *device = NULL;
	int code;

	standard_streams_open();
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
