/* SPDX-License-Identifier: MIT */
/* The summary of memory in metadata.json, from graph.json */
#include "link/mlf/mlf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/error.h>
#include <tenon/object.h>
#include <tenon/params.h>

#include "lib/brief_errors.h"
#include "lib/json_tree.h"

/* most entries of a graph; the loader has limits of the same order */
#define ENTRIES_MOST (1 << 20)

/* numbers in JSON are doubles */
#define INTEGER_MOST (INT64_C(1) << 53)

/**
 * struct storage - memory that entries share
 * @bytes: of the largest entry
 * @input: name of an input or parameter that lies in it; NULL for none
 * @written: an operator writes it
 * @device: device type
 */
struct storage {
	uint64_t bytes;
	const char *input;
	bool written;
	int device;
};

/**
 * struct summary - what is known of a graph
 * @path: for messages
 * @graph: graph.json
 * @nodes: its nodes
 * @shapes: shape of each entry
 * @dtypes: type of each entry
 * @storage_ids: storage of each entry
 * @devices: device type of each entry; NULL if the graph has none
 * @params: the parameters; NULL for none
 * @count: entries
 * @first: of each node, its first entry
 * @storages: @storage_count storages
 */
struct summary {
	const char *path;
	cJSON *graph;
	const cJSON *nodes;
	const cJSON **shapes, **dtypes, **storage_ids, **devices;
	struct tenon_params *params;
	size_t count;
	size_t *first;
	size_t node_count;
	struct storage *storages;
	size_t storage_count;
};

static int bad(const struct summary *s, const char *what)
{
	return tenon_error(-TENON_E_FORMAT, "%s: not a graph: %s", s->path, what);
}

static bool integer(const cJSON *item, int64_t least, int64_t most, int64_t *out)
{
	double v = cJSON_IsNumber(item) ? item->valuedouble : -1;

	if (!(v >= (double)least && v <= (double)most) || v != (double)(int64_t)v)
		return false;
	*out = (int64_t)v;
	return true;
}

/* ---- reading */

/* cJSON keeps lists as chains: make an array of pointers to the items. */
static const cJSON **items_of(const cJSON *list, size_t *count)
{
	const cJSON **items, *item;
	size_t n = 0;

	*count = (size_t)cJSON_GetArraySize(list);
	items = calloc(*count + 1, sizeof(*items));
	cJSON_ArrayForEach(item, list) if (items) items[n++] = item;
	if (!items)
		tenon_error(-TENON_E_NOMEM, "no memory for a graph");
	return items;
}

/* Read an attribute: a name of its type, and a list with an item for each entry. */
static int read_attribute(struct summary *s, const cJSON *attrs, const char *name, bool optional,
			  const cJSON ***out)
{
	const cJSON *pair = cJSON_GetObjectItemCaseSensitive(attrs, name);
	const cJSON *list = cJSON_IsArray(pair) ? cJSON_GetArrayItem(pair, 1) : NULL;
	size_t count;

	if (!pair && optional)
		return 0;
	if (!cJSON_IsArray(list))
		return tenon_error(-TENON_E_FORMAT, "%s: not a graph: no list \"%s\" in \"attrs\"",
				   s->path, name);
	*out = items_of(list, &count);
	if (!*out)
		return -TENON_E_NOMEM;
	if (s->count && count != s->count)
		return tenon_error(-TENON_E_FORMAT,
				   "%s: not a graph: %zu items in \"%s\", want %zu, one for each "
				   "tensor",
				   s->path, count, name, s->count);
	if (count > ENTRIES_MOST)
		return bad(s, "too many tensors");
	s->count = count;
	return 0;
}

static int read_rows(struct summary *s)
{
	const cJSON *rows = cJSON_GetObjectItemCaseSensitive(s->graph, "node_row_ptr"), *item;
	int64_t row = 0, last = 0;
	size_t n = 0;

	s->nodes = cJSON_GetObjectItemCaseSensitive(s->graph, "nodes");
	s->node_count = (size_t)cJSON_GetArraySize(s->nodes);
	if (!cJSON_IsArray(s->nodes) || !cJSON_IsArray(rows) ||
	    (size_t)cJSON_GetArraySize(rows) != s->node_count + 1)
		return bad(s, "\"nodes\" and \"node_row_ptr\" do not fit each other");
	s->first = calloc(s->node_count + 1, sizeof(*s->first));
	if (!s->first)
		return tenon_error(-TENON_E_NOMEM, "no memory for a graph");
	cJSON_ArrayForEach(item, rows)
	{
		if (!integer(item, last, (int64_t)s->count, &row))
			return bad(s, "\"node_row_ptr\" does not ascend, or names missing tensors");
		s->first[n++] = (size_t)row;
		last = row;
	}
	return s->first[0] || (size_t)last != s->count
		       ? bad(s, "\"node_row_ptr\" does not name each tensor once")
		       : 0;
}

static int read_graph(struct summary *s, struct tenon_slice text)
{
	const cJSON *attrs;
	int err;

	err = json_tree_read(text, s->path, &s->graph);
	if (err)
		return err;
	if (!cJSON_IsObject(s->graph))
		return bad(s, "not a JSON object");
	attrs = cJSON_GetObjectItemCaseSensitive(s->graph, "attrs");
	err = read_attribute(s, attrs, "shape", false, &s->shapes);
	if (!err)
		err = read_attribute(s, attrs, "dltype", false, &s->dtypes);
	if (!err)
		err = read_attribute(s, attrs, "storage_id", false, &s->storage_ids);
	if (!err)
		err = read_attribute(s, attrs, "device_index", true, &s->devices);
	return err ? err : read_rows(s);
}

/* ---- sizes */

/* Bits of an element: "float32", "bool", "int8x4". */
static bool dtype_bits(const char *text, uint64_t *bits)
{
	unsigned int lanes = 1;
	const char *at = text + strcspn(text, "0123456789");
	char *end;

	if (!strcmp(text, "bool")) {
		*bits = 8;
		return true;
	}
	*bits = strtoul(at, &end, 10);
	if (*end == 'x')
		lanes = (unsigned int)strtoul(end + 1, &end, 10);
	if (at == text || *end || !*bits || *bits > 128 || !lanes || lanes > 1024)
		return false;
	*bits *= lanes;
	return true;
}

static int entry_bytes(const struct summary *s, size_t entry, uint64_t *out)
{
	const cJSON *extent;
	int64_t n;
	uint64_t bits;

	if (!cJSON_IsString(s->dtypes[entry]) || !dtype_bits(s->dtypes[entry]->valuestring, &bits))
		return tenon_error(-TENON_E_FORMAT, "%s: tensor %zu has no known type", s->path,
				   entry);
	if (!cJSON_IsArray(s->shapes[entry]))
		return tenon_error(-TENON_E_FORMAT, "%s: tensor %zu has no shape", s->path, entry);
	*out = (bits + 7) / 8;
	cJSON_ArrayForEach(extent, s->shapes[entry]) if (
		!integer(extent, 0, INTEGER_MOST, &n) ||
		__builtin_mul_overflow(*out, (uint64_t)n, out) ||
		*out > (uint64_t)INTEGER_MOST) return tenon_error(-TENON_E_OVERFLOW,
								  "%s: tensor %zu has a shape "
								  "whose size does not fit",
								  s->path, entry);
	return 0;
}

static bool is_param(const struct summary *s, const char *name)
{
	return s->params && tenon_params_find(s->params, tenon_slice_of(name));
}

static const char *node_text(const cJSON *node, const char *key)
{
	const cJSON *text = cJSON_GetObjectItemCaseSensitive(node, key);

	return cJSON_IsString(text) ? text->valuestring : "";
}

/* Add an entry to its storage. */
static int use_storage(struct summary *s, const cJSON *node, size_t entry)
{
	const bool is_input = !strcmp(node_text(node, "op"), "null");
	struct storage *storage;
	int64_t id, device = 1;
	uint64_t bytes;
	int err;

	err = entry_bytes(s, entry, &bytes);
	if (err)
		return err;
	if (!integer(s->storage_ids[entry], -1, (int64_t)s->count - 1, &id) ||
	    (s->devices && !integer(s->devices[entry], 0, INT32_MAX, &device)))
		return tenon_error(-TENON_E_FORMAT,
				   "%s: tensor %zu has no storage between 0 and %zu, or no device",
				   s->path, entry, s->count - 1);
	if (id < 0)
		return 0;
	storage = &s->storages[id];
	if ((size_t)id >= s->storage_count)
		s->storage_count = (size_t)id + 1;
	if (bytes > storage->bytes)
		storage->bytes = bytes;
	if (is_input && !storage->input)
		storage->input = node_text(node, "name");
	storage->written |= !is_input;
	storage->device = (int)device;
	return 0;
}

static int measure(struct summary *s)
{
	const cJSON *node;
	size_t n = 0, entry;
	int err = 0;

	s->storages = calloc(s->count + 1, sizeof(*s->storages));
	if (!s->storages)
		return tenon_error(-TENON_E_NOMEM, "no memory for a graph");
	cJSON_ArrayForEach(node, s->nodes)
	{
		for (entry = s->first[n]; entry < s->first[n + 1] && !err; entry++)
			err = use_storage(s, node, entry);
		n++;
	}
	return err;
}

/* ---- the summary as JSON */

static bool add_number(cJSON *to, const char *key, uint64_t n)
{
	return cJSON_AddNumberToObject(to, key, (double)n);
}

static bool add_sids(const struct summary *s, cJSON *list)
{
	cJSON *item;
	size_t i;

	for (i = 0; i < s->storage_count; i++) {
		if (!s->storages[i].input && !s->storages[i].written)
			continue;
		item = cJSON_CreateObject();
		if (!cJSON_AddItemToArray(list, item) ||
		    (s->storages[i].input &&
		     !cJSON_AddStringToObject(item, "input_binding", s->storages[i].input)) ||
		    !add_number(item, "size_bytes", s->storages[i].bytes) ||
		    !add_number(item, "storage_id", i))
			return false;
	}
	return true;
}

static bool add_tensor(const struct summary *s, cJSON *to, const char *name, size_t entry,
		       uint64_t *total)
{
	uint64_t bytes = 0;
	cJSON *item;

	/* measure() computed it before */
	if (entry_bytes(s, entry, &bytes))
		return false;
	*total += bytes;
	item = cJSON_AddObjectToObject(to, name);
	return item && cJSON_AddStringToObject(item, "dtype", s->dtypes[entry]->valuestring) &&
	       add_number(item, "size", bytes);
}

static bool add_inputs(const struct summary *s, cJSON *inputs, uint64_t *io, uint64_t *constants)
{
	const cJSON *node;
	const char *name;
	uint64_t bytes;
	size_t n = 0;

	cJSON_ArrayForEach(node, s->nodes)
	{
		size_t entry = s->first[n++];

		if (strcmp(node_text(node, "op"), "null") || entry == s->first[n])
			continue;
		name = node_text(node, "name");
		if (!is_param(s, name)) {
			if (!add_tensor(s, inputs, name, entry, io))
				return false;
		} else if (!entry_bytes(s, entry, &bytes)) {
			*constants += bytes;
		}
	}
	return true;
}

static bool add_outputs(const struct summary *s, cJSON *outputs, uint64_t *io)
{
	const cJSON *heads = cJSON_GetObjectItemCaseSensitive(s->graph, "heads"), *head;
	const int count = cJSON_GetArraySize(heads);
	int64_t node, index;
	size_t n = 0;
	char name[32];

	cJSON_ArrayForEach(head, heads)
	{
		if (!integer(cJSON_GetArrayItem(head, 0), 0, (int64_t)s->node_count - 1, &node) ||
		    !integer(cJSON_GetArrayItem(head, 1), 0,
			     (int64_t)(s->first[node + 1] - s->first[node]) - 1, &index))
			return bad(s, "a head names no tensor"), false;
		snprintf(name, sizeof(name), count > 1 ? "output%zu" : "output", n++);
		if (!add_tensor(s, outputs, name, s->first[node] + (size_t)index, io))
			return false;
	}
	return true;
}

static uint64_t workspace(const struct summary *s)
{
	uint64_t bytes = 0;
	size_t i;

	for (i = 0; i < s->storage_count; i++)
		if (s->storages[i].written && !s->storages[i].input)
			bytes += s->storages[i].bytes;
	return bytes;
}

/* List each function that the graph calls, once. The memory it uses internally is not known. */
static bool add_functions(const struct summary *s, cJSON *list)
{
	cJSON *seen = cJSON_CreateObject(), *item;
	const cJSON *node;
	const char *name;
	bool ok = seen;

	cJSON_ArrayForEach(node, s->nodes)
	{
		name = node_text(cJSON_GetObjectItemCaseSensitive(node, "attrs"), "func_name");
		if (!ok || !*name || !strncmp(name, "__", 2) ||
		    cJSON_GetObjectItemCaseSensitive(seen, name))
			continue;
		item = cJSON_CreateObject();
		ok = cJSON_AddItemToArray(list, item) &&
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

	if (!cJSON_AddItemToArray(main, item)) {
		cJSON_Delete(item);
		return false;
	}
	return add_inputs(s, cJSON_AddObjectToObject(item, "inputs"), &io, &constants) &&
	       add_outputs(s, cJSON_AddObjectToObject(item, "outputs"), &io) &&
	       add_number(item, "constants_size_bytes", constants) &&
	       add_number(item, "device", 1) && add_number(item, "io_size_bytes", io) &&
	       add_number(item, "workspace_size_bytes", workspace(s)) &&
	       add_functions(s, cJSON_AddArrayToObject(functions, "operator_functions")) &&
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
		err = read_graph(&s, graph);
	if (!err)
		err = measure(&s);
	if (!err)
		err = write_summary(&s, out);
	tenon_object_unref(s.params);
	free(s.storages);
	free(s.first);
	free(s.shapes);
	free(s.dtypes);
	free(s.storage_ids);
	free(s.devices);
	cJSON_Delete(s.graph);
	return err;
}
