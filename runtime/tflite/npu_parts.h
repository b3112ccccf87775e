/* SPDX-License-Identifier: MIT */
/* Operators of NPUs in the form that devices take. */
#ifndef RUNTIME_TFLITE_NPU_PARTS_H
#define RUNTIME_TFLITE_NPU_PARTS_H

/*
 * The custom operator of a .tflite file has the parts of a network as tensors; backends of NPUs read them one after
 * the other (tenon/uapi/ethosu_parts.h).
 */

#include <string.h>
#include <tenon/buffer.h>

#include "runtime/tflite/tflite_model.h"

/* regions of memory that a payload uses */
enum npu_region { NPU_CONSTANTS = 0, NPU_ARENA = 1, NPU_FAST = 2, NPU_INPUTS = 3, NPU_OUTPUTS = 4 };

/**
 * struct npu_tensor - where a tensor is
 * @region: enum npu_region
 * @offset: offset in it
 * @bytes: size
 */
struct npu_tensor {
	uint32_t region;
	uint64_t offset;
	uint64_t bytes;
};

/**
 * struct npu_operator - an operator
 * @payload: what the driver gets
 * @payload_at: its offset in the file
 * @constants: contents of their region
 * @arena: bytes of the arena
 * @fast: bytes of the fast scratch memory; 0 without one
 * @is_given: the arena is memory of the caller that the device uses where it is
 * @tensors: @input_count inputs, then @output_count outputs
 * @input_count: number of inputs
 * @output_count: number of outputs
 */
struct npu_operator {
	struct tenon_slice payload;
	uint64_t payload_at;
	struct tenon_slice constants;
	uint64_t arena;
	uint64_t fast;
	bool is_given;
	struct npu_tensor *tensors;
	size_t input_count;
	size_t output_count;
};

/** npu_parts_size - bytes of a buffer that npu_parts() does not enlarge */
size_t npu_parts_size(const struct npu_operator *op);

/** npu_parts - append the parts of an operator but its constants, which stay where they are; 0 or -TENON_E_NOMEM */
int npu_parts(const struct npu_operator *op, struct tenon_buffer *out);

/* the first inputs of an operator: payload, constants, arena, fast scratch memory; the tensors of its network follow */
#define NPU_MEMORIES 4

/**
 * npu_operator_read - read and check an operator
 * @m: the model
 * @index: number of the operator
 * @out: receives it; free its tensors in any case
 *
 * Return: 0; -TENON_E_FORMAT and -TENON_E_UNSUPPORTED for operators that are not as Vela writes them, and for tensors that
 *	lie outside of their region; -TENON_E_NOMEM.
 */
int npu_operator_read(const struct tflite_model *m, uint32_t index, struct npu_operator *out);

/**
 * npu_read - read an operator as the parts of a program
 * @m: the model
 * @index: number of the operator
 * @parts: receives its parts; what it had is dropped
 * @program: receives a cursor over @parts; places in the payload are those of the model's file
 *
 * Return: as npu_operator_read().
 */
int npu_read(const struct tflite_model *m, uint32_t index, struct tenon_buffer *parts,
	     struct tenon_cursor *program);

/* Payloads of version 2 say in a word whether inputs and outputs have regions of their own. */
static inline bool npu_has_own_regions(struct tenon_slice payload)
{
	static const size_t word = 48;
	const uint8_t *p = (const uint8_t *)payload.data;

	return payload.size >= word + 4 && !memcmp(p, "COP2", 4) && p[word] == 2 && !p[word + 1] &&
	       !p[word + 2] && !p[word + 3];
}

#endif /* RUNTIME_TFLITE_NPU_PARTS_H */
