/* SPDX-License-Identifier: MIT */
/*
 * A running board behind a device of UIO: the window is a map, or a BAR of a PCI device; the doorbell a register. A
 * device without an interrupt is polled. The interrupt is unmasked in front of each sleep, since the kernel masks it
 * when it counts it.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/error.h>

#include "driver/board/board_private.h"
#include "driver/uio/uio.h"
#include "lib/brief_errors.h"

/** struct uio_board - the device; @uio: open; @wires: its window and registers */
struct uio_board {
	struct uio uio;
	struct board_wires wires;
};

static bool is_pci(const struct uio *u)
{
	return u->config >= 0;
}

static int map(const struct board *board, uint32_t index, struct board_map *out)
{
	struct uio *u = &((struct uio_board *)board->state)->uio;
	const struct uio_map *m;
	int err = is_pci(u) ? uio_pci_map(u, index) : uio_map(u, index);

	if (err)
		return err;
	m = is_pci(u) ? &u->bar[index] : &u->map[index];
	*out = (struct board_map){ m->base, m->size };
	return 0;
}

static int read_id(const struct uio *u, uint32_t *id)
{
	return system_read_whole(u->calls, u->config, u->path, 0, id, sizeof(*id));
}

/* A device tree gives names to maps; of PCI devices, ivshmem is known. */
static int choose_defaults(struct uio_board *b)
{
	struct uio *u = &b->uio;
	uint32_t id = 0, i;
	int err;

	if (is_pci(u)) {
		err = read_id(u, &id);
		if (err || id != BOARD_IVSHMEM_ID)
			return err;
		b->wires.window = BOARD_IVSHMEM_WINDOW;
		b->wires.at[BOARD_RING] =
			(struct board_register){ true, 0, BOARD_IVSHMEM_DOORBELL, 0 };
		return 0;
	}
	for (i = 0; i < u->map_count; i++) {
		if (!strcmp(u->map[i].name, "window"))
			b->wires.window = i;
		if (!strcmp(u->map[i].name, "doorbell"))
			b->wires.at[BOARD_RING] = (struct board_register){ true, i, 0, 1 };
	}
	return 0;
}

static int lock(const struct board *board)
{
	const struct uio_board *b = board->state;

	if (!system_lock(b->uio.calls, b->uio.fd, true))
		return 0;
	if (errno == EWOULDBLOCK)
		return tenon_error(-TENON_E_DEVICE,
				   "%s: another process uses %s, or another device of this one",
				   board->name, b->uio.path);
	return system_error(errno, b->uio.path, "lock it");
}

/* The node of a device without an interrupt fails when it is read. */
static bool has_interrupt(struct uio *u)
{
	uint32_t count;
	int err = uio_enable_interrupt(u);

	if (!err)
		err = uio_wait_interrupt(u, 0, &count);
	tenon_error_clear();
	return !err || err == -TENON_E_TIMEOUT;
}

static void choose_port(struct board *board)
{
	struct uio_board *b = board->state;

	if (!b->wires.words[BOARD_RING])
		board->port.doorbell = NULL;
	if (!has_interrupt(&b->uio))
		board->port.sleep = NULL;
}

static int open_device(struct board *board, const struct board_place *place, struct uio_board *b)
{
	const char *root = place->keys[BOARD_ROOT];
	uint32_t number = 0;
	int err = board_read_place(board->name, place->path, &number);

	return err ? err : uio_open(place->calls, root ? root : "", number, &b->uio);
}

static int attach(struct board *board, const struct board_place *place)
{
	struct uio_board *b = calloc(1, sizeof(*b));
	int err;

	if (!b)
		return tenon_error(-TENON_E_NOMEM, "no memory for a board");
	err = open_device(board, place, b);
	if (err) {
		free(b);
		return err;
	}
	board->state = b;
	err = lock(board);
	if (!err)
		err = choose_defaults(b);
	if (!err)
		err = board_read_wires(board, place, UIO_PCI_BARS, &b->wires);
	if (!err)
		err = board_map_wires(board, place->deadline, &b->wires, map);
	if (!err)
		choose_port(board);
	return err;
}

static int stop(struct board *board)
{
	struct uio_board *b = board->state;

	/* the window is a mapping of the device's */
	board->memory = (struct shm)SHM_INIT;
	uio_close(&b->uio);
	free(b);
	return 0;
}

static int alive(struct board *board)
{
	const struct uio_board *b = board->state;
	uint32_t id = 0;

	return is_pci(&b->uio) ? board_check_pci(board, read_id(&b->uio, &id), id) : 0;
}

static void doorbell(struct board *board)
{
	const struct uio_board *b = board->state;

	board_write(&b->wires, BOARD_RING);
}

static void sleep_until(struct board *board, uint64_t deadline)
{
	struct uio_board *b = board->state;
	uint32_t count;

	if (uio_enable_interrupt(&b->uio) ||
	    system_wait(b->uio.calls, b->uio.fd, b->uio.path, POLLIN, deadline) != 1 ||
	    uio_wait_interrupt(&b->uio, 0, &count)) {
		/* the ring looks again, and says what is wrong */
		tenon_error_clear();
		return;
	}
	board_write(&b->wires, BOARD_TAKE);
}

/* Children of fork() do not have the mappings: close the descriptors alone. */
static void forget(struct board *board)
{
	struct uio_board *b = board->state;

	board->memory = (struct shm)SHM_INIT;
	system_close(b->uio.calls, &b->uio.config);
	system_close(b->uio.calls, &b->uio.fd);
	free(b);
}

static void leave(struct board *board)
{
	const struct uio_board *b = board->state;

	system_lock(b->uio.calls, b->uio.fd, false);
}

const struct board_ops board_uio_ops = {
	.attach = attach,
	.stop = stop,
	.alive = alive,
	.doorbell = doorbell,
	.sleep = sleep_until,
	.forget = forget,
	.leave = leave,
};
