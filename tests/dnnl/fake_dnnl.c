/* SPDX-License-Identifier: MIT */
/*
 * A stand-in for oneDNN, for faults: each call counts, and one of them fails. Functions that make an object write its address
 * where their first argument points; the other arguments are not read, so most functions are declared without them.
 */
#include "fake_dnnl.h"

#include <stddef.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

extern struct fake_dnnl fake_dnnl;
EXPORT struct fake_dnnl fake_dnnl = { .major = 2, .minor = 6 };

/* larger than a description of version 2, which callers copy */
static const char layout[1024];

static int next(void)
{
	return ++fake_dnnl.calls == fake_dnnl.fails_at ? fake_dnnl.status : 0;
}

static int make(void **out)
{
	int status = next();

	if (status)
		return status;
	*out = malloc(1);
	if (!*out)
		return 1;
	fake_dnnl.live++;
	return 0;
}

#define MAKES(name)                                                                                \
	EXPORT int dnnl_##name(void **out);                                                        \
	int dnnl_##name(void **out)                                                                \
	{                                                                                          \
		return make(out);                                                                  \
	}

#define DOES(name)                                                                                 \
	EXPORT int dnnl_##name(void);                                                              \
	int dnnl_##name(void)                                                                      \
	{                                                                                          \
		return next();                                                                     \
	}

#define ENDS(name)                                                                                 \
	EXPORT int dnnl_##name(void *object);                                                      \
	int dnnl_##name(void *object)                                                              \
	{                                                                                          \
		fake_dnnl.live--;                                                                  \
		free(object);                                                                      \
		return 0;                                                                          \
	}

MAKES(engine_create)
MAKES(stream_create)
MAKES(memory_create)
MAKES(primitive_attr_create)
MAKES(post_ops_create)
MAKES(primitive_create)
MAKES(reorder_primitive_desc_create)
MAKES(primitive_desc_create)
MAKES(convolution_forward_primitive_desc_create)
MAKES(deconvolution_forward_primitive_desc_create)
MAKES(inner_product_forward_primitive_desc_create)
MAKES(matmul_primitive_desc_create)
MAKES(pooling_forward_primitive_desc_create)
MAKES(eltwise_forward_primitive_desc_create)
MAKES(softmax_forward_primitive_desc_create)
MAKES(binary_primitive_desc_create)
MAKES(batch_normalization_forward_primitive_desc_create)
MAKES(layer_normalization_forward_primitive_desc_create)
MAKES(concat_primitive_desc_create)
MAKES(memory_desc_create_with_strides)
MAKES(memory_desc_create_with_tag)
MAKES(memory_desc_clone)

DOES(stream_wait)
DOES(memory_set_data_handle)
DOES(primitive_attr_set_scratchpad_mode)
DOES(primitive_attr_set_output_scales)
DOES(primitive_attr_set_post_ops)
DOES(primitive_attr_set_scales_mask)
DOES(primitive_attr_set_zero_points)
DOES(primitive_attr_set_zero_points_mask)
DOES(primitive_execute)
DOES(memory_desc_init_by_strides)
DOES(memory_desc_init_by_tag)
DOES(post_ops_append_eltwise)
DOES(post_ops_append_sum)
DOES(dilated_convolution_forward_desc_init)
DOES(dilated_deconvolution_forward_desc_init)
DOES(inner_product_forward_desc_init)
DOES(matmul_desc_init)
DOES(pooling_v2_forward_desc_init)
DOES(eltwise_forward_desc_init)
DOES(softmax_v2_forward_desc_init)
DOES(binary_desc_init)
DOES(batch_normalization_forward_desc_init)
DOES(layer_normalization_forward_desc_init)

ENDS(engine_destroy)
ENDS(stream_destroy)
ENDS(memory_destroy)
ENDS(primitive_attr_destroy)
ENDS(post_ops_destroy)
ENDS(primitive_destroy)
ENDS(primitive_desc_destroy)
ENDS(memory_desc_destroy)

struct version {
	int major, minor, patch;
};

EXPORT const struct version *dnnl_version(void);
EXPORT int dnnl_get_effective_cpu_isa(void);
EXPORT int dnnl_memory_desc_equal(void);
EXPORT int dnnl_memory_desc_permute_axes(void **out);
EXPORT size_t dnnl_memory_desc_get_size(void);
EXPORT const void *dnnl_primitive_desc_query_md(void);

const struct version *dnnl_version(void)
{
	static struct version v;

	v.major = fake_dnnl.major;
	v.minor = fake_dnnl.minor;
	return &v;
}

/* AVX-512 with products of bytes, or without */
int dnnl_get_effective_cpu_isa(void)
{
	return fake_dnnl.inexact ? 0x27 : 0x67;
}

int dnnl_memory_desc_equal(void)
{
	return fake_dnnl.equal;
}

/* Version 2 fills in a description that the caller has. */
int dnnl_memory_desc_permute_axes(void **out)
{
	return fake_dnnl.major == 2 ? next() : make(out);
}

size_t dnnl_memory_desc_get_size(void)
{
	return 64;
}

const void *dnnl_primitive_desc_query_md(void)
{
	return next() ? NULL : layout;
}
