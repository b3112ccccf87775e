/* SPDX-License-Identifier: MIT */
/* Register commands for tests, made by hand of the registers that the check and the kernel's model look at. */
#ifndef TESTS_NPU_ROCKET_STREAM_H
#define TESTS_NPU_ROCKET_STREAM_H

#include <tenon/uapi/rocket.h>

#include "devices/cmdstream/cmdstream_emit.h"

/* regions of a sample */
enum { SAMPLE_INPUT, SAMPLE_WEIGHTS, SAMPLE_OUTPUT, SAMPLE_BETWEEN, SAMPLE_REGIONS };

/* bytes of each: a cube of 4 x 2 with 20 channels, which take two atoms of 16 */
#define SAMPLE_BYTES   256
#define SAMPLE_WEIGHED 16

/* what the kernel's model makes of a byte */
#define SAMPLE_WEIGHT(i) ((uint8_t)(3 * ((i) % SAMPLE_WEIGHED) + 1))

void put_word(struct cmdstream_emitter *e, unsigned int target, unsigned int at, uint32_t value);
void put_address(struct cmdstream_emitter *e, unsigned int target, unsigned int at, uint32_t region,
		 uint64_t offset);

/* Words of a convolution without those that end a task. */
void put_convolution(struct cmdstream_emitter *e, uint32_t from, uint32_t to);

/* The last words, and zeroes up to the next task. */
void put_end(struct cmdstream_emitter *e, uint32_t units);

/* Units of a convolution. */
#define SAMPLE_UNITS (ROCKET_UNIT_CNA | ROCKET_UNIT_CORE | ROCKET_UNIT_DPU | ROCKET_UNIT_DPU_RDMA)

/* The regions of a sample, in an emitter that was initialised. */
void put_regions(struct cmdstream_emitter *e);

/* End the kernel "main", which takes input and output, and the stream. */
int end_sample(struct cmdstream_emitter *e, struct tenon_buffer *out);

/* A payload: input to output in one task, or by memory between in two. */
int sample_stream(unsigned int tasks, struct tenon_buffer *out);

/* Read a payload, and check its first kernel (rocket_check.c). */
int rocket_check(const struct tenon_buffer *b);

#endif /* TESTS_NPU_ROCKET_STREAM_H */
