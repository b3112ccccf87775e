/* SPDX-License-Identifier: MIT */
/* tenon chat: talk to a language model. */
#include "tools/cli/verbs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>
#include <tenon/trace.h>
#include <unistd.h>

#include "tools/chat/chat_reply.h"
#include "tools/cli/progress.h"
#include "tools/device_option/kernels.h"
#include "tools/device_option/target_list.h"
#include "tools/file/output.h"
#include "tools/text/text.h"

#define MESSAGES_MOST 64
#define STOPS_MOST    16

struct chat {
	const char *file;
	struct target_list devices;
	struct tenon_llm_options options;
	struct tenon_llm *llm;
	struct tenon_llm_sampling sampling;
	double numbers[8]; /* of options for sampling; -1: not given */
	const char *messages[MESSAGES_MOST];
	size_t message_count;
	const char *tokens;
	const char *system;
	const char *trace;
	struct tenon_slice stops[STOPS_MOST];
	size_t stop_count;
	size_t most;
	bool raw, json, quiet, ignore_end;
};

enum { TEMPERATURE, TOP_P, REPETITION, PRESENCE, FREQUENCY, NUMBERS }; /* indices of numbers */

/* ---- the command line */

static int add_stop(struct cli *cli, void *chat)
{
	struct chat *c = chat;

	if (c->stop_count == STOPS_MOST || !*optarg)
		return cli_usage(cli, "--stop: 1 to %d strings that are not empty", STOPS_MOST);
	c->stops[c->stop_count++] = tenon_slice_of(optarg);
	return 0;
}

/* the row of a number for sampling */
#define NUMBER(name, index)                                                                        \
	{                                                                                          \
		name, .real = &c->numbers[index], .least = -100, .most = 100                       \
	}

static int read_options(struct cli *cli, struct chat *c, int argc, char **argv)
{
	struct cli_words messages = { c->messages, .most = MESSAGES_MOST };
	uint64_t tokens = 0, most = 0;
	const struct cli_option options[] = {
		{ "bytes", .flag = &c->options.bytes },
		{ "cache-tokens", .count = &tokens, .to = INT32_MAX / 2 },
		{ "device", .take = target_list_take, .context = &c->devices },
		NUMBER("frequency-penalty", FREQUENCY),
		{ "ignore-end", .flag = &c->ignore_end },
		{ "json", .flag = &c->json },
		{ "max-tokens", .count = &most, .to = INT32_MAX },
		{ "message", .words = &messages },
		NUMBER("presence-penalty", PRESENCE),
		{ "quiet", .flag = &c->quiet },
		{ "raw", .flag = &c->raw },
		NUMBER("repetition-penalty", REPETITION),
		{ "seed", .count = &c->sampling.seed, .to = UINT64_MAX },
		{ "stop", .take = add_stop, .context = c },
		{ "system", .text = &c->system },
		NUMBER("temperature", TEMPERATURE),
		{ "tokens", .text = &c->tokens },
		NUMBER("top-p", TOP_P),
		{ "trace", .text = &c->trace },
		{ "weights", .text = &c->options.weights },
		{ 0 },
	};
	int code, i;

	for (i = 0; i < NUMBERS; i++)
		c->numbers[i] = -1000;
	code = cli_options(cli, argc, argv, options);
	if (!code && c->json)
		code = cli_needs_json(cli);
	if (code)
		return code;
	c->options.tokens = (int64_t)tokens;
	c->most = (size_t)most;
	c->message_count = messages.count;
	if (c->tokens && c->message_count)
		return cli_usage(cli, "--tokens and --message are given; each is a prompt");
	return cli_file(cli, argc, argv, &c->file);
}

/* What the model recommends, but for what is given. */
static void set_sampling(struct chat *c)
{
	struct tenon_llm_sampling s = tenon_llm_sampling(c->llm);
	double *const to[NUMBERS] = {
		[TEMPERATURE] = &s.temperature,	      [TOP_P] = &s.top_p,
		[REPETITION] = &s.repetition_penalty, [PRESENCE] = &s.presence_penalty,
		[FREQUENCY] = &s.frequency_penalty,
	};
	int i;

	for (i = 0; i < NUMBERS; i++)
		if (c->numbers[i] >= -100)
			*to[i] = c->numbers[i];
	s.seed = c->sampling.seed;
	c->sampling = s;
}

/* Say why messages have another form than the model was made for. */
static void tell_about_template(const struct chat *c, FILE *to)
{
	const char *problem = tenon_llm_template_problem(c->llm);

	if (problem)
		printable_print(problem, to);
	else
		fprintf(to, "%s: there is no mlc-chat-config.json with a template of conversations",
			c->options.weights ? c->options.weights : c->file);
	fputs(", so messages are \"user: ...\"; --raw continues the text itself\n", to);
}

static int open_model(struct cli *cli, struct chat *c)
{
	int err, code;

	if (c->devices.count > 1)
		return cli_usage(cli, "a language model runs on one --device");
	code = target_list_open(cli, &c->devices);
	if (code)
		return code;
	if (c->devices.count)
		c->options.device = c->devices.id[0];
	c->options.progress = kernels_progress;
	progress_say("opening %s", c->file);
	err = tenon_llm_open(c->file, &c->options, &c->llm);
	progress_say("%s", "");
	if (err)
		return cli_error(cli, cli_exit_of(err, CLI_NO_FILE));
	set_sampling(c);
	if (!tenon_llm_info(c->llm)->has_template && !c->tokens && !c->raw && !c->quiet)
		tell_about_template(c, cli->err);
	return 0;
}

/* ---- replies */

static int submit(struct chat *c, const struct tenon_buffer *prompt, struct chat_reply *reply)
{
	struct tenon_llm_request r = {
		.size = sizeof(r),
		.prompt = (const int32_t *)(const void *)prompt->data,
		.prompt_count = prompt->size / sizeof(int32_t),
		.most = c->most,
		.sampling = c->sampling,
		.stops = c->stops,
		.stop_count = c->stop_count,
		.ignore_end = c->ignore_end,
		.text = chat_reply_text,
		.end = chat_reply_end,
		.context = reply,
	};
	uint64_t job;

	return tenon_llm_submit(c->llm, &r, &job);
}

/* Print a complete reply, and what it took. */
static int report(struct cli *cli, struct chat *c, struct chat_reply *reply)
{
	const struct tenon_llm_info *info = tenon_llm_info(c->llm);

#ifdef CONFIG_JSON
	if (c->json) {
		if (chat_reply_json(reply, info, cli->out))
			return cli_error(cli, CLI_FAILED);
		return reply->end == TENON_LLM_ERROR ? CLI_FAILED : CLI_OK;
	}
#endif
	chat_reply_print(reply);
	fputc('\n', cli->out);
	fflush(cli->out);
	if (reply->end == TENON_LLM_ERROR) {
		tenon_error(-TENON_E_CALL, "%s", reply->message);
		return cli_error(cli, CLI_FAILED);
	}
	if (!c->quiet)
		chat_reply_figures(reply, info, cli->err);
	return CLI_OK;
}

static void begin_reply(struct cli *cli, const struct chat *c, struct chat_reply *reply)
{
	reply->numbers = c->tokens != NULL;
	reply->terminal = isatty(fileno(cli->out));
	reply->out = c->json ? NULL : cli->out;
}

/* Generate one reply, printing it as it comes. */
static int answer(struct cli *cli, struct chat *c, const struct tenon_buffer *prompt,
		  struct chat_reply *reply)
{
	int err = prompt->status;

	begin_reply(cli, c, reply);
	if (!err)
		err = submit(c, prompt, reply);
	if (err)
		return cli_error(cli, cli_exit_of(err, CLI_FAILED));
	while (tenon_llm_step(c->llm) > 0)
		;
	return report(cli, c, reply);
}

static int make_prompt(struct chat *c, const struct tenon_llm_message *messages, size_t count,
		       struct tenon_buffer *prompt)
{
	if (c->raw)
		return tenon_llm_encode(c->llm, messages[count - 1].content, TENON_LLM_SPECIAL,
					prompt);
	return tenon_llm_prompt(c->llm, messages, count, prompt);
}

static struct tenon_llm_message message_of(const char *role, struct tenon_slice content)
{
	return (struct tenon_llm_message){ tenon_slice_of(role), content };
}

/* Answer all --message, each a conversation of its own, in one batch. */
static int answer_messages(struct cli *cli, struct chat *c)
{
	struct chat_reply replies[MESSAGES_MOST] = { 0 };
	struct tenon_llm_message messages[2];
	struct tenon_buffer prompt;
	size_t i, n, at = 0;
	int err = 0, code = CLI_OK, last;

	for (i = 0; i < c->message_count && !err; i++) {
		n = 0;
		if (c->system)
			messages[n++] = message_of("system", tenon_slice_of(c->system));
		messages[n++] = message_of("user", tenon_slice_of(c->messages[i]));
		prompt = (struct tenon_buffer)TENON_BUFFER_INIT;
		err = make_prompt(c, messages, n, &prompt);
		if (!err)
			err = submit(c, &prompt, &replies[i]);
		tenon_buffer_fini(&prompt);
	}
	if (err)
		code = cli_error(cli, cli_exit_of(err, CLI_FAILED));
	while (!err && at < c->message_count) {
		/* the first that is not complete is printed as it comes */
		begin_reply(cli, c, &replies[at]);
		chat_reply_print(&replies[at]);
		if (!replies[at].end) {
			tenon_llm_step(c->llm);
			continue;
		}
		last = report(cli, c, &replies[at++]);
		code = last ? last : code;
	}
	for (i = 0; i < c->message_count; i++)
		chat_reply_fini(&replies[i]);
	return code;
}

static int read_tokens(struct cli *cli, const char *text, struct tenon_buffer *out)
{
	int32_t token;
	long number;
	char *end;

	do {
		number = strtol(text, &end, 10);
		if (end == text || (*end && *end != ',') || number < 0 || number > INT32_MAX)
			return cli_usage(cli,
					 "--tokens: numbers with commas between them are wanted");
		token = (int32_t)number;
		tenon_buffer_append(out, &token, sizeof(token));
		text = end + 1;
	} while (*end);
	return 0;
}

static int answer_tokens(struct cli *cli, struct chat *c)
{
	struct tenon_buffer prompt = TENON_BUFFER_INIT;
	struct chat_reply reply = { 0 };
	int code = read_tokens(cli, c->tokens, &prompt);

	if (!code)
		code = answer(cli, c, &prompt, &reply);
	chat_reply_fini(&reply);
	tenon_buffer_fini(&prompt);
	return code;
}

/* ---- a conversation, line by line */

struct conversation {
	struct tenon_llm_message *messages;
	size_t count, room;
};

/* Add a message, whose text is copied. */
static int say(struct conversation *talk, const char *role, struct tenon_slice text)
{
	size_t room = talk->room ? 2 * talk->room : 16;
	struct tenon_llm_message *more;
	char *copy;

	if (talk->count == talk->room) {
		more = realloc(talk->messages, room * sizeof(*more));
		if (!more)
			return tenon_error(-TENON_E_NOMEM, "no memory for the conversation");
		talk->messages = more;
		talk->room = room;
	}
	copy = malloc(text.size + 1);
	if (!copy)
		return tenon_error(-TENON_E_NOMEM, "no memory for the conversation");
	if (text.size)
		memcpy(copy, text.data, text.size);
	talk->messages[talk->count++] = message_of(role, (struct tenon_slice){ copy, text.size });
	return 0;
}

static int answer_line(struct cli *cli, struct chat *c, struct conversation *talk,
		       struct tenon_slice line)
{
	struct tenon_buffer prompt = TENON_BUFFER_INIT;
	struct chat_reply reply = { 0 };
	struct tenon_slice text;
	int err, code;

	err = say(talk, "user", line);
	if (!err)
		err = make_prompt(c, talk->messages, talk->count, &prompt);
	code = err ? cli_error(cli, cli_exit_of(err, CLI_FAILED)) : answer(cli, c, &prompt, &reply);
	text = (struct tenon_slice){ reply.text.data, reply.text.size };
	if (!code && say(talk, "assistant", text))
		code = cli_error(cli, CLI_FAILED);
	chat_reply_fini(&reply);
	tenon_buffer_fini(&prompt);
	return code;
}

static int converse(struct cli *cli, struct chat *c)
{
	const bool asks = isatty(STDIN_FILENO) && isatty(fileno(cli->err));
	struct conversation talk = { NULL, 0, 0 };
	char *line = NULL;
	size_t room = 0;
	ssize_t n;
	int code = CLI_OK;

	if (c->system && say(&talk, "system", tenon_slice_of(c->system)))
		code = cli_error(cli, CLI_FAILED);
	while (!code) {
		if (asks)
			fputs("> ", cli->err);
		n = getline(&line, &room, stdin);
		if (n < 0)
			break;
		n -= n && line[n - 1] == '\n';
		if (n)
			code = answer_line(cli, c, &talk, (struct tenon_slice){ line, (size_t)n });
	}
	free(line);
	while (talk.count)
		free((char *)(uintptr_t)talk.messages[--talk.count].content.data);
	free(talk.messages);
	return code;
}

static int chat_main(struct cli *cli, int argc, char **argv)
{
	struct chat c = { .options.size = sizeof(c.options) };
	int code = read_options(cli, &c, argc, argv);

	if (code)
		return code;
	if (c.json)
		cli_reserve_output(cli);
	if (c.trace && (output_check(c.trace) || tenon_trace(c.trace)))
		return cli_error(cli, CLI_NO_FILE);
	if (progress_start(0, isatty(STDERR_FILENO))) {
		code = cli_error(cli, CLI_FAILED);
		goto close;
	}
	code = open_model(cli, &c);
	progress_stop();
	if (code)
		goto close;
	if (c.tokens)
		code = answer_tokens(cli, &c);
	else if (c.message_count)
		code = answer_messages(cli, &c);
	else
		code = converse(cli, &c);
close:
	if (c.trace && tenon_trace(NULL) && !code)
		code = cli_error(cli, CLI_NO_FILE);
	tenon_llm_close(c.llm);
	target_list_fini(&c.devices);
	return code;
}

const struct cli_command chat_command = {
	"chat",
	"Talk to a language model",
	"Usage: tenon chat MODEL [--message TEXT]... [OPTION]...\n"
	"\n"
	"MODEL is a folder that tenon-compile made of a language model, or a shared object that\n"
	"mlc_llm compile made. Without --message, each line of standard input is a message of one\n"
	"conversation.\n"
	"\n"
	"  --message TEXT          answer TEXT; several are answered in one batch, each by itself\n"
	"  --system TEXT           replace the model's system message\n"
	"  --raw                   continue the text, without the model's template\n"
	"  --tokens N,N,...        the prompt as numbers; the reply is printed as numbers\n"
	"  --max-tokens N          longest reply (as the context has room)\n"
	"  --temperature X         0 for the most probable token (as the model recommends)\n"
	"  --top-p X               choose among the most probable tokens (as recommended)\n"
	"  --repetition-penalty X  1 for none (as recommended)\n"
	"  --presence-penalty X    0 for none\n"
	"  --frequency-penalty X   0 for none\n"
	"  --seed N                start of the random numbers (0)\n"
	"  --stop TEXT             end the reply before TEXT; may be repeated\n"
	"  --ignore-end            go on after the model's end of a reply\n"
	"  --weights DIR           folder of the weights and of tokenizer.json (the model's); or "
	"a\n"
	"                          file in safetensors or GGUF\n"
	"  --cache-tokens N        room of the key-value cache (one context)\n"
	"  --bytes                 use bytes as tokens, even if there is a tokenizer\n"
	"  --device NAME           device to run on (cpu)\n"
	"  --trace FILE            write what ran when for Perfetto (ui.perfetto.dev)\n"
	"  --quiet                 print the reply alone, without speed and memory\n"
	"  --json                  print each reply as a line of JSON\n",
	chat_main,
};
