/* SPDX-License-Identifier: MIT */
/*
 * ExampleJSON, the graph of TVM's guide: the generator for a runtime of your own. The payload is
 * one string, the text; the runtime for it is the plug-in examples/example_json/.
 */
#include <stdlib.h>
#include <tenon/backend/buffer.h>
#include <tenon/error.h>

#include "lib/brief_errors.h"
#include "link/partition/partition.h"

struct text {
	struct partition *p;
	struct tenon_buffer out;
	uint32_t *id; /* of each value */
	uint32_t next;
};

static const struct word {
	const char *op, *word;
} words[] = { { "add", "add" }, { "subtract", "sub" }, { "multiply", "mul" } };

static const char *word_of(const struct op *o)
{
	const struct word *w =
		op_find(o, words, sizeof(words) / sizeof(words[0]), sizeof(words[0]));

	return w ? w->word : NULL;
}

static bool example_supports(const struct op_graph *g, const struct op *o)
{
	return word_of(o) && o->input_count == 2 && op_types(g, o, "float32") &&
	       op_same_shapes(g, o);
}

static int put_shape(struct text *t, uint32_t value)
{
	op_put_extents(&t->out, &t->p->g->values[value], " ");
	return tenon_buffer_printf(&t->out, "\n");
}

static int put_op(void *context, const struct op *o)
{
	struct text *t = context;

	t->id[o->output] = t->next++;
	tenon_buffer_printf(&t->out, "  %s %u inputs: %u %u shape: ", word_of(o), t->id[o->output],
			    t->id[o->inputs[0]], t->id[o->inputs[1]]);
	return put_shape(t, o->output);
}

/* Ids are those of one table, and the arguments of a function are its inputs by their ids. */
static int put_region(struct text *t, const struct region *r)
{
	uint32_t i;

	tenon_buffer_printf(&t->out, "%s\n", r->name);
	for (i = 0; i < r->input_count; i++) {
		t->id[r->inputs[i]] = t->next++;
		tenon_buffer_printf(&t->out, "  input %u ", t->id[r->inputs[i]]);
		put_shape(t, r->inputs[i]);
	}
	return partition_ops(t->p->g, r, put_op, t);
}

static int example_generate(struct partition *p, const struct generator *self)
{
	struct text t = { p, TENON_BUFFER_INIT, NULL, 0 };
	struct partition_file *f;
	uint32_t i;
	int err = 0;

	t.id = calloc((size_t)p->g->value_count + 1, sizeof(*t.id));
	if (!t.id)
		return tenon_error(-TENON_E_NOMEM, "no memory for a text");
	for (i = 0; i < p->region_count && !err; i++)
		if (p->regions[i].generator == self)
			err = put_region(&t, &p->regions[i]);
	if (!err) {
		f = partition_add_file(p, "subgraphs.payload", "examplejson", NULL);
		err = f ? tenon_buffer_string(&f->bytes,
					      (struct tenon_slice){ t.out.data, t.out.size })
			: -TENON_E_NOMEM;
	}
	tenon_buffer_fini(&t.out);
	free(t.id);
	return err;
}

extern const struct generator example_json_generator;
const struct generator example_json_generator = {
	.name = "examplejson",
	.summary = "ExampleJSON, for a runtime that reads a graph",
	.prefix = "subgraph",
	.single_output = true,
	.supports = example_supports,
	.generate = example_generate,
};
