/* SPDX-License-Identifier: MIT */
/*
 * runtime.ModuleLoadStaticLibrary: an object file with the names of its functions, as a module that others import. It is saved and
 * written as it is; nothing links it, so its functions fail with the reason.
 */
#include <stdlib.h>
#include <string.h>
#include <tenon/array.h>
#include <tenon/backend/buffer.h>
#include <tenon/backend/module_kind.h>
#include <tenon/string.h>

#include "lib/brief_errors.h"
#include "lib/file_map.h"
#include "runtime/tvm/tvm.h"

#define FUNCTION "runtime.ModuleLoadStaticLibrary"

struct static_library {
	struct tenon_module base;
	struct tenon_slice bytes; /* of the file */
	struct tenon_array *names;
};

static struct tenon_slice name_at(const struct static_library *l, int64_t i)
{
	struct tenon_slice name = { NULL, 0 };

	/* checked when the module was made */
	if (tenon_value_text(&l->names->data[i], &name))
		tenon_error_clear();
	return name;
}

static int each_function(struct tenon_module *m,
			 int (*visit)(void *context, struct tenon_slice name), void *context)
{
	struct static_library *l = (struct static_library *)m;
	int64_t i;
	int ret = 0;

	for (i = 0; i < l->names->size && !ret; i++)
		ret = visit(context, name_at(l, i));
	return ret;
}

static PACKED_CALL(fail)
{
	return tenon_error(-TENON_E_UNSUPPORTED,
			   "a function of a static library cannot be called: link the library");
}

static void release(void *self)
{
	tenon_object_unref(self);
}

static int get_function(struct tenon_module *m, struct tenon_slice name,
			struct tenon_function **out)
{
	struct static_library *l = (struct static_library *)m;
	int64_t i;
	int err;

	*out = NULL;
	for (i = 0; i < l->names->size && !tenon_slice_equal(name_at(l, i), name);)
		i++;
	if (i == l->names->size)
		return 0;
	tenon_object_ref(l);
	err = tenon_function_create(l, fail, release, out);
	if (err)
		tenon_object_unref(l);
	return err;
}

static int save(struct tenon_module *m, struct tenon_buffer *out)
{
	struct static_library *l = (struct static_library *)m;
	int64_t i;

	tenon_buffer_string(out, l->bytes);
	tenon_buffer_u64(out, (uint64_t)l->names->size);
	for (i = 0; i < l->names->size; i++)
		tenon_buffer_string(out, name_at(l, i));
	return out->status;
}

static int write_file(struct tenon_module *m, const char *path, const char *format)
{
	return file_write(path, &((struct static_library *)m)->bytes, 1);
}

static void destroy(struct tenon_module *m)
{
	struct static_library *l = (struct static_library *)m;

	file_map_close(&l->bytes);
	tenon_object_unref(l->names);
}

static const struct tenon_module_ops static_library_ops = {
	.get_function = get_function,
	.each_function = each_function,
	.save = save,
	.write_file = write_file,
	.destroy = destroy,
};

static int check_names(const struct tenon_array *names)
{
	struct tenon_slice name;
	int64_t i;
	int err;

	for (i = 0; i < names->size; i++) {
		err = tenon_value_text(&names->data[i], &name);
		if (err)
			return tenon_error_in(err, FUNCTION ": name %lld", (long long)i + 1);
	}
	return 0;
}

static int create(struct tenon_slice path, struct tenon_array *names, struct tenon_value *ret)
{
	struct static_library *l = calloc(1, sizeof(*l));
	char *text = l ? strndup(path.data, path.size) : NULL;
	int err = text ? file_map_open(text, &l->bytes)
		       : tenon_error(-TENON_E_NOMEM, FUNCTION ": no memory");

	free(text);
	if (err) {
		free(l);
		return err;
	}
	tenon_module_init(&l->base, &static_library_ops, tenon_slice_of("static_library"),
			  TENON_MODULE_SERIALIZABLE | TENON_MODULE_EXPORTABLE);
	l->names = names;
	tenon_object_ref(names);
	*ret = tenon_arg_object(l);
	return 0;
}

/* path, and an array of names */
static PACKED_CALL(load_static_library)
{
	struct tenon_array *names;
	struct tenon_slice path;
	int err = arguments_check(FUNCTION, count, 2, 2);
	if (!err)
		err = tvm_text(FUNCTION, args, 0, &path);
	if (!err)
		err = tvm_object(FUNCTION, args, 1, TENON_TYPE_ARRAY, &names);
	if (!err)
		err = check_names(names);
	return err ? err : create(path, names, ret);
}

const struct global_function tvm_static_library_globals[] = {
	{ FUNCTION, load_static_library },
	{ NULL, NULL },
};
