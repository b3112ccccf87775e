/* SPDX-License-Identifier: MIT */
/* Values of all setters, as a stream has set them so far, and what follows from them. */
#ifndef DEVICES_ETHOSU_ETHOSU_STATE_H
#define DEVICES_ETHOSU_ETHOSU_STATE_H

#include "devices/ethosu/ethosu_command.h"

/**
 * struct ethosu_state - values of setters
 * @param: parameters
 * @word: second words
 * @seen: which setters a stream had
 */
struct ethosu_state {
	uint16_t param[ETHOSU_REGISTERS];
	uint32_t word[ETHOSU_REGISTERS];
	bool seen[ETHOSU_REGISTERS];
};

static inline void ethosu_state_set(struct ethosu_state *s, const struct ethosu_command *c)
{
	s->param[c->id] = c->param;
	s->word[c->id] = c->word;
	s->seen[c->id] = true;
}

/** ethosu_state_offset - value of a setter with 40 bits; @id may be computed */
static inline uint64_t ethosu_state_offset(const struct ethosu_state *s, unsigned int id)
{
	return ethosu_offset(s->param[id], s->word[id]);
}

/* bits of setters */
#define ETHOSU_NHCWB16		1	 /* format: 16 channels of an element lie together */
#define ETHOSU_OFM_GLOBAL_SCALE (1 << 8) /* OFM_PRECISION: OFM_SCALE, not a scale per channel */
#define ETHOSU_IFM2_SCALAR_OLD	(1 << 7) /* IFM2_BROADCAST of U55 and U65 */
#define ETHOSU_SCALAR_U85	(1 << 3) /* IFM_BROADCAST and IFM2_BROADCAST of U85 */
#define ETHOSU_BROADCAST_H	(1 << 0)
#define ETHOSU_BROADCAST_W	(1 << 1)
#define ETHOSU_BROADCAST_C	(1 << 2)
#define ETHOSU_DMA_INTERNAL	(1 << 8) /* DMA0_*_REGION: memory of the device */
#define ETHOSU_ACTIVATION_TABLE 16	 /* ACTIVATION of U55 and U65: table 0 */
#define ETHOSU_ACTIVATION_KIND	0x1f

/**
 * ethosu_table_element - bytes of a result of a table of U85, by its kind in ACTIVATION
 *
 * Return: 1, 2 or 4; 0 for a kind that is not known, and for results of another size than the entries.
 */
unsigned int ethosu_table_element(unsigned int kind);

/** ethosu_table_bytes - bytes of such a table; 0 for a kind that is not known */
unsigned int ethosu_table_bytes(unsigned int kind);

/** enum ethosu_elementwise - parameter of OP_ELEMENTWISE */
enum ethosu_elementwise {
	ETHOSU_MUL,
	ETHOSU_ADD,
	ETHOSU_SUB,
	ETHOSU_MIN,
	ETHOSU_MAX,
	ETHOSU_LRELU,
	ETHOSU_ABS,
	ETHOSU_CLZ,
	ETHOSU_SHR,
	ETHOSU_SHL,
	/* U85 alone */
	ETHOSU_LSR,
	ETHOSU_DIV,
	ETHOSU_COMPARE_FIRST = 16,
	ETHOSU_COMPARE_LAST = 19,
	ETHOSU_AND = 33,
	ETHOSU_OR,
	ETHOSU_XOR,
	ETHOSU_NOT,
	ETHOSU_AND_NOT = 42,
};

/**
 * struct ethosu_map - setters of a feature map; those that belong together follow each other
 * @name: for messages
 * @region: region
 * @base0: BASE0, and the other three behind it
 * @stride_x: STRIDE_X, then Y and C
 * @width0: WIDTH0_M1, then HEIGHT0_M1 and HEIGHT1_M1
 * @precision: PRECISION
 * @size_bit: bit of PRECISION where the logarithm of an element's size begins
 */
struct ethosu_map {
	const char *name;
	uint8_t region;
	uint8_t base0;
	uint8_t stride_x;
	uint8_t width0;
	uint8_t precision;
	uint8_t size_bit;
};

/**
 * ethosu_output_axes - axes of an output of U85, as it has them in memory
 * @precision: OFM_PRECISION
 * @axes: receives 0, 1 or 2 (rows, columns, channels of the operation) for each axis of the memory
 *
 * Return: whether the order has a meaning; if it has none, the axes are those of the operation.
 */
bool ethosu_output_axes(unsigned int precision, uint8_t axes[3]);

extern const struct ethosu_map ethosu_ifm, ethosu_ifm2, ethosu_ofm;

/** ethosu_stride_x - stride of the window in x, 1 to 4; ethosu_stride_y() is that in y */
static inline unsigned int ethosu_stride_x(const struct ethosu_state *s)
{
	const unsigned int bits = s->param[ETHOSU_KERNEL_STRIDE];

	return 1 + (bits & 1) + (bits >> 5 & 2);
}

static inline unsigned int ethosu_stride_y(const struct ethosu_state *s)
{
	const unsigned int bits = s->param[ETHOSU_KERNEL_STRIDE];

	return 1 + (bits >> 1 & 1) + (bits >> 8 & 2);
}

#endif /* DEVICES_ETHOSU_ETHOSU_STATE_H */
