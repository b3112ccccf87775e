/* SPDX-License-Identifier: MIT */
/* Weights in the order of the hardware, and in that of the model. */
#include <stdlib.h>
#include <string.h>

#include "devices/ethosu/ethosu_take.h"
#include "devices/ethosu/ethosu_weights.h"
#include "devices/ethosu/sim.h"
#include "devices/ethosu/sim_weights.h"
#include "lib/brief_errors.h"
#include "lib/little_endian.h"

#define SCALE_BYTES	   10
#define INPUT_UNIT	   8
#define SUBWINDOW	   8
#define INPUTS_DEPTH_FIRST 32
#define INPUTS_HALF	   16 /* the order by parts of the window, and maps of 16 bits */
#define INPUTS_PADDING	   (INPUTS_DEPTH_FIRST - 1)
#define ELEMENTS_PADDED	   4
#define WEIGHTS_MOST	   (UINT64_C(1) << 28)

/**
 * struct order - a walk through the weights of a core
 * @core: first output channel
 * @cores: distance of its output channels
 * @outputs: all output channels
 * @inputs: input channels; 1 for depthwise
 * @unit: output channels that run side by side
 * @block: output channels of the core in a block
 * @window_parts: the window's elements come before all input channels
 * @wide: the input has elements of 16 bits
 * @from: weights in the order of the stream; NULL to count them
 * @to: weights in the order of struct sim_weights
 * @count: positions so far
 */
struct order {
	const struct sim_window *window;
	uint32_t core;
	uint32_t cores;
	uint32_t outputs;
	uint32_t inputs;
	uint32_t unit;
	uint32_t block;
	bool window_parts;
	bool wide;
	bool depthwise;
	const int16_t *from;
	int16_t *to;
	uint64_t count;
};

/* The weights of a unit of output and input channels at one element of the window. */
static void walk_unit(struct order *o, uint32_t output, uint32_t input, uint32_t ky, uint32_t kx,
		      bool inside)
{
	const uint32_t depth = o->depthwise ? 1 : INPUT_UNIT;
	uint32_t i, k, channel, from;

	if (!o->from) {
		o->count += (uint64_t)o->unit * depth;
		return;
	}
	for (i = 0; i < o->unit; i++)
		for (k = 0; k < depth; k++, o->count++) {
			channel = (output + i) * o->cores + o->core;
			from = input + k;
			if (inside && channel < o->outputs && from < o->inputs)
				o->to[(((size_t)channel * o->window->height + ky) *
					       o->window->width +
				       kx) * o->inputs +
				      from] = o->from[o->count];
		}
}

/* Elements of the window, padded to a multiple; and input channels, unless the order by parts has them outside. */
static void walk_elements(struct order *o, const struct part *p, uint32_t output, uint32_t input,
			  uint32_t inputs)
{
	const uint32_t elements = p->height * p->width;
	const uint32_t padded =
		o->window_parts || o->depthwise ? round_up(elements, ELEMENTS_PADDED) : elements;
	uint32_t e, i;

	for (e = 0; e < padded; e++)
		for (i = 0; i < inputs; i += INPUT_UNIT)
			walk_unit(o, output, input + i, p->y + e / p->width, p->x + e % p->width,
				  e < elements);
}

static void walk_part(struct order *o, const struct part *p)
{
	const uint32_t outer = o->window_parts ? p->inputs : 1,
		       inner = o->window_parts ? 1 : p->inputs;
	uint32_t i, k;

	for (i = 0; i < outer; i += INPUT_UNIT)
		for (k = 0; k < p->outputs; k += o->unit)
			walk_elements(o, p, p->output + k, p->input + i, inner);
}

static void walk_window(struct order *o, struct part *p)
{
	const struct sim_window *k = o->window;
	const uint32_t height = SUBWINDOW / k->dilation_y, width = SUBWINDOW / k->dilation_x;

	for (p->y = 0; p->y < k->height; p->y += height)
		for (p->x = 0; p->x < k->width; p->x += width) {
			p->height = least(height, k->height - p->y);
			p->width = least(width, k->width - p->x);
			walk_part(o, p);
		}
}

/* Walk through all weights of a core in the order of its stream. */
static void walk(struct order *o)
{
	const uint32_t inputs = o->window_parts || o->wide ? INPUTS_HALF : INPUTS_DEPTH_FIRST;
	const uint32_t outputs = (o->outputs - o->core + o->cores - 1) / o->cores;
	struct part p;

	o->count = 0;
	for (p.output = 0; p.output < outputs; p.output += o->block) {
		p.outputs = least(o->block, outputs - p.output);
		for (p.input = 0; p.input < o->inputs; p.input += inputs) {
			/* depth first, a block of input channels is always whole */
			p.inputs = o->depthwise	     ? INPUT_UNIT
				   : o->window_parts ? least(inputs, o->inputs - p.input)
						     : inputs;
			walk_window(o, &p);
		}
	}
}

/* ---- streams */

/* setters of the streams of each core */
static const struct {
	uint8_t weights;
	uint8_t weights_length;
	uint8_t scales;
	uint8_t scales_length;
} streams[2] = {
	{ ETHOSU_WEIGHT_BASE, ETHOSU_WEIGHT_LENGTH, ETHOSU_SCALE_BASE, ETHOSU_SCALE_LENGTH },
	{ ETHOSU_WEIGHT1_BASE, ETHOSU_WEIGHT1_LENGTH, ETHOSU_SCALE1_BASE, ETHOSU_SCALE1_LENGTH },
};

static int decode(struct sim *s, struct order *o)
{
	const uint32_t length = s->state.word[streams[o->core].weights_length];
	const uint8_t *bytes;
	int16_t *coded;
	int err;

	/* the check does not look at the region of a stream without bytes */
	if (!length)
		return tenon_cursor_error(&s->op.place, -TENON_E_FORMAT,
					  "%s: no weights for core %u",
					  ethosu_command_name(s->op.id), o->core);
	bytes = sim_range(s, sim_param(s, ETHOSU_WEIGHT_REGION),
			  ethosu_state_offset(&s->state, streams[o->core].weights), length, false);
	if (!bytes)
		return -TENON_E_USAGE;
	walk(o);
	if (o->count > CODED_MOST)
		return sim_refuse(s, "an operation of more than 2^30 weights with their padding");
	coded = ethosu_take(((size_t)o->count + 1) * sizeof(*coded));
	if (!coded)
		return tenon_error(-TENON_E_NOMEM, "no memory for weights");
	err = ethosu_weights_decode((struct tenon_slice){ (const char *)bytes, length },
				    (size_t)o->count, coded);
	if (err)
		err = tenon_cursor_error(&s->op.place, err, "%s: core %u: %s",
					 ethosu_command_name(s->op.id), o->core,
					 tenon_error_message());
	o->from = coded;
	if (!err)
		walk(o);
	o->from = NULL;
	heap_free(coded);
	return err;
}

static int read_scales(struct sim *s, uint32_t core, uint32_t cores, uint32_t outputs,
		       struct sim_weights *w)
{
	const uint32_t count = (outputs - core + cores - 1) / cores;
	const uint8_t *at;
	uint32_t i, c;

	if (s->state.word[streams[core].scales_length] / SCALE_BYTES < count)
		return tenon_cursor_error(&s->op.place, -TENON_E_FORMAT,
					  "%s: scales for %u channels have %u bytes, %d each",
					  ethosu_command_name(s->op.id), count,
					  s->state.word[streams[core].scales_length], SCALE_BYTES);
	at = sim_range(s, sim_param(s, ETHOSU_SCALE_REGION),
		       ethosu_state_offset(&s->state, streams[core].scales),
		       s->state.word[streams[core].scales_length], false);
	if (!at)
		return -TENON_E_USAGE;
	for (i = 0; i < count; i++, at += SCALE_BYTES) {
		c = i * cores + core;
		w->bias[c] = (int64_t)(little_endian(at, 5) << 24) >> 24;
		w->scales[c] =
			(struct sim_scale){ (uint32_t)little_endian(at + 5, 4), at[9] & 0x3f };
	}
	return 0;
}

static void use_global_scale(const struct sim *s, uint32_t outputs, struct sim_weights *w)
{
	uint32_t c;

	for (c = 0; c < outputs; c++)
		w->scales[c] = sim_scale_of(s, ETHOSU_OFM_SCALE);
}

/* Channels of a block that a core has: all, or every second one. */
static uint32_t block_of(const struct sim *s, uint32_t core, uint32_t cores)
{
	return (sim_param(s, ETHOSU_OFM_BLK_DEPTH_M1) + 1u - core + cores - 1) / cores;
}

static uint32_t unit_of(const struct sim *s)
{
	return ethosu_product_of(s->target) == ETHOSU_PRODUCT_U55 && ethosu_macs(s->target) == 32
		       ? 4
		       : 8;
}

static int read_weights(struct sim *s, const struct sim_window *k, uint32_t outputs,
			uint32_t inputs, struct sim_weights *w)
{
	const uint64_t count = (uint64_t)outputs * k->height * k->width;
	struct order o = {
		.window = k,
		.cores = sim_param(s, ETHOSU_PARALLEL_MODE) ? 2 : 1,
		.outputs = outputs,
		.inputs = inputs,
		.unit = unit_of(s),
		.window_parts = sim_param(s, ETHOSU_KERNEL_STRIDE) & 4,
		.wide = sim_param(s, ETHOSU_IFM_PRECISION) >> 2 & 3,
		.depthwise = s->op.id == ETHOSU_OP_DEPTHWISE,
		.to = w->values,
	};
	int err;

	/* padding: input channels to blocks of 32, windows to 4 elements, output channels to units */
	err = sim_spend(s, count * (inputs + INPUTS_PADDING) * ELEMENTS_PADDED * o.unit);
	if (err)
		return err;
	for (o.core = 0; o.core < o.cores && o.core < outputs && !err; o.core++) {
		o.block = block_of(s, o.core, o.cores);
		if (!o.block)
			return sim_refuse(s, "a block of one channel for two cores");
		err = decode(s, &o);
		if (err || sim_param(s, ETHOSU_OFM_PRECISION) & ETHOSU_OFM_GLOBAL_SCALE)
			continue;
		err = read_scales(s, o.core, o.cores, outputs, w);
	}
	return err;
}

static int make_weights(struct sim *s, uint64_t count, uint32_t outputs, uint32_t inputs,
			struct sim_weights *w)
{
	memset(w, 0, sizeof(*w));
	if (count > WEIGHTS_MOST || count * inputs > WEIGHTS_MOST)
		return sim_refuse(s, "an operation of more than 2^28 weights");
	w->values = ethosu_take_zeroed((size_t)(count * inputs), sizeof(*w->values));
	w->bias = ethosu_take_zeroed(outputs, sizeof(*w->bias));
	w->scales = ethosu_take_zeroed(outputs, sizeof(*w->scales));
	if (!w->values || !w->bias || !w->scales)
		return tenon_error(-TENON_E_NOMEM, "no memory for weights");
	return 0;
}

int sim_weights_load(struct sim *s, const struct sim_window *k, uint32_t outputs, uint32_t inputs,
		     struct sim_weights *w)
{
	int err = make_weights(s, (uint64_t)outputs * k->height * k->width, outputs, inputs, w);

	if (err)
		return err;
	if (sim_param(s, ETHOSU_OFM_PRECISION) & ETHOSU_OFM_GLOBAL_SCALE)
		use_global_scale(s, outputs, w);
	return sim_is_u85(s) ? sim_weights_read_u85(s, k, outputs, inputs, w)
			     : read_weights(s, k, outputs, inputs, w);
}

void sim_weights_fini(struct sim_weights *w)
{
	heap_free(w->values);
	heap_free(w->bias);
	heap_free(w->scales);
}
