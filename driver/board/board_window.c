/* SPDX-License-Identifier: MIT */
/* What boards that run already have in common: the firmware in their memory, and the keys of their names. */
#include <errno.h>
#include <stdlib.h>
#include <tenon/error.h>
#include <tenon/uapi/mortise_order.h>
#include <time.h>

#include "driver/board/board_private.h"
#include "lib/brief_errors.h"
#include "lib/clock.h"

#define PAUSE_NS 1000000

static const struct mortise_identity *identity_of(const struct board *board)
{
	return (const void *)(board->memory.base + MORTISE_CONTROL_OFFSET);
}

/*
 * Wait for the magic number of the firmware. It may be left from an earlier run: the session's
 * handshake finds that out.
 */
int board_await_firmware(const struct board *board, uint64_t deadline)
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

int board_read_window(struct board *board, uint64_t *size)
{
	*size = *(const volatile uint64_t *)&identity_of(board)->window_size;
	board->address = *(const volatile uint64_t *)&identity_of(board)->window_address;
	if (*size >= BOARD_WINDOW_LEAST && *size <= BOARD_WINDOW_MOST)
		return 0;
	return tenon_error(-TENON_E_DEVICE,
			   "%s: the firmware says that its memory has %llu bytes: this is not the "
			   "memory of a board, or it was overwritten",
			   board->name, (unsigned long long)*size);
}

static int use_window(struct board *board, volatile uint8_t *base, uint64_t room, uint32_t map,
		      uint64_t deadline)
{
	uint64_t size = 0;
	int err;

	if (room < MORTISE_SHARED_OFFSET)
		return tenon_error(-TENON_E_TRUNCATED,
				   "%s: map %u has %llu bytes, and the memory of a board at least "
				   "%u; name another one: ?window=N",
				   board->name, map, (unsigned long long)room,
				   MORTISE_SHARED_OFFSET);
	board->memory.base = (uint8_t *)(uintptr_t)base;
	err = board_await_firmware(board, deadline);
	if (!err)
		err = board_read_window(board, &size);
	if (!err && size > room)
		err = tenon_error(-TENON_E_TRUNCATED,
				  "%s: the firmware says that its memory has %llu bytes, and map "
				  "%u has %llu",
				  board->name, (unsigned long long)size, map,
				  (unsigned long long)room);
	board->memory.size = (size_t)size;
	return err;
}

int board_check_pci(const struct board *board, int err, uint32_t id)
{
	if (!err && id != UINT32_MAX)
		return 0;
	tenon_error_clear();
	return tenon_error(-TENON_E_LOST, "%s: the PCI device does not answer any more",
			   board->name);
}

/* Read a number, and the colon behind it if there is one. */
static bool take_number(const char **at, uint64_t limit, uint64_t *out)
{
	char *end;

	if (**at < '0' || **at > '9')
		return false;
	errno = 0;
	*out = strtoull(*at, &end, 0);
	if (errno || *out >= limit || (*end && *end != ':') || (*end && !end[1]))
		return false;
	*at = end + (*end == ':');
	return true;
}

static int read_register(const char *name, enum board_key key, const char *text,
			 struct board_register *out)
{
	const char *at = text;
	uint64_t map, value = 1;

	if (!text)
		return 0;
	if (!take_number(&at, UINT32_MAX, &map) || !*at ||
	    !take_number(&at, UINT64_MAX, &out->offset) ||
	    (*at && !take_number(&at, UINT64_C(1) << 32, &value)) || *at)
		return tenon_error(-TENON_E_VALUE,
				   "%s: %s=%s: expected MAP:OFFSET or MAP:OFFSET:VALUE, as in "
				   "0:0xc:1",
				   name, board_key_name(key), text);
	out->there = true;
	out->map = (uint32_t)map;
	out->value = (uint32_t)value;
	return 0;
}

static int read_number(const char *name, enum board_key key, const char *text, uint32_t limit,
		       uint32_t *out)
{
	const char *at = text;
	uint64_t value;

	if (!text)
		return 0;
	if (!take_number(&at, limit, &value) || *at)
		return tenon_error(-TENON_E_VALUE, "%s: %s=%s: expected a number from 0 to %u",
				   name, board_key_name(key), text, limit - 1);
	*out = (uint32_t)value;
	return 0;
}

int board_read_place(const char *name, const char *path, uint32_t *out)
{
	const char *at = path + 1;
	uint64_t value;

	if (*path != '/' || !take_number(&at, 1000, &value) || *at)
		return tenon_error(-TENON_E_VALUE, "%s: expected the number of a device", name);
	*out = (uint32_t)value;
	return 0;
}

static int check_register(const char *name, const struct board_register *r, uint64_t size)
{
	if (r->offset % 4 == 0 && r->offset <= size && size - r->offset >= 4)
		return 0;
	return tenon_error(-TENON_E_VALUE,
			   "%s: no 32-bit register at 0x%llx of map %u, which has %llu bytes", name,
			   (unsigned long long)r->offset, r->map, (unsigned long long)size);
}

int board_read_wires(const struct board *board, const struct board_place *place, uint32_t maps,
		     struct board_wires *w)
{
	int err =
		read_number(board->name, BOARD_WINDOW, place->keys[BOARD_WINDOW], maps, &w->window);

	if (!err)
		err = read_register(board->name, BOARD_DOORBELL, place->keys[BOARD_DOORBELL],
				    &w->at[BOARD_RING]);
	if (!err)
		err = read_register(board->name, BOARD_ACKNOWLEDGE, place->keys[BOARD_ACKNOWLEDGE],
				    &w->at[BOARD_TAKE]);
	return err;
}

int board_map_wires(struct board *board, uint64_t deadline, struct board_wires *w,
		    int (*map)(const struct board *board, uint32_t index, struct board_map *out))
{
	struct board_map m;
	int i, err = map(board, w->window, &m);

	if (!err)
		err = use_window(board, m.base, m.size, w->window, deadline);
	for (i = 0; i < BOARD_REGISTERS && !err; i++) {
		const struct board_register *r = &w->at[i];

		if (!r->there)
			continue;
		err = map(board, r->map, &m);
		if (!err)
			err = check_register(board->name, r, m.size);
		if (!err)
			w->words[i] = (volatile uint32_t *)(volatile void *)(m.base + r->offset);
	}
	return err;
}
