/* SPDX-License-Identifier: MIT */
/* The cause of a fault in the NPU's status register, as text. */
#include <stdio.h>

#include "devices/ethosu/ethosu_registers.h"

#define CHANNELS 10

static const char *channel_name(unsigned int channel)
{
	static const char *const names[CHANNELS] = {
		[0] = "the command stream",
		[1] = "an input feature map",
		[2] = "weights",
		[3] = "scales",
		[4] = "the source of a DMA transfer",
		[8] = "an output feature map",
		[9] = "the destination of a DMA transfer",
	};

	return channel < CHANNELS && names[channel] ? names[channel] : "an unknown channel";
}

void ethosu_fault_text(uint32_t status, char text[ETHOSU_FAULT_TEXT])
{
	const char *words = "it raised an interrupt before the end of the stream";

	if (status & ETHOSU_STATUS_BUS) {
		snprintf(text, ETHOSU_FAULT_TEXT,
			 "the bus refused an access, on AXI M%u, to %s: is all of the memory where "
			 "the device reaches it",
			 status >> 11 & 1, channel_name(status >> 12 & 15));
		return;
	}
	if (status & ETHOSU_STATUS_PARSE)
		words = "it could not read the command stream";
	else if (status & ETHOSU_STATUS_WEIGHTS)
		words = "it could not decode weights";
	else if (status & ETHOSU_STATUS_ECC)
		words = "an error of its internal memory (ECC)";
	snprintf(text, ETHOSU_FAULT_TEXT, "%s", words);
}
