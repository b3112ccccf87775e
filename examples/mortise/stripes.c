/* SPDX-License-Identifier: MIT */
/*
 * stripes FOLDER: write a small model, in place of a compiler. It says which way the stripes of an image run:
 *
 *	x        float32 [16, 16]      the image, white is 1, black is -1
 *	quantise host                  int8, in four channels
 *	conv     device, depthwise     a filter of lines for each direction, a channel each
 *	pool     host                  means of squares of 4 x 4
 *	dense    device, 64 to 16      a direction in a quarter of the image
 *	dense    device, 16 to 4       the direction; the result "scores", int8 in sixteenths
 *	softmax  host                  the result "probabilities"
 *	argmax   host                  the result "class": 0 horizontal, 1 vertical, 2 falling, 3 rising
 *
 * FOLDER gets mortise.json, the graph with its device operators on mortise; host.json, the same on the host;
 * stripes.params; and four images, horizontal.bin and so on.
 */
#include <stdio.h>
#include <string.h>

#include <tenon/tenon.h>
#include <tenon/uapi/mortise.h>

#define SIDE	 16
#define CLASSES	 4
#define POOLED	 4
#define FEATURES (POOLED * POOLED * CLASSES)
#define HIDDEN	 16

static const char *const names[CLASSES] = { "horizontal", "vertical", "falling", "rising" };

/* Does a line through the middle of a square of 3 x 3 meet a cell. */
static int on_line(int direction, int row, int column)
{
	switch (direction) {
	case 0:
		return row == 1;
	case 1:
		return column == 1;
	case 2:
		return row == column;
	default:
		return row + column == 2;
	}
}

/* ---- parameters */

static int8_t conv_weight[9 * CLASSES], dense1_weight[HIDDEN * FEATURES],
	dense2_weight[CLASSES * HIDDEN];
static int32_t conv_bias[CLASSES], dense1_bias[HIDDEN], dense2_bias[CLASSES] = { 40, -10, 25, 0 };
/* multiplier, shift, zero point, least, most */
static int32_t conv_scale[] = { 1, 3, 0, 0, 127 }, dense1_scale[] = { 1, 4, 0, 0, 127 };
static int32_t dense2_scale[] = { 1, 2, 0, -128, 127 };
/* height, width, channels, kernel, stride, pad, zero point: struct depthwise_shape */
static int32_t conv_shape[] = { SIDE, SIDE, CLASSES, 3, 1, 1, 0 };

/* hidden value h stands for the direction h / 4 in the quarter h % 4 */
static int quarter_of(int feature)
{
	int y = feature / CLASSES / POOLED, x = feature / CLASSES % POOLED;

	return y / 2 * 2 + x / 2;
}

static void fill_weights(void)
{
	int i, k;

	for (i = 0; i < 9 * CLASSES; i++)
		conv_weight[i] = on_line(i % CLASSES, i / CLASSES / 3, i / CLASSES % 3) ? 2 : -1;
	for (i = 0; i < HIDDEN; i++)
		for (k = 0; k < FEATURES; k++)
			if (quarter_of(k) == i % 4)
				dense1_weight[i * FEATURES + k] = k % CLASSES == i / 4 ? 5 : -1;
	for (i = 0; i < CLASSES; i++)
		for (k = 0; k < HIDDEN; k++)
			dense2_weight[i * HIDDEN + k] = k / 4 == i ? 2 : -1;
}

/* ---- the graph */

/**
 * struct node - a node of the graph, with one result
 * @name: its name
 * @call: the operator it calls; NULL for an input
 * @inputs: nodes it reads, ended by -1
 * @type: element type of its result
 * @shape: extents of its result, ended by 0
 * @on_device: its result lies on the device
 * @data: of a parameter
 */
struct node {
	const char *name;
	const char *call;
	int inputs[6];
	const char *type;
	int64_t shape[4];
	int on_device;
	void *data;
};

/* clang-format off */
static const struct node nodes[] = {
	{ "x",             NULL,       { -1 }, "float32", { SIDE, SIDE }, 0, NULL },
	{ "conv_weight",   NULL,       { -1 }, "int8",    { 3, 3, CLASSES }, 1, conv_weight },
	{ "conv_bias",     NULL,       { -1 }, "int32",   { CLASSES }, 1, conv_bias },
	{ "conv_scale",    NULL,       { -1 }, "int32",   { 5 }, 1, conv_scale },
	{ "conv_shape",    NULL,       { -1 }, "int32",   { 7 }, 1, conv_shape },
	{ "dense1_weight", NULL,       { -1 }, "int8",    { HIDDEN, FEATURES }, 1, dense1_weight },
	{ "dense1_bias",   NULL,       { -1 }, "int32",   { HIDDEN }, 1, dense1_bias },
	{ "dense1_scale",  NULL,       { -1 }, "int32",   { 5 }, 1, dense1_scale },
	{ "dense2_weight", NULL,       { -1 }, "int8",    { CLASSES, HIDDEN }, 1, dense2_weight },
	{ "dense2_bias",   NULL,       { -1 }, "int32",   { CLASSES }, 1, dense2_bias },
	{ "dense2_scale",  NULL,       { -1 }, "int32",   { 5 }, 1, dense2_scale },
	{ "quantised",     "quantise", { 0, -1 }, "int8", { SIDE, SIDE, CLASSES }, 0, NULL },
	{ "image",         "__copy",   { 11, -1 }, "int8", { SIDE, SIDE, CLASSES }, 1, NULL },
	{ "lines",         "conv",     { 12, 1, 2, 3, 4, -1 }, "int8", { SIDE, SIDE, CLASSES }, 1, NULL },
	{ "lines_host",    "__copy",   { 13, -1 }, "int8", { SIDE, SIDE, CLASSES }, 0, NULL },
	{ "pooled",        "pool",     { 14, -1 }, "int8", { POOLED, POOLED, CLASSES }, 0, NULL },
	{ "features",      "__copy",   { 15, -1 }, "int8", { POOLED, POOLED, CLASSES }, 1, NULL },
	{ "hidden",        "dense",    { 16, 5, 6, 7, -1 }, "int8", { HIDDEN }, 1, NULL },
	{ "votes",         "dense",    { 17, 8, 9, 10, -1 }, "int8", { CLASSES }, 1, NULL },
	{ "scores",        "__copy",   { 18, -1 }, "int8", { CLASSES }, 0, NULL },
	{ "probabilities", "softmax",  { 19, -1 }, "float32", { CLASSES }, 0, NULL },
	{ "class",         "argmax",   { 19, -1 }, "int32", { 1 }, 0, NULL },
};
/* clang-format on */

#define NODES	   ((int)(sizeof(nodes) / sizeof(nodes[0])))
#define INPUTS	   11
#define FIRST_HEAD 19

/* numbers of DLPack's device types */
#define HOST 1

static const char *comma(int i)
{
	return i ? ", " : "";
}

static void print_node(FILE *f, const struct node *n)
{
	int i;

	fprintf(f, "{\"op\": \"%s\", \"name\": \"%s\", ", n->call ? "tvm_op" : "null", n->name);
	for (i = 0; n->inputs[i] >= 0; i++)
		;
	if (n->call)
		fprintf(f,
			"\"attrs\": {\"func_name\": \"%s\", \"num_inputs\": \"%d\", "
			"\"num_outputs\": \"1\", "
			"\"flatten_data\": \"0\"}, ",
			n->call, i);
	fprintf(f, "\"inputs\": [");
	for (i = 0; n->inputs[i] >= 0; i++)
		fprintf(f, "%s[%d, 0, 0]", comma(i), n->inputs[i]);
	fprintf(f, "]}");
}

static void print_shape(FILE *f, const struct node *n)
{
	int i;

	for (i = 0; n->shape[i]; i++)
		fprintf(f, "%s%d", i ? ", " : "[", (int)n->shape[i]);
	fprintf(f, "]");
}

static void print_graph(FILE *f, int device_type)
{
	int i;

	fprintf(f, "{\"nodes\": [");
	for (i = 0; i < NODES; i++) {
		fprintf(f, "%s\n  ", i ? "," : "");
		print_node(f, &nodes[i]);
	}
	fprintf(f, "],\n\"arg_nodes\": [");
	for (i = 0; i < INPUTS; i++)
		fprintf(f, "%s%d", comma(i), i);
	fprintf(f, "],\n\"heads\": [");
	for (i = FIRST_HEAD; i < NODES; i++)
		fprintf(f, "%s[%d, 0, 0]", comma(i - FIRST_HEAD), i);
	fprintf(f, "],\n\"attrs\": {\"dltype\": [\"list_str\", [");
	for (i = 0; i < NODES; i++)
		fprintf(f, "%s\"%s\"", comma(i), nodes[i].type);
	fprintf(f, "]],\n\"device_index\": [\"list_int\", [");
	for (i = 0; i < NODES; i++)
		fprintf(f, "%s%d", comma(i), nodes[i].on_device ? device_type : HOST);
	fprintf(f, "]],\n\"storage_id\": [\"list_int\", [");
	for (i = 0; i < NODES; i++)
		fprintf(f, "%s%d", comma(i), i);
	fprintf(f, "]],\n\"shape\": [\"list_shape\", [");
	for (i = 0; i < NODES; i++) {
		fprintf(f, "%s", comma(i));
		print_shape(f, &nodes[i]);
	}
	fprintf(f, "]]},\n\"node_row_ptr\": [");
	for (i = 0; i <= NODES; i++)
		fprintf(f, "%s%d", comma(i), i);
	fprintf(f, "]}\n");
}

/* ---- files */

static FILE *create(const char *folder, const char *name, const char *suffix)
{
	char path[4096];
	FILE *f = NULL;

	if (snprintf(path, sizeof(path), "%s/%s%s", folder, name, suffix) < (int)sizeof(path))
		f = fopen(path, "wb");
	if (!f)
		fprintf(stderr, "stripes: %s/%s%s cannot be created\n", folder, name, suffix);
	return f;
}

static int finish(FILE *f)
{
	int failed = ferror(f);

	return fclose(f) || failed;
}

static int write_graph(const char *folder, const char *name, int device_type)
{
	FILE *f = create(folder, name, ".json");

	if (!f)
		return 1;
	print_graph(f, device_type);
	return finish(f);
}

static int write_image(const char *folder, int direction)
{
	FILE *f = create(folder, names[direction], ".bin");
	int y, x;

	if (!f)
		return 1;
	for (y = 0; y < SIDE; y++)
		for (x = 0; x < SIDE; x++) {
			const int at[CLASSES] = { y, x, x - y + SIDE + 2, x + y };
			float pixel = at[direction] % 3 ? -1 : 1;

			fwrite(&pixel, sizeof(pixel), 1, f);
		}
	return finish(f);
}

static int make_param(const struct node *n, struct tenon_param *param)
{
	int32_t ndim = 0;
	DLDataType type;
	int err;

	while (n->shape[ndim])
		ndim++;
	memset(param, 0, sizeof(*param));
	err = tenon_dtype_parse(tenon_slice_of(n->type), &type);
	if (err)
		return err;
	param->name = tenon_slice_of(n->name);
	param->tensor = tenon_dltensor(n->data, (int64_t *)(uintptr_t)n->shape, ndim, type);
	return tenon_tensor_bytes(&param->tensor, &param->bytes);
}

static int write_params(const char *folder)
{
	struct tenon_param params[INPUTS - 1];
	char path[4096];
	int i, err = 0;

	for (i = 1; i < INPUTS && !err; i++)
		err = make_param(&nodes[i], &params[i - 1]);
	snprintf(path, sizeof(path), "%s/stripes.params", folder);
	if (!err)
		err = tenon_params_write(path, params, INPUTS - 1, 0);
	if (err)
		fprintf(stderr, "stripes: %s\n", tenon_error_message());
	return err;
}

int main(int argc, char **argv)
{
	int i;

	if (argc != 2) {
		fprintf(stderr, "Usage: stripes FOLDER\n");
		return 2;
	}
	fill_weights();
	for (i = 0; i < CLASSES; i++)
		if (write_image(argv[1], i))
			return 1;
	return write_params(argv[1]) || write_graph(argv[1], "host", HOST) ||
	       write_graph(argv[1], "mortise", TENON_DL_MORTISE);
}
