/* SPDX-License-Identifier: MIT */
/* Elementwise operations on int8, which saturates, and int32, which wraps. */
#include "firmware/core/mortise.h"

/* after this many elements the firmware checks whether the host wants it to stop */
#define SLICE 16384U

static int8_t saturate(int32_t value)
{
	return (int8_t)(value > 127 ? 127 : value < -128 ? -128 : value);
}

static int32_t combine(uint8_t operation, int32_t a, int32_t b)
{
	switch (operation) {
	case MORTISE_VECTOR_ADD:
		return (int32_t)((uint32_t)a + (uint32_t)b);
	case MORTISE_VECTOR_SUB:
		return (int32_t)((uint32_t)a - (uint32_t)b);
	case MORTISE_VECTOR_MUL:
		return (int32_t)((uint32_t)a * (uint32_t)b);
	case MORTISE_VECTOR_MAX:
		return a > b ? a : b;
	default:
		return a < b ? a : b;
	}
}

void mortise_elements(const struct mortise_vector *p, void *to, const void *a, const void *b)
{
	uint32_t i;

	if (p->type == MORTISE_INT8) {
		const int8_t *x = a, *y = b;

		for (i = 0; i < p->count; i++)
			((int8_t *)to)[i] =
				saturate(combine(p->operation, x[i], y ? y[i] : p->scalar));
	} else {
		const int32_t *x = a, *y = b;

		for (i = 0; i < p->count; i++)
			((int32_t *)to)[i] = combine(p->operation, x[i], y ? y[i] : p->scalar);
	}
}

static enum mortise_end check_fields(struct mortise *m, const struct mortise_vector *p)
{
	if (p->operation >= MORTISE_VECTOR_COUNT)
		return mortise_bad_field(m, offsetof(struct mortise_vector, operation));
	if (p->type >= MORTISE_TYPE_COUNT)
		return mortise_bad_field(m, offsetof(struct mortise_vector, type));
	if (p->reserved)
		return mortise_bad_field(m, offsetof(struct mortise_vector, reserved));
	if (p->reserved2)
		return mortise_bad_field(m, offsetof(struct mortise_vector, reserved2));
	if (p->type == MORTISE_INT8 && (p->scalar < -128 || p->scalar > 127))
		return mortise_bad_field(m, offsetof(struct mortise_vector, scalar));
	return MORTISE_DONE;
}

static enum mortise_end run_slices(struct mortise *m, const struct mortise_vector *p, uint8_t *to,
				   const uint8_t *a, const uint8_t *b, uint32_t size)
{
	struct mortise_vector part = *p;
	enum mortise_end end = MORTISE_DONE;
	uint32_t left = p->count;

	while (left && end == MORTISE_DONE) {
		part.count = left < SLICE ? left : SLICE;
		mortise_elements(&part, to, a, b);
		left -= part.count;
		to += part.count * size;
		a += part.count * size;
		b = b ? b + part.count * size : NULL;
		end = mortise_go_on(m);
	}
	return end;
}

enum mortise_end mortise_run_vector(struct mortise *m, const void *packet)
{
	const struct mortise_vector *p = packet;
	uint32_t size = p->type == MORTISE_INT8 ? 1 : 4;
	uint64_t bytes = (uint64_t)p->count * size;
	const void *a, *b = NULL;
	void *to;

	if (check_fields(m, p) != MORTISE_DONE)
		return MORTISE_FAILED;
	to = mortise_range(m, p->to, bytes, MORTISE_WRITE, size);
	a = to ? mortise_range(m, p->a, bytes, MORTISE_READ, size) : NULL;
	if (!a)
		return MORTISE_FAILED;
	if (p->b) {
		b = mortise_range(m, p->b, bytes, MORTISE_READ, size);
		if (!b)
			return MORTISE_FAILED;
	}
	return run_slices(m, p, to, a, b, size);
}
