/* SPDX-License-Identifier: MIT */
/* Registers that commands may write; names and places are those of the chip's manual. */
#ifndef DEVICES_ROCKET_ROCKET_REGISTERS_H
#define DEVICES_ROCKET_ROCKET_REGISTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tenon/uapi/rocket.h>

/* those whose values are needed here */
enum {
	ROCKET_PC_BASE_ADDRESS = 0x0010,
	ROCKET_PC_REGISTER_AMOUNTS = 0x0014,
	ROCKET_CNA_WEIGHT_SIZE0 = 0x1030,
	ROCKET_CNA_CBUF_CON0 = 0x1040,
	ROCKET_CNA_FEATURE_DATA_ADDR = 0x1070,
	ROCKET_CNA_DCOMP_ADDR0 = 0x1110,
	ROCKET_DPU_FEATURE_MODE_CFG = 0x400c,
	ROCKET_DPU_DATA_FORMAT = 0x4010,
	ROCKET_DPU_DST_BASE_ADDR = 0x4020,
	ROCKET_DPU_DST_SURF_STRIDE = 0x4024,
	ROCKET_DPU_DATA_CUBE_WIDTH = 0x4030,
	ROCKET_DPU_DATA_CUBE_HEIGHT = 0x4034,
	ROCKET_DPU_DATA_CUBE_NOTCH_ADDR = 0x4038,
	ROCKET_DPU_DATA_CUBE_CHANNEL = 0x403c,
	ROCKET_DPU_BS_OW_CFG = 0x4050,
	ROCKET_DPU_WDMA_SIZE_0 = 0x4058,
	ROCKET_DPU_WDMA_SIZE_1 = 0x405c,
	ROCKET_DPU_SURFACE_ADD = 0x40c0,
	ROCKET_RDMA_SRC_BASE_ADDR = 0x5018,
	ROCKET_RDMA_BRDMA_CFG = 0x501c,
	ROCKET_RDMA_BS_BASE_ADDR = 0x5020,
	ROCKET_RDMA_NRDMA_CFG = 0x5028,
	ROCKET_RDMA_BN_BASE_ADDR = 0x502c,
	ROCKET_RDMA_ERDMA_CFG = 0x5034,
	ROCKET_RDMA_EW_BASE_ADDR = 0x5038,
	ROCKET_RDMA_FEATURE_MODE_CFG = 0x5044,
	ROCKET_PPU_DATA_CUBE_OUT_WIDTH = 0x6018,
	ROCKET_PPU_DATA_CUBE_OUT_HEIGHT = 0x601c,
	ROCKET_PPU_DATA_CUBE_OUT_CHANNEL = 0x6020,
	ROCKET_PPU_OPERATION_MODE_CFG = 0x6024,
	ROCKET_PPU_DST_BASE_ADDR = 0x6070,
	ROCKET_PPU_DST_SURF_STRIDE = 0x607c,
	ROCKET_PPU_DATA_FORMAT = 0x6084,
	ROCKET_PPU_MISC_CTRL = 0x60dc,
	ROCKET_PPU_RDMA_SRC_BASE_ADDR = 0x701c,
};

/**
 * struct rocket_register - a register
 * @at: its offset
 * @is_address: it holds an address of memory
 * @name: in the chip's manual
 */
struct rocket_register {
	uint16_t at;
	bool is_address;
	const char *name;
};

/* no more are known */
#define ROCKET_REGISTERS 192

extern const struct rocket_register rocket_registers[];
extern const size_t rocket_register_count;

/** rocket_register_of - find a register of a target; NULL for those that no command may write */
const struct rocket_register *rocket_register_of(unsigned int target, unsigned int at);

/** rocket_register_index - number of a register of rocket_registers; ROCKET_REGISTERS if there is none at @at */
size_t rocket_register_index(unsigned int at);

/** rocket_target_name - "CNA"; NULL for no target with registers */
const char *rocket_target_name(unsigned int target);

static inline unsigned int rocket_word_target(uint64_t word)
{
	return (unsigned int)(word >> 48);
}

static inline uint32_t rocket_word_value(uint64_t word)
{
	return (uint32_t)(word >> 16);
}

static inline unsigned int rocket_word_register(uint64_t word)
{
	return (unsigned int)(word & 0xffff);
}

#endif /* DEVICES_ROCKET_ROCKET_REGISTERS_H */
