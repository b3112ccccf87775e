/* SPDX-License-Identifier: MIT */
#ifndef TENON_UAPI_ROCKET_H
#define TENON_UAPI_ROCKET_H

/**
 * DOC: register commands of Rockchip's NPU as command streams
 *
 * The payload of a module of kind "rocket", and a file NAME.rocket, is a command stream as in tenon/uapi/cmdstream.h
 * whose target is "rocket". It has one configuration word, the number of the SoC. What follows is RK3588's; streams for
 * the others are refused, since too little of their registers is public.
 *
 * The code of a kernel is a row of *tasks*, which run one after the other as one job. A task begins at a multiple of
 * ROCKET_TASK_ALIGNMENT bytes, and behind its last word are as many zero words as make the next one begin at such a
 * multiple; the kernel's size is one too. A task is words of 64 bits:
 *
 *	bits 48-63	target: which unit takes the word, enum rocket_target
 *	bits 16-47	value
 *	bits 0-15	register: its offset in the window of a core
 *
 * A word that is 0 does nothing; the first word of a task is none. The last two words of a task are ROCKET_READY and one
 * for ROCKET_TARGET_ENABLE, whose register is ROCKET_ENABLE and whose value is a mask of enum rocket_unit: the units that
 * work. The kernel of Linux ends a task when the DPU is done, so ROCKET_UNIT_DPU is always there.
 *
 * A relocation of 4 bytes at byte 2 of a word is the value of a register that holds an address; such a register of a
 * unit that reads nothing is 0 instead, without a relocation. A task sets all registers of an address or a size that its
 * units use: what an earlier job left is not known. PC_BASE_ADDRESS and PC_REGISTER_AMOUNTS are 0: Linux starts each
 * task, and none leads to the next; S_POINTER of a unit, if it is set, is 0xe, as Linux sets it. WDMA_SIZE_0 and
 * WDMA_SIZE_1 of the DPU are those of its cube. Results of unaligned form, of tensors that are split among cores, of
 * several surfaces at once, and of 4 bits are refused: how far they reach is not known. Memory is addressed at
 * multiples of ROCKET_ATOM bytes, so regions are aligned to them.
 */

/* device type of such an NPU */
#define TENON_DL_ROCKET 112

#define ROCKET_SOC_RK3588 3588u
#define ROCKET_SOC_RK3576 3576u
#define ROCKET_SOC_RK3568 3568u

/* bytes */
#define ROCKET_TASK_ALIGNMENT 64
#define ROCKET_WORD	      8
#define ROCKET_ATOM	      16

/* words of a task */
#define ROCKET_TASK_MOST 131072u

/** enum rocket_target - who takes a word */
enum rocket_target {
	ROCKET_TARGET_READY = 0x0041,
	ROCKET_TARGET_ENABLE = 0x0081,
	ROCKET_TARGET_PC = 0x0101,
	ROCKET_TARGET_CNA = 0x0201,
	ROCKET_TARGET_CORE = 0x0801,
	ROCKET_TARGET_DPU = 0x1001,
	ROCKET_TARGET_DPU_RDMA = 0x2001,
	ROCKET_TARGET_PPU = 0x4001,
	ROCKET_TARGET_PPU_RDMA = 0x8001,
};

/** enum rocket_unit - bits of the value of the last word */
enum rocket_unit {
	ROCKET_UNIT_CNA = 1,
	ROCKET_UNIT_CORE = 4,
	ROCKET_UNIT_DPU = 8,
	ROCKET_UNIT_DPU_RDMA = 16,
	ROCKET_UNIT_PPU = 32,
	ROCKET_UNIT_PPU_RDMA = 64,
	ROCKET_UNITS = 0x7d,
};

/* the register of the last word */
#define ROCKET_ENABLE 0x0008

/* the word before it */
#define ROCKET_READY 0x0041000000000000ULL

/* a word, of numbers of 64 bits */
#define ROCKET_COMMAND(target, reg, value)                                                         \
	((unsigned long long)(target) << 48 | (unsigned long long)(value) << 16 | (reg))

#endif /* TENON_UAPI_ROCKET_H */
