/* SPDX-License-Identifier: MIT */
/* Collect names without duplicates for a message. */
#include "runtime/kind/name_list.h"

#include <stdbool.h>
#include <string.h>
#include <tenon/backend/buffer.h>
#include <tenon/function.h>
#include <tenon/string.h>

#include "lib/plugin.h"
#include "runtime/core/registry.h"

static bool listed(const struct name_list *list, struct tenon_slice name)
{
	const char *at = list->out->data ? list->out->data + list->start : "";

	for (; (at = strstr(at, name.data)); at++) {
		char before = at == list->out->data + list->start ? ' ' : at[-1];
		char after = at[name.size];

		if ((before == ' ' || before == '.') && (after == ',' || !after))
			return true;
	}
	return false;
}

void name_list_add(struct name_list *list, const char *name)
{
	if (listed(list, tenon_slice_of(name)))
		return;
	tenon_buffer_printf(list->out, "%s%s%s", list->out->size > list->start ? ", " : "",
			    list->mark, name);
}

struct globals {
	struct name_list *list;
	const char *prefix;
};

static int add_global(void *context, const char *name, struct tenon_function *function)
{
	const struct globals *g = context;
	size_t n = strlen(g->prefix);

	if (!strncmp(name, g->prefix, n) && name[n])
		name_list_add(g->list, name + n);
	return 0;
}

void name_list_add_globals(struct name_list *list, const char *prefix)
{
	struct globals g = { list, prefix };
	struct plugin *const *p;
	const char *name;

	for (p = plugin_table; PLUGINS_HAVE_FUNCTIONS && *p; p++)
		for (name = (*p)->functions; name && *name; name += strlen(name) + 1)
			add_global(&g, name, NULL);
	registry_each(add_global, &g);
}

int name_list_end(struct name_list *list)
{
	if (list->out->size == list->start)
		tenon_buffer_printf(list->out, "none");
	return list->out->status;
}
