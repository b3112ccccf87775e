/* SPDX-License-Identifier: MIT */
/* Record command streams of mortise's packets, for tests that damage or run them. */
#ifndef TESTS_MORTISE_STREAM_H
#define TESTS_MORTISE_STREAM_H

#include <stddef.h>
#include <tenon/uapi/mortise.h>

#include "devices/cmdstream/cmdstream_emit.h"

/* an address in a packet: byte @field of the packet is the address of byte @offset of @region */
struct hole {
	size_t field;
	uint32_t region;
	uint64_t offset;
};

#define HOLE(type, field, region, offset)                                                          \
	{                                                                                          \
		offsetof(struct type, field), region, offset                                       \
	}

/* Record a packet with @count holes, in order. */
static inline void put_packet(struct cmdstream_emitter *e, uint8_t opcode, void *packet,
			      size_t size, const struct hole *holes, size_t count)
{
	struct mortise_header *h = packet;
	size_t at = 0, i;

	h->opcode = opcode;
	h->words = (uint16_t)(size / MORTISE_WORD);
	cmdstream_reserve(e, size);
	for (i = 0; i < count; i++) {
		cmdstream_emit(e, (char *)packet + at, holes[i].field - at);
		cmdstream_reloc(e, holes[i].region, holes[i].offset, 8);
		at = holes[i].field + 8;
	}
	cmdstream_emit(e, (char *)packet + at, size - at);
}

#define PUT(e, opcode, packet, ...)                                                                \
	put_packet(e, opcode, &(packet), sizeof(packet), (const struct hole[]){ __VA_ARGS__ },     \
		   sizeof((const struct hole[]){ __VA_ARGS__ }) / sizeof(struct hole))

static inline uint32_t put_region(struct cmdstream_emitter *e, uint32_t kind, uint32_t access,
				  uint64_t size, const void *bytes)
{
	const struct tenon_cmdstream_region r = {
		.kind = kind, .access = access, .size = size, .alignment = 16
	};

	return cmdstream_region(e, &r, bytes);
}

#define READ_WRITE (TENON_REGION_READ | TENON_REGION_WRITE)

static const uint32_t stream_config[] = { MORTISE_ABI, 0 };

static inline int flush_stream(struct cmdstream_emitter *e, struct tenon_buffer *out)
{
	return cmdstream_flush(e, "mortise", stream_config, 2, out);
}

/* regions of sample_stream() */
enum {
	SAMPLE_X,	/* input: 16 int8 */
	SAMPLE_Y,	/* output: 8 int8 */
	SAMPLE_WEIGHTS, /* constant: 8 x 16 int8 */
	SAMPLE_BIAS,	/* constant: 8 int32 */
	SAMPLE_SUMS,	/* scratch: 8 int8 */
	SAMPLE_COUNT,
};

#define SAMPLE_INPUTS  16
#define SAMPLE_OUTPUTS 8

static inline int8_t sample_weight(unsigned int n, unsigned int k)
{
	return (int8_t)((int)((n * 7 + k * 3) % 11) - 5);
}

static inline int32_t sample_bias(unsigned int n)
{
	return (int32_t)n * 40 - 150;
}

/*
 * Kernel "dense": y = max(0, (weights * x + bias) / 16 rounded), by way of scratch memory; kernel "clear": y = 0.
 */
static inline int sample_stream(struct tenon_buffer *out)
{
	struct mortise_gemm gemm = { .m = 1,
				     .n = 8,
				     .k = 16,
				     .a_stride = 16,
				     .b_stride = 16,
				     .to_stride = 8,
				     .multiplier = 1,
				     .shift = 4,
				     .least = -128,
				     .most = 127 };
	struct mortise_vector relu = { .count = 8,
				       .operation = MORTISE_VECTOR_MAX,
				       .type = MORTISE_INT8 };
	struct mortise_fill fill = { .size = 8, .width = 8 };
	int8_t weights[SAMPLE_OUTPUTS * SAMPLE_INPUTS];
	int32_t bias[SAMPLE_OUTPUTS];
	const uint32_t arguments[] = { SAMPLE_X, SAMPLE_Y };
	struct cmdstream_emitter e;
	unsigned int i;
	int err;

	for (i = 0; i < sizeof(weights); i++)
		weights[i] = sample_weight(i / SAMPLE_INPUTS, i % SAMPLE_INPUTS);
	for (i = 0; i < SAMPLE_OUTPUTS; i++)
		bias[i] = sample_bias(i);
	cmdstream_emitter_init(&e);
	put_region(&e, TENON_REGION_INPUT, TENON_REGION_READ, SAMPLE_INPUTS, NULL);
	put_region(&e, TENON_REGION_OUTPUT, TENON_REGION_WRITE, SAMPLE_OUTPUTS, NULL);
	put_region(&e, TENON_REGION_CONSTANT, TENON_REGION_READ, sizeof(weights), weights);
	put_region(&e, TENON_REGION_CONSTANT, TENON_REGION_READ, sizeof(bias), bias);
	put_region(&e, TENON_REGION_SCRATCH, READ_WRITE, SAMPLE_OUTPUTS, NULL);
	PUT(&e, MORTISE_OP_GEMM, gemm, HOLE(mortise_gemm, to, SAMPLE_SUMS, 0),
	    HOLE(mortise_gemm, a, SAMPLE_X, 0), HOLE(mortise_gemm, b, SAMPLE_WEIGHTS, 0),
	    HOLE(mortise_gemm, bias, SAMPLE_BIAS, 0));
	PUT(&e, MORTISE_OP_VECTOR, relu, HOLE(mortise_vector, to, SAMPLE_Y, 0),
	    HOLE(mortise_vector, a, SAMPLE_SUMS, 0));
	cmdstream_end_kernel(&e, "dense", arguments, 2);
	PUT(&e, MORTISE_OP_FILL, fill, HOLE(mortise_fill, to, SAMPLE_Y, 0));
	cmdstream_end_kernel(&e, "clear", arguments + 1, 1);
	err = flush_stream(&e, out);
	cmdstream_emitter_fini(&e);
	return err;
}

/* what "dense" makes of @x */
static inline int8_t sample_result(const int8_t *x, unsigned int n)
{
	int32_t sum = sample_bias(n);
	unsigned int k;

	for (k = 0; k < SAMPLE_INPUTS; k++)
		sum += x[k] * sample_weight(n, k);
	sum = (sum + 8) >> 4;
	return (int8_t)(sum < 0 ? 0 : sum > 127 ? 127 : sum);
}

#endif /* TESTS_MORTISE_STREAM_H */
