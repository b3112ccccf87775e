/* SPDX-License-Identifier: MIT */
/* The size limit of the disk cache. */
#ifndef LIB_DISK_CACHE_TRIM_H
#define LIB_DISK_CACHE_TRIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* hexadecimal digits of an entry's name; temporary names add a dot and six characters */
#define DISK_CACHE_NAME 32

/**
 * disk_cache_limit - limit of the total size of the entries in a folder
 *
 * TENON_CACHE_SIZE in MiB, else 256 MiB.
 */
uint64_t disk_cache_limit(void);

/**
 * disk_cache_trim - remove the least recently used entries, until a quarter of the limit is free
 * @folder: descriptor of the folder; only entries and temporary files of entries are removed
 * @most: limit in bytes; nothing is removed below it
 *
 * Failures are silent. Other processes may read, write and trim at the same time: a reader that has
 * an entry open reads it completely, and an entry that is removed while it is written is written
 * again later.
 */
void disk_cache_trim(int folder, uint64_t most);

#endif /* LIB_DISK_CACHE_TRIM_H */
