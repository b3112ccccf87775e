/* SPDX-License-Identifier: MIT */
/* The packets of a command stream for mortise, as text. */
#include <inttypes.h>
#include <stddef.h>
#include <tenon/backend/buffer.h>
#include <tenon/uapi/mortise.h>

#include "devices/mortise/mortise_walk.h"

enum form { ADDRESS, NUMBER, SIGNED, HEX, OPERATION, TYPE };

/* a field of a packet; one with width 0 ends the list */
struct field {
	const char *name;
	uint8_t at;
	uint8_t width;
	uint8_t form;
};

#define FIELD(type, field, form)                                                                   \
	{                                                                                          \
#field, offsetof(struct mortise_##type, field),                                    \
			sizeof(((struct mortise_##type *)0)->field), form                          \
	}
#define END                                                                                        \
	{                                                                                          \
		NULL, 0, 0, 0                                                                      \
	}

static const struct field no_fields[] = { END };

static const struct field copy[] = { FIELD(copy, to, ADDRESS), FIELD(copy, from, ADDRESS),
				     FIELD(copy, size, NUMBER), END };

static const struct field fill[] = { FIELD(fill, to, ADDRESS), FIELD(fill, size, NUMBER),
				     FIELD(fill, pattern, HEX), FIELD(fill, width, NUMBER), END };

static const struct field semaphore[] = { FIELD(semaphore, address, ADDRESS),
					  FIELD(semaphore, value, NUMBER), END };

static const struct field timestamp[] = { FIELD(timestamp, address, ADDRESS), END };

static const struct field vector[] = {
	FIELD(vector, operation, OPERATION), FIELD(vector, type, TYPE),
	FIELD(vector, to, ADDRESS),	     FIELD(vector, a, ADDRESS),
	FIELD(vector, b, ADDRESS),	     FIELD(vector, count, NUMBER),
	FIELD(vector, scalar, SIGNED),	     END
};

static const struct field gemm[] = {
	FIELD(gemm, m, NUMBER),		 FIELD(gemm, n, NUMBER),
	FIELD(gemm, k, NUMBER),		 FIELD(gemm, to, ADDRESS),
	FIELD(gemm, a, ADDRESS),	 FIELD(gemm, b, ADDRESS),
	FIELD(gemm, bias, ADDRESS),	 FIELD(gemm, a_stride, NUMBER),
	FIELD(gemm, b_stride, NUMBER),	 FIELD(gemm, to_stride, NUMBER),
	FIELD(gemm, a_zero, SIGNED),	 FIELD(gemm, b_zero, SIGNED),
	FIELD(gemm, multiplier, SIGNED), FIELD(gemm, shift, NUMBER),
	FIELD(gemm, to_zero, SIGNED),	 FIELD(gemm, least, SIGNED),
	FIELD(gemm, most, SIGNED),	 END
};

static const struct {
	const char *name;
	const struct field *fields;
	uint16_t words; /* 0: any */
} packets[MORTISE_OP_COUNT] = {
	[MORTISE_OP_PAD] = { "pad", no_fields, 0 },
	[MORTISE_OP_COPY] = { "copy", copy, sizeof(struct mortise_copy) / MORTISE_WORD },
	[MORTISE_OP_FILL] = { "fill", fill, sizeof(struct mortise_fill) / MORTISE_WORD },
	[MORTISE_OP_WAIT] = { "wait", semaphore, sizeof(struct mortise_semaphore) / MORTISE_WORD },
	[MORTISE_OP_SIGNAL] = { "signal", semaphore,
				sizeof(struct mortise_semaphore) / MORTISE_WORD },
	[MORTISE_OP_TIMESTAMP] = { "timestamp", timestamp,
				   sizeof(struct mortise_timestamp) / MORTISE_WORD },
	[MORTISE_OP_BARRIER] = { "barrier", no_fields, 0 },
	[MORTISE_OP_VECTOR] = { "vector", vector, sizeof(struct mortise_vector) / MORTISE_WORD },
	[MORTISE_OP_GEMM] = { "gemm", gemm, sizeof(struct mortise_gemm) / MORTISE_WORD },
};

static uint64_t value_of(const uint8_t *at, unsigned int width)
{
	uint64_t value = 0;
	unsigned int i;

	for (i = 0; i < width; i++)
		value |= (uint64_t)at[i] << (8 * i);
	return value;
}

static void show_field(struct cmdstream_view *v, const uint8_t *packet, uint64_t at,
		       const struct field *f)
{
	static const char *const operations[] = { "add", "sub", "mul", "max", "min" };
	static const char *const types[] = { "int8", "int32" };
	const uint64_t value = value_of(packet + f->at, f->width);
	struct cmdstream_place place;

	tenon_buffer_printf(v->out, "  %s ", f->name);
	if (cmdstream_relocated(v, at + f->at, &place))
		tenon_buffer_printf(v->out, "region %u + 0x%" PRIx64, place.region, place.offset);
	else if (f->form == ADDRESS && !value)
		tenon_buffer_printf(v->out, "none");
	else if (f->form == OPERATION && value < MORTISE_VECTOR_COUNT)
		tenon_buffer_printf(v->out, "%s", operations[value]);
	else if (f->form == TYPE && value < MORTISE_TYPE_COUNT)
		tenon_buffer_printf(v->out, "%s", types[value]);
	else if (f->form == SIGNED)
		tenon_buffer_printf(v->out, "%" PRId32, (int32_t)value);
	else if (f->form == ADDRESS || f->form == HEX)
		tenon_buffer_printf(v->out, "0x%" PRIx64, value);
	else
		tenon_buffer_printf(v->out, "%" PRIu64, value);
}

bool mortise_show(struct cmdstream_view *v)
{
	const uint64_t at = (uint64_t)(v->code.at - v->code.start);
	const struct field *f;
	const uint8_t *packet = v->code.at;
	unsigned int opcode, words;

	if (tenon_cursor_left(&v->code) < MORTISE_WORD)
		return false;
	opcode = packet[offsetof(struct mortise_header, opcode)];
	words = (unsigned int)value_of(packet + offsetof(struct mortise_header, words), 2);
	if (opcode >= MORTISE_OP_COUNT || !packets[opcode].name || !words ||
	    words > tenon_cursor_left(&v->code) / MORTISE_WORD ||
	    (packets[opcode].words && packets[opcode].words != words))
		return false;
	tenon_buffer_printf(v->out, "  0x%04" PRIx64 "  %-9s", at, packets[opcode].name);
	for (f = packets[opcode].fields; f->width; f++)
		show_field(v, packet, at, f);
	tenon_buffer_printf(v->out, "\n");
	v->code.at += (size_t)words * MORTISE_WORD;
	return true;
}
