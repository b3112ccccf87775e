/* SPDX-License-Identifier: MIT */
/* Boards that are a process of their own: an emulator, or a Verilated accelerator. */
#include <signal.h>
#include <stdlib.h>
#include <tenon/error.h>

#include "driver/board/board_private.h"
#include "driver/board/qemu_process.h"
#include "driver/board/uart.h"
#include "lib/brief_errors.h"

int board_process_start(struct board *board, const char *const *words)
{
	struct qemu_process *p = malloc(sizeof(*p));
	int err;

	if (!p)
		return tenon_error(-TENON_E_NOMEM, "no memory for a board");
	err = qemu_process_start(words, board->memory.fd, p);
	if (err) {
		free(p);
		return err;
	}
	board->state = p;
	return 0;
}

int board_process_stop(struct board *board)
{
	qemu_process_stop(board->state);
	free(board->state);
	return 0;
}

int board_process_alive(struct board *board)
{
	const struct qemu_process *p = board->state;

	return uart_check(board->name, p->uart);
}

int board_process_inject(struct board *board, enum board_fault fault)
{
	static const int signals[] = {
		[BOARD_FREEZE] = SIGSTOP, [BOARD_THAW] = SIGCONT, [BOARD_KILL] = SIGKILL
	};

	qemu_process_signal(board->state, signals[fault]);
	if (fault == BOARD_FREEZE)
		qemu_process_await_stop(board->state);
	return 0;
}

void board_process_halt(struct board *board)
{
	qemu_process_signal(board->state, SIGKILL);
}

void board_process_doorbell(struct board *board)
{
	const struct qemu_process *p = board->state;

	uart_ring(p->uart);
}

void board_process_sleep(struct board *board, uint64_t deadline)
{
	const struct qemu_process *p = board->state;

	uart_sleep(p->uart, deadline);
}

void board_process_forget(struct board *board)
{
	qemu_process_forget(board->state);
	free(board->state);
}
