/* SPDX-License-Identifier: MIT */
/* Report functions, launch parameters and arguments of a payload. */
#include <tenon/tensor.h>

#include "runtime/core/describer.h"
#include "runtime/core/visit_field.h"
#include "runtime/payload/payload_format.h"

/* Skip a JSON string whose opening quote is at @i. */
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

/* Count the nodes of a graph: elements of the list "nodes" in the outermost object. */
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

int describe_payload(const struct tenon_payload_info *info, const struct tenon_visitor *v)
{
	uint64_t nodes = count_nodes(info->text);
	int err;

	err = visit_text(v, "format", info->format);
	if (!err)
		err = visit_text(v, "name", info->name);
	if (!err && nodes)
		err = visit_number(v, "nodes", nodes);
	if (!err && info->tensor_count)
		err = visit_number(v, "parameters", info->tensor_count);
	if (!err && info->tensor_count)
		err = visit_number(v, "parameter_bytes", info->tensor_bytes);
	return err;
}

static int arg_names(const struct tenon_payload_function *f, struct tenon_value *out)
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

static int tag_names(const struct tenon_payload_function *f, struct tenon_value *out)
{
	struct visit_list list = { 0 };
	struct tenon_cursor c = tenon_cursor_of(f->tags.data, f->tags.size, "launch tags", 0);
	struct tenon_slice tag;
	uint64_t i;

	for (i = 0; i < f->tag_count && !tenon_cursor_string(&c, &tag); i++)
		visit_list_text(&list, tag);
	return visit_list_value(&list, out);
}

static int add_launch(struct visit_list *launches, const struct tenon_payload_function *f)
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

int describe_functions(const struct tenon_payload_info *info, const struct tenon_visitor *v)
{
	struct visit_list names = { 0 }, launches = { 0 };
	size_t i;
	int err = 0;

	for (i = 0; i < info->function_count && !err; i++) {
		err = visit_list_text(&names, info->functions[i].name);
		if (!err && info->has_kernels)
			err = add_launch(&launches, &info->functions[i]);
	}
	if (!err)
		err = visit_list_show(&names, v, "functions");
	if (!err && info->has_kernels)
		err = visit_list_show(&launches, v, "launch");
	visit_list_drop(&names);
	visit_list_drop(&launches);
	return err;
}
