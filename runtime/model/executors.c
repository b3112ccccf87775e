/* SPDX-License-Identifier: MIT */
/* Find the executor of a kind, and open graphs with it. */
#include "runtime/kind/loaders.h"
#include "runtime/model/executors.h"

#include <string.h>
#include <tenon/backend/buffer.h>
#include <tenon/backend/module_kind.h>

#include "lib/option.h"
#include "lib/options.h"

bool executor_has_kind(struct tenon_slice kind)
{
	const struct plugin *p = loader_plugin(kind);

	return p && p->executes;
}

const char *executor_option(struct tenon_slice kind)
{
	const struct executor_absent *a;
	const char *at;

	if (!ERROR_MESSAGES)
		return NULL;
	for (a = executors_absent; a->option; a++)
		for (at = a->kinds; *at; at += strlen(at) + 1)
			if (tenon_slice_equal(tenon_slice_of(at), kind))
				return a->option;
	return NULL;
}

void executor_kinds(struct tenon_buffer *out)
{
	const struct tenon_module_loader *l;
	struct plugin *const *p;
	const char *between = "";

	for (p = plugin_table; *p; p++)
		for (l = (*p)->executes ? (*p)->loaders : NULL; l && l->kind; l++, between = ", ")
			tenon_buffer_printf(out, "%s%s", between, l->kind);
}

int executor_of_kind(struct tenon_slice kind, const struct executor **out)
{
	struct plugin *p = loader_plugin(kind);
	int err = plugin_open(p, -TENON_E_UNSUPPORTED);

	*out = err ? NULL : p->offer->executor;
	return err;
}

#if OPTION_ON(GRAPH_EXECUTOR)
int tenon_model_open_graph(struct tenon_module *library, struct tenon_slice graph,
			   struct tenon_params *params, const struct tenon_model_options *options,
			   struct tenon_model **out)
{
	struct tenon_model_options o;
	int err = options_read(options, &o, sizeof(o));

	*out = NULL;
	if (err)
		return err;
	o.graph = graph.data || graph.size ? graph : tenon_slice_of("");
	o.params = params;
	return tenon_model_open(library, &o, out);
}
#endif
