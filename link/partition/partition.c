/* SPDX-License-Identifier: MIT */
/* Give nodes to generators and join neighbours to regions with inputs and outputs. */
#include "link/partition/partition.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/error.h>

#include "lib/brief_errors.h"

#define NONE UINT32_MAX

extern const struct generator c_generator, example_json_generator, dnnl_generator,
	mortise_generator;

const struct generator *const generators[] = { &c_generator, &example_json_generator,
					       &mortise_generator, &dnnl_generator, NULL };

static int no_memory(void)
{
	return tenon_error(-TENON_E_NOMEM, "no memory for a partition");
}

/* ---- the annotator */

static bool supports(const struct generator *s, const struct op_graph *g, const struct op_node *n)
{
	uint32_t i;

	for (i = 0; i < n->op_count; i++)
		if (!s->supports(g, &g->ops[n->first_op + i]))
			return false;
	return n->op_count > 0;
}

/* A node is the smallest region. */
static bool takes(const struct generator *s, const struct op_node *n)
{
	uint32_t i, count = n->op_count;

	for (i = 0; i < n->input_count; i++)
		count += partition_place(n->inputs, i, n->inputs[i]) == NONE;
	return !s->most_values || count <= s->most_values;
}

static void annotate(struct partition *p, const struct generator *const *wanted)
{
	const struct op_graph *g = p->g;
	uint32_t i, k;

	for (i = 0; i < g->node_count; i++) {
		for (k = 0; wanted[k]; k++) {
			if (!supports(wanted[k], g, &g->nodes[i]))
				continue;
			if (takes(wanted[k], &g->nodes[i]))
				break;
			p->crowded[i] = true;
		}
		p->of_node[i] = wanted[k];
		p->kept += !wanted[k];
	}
}

/* ---- regions: nodes that follow each other in an order of execution */

static bool is_ready(const struct partition *p, const bool *done, uint32_t node)
{
	const struct op_node *n = &p->g->nodes[node];
	uint32_t i, from;

	for (i = 0; i < n->input_count; i++) {
		from = p->node_of[n->inputs[i]];
		if (from != NONE && !done[from])
			return false;
	}
	return !done[node];
}

/* In a chain the node before has this one as its only reader. */
static bool continues(const struct partition *p, uint32_t last, uint32_t node)
{
	const struct op_node *n = &p->g->nodes[node], *before;
	uint32_t i;

	if (last == NONE || p->of_node[last] != p->of_node[node] || !p->of_node[node])
		return false;
	if (!p->of_node[node]->single_output)
		return true;
	before = &p->g->nodes[last];
	for (i = 0; i < n->input_count; i++)
		if (n->inputs[i] == before->first_output)
			return p->g->values[before->first_output].readers == 1;
	return false;
}

static int start_region(struct partition *p, const struct generator *generator)
{
	struct region *bigger = realloc(p->regions, (p->region_count + 1) * sizeof(*bigger)), *r;

	if (!bigger)
		return no_memory();
	p->regions = bigger;
	r = &bigger[p->region_count];
	memset(r, 0, sizeof(*r));
	r->generator = generator;
	snprintf(r->name, sizeof(r->name), "%s_%u",
		 generator->prefix ? generator->prefix : generator->name, p->region_count);
	p->region_count++;
	r->nodes = calloc((size_t)p->g->node_count + 1, sizeof(*r->nodes));
	r->inputs = calloc((size_t)p->g->value_count + 1, sizeof(*r->inputs));
	r->outputs = calloc((size_t)p->g->value_count + 1, sizeof(*r->outputs));
	r->baked = calloc((size_t)p->g->value_count + 1, sizeof(*r->baked));
	return r->nodes && r->inputs && r->outputs && r->baked ? 0 : no_memory();
}

/*
 * Visit nodes in the order in which their inputs become ready, and prefer the generator of the
 * previous node. A region is a contiguous run of that order, so no path leaves it and re-enters.
 */
static int find_regions(struct partition *p)
{
	bool *done = calloc((size_t)p->g->node_count + 1, sizeof(*done));
	uint32_t last = NONE, next, i, count;
	int err = done ? 0 : no_memory();

	for (count = 0; count < p->g->node_count && !err; count++) {
		next = NONE;
		for (i = 0; i < p->g->node_count; i++) {
			if (!is_ready(p, done, i))
				continue;
			if (next == NONE)
				next = i;
			if (continues(p, last, i)) {
				next = i;
				break;
			}
		}
		if (p->of_node[next] && !continues(p, last, next))
			err = start_region(p, p->of_node[next]);
		p->region_of[next] = p->of_node[next] ? p->region_count - 1 : NONE;
		if (p->of_node[next] && !err) {
			struct region *r = &p->regions[p->region_count - 1];

			r->nodes[r->node_count++] = next;
		}
		done[next] = true;
		p->order[count] = last = next;
	}
	free(done);
	return err;
}

/* ---- arguments of regions */

uint32_t partition_place(const uint32_t *list, uint32_t count, uint32_t value)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		if (list[i] == value)
			return i;
	return NONE;
}

static void add_value(uint32_t *list, uint32_t *count, uint32_t value)
{
	if (partition_place(list, *count, value) == NONE)
		list[(*count)++] = value;
}

static bool only_bakers_read(const struct partition *p, uint32_t value)
{
	const struct op_node *n;
	uint32_t i;

	for (i = 0; i < p->g->node_count; i++) {
		n = &p->g->nodes[i];
		if (partition_place(n->inputs, n->input_count, value) != NONE &&
		    (!p->of_node[i] || !p->of_node[i]->bakes))
			return false;
	}
	return !p->g->values[value].output;
}

static void find_inputs(struct partition *p, uint32_t region)
{
	struct region *r = &p->regions[region];
	const struct op_node *n;
	uint32_t i, k, from;

	for (i = 0; i < r->node_count; i++) {
		n = &p->g->nodes[r->nodes[i]];
		for (k = 0; k < n->input_count; k++) {
			from = p->node_of[n->inputs[k]];
			if (from != NONE && p->region_of[from] == region)
				continue;
			if (r->generator->bakes && p->g->values[n->inputs[k]].param &&
			    only_bakers_read(p, n->inputs[k]))
				add_value(r->baked, &r->baked_count, n->inputs[k]);
			else
				add_value(r->inputs, &r->input_count, n->inputs[k]);
		}
	}
}

static bool is_read_outside(const struct partition *p, uint32_t region, uint32_t value)
{
	const struct op_node *n;
	uint32_t i;

	for (i = 0; i < p->g->node_count; i++) {
		n = &p->g->nodes[i];
		if (p->region_of[i] != region &&
		    partition_place(n->inputs, n->input_count, value) != NONE)
			return true;
	}
	return p->g->values[value].output;
}

static void find_outputs(struct partition *p, uint32_t region)
{
	struct region *r = &p->regions[region];
	uint32_t i, value;

	for (i = 0; i < r->node_count; i++) {
		value = p->g->nodes[r->nodes[i]].first_output;
		/* the last one also where no other reads it: a function has an output */
		if (is_read_outside(p, region, value) ||
		    (i + 1 == r->node_count && !r->output_count))
			add_value(r->outputs, &r->output_count, value);
	}
}

static bool has_too_many(const struct partition *p, uint32_t region)
{
	const struct region *r = &p->regions[region];
	const uint32_t most = r->generator->most_values;

	return most && r->node_count > 1 && partition_values(p->g, r) > most;
}

/* Make a region of the later half of another's nodes. Both halves are parts of the order without gaps. */
static int part(struct partition *p, uint32_t region)
{
	struct region *r, *rest;
	uint32_t i;
	int err = start_region(p, p->regions[region].generator);

	if (err)
		return err;
	r = &p->regions[region];
	rest = &p->regions[p->region_count - 1];
	rest->node_count = r->node_count / 2;
	r->node_count -= rest->node_count;
	r->parted = rest->parted = true;
	for (i = 0; i < rest->node_count; i++) {
		rest->nodes[i] = r->nodes[r->node_count + i];
		p->region_of[rest->nodes[i]] = p->region_count - 1;
	}
	return 0;
}

/* Find the arguments of a region, and part it until its values are few enough. */
static int find_arguments(struct partition *p, uint32_t region)
{
	int err = 0;

	find_inputs(p, region);
	while (!err && has_too_many(p, region)) {
		err = part(p, region);
		p->regions[region].input_count = p->regions[region].baked_count = 0;
		find_inputs(p, region);
	}
	find_outputs(p, region);
	return err;
}

int partition_make(const struct op_graph *g, struct tenon_params *params,
		   const struct generator *const *wanted, struct partition *p)
{
	uint32_t i, k;
	int err;

	memset(p, 0, sizeof(*p));
	p->g = g;
	p->params = params;
	p->of_node = calloc((size_t)g->node_count + 1, sizeof(*p->of_node));
	p->order = calloc((size_t)g->node_count + 1, sizeof(*p->order));
	p->region_of = calloc((size_t)g->node_count + 1, sizeof(*p->region_of));
	p->node_of = malloc(((size_t)g->value_count + 1) * sizeof(*p->node_of));
	p->crowded = calloc((size_t)g->node_count + 1, sizeof(*p->crowded));
	if (!p->of_node || !p->crowded || !p->order || !p->region_of || !p->node_of)
		return no_memory();
	memset(p->node_of, 0xff, (size_t)g->value_count * sizeof(*p->node_of));
	for (i = 0; i < g->node_count; i++)
		for (k = 0; k < g->nodes[i].output_count; k++)
			p->node_of[g->nodes[i].first_output + k] = i;
	annotate(p, wanted);
	err = find_regions(p);
	for (i = 0; i < p->region_count && !err; i++)
		err = find_arguments(p, i);
	return err;
}

void partition_fini(struct partition *p)
{
	uint32_t i;

	for (i = 0; i < p->region_count; i++) {
		free(p->regions[i].nodes);
		free(p->regions[i].inputs);
		free(p->regions[i].outputs);
		free(p->regions[i].baked);
	}
	for (i = 0; i < p->file_count; i++)
		tenon_buffer_fini(&p->files[i].bytes);
	free(p->regions);
	free(p->files);
	free(p->of_node);
	free(p->crowded);
	free(p->order);
	free(p->region_of);
	free(p->node_of);
}

/* ---- for generators */

struct partition_file *partition_add_file(struct partition *p, const char *name, const char *kind,
					  const char *parent)
{
	struct partition_file *bigger = realloc(p->files, (p->file_count + 1) * sizeof(*bigger));

	if (!bigger) {
		no_memory();
		return NULL;
	}
	p->files = bigger;
	bigger += p->file_count++;
	*bigger = (struct partition_file){ .kind = kind,
					   .parent = parent,
					   .bytes = TENON_BUFFER_INIT };
	snprintf(bigger->name, sizeof(bigger->name), "%s", name);
	return bigger;
}

uint32_t partition_values(const struct op_graph *g, const struct region *r)
{
	uint32_t i, count = r->input_count;

	for (i = 0; i < r->node_count; i++)
		count += g->nodes[r->nodes[i]].op_count;
	return count;
}

int partition_ops(const struct op_graph *g, const struct region *r,
		  int (*each)(void *context, const struct op *o), void *context)
{
	const struct op_node *n;
	uint32_t i, k;
	int err = 0;

	for (i = 0; i < r->node_count && !err; i++) {
		n = &g->nodes[r->nodes[i]];
		for (k = 0; k < n->op_count && !err; k++)
			err = each(context, &g->ops[n->first_op + k]);
	}
	return err;
}
