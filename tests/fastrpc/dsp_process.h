/* SPDX-License-Identifier: MIT */
/*
 * The messages between the fake of the kernel and the fake process on the DSP, which qemu-hexagon runs.
 *
 * A request is followed by the bytes of its inputs, an answer by the bytes of its outputs. Each argument is padded to
 * 8 bytes.
 */
#ifndef TESTS_FASTRPC_DSP_PROCESS_H
#define TESTS_FASTRPC_DSP_PROCESS_H

#include <stdint.h>

#define DSP_ARGUMENTS_MOST 4
#define DSP_BYTES_MOST	   1024

/* where the process has a buffer; the answer of DSP_MAP when it could be mapped */
#define DSP_ADDRESS 0x50000000U

enum dsp_request_kind {
	DSP_MAP,  /* one input: the path of the buffer; @scalars: its size */
	DSP_CALL, /* of a method */
};

struct dsp_request {
	uint32_t kind;
	uint32_t handle;
	uint32_t scalars;
	uint32_t sizes[DSP_ARGUMENTS_MOST]; /* of inputs, then of outputs */
};

struct dsp_answer {
	uint32_t result;
};

#endif /* TESTS_FASTRPC_DSP_PROCESS_H */
