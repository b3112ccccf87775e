/* SPDX-License-Identifier: MIT */
/* Open, wake, reset and halt a board that runs mortise, whatever it is made of. */
#ifndef DRIVER_BOARD_H
#define DRIVER_BOARD_H

/*
 * A board is memory, a doorbell, an interrupt and a reset. "sim" is the firmware on a thread of this process;
 * "rv32", "rv64", "cm3" and "hexagon" are QEMU with the board's RAM in shared memory and its UART on a socket: the emulator
 * is a child of this process and ends with it. "rtl" is the accelerator of firmware/rtl/ as a program that clocks its logic,
 * a child too. CONFIG_MORTISE_BOARDS builds all but "sim". "fastrpc" is a process on a Hexagon DSP, which ends with this one.
 *
 * The other kinds attach to a board that runs before it is opened and goes on running when it is closed: "shm" by a file
 * that is its memory, "uio" and "vfio" by a device of the kernel whose map or BAR is its memory. "remoteproc" is a core
 * that the kernel boots: a core that stands still is started when it is opened, and stopped when it is closed.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tenon/buffer.h>

#include "driver/ring/ring.h"
#include "driver/shm/shm.h"

struct board_ops;
struct system_calls;

/**
 * enum board_key - what the name of a running board may say besides its place
 * @BOARD_DOORBELL: the Unix socket of an emulator's UART; or, of a device, MAP:OFFSET[:VALUE], the register that wakes the
 *	firmware when VALUE (1) is written to it. None: the firmware looks for work by itself
 * @BOARD_WINDOW: number of the map or BAR that is the memory
 * @BOARD_ACKNOWLEDGE: MAP:OFFSET[:VALUE], the register that takes an interrupt back
 * @BOARD_MEMORY: of a remoteproc core: path of the file that is its memory
 * @BOARD_UIO: of a remoteproc core: number of the UIO device that has its memory
 * @BOARD_FIRMWARE: of a remoteproc core: file below /lib/firmware
 * @BOARD_ROOT: prefix of /dev and /sys
 */
enum board_key {
	BOARD_DOORBELL,
	BOARD_WINDOW,
	BOARD_ACKNOWLEDGE,
	BOARD_MEMORY,
	BOARD_UIO,
	BOARD_FIRMWARE,
	BOARD_ROOT,
	BOARD_KEYS,
};

/**
 * struct board_kind - a board that this build knows
 * @name: "sim", "rv32", "rv64", "cm3", "hexagon", "rtl", "fastrpc"
 * @via: what drives it, for people: "simulator", "QEMU", "Verilator", "FastRPC"
 * @firmware: file name of its firmware image ("mortise-rv32.elf"), or of the program with the logic; NULL for "sim"
 * @machine: enum mortise_machine of its core
 * @address_bits: 32 or 64
 * @window_size: bytes of the window
 * @ready: can one be opened here; 0, or -TENON_E_DEVICE or -TENON_E_NOT_FOUND and words for what is missing (no emulator, no firmware,
 *	no node of a DSP).
 *	Never 0 for boards that others start: there is no list of them
 * @place: what follows the name of a board that others start, for messages: "PATH"; "DSP" may follow "fastrpc"; NULL for
 *	other boards
 * @keys: mask of those enum board_key that it takes
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
	const char *place;
	uint32_t keys;
};

/** board_kinds - the boards of this build; ends with one whose name is NULL */
extern const struct board_kind *const board_kinds;

/** board_key_name - "doorbell"; NULL for numbers from BOARD_KEYS on */
const char *board_key_name(enum board_key key);

/** board_is_attached - is it a kind that others start, for board_attach() */
bool board_is_attached(const struct board_kind *kind);

/** board_runs_code - can a board of this kind have a core for loaded code; struct mortise_identity says it for sure */
bool board_runs_code(const struct board_kind *kind);

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
 * Comes back when the board is started, not when its firmware is ready: ring_open() waits for that. A board on a DSP is
 * started when its library runs, which takes until it is loaded.
 * The firmware image is searched as firmware_file.h says.
 *
 * Return: 0; -TENON_E_DEVICE, -TENON_E_NOT_FOUND, -TENON_E_IO with what is missing; -TENON_E_TIMEOUT, -TENON_E_LOST from a DSP;
 *	-TENON_E_NOMEM.
 */
int board_open(const struct board_kind *kind, struct board **out);

/**
 * struct board_place - where a running board is
 * @path: of the file that is its memory; or "/0", the number of a device; or "/0000:00:04.0", its address
 * @deadline: until when its firmware has to be there
 * @keys: by enum board_key; NULL where nothing is said
 * @calls: system calls; NULL for the kernel's
 */
struct board_place {
	const char *path;
	uint64_t deadline;
	const char *keys[BOARD_KEYS];
	const struct system_calls *calls;
};

/**
 * board_attach - open a running board, which this process did not start, or start one at a place
 * @kind: one that has a place
 * @place: where it is
 * @out: the board; NULL on failure
 *
 * The file or node is locked against other processes that open it in this way, until board_close() or board_leave(). Of
 * VFIO, the kernel keeps other processes off until all boards that were opened on it are closed.
 *
 * Return: 0; -TENON_E_IO, -TENON_E_TRUNCATED for the file; -TENON_E_DEVICE when it is in use, or is not the memory of a
 *	board; -TENON_E_TIMEOUT when there is no firmware in it; -TENON_E_NOT_FOUND when there is no such device;
 *	-TENON_E_VALUE for a key that makes no sense; -TENON_E_NOMEM; of a device, also what its room returns.
 */
int board_attach(const struct board_kind *kind, const struct board_place *place,
		 struct board **out);

/** board_name - for messages: "sim", "/run/board", "uio/0"; as long as the board is open */
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
 * An attached board goes on running, and other programs may attach to it. Waits for at most ten seconds, until a firmware on
 * a DSP has ended.
 */
void board_halt(struct board *board);

/**
 * board_leave - unlock an attached board after a loss, or stop the core that was started; its memory stays mapped
 *
 * Waits 0.2 s after the first call for a firmware on a DSP to end; board_halt(), board_reset() and board_close() wait for the
 * rest of ten seconds.
 */
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
