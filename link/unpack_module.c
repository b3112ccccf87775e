/* SPDX-License-Identifier: MIT */
/* tenon_link_unpack(): the parts of a module as files. */
#include "link/unpack.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/brief_errors.h"
#include "link/module/link_tree.h"

static int make_folder(const char *path)
{
	struct stat st;

	if (!mkdir(path, 0777))
		return 0;
	if (errno == EEXIST && !stat(path, &st) && S_ISDIR(st.st_mode))
		return 0;
	return tenon_error(-TENON_E_IO, "%s: cannot make the folder: %s", path, strerror(errno));
}

/*
 * Test whether writing the tree again gives the same bytes. Blobs of old versions that list no tree
 * are written with one, which means the same.
 */
static int compare(const struct unpack *u, bool *same)
{
	const struct import_blob *tree = &u->host.tree;
	struct tenon_buffer blob = TENON_BUFFER_INIT;
	struct link_tree t = { 0 };
	uint64_t from, to, at;
	size_t i;
	int err;

	err = link_tree_create(&t, u->count);
	for (i = 0; i < u->count && !err; i++) {
		t.modules[i].library = i == tree->library;
		t.modules[i].kind =
			t.modules[i].library ? tenon_slice_of("_lib") : tree->entries[i].kind;
		t.modules[i].payload = tree->entries[i].bytes;
		link_blob_imports(tree, i, &from, &to);
		for (at = from; at < to && !err; at++)
			err = link_tree_import(&t, i, (size_t)link_blob_child(tree, at));
	}
	if (!err)
		err = link_tree_write_numbered(&t, u->host.source.generation, &blob);
	*same = !err && blob.size <= u->host.blob.size &&
		!memcmp(blob.data, u->host.blob.data, blob.size);
	tenon_buffer_fini(&blob);
	link_tree_fini(&t);
	return err;
}

/* List the parts for programs. */
static int make_result(struct unpack *u)
{
	const struct tenon_link_part **list = calloc(u->count + 1, sizeof(*list));
	struct unpack_part *p;
	size_t i;

	if (!list)
		return tenon_error(-TENON_E_NOMEM, "no memory to list %zu parts", u->count);
	for (i = 0; i < u->count; i++) {
		p = &u->parts[i];
		list[i] = &p->part;
		p->part = (struct tenon_link_part){
			sizeof(p->part), i, tenon_slice_of(ARTIFACT_NATIVE), UNPACK_HOST, "", 0
		};
		if (unpack_is_library(u, i))
			continue;
		p->part.kind = u->host.tree.entries[i].kind;
		p->part.file = p->file;
		p->part.table = p->table;
		p->part.bytes = u->host.tree.entries[i].bytes.size;
	}
	u->result.size = sizeof(u->result);
	u->result.machine = u->host.machine;
	u->result.manifest = UNPACK_MANIFEST;
	u->result.host = UNPACK_HOST;
	u->result.parts = list;
	u->result.part_count = u->count;
	return 0;
}

int tenon_link_unpack(const char *file, const char *folder, const struct tenon_link_unpacked **out)
{
	struct unpack *u = calloc(1, sizeof(*u));
	int err;

	*out = NULL;
	if (!u)
		return tenon_error(-TENON_E_NOMEM, "no memory to take %s apart", file);
	u->folder = folder;
	u->result.same = true;
	err = link_host_open(file, &u->host);
	if (!err)
		err = make_folder(folder);
	if (!err)
		err = unpack_files(u);
	if (!err && u->host.symbols.has_blob)
		err = compare(u, &u->result.same);
	if (!err)
		err = unpack_manifest(u);
	if (!err)
		err = make_result(u);
	if (err)
		tenon_link_unpacked_free(&u->result);
	else
		*out = &u->result;
	return err;
}

void tenon_link_unpacked_free(const struct tenon_link_unpacked *unpacked)
{
	struct unpack *u = (struct unpack *)(uintptr_t)unpacked;
	struct artifact *a;
	size_t i;

	if (!u)
		return;
	for (i = 0; i < u->count; i++) {
		a = &u->parts[i].names;
		free(a->codegen_id);
		free(a->loader);
		free(a->target_key);
		free(a->file_name);
		free(a->device);
	}
	free(u->parts);
	free((void *)(uintptr_t)u->result.parts);
	link_host_fini(&u->host);
	free(u);
}
