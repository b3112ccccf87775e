/* SPDX-License-Identifier: MIT */
/*
 * A running board behind a device of VFIO: the window is a BAR, the doorbell a register, the interrupt an eventfd. The
 * kernel gives a device to one program, and keeps it as long as a BAR is mapped. A lost device is opened again while
 * memory of it is still in use, so boards of one device share what is open; one of them at a time is in use.
 */
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/error.h>
#include <unistd.h>

#include "driver/board/board_private.h"
#include "driver/vfio/vfio.h"
#include "lib/brief_errors.h"

#define BARS	     6
#define NO_INTERRUPT UINT32_MAX

/**
 * struct vfio_shared - an open device
 * @next: in @devices
 * @vfio: open
 * @bar: those that were mapped
 * @references: boards
 * @used_by: the board that may use it; NULL
 * @kind: of interrupt: VFIO_PCI_MSIX and the like; NO_INTERRUPT
 * @interrupt: eventfd; -1 without one
 * @owner: process that opened it
 */
struct vfio_shared {
	struct vfio_shared *next;
	struct vfio vfio;
	struct vfio_region bar[BARS];
	unsigned int references;
	const struct board *used_by;
	uint32_t kind;
	int interrupt;
	pid_t owner;
};

/** struct vfio_board - a board of the device @shared; @wires: its window and registers */
struct vfio_board {
	struct vfio_shared *shared;
	struct board_wires wires;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct vfio_shared *devices;

/* ---- devices that are open */

static void close_device(struct vfio_shared *s)
{
	size_t i;

	if (s->kind != NO_INTERRUPT)
		vfio_interrupts_close(&s->vfio, s->kind, 1, &s->interrupt);
	for (i = 0; i < BARS; i++)
		vfio_region_close(&s->vfio, &s->bar[i]);
	vfio_close(&s->vfio);
	free(s);
}

/* MSI-X in front of MSI in front of INTx. A device may have none, or one that cannot be enabled: it is polled then. */
static void open_interrupt(struct vfio_shared *s)
{
	static const uint32_t kinds[] = { VFIO_PCI_MSIX, VFIO_PCI_MSI, VFIO_PCI_INTX };
	size_t i;

	s->kind = NO_INTERRUPT;
	s->interrupt = -1;
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && s->kind == NO_INTERRUPT; i++)
		if (!vfio_interrupts_open(&s->vfio, kinds[i], 1, &s->interrupt))
			s->kind = kinds[i];
	tenon_error_clear();
}

static int open_device(const struct board_place *place, struct vfio_shared **out)
{
	struct vfio_shared *s = calloc(1, sizeof(*s));
	const char *root = place->keys[BOARD_ROOT];
	int err;

	if (!s)
		return tenon_error(-TENON_E_NOMEM, "no memory for a board");
	err = vfio_open(place->calls, root ? root : "", place->path + 1, &s->vfio);
	if (err) {
		free(s);
		return err;
	}
	s->owner = getpid();
	s->kind = NO_INTERRUPT;
	if (!s->vfio.is_pci)
		err = tenon_error(-TENON_E_UNSUPPORTED, "%s is no PCI device", s->vfio.name);
	/* a message-signalled interrupt is a write of the device's to memory */
	if (!err)
		err = vfio_pci_set_master(&s->vfio, true);
	if (err) {
		close_device(s);
		return err;
	}
	open_interrupt(s);
	*out = s;
	return 0;
}

static struct vfio_shared *find(const char *name)
{
	struct vfio_shared *s;

	for (s = devices; s; s = s->next)
		if (s->owner == getpid() && !strcmp(s->vfio.name, name))
			return s;
	return NULL;
}

static int acquire(const struct board *board, const struct board_place *place,
		   struct vfio_shared **out)
{
	struct vfio_shared *s;
	int err = 0;

	pthread_mutex_lock(&lock);
	s = find(place->path + 1);
	if (s && s->used_by)
		err = tenon_error(-TENON_E_DEVICE, "%s: another device of this process uses it",
				  board->name);
	if (!s) {
		err = open_device(place, &s);
		if (!err) {
			s->next = devices;
			devices = s;
		}
	}
	if (!err) {
		s->references++;
		s->used_by = board;
		*out = s;
	}
	pthread_mutex_unlock(&lock);
	return err;
}

static void leave(struct board *board)
{
	struct vfio_board *b = board->state;

	pthread_mutex_lock(&lock);
	if (b->shared->used_by == board)
		b->shared->used_by = NULL;
	pthread_mutex_unlock(&lock);
}

static void release(struct vfio_shared *s)
{
	struct vfio_shared **at = &devices;

	pthread_mutex_lock(&lock);
	if (--s->references) {
		pthread_mutex_unlock(&lock);
		return;
	}
	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
	pthread_mutex_unlock(&lock);
	close_device(s);
}

/* ---- a board */

static int map(const struct board *board, uint32_t index, struct board_map *out)
{
	const struct vfio_board *b = board->state;
	struct vfio_shared *s = b->shared;
	struct vfio_region *bar;
	int err = 0;

	if (index >= BARS)
		return tenon_error(-TENON_E_VALUE, "%s: there is no BAR %u", board->name, index);
	bar = &s->bar[index];
	pthread_mutex_lock(&lock);
	if (!bar->base)
		err = vfio_region_open(&s->vfio, VFIO_PCI_BAR0 + index, bar);
	if (!err && !bar->base)
		err = vfio_region_map(&s->vfio, bar);
	pthread_mutex_unlock(&lock);
	if (!err)
		*out = (struct board_map){ bar->base, bar->size };
	return err;
}

static int read_id(struct vfio *v, uint32_t *id)
{
	struct vfio_region config;
	int err = vfio_region_open(v, VFIO_PCI_CONFIG, &config);

	return err ? err : vfio_region_read(v, &config, 0, id, sizeof(*id));
}

static int choose_defaults(struct vfio_board *b)
{
	uint32_t id = 0;
	int err = read_id(&b->shared->vfio, &id);

	if (!err && id == BOARD_IVSHMEM_ID) {
		b->wires.window = BOARD_IVSHMEM_WINDOW;
		b->wires.at[BOARD_RING] =
			(struct board_register){ true, 0, BOARD_IVSHMEM_DOORBELL, 0 };
	}
	return err;
}

static int attach(struct board *board, const struct board_place *place)
{
	struct vfio_board *b = calloc(1, sizeof(*b));
	int err;

	if (!b)
		return tenon_error(-TENON_E_NOMEM, "no memory for a board");
	err = acquire(board, place, &b->shared);
	if (err) {
		free(b);
		return err;
	}
	board->state = b;
	err = choose_defaults(b);
	if (!err)
		err = board_read_wires(board, place, BARS, &b->wires);
	if (!err)
		err = board_map_wires(board, place->deadline, &b->wires, map);
	if (!b->wires.words[BOARD_RING])
		board->port.doorbell = NULL;
	if (b->shared->kind == NO_INTERRUPT)
		board->port.sleep = NULL;
	return err;
}

static int stop(struct board *board)
{
	struct vfio_board *b = board->state;

	/* the window is a mapping of the device's */
	board->memory = (struct shm)SHM_INIT;
	release(b->shared);
	free(b);
	return 0;
}

static int alive(struct board *board)
{
	const struct vfio_board *b = board->state;
	uint32_t id = 0;

	return board_check_pci(board, read_id(&b->shared->vfio, &id), id);
}

static void doorbell(struct board *board)
{
	const struct vfio_board *b = board->state;

	board_write(&b->wires, BOARD_RING);
}

static void sleep_until(struct board *board, uint64_t deadline)
{
	const struct vfio_board *b = board->state;
	struct vfio_shared *s = b->shared;
	uint64_t count;

	if (system_wait(s->vfio.calls, s->interrupt, s->vfio.name, POLLIN, deadline) != 1 ||
	    vfio_interrupt_wait(&s->vfio, s->interrupt, 0, &count)) {
		/* the ring looks again, and says what is wrong */
		tenon_error_clear();
		return;
	}
	board_write(&b->wires, BOARD_TAKE);
	/* the kernel masked it */
	if (s->kind == VFIO_PCI_INTX && vfio_interrupt_unmask(&s->vfio, s->kind))
		tenon_error_clear();
}

/* Children of fork() do not have the mappings; the descriptors stay until the child ends or executes another program. */
static void forget(struct board *board)
{
	board->memory = (struct shm)SHM_INIT;
	free(board->state);
}

const struct board_ops board_vfio_ops = {
	.attach = attach,
	.stop = stop,
	.alive = alive,
	.doorbell = doorbell,
	.sleep = sleep_until,
	.forget = forget,
	.leave = leave,
};
