/* SPDX-License-Identifier: MIT */
/* Models of TensorFlow Lite while they are open. */
#ifndef RUNTIME_TFLITE_TFLITE_NETWORK_H
#define RUNTIME_TFLITE_TFLITE_NETWORK_H

/*
 * A network runs its operators one after the other: those that were compiled for an NPU on a device, the others on
 * the processor. All tensors lie in one block of memory, in which a tensor takes the place of those that are not
 * needed any more; inputs and outputs of the model keep theirs. The offsets that the compiler planned are those of
 * tensors in the NPU's memory, and no others.
 *
 * What a file may cost: the block has at most TFLITE_BLOCK_MOST bytes, and no more than the machine has memory; a model
 * that is only described has none. Besides, reading takes less than TFLITE_COST bytes for each byte of the file, and
 * loading to a device at most TFLITE_PACKED_MOST for each, and as much again on the device. The memory that all NPU
 * operators have there for tensors is bounded as the block is.
 */

#include <tenon/backend/module_kind.h>

#include "runtime/core/arguments.h"
#include "runtime/model/model.h"
#include "runtime/model/storage.h"
#include "runtime/tflite/operator.h"

struct tenon_device;
struct tenon_memory;
struct tenon_queue;
struct npu_network;

/* bytes of all tensors that are there at a time, and of constants: more than any network for these NPUs has */
#define TFLITE_BLOCK_MOST (UINT64_C(1) << 32)

/* bytes of host memory for each byte of a file that is read */
#define TFLITE_COST 64

/* parts of all NPU operators together, as a multiple of the file: each has the constants that several share */
#define TFLITE_PACKED_MOST 32

/**
 * struct tflite_step - an operator of an open model
 * @call: its tensors
 * @kind: how the processor runs it; NULL for one of an NPU
 * @npu: how the device runs it; NULL for others, and in models that are only described
 * @visible: what profiles and lists say of it
 * @numbers: numbers of its tensors, inputs first
 */
struct tflite_step {
	struct operator_call call;
	const struct operator_kind *kind;
	struct npu_network *npu;
	struct tenon_op visible;
	uint32_t *numbers;
};

/* where the contents of a tensor come from */
enum tflite_source {
	TFLITE_UNUSED,
	TFLITE_CONSTANT,
	TFLITE_INPUT,
	TFLITE_COMPUTED,
	TFLITE_STATE, /* the run before */
};

/**
 * struct tflite_life - when a tensor is needed
 * @source: where its contents come from
 * @first: operator that computes it
 * @last: last operator that reads it; the number of operators if it is needed after the run
 * @next: of a state, the number of the tensor that it becomes, which has the same place
 * @offset: place in the block; TFLITE_NOWHERE for those that have none there
 * @npu: an operator of an NPU reads or computes it
 */
struct tflite_life {
	enum tflite_source source;
	uint32_t first;
	uint32_t last;
	uint32_t next;
	int64_t offset;
	bool npu;
};

/**
 * struct tflite_slot - an input of the model
 * @value: its tensor
 * @keep: a tensor of the caller that is bound; NULL: the data is in the block
 * @set: it has contents
 */
struct tflite_slot {
	struct tflite_value *value;
	struct tenon_object *keep;
	bool set;
};

/**
 * struct tflite_variable - a variable, which keeps its value between runs
 * @container: part of its name
 * @name: its name
 * @known: @type and @bytes are known; not for one that no operator uses
 * @type: of its elements
 * @bytes: its size
 * @initial: its value before the first run, in the file; empty for zeros
 * @offset: its place in the block
 */
struct tflite_variable {
	struct tenon_slice container;
	struct tenon_slice name;
	bool known;
	uint8_t type;
	uint64_t bytes;
	struct tenon_slice initial;
	int64_t offset;
};

/**
 * struct tflite_network - an open model
 * @base: for the model API
 * @bytes: a copy of the file, of models whose module does not have it; empty for others
 * @model: contents of the file
 * @values: tensors
 * @lives: when each is needed
 * @steps: operators
 * @links: room for lists of tensors of all operators
 * @numbers: room for their numbers
 * @variables: @variable_count variables
 * @variable_of: of each tensor, the number of the variable whose handle it is, from 1 on, or 0; NULL without variables
 * @first_graph: number of the graph of CALL_ONCE in which an NPU sets states; 0 for none
 * @inputs: inputs of the model
 * @unset: how many inputs have no contents
 * @lasting: memory of constants that the processor reads, of variables and states
 * @block: memory of other tensors
 * @block_size: bytes of both; offsets up to @lasting_size are in the first
 * @lasting_size: bytes of @lasting
 * @constant_size: bytes of constants in it
 * @packed: bytes of parts of NPU operators so far
 * @reserved: bytes of the memory that these have on the device for their work
 * @on_device: bytes of all that they may have there
 * @given: tensors of outputs that were handed out
 * @device: where operators for NPUs run; NULL if there are none
 * @queue: of @device
 * @shared: the caller's memory of @block, which the device uses where it is; NULL for none
 */
struct tflite_network {
	struct tenon_model base;
	struct tenon_buffer bytes;
	struct tflite_model model;
	struct tflite_value *values;
	struct tflite_life *lives;
	struct tflite_step *steps;
	struct tflite_value **links;
	uint32_t *numbers;
	struct tflite_variable *variables;
	uint32_t variable_count;
	uint32_t *variable_of;
	uint32_t first_graph;
	struct tflite_slot *inputs;
	size_t unset;
	struct storage *lasting;
	struct storage *block;
	uint64_t block_size;
	uint64_t lasting_size;
	uint64_t constant_size;
	uint64_t packed;
	uint64_t reserved;
	uint64_t on_device;
	struct tenon_tensor **given;
	struct tenon_device *device;
	struct tenon_queue *queue;
	struct tenon_memory *shared;
};

/* Where the plan has a tensor or a variable. */
static inline char *tflite_place(const struct tflite_network *n, int64_t offset)
{
	const uint64_t at = (uint64_t)offset;

	return at < n->lasting_size ? n->lasting->data + at
				    : n->block->data + (at - n->lasting_size);
}

extern const struct model_ops tflite_model_ops;

/** tflite_module_load - loader of the kind */
int tflite_module_load(struct tenon_cursor *c, const struct tenon_payload *payload,
		       struct tenon_module **out);

/** tflite_load_file - the function `ffi.Module.load_from_file.tflite` */
PACKED_CALL(tflite_load_file);

/** tflite_create - executor.create */
int tflite_create(struct tenon_module *root, const struct tenon_model_options *o,
		  struct tenon_model **out);

/** tflite_destroy - model_ops.destroy; also of a network that is made in part */
void tflite_destroy(struct tenon_model *m);

/**
 * tflite_plan - find when tensors are needed, and lay them into the block
 *
 * Return: 0; -TENON_E_FORMAT for tensors that are read before they are computed, or computed twice;
 *	-TENON_E_OVERFLOW.
 */
int tflite_plan(struct tflite_network *n);

/** tflite_dtype - element type of a tensor; {0,0,0} for those that ports cannot have */
DLDataType tflite_dtype(uint8_t type);

/** tflite_load - copy constant contents, which are little-endian in the file */
void tflite_load(char *to, struct tenon_slice contents, uint8_t type);

/* ---- tflite_variables.c */

/**
 * tflite_variables_read - find the variables, their sizes and their first values
 *
 * Return: 0; -TENON_E_FORMAT; -TENON_E_UNSUPPORTED for a graph of CALL_ONCE that does more than to assign constants;
 *	-TENON_E_NOMEM.
 */
int tflite_variables_read(struct tflite_network *n);

/** tflite_variables_bind - set the first values of variables in the block, and the data of their handles */
void tflite_variables_bind(struct tflite_network *n);

/* ---- tflite_states.c: variables that an NPU keeps in its arena */

/** tflite_state_next - find the output of an operator that is in the place of its input @v; NULL for none */
struct tflite_value *tflite_state_next(const struct operator_call *c, const struct tflite_value *v);

/**
 * tflite_states_begin - give states their values before the first run
 * @n: the network, loaded to its device
 *
 * Return: 0; -TENON_E_FORMAT for a state that the graph of CALL_ONCE does not set; -TENON_E_UNSUPPORTED in memory of the
 *	caller; as opening and running that graph.
 */
int tflite_states_begin(struct tflite_network *n);

/** tflite_open_graph - open another graph of an open network, on the same device; tflite_destroy() ends it */
int tflite_open_graph(const struct tflite_network *n, uint32_t graph, struct tflite_network **out);

/** tflite_run_steps - run all operators */
int tflite_run_steps(struct tflite_network *n);

/* ---- tflite_shared.c: a dma-buf of the caller that the NPU uses */

/** tflite_shared_size - bytes of the block in such memory; 0 for a model without operators of an NPU */
uint64_t tflite_shared_size(const struct tflite_network *n);

/**
 * tflite_share - plan the block again, for such memory
 * @n: the network, planned, with its device
 * @memory: the memory; the block will begin where it does
 *
 * Return: 0; -TENON_E_UNSUPPORTED for tensors that cannot lie there, and for a device that cannot use it where it is; as
 *	tenon_memory_import().
 */
int tflite_share(struct tflite_network *n, const struct heap_region *memory);

/** tflite_unshare - end the device's use of the memory; nothing for a network without it */
void tflite_unshare(struct tflite_network *n);

/** tflite_forget_inputs - let inputs in such memory have no contents: a run has overwritten them */
void tflite_forget_inputs(struct tflite_network *n);

/* ---- tflite_module.c: files as modules */

#define TFLITE_KIND "tflite"

/** tflite_module_bytes - bytes of a module of a file, and its name; false for other modules */
bool tflite_module_bytes(const struct tenon_module *m, struct tenon_slice *bytes,
			 const char **file);

/* ---- tflite_npu.c: operators on a device */

/** npu_is - test whether an operator was compiled for an NPU: it is custom, and called "ethos-u" */
bool npu_is(const struct tflite_operator *op);

/**
 * npu_create - load an operator to a device
 * @n: the network, with its device
 * @c: the operator; the data of its tensors is there
 * @out: receives it
 *
 * Return: 0; -TENON_E_FORMAT and -TENON_E_UNSUPPORTED for operators that are not as compilers write them, and for
 *	what the device refuses; -TENON_E_NOMEM.
 */
int npu_create(struct tflite_network *n, const struct operator_call *c, struct npu_network **out);

/** npu_run - run it, and wait for its end */
int npu_run(struct tflite_network *n, const struct operator_call *c, struct npu_network *npu);

/** npu_close - release it; NULL is allowed */
void npu_close(struct npu_network *npu);

#endif /* RUNTIME_TFLITE_TFLITE_NETWORK_H */
