/* SPDX-License-Identifier: MIT */
/* The setters of feature maps. */
#include <string.h>

#include "devices/ethosu/ethosu_state.h"

const struct ethosu_map ethosu_ifm = { "input",
				       ETHOSU_IFM_REGION,
				       ETHOSU_IFM_BASE0,
				       ETHOSU_IFM_STRIDE_X,
				       ETHOSU_IFM_WIDTH0_M1,
				       ETHOSU_IFM_PRECISION,
				       2 };
const struct ethosu_map ethosu_ifm2 = { "second input",
					ETHOSU_IFM2_REGION,
					ETHOSU_IFM2_BASE0,
					ETHOSU_IFM2_STRIDE_X,
					ETHOSU_IFM2_WIDTH0_M1,
					ETHOSU_IFM2_PRECISION,
					2 };
const struct ethosu_map ethosu_ofm = { "output",
				       ETHOSU_OFM_REGION,
				       ETHOSU_OFM_BASE0,
				       ETHOSU_OFM_STRIDE_X,
				       ETHOSU_OFM_WIDTH0_M1,
				       ETHOSU_OFM_PRECISION,
				       1 };

bool ethosu_output_axes(unsigned int precision, uint8_t axes[3])
{
	static const uint8_t orders[8][3] = {
		{ 0, 1, 2 }, { 1, 0, 2 }, { 0, 2, 1 }, { 1, 2, 0 },
		{ 0, 1, 2 }, { 0, 1, 2 }, { 2, 0, 1 }, { 2, 1, 0 },
	};
	const unsigned int order = precision >> 11 & 7;

	memcpy(axes, orders[order], sizeof(orders[order]));
	return order != 4 && order != 5;
}

unsigned int ethosu_table_bytes(unsigned int kind)
{
	static const uint16_t bytes[] = {
		[1] = 256,  /* from 8 bits to 8, without a sign */
		[4] = 256,  /* the same with one */
		[5] = 512,  /* from 8 bits to 16 */
		[7] = 1024, /* from 8 bits to 32 */
		[8] = 2048, /* from 16 bits: values with slopes behind them */
		[9] = 2048, [10] = 2048, [11] = 2048,
	};

	return kind < sizeof(bytes) / sizeof(*bytes) ? bytes[kind] : 0;
}

unsigned int ethosu_table_element(unsigned int kind)
{
	return kind == 1 || kind == 4 ? 1 : kind == 8 ? 2 : kind == 7 ? 4 : 0;
}
