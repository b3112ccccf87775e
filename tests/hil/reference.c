/* SPDX-License-Identifier: MIT */
/* Compute what packets do to memory, for comparison with a board. */
#include "tests/hil/reference.h"

#include <string.h>

/* ---- packets */

/* A range inside one of four parts of memory. */
static uint64_t place(struct random *r, uint64_t base, uint32_t room, unsigned int part,
		      uint32_t size, uint32_t align)
{
	uint32_t quarter = room / 4;

	return base + part * quarter + random_below(r, (quarter - size) / align) * align;
}

static size_t random_copy(struct random *r, struct mortise_copy *p, uint64_t base, uint32_t room)
{
	p->size = random_below(r, room / 4);
	p->to = base + random_below(r, room - p->size);
	p->from = base + random_below(r, room - p->size);
	return sizeof(*p);
}

static size_t random_fill(struct random *r, struct mortise_fill *p, uint64_t base, uint32_t room)
{
	p->width = 1U << random_below(r, 4);
	p->size = random_below(r, room / 16) * p->width / 8 * 8;
	p->to = base + random_below(r, (room - p->size) / 8) * 8;
	p->pattern = random_next(r);
	return sizeof(*p);
}

static size_t random_signal(struct random *r, struct mortise_semaphore *p, uint64_t base,
			    uint32_t room)
{
	p->address = base + random_below(r, room / 4) * 4;
	p->value = (uint32_t)random_next(r);
	return sizeof(*p);
}

static size_t random_vector(struct random *r, struct mortise_vector *p, uint64_t base,
			    uint32_t room)
{
	uint32_t size;

	p->type = (uint8_t)random_below(r, MORTISE_TYPE_COUNT);
	p->operation = (uint8_t)random_below(r, MORTISE_VECTOR_COUNT);
	size = p->type == MORTISE_INT8 ? 1 : 4;
	p->count = (uint32_t)random_below(r, room / 64);
	p->to = place(r, base, room, 0, p->count * size, size);
	p->a = random_one_in(r, 4) ? p->to : place(r, base, room, 1, p->count * size, size);
	p->b = random_one_in(r, 3) ? 0 : place(r, base, room, 2, p->count * size, size);
	p->scalar = p->type == MORTISE_INT8 ? (int8_t)random_next(r) : (int32_t)random_next(r);
	return sizeof(*p);
}

static size_t random_gemm(struct random *r, struct mortise_gemm *p, uint64_t base, uint32_t room)
{
	uint32_t size;

	p->m = 1 + (uint32_t)random_below(r, 8);
	p->n = 1 + (uint32_t)random_below(r, 8);
	p->k = 1 + (uint32_t)random_below(r, 40);
	p->a_stride = p->k + (uint32_t)random_below(r, 5);
	p->b_stride = p->k + (uint32_t)random_below(r, 5);
	p->a_zero = (int8_t)random_next(r);
	p->b_zero = (int8_t)random_next(r);
	p->multiplier = random_one_in(r, 2) ? (int32_t)random_next(r) : 0;
	size = p->multiplier ? 1 : 4;
	if (p->multiplier) {
		p->shift = 1 + (uint32_t)random_below(r, 62);
		p->to_zero = (int8_t)random_next(r);
		p->least = -128 + (int32_t)random_below(r, 100);
		p->most = 127 - (int32_t)random_below(r, 100);
	}
	p->to_stride = (p->n + (uint32_t)random_below(r, 3)) * size;
	p->to = place(r, base, room, 0, p->m * p->to_stride, size);
	p->a = place(r, base, room, 1, p->m * p->a_stride, 1);
	p->b = place(r, base, room, 2, p->n * p->b_stride, 1);
	p->bias = random_one_in(r, 3) ? 0 : place(r, base, room, 3, p->n * 4, 4);
	return sizeof(*p);
}

size_t random_packet(struct random *r, union any_packet *p, uint64_t base, uint32_t room)
{
	static const uint8_t opcodes[] = { MORTISE_OP_COPY,   MORTISE_OP_FILL, MORTISE_OP_SIGNAL,
					   MORTISE_OP_VECTOR, MORTISE_OP_GEMM, MORTISE_OP_BARRIER };

	memset(p, 0, sizeof(*p));
	p->header.opcode = opcodes[random_below(r, sizeof(opcodes))];
	switch (p->header.opcode) {
	case MORTISE_OP_COPY:
		return random_copy(r, &p->copy, base, room);
	case MORTISE_OP_FILL:
		return random_fill(r, &p->fill, base, room);
	case MORTISE_OP_SIGNAL:
		return random_signal(r, &p->signal, base, room);
	case MORTISE_OP_VECTOR:
		return random_vector(r, &p->vector, base, room);
	case MORTISE_OP_GEMM:
		return random_gemm(r, &p->gemm, base, room);
	default:
		return sizeof(p->header);
	}
}

/* ---- what they do; values are moved by memcpy(), so that alignment is no matter here */

static int32_t word_at(const uint8_t *at)
{
	int32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static int64_t limit(int64_t value, int64_t least, int64_t most)
{
	return value < least ? least : value > most ? most : value;
}

static int64_t operate(uint8_t operation, int64_t a, int64_t b)
{
	switch (operation) {
	case MORTISE_VECTOR_ADD:
		return a + b;
	case MORTISE_VECTOR_SUB:
		return a - b;
	case MORTISE_VECTOR_MUL:
		return a * b;
	case MORTISE_VECTOR_MAX:
		return a > b ? a : b;
	default:
		return a < b ? a : b;
	}
}

static void run_vector(const struct mortise_vector *p, uint8_t *memory, uint64_t base)
{
	uint8_t *to = memory + (p->to - base), *a = memory + (p->a - base);
	uint8_t *b = p->b ? memory + (p->b - base) : NULL;
	uint32_t i;

	for (i = 0; i < p->count; i++) {
		if (p->type == MORTISE_INT8) {
			int64_t y = b ? (int8_t)b[i] : p->scalar;

			to[i] = (uint8_t)limit(operate(p->operation, (int8_t)a[i], y), -128, 127);
		} else {
			int64_t y = b ? word_at(b + 4 * i) : p->scalar;
			uint32_t result = (uint32_t)operate(p->operation, word_at(a + 4 * i), y);

			memcpy(to + 4 * i, &result, 4);
		}
	}
}

/* floor(value / 2^shift) */
static int64_t shift_down(int64_t value, uint32_t shift)
{
	int64_t unit = (int64_t)1 << shift;
	int64_t quotient = value / unit;

	return value % unit < 0 ? quotient - 1 : quotient;
}

static void store_sum(const struct mortise_gemm *p, uint8_t *to, int64_t sum)
{
	uint32_t word = (uint32_t)sum;
	int64_t scaled;

	if (!p->multiplier) {
		memcpy(to, &word, 4);
		return;
	}
	scaled = sum * p->multiplier + ((int64_t)1 << (p->shift - 1));
	scaled = shift_down(scaled, p->shift) + p->to_zero;
	*to = (uint8_t)(scaled < p->least  ? p->least
			: scaled > p->most ? p->most
					   : (int32_t)scaled);
}

static void run_gemm(const struct mortise_gemm *p, uint8_t *memory, uint64_t base)
{
	uint32_t m, n, k;

	for (m = 0; m < p->m; m++)
		for (n = 0; n < p->n; n++) {
			const uint8_t *a = memory + (p->a - base) + m * p->a_stride;
			const uint8_t *b = memory + (p->b - base) + n * p->b_stride;
			int64_t sum = 0;

			for (k = 0; k < p->k; k++)
				sum += ((int8_t)a[k] - p->a_zero) * ((int8_t)b[k] - p->b_zero);
			if (p->bias)
				sum += word_at(memory + (p->bias - base) + 4 * n);
			/* sums are 32 bits wide */
			sum = (int32_t)(uint32_t)sum;
			store_sum(p,
				  memory + (p->to - base) + m * p->to_stride +
					  n * (p->multiplier ? 1 : 4),
				  sum);
		}
}

void reference_run(const union any_packet *p, uint8_t *memory, uint64_t base)
{
	uint64_t i;

	switch (p->header.opcode) {
	case MORTISE_OP_COPY:
		memmove(memory + (p->copy.to - base), memory + (p->copy.from - base), p->copy.size);
		break;
	case MORTISE_OP_FILL:
		for (i = 0; i < p->fill.size; i++)
			memory[p->fill.to - base + i] =
				(uint8_t)(p->fill.pattern >> 8 * (i % p->fill.width));
		break;
	case MORTISE_OP_SIGNAL:
		memcpy(memory + (p->signal.address - base), &p->signal.value, 4);
		break;
	case MORTISE_OP_VECTOR:
		run_vector(&p->vector, memory, base);
		break;
	case MORTISE_OP_GEMM:
		run_gemm(&p->gemm, memory, base);
		break;
	default:
		break;
	}
}
