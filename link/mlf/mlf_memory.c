/* SPDX-License-Identifier: MIT */
/* The summary of memory in metadata.json, from graph.json. */
#include "link/mlf/mlf.h"

#include <stdio.h>
#include <stdlib.h>
#include <tenon/error.h>
#include <tenon/object.h>
#include <tenon/params.h>

#include "lib/brief_errors.h"
#include "lib/json_build.h"
#include "runtime/graph/graph.h"

/* numbers in JSON are doubles */
#define INTEGER_MOST (UINT64_C(1) << 53)

/**
 * struct use - what a storage is used for
 * @input: name of an input or parameter that lies in it; NULL for none
 * @written: an operator writes it
 */
struct use {
	const char *input;
	bool written;
};

/**
 * struct summary - what is known of a graph
 * @path: for messages
 * @graph: graph.json
 * @params: the parameters; NULL for none
 * @uses: of each storage
 */
struct summary {
	const char *path;
	struct graph graph;
	struct tenon_params *params;
	struct use *uses;
};

static int read_uses(struct summary *s)
{
	const struct graph *g = &s->graph;
	const struct graph_node *n;
	struct use *use;
	uint32_t i;

	s->uses = calloc((size_t)g->storage_count + 1, sizeof(*s->uses));
	if (!s->uses)
		return tenon_error(-TENON_E_NOMEM, "no memory for a graph");
	for (i = 0; i < g->entry_count; i++) {
		if (g->entries[i].bytes > INTEGER_MOST)
			return tenon_error(-TENON_E_OVERFLOW,
					   "%s: tensor %u has a shape whose size does not fit",
					   s->path, (unsigned int)i);
		if (g->entries[i].storage < 0)
			continue;
		use = &s->uses[g->entries[i].storage];
		n = &g->nodes[g->entries[i].node];
		if (n->kind != GRAPH_INPUT)
			use->written = true;
		else if (!use->input)
			use->input = n->name.data;
	}
	return 0;
}

/* ---- the summary as JSON */

static bool add_number(cJSON *to, const char *key, uint64_t n)
{
	return cJSON_AddNumberToObject(to, key, (double)n);
}

static bool add_sids(const struct summary *s, cJSON *list)
{
	cJSON *item;
	uint32_t i;

	for (i = 0; i < s->graph.storage_count; i++) {
		if (!s->uses[i].input && !s->uses[i].written)
			continue;
		item = cJSON_CreateObject();
		if (!json_append(list, item) ||
		    (s->uses[i].input &&
		     !cJSON_AddStringToObject(item, "input_binding", s->uses[i].input)) ||
		    !add_number(item, "size_bytes", s->graph.storages[i].bytes) ||
		    !add_number(item, "storage_id", i))
			return false;
	}
	return true;
}

static bool add_tensor(const struct graph_entry *e, cJSON *to, const char *name, uint64_t *total)
{
	const bool is_bool = e->dtype.code == TENON_DTYPE_UINT && e->dtype.bits == 1;
	char type[TENON_DTYPE_NAME];
	cJSON *item;

	*total += e->bytes;
	item = cJSON_AddObjectToObject(to, name);
	return item &&
	       cJSON_AddStringToObject(item, "dtype",
				       is_bool ? "bool" : tenon_dtype_name(e->dtype, type)) &&
	       add_number(item, "size", e->bytes);
}

static bool add_inputs(const struct summary *s, cJSON *inputs, uint64_t *io, uint64_t *constants)
{
	const struct graph_node *n;
	const struct graph_entry *e;
	uint32_t i;

	for (i = 0; i < s->graph.node_count; i++) {
		n = &s->graph.nodes[i];
		e = &s->graph.entries[n->first_output];
		if (n->kind != GRAPH_INPUT)
			continue;
		if (s->params && tenon_params_find(s->params, n->name))
			*constants += e->bytes;
		else if (!add_tensor(e, inputs, n->name.data, io))
			return false;
	}
	return true;
}

static bool add_outputs(const struct graph *g, cJSON *outputs, uint64_t *io)
{
	char name[32];
	uint32_t i;

	for (i = 0; i < g->head_count; i++) {
		snprintf(name, sizeof(name), g->head_count > 1 ? "output%u" : "output",
			 (unsigned int)i);
		if (!add_tensor(&g->entries[g->heads[i]], outputs, name, io))
			return false;
	}
	return true;
}

static uint64_t workspace(const struct summary *s)
{
	uint64_t bytes = 0;
	uint32_t i;

	for (i = 0; i < s->graph.storage_count; i++)
		if (s->uses[i].written && !s->uses[i].input)
			bytes += s->graph.storages[i].bytes;
	return bytes;
}

/* List each function that the graph calls, once. The memory it uses internally is not known. */
static bool add_functions(const struct graph *g, cJSON *list)
{
	cJSON *seen = cJSON_CreateObject(), *item;
	const char *name;
	bool ok = seen;
	uint32_t i;

	for (i = 0; ok && i < g->node_count; i++) {
		name = g->nodes[i].function.data;
		if (g->nodes[i].kind != GRAPH_CALL || cJSON_GetObjectItemCaseSensitive(seen, name))
			continue;
		item = cJSON_CreateObject();
		ok = json_append(list, item) &&
		     cJSON_AddStringToObject(item, "function_name", name) &&
		     cJSON_AddArrayToObject(item, "workspace") && cJSON_AddTrueToObject(seen, name);
	}
	cJSON_Delete(seen);
	return ok;
}

static bool add_all(const struct summary *s, cJSON *out)
{
	cJSON *functions = cJSON_AddObjectToObject(out, "functions");
	cJSON *main = cJSON_AddArrayToObject(functions, "main"), *item = cJSON_CreateObject();
	uint64_t io = 0, constants = 0;

	return json_append(main, item) &&
	       add_inputs(s, cJSON_AddObjectToObject(item, "inputs"), &io, &constants) &&
	       add_outputs(&s->graph, cJSON_AddObjectToObject(item, "outputs"), &io) &&
	       add_number(item, "constants_size_bytes", constants) &&
	       add_number(item, "device", 1) && add_number(item, "io_size_bytes", io) &&
	       add_number(item, "workspace_size_bytes", workspace(s)) &&
	       add_functions(&s->graph, cJSON_AddArrayToObject(functions, "operator_functions")) &&
	       add_sids(s, cJSON_AddArrayToObject(out, "sids"));
}

static int write_summary(const struct summary *s, cJSON **out)
{
	*out = cJSON_CreateObject();
	if (*out && add_all(s, *out))
		return 0;
	cJSON_Delete(*out);
	*out = NULL;
	return tenon_error_status() ? tenon_error_status()
				    : tenon_error(-TENON_E_NOMEM, "no memory for a summary");
}

int mlf_memory(struct tenon_slice graph, const char *path, struct tenon_slice params, cJSON **out)
{
	struct summary s = { .path = path };
	int err = 0;

	*out = NULL;
	tenon_error_clear();
	if (params.size)
		err = tenon_params_read(params, NULL, path, &s.params);
	if (!err)
		err = graph_read(graph, path, &s.graph);
	if (!err)
		err = read_uses(&s);
	if (!err)
		err = write_summary(&s, out);
	tenon_object_unref(s.params);
	free(s.uses);
	graph_fini(&s.graph);
	return err;
}
