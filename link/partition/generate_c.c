/* SPDX-License-Identifier: MIT */
/*
 * C: the generator for a processor that has a compiler. Each operator becomes a function with
 * constant extents, each region a launcher (tenon/launcher.h) that calls them in order, with
 * memory for the values between. c_operators.c begins the file.
 */
#include <math.h>
#include <tenon/backend/buffer.h>
#include <tenon/error.h>

#include "lib/number.h"
#include "link/partition/partition.h"

static const char c_operators[] =
#include "generated/c_operators.h"
	;

/* ---- what it supports */

/* an operator of elements: an expression of x, or of x and y; for int32 one that wraps, or NULL */
static const struct element_row {
	const char *op, *floats, *integers;
	uint32_t inputs;
	bool copies; /* into another shape */
} element_rows[] = {
	{ "add", "x + y", "(int32_t)((uint32_t)x + (uint32_t)y)", 2, false },
	{ "nn.bias_add", "x + y", NULL, 2, false },
	{ "subtract", "x - y", "(int32_t)((uint32_t)x - (uint32_t)y)", 2, false },
	{ "multiply", "x * y", "(int32_t)((uint32_t)x * (uint32_t)y)", 2, false },
	{ "divide", "x / y", NULL, 2, false },
	{ "maximum", "x > y ? x : y", "x > y ? x : y", 2, false },
	{ "minimum", "x < y ? x : y", "x < y ? x : y", 2, false },
	{ "nn.relu", "x > 0 ? x : 0", "x > 0 ? x : 0", 1, false },
	{ "nn.leaky_relu", "x > 0 ? x : x * alpha", NULL, 1, false },
	{ "clip", "x < a_min ? a_min : x > a_max ? a_max : x", NULL, 1, false },
	{ "tanh", "tanhf(x)", NULL, 1, false },
	{ "sigmoid", "1 / (1 + expf(-x))", NULL, 1, false },
	{ "nn.silu", "x / (1 + expf(-x))", NULL, 1, false },
	{ "exp", "expf(x)", NULL, 1, false },
	{ "log", "logf(x)", NULL, 1, false },
	{ "sqrt", "sqrtf(x)", NULL, 1, false },
	{ "abs", "fabsf(x)", NULL, 1, false },
	{ "negative", "-x", NULL, 1, false },
	{ "reshape", "x", NULL, 1, true },
	{ "nn.batch_flatten", "x", NULL, 1, true },
};

static const struct element_row *row_of(const struct op *o)
{
	return op_find(o, element_rows, sizeof(element_rows) / sizeof(element_rows[0]),
		       sizeof(element_rows[0]));
}

static bool c_supports(const struct op_graph *g, const struct op *o)
{
	const struct element_row *row = row_of(o);
	const bool floats = op_types(g, o, "float32");

	if (!row)
		return op_is_dense(g, o, "float32", "float32") ||
		       op_is_dense(g, o, "int8", "int32") ||
		       (floats &&
			(op_is_conv2d(g, o) || op_is_pool2d(g, o) || op_is_softmax(g, o)));
	if (row->inputs != o->input_count ||
	    !(floats || (row->integers && op_types(g, o, "int32"))))
		return false;
	if (row->copies)
		return g->values[o->inputs[0]].elements == g->values[o->output].elements;
	return op_is(o, "nn.bias_add") ? op_is_bias_add(g, o) : op_broadcasts(g, o);
}

/* ---- functions of operators */

/* struct source - a region that is written */
struct source {
	const struct op_graph *g;
	const struct region *r;
	struct tenon_buffer *out;
	struct tenon_buffer calls; /* of the functions, for the launcher */
	uint32_t next;
};

#define PUT(...) tenon_buffer_printf(s->out, __VA_ARGS__)

static const struct op_value *value_of(const struct source *s, uint32_t value)
{
	return &s->g->values[value];
}

/* Where an operand has the element of the result that the loops are at. */
static void put_index(struct source *s, const struct op *o, uint32_t input)
{
	const struct op_value *out = value_of(s, o->output), *in = value_of(s, o->inputs[input]);
	const int32_t from = out->ndim - in->ndim;
	long long stride = 1;
	int32_t k;

	if (op_is(o, "nn.bias_add") && input) {
		PUT("i%d", op_axis(s->g, o, 1, out->ndim));
		return;
	}
	PUT("0");
	for (k = in->ndim; k-- > 0; stride *= in->shape[k])
		if (in->shape[k] != 1)
			PUT(" + i%d * INT64_C(%lld)", from + k, stride);
}

static void put_float(struct source *s, const char *name, double value)
{
	char number[NUMBER_ROOM];

	if (isfinite(value))
		PUT("\tconst float %s = (float)%s;\n", name, number_print(number, 9, value));
	else
		PUT("\tconst float %s = %s;\n", name,
		    isnan(value) ? "NAN"
		    : value < 0	 ? "-INFINITY"
				 : "INFINITY");
}

static void put_elements(struct source *s, const struct op *o, const char *type)
{
	const struct op_value *out = value_of(s, o->output);
	const struct element_row *row = row_of(o);
	int32_t k;

	if (op_is(o, "nn.leaky_relu"))
		put_float(s, "alpha", op_real(s->g, o, "alpha", 0.01));
	if (op_is(o, "clip")) {
		put_float(s, "a_min", op_real(s->g, o, "a_min", 0));
		put_float(s, "a_max", op_real(s->g, o, "a_max", 0));
	}
	if (row->copies) {
		PUT("\tfor (int64_t i = 0; i < INT64_C(%lld); i++)\n\t\tout[i] = a[i];\n",
		    (long long)out->elements);
		return;
	}
	for (k = 0; k < out->ndim; k++)
		PUT("\tfor (int64_t i%d = 0; i%d < %lld; i%d++)\n", k, k, (long long)out->shape[k],
		    k);
	PUT("\t{\n\t\tconst %s x = a[", type);
	put_index(s, o, 0);
	if (row->inputs == 2) {
		PUT("], y = b[");
		put_index(s, o, 1);
	}
	PUT("];\n\n\t\t*out++ = %s;\n\t}\n", *type == 'f' ? row->floats : row->integers);
}

static void put_softmax(struct source *s, const struct op *o)
{
	const struct op_value *v = value_of(s, o->output);
	const int32_t axis = op_axis(s->g, o, -1, v->ndim);
	long long inner = 1;
	int32_t i;

	for (i = axis + 1; i < v->ndim; i++)
		inner *= v->shape[i];
	PUT("\tsoftmax(out, a, INT64_C(%lld), INT64_C(%lld), INT64_C(%lld));\n",
	    v->elements / inner / (long long)v->shape[axis], (long long)v->shape[axis], inner);
}

/* A convolution or pooling. */
static void put_windowed(struct source *s, const struct op *o)
{
	struct op_window w;
	int64_t groups;
	int i;

	op_window(s->g, o, &w);
	op_numbers(s->g, o, "groups", 1, &groups, 1);
	PUT("\tstatic const struct window w = { { ");
	op_put_extents(s->out, value_of(s, o->inputs[0]), ", ");
	PUT(" }, { ");
	op_put_extents(s->out, value_of(s, o->output), ", ");
	PUT(" }");
	for (i = 0; i < 2; i++)
		PUT(", { %lld, %lld, %lld, %lld }", (long long)w.kernel[i], (long long)w.strides[i],
		    (long long)w.dilation[i], (long long)w.before[i]);
	if (op_is(o, "nn.conv2d"))
		PUT(" };\n\n\tconvolution(out, a, b, &w, %lld);\n", (long long)groups);
	else
		PUT(" };\n\n\tpooling(out, a, &w, %d, %d);\n", op_is(o, "nn.max_pool2d"),
		    op_flag(s->g, o, "count_include_pad"));
}

static const char *type_of(const struct op_value *v)
{
	if (op_value_is(v, "int8"))
		return "int8_t";
	return op_value_is(v, "int32") ? "int32_t" : "float";
}

static int put_op(void *context, const struct op *o)
{
	struct source *s = context;
	const struct op_value *x = value_of(s, o->inputs[0]), *y = value_of(s, o->output);
	const char *type = type_of(y), *operand = type_of(x);
	uint32_t i;

	PUT("/* %.*s */\nstatic void %s_%u(%s *restrict out", (int)o->name.size, o->name.data,
	    s->r->name, s->next, type);
	tenon_buffer_printf(&s->calls, "\t%s_%u(v%u", s->r->name, s->next++, o->output);
	for (i = 0; i < o->input_count; i++) {
		PUT(", const %s *%c", operand, "ab"[i]);
		tenon_buffer_printf(&s->calls, ", v%u", o->inputs[i]);
	}
	tenon_buffer_printf(&s->calls, ");\n");
	PUT(")\n{\n");
	if (row_of(o))
		put_elements(s, o, type);
	else if (op_is(o, "nn.dense"))
		PUT("\tdense_%s(out, a, b, %lld, %lld, %lld);\n", operand, (long long)y->shape[0],
		    (long long)y->shape[1], (long long)x->shape[1]);
	else if (op_is(o, "nn.softmax"))
		put_softmax(s, o);
	else
		put_windowed(s, o);
	return PUT("}\n\n");
}

/* ---- launchers */

static int put_buffer(void *context, const struct op *o)
{
	struct source *s = context;

	if (partition_place(s->r->outputs, s->r->output_count, o->output) != UINT32_MAX)
		return 0;
	/* a thread keeps the memory for its next call */
	return PUT("\tstatic _Thread_local %s v%u[%lld];\n", type_of(value_of(s, o->output)),
		   o->output, (long long)value_of(s, o->output)->elements);
}

static void put_argument(struct source *s, uint32_t value, const char *access, uint32_t number)
{
	const struct op_value *v = value_of(s, value);
	const char *type = type_of(v);

	PUT("\t%s%s *v%u = tenon_launch_elements(call, %u, %s, %d, INT64_C(%lld));\n", access, type,
	    value, number, *type == 'f' ? "kDLFloat" : "kDLInt", type[3] == '8' ? 8 : 32,
	    (long long)v->elements);
	PUT("\n\tif (!v%u)\n\t\treturn -1;\n", value);
}

static int put_region(struct source *s)
{
	const struct region *r = s->r;
	uint32_t i;
	int err;

	s->next = 0;
	s->calls.size = 0;
	err = partition_ops(s->g, r, put_op, s);
	PUT("TENON_LAUNCHER(%s)\n{\n", r->name);
	if (!err)
		err = partition_ops(s->g, r, put_buffer, s);
	for (i = 0; i < r->input_count; i++)
		put_argument(s, r->inputs[i], "const ", i);
	for (i = 0; i < r->output_count; i++)
		put_argument(s, r->outputs[i], "", r->input_count + i);
	PUT("\n%.*s\treturn 0;\n}\n\n", (int)s->calls.size, s->calls.data);
	return err ? err : s->calls.status ? s->calls.status : s->out->status;
}

static int c_generate(struct partition *p, const struct generator *self)
{
	struct partition_file *f = partition_add_file(p, "regions.c", NULL, NULL);
	struct source s = { .g = p->g, .calls = TENON_BUFFER_INIT };
	uint32_t i;
	int err = -TENON_E_NOMEM;

	if (f) {
		s.out = &f->bytes;
		err = tenon_buffer_printf(s.out, "%s\n", c_operators);
	}
	for (i = 0; i < p->region_count && !err; i++) {
		s.r = &p->regions[i];
		if (s.r->generator == self)
			err = put_region(&s);
	}
	tenon_buffer_fini(&s.calls);
	return err;
}

extern const struct generator c_generator;
const struct generator c_generator = {
	.name = "c",
	.summary = "C, for the host's compiler or a cross compiler",
	.prefix = "region",
	.supports = c_supports,
	.generate = c_generate,
};
