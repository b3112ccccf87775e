/* SPDX-License-Identifier: MIT */
/* Read a blob of either generation to entries, without copying payloads. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/brief_errors.h"
#include "lib/cursor_fast.h"
#include "lib/option.h"
#include "lib/slice_text.h"
#include "lib/tvm_versions.h"
#include "runtime/blob/import_blob.h"
#include "runtime/kind/loaders.h"
#include "runtime/payload/payload_module.h"

/* Kinds are short names: a longer one means the blob is misread. */
#define KIND_MOST 128

/* size of the smallest entry, "_lib" */
#define ENTRY_LEAST 12

int import_blob_frame(const struct import_blob *b, size_t index, int status)
{
	const struct import_entry *e = &b->entries[index];
	char size[PAYLOAD_SIZE_TEXT];
	uint64_t place;

	place = b->c.offset + (uint64_t)((const uint8_t *)e->bytes.data - b->c.start);
	return tenon_error_in(status, "import %zu of %zu (kind \"%.*s\", %s at 0x%" PRIx64 ")",
			      index, b->expected, (int)e->kind.size, e->kind.data,
			      payload_size_text(e->bytes.size, size), place);
}

/* Test whether an entry has the kind of the one before, as most do. */
static bool repeats(const struct import_blob *b, const struct import_entry *e)
{
	const struct import_entry *before;

	if (!b->count || b->library == b->count - 1)
		return false;
	before = e - 1;
	return before->kind.size == e->kind.size &&
	       !memcmp(before->kind.data, e->kind.data, e->kind.size);
}

/* Begin an entry with its kind. Return: 1 if it has the kind, format and loader of the one before; 0; negative. */
static int take_kind(struct import_blob *b, struct import_entry *e)
{
	const struct tenon_cursor from = b->c;
	struct tenon_slice *kind = &e->kind;
	size_t i;
	int err;

	*e = (struct import_entry){ 0 };
	err = take_string(&b->c, kind);
	if (err)
		return tenon_error_in(err, "kind of import %zu of %zu", b->count, b->expected);
	if (repeats(b, e)) {
		*kind = e[-1].kind;
		e->format = e[-1].format;
		e->loader = e[-1].loader;
		return 1;
	}
	for (i = 0; i < kind->size && i < KIND_MOST; i++)
		if (kind->data[i] <= ' ' || kind->data[i] > '~')
			break;
	if (kind->size && i == kind->size)
		return 0;
	tenon_cursor_error(
		&from, -TENON_E_FORMAT,
		"import %zu of %zu has %zu bytes that are no name where its kind should be",
		b->count, b->expected, kind->size);
	return -TENON_E_FORMAT;
}

static int add_library(struct import_blob *b)
{
	if (b->library != SIZE_MAX)
		return tenon_cursor_error(
			&b->c, -TENON_E_FORMAT,
			"imports %zu and %zu are both \"_lib\"; there is one library", b->library,
			b->count);
	b->library = b->count++;
	return 0;
}

/* Look up the loader and format of a kind. */
static void look_up_kind(const struct import_blob *b, struct import_entry *e)
{
	e->format = payload_format_of(e->kind);
	if (!e->format || !b->source->inspect)
		e->loader = loader_find(e->kind);
}

static int take_tree(struct import_blob *b)
{
	int err;

	b->row_place = tenon_cursor_place(&b->c);
	err = take_count(&b->c, 8, &b->row_count);
	if (err)
		return tenon_error_in(err, "row pointers");
	b->rows = b->c.at;
	b->c.at += 8 * (size_t)b->row_count;
	err = take_count(&b->c, 8, &b->child_count);
	if (err)
		return tenon_error_in(err, "children");
	b->children = b->c.at;
	b->c.at += 8 * (size_t)b->child_count;
	return 0;
}

static int reserve_entries(struct import_blob *b, uint64_t count)
{
	/* Every entry has bytes, so the size of the blob bounds the count. */
	size_t most = tenon_cursor_left(&b->c) / ENTRY_LEAST + 1;

	if (count < most)
		most = (size_t)count;
	if (most < PTRDIFF_MAX / sizeof(*b->entries))
		b->entries = malloc((most + 1) * sizeof(*b->entries));
	if (!b->entries)
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu imports", most);
	return 0;
}

#ifdef CONFIG_TVM_LEGACY
#ifdef CONFIG_PAYLOAD_FORMATS
#define WHAT_LOADS "Install a plug-in for it"
#else
/* such a build has no table of kinds with their options */
#define WHAT_LOADS                                                                                 \
	"Enable its executor, CONFIG_AOT_EXECUTOR or CONFIG_RELAX_VM, or for a program of a "      \
	"device CONFIG_DEVICES"
#endif

static int unknown_kind(const struct import_blob *b, const struct import_entry *e)
{
	struct tenon_buffer names = TENON_BUFFER_INIT;
	int err;

	if (ERROR_MESSAGES)
		tenon_module_loader_names(&names);
	err = tenon_error(
		-TENON_E_NO_LOADER,
		"import %zu of %zu (kind \"%.*s\" at 0x%" PRIx64 "): no loader for this "
		"kind, and in a blob of TVM " TVM_BLOB_LEGACY
		" only its loader can tell where it ends. Kinds this build loads: %s. " WHAT_LOADS
		", or export the module with TVM 0.22 or later",
		b->count, b->expected, (int)e->kind.size, e->kind.data, tenon_cursor_place(&b->c),
		names.data ? names.data : "");
	tenon_buffer_fini(&names);
	return err;
}

/* A payload without a length: find its end by reading it. */
static int measure(struct import_blob *b, struct import_entry *e)
{
	const uint8_t *from = b->c.at;
	struct tenon_payload payload = { .file = b->source->file,
					 .index = b->count,
					 .generation = TENON_GENERATION_LEGACY,
					 .kind = e->kind,
					 .keep = b->source->keep };
	int err;

	if (e->format) {
		err = payload_measure(e->format, &b->c, b->dialect);
	} else if (e->loader) {
		err = e->loader->load(&b->c, &payload, &e->made);
	} else {
		return unknown_kind(b, e);
	}
	if (err)
		return tenon_error_in(err, "import %zu of %zu (kind \"%.*s\" at 0x%" PRIx64 ")",
				      b->count, b->expected, (int)e->kind.size, e->kind.data,
				      b->c.offset + (uint64_t)(from - b->c.start));
	e->bytes.data = (const char *)from;
	e->bytes.size = (size_t)(b->c.at - from);
	return 0;
}

static int take_legacy_entry(struct import_blob *b)
{
	struct import_entry *e = &b->entries[b->count];
	int err = take_kind(b, e);

	if (err < 0)
		return err;
	if (!err && slice_is(e->kind, "_lib"))
		return add_library(b);
	if (!err && slice_is(e->kind, "_import_tree")) {
		if (b->has_tree)
			return tenon_cursor_error(&b->c, -TENON_E_FORMAT, "a second import tree");
		b->has_tree = true;
		return take_tree(b);
	}
	if (!err)
		look_up_kind(b, e);
	err = measure(b, e);
	if (!err)
		b->count++;
	return err;
}

static int take_legacy(struct import_blob *b)
{
	uint64_t i, count;
	int err;

	err = take_count(&b->c, ENTRY_LEAST, &count);
	if (err)
		return tenon_error_in(err, "imports");
	/*
	 * TVM 0.14 and later write the import list of a root without imports but do not count it.
	 */
	if (!count && tenon_cursor_left(&b->c))
		count = 1;
	b->expected = count > 1 ? (size_t)count - 1 : (size_t)count;
	err = reserve_entries(b, count);
	for (i = 0; i < count && !err; i++)
		err = take_legacy_entry(b);
	if (!err && !b->row_count)
		b->has_tree = false;
	b->expected = b->count;
	return err;
}
#else
static int take_legacy(struct import_blob *b)
{
	return tenon_error(-TENON_E_UNSUPPORTED, "the import tree is of TVM " TVM_BLOB_LEGACY
						 "; CONFIG_TVM_LEGACY is off");
}
#endif

static int take_current_entry(struct import_blob *b)
{
	struct import_entry *e = &b->entries[b->count];
	int err = take_kind(b, e);

	if (err < 0)
		return err;
	if (!err && slice_is(e->kind, "_lib"))
		return add_library(b);
	if (!err)
		look_up_kind(b, e);
	err = take_string(&b->c, &e->bytes);
	if (err)
		return tenon_error_in(err, "import %zu of %zu (kind \"%.*s\")", b->count,
				      b->expected, (int)e->kind.size, e->kind.data);
	b->count++;
	return 0;
}

static int take_current(struct import_blob *b)
{
	int err;

	err = take_tree(b);
	if (!err && !b->row_count)
		err = tenon_error(-TENON_E_FORMAT, "no row pointers: want one more than modules");
	if (err)
		return err;
	b->has_tree = true;
	b->dialect = PAYLOAD_EXTRA_TAGS;
	b->expected = (size_t)b->row_count - 1;
	if (!b->expected)
		return tenon_error(-TENON_E_FORMAT, "one row pointer: there is no module");
	err = reserve_entries(b, b->expected);
	while (b->count < b->expected && !err)
		err = take_current_entry(b);
	return err;
}

static int take_size(struct import_blob *b, struct tenon_slice blob)
{
	uint64_t size;
	int err;

	b->c = tenon_cursor_of(blob.data, blob.size, "import tree", b->source->offset);
	err = take_u64(&b->c, &size);
	if (err)
		return err;
	if (size > tenon_cursor_left(&b->c)) {
		size_t left = tenon_cursor_left(&b->c);

		b->c.at = b->c.start;
		return tenon_cursor_error(&b->c, -TENON_E_TRUNCATED,
					  "%" PRIu64 " bytes promised, %zu are left", size, left);
	}
	b->c.end = b->c.at + size;
	return 0;
}

static void forget(struct import_blob *b)
{
	size_t i;

	for (i = 0; i < b->count; i++)
		tenon_object_unref(b->entries[i].made);
	free(b->entries);
}

void import_blob_fini(struct import_blob *b)
{
	forget(b);
	memset(b, 0, sizeof(*b));
}

/* Test whether the blob may have more than one dialect. */
static bool is_legacy(const struct blob_source *src)
{
	return OPTION_ON(TVM_LEGACY) && src->generation == TENON_GENERATION_LEGACY;
}

static int take_all(struct import_blob *b, struct tenon_slice blob, enum payload_dialect dialect)
{
	const struct blob_source *src = b->source;
	int err;

	forget(b);
	memset(b, 0, sizeof(*b));
	b->source = src;
	b->dialect = dialect;
	b->library = SIZE_MAX;
	err = take_size(b, blob);
	if (err)
		return err;
	if (src->generation == TENON_GENERATION_LEGACY)
		err = take_legacy(b);
	else
		err = take_current(b);
	if (!err && tenon_cursor_left(&b->c))
		err = tenon_cursor_error(&b->c, -TENON_E_FORMAT, "%zu bytes left over",
					 tenon_cursor_left(&b->c));
	if (!err && b->has_tree)
		err = import_blob_check_tree(b);
	return err;
}

int import_blob_read(struct import_blob *b, struct tenon_slice blob, const struct blob_source *src)
{
	const uint8_t *reached;
	int err;

	b->source = src;
	err = take_all(b, blob, PAYLOAD_NO_EXTRA_TAGS);
	if (!err || !is_legacy(src) || err == -TENON_E_NOMEM)
		return err;

	/* 0.20 and 0.21 write the same blob with longer function tables and no version number. */
	reached = b->c.at;
	if (!take_all(b, blob, PAYLOAD_EXTRA_TAGS)) {
		tenon_error_clear();
		return 0;
	}
	return b->c.at > reached ? tenon_error_status() : take_all(b, blob, PAYLOAD_NO_EXTRA_TAGS);
}
