/* SPDX-License-Identifier: MIT */
/* Files of TensorFlow Lite, read in place. */
#ifndef RUNTIME_TFLITE_TFLITE_MODEL_H
#define RUNTIME_TFLITE_TFLITE_MODEL_H

/*
 * A .tflite file is a FlatBuffer (schema 3, "TFL3"): operators, in the order in which they run, and
 * tensors, which they share by number. Compilers for NPUs replace operators by custom ones, whose
 * inputs have the NPU's payload. Reading allocates nothing: all slices point into the file.
 */

#include "lib/flatbuffer.h"

/* bytes at the start of a file that tell what it is */
#define TFLITE_MAGIC 8

/* a tensor has at most as many dimensions */
#define TFLITE_DIMENSIONS 8

/*
 * Parts of a FlatBuffer may overlap, so that a small file lists much. Writers of models share next to nothing, and all
 * that is listed together may be this many times the file. A tensor and an operator have a table each, which takes at
 * least so many bytes with the offset that leads to it.
 */
#define TFLITE_LISTED_MOST 4
#define TFLITE_TABLE_LEAST 16

/* a custom operator has at most as many bytes of name */
#define TFLITE_CUSTOM_NAME 64

/* where a tensor is that has no place in the arena */
#define TFLITE_NOWHERE (-1)

/* the input of an operator that is left out */
#define TFLITE_NO_TENSOR (-1)

/** enum tflite_type - types of elements that are used by name */
enum tflite_type {
	TFLITE_FLOAT32 = 0,
	TFLITE_INT32 = 2,
	TFLITE_UINT8 = 3,
	TFLITE_INT64 = 4,
	TFLITE_BOOL = 6,
	TFLITE_INT16 = 7,
	TFLITE_INT8 = 9,
	TFLITE_RESOURCE = 13,
};

/** enum tflite_builtin - operators that are used by name; those that the schema does not know are CUSTOM */
enum tflite_builtin {
	TFLITE_CONCATENATION = 2,
	TFLITE_DEQUANTIZE = 6,
	TFLITE_LOGISTIC = 14,
	TFLITE_RESHAPE = 22,
	TFLITE_SOFTMAX = 25,
	TFLITE_CUSTOM = 32,
	TFLITE_PAD = 34,
	TFLITE_TRANSPOSE = 39,
	TFLITE_SQUEEZE = 43,
	TFLITE_PADV2 = 60,
	TFLITE_SLICE = 65,
	TFLITE_SIN = 66,
	TFLITE_EXPAND_DIMS = 70,
	TFLITE_QUANTIZE = 114,
	TFLITE_CALL_ONCE = 129,
	TFLITE_VAR_HANDLE = 142,
	TFLITE_READ_VARIABLE = 143,
	TFLITE_ASSIGN_VARIABLE = 144,
};

/**
 * struct tflite_tensor - a tensor
 * @name: name
 * @type: enum tflite_type, or another that tflite_type_name() knows
 * @ndim: number of dimensions
 * @shape: extents
 * @bytes: size; 0 for types without a size, such as strings
 * @data: its constant contents; empty for those that are computed
 * @data_at: offset of @data in the file
 * @place: offset in the arena by the compiler's plan; TFLITE_NOWHERE without one
 * @scales: of its quantisation, float32 each: none, one, or one for each index of @axis
 * @zero_points: int64 each, as many as @scales or none
 * @axis: dimension that has several scales
 * @variable: keeps its value between runs
 */
struct tflite_tensor {
	struct tenon_slice name;
	uint8_t type;
	uint8_t ndim;
	uint32_t shape[TFLITE_DIMENSIONS];
	uint64_t bytes;
	struct tenon_slice data;
	uint64_t data_at;
	int64_t place;
	struct flatbuffer_vector scales;
	struct flatbuffer_vector zero_points;
	uint32_t axis;
	bool variable;
};

/**
 * struct tflite_operator - an operator
 * @builtin: its number
 * @custom: its name, if @builtin is TFLITE_CUSTOM
 * @version: version
 * @inputs: numbers of tensors, see tflite_index()
 * @outputs: numbers of tensors
 * @options: its options, a table of its own kind
 * @has_options: false if all of them have their defaults
 */
struct tflite_operator {
	uint32_t builtin;
	struct tenon_slice custom;
	uint32_t version;
	struct flatbuffer_vector inputs;
	struct flatbuffer_vector outputs;
	struct flatbuffer_table options;
	bool has_options;
};

/**
 * struct tflite_model - a model, and one of its graphs: the first, or that of tflite_graph()
 * @version: of the schema
 * @description: text; who wrote it
 * @codes: kinds of operators
 * @buffers: contents of tensors
 * @graphs: graphs; the others are for operators that call one, such as CALL_ONCE
 * @graph: number of the graph that the following are of
 * @tensors: tensors
 * @operators: operators
 * @inputs: numbers of the model's inputs
 * @outputs: and of its outputs
 * @places: int32 for each tensor, its offset in the arena; empty if the file has no plan
 */
struct tflite_model {
	uint32_t version;
	struct tenon_slice description;
	struct flatbuffer_vector codes;
	struct flatbuffer_vector buffers;
	struct flatbuffer_vector graphs;
	uint32_t graph;
	struct flatbuffer_vector tensors;
	struct flatbuffer_vector operators;
	struct flatbuffer_vector inputs;
	struct flatbuffer_vector outputs;
	struct tenon_slice places;
	struct tenon_slice plan; /* @places of all graphs, one behind the other */
};

/** tflite_is - test whether bytes begin as a model */
bool tflite_is(struct tenon_slice bytes);

/**
 * tflite_read - read a model
 * @file: cursor over the whole file
 * @out: receives the contents
 *
 * All tensors and operators of all graphs are read once, so that reading them again does not fail: numbers of
 * tensors exist, sizes do not overflow, names and lists together are no larger than a few times
 * the file, and no more tensors and operators are there than tables of theirs could be.
 *
 * Return: 0; -TENON_E_FORMAT, -TENON_E_TRUNCATED, -TENON_E_OVERFLOW and -TENON_E_UNSUPPORTED with
 *	the offset.
 */
int tflite_read(const struct tenon_cursor *file, struct tflite_model *out);

/** tflite_graph - take another graph of a model, whose number is below the count */
int tflite_graph(const struct tflite_model *m, uint32_t graph, struct tflite_model *out);

/** tflite_tensor - read tensor number @index, which is below the count */
int tflite_tensor(const struct tflite_model *m, uint32_t index, struct tflite_tensor *out);

/** tflite_operator - read operator number @index, which is below the count */
int tflite_operator(const struct tflite_model *m, uint32_t index, struct tflite_operator *out);

/** tflite_index - number @i of a list of tensors; TFLITE_NO_TENSOR for an input that is left out */
int32_t tflite_index(const struct flatbuffer_vector *list, uint64_t i);

/** tflite_scale - scale @i of a tensor, which is below the count */
float tflite_scale(const struct tflite_tensor *t, uint64_t i);

/** tflite_zero_point - zero point @i of a tensor; 0 for one without */
int64_t tflite_zero_point(const struct tflite_tensor *t, uint64_t i);

/** tflite_builtin_name - "CONV_2D"; NULL for a number that is not known */
const char *tflite_builtin_name(uint32_t builtin);

/** tflite_operator_name - name of an operator; of a custom one its own */
struct tenon_slice tflite_operator_name(const struct tflite_operator *op);

/** tflite_type_name - "int8"; NULL for a number that is not known */
const char *tflite_type_name(uint8_t type);

/** tflite_type_bits - bits of an element; 0 for types without a size */
unsigned int tflite_type_bits(uint8_t type);

#endif /* RUNTIME_TFLITE_TFLITE_MODEL_H */
