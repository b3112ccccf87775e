/* SPDX-License-Identifier: MIT */
/* mlc-chat-config.json, or what a GGUF says: the template of conversations, end tokens, recommended sampling. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "lib/file_map.h"
#include "llm/llm_engine.h"
#include "llm/llm_gguf.h"
#include "llm/llm_json.h"
#include "llm/tokenizer.h"

#define LIST_MOST 1024

static const char *const role_names[] = { "user", "assistant", "tool" };
/* what the text of a message replaces */
static const char *const placeholders[] = { "{user_message}", "{assistant_message}",
					    "{tool_message}" };

#define ROLES 3

int llm_read_file(const char *folder, const char *file, char **path, struct tenon_slice *text)
{
	int err;

	*text = (struct tenon_slice){ NULL, 0 };
	if (asprintf(path, "%s/%s", folder, file) < 0) {
		*path = NULL;
		return tenon_error(-TENON_E_NOMEM, "no memory for a path");
	}
	if (llm_is_absent(*path))
		return 0;
	err = file_map_open(*path, text);
	if (err || text->size)
		return err;
	return tenon_error(-TENON_E_TRUNCATED, "%s: the file is empty", *path);
}

/* a list of integers, or one */
static int read_tokens(const struct json_text *t, uint32_t *at, const char *what, int32_t **out,
		       size_t *count)
{
	uint32_t n = 1, i;
	int64_t token;
	int32_t *more;
	int err = 0;

	if (llm_json_word(t, at, "null"))
		return 0;
	if (json_is(t, *at, JSMN_ARRAY))
		err = json_enter(t, at, JSMN_ARRAY, what, &n);
	if (!err && n > LIST_MOST)
		err = json_error(t, *at, -TENON_E_FORMAT, "%s: %" PRIu32 " tokens", what, n);
	for (i = 0; i < n && !err; i++) {
		err = json_integer(t, at, what, 0, INT32_MAX, &token);
		if (err)
			break;
		more = realloc(*out, (*count + 1) * sizeof(*more));
		if (!more)
			return tenon_error(-TENON_E_NOMEM, "no memory for tokens");
		*out = more;
		more[(*count)++] = (int32_t)token;
	}
	return err;
}

static int read_stops(const struct json_text *t, uint32_t *at, char **room, struct llm_template *to)
{
	uint32_t n, i;
	int err = json_enter(t, at, JSMN_ARRAY, "stop_str", &n);

	if (!err && n > LIST_MOST)
		err = json_error(t, *at, -TENON_E_FORMAT, "stop_str: %" PRIu32 " strings", n);
	if (err)
		return err;
	free(to->stops);
	to->stop_count = 0;
	to->stops = calloc(n + 1, sizeof(*to->stops));
	if (!to->stops)
		return tenon_error(-TENON_E_NOMEM, "no memory for stop strings");
	for (i = 0; i < n && !err; i++) {
		err = json_string(t, at, "a stop string", room, &to->stops[to->stop_count]);
		if (!err && to->stops[to->stop_count].size)
			to->stop_count++;
	}
	return err;
}

/* an object with a string for each role */
static int read_roles(const struct json_text *t, uint32_t *at, const char *what, char **room,
		      struct tenon_slice *out)
{
	struct tenon_slice key;
	uint32_t n;
	int i, err = json_enter(t, at, JSMN_OBJECT, what, &n);

	for (; n && !err; n--) {
		err = json_key(t, at, &key);
		for (i = 0; i < ROLES && !slice_is(key, role_names[i]); i++)
			;
		if (err)
			break;
		if (i < ROLES)
			err = json_string(t, at, what, room, &out[i]);
		else
			json_skip(t, at);
	}
	return err;
}

static int read_separators(const struct json_text *t, uint32_t *at, char **room,
			   struct llm_template *to)
{
	uint32_t n;
	int err = json_enter(t, at, JSMN_ARRAY, "seps", &n);

	if (!err && (n < 1 || n > 2))
		err = json_error(t, *at, -TENON_E_FORMAT, "%" PRIu32 " seps, want 1 or 2", n);
	if (!err)
		err = json_string(t, at, "seps", room, &to->separators[0]);
	to->separators[1] = to->separators[0];
	if (!err && n == 2)
		err = json_string(t, at, "seps", room, &to->separators[1]);
	return err;
}

/* ---- members that change prompts or replies, and are not applied */

static bool is_empty(const struct json_text *t, uint32_t at)
{
	const uint32_t start = at;

	if (llm_json_word(t, &at, "null") || llm_json_word(t, &at, "false"))
		return true;
	json_skip(t, &at);
	/* {}, [] and "" have no items */
	return at == start + 1 && (!json_is(t, start, JSMN_STRING) || !json_raw(t, start).size) &&
	       !json_is(t, start, JSMN_PRIMITIVE);
}

/* Skip a member that is in @known, or refuse it by its name. */
static int skip_known(const struct json_text *t, uint32_t *at, struct tenon_slice key,
		      const char *const *known, size_t count)
{
	size_t i;

	for (i = 0; i < count && !slice_is(key, known[i]); i++)
		;
	if (i == count && !is_empty(t, *at))
		return json_error(t, *at, -TENON_E_UNSUPPORTED,
				  "\"%.*s\" is not supported; remove it if the model does without",
				  json_shown(key), key.data);
	json_skip(t, at);
	return 0;
}

/* of a template: its name, and the text for tools, which only use_function_calling needs */
static const char *const template_skipped[] = { "name", "function_string" };

/*
 * Of the file: what the library states itself, what concerns other runtimes, and what tokenizer.json
 * states itself.
 */
static const char *const file_skipped[] = {
	"active_vocab_size",
	"attention_sink_size",
	"bos_token_id",
	"bundle_weight",
	"estimated_vram_bytes",
	"local_id",
	"max_batch_size",
	"max_gen_len",
	"max_window_size",
	"mean_gen_len",
	"model_category",
	"model_config",
	"model_id",
	"model_lib",
	"model_name",
	"model_type",
	"num_shards",
	"pad_token_id",
	"pipeline_parallel_stages",
	"prefill_chunk_size",
	"quantization",
	"shift_fill_factor",
	"sliding_window_size",
	"tensor_parallel_shards",
	"tokenizer_files",
	"tokenizer_info",
	"use_presharded_weights",
	"version",
	"vocab_size",
};

static int read_conversation(const struct json_text *t, uint32_t *at, char **room,
			     struct llm_template *to)
{
	const struct {
		const char *name;
		struct tenon_slice *to;
	} strings[] = {
		{ "system_template", &to->system_template },
		{ "system_message", &to->system_message },
		{ "role_content_sep", &to->content_separator },
		{ "role_empty_sep", &to->empty_separator },
	};
	const size_t known = sizeof(strings) / sizeof(strings[0]);
	struct tenon_slice key;
	uint32_t n;
	size_t i;
	int err = json_enter(t, at, JSMN_OBJECT, "conv_template", &n);

	while (json_next(t, at, &n, &key, &err)) {
		for (i = 0; i < known && !slice_is(key, strings[i].name); i++)
			;
		if (i < known)
			err = json_string(t, at, strings[i].name, room, strings[i].to);
		else if (slice_is(key, "system_prefix_token_ids"))
			err = read_tokens(t, at, "system_prefix_token_ids", &to->prefix,
					  &to->prefix_count);
		else if (slice_is(key, "stop_token_ids"))
			err = read_tokens(t, at, "stop_token_ids", &to->ends, &to->end_count);
		else if (slice_is(key, "stop_str"))
			err = read_stops(t, at, room, to);
		else if (slice_is(key, "roles"))
			err = read_roles(t, at, "roles", room, to->roles);
		else if (slice_is(key, "role_templates"))
			err = read_roles(t, at, "role_templates", room, to->role_templates);
		else if (slice_is(key, "seps"))
			err = read_separators(t, at, room, to);
		else if (slice_is(key, "add_role_after_system_message"))
			err = llm_json_bool(t, at, "add_role_after_system_message",
					    &to->role_after_system);
		else
			err = skip_known(t, at, key, template_skipped,
					 sizeof(template_skipped) / sizeof(template_skipped[0]));
	}
	to->present = true;
	return err;
}

static int read_member(const struct json_text *t, uint32_t *at, char **room,
		       struct llm_template *to)
{
	struct tenon_slice key;
	int err = json_key(t, at, &key);

	if (err || llm_json_sampling(t, at, key, &to->sampling, &err))
		return err;
	if (slice_is(key, "context_window_size"))
		return llm_json_optional(t, at, "context_window_size", &to->context);
	if (slice_is(key, "eos_token_id"))
		return read_tokens(t, at, "eos_token_id", &to->ends, &to->end_count);
	/* the name of a template, in files of the first versions, is refused */
	if (slice_is(key, "conv_template") && json_is(t, *at, JSMN_OBJECT))
		return read_conversation(t, at, room, to);
	return skip_known(t, at, key, file_skipped, sizeof(file_skipped) / sizeof(file_skipped[0]));
}

/* the form that conversations have where the model states none */
static void set_plain(struct llm_template *t)
{
	int i;

	*t = (struct llm_template){
		.system_template = tenon_slice_of("{system_message}\n"),
		.roles = { tenon_slice_of("user"), tenon_slice_of("assistant"),
			   tenon_slice_of("tool") },
		.separators = { tenon_slice_of("\n"), tenon_slice_of("\n") },
		.content_separator = tenon_slice_of(": "),
		.empty_separator = tenon_slice_of(":"),
		.role_after_system = true,
		.sampling = { .temperature = 1, .top_p = 1, .repetition_penalty = 1 },
	};
	for (i = 0; i < ROLES; i++)
		t->role_templates[i] = tenon_slice_of(placeholders[i]);
}

static int read_text(struct tenon_slice text, const char *name, struct llm_template *out)
{
	struct json_text t;
	uint32_t at = 0, count;
	char *room;
	int err = json_text_read(text, name, &t);

	if (err)
		return err;
	out->strings = room = llm_string_room(text);
	err = room ? json_enter(&t, &at, JSMN_OBJECT, "the configuration", &count) : -TENON_E_NOMEM;
	for (; !err && count; count--)
		err = read_member(&t, &at, &room, out);
	json_text_fini(&t);
	if (err)
		llm_template_fini(out);
	return err;
}

/* What a file in GGUF says about conversations. Without a vocabulary, it has weights alone. */
static int read_gguf(const char *gguf, struct llm_template *out)
{
	struct tenon_buffer text = TENON_BUFFER_INIT, why = TENON_BUFFER_INIT;
	int err = gguf_chat_json(gguf, &text, &why);

	if (!err)
		err = read_text((struct tenon_slice){ text.data, text.size }, gguf, out);
	if (!err && why.size) {
		out->problem = strndup(why.data, why.size);
		if (!out->problem)
			err = tenon_error(-TENON_E_NOMEM, "no memory for a message");
	}
	tenon_buffer_fini(&text);
	tenon_buffer_fini(&why);
	return err;
}

int llm_template_read(const char *folder, const char *gguf, struct llm_template *out)
{
	struct tenon_slice text;
	char *path;
	int err;

	set_plain(out);
	err = llm_read_file(folder, "mlc-chat-config.json", &path, &text);
	if (!err && text.data) {
		err = read_text(text, path, out);
		file_map_close(&text);
	} else if (!err && gguf) {
		err = read_gguf(gguf, out);
	}
	free(path);
	return err;
}

void llm_template_fini(struct llm_template *t)
{
	free(t->strings);
	free(t->problem);
	free(t->stops);
	free(t->prefix);
	free(t->ends);
	t->strings = t->problem = NULL;
	t->stops = NULL;
	t->prefix = t->ends = NULL;
}

/* ---- prompts */

/* The text of a conversation, and the parts of it that users wrote. */
struct prompt {
	struct tenon_buffer text;
	struct tenon_buffer spans; /* struct tokenizer_span */
};

static void add_plain(struct prompt *p, struct tenon_slice text)
{
	struct tokenizer_span span = { p->text.size, p->text.size + text.size };

	tenon_buffer_slice(&p->text, text);
	if (text.size)
		tenon_buffer_append(&p->spans, &span, sizeof(span));
}

/* Add @form with the text in place of the placeholder. */
static void add_filled(struct prompt *p, struct tenon_slice form, const char *placeholder,
		       struct tenon_slice text)
{
	const char *at = memmem(form.data, form.size, placeholder, strlen(placeholder));
	size_t before = at ? (size_t)(at - form.data) : form.size;

	tenon_buffer_append(&p->text, form.data, before);
	if (!at)
		return;
	add_plain(p, text);
	at += strlen(placeholder);
	tenon_buffer_append(&p->text, at, (size_t)(form.data + form.size - at));
}

static int add_message(const struct llm_template *t, const struct tenon_llm_message *m,
		       bool after_system, struct prompt *p)
{
	int role;

	for (role = 0; role < ROLES && !slice_is(m->role, role_names[role]); role++)
		;
	if (role == ROLES)
		return tenon_error(-TENON_E_VALUE,
				   "role \"%.*s\"; known are system (first), user, assistant "
				   "and tool",
				   json_shown(m->role), m->role.data);
	if (!after_system || t->role_after_system) {
		tenon_buffer_slice(&p->text, t->roles[role]);
		tenon_buffer_slice(&p->text, t->content_separator);
	}
	add_filled(p, t->role_templates[role], placeholders[role], m->content);
	tenon_buffer_slice(&p->text, t->separators[role == LLM_ASSISTANT]);
	return 0;
}

static int add_messages(const struct llm_template *t, const struct tenon_llm_message *messages,
			size_t count, struct prompt *p)
{
	struct tenon_slice system = t->system_message;
	size_t i, first = 0;
	int err;

	if (count && slice_is(messages[0].role, "system"))
		system = messages[first++].content;
	if (system.size)
		add_filled(p, t->system_template, "{system_message}", system);
	for (i = first; i < count; i++) {
		err = add_message(t, &messages[i], system.size && i == first, p);
		if (err)
			return tenon_error_in(err, "message %zu", i + 1);
	}
	tenon_buffer_slice(&p->text, t->roles[LLM_ASSISTANT]);
	tenon_buffer_slice(&p->text, t->empty_separator);
	return p->text.status ? p->text.status : p->spans.status;
}

int tenon_llm_prompt(struct tenon_llm *llm, const struct tenon_llm_message *messages, size_t count,
		     struct tenon_buffer *tokens)
{
	struct prompt p = { TENON_BUFFER_INIT, TENON_BUFFER_INIT };
	const struct llm_template *t = &llm->template;
	int err;

	if (!count)
		return tenon_error(-TENON_E_VALUE, "a conversation without a message");
	err = add_messages(t, messages, count, &p);
	if (!err)
		err = tenon_buffer_append(tokens, t->prefix, t->prefix_count * sizeof(*t->prefix));
	if (!err)
		err = llm_encode(llm, (struct tenon_slice){ p.text.data, p.text.size },
				 (const struct tokenizer_span *)p.spans.data,
				 p.spans.size / sizeof(struct tokenizer_span), tokens);
	tenon_buffer_fini(&p.text);
	tenon_buffer_fini(&p.spans);
	return err;
}
