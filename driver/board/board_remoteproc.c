/* SPDX-License-Identifier: MIT */
/*
 * A core that the kernel boots. remoteproc starts it, stops it and knows of its crash; its memory is behind another sort of
 * board: a file ("memory"), or a device of UIO ("uio"). A core that this process started stops with it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/error.h>

#include "driver/board/board_private.h"
#include "driver/remoteproc/remoteproc.h"
#include "lib/brief_errors.h"

/**
 * struct core - the core
 * @core: in sysfs
 * @memory: the board that is its memory
 * @started: by us, and to be stopped by us
 */
struct core {
	struct remoteproc core;
	struct board *memory;
	bool started;
};

static int choose_firmware(struct core *c, const char *wanted, bool running)
{
	char firmware[256];
	int err;

	if (!wanted)
		return 0;
	if (!running)
		return remoteproc_set_firmware(&c->core, wanted);
	err = remoteproc_get_firmware(&c->core, firmware, sizeof(firmware));
	if (err || !strcmp(firmware, wanted))
		return err;
	return tenon_error(-TENON_E_DEVICE,
			   "%s (%s): it runs the firmware %s, not %s; stop it first: echo stop > "
			   "%s/state",
			   c->core.folder, c->core.name, firmware, wanted, c->core.folder);
}

/* Bring the core to run. One that crashed has to be stopped before it starts again. */
static int boot(struct core *c, const struct board_place *place)
{
	enum remoteproc_state state;
	bool running;
	int err = remoteproc_get_state(&c->core, &state);

	if (!err && state == REMOTEPROC_CRASHED) {
		err = remoteproc_stop(&c->core);
		state = REMOTEPROC_OFFLINE;
	}
	running = state == REMOTEPROC_RUNNING || state == REMOTEPROC_ATTACHED;
	if (!err)
		err = choose_firmware(c, place->keys[BOARD_FIRMWARE], running);
	if (err || running)
		return err;
	/* a start that failed may have started it: the look at its state behind it can fail too */
	c->started = true;
	err = remoteproc_start(&c->core);
	/* kernels without such nodes leave the core running when this process is killed */
	if (!err && remoteproc_stop_on_exit(&c->core))
		tenon_error_clear();
	return err;
}

/* The board that is the core's memory. */
static int attach_memory(struct board *board, const struct board_place *place)
{
	const char *file = place->keys[BOARD_MEMORY], *uio = place->keys[BOARD_UIO];
	const struct board_kind *kind = board_kind_find(file ? "shm" : "uio");
	struct core *c = board->state;
	struct board_place there = *place;
	char number[16];

	if (!file == !uio)
		return tenon_error(-TENON_E_VALUE,
				   "%s: say where the core's memory is, ?uio=N or ?memory=PATH",
				   board->name);
	snprintf(number, sizeof(number), "/%.12s", uio ? uio : "");
	there.path = file ? file : number;
	return board_attach(kind, &there, &c->memory);
}

static void forward_doorbell(struct board *board)
{
	const struct core *c = board->state;
	const struct ring_port *port = board_port(c->memory);

	port->doorbell(port->context);
}

static void forward_sleep(struct board *board, uint64_t deadline)
{
	const struct core *c = board->state;
	const struct ring_port *port = board_port(c->memory);

	port->sleep(port->context, deadline);
}

static void use_memory(struct board *board)
{
	const struct core *c = board->state;

	board->memory = *board_memory(c->memory);
	board->address = board_address(c->memory);
	if (!board_port(c->memory)->doorbell)
		board->port.doorbell = NULL;
	if (!board_port(c->memory)->sleep)
		board->port.sleep = NULL;
}

static int attach(struct board *board, const struct board_place *place)
{
	struct core *c = calloc(1, sizeof(*c));
	const char *root = place->keys[BOARD_ROOT];
	uint32_t number = 0;
	int err;

	if (!c)
		return tenon_error(-TENON_E_NOMEM, "no memory for a board");
	err = board_read_place(board->name, place->path, &number);
	if (!err)
		err = remoteproc_open(place->calls, root ? root : "", number, &c->core);
	if (err) {
		free(c);
		return err;
	}
	board->state = c;
	err = boot(c, place);
	if (!err)
		err = attach_memory(board, place);
	if (!err)
		use_memory(board);
	return err;
}

static void stop_core(struct core *c)
{
	if (__atomic_exchange_n(&c->started, false, __ATOMIC_ACQ_REL) && remoteproc_stop(&c->core))
		tenon_error_clear();
}

static int stop(struct board *board)
{
	struct core *c = board->state;

	board->memory = (struct shm)SHM_INIT;
	stop_core(c);
	board_close(c->memory);
	remoteproc_close(&c->core);
	free(c);
	return 0;
}

static int alive(struct board *board)
{
	const struct core *c = board->state;
	int err = remoteproc_check(&((struct core *)board->state)->core);

	/* whatever the reason is, it is the class of a loss */
	if (err)
		return tenon_error(-TENON_E_LOST, "%s: %s", board->name, tenon_error_message());
	return board_alive(c->memory);
}

static void forget(struct board *board)
{
	struct core *c = board->state;

	board->memory = (struct shm)SHM_INIT;
	board_close(c->memory);
	/* the parent's descriptor keeps the core running */
	remoteproc_close(&c->core);
	free(c);
}

/* The next to open the core boots it anew. */
static void leave(struct board *board)
{
	struct core *c = board->state;

	stop_core(c);
	if (c->memory)
		board_leave(c->memory);
}

const struct board_ops board_remoteproc_ops = {
	.attach = attach,
	.stop = stop,
	.alive = alive,
	.doorbell = forward_doorbell,
	.sleep = forward_sleep,
	.forget = forget,
	.leave = leave,
};
