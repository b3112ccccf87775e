/* SPDX-License-Identifier: MIT */
/* Make modules that can only be saved of payloads and imports, and write their blob. */
#include "link/module/link_tree.h"

#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>
#include <tenon/backend/module_kind.h>
#include <tenon/error.h>

#include "lib/brief_errors.h"
#include "runtime/blob/blob_number.h"

int link_tree_create(struct link_tree *t, size_t count)
{
	t->modules = calloc(count ? count : 1, sizeof(*t->modules));
	t->count = count;
	if (!t->modules)
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu modules", count);
	return 0;
}

int link_tree_import(struct link_tree *t, size_t parent, size_t child)
{
	struct link_module *m = &t->modules[parent];
	size_t *bigger;

	bigger = reallocarray(m->imports, m->import_count + 1, sizeof(*bigger));
	if (!bigger)
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu imports",
				   m->import_count + 1);
	m->imports = bigger;
	m->imports[m->import_count++] = child;
	return 0;
}

void link_tree_fini(struct link_tree *t)
{
	size_t i;

	for (i = 0; i < t->count && t->modules; i++)
		free(t->modules[i].imports);
	free(t->modules);
	free(t->cuts);
	memset(t, 0, sizeof(*t));
}

static bool is_imported(const struct link_tree *t, size_t module)
{
	const struct link_module *m;
	size_t i;

	for (m = t->modules; m < t->modules + t->count; m++)
		for (i = 0; i < m->import_count; i++)
			if (m->imports[i] == module)
				return true;
	return false;
}

static struct tenon_slice name_of(const struct link_module *m)
{
	return m->name ? tenon_slice_of(m->name) : m->kind;
}

static int two_roots(struct tenon_slice first, struct tenon_slice second)
{
	return tenon_error(-TENON_E_VALUE,
			   "\"%.*s\" and \"%.*s\" are both imported by nothing, and one module is "
			   "the root: let it import the other (--import)",
			   (int)first.size, first.data, (int)second.size, second.data);
}

/* Find the module that no other imports. */
static int find_root(const struct link_tree *t, size_t *root)
{
	const struct link_module *m = t->modules;
	size_t i;

	*root = SIZE_MAX;
	for (i = 0; i < t->count; i++) {
		if (is_imported(t, i))
			continue;
		if (*root != SIZE_MAX)
			return two_roots(name_of(&m[*root]), name_of(&m[i]));
		*root = i;
	}
	if (*root == SIZE_MAX)
		return tenon_error(-TENON_E_CYCLE,
				   "every module is imported by another, so there is no root: "
				   "remove an --import");
	return 0;
}

/* ---- modules that can only be saved */

struct saved_module {
	struct tenon_module base;
	struct tenon_slice payload;
	struct link_tree *tree;
};

static int save(struct tenon_module *m, struct tenon_buffer *out)
{
	const struct saved_module *s = (const struct saved_module *)m;
	struct link_tree *t = s->tree;

	if (!t->cut_least || s->payload.size < t->cut_least)
		return tenon_buffer_slice(out, s->payload);
	t->cuts[t->cut_count++] = (struct link_cut){ out->size, s->payload };
	return 0;
}

static const struct tenon_module_ops saved_ops = { .save = save };

static void release(struct tenon_module **modules, size_t count)
{
	size_t i;

	for (i = 0; modules && i < count; i++)
		tenon_object_unref(modules[i]);
	free(modules);
}

/* Make a module of each entry, without its imports. */
static int make_modules(struct link_tree *t, struct tenon_module ***out)
{
	struct tenon_module **modules = calloc(t->count, sizeof(struct tenon_module *));
	struct saved_module *m;
	size_t i;

	for (i = 0; modules && i < t->count; i++) {
		m = calloc(1, sizeof(*m));
		if (!m)
			break;
		tenon_module_init(&m->base, &saved_ops, t->modules[i].kind,
				  t->modules[i].library ? TENON_MODULE_EXPORTABLE
							: TENON_MODULE_SERIALIZABLE);
		m->payload = t->modules[i].payload;
		m->tree = t;
		modules[i] = &m->base;
	}
	if (!modules || i < t->count) {
		release(modules, t->count);
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu modules", t->count);
	}
	*out = modules;
	return 0;
}

static int import_all(const struct link_tree *t, struct tenon_module **modules)
{
	size_t i, at;
	int err = 0;

	for (i = 0; i < t->count && !err; i++)
		for (at = 0; at < t->modules[i].import_count && !err; at++)
			err = tenon_module_import(modules[i], modules[t->modules[i].imports[at]]);
	return err;
}

/* Find the number of each module. */
static int look_up(const struct blob_numbers *n, struct tenon_module **modules, size_t count,
		   uint64_t *numbers)
{
	size_t i, at;

	for (i = 0; i < count; i++) {
		for (at = 0; at < n->count && n->modules[n->first[at]] != modules[i]; at++)
			;
		if (at == n->count)
			return tenon_error(-TENON_E_VALUE,
					   "\"%.*s\" is not below the root of the tree",
					   (int)modules[i]->kind.size, modules[i]->kind.data);
		numbers[i] = at;
	}
	return 0;
}

static int make_cuts(struct link_tree *t)
{
	if (!t->cut_least)
		return 0;
	t->cuts = calloc(t->count, sizeof(*t->cuts));
	return t->cuts ? 0 : tenon_error(-TENON_E_NOMEM, "no memory for %zu payloads", t->count);
}

int link_tree_write(struct link_tree *t, enum tenon_generation generation, struct tenon_buffer *out,
		    uint64_t *numbers)
{
	struct blob_numbers n = { 0 };
	struct tenon_module **modules;
	size_t root;
	int err;

	err = find_root(t, &root);
	if (!err)
		err = make_cuts(t);
	if (err)
		return err;
	err = make_modules(t, &modules);
	if (err)
		return err;
	err = import_all(t, modules);
	if (!err)
		err = blob_number(&n, modules[root]);
	if (!err)
		err = look_up(&n, modules, t->count, numbers);
	if (!err)
		err = blob_write(&n, generation, out);
	blob_numbers_fini(&n);
	release(modules, t->count);
	return err;
}

/* ---- payloads that are left out */

static void set_u64(struct tenon_buffer *blob, size_t at, uint64_t v)
{
	size_t i;

	for (i = 0; i < 8; i++)
		blob->data[at + i] = (char)(v >> 8 * i);
}

uint64_t link_cuts_close(const struct link_cut *cuts, size_t count, struct tenon_buffer *blob)
{
	uint64_t size = blob->size;
	size_t i;

	for (i = 0; i < count; i++) {
		set_u64(blob, cuts[i].at - 8, cuts[i].bytes.size);
		size += cuts[i].bytes.size;
	}
	if (count)
		set_u64(blob, 0, size - 8);
	return size;
}

size_t link_cuts_parts(const struct link_cut *cuts, size_t count, const struct tenon_buffer *blob,
		       struct tenon_slice *parts)
{
	size_t i, from = 0, n = 0;

	for (i = 0; i < count; i++) {
		parts[n++] = (struct tenon_slice){ blob->data + from, cuts[i].at - from };
		parts[n++] = cuts[i].bytes;
		from = cuts[i].at;
	}
	if (from < blob->size)
		parts[n++] = (struct tenon_slice){ blob->data + from, blob->size - from };
	return n;
}

/* Number the modules as they are listed. Fails if memory runs out, and leaves @n to be freed. */
static int keep_numbers(const struct link_tree *t, struct blob_numbers *n)
{
	const struct link_module *m = t->modules;
	size_t i, at, children = 0;

	for (i = 0; i < t->count; i++)
		children += m[i].import_count;
	n->count = n->module_count = t->count;
	n->library = SIZE_MAX;
	n->first = calloc(t->count, sizeof(*n->first));
	n->rows = calloc(t->count + 1, sizeof(*n->rows));
	n->children = calloc(children + 1, sizeof(*n->children));
	if (!n->first || !n->rows || !n->children)
		return tenon_error(-TENON_E_NOMEM, "no memory to number %zu modules", t->count);
	children = 0;
	for (i = 0; i < t->count; i++) {
		n->first[i] = i;
		if (m[i].library)
			n->library = i;
		for (at = 0; at < m[i].import_count; at++)
			n->children[children++] = m[i].imports[at];
		n->rows[i + 1] = children;
	}
	return 0;
}

int link_tree_write_numbered(struct link_tree *t, enum tenon_generation generation,
			     struct tenon_buffer *out)
{
	struct blob_numbers n = { 0 };
	struct tenon_module **modules;
	int err;

	err = make_modules(t, &modules);
	if (err)
		return err;
	err = keep_numbers(t, &n);
	n.modules = modules;
	if (!err)
		err = blob_write(&n, generation, out);
	n.modules = NULL;
	blob_numbers_fini(&n);
	release(modules, t->count);
	return err;
}
