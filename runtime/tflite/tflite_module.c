/* SPDX-License-Identifier: MIT */
/* A file as a module, whose bytes a model uses in place; and the executor. */
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>
#include <tenon/backend/module_kind.h>
#include <tenon/string.h>

#include "lib/brief_errors.h"
#include "lib/file_map.h"
#include "runtime/core/arguments.h"
#include "runtime/tflite/tflite_network.h"

/**
 * struct tflite_module - a file
 * @base: for the core
 * @bytes: contents of the file, in one of those that follow
 * @keep: an object that has them; NULL for others
 * @copy: a copy of bytes that were valid during a call alone
 * @file: a file that was read
 * @name: of the file, for messages
 */
struct tflite_module {
	struct tenon_module base;
	struct tenon_slice bytes;
	struct tenon_object *keep;
	struct tenon_buffer copy;
	struct tenon_slice file;
	char *name;
};

static struct tflite_module *module_of(const struct tenon_module *m)
{
	return (struct tflite_module *)(uintptr_t)m;
}

static int save(struct tenon_module *m, struct tenon_buffer *out)
{
	return tenon_buffer_slice(out, module_of(m)->bytes);
}

static void destroy(struct tenon_module *m)
{
	struct tflite_module *t = module_of(m);

	tenon_object_unref(t->keep);
	tenon_buffer_fini(&t->copy);
	file_map_close(&t->file);
	free(t->name);
}

static const struct tenon_module_ops tflite_module_ops = {
	.save = save,
	.destroy = destroy,
};

bool tflite_module_bytes(const struct tenon_module *m, struct tenon_slice *bytes, const char **file)
{
	if (m->ops != &tflite_module_ops)
		return false;
	*bytes = module_of(m)->bytes;
	*file = module_of(m)->name;
	return true;
}

static int create(struct tenon_slice name, struct tflite_module **out)
{
	struct tflite_module *t = calloc(1, sizeof(*t));

	if (t)
		t->name = name.size ? strndup(name.data, name.size) : strdup("model");
	if (!t || !t->name) {
		free(t);
		return tenon_error(-TENON_E_NOMEM, "no memory for a module");
	}
	tenon_module_init(&t->base, &tflite_module_ops, tenon_slice_of(TFLITE_KIND),
			  TENON_MODULE_SERIALIZABLE);
	*out = t;
	return 0;
}

/* Check that the file is a model. Its operators are checked when the model is opened. */
static int check(const struct tflite_module *t)
{
	const struct tenon_cursor c = tenon_cursor_of(t->bytes.data, t->bytes.size, t->name, 0);
	struct tflite_model model;

	return tflite_read(&c, &model);
}

static int finish(struct tflite_module *t, struct tenon_module **out)
{
	int err = check(t);

	if (err)
		tenon_object_unref(t);
	else
		*out = &t->base;
	return err;
}

/* ---- from a payload */

static int take_bytes(struct tflite_module *t, struct tenon_slice bytes, struct tenon_object *keep)
{
	int err = 0;

	t->bytes = bytes;
	t->keep = keep;
	if (keep) {
		tenon_object_ref(keep);
	} else {
		err = tenon_buffer_slice(&t->copy, bytes);
		t->bytes = (struct tenon_slice){ t->copy.data, t->copy.size };
	}
	return err;
}

int tflite_module_load(struct tenon_cursor *c, const struct tenon_payload *payload,
		       struct tenon_module **out)
{
	struct tflite_module *t;
	struct tenon_slice bytes;
	int err;

	err = tenon_cursor_bytes(c, tenon_cursor_left(c), &bytes);
	if (!err)
		err = create(tenon_slice_of(payload->file), &t);
	if (err)
		return err;
	err = take_bytes(t, bytes, payload->keep);
	if (!err)
		return finish(t, out);
	tenon_object_unref(t);
	return err;
}

/* ---- from a file */

PACKED_CALL(tflite_load_file)
{
	struct tenon_module *module = NULL;
	struct tflite_module *t;
	struct tenon_slice path;
	int err;

	if (count < 1)
		return tenon_error(-TENON_E_TYPE, "no path");
	err = tenon_value_text(&args[0], &path);
	if (!err)
		err = create(path, &t);
	if (err)
		return err;
	err = file_map_open(t->name, &t->file);
	t->bytes = t->file;
	if (err)
		tenon_object_unref(t);
	else
		err = finish(t, &module);
	if (!err)
		*ret = tenon_arg_object(module);
	return err;
}

extern const struct executor tflite_executor;
const struct executor tflite_executor = {
	.create = tflite_create,
	.in_regions = true,
	.devices_in_regions = true,
	.shares_planned = true,
};
