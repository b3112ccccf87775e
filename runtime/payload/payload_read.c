/* SPDX-License-Identifier: MIT */
/* Read payloads: the letters of a format say which fields follow each other. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>

#include "lib/brief_errors.h"
#include "lib/cursor_fast.h"
#include "lib/heap.h"
#include "runtime/payload/payload_fields.h"

/* forms to try for an unknown kind when the payload's end is known */
#define USUAL_FIELDS "fmd|fmb|mb|ntv|nt"

/* functions of which payload_names() needs no memory */
#define LENT 8

/* Make room for one more element of @size bytes after @count. */
static int grow(void **list, size_t count, size_t size)
{
	void *bigger;

	/* No overflow: the payload has more bytes for each. Capacity is 2^n, at least 4: the list is full at each power of two. */
	if (count & (count - 1) || (count && count < 4))
		return 0;
	bigger = heap_resize(*list, (count ? 2 * count : 4) * size, "functions of a program");
	if (!bigger)
		return tenon_error(-TENON_E_NOMEM, "no memory for the functions of a payload");
	*list = bigger;
	return 0;
}

/* Copy a list that is lent, and full, into memory with room for more. */
static int leave_lent(struct tenon_payload_info *info)
{
	const size_t size = LENT * sizeof(*info->functions);
	struct tenon_payload_function *list = heap_resize(NULL, 2 * size, "functions of a program");

	if (!list)
		return tenon_error(-TENON_E_NOMEM, "no memory for the functions of a payload");
	memcpy(list, info->functions, size);
	info->functions = list;
	info->lent = 0;
	return 0;
}

/* Return the place for one more function; NULL when memory is short. */
static inline struct tenon_payload_function *next_function(struct tenon_payload_info *info)
{
	void *list = info->functions;

	if (info->lent) {
		if (info->function_count == info->lent && leave_lent(info))
			return NULL;
		return &info->functions[info->function_count];
	}
	if (grow(&list, info->function_count, sizeof(*info->functions)))
		return NULL;
	info->functions = list;
	return &info->functions[info->function_count];
}

int tenon_payload_add_function(struct tenon_payload_info *info,
			       const struct tenon_payload_function *function)
{
	struct tenon_payload_function *f;

	if (!info->collect)
		return 0;
	f = next_function(info);
	if (!f)
		return -TENON_E_NOMEM;
	*f = *function;
	info->function_count++;
	return 0;
}

int tenon_payload_add_part(struct tenon_payload_info *info, struct tenon_slice name,
			   struct tenon_slice code, uint32_t flags)
{
	void *list = info->parts;
	int err = 0;

	if (!info->collect)
		return 0;
	err = grow(&list, info->part_count, sizeof(*info->parts));
	if (err)
		return err;
	info->parts = list;
	info->parts[info->part_count++] = (struct tenon_payload_part){ name, code, flags, 0 };
	return 0;
}

void payload_info_fini(struct tenon_payload_info *info)
{
	if (!info->lent)
		heap_free(info->functions);
	heap_free(info->parts);
	info->functions = NULL;
	info->lent = 0;
	info->parts = NULL;
	info->function_count = info->part_count = 0;
}

/* ---- fields that most kinds have */

int payload_take_word(struct tenon_cursor *c, struct tenon_slice *out, const char *what)
{
	const struct tenon_cursor from = *c;
	int err;

	err = take_string(c, out);
	if (!err && !payload_is_word(*out))
		err = tenon_cursor_error(&from, -TENON_E_FORMAT, "no name of a %s", what);
	return err;
}

int payload_take_strings(struct tenon_cursor *c, uint64_t *count)
{
	struct tenon_slice s;
	uint64_t i;
	int err;

	err = take_count(c, 8, count);
	for (i = 0; i < *count && !err; i++)
		err = take_string(c, &s);
	return err;
}

/* Read a u64 count and that many 4-byte words. */
static int take_words(struct tenon_cursor *c, struct tenon_slice *out)
{
	uint64_t count;
	int err;

	err = take_count(c, 4, &count);
	if (err)
		return err;
	out->data = (const char *)c->at;
	out->size = 4 * (size_t)count;
	c->at += out->size;
	return 0;
}

static int take_function(struct tenon_cursor *c, struct tenon_payload_info *info)
{
	struct tenon_payload_function unwanted, *f = &unwanted;
	struct tenon_slice inner;
	int err;

	if (info->collect)
		f = next_function(info);
	if (!f)
		return -TENON_E_NOMEM;
	f->extra = (struct tenon_slice){ NULL, 0 };
	err = take_string(c, &f->name);
	if (!err)
		err = take_string(c, &inner);
	if (!err)
		err = take_words(c, &f->arg_types);
	if (err)
		return err;
	f->tags.data = (const char *)c->at + 8;
	err = payload_take_strings(c, &f->tag_count);
	f->tags.size = (size_t)((const char *)c->at - f->tags.data);
	if (!err && info->extra_tags)
		err = take_words(c, &f->extra);
	info->function_count += !err && info->collect;
	return err;
}

static int take_table(struct tenon_cursor *c, struct tenon_payload_info *info)
{
	uint64_t i, count;
	int err;

	err = take_count(c, PAYLOAD_FUNCTION_LEAST, &count);
	info->has_kernels = true;
	for (i = 0; i < count && !err; i++)
		err = take_function(c, info);
	return err;
}

int payload_skip_table(struct tenon_cursor *c, enum payload_dialect dialect)
{
	struct tenon_payload_info info = { .extra_tags = dialect == PAYLOAD_EXTRA_TAGS };

	return take_table(c, &info);
}

static int take_name(struct tenon_cursor *c, struct tenon_payload_info *info)
{
	struct tenon_payload_function f = { .name = { NULL, 0 } };
	int err;

	err = take_string(c, &info->name);
	if (err || !info->name.size || info->function_count)
		return err;
	f.name = info->name;
	return tenon_payload_add_function(info, &f);
}

static int take_parts(struct tenon_cursor *c, struct tenon_payload_info *info)
{
	struct tenon_slice name, code;
	uint64_t i, count;
	int err;

	err = take_count(c, 16, &count);
	for (i = 0; i < count && !err; i++) {
		err = take_string(c, &name);
		if (!err)
			err = take_string(c, &code);
		if (!err)
			err = tenon_payload_add_part(info, name, code, 0);
	}
	return err;
}

/* Skip a field: one letter, or a group up to its ')'. */
static inline const char *next_field(const char *field)
{
	unsigned int depth = 0;

	if (*field >= 'A')
		return field + 1;
	while (*field == '*')
		field++;
	do {
		depth += *field == '(';
		depth -= *field == ')';
	} while (*field++ && depth);
	return field;
}

struct reading {
	const struct tenon_payload_format *format;
	struct tenon_cursor *c;
	struct tenon_payload_info *info;
	struct tenon_payload_function *few; /* room for the first LENT functions; may be NULL */
};

static int take_fields(const struct reading *r, const char *fields, const char *end);

/* Read a list, whose elements have at least four bytes each. */
static int take_list(const struct reading *r, const char *element)
{
	const char *end = next_field(element);
	uint64_t i, count;
	int err;

	err = take_count(r->c, 4, &count);
	for (i = 0; i < count && !err; i++)
		err = take_fields(r, element, end);
	return err;
}

static int take_field(const struct reading *r, const char *field)
{
	int (*own)(char, struct tenon_cursor *, struct tenon_payload_info *);
	struct tenon_cursor *c = r->c;

	if (isupper((unsigned char)*field)) {
		own = PAYLOAD_SLOT(r->format, field);
		return own ? own(*field, c, r->info)
			   : tenon_cursor_error(c, -TENON_E_UNSUPPORTED, "field %c", *field);
	}
	switch (*field) {
	case 'f':
		return payload_take_word(c, &r->info->format, "format");
	case 'm':
		return take_table(c, r->info);
	case 'd':
		return take_string(c, &r->info->code);
	case 't':
		return take_string(c, &r->info->text);
	case 'n':
		return take_name(c, r->info);
	case 'b':
		return take_parts(c, r->info);
	case '*':
		return take_list(r, field + 1);
	case '(':
		return take_fields(r, field + 1, next_field(field) - 1);
	default:
		return payload_take_rare(*field, c, r->info);
	}
}

static int take_fields(const struct reading *r, const char *fields, const char *end)
{
	int err = 0;

	while (fields < end && !err) {
		err = take_field(r, fields);
		fields = next_field(fields);
	}
	return err;
}

/* Read one form, which ends at '|' or the end of the string. */
static int take_form(const struct reading *r, const char *form, bool whole)
{
	struct tenon_payload_info *info = r->info;
	const char *end = form;
	int err;

	info->has_kernels = false;
	info->format = info->name = info->text = info->code = (struct tenon_slice){ NULL, 0 };
	info->tensor_count = info->tensor_bytes = 0;
	info->functions = r->few;
	info->lent = r->few ? LENT : 0;
	info->parts = NULL;
	info->function_count = info->part_count = 0;
	while (*end && *end != '|')
		end++;
	err = take_fields(r, form, end);
	if (!err && whole && tenon_cursor_left(r->c))
		err = tenon_cursor_error(r->c, -TENON_E_FORMAT, "%zu bytes left over",
					 tenon_cursor_left(r->c));
	return err;
}

/* Try the forms in order. If none fits, raise the error of the one that read furthest. */
static int take_forms(const struct reading *r, const char *forms, bool whole)
{
	const struct tenon_cursor from = *r->c;
	struct tenon_error *kept = NULL;
	const uint8_t *reached = NULL;
	int err, status = 0;

	for (;; forms++) {
		*r->c = from;
		err = take_form(r, forms, whole);
		forms += strcspn(forms, "|");
		if (!err || err == -TENON_E_NOMEM || (!kept && !*forms))
			break;
		payload_info_fini(r->info);
		if (!reached || r->c->at > reached) {
			tenon_object_unref(kept);
			kept = tenon_error_take();
			reached = r->c->at;
			status = err;
		}
		if (!kept)
			return tenon_error(-TENON_E_NOMEM, "no memory for a message");
		if (!*forms) {
			tenon_error_raise(kept);
			err = status;
			break;
		}
	}
	tenon_object_unref(kept);
	if (err)
		*r->c = from;
	return err;
}

static const char *forms_of(const struct tenon_payload_format *format, bool legacy)
{
	if (!format)
		return USUAL_FIELDS;
	return legacy && format->legacy ? format->legacy : format->fields;
}

int payload_measure(const struct tenon_payload_format *format, struct tenon_cursor *c,
		    enum payload_dialect dialect)
{
	struct tenon_payload_info info;
	const struct reading r = { format, c, &info, NULL };

	info.size = sizeof(info);
	info.kind = (struct tenon_slice){ NULL, 0 };
	info.generation = TENON_GENERATION_LEGACY;
	info.extra_tags = dialect == PAYLOAD_EXTRA_TAGS;
	info.collect = false;
	return take_forms(&r, forms_of(format, true), false);
}

static int read_whole(const struct tenon_payload_format *format, const struct tenon_cursor *c,
		      struct tenon_payload_info *info, struct tenon_payload_function *few)
{
	struct tenon_cursor at = *c;
	const struct reading r = { format, &at, info, few };

	info->size = sizeof(*info);
	info->collect = true;
	return take_forms(&r, forms_of(format, info->generation == TENON_GENERATION_LEGACY), true);
}

int payload_read(const struct tenon_payload_format *format, const struct tenon_cursor *c,
		 struct tenon_payload_info *info)
{
	return read_whole(format, c, info, NULL);
}

int payload_names(const struct tenon_payload_format *format, const struct tenon_cursor *c,
		  struct tenon_payload_info *info,
		  int (*visit)(void *context, struct tenon_slice name), void *context, int *result)
{
	struct tenon_payload_function few[LENT];
	size_t i;
	int err = read_whole(format, c, info, few);

	*result = 0;
	for (i = 0; !err && i < info->function_count && !*result; i++)
		*result = visit(context, info->functions[i].name);
	payload_info_fini(info);
	return err;
}

/* ---- text */

static bool is_text(struct tenon_slice s)
{
	return s.size && !memchr(s.data, 0, s.size < 4096 ? s.size : 4096) &&
	       (unsigned char)s.data[0] < 0x7f;
}

int payload_source(const struct tenon_payload_info *info, struct tenon_buffer *out)
{
	struct tenon_slice part;
	size_t i;

	if (info->text.size)
		return tenon_buffer_slice(out, info->text);
	if (is_text(info->code))
		return tenon_buffer_slice(out, info->code);
	for (i = 0; i < info->part_count; i++) {
		part = info->parts[i].code;
		if (!is_text(part))
			break;
		tenon_buffer_slice(out, part);
		if (part.data[part.size - 1] != '\n')
			tenon_buffer_u8(out, '\n');
	}
	return i && i == info->part_count ? out->status : -TENON_E_UNSUPPORTED;
}
