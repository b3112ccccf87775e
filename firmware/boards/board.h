/* SPDX-License-Identifier: MIT */
/* What the ports to boards share: registers, and the interface to the core. */
#ifndef FIRMWARE_BOARDS_BOARD_H
#define FIRMWARE_BOARDS_BOARD_H

#include "firmware/core/mortise.h"

/* a register of 32 bits */
#define WORD(address) (*(volatile uint32_t *)(uintptr_t)(address))

/*
 * For a timer's handler. @armed: a packet runs that may take long. 1 to go on, 0 to give up the packet: drop the stack
 * and call mortise_loop().
 */
static inline int board_tick(struct mortise *m, bool armed, uintptr_t pc)
{
	enum mortise_end end;

	if (!armed)
		return 1;
	end = mortise_tick(m);
	if (end == MORTISE_DONE)
		return 1;
	mortise_stop_packet(m, end == MORTISE_FAILED ? MORTISE_FAULT_WATCHDOG : 0, pc, 0, pc);
	return 0;
}

#endif /* FIRMWARE_BOARDS_BOARD_H */
