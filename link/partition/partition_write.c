/* SPDX-License-Identifier: MIT */
/* The graph that calls the regions, its parameters, and the command that links all. */
#include <stdlib.h>
#include <tenon/backend/buffer.h>
#include <tenon/error.h>
#include <tenon/tensor.h>

#include "lib/brief_errors.h"
#include "link/partition/partition.h"

#define NONE UINT32_MAX

#define PARAMS_MAGIC	   UINT64_C(0xF7E58D4F05049CB7)
#define SAVED_TENSOR_MAGIC UINT64_C(0xDD5E40F096B4A13F)

/* struct writing - the nodes of the new graph, and its entries, which are the values in order */
struct writing {
	struct partition *p;
	struct tenon_buffer *out;
	uint32_t *node;	 /* of each value: number of its node */
	uint32_t *index; /* and of its output */
	uint32_t *entry; /* values in the order of the entries */
	uint32_t entry_count;
	uint32_t node_count;
	struct tenon_buffer rows;
	struct tenon_buffer arguments;
};

static void put(struct tenon_buffer *b, const char *before, struct tenon_slice text,
		const char *after)
{
	tenon_buffer_printf(b, "%s%.*s%s", before, (int)text.size, text.data, after);
}

static void put_list(const struct writing *w, const uint32_t *list, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		tenon_buffer_printf(w->out, "%s[%u, %u, 0]", i ? ", " : "", w->node[list[i]],
				    w->index[list[i]]);
}

/* Number the outputs of the node that was written. */
static void add_entries(struct writing *w, const uint32_t *values, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++) {
		w->node[values[i]] = w->node_count;
		w->index[values[i]] = i;
		w->entry[w->entry_count++] = values[i];
	}
	w->node_count++;
	tenon_buffer_printf(&w->rows, ", %u", w->entry_count);
}

static void separate(const struct writing *w)
{
	tenon_buffer_printf(w->out, "%s\n", w->node_count ? "," : "");
}

static bool is_baked(const struct partition *p, uint32_t value)
{
	uint32_t i;

	for (i = 0; i < p->region_count; i++)
		if (partition_place(p->regions[i].baked, p->regions[i].baked_count, value) != NONE)
			return true;
	return false;
}

static bool is_written(const struct partition *p, uint32_t value)
{
	return p->g->values[value].input && !is_baked(p, value);
}

static void put_inputs(struct writing *w)
{
	uint32_t i;

	for (i = 0; i < w->p->g->value_count; i++) {
		if (!is_written(w->p, i))
			continue;
		separate(w);
		put(w->out, "    {\"op\": \"null\", \"name\": \"", w->p->g->values[i].name,
		    "\", \"inputs\": []}");
		tenon_buffer_printf(&w->arguments, "%s%u", w->arguments.size ? ", " : "",
				    w->node_count);
		add_entries(w, &i, 1);
	}
}

static void put_call(struct writing *w, struct tenon_slice name, struct tenon_slice function,
		     const uint32_t *inputs, uint32_t input_count, uint32_t output_count)
{
	separate(w);
	put(w->out, "    {\"op\": \"tvm_op\", \"name\": \"", name, "\",\n");
	put(w->out, "     \"attrs\": {\"func_name\": \"", function, "\", ");
	tenon_buffer_printf(w->out,
			    "\"num_inputs\": \"%u\", \"num_outputs\": \"%u\", \"flatten_data\": "
			    "\"0\"},\n     \"inputs\": [",
			    input_count, output_count);
	put_list(w, inputs, input_count);
	tenon_buffer_printf(w->out, "]}");
}

static int put_nodes(struct writing *w)
{
	const struct op_graph *g = w->p->g;
	const struct op_node *n;
	const struct region *r;
	uint32_t i, k, region, *outputs;

	for (i = 0; i < g->node_count; i++) {
		n = &g->nodes[w->p->order[i]];
		region = w->p->region_of[w->p->order[i]];
		if (region == NONE) {
			put_call(w, n->name, n->function, n->inputs, n->input_count,
				 n->output_count);
			outputs = calloc((size_t)n->output_count + 1, sizeof(*outputs));
			if (!outputs)
				return tenon_error(-TENON_E_NOMEM, "no memory for a graph");
			for (k = 0; k < n->output_count; k++)
				outputs[k] = n->first_output + k;
			add_entries(w, outputs, n->output_count);
			free(outputs);
			continue;
		}
		r = &w->p->regions[region];
		if (r->nodes[r->node_count - 1] != w->p->order[i])
			continue;
		/* the name of a node is that of its output */
		put_call(w, g->values[r->outputs[r->output_count - 1]].name,
			 tenon_slice_of(r->name), r->inputs, r->input_count, r->output_count);
		add_entries(w, r->outputs, r->output_count);
	}
	return 0;
}

/* Each value has a storage of its own. */
static void put_attributes(struct writing *w)
{
	const struct op_value *values = w->p->g->values;
	char name[TENON_DTYPE_NAME];
	uint32_t i;

	tenon_buffer_printf(w->out, "  \"attrs\": {\n    \"storage_id\": [\"list_int\", [");
	for (i = 0; i < w->entry_count; i++)
		tenon_buffer_printf(w->out, "%s%u", i ? ", " : "", i);
	tenon_buffer_printf(w->out, "]],\n    \"dltype\": [\"list_str\", [");
	for (i = 0; i < w->entry_count; i++)
		tenon_buffer_printf(w->out, "%s\"%s\"", i ? ", " : "",
				    tenon_dtype_name(values[w->entry[i]].dtype, name));
	tenon_buffer_printf(w->out, "]],\n    \"shape\": [\"list_shape\", [");
	for (i = 0; i < w->entry_count; i++) {
		tenon_buffer_printf(w->out, "%s[", i ? ", " : "");
		op_put_extents(w->out, &values[w->entry[i]], ", ");
		tenon_buffer_printf(w->out, "]");
	}
	tenon_buffer_printf(w->out, "]]\n  },\n");
}

static int put_graph(struct writing *w)
{
	int err;

	tenon_buffer_printf(w->out, "{\n  \"nodes\": [");
	put_inputs(w);
	err = put_nodes(w);
	tenon_buffer_printf(w->out, "\n  ],\n  \"arg_nodes\": [%.*s],\n  \"heads\": [",
			    (int)w->arguments.size, w->arguments.size ? w->arguments.data : "");
	put_list(w, w->p->g->outputs, w->p->g->output_count);
	tenon_buffer_printf(w->out, "],\n");
	put_attributes(w);
	tenon_buffer_printf(w->out, "  \"node_row_ptr\": [0%.*s]\n}\n", (int)w->rows.size,
			    w->rows.size ? w->rows.data : "");
	return err ? err : w->out->status;
}

/* ---- parameters */

int partition_saved_tensor(struct partition *p, const struct tenon_param *param,
			   struct tenon_buffer *out)
{
	const DLTensor *t = &param->tensor;
	struct tenon_tensor *tensor = NULL;
	int32_t i;
	int err;

	err = tenon_params_tensor(p->params, param, 1, &tensor);
	if (err)
		return err;
	tenon_buffer_u64(out, SAVED_TENSOR_MAGIC);
	tenon_buffer_u64(out, 0);
	tenon_buffer_u32(out, kDLCPU);
	tenon_buffer_u32(out, 0);
	tenon_buffer_u32(out, (uint32_t)t->ndim);
	tenon_buffer_append(out, &t->dtype, sizeof(t->dtype));
	for (i = 0; i < t->ndim; i++)
		tenon_buffer_u64(out, (uint64_t)t->shape[i]);
	tenon_buffer_u64(out, param->bytes);
	err = tenon_buffer_append(out, (char *)tensor->dl.data + tensor->dl.byte_offset,
				  param->bytes);
	tenon_object_unref(tensor);
	return err;
}

/* A .params file: two words, then a count, names, the count again, tensors. */
static int put_params(struct partition *p, struct tenon_buffer *out)
{
	const struct op_value *v;
	uint64_t count = 0;
	uint32_t i;
	int err = 0;

	tenon_buffer_u64(out, PARAMS_MAGIC);
	tenon_buffer_u64(out, 0);
	for (i = 0; i < p->g->value_count; i++)
		count += p->g->values[i].param && is_written(p, i);
	tenon_buffer_u64(out, count);
	for (i = 0; i < p->g->value_count; i++)
		if (p->g->values[i].param && is_written(p, i))
			tenon_buffer_string(out, p->g->values[i].name);
	tenon_buffer_u64(out, count);
	for (i = 0; i < p->g->value_count && !err; i++) {
		v = &p->g->values[i];
		if (v->param && is_written(p, i))
			err = partition_saved_tensor(p, v->param, out);
	}
	return err ? err : out->status;
}

int partition_write_graph(struct partition *p, struct tenon_buffer *graph,
			  struct tenon_buffer *params)
{
	const size_t values = (size_t)p->g->value_count + 1;
	struct writing w = { .p = p, .out = graph };
	int err;

	w.node = calloc(values, sizeof(*w.node));
	w.index = calloc(values, sizeof(*w.index));
	w.entry = calloc(values, sizeof(*w.entry));
	err = w.node && w.index && w.entry ? put_graph(&w)
					   : tenon_error(-TENON_E_NOMEM, "no memory for a graph");
	if (!err)
		err = put_params(p, params);
	tenon_buffer_fini(&w.rows);
	tenon_buffer_fini(&w.arguments);
	free(w.node);
	free(w.index);
	free(w.entry);
	return err;
}

/* ---- files */

static int add_model(struct partition *p)
{
	struct tenon_buffer graph = TENON_BUFFER_INIT, params = TENON_BUFFER_INIT;
	struct partition_file *f;
	int err;

	err = partition_write_graph(p, &graph, &params);
	f = err ? NULL : partition_add_file(p, "graph.json", "", NULL);
	if (f) {
		f->bytes = graph;
		graph = (struct tenon_buffer)TENON_BUFFER_INIT;
		f = partition_add_file(p, "graph.params", "", NULL);
	}
	if (f) {
		f->bytes = params;
		params = (struct tenon_buffer)TENON_BUFFER_INIT;
	}
	tenon_buffer_fini(&graph);
	tenon_buffer_fini(&params);
	return err ? err : f ? 0 : -TENON_E_NOMEM;
}

/* A module has code of the host, if only a function without calls. */
static int add_host(struct partition *p)
{
	struct partition_file *f;
	uint32_t i;

	for (i = 0; i < p->file_count; i++)
		if (!p->files[i].kind)
			return 0;
	f = partition_add_file(p, "host.c", NULL, NULL);
	return f ? tenon_buffer_printf(&f->bytes, "/* Nothing of this graph is computed by code of "
						  "the host. */\nint tenon_partition_host = 0;\n")
		 : -TENON_E_NOMEM;
}

static int add_script(struct partition *p)
{
	struct partition_file *f = partition_add_file(p, "link.sh", "", NULL);
	uint32_t i;

	if (!f)
		return -TENON_E_NOMEM;
	tenon_buffer_printf(&f->bytes,
			    "#!/bin/sh\n# Make a module of the files of this folder: sh link.sh -o "
			    "model.so [OPTION]… [HOST CODE]…\n"
			    "cd=$(dirname \"$0\")\n"
			    "LDFLAGS=\"${LDFLAGS-} -lm\"\nexport LDFLAGS\n"
			    "exec ${TENON:-tenon} link \"$@\"");
	for (i = 0; i < p->file_count; i++) {
		if (p->files[i].kind && !*p->files[i].kind)
			continue;
		tenon_buffer_printf(&f->bytes, " \\\n\t\"$cd/%s%s%s\"", p->files[i].name,
				    p->files[i].kind ? "=" : "",
				    p->files[i].kind ? p->files[i].kind : "");
		if (p->files[i].parent)
			tenon_buffer_printf(&f->bytes, " --import %s:%s", p->files[i].parent,
					    p->files[i].name);
	}
	return tenon_buffer_printf(
		&f->bytes, " \\\n\t--graph \"$cd/graph.json\" --params \"$cd/graph.params\"\n");
}

int partition_generate(struct partition *p)
{
	uint32_t i, k;
	int err = 0;

	for (i = 0; generators[i] && !err; i++)
		for (k = 0; k < p->region_count; k++)
			if (p->regions[k].generator == generators[i]) {
				err = generators[i]->generate(p, generators[i]);
				break;
			}
	if (!err)
		err = add_host(p);
	if (!err)
		err = add_model(p);
	return err ? err : add_script(p);
}
