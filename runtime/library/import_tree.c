/* SPDX-License-Identifier: MIT */
/* Create a module for each entry of a blob and connect imports. */
#include <stdlib.h>

#include "lib/brief_errors.h"
#include "lib/cursor_fast.h"
#include "lib/option.h"
#include "runtime/core/module_imports.h"
#include "runtime/library/import_tree.h"
#include "runtime/library/inspect.h"
#include "runtime/kind/loaders.h"
#include "runtime/payload/payload_module.h"
#include "runtime/target/target_module.h"

struct import_build {
	const struct import_blob *b;
	struct tenon_module **modules;
	struct payload_block *block;
	struct tenon_module *library;
	struct tenon_slice kind; /* last kind whose packed function was looked up */
	struct tenon_function *function;
};

/* Find a packed function as loader. Only if entries have a length and there is no C loader. */
static int find_function(struct import_build *t, const struct import_entry *e)
{
	const struct blob_source *src = t->b->source;

	if (src->inspect || src->generation == TENON_GENERATION_LEGACY ||
	    t->kind.data == e->kind.data || tenon_slice_equal(t->kind, e->kind))
		return 0;
	tenon_object_unref(t->function);
	t->function = NULL;
	t->kind = e->kind;
	return loader_find_function(e->kind, &t->function);
}

static int load_by_function(struct import_build *t, const struct import_entry *e,
			    struct tenon_module **out)
{
	struct tenon_string *bytes;
	struct tenon_value arg;
	int err;

	err = tenon_bytes_wrap(e->bytes, t->b->source->keep, &bytes);
	if (err)
		return err;
	arg = tenon_arg_object(bytes);
	err = loader_call(t->function, &arg, 1, out);
	tenon_object_unref(bytes);
	return err;
}

static int load_by_loader(struct import_build *t, size_t index, struct tenon_module **out)
{
	const struct import_blob *b = t->b;
	const struct import_entry *e = &b->entries[index];
	struct tenon_payload payload = { .file = b->source->file,
					 .index = index,
					 .count = b->count,
					 .generation = b->source->generation,
					 .kind = e->kind,
					 .keep = b->source->keep };
	struct tenon_cursor c = b->c;

	c.at = (const uint8_t *)e->bytes.data;
	c.end = c.at + e->bytes.size;
	c.name = "payload";
	return loader_run(e->loader, &c, &payload, out);
}

/*
 * Test whether an entry has no loader and becomes a payload module, which needs room in the block.
 */
static bool becomes_payload(const struct import_build *t, size_t index)
{
	const struct import_entry *e = &t->b->entries[index];

	return index != t->b->library && !e->made && !e->loader;
}

static int make_block(struct import_build *t)
{
	const struct import_blob *b = t->b;
	struct payload_tree tree = { .file = b->source->file,
				     .base = b->c.start,
				     .offset = b->source->offset,
				     .keep = b->source->keep,
				     .count = b->count,
				     .generation = b->source->generation,
				     .dialect = b->dialect,
				     .inspected = b->source->inspect };
	size_t i, room = 0;

	for (i = 0; i < b->count; i++)
		room += becomes_payload(t, i);
	return room ? payload_block_create(&tree, room, &t->block) : 0;
}

static int make_module(struct import_build *t, size_t index)
{
	struct import_entry *e = &t->b->entries[index];
	struct tenon_module **out = &t->modules[index];
	int err = 0;

	if (index == t->b->library) {
		tenon_object_ref(t->library);
		*out = t->library;
		return 0;
	}
	if (e->made) {
		*out = e->made;
		e->made = NULL;
		return 0;
	}
	if (e->loader) {
		err = load_by_loader(t, index, out);
	} else {
		err = find_function(t, e);
		if (!err && t->function)
			err = load_by_function(t, e, out);
		else if (!err)
			*out = payload_block_add(t->block, index, e->kind, e->format, e->bytes);
	}
	return err ? import_blob_frame(t->b, index, err) : 0;
}

static int import_children(struct import_build *t, size_t parent, struct tenon_module **scratch)
{
	const struct import_blob *b = t->b;
	uint64_t from = load_u64(b->rows + 8 * parent), to = load_u64(b->rows + 8 * parent + 8);
	uint64_t i;

	for (i = from; i < to; i++)
		scratch[i - from] = t->modules[load_u64(b->children + 8 * i)];
	return from == to ? 0
			  : module_set_imports(t->modules[parent], scratch, (size_t)(to - from));
}

static int import_by_tree(struct import_build *t)
{
	const struct import_blob *b = t->b;
	struct tenon_module **scratch;
	size_t i;
	int err = 0;

	scratch = malloc(((size_t)b->child_count + 1) * sizeof(struct tenon_module *));
	if (!scratch)
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu imports",
				   (size_t)b->child_count);
	for (i = 0; i < b->count && !err; i++)
		err = import_children(t, i, scratch);
	free(scratch);
	return err;
}

/* The oldest blobs have no tree: the library imports all modules. */
static int import_all(struct import_build *t)
{
	size_t i, count = 0;

	for (i = 0; i < t->b->count; i++)
		if (i != t->b->library)
			t->modules[count++] = t->modules[i];
	if (t->b->library < t->b->count)
		tenon_object_unref(t->library), t->modules[t->b->count - 1] = NULL;
	return count ? module_set_imports(t->library, t->modules, count) : 0;
}

static int import_modules(struct import_build *t, struct tenon_module **root)
{
	if (OPTION_ON(TVM_LEGACY) && !t->b->has_tree) {
		*root = t->library;
		return import_all(t);
	}
	*root = t->modules[0];
	return import_by_tree(t);
}

static int build(struct import_build *t, struct tenon_module **root)
{
	const struct import_blob *b = t->b;
	size_t i;
	int err;

	t->modules = calloc(b->count + 1, sizeof(struct tenon_module *));
	if (!t->modules)
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu modules", b->count);
	err = make_block(t);
	for (i = 0; i < b->count && !err; i++)
		err = make_module(t, i);
	if (!err && !b->source->inspect)
		err = target_record_bind(b->source->record, b->source->file, t->modules, b->count);
	if (!err)
		err = import_modules(t, root);
	if (err)
		*root = NULL;
	tenon_object_ref(*root);
	for (i = 0; i < b->count; i++)
		tenon_object_unref(t->modules[i]);
	return err;
}

/* Make the library module of a blob that is only inspected. */
static int make_stand_in(const char *file, struct tenon_module **out)
{
	if (OPTION_ON(INSPECT))
		return inspect_stand_in(file, out);
	*out = NULL;
	return tenon_error(-TENON_E_UNSUPPORTED, "a blob apart from its library; "
						 "CONFIG_INSPECT is off in this build");
}

int import_tree_read(struct tenon_slice blob, const struct blob_source *src,
		     struct tenon_module *library, struct tenon_module **root)
{
	struct import_build t = { .library = library };
	struct import_blob b = { 0 };
	int err;

	*root = NULL;
	t.b = &b;
	err = import_blob_read(&b, blob, src);
	if (err)
		goto fini;
	if (!t.library && (b.library < b.count || !b.has_tree)) {
		err = make_stand_in(src->file, &t.library);
		if (err)
			goto fini;
	}
	err = build(&t, root);

	if (t.block)
		payload_block_close(t.block);
	if (!library)
		tenon_object_unref(t.library);
	tenon_object_unref(t.function);
	free(t.modules);
fini:
	import_blob_fini(&b);
	return err;
}
