/* SPDX-License-Identifier: MIT */
/* What the files of the functional model share: boxes, activations, scales and weights. */
#ifndef DEVICES_ETHOSU_SIM_H
#define DEVICES_ETHOSU_SIM_H

#include "devices/ethosu/ethosu_sim.h"
#include "devices/ethosu/ethosu_state.h"

/* chains of U85 */
#define SIM_CHAINS 8
/* WEIGHT_FORMAT of U85, and KERNEL_STRIDE */
#define SIM_FAST	 (1 << 0)
#define SIM_SPARSE	 (1 << 4)
#define SIM_WINDOW_PARTS (1 << 2)

/**
 * struct sim_box - elements in memory of the model: rows of columns of channels
 * @data: the values, with the zero point taken off
 */
struct sim_box {
	uint32_t height;
	uint32_t width;
	uint32_t depth;
	int32_t *data;
};

/**
 * struct sim - a run
 * @target: what the stream was compiled for
 * @memory: memory of the regions
 * @state: setters
 * @op: the operation that runs
 * @touched: extents so far
 * @work: what the run may still compute
 * @table: internal memory for tables
 * @table_start: its address
 * @chains: maps of U85 that are not in memory, with their zero points
 */
struct sim {
	const struct ethosu_target *target;
	const struct ethosu_memory *memory;
	struct ethosu_state state;
	struct ethosu_command op;
	struct ethosu_extents touched;
	uint64_t work;
	uint8_t table[ETHOSU_TABLE_BYTES];
	uint64_t table_start;
	struct sim_box chains[SIM_CHAINS];
};

static inline uint16_t sim_param(const struct sim *s, unsigned int id)
{
	return s->state.param[id];
}

static inline size_t sim_box_count(const struct sim_box *b)
{
	return (size_t)b->height * b->width * b->depth;
}

/** sim_refuse - raise an error for what is not modelled, with the offset of the operation */
int sim_refuse(const struct sim *s, const char *what);

/** sim_spend - take products or elements from what the run may compute; 0 or -TENON_E_TIMEOUT */
int sim_spend(struct sim *s, uint64_t work);

/** sim_range - memory of a region; NULL, with an error, if it leaves the region */
uint8_t *sim_range(struct sim *s, unsigned int region, uint64_t offset, uint64_t size, bool write);

/** sim_box_make - allocate the values of a box, whose extents are set; 0, or a negative status */
int sim_box_make(struct sim *s, struct sim_box *b);

/** sim_load - read a feature map; @b has its extents, and its @data is to be freed */
int sim_load(struct sim *s, const struct ethosu_map *m, unsigned int zero_point, struct sim_box *b);

/** sim_output_box - extents of the output */
void sim_output_box(const struct sim *s, struct sim_box *b);

/**
 * struct sim_activation - what happens to a result before it is written
 * @element: bytes of an element of the output
 * @is_signed: of the output
 * @index_signed: a table starts with its entry for -128
 * @zero: zero point
 * @least: limits
 * @most: limits
 * @table: the table in use, or NULL
 * @curve: the curve in use, or NULL
 * @unlimited: without a table, the limits do not count
 */
struct sim_activation {
	unsigned int element;
	bool is_signed;
	bool index_signed;
	int32_t zero;
	int32_t least;
	int32_t most;
	const uint8_t *table;
	int32_t (*curve)(int32_t value);
	bool unlimited;
};

/** sim_activation_of - the activation of the operation; 0, or a negative status */
int sim_activation_of(const struct sim *s, unsigned int element, struct sim_activation *a);

/** sim_activate - the value that is written for a result */
int32_t sim_activate(const struct sim_activation *a, int32_t value);

/** sim_store - pass values through the activation, and write them to the output map */
int sim_store(struct sim *s, const struct sim_box *b);

/**
 * struct sim_scale - a multiplier and a shift
 */
struct sim_scale {
	uint32_t multiplier;
	unsigned int shift;
};

/** enum sim_rounding - rounding modes; the first three have the numbers of U55 and U65 */
enum sim_rounding {
	SIM_DOUBLE,  /* twice, ties away from zero */
	SIM_DOWN,    /* to the lower one */
	SIM_HALF_UP, /* to nearest, ties up */
	SIM_TO_ZERO,
	SIM_AWAY, /* to nearest, ties away from zero */
};

/** sim_rescale - multiply and shift */
int32_t sim_rescale(int64_t value, struct sim_scale scale, enum sim_rounding rounding);

static inline struct sim_scale sim_scale_of(const struct sim *s, unsigned int id)
{
	return (struct sim_scale){ s->state.word[id], sim_param(s, id) & 0x3f };
}

static inline bool sim_is_u85(const struct sim *s)
{
	return ethosu_product_of(s->target) == ETHOSU_PRODUCT_U85;
}

/** sim_rounding - the rounding mode of the output */
enum sim_rounding sim_rounding(const struct sim *s);

/**
 * struct sim_window - a window and where it moves
 * @width: columns of its elements
 * @height: rows
 * @stride_x: columns of the input from one position to the next
 * @stride_y: rows
 * @dilation_x: columns of the input from one element to the next
 * @dilation_y: rows
 * @left: columns of padding in front of the input
 * @top: rows of padding
 */
struct sim_window {
	uint32_t width;
	uint32_t height;
	uint32_t stride_x;
	uint32_t stride_y;
	uint32_t dilation_x;
	uint32_t dilation_y;
	uint32_t left;
	uint32_t top;
};

/**
 * struct sim_weights - weights and scales of an operation
 * @values: [output channel][row][column][input channel]
 * @bias: of each output channel
 * @scales: of each output channel
 */
struct sim_weights {
	int16_t *values;
	int64_t *bias;
	struct sim_scale *scales;
};

/** sim_weights_load - decode weights; free with sim_weights_fini(), also on failure */
int sim_weights_load(struct sim *s, const struct sim_window *k, uint32_t outputs, uint32_t inputs,
		     struct sim_weights *w);
void sim_weights_fini(struct sim_weights *w);

/* ---- U85 */

/** sim_check_u85 - refuse what is not modelled of an operation; 0 or -TENON_E_UNSUPPORTED */
int sim_check_u85(const struct sim *s);

/** sim_is_chained - a map goes from an operation to a later one, and is not in memory */
bool sim_is_chained(const struct sim *s, const struct ethosu_map *m);

/** sim_load_chain - as sim_load(), with the zero point still there */
int sim_load_chain(struct sim *s, const struct ethosu_map *m, struct sim_box *b);
int sim_store_chain(struct sim *s, const struct sim_box *b);
void sim_free_chains(struct sim *s);

/** sim_transpose - the output with its axes as it has them in memory; free @out->data */
int sim_transpose(struct sim *s, const struct sim_box *b, struct sim_box *out);

/** sim_scale_operand_u85 - the operand of a sum by its setter, which has a shift up, too */
int64_t sim_scale_operand_u85(const struct sim *s, int32_t value, unsigned int id);

/** sim_weights_read_u85 - read weights and scales; the memory for them is there */
int sim_weights_read_u85(struct sim *s, const struct sim_window *k, uint32_t outputs,
			 uint32_t inputs, struct sim_weights *w);

/* ---- operations */

int sim_convolution(struct sim *s);
int sim_depthwise(struct sim *s);
int sim_pool(struct sim *s);
int sim_elementwise(struct sim *s);
int sim_resize(struct sim *s);

#endif /* DEVICES_ETHOSU_SIM_H */
