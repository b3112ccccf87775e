/* SPDX-License-Identifier: MIT */
/* Global functions that take a module: the interface of tvm-ffi libraries to modules. */
#include <tenon/array.h>
#include <tenon/backend/buffer.h>
#include <tenon/backend/module_kind.h>

#include "lib/brief_errors.h"
#include "runtime/core/arguments.h"
#include "runtime/library/globals.h"
#include "runtime/core/module_object.h"

/* Check the number of arguments and get the module from the first. */
static int begin(const char *function, const struct tenon_value *args, int32_t count, int32_t least,
		 int32_t most, struct tenon_module **m)
{
	int err = abi_check_count(function, count, least, most);

	if (!err)
		err = module_of_value(&args[0], m);
	return err ? tenon_error_in(err, "%s", function) : 0;
}

/* Copy a string argument, since a slice need not end in NUL. */
static int get_name(const struct tenon_value *arg, struct tenon_buffer *out)
{
	struct tenon_slice text;
	int err = tenon_value_text(arg, &text);

	return err ? err : tenon_buffer_slice(out, text);
}

static const char *name_of(const struct tenon_buffer *b)
{
	return b->data ? b->data : "";
}

static PACKED_CALL(load_from_file)
{
	struct tenon_buffer path = TENON_BUFFER_INIT;
	struct tenon_module *m;
	int err;

	err = abi_check_count("ffi.ModuleLoadFromFile", count, 1, 2);
	if (!err)
		err = get_name(&args[0], &path);
	if (!err)
		err = tenon_module_load(name_of(&path), &m);
	tenon_buffer_fini(&path);
	if (!err)
		*ret = tenon_arg_object(m);
	return err;
}

static int find(const char *function, const struct tenon_value *args, int32_t count,
		struct tenon_function **out)
{
	struct tenon_module *m;
	struct tenon_slice name;
	bool imports = false;
	int err = begin(function, args, count, 2, 3, &m);

	if (!err)
		err = tenon_value_text(&args[1], &name);
	if (!err && count == 3)
		err = tenon_value_bool(&args[2], &imports);
	return err ? err : tenon_module_find_function(m, name, imports, out);
}

static PACKED_CALL(get_function)
{
	struct tenon_function *f;
	int err = find("ffi.ModuleGetFunction", args, count, &f);

	if (!err)
		*ret = tenon_arg_object(f);
	return err;
}

static PACKED_CALL(implements_function)
{
	struct tenon_function *f;
	int err = find("ffi.ModuleImplementsFunction", args, count, &f);

	if (err)
		return err;
	*ret = tenon_arg_bool(f);
	tenon_object_unref(f);
	return 0;
}

static PACKED_CALL(get_kind)
{
	struct tenon_module *m;
	int err = begin("ffi.ModuleGetKind", args, count, 1, 1, &m);

	return err ? err : tenon_string_value(m->kind, ret);
}

static PACKED_CALL(get_properties)
{
	struct tenon_module *m;
	int err = begin("ffi.ModuleGetPropertyMask", args, count, 1, 1, &m);

	if (!err)
		*ret = tenon_arg_int(m->properties);
	return err;
}

static PACKED_CALL(inspect_source)
{
	struct tenon_buffer format = TENON_BUFFER_INIT;
	struct tenon_module *m;
	int err = begin("ffi.ModuleInspectSource", args, count, 1, 2, &m);

	if (!err && count == 2)
		err = get_name(&args[1], &format);
	if (!err)
		err = tenon_module_source(m, name_of(&format), ret);
	tenon_buffer_fini(&format);
	return err;
}

/* Each kind writes one format, whose name is "". */
static PACKED_CALL(write_formats)
{
	struct tenon_value own = tenon_arg_string("");
	struct tenon_array *formats;
	struct tenon_module *m;
	int err = begin("ffi.ModuleGetWriteFormats", args, count, 1, 1, &m);

	if (!err)
		err = tenon_array_create(&own, m->ops->write_file != NULL, &formats);
	if (!err)
		*ret = tenon_arg_object(formats);
	return err;
}

static PACKED_CALL(write_to_file)
{
	struct tenon_buffer path = TENON_BUFFER_INIT, format = TENON_BUFFER_INIT;
	struct tenon_module *m;
	int err = begin("ffi.ModuleWriteToFile", args, count, 2, 3, &m);

	if (!err)
		err = get_name(&args[1], &path);
	if (!err && count == 3)
		err = get_name(&args[2], &format);
	if (!err)
		err = tenon_module_write(m, name_of(&path), name_of(&format));
	tenon_buffer_fini(&path);
	tenon_buffer_fini(&format);
	*ret = tenon_arg_none();
	return err;
}

static PACKED_CALL(import_module)
{
	struct tenon_module *m, *child = NULL;
	int err = begin("ffi.ModuleImportModule", args, count, 2, 2, &m);

	if (!err)
		err = module_of_value(&args[1], &child);
	*ret = tenon_arg_none();
	return err ? err : tenon_module_import(m, child);
}

static PACKED_CALL(clear_imports)
{
	struct tenon_module *m;
	int err = begin("ffi.ModuleClearImports", args, count, 1, 1, &m);

	if (!err)
		tenon_module_clear_imports(m);
	*ret = tenon_arg_none();
	return err;
}

const struct global_function abi_module_globals[] = {
	{ "ffi.ModuleLoadFromFile", load_from_file },
	{ "ffi.ModuleGetFunction", get_function },
	{ "ffi.ModuleImplementsFunction", implements_function },
	{ "ffi.ModuleGetKind", get_kind },
	{ "ffi.ModuleGetPropertyMask", get_properties },
	{ "ffi.ModuleInspectSource", inspect_source },
	{ "ffi.ModuleGetWriteFormats", write_formats },
	{ "ffi.ModuleWriteToFile", write_to_file },
	{ "ffi.ModuleImportModule", import_module },
	{ "ffi.ModuleClearImports", clear_imports },
	{ NULL, NULL },
};
