/* SPDX-License-Identifier: MIT */
/* Write the graph of each region as JSON, and the constants of all. */
#include "link/partition/generate_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>
#include <tenon/error.h>

#include "lib/brief_errors.h"

/* attributes that operators keep */
static const char *const keys[] = { "strides", "padding",     "dilation",
				    "groups",  "data_layout", "kernel_layout",
				    "axis",    "pool_size",   "layout",
				    "alpha",   "beta",	      "a_min",
				    "a_max",   "out_layout",  "count_include_pad" };

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* "1", "1" of "[1, 1]" or "1 1" */
static void put_items(struct tenon_buffer *out, struct tenon_slice text)
{
	const char *between = "";
	size_t from, at = 0;

	while (at < text.size) {
		for (; at < text.size && strchr("[](), ", text.data[at]); at++)
			;
		from = at;
		while (at < text.size && !strchr("[](), ", text.data[at]))
			at++;
		if (at == from)
			break;
		tenon_buffer_printf(out, "%s\"%.*s\"", between, (int)(at - from), text.data + from);
		between = ", ";
	}
}

static void put_attrs(struct json *j, const struct op *o)
{
	struct tenon_slice text;
	size_t i;

	for (i = 0; i < COUNT(keys); i++) {
		text = op_attr(j->p->g, o, keys[i]);
		if (!text.size)
			continue;
		tenon_buffer_printf(&j->out, "\"%s\": [[", keys[i]);
		put_items(&j->out, text);
		tenon_buffer_printf(&j->out, "]], ");
	}
}

static void begin_node(struct json *j, const char *op, struct tenon_slice name)
{
	tenon_buffer_printf(&j->out, "%s\n{\"op\": \"%s\", \"name\": \"%.*s\", ",
			    j->next ? "," : "", op, (int)name.size, name.data);
}

static void end_node(struct json *j, uint32_t value)
{
	tenon_buffer_printf(&j->out, "\"dtype\": [[\"float32\"]], \"shape\": [[[");
	op_put_extents(&j->out, &j->p->g->values[value], ", ");
	tenon_buffer_printf(&j->out, "]]]}}");
	j->node[value] = ++j->next;
}

static void put_variable(struct json *j, const char *op, uint32_t value)
{
	begin_node(j, op, j->p->g->values[value].name);
	tenon_buffer_printf(&j->out, "\"attrs\": {");
	end_node(j, value);
}

void json_put_op(struct json *j, struct tenon_slice name, const uint32_t *inputs, uint32_t count,
		 const struct op *first, const struct op *last)
{
	uint32_t i;

	begin_node(j, "kernel", name);
	tenon_buffer_printf(&j->out, "\"inputs\": [");
	for (i = 0; i < count; i++)
		tenon_buffer_printf(&j->out, "%s[%u, 0, 0]", i ? ", " : "", j->node[inputs[i]] - 1);
	tenon_buffer_printf(&j->out, "], \"attrs\": {");
	put_attrs(j, first);
	if (last != first)
		put_attrs(j, last);
	end_node(j, last->output);
}

static int collect(void *context, const struct op *o)
{
	struct json *j = context;

	j->ops[j->op_count++] = o;
	return 0;
}

static int put_graph(struct json *j)
{
	const struct region *r = j->r;
	uint32_t i, variables = r->input_count + r->baked_count;

	tenon_buffer_printf(&j->out, "{\"symbol\": \"%s\", \"nodes\": [", r->name);
	for (i = 0; i < r->input_count; i++)
		put_variable(j, "input", r->inputs[i]);
	for (i = 0; i < r->baked_count; i++)
		put_variable(j, "const", r->baked[i]);
	for (i = 0; i < j->op_count; i++)
		if (!j->taken[i])
			j->put_op(j, i);
	tenon_buffer_printf(&j->out, "],\n\"arg_nodes\": [");
	for (i = 0; i < variables; i++)
		tenon_buffer_printf(&j->out, "%s%u", i ? ", " : "", i);
	tenon_buffer_printf(&j->out, "], \"heads\": [");
	for (i = 0; i < r->output_count; i++)
		tenon_buffer_printf(&j->out, "%s[%u, 0, 0]", i ? ", " : "",
				    j->node[r->outputs[i]] - 1);
	tenon_buffer_printf(&j->out, "], \"node_row_ptr\": [");
	for (i = 0; i <= j->next; i++)
		tenon_buffer_printf(&j->out, "%s%u", i ? ", " : "", i);
	return tenon_buffer_printf(&j->out, "]}\n");
}

/* The payload: symbol, graph, names of constants. */
static int add_payload(struct json *j)
{
	struct partition_file *f;
	char name[80];
	uint32_t i;

	snprintf(name, sizeof(name), "%s.payload", j->r->name);
	f = partition_add_file(j->p, name, j->kind, "constants.payload");
	if (!f)
		return -TENON_E_NOMEM;
	tenon_buffer_string(&f->bytes, tenon_slice_of(j->r->name));
	tenon_buffer_string(&f->bytes, (struct tenon_slice){ j->out.data, j->out.size });
	tenon_buffer_u64(&f->bytes, j->r->baked_count);
	for (i = 0; i < j->r->baked_count; i++)
		tenon_buffer_string(&f->bytes, j->p->g->values[j->r->baked[i]].name);
	return f->bytes.status;
}

static int generate_region(struct partition *p, const struct region *r, const char *kind,
			   void (*put_op)(struct json *j, size_t at))
{
	struct json j = {
		.p = p, .r = r, .kind = kind, .put_op = put_op, .out = TENON_BUFFER_INIT
	};
	int err;

	j.ops = calloc((size_t)p->g->op_count + 1, sizeof(*j.ops));
	j.taken = calloc((size_t)p->g->op_count + 1, sizeof(*j.taken));
	j.node = calloc((size_t)p->g->value_count + 1, sizeof(*j.node));
	err = j.ops && j.taken && j.node ? 0 : tenon_error(-TENON_E_NOMEM, "no memory for a graph");
	if (!err)
		err = partition_ops(p->g, r, collect, &j);
	if (!err)
		err = put_graph(&j);
	if (!err)
		err = add_payload(&j);
	tenon_buffer_fini(&j.out);
	free(j.ops);
	free(j.taken);
	free(j.node);
	return err;
}

/* The module of constants: names, tensors, functions, and the names that each of these wants. */
static int add_constants(struct partition *p, const struct generator *self)
{
	struct partition_file *f = partition_add_file(p, "constants.payload", "const_loader", NULL);
	struct tenon_buffer tensors = TENON_BUFFER_INIT, wanted = TENON_BUFFER_INIT;
	struct tenon_buffer symbols = TENON_BUFFER_INIT, all = TENON_BUFFER_INIT;
	uint64_t constants = 0, regions = 0;
	const struct region *r;
	uint32_t i, k;
	int err = f ? 0 : -TENON_E_NOMEM;

	for (i = 0; i < p->region_count && !err; i++) {
		r = &p->regions[i];
		if (r->generator != self)
			continue;
		regions++;
		tenon_buffer_string(&symbols, tenon_slice_of(r->name));
		tenon_buffer_u64(&wanted, r->baked_count);
		for (k = 0; k < r->baked_count && !err; k++) {
			constants++;
			tenon_buffer_string(&all, p->g->values[r->baked[k]].name);
			tenon_buffer_string(&wanted, p->g->values[r->baked[k]].name);
			err = partition_saved_tensor(p, p->g->values[r->baked[k]].param, &tensors);
		}
	}
	if (!err) {
		tenon_buffer_u64(&f->bytes, constants);
		tenon_buffer_append(&f->bytes, all.data, all.size);
		tenon_buffer_u64(&f->bytes, constants);
		tenon_buffer_append(&f->bytes, tensors.data, tensors.size);
		tenon_buffer_u64(&f->bytes, regions);
		tenon_buffer_append(&f->bytes, symbols.data, symbols.size);
		tenon_buffer_u64(&f->bytes, regions);
		err = tenon_buffer_append(&f->bytes, wanted.data, wanted.size);
	}
	tenon_buffer_fini(&tensors);
	tenon_buffer_fini(&wanted);
	tenon_buffer_fini(&symbols);
	tenon_buffer_fini(&all);
	return err;
}

int json_generate(struct partition *p, const struct generator *self, const char *kind,
		  void (*put_op)(struct json *j, size_t at))
{
	uint32_t i;
	int err = add_constants(p, self);

	for (i = 0; i < p->region_count && !err; i++)
		if (p->regions[i].generator == self)
			err = generate_region(p, &p->regions[i], kind, put_op);
	return err;
}
