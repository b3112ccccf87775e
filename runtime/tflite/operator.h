/* SPDX-License-Identifier: MIT */
/* Operators that the processor runs, and checks that they share. */
#ifndef RUNTIME_TFLITE_OPERATOR_H
#define RUNTIME_TFLITE_OPERATOR_H

/*
 * What a compiler for an NPU leaves to the processor. Each operator is checked once, when the model is opened, and
 * cannot fail afterwards. Quantised operators give the bytes that the reference kernels of TensorFlow Lite give.
 */

#include <tenon/error.h>

#include "runtime/tflite/fixed_point.h"
#include "runtime/tflite/tflite_model.h"

/**
 * struct tflite_value - a tensor of an open model
 * @info: what the file says of it
 * @index: its number
 * @elements: product of its extents
 * @shape: its extents, for ports
 * @data: its bytes, aligned for its type; NULL while the model is only described
 */
struct tflite_value {
	struct tflite_tensor info;
	uint32_t index;
	uint64_t elements;
	int64_t shape[TFLITE_DIMENSIONS];
	char *data;
};

/**
 * struct operator_blocks - a tensor seen as blocks of bytes that lie one behind the other
 * @count: blocks
 * @size: bytes of each
 */
struct operator_blocks {
	uint64_t count;
	uint64_t size;
};

/**
 * struct operator_call - an operator of an open model
 * @index: its number
 * @op: what the file says of it
 * @inputs: @input_count tensors; NULL for those that are left out
 * @outputs: @output_count tensors
 * @input_count: number of inputs
 * @output_count: number of outputs
 * @scale: of inputs to outputs, of those that convert
 * @radius: largest input that is computed, of those with functions
 * @blocks: how often something is done, and with how many bytes or elements
 * @strides: bytes from one index of an input's dimension to the next, of those that move elements
 * @offset: bytes in front of the first element that is moved
 */
struct operator_call {
	uint32_t index;
	struct tflite_operator op;
	struct tflite_value **inputs;
	struct tflite_value **outputs;
	uint32_t input_count;
	uint32_t output_count;

	struct fixed_scale scale;
	int32_t radius;
	struct operator_blocks blocks;
	uint64_t strides[TFLITE_DIMENSIONS];
	uint64_t offset;
};

/**
 * struct operator_kind - an operator that runs on the processor
 * @builtin: enum tflite_builtin
 * @least: fewest inputs
 * @most: most inputs
 * @outputs: number of outputs
 * @prepare: checks types, shapes and quantisation; 0, or a negative status by operator_fault(). The data of
 *	constants is there, and that of other tensors is not.
 * @run: computes the outputs; inputs and outputs do not overlap
 */
struct operator_kind {
	uint32_t builtin;
	uint32_t least;
	uint32_t most;
	uint32_t outputs;
	int (*prepare)(struct operator_call *c);
	void (*run)(const struct operator_call *c);
};

extern const struct operator_kind operator_assign_variable;
extern const struct operator_kind operator_call_once;
extern const struct operator_kind operator_concatenation;
extern const struct operator_kind operator_dequantize;
extern const struct operator_kind operator_expand_dims;
extern const struct operator_kind operator_logistic;
extern const struct operator_kind operator_pad;
extern const struct operator_kind operator_pad_with;
extern const struct operator_kind operator_quantize;
extern const struct operator_kind operator_read_variable;
extern const struct operator_kind operator_reshape;
extern const struct operator_kind operator_sin;
extern const struct operator_kind operator_slice;
extern const struct operator_kind operator_softmax;
extern const struct operator_kind operator_squeeze;
extern const struct operator_kind operator_transpose;
extern const struct operator_kind operator_var_handle;

/** operator_find - find an operator that runs on the processor; NULL */
const struct operator_kind *operator_find(uint32_t builtin);

/** operator_prepare - check the number of inputs and outputs, and that none is left out, then as @prepare */
int operator_prepare(const struct operator_kind *kind, struct operator_call *c);

/**
 * operator_fault - raise an error of an operator
 * @c: the operator
 * @v: the tensor that is wrong; NULL for the operator itself
 * @status: negative status
 * @format: what is wrong with it: "has type int8, want float32"
 *
 * The message begins with the operator's number and name, and the tensor's; who opens the model adds the file.
 *
 * Return: @status.
 */
int operator_fault(const struct operator_call *c, const struct tflite_value *v, int status,
		   const char *format, ...) TENON_PRINTF(4, 5);

/* ---- checks that several operators share; each returns 0, or a status by operator_fault() */

/** operator_want_type - a type of the mask, of 1 << enum tflite_type each */
int operator_want_type(const struct operator_call *c, const struct tflite_value *v, uint32_t mask);

/** operator_want_same_type - the type of @like */
int operator_want_same_type(const struct operator_call *c, const struct tflite_value *v,
			    const struct tflite_value *like);

/** operator_want_shape - @ndim extents */
int operator_want_shape(const struct operator_call *c, const struct tflite_value *v, uint32_t ndim,
			const uint64_t *shape);

/** operator_want_elements - as many elements as @like */
int operator_want_elements(const struct operator_call *c, const struct tflite_value *v,
			   const struct tflite_value *like);

/** operator_want_scale - one finite scale above 0, and a zero point that its type has */
int operator_want_scale(const struct operator_call *c, const struct tflite_value *v);

/** operator_want_same_scale - scale and zero point of @like, or none if that has none */
int operator_want_same_scale(const struct operator_call *c, const struct tflite_value *v,
			     const struct tflite_value *like);

/**
 * operator_want_numbers - a constant list of int32 or int64
 * @c: the operator
 * @v: the list
 * @count: how many numbers it has; at most 2 * TFLITE_DIMENSIONS
 * @out: receives them
 */
int operator_want_numbers(const struct operator_call *c, const struct tflite_value *v,
			  uint32_t count, int64_t *out);

/** operator_option - an integer option of @size bytes; @absent where the file does not say */
int operator_option(const struct operator_call *c, unsigned int field, unsigned int size,
		    uint64_t absent, uint64_t *out);

/* ---- elements */

/** operator_zero_point - zero point of a tensor with one scale */
static inline int32_t operator_zero_point(const struct tflite_value *v)
{
	return (int32_t)tflite_zero_point(&v->info, 0);
}

/** operator_range - smallest and largest number of int8, uint8 or int16 */
void operator_range(uint8_t type, int32_t *least, int32_t *most);

/** operator_load - element @i of int8, uint8, int16 or int32 */
static inline int32_t operator_load(const struct tflite_value *v, uint64_t i)
{
	switch (v->info.type) {
	case TFLITE_INT8:
		return ((const int8_t *)v->data)[i];
	case TFLITE_UINT8:
		return ((const uint8_t *)v->data)[i];
	case TFLITE_INT16:
		return ((const int16_t *)(const void *)v->data)[i];
	default:
		return ((const int32_t *)(const void *)v->data)[i];
	}
}

/** operator_store - set element @i of int8, uint8, int16 or int32 to a number that the type has */
static inline void operator_store(const struct tflite_value *v, uint64_t i, int32_t x)
{
	switch (v->info.type) {
	case TFLITE_INT8:
		((int8_t *)v->data)[i] = (int8_t)x;
		break;
	case TFLITE_UINT8:
		((uint8_t *)v->data)[i] = (uint8_t)x;
		break;
	case TFLITE_INT16:
		((int16_t *)(void *)v->data)[i] = (int16_t)x;
		break;
	default:
		((int32_t *)(void *)v->data)[i] = x;
	}
}

static inline int32_t operator_clamp(int64_t x, int32_t least, int32_t most)
{
	if (x < least)
		return least;
	return x > most ? most : (int32_t)x;
}

/* masks for operator_want_type() */
#define OPERATOR_BYTES	   (1u << TFLITE_INT8 | 1u << TFLITE_UINT8)
#define OPERATOR_QUANTISED (OPERATOR_BYTES | 1u << TFLITE_INT16)
#define OPERATOR_MOVED                                                                             \
	(OPERATOR_QUANTISED | 1u << TFLITE_FLOAT32 | 1u << TFLITE_INT32 | 1u << TFLITE_INT64 |     \
	 1u << TFLITE_BOOL)

#endif /* RUNTIME_TFLITE_OPERATOR_H */
