/* SPDX-License-Identifier: MIT */
/* Find registers by address, and targets of the NPU by number. */
#include "devices/rocket/rocket_registers.h"

#define R(at, name)                                                                                \
	{                                                                                          \
		at, false, name                                                                    \
	}
#define ADDRESS(at, name)                                                                          \
	{                                                                                          \
		at, true, name                                                                     \
	}

/* clang-format off */
/* by offset; a register without a name in the manual has none here */
const struct rocket_register rocket_registers[] = {
	R(0x0010, "BASE_ADDRESS"), R(0x0014, "REGISTER_AMOUNTS"),

	R(0x1004, "S_POINTER"), R(0x100c, "CONV_CON1"), R(0x1010, "CONV_CON2"), R(0x1014, "CONV_CON3"),
	R(0x1020, "DATA_SIZE0"), R(0x1024, "DATA_SIZE1"), R(0x1028, "DATA_SIZE2"), R(0x102c, "DATA_SIZE3"),
	R(0x1030, "WEIGHT_SIZE0"), R(0x1034, "WEIGHT_SIZE1"), R(0x1038, "WEIGHT_SIZE2"),
	R(0x1040, "CBUF_CON0"), R(0x1044, "CBUF_CON1"),
	R(0x104c, "CVT_CON0"), R(0x1050, "CVT_CON1"), R(0x1054, "CVT_CON2"), R(0x1058, "CVT_CON3"),
	R(0x105c, "CVT_CON4"), R(0x1060, "FC_CON0"), R(0x1064, "FC_CON1"), R(0x1068, "PAD_CON0"),
	ADDRESS(0x1070, "FEATURE_DATA_ADDR"), R(0x1074, "FC_CON2"),
	R(0x1078, "DMA_CON0"), R(0x107c, "DMA_CON1"), R(0x1080, "DMA_CON2"),
	R(0x1084, "FC_DATA_SIZE0"), R(0x1088, "FC_DATA_SIZE1"), R(0x1090, "CLK_GATE"),
	R(0x1100, "DCOMP_CTRL"), R(0x1104, "DCOMP_REGNUM"), ADDRESS(0x1110, "DCOMP_ADDR0"),
	R(0x1140, "DCOMP_AMOUNT0"), R(0x1144, "DCOMP_AMOUNT1"), R(0x1148, "DCOMP_AMOUNT2"), R(0x114c, "DCOMP_AMOUNT3"),
	R(0x1150, "DCOMP_AMOUNT4"), R(0x1154, "DCOMP_AMOUNT5"), R(0x1158, "DCOMP_AMOUNT6"), R(0x115c, "DCOMP_AMOUNT7"),
	R(0x1160, "DCOMP_AMOUNT8"), R(0x1164, "DCOMP_AMOUNT9"), R(0x1168, "DCOMP_AMOUNT10"), R(0x116c, "DCOMP_AMOUNT11"),
	R(0x1170, "DCOMP_AMOUNT12"), R(0x1174, "DCOMP_AMOUNT13"), R(0x1178, "DCOMP_AMOUNT14"),
	R(0x117c, "DCOMP_AMOUNT15"), R(0x1180, "CVT_CON5"), R(0x1184, "PAD_CON1"),

	R(0x3004, "S_POINTER"), R(0x300c, "MAC_GATING"), R(0x3010, "MISC_CFG"), R(0x3014, "DATAOUT_SIZE_0"),
	R(0x3018, "DATAOUT_SIZE_1"), R(0x301c, "CLIP_TRUNCATE"), R(0x3030, ""),

	R(0x4004, "S_POINTER"), R(0x400c, "FEATURE_MODE_CFG"), R(0x4010, "DATA_FORMAT"), R(0x4014, "OFFSET_PEND"),
	ADDRESS(0x4020, "DST_BASE_ADDR"), R(0x4024, "DST_SURF_STRIDE"),
	R(0x4030, "DATA_CUBE_WIDTH"), R(0x4034, "DATA_CUBE_HEIGHT"), R(0x4038, "DATA_CUBE_NOTCH_ADDR"),
	R(0x403c, "DATA_CUBE_CHANNEL"), R(0x4040, "BS_CFG"), R(0x4044, "BS_ALU_CFG"), R(0x4048, "BS_MUL_CFG"),
	R(0x404c, "BS_RELUX_CMP_VALUE"), R(0x4050, "BS_OW_CFG"), R(0x4054, "BS_OW_OP"),
	R(0x4058, "WDMA_SIZE_0"), R(0x405c, "WDMA_SIZE_1"),
	R(0x4060, "BN_CFG"), R(0x4064, "BN_ALU_CFG"), R(0x4068, "BN_MUL_CFG"), R(0x406c, "BN_RELUX_CMP_VALUE"),
	R(0x4070, "EW_CFG"), R(0x4074, "EW_CVT_OFFSET_VALUE"), R(0x4078, "EW_CVT_SCALE_VALUE"),
	R(0x407c, "EW_RELUX_CMP_VALUE"), R(0x4080, "OUT_CVT_OFFSET"), R(0x4084, "OUT_CVT_SCALE"), R(0x4088, "OUT_CVT_SHIFT"),
	R(0x4090, "EW_OP_VALUE_0"), R(0x4094, "EW_OP_VALUE_1"), R(0x4098, "EW_OP_VALUE_2"), R(0x409c, "EW_OP_VALUE_3"),
	R(0x40a0, "EW_OP_VALUE_4"), R(0x40a4, "EW_OP_VALUE_5"), R(0x40a8, "EW_OP_VALUE_6"), R(0x40ac, "EW_OP_VALUE_7"),
	R(0x40c0, "SURFACE_ADD"), R(0x40c4, ""),
	R(0x4100, "LUT_ACCESS_CFG"), R(0x4104, "LUT_ACCESS_DATA"), R(0x4108, "LUT_CFG"), R(0x410c, "LUT_INFO"),
	R(0x4110, "LUT_LE_START"), R(0x4114, "LUT_LE_END"), R(0x4118, "LUT_LO_START"), R(0x411c, "LUT_LO_END"),
	R(0x4120, "LUT_LE_SLOPE_SCALE"), R(0x4124, "LUT_LE_SLOPE_SHIFT"),
	R(0x4128, "LUT_LO_SLOPE_SCALE"), R(0x412c, "LUT_LO_SLOPE_SHIFT"),

	R(0x5004, "S_POINTER"), R(0x500c, "DATA_CUBE_WIDTH"), R(0x5010, "DATA_CUBE_HEIGHT"), R(0x5014, "DATA_CUBE_CHANNEL"),
	ADDRESS(0x5018, "SRC_BASE_ADDR"), R(0x501c, "BRDMA_CFG"), ADDRESS(0x5020, "BS_BASE_ADDR"),
	R(0x5028, "NRDMA_CFG"), ADDRESS(0x502c, "BN_BASE_ADDR"), R(0x5034, "ERDMA_CFG"), ADDRESS(0x5038, "EW_BASE_ADDR"),
	R(0x5040, "EW_SURF_STRIDE"), R(0x5044, "FEATURE_MODE_CFG"), R(0x5048, "SRC_DMA_CFG"), R(0x504c, "SURF_NOTCH"),
	R(0x5064, "PAD_CFG"), R(0x5068, "WEIGHT"), R(0x506c, "EW_SURF_NOTCH"),

	R(0x6004, "S_POINTER"), R(0x600c, "DATA_CUBE_IN_WIDTH"), R(0x6010, "DATA_CUBE_IN_HEIGHT"),
	R(0x6014, "DATA_CUBE_IN_CHANNEL"), R(0x6018, "DATA_CUBE_OUT_WIDTH"), R(0x601c, "DATA_CUBE_OUT_HEIGHT"),
	R(0x6020, "DATA_CUBE_OUT_CHANNEL"), R(0x6024, "OPERATION_MODE_CFG"), R(0x6034, "POOLING_KERNEL_CFG"),
	R(0x6038, "RECIP_KERNEL_WIDTH"), R(0x603c, "RECIP_KERNEL_HEIGHT"), R(0x6040, "POOLING_PADDING_CFG"),
	R(0x6044, "PADDING_VALUE_1_CFG"), R(0x6048, "PADDING_VALUE_2_CFG"), ADDRESS(0x6070, "DST_BASE_ADDR"),
	R(0x607c, "DST_SURF_STRIDE"), R(0x6084, "DATA_FORMAT"), R(0x60dc, "MISC_CTRL"),

	R(0x7004, "S_POINTER"), R(0x700c, "CUBE_IN_WIDTH"), R(0x7010, "CUBE_IN_HEIGHT"), R(0x7014, "CUBE_IN_CHANNEL"),
	ADDRESS(0x701c, "SRC_BASE_ADDR"), R(0x7024, "SRC_LINE_STRIDE"), R(0x7028, "SRC_SURF_STRIDE"), R(0x7030, "DATA_FORMAT"),
};
/* clang-format on */

const size_t rocket_register_count = sizeof(rocket_registers) / sizeof(rocket_registers[0]);

_Static_assert(sizeof(rocket_registers) / sizeof(rocket_registers[0]) < ROCKET_REGISTERS,
	       "the last number stands for none");

/* each target has the registers of one window of 4 KiB */
static const struct {
	uint16_t target;
	uint16_t window;
	const char *name;
} targets[] = {
	{ ROCKET_TARGET_PC, 0x0, "PC" },
	{ ROCKET_TARGET_CNA, 0x1, "CNA" },
	{ ROCKET_TARGET_CORE, 0x3, "CORE" },
	{ ROCKET_TARGET_DPU, 0x4, "DPU" },
	{ ROCKET_TARGET_DPU_RDMA, 0x5, "DPU_RDMA" },
	{ ROCKET_TARGET_PPU, 0x6, "PPU" },
	{ ROCKET_TARGET_PPU_RDMA, 0x7, "PPU_RDMA" },
};

#define TARGETS (sizeof(targets) / sizeof(targets[0]))

static size_t find_target(unsigned int target)
{
	size_t i = 0;

	while (i < TARGETS && targets[i].target != target)
		i++;
	return i;
}

const char *rocket_target_name(unsigned int target)
{
	const size_t i = find_target(target);

	return i < TARGETS ? targets[i].name : NULL;
}

size_t rocket_register_index(unsigned int at)
{
	size_t low = 0, high = rocket_register_count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (rocket_registers[middle].at < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low < rocket_register_count && rocket_registers[low].at == at ? low
									     : ROCKET_REGISTERS;
}

const struct rocket_register *rocket_register_of(unsigned int target, unsigned int at)
{
	const size_t t = find_target(target), i = rocket_register_index(at);

	if (t == TARGETS || targets[t].window != at >> 12 || i == ROCKET_REGISTERS)
		return NULL;
	return &rocket_registers[i];
}
