/* SPDX-License-Identifier: MIT */
/* Add, find, sort and group artifacts. */
#include "link/module/artifact.h"

#include <stdlib.h>
#include <string.h>
#include <tenon/error.h>

#include "lib/brief_errors.h"
#include "lib/file_map.h"

static void artifact_fini(struct artifact *a)
{
	free(a->codegen_id);
	free(a->loader);
	free(a->target_key);
	free(a->file_name);
	free(a->device);
	tenon_buffer_fini(&a->content);
	file_map_close(&a->file);
}

static char *copy(const char *text)
{
	return strdup(text ? text : "");
}

static int set_names(struct artifact *a, const struct artifact_names *names)
{
	a->codegen_id = copy(names->codegen_id);
	a->loader = copy(names->loader);
	a->target_key = copy(names->target_key);
	a->file_name = copy(names->file_name);
	a->device = copy(names->device);
	if (a->codegen_id && a->loader && a->target_key && a->file_name && a->device)
		return 0;
	artifact_fini(a);
	return tenon_error(-TENON_E_NOMEM, "no memory for the names of an artifact");
}

int artifact_add(struct artifact_set *set, const struct artifact_names *names,
		 struct artifact **out)
{
	struct artifact *bigger, a = { .content = TENON_BUFFER_INIT };
	int err;

	if (artifact_find(set, names->file_name) != SIZE_MAX)
		return tenon_error(-TENON_E_EXISTS,
				   "two files are called %s: a name identifies a file of a "
				   "module; rename one of them",
				   names->file_name);
	err = set_names(&a, names);
	if (err)
		return err;
	bigger = reallocarray(set->items, set->count + 1, sizeof(*bigger));
	if (!bigger) {
		artifact_fini(&a);
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu artifacts", set->count + 1);
	}
	set->items = bigger;
	*out = &bigger[set->count++];
	**out = a;
	return 0;
}

size_t artifact_find(const struct artifact_set *set, const char *file_name)
{
	size_t i;

	for (i = 0; i < set->count; i++)
		if (!strcmp(set->items[i].file_name, file_name))
			return i;
	return SIZE_MAX;
}

struct tenon_slice artifact_payload(const struct artifact *a)
{
	return a->file.size ? a->file : (struct tenon_slice){ a->content.data, a->content.size };
}

bool artifact_is_native(const struct artifact *a)
{
	return !strcmp(a->loader, ARTIFACT_NATIVE);
}

/* Metadata is loaded before code, and the host's code before that of devices. */
static int rank(const struct artifact *a)
{
	static const char *const metadata[] = { "const_loader", "metadata", "metadata_module" };
	size_t i;

	for (i = 0; i < sizeof(metadata) / sizeof(metadata[0]); i++)
		if (!strcmp(a->loader, metadata[i]))
			return 0;
	return artifact_is_native(a) ? 1 : 2;
}

static int in_load_order(const struct artifact *a, const struct artifact *b)
{
	int order = rank(a) - rank(b);

	if (!order)
		order = strcmp(a->loader, b->loader);
	return order ? order : strcmp(a->target_key, b->target_key);
}

static int by_group_and_name(const void *a, const void *b)
{
	const struct artifact *x = a, *y = b;
	int order = in_load_order(x, y);

	return order ? order : strcmp(x->file_name, y->file_name);
}

void artifact_sort(struct artifact_set *set)
{
	if (set->count)
		qsort(set->items, set->count, sizeof(*set->items), by_group_and_name);
}

size_t artifact_group(const struct artifact_set *set, size_t from)
{
	size_t end = from;

	while (end < set->count && !in_load_order(&set->items[from], &set->items[end]))
		end++;
	return end;
}

void artifact_set_fini(struct artifact_set *set)
{
	size_t i;

	for (i = 0; i < set->count; i++)
		artifact_fini(&set->items[i]);
	free(set->items);
	memset(set, 0, sizeof(*set));
}
