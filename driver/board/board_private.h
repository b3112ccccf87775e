/* SPDX-License-Identifier: MIT */
#ifndef DRIVER_BOARD_PRIVATE_H
#define DRIVER_BOARD_PRIVATE_H

#include <sys/types.h>

#include "driver/board/board.h"

/* limits for what the firmware of an attached board says about its memory */
#define BOARD_WINDOW_LEAST (UINT64_C(1) << 20)
#define BOARD_WINDOW_MOST  (UINT64_C(1) << 31)

/**
 * struct board_ops - how a sort of board is driven
 * @start: boot the firmware in board->memory, and set board->address; NULL for boards that others start
 * @attach: open board->memory of a board that runs, and set board->address; the caller closes both, also on failure
 * @stop: end it, or detach; the memory stays. -TENON_E_TIMEOUT: something goes on using the memory
 * @alive: as board_alive()
 * @inject: as board_inject(); BOARD_REBOOT and BOARD_LOSE_DOORBELL never arrive here
 * @halt: as board_halt(); NULL for boards that others start
 * @doorbell: wake the firmware
 * @sleep: await an interrupt
 * @forget: in a child of fork()
 */
struct board_ops {
	int (*start)(struct board *board);
	int (*attach)(struct board *board, const struct board_place *place);
	int (*stop)(struct board *board);
	int (*alive)(struct board *board);
	int (*inject)(struct board *board, enum board_fault fault);
	void (*halt)(struct board *board);
	void (*doorbell)(struct board *board);
	void (*sleep)(struct board *board, uint64_t deadline);
	void (*forget)(struct board *board);
};

/**
 * struct board - one that was started
 * @kind: which
 * @ops: of @kind
 * @name: for messages
 * @port: for its ring
 * @memory: the window
 * @address: the device's address of it
 * @owner: process that started it
 * @lose_doorbell: the next one does not arrive
 * @state: of @ops; NULL while nothing runs
 */
struct board {
	const struct board_kind *kind;
	const struct board_ops *ops;
	char *name;
	struct ring_port port;
	struct shm memory;
	uint64_t address;
	pid_t owner;
	uint32_t lose_doorbell;
	void *state;
};

extern const struct board_ops board_sim_ops, board_qemu_ops, board_shm_ops;

/* board_qemu.c: is there an emulator and an image for the board */
int board_qemu_ready(const struct board_kind *kind);

/* as board_describe() */
int board_qemu_describe(const struct board_kind *kind, struct tenon_buffer *out);

#endif /* DRIVER_BOARD_PRIVATE_H */
