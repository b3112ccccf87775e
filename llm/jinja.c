/* SPDX-License-Identifier: MIT */
/* Statements of chat templates: if, for, set, break and continue; and the whole. */
#include "llm/jinja.h"

#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>

#include "lib/slice_text.h"
#include "llm/jinja_parts.h"

/* what is left at the end of a body */
static const char *const ends[] = { "endif", "elif", "else", "endfor", "endset", "endgeneration" };

static int run_body(struct jinja *j);

static bool is_end(const struct jinja *j)
{
	struct tenon_slice word;
	size_t i;

	/* nothing is behind TOKEN_END */
	if (j->tokens[j->at].kind != TOKEN_BLOCK)
		return j->tokens[j->at].kind == TOKEN_END;
	word = j->tokens[j->at + 1].text;
	for (i = 0; i < sizeof(ends) / sizeof(ends[0]) && !slice_is(word, ends[i]); i++)
		;
	return i < sizeof(ends) / sizeof(ends[0]);
}

/* ---- stepping over what is not done */

/* A tag with an end of its own. "set" has one without "=". */
static bool opens(struct jinja *j)
{
	const struct tenon_slice word = j->tokens[j->at + 1].text;
	size_t at;

	if (slice_is(word, "set")) {
		for (at = j->at; j->tokens[at].kind != TOKEN_BLOCK_END; at++)
			if (slice_is(j->tokens[at].text, "=") || j->tokens[at].kind == TOKEN_END)
				return false;
		return true;
	}
	return slice_is(word, "if") || slice_is(word, "for") || slice_is(word, "macro") ||
	       slice_is(word, "generation") || slice_is(word, "call") || slice_is(word, "filter");
}

static bool closes(const struct jinja *j)
{
	const struct tenon_slice word = j->tokens[j->at + 1].text;

	return word.size > 3 && !memcmp(word.data, "end", 3);
}

/* Step to the end of this body: its "end…", "elif" or "else". */
static void skip_body(struct jinja *j)
{
	size_t open = 0;

	for (; j->tokens[j->at].kind != TOKEN_END; j->at++) {
		if (j->tokens[j->at].kind != TOKEN_BLOCK)
			continue;
		if (!open && is_end(j))
			return;
		open += opens(j);
		open -= open && closes(j);
	}
}

/* Take a tag that is one word. */
static int take_tag(struct jinja *j, const char *word)
{
	if (j->tokens[j->at].kind != TOKEN_BLOCK || !slice_is(j->tokens[j->at + 1].text, word))
		return jinja_error(j, -TENON_E_FORMAT, "there is no \"%s\" here", word);
	j->at += 2;
	if (j->tokens[j->at].kind != TOKEN_BLOCK_END)
		return jinja_error(j, -TENON_E_FORMAT, "\"%s\" is followed by something", word);
	j->at++;
	return 0;
}

static int take_end_of_tag(struct jinja *j)
{
	if (j->tokens[j->at].kind != TOKEN_BLOCK_END)
		return jinja_error(j, -TENON_E_UNSUPPORTED, "\"%.*s\" at the end of a tag",
				   (int)(j->tokens[j->at].text.size & 31),
				   j->tokens[j->at].text.data);
	j->at++;
	return 0;
}

/* ---- if */

/* Read the condition of "if" or "elif", and do or skip its body. */
static int run_branch(struct jinja *j, bool *done)
{
	struct jinja_value v;
	int err = jinja_expression(j, !*done, &v);

	if (!err)
		err = take_end_of_tag(j);
	if (err)
		return err;
	if (*done || !jinja_true(&v)) {
		skip_body(j);
		return 0;
	}
	*done = true;
	return run_body(j);
}

static int run_if(struct jinja *j)
{
	bool done = false;
	int err = run_branch(j, &done);

	while (!err && !j->flow && j->tokens[j->at].kind == TOKEN_BLOCK &&
	       slice_is(j->tokens[j->at + 1].text, "elif")) {
		j->at += 2;
		err = run_branch(j, &done);
	}
	if (err || j->flow)
		return err;
	if (j->tokens[j->at].kind == TOKEN_BLOCK && slice_is(j->tokens[j->at + 1].text, "else")) {
		err = take_tag(j, "else");
		if (!err && done)
			skip_body(j);
		else if (!err)
			err = run_body(j);
	}
	return err || j->flow ? err : take_tag(j, "endif");
}

/* ---- for */

struct loop {
	struct tenon_slice name;
	struct jinja_value list;
	struct jinja_dict *state;
	size_t body;
};

static int set_loop(struct jinja *j, const struct loop *l, size_t i)
{
	const int64_t n = (int64_t)l->list.list.count, at = (int64_t)i;
	const struct {
		const char *name;
		struct jinja_value value;
	} members[] = {
		{ "index", jinja_integer(at + 1) },    { "index0", jinja_integer(at) },
		{ "revindex", jinja_integer(n - at) }, { "revindex0", jinja_integer(n - at - 1) },
		{ "first", jinja_bool(!i) },	       { "last", jinja_bool(at == n - 1) },
		{ "length", jinja_integer(n) },
	};
	const struct jinja_value *items = l->list.list.at;
	size_t k;
	int err = 0;

	l->state->count = 0;
	for (k = 0; k < sizeof(members) / sizeof(members[0]) && !err; k++)
		err = jinja_set(j, l->state, 0, tenon_slice_of(members[k].name), members[k].value);
	if (!err && i)
		err = jinja_set(j, l->state, 0, tenon_slice_of("previtem"), items[i - 1]);
	if (!err && at < n - 1)
		err = jinja_set(j, l->state, 0, tenon_slice_of("nextitem"), items[i + 1]);
	return err;
}

/* What a round sets is gone behind it. */
static int run_round(struct jinja *j, const struct loop *l, size_t i)
{
	const size_t frame = j->frame, count = j->variables.count;
	const struct jinja_value state = { .kind = JINJA_DICT, .dict = l->state };
	int err = jinja_step(j);

	j->frame = count;
	j->at = l->body;
	if (!err)
		err = set_loop(j, l, i);
	if (!err)
		err = jinja_set(j, &j->variables, count, tenon_slice_of("loop"), state);
	if (!err)
		err = jinja_set(j, &j->variables, count, l->name, l->list.list.at[i]);
	if (!err)
		err = run_body(j);
	j->frame = frame;
	j->variables.count = count;
	return err;
}

static int run_for(struct jinja *j)
{
	struct loop l;
	size_t end, i;
	int err = jinja_take_name(j, &l.name);

	if (!err && slice_is(j->tokens[j->at].text, ","))
		err = jinja_error(j, -TENON_E_UNSUPPORTED, "\"for\" with two names");
	if (!err)
		err = jinja_expect(j, "in");
	if (!err)
		err = jinja_expression(j, true, &l.list);
	if (!err)
		err = take_end_of_tag(j);
	if (!err && l.list.kind == JINJA_UNDEFINED)
		l.list = (struct jinja_value){ .kind = JINJA_LIST, .list = { NULL, 0 } };
	if (!err && l.list.kind != JINJA_LIST)
		err = jinja_error(j, -TENON_E_UNSUPPORTED, "\"for\" over what is no list");
	if (err)
		return err;
	l.state = jinja_alloc(j, sizeof(*l.state));
	if (!l.state)
		return tenon_error_status();
	*l.state = (struct jinja_dict){ .count = 0 };
	l.body = j->at;
	skip_body(j);
	end = j->at;
	for (i = 0; i < l.list.list.count && !err && j->flow != FLOW_BREAK; i++) {
		j->flow = FLOW_ON;
		err = run_round(j, &l, i);
		if (!err && !j->flow && j->at != end)
			err = jinja_error(j, -TENON_E_FORMAT, "there is no \"endfor\" here");
	}
	j->flow = FLOW_ON;
	j->at = end;
	if (!err && j->tokens[j->at].kind == TOKEN_BLOCK &&
	    slice_is(j->tokens[j->at + 1].text, "else")) {
		err = take_tag(j, "else");
		if (!err && l.list.list.count)
			skip_body(j);
		else if (!err)
			err = run_body(j);
		/* a break in it is that of a loop around */
		if (err || j->flow)
			return err;
	}
	return err ? err : take_tag(j, "endfor");
}

/* ---- set */

/* {% set NAME %} … {% endset %} */
static int read_block(struct jinja *j, struct jinja_value *out)
{
	struct tenon_buffer *const saved = j->out;
	struct tenon_buffer text = TENON_BUFFER_INIT;
	const size_t before = j->before;
	int err;

	j->out = &text;
	j->before = 0;
	err = run_body(j);
	j->out = saved;
	j->before = before;
	if (!err)
		err = jinja_keep(j, &text, out);
	tenon_buffer_fini(&text);
	return err || j->flow ? err : take_tag(j, "endset");
}

static int run_set(struct jinja *j)
{
	struct tenon_slice name, part = { "", 0 };
	struct jinja_dict *dict = NULL;
	struct jinja_value *of, v;
	int err = jinja_take_name(j, &name);

	if (!err && jinja_take(j, ".")) {
		err = jinja_take_name(j, &part);
		of = jinja_get(&j->variables, name);
		if (!err && (!of || of->kind != JINJA_DICT))
			err = jinja_error(j, -TENON_E_VALUE, "a member of what is no namespace()");
		else if (!err)
			dict = of->dict;
	}
	if (!err && jinja_take(j, "=")) {
		err = jinja_expression(j, true, &v);
		if (!err)
			err = take_end_of_tag(j);
	} else if (!err) {
		err = take_end_of_tag(j);
		if (!err)
			err = read_block(j, &v);
	}
	if (err || j->flow)
		return err;
	/* the expression may have moved the variables, or given the name another value, but the object stays */
	if (dict)
		return jinja_set(j, dict, 0, part, v);
	return jinja_set(j, &j->variables, j->frame, name, v);
}

/* ---- all */

static int run_block(struct jinja *j)
{
	struct tenon_slice word;
	int err;

	j->at++;
	err = jinja_take_name(j, &word);
	if (err)
		return err;
	if (slice_is(word, "if"))
		return run_if(j);
	if (slice_is(word, "for"))
		return run_for(j);
	if (slice_is(word, "set"))
		return run_set(j);
	/* marks what a model is trained on */
	if (slice_is(word, "generation")) {
		err = take_end_of_tag(j);
		if (!err)
			err = run_body(j);
		return err || j->flow ? err : take_tag(j, "endgeneration");
	}
	if (slice_is(word, "break") || slice_is(word, "continue")) {
		j->flow = *word.data == 'b' ? FLOW_BREAK : FLOW_CONTINUE;
		return take_end_of_tag(j);
	}
	j->at--;
	return jinja_error(j, -TENON_E_UNSUPPORTED, "\"%.*s\" is not supported",
			   slice_shown(word, 40), word.data);
}

/* Do what follows, up to the end of this body. */
static int run_body(struct jinja *j)
{
	const struct jinja_token *t;
	struct jinja_value v;
	int err = 0;

	if (++j->depth > JINJA_DEPTH_MOST)
		return jinja_error(j, -TENON_E_OVERFLOW, "blocks are too deep");
	while (!err && !j->flow && !is_end(j)) {
		t = &j->tokens[j->at];
		err = jinja_step(j);
		if (err)
			break;
		if (t->kind == TOKEN_TEXT) {
			err = tenon_buffer_slice(j->out, t->text);
			j->at++;
		} else if (t->kind == TOKEN_BLOCK) {
			err = run_block(j);
		} else {
			j->at++;
			err = jinja_expression(j, true, &v);
			if (!err && j->tokens[j->at].kind != TOKEN_PRINT_END)
				err = jinja_error(j, -TENON_E_UNSUPPORTED, "what follows a value");
			if (!err)
				err = jinja_print(j, &v, j->out);
			j->at++;
		}
	}
	j->depth--;
	return err;
}

static int set_input(struct jinja *j, const struct jinja_input *in)
{
	struct jinja_value *list = jinja_alloc(j, (in->count + 1) * sizeof(*list));
	struct jinja_dict *d = jinja_alloc(j, (in->count + 1) * sizeof(*d));
	const struct jinja_value none = { .kind = JINJA_NONE }, yes = jinja_bool(true);
	const struct {
		const char *name;
		struct jinja_value value;
	} inputs[] = {
		{ "messages", { .kind = JINJA_LIST, .list = { list, in->count } } },
		{ "bos_token", jinja_string(in->bos) },
		{ "eos_token", jinja_string(in->eos) },
		{ "add_generation_prompt", yes },
		{ "tools", none },
	};
	size_t i;
	int err = list && d ? 0 : tenon_error_status();

	for (i = 0; i < in->count && !err; i++) {
		d[i] = (struct jinja_dict){ .count = 0 };
		list[i] = (struct jinja_value){ .kind = JINJA_DICT, .dict = &d[i] };
		err = jinja_set(j, &d[i], 0, tenon_slice_of("role"),
				jinja_string(in->messages[i].role));
		if (!err)
			err = jinja_set(j, &d[i], 0, tenon_slice_of("content"),
					jinja_string(in->messages[i].content));
	}
	for (i = 0; i < sizeof(inputs) / sizeof(inputs[0]) && !err; i++)
		err = jinja_set(j, &j->variables, 0, tenon_slice_of(inputs[i].name),
				inputs[i].value);
	return err;
}

int jinja_render(struct tenon_slice program, const char *name, const struct jinja_input *input,
		 struct tenon_buffer *out)
{
	struct jinja j = { .program = program, .name = name, .out = out, .before = out->size };
	int err = jinja_divide(&j);

	j.at = 0;
	if (!err)
		err = set_input(&j, input);
	if (!err)
		err = run_body(&j);
	if (!err && j.tokens[j.at].kind != TOKEN_END)
		err = jinja_error(&j, -TENON_E_FORMAT, "an end without its beginning");
	jinja_free(&j);
	return err ? err : out->status;
}
