/* SPDX-License-Identifier: MIT */
/*
 * Merging partial results on the host. TVM's kernel for GPUs lets work items of a group overwrite a
 * number that others still read, which is right where they run in lockstep only. OpenCL drivers for
 * processors run them one after another, so on these the result is merged here.
 */
#include <stdlib.h>
#include <string.h>
#include <tenon/memory.h>

#include "runtime/kv/kv_internal.h"
#include "runtime/model/tensor_place.h"

/* 2^x for x <= 0 */
static double power_of_two(double x)
{
	double rest, term = 1, sum = 1;
	uint64_t bits;
	int whole, i;

	if (!(x > -1000))
		return 0;
	whole = (int)x;
	rest = (x - whole) * 0.6931471805599453;
	for (i = 1; i < 18; i++) {
		term *= rest / i;
		sum += term;
	}
	bits = (uint64_t)(1023 + whole) << 52;
	memcpy(&term, &bits, sizeof(term));
	return sum * term;
}

/* log2(x) for 1 <= x <= 2 */
static double binary_logarithm(double x)
{
	double y = (x - 1) / (x + 1), power = y, sum = 0;
	int i;

	for (i = 1; i < 40; i += 2) {
		sum += power / i;
		power *= y * y;
	}
	return sum * 2 * 1.4426950408889634;
}

static int to_host(const DLTensor *from, struct tenon_tensor **out)
{
	static const DLDevice host = { kDLCPU, 0 };
	size_t bytes;
	int err = tenon_tensor_create_on(host, from->shape, from->ndim, from->dtype, out);

	if (!err)
		err = tenon_tensor_bytes(from, &bytes);
	if (!err)
		err = place_copy(from, &(*out)->dl, bytes);
	return err;
}

static void merge_rows(struct tenon_tensor *const t[4])
{
	float *out = t[0]->dl.data, *lse = t[1]->dl.data;
	const float *out2 = t[2]->dl.data, *lse2 = t[3]->dl.data;
	int64_t rows = t[1]->dl.shape[0] * t[1]->dl.shape[1], width = t[0]->dl.shape[2], i, k;
	double most, a, b;

	for (i = 0; i < rows; i++) {
		most = lse[i] > lse2[i] ? lse[i] : lse2[i];
		a = power_of_two(lse[i] - most);
		b = power_of_two(lse2[i] - most);
		for (k = i * width; k < (i + 1) * width; k++)
			out[k] = (float)((out[k] * a + out2[k] * b) / (a + b));
		lse[i] = (float)(most + binary_logarithm(a + b));
	}
}

bool kv_merges_on_host(const struct kv_cache *c)
{
	return c->opened && c->config.dtype.code == TENON_DTYPE_FLOAT &&
	       c->config.dtype.bits == 32 &&
	       tenon_device_properties(c->opened)->device_class == TENON_CLASS_CPU;
}

int kv_merge_on_host(const struct tenon_value tensors[4])
{
	struct tenon_tensor *t[4] = { NULL, NULL, NULL, NULL };
	DLTensor *there[4];
	size_t bytes;
	int i, err = 0;

	for (i = 0; i < 4 && !err; i++) {
		err = tenon_value_tensor(&tensors[i], &there[i]);
		if (!err)
			err = to_host(there[i], &t[i]);
	}
	if (!err)
		merge_rows(t);
	for (i = 0; i < 2 && !err; i++) {
		err = tenon_tensor_bytes(there[i], &bytes);
		if (!err)
			err = place_copy(&t[i]->dl, there[i], bytes);
	}
	for (i = 0; i < 4; i++)
		tenon_object_unref(t[i]);
	return err;
}
