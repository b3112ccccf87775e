/* SPDX-License-Identifier: MIT */
/*
 * What Linux computes of a command stream, a third time: the check of the driver under test is not used, nor are its
 * tables of commands. All words are kept by their codes; what a stream never sets has all bits set.
 */
#include <errno.h>
#include <string.h>

#include "tests/npu/npu_kernel.h"

#define ALL UINT64_MAX

struct words {
	unsigned int generation;
	bool is_u65;
	uint16_t small[0x100]; /* 0x100 to 0x1ff */
	uint64_t wide[0x100];  /* 0x4000 to 0x40ff */
	uint32_t low[0x100];   /* their second words */
	bool is_set[0x100];    /* of those in @small */
	struct npu_pass *out;
};

/* codes of a map's setters, without their first digits */
struct map {
	uint8_t region, precision, width0, base0;
};

static const struct map ifm = { 0x0f, 0x05, 0x0a, 0x00 };
static const struct map ofm = { 0x1f, 0x14, 0x1a, 0x10 };
static const struct map ifm2 = { 0x8f, 0x85, 0x8a, 0x80 };

static void most(uint64_t *size, uint64_t end)
{
	*size = end > *size ? end : *size;
}

static int map_ends(struct words *w, const struct map *m, uint32_t x, uint32_t y, uint32_t c)
{
	const uint16_t *tiles = &w->small[m->width0];
	const uint16_t bits = w->small[m->precision];
	unsigned int tile = 0, region = w->small[m->region] & 7;
	uint64_t address;

	if (!w->is_set[m->region])
		return EINVAL;
	if (bits >> 14 == 0) {
		if (x > tiles[0]) {
			x -= tiles[0] + 1u;
			tile++;
		}
		if (y > tiles[1 + tile]) {
			y -= tiles[1 + tile] + 1u;
			tile += 2;
		}
	} else if (bits >> 14 == 1) {
		if (y > tiles[2]) {
			y -= tiles[2] + 1u;
			tile = 2;
		} else if (y > tiles[1]) {
			y -= tiles[1] + 1u;
			tile = 1;
		}
	}
	address = w->wide[m->base0 + tile];
	if (address == ALL)
		return EINVAL;
	address += y * w->wide[m->base0 + 5u];
	switch (bits >> 6 & 3) {
	case 0:
		address += x * w->wide[m->base0 + 4u] + c;
		break;
	case 1:
		address += (c / 16) * w->wide[m->base0 + 6u] +
			   (16 * x + (c & 15)) * (1u << (bits >> 1 & 3));
		break;
	}
	if (m == &ifm && w->generation == 1 && w->small[m->region] & 0x78)
		w->out->damages = true;
	else
		most(&w->out->size[region], address + 1);
	return address == ALL ? EINVAL : 0;
}

static int output_ends(struct words *w)
{
	int error = map_ends(w, &ofm, w->small[0x11], w->small[0x12], w->small[0x13]);

	if (!error)
		w->out->written[w->small[0x1f] & 7] = true;
	return error;
}

static int pad_of(const struct words *w, unsigned int first, unsigned int second)
{
	int a = w->is_set[first] ? w->small[first] & 0x7f : 0xff;

	return a + (w->small[second] & 0xff);
}

static int input_ends(struct words *w)
{
	const uint16_t stride = w->small[0x22];
	uint32_t width, height;

	if (stride == 0xffff)
		return EINVAL;
	width = w->small[0x11] * ((stride >> 5 & 2) + (stride & 1) + 1u) + w->small[0x20] -
		(uint32_t)pad_of(w, 0x01, 0x02);
	height = w->small[0x12] * ((stride >> 8 & 2) + (stride >> 1 & 1) + 1u) + w->small[0x21] -
		 (uint32_t)pad_of(w, 0x00, 0x03);
	if (w->generation > 1 && ((width | height) & UINT32_C(0x80000000)))
		return EINVAL;
	return map_ends(w, &ifm, width, height, w->small[0x04]);
}

/* weights and scales of the first core: their base, length and region */
static int bytes_end(struct words *w, unsigned int base, unsigned int region)
{
	if (!w->is_set[region] || w->wide[base] == ALL || w->low[base + 1] == UINT32_MAX)
		return EINVAL;
	most(&w->out->size[w->small[region] & 7], w->wide[base] + w->low[base + 1]);
	return 0;
}

static int kernel_ends(struct words *w, bool input, bool second, bool weights)
{
	int error = input ? input_ends(w) : 0;

	if (!error && second)
		error = map_ends(w, &ifm2, w->small[0x04], 0, w->small[0x13]);
	if (!error && weights)
		error = bytes_end(w, 0x20, 0x28);
	if (!error && !(w->small[0x14] & 0x100))
		error = bytes_end(w, 0x22, 0x29);
	return error ? error : output_ends(w);
}

static int operand_ends(struct words *w, const struct map *m, unsigned int broadcast)
{
	return map_ends(w, m, broadcast & 2 ? 0 : w->small[0x11],
			broadcast & 1 ? 0 : w->small[0x12], broadcast & 4 ? 0 : w->small[0x13]);
}

static int elementwise_ends(struct words *w, uint16_t mode)
{
	const uint8_t first = (uint8_t)w->small[0x08], second = (uint8_t)w->small[0x80];
	const bool scalar = w->is_u65 && w->generation > 1 ? second & 0x80 : second == 8;
	int error = first == 8 ? 0 : operand_ends(w, &ifm, first);

	if (!error && !scalar && mode != 5 && mode != 6 && mode != 7 && mode != 0x24)
		error = operand_ends(w, &ifm2, second);
	return error ? error : output_ends(w);
}

static uint64_t signed_of(uint64_t bits)
{
	return bits >> 39 & 1 ? bits | UINT64_C(0xffffff) << 40 : bits;
}

/* Return: length of a side; ALL if generation 3 refuses it. */
static uint64_t side(struct words *w, unsigned int region, unsigned int place, unsigned int stride)
{
	const unsigned int mode = w->is_set[0x30] ? w->small[0x30] >> 9 & 3 : 0;
	const bool strict = w->generation == 3;
	uint64_t length = w->wide[0x32], step;
	unsigned int i;

	if (strict && length == ALL)
		return ALL;
	for (i = 0; i < mode && i < (mode == 2 ? 2u : 1u); i++) {
		step = signed_of(w->wide[stride + i]);
		if (strict && step >> 63 && 0 - step > length)
			return ALL;
		length += step;
		if (strict && w->small[0x32 + i] && length > UINT64_MAX / w->small[0x32 + i])
			return ALL;
		length *= w->small[0x32 + i];
	}
	if (!w->is_set[region] || w->small[region] & 0x100)
		return length;
	if (strict && length + w->wide[place] < length)
		return ALL;
	most(&w->out->size[w->small[region] & 7], length + w->wide[place]);
	return length;
}

static int transfer_ends(struct words *w)
{
	const uint64_t from = side(w, 0x30, 0x30, 0x33), to = side(w, 0x31, 0x31, 0x35);

	if (w->generation == 3 && (from == ALL || to == ALL))
		return EINVAL;
	if (w->is_set[0x31] && !(w->small[0x31] & 0x100))
		w->out->written[w->small[0x31] & 7] = true;
	return 0;
}

static int do_command(struct words *w, uint16_t code, uint16_t parameter, uint32_t second)
{
	switch (code) {
	case 0x002:
	case 0x003:
		return kernel_ends(w, true, parameter & 1, !(parameter & 1));
	case 0x005:
		return kernel_ends(w, parameter != 4, false, false);
	case 0x006:
		return elementwise_ends(w, parameter);
	case 0x007:
		return w->generation == 3 ? EINVAL : 0;
	case 0x010:
		return transfer_ends(w);
	}
	if (code >> 8 == 0x01) {
		w->small[code & 0xff] = parameter;
		w->is_set[code & 0xff] = true;
	}
	if (code >> 8 == 0x40) {
		w->low[code & 0xff] = second;
		w->wide[code & 0xff] =
			w->generation == 1 ? second : (uint64_t)(parameter & 0xff) << 32 | second;
	}
	return 0;
}

int npu_pass(const uint32_t *words, uint32_t bytes, unsigned int generation, uint32_t config,
	     struct npu_pass *out)
{
	struct words w = { .generation = generation, .is_u65 = config >> 28 == 1, .out = out };
	uint32_t i, second;
	int error = 0;

	memset(out, 0, sizeof(*out));
	memset(w.small, 0xff, sizeof(w.small));
	memset(w.wide, 0xff, sizeof(w.wide));
	memset(w.low, 0xff, sizeof(w.low));
	for (i = 0; i < bytes / 4 && !error; i++) {
		const uint32_t word = words[i];

		second = 0;
		if (word & 0x4000 && ++i == bytes / 4) {
			out->damages |= generation < 3;
			return generation < 3 ? 0 : EINVAL;
		}
		if (word & 0x4000)
			second = words[i];
		error = do_command(&w, (uint16_t)word, (uint16_t)(word >> 16), second);
	}
	return error;
}
