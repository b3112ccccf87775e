/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <tenon/error.h>
#include <unistd.h>

#include "driver/board/board_private.h"
#include "lib/brief_errors.h"

#define MEBIBYTE (UINT64_C(1) << 20)

#ifdef CONFIG_MORTISE_SIM
static int always_ready(const struct board_kind *kind)
{
	(void)kind;
	return 0;
}
#endif

#define HERE_BITS (8 * sizeof(void *))

static const struct board_kind kinds[] = {
#ifdef CONFIG_MORTISE_SIM
	{ "sim", NULL, 0, HERE_BITS, 64 * MEBIBYTE, always_ready },
#endif
#ifdef CONFIG_MORTISE_QEMU
	{ "rv32", "mortise-rv32.elf", MORTISE_MACHINE_RISCV, 32, 16 * MEBIBYTE, board_qemu_ready },
	{ "rv64", "mortise-rv64.elf", MORTISE_MACHINE_RISCV, 64, 16 * MEBIBYTE, board_qemu_ready },
	{ "cm3", "mortise-cm3.elf", MORTISE_MACHINE_ARM, 32, 16 * MEBIBYTE, board_qemu_ready },
#endif
	{ NULL, NULL, 0, 0, 0, NULL },
};

const struct board_kind *const board_kinds = kinds;

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
#ifdef CONFIG_MORTISE_QEMU
	if (kind->firmware)
		return board_qemu_describe(kind, out);
#endif
	if (!kind->ready(kind))
		return tenon_buffer_printf(out, "%s: on a thread of the process, %llu MiB\n",
					   kind->name,
					   (unsigned long long)(kind->window_size / MEBIBYTE));
	tenon_buffer_printf(out, "%s: %s\n", kind->name, tenon_error_message());
	tenon_error_clear();
	return out->status;
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

/* The simulator is the board that needs no image. */
static void choose(struct board *board)
{
	(void)board;
#ifdef CONFIG_MORTISE_SIM
	if (!board->kind->firmware) {
		board->ops = &board_sim_ops;
		board->address = (uintptr_t)board->memory.base;
	}
#endif
#ifdef CONFIG_MORTISE_QEMU
	if (board->kind->firmware) {
		board->ops = &board_qemu_ops;
		board->address = board_qemu_address(board->kind);
	}
#endif
}

int board_open(const struct board_kind *kind, struct board **out)
{
	struct board *board;
	int err;

	*out = NULL;
	err = kind->ready(kind);
	if (err)
		return err;
	board = calloc(1, sizeof(*board));
	if (!board)
		return tenon_error(-TENON_E_NOMEM, "no memory for a board");
	board->kind = kind;
	board->owner = getpid();
	err = shm_create(kind->name, kind->window_size, &board->memory);
	if (err)
		goto free_board;
	choose(board);
	board->port = (struct ring_port){ board, port_doorbell, port_sleep };
	err = board->ops->start(board);
	if (err)
		goto close_memory;
	*out = board;
	return 0;

close_memory:
	shm_close(&board->memory);
free_board:
	free(board);
	return err;
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
			    : tenon_error(-TENON_E_LOST, "%s: the board is off", board->kind->name);
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
	int err = stop(board);

	if (err)
		return tenon_error_in(err, "%s: cannot be reset", board->kind->name);
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
		return board->state ? board->ops->inject(board, fault) : 0;
	}
}

void board_close(struct board *board)
{
	if (!board)
		return;
	if (board->owner != getpid()) {
		if (board->state)
			board->ops->forget(board);
		shm_close(&board->memory);
		free(board);
		return;
	}
	/* what goes on using the memory keeps it */
	if (stop(board) == 0)
		shm_close(&board->memory);
	else
		tenon_error_clear();
	free(board);
}
