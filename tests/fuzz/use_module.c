/* SPDX-License-Identifier: MIT */
/* Do with a module what a program can: look up, call, save, visit, and write its blob. */
#include <stdio.h>
#include <stdlib.h>

#include <tenon/backend/module_kind.h>

#include "tests/fuzz/fuzz.h"

/* functions of one module that are called; the others are only listed */
#define CALLS_MOST 4

void fuzz_check(int err)
{
	if (err == -TENON_E_NOMEM) {
		fprintf(stderr, "out of memory: %s\n", tenon_error_message());
		abort();
	}
	if (err && !*tenon_error_message()) {
		fprintf(stderr, "status %d without a message\n", err);
		abort();
	}
	tenon_error_clear();
}

static void keep_nothing(void *self, int flags)
{
	(void)self;
	(void)flags;
}

struct tenon_object *fuzz_keep(void)
{
	static struct tenon_object object;

	if (!object.refs)
		tenon_object_init(&object, TENON_TYPE_OBJECT, keep_nothing);
	return &object;
}

static int look(void *context, const char *name, const struct tenon_value *value)
{
	struct tenon_visitor v = { .size = sizeof(v), .field = look, .context = context };

	(void)name;
	if (value->type < TENON_TYPE_OBJECT)
		return 0;
	return tenon_object_visit(value->as.object, &v);
}

struct calls {
	struct tenon_module *root;
	int left;
};

static int call(void *context, struct tenon_slice name)
{
	struct tenon_value ret = tenon_arg_none();
	struct calls *calls = context;
	struct tenon_function *f;

	if (!calls->left--)
		return 1;
	fuzz_check(tenon_module_find_function(calls->root, name, true, &f));
	if (!f)
		return 0;
	fuzz_check(tenon_call(f, &ret));
	tenon_value_release(&ret);
	tenon_object_unref(f);
	return 0;
}

static void use_one(struct tenon_module *root, struct tenon_module *m, int depth)
{
	struct calls calls = { root, CALLS_MOST };
	struct tenon_buffer bytes = TENON_BUFFER_INIT;
	struct tenon_value source;
	size_t i;

	tenon_module_each_function(m, call, &calls);
	if (!tenon_module_source(m, "", &source))
		tenon_value_release(&source);
	tenon_module_save(m, &bytes);
	tenon_buffer_fini(&bytes);
	tenon_error_clear();
	for (i = 0; i < m->import_count && depth < 3; i++)
		use_one(root, m->imports[i], depth + 1);
}

void fuzz_use_module(struct tenon_module *m)
{
	const struct tenon_visitor v = { .size = sizeof(v), .field = look };
	struct tenon_buffer blob = TENON_BUFFER_INIT;

	fuzz_check(tenon_object_visit(&m->object, &v));
	use_one(m, m, 0);
	fuzz_check(tenon_module_write_blob(m, TENON_GENERATION_LEGACY, &blob));
	blob.size = 0;
	fuzz_check(tenon_module_write_blob(m, TENON_GENERATION_FFI, &blob));
	tenon_buffer_fini(&blob);
	tenon_object_unref(m);
}
