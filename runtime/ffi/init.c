/* SPDX-License-Identifier: MIT */
/* The attribute __ffi_init__ of types without one of their own: it sets the fields from arguments. */
#include <stdlib.h>

#include "runtime/ffi/attributes.h"
#include "runtime/ffi/fields.h"
#include "runtime/ffi/sentinels.h"
#include "runtime/ffi/text_stream.h"

/* The fields of a type in the order of positional arguments; those with defaults come last. */
struct init {
	int32_t type;
	int32_t count;
	int32_t positional;
	const struct type_field **field; /* all, in the order of declaration */
	int32_t *position;		 /* indices in @field */
};

static void init_free(void *self)
{
	struct init *n = self;

	free(n->field);
	free(n->position);
	free(n);
}

static void add_positions(struct init *n, bool with_default)
{
	int64_t flags;
	int32_t i;

	for (i = 0; i < n->count; i++) {
		flags = n->field[i]->flags;
		if (!(flags & (FIELD_INIT_OFF | FIELD_KEYWORD_ONLY)) &&
		    !(flags & FIELD_HAS_DEFAULT) == !with_default)
			n->position[n->positional++] = i;
	}
}

static struct init *init_create(int32_t type)
{
	struct ffi_field_at at = ffi_fields_of(type);
	struct init *n = calloc(1, sizeof(*n));
	int32_t i;

	if (!n)
		goto nomem;
	n->type = type;
	n->count = ffi_field_count(type);
	n->field = calloc((size_t)n->count + 1, sizeof(*n->field));
	n->position = calloc((size_t)n->count + 1, sizeof(*n->position));
	if (!n->field || !n->position)
		goto nomem;
	for (i = 0; i < n->count; i++)
		n->field[i] = ffi_field_next(&at);
	add_positions(n, false);
	add_positions(n, true);
	return n;

nomem:
	if (n)
		init_free(n);
	ffi_nomem("a constructor");
	return NULL;
}

/* Raise the pending error again, with the field that it is about; the error becomes its cause. */
static int about_field(const struct init *n, const struct type_field *field, const char *what)
{
	struct tenon_slice key = ffi_type_key(n->type), kind, text;
	struct tenon_value message;
	struct tenon_error *error;
	struct text_stream s;
	void *taken, *made;
	size_t i;

	ffi->TVMFFIErrorMoveFromRaised(&taken);
	error = taken;
	if (!error)
		return -1;
	if (text_stream_open(&s))
		goto raise;
	fprintf(s.out, "%.*s.__ffi_init__() %s '%.*s':\n  ", (int)key.size, key.data, what,
		(int)field->name.size, field->name.data);
	for (i = 0; i < error->message.size; i++) {
		fputc(error->message.data[i], s.out);
		if (error->message.data[i] == '\n')
			fputs("  ", s.out);
	}
	if (text_stream_close(&s, 0, &message))
		goto raise;
	ffi_text(&message, &text);
	kind = error->kind;
	if (!ffi->TVMFFIErrorCreateWithCauseAndExtraContext(&kind, &text, &error->backtrace, error,
							    NULL, &made)) {
		ffi_unref(error);
		error = made;
	}
	ffi_release(&message);
raise:
	ffi->TVMFFIErrorSetRaised(error);
	ffi_unref(error);
	return -1;
}

static int set_field(const struct init *n, void *object, int32_t i, const struct tenon_value *value,
		     bool *is_set)
{
	if (ffi_field_set(n->field[i], object, value))
		return about_field(n, n->field[i], "field");
	is_set[i] = true;
	return 0;
}

static int too_many(const struct init *n, int32_t given)
{
	struct tenon_slice key = ffi_type_key(n->type);

	return ffi_raise(
		"TypeError",
		"%.*s.__ffi_init__() takes at most %d positional argument(s), but %d were given",
		(int)key.size, key.data, n->positional, given);
}

/* Find the field of a keyword; the last of a name counts. */
static int32_t field_named(const struct init *n, struct tenon_slice name)
{
	int32_t i = n->count;

	while (i--)
		if (!(n->field[i]->flags & FIELD_INIT_OFF) &&
		    tenon_slice_equal(n->field[i]->name, name))
			break;
	return i;
}

static int set_keyword(const struct init *n, void *object, const struct tenon_value *pair,
		       bool *is_set)
{
	struct tenon_slice key = ffi_type_key(n->type), name;
	int32_t i;

	if (ffi_arg_text("__ffi_init__", pair, 0, &name))
		return -1;
	i = field_named(n, name);
	if (i < 0)
		return ffi_raise("TypeError",
				 "%.*s.__ffi_init__() got an unexpected keyword argument '%.*s'",
				 (int)key.size, key.data, (int)name.size, name.data);
	if (is_set[i])
		return ffi_raise("TypeError",
				 "%.*s.__ffi_init__() got multiple values for argument '%.*s'",
				 (int)key.size, key.data, (int)name.size, name.data);
	return set_field(n, object, i, &pair[1], is_set);
}

static int set_rest(const struct init *n, void *object, const bool *is_set)
{
	struct tenon_slice key = ffi_type_key(n->type);
	const struct type_field *f;
	int32_t i;

	for (i = 0; i < n->count; i++) {
		f = n->field[i];
		if (is_set[i])
			continue;
		if (f->flags & FIELD_HAS_DEFAULT) {
			if (ffi_field_set_default(f, object))
				return about_field(n, f, "default for field");
		} else if (!(f->flags & FIELD_INIT_OFF)) {
			return ffi_raise("TypeError",
					 "%.*s.__ffi_init__() missing required %sargument: '%.*s'",
					 (int)key.size, key.data,
					 f->flags & FIELD_KEYWORD_ONLY ? "keyword-only " : "",
					 (int)f->name.size, f->name.data);
		}
	}
	return 0;
}

static int set_all(const struct init *n, void *object, const struct tenon_value *args,
		   int32_t count, bool *is_set)
{
	struct tenon_slice key = ffi_type_key(n->type);
	int32_t positional = 0, i;

	while (positional < count &&
	       !ffi_is_sentinel(ffi_object(&args[positional]), SENTINEL_KEYWORDS))
		positional++;
	if (positional > n->positional)
		return too_many(n, positional);
	for (i = 0; i < positional; i++)
		if (set_field(n, object, n->position[i], &args[i], is_set))
			return -1;
	if (positional < count && (count - positional - 1) % 2)
		return ffi_raise("TypeError",
				 "%.*s.__ffi_init__() KWARGS requires an even number of key-value "
				 "arguments",
				 (int)key.size, key.data);
	for (i = positional + 1; i < count; i += 2)
		if (set_keyword(n, object, &args[i], is_set))
			return -1;
	return set_rest(n, object, is_set);
}

static PACKED_CALL(init_call)
{
	const struct init *n = self;
	bool *is_set;
	int err;

	if (ffi_object_create(n->type, ret))
		return -1;
	is_set = calloc((size_t)n->count + 1, sizeof(*is_set));
	err = is_set ? set_all(n, ret->as.object, args, count, is_set) : ffi_nomem("a constructor");
	free(is_set);
	if (err)
		ffi_release(ret);
	return err;
}

int ffi_init_register(int32_t type)
{
	struct init *n = init_create(type);

	return n ? ffi_attribute_function(type, "__ffi_init__", n, init_call, init_free) : -1;
}
