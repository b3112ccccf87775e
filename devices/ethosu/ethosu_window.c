/* SPDX-License-Identifier: MIT */
/* Open the memory beside the registers and hand out pieces of it. */
#include "devices/ethosu/ethosu_window.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <tenon/error.h>

#include "lib/brief_errors.h"

/* ---- where it is: a row for each kind of memory */

static int open_map(struct ethosu_window *w, struct uio *uio, unsigned int index)
{
	int err = uio_map(uio, index);

	if (err)
		return err;
	snprintf(w->name, sizeof(w->name), "%s, map %u", uio->path, index);
	w->base = (uint8_t *)(uintptr_t)uio->map[index].base;
	/* the address is that of the page */
	if (__builtin_add_overflow(uio->map[index].address, uio->map[index].offset, &w->address))
		return tenon_error(-TENON_E_FORMAT, "%s: its offset is beyond all addresses",
				   w->name);
	w->memory.size = uio->map[index].size;
	return 0;
}

static int open_numbered(struct ethosu_window *w, struct uio *uio, const char *root,
			 const char *memory)
{
	return open_map(w, uio, (unsigned int)(*memory - '0'));
}

static int open_default(struct ethosu_window *w, struct uio *uio, const char *root,
			const char *memory)
{
	unsigned int i;

	for (i = 0; i < uio->map_count; i++)
		if (!strcmp(uio->map[i].name, "memory"))
			return open_map(w, uio, i);
	if (uio->map_count > 1)
		return open_map(w, uio, 1);
	return tenon_error(-TENON_E_VALUE,
			   "%s: it has no map of memory; name an u-dma-buf: ?memory=udmabuf0",
			   uio->path);
}

static int open_u_dma_buf(struct ethosu_window *w, struct uio *uio, const char *root,
			  const char *memory)
{
	char path[PATH_MAX];
	int err;

	snprintf(w->name, sizeof(w->name), "/dev/%s", memory);
	w->calls = uio->calls;
	snprintf(path, sizeof(path), "%s/sys/class/u-dma-buf/%s/phys_addr", root, memory);
	err = system_read_number(w->calls, path, &w->address);
	snprintf(path, sizeof(path), "%s/sys/class/u-dma-buf/%s/size", root, memory);
	if (!err)
		err = system_read_number(w->calls, path, &w->memory.size);
	if (err)
		return err;
	snprintf(path, sizeof(path), "%s%s", root, w->name);
	/* O_SYNC: without a cache */
	w->fd = system_open(w->calls, path, O_RDWR | O_SYNC);
	if (w->fd < 0)
		return w->fd;
	err = system_map(w->calls, w->fd, w->name, 0, w->memory.size, &w->start);
	w->base = w->start;
	return err;
}

static bool is_number(const char *memory)
{
	return *memory >= '0' && *memory <= '9' && !memory[1];
}

static bool is_u_dma_buf(const char *memory)
{
	return *memory && !strchr(memory, '/') && strlen(memory) < 32;
}

static bool is_missing(const char *memory)
{
	return !memory;
}

/* is_missing() comes first: the other two read @memory, which must not be NULL */
static const struct {
	bool (*is)(const char *memory);
	int (*open)(struct ethosu_window *w, struct uio *uio, const char *root, const char *memory);
} kinds[] = {
	{ is_missing, open_default },
	{ is_number, open_numbered },
	{ is_u_dma_buf, open_u_dma_buf },
};

static int open_kind(struct ethosu_window *w, struct uio *uio, const char *root, const char *memory)
{
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (kinds[i].is(memory))
			return kinds[i].open(w, uio, root, memory);
	return tenon_error(-TENON_E_VALUE,
			   "%s: memory=%s: expected the number of a map, or the name of an "
			   "u-dma-buf, as in udmabuf0",
			   uio->path, memory);
}

static int check(const struct ethosu_window *w, unsigned int address_bits)
{
	const uint64_t end = UINT64_C(1) << address_bits;

	if (!w->address)
		return tenon_error(-TENON_E_FORMAT,
				   "%s: Linux reports no physical address, which the NPU needs",
				   w->name);
	if (w->address % ETHOSU_WINDOW_GRAIN)
		return tenon_error(-TENON_E_VALUE,
				   "%s: at 0x%" PRIx64 ", which is no multiple of %" PRIu64,
				   w->name, w->address, ETHOSU_WINDOW_GRAIN);
	if (w->address < end && w->memory.size <= end - w->address)
		return 0;
	return tenon_error(-TENON_E_VALUE,
			   "%s: %" PRIu64 " bytes at 0x%" PRIx64
			   ", and the device has addresses of %u bits",
			   w->name, w->memory.size, w->address, address_bits);
}

int ethosu_window_open(struct uio *uio, const char *root, const char *memory,
		       unsigned int address_bits, struct ethosu_window *out)
{
	int err;

	memset(out, 0, sizeof(*out));
	out->fd = -1;
	out->memory.grain = ETHOSU_WINDOW_GRAIN;
	err = open_kind(out, uio, root, memory);
	if (!err)
		err = check(out, address_bits);
	if (err)
		ethosu_window_close(out);
	return err;
}

void ethosu_window_close(struct ethosu_window *w)
{
	if (w->start)
		system_unmap(w->calls, &w->start, w->memory.size);
	if (w->calls)
		system_close(w->calls, &w->fd);
	w->base = NULL;
}

/* ---- pieces */

static void clear(volatile uint64_t *at, uint64_t words)
{
	while (words--)
		*at++ = 0;
}

struct first_fit_piece *ethosu_window_take(struct ethosu_window *w, uint64_t size)
{
	struct first_fit_piece *piece = first_fit_take(&w->memory, size, 0);

	if (!piece) {
		tenon_error(-TENON_E_NOMEM,
			    "%s: no room for %" PRIu64 " bytes; %" PRIu64
			    " are free in one piece of %" PRIu64,
			    w->name, size, first_fit_free(&w->memory).largest, w->memory.size);
		return NULL;
	}
	clear((volatile uint64_t *)(volatile void *)(w->base + piece->offset), piece->size / 8);
	return piece;
}

void ethosu_window_give(struct ethosu_window *w, struct first_fit_piece *piece)
{
	first_fit_give(&w->memory, piece);
}

/* ---- accesses */

void *ethosu_window_copy(void *to, const void *from, size_t size)
{
	volatile uint8_t *t = to;
	const volatile uint8_t *f = from;

	/* words as long as both sides are aligned to them; single bytes before, behind, and where they never are */
	for (; size && (((uintptr_t)t | (uintptr_t)f) & 7); size--)
		*t++ = *f++;
	for (; size >= 8; size -= 8, t += 8, f += 8)
		*(volatile uint64_t *)(volatile void *)t =
			*(const volatile uint64_t *)(const volatile void *)f;
	while (size--)
		*t++ = *f++;
	return to;
}
