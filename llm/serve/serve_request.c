/* SPDX-License-Identifier: MIT */
/* Read the JSON of a request member by member. */
#include "llm/serve/serve_request.h"

#include <inttypes.h>
#include <stdlib.h>

#include "lib/brief_errors.h"
#include "lib/utf8.h"
#include "llm/llm_json.h"

/* what is read at the moment */
struct reader {
	struct json_text t;
	uint32_t at;
	char *room;
	struct serve_request *to;
};

static bool is_null(struct reader *r)
{
	return llm_json_word(&r->t, &r->at, "null");
}

static int refuse(struct reader *r, const char *what)
{
	return json_error(&r->t, r->at, -TENON_E_UNSUPPORTED, "%s is not supported", what);
}

static int grow(void *list, size_t count, size_t size)
{
	void **at = list, *more;

	/* room is doubled: a count of a power of two is full */
	if (count & (count - 1))
		return 0;
	more = realloc(*at, (count ? 2 * count : 1) * size);
	if (!more)
		return tenon_error(-TENON_E_NOMEM, "no memory for the request");
	*at = more;
	return 0;
}

static int read_string(struct reader *r, const char *what, struct tenon_slice *out)
{
	return json_string(&r->t, &r->at, what, &r->room, out);
}

/* ---- messages */

/* One part of a message: {"type": "text", "text": "…"} */
static int read_part(struct reader *r, struct tenon_slice *text)
{
	struct tenon_slice key, type = { "", 0 };
	uint32_t count, start = r->at;
	int err = json_enter(&r->t, &r->at, JSMN_OBJECT, "a part of a message", &count);

	*text = (struct tenon_slice){ NULL, 0 };
	while (json_next(&r->t, &r->at, &count, &key, &err)) {
		if (slice_is(key, "type"))
			err = read_string(r, "the type of a part", &type);
		else if (slice_is(key, "text"))
			err = read_string(r, "the text of a part", text);
		else
			json_skip(&r->t, &r->at);
	}
	if (!err && (!slice_is(type, "text") || !text->data))
		return json_error(&r->t, start, -TENON_E_UNSUPPORTED,
				  "a part of type \"%.*s\" is not supported, only text",
				  json_shown(type), type.data);
	return err;
}

/* The content of a message: a string, or parts, whose texts are joined. */
static int read_content(struct reader *r, struct tenon_slice *out)
{
	struct tenon_slice text;
	uint32_t count;
	char *to, *next;
	int err;

	if (json_is(&r->t, r->at, JSMN_STRING))
		return read_string(r, "content", out);
	*out = (struct tenon_slice){ "", 0 };
	if (is_null(r))
		return 0;
	if (!json_is(&r->t, r->at, JSMN_ARRAY))
		return json_error(&r->t, r->at, -TENON_E_FORMAT,
				  "content is neither a string nor a list of parts");
	err = json_enter(&r->t, &r->at, JSMN_ARRAY, "content", &count);
	out->data = to = r->room;
	for (; count && !err; count--) {
		err = read_part(r, &text);
		if (err)
			break;
		/* strings lie in order, so the texts can be moved together */
		next = r->room;
		memmove(to, text.data, text.size);
		to += text.size;
		r->room = next;
	}
	out->size = (size_t)(to - out->data);
	return err;
}

static int read_message(struct reader *r, struct tenon_llm_message *m)
{
	struct tenon_slice key;
	uint32_t count, start = r->at;
	int err = json_enter(&r->t, &r->at, JSMN_OBJECT, "a message", &count);

	*m = (struct tenon_llm_message){ { "", 0 }, { NULL, 0 } };
	while (json_next(&r->t, &r->at, &count, &key, &err)) {
		if (slice_is(key, "role"))
			err = read_string(r, "role", &m->role);
		else if (slice_is(key, "content"))
			err = read_content(r, &m->content);
		else if (slice_is(key, "tool_calls") && !is_null(r))
			err = refuse(r, "tool_calls");
		else if (!slice_is(key, "tool_calls"))
			json_skip(&r->t, &r->at);
	}
	if (!err && (!m->role.size || !m->content.data))
		return json_error(&r->t, start, -TENON_E_FORMAT,
				  "a message without role or content");
	if (!err && slice_is(m->role, "developer"))
		m->role = tenon_slice_of("system");
	return err;
}

static int read_messages(struct reader *r)
{
	struct serve_request *to = r->to;
	uint32_t count;
	int err = json_enter(&r->t, &r->at, JSMN_ARRAY, "messages", &count);

	if (!err && (!count || count > SERVE_MESSAGES_MOST || to->message_count))
		return json_error(&r->t, r->at, -TENON_E_VALUE,
				  "%" PRIu32 " messages, want 1 to %d, once", count,
				  SERVE_MESSAGES_MOST);
	for (; count && !err; count--) {
		err = grow(&to->messages, to->message_count, sizeof(*to->messages));
		if (!err)
			err = read_message(r, &to->messages[to->message_count]);
		if (!err)
			to->message_count++;
	}
	return err;
}

/* ---- other members */

/* A prompt: a string, tokens, or a list of one of these. */
static int read_prompt(struct reader *r)
{
	struct serve_request *to = r->to;
	uint32_t count;
	int64_t token;
	int err;

	if (to->prompt.data || to->token_count)
		return json_error(&r->t, r->at, -TENON_E_FORMAT, "two prompts");
	if (json_is(&r->t, r->at, JSMN_STRING))
		return read_string(r, "prompt", &to->prompt);
	err = json_enter(&r->t, &r->at, JSMN_ARRAY, "prompt", &count);
	if (!err && !json_is(&r->t, r->at, JSMN_PRIMITIVE)) {
		if (count != 1)
			return json_error(&r->t, r->at, -TENON_E_UNSUPPORTED,
					  "%" PRIu32 " prompts in a request, want one", count);
		if (json_is(&r->t, r->at, JSMN_STRING))
			return read_string(r, "prompt", &to->prompt);
		err = json_enter(&r->t, &r->at, JSMN_ARRAY, "prompt", &count);
	}
	for (; count && !err; count--) {
		err = json_integer(&r->t, &r->at, "a token", 0, INT32_MAX, &token);
		if (!err)
			err = grow(&to->tokens, to->token_count, sizeof(*to->tokens));
		if (!err)
			to->tokens[to->token_count++] = (int32_t)token;
	}
	return err;
}

static int read_stops(struct reader *r)
{
	struct serve_request *to = r->to;
	uint32_t count = 1;
	int err = 0;

	if (is_null(r))
		return 0;
	if (json_is(&r->t, r->at, JSMN_ARRAY))
		err = json_enter(&r->t, &r->at, JSMN_ARRAY, "stop", &count);
	if (!err && count > SERVE_STOPS_MOST - to->stop_count)
		return json_error(&r->t, r->at, -TENON_E_VALUE, "more than %d stop strings",
				  SERVE_STOPS_MOST);
	for (; count && !err; count--)
		err = read_string(r, "stop", &to->stops[to->stop_count++]);
	return err;
}

static int read_stream_options(struct reader *r)
{
	struct tenon_slice key;
	uint32_t count;
	int err;

	if (is_null(r))
		return 0;
	err = json_enter(&r->t, &r->at, JSMN_OBJECT, "stream_options", &count);
	while (json_next(&r->t, &r->at, &count, &key, &err)) {
		if (slice_is(key, "include_usage"))
			err = llm_json_bool(&r->t, &r->at, "include_usage", &r->to->stream_usage);
		else
			json_skip(&r->t, &r->at);
	}
	return err;
}

/* An integer; null leaves @out as it is. */
static int read_integer(struct reader *r, const char *what, int64_t least, int64_t most,
			int64_t *out)
{
	return is_null(r) ? 0 : json_integer(&r->t, &r->at, what, least, most, out);
}

/* What may be given if it asks for nothing: null, false, 0, or an empty list or object. */
static int read_nothing(struct reader *r, const char *what)
{
	const jsmntok_t *token = &r->t.tokens[r->at];
	struct tenon_slice raw;

	if (r->at >= r->t.count)
		return refuse(r, what);
	raw = json_raw(&r->t, r->at);
	if (token->type == JSMN_PRIMITIVE
		    ? !slice_is(raw, "null") && !slice_is(raw, "false") && !slice_is(raw, "0")
		    : token->type == JSMN_STRING || token->size)
		return refuse(r, what);
	json_skip(&r->t, &r->at);
	return 0;
}

static int read_format(struct reader *r)
{
	struct tenon_slice key, type = { "text", 4 };
	uint32_t count, start = r->at;
	int err;

	if (is_null(r))
		return 0;
	err = json_enter(&r->t, &r->at, JSMN_OBJECT, "response_format", &count);
	while (json_next(&r->t, &r->at, &count, &key, &err)) {
		if (slice_is(key, "type"))
			err = read_string(r, "type", &type);
		else
			json_skip(&r->t, &r->at);
	}
	if (!err && !slice_is(type, "text"))
		return json_error(&r->t, start, -TENON_E_UNSUPPORTED,
				  "response_format \"%.*s\" is not supported, only \"text\"",
				  json_shown(type), type.data);
	return err;
}

static int read_member(struct reader *r)
{
	static const char *const unsupported[] = { "tools", "functions",    "logprobs",
						   "echo",  "top_logprobs", "logit_bias",
						   "audio", "suffix",	    "modalities" };
	struct tenon_slice key;
	int64_t number;
	size_t i;
	int err = json_key(&r->t, &r->at, &key);

	if (err || llm_json_sampling(&r->t, &r->at, key, &r->to->sampling, &err))
		return err;
	for (i = 0; i < sizeof(unsupported) / sizeof(unsupported[0]); i++)
		if (slice_is(key, unsupported[i]))
			return read_nothing(r, unsupported[i]);
	if (slice_is(key, "model"))
		return read_string(r, "model", &r->to->model);
	if (r->to->chat && slice_is(key, "messages"))
		return read_messages(r);
	if (!r->to->chat && slice_is(key, "prompt"))
		return read_prompt(r);
	if (slice_is(key, "max_tokens") || slice_is(key, "max_completion_tokens")) {
		number = (int64_t)r->to->most;
		err = read_integer(r, "max_tokens", 1, INT32_MAX, &number);
		r->to->most = (size_t)number;
		return err;
	}
	if (slice_is(key, "stop"))
		return read_stops(r);
	if (slice_is(key, "seed")) {
		number = (int64_t)r->to->sampling.seed;
		err = read_integer(r, "seed", INT64_MIN, INT64_MAX, &number);
		r->to->sampling.seed = (uint64_t)number;
		return err;
	}
	/* one reply for each request */
	if (slice_is(key, "n") || slice_is(key, "best_of"))
		return read_integer(r, slice_is(key, "n") ? "n" : "best_of", 1, 1, &number);
	if (slice_is(key, "stream"))
		return is_null(r) ? 0 : llm_json_bool(&r->t, &r->at, "stream", &r->to->stream);
	if (slice_is(key, "stream_options"))
		return read_stream_options(r);
	if (slice_is(key, "response_format"))
		return read_format(r);
	json_skip(&r->t, &r->at);
	return 0;
}

/* JSON is UTF-8; other bytes would become other characters without a word. */
static int check_characters(struct tenon_slice body)
{
	size_t i;
	int n;

	for (i = 0; i < body.size; i += (size_t)n) {
		n = utf8_character((struct tenon_slice){ body.data + i, body.size - i });
		if (n <= 0)
			return tenon_error(-TENON_E_FORMAT,
					   "the request: byte 0x%02x at %zu is not UTF-8",
					   (unsigned char)body.data[i], i);
	}
	return 0;
}

int serve_request_read(struct tenon_slice body, bool chat,
		       const struct tenon_llm_sampling *sampling, struct serve_request *out)
{
	struct reader r = { .to = out };
	uint32_t count;
	int err;

	*out = (struct serve_request){ .chat = chat, .sampling = *sampling };
	err = check_characters(body);
	if (!err)
		err = json_text_read(body, "the request", &r.t);
	if (err)
		return err;
	out->strings = r.room = malloc(body.size + 1);
	if (!out->strings)
		err = tenon_error(-TENON_E_NOMEM, "no memory for the request");
	if (!err)
		err = json_enter(&r.t, &r.at, JSMN_OBJECT, "the request", &count);
	for (; !err && count; count--)
		err = read_member(&r);
	if (!err && chat && !out->message_count)
		err = json_error(&r.t, 0, -TENON_E_FORMAT, "there are no messages");
	if (!err && !chat && !out->prompt.data && !out->token_count)
		err = json_error(&r.t, 0, -TENON_E_FORMAT, "there is no prompt");
	json_text_fini(&r.t);
	if (err)
		serve_request_fini(out);
	return err;
}

void serve_request_fini(struct serve_request *r)
{
	free(r->strings);
	free(r->messages);
	free(r->tokens);
	*r = (struct serve_request){ .strings = NULL };
}
