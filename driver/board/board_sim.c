/* SPDX-License-Identifier: MIT */
/* The simulator as a board. */
#include <tenon/error.h>

#include "driver/board/board_private.h"
#include "firmware/sim/sim.h"
#include "lib/brief_errors.h"

static int start(struct board *board)
{
	struct sim *sim;
	int err = sim_start(board->memory.base, board->memory.size, 0, &sim);

	board->address = (uintptr_t)board->memory.base;
	board->state = sim;
	return err;
}

static int stop(struct board *board)
{
	return sim_stop(board->state);
}

static int alive(struct board *board)
{
	if (sim_is_running(board->state))
		return 0;
	return tenon_error(-TENON_E_LOST, "%s: the simulator's thread has ended", board->name);
}

static void halt(struct board *board)
{
	sim_kill(board->state);
}

static int inject(struct board *board, enum board_fault fault)
{
	switch (fault) {
	case BOARD_FREEZE:
	case BOARD_THAW:
		sim_freeze(board->state, fault == BOARD_FREEZE);
		return 0;
	case BOARD_KILL:
		halt(board);
		return 0;
	default:
		return tenon_error(-TENON_E_UNSUPPORTED, "%s: fault %d", board->name, fault);
	}
}

static void doorbell(struct board *board)
{
	sim_doorbell(board->state);
}

static void sleep_until(struct board *board, uint64_t deadline)
{
	sim_await_interrupt(board->state, deadline);
}

static void forget(struct board *board)
{
	sim_forget(board->state);
}

const struct board_ops board_sim_ops = {
	.start = start,
	.stop = stop,
	.alive = alive,
	.inject = inject,
	.halt = halt,
	.doorbell = doorbell,
	.sleep = sleep_until,
	.forget = forget,
};
