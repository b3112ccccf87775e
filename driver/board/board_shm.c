/* SPDX-License-Identifier: MIT */
/*
 * An attached board, which runs already: its memory is a file that both map. It is never started, stopped or reset from
 * here; a session begins when it is opened and ends when it is closed.
 */
#include <stdlib.h>
#include <tenon/error.h>
#include <tenon/timeline.h>
#include <tenon/uapi/mortise_order.h>
#include <time.h>
#include <unistd.h>

#include "driver/board/board_private.h"
#include "driver/board/uart.h"
#include "lib/brief_errors.h"
#include "lib/clock.h"

#define PAUSE_NS 1000000

struct attached {
	int uart; /* -1 without one */
};

static const struct mortise_identity *identity_of(const struct board *board)
{
	return (const void *)(board->memory.base + MORTISE_CONTROL_OFFSET);
}

/* Wait for a firmware that just boots. An old file has the number too: the session's handshake tells. */
static int await_firmware(const struct board *board, uint64_t deadline)
{
	const struct timespec pause = { 0, PAUSE_NS };

	while (mortise_load(&identity_of(board)->magic) != MORTISE_MAGIC) {
		if (clock_now() >= deadline)
			return tenon_error(-TENON_E_TIMEOUT,
					   "%s: no firmware runs on this memory, or it has not "
					   "started",
					   board->name);
		nanosleep(&pause, NULL);
	}
	return 0;
}

/* Map as much as the firmware says that there is. */
static int map_window(struct board *board)
{
	uint64_t size = *(const volatile uint64_t *)&identity_of(board)->window_size;

	board->address = *(const volatile uint64_t *)&identity_of(board)->window_address;
	if (size < BOARD_WINDOW_LEAST || size > BOARD_WINDOW_MOST)
		return tenon_error(-TENON_E_DEVICE,
				   "%s: the firmware says that its memory has %llu bytes: this is "
				   "not the memory of a board, or it was overwritten",
				   board->name, (unsigned long long)size);
	return shm_extend(board->name, size, &board->memory);
}

static int attach(struct board *board, const struct board_place *place)
{
	struct attached *a;
	int err;

	err = shm_open_file(place->path, MORTISE_SHARED_OFFSET, false, &board->memory);
	if (err)
		return err;
	a = malloc(sizeof(*a));
	if (!a)
		return tenon_error(-TENON_E_NOMEM, "no memory for a board");
	a->uart = -1;
	board->state = a;
	err = await_firmware(board, place->deadline);
	if (!err)
		err = map_window(board);
	if (!err && place->doorbell)
		err = uart_connect(place->doorbell, &a->uart);
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

static int inject(struct board *board, enum board_fault fault)
{
	return tenon_error(-TENON_E_UNSUPPORTED, "%s: fault %d: not our board", board->name, fault);
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

const struct board_ops board_shm_ops = {
	.attach = attach,
	.stop = stop,
	.alive = alive,
	.inject = inject,
	.doorbell = doorbell,
	.sleep = sleep_until,
	.forget = forget,
};
