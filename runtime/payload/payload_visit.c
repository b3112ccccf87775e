/* SPDX-License-Identifier: MIT */
#include <tenon/tensor.h>

#include "runtime/payload/payload_visit.h"

/* past a JSON string whose opening quote is at @i */
static size_t skip_string(struct tenon_slice s, size_t i)
{
	for (i++; i < s.size && s.data[i] != '"'; i++)
		if (s.data[i] == '\\')
			i++;
	return i;
}

static bool key_is(struct tenon_slice s, size_t start, size_t end, const char *key)
{
	struct tenon_slice word = { s.data + start, end > start ? end - start : 0 };

	return end <= s.size && tenon_slice_equal(word, tenon_slice_of(key));
}

/* How many nodes a graph has: elements of the list "nodes" of the outermost object. */
static uint64_t count_nodes(struct tenon_slice graph)
{
	uint64_t depth = 0, nodes = 0;
	bool inside = false;
	size_t i, end;

	for (i = 0; i < graph.size; i++) {
		char c = graph.data[i];

		if (c == '"') {
			end = skip_string(graph, i);
			if (depth == 1)
				inside = key_is(graph, i + 1, end, "nodes");
			i = end;
		} else if (c == '{' || c == '[') {
			if (inside && depth == 2 && c == '{')
				nodes++;
			depth++;
		} else if ((c == '}' || c == ']') && depth) {
			depth--;
			if (inside && depth == 1)
				break;
		}
	}
	return nodes;
}

int payload_visit_facts(const struct payload_facts *facts, const struct tenon_visitor *v)
{
	uint64_t nodes = count_nodes(facts->text);
	int err;

	err = visit_text(v, "format", facts->format);
	if (!err)
		err = visit_text(v, "name", facts->name);
	if (!err && nodes)
		err = visit_number(v, "nodes", nodes);
	if (!err && facts->array_count)
		err = visit_number(v, "parameters", facts->array_count);
	if (!err && facts->array_count)
		err = visit_number(v, "parameter_bytes", facts->array_bytes);
	return err;
}

static int arg_names(const struct payload_function *f, struct tenon_value *out)
{
	struct visit_list list = { 0 };
	char name[TENON_DTYPE_NAME];
	size_t i;

	for (i = 0; i + 4 <= f->arg_types.size; i += 4) {
		const uint8_t *t = (const uint8_t *)f->arg_types.data + i;
		DLDataType dtype = tenon_dtype(t[0], t[1], t[2] | (unsigned int)t[3] << 8);

		visit_list_text(&list, tenon_slice_of(tenon_dtype_name(dtype, name)));
	}
	return visit_list_value(&list, out);
}

static int tag_names(const struct payload_function *f, struct tenon_value *out)
{
	struct visit_list list = { 0 };
	struct tenon_cursor c = f->tags;
	struct tenon_slice tag;
	uint64_t i;

	for (i = 0; i < f->tag_count && !tenon_cursor_string(&c, &tag); i++)
		visit_list_text(&list, tag);
	return visit_list_value(&list, out);
}

static int add_launch(struct visit_list *launches, const struct payload_function *f)
{
	struct tenon_value pairs[4] = { tenon_arg_string("args"), tenon_arg_none(),
					tenon_arg_string("tags"), tenon_arg_none() };
	struct tenon_value value;
	struct tenon_map *map;
	int err;

	err = arg_names(f, &pairs[1]);
	if (!err)
		err = tag_names(f, &pairs[3]);
	if (!err)
		err = tenon_map_create(pairs, 2, &map);
	if (!err) {
		value = tenon_arg_object(map);
		err = visit_list_add(launches, &value);
	}
	tenon_value_release(&pairs[1]);
	tenon_value_release(&pairs[3]);
	return err;
}

struct function_lists {
	struct visit_list names;
	struct visit_list launches;
	bool kernels;
};

static int add_function(void *context, const struct payload_function *f)
{
	struct function_lists *lists = context;
	int err;

	err = visit_list_text(&lists->names, f->name);
	if (!err && lists->kernels)
		err = add_launch(&lists->launches, f);
	return err;
}

int payload_visit_functions(const struct payload_facts *facts, const struct tenon_visitor *v)
{
	struct function_lists lists = { .kernels = facts->names == PAYLOAD_TABLE };
	int err;

	err = payload_each_function(facts, add_function, &lists);
	if (!err)
		err = visit_list_show(&lists.names, v, "functions");
	if (!err && lists.kernels)
		err = visit_list_show(&lists.launches, v, "launch");
	visit_list_drop(&lists.names);
	visit_list_drop(&lists.launches);
	return err;
}
