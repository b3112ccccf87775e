/* SPDX-License-Identifier: MIT */
/* Modules of payloads in one block: names, saving, kernels, and the missing loader's remedy. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>

#include "lib/brief_errors.h"
#include "lib/option.h"
#include "lib/tvm_versions.h"
#include "runtime/core/arguments.h"
#include "runtime/payload/payload_kernel.h"
#include "runtime/payload/payload_module.h"
#include "runtime/payload/payload_visit.h"

struct payload_module {
	struct tenon_module base;
	struct payload_block *block;
	const struct tenon_payload_format *format;
	struct tenon_slice bytes;
	size_t index;
	struct kernel_set *kernels; /* NULL until the first lookup; atomic */
};

struct payload_block {
	struct payload_tree tree;
	size_t users;	/* live modules, plus one while modules are added; atomic */
	size_t readers; /* modules that may read bytes, plus one while adding; atomic */
	size_t used;
	struct payload_module module[];
};

static struct payload_module *payload_of(const struct tenon_module *m)
{
	return (struct payload_module *)(uintptr_t)m;
}

/* Release the file with the last reader: a weak reference may keep the block's memory longer. */
static void block_done_reading(struct payload_block *block)
{
	if (__atomic_fetch_sub(&block->readers, 1, __ATOMIC_ACQ_REL) == 1)
		tenon_object_unref(block->tree.keep);
}

static void block_unref(struct payload_block *block)
{
	if (__atomic_fetch_sub(&block->users, 1, __ATOMIC_ACQ_REL) == 1)
		free(block);
}

static void payload_destroy(struct tenon_module *m)
{
	if (OPTION_ON(DEVICES))
		kernel_set_free(payload_of(m)->kernels);
	block_done_reading(payload_of(m)->block);
}

static void payload_free(struct tenon_module *m)
{
	block_unref(payload_of(m)->block);
}

/* Make a cursor over the payload that knows its offset in the file. */
static struct tenon_cursor cursor_of(const struct payload_module *p)
{
	const struct payload_tree *tree = &p->block->tree;
	uint64_t place = tree->offset + (uint64_t)((const uint8_t *)p->bytes.data - tree->base);

	return tenon_cursor_of(p->bytes.data, p->bytes.size, "payload", place);
}

const char *payload_size_text(uint64_t size, char text[PAYLOAD_SIZE_TEXT])
{
	static const char units[] = "KMGTPE";
	uint64_t tenths = size;
	int unit = -1;

	if (size < 1024) {
		snprintf(text, PAYLOAD_SIZE_TEXT, "%u byte%s", (unsigned int)size,
			 size == 1 ? "" : "s");
		return text;
	}
	/* Count tenths of the unit; the last step multiplies before it divides. */
	for (unit = 0; tenths >= 1024 * 1024; unit++)
		tenths /= 1024;
	tenths = tenths / 1024 * 10 + tenths % 1024 * 10 / 1024;
	if (tenths < 100 && tenths % 10)
		snprintf(text, PAYLOAD_SIZE_TEXT, "%u.%u %ciB", (unsigned int)(tenths / 10),
			 (unsigned int)(tenths % 10), units[unit]);
	else
		snprintf(text, PAYLOAD_SIZE_TEXT, "%" PRIu64 " %ciB", tenths / 10, units[unit]);
	return text;
}

static int payload_save(struct tenon_module *m, struct tenon_buffer *out)
{
	return tenon_buffer_slice(out, payload_of(m)->bytes);
}

static const char *remedy_of(const struct payload_module *p)
{
	const char *remedy = PAYLOAD_SLOT(p->format, remedy);

	return remedy ? remedy
		      : "Install a plug-in for it, or register a loader "
			"(tenon/backend/module_kind.h).";
}

/* What a reader must know of a payload. */
static void set_source(const struct payload_module *p, struct tenon_payload_info *info)
{
	info->kind = p->base.kind;
	info->generation = (uint8_t)p->block->tree.generation;
	info->extra_tags = p->block->tree.dialect == PAYLOAD_EXTRA_TAGS;
}

/* Read the contents of the payload. End with payload_info_fini(); after a failure there are none. */
static int read_info(const struct payload_module *p, struct tenon_payload_info *info)
{
	const struct tenon_cursor c = cursor_of(p);

	int err;

	set_source(p, info);
	err = payload_read(p->format, &c, info);
	if (err)
		payload_info_fini(info);
	return err;
}

static int raise_missing(const struct payload_module *p)
{
	const struct payload_tree *tree = &p->block->tree;
	struct tenon_buffer text = TENON_BUFFER_INIT;
	char size[PAYLOAD_SIZE_TEXT];
	int status = -TENON_E_NO_LOADER;

	if (tree->inspected && tenon_module_loader_known(p->base.kind))
		status = -TENON_E_UNSUPPORTED;
	if (!ERROR_MESSAGES)
		return tenon_error(status, "no loader");
	if (status == -TENON_E_UNSUPPORTED) {
		tenon_buffer_printf(&text, "opened for inspection only. Load the file to call "
					   "functions.");
	} else {
		tenon_buffer_printf(&text, "no loader for this kind. Kinds this build loads: ");
		tenon_module_loader_names(&text);
		tenon_buffer_printf(&text, ". %s", remedy_of(p));
	}
	tenon_error(status, "%s%simport %zu of %zu (kind \"%.*s\", %s at 0x%" PRIx64 "): %s",
		    tree->file, *tree->file ? ": " : "", p->index, tree->count,
		    (int)p->base.kind.size, p->base.kind.data,
		    payload_size_text(p->bytes.size, size), cursor_of(p).offset,
		    text.data ? text.data : "");
	tenon_buffer_fini(&text);
	return status;
}

static PACKED_CALL(payload_call)
{
	return raise_missing(self);
}

/*
 * What a failure to read the payload means for its functions. Of an unknown kind only the usual
 * forms were tried: it may have another, so this is no error, and no functions are known.
 */
static int functions_error(const struct payload_module *p, int err)
{
	const struct payload_tree *tree = &p->block->tree;
	struct tenon_slice kind = p->base.kind;

	if (!err || err == -TENON_E_NOMEM)
		return err;
	if (p->format)
		return tenon_error_in(err, "%s%simport %zu of %zu (kind \"%.*s\")", tree->file,
				      *tree->file ? ": " : "", p->index, tree->count,
				      (int)kind.size, kind.data);
	tenon_error_clear();
	return 0;
}

static int payload_each_name(struct tenon_module *m,
			     int (*visit)(void *context, struct tenon_slice name), void *context)
{
	const struct payload_module *p = payload_of(m);
	const struct tenon_cursor c = cursor_of(p);
	struct tenon_payload_info info;
	int result, err;

	set_source(p, &info);
	err = payload_names(p->format, &c, &info, visit, context, &result);
	return err ? functions_error(p, err) : result;
}

static int get_kernels(struct payload_module *p, const struct tenon_payload_info *info,
		       struct kernel_set **out)
{
	const struct payload_place place = { &p->block->tree, p->index, p->format };

	return payload_kernels(&p->kernels, &place, info, out);
}

static int make_kernel(struct payload_module *p, const struct tenon_payload_info *info,
		       struct tenon_slice name, struct tenon_function **out)
{
	struct kernel_set *kernels;
	int err;

	if (!OPTION_ON(DEVICES))
		return 0;
	err = get_kernels(p, info, &kernels);
	return err ? err : kernel_set_function(kernels, name, &p->base, out);
}

/* Find a function in the program of the payload; false if it has not been made yet. */
static bool find_kernel(struct payload_module *p, struct tenon_slice name,
			struct tenon_function **out, int *err)
{
	struct kernel_set *kernels;

	if (!OPTION_ON(DEVICES))
		return false;
	kernels = __atomic_load_n(&p->kernels, __ATOMIC_ACQUIRE);
	*err = kernels ? kernel_set_function(kernels, name, &p->base, out) : 0;
	return kernels;
}

static bool has_function(const struct tenon_payload_info *info, struct tenon_slice name)
{
	size_t i;

	for (i = 0; i < info->function_count; i++)
		if (tenon_slice_equal(info->functions[i].name, name))
			return true;
	return false;
}

/* Make a function that fails with the reason why this payload does not run. */
static int make_placeholder(struct tenon_module *m, struct tenon_function **out)
{
	int err;

	tenon_object_ref(m);
	err = tenon_function_create(m, payload_call, tenon_object_unref, out);
	if (err)
		tenon_object_unref(m);
	return err;
}

static int payload_get_function(struct tenon_module *m, struct tenon_slice name,
				struct tenon_function **out)
{
	struct payload_module *p = payload_of(m);
	struct tenon_payload_info info;
	int err;

	*out = NULL;
	if (find_kernel(p, name, out, &err))
		return err;
	err = functions_error(p, read_info(p, &info));
	if (!err && has_function(&info, name))
		err = m->properties & TENON_MODULE_RUNNABLE ? make_kernel(p, &info, name, out)
							    : make_placeholder(m, out);
	payload_info_fini(&info);
	return err;
}

static int payload_module_source(struct tenon_module *m, const char *format,
				 struct tenon_value *out)
{
	struct tenon_buffer text = TENON_BUFFER_INIT;
	struct tenon_payload_info info;
	struct tenon_slice bytes;
	int err;

	err = read_info(payload_of(m), &info);
	if (err)
		return err;
	if (format && *format && !tenon_slice_equal(info.format, tenon_slice_of(format)))
		err = tenon_error(
			-TENON_E_UNSUPPORTED,
			"a \"%.*s\" module has no source as \"%s\"; its own format is \"%.*s\"",
			(int)m->kind.size, m->kind.data, format, (int)info.format.size,
			info.format.data ? info.format.data : "");
	else if ((err = payload_source(&info, &text)) == -TENON_E_UNSUPPORTED)
		tenon_error(err, "this \"%.*s\" module holds no source text", (int)m->kind.size,
			    m->kind.data);
	payload_info_fini(&info);
	bytes = (struct tenon_slice){ text.data, text.size };
	if (!err)
		err = tenon_string_value(bytes, out);
	tenon_buffer_fini(&text);
	return err;
}

static int visit_place(const struct payload_module *p, const struct tenon_visitor *v)
{
	int err = visit_number(v, "size", p->bytes.size);

	return err ? err : visit_number(v, "offset", cursor_of(p).offset);
}

static int visit_loader(const struct payload_module *p, const struct tenon_visitor *v)
{
	bool known = tenon_module_loader_known(p->base.kind);
	int err;

	err = visit_text(v, "loader", tenon_slice_of(known ? "ready" : "missing"));
	return err || known ? err : visit_text(v, "remedy", tenon_slice_of(remedy_of(p)));
}

static int payload_visit(const struct tenon_module *m, const struct tenon_visitor *v)
{
	const struct payload_module *p = payload_of(m);
	int (*own)(const struct tenon_payload_info *, const struct tenon_visitor *) =
		PAYLOAD_SLOT(p->format, visit);
	struct tenon_payload_info info;
	bool known;
	int err;

	if (!OPTION_ON(PAYLOAD_FORMATS))
		return visit_place(p, v);
	err = read_info(p, &info);
	if (err == -TENON_E_NOMEM)
		return err;
	known = !err;
	if (err) {
		err = visit_text(v, "fault", tenon_slice_of(tenon_error_message()));
		tenon_error_clear();
	} else {
		err = payload_visit_info(&info, v);
	}
	if (!err)
		err = visit_place(p, v);
	if (!err && known)
		err = payload_visit_functions(&info, v);
	if (!err && known && own)
		err = own(&info, v);
	payload_info_fini(&info);
	return err ? err : visit_loader(p, v);
}

static const struct tenon_module_ops payload_ops = {
	.get_function = OPTION_SLOT(PAYLOAD_FORMATS, payload_get_function),
	.each_function = OPTION_SLOT(PAYLOAD_FORMATS, payload_each_name),
	.source = OPTION_SLOT(PAYLOAD_FORMATS, OPTION_SLOT(INSPECT, payload_module_source)),
	.visit = OPTION_SLOT(INSPECT, payload_visit),
	.save = payload_save,
	.destroy = payload_destroy,
	.free = payload_free,
};

#ifdef CONFIG_DEVICES
int payload_module_executable(struct tenon_module *m, struct tenon_device *device,
			      struct tenon_executable **out)
{
	struct payload_module *p = payload_of(m);
	struct kernel_set *kernels;
	struct tenon_payload_info info;
	int err = 0;

	*out = NULL;
	if (m->ops != &payload_ops || !(m->properties & TENON_MODULE_RUNNABLE))
		return 0;
	kernels = __atomic_load_n(&p->kernels, __ATOMIC_ACQUIRE);
	if (!kernels) {
		err = functions_error(p, read_info(p, &info));
		if (!err && info.has_kernels)
			err = get_kernels(p, &info, &kernels);
		payload_info_fini(&info);
	}
	return err || !kernels ? err : kernel_set_executable(kernels, device, out);
}

void payload_module_made(struct tenon_module *m, const struct tenon_payload_info *info)
{
	struct kernel_set *kernels;

	if ((m->properties & TENON_MODULE_RUNNABLE) && info->has_kernels &&
	    get_kernels(payload_of(m), info, &kernels))
		tenon_error_clear();
}
#endif

#ifdef CONFIG_INSPECT
/* Test whether blobs of both generations have the same form of this payload. */
static bool same_form(const struct payload_module *p)
{
	struct tenon_payload_info info;
	bool same;

	if (!OPTION_ON(PAYLOAD_FORMATS))
		return false;
	same = !read_info(p, &info) && p->format && !p->format->legacy && !info.has_kernels;
	payload_info_fini(&info);
	return same;
}

/* Modules from separate files use the form of newer blobs, with argument tags. */
static bool has_form(const struct payload_tree *tree, enum tenon_generation generation)
{
	return tree->generation == generation ||
	       (generation == TENON_GENERATION_FFI && tree->generation == TENON_GENERATION_NONE &&
		tree->dialect == PAYLOAD_EXTRA_TAGS);
}

int payload_module_check_form(const struct tenon_module *m, enum tenon_generation generation)
{
	const struct payload_module *p = payload_of(m);

	if (m->ops != &payload_ops || has_form(&p->block->tree, generation) || same_form(p))
		return 0;
	return tenon_error(-TENON_E_UNSUPPORTED,
			   "a \"%.*s\" payload of a blob of TVM %s cannot be written to a blob of "
			   "TVM %s: its form differs there",
			   (int)m->kind.size, m->kind.data,
			   generation == TENON_GENERATION_FFI ? TVM_BLOB_LEGACY : TVM_BLOB_MODERN,
			   generation == TENON_GENERATION_FFI ? TVM_BLOB_MODERN : TVM_BLOB_LEGACY);
}
#endif

int payload_block_create(const struct payload_tree *tree, size_t room, struct payload_block **out)
{
	size_t length = strlen(tree->file) + 1;
	struct payload_block *block;
	char *file;

	block = room < SIZE_MAX / 2 / sizeof(block->module[0])
			? malloc(sizeof(*block) + room * sizeof(block->module[0]) + length)
			: NULL;
	*out = block;
	if (!block)
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu payload modules", room);
	block->tree = *tree;
	file = (char *)&block->module[room];
	memcpy(file, tree->file, length);
	block->tree.file = file;
	block->users = 1;
	block->readers = 1;
	block->used = 0;
	tenon_object_ref(tree->keep);
	return 0;
}

/* Test whether a backend accepts modules of a kind. The module before often has the same kind; then its answer holds. */
static bool block_runs(const struct payload_block *block, struct tenon_slice kind)
{
	const struct tenon_module *before;

	if (!OPTION_ON(DEVICES) || block->tree.inspected)
		return false;
	before = block->used ? &block->module[block->used - 1].base : NULL;
	if (before && tenon_slice_equal(before->kind, kind))
		return before->properties & TENON_MODULE_RUNNABLE;
	return tenon_backend_of_kind(kind) != NULL;
}

struct tenon_module *payload_block_add(struct payload_block *block, size_t index,
				       struct tenon_slice kind,
				       const struct tenon_payload_format *format,
				       struct tenon_slice bytes)
{
	struct payload_module *p = &block->module[block->used];

	tenon_module_init(&p->base, &payload_ops, kind,
			  TENON_MODULE_SERIALIZABLE |
				  (block_runs(block, kind) ? TENON_MODULE_RUNNABLE : 0));
	block->used++;
	p->block = block;
	p->format = format;
	p->bytes = bytes;
	p->index = index;
	if (OPTION_ON(DEVICES))
		p->kernels = NULL;
	/* No other thread has the block yet. */
	block->users++;
	block->readers++;
	return &p->base;
}

void payload_block_close(struct payload_block *block)
{
	block_done_reading(block);
	block_unref(block);
}
