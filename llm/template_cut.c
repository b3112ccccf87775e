/* SPDX-License-Identifier: MIT */
/* Cut rendered conversations where their messages are: the same rules as in compile/tenon_compile/llm/chat_template.py. */
#include "llm/template_cut.h"

#include <inttypes.h>
#include <string.h>
#include <tenon/backend/buffer.h>

#include "lib/json_quote.h"
#include "lib/slice_text.h"
#include "llm/jinja.h"

#define SYSTEM "system0text"
#define FIRST  "first0text"
#define REPLY  "reply0text"
#define SECOND "second0text"

#define M(of, text)                                                                                \
	{                                                                                          \
		{ of, sizeof(of) - 1 },                                                            \
		{                                                                                  \
			text, sizeof(text) - 1                                                     \
		}                                                                                  \
	}

/* of the conversations, the first two are cut, all are compared */
#define CONVERSATIONS 5
#define MESSAGES_MOST 5
static const struct {
	size_t count;
	struct tenon_llm_message at[MESSAGES_MOST];
} conversations[CONVERSATIONS] = {
	{ 4, { M("system", SYSTEM), M("user", FIRST), M("assistant", REPLY), M("user", SECOND) } },
	{ 1, { M("user", FIRST) } },
	{ 2, { M("system", SYSTEM), M("user", FIRST) } },
	{ 3, { M("user", FIRST), M("assistant", REPLY), M("user", SECOND) } },
	{ 5,
	  { M("user", FIRST), M("assistant", REPLY), M("user", SECOND), M("assistant", "more"),
	    M("user", "and more") } },
};

/* what is between the messages */
struct cut {
	struct tenon_slice before_system, behind_system;
	struct tenon_slice system; /* the message of conversations without one */
	struct tenon_slice user, behind_user;
	struct tenon_slice assistant; /* begins a reply, also at the end of a prompt */
	struct tenon_slice
		begin_reply;	/* follows @assistant where the conversation has the reply */
	struct tenon_slice ask; /* follows @assistant where the model is to write the reply */
	struct tenon_slice behind_reply;
	bool user_after_system;
};

/* ---- texts */

static struct tenon_slice part(struct tenon_slice s, size_t from, size_t to)
{
	return (struct tenon_slice){ s.data + from, to - from };
}

static struct tenon_slice shared_beginning(struct tenon_slice a, struct tenon_slice b)
{
	size_t n = 0;

	while (n < a.size && n < b.size && a.data[n] == b.data[n])
		n++;
	return part(a, 0, n);
}

static struct tenon_slice shared_end(struct tenon_slice a, struct tenon_slice b)
{
	size_t n = 0;

	while (n < a.size && n < b.size && a.data[a.size - 1 - n] == b.data[b.size - 1 - n])
		n++;
	return part(a, a.size - n, a.size);
}

/* Take what is before a mark, which is there once. */
static bool take_before(struct tenon_slice *rest, const char *mark, struct tenon_slice *before)
{
	const size_t size = strlen(mark);
	/* an empty text may be no memory */
	const char *at = rest->size ? memmem(rest->data, rest->size, mark, size) : NULL;

	if (!at)
		return false;
	*before = part(*rest, 0, (size_t)(at - rest->data));
	*rest = part(*rest, before->size + size, rest->size);
	return !memmem(rest->data, rest->size, mark, size);
}

/* Divide a text behind the last end of a message and the line it is in. */
static void divide(struct tenon_slice s, struct tenon_slice end, struct tenon_slice *first,
		   struct tenon_slice *rest)
{
	size_t at = 0, i;

	for (i = 0; end.size && i + end.size <= s.size; i++)
		if (slice_begins(part(s, i, s.size), end))
			at = i + end.size;
	while (at && at < s.size && s.data[at] == '\n')
		at++;
	*first = part(s, 0, at);
	*rest = part(s, at, s.size);
}

/* ---- cutting */

static bool cut_texts(struct tenon_slice whole, struct tenon_slice alone, struct tenon_slice eos,
		      struct cut *c)
{
	struct tenon_slice first, reply, second, user, shared, unused;

	if (!take_before(&whole, SYSTEM, &c->before_system) ||
	    !take_before(&whole, FIRST, &first) || !take_before(&whole, REPLY, &reply) ||
	    !take_before(&whole, SECOND, &second) || !take_before(&alone, FIRST, &user))
		return false;
	c->system = (struct tenon_slice){ "", 0 };
	if (c->before_system.size && slice_begins(user, c->before_system) &&
	    slice_ends(user, first) && user.size >= c->before_system.size + first.size) {
		c->system = part(user, c->before_system.size, user.size - first.size);
		divide(shared_end(first, second), eos, &unused, &user);
	}
	if (!slice_ends(second, user) || !tenon_slice_equal(whole, alone))
		return false;
	c->user = user;
	c->user_after_system = slice_ends(first, user);
	c->behind_system = part(first, 0, first.size - (c->user_after_system ? user.size : 0));
	shared = shared_beginning(reply, whole);
	divide(shared, eos, &c->behind_user, &c->assistant);
	c->begin_reply = part(reply, shared.size, reply.size);
	c->ask = part(whole, shared.size, whole.size);
	c->behind_reply = part(second, 0, second.size - user.size);
	return true;
}

/* What the pieces make of a conversation. */
static void assemble(const struct cut *c, size_t number, struct tenon_buffer *out)
{
	const struct tenon_llm_message *m = conversations[number].at;
	size_t count = conversations[number].count;
	struct tenon_slice system = c->system;
	bool after_system;

	if (tenon_slice_equal(m->role, tenon_slice_of("system"))) {
		system = m++->content;
		count--;
	}
	after_system = system.size;
	if (after_system) {
		tenon_buffer_slice(out, c->before_system);
		tenon_buffer_slice(out, system);
		tenon_buffer_slice(out, c->behind_system);
	}
	for (; count; count--, m++, after_system = false) {
		if (tenon_slice_equal(m->role, tenon_slice_of("user"))) {
			if (!after_system || c->user_after_system)
				tenon_buffer_slice(out, c->user);
			tenon_buffer_slice(out, m->content);
			tenon_buffer_slice(out, c->behind_user);
		} else {
			tenon_buffer_slice(out, c->assistant);
			tenon_buffer_slice(out, c->begin_reply);
			tenon_buffer_slice(out, m->content);
			tenon_buffer_slice(out, c->behind_reply);
		}
	}
	tenon_buffer_slice(out, c->assistant);
	tenon_buffer_slice(out, c->ask);
}

static int is_same(const struct cut *c, size_t number, struct tenon_slice rendered, bool *same)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	int err;

	assemble(c, number, &b);
	err = b.status;
	*same = !err && tenon_slice_equal((struct tenon_slice){ b.data, b.size }, rendered);
	tenon_buffer_fini(&b);
	return err;
}

/* ---- conv_template */

/* Write a text of three parts behind @key, which has the comma and the colon around it. */
static void write_member(struct tenon_buffer *out, const char *key, struct tenon_slice before,
			 const char *middle, struct tenon_slice behind)
{
	struct tenon_buffer text = TENON_BUFFER_INIT;

	tenon_buffer_slice(&text, before);
	tenon_buffer_append(&text, middle, strlen(middle));
	tenon_buffer_slice(&text, behind);
	tenon_buffer_append(out, key, strlen(key));
	json_quote(out, (struct tenon_slice){ text.data, text.size });
	if (text.status && !out->status)
		out->status = text.status;
	tenon_buffer_fini(&text);
}

static void write_json(const struct cut *c, int64_t prefix, struct tenon_buffer *out)
{
	const struct tenon_slice none = { "", 0 };

	tenon_buffer_u8(out, '{');
	write_member(out, "\"system_template\":", c->before_system, "{system_message}",
		     c->behind_system);
	write_member(out, ",\"system_message\":", c->system, "", none);
	tenon_buffer_printf(out, ",\"add_role_after_system_message\":%s,\"roles\":{",
			    c->user_after_system ? "true" : "false");
	write_member(out, "\"user\":", c->user, "", none);
	write_member(out, ",\"assistant\":", c->assistant, "", none);
	write_member(out, ",\"tool\":", c->user, "", none);
	tenon_buffer_printf(out, "},\"role_templates\":{\"user\":\"{user_message}\","
				 "\"tool\":\"{tool_message}\",");
	write_member(out, "\"assistant\":", c->begin_reply, "{assistant_message}", none);
	tenon_buffer_printf(out, "},\"seps\":[");
	json_quote(out, c->behind_user);
	tenon_buffer_u8(out, ',');
	json_quote(out, c->behind_reply);
	tenon_buffer_printf(out, "],\"role_content_sep\":\"\"");
	write_member(out, ",\"role_empty_sep\":", c->ask, "", none);
	if (prefix >= 0)
		tenon_buffer_printf(out, ",\"system_prefix_token_ids\":[%" PRIi64 "]", prefix);
	tenon_buffer_u8(out, '}');
}

/* ---- all */

/* Remove the token that begins all texts, if the template writes it once, in front of each. */
static bool remove_beginning(struct tenon_slice *texts, struct tenon_slice bos)
{
	size_t i;

	for (i = 0; i < CONVERSATIONS; i++)
		if (!bos.size || !slice_begins(texts[i], bos) ||
		    memmem(texts[i].data + bos.size, texts[i].size - bos.size, bos.data, bos.size))
			return false;
	for (i = 0; i < CONVERSATIONS; i++)
		texts[i] = part(texts[i], bos.size, texts[i].size);
	return true;
}

/* Keep the reason of an error, and go on without the template; but not without memory. */
static int note(int err, struct tenon_buffer *why)
{
	if (err == -TENON_E_NOMEM)
		return err;
	tenon_buffer_printf(why, "%s", tenon_error_message());
	tenon_error_clear();
	return why->status;
}

int template_cut(struct tenon_slice program, const char *name, struct tenon_slice bos,
		 struct tenon_slice eos, int64_t prefix, int64_t bos_number,
		 struct tenon_buffer *out, struct tenon_buffer *why)
{
	struct tenon_buffer rendered[CONVERSATIONS] = { TENON_BUFFER_INIT };
	struct tenon_slice texts[CONVERSATIONS];
	struct jinja_input input = { .bos = bos, .eos = eos };
	struct cut c;
	bool same;
	size_t i;
	int err = 0;

	for (i = 0; i < CONVERSATIONS && !err; i++) {
		input.messages = conversations[i].at;
		input.count = conversations[i].count;
		err = jinja_render(program, name, &input, &rendered[i]);
		texts[i] = (struct tenon_slice){ rendered[i].data, rendered[i].size };
	}
	if (err) {
		err = note(err, why);
		goto free_texts;
	}
	if (remove_beginning(texts, bos))
		prefix = bos_number;
	same = cut_texts(texts[0], texts[1], eos, &c);
	for (i = 0; i < CONVERSATIONS && same && !err; i++)
		err = is_same(&c, i, texts[i], &same);
	if (!err && same)
		write_json(&c, prefix, out);
	else if (!err)
		tenon_buffer_printf(why,
				    "%s: what the chat template has between two messages depends "
				    "on more than their roles",
				    name);
	if (!err)
		err = out->status ? out->status : why->status;
free_texts:
	for (i = 0; i < CONVERSATIONS; i++)
		tenon_buffer_fini(&rendered[i]);
	return err;
}
