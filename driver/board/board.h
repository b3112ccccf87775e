/* SPDX-License-Identifier: MIT */
#ifndef DRIVER_BOARD_H
#define DRIVER_BOARD_H

/**
 * DOC: boards that run mortise
 *
 * A board is memory, a doorbell, an interrupt and a reset. "sim" is the firmware on a thread of this process
 * (CONFIG_MORTISE_SIM); "rv32", "rv64" and "cm3" are QEMU with the board's RAM in shared memory and its UART on
 * a socket (CONFIG_MORTISE_QEMU): the emulator is a child of this process and ends with it.
 *
 * "shm" attaches to a running board whose memory is a file: it runs before it is opened and goes on running
 * when it is closed.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tenon/buffer.h>

#include "driver/ring/ring.h"
#include "driver/shm/shm.h"

struct board_ops;

/**
 * struct board_kind - a board that this build knows
 * @name: "sim", "rv32", "rv64", "cm3"
 * @via: what drives it, for people: "simulator", "QEMU"
 * @firmware: file name of its firmware image ("mortise-rv32.elf"); NULL for "sim"
 * @machine: enum mortise_machine of its core
 * @address_bits: 32 or 64
 * @window_size: bytes of the window
 * @ready: can one be opened here; 0, or -TENON_E_DEVICE and words for what is missing (no emulator, no firmware).
 *	Never 0 for boards that others start: there is no list of them
 * @ops: how it is driven
 */
struct board_kind {
	const char *name;
	const char *via;
	const char *firmware;
	uint32_t machine;
	uint32_t address_bits;
	uint64_t window_size;
	int (*ready)(const struct board_kind *kind);
	const struct board_ops *ops;
};

/** board_kinds - the boards of this build; ends with one whose name is NULL */
extern const struct board_kind *const board_kinds;

/** board_is_attached - is it a kind that others start, for board_attach() */
bool board_is_attached(const struct board_kind *kind);

/** board_kind_find - by name; NULL */
const struct board_kind *board_kind_find(const char *name);

/**
 * board_describe - what a board needs and what is found of it, for people
 * @kind: which
 * @out: lines are appended: emulator and firmware, with versions, or the reason why one is not found
 *
 * Starts an emulator to ask for its version.
 *
 * Return: 0; -TENON_E_NOMEM.
 */
int board_describe(const struct board_kind *kind, struct tenon_buffer *out);

struct board;

/**
 * board_open - start a board
 * @kind: which
 * @out: the board; NULL on failure
 *
 * Comes back when the board is started, not when its firmware is ready: ring_open() waits for that.
 * The firmware image is searched as firmware_file.h says.
 *
 * Return: 0; -TENON_E_DEVICE, -TENON_E_IO with what is missing; -TENON_E_NOMEM.
 */
int board_open(const struct board_kind *kind, struct board **out);

/**
 * struct board_place - where a running board is
 * @path: of the file that is its memory
 * @doorbell: of the socket that is its UART; NULL: it looks for work by itself, and the host polls
 * @deadline: until when its firmware has to be there
 */
struct board_place {
	const char *path;
	const char *doorbell;
	uint64_t deadline;
};

/**
 * board_attach - open a running board, which this process did not start
 * @kind: one that board_is_attached()
 * @place: where it is
 * @out: the board; NULL on failure
 *
 * The file is locked against other processes that open it in this way, until board_close() or board_leave().
 *
 * Return: 0; -TENON_E_IO, -TENON_E_TRUNCATED for the file; -TENON_E_DEVICE when it is in use, or is not the memory of a
 *	board; -TENON_E_TIMEOUT when there is no firmware in it; -TENON_E_NOMEM.
 */
int board_attach(const struct board_kind *kind, const struct board_place *place,
		 struct board **out);

/** board_name - for messages: "sim", "/run/board"; as long as the board is open */
const char *board_name(const struct board *board);

/** board_memory - the window; stays mapped at its address until board_close(), whatever becomes of the board */
const struct shm *board_memory(const struct board *board);

/** board_address - the device's address of the window */
uint64_t board_address(const struct board *board);

/** board_port - for ring_open() */
const struct ring_port *board_port(const struct board *board);

/**
 * board_alive - does what the firmware runs on still exist
 *
 * Return: 0; -TENON_E_LOST with words when the emulator ended or the simulator's thread was killed.
 */
int board_alive(struct board *board);

/**
 * board_reset - stop whatever runs and boot the firmware anew
 * @board: the board
 *
 * The memory behind MORTISE_SHARED_OFFSET keeps its bytes. No ring may be in use meanwhile; ring_restart() comes
 * next.
 *
 * Return: as board_open(); -TENON_E_UNSUPPORTED for an attached board.
 */
int board_reset(struct board *board);

/**
 * board_halt - end what the board runs, while other threads may be inside calls of it
 * @board: the board
 *
 * An attached board goes on running, and other programs may attach to it.
 */
void board_halt(struct board *board);

/** board_leave - unlock an attached board after a loss; its memory stays mapped */
void board_leave(struct board *board);

/**
 * board_close - end the board and unmap its memory; NULL is fine
 *
 * In a child of fork() it frees the handle alone. An attached board goes on running.
 */
void board_close(struct board *board);

/* ---- faults, for tests */

/** enum board_fault - what can be done to a board */
enum board_fault {
	BOARD_FREEZE,	     /* stop the core, as a debugger does (SIGSTOP for emulators) */
	BOARD_THAW,	     /* let it go on */
	BOARD_KILL,	     /* end it: no firmware runs until board_reset() */
	BOARD_REBOOT,	     /* a reset that the host did not ask for */
	BOARD_LOSE_DOORBELL, /* the next doorbell does not arrive */
};

/** board_inject - do it; 0, -TENON_E_UNSUPPORTED */
int board_inject(struct board *board, enum board_fault fault);

#endif /* DRIVER_BOARD_H */
