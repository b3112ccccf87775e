/* SPDX-License-Identifier: MIT */
/* The kernels that cases ask for: their arguments, launch tags and what they compute. */
#include "tests/cts/cts.h"

#define SCALAR(type)                                                                               \
	{ "scalar_" #type, { "handle", #type }, { NULL }, "out[0] = v, both of the type" },        \
	{                                                                                          \
		"scalar_" #type "_first", { #type, "handle" }, { NULL }, "as before, v first"      \
	}

const struct cts_kernel cts_kernels[] = {
	{ "add",
	  { "handle", "handle", "handle", "int32" },
	  { "blockIdx.x", "threadIdx.x" },
	  "int32 a, b, out: i = blockIdx.x * 32 + threadIdx.x; if (i < n) out[i] = a[i] + b[i]; "
	  "launched with 32 threads" },
	{ "scale",
	  { "handle", "float32", "int32" },
	  { "threadIdx.x", "blockIdx.x" },
	  "float32 data: i = blockIdx.x * 32 + threadIdx.x; if (i < n) data[i] *= factor" },
	{ "bump",
	  { "handle" },
	  { "blockIdx.x" },
	  "int32 data: data[blockIdx.x] += 1; launched with 1 thread" },
	SCALAR(int8),
	SCALAR(uint8),
	SCALAR(int16),
	SCALAR(uint16),
	SCALAR(int32),
	SCALAR(uint32),
	SCALAR(int64),
	SCALAR(uint64),
	SCALAR(float16),
	SCALAR(bfloat16),
	SCALAR(float32),
	SCALAR(float64),
	SCALAR(bool),
	{ "order",
	  { "int32", "handle", "float32", "uint32", "handle", "int32" },
	  { NULL },
	  "int32 out, in: (a, out, b, c, in, d): out[0] = a, out[1] = (int)(b * 4), out[2] = "
	  "(int)c, "
	  "out[3] = in[0], out[4] = d" },
	{ "order_wide",
	  { "int8", "handle", "float64", "int32", "int64", "handle", "int16" },
	  { NULL },
	  "int64 out, in: (a, out, b, c, d, in, e): out[0] = a, out[1] = (int64)(b * 4), out[2] = "
	  "c, "
	  "out[3] = d, out[4] = in[0], out[5] = e" },
	{ "many",
	  { "handle", "int32", "int32", "int32", "int32", "int32", "int32", "int32", "int32",
	    "int32", "int32" },
	  { NULL },
	  "int32 out: out[i] = the i-th scalar" },
	{ "where",
	  { "handle" },
	  { "blockIdx.z", "blockIdx.x", "blockIdx.y" },
	  "int32 out, 1 thread: out[(z * gridDim.y + y) * gridDim.x + x] = x + 10 * y + 100 * z" },
	{ "threads",
	  { "handle" },
	  { "threadIdx.y", "blockIdx.x", "threadIdx.x" },
	  "int32 out, 4 x 2 threads: out[blockIdx.x * 8 + threadIdx.y * 4 + threadIdx.x] = "
	  "1000 * blockIdx.x + 10 * threadIdx.y + threadIdx.x" },
	{ "reverse",
	  { "handle" },
	  { "blockIdx.x", "threadIdx.x", "tir.use_dyn_shared_memory" },
	  "int32 data, 16 threads, 64 bytes shared: each block reverses its 16 elements through "
	  "shared memory" },
	{ NULL, { NULL }, { NULL }, NULL },
};
