/* SPDX-License-Identifier: MIT */
#include "runtime/link/link_host.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <tenon/error.h>

#include "lib/brief_errors.h"
#include "lib/cursor_fast.h"
#include "lib/file_map.h"
#include "runtime/link/artifact_record.h"
#include "runtime/link/elf_replace.h"
#include "runtime/link/link_tree.h"

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

static int read_record(struct link_host *h)
{
	struct tenon_slice wanted = tenon_slice_of(ARTIFACT_RECORD_SYMBOL), bytes;
	struct elf_symbol symbol;
	uint64_t i;
	int err;

	for (i = 0; i < h->elf.symbols.count; i++) {
		elf_symbol(&h->elf, i, &symbol);
		if (!symbol.defined || !tenon_slice_equal(symbol.name, wanted))
			continue;
		err = elf_symbol_bytes(&h->elf, &symbol, &bytes);
		if (!err)
			err = artifact_record_read(bytes, h->path, &h->names);
		h->has_record = !err;
		return err;
	}
	return 0;
}

int link_host_open(const char *path, struct link_host *h)
{
	int err;

	h->path = path;
	err = file_map_open(path, &h->bytes);
	if (!err)
		err = elf_open(&h->elf, h->bytes, path);
	if (!err && h->elf.type != ELF_SHARED)
		err = tenon_error(-TENON_E_UNSUPPORTED,
				  "%s: an ELF file, but no shared object; link it into one", path);
	if (!err)
		err = library_symbols_read(&h->elf, &h->symbols);
	if (!err)
		err = read_blob(h);
	return err ? err : read_record(h);
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

int link_host_write(const struct link_host *h, struct tenon_slice blob,
		    const struct artifact_set *names, struct tenon_buffer *out)
{
	struct tenon_buffer record = TENON_BUFFER_INIT;
	struct elf_content contents[2] = { { h->symbol, blob_room(h), blob } };
	size_t count = 1;
	int err = 0;

	if (h->has_record && names) {
		err = artifact_record_write(names, &record);
		contents[count].symbol = ARTIFACT_RECORD_SYMBOL;
		contents[count].bytes = (struct tenon_slice){ record.data, record.size };
		count++;
	}
	if (!err)
		err = elf_replace(&h->elf, contents, count, out);
	tenon_buffer_fini(&record);
	return err;
}

int link_host_strip(const struct link_host *h, struct tenon_buffer *out)
{
	struct tenon_buffer blob = TENON_BUFFER_INIT;
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
		err = link_host_write(h, (struct tenon_slice){ blob.data, blob.size }, NULL, out);
	tenon_buffer_fini(&blob);
	link_tree_fini(&alone);
	return err;
}
