/* SPDX-License-Identifier: MIT */
/* Registers of U55 and U65, words of 32 bits by their offsets. */
#ifndef DEVICES_ETHOSU_ETHOSU_REGISTERS_H
#define DEVICES_ETHOSU_ETHOSU_REGISTERS_H

#include <stddef.h>
#include <stdint.h>

#define ETHOSU_REG_ID	     0x00
#define ETHOSU_REG_STATUS    0x04
#define ETHOSU_REG_CMD	     0x08
#define ETHOSU_REG_RESET     0x0c
#define ETHOSU_REG_QBASE     0x10 /* and its upper half behind it */
#define ETHOSU_REG_QREAD     0x18
#define ETHOSU_REG_QCONFIG   0x1c
#define ETHOSU_REG_QSIZE     0x20
#define ETHOSU_REG_PROT	     0x24
#define ETHOSU_REG_CONFIG    0x28
#define ETHOSU_REG_REGIONCFG 0x3c
#define ETHOSU_REG_AXI_LIMIT 0x40 /* four of them */
#define ETHOSU_REG_BASEP     0x80 /* eight, of 64 bits each */
#define ETHOSU_REG_END	     0xc0

#define ETHOSU_AXI_LIMITS 4

#define ETHOSU_STATUS_RUNNING	(1u << 0)
#define ETHOSU_STATUS_INTERRUPT (1u << 1)
#define ETHOSU_STATUS_BUS	(1u << 2)
#define ETHOSU_STATUS_RESETS	(1u << 3)
#define ETHOSU_STATUS_PARSE	(1u << 4)
#define ETHOSU_STATUS_END	(1u << 5)
#define ETHOSU_STATUS_WEIGHTS	(1u << 7)
#define ETHOSU_STATUS_ECC	(1u << 8)
#define ETHOSU_STATUS_FAULTS                                                                       \
	(ETHOSU_STATUS_BUS | ETHOSU_STATUS_PARSE | ETHOSU_STATUS_WEIGHTS | ETHOSU_STATUS_ECC)

#define ETHOSU_CMD_RUN	 (1u << 0)
#define ETHOSU_CMD_CLEAR (1u << 1)

/* RESET and PROT: neither secure nor privileged */
#define ETHOSU_NOT_SECURE (1u << 1)

/* longest text of a fault with its NUL */
#define ETHOSU_FAULT_TEXT 128

/**
 * ethosu_fault_text - what STATUS says of a job that failed
 * @status: the register
 *
 * "an access was refused on the bus: AXI M1, weights"; of several faults the first that explains the others.
 */
void ethosu_fault_text(uint32_t status, char text[ETHOSU_FAULT_TEXT]);

static inline uint32_t ethosu_register_read(volatile uint8_t *base, unsigned int offset)
{
	return *(volatile uint32_t *)(volatile void *)(base + offset);
}

static inline void ethosu_register_write(volatile uint8_t *base, unsigned int offset,
					 uint32_t value)
{
	*(volatile uint32_t *)(volatile void *)(base + offset) = value;
}

/* Addresses have two registers, the lower half first. */
static inline void ethosu_register_write_address(volatile uint8_t *base, unsigned int offset,
						 uint64_t value)
{
	ethosu_register_write(base, offset, (uint32_t)value);
	ethosu_register_write(base, offset + 4, (uint32_t)(value >> 32));
}

#endif /* DEVICES_ETHOSU_ETHOSU_REGISTERS_H */
