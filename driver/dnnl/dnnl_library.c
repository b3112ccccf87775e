/* SPDX-License-Identifier: MIT */
/* Open oneDNN and hide how descriptors differ between versions 2 and 3. */
#include "driver/dnnl/dnnl_library.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/error.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "lib/fork_gate.h"
#include "lib/vendor_library.h"

typedef const struct dnnl_layout layout;
typedef struct dnnl_primitive_desc **made;
typedef const struct dnnl_attr attr_of;
typedef const int64_t *dims_of;

/* A struct of version 2 has 696 bytes, whatever it describes. */
#define LAYOUT_2_SIZE 696

/* room for the largest description of an operation in version 2: 15 344 bytes */
union operation {
	char bytes[16384];
	uint64_t aligned;
};

/*
 * What the versions do not share. Operations: version 2 fills in a struct by NAME_desc_init(),
 * version 3 has NAME_primitive_desc_create() with the same parameters between engine and attr.
 */
#define VERSION_2(F)                                                                               \
	F(memory_desc_init_by_strides, (struct dnnl_layout *, int, dims_of, int, dims_of))         \
	F(memory_desc_init_by_tag, (struct dnnl_layout *, int, dims_of, int, int))                 \
	F(memory_desc_permute_axes, (struct dnnl_layout *, layout *, const int *))                 \
	F(primitive_attr_set_output_scales, (struct dnnl_attr *, int64_t, int, const float *))     \
	F(primitive_attr_set_zero_points,                                                          \
	  (struct dnnl_attr *, int, int64_t, int, const int32_t *))                                \
	F(post_ops_append_eltwise, (struct dnnl_post_ops *, float, int, float, float))             \
	F(post_ops_append_sum, (struct dnnl_post_ops *, float))                                    \
	F(primitive_desc_create,                                                                   \
	  (made, union operation *, attr_of *, struct dnnl_engine *, void *))                      \
	F(dilated_convolution_forward_desc_init,                                                   \
	  (union operation *, int, int, layout *, layout *, layout *, layout *, dims_of, dims_of,  \
	   dims_of, dims_of))                                                                      \
	F(dilated_deconvolution_forward_desc_init,                                                 \
	  (union operation *, int, int, layout *, layout *, layout *, layout *, dims_of, dims_of,  \
	   dims_of, dims_of))                                                                      \
	F(inner_product_forward_desc_init,                                                         \
	  (union operation *, int, layout *, layout *, layout *, layout *))                        \
	F(matmul_desc_init, (union operation *, layout *, layout *, layout *, layout *))           \
	F(pooling_v2_forward_desc_init, (union operation *, int, int, layout *, layout *, dims_of, \
					 dims_of, dims_of, dims_of, dims_of))                      \
	F(eltwise_forward_desc_init, (union operation *, int, int, layout *, float, float))        \
	F(softmax_v2_forward_desc_init, (union operation *, int, int, layout *, layout *, int))    \
	F(binary_desc_init, (union operation *, int, layout *, layout *, layout *))                \
	F(batch_normalization_forward_desc_init,                                                   \
	  (union operation *, int, layout *, float, unsigned int))                                 \
	F(layer_normalization_forward_desc_init,                                                   \
	  (union operation *, int, layout *, layout *, float, unsigned int))                       \
	F(concat_primitive_desc_create,                                                            \
	  (made, layout *, int, int, const void *, attr_of *, struct dnnl_engine *))

#define VERSION_3(F)                                                                               \
	F(memory_desc_create_with_strides, (struct dnnl_layout **, int, dims_of, int, dims_of))    \
	F(memory_desc_create_with_tag, (struct dnnl_layout **, int, dims_of, int, int))            \
	F(memory_desc_clone, (struct dnnl_layout **, layout *))                                    \
	F(memory_desc_permute_axes, (struct dnnl_layout **, layout *, const int *))                \
	F(memory_desc_destroy, (struct dnnl_layout *))                                             \
	F(primitive_attr_set_scales_mask, (struct dnnl_attr *, int, int))                          \
	F(primitive_attr_set_zero_points_mask, (struct dnnl_attr *, int, int))                     \
	F(post_ops_append_eltwise, (struct dnnl_post_ops *, int, float, float))                    \
	F(post_ops_append_sum, (struct dnnl_post_ops *, float, int32_t, int))                      \
	F(convolution_forward_primitive_desc_create,                                               \
	  (made, struct dnnl_engine *, int, int, layout *, layout *, layout *, layout *, dims_of,  \
	   dims_of, dims_of, dims_of, attr_of *))                                                  \
	F(deconvolution_forward_primitive_desc_create,                                             \
	  (made, struct dnnl_engine *, int, int, layout *, layout *, layout *, layout *, dims_of,  \
	   dims_of, dims_of, dims_of, attr_of *))                                                  \
	F(inner_product_forward_primitive_desc_create,                                             \
	  (made, struct dnnl_engine *, int, layout *, layout *, layout *, layout *, attr_of *))    \
	F(matmul_primitive_desc_create,                                                            \
	  (made, struct dnnl_engine *, layout *, layout *, layout *, layout *, attr_of *))         \
	F(pooling_forward_primitive_desc_create,                                                   \
	  (made, struct dnnl_engine *, int, int, layout *, layout *, dims_of, dims_of, dims_of,    \
	   dims_of, dims_of, attr_of *))                                                           \
	F(eltwise_forward_primitive_desc_create,                                                   \
	  (made, struct dnnl_engine *, int, int, layout *, layout *, float, float, attr_of *))     \
	F(softmax_forward_primitive_desc_create,                                                   \
	  (made, struct dnnl_engine *, int, int, layout *, layout *, int, attr_of *))              \
	F(binary_primitive_desc_create,                                                            \
	  (made, struct dnnl_engine *, int, layout *, layout *, layout *, attr_of *))              \
	F(batch_normalization_forward_primitive_desc_create,                                       \
	  (made, struct dnnl_engine *, int, layout *, layout *, float, unsigned int, attr_of *))   \
	F(layer_normalization_forward_primitive_desc_create,                                       \
	  (made, struct dnnl_engine *, int, layout *, layout *, layout *, float, unsigned int,     \
	   attr_of *))                                                                             \
	F(concat_primitive_desc_create,                                                            \
	  (made, struct dnnl_engine *, layout *, int, int, layout *const *, attr_of *))

#define MEMBER(name, parameters) int(*name) parameters;
static struct api_2 {
	VERSION_2(MEMBER)
} v2;

static struct api_3 {
	VERSION_3(MEMBER)
} v3;

struct dnnl_api dnnl;

#define SYMBOL(name, parameters) { "dnnl_" #name, offsetof(struct TABLE, name), false },
static const struct vendor_symbol same_symbols[] = {
#define TABLE dnnl_api
	DNNL_SAME(SYMBOL){ "dnnl_memory_desc_get_size",
			   offsetof(struct dnnl_api, memory_desc_get_size), false },
	{ "dnnl_get_effective_cpu_isa", offsetof(struct dnnl_api, get_effective_cpu_isa), false },
	{ "omp_set_num_threads", offsetof(struct dnnl_api, set_threads), true },
	{ "omp_get_max_threads", offsetof(struct dnnl_api, threads), true },
	{ "dnnl_primitive_desc_query_md", offsetof(struct dnnl_api, primitive_desc_query_md),
	  false },
};

static const struct vendor_symbol symbols_2[] = {
#undef TABLE
#define TABLE api_2
	VERSION_2(SYMBOL)
};

static const struct vendor_symbol symbols_3[] = {
#undef TABLE
#define TABLE api_3
	VERSION_3(SYMBOL)
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char remedy[] = "Install oneDNN 2.6 or later (Debian: apt install libdnnl2), or set "
			     "TENON_DNNL_LIBRARY to the path of its library";

struct version {
	int major, minor, patch;
};

static int open_library(void)
{
	const char *own = vendor_library_named("TENON_DNNL_LIBRARY");
	const char *const names[] = { own ? own : "libdnnl.so.3", own ? NULL : "libdnnl.so.2",
				      NULL };
	const struct vendor_symbol probe[] = { { "dnnl_version", 0, false } };
	const struct version *(*version)(void);
	void *handle;
	int err;

	err = vendor_library_open(names, remedy, probe, 1, &version, &handle);
	if (err)
		return err;
	dnnl.version_3 = version()->major >= 3;
	if (version()->major < 2 || (version()->major == 2 && version()->minor < 6))
		return tenon_error(-TENON_E_DEVICE, "oneDNN %d.%d is too old. %s", version()->major,
				   version()->minor, remedy);
	err = vendor_library_open(names, remedy, same_symbols, COUNT(same_symbols), &dnnl, &handle);
	if (!err && dnnl.version_3)
		err = vendor_library_open(names, remedy, symbols_3, COUNT(symbols_3), &v3, &handle);
	else if (!err)
		err = vendor_library_open(names, remedy, symbols_2, COUNT(symbols_2), &v2, &handle);
	if (!err)
		err = dnnl_check(dnnl.engine_create(&dnnl.engine, DNNL_KIND_CPU, 0), "the engine");
	return err;
}

/* process that opened oneDNN; written under the lock below */
static pid_t owner;

int dnnl_forked(void)
{
	return owner == getpid()
		       ? 0
		       : tenon_error(
				 -TENON_E_UNSUPPORTED,
				 "the parent of this process used oneDNN before fork(), and its "
				 "threads do not exist here: run this graph in the parent, or "
				 "fork before it is first used");
}

int dnnl_library(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	int err;

	fork_gate_lock(&lock);
	err = dnnl.engine ? dnnl_forked() : open_library();
	if (!err)
		owner = getpid();
	fork_gate_unlock(&lock);
	return err;
}

int dnnl_threads_at_most(int count)
{
	const int before = dnnl.set_threads && dnnl.threads ? dnnl.threads() : 0;

	if (before > count)
		dnnl.set_threads(count);
	return before;
}

/* bytes: below this a reorder takes less time than waking the second thread on a busy machine */
#define ONE_THREAD_BELOW (1U << 20)

int dnnl_threads_for(const struct dnnl_layout *layout)
{
	return dnnl.memory_desc_get_size(layout) < ONE_THREAD_BELOW ? dnnl_threads_at_most(1) : 0;
}

void dnnl_threads_restore(int before)
{
	if (before)
		dnnl.set_threads(before);
}

int dnnl_check(int status, const char *what)
{
	static const char *const words[] = {
		"success",	 "out of memory",	    "invalid arguments",
		"unimplemented", "no other implementation", "a failure while it ran",
		"not required",
	};
	const char *word =
		status > 0 && status < (int)COUNT(words) ? words[status] : "an unknown failure";

	if (!status)
		return 0;
	/* oneDNN numbers its status codes from 0: 1 is lack of memory */
	return tenon_error(status == 1 ? -TENON_E_NOMEM : -TENON_E_UNSUPPORTED,
			   "oneDNN does not make %s: %s", what, word);
}

/* ---- layouts */

static struct dnnl_layout *new_layout_2(void)
{
	return calloc(1, LAYOUT_2_SIZE);
}

/* What a function of version 2 filled in, or NULL. */
static struct dnnl_layout *filled_2(struct dnnl_layout *l, int status)
{
	if (!status)
		return l;
	free(l);
	return NULL;
}

struct dnnl_layout *dnnl_layout_strided(int ndim, const int64_t *dims, int type,
					const int64_t *strides)
{
	struct dnnl_layout *l = NULL;

	if (dnnl.version_3)
		return v3.memory_desc_create_with_strides(&l, ndim, dims, type, strides) ? NULL : l;
	l = new_layout_2();
	return l ? filled_2(l, v2.memory_desc_init_by_strides(l, ndim, dims, type, strides)) : NULL;
}

struct dnnl_layout *dnnl_layout_any(int ndim, const int64_t *dims, int type)
{
	struct dnnl_layout *l = NULL;

	if (dnnl.version_3)
		return v3.memory_desc_create_with_tag(&l, ndim, dims, type, DNNL_TAG_ANY) ? NULL
											  : l;
	l = new_layout_2();
	return l ? filled_2(l, v2.memory_desc_init_by_tag(l, ndim, dims, type, DNNL_TAG_ANY))
		 : NULL;
}

struct dnnl_layout *dnnl_layout_copy(const struct dnnl_layout *from)
{
	struct dnnl_layout *l = NULL;

	if (dnnl.version_3)
		return v3.memory_desc_clone(&l, from) ? NULL : l;
	l = new_layout_2();
	if (l)
		memcpy(l, from, LAYOUT_2_SIZE);
	return l;
}

struct dnnl_layout *dnnl_layout_permuted(const struct dnnl_layout *from, const int *to)
{
	struct dnnl_layout *l = NULL;

	if (dnnl.version_3)
		return v3.memory_desc_permute_axes(&l, from, to) ? NULL : l;
	l = new_layout_2();
	return l ? filled_2(l, v2.memory_desc_permute_axes(l, from, to)) : NULL;
}

void dnnl_layout_free(struct dnnl_layout *l)
{
	if (l && dnnl.version_3)
		v3.memory_desc_destroy(l);
	else
		free(l);
}

/* ---- post-ops */

/* the numbers of versions 2 and 3 */
static const int eltwise_numbers[DNNL_ELTWISE_COUNT][2] = {
	[DNNL_RELU] = { 0x1f, 0x20 },	   [DNNL_TANH] = { 0x2f, 0x21 },
	[DNNL_ABS] = { 0x5f, 0x24 },	   [DNNL_SQRT] = { 0x6f, 0x25 },
	[DNNL_LOGISTIC] = { 0xaf, 0x29 },  [DNNL_EXP] = { 0xbf, 0x2a },
	[DNNL_SWISH] = { 0xdf, 0x2c },	   [DNNL_LOG] = { 0xef, 0x2d },
	[DNNL_CLIP] = { 0xff, 0x2e },	   [DNNL_GELU_ERF] = { 0x30, 0x31 },
	[DNNL_GELU_TANH] = { 0xcf, 0x2b }, [DNNL_ROUND] = { 0x40, 0x32 },
	[DNNL_LINEAR] = { 0x7f, 0x26 },	   [DNNL_HARDSWISH] = { 0x70, 0x34 },
};

static int eltwise_number(enum dnnl_eltwise what)
{
	return eltwise_numbers[what][dnnl.version_3];
}

int dnnl_append_eltwise(struct dnnl_post_ops *ops, enum dnnl_eltwise what, float alpha, float beta)
{
	if (dnnl.version_3)
		return v3.post_ops_append_eltwise(ops, eltwise_number(what), alpha, beta);
	return v2.post_ops_append_eltwise(ops, 1, eltwise_number(what), alpha, beta);
}

int dnnl_append_sum(struct dnnl_post_ops *ops)
{
	return dnnl.version_3 ? v3.post_ops_append_sum(ops, 1, 0, DNNL_F32)
			      : v2.post_ops_append_sum(ops, 1);
}

/* ---- quantization of products */

int dnnl_set_scales(struct dnnl_attr *attr, const float *scales, int64_t count, int axes)
{
	if (dnnl.version_3)
		return v3.primitive_attr_set_scales_mask(attr, DNNL_ARG_WEIGHTS, (1 << axes) - 1);
	return v2.primitive_attr_set_output_scales(attr, count, 1 << 1, scales);
}

int dnnl_set_zero(struct dnnl_attr *attr, int32_t zero)
{
	if (dnnl.version_3)
		return v3.primitive_attr_set_zero_points_mask(attr, DNNL_ARG_SRC, 0);
	return v2.primitive_attr_set_zero_points(attr, DNNL_ARG_SRC, 1, 0, &zero);
}

bool dnnl_exact_bytes(void)
{
	/* of AVX-512, and of AVX2 as the versions number it */
	return dnnl.get_effective_cpu_isa() & (0x40 | (dnnl.version_3 ? 0x8 : 0x400));
}

/* ---- descriptions of primitives */

/* After NAME_desc_init() of version 2. */
static int described(struct dnnl_primitive_desc **out, int status, union operation *operation,
		     attr_of *attr)
{
	return status ? status : v2.primitive_desc_create(out, operation, attr, dnnl.engine, NULL);
}

/* The same parameters in both versions. */
#define DESCRIBE(out, name_2, name_3, attr, ...)                                                   \
	do {                                                                                       \
		union operation operation;                                                         \
                                                                                                   \
		if (dnnl.version_3)                                                                \
			return v3.name_3##_primitive_desc_create(out, dnnl.engine, __VA_ARGS__,    \
								 attr);                            \
		return described(out, v2.name_2##_desc_init(&operation, __VA_ARGS__), &operation,  \
				 attr);                                                            \
	} while (0)

int dnnl_convolution(struct dnnl_primitive_desc **out, bool transposed, layout *src,
		     layout *weights, layout *bias, layout *dst, const struct dnnl_window *w,
		     attr_of *attr)
{
	if (transposed)
		DESCRIBE(out, dilated_deconvolution_forward, deconvolution_forward, attr,
			 DNNL_FORWARD_INFERENCE, DNNL_DECONVOLUTION_DIRECT, src, weights, bias, dst,
			 w->strides, w->dilates, w->before, w->after);
	DESCRIBE(out, dilated_convolution_forward, convolution_forward, attr,
		 DNNL_FORWARD_INFERENCE, DNNL_CONVOLUTION_AUTO, src, weights, bias, dst, w->strides,
		 w->dilates, w->before, w->after);
}

int dnnl_inner_product(struct dnnl_primitive_desc **out, layout *src, layout *weights, layout *bias,
		       layout *dst, attr_of *attr)
{
	DESCRIBE(out, inner_product_forward, inner_product_forward, attr, DNNL_FORWARD_INFERENCE,
		 src, weights, bias, dst);
}

int dnnl_matmul(struct dnnl_primitive_desc **out, layout *src, layout *weights, layout *bias,
		layout *dst, attr_of *attr)
{
	DESCRIBE(out, matmul, matmul, attr, src, weights, bias, dst);
}

int dnnl_pooling(struct dnnl_primitive_desc **out, int algorithm, layout *src, layout *dst,
		 const struct dnnl_window *w, attr_of *attr)
{
	DESCRIBE(out, pooling_v2_forward, pooling_forward, attr, DNNL_FORWARD_INFERENCE, algorithm,
		 src, dst, w->strides, w->kernel, w->dilates, w->before, w->after);
}

int dnnl_softmax(struct dnnl_primitive_desc **out, layout *src, layout *dst, int axis,
		 attr_of *attr)
{
	DESCRIBE(out, softmax_v2_forward, softmax_forward, attr, DNNL_FORWARD_INFERENCE,
		 DNNL_SOFTMAX_ACCURATE, src, dst, axis);
}

int dnnl_binary(struct dnnl_primitive_desc **out, int algorithm, layout *a, layout *b, layout *dst,
		attr_of *attr)
{
	DESCRIBE(out, binary, binary, attr, algorithm, a, b, dst);
}

int dnnl_eltwise(struct dnnl_primitive_desc **out, enum dnnl_eltwise what, layout *l, float alpha,
		 float beta, attr_of *attr)
{
	const int number = eltwise_number(what);
	union operation operation;

	if (dnnl.version_3)
		return v3.eltwise_forward_primitive_desc_create(
			out, dnnl.engine, DNNL_FORWARD_INFERENCE, number, l, l, alpha, beta, attr);
	return described(out,
			 v2.eltwise_forward_desc_init(&operation, DNNL_FORWARD_INFERENCE, number, l,
						      alpha, beta),
			 &operation, attr);
}

/* scale and shift are separate tensors */
static unsigned int scale_and_shift(void)
{
	return dnnl.version_3 ? 2 | 4 : 8 | 16;
}

int dnnl_batch_norm(struct dnnl_primitive_desc **out, layout *l, float epsilon, attr_of *attr)
{
	const unsigned int flags = DNNL_GLOBAL_STATS | scale_and_shift();
	union operation operation;

	if (dnnl.version_3)
		return v3.batch_normalization_forward_primitive_desc_create(
			out, dnnl.engine, DNNL_FORWARD_INFERENCE, l, l, epsilon, flags, attr);
	return described(out,
			 v2.batch_normalization_forward_desc_init(
				 &operation, DNNL_FORWARD_INFERENCE, l, epsilon, flags),
			 &operation, attr);
}

int dnnl_layer_norm(struct dnnl_primitive_desc **out, layout *l, layout *statistics, float epsilon,
		    attr_of *attr)
{
	const unsigned int flags = scale_and_shift();
	union operation operation;

	if (dnnl.version_3)
		return v3.layer_normalization_forward_primitive_desc_create(
			out, dnnl.engine, DNNL_FORWARD_INFERENCE, l, l, statistics, epsilon, flags,
			attr);
	return described(out,
			 v2.layer_normalization_forward_desc_init(
				 &operation, DNNL_FORWARD_INFERENCE, l, statistics, epsilon, flags),
			 &operation, attr);
}

int dnnl_concat(struct dnnl_primitive_desc **out, layout *dst, int count, int axis,
		layout *const *layouts, attr_of *attr)
{
	char *structs;
	int i, status;

	if (dnnl.version_3)
		return v3.concat_primitive_desc_create(out, dnnl.engine, dst, count, axis, layouts,
						       attr);
	structs = malloc((size_t)count * LAYOUT_2_SIZE);
	if (!structs)
		return 1;
	for (i = 0; i < count; i++)
		memcpy(structs + (size_t)i * LAYOUT_2_SIZE, layouts[i], LAYOUT_2_SIZE);
	status = v2.concat_primitive_desc_create(out, dst, count, axis, structs, attr, dnnl.engine);
	free(structs);
	return status;
}
