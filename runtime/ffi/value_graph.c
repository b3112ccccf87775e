/* SPDX-License-Identifier: MIT */
/* ffi.ToJSONGraph and ffi.FromJSONGraph, to and from values or text. */
#include "runtime/ffi/value_graph.h"

#include "runtime/ffi/json.h"

static int save_arguments(const struct tenon_value *args, int32_t count, struct tenon_value *graph)
{
	struct tenon_value v, metadata = tenon_arg_none();
	int err;

	if (ffi_count("ffi.ToJSONGraph", count, 1, 2) || ffi_own(&args[0], &v))
		return -1;
	err = count == 2 ? ffi_own(&args[1], &metadata) : 0;
	if (!err)
		err = value_graph_save(&v, &metadata, graph);
	ffi_release(&metadata);
	ffi_release(&v);
	return err;
}

static PACKED_CALL(to_graph)
{
	return save_arguments(args, count, ret);
}

static PACKED_CALL(to_text)
{
	struct tenon_value graph;
	int err;

	if (save_arguments(args, count, &graph))
		return -1;
	err = ffi_json_write(&graph, 0, ret);
	ffi_release(&graph);
	return err;
}

static PACKED_CALL(from_graph)
{
	return ffi_count("ffi.FromJSONGraph", count, 1, 1) ? -1 : value_graph_load(&args[0], ret);
}

static PACKED_CALL(from_text)
{
	struct tenon_value graph;
	struct tenon_slice text;
	int err;

	if (ffi_count("ffi.FromJSONGraphString", count, 1, 1) ||
	    ffi_arg_text("ffi.FromJSONGraphString", args, 0, &text) || ffi_json_parse(text, &graph))
		return -1;
	err = value_graph_load(&graph, ret);
	ffi_release(&graph);
	return err;
}

const struct global_function value_graph_globals[] = {
	{ "ffi.FromJSONGraph", from_graph },
	{ "ffi.FromJSONGraphString", from_text },
	{ "ffi.ToJSONGraph", to_graph },
	{ "ffi.ToJSONGraphString", to_text },
	{ NULL, NULL },
};
