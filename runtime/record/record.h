/* SPDX-License-Identifier: MIT */
/*
 * What a record consists of: record.c keeps the folder, its entries and what it lacks;
 * record_argument.c the arguments of an operation; record_operator.c records calls of operators, and
 * record_submit.c operations of queues. docs/replay.md describes the files.
 */
#ifndef RUNTIME_RECORD_RECORD_H
#define RUNTIME_RECORD_RECORD_H

#include <stdbool.h>
#include <tenon/buffer.h>
#include <tenon/tensor.h>

#include "lib/record.h"
#include "lib/sha256.h"

extern const struct recorder run_recorder;

/* while set, the thread works for the record: nothing that it does is recorded */
extern __thread bool record_inside;

/** enum record_argument_kind - what an argument is */
enum record_argument_kind {
	RECORD_NONE,
	RECORD_INT,
	RECORD_BOOL,
	RECORD_REAL,
	RECORD_TENSOR,
};

/**
 * struct record_argument - an argument, with its contents before and after the operation
 * @kind: enum record_argument_kind
 * @bytes_only: RECORD_TENSOR: memory whose element type is not known
 * @integer: RECORD_INT, RECORD_BOOL
 * @real: RECORD_REAL
 * @shape: RECORD_TENSOR: allocated; @ndim extents
 * @ndim: likewise
 * @dtype: likewise
 * @size: likewise, in bytes
 * @before: name of the contents; empty for none
 * @after: likewise
 */
struct record_argument {
	enum record_argument_kind kind;
	bool bytes_only;
	int64_t integer;
	double real;
	int64_t *shape;
	int32_t ndim;
	DLDataType dtype;
	uint64_t size;
	char before[SHA256_TEXT];
	char after[SHA256_TEXT];
};

/**
 * struct record_place - an operation's place in the record
 * @generation: of the record
 * @number: of the operation, from 1
 */
struct record_place {
	uint32_t generation;
	uint64_t number;
};

/* ---- record.c. Each function takes the lock; nothing is done after the record's end. */

/** record_open_place - take the next number; false where nothing is recorded any more */
bool record_open_place(struct record_place *out);

/**
 * record_close_place - give an operation its text
 * @place: from record_open_place()
 * @text: the entry of the manifest; moved into the record
 */
void record_close_place(const struct record_place *place, struct tenon_buffer *text);

/** record_leave_out - an operation is not recorded; @place may be NULL */
void record_leave_out(const struct record_place *place, enum record_lack why);

/**
 * record_keep - keep contents, unless the record has them already
 * @place: the operation
 * @bytes: contents
 * @name: receives its name
 *
 * Return: 0; or the reason why not, as 1 + enum record_lack.
 */
int record_keep(const struct record_place *place, struct tenon_slice bytes, char name[SHA256_TEXT]);

/* ---- record_argument.c */

/** record_tensor - describe a tensor; false without memory or for one with gaps */
bool record_tensor(const DLTensor *t, struct record_argument *out);

/** record_bytes - describe memory without an element type */
bool record_bytes(uint64_t size, struct record_argument *out);

/** record_value - describe a value; false for one that is not recorded */
bool record_value(const struct tenon_value *v, struct record_argument *out);

/** record_argument_put - append an argument to an entry */
void record_argument_put(struct tenon_buffer *out, const struct record_argument *a);

/** record_arguments_free - free @count arguments; NULL is allowed */
void record_arguments_free(struct record_argument *a, size_t count);

/* ---- record_operator.c */

/** record_before_operator - tracer.before */
struct operator_begun *record_before_operator(const struct operator_call *call);

/**
 * record_operator_tensor - find the tensor at an address among those of the thread's operators
 * @data: tensor data, as kernels get it: with the offset, where it is an address
 * @number: receives the number of the innermost operator; 0 for none
 *
 * Return: the tensor; NULL if none is there.
 */
const DLTensor *record_operator_tensor(const void *data, uint64_t *number);

/* ---- record_submit.c */

/** record_submit - tracer.submit */
int record_submit(struct tenon_queue *queue, const struct tenon_operation *operation);

#endif /* RUNTIME_RECORD_RECORD_H */
