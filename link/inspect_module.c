/* SPDX-License-Identifier: MIT */
/* tenon_link_inspect(): the tree of a file, with the names and hashes that Tenon writes beside it. */
#include <stdlib.h>

#include "lib/brief_errors.h"
#include "lib/option.h"
#include "link/inspection.h"
#include "link/module/link_host.h"
#include "runtime/library/inspect.h"

/* Test whether entry @number of the import tree is what a row shows. */
static bool is_entry(const struct link_host *h, uint64_t number, const struct tenon_link_module *m)
{
	if (number >= h->tree.count)
		return false;
	return *m->machine ? number == h->tree.library
			   : tenon_slice_equal(m->kind, h->tree.entries[number].kind);
}

/*
 * Find the number of each row in the import tree: the rows have their imports in the same order as the file. @next counts
 * the imports of each row.
 */
static void number_rows(const struct link_host *h, struct inspection *n, uint64_t *next)
{
	const size_t count = n->result.module_count;
	struct tenon_link_module *m;
	uint64_t from, to, number;
	size_t i, parent;

	for (i = 0; i < count; i++) {
		m = &n->rows[i]->module;
		number = 0;
		if (m->parent != SIZE_MAX) {
			parent = n->rows[m->parent]->module.number;
			if (parent == SIZE_MAX)
				continue;
			link_blob_imports(&h->tree, parent, &from, &to);
			from += next[m->parent]++;
			if (from >= to)
				continue;
			number = link_blob_child(&h->tree, from);
		}
		if (is_entry(h, number, m))
			m->number = (size_t)number;
	}
}

static void take_names(const struct link_host *h, const struct artifact *const *artifact_of,
		       struct inspection_row *r)
{
	struct tenon_link_module *m = &r->module;
	const struct artifact *a;

	if (m->number == SIZE_MAX || *m->machine)
		return;
	if (h->has_hashes && m->number < h->hashes.count)
		sha256_digits(h->hashes.at + m->number * SHA256_SIZE, r->texts.sha256);
	a = artifact_of[m->number];
	if (!a)
		return;
	m->codegen_id = a->codegen_id;
	m->target_key = a->target_key;
	m->file_name = a->file_name;
	m->device = a->device;
}

/* Copy names and hashes from the file to the rows of their modules. Return: 0; -TENON_E_NOMEM. */
static int take_all_names(const struct link_host *h, struct inspection *n)
{
	uint64_t *next = calloc(n->result.module_count, sizeof(*next));
	const struct artifact **artifact_of = calloc(h->tree.count + 1, sizeof(*artifact_of));
	const struct artifact *a;
	size_t i;
	int err = 0;

	if (next && artifact_of) {
		for (i = 0; i < h->names.count; i++) {
			a = &h->names.items[i];
			if (!artifact_is_native(a) && a->module < h->tree.count)
				artifact_of[a->module] = a;
		}
		number_rows(h, n, next);
		for (i = 0; i < n->result.module_count; i++)
			take_names(h, artifact_of, n->rows[i]);
	} else {
		err = tenon_error(-TENON_E_NOMEM, "no memory for the names in %s", h->path);
	}
	free(artifact_of);
	free(next);
	return err;
}

/* Unreadable names and hashes are left out without an error: tenon_link_verify() reports them. */
static int read_names(const char *file, struct tenon_slice bytes, struct inspection *n)
{
	struct link_host h = { 0 };
	int err = link_host_read(file, bytes, &h);

	if (!err && h.symbols.has_blob)
		err = take_all_names(&h, n);
	if (err && err != -TENON_E_NOMEM) {
		tenon_error_clear();
		err = 0;
	}
	/* rows point to the names, which no longer need the file */
	n->names = h.names;
	h.names = (struct artifact_set){ NULL, 0 };
	link_host_fini(&h);
	return err;
}

int tenon_link_inspect(const char *file, const struct tenon_link_inspection **out)
{
	struct inspection *n = NULL;
	struct tenon_module *root = NULL;
	struct tenon_object *keep;
	struct tenon_slice bytes;
	int err;

	*out = NULL;
	err = inspect_file(file, &keep, &bytes, &root);
	if (!err)
		err = inspection_make(root, &n);
	if (!err) {
		n->bytes = bytes;
		n->keep = keep;
		tenon_object_ref(keep);
		n->result.file_size = bytes.size;
		if (OPTION_ON(LINK))
			err = read_names(file, bytes, n);
	}
	if (err && n)
		tenon_link_inspection_free(&n->result);
	else if (!err)
		*out = &n->result;
	tenon_object_unref(root);
	tenon_object_unref(keep);
	return err;
}
