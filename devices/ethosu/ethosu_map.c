/* SPDX-License-Identifier: MIT */
/* The setters of feature maps. */
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
