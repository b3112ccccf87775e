/* SPDX-License-Identifier: MIT */
/* Memory with a known physical address, for devices without an IOMMU. */
#ifndef DEVICES_ETHOSU_ETHOSU_WINDOW_H
#define DEVICES_ETHOSU_ETHOSU_WINDOW_H

/*
 * One range with an address that the device knows. It is a map of the device's UIO node, or memory of the module
 * u-dma-buf (/dev/udmabuf0), whose address is in sysfs; a dma-buf of Linux's heaps or of /dev/udmabuf has none that
 * a program could learn. Networks take pieces of it.
 *
 * The memory is mapped without a cache. On ARM such a mapping allows aligned accesses alone, so copy with
 * ethosu_window_copy(), which makes no other, and not with memcpy(), which may.
 *
 * One thread at a time.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "driver/uio/uio.h"
#include "driver/shm/first_fit.h"

/* pieces begin at, and are, a multiple of this; streams need 16 */
#define ETHOSU_WINDOW_GRAIN UINT64_C(64)

/**
 * struct ethosu_window - the memory
 * @calls: system calls
 * @name: of its node or map, for messages
 * @base: first byte for the CPU
 * @address: first byte for the device
 * @memory: which of its bytes are in use
 * @fd: a node of its own, or -1
 * @start: a mapping of its own, or NULL
 */
struct ethosu_window {
	const struct system_calls *calls;
	char name[80];
	uint8_t *base;
	uint64_t address;
	struct first_fit memory;
	int fd;
	void *start;
};

/**
 * ethosu_window_open - find the memory and map it
 * @uio: the device
 * @root: prefix of /dev and /sys; "" except in tests
 * @memory: number of a map ("1"), or the name of an u-dma-buf ("udmabuf0"); NULL: the map whose name is "memory", else
 *	map 1
 * @address_bits: of the device
 * @out: the memory; closed on failure
 *
 * Return: 0; -TENON_E_VALUE for a map that does not exist, and memory that the device's addresses do not reach;
 *	-TENON_E_FORMAT for a map without an address; -TENON_E_NOT_FOUND for another device; else as system_map().
 */
int ethosu_window_open(struct uio *uio, const char *root, const char *memory,
		       unsigned int address_bits, struct ethosu_window *out);

/** ethosu_window_close - unmap it; closing twice does nothing. No piece is in use */
void ethosu_window_close(struct ethosu_window *w);

/**
 * ethosu_window_take - use a piece
 * @w: window
 * @size: bytes, not 0
 *
 * Return: the piece, cleared; NULL with an error that says what is free.
 */
struct first_fit_piece *ethosu_window_take(struct ethosu_window *w, uint64_t size);

/** ethosu_window_give - a piece is free again; NULL does nothing */
void ethosu_window_give(struct ethosu_window *w, struct first_fit_piece *piece);

/** ethosu_window_copy - memcpy() by aligned accesses alone, for memory without a cache */
void *ethosu_window_copy(void *to, const void *from, size_t size);

#endif /* DEVICES_ETHOSU_ETHOSU_WINDOW_H */
