/* SPDX-License-Identifier: MIT */
/* Values of chat templates: memory, members, truth, text. */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>

#include "lib/brief_errors.h"
#include "lib/slice_text.h"
#include "llm/jinja_parts.h"

struct jinja_memory {
	struct jinja_memory *next;
	max_align_t bytes[];
};

int jinja_error(const struct jinja *j, int status, const char *format, ...)
{
	const char *at = j->tokens[j->at].text.data, *p;
	char text[200];
	int line = 1;
	va_list list;

	for (p = j->program.data; p < at; p++)
		line += *p == '\n';
	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	return tenon_error(status, "%s: line %d of the chat template: %s", j->name, line, text);
}

void *jinja_alloc(struct jinja *j, size_t size)
{
	struct jinja_memory *m;

	if (size > JINJA_MEMORY_MOST - j->used) {
		jinja_error(j, -TENON_E_OVERFLOW, "more than %u bytes of memory",
			    JINJA_MEMORY_MOST);
		return NULL;
	}
	m = malloc(sizeof(*m) + size);
	if (!m) {
		tenon_error(-TENON_E_NOMEM, "%s: no memory for a chat template", j->name);
		return NULL;
	}
	j->used += size;
	m->next = j->memory;
	j->memory = m;
	return m->bytes;
}

void jinja_free(struct jinja *j)
{
	struct jinja_memory *m;

	while ((m = j->memory)) {
		j->memory = m->next;
		free(m);
	}
	free(j->tokens);
}

int jinja_step(struct jinja *j)
{
	if (++j->steps > JINJA_STEPS_MOST)
		return jinja_error(j, -TENON_E_OVERFLOW, "more than %d steps", JINJA_STEPS_MOST);
	if (j->out->size - j->before > JINJA_TEXT_MOST)
		return jinja_error(j, -TENON_E_OVERFLOW, "more than %u bytes of text",
				   JINJA_TEXT_MOST);
	return j->out->status;
}

int jinja_step_over(struct jinja *j, size_t bytes)
{
	j->steps += (unsigned int)(bytes / JINJA_STEP_BYTES);
	return jinja_step(j);
}

int jinja_set(struct jinja *j, struct jinja_dict *d, size_t from, struct tenon_slice name,
	      struct jinja_value value)
{
	struct jinja_variable *more;
	size_t i;

	for (i = d->count; i > from; i--)
		if (tenon_slice_equal(d->at[i - 1].name, name)) {
			d->at[i - 1].value = value;
			return 0;
		}
	if (d->count == d->room) {
		more = jinja_alloc(j, (2 * d->room + 8) * sizeof(*more));
		if (!more)
			return tenon_error_status();
		if (d->count)
			memcpy(more, d->at, d->count * sizeof(*more));
		d->at = more;
		d->room = 2 * d->room + 8;
	}
	d->at[d->count++] = (struct jinja_variable){ name, value };
	return 0;
}

struct jinja_value *jinja_get(const struct jinja_dict *d, struct tenon_slice name)
{
	size_t i;

	for (i = d->count; i--;)
		if (tenon_slice_equal(d->at[i].name, name))
			return &d->at[i].value;
	return NULL;
}

bool jinja_true(const struct jinja_value *v)
{
	switch (v->kind) {
	case JINJA_BOOL:
	case JINJA_INTEGER:
		return v->integer;
	case JINJA_STRING:
		return v->string.size;
	case JINJA_LIST:
		return v->list.count;
	case JINJA_DICT:
		/* a message, a loop or a namespace(), which is true even if it is empty */
		return true;
	default:
		return false;
	}
}

int jinja_print(struct jinja *j, const struct jinja_value *v, struct tenon_buffer *out)
{
	switch (v->kind) {
	case JINJA_UNDEFINED:
		return 0;
	case JINJA_NONE:
		return tenon_buffer_append(out, "None", 4);
	case JINJA_BOOL:
		return tenon_buffer_printf(out, v->integer ? "True" : "False");
	case JINJA_INTEGER:
		return tenon_buffer_printf(out, "%" PRIi64, v->integer);
	case JINJA_STRING:
		return tenon_buffer_slice(out, v->string);
	default:
		return jinja_error(j, -TENON_E_UNSUPPORTED, "printing a list or an object");
	}
}

int jinja_keep(struct jinja *j, const struct tenon_buffer *text, struct jinja_value *out)
{
	char *to;

	if (text->status)
		return text->status;
	to = jinja_alloc(j, text->size + 1);
	if (!to)
		return tenon_error_status();
	if (text->size)
		memcpy(to, text->data, text->size);
	*out = jinja_string((struct tenon_slice){ to, text->size });
	return 0;
}

int jinja_expect(struct jinja *j, const char *word)
{
	const struct jinja_token *t = &j->tokens[j->at];

	if (jinja_take(j, word))
		return 0;
	return jinja_error(j, -TENON_E_FORMAT, "\"%.*s\", want \"%s\"", slice_shown(t->text, 40),
			   t->text.data, word);
}

int jinja_take_name(struct jinja *j, struct tenon_slice *out)
{
	const struct jinja_token *t = &j->tokens[j->at];

	if (t->kind != TOKEN_NAME)
		return jinja_error(j, -TENON_E_FORMAT, "want a name");
	*out = t->text;
	j->at++;
	return 0;
}
