/* SPDX-License-Identifier: MIT */
/* Collect the modules of a tree and give them the numbers that TVM's reader expects. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <tenon/backend/module_kind.h>

#include "lib/array_room.h"
#include "lib/brief_errors.h"
#include "lib/string_map.h"
#include "runtime/core/module_index.h"
#include "runtime/blob/blob_number.h"

#define NO_NUMBER SIZE_MAX

struct numbering {
	struct blob_numbers *n;
	size_t room;		  /* capacity of the list of modules */
	struct string_map places; /* address of a module to its index plus one */
	size_t *number;		  /* of each module */
	bool *seen;
	size_t *stack;
	size_t depth;
	size_t *boundary; /* exportable modules whose importers are not exportable */
	size_t boundary_count;
	size_t child_count;
};

static int no_memory(const struct numbering *t)
{
	return tenon_error(-TENON_E_NOMEM, "no memory to number %zu modules", t->n->module_count);
}

static int collect(void *context, struct tenon_module *m)
{
	struct numbering *t = context;

	if (!array_reserve(t->n->modules, t->room, t->n->module_count + 1))
		return no_memory(t);
	t->n->modules[t->n->module_count++] = m;
	return 0;
}

static struct tenon_slice key_of(struct tenon_module **m)
{
	return (struct tenon_slice){ (const char *)m, sizeof(*m) };
}

static int allocate(struct numbering *t)
{
	size_t i, count = t->n->module_count;
	void **slot;

	t->number = malloc(count * sizeof(*t->number));
	t->seen = calloc(count, sizeof(*t->seen));
	t->stack = malloc(count * sizeof(*t->stack));
	t->boundary = malloc(count * sizeof(*t->boundary));
	t->n->first = malloc(count * sizeof(*t->n->first));
	t->n->rows = malloc((count + 1) * sizeof(*t->n->rows));
	if (!t->number || !t->seen || !t->stack || !t->boundary || !t->n->first || !t->n->rows ||
	    string_map_reserve(&t->places, count))
		return no_memory(t);
	for (i = 0; i < count; i++) {
		slot = string_map_slot(&t->places, key_of(&t->n->modules[i]));
		if (!slot)
			return no_memory(t);
		*slot = (void *)(uintptr_t)(i + 1);
		t->number[i] = NO_NUMBER;
	}
	return 0;
}

static size_t place_of(const struct numbering *t, struct tenon_module *m)
{
	return (size_t)(uintptr_t)string_map_get(&t->places, key_of(&m)) - 1;
}

static bool exportable(const struct tenon_module *m)
{
	return m->properties & TENON_MODULE_EXPORTABLE;
}

static void push_imports(struct numbering *t, const struct tenon_module *m)
{
	size_t i, place;

	for (i = 0; i < m->import_count; i++) {
		place = place_of(t, m->imports[i]);
		if (t->seen[place])
			continue;
		t->seen[place] = true;
		t->stack[t->depth++] = place;
	}
}

static void give_number(struct numbering *t, size_t place)
{
	t->n->first[t->n->count] = place;
	t->number[place] = t->n->count++;
}

/*
 * Visit all modules reached without passing through the library; record where the library begins.
 */
static void number_above_library(struct numbering *t)
{
	size_t place;

	t->seen[0] = true;
	t->stack[t->depth++] = 0;
	while (t->depth) {
		place = t->stack[--t->depth];
		if (exportable(t->n->modules[place])) {
			t->boundary[t->boundary_count++] = place;
			continue;
		}
		give_number(t, place);
		push_imports(t, t->n->modules[place]);
	}
}

static void number_library_and_below(struct numbering *t)
{
	size_t place;

	t->n->library = t->n->count;
	t->n->first[t->n->count++] = t->boundary[0];
	memcpy(t->stack, t->boundary, t->boundary_count * sizeof(*t->stack));
	t->depth = t->boundary_count;
	while (t->depth) {
		place = t->stack[--t->depth];
		if (exportable(t->n->modules[place]))
			t->number[place] = t->n->library;
		else
			give_number(t, place);
		push_imports(t, t->n->modules[place]);
	}
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void add_children(struct numbering *t, size_t place)
{
	const struct tenon_module *m = t->n->modules[place];
	size_t i, number;

	for (i = 0; i < m->import_count; i++) {
		number = t->number[place_of(t, m->imports[i])];
		/* Modules of the library import each other: skip these edges. */
		if (number != t->number[place])
			t->n->children[t->child_count++] = number;
	}
}

/* List the imports of the modules with one number, sorted and unique. */
static void list_children(struct numbering *t, size_t number)
{
	uint64_t *list = t->n->children;
	size_t from = t->child_count, i, to;

	if (number != t->n->library)
		add_children(t, t->n->first[number]);
	for (i = 0; number == t->n->library && i < t->n->module_count; i++)
		if (t->number[i] == number)
			add_children(t, i);
	to = t->child_count;
	if (to > from)
		qsort(list + from, to - from, sizeof(*list), by_value);
	for (t->child_count = i = from; i < to; i++)
		if (t->child_count == from || list[t->child_count - 1] != list[i])
			list[t->child_count++] = list[i];
}

/*
 * Convert import edges to numbers. Return false when an import has a smaller number than its
 * importer.
 */
static bool list_all(struct numbering *t)
{
	struct blob_numbers *n = t->n;
	bool forward = true;
	size_t i;

	t->child_count = 0;
	n->rows[0] = 0;
	for (i = 0; i < n->count; i++) {
		list_children(t, i);
		n->rows[i + 1] = t->child_count;
		if (n->rows[i + 1] > n->rows[i] && n->children[n->rows[i]] < i)
			forward = false;
	}
	return forward;
}

/*
 * Modules form no cycle, so merging the library's modules made this one. Among the modules that
 * could not be sorted, an importer of the library is therefore also below it.
 */
static int cycle(const struct numbering *t, const size_t *parents)
{
	const struct blob_numbers *n = t->n;
	const struct tenon_module *m = n->modules[0];
	uint64_t at;
	size_t i;

	for (i = 0; i < n->count; i++)
		for (at = n->rows[i]; parents[i] && at < n->rows[i + 1]; at++)
			if (n->children[at] == n->library)
				m = n->modules[n->first[i]];
	return tenon_error(
		-TENON_E_CYCLE,
		"modules that are compiled into the shared object become one library, and "
		"that library would be among its own imports, by way of \"%.*s\"",
		(int)m->kind.size, m->kind.data);
}

/* Renumber topologically, importers first; keep the order otherwise. */
static int sort_numbers(struct numbering *t)
{
	struct blob_numbers *n = t->n;
	size_t *parents, *order = t->stack, *fresh = t->boundary, i, done = 0, found = 0;
	uint64_t at;
	int err = 0;

	parents = calloc(n->count, sizeof(*parents));
	if (!parents)
		return no_memory(t);
	for (at = 0; at < n->rows[n->count]; at++)
		parents[n->children[at]]++;
	for (i = 0; i < n->count; i++)
		if (!parents[i])
			order[found++] = i;
	for (; done < found; done++)
		for (at = n->rows[order[done]]; at < n->rows[order[done] + 1]; at++)
			if (!--parents[n->children[at]])
				order[found++] = (size_t)n->children[at];
	if (found < n->count) {
		err = cycle(t, parents);
		goto free_parents;
	}
	for (i = 0; i < n->count; i++)
		fresh[order[i]] = i;
	for (i = 0; i < n->module_count; i++)
		t->number[i] = fresh[t->number[i]];
	for (i = 0; i < n->module_count; i++)
		n->first[t->number[i]] = i;
	if (n->library != SIZE_MAX)
		n->library = fresh[n->library];
	list_all(t);

free_parents:
	free(parents);
	return err;
}

static int number_all(struct numbering *t)
{
	size_t i, imports = 0;

	t->n->library = SIZE_MAX;
	number_above_library(t);
	if (t->boundary_count)
		number_library_and_below(t);
	for (i = 0; i < t->n->module_count; i++)
		imports += t->n->modules[i]->import_count;
	t->n->children = malloc((imports + 1) * sizeof(*t->n->children));
	if (!t->n->children)
		return no_memory(t);
	return list_all(t) ? 0 : sort_numbers(t);
}

int blob_number(struct blob_numbers *n, struct tenon_module *root)
{
	struct numbering t = { .n = n };
	int err;

	err = collect(&t, root);
	if (!err)
		err = module_walk_imports(root, collect, &t);
	if (!err)
		err = allocate(&t);
	if (!err)
		err = number_all(&t);
	string_map_fini(&t.places);
	free(t.number);
	free(t.seen);
	free(t.stack);
	free(t.boundary);
	return err;
}

void blob_numbers_fini(struct blob_numbers *n)
{
	free(n->modules);
	free(n->first);
	free(n->rows);
	free(n->children);
	memset(n, 0, sizeof(*n));
}
