/* SPDX-License-Identifier: MIT */
/* The suite of backends: OpenCL, on the driver that is installed. */
#include "tests/cts/cts.h"

#include <tenon/backend/buffer.h>

/* what cannot be the type of an argument comes as an integer of its size */
static const char *c_type(const char *dtype)
{
	static const struct {
		const char *dtype, *type;
	} types[] = {
		{ "int8", "char" },	 { "uint8", "uchar" },	   { "int16", "short" },
		{ "uint16", "ushort" },	 { "int32", "int" },	   { "uint32", "uint" },
		{ "int64", "long" },	 { "uint64", "ulong" },	   { "float16", "ushort" },
		{ "bool", "uchar" },	 { "bfloat16", "ushort" }, { "float32", "float" },
		{ "float64", "double" },
	};
	size_t i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(types[i].dtype, dtype))
			return types[i].type;
	return "?";
}

static const struct {
	const char *name, *source;
} sources[] = {
	{ "add",
	  "__kernel void add(__global const int *a, __global const int *b, __global int *out, "
	  "int n)\n"
	  "{ int i = get_group_id(0) * 32 + get_local_id(0); if (i < n) out[i] = a[i] + b[i]; "
	  "}\n" },
	{ "scale",
	  "__kernel void scale(__global float *data, float factor, int n)\n"
	  "{ int i = get_group_id(0) * 32 + get_local_id(0); if (i < n) data[i] *= factor; }\n" },
	{ "bump", "__kernel void bump(__global int *data) { data[get_group_id(0)] += 1; }\n" },
	{ "order",
	  "__kernel void order(int a, __global int *out, float b, uint c, __global const int "
	  "*in, int d)\n"
	  "{ out[0] = a; out[1] = (int)(b * 4); out[2] = (int)c; out[3] = in[0]; out[4] = d; }\n" },
	{ "order_wide",
	  "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
	  "__kernel void order_wide(char a, __global long *out, double b, int c, long d, __global "
	  "const long *in, short e)\n"
	  "{ out[0] = a; out[1] = (long)(b * 4); out[2] = c; out[3] = d; out[4] = in[0]; out[5] = "
	  "e; }\n" },
	{ "many",
	  "__kernel void many(__global int *out, int a, int b, int c, int d, int e, int f, int "
	  "g, int h, int i, int j)\n"
	  "{ out[0] = a; out[1] = b; out[2] = c; out[3] = d; out[4] = e; out[5] = f; out[6] = g; "
	  "out[7] = h; out[8] = i; out[9] = j; }\n" },
	{ "where", "__kernel void where(__global int *out)\n"
		   "{ int x = get_group_id(0), y = get_group_id(1), z = get_group_id(2);\n"
		   "  out[(z * get_num_groups(1) + y) * get_num_groups(0) + x] = x + 10 * y + 100 "
		   "* z; }\n" },
	{ "threads", "__kernel void threads(__global int *out)\n"
		     "{ int x = get_local_id(0), y = get_local_id(1), b = get_group_id(0);\n"
		     "  out[b * 8 + y * 4 + x] = 1000 * b + 10 * y + x; }\n" },
	/* never compiled: dynamic shared memory is refused before */
	{ "reverse", "" },
};

static void write_scalar(const struct cts_kernel *k, struct tenon_buffer *out)
{
	bool first = strcmp(k->arguments[0], "handle");
	const char *type = c_type(k->arguments[!first]);

	if (!strcmp(type, "double"))
		tenon_buffer_printf(out, "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n");
	if (first)
		tenon_buffer_printf(out, "__kernel void %s(%s v, __global %s *out)", k->name, type,
				    type);
	else
		tenon_buffer_printf(out, "__kernel void %s(__global %s *out, %s v)", k->name, type,
				    type);
	tenon_buffer_printf(out, " { out[0] = v; }\n");
}

static int code(struct tenon_buffer *out)
{
	const struct cts_kernel *k;
	size_t i;

	for (k = cts_kernels; k->name; k++) {
		tenon_buffer_printf(out, "// Function: %s\n", k->name);
		if (!strncmp(k->name, "scalar_", 7)) {
			write_scalar(k, out);
			continue;
		}
		for (i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
			if (!strcmp(sources[i].name, k->name))
				tenon_buffer_slice(out, tenon_slice_of(sources[i].source));
	}
	return out->status;
}

static const struct cts_note unsupported[] = {
	{ "shared_memory_comes_last", "OpenCL has no dynamic shared memory without an argument" },
	{ "blocks_share_dynamic_memory",
	  "OpenCL has no dynamic shared memory without an argument" },
	{ NULL, NULL },
};

const struct cts_backend cts_backend = {
	.uri = "opencl:0",
	.kind = "opencl",
	.format = "cl",
	.code = code,
	.unsupported = unsupported,
};
