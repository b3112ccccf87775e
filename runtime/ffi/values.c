/* SPDX-License-Identifier: MIT */
/* Values, arguments and errors of the drop-in's functions. */
#include <stdarg.h>
#include <stdlib.h>
#include <tenon/string.h>

#include "runtime/ffi/ffi.h"

const struct tenon_tvm_table *ffi;

#define MESSAGE 512

int ffi_raise(const char *kind, const char *format, ...)
{
	char text[MESSAGE], *longer = NULL;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (n >= MESSAGE) {
		longer = malloc((size_t)n + 1);
		va_start(args, format);
		if (longer)
			vsnprintf(longer, (size_t)n + 1, format, args);
		va_end(args);
	}
	ffi->TVMFFIErrorSetRaisedFromCStr(kind, longer ? longer : text);
	free(longer);
	return -1;
}

int ffi_nomem(const char *what)
{
	return ffi_raise("MemoryError", "no memory for %s", what);
}

struct tenon_object *ffi_object(const struct tenon_value *value)
{
	if (value->type >= TENON_TYPE_OBJECT)
		return value->as.object;
	if (value->type == TENON_TYPE_RVALUE_REF && value->as.pointer)
		return *(struct tenon_object **)value->as.pointer;
	return NULL;
}

bool ffi_text(const struct tenon_value *value, struct tenon_slice *text)
{
	const struct tenon_object *o;
	const struct tenon_string *s;

	switch (value->type) {
	case TENON_TYPE_RAW_STRING:
		text->data = value->as.string;
		text->size = text->data ? strlen(text->data) : 0;
		return text->data;
	case TENON_TYPE_RAW_BYTES:
		if (!value->as.bytes)
			return false;
		*text = *value->as.bytes;
		return true;
	case TENON_TYPE_SMALL_STRING:
	case TENON_TYPE_SMALL_BYTES:
		text->data = value->as.small;
		text->size = value->small_size;
		return text->size < sizeof(value->as.small);
	default:
		o = ffi_object(value);
		if (!o || (o->type != TENON_TYPE_STRING && o->type != TENON_TYPE_BYTES))
			return false;
		s = (const struct tenon_string *)o;
		text->data = s->data;
		text->size = s->size;
		return true;
	}
}

int ffi_string(const char *data, size_t size, struct tenon_value *out)
{
	struct tenon_slice text = { data, size };

	return ffi->TVMFFIStringFromByteArray(&text, out) ? -1 : 0;
}

struct tenon_slice ffi_type_key(int32_t type)
{
	return ffi->TVMFFIGetTypeInfo(type)->key;
}

bool ffi_type_is(int32_t type, int32_t ancestor)
{
	const struct type_info *info, *a;

	if (type == ancestor)
		return true;
	if (type < TENON_TYPE_OBJECT || ancestor < TENON_TYPE_OBJECT)
		return false;
	info = ffi->TVMFFIGetTypeInfo(type);
	a = ffi->TVMFFIGetTypeInfo(ancestor);
	return info->depth > a->depth && info->ancestors[a->depth] == a;
}

int ffi_count(const char *function, int32_t count, int32_t least, int32_t most)
{
	if (count >= least && count <= most)
		return 0;
	if (least == most)
		return ffi_raise("TypeError", "%s: expected %d argument%s, found %d", function,
				 least, least == 1 ? "" : "s", count);
	return ffi_raise("TypeError", "%s: expected %d to %d arguments, found %d", function, least,
			 most, count);
}

static int mismatch(const char *function, const struct tenon_value *arg, int32_t i,
		    const char *wanted, int size)
{
	struct tenon_object *o = ffi_object(arg);
	struct tenon_slice found = ffi_type_key(o ? o->type : arg->type);

	return ffi_raise("TypeError",
			 "Mismatched type on argument #%d when calling: `%s`. Expected `%.*s` but "
			 "got `%.*s`",
			 i, function, size, wanted, (int)found.size, found.data);
}

int ffi_arg_int(const char *function, const struct tenon_value *args, int32_t i, int64_t *out)
{
	if (args[i].type != TENON_TYPE_INT && args[i].type != TENON_TYPE_BOOL)
		return mismatch(function, &args[i], i, "int", 3);
	*out = args[i].as.integer;
	return 0;
}

int ffi_arg_bool(const char *function, const struct tenon_value *args, int32_t i, bool *out)
{
	int64_t n = 0;

	if (ffi_arg_int(function, args, i, &n))
		return -1;
	*out = n != 0;
	return 0;
}

int ffi_arg_text(const char *function, const struct tenon_value *args, int32_t i,
		 struct tenon_slice *out)
{
	struct tenon_object *o = ffi_object(&args[i]);

	if (!ffi_is_string(o ? o->type : args[i].type) || !ffi_text(&args[i], out))
		return mismatch(function, &args[i], i, "str", 3);
	return 0;
}

int ffi_arg_object(const char *function, const struct tenon_value *args, int32_t i, int32_t type,
		   void *out)
{
	struct tenon_object *o = ffi_object(&args[i]);
	struct tenon_slice wanted;

	if (o && ffi_type_is(o->type, type)) {
		*(struct tenon_object **)out = o;
		return 0;
	}
	wanted = ffi_type_key(type);
	return mismatch(function, &args[i], i, wanted.data, (int)wanted.size);
}

int ffi_function(void *self, tenon_call_fn call, void (*deleter)(void *self),
		 struct tenon_value *out)
{
	void *f;

	*out = tenon_arg_none();
	if (ffi->TVMFFIFunctionCreate(self, call, deleter, &f))
		return -1;
	*out = tenon_arg_object(f);
	return 0;
}

int ffi_register_globals(const struct global_function *list)
{
	struct tenon_value f;
	struct tenon_slice name;
	int err;

	for (; list->name; list++) {
		if (ffi_function(NULL, list->call, NULL, &f))
			return -1;
		name = tenon_slice_of(list->name);
		err = ffi->TVMFFIFunctionSetGlobal(&name, f.as.object, 1);
		ffi_release(&f);
		if (err)
			return -1;
	}
	return 0;
}
