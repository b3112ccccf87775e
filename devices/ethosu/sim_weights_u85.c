/* SPDX-License-Identifier: MIT */
/* Weights of U85: the order of its streams. */
#include <stdlib.h>

#include "devices/ethosu/ethosu_take.h"
#include "devices/ethosu/ethosu_weights.h"
#include "devices/ethosu/sim.h"
#include "devices/ethosu/sim_weights.h"
#include "lib/brief_errors.h"
#include "lib/little_endian.h"

#define SCALE_BYTES 10
#define SUBWINDOW   8
/* output channels that a stream has side by side; the next ones are in the next stream */
#define INTERLEAVED 4
/* columns and rows of a microblock, by their number in ACC_FORMAT; the rest of it is depth */
#define MICROBLOCKS 6
/* so many products are in a microblock for each of the depth's channels */
#define PRODUCTS 8

/**
 * struct order - a walk through the weights of a stream
 * @stream: its number
 * @streams: how many there are
 * @outputs: all output channels
 * @inputs: input channels; 1 for depthwise
 * @block: output channels of a block
 * @unit: output channels of a microblock
 * @input_block: input channels of a block
 * @input_unit: input channels inside of the loop over the window
 * @step: input channels that lie together
 * @round: elements of the window come in multiples of this
 * @padding: depthwise, zeros behind so many elements, for each output channel of a microblock
 * @stride_x: the window is cut into grids whose elements are so far apart
 * @stride_y: the same in rows
 * @from: weights in the order of the stream; NULL to count them
 * @run: if streams are in one, so many of each follow each other
 * @to: weights in the order of struct sim_weights
 * @count: positions so far
 */
struct order {
	const struct sim_window *window;
	uint32_t stream;
	uint32_t streams;
	uint32_t outputs;
	uint32_t inputs;
	uint32_t block;
	uint32_t unit;
	uint32_t input_block;
	uint32_t input_unit;
	uint32_t step;
	uint32_t round;
	uint32_t padding;
	uint32_t stride_x;
	uint32_t stride_y;
	bool depthwise;
	const int16_t *from;
	uint32_t run;
	int16_t *to;
	uint64_t count;
};

static int16_t weight_at(const struct order *o, uint64_t i)
{
	return o->from[o->run ? (i / o->run * o->streams + o->stream) * o->run + i % o->run : i];
}

static void put(struct order *o, uint32_t output, uint32_t input, uint32_t ky, uint32_t kx)
{
	const struct sim_window *k = o->window;

	if (output < o->outputs && input < o->inputs)
		o->to[(((size_t)output * k->height + ky) * k->width + kx) * o->inputs + input] =
			weight_at(o, o->count);
	o->count++;
}

/* The weights of a microblock at one element of the window. */
static void walk_element(struct order *o, uint32_t output, uint32_t input, uint32_t ky, uint32_t kx)
{
	uint32_t inner, z, q, i;

	if (!o->from) {
		o->count += (uint64_t)o->input_unit * o->unit / o->streams;
		return;
	}
	for (inner = 0; inner < o->input_unit; inner += o->step)
		for (z = o->stream * INTERLEAVED; z < o->unit; z += INTERLEAVED * o->streams)
			for (q = 0; q < INTERLEAVED; q++)
				for (i = 0; i < o->step; i++)
					put(o, output + z + q, input + inner + i, ky, kx);
}

/* One of the grids of a part: rows in turn from the left and from the right. */
static uint32_t walk_grid(struct order *o, const struct part *p, uint32_t sy, uint32_t sx,
			  uint32_t left)
{
	const uint32_t height = (p->height + o->stride_y - 1 - sy) / o->stride_y,
		       width = (p->width + o->stride_x - 1 - sx) / o->stride_x;
	uint32_t y, x, column;

	for (y = 0; y < height; y++)
		for (x = 0; x < width; x++) {
			column = y % 2 ? width - 1 - x : x;
			walk_element(o, p->output, p->input, p->y + sy + y * o->stride_y,
				     p->x + sx + column * o->stride_x);
			if (--left % o->round == 0 && o->depthwise)
				o->count += (uint64_t)o->padding * o->unit / o->streams;
		}
	return left;
}

/* All elements of a part of the window, for a microblock. */
static void walk_elements(struct order *o, const struct part *p)
{
	uint32_t left = round_up(p->height * p->width, o->round), sy, sx;

	for (sy = 0; sy < o->stride_y; sy++)
		for (sx = 0; sx < o->stride_x; sx++)
			left = walk_grid(o, p, sy, sx, left);
	if (left)
		o->count += (uint64_t)(left + o->padding) * o->input_unit * o->unit / o->streams;
}

static void walk_part(struct order *o, const struct part *whole)
{
	struct part p = *whole;
	uint32_t i, k;

	for (i = 0; i < whole->inputs; i += o->input_unit)
		for (k = 0; k < whole->outputs; k += o->unit) {
			p.input = whole->input + i;
			p.output = whole->output + k;
			walk_elements(o, &p);
		}
}

static void walk_window(struct order *o, struct part *p)
{
	const struct sim_window *k = o->window;
	const uint32_t height = SUBWINDOW / k->dilation_y, width = SUBWINDOW / k->dilation_x;

	for (p->x = 0; p->x < k->width; p->x += width)
		for (p->y = 0; p->y < k->height; p->y += height) {
			p->height = least(height, k->height - p->y);
			p->width = least(width, k->width - p->x);
			walk_part(o, p);
		}
}

/* Walk through all weights of a stream; blocks of input channels go up and down in turn. */
static void walk(struct order *o)
{
	const uint32_t blocks = (o->inputs - 1) / o->input_block + 1;
	struct part p;
	uint32_t i, turn;

	o->count = 0;
	for (p.output = 0; p.output < o->outputs; p.output += o->block) {
		p.outputs = least(o->block, o->outputs - p.output);
		turn = p.output / o->block;
		for (i = 0; i < blocks; i++) {
			p.input = (turn % 2 ? blocks - 1 - i : i) * o->input_block;
			p.inputs = least(o->input_block, o->inputs - p.input);
			walk_window(o, &p);
		}
	}
}

/* ---- the order of an operation */

static int set_unit(struct sim *s, struct order *o)
{
	static const uint8_t elements[MICROBLOCKS] = { 1, 2, 4, 4, 8, 16 };
	const unsigned int block = sim_param(s, ETHOSU_ACC_FORMAT) >> 8 & 7;
	const uint32_t macs = ethosu_macs(s->target);

	o->unit = block < MICROBLOCKS ? macs / PRODUCTS / elements[block] : 0;
	if (!o->unit || o->unit % (INTERLEAVED * o->streams))
		return sim_refuse(s, "a microblock that no known U85 has");
	o->block = sim_param(s, ETHOSU_OFM_BLK_DEPTH_M1) + 1u;
	return 0;
}

static void set_depthwise(const struct sim *s, struct order *o, bool wide)
{
	const uint32_t macs = ethosu_macs(s->target);

	o->input_block = o->input_unit = o->step = 1;
	o->round = 10;
	o->padding = !wide && macs <= 256 ? 0 : macs <= 512 ? 2 : 6;
}

static void set_window_parts(struct order *o, bool wide, bool sparse)
{
	o->input_block = 16;
	o->input_unit = wide && !sparse ? 8 : 16;
	o->round = wide || sparse ? 10 : 5;
}

static void set_depth_first(const struct sim *s, struct order *o, bool wide, bool sparse)
{
	const bool small = ethosu_macs(s->target) <= 256 && o->unit == 16;

	o->input_block = sparse && !wide ? 128 : small && !sparse ? 32 : 64;
	o->input_unit = o->input_block;
	o->round = 1;
	o->stride_x = o->stride_y = 1;
}

static int set_order(struct sim *s, struct order *o)
{
	const bool wide = sim_param(s, ETHOSU_IFM_PRECISION) >> 2 & 3,
		   sparse = sim_param(s, ETHOSU_WEIGHT_FORMAT) & SIM_SPARSE;
	int err;

	o->streams = ethosu_streams(s->target);
	o->stride_x = o->window->stride_x;
	o->stride_y = o->window->stride_y;
	o->step = sparse ? 16 : 8;
	err = set_unit(s, o);
	if (err)
		return err;
	if (o->depthwise && (sparse || sim_param(s, ETHOSU_WEIGHT_FORMAT) & SIM_FAST))
		return sim_refuse(s, "depthwise weights that are sparse, or in the fast format");
	if (o->depthwise)
		set_depthwise(s, o, wide);
	else if (sim_param(s, ETHOSU_KERNEL_STRIDE) & SIM_WINDOW_PARTS)
		set_window_parts(o, wide, sparse);
	else
		set_depth_first(s, o, wide, sparse);
	return 0;
}

/* ---- streams */

static const struct {
	uint8_t base;
	uint8_t length;
} setters[ETHOSU_STREAMS] = {
	{ ETHOSU_WEIGHT_BASE, ETHOSU_WEIGHT_LENGTH },
	{ ETHOSU_WEIGHT1_BASE, ETHOSU_WEIGHT1_LENGTH },
	{ ETHOSU_WEIGHT2_BASE, ETHOSU_WEIGHT2_LENGTH },
	{ ETHOSU_WEIGHT3_BASE, ETHOSU_WEIGHT3_LENGTH },
};

static int decode(struct sim *s, uint32_t stream, uint64_t count, bool fast, int16_t **out)
{
	const uint32_t length = s->state.word[setters[stream].length];
	const uint8_t *bytes;
	int err;

	/* the check does not look at the region of a stream without bytes */
	if (!length)
		return tenon_cursor_error(&s->op.place, -TENON_E_FORMAT,
					  "%s: stream %u has no weights",
					  ethosu_command_name(s->op.id), stream);
	bytes = sim_range(s, sim_param(s, ETHOSU_WEIGHT_REGION),
			  ethosu_state_offset(&s->state, setters[stream].base), length, false);
	if (!bytes)
		return -TENON_E_USAGE;
	if (count > CODED_MOST)
		return sim_refuse(s, "an operation of more than 2^30 weights with their padding");
	err = sim_spend(s, count);
	if (err)
		return err;
	*out = ethosu_take(((size_t)count + 1) * sizeof(**out));
	if (!*out)
		return tenon_error(-TENON_E_NOMEM, "no memory for weights");
	err = (fast ? ethosu_weights_decode_fast : ethosu_weights_decode)(
		(struct tenon_slice){ (const char *)bytes, length }, (size_t)count, *out);
	if (!err)
		return 0;
	heap_free(*out);
	return tenon_cursor_error(&s->op.place, err, "%s: stream %u: %s",
				  ethosu_command_name(s->op.id), stream, tenon_error_message());
}

static int read_streams(struct sim *s, struct order *o)
{
	int16_t *coded;
	int err = 0;

	for (o->stream = 0; o->stream < o->streams && !err; o->stream++) {
		o->from = NULL;
		walk(o);
		err = decode(s, o->stream, o->count, false, &coded);
		if (err)
			break;
		o->from = coded;
		walk(o);
		heap_free(coded);
	}
	return err;
}

/* The fast format has all streams in one: as much of each as a microblock needs. */
static int read_fast(struct sim *s, struct order *o)
{
	int16_t *coded;
	int err;

	walk(o);
	err = decode(s, 0, o->count * o->streams, true, &coded);
	if (err)
		return err;
	o->run = o->unit * o->input_unit * o->round / o->streams;
	o->from = coded;
	for (; o->stream < o->streams; o->stream++)
		walk(o);
	heap_free(coded);
	return 0;
}

/* ---- scales */

/* With sums of 48 bits, the bias has 48 and the multiplier 15. */
static int read_scales(struct sim *s, uint32_t outputs, struct sim_weights *w)
{
	const unsigned int bits = sim_param(s, ETHOSU_ACC_FORMAT) & 1 ? 48 : 32;
	const uint32_t length = s->state.word[ETHOSU_SCALE_LENGTH];
	const uint8_t *at;
	uint32_t c;

	if (length / SCALE_BYTES < outputs)
		return tenon_cursor_error(&s->op.place, -TENON_E_FORMAT,
					  "%s: scales for %u channels have %u bytes, %d each",
					  ethosu_command_name(s->op.id), outputs, length,
					  SCALE_BYTES);
	at = sim_range(s, sim_param(s, ETHOSU_SCALE_REGION),
		       ethosu_state_offset(&s->state, ETHOSU_SCALE_BASE), length, false);
	if (!at)
		return -TENON_E_USAGE;
	for (c = 0; c < outputs; c++, at += SCALE_BYTES) {
		w->bias[c] = (int64_t)(little_endian(at, bits / 8) << (64 - bits)) >> (64 - bits);
		w->scales[c].multiplier = (uint32_t)little_endian(at + bits / 8, (64 - bits) / 8) &
					  (bits == 48 ? INT16_MAX : INT32_MAX);
		w->scales[c].shift = at[8] & 0x3f;
	}
	return 0;
}

int sim_weights_read_u85(struct sim *s, const struct sim_window *k, uint32_t outputs,
			 uint32_t inputs, struct sim_weights *w)
{
	struct order o = {
		.window = k,
		.outputs = outputs,
		.inputs = inputs,
		.depthwise = s->op.id == ETHOSU_OP_DEPTHWISE,
		.to = w->values,
	};
	int err = set_order(s, &o);

	if (err)
		return err;
	err = sim_param(s, ETHOSU_WEIGHT_FORMAT) & SIM_FAST ? read_fast(s, &o)
							    : read_streams(s, &o);
	if (err || sim_param(s, ETHOSU_OFM_PRECISION) & ETHOSU_OFM_GLOBAL_SCALE)
		return err;
	return read_scales(s, outputs, w);
}
