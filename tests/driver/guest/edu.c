/* SPDX-License-Identifier: MIT */
/* Let QEMU's educational device copy, by system calls that a case chooses. */
#include "tests/driver/guest/edu.h"

void edu_copy_by(const struct edu_access *edu, uint64_t memory, uint32_t offset, uint32_t count,
		 bool to_memory)
{
	uint64_t buffer = EDU_BUFFER + offset;

	edu->write_long(edu->context, EDU_DMA_SOURCE, to_memory ? buffer : memory);
	edu->write_long(edu->context, EDU_DMA_TARGET, to_memory ? memory : buffer);
	edu->write_long(edu->context, EDU_DMA_COUNT, count);
	edu->write_long(edu->context, EDU_DMA_COMMAND,
			EDU_DMA_START | (to_memory ? EDU_DMA_TO_MEMORY : 0));
	while (edu->read(edu->context, EDU_DMA_COMMAND) & EDU_DMA_START)
		edu->pause();
}

void edu_acknowledge_by(const struct edu_access *edu)
{
	edu->write(edu->context, EDU_IRQ_ACK, edu->read(edu->context, EDU_IRQ_STATUS));
}
