/* SPDX-License-Identifier: MIT */
/* Decode slices of coded weights and runs of zeros. */
#include "devices/ethosu/ethosu_take.h"
#include "devices/ethosu/ethosu_weights.h"

#include <stdlib.h>
#include <string.h>

#include "lib/brief_errors.h"

/* divisors of runs of zeros: none are coded; the stream ends */
#define NO_ZERO_RUNS	  6
#define END_OF_STREAM	  7
#define ZERO_DIVISOR_MOST 3
/* divisors of weights: these are not coded */
#define RAW		    7
#define WEIGHT_DIVISOR_MOST 5

#define SLICE_MOST   32768
#define PALETTE_MOST 32
/* values in a chunk at most */
#define CHUNK_MOST 12
/* weights may be so many ahead of runs of zeros */
#define AHEAD 8

struct bits {
	const uint8_t *data;
	uint64_t size; /* in bits */
	uint64_t at;
	bool overrun;
};

/* values of a chunk whose remainders are still to come */
struct chunk {
	uint32_t quotients[CHUNK_MOST];
	unsigned int count;
};

/* values of one sort in a slice */
struct values {
	uint32_t *list;
	uint32_t count; /* that the slice has */
	uint32_t begun; /* whose quotients were read */
	uint32_t done;	/* whose remainders were read, too */
	uint32_t carry; /* quotient of a value that goes on in the next chunk */
	struct chunk last;
};

struct decoder {
	struct bits bits;
	struct values weights;
	struct values zeros;
	/* of the slice */
	unsigned int weight_divisor;
	unsigned int zero_divisor;
	bool truncated;
	unsigned int raw_width;
	/* kept for slices without a palette of their own */
	uint32_t palette[PALETTE_MOST];
	uint32_t palette_size;
	uint32_t direct_offset;
	unsigned int palette_width;
	bool has_palette;
	/* result */
	int16_t *out;
	size_t wanted;
	size_t have;
};

static uint32_t take(struct bits *b, unsigned int count)
{
	uint32_t value = 0;
	unsigned int i;

	if (count > b->size - b->at) {
		b->overrun = true;
		b->at = b->size;
		return 0;
	}
	for (i = 0; i < count; i++, b->at++)
		value |= (uint32_t)(b->data[b->at / 8] >> b->at % 8 & 1) << i;
	return value;
}

/* ---- header of a slice */

static unsigned int width_of(uint32_t count)
{
	unsigned int width = 0;

	while (1u << width < count)
		width++;
	return width;
}

static void read_palette(struct decoder *d)
{
	uint32_t i;

	d->direct_offset = take(&d->bits, 5);
	d->palette_size = take(&d->bits, 5);
	if (d->palette_size)
		d->palette_size++;
	d->palette_width = take(&d->bits, 3) + 2;
	for (i = 0; i < d->palette_size; i++)
		d->palette[i] = take(&d->bits, d->palette_width);
	d->has_palette = true;
}

static int read_header(struct decoder *d)
{
	bool fresh;

	d->weights.count = take(&d->bits, 15) + 1;
	d->weight_divisor = take(&d->bits, 3);
	d->truncated = take(&d->bits, 1);
	fresh = take(&d->bits, 1);
	if (fresh)
		read_palette(d);
	if (d->bits.overrun)
		return tenon_error(-TENON_E_TRUNCATED,
				   "weights: the bytes end in the header of a slice");
	if (d->weight_divisor != RAW && d->weight_divisor > WEIGHT_DIVISOR_MOST)
		return tenon_error(-TENON_E_FORMAT, "weights: divisor %u of weights at bit %llu",
				   d->weight_divisor, (unsigned long long)d->bits.at);
	if (!d->has_palette)
		return tenon_error(-TENON_E_FORMAT, "weights: the first slice has no palette");
	d->raw_width = d->palette_size ? width_of(d->palette_size) : d->palette_width;
	/* zeros stand behind each weight, and once in front of the first */
	d->zeros.count = d->zero_divisor == NO_ZERO_RUNS ? 0 : d->weights.count + fresh;
	return 0;
}

/* ---- chunks */

static unsigned int chunk_size(const struct decoder *d)
{
	return d->weight_divisor == RAW && d->raw_width > 5 ? 8 : CHUNK_MOST;
}

static void add_quotient(struct values *v, struct chunk *c)
{
	if (v->begun < v->count) {
		c->quotients[c->count++] = v->carry;
		v->begun++;
	}
	v->carry = 0;
}

/* Quotients of weights: a set bit of the first word has a bit in the second, which adds one more. */
static void weight_quotients(struct decoder *d, uint32_t first, struct chunk *c)
{
	uint32_t second = take(&d->bits, (unsigned int)__builtin_popcount(first));
	unsigned int i, bit, step;

	for (i = 0; i < CHUNK_MOST; i++) {
		step = 0;
		if (first >> i & 1) {
			bit = second & 1;
			second >>= 1;
			step = 1 + bit;
		}
		d->weights.carry += step;
		if (step < 2 || d->truncated)
			add_quotient(&d->weights, c);
	}
}

static void zero_quotients(struct decoder *d, uint32_t word, unsigned int length, struct chunk *c)
{
	unsigned int i;

	for (i = 0; i < length; i++) {
		if (word >> i & 1)
			d->zeros.carry++;
		else
			add_quotient(&d->zeros, c);
	}
}

static void raw_values(struct decoder *d, struct chunk *c)
{
	unsigned int i, size = chunk_size(d);

	for (i = 0; i < size; i++)
		add_quotient(&d->weights, c);
}

static void finish_chunk(struct decoder *d, struct values *v, unsigned int width)
{
	unsigned int i;

	for (i = 0; i < v->last.count; i++)
		v->list[v->done++] = (v->last.quotients[i] << width) + take(&d->bits, width);
	v->last.count = 0;
}

/* Read a chunk of weights, of zeros, or of both; the remainders of the chunks before follow it. */
static void read_chunks(struct decoder *d)
{
	const bool raw = d->weight_divisor == RAW, zeros = d->zeros.count;
	const int64_t ahead = zeros ? (int64_t)d->weights.begun - d->zeros.begun : 0;
	const bool read_weights = ahead < AHEAD && d->weights.begun < d->weights.count;
	const bool read_zeros = ahead >= 0 && d->zeros.begun < d->zeros.count;
	const unsigned int length = d->zero_divisor == 3 ? 8 : 12;
	struct chunk weight_chunk = { .count = 0 }, zero_chunk = { .count = 0 };
	uint32_t first = 0, word = 0;

	if (read_weights && !raw)
		first = take(&d->bits, CHUNK_MOST);
	if (read_zeros)
		word = take(&d->bits, length);
	if (read_weights && raw)
		raw_values(d, &weight_chunk);
	else if (read_weights)
		weight_quotients(d, first, &weight_chunk);
	if (read_zeros)
		zero_quotients(d, word, length, &zero_chunk);
	finish_chunk(d, &d->weights, raw ? d->raw_width : d->weight_divisor);
	finish_chunk(d, &d->zeros, d->zero_divisor);
	d->weights.last = weight_chunk;
	d->zeros.last = zero_chunk;
}

static int read_values(struct decoder *d)
{
	d->weights.begun = d->weights.done = d->weights.carry = 0;
	d->zeros.begun = d->zeros.done = d->zeros.carry = 0;
	d->weights.last.count = d->zeros.last.count = 0;
	while (d->weights.done < d->weights.count || d->zeros.done < d->zeros.count) {
		read_chunks(d);
		if (d->bits.overrun)
			return tenon_error(-TENON_E_TRUNCATED,
					   "weights: the bytes end in the middle of a slice");
	}
	return 0;
}

/* ---- results */

static int too_many(const struct decoder *d)
{
	return tenon_error(-TENON_E_FORMAT,
			   "weights: the stream has more than the %zu that are needed", d->wanted);
}

static int put_zeros(struct decoder *d, uint32_t count)
{
	if (count > d->wanted - d->have)
		return too_many(d);
	memset(d->out + d->have, 0, count * sizeof(*d->out));
	d->have += count;
	return 0;
}

static int put_weight(struct decoder *d, uint32_t index)
{
	const uint32_t value = index < d->palette_size ? d->palette[index]
						       : index - d->palette_size + d->direct_offset;
	const uint32_t magnitude = value >> 1;

	if (magnitude > INT16_MAX)
		return tenon_error(-TENON_E_FORMAT, "weights: a weight of %u", magnitude);
	if (d->have == d->wanted)
		return too_many(d);
	d->out[d->have++] = (int16_t)(value & 1 ? -(int32_t)magnitude : (int32_t)magnitude);
	return 0;
}

static int put_values(struct decoder *d)
{
	const bool zeros = d->zeros.count;
	uint32_t i, z = 0;
	int err = 0;

	if (d->zeros.count > d->weights.count)
		err = put_zeros(d, d->zeros.list[z++]);
	for (i = 0; i < d->weights.count && !err; i++) {
		err = put_weight(d, d->weights.list[i]);
		if (!err && zeros)
			err = put_zeros(d, d->zeros.list[z++]);
	}
	return err;
}

/* ---- streams */

static int read_slice(struct decoder *d)
{
	int err;

	if (d->zero_divisor > ZERO_DIVISOR_MOST && d->zero_divisor != NO_ZERO_RUNS)
		return tenon_error(-TENON_E_FORMAT, "weights: divisor %u of zeros at bit %llu",
				   d->zero_divisor, (unsigned long long)d->bits.at);
	err = read_header(d);
	if (!err)
		err = read_values(d);
	return err ? err : put_values(d);
}

static int read_slices(struct decoder *d)
{
	int err = 0;

	while (!err && d->have < d->wanted) {
		d->zero_divisor = take(&d->bits, 3);
		if (d->bits.overrun)
			return tenon_error(-TENON_E_TRUNCATED,
					   "weights: %zu of %zu, and the bytes end", d->have,
					   d->wanted);
		/* the next stream begins at a byte */
		if (d->zero_divisor == END_OF_STREAM)
			d->bits.at = (d->bits.at + 7) / 8 * 8;
		else
			err = read_slice(d);
	}
	return err;
}

int ethosu_weights_decode(struct tenon_slice bytes, size_t count, int16_t *out)
{
	struct decoder *d = ethosu_take_zeroed(1, sizeof(*d));
	int err;

	if (!d)
		return tenon_error(-TENON_E_NOMEM, "no memory for a decoder of weights");
	d->bits.data = (const uint8_t *)bytes.data;
	d->bits.size = (uint64_t)bytes.size * 8;
	d->out = out;
	d->wanted = count;
	d->weights.list = ethosu_take(SLICE_MOST * sizeof(uint32_t));
	d->zeros.list = ethosu_take((SLICE_MOST + 1) * sizeof(uint32_t));
	err = d->weights.list && d->zeros.list
		      ? read_slices(d)
		      : tenon_error(-TENON_E_NOMEM, "no memory for a slice of weights");
	heap_free(d->weights.list);
	heap_free(d->zeros.list);
	heap_free(d);
	return err;
}
