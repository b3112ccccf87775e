/* SPDX-License-Identifier: MIT */
/* Names and keys of boards, and the calls of each kind behind them. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>
#include <tenon/error.h>
#include <tenon/uapi/mortise_dsp.h>
#include <unistd.h>

#include "driver/board/board_private.h"
#include "lib/brief_errors.h"
#include "lib/option.h"

#define MEBIBYTE (UINT64_C(1) << 20)

static int always_ready(const struct board_kind *kind)
{
	return 0;
}

/* Boards that others start are opened by name alone. */
static int never_listed(const struct board_kind *kind)
{
	return tenon_error(-TENON_E_DEVICE,
			   "a board that runs already is opened as mortise://%s/%s", kind->name,
			   kind->place);
}

#define HERE_BITS (8 * sizeof(void *))
#define KEY(name) (1U << BOARD_##name)

/* clang-format off */
static const struct board_kind kinds[] = {
	{ "sim", "simulator", NULL, 0, HERE_BITS, 64 * MEBIBYTE, always_ready, &board_sim_ops, NULL,
	  0 },
	OPTION_ROWS(MORTISE_BOARDS,
	{ "rv32", "QEMU", "mortise-rv32.elf", MORTISE_MACHINE_RISCV, 32, 16 * MEBIBYTE,
	  board_qemu_ready, &board_qemu_ops, NULL, 0 },
	{ "rv64", "QEMU", "mortise-rv64.elf", MORTISE_MACHINE_RISCV, 64, 16 * MEBIBYTE,
	  board_qemu_ready, &board_qemu_ops, NULL, 0 },
	{ "cm3", "QEMU", "mortise-cm3.elf", MORTISE_MACHINE_ARM, 32, 16 * MEBIBYTE,
	  board_qemu_ready, &board_qemu_ops, NULL, 0 },
	{ "hexagon", "QEMU", "mortise-hexagon.elf", MORTISE_MACHINE_HEXAGON, 32, 16 * MEBIBYTE,
	  board_qemu_ready, &board_qemu_ops, NULL, 0 },
	{ "rtl", "Verilator", "mortise-rtl", 0, 32, 16 * MEBIBYTE, board_rtl_ready, &board_rtl_ops,
	  NULL, 0 },
	{ "fastrpc", "FastRPC", MORTISE_DSP_FILE, MORTISE_MACHINE_HEXAGON, 32, MORTISE_DSP_WINDOW,
	  board_fastrpc_ready, &board_fastrpc_ops, "DSP", 0 },)
	{ "shm", "shared file", NULL, 0, 0, 0, never_listed, &board_shm_ops, "PATH",
	  KEY(DOORBELL) },
	{ "uio", "UIO", NULL, 0, 0, 0, never_listed, &board_uio_ops, "N",
	  KEY(WINDOW) | KEY(DOORBELL) | KEY(ACKNOWLEDGE) | KEY(ROOT) },
	OPTION_ROWS(MORTISE_BOARDS,
	{ "vfio", "VFIO", NULL, 0, 0, 0, never_listed, &board_vfio_ops, "ADDRESS",
	  KEY(WINDOW) | KEY(DOORBELL) | KEY(ACKNOWLEDGE) | KEY(ROOT) },
	{ "remoteproc", "remoteproc", NULL, 0, 0, 0, never_listed, &board_remoteproc_ops, "N",
	  KEY(MEMORY) | KEY(UIO) | KEY(WINDOW) | KEY(DOORBELL) | KEY(ACKNOWLEDGE) | KEY(FIRMWARE) |
		  KEY(ROOT) },)
	{ NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 0 },
};
/* clang-format on */

const struct board_kind *const board_kinds = kinds;

const char *board_key_name(enum board_key key)
{
	static const char *const names[BOARD_KEYS] = {
		[BOARD_DOORBELL] = "doorbell",
		[BOARD_WINDOW] = "window",
		[BOARD_ACKNOWLEDGE] = "acknowledge",
		[BOARD_MEMORY] = "memory",
		[BOARD_UIO] = "uio",
		[BOARD_FIRMWARE] = "firmware",
		[BOARD_ROOT] = "root",
	};

	return key < BOARD_KEYS ? names[key] : NULL;
}

const struct board_kind *board_kind_find(const char *name)
{
	const struct board_kind *k;

	for (k = kinds; k->name; k++)
		if (!strcmp(k->name, name))
			return k;
	return NULL;
}

int board_describe(const struct board_kind *kind, struct tenon_buffer *out)
{
	if (kind->ops->describe)
		return kind->ops->describe(kind, out);
	if (!kind->ready(kind))
		return tenon_buffer_printf(out, "%s: on a thread of the process, %llu MiB\n",
					   kind->name,
					   (unsigned long long)(kind->window_size / MEBIBYTE));
	tenon_buffer_printf(out, "%s: %s\n", kind->name, tenon_error_message());
	tenon_error_clear();
	return out->status;
}

bool board_is_attached(const struct board_kind *kind)
{
	return !kind->ops->start;
}

bool board_runs_code(const struct board_kind *kind)
{
	return !kind->ops->is_logic;
}

static void port_doorbell(void *context)
{
	struct board *board = context;

	if (!__atomic_exchange_n(&board->lose_doorbell, 0, __ATOMIC_RELAXED))
		board->ops->doorbell(board);
}

static void port_sleep(void *context, uint64_t deadline)
{
	struct board *board = context;

	board->ops->sleep(board, deadline);
}

/* A board that is neither started nor attached. */
static int create(const struct board_kind *kind, const char *name, struct board **out)
{
	struct board *board = calloc(1, sizeof(*board));

	*out = board;
	if (board)
		board->name = strdup(name);
	if (!board || !board->name) {
		free(board);
		*out = NULL;
		return tenon_error(-TENON_E_NOMEM, "no memory for a board");
	}
	board->kind = kind;
	board->ops = kind->ops;
	board->owner = getpid();
	board->memory = (struct shm)SHM_INIT;
	board->port = (struct ring_port){ board, port_doorbell, port_sleep };
	return 0;
}

int board_open(const struct board_kind *kind, struct board **out)
{
	struct board *board;
	int err;

	*out = NULL;
	err = kind->ready(kind);
	if (!err)
		err = create(kind, kind->name, &board);
	if (err)
		return err;
	err = kind->ops->restart ? 0 : shm_create(kind->name, kind->window_size, &board->memory);
	if (!err)
		err = board->ops->start(board);
	if (err) {
		board_close(board);
		return err;
	}
	*out = board;
	return 0;
}

int board_attach(const struct board_kind *kind, const struct board_place *place, struct board **out)
{
	char name[PATH_MAX];
	struct board *board;
	int err;

	*out = NULL;
	/* name a file by its path, a device by the text behind "mortise://" */
	if (kind->ops == &board_shm_ops)
		snprintf(name, sizeof(name), "%s", place->path);
	else
		snprintf(name, sizeof(name), "%s%s", kind->name, place->path);
	err = create(kind, name, &board);
	if (err)
		return err;
	err = kind->ops->attach(board, place);
	if (err) {
		board_close(board);
		return err;
	}
	*out = board;
	return 0;
}

const char *board_name(const struct board *board)
{
	return board->name;
}

const struct shm *board_memory(const struct board *board)
{
	return &board->memory;
}

uint64_t board_address(const struct board *board)
{
	return board->address;
}

const struct ring_port *board_port(const struct board *board)
{
	return &board->port;
}

int board_alive(struct board *board)
{
	return board->state ? board->ops->alive(board)
			    : tenon_error(-TENON_E_LOST, "%s: the board is off", board->name);
}

static int stop(struct board *board)
{
	int err = board->state ? board->ops->stop(board) : 0;

	if (!err)
		board->state = NULL;
	return err;
}

int board_reset(struct board *board)
{
	int err;

	if (!board->ops->start)
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "%s: somebody else started this board, and has to reset it",
				   board->name);
	err = board->ops->restart ? board->ops->restart(board) : stop(board);
	if (err)
		return tenon_error_in(err, "%s: cannot be reset", board->name);
	if (board->ops->restart)
		return 0;
	/* the firmware's memory and the control block are as after power-on */
	memset(board->memory.base, 0, MORTISE_SHARED_OFFSET);
	return board->ops->start(board);
}

int board_inject(struct board *board, enum board_fault fault)
{
	switch (fault) {
	case BOARD_LOSE_DOORBELL:
		__atomic_store_n(&board->lose_doorbell, 1, __ATOMIC_RELAXED);
		return 0;
	case BOARD_REBOOT:
		return board_reset(board);
	default:
		if (!board->state)
			return 0;
		if (board->ops->inject)
			return board->ops->inject(board, fault);
		return tenon_error(-TENON_E_UNSUPPORTED, "%s: fault %d: not our board", board->name,
				   fault);
	}
}

void board_leave(struct board *board)
{
	if (board->owner == getpid() && board->state && board->ops->leave)
		board->ops->leave(board);
}

void board_halt(struct board *board)
{
	if (board->state && board->ops->halt)
		board->ops->halt(board);
	board_leave(board);
}

static void forget(struct board *board)
{
	if (board->state)
		board->ops->forget(board);
	shm_close(&board->memory);
}

void board_close(struct board *board)
{
	if (!board)
		return;
	if (board->owner != getpid()) {
		forget(board);
	} else {
		/* whether there is a reason for closing it, which stays */
		const bool failed = tenon_error_status() != 0;

		/* a child of fork() may still have the file */
		board_leave(board);
		/*
		 * unmap the window only after the board has stopped: a board that runs may use it
		 */
		if (stop(board) == 0)
			shm_close(&board->memory);
		else if (!failed)
			tenon_error_clear();
	}
	free(board->name);
	free(board);
}
