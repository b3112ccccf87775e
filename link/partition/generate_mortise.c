/* SPDX-License-Identifier: MIT */
/*
 * Command streams for mortise: the generator for an accelerator that takes finished code. Each
 * region becomes a kernel of a stream, whose regions are the arguments and scratch memory, and a
 * launcher that passes the tensors of its caller.
 */
#include <stdio.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>
#include <tenon/error.h>
#include <tenon/uapi/mortise.h>

#include "devices/cmdstream/cmdstream_emit.h"
#include "link/partition/partition.h"

struct stream {
	struct partition *p;
	struct cmdstream_emitter emitter;
	uint32_t *region; /* of each value, plus one */
	uint32_t files;	  /* streams that are complete */
};

/* an address in a packet, at byte @field */
struct hole {
	size_t field;
	uint32_t region;
};

static const struct vector_row {
	const char *op;
	uint8_t operation;
} vector_rows[] = {
	{ "add", MORTISE_VECTOR_ADD },	    { "subtract", MORTISE_VECTOR_SUB },
	{ "multiply", MORTISE_VECTOR_MUL }, { "maximum", MORTISE_VECTOR_MAX },
	{ "minimum", MORTISE_VECTOR_MIN },  { "nn.relu", MORTISE_VECTOR_MAX },
};

static const struct vector_row *row_of(const struct op *o)
{
	return op_find(o, vector_rows, sizeof(vector_rows) / sizeof(vector_rows[0]),
		       sizeof(vector_rows[0]));
}

static bool mortise_supports(const struct op_graph *g, const struct op *o)
{
	/* a row of the product has four bytes for each column, and a stride 32 bits */
	if (!row_of(o))
		return op_is_dense(g, o, "int8", "int32") &&
		       g->values[o->output].shape[1] <= INT32_MAX / 4;
	return o->input_count == (op_is(o, "nn.relu") ? 1u : 2u) && op_types(g, o, "int32") &&
	       op_same_shapes(g, o) && g->values[o->output].elements <= INT32_MAX;
}

/* ---- packets */

static void put_packet(struct cmdstream_emitter *e, uint8_t opcode, void *packet, size_t size,
		       const struct hole *holes, size_t count)
{
	struct mortise_header *h = packet;
	size_t at = 0, i;

	h->opcode = opcode;
	h->words = (uint16_t)(size / MORTISE_WORD);
	cmdstream_reserve(e, size);
	for (i = 0; i < count; i++) {
		cmdstream_emit(e, (char *)packet + at, holes[i].field - at);
		cmdstream_reloc(e, holes[i].region, 0, 8);
		at = holes[i].field + 8;
	}
	cmdstream_emit(e, (char *)packet + at, size - at);
}

static uint32_t region_of(const struct stream *s, uint32_t value)
{
	return s->region[value] - 1;
}

static void add_region(struct stream *s, uint32_t value, uint32_t kind, uint32_t access)
{
	const struct op_value *v = &s->p->g->values[value];
	const struct tenon_cmdstream_region r = {
		.kind = kind,
		.access = access,
		.size = (uint64_t)v->elements * (op_value_is(v, "int8") ? 1 : 4),
		.alignment = 16,
	};

	s->region[value] = cmdstream_region(&s->emitter, &r, NULL) + 1;
}

static void put_gemm(struct stream *s, const struct op *o)
{
	const struct op_value *values = s->p->g->values;
	const uint32_t m = (uint32_t)values[o->output].shape[0];
	const uint32_t n = (uint32_t)values[o->output].shape[1];
	const uint32_t k = (uint32_t)values[o->inputs[0]].shape[1];
	struct mortise_gemm packet = { .m = m,
				       .n = n,
				       .k = k,
				       .a_stride = k,
				       .b_stride = k,
				       .to_stride = 4 * n,
				       .least = -128,
				       .most = 127 };
	const struct hole holes[] = {
		{ offsetof(struct mortise_gemm, to), region_of(s, o->output) },
		{ offsetof(struct mortise_gemm, a), region_of(s, o->inputs[0]) },
		{ offsetof(struct mortise_gemm, b), region_of(s, o->inputs[1]) },
	};

	put_packet(&s->emitter, MORTISE_OP_GEMM, &packet, sizeof(packet), holes, 3);
}

static int put_op(void *context, const struct op *o)
{
	struct stream *s = context;
	const struct vector_row *row = row_of(o);
	struct mortise_vector packet = { .type = MORTISE_INT32 };
	struct hole holes[3];

	if (!s->region[o->output])
		add_region(s, o->output, TENON_REGION_SCRATCH,
			   TENON_REGION_READ | TENON_REGION_WRITE);
	if (!row) {
		put_gemm(s, o);
		return s->emitter.status;
	}
	packet.count = (uint32_t)s->p->g->values[o->output].elements;
	packet.operation = row->operation;
	holes[0] = (struct hole){ offsetof(struct mortise_vector, to), region_of(s, o->output) };
	holes[1] = (struct hole){ offsetof(struct mortise_vector, a), region_of(s, o->inputs[0]) };
	if (o->input_count > 1)
		holes[2] = (struct hole){ offsetof(struct mortise_vector, b),
					  region_of(s, o->inputs[1]) };
	put_packet(&s->emitter, MORTISE_OP_VECTOR, &packet, sizeof(packet), holes,
		   1 + o->input_count);
	return s->emitter.status;
}

/* ---- a kernel, and its launcher */

static int put_kernel(struct stream *s, const struct region *r)
{
	uint32_t arguments[TENON_CMDSTREAM_ARGUMENTS], i, count = r->input_count + r->output_count;
	char name[80] = "stream_";
	int err;

	for (i = 0; i < r->input_count; i++)
		add_region(s, r->inputs[i], TENON_REGION_INPUT, TENON_REGION_READ);
	for (i = 0; i < r->output_count; i++)
		add_region(s, r->outputs[i], TENON_REGION_OUTPUT,
			   TENON_REGION_READ | TENON_REGION_WRITE);
	for (i = 0; i < count; i++)
		arguments[i] = region_of(s, i < r->input_count ? r->inputs[i]
							       : r->outputs[i - r->input_count]);
	err = partition_ops(s->p->g, r, put_op, s);
	cmdstream_end_kernel(&s->emitter, strncat(name, r->name, 64), arguments, count);
	return err;
}

static int put_launcher(struct tenon_buffer *out, const struct region *r)
{
	const uint32_t count = r->input_count + r->output_count;

	tenon_buffer_printf(
		out,
		"TENON_LAUNCHER(%s)\n{\n"
		"\tstatic struct tenon_launch_kernel kernel = { \"stream_%s\", 0 };\n"
		"\tstruct tenon_launch_arg args[%u];\n\n"
		"\tfor (int i = 0; i < %u; i++) {\n"
		"\t\targs[i].type = 7; /* a tensor */\n"
		"\t\targs[i].as.pointer = (void *)(uintptr_t)tenon_launch_tensor(call, i);\n"
		"\t\tif (!args[i].as.pointer)\n"
		"\t\t\treturn -1;\n"
		"\t}\n"
		"\treturn tenon_launch_kernel(&kernel, args, %u);\n}\n\n",
		r->name, r->name, count, count, count);
	return out->status;
}

/* Make a file of the kernels so far. */
static int end_stream(struct stream *s)
{
	static const uint32_t config[] = { MORTISE_ABI, 0 };
	struct partition_file *f;
	char name[40] = "stream.cmdstream";
	int err;

	if (s->files)
		snprintf(name, sizeof(name), "stream_%u.cmdstream", s->files);
	s->files++;
	f = partition_add_file(s->p, name, "cmdstream", NULL);
	err = f ? cmdstream_flush(&s->emitter, "mortise", config, 2, &f->bytes) : -TENON_E_NOMEM;
	cmdstream_emitter_fini(&s->emitter);
	cmdstream_emitter_init(&s->emitter);
	return err;
}

static int put_regions(struct stream *s, const struct generator *self, struct tenon_buffer *host)
{
	const struct region *r;
	uint32_t i;
	int err = 0;

	for (i = 0; i < s->p->region_count && !err; i++) {
		r = &s->p->regions[i];
		if (r->generator != self)
			continue;
		if (s->emitter.region_count + partition_values(s->p->g, r) >
		    TENON_CMDSTREAM_REGIONS)
			err = end_stream(s);
		memset(s->region, 0, (size_t)s->p->g->value_count * sizeof(*s->region));
		if (!err)
			err = put_kernel(s, r);
		if (!err)
			err = put_launcher(host, r);
	}
	return err ? err : end_stream(s);
}

static int mortise_generate(struct partition *p, const struct generator *self)
{
	struct tenon_buffer host = TENON_BUFFER_INIT;
	struct stream s = { .p = p };
	struct partition_file *f;
	int err = -TENON_E_NOMEM;

	s.region = calloc((size_t)p->g->value_count + 1, sizeof(*s.region));
	cmdstream_emitter_init(&s.emitter);
	if (!s.region)
		goto fini;
	tenon_buffer_printf(&host, "/* Generated by tenon partition. */\n"
				   "#include <stdint.h>\n#include <tenon/launcher.h>\n\n");
	err = put_regions(&s, self, &host);
	f = err ? NULL : partition_add_file(p, "launchers.c", NULL, NULL);
	if (f) {
		f->bytes = host;
		host = (struct tenon_buffer)TENON_BUFFER_INIT;
	} else if (!err) {
		err = -TENON_E_NOMEM;
	}
fini:
	tenon_buffer_fini(&host);
	cmdstream_emitter_fini(&s.emitter);
	free(s.region);
	return err;
}

extern const struct generator mortise_generator;
const struct generator mortise_generator = {
	.name = "mortise",
	.summary = "command streams for mortise, and their launchers",
	.most_values = TENON_CMDSTREAM_REGIONS,
	.supports = mortise_supports,
	.generate = mortise_generate,
};
