/* SPDX-License-Identifier: MIT */
/* Lists of names, and which of the functions that models call are the machine's own. */
#include <stdlib.h>
#include <string.h>
#include <tenon/error.h>

#include "runtime/relax/relax_builtin_list.h"
#include "tools/needs/needs.h"

static int no_memory(void)
{
	return tenon_error(-TENON_E_NOMEM, "no memory for the names in a file");
}

/* Append an item. @why: allocated; moved to the list, also on failure; NULL for none. */
static int append(struct needs_list *l, struct tenon_slice name, char *why)
{
	struct needs_item *bigger = l->items;

	if (!(l->count & (l->count - 1)))
		bigger = realloc(l->items, (l->count ? 2 * l->count : 1) * sizeof(*bigger));
	if (bigger) {
		l->items = bigger;
		bigger[l->count] = (struct needs_item){ strndup(name.data, name.size), why };
		if (bigger[l->count].name) {
			l->count++;
			return 0;
		}
	}
	free(why);
	return no_memory();
}

int needs_add(struct needs *n, enum needs_sort sort, struct tenon_slice name)
{
	return append(&n->lists[sort], name, NULL);
}

int needs_add_option(struct needs *n, struct tenon_slice option, const char *file, const char *part)
{
	struct needs_list *l = &n->lists[NEEDS_OPTION];
	char *why;
	size_t i;

	/* options are few, and the first reason is enough */
	for (i = 0; i < l->count; i++)
		if (tenon_slice_equal(tenon_slice_of(l->items[i].name), option))
			return 0;
	if (asprintf(&why, "%s: %s", file, part) < 0)
		return no_memory();
	return append(l, option, why);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct needs_item *)a)->name, ((const struct needs_item *)b)->name);
}

/* Sort a list, and drop what is there twice. */
static void settle_list(struct needs_list *l)
{
	size_t i, kept = 0;

	if (l->count)
		qsort(l->items, l->count, sizeof(*l->items), by_name);
	for (i = 0; i < l->count; i++) {
		if (kept && !by_name(&l->items[kept - 1], &l->items[i])) {
			free(l->items[i].name);
			free(l->items[i].why);
		} else {
			l->items[kept++] = l->items[i];
		}
	}
	l->count = kept;
}

static bool is_in(const struct needs_list *l, const char *name)
{
	struct needs_item wanted = { .name = (char *)(uintptr_t)name };

	return l->count && bsearch(&wanted, l->items, l->count, sizeof(wanted), by_name);
}

static bool is_one_of(const char *const *names, const char *name)
{
	for (; *names; names++)
		if (!strcmp(*names, name))
			return true;
	return false;
}

/* clang-format off */
#define NAME(name, function) name,
static const char *const builtins[] = { RELAX_BUILTINS_EACH(NAME) NULL };
static const char *const language_builtins[] = { RELAX_LANGUAGE_BUILTINS_EACH(NAME) NULL };
/* clang-format on */

static int sort_function(struct needs *n, const char *name)
{
	const bool language = is_one_of(language_builtins, name);
	int err;

	if (is_in(&n->lists[NEEDS_PROVIDED], name))
		return 0;
	if (!language && !is_one_of(builtins, name))
		return needs_add(n, NEEDS_FUNCTION, tenon_slice_of(name));
	err = needs_add(n, NEEDS_BUILTIN, tenon_slice_of(name));
	return err || !language
		       ? err
		       : needs_add_option(n, tenon_slice_of("LANGUAGE_MODELS"), "calls", name);
}

int needs_settle(struct needs *n)
{
	const struct needs_list *called = &n->lists[NEEDS_CALLED];
	size_t i;
	int err = 0;

	settle_list(&n->lists[NEEDS_CALLED]);
	settle_list(&n->lists[NEEDS_PROVIDED]);
	for (i = 0; i < called->count && !err; i++)
		err = sort_function(n, called->items[i].name);
	for (i = 0; i < NEEDS_SHOWN; i++)
		settle_list(&n->lists[i]);
	return err;
}

void needs_fini(struct needs *n)
{
	size_t sort, i;

	for (sort = 0; sort < NEEDS_SORTS; sort++) {
		for (i = 0; i < n->lists[sort].count; i++) {
			free(n->lists[sort].items[i].name);
			free(n->lists[sort].items[i].why);
		}
		free(n->lists[sort].items);
	}
}
