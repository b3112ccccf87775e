/* SPDX-License-Identifier: MIT */
/* The functions of oneDNN that the plug-in calls, declared without its headers. */
#ifndef DRIVER_DNNL_DNNL_LIBRARY_H
#define DRIVER_DNNL_DNNL_LIBRARY_H

/*
 * The functions of oneDNN 2.6 and later, and of 3.x, that this plug-in calls: declared here, so that
 * building needs no header of oneDNN. Version 3 gave most descriptors another form; the functions
 * below hide the difference. tests/dnnl/ compares the numbers with oneDNN's header.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DNNL_DIMS_MOST 12

/* types of elements */
enum {
	DNNL_F32 = 3,
	DNNL_S32 = 4,
	DNNL_S8 = 5,
	DNNL_U8 = 6,
};

enum {
	DNNL_KIND_CPU = 1,
	DNNL_TAG_ANY = 1,
	DNNL_SCRATCHPAD_USER = 1,
	DNNL_STREAM_DEFAULT = 1,
	DNNL_FORWARD_INFERENCE = 96,
	DNNL_GLOBAL_STATS = 1,
};

/* algorithms with one number in all versions */
enum {
	DNNL_CONVOLUTION_AUTO = 3,
	DNNL_DECONVOLUTION_DIRECT = 10,
	DNNL_POOLING_MAX = 0x1ff,
	DNNL_POOLING_AVG_INCLUDE = 0x2ff,
	DNNL_POOLING_AVG_EXCLUDE = 0x3ff,
	DNNL_BINARY_ADD = 0x1fff0,
	DNNL_BINARY_MUL = 0x1fff1,
	DNNL_BINARY_MAX = 0x1fff2,
	DNNL_BINARY_MIN = 0x1fff3,
	DNNL_BINARY_DIV = 0x1fff4,
	DNNL_BINARY_SUB = 0x1fff5,
	DNNL_SOFTMAX_ACCURATE = 0x30000,
};

enum {
	DNNL_QUERY_SRC = 129,
	DNNL_QUERY_WEIGHTS = 131,
	DNNL_QUERY_DST = 133,
	DNNL_QUERY_SCRATCHPAD = 136,
};

enum {
	DNNL_ARG_SRC = 1,
	DNNL_ARG_SRC_1 = 2,
	DNNL_ARG_DST = 17,
	DNNL_ARG_WEIGHTS = 33,
	DNNL_ARG_BIAS = 41,
	DNNL_ARG_MEAN = 49,
	DNNL_ARG_VARIANCE = 50,
	DNNL_ARG_SCALE = 51,
	DNNL_ARG_SHIFT = 52,
	DNNL_ARG_SCRATCHPAD = 80,
	DNNL_ARG_MULTIPLE_SRC = 1024,
};

/* of version 3 alone: added to the number of another argument */
enum {
	DNNL_3_SCALES_OF = 4096,
	DNNL_3_ZERO_POINT_OF = 8192,
};

/* Element-wise algorithms, whose numbers changed with version 3. */
enum dnnl_eltwise {
	DNNL_RELU,
	DNNL_TANH,
	DNNL_ABS,
	DNNL_SQRT,
	DNNL_LOGISTIC,
	DNNL_EXP,
	DNNL_SWISH,
	DNNL_LOG,
	DNNL_CLIP,
	DNNL_GELU_ERF,
	DNNL_GELU_TANH,
	DNNL_ROUND,
	DNNL_LINEAR,
	DNNL_HARDSWISH,
	DNNL_ELTWISE_COUNT,
};

struct dnnl_layout; /* dnnl_memory_desc: an opaque struct in version 2, a handle in version 3 */
struct dnnl_engine;
struct dnnl_stream;
struct dnnl_memory;
struct dnnl_primitive;
struct dnnl_primitive_desc;
struct dnnl_attr;
struct dnnl_post_ops;

struct dnnl_exec_arg {
	int arg;
	struct dnnl_memory *memory;
};

/* struct dnnl_window - where a convolution or a pooling looks; for each spatial dimension */
struct dnnl_window {
	int64_t kernel[DNNL_DIMS_MOST];
	int64_t strides[DNNL_DIMS_MOST];
	int64_t dilates[DNNL_DIMS_MOST]; /* 0 for neighbours */
	int64_t before[DNNL_DIMS_MOST];	 /* padding */
	int64_t after[DNNL_DIMS_MOST];
};

/* functions that are the same in both versions */
#define DNNL_SAME(F)                                                                               \
	F(engine_create, (struct dnnl_engine **, int, size_t))                                     \
	F(engine_destroy, (struct dnnl_engine *))                                                  \
	F(stream_create, (struct dnnl_stream **, struct dnnl_engine *, unsigned int))              \
	F(stream_wait, (struct dnnl_stream *))                                                     \
	F(stream_destroy, (struct dnnl_stream *))                                                  \
	F(memory_create,                                                                           \
	  (struct dnnl_memory **, const struct dnnl_layout *, struct dnnl_engine *, void *))       \
	F(memory_set_data_handle, (struct dnnl_memory *, void *))                                  \
	F(memory_destroy, (struct dnnl_memory *))                                                  \
	F(memory_desc_equal, (const struct dnnl_layout *, const struct dnnl_layout *))             \
	F(primitive_attr_create, (struct dnnl_attr **))                                            \
	F(primitive_attr_set_scratchpad_mode, (struct dnnl_attr *, int))                           \
	F(primitive_attr_set_post_ops, (struct dnnl_attr *, const struct dnnl_post_ops *))         \
	F(primitive_attr_destroy, (struct dnnl_attr *))                                            \
	F(post_ops_create, (struct dnnl_post_ops **))                                              \
	F(post_ops_destroy, (struct dnnl_post_ops *))                                              \
	F(primitive_create, (struct dnnl_primitive **, const struct dnnl_primitive_desc *))        \
	F(primitive_execute, (const struct dnnl_primitive *, struct dnnl_stream *, int,            \
			      const struct dnnl_exec_arg *))                                       \
	F(primitive_destroy, (struct dnnl_primitive *))                                            \
	F(primitive_desc_destroy, (struct dnnl_primitive_desc *))                                  \
	F(reorder_primitive_desc_create,                                                           \
	  (struct dnnl_primitive_desc **, const struct dnnl_layout *, struct dnnl_engine *,        \
	   const struct dnnl_layout *, struct dnnl_engine *, const struct dnnl_attr *))

struct dnnl_api {
#define DNNL_MEMBER(name, parameters) int(*name) parameters;
	DNNL_SAME(DNNL_MEMBER)
#undef DNNL_MEMBER
	size_t (*memory_desc_get_size)(const struct dnnl_layout *);
	int (*get_effective_cpu_isa)(void);
	/* of the OpenMP that the library was built with; NULL where it was built with none */
	void (*set_threads)(int);
	int (*threads)(void);
	const struct dnnl_layout *(*primitive_desc_query_md)(const struct dnnl_primitive_desc *,
							     int, int);
	struct dnnl_engine *engine; /* of the CPU; the process has one */
	bool version_3;
};

extern struct dnnl_api dnnl;

/**
 * dnnl_library - open oneDNN, once
 *
 * Return: 0; -TENON_E_DEVICE with the names that were tried and the remedy; -TENON_E_NOMEM.
 */
int dnnl_library(void);

/**
 * dnnl_forked - refuse a child of fork()
 *
 * oneDNN's threads are those of OpenMP, which waits forever for the parent's threads in a child.
 *
 * Return: 0 in the process that opened oneDNN; -TENON_E_UNSUPPORTED.
 */
int dnnl_forked(void);

/**
 * dnnl_threads_at_most - keep oneDNN in the calling thread to a number of threads
 * @count: more than OMP_NUM_THREADS, or the processors, are not used
 *
 * Primitives that are made keep the number that was set then.
 *
 * Return: what dnnl_threads_restore() takes afterwards, since OpenMP may be the caller's, too.
 */
int dnnl_threads_at_most(int count);

/**
 * dnnl_threads_for - keep oneDNN in the calling thread to that thread while it moves few bytes
 * @layout: of the bytes
 *
 * Return: what dnnl_threads_restore() takes afterwards.
 */
int dnnl_threads_for(const struct dnnl_layout *layout);

void dnnl_threads_restore(int before);

/** dnnl_check - the status of oneDNN as an error that names what failed; 0 for success */
int dnnl_check(int status, const char *what);

/* Layouts: NULL when oneDNN refuses the extents, or memory is short. Free with _free(). */
struct dnnl_layout *dnnl_layout_strided(int ndim, const int64_t *dims, int type,
					const int64_t *strides);
struct dnnl_layout *dnnl_layout_any(int ndim, const int64_t *dims, int type);
struct dnnl_layout *dnnl_layout_copy(const struct dnnl_layout *layout);
/** dnnl_layout_permuted - axis i becomes axis @to[i] */
struct dnnl_layout *dnnl_layout_permuted(const struct dnnl_layout *layout, const int *to);
void dnnl_layout_free(struct dnnl_layout *layout);

/* Append to post-ops; a status of oneDNN. */
int dnnl_append_eltwise(struct dnnl_post_ops *ops, enum dnnl_eltwise what, float alpha, float beta);
int dnnl_append_sum(struct dnnl_post_ops *ops);

/*
 * Quantization of a product: a status of oneDNN. Version 2 copies the numbers, and adds a bias before it
 * multiplies by the scales. Version 3 reads them from memory that is an argument of the primitive, and
 * adds a bias behind the scales.
 */

/**
 * dnnl_set_scales - multiply each channel of sums
 * @scales: @count of them, one for each channel
 * @axes: how many axes of the weights, from the first, tell the channel
 */
int dnnl_set_scales(struct dnnl_attr *attr, const float *scales, int64_t count, int axes);

/** dnnl_set_zero - the zero point of the source */
int dnnl_set_zero(struct dnnl_attr *attr, int32_t zero);

/** dnnl_exact_bytes - test whether products of bytes are added in 32 bits, not in 16, which saturate */
bool dnnl_exact_bytes(void);

/* Describe primitives: a status of oneDNN. @bias may be NULL. */
int dnnl_convolution(struct dnnl_primitive_desc **out, bool transposed,
		     const struct dnnl_layout *src, const struct dnnl_layout *weights,
		     const struct dnnl_layout *bias, const struct dnnl_layout *dst,
		     const struct dnnl_window *window, const struct dnnl_attr *attr);
int dnnl_inner_product(struct dnnl_primitive_desc **out, const struct dnnl_layout *src,
		       const struct dnnl_layout *weights, const struct dnnl_layout *bias,
		       const struct dnnl_layout *dst, const struct dnnl_attr *attr);
int dnnl_matmul(struct dnnl_primitive_desc **out, const struct dnnl_layout *src,
		const struct dnnl_layout *weights, const struct dnnl_layout *bias,
		const struct dnnl_layout *dst, const struct dnnl_attr *attr);
int dnnl_pooling(struct dnnl_primitive_desc **out, int algorithm, const struct dnnl_layout *src,
		 const struct dnnl_layout *dst, const struct dnnl_window *window,
		 const struct dnnl_attr *attr);
int dnnl_eltwise(struct dnnl_primitive_desc **out, enum dnnl_eltwise what,
		 const struct dnnl_layout *layout, float alpha, float beta,
		 const struct dnnl_attr *attr);
int dnnl_softmax(struct dnnl_primitive_desc **out, const struct dnnl_layout *src,
		 const struct dnnl_layout *dst, int axis, const struct dnnl_attr *attr);
int dnnl_binary(struct dnnl_primitive_desc **out, int algorithm, const struct dnnl_layout *a,
		const struct dnnl_layout *b, const struct dnnl_layout *dst,
		const struct dnnl_attr *attr);
int dnnl_batch_norm(struct dnnl_primitive_desc **out, const struct dnnl_layout *layout,
		    float epsilon, const struct dnnl_attr *attr);
int dnnl_layer_norm(struct dnnl_primitive_desc **out, const struct dnnl_layout *layout,
		    const struct dnnl_layout *statistics, float epsilon,
		    const struct dnnl_attr *attr);
/** dnnl_concat - @layouts are @count */
int dnnl_concat(struct dnnl_primitive_desc **out, const struct dnnl_layout *dst, int count,
		int axis, const struct dnnl_layout *const *layouts, const struct dnnl_attr *attr);

#endif /* DRIVER_DNNL_DNNL_LIBRARY_H */
