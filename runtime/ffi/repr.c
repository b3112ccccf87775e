/* SPDX-License-Identifier: MIT */
/* ffi.ReprPrint: a value as text, with what is in it. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <tenon/tensor.h>

#include "lib/number.h"
#include "runtime/ffi/attributes.h"
#include "runtime/ffi/big_int.h"
#include "runtime/ffi/device_names.h"
#include "runtime/ffi/fields.h"
#include "runtime/ffi/sentinels.h"
#include "runtime/ffi/text_stream.h"
#include "runtime/ffi/type_hooks.h"
#include "runtime/ffi/types.h"
#include "runtime/ffi/walk.h"

struct repr {
	struct tenon_map *done; /* text of each object that was printed */
	const struct ffi_open *open;
	bool addresses;
	int nested;
};

static int write_value(struct repr *r, FILE *out, const struct tenon_value *v);

/* Write the text of a string as it is. Return: false for other values. */
static bool write_text(FILE *out, const struct tenon_value *string)
{
	struct tenon_slice text;

	if (!ffi_text(string, &text))
		return false;
	fwrite(text.data, 1, text.size, out);
	return true;
}

/* Length of the UTF-8 character of several bytes at the start of a text; 0 if it is none. */
static size_t utf8_read(const unsigned char *at, size_t size, unsigned int *character)
{
	size_t n = *at < 0xc0 ? 0 : *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : *at < 0xf8 ? 4 : 0, i;

	if (!n || n > size)
		return 0;
	*character = *at & (0x7fu >> n);
	for (i = 1; i < n; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		*character = *character << 6 | (at[i] & 0x3f);
	}
	return n;
}

static void write_quoted(FILE *out, struct tenon_slice text)
{
	const unsigned char *at = (const unsigned char *)text.data;
	size_t n, size = text.size;
	unsigned int character;

	fputc('"', out);
	for (; size; at += n, size -= n) {
		n = utf8_read(at, size, &character);
		if (n) {
			fprintf(out, n < 4 ? "\\u%04x" : "\\U%08x", character);
			continue;
		}
		n = 1;
		if (*at == '\n')
			fputs("\\n", out);
		else if (*at == '\t')
			fputs("\\t", out);
		else if (*at == '\r')
			fputs("\\r", out);
		else if (*at == '\\' || *at == '"')
			fprintf(out, "\\%c", *at);
		else if (*at >= 0x20 && *at < 0x7f)
			fputc(*at, out);
		else
			fprintf(out, "\\x%02x", *at);
	}
	fputc('"', out);
}

static void write_bytes(FILE *out, struct tenon_slice bytes)
{
	size_t i;
	unsigned char c;

	fputs("b\"", out);
	for (i = 0; i < bytes.size; i++) {
		c = (unsigned char)bytes.data[i];
		if (c >= 32 && c < 127 && c != '"' && c != '\\')
			fputc(c, out);
		else
			fprintf(out, "\\x%02x", c);
	}
	fputc('"', out);
}

static void write_float(FILE *out, double real)
{
	char text[NUMBER_ROOM];

	if (isnan(real))
		fputs(signbit(real) ? "-nan" : "nan", out);
	else
		fputs(number_print(text, 6, real), out);
}

static int write_dtype(FILE *out, DLDataType dtype)
{
	struct tenon_value name;

	if (ffi->TVMFFIDataTypeToString(&dtype, &name))
		return -1;
	write_text(out, &name);
	ffi_release(&name);
	return 0;
}

static void write_device(FILE *out, DLDevice device)
{
	fprintf(out, "%s:%d", ffi_device_name((int)device.device_type), (int)device.device_id);
}

static void write_address(const struct repr *r, FILE *out, const void *object)
{
	if (r->addresses)
		fprintf(out, "@0x%" PRIxPTR, (uintptr_t)object);
}

static int write_tensor(const struct repr *r, FILE *out, const struct tenon_tensor *t)
{
	int32_t i;

	if (write_dtype(out, t->dl.dtype))
		return -1;
	fputc('[', out);
	for (i = 0; i < t->dl.ndim; i++)
		fprintf(out, "%s%" PRId64, i ? ", " : "", t->dl.shape[i]);
	fputs("]@", out);
	write_device(out, t->dl.device);
	write_address(r, out, t);
	return 0;
}

static void write_shape(FILE *out, const struct tenon_shape *s)
{
	size_t i;

	fputs("Shape(", out);
	for (i = 0; i < s->size; i++)
		fprintf(out, "%s%" PRId64, i ? ", " : "", s->data[i]);
	fputc(')', out);
}

static int write_sequence(struct repr *r, FILE *out, const struct tenon_array *s)
{
	bool is_array = s->object.type == TENON_TYPE_ARRAY;
	struct tenon_value item;
	int64_t i;
	int err = 0;

	fputc(is_array ? '(' : '[', out);
	for (i = 0; !err && i < s->size; i++) {
		if (i)
			fputs(", ", out);
		item = ffi_copy(&s->data[i]);
		err = write_value(r, out, &item);
		ffi_release(&item);
	}
	fputs(is_array ? (s->size == 1 ? ",)" : ")") : "]", out);
	write_address(r, out, s);
	return err;
}

static int write_map(struct repr *r, FILE *out, const struct tenon_map *m)
{
	struct ffi_map_at at = FFI_MAP_START;
	const struct tenon_value *key, *value;
	struct tenon_value pair[2];
	bool first = true;
	int err = 0;

	fputc('{', out);
	while (!err && ffi_map_next(m, &at, &key, &value)) {
		if (!first)
			fputs(", ", out);
		first = false;
		pair[0] = ffi_copy(key);
		pair[1] = ffi_copy(value);
		err = write_value(r, out, &pair[0]);
		fputs(": ", out);
		if (!err)
			err = write_value(r, out, &pair[1]);
		ffi_release(&pair[0]);
		ffi_release(&pair[1]);
	}
	fputc('}', out);
	write_address(r, out, m);
	return err;
}

/* Test whether an earlier field of the type has the same name. */
static bool is_repeated(int32_t type, const struct type_field *field)
{
	struct ffi_field_at at = ffi_fields_of(type);
	const struct type_field *f;

	while ((f = ffi_field_next(&at)) && f != field)
		if (!(f->flags & FIELD_REPR_OFF) && tenon_slice_equal(f->name, field->name))
			return true;
	return false;
}

static int write_fields(struct repr *r, FILE *out, struct tenon_object *o)
{
	struct tenon_slice key = ffi_type_key(o->type);
	struct ffi_field_at at = ffi_fields_of(o->type);
	const struct type_field *f;
	struct tenon_value v;
	bool any = false;
	int err = 0;

	fprintf(out, "%.*s", (int)key.size, key.data);
	write_address(r, out, o);
	while (!err && (f = ffi_field_next(&at))) {
		if (f->flags & FIELD_REPR_OFF || is_repeated(o->type, f))
			continue;
		fprintf(out, "%s%.*s=", any ? ", " : "(", (int)f->name.size, f->name.data);
		any = true;
		err = ffi_field_get(f, o, &v);
		if (!err)
			err = write_value(r, out, &v);
		ffi_release(&v);
	}
	if (any)
		fputc(')', out);
	return err;
}

/* ---- objects with a function of their own */

static int text_of(struct repr *r, const struct tenon_value *v, struct tenon_value *ret)
{
	struct text_stream s;

	if (text_stream_open(&s))
		return -1;
	return text_stream_close(&s, write_value(r, s.out, v), ret);
}

static PACKED_CALL(callback_call)
{
	struct repr *r = NULL;
	struct tenon_value v;
	int err;

	if (!ffi_count("__ffi_repr__", count, 1, 1))
		r = ffi_hook_visit(self, "__ffi_repr__");
	if (!r || ffi_own(&args[0], &v))
		return -1;
	err = text_of(r, &v, ret);
	ffi_release(&v);
	return err;
}

static int write_hooked(struct repr *r, FILE *out, struct tenon_object *hook,
			struct tenon_object *o)
{
	struct tenon_value args[2] = { tenon_arg_object(o) }, text;
	int err = 0;

	if (ffi_hook_call(hook, args, 1, callback_call, r, &text))
		return -1;
	if (!write_text(out, &text))
		err = ffi_raise("TypeError", "__ffi_repr__ must return a string");
	ffi_release(&text);
	if (ffi_is_sequence(o->type) || ffi_is_map(o->type))
		write_address(r, out, o);
	return err;
}

/* Write an object that may contain others. */
static int write_inside(struct repr *r, FILE *out, struct tenon_object *o)
{
	struct tenon_object *hook = ffi_attribute_call(o->type, "__ffi_repr__");
	struct tenon_slice key;

	if (hook)
		return write_hooked(r, out, hook, o);
	if (ffi_type_is(o->type, ffi_type_enum)) {
		key = ffi_type_key(o->type);
		fprintf(out, "%.*s.", (int)key.size, key.data);
		write_text(out, &((struct ffi_enum *)o)->name);
		write_address(r, out, o);
		return 0;
	}
	if (ffi_is_sequence(o->type))
		return write_sequence(r, out, (struct tenon_array *)o);
	if (ffi_is_map(o->type))
		return write_map(r, out, (struct tenon_map *)o);
	return write_fields(r, out, o);
}

/* Write an object once, and its text again where it occurs again. */
static int write_object(struct repr *r, FILE *out, struct tenon_object *o)
{
	struct tenon_value *known = ffi_memo_find(r->done, o), text;
	struct ffi_open open = { r->open, o, NULL };
	struct text_stream inner;
	int err;

	if (known) {
		write_text(out, known);
		return 0;
	}
	if (ffi_is_open(r->open, o, NULL)) {
		fputs("...", out);
		write_address(r, out, o);
		return 0;
	}
	if (r->nested >= FFI_NESTED_MOST)
		return ffi_too_deep("ffi.ReprPrint");
	if (text_stream_open(&inner))
		return -1;
	r->open = &open;
	r->nested++;
	err = write_inside(r, inner.out, o);
	r->nested--;
	r->open = open.outer;
	err = text_stream_close(&inner, err, &text);
	if (!err) {
		write_text(out, &text);
		err = ffi_memo_set(r->done, o, &text);
		ffi_release(&text);
	}
	return err;
}

static int write_counted(struct repr *r, FILE *out, const struct tenon_value *v)
{
	struct tenon_object *o = v->as.object;
	char *digits;

	if (ffi_is_sentinel(o, SENTINEL_MISSING)) {
		fputs("<MISSING>", out);
	} else if (ffi_is_sentinel(o, SENTINEL_KEYWORDS)) {
		fputs("<KWARGS>", out);
	} else if (o->type == FFI_TYPE_BIG_INT) {
		digits = big_int_text(v);
		if (!digits)
			return ffi_nomem("an integer's digits");
		fputs(digits, out);
		free(digits);
	} else if (o->type == TENON_TYPE_TENSOR) {
		return write_tensor(r, out, (const struct tenon_tensor *)o);
	} else if (o->type == TENON_TYPE_SHAPE) {
		write_shape(out, (const struct tenon_shape *)o);
	} else {
		return write_object(r, out, o);
	}
	return 0;
}

static int write_value(struct repr *r, FILE *out, const struct tenon_value *v)
{
	struct tenon_slice text;

	if (ffi_text(v, &text)) {
		if (ffi_is_bytes(v->type))
			write_bytes(out, text);
		else
			write_quoted(out, text);
		return 0;
	}
	switch (v->type) {
	case TENON_TYPE_NONE:
		fputs("None", out);
		return 0;
	case TENON_TYPE_BOOL:
		fputs(v->as.integer ? "True" : "False", out);
		return 0;
	case TENON_TYPE_INT:
		fprintf(out, "%" PRId64, v->as.integer);
		return 0;
	case TENON_TYPE_FLOAT:
		write_float(out, v->as.real);
		return 0;
	case TENON_TYPE_DTYPE:
		return write_dtype(out, v->as.dtype);
	case TENON_TYPE_DEVICE:
		write_device(out, v->as.device);
		return 0;
	default:
		if (v->type >= TENON_TYPE_OBJECT)
			return write_counted(r, out, v);
		text = ffi_type_key(v->type);
		fwrite(text.data, 1, text.size, out);
		return 0;
	}
}

static PACKED_CALL(repr_call)
{
	const char *wish = getenv("TVM_FFI_REPR_WITH_ADDR");
	struct repr r = { .addresses = wish && !strcmp(wish, "1") };
	struct tenon_value v;
	int err;

	if (ffi_count("ffi.ReprPrint", count, 1, 1) || ffi_own(&args[0], &v))
		return -1;
	r.done = ffi_map_create(TENON_TYPE_DICT);
	err = r.done ? text_of(&r, &v, ret) : -1;
	ffi_unref(r.done);
	ffi_release(&v);
	return err;
}

const struct global_function repr_globals[] = {
	{ "ffi.ReprPrint", repr_call },
	{ NULL, NULL },
};
