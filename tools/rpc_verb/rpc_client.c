/* SPDX-License-Identifier: MIT */
/* Actions of a client: ping, functions, upload, call. */
#include "tools/rpc_verb/rpc.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>
#include <tenon/memory.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/tvm_versions.h"
#include "tools/cli/progress.h"
#include "tools/device_option/target_list.h"
#include "tools/json/json_value.h"
#include "tools/remote_option/remote.h"
#include "tools/tensor/argument.h"
#include "tools/tensor/print.h"
#include "tools/text/text.h"

#define COUNT_MOST 1000000

/**
 * struct client - what the actions share
 * @words: operands; the first is the address
 * @word_count: number of them
 * @count: of --count
 * @json: --json
 * @timeout: of --timeout, in seconds; 0 for the default
 * @remote: the session
 */
struct client {
	char **words;
	int word_count;
	double count;
	bool json;
	double timeout;
	struct tenon_remote *remote;
};

static int read_words(struct cli *cli, int argc, char **argv, int least, const char *usage,
		      struct client *c)
{
	const struct cli_option options[] = {
		{ "count", .real = &c->count, .least = 1, .most = COUNT_MOST },
		{ "json", .flag = &c->json },
		{ "timeout", .real = &c->timeout },
		{ 0 },
	};
	int code;

	c->count = 10;
	code = cli_options(cli, argc, argv, options);
	if (code)
		return code;
	c->words = argv + optind;
	c->word_count = argc - optind;
	if (c->word_count < least)
		return cli_usage(cli, "usage: tenon rpc %s", usage);
	return c->json ? cli_needs_json(cli) : 0;
}

static int failed(struct cli *cli)
{
	return cli_error(cli, cli_exit_of(tenon_error_status(), CLI_FAILED));
}

/* in seconds, for questions that a server answers at once; for others, the library's limit */
#define SILENCE_S 30

/* Read the command line, connect, run an action, and close the session. */
static int with_session(struct cli *cli, int argc, char **argv, int least, const char *usage,
			double silence, int (*run)(struct cli *cli, struct client *c))
{
	struct client c = { 0 };
	int code = read_words(cli, argc, argv, least, usage, &c);

	if (code)
		return code;
	progress_report_waits();
	if (progress_start(0, cli->err == stderr && isatty(STDERR_FILENO)))
		return cli_error(cli, CLI_FAILED);
	code = remote_connect(cli, c.words[0], c.timeout > 0 ? c.timeout : silence, &c.remote);
	progress_say("waiting for an answer of %s", c.words[0]);
	if (!code)
		code = run(cli, &c);
	progress_stop();
	tenon_remote_close(c.remote);
	return code;
}

/* ---- ping */

static const char *generation(const struct tenon_remote_facts *f)
{
	return f->generation == TENON_GENERATION_LEGACY ? "TVM " TVM_CALLS_LEGACY
							: "TVM " TVM_CALLS_MODERN;
}

static void print_ping(const struct tenon_remote_facts *f, const struct timing *t, uint64_t count,
		       FILE *out)
{
	char min[TIMING_TEXT], median[TIMING_TEXT], max[TIMING_TEXT];

	fputs("key ", out);
	printable_print(f->server, out);
	fprintf(out, ", encoding of %s%s\n", generation(f),
		f->pipelined ? ", requests are pipelined" : "");
	fprintf(out, "%" PRIu64 " round trips: min %s, median %s, max %s\n", count,
		timing_text(t->min, min), timing_text(t->median, median), timing_text(t->max, max));
}

#ifdef CONFIG_JSON
static int print_ping_json(const struct tenon_remote_facts *f, const struct timing *t,
			   uint64_t count, FILE *out)
{
	cJSON *json = cJSON_CreateObject(), *ns;

	json_set(json, "key", json_of_text(tenon_slice_of(f->server)));
	cJSON_AddStringToObject(json, "encoding", generation(f));
	cJSON_AddBoolToObject(json, "pipelined", f->pipelined);
	ns = cJSON_AddObjectToObject(json, "nanoseconds");
	json_set(ns, "round_trips", json_of_int((int64_t)count));
	json_set(ns, "min", json_of_int((int64_t)t->min));
	json_set(ns, "median", json_of_int((int64_t)t->median));
	json_set(ns, "max", json_of_int((int64_t)t->max));
	return json_print(json, out);
}
#else
static int print_ping_json(const struct tenon_remote_facts *f, const struct timing *t,
			   uint64_t count, FILE *out)
{
	return -TENON_E_UNSUPPORTED;
}
#endif

static int ping(struct cli *cli, struct client *c)
{
	uint64_t count = (uint64_t)c->count, i, start;
	uint64_t *ns = calloc(count, sizeof(*ns));
	struct tenon_remote_facts facts;
	struct timing t;
	int err = 0;

	if (!ns)
		err = tenon_error(-TENON_E_NOMEM, "no memory for %" PRIu64 " times", count);
	for (i = 0; i < count && !err; i++) {
		start = clock_now();
		err = tenon_remote_ping(c->remote);
		ns[i] = clock_now() - start;
	}
	if (!err) {
		t = timing_summary(ns, count);
		tenon_remote_facts(c->remote, &facts);
		if (c->json)
			err = print_ping_json(&facts, &t, count, cli->out);
		else
			print_ping(&facts, &t, count, cli->out);
	}
	free(ns);
	return err ? failed(cli) : CLI_OK;
}

int rpc_ping_main(struct cli *cli, int argc, char **argv)
{
	return with_session(cli, argc, argv, 1, "ping ADDRESS [--count N] [--timeout S] [--json]",
			    SILENCE_S, ping);
}

/* ---- functions */

static int functions(struct cli *cli, struct client *c)
{
	struct tenon_buffer names = TENON_BUFFER_INIT;
	size_t i;
	int err = tenon_remote_list_functions(c->remote, &names);

	for (i = 0; i < names.size; i++)
		if (names.data[i] == ',')
			names.data[i] = '\n';
	if (!err)
		err = tenon_buffer_u8(&names, '\0');
	if (!err)
		for (char *name = names.data, *rest; (name = strtok_r(name, "\n", &rest));
		     name = NULL) {
			printable_print(name, cli->out);
			fputc('\n', cli->out);
		}
	tenon_buffer_fini(&names);
	return err ? failed(cli) : CLI_OK;
}

int rpc_functions_main(struct cli *cli, int argc, char **argv)
{
	return with_session(cli, argc, argv, 1, "functions ADDRESS [--timeout S]", SILENCE_S,
			    functions);
}

/* ---- upload: the way to try a connection with a file, since the folder ends with the session */

static int upload(struct cli *cli, struct client *c)
{
	struct tenon_buffer back = TENON_BUFFER_INIT;
	char size[SIZE_TEXT], time[TIMING_TEXT];
	uint64_t start;
	bool sent;
	int i, err = 0;

	for (i = 1; i < c->word_count && !err; i++) {
		const char *slash = strrchr(c->words[i], '/');

		start = clock_now();
		err = tenon_remote_send_file(c->remote, c->words[i], NULL, &sent);
		start = clock_now() - start;
		if (!err)
			err = tenon_remote_download(c->remote, slash ? slash + 1 : c->words[i],
						    &back);
		if (!err)
			printable_format(cli->out, "%s: %s in %s, and it arrived%s\n", c->words[i],
					 size_text(back.size, size), timing_text(start, time),
					 sent ? "" : ": the server had it");
		tenon_buffer_fini(&back);
	}
	return err ? failed(cli) : CLI_OK;
}

int rpc_upload_main(struct cli *cli, int argc, char **argv)
{
	return with_session(cli, argc, argv, 2, "upload ADDRESS FILE... [--timeout S]", 0, upload);
}

/* ---- call */

static int make_argument(struct cli *cli, struct client *c, const char *text, struct argument *a)
{
	struct tenon_device *device = NULL;
	int err;

	if (spec_parse(SPEC_INPUT, text, &a->spec)) {
		cli_usage(cli, "%s: %s", text, tenon_error_message());
		tenon_error_clear();
		return CLI_USAGE;
	}
	spec_print_seed(&a->spec, "call", cli->err);
	err = argument_make(a);
	if (!err && !a->tensor)
		return 0;
	if (!err)
		err = tenon_remote_device(c->remote, (DLDevice){ kDLCPU, 0 }, &device);
	if (!err)
		err = tenon_tensor_create_on(tenon_device_id(device), a->tensor->dl.shape,
					     a->tensor->dl.ndim, a->tensor->dl.dtype,
					     &a->on_device);
	if (!err)
		err = tenon_tensor_copy(&a->tensor->dl, &a->on_device->dl);
	tenon_object_unref(device);
	return err ? failed(cli) : 0;
}

static int print_result(struct cli *cli, struct client *c, struct tenon_value *value)
{
	if (target_fetch(value))
		return failed(cli);
	if (!c->json) {
		print_value(value, cli->out);
		fputc('\n', cli->out);
		return CLI_OK;
	}
#ifdef CONFIG_JSON
	cJSON *json = cJSON_CreateObject();

	json_set(json, "returned", json_of_value(value));
	if (json_print(json, cli->out))
		return cli_error(cli, CLI_FAILED);
#endif
	return CLI_OK;
}

static int call_with(struct cli *cli, struct client *c, struct tenon_function *function,
		     struct argument *list, struct tenon_value *views)
{
	struct tenon_value returned = tenon_arg_none();
	int i, count = c->word_count - 2, code = 0;

	for (i = 0; i < count && !code; i++) {
		code = make_argument(cli, c, c->words[i + 2], &list[i]);
		views[i] = list[i].on_device ? tenon_arg_object(list[i].on_device) : list[i].value;
	}
	if (!code && tenon_function_call(function, views, count, &returned))
		code = failed(cli);
	if (!code)
		code = print_result(cli, c, &returned);
	for (i = 0; i < count; i++) {
		tenon_object_unref(list[i].on_device);
		argument_release(&list[i]);
	}
	tenon_value_release(&returned);
	return code;
}

static int call(struct cli *cli, struct client *c)
{
	size_t room = (size_t)c->word_count;
	struct argument *list = calloc(room, sizeof(*list));
	struct tenon_value *views = calloc(room, sizeof(*views));
	struct tenon_function *function = NULL;
	int code, err = tenon_remote_function(c->remote, c->words[1], &function);

	if (!err && !function)
		err = tenon_error(-TENON_E_NOT_FOUND,
				  "%s has no function %s; tenon rpc functions lists them",
				  c->words[0], c->words[1]);
	if (!err && (!list || !views))
		err = tenon_error(-TENON_E_NOMEM, "no memory for %zu arguments", room);
	code = err ? failed(cli) : call_with(cli, c, function, list, views);
	tenon_object_unref(function);
	free(list);
	free(views);
	return code;
}

int rpc_call_main(struct cli *cli, int argc, char **argv)
{
	return with_session(cli, argc, argv, 2,
			    "call ADDRESS FUNCTION [SPEC]... [--timeout S] [--json]", 0, call);
}
