/* SPDX-License-Identifier: MIT */
/* What kinds of boards implement, and what they share. */
#ifndef DRIVER_BOARD_PRIVATE_H
#define DRIVER_BOARD_PRIVATE_H

#include <sys/types.h>

#include "driver/board/board.h"

/* limits for what the firmware of an attached board says about its memory */
#define BOARD_WINDOW_LEAST (UINT64_C(1) << 20)
#define BOARD_WINDOW_MOST  (UINT64_C(1) << 31)

/**
 * struct board_ops - how a sort of board is driven
 * @is_logic: it runs packets alone, and no loaded code
 * @describe: as board_describe(); NULL for boards that need nothing
 * @start: boot the firmware in board->memory, and set board->address; NULL for boards that others start
 * @attach: open board->memory of a board that runs, and set board->address; the caller closes both, also on failure. Of
 *	a kind that has @start too: start the board at a place
 * @restart: as board_reset(), of kinds whose @start allocates board->memory; NULL: @stop, then @start
 * @stop: end it, or detach; the memory stays. -TENON_E_TIMEOUT: something goes on using the memory
 * @alive: as board_alive()
 * @inject: as board_inject(); BOARD_REBOOT and BOARD_LOSE_DOORBELL never arrive here; NULL for boards that others start
 * @halt: as board_halt(); NULL for boards that others start
 * @doorbell: wake the firmware
 * @sleep: await an interrupt
 * @forget: in a child of fork()
 * @leave: let others open the board, after a loss or a halt; any thread, more than once; NULL: nothing to do
 */
struct board_ops {
	bool is_logic;
	int (*describe)(const struct board_kind *kind, struct tenon_buffer *out);
	int (*start)(struct board *board);
	int (*attach)(struct board *board, const struct board_place *place);
	int (*restart)(struct board *board);
	int (*stop)(struct board *board);
	int (*alive)(struct board *board);
	int (*inject)(struct board *board, enum board_fault fault);
	void (*halt)(struct board *board);
	void (*doorbell)(struct board *board);
	void (*sleep)(struct board *board, uint64_t deadline);
	void (*forget)(struct board *board);
	void (*leave)(struct board *board);
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

extern const struct board_ops board_sim_ops, board_qemu_ops, board_rtl_ops, board_shm_ops,
	board_uio_ops, board_vfio_ops, board_remoteproc_ops, board_fastrpc_ops;

/* board_window.c: of a board that runs. Wait for a firmware that just boots. 0; -TENON_E_TIMEOUT. */
int board_await_firmware(const struct board *board, uint64_t deadline);

/* Set board->address; *@size is how much memory the firmware says that there is. 0; -TENON_E_DEVICE for nonsense. */
int board_read_window(struct board *board, uint64_t *size);

/* A PCI device that was removed reads as all ones: what came of reading its identification. 0; -TENON_E_LOST. */
int board_check_pci(const struct board *board, int err, uint32_t id);

/**
 * struct board_register - a register of a device
 * @there: it was named
 * @map: number of the map or BAR
 * @offset: in it
 * @value: what is written
 */
struct board_register {
	bool there;
	uint32_t map;
	uint64_t offset;
	uint32_t value;
};

/* the registers of a board: one wakes its firmware, the other takes an interrupt back */
enum { BOARD_RING, BOARD_TAKE, BOARD_REGISTERS };

/**
 * struct board_wires - the window and registers by which a device is used as a board
 * @window: number of the map or BAR that is its memory
 * @at: the registers
 * @words: where these are mapped; NULL without them
 */
struct board_wires {
	uint32_t window;
	struct board_register at[BOARD_REGISTERS];
	volatile uint32_t *words[BOARD_REGISTERS];
};

/** struct board_map - a map or BAR of a device */
struct board_map {
	volatile uint8_t *base;
	uint64_t size;
};

/* Read the keys of a place into @w, which has the defaults. @maps: how many maps the device has. 0; -TENON_E_VALUE. */
int board_read_wires(const struct board *board, const struct board_place *place, uint32_t maps,
		     struct board_wires *w);

/*
 * Map the window and the registers: @map maps a part of the device. Wait for the firmware, then set the board's memory and
 * address. The board does not unmap them. 0; -TENON_E_TRUNCATED for a window that is too small; -TENON_E_VALUE for a register
 * that is not in its map; errors of @map, board_await_firmware() and board_read_window().
 */
int board_map_wires(struct board *board, uint64_t deadline, struct board_wires *w,
		    int (*map)(const struct board *board, uint32_t index, struct board_map *out));

/* Write to a register that is there. */
static inline void board_write(const struct board_wires *w, unsigned int which)
{
	if (w->words[which])
		*w->words[which] = w->at[which].value;
}

/* The number behind the slash of "/0". 0; -TENON_E_VALUE. */
int board_read_place(const char *name, const char *path, uint32_t *out);

/* ivshmem of QEMU, which has its registers in BAR 0 and its memory in BAR 2 */
#define BOARD_IVSHMEM_ID       0x11101af4U
#define BOARD_IVSHMEM_WINDOW   2
#define BOARD_IVSHMEM_DOORBELL 12

/* board_qemu.c: is there an emulator and an image for the board */
int board_qemu_ready(const struct board_kind *kind);

/* board_rtl.c: is there a program with the accelerator */
int board_rtl_ready(const struct board_kind *kind);

/* board_fastrpc.c: is there a DSP, and the vendor's shell for it */
int board_fastrpc_ready(const struct board_kind *kind);

/**
 * struct board_fastrpc_source - where DSPs are looked for; tests change it
 * @calls: system calls; NULL for the kernel's
 * @root: prefix of /dev and of the folders with the shell
 * @stop_ns: how long a firmware that was told to end may take
 * @leave_ns: how long of that a board that was lost is waited for
 */
extern struct board_fastrpc_source {
	const struct system_calls *calls;
	const char *root;
	uint64_t stop_ns;
	uint64_t leave_ns;
} board_fastrpc_source;

/* board_process.c: slots of boards that are a process; @words: its command line, as qemu_process_start() takes it */
int board_process_start(struct board *board, const char *const *words);
int board_process_stop(struct board *board);
int board_process_alive(struct board *board);
int board_process_inject(struct board *board, enum board_fault fault);
void board_process_halt(struct board *board);
void board_process_doorbell(struct board *board);
void board_process_sleep(struct board *board, uint64_t deadline);
void board_process_forget(struct board *board);

#endif /* DRIVER_BOARD_PRIVATE_H */
