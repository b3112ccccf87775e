/* SPDX-License-Identifier: MIT */
#ifndef LIB_DISK_CACHE_TRIM_H
#define LIB_DISK_CACHE_TRIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* hexadecimal digits of an entry's name; a temporary one has a dot and six characters more */
#define DISK_CACHE_NAME 32

/**
 * disk_cache_limit - bytes that the entries of a folder may take together
 *
 * TENON_CACHE_SIZE in MiB, else 256 MiB.
 */
uint64_t disk_cache_limit(void);

/**
 * disk_cache_trim - remove what was not used for longest, until a quarter of the limit is free
 * @folder: descriptor of the folder with entries and what writers left behind; files with other
 *	names stay
 * @most: bytes; nothing is removed as long as they are not exceeded
 *
 * Failures are silent. Other processes may read, write and trim at the same time: an entry that
 * goes while it is read is read to its end, one that goes while it is written is made again.
 */
void disk_cache_trim(int folder, uint64_t most);

#endif /* LIB_DISK_CACHE_TRIM_H */
