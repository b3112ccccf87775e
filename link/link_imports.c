/* SPDX-License-Identifier: MIT */
/* Make the import tree that a request and its artifacts describe. */
#include <stdlib.h>
#include <string.h>

#include "lib/brief_errors.h"
#include "link/link_request.h"
#include "runtime/blob/import_blob.h"

#define NONE SIZE_MAX

/* The modules of a tree, and which artifacts they are. */
struct imports {
	struct link_work *w;
	struct link_tree tree;
	size_t *module;	   /* of each artifact */
	uint64_t *numbers; /* of each module */
	size_t library;	   /* NONE: there is no code for the host */
	bool *is_child;	   /* an --import names it as a child */
	bool *seen;	   /* a search has come to this module */
	size_t *found; /* modules that a search has come to, in the order in which it visits them */
};

/* All native code is one module; each payload is one. */
static int make_modules(struct imports *im)
{
	const struct artifact_set *set = &im->w->set;
	struct link_module *m;
	size_t i, count = 0;
	int err;

	err = link_tree_create(&im->tree, set->count);
	im->module = calloc(set->count, sizeof(*im->module));
	im->numbers = calloc(set->count, sizeof(*im->numbers));
	im->is_child = calloc(set->count, sizeof(*im->is_child));
	im->seen = calloc(set->count, sizeof(*im->seen));
	im->found = calloc(set->count, sizeof(*im->found));
	if (!err && (!im->module || !im->numbers || !im->is_child || !im->seen || !im->found))
		err = tenon_error(-TENON_E_NOMEM, "no memory for %zu modules", set->count);
	im->library = NONE;
	for (i = 0; i < set->count && !err; i++) {
		if (artifact_is_native(&set->items[i]) && im->library != NONE) {
			im->module[i] = im->library;
			continue;
		}
		im->module[i] = count;
		m = &im->tree.modules[count++];
		m->library = artifact_is_native(&set->items[i]);
		m->kind = tenon_slice_of(m->library ? "_lib" : set->items[i].loader);
		m->name = m->library ? NULL : set->items[i].file_name;
		m->payload = artifact_payload(&set->items[i]);
		if (m->library)
			im->library = im->module[i];
	}
	im->tree.count = count;
	return err;
}

static int find(const struct imports *im, const char *name, size_t *out)
{
	size_t at = artifact_find(&im->w->set, name);

	if (at != SIZE_MAX)
		*out = im->module[at];
	else if (!strcmp(name, "_lib") && im->library != NONE)
		*out = im->library;
	else
		return tenon_error(-TENON_E_NOT_FOUND,
				   "--import: no file is called \"%s\"; give the name of a file "
				   "without its folder, or _lib for the code of the host",
				   name);
	return 0;
}

/* Test whether a module imports another, directly or not, or is it. */
static bool reaches(struct imports *im, size_t module, size_t wanted)
{
	const struct link_module *m;
	size_t i, done, count = 1;

	memset(im->seen, 0, im->tree.count * sizeof(*im->seen));
	im->found[0] = module;
	im->seen[module] = true;
	for (done = 0; done < count && !im->seen[wanted]; done++) {
		m = &im->tree.modules[im->found[done]];
		for (i = 0; i < m->import_count; i++) {
			if (im->seen[m->imports[i]])
				continue;
			im->seen[m->imports[i]] = true;
			im->found[count++] = m->imports[i];
		}
	}
	return im->seen[wanted];
}

static int add_named(struct imports *im)
{
	const struct link_request *r = im->w->request;
	size_t i, parent, child;
	int err = 0;

	for (i = 0; i < r->import_count && !err; i++) {
		err = find(im, r->imports[i].left, &parent);
		if (!err)
			err = find(im, r->imports[i].right, &child);
		if (!err && parent == child)
			err = tenon_error(-TENON_E_CYCLE,
					  "--import %s:%s: a module cannot import itself",
					  r->imports[i].left, r->imports[i].right);
		else if (!err && reaches(im, child, parent))
			err = tenon_error(
				-TENON_E_CYCLE,
				"--import %s:%s: %s imports %s already, itself or through "
				"another, and modules cannot import each other: remove "
				"one of the two",
				r->imports[i].left, r->imports[i].right, r->imports[i].right,
				r->imports[i].left);
		if (!err)
			err = link_tree_import(&im->tree, parent, child);
		if (!err)
			im->is_child[child] = true;
	}
	return err;
}

static bool is_root(const struct link_input *in)
{
	return in->is_graph || in->is_constants;
}

/* A graph calls the code of the host, and a module of constants passes it parameters. */
static int add_roots(struct imports *im)
{
	const struct artifact_set *set = &im->w->set;
	size_t i;
	int err = 0;

	for (i = 0; im->library != NONE && i < set->count && !err; i++)
		if (is_root(link_input_of(im->w, &set->items[i]))) {
			err = link_tree_import(&im->tree, im->module[i], im->library);
			im->is_child[im->library] = true;
		}
	return err;
}

/* The code of the host imports every payload that --import gives no other place. */
static int add_others(struct imports *im)
{
	size_t i;
	int err = 0;

	for (i = 0; im->library != NONE && i < im->tree.count && !err; i++)
		if (i != im->library && !im->is_child[i] && !reaches(im, i, im->library))
			err = link_tree_import(&im->tree, im->library, i);
	return err;
}

/* Read what was written: the file must hold what TVM and Tenon accept. */
static int check_blob(const struct link_work *w)
{
	const struct blob_source source = { .file = w->request->output,
					    .generation = w->request->generation,
					    .inspect = true };
	struct import_blob tree = { 0 };
	int err;

	err = import_blob_read(&tree, (struct tenon_slice){ w->blob.data, w->blob.size }, &source);
	import_blob_fini(&tree);
	return err;
}

static int number(struct imports *im)
{
	struct link_work *w = im->w;
	size_t i;
	int err;

	if (w->request->generation == TENON_GENERATION_FFI)
		im->tree.cut_least = LINK_CUT_LEAST;
	err = link_tree_write(&im->tree, w->request->generation, &w->blob, im->numbers);
	for (i = 0; i < w->set.count && !err; i++)
		w->set.items[i].module = im->numbers[im->module[i]];
	/* TVM writes no blob for a module without imports. */
	if (!err && im->tree.count == 1 && im->library != NONE)
		w->blob.size = 0;
	else if (!err)
		err = check_blob(w);
	if (err)
		return err;
	w->cuts = im->tree.cuts;
	w->cut_count = im->tree.cut_count;
	im->tree.cuts = NULL;
	w->blob_size = link_cuts_close(w->cuts, w->cut_count, &w->blob);
	return 0;
}

int link_imports(struct link_work *w)
{
	struct imports im = { .w = w };
	int err;

	err = make_modules(&im);
	if (!err)
		err = add_named(&im);
	if (!err)
		err = add_roots(&im);
	if (!err)
		err = add_others(&im);
	if (!err)
		err = number(&im);
	link_tree_fini(&im.tree);
	free(im.module);
	free(im.numbers);
	free(im.is_child);
	free(im.seen);
	free(im.found);
	return err;
}
