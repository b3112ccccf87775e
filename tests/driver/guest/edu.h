/* SPDX-License-Identifier: MIT */
/*
 * QEMU's educational PCI device (docs/specs/edu.rst of QEMU), which lets driver/uio and driver/vfio run on a real
 * kernel.
 *
 * It computes factorials, raises interrupts, and copies between memory and its buffer of 4096 bytes by DMA with
 * addresses of 28 bits.
 */
#ifndef TESTS_DRIVER_GUEST_EDU_H
#define TESTS_DRIVER_GUEST_EDU_H

#include <stdbool.h>
#include <stdint.h>

#define EDU_ID		0x00
#define EDU_LIVENESS	0x04
#define EDU_FACTORIAL	0x08
#define EDU_STATUS	0x20
#define EDU_IRQ_STATUS	0x24
#define EDU_IRQ_RAISE	0x60
#define EDU_IRQ_ACK	0x64
#define EDU_DMA_SOURCE	0x80
#define EDU_DMA_TARGET	0x88
#define EDU_DMA_COUNT	0x90
#define EDU_DMA_COMMAND 0x98

#define EDU_BUSY	  0x01
#define EDU_IRQ_WHEN_DONE 0x80
#define EDU_DMA_START	  0x01
#define EDU_DMA_TO_MEMORY 0x02
#define EDU_BUFFER	  0x40000

/**
 * struct edu_access - how registers are reached: by a mapping in a guest, by messages of QEMU's qtest on the host
 * @context: for the functions
 * @read: a word
 * @write: a word
 * @write_long: eight bytes, which those of DMA are
 * @pause: wait a little
 */
struct edu_access {
	void *context;
	uint32_t (*read)(void *context, uint32_t at);
	void (*write)(void *context, uint32_t at, uint32_t value);
	void (*write_long)(void *context, uint32_t at, uint64_t value);
	void (*pause)(void);
};

/* As edu_copy() and edu_acknowledge(), by any access. */
void edu_copy_by(const struct edu_access *edu, uint64_t memory, uint32_t offset, uint32_t count,
		 bool to_memory);
void edu_acknowledge_by(const struct edu_access *edu);

static inline uint32_t edu_read(volatile uint8_t *base, uint32_t at)
{
	return *(volatile uint32_t *)(base + at);
}

static inline void edu_write(volatile uint8_t *base, uint32_t at, uint32_t value)
{
	*(volatile uint32_t *)(base + at) = value;
}

/* Copy @count bytes, at most 2048, between memory and the buffer; return when the device is done. */
void edu_copy(volatile uint8_t *base, uint64_t memory, uint32_t offset, uint32_t count,
	      bool to_memory);

/* Acknowledge whatever interrupts are raised. */
void edu_acknowledge(volatile uint8_t *base);

#endif /* TESTS_DRIVER_GUEST_EDU_H */
