/* SPDX-License-Identifier: MIT */
/* Write the assembler source that embeds blob, names and hashes. */
#include <stdlib.h>
#include <tenon/backend/buffer.h>
#include <tenon/string.h>

#include "lib/brief_errors.h"
#include "lib/elf.h"
#include "link/link_request.h"
#include "link/module/artifact_record.h"
#include "link/module/elf_replace.h"
#include "link/module/payload_hashes.h"
#include "runtime/self_test/cases_format.h"

static const char *symbol_of(const struct link_work *w)
{
	return w->request->generation == TENON_GENERATION_FFI ? "__tvm_ffi__library_bin"
							      : "__tvm_dev_mblob";
}

bool link_embed_is_apart(const struct link_work *w)
{
	return !w->request->system && w->blob_size >= LINK_CUT_LEAST;
}

/* ---- the source */

/* Begin a symbol. Its contents are aligned for loaders that use them in place. */
static void begin_symbol(struct tenon_buffer *out, const char *symbol)
{
	tenon_buffer_printf(out, "\t.balign 64\n\t.globl %s\n\t.type %s, %%object\n%s:\n", symbol,
			    symbol, symbol);
}

static void end_symbol(struct tenon_buffer *out, const char *symbol)
{
	tenon_buffer_printf(out, "\t.size %s, . - %s\n", symbol, symbol);
}

/* Append the contents of a file. */
static void put_contents(struct tenon_buffer *out, const char *folder, const char *file)
{
	tenon_buffer_printf(out, "\t.incbin \"");
	for (; *folder; folder++)
		tenon_buffer_printf(out, *folder == '"' || *folder == '\\' ? "\\%c" : "%c",
				    *folder);
	tenon_buffer_printf(out, "/%s\"\n", file);
}

/* Append a symbol whose contents are a file. */
static void put_symbol(struct tenon_buffer *out, const char *symbol, const char *folder,
		       const char *file)
{
	begin_symbol(out, symbol);
	put_contents(out, folder, file);
	end_symbol(out, symbol);
}

/*
 * Append a symbol that stands for a tree, until link_embed_put() moves it there. Linkers make the build
 * ID of what they see: the stand-in differs when the tree does, and large payloads have their hashes.
 */
static void put_stand_in(struct tenon_buffer *out, const struct link_work *w)
{
	uint8_t digest[SHA256_SIZE];
	size_t i;

	sha256_bytes(w->blob.data, w->blob.size, digest);
	begin_symbol(out, symbol_of(w));
	for (i = 0; i < sizeof(digest); i++)
		tenon_buffer_printf(out, i ? ", %d" : "\t.byte %d", digest[i]);
	tenon_buffer_printf(out, "\n");
	end_symbol(out, symbol_of(w));
}

/* List the import tree as parts; at most 2 * w->cut_count + 1. */
static size_t blob_parts(const struct link_work *w, struct tenon_slice *parts)
{
	return link_cuts_parts(w->cuts, w->cut_count, &w->blob, parts);
}

static int write_blob(const struct link_work *w)
{
	struct tenon_slice *parts = calloc(2 * w->cut_count + 1, sizeof(*parts));
	int err;

	if (!parts)
		return tenon_error(-TENON_E_NOMEM, "no memory for the parts of an import tree");
	err = link_folder_write_parts(w->folder, "imports", parts, blob_parts(w, parts));
	free(parts);
	return err;
}

/*
 * A note, so that the file has a program header of notes, also without a build ID: elf_replace() gives
 * that one up when programs are exchanged for longer ones.
 */
static void put_note(struct tenon_buffer *out)
{
	tenon_buffer_printf(out, "\t.section .note.tenon,\"a\",%%note\n\t.balign 4\n"
				 "\t.4byte 6\n\t.4byte 0\n\t.4byte 1\n"
				 "\t.asciz \"Tenon\"\n\t.balign 4\n");
}

static int write_file(const struct link_work *w, const char *name, const struct tenon_buffer *b)
{
	if (b->status)
		return tenon_error(-TENON_E_NOMEM, "no memory for temporary files");
	return link_folder_write(w->folder, name, (struct tenon_slice){ b->data, b->size });
}

/* A module that is linked into a program is no file that could be checked. */
static bool has_hashes(const struct link_work *w)
{
	return w->blob_size && !w->request->system;
}

/* Write the hashes of all payloads, in the order of their modules. */
static int write_hashes(const struct link_work *w)
{
	struct tenon_buffer out = TENON_BUFFER_INIT;
	const struct artifact *a;
	size_t i, count = 0;
	int err;

	for (i = 0; i < w->set.count; i++)
		if (w->set.items[i].module >= count)
			count = (size_t)w->set.items[i].module + 1;
	payload_hashes_begin(count, &out);
	for (i = 0; i < w->set.count; i++) {
		a = &w->set.items[i];
		if (!artifact_is_native(a))
			payload_hashes_set(&out, (size_t)a->module, artifact_payload(a));
	}
	err = write_file(w, "hashes", &out);
	tenon_buffer_fini(&out);
	return err;
}

/* Append the section of the cases, and write its file. */
static int put_cases(struct tenon_buffer *text, const struct link_work *w)
{
	struct tenon_buffer cases = TENON_BUFFER_INIT;
	int err;

	if (!w->request->case_count)
		return 0;
	tenon_buffer_printf(text, "\t.section " CASES_SECTION ",\"\",%%progbits\n");
	put_contents(text, w->folder, "cases");
	err = link_cases_write(w->request, &cases);
	if (!err)
		err = write_file(w, "cases", &cases);
	tenon_buffer_fini(&cases);
	return err;
}

int link_embed_write(const struct link_work *w)
{
	struct tenon_buffer text = TENON_BUFFER_INIT, record = TENON_BUFFER_INIT;
	const bool is_apart = link_embed_is_apart(w), reads = w->blob_size && !is_apart;
	int err;

	tenon_buffer_printf(&text, "\t.section .rodata\n");
	if (is_apart)
		put_stand_in(&text, w);
	if (reads)
		put_symbol(&text, symbol_of(w), w->folder, "imports");
	put_symbol(&text, ARTIFACT_RECORD_SYMBOL, w->folder, "record");
	if (has_hashes(w))
		put_symbol(&text, PAYLOAD_HASHES_SYMBOL, w->folder, "hashes");
	if (!w->request->system)
		put_note(&text);
	err = put_cases(&text, w);
	tenon_buffer_printf(&text, "\t.section .note.GNU-stack,\"\",%%progbits\n");
	if (!err)
		err = artifact_record_write(&w->set, &record);
	if (!err && has_hashes(w))
		err = write_hashes(w);
	if (!err && reads)
		err = write_blob(w);
	if (!err)
		err = write_file(w, "record", &record);
	if (!err)
		err = write_file(w, LINK_EMBED_SOURCE, &text);
	tenon_buffer_fini(&record);
	tenon_buffer_fini(&text);
	return err;
}

/* ---- a tree that is put into what was linked */

int link_embed_put(const struct link_work *w, struct link_output *out)
{
	const struct elf_content tree = { .symbol = symbol_of(w),
					  .bytes = { NULL, (size_t)w->blob_size } };
	struct elf_file elf;
	size_t gap;
	int err;

	err = elf_open(&elf, out->linked, w->request->output);
	if (!err)
		err = elf_replace(&elf, &tree, 1, &out->moved, &gap);
	if (err)
		return err;
	out->parts = calloc(2 * w->cut_count + 3, sizeof(*out->parts));
	if (!out->parts)
		return tenon_error(-TENON_E_NOMEM, "no memory for the parts of a file");
	out->parts[0] = (struct tenon_slice){ out->moved.data, gap };
	out->count = 1 + blob_parts(w, out->parts + 1);
	out->parts[out->count++] =
		(struct tenon_slice){ out->moved.data + gap, out->moved.size - gap };
	return 0;
}
