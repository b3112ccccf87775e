/* SPDX-License-Identifier: MIT */
/* Change type and shape of a tensor in a file of parameters. */
#include <string.h>

#include "runtime/core/saved_tensor.h"
#include "tests/fuzz/mutant.h"

/* fields of a saved tensor, from its magic number on */
enum { DEVICE = 16, NDIM = 24, CODE = 28, BITS = 29, LANES = 30, SHAPE = 32 };

/* Where the tensor's header begins that comes next behind a random place; SIZE_MAX: none. */
static size_t find_tensor(struct mutant *m)
{
	size_t start = random_below(&m->random, m->size), i, at;

	for (i = 0; i < m->size; i++) {
		at = (start + i) % m->size;
		if (mutant_get(m, at, 8) == SAVED_TENSOR_MAGIC)
			return at;
	}
	return SIZE_MAX;
}

/* Any data type, and as many bytes as it needs: what reads the elements comes to see it. */
static void change_type(struct mutant *m, size_t at)
{
	static const uint8_t bits[] = { 0, 1, 2, 3, 4, 6, 7, 8, 12, 16, 24, 32, 64, 128, 248, 255 };
	struct random *r = &m->random;
	uint64_t ndim = mutant_get(m, at + NDIM, 4), elements = 1, size, i, old;
	uint8_t width = bits[random_below(r, sizeof(bits))];
	uint64_t end = at + SHAPE + 8 * ndim;
	static const uint8_t zeros[4096];

	if (ndim > 8)
		return;
	for (i = 0; i < ndim; i++)
		elements *= mutant_get(m, at + SHAPE + 8 * i, 8);
	mutant_put(m, at + CODE, random_below(r, 20), 1);
	mutant_put(m, at + BITS, width, 1);
	if (random_one_in(r, 8))
		mutant_put(m, at + LANES, mutant_number(m, 4), 2);
	size = elements * ((width + UINT64_C(7)) / 8);
	old = mutant_get(m, end, 8);
	if (size > sizeof(zeros) || old > m->size || random_one_in(r, 4))
		return;
	mutant_put(m, end, size, 8);
	mutant_replace(m, end + 8, old, zeros, size);
}

/* The shape is another, of as many elements or not. */
static void change_shape(struct mutant *m, size_t at)
{
	static const struct {
		uint8_t at, width;
	} fields[] = { { 8, 8 },     { DEVICE, 4 },    { DEVICE + 4, 4 }, { NDIM, 4 },
		       { SHAPE, 8 }, { SHAPE + 8, 8 }, { SHAPE + 16, 8 } };
	struct random *r = &m->random;
	uint64_t which = random_below(r, sizeof(fields) / sizeof(fields[0]));
	uint64_t ndim = mutant_get(m, at + NDIM, 4);

	if (ndim == 2 && random_one_in(r, 3)) {
		mutant_put(m, at + SHAPE,
			   mutant_get(m, at + SHAPE, 8) * mutant_get(m, at + SHAPE + 8, 8), 8);
		mutant_put(m, at + SHAPE + 8, 1, 8);
		return;
	}
	mutant_put(m, at + fields[which].at, mutant_number(m, ndim), fields[which].width);
}

void mutate_params(struct mutant *m)
{
	struct random *r = &m->random;
	uint64_t choice = random_below(r, 6);
	size_t at = choice < 4 ? find_tensor(m) : SIZE_MAX;

	if (at == SIZE_MAX)
		mutate_blob(m);
	else if (choice < 2)
		change_type(m, at);
	else
		change_shape(m, at);
}
