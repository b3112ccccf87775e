/* SPDX-License-Identifier: MIT */
/* Read a shared object with its tree, names and hashes, and write it with another tree. */
#include "link/module/link_host.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>
#include <tenon/error.h>

#include "lib/brief_errors.h"
#include "lib/cursor_fast.h"
#include "lib/file_map.h"
#include "link/module/artifact_record.h"
#include "link/module/elf_replace.h"
#include "runtime/kind/file_kind.h"

static int read_blob(struct link_host *h)
{
	const struct elf_symbol *symbol = &h->symbols.blob;
	int err;

	if (!h->symbols.has_blob)
		return 0;
	if (symbol->name.size >= sizeof(h->symbol))
		return tenon_error(-TENON_E_FORMAT,
				   "%s: the symbol of its import tree has a name of %zu bytes",
				   h->path, symbol->name.size);
	snprintf(h->symbol, sizeof(h->symbol), "%.*s", (int)symbol->name.size, symbol->name.data);
	err = elf_symbol_bytes(&h->elf, symbol, &h->blob);
	if (err)
		return err;
	h->source.file = h->path;
	h->source.offset = (uint64_t)(h->blob.data - h->bytes.data);
	h->source.generation = h->symbols.blob_generation;
	h->source.inspect = true;
	err = import_blob_read(&h->tree, h->blob, &h->source);
	return err ? tenon_error_in(err, "%s", h->path) : 0;
}

/* Find a symbol of this project's; false when the file has none. */
static bool find_own(const struct link_host *h, const char *name, struct elf_symbol *out)
{
	struct tenon_slice wanted = tenon_slice_of(name);
	uint64_t i;

	for (i = 0; i < h->elf.symbols.count; i++) {
		elf_symbol(&h->elf, i, out);
		if (out->defined && tenon_slice_equal(out->name, wanted))
			return true;
	}
	return false;
}

static int read_record(struct link_host *h)
{
	struct elf_symbol symbol;
	struct tenon_slice bytes;
	int err;

	if (!find_own(h, ARTIFACT_RECORD_SYMBOL, &symbol))
		return 0;
	err = elf_symbol_bytes(&h->elf, &symbol, &bytes);
	if (!err)
		err = artifact_record_read(bytes, h->path, &h->names);
	h->has_record = !err;
	return err;
}

static int read_hashes(struct link_host *h)
{
	struct elf_symbol symbol;
	struct tenon_slice bytes;
	int err;

	if (!h->symbols.has_blob || !find_own(h, PAYLOAD_HASHES_SYMBOL, &symbol))
		return 0;
	err = elf_symbol_bytes(&h->elf, &symbol, &bytes);
	if (!err)
		err = payload_hashes_read(bytes, h->path, &h->hashes);
	h->has_hashes = !err && h->hashes.count;
	return err;
}

int link_host_open(const char *path, struct link_host *h)
{
	int err = file_map_open(path, &h->bytes);

	h->mapped = !err;
	return err ? err : link_host_read(path, h->bytes, h);
}

int link_host_read(const char *path, struct tenon_slice bytes, struct link_host *h)
{
	int err;

	h->path = path;
	h->bytes = bytes;
	err = file_open_elf(&h->elf, bytes, path);
	/* the name of an unknown machine is in a static buffer, which the next call overwrites */
	if (!err)
		snprintf(h->machine, sizeof(h->machine), "%s", elf_machine_name(&h->elf));
	if (!err && h->elf.type != ELF_SHARED)
		err = tenon_error(-TENON_E_UNSUPPORTED,
				  "%s: an ELF file, but no shared object; link it into one", path);
	if (!err)
		err = library_symbols_read(&h->elf, &h->symbols);
	if (!err)
		err = read_blob(h);
	if (!err)
		err = read_record(h);
	return err ? err : read_hashes(h);
}

static int hash_error(const struct link_host *h, size_t module, const char *found,
		      const char *wanted)
{
	const struct import_entry *e = &h->tree.entries[module];

	return tenon_error(
		-TENON_E_VALUE,
		"%s: %zu bytes at 0x%zx, the payload of module %zu (%.*s), have the SHA-256 "
		"%s; the module was linked with %s. Link it again, or copy a file that is whole",
		h->path, e->bytes.size, (size_t)(e->bytes.data - h->bytes.data), module,
		(int)e->kind.size, e->kind.data, found, wanted);
}

int link_host_check_hashes(const struct link_host *h, void (*fault)(void *context, size_t module),
			   void *context)
{
	char found[SHA256_TEXT], wanted[SHA256_TEXT];
	size_t i;

	if (!h->has_hashes)
		return tenon_error(-TENON_E_NOT_FOUND,
				   "%s: has no hashes of payloads; tenon link writes them",
				   h->path);
	if (h->hashes.count != h->tree.count)
		return tenon_error(-TENON_E_VALUE,
				   "%s: hashes of %" PRIu64 " modules; there are %zu", h->path,
				   h->hashes.count, (size_t)h->tree.count);
	for (i = 0; i < h->tree.count; i++) {
		if (i == h->tree.library ||
		    payload_hashes_match(&h->hashes, i, h->tree.entries[i].bytes, found, wanted))
			continue;
		hash_error(h, i, found, wanted);
		fault(context, i);
	}
	return 0;
}

enum tenon_generation link_host_generation(const struct link_host *h)
{
	return h->symbols.has_blob ? h->symbols.blob_generation : h->symbols.generation;
}

void link_blob_imports(const struct import_blob *tree, size_t module, uint64_t *from, uint64_t *to)
{
	*from = *to = 0;
	if (!tree->has_tree)
		return;
	*from = load_u64(tree->rows + 8 * module);
	*to = load_u64(tree->rows + 8 * (module + 1));
}

uint64_t link_blob_child(const struct import_blob *tree, uint64_t place)
{
	return load_u64(tree->children + 8 * place);
}

void link_host_fini(struct link_host *h)
{
	import_blob_fini(&h->tree);
	artifact_set_fini(&h->names);
	if (h->mapped)
		file_map_close(&h->bytes);
	memset(h, 0, sizeof(*h));
}

/* Bytes that the blob occupies. Its symbol has no size in files that were linked by hand. */
static uint64_t blob_room(const struct link_host *h)
{
	if (h->symbols.blob.size)
		return h->symbols.blob.size;
	return 8 + load_u64((const uint8_t *)h->blob.data);
}

/* The hashes of modules; none where @t is NULL. */
static int make_hashes(const struct link_tree *t, struct tenon_buffer *out)
{
	size_t i, count = t ? t->count : 0;

	payload_hashes_begin(count, out);
	for (i = 0; i < count; i++)
		if (!t->modules[i].library)
			payload_hashes_set(out, i, t->modules[i].payload);
	return out->status;
}

int link_host_write(const struct link_host *h, struct tenon_slice blob,
		    const struct artifact_set *names, const struct link_tree *payloads,
		    struct tenon_buffer *out)
{
	struct tenon_buffer record = TENON_BUFFER_INIT, hashes = TENON_BUFFER_INIT;
	struct elf_content contents[3] = { { h->symbol, blob_room(h), blob } };
	struct elf_symbol symbol;
	size_t count = 1;
	int err = 0;

	if (h->has_record && names) {
		err = artifact_record_write(names, &record);
		contents[count].symbol = ARTIFACT_RECORD_SYMBOL;
		contents[count++].bytes = (struct tenon_slice){ record.data, record.size };
	}
	if (!err && find_own(h, PAYLOAD_HASHES_SYMBOL, &symbol)) {
		err = make_hashes(payloads, &hashes);
		contents[count].symbol = PAYLOAD_HASHES_SYMBOL;
		contents[count++].bytes = (struct tenon_slice){ hashes.data, hashes.size };
	}
	if (!err)
		err = elf_replace(&h->elf, contents, count, out, NULL);
	tenon_buffer_fini(&hashes);
	tenon_buffer_fini(&record);
	return err;
}

/* The names of the host's code alone: a shallow copy, of which only the list is to be freed. */
static int native_names(const struct link_host *h, struct artifact_set *out)
{
	size_t i;

	out->items = calloc(h->names.count + 1, sizeof(*out->items));
	if (!out->items)
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu names", h->names.count);
	for (i = 0; i < h->names.count; i++) {
		if (!artifact_is_native(&h->names.items[i]))
			continue;
		out->items[out->count] = h->names.items[i];
		out->items[out->count++].module = 0;
	}
	return 0;
}

int link_host_strip(const struct link_host *h, struct tenon_buffer *out)
{
	struct tenon_buffer blob = TENON_BUFFER_INIT;
	struct artifact_set names = { 0 };
	struct link_tree alone = { 0 };
	int err;

	if (!h->symbols.has_blob)
		return tenon_buffer_slice(out, h->bytes);
	err = link_tree_create(&alone, 1);
	if (!err) {
		alone.modules[0].kind = tenon_slice_of("_lib");
		alone.modules[0].library = true;
		err = link_tree_write_numbered(&alone, h->symbols.blob_generation, &blob);
	}
	if (!err && blob.size > blob_room(h))
		blob.size = 0;
	if (!err)
		err = native_names(h, &names);
	if (!err)
		err = link_host_write(h, (struct tenon_slice){ blob.data, blob.size }, &names, NULL,
				      out);
	free(names.items);
	tenon_buffer_fini(&blob);
	link_tree_fini(&alone);
	return err;
}
