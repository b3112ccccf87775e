/* SPDX-License-Identifier: MIT */
#include "tests/driver/guest/edu.h"

#include "tests/driver/guest/guest.h"

static void write64(volatile uint8_t *base, uint32_t at, uint64_t value)
{
	*(volatile uint64_t *)(base + at) = value;
}

void edu_copy(volatile uint8_t *base, uint64_t memory, uint32_t offset, uint32_t count,
	      bool to_memory)
{
	uint64_t buffer = EDU_BUFFER + offset;

	write64(base, EDU_DMA_SOURCE, to_memory ? buffer : memory);
	write64(base, EDU_DMA_TARGET, to_memory ? memory : buffer);
	write64(base, EDU_DMA_COUNT, count);
	write64(base, EDU_DMA_COMMAND, EDU_DMA_START | (to_memory ? EDU_DMA_TO_MEMORY : 0));
	while (edu_read(base, EDU_DMA_COMMAND) & EDU_DMA_START)
		guest_pause();
}

void edu_acknowledge(volatile uint8_t *base)
{
	edu_write(base, EDU_IRQ_ACK, edu_read(base, EDU_IRQ_STATUS));
}
