/* SPDX-License-Identifier: MIT */
/*
 * An attached board, which runs already: its memory is a file that both map. It is never started, stopped or reset from
 * here; a session begins when it is opened and ends when it is closed.
 */
#include <stdlib.h>
#include <tenon/error.h>
#include <unistd.h>

#include "driver/board/board_private.h"
#include "driver/board/uart.h"
#include "lib/brief_errors.h"

struct attached {
	int uart; /* -1 without one */
};

static int attach(struct board *board, const struct board_place *place)
{
	struct attached *a;
	uint64_t size = 0;
	int err;

	err = shm_open_file(place->path, MORTISE_SHARED_OFFSET, false, &board->memory);
	if (err)
		return err;
	a = malloc(sizeof(*a));
	if (!a)
		return tenon_error(-TENON_E_NOMEM, "no memory for a board");
	a->uart = -1;
	board->state = a;
	err = board_await_firmware(board, place->deadline);
	if (!err)
		err = board_read_window(board, &size);
	if (!err)
		err = shm_extend(board->name, size, &board->memory);
	if (!err && place->keys[BOARD_DOORBELL])
		err = uart_connect(place->keys[BOARD_DOORBELL], &a->uart);
	if (a->uart < 0)
		board->port = (struct ring_port){ board, NULL, NULL };
	return err;
}

static int stop(struct board *board)
{
	struct attached *a = board->state;

	if (a->uart >= 0)
		close(a->uart);
	free(a);
	return 0;
}

static int alive(struct board *board)
{
	const struct attached *a = board->state;

	return a->uart < 0 ? 0 : uart_check(board->name, a->uart);
}

static void doorbell(struct board *board)
{
	const struct attached *a = board->state;

	uart_ring(a->uart);
}

static void sleep_until(struct board *board, uint64_t deadline)
{
	const struct attached *a = board->state;

	uart_sleep(a->uart, deadline);
}

static void forget(struct board *board)
{
	stop(board);
}

static void leave(struct board *board)
{
	shm_unlock(&board->memory);
}

const struct board_ops board_shm_ops = {
	.attach = attach,
	.stop = stop,
	.alive = alive,
	.doorbell = doorbell,
	.sleep = sleep_until,
	.forget = forget,
	.leave = leave,
};
