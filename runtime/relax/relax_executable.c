/* SPDX-License-Identifier: MIT */
/* Load executables, and their functions as a module. */
#include "runtime/relax/relax_executable.h"

#include <inttypes.h>
#include <stdlib.h>
#include <tenon/backend/buffer.h>
#include <tenon/visit.h>

#include "lib/brief_errors.h"
#include "lib/slice_text.h"
#include "runtime/core/arguments.h"
#include "runtime/relax/relax.h"

#define MODERN_KIND "relax.VMExecutable"
#define LEGACY_KIND "relax.Executable"

int64_t relax_executable_find(const struct relax_executable *x, struct tenon_slice name)
{
	return (int64_t)(uintptr_t)string_map_get(&x->names, name) - 1;
}

static void executable_destroy(struct tenon_module *m)
{
	struct relax_executable *x = (struct relax_executable *)m;
	uint32_t i;

	for (i = 0; i < x->constant_count; i++)
		tenon_value_release(&x->constants[i]);
	for (i = 0; i < x->function_count; i++)
		free(x->functions[i].params);
	free(x->constants);
	free(x->functions);
	free(x->offsets);
	free(x->words);
	string_map_fini(&x->names);
	tenon_object_unref(x->keep);
}

static int executable_save(struct tenon_module *m, struct tenon_buffer *out)
{
	return tenon_buffer_slice(out, ((struct relax_executable *)m)->bytes);
}

static PACKED_CALL(call_load)
{
	struct tenon_module *machine;
	int err = relax_create(self, &machine);

	if (!err)
		*ret = tenon_arg_object(machine);
	return err;
}

static int call_print(const struct relax_executable *x, struct tenon_value *ret,
		      int (*print)(const struct relax_executable *x, struct tenon_buffer *out))
{
	struct tenon_buffer text = TENON_BUFFER_INIT;
	struct tenon_slice s;
	int err = print(x, &text);

	if (!err) {
		s.data = text.data;
		s.size = text.size;
		err = tenon_string_value(s, ret);
	}
	tenon_buffer_fini(&text);
	return err;
}

static PACKED_CALL(call_text)
{
	return call_print(self, ret, relax_print_text);
}

static PACKED_CALL(call_python)
{
	return call_print(self, ret, relax_print_python);
}

static PACKED_CALL(call_stats)
{
	return call_print(self, ret, relax_print_stats);
}

static PACKED_CALL(call_has_function)
{
	struct tenon_slice name;
	int err = arguments_check("has_function", count, 1, 1);

	if (err)
		return err;
	err = tenon_value_text(&args[0], &name);
	if (err)
		return tenon_error_in(err, "has_function: argument 0");
	*ret = tenon_arg_bool(relax_executable_find(self, name) >= 0);
	return 0;
}

static const struct {
	const char *name;
	tenon_call_fn call;
} executable_functions[] = {
	{ "vm_load_executable", call_load },
	{ "has_function", call_has_function },
	{ "as_text", call_text },
	{ "as_python", call_python },
	{ "stats", call_stats },
};

#define EXECUTABLE_FUNCTIONS (sizeof(executable_functions) / sizeof(executable_functions[0]))

static int executable_get_function(struct tenon_module *m, struct tenon_slice name,
				   struct tenon_function **out)
{
	size_t i;
	int err;

	for (i = 0; i < EXECUTABLE_FUNCTIONS; i++) {
		if (!tenon_slice_equal(tenon_slice_of(executable_functions[i].name), name))
			continue;
		err = tenon_function_create(m, executable_functions[i].call, tenon_object_unref,
					    out);
		if (!err)
			tenon_object_ref(m);
		return err;
	}
	return 0;
}

static int executable_each_function(struct tenon_module *m,
				    int (*visit)(void *context, struct tenon_slice name),
				    void *context)
{
	size_t i;
	int err = 0;

	for (i = 0; !err && i < EXECUTABLE_FUNCTIONS; i++)
		err = visit(context, tenon_slice_of(executable_functions[i].name));
	return err;
}

static int executable_source(struct tenon_module *m, const char *format, struct tenon_value *out)
{
	if (*format && strcmp(format, "txt"))
		return tenon_error(
			-TENON_E_UNSUPPORTED,
			"a Relax executable has no source of format \"%s\"; \"txt\" it has",
			format);
	return call_print((struct relax_executable *)m, out, relax_print_text);
}

static int executable_visit(const struct tenon_module *m, const struct tenon_visitor *v)
{
	const struct relax_executable *x = (const struct relax_executable *)m;
	const struct {
		const char *name;
		uint64_t number;
	} field[] = {
		{ "functions", x->function_count },
		{ "constants", x->constant_count },
		{ "constant_bytes", x->constant_bytes },
		{ "instructions", x->instruction_count },
	};
	struct tenon_value value;
	size_t i;
	int err = 0;

	for (i = 0; !err && i < sizeof(field) / sizeof(field[0]); i++) {
		value = tenon_arg_int((int64_t)field[i].number);
		err = v->field(v->context, field[i].name, &value);
	}
	return err;
}

static const struct tenon_module_ops executable_ops = {
	.get_function = executable_get_function,
	.each_function = executable_each_function,
	.save = executable_save,
	.source = executable_source,
	.visit = executable_visit,
	.destroy = executable_destroy,
};

struct relax_executable *relax_executable_of(struct tenon_module *m)
{
	return m->ops == &executable_ops ? (struct relax_executable *)m : NULL;
}

/* The payload is the image, or, in blobs of TVM 0.21 and older, a string with the image. */
static int open_image(struct tenon_cursor *c, struct tenon_cursor *image)
{
	struct tenon_cursor at = *c;
	struct tenon_slice inner;
	uint64_t first;
	int err;

	err = tenon_cursor_u64(&at, &first);
	if (err)
		return err;
	*image = *c;
	if (first == RELAX_MAGIC_1 || first == RELAX_MAGIC_2)
		return 0;
	err = tenon_cursor_string(c, &inner);
	if (err)
		return tenon_error_in(err, "neither the magic number of a Relax executable nor a "
					   "string that holds one");
	*image = tenon_cursor_of(inner.data, inner.size, c->name,
				 tenon_cursor_place(c) - inner.size);
	return 0;
}

static int read_header(struct tenon_cursor *c, uint64_t *magic)
{
	struct tenon_cursor at = *c;
	struct tenon_slice version;
	int err;

	err = tenon_cursor_u64(c, magic);
	if (err)
		return err;
	if (*magic != RELAX_MAGIC_1 && *magic != RELAX_MAGIC_2)
		return tenon_cursor_error(&at, -TENON_E_FORMAT,
					  "0x%016" PRIx64 " is not the magic number of a Relax "
					  "executable (0x%016" PRIx64 " or …1e)",
					  *magic, RELAX_MAGIC_1);
	at = *c;
	err = tenon_cursor_string(c, &version);
	if (err)
		return tenon_error_in(err, "version");
	if (!slice_is(version, RELAX_VERSION))
		return tenon_cursor_error(&at, -TENON_E_FORMAT,
					  "version \"%.*s\"; \"" RELAX_VERSION "\" can be read",
					  slice_shown(version, 32), version.data);
	return 0;
}

/* Memory scopes of constants. Constants are in CPU memory, so the scopes are only checked. */
static int read_scopes(struct tenon_cursor *c, uint64_t *highest)
{
	struct tenon_slice scope;
	uint64_t count, i, index;
	int err;

	*highest = 0;
	err = tenon_cursor_count(c, 16, &count);
	for (i = 0; !err && i < count; i++) {
		err = tenon_cursor_u64(c, &index);
		if (!err)
			err = tenon_cursor_string(c, &scope);
		if (!err && index + 1 > *highest)
			*highest = index + 1;
		if (!err && index > INT32_MAX)
			err = tenon_cursor_error(c, -TENON_E_FORMAT, "constant %" PRIu64, index);
	}
	return err ? tenon_error_in(err, "memory scopes") : 0;
}

static int read_image(struct relax_executable *x, struct tenon_cursor *c, struct tenon_object *keep)
{
	uint64_t magic, scoped = 0;
	int err;

	err = read_header(c, &magic);
	if (!err)
		err = relax_read_functions(x, c);
	if (!err && magic == RELAX_MAGIC_2)
		err = read_scopes(c, &scoped);
	if (!err)
		err = relax_read_constants(x, c, keep);
	if (!err && scoped > x->constant_count)
		err = tenon_error(-TENON_E_FORMAT,
				  "a memory scope is given for constant %" PRIu64 " of %" PRIu32,
				  scoped - 1, x->constant_count);
	if (!err)
		err = relax_read_instructions(x, c);
	if (!err && tenon_cursor_left(c))
		err = tenon_cursor_error(c, -TENON_E_FORMAT, "%zu bytes behind the instructions",
					 tenon_cursor_left(c));
	return err ? err : relax_verify(x);
}

/* Copy the bytes into an object if the caller does not keep them alive. */
static int hold_bytes(struct tenon_slice bytes, struct tenon_object **keep,
		      struct tenon_slice *held)
{
	struct tenon_value v;
	int err = tenon_bytes_value(bytes, &v);

	if (err)
		return err;
	if (v.type < TENON_TYPE_OBJECT)
		return tenon_error(-TENON_E_TRUNCATED, "%zu bytes are no Relax executable",
				   bytes.size);
	*keep = v.as.object;
	held->data = ((struct tenon_string *)v.as.object)->data;
	held->size = bytes.size;
	return 0;
}

static int executable_read(struct tenon_slice bytes, const struct tenon_cursor *origin,
			   struct tenon_object *keep, const char *kind, bool legacy,
			   struct tenon_module **out)
{
	struct relax_executable *x;
	struct tenon_cursor c, image;
	int err;

	*out = NULL;
	x = calloc(1, sizeof(*x));
	if (!x)
		return tenon_error(-TENON_E_NOMEM, "no memory for a Relax executable");
	tenon_module_init(&x->module, &executable_ops, tenon_slice_of(kind),
			  TENON_MODULE_SERIALIZABLE);
	x->legacy = legacy;
	x->bytes = bytes;
	x->keep = keep;
	tenon_object_ref(keep);
	c = tenon_cursor_of(bytes.data, bytes.size, origin->name, tenon_cursor_place(origin));
	err = open_image(&c, &image);
	if (!err)
		err = read_image(x, &image, keep);
	if (err) {
		tenon_object_unref(x);
		return err;
	}
	*out = &x->module;
	return 0;
}

/* In a blob without lengths, the length of the string around the image ends the entry. */
static int take_payload(struct tenon_cursor *c, const struct tenon_payload *payload,
			struct tenon_slice *bytes)
{
	struct tenon_cursor at = *c;
	struct tenon_slice inner;
	int err;

	if (payload->generation != TENON_GENERATION_LEGACY)
		return tenon_cursor_bytes(c, tenon_cursor_left(c), bytes);
	err = tenon_cursor_string(c, &inner);
	bytes->data = (const char *)at.at;
	bytes->size = (size_t)(c->at - at.at);
	return err;
}

int relax_executable_load(struct tenon_cursor *c, const struct tenon_payload *payload,
			  struct tenon_module **out)
{
	bool legacy = slice_is(payload->kind, LEGACY_KIND);
	struct tenon_object *keep = payload->keep;
	struct tenon_cursor origin = *c;
	struct tenon_slice bytes;
	int err;

	*out = NULL;
	err = take_payload(c, payload, &bytes);
	if (err)
		return err;
	if (keep)
		tenon_object_ref(keep);
	else
		err = hold_bytes(bytes, &keep, &bytes);
	if (!err)
		err = executable_read(bytes, &origin, keep, legacy ? LEGACY_KIND : MODERN_KIND,
				      legacy, out);
	/* 0.20 has the new name and the old numbers. */
	if (err == -TENON_E_FORMAT && !legacy && payload->generation == TENON_GENERATION_LEGACY) {
		struct tenon_error *first = tenon_error_take();

		err = executable_read(bytes, &origin, keep, MODERN_KIND, true, out);
		if (err && first)
			tenon_error_raise(first);
		tenon_object_unref(first);
	}
	tenon_object_unref(keep);
	return err;
}
