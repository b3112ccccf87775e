/* SPDX-License-Identifier: MIT */
/* Keep compiled kernels on disk from one process to the next. */
#ifndef LIB_DISK_CACHE_H
#define LIB_DISK_CACHE_H

/*
 * One file per entry below $TENON_CACHE_DIR, else $XDG_CACHE_HOME/tenon, else $HOME/.cache/tenon
 * (an empty TENON_CACHE_DIR switches the cache off). Entries are written to a temporary name and
 * renamed, and contain their key and a checksum: a torn, foreign or damaged file is ignored and
 * removed. So is a link, and a file that another user owns or can write, because compiled kernels
 * run without further checks. A folder of another user is not used; on a folder of this user that
 * others can write, their permission is removed. The folders above need no check: a replaced folder
 * has the wrong owner. The entries of a kind take at most TENON_CACHE_SIZE MiB (256); the least
 * recently used are removed. A cache that cannot be read or written is not an error.
 */

#include <tenon/buffer.h>
#include <tenon/value.h>

#include "lib/plugin_api.h"

#define DISK_CACHE_KEY 16

/** struct disk_cache_key - hash of the input of an entry */
struct disk_cache_key {
	uint8_t bytes[DISK_CACHE_KEY];
};

#ifdef CONFIG_KERNEL_CACHE
/**
 * disk_cache_key - hash the input of an entry (XXH3, 128 bits; each part seeds the next)
 * @parts: program bytes, device name, driver version, build options, …; the order matters
 * @count: number of parts
 * @key: receives the key
 */
void disk_cache_key(const struct tenon_slice *parts, size_t count, struct disk_cache_key *key)
	TO_PLUGINS(disk_cache_key);

/**
 * disk_cache_get - read an entry
 * @kind: "opencl", "vulkan", "cuda": a folder
 * @key: key
 * @out: the bytes are appended
 *
 * Return: true if a valid entry was read; else false, without raising an error.
 */
bool disk_cache_get(const char *kind, const struct disk_cache_key *key, struct tenon_buffer *out)
	TO_PLUGINS(disk_cache_get);

/** disk_cache_put - write an entry; failures are silent, a full disk must not stop a launch */
void disk_cache_put(const char *kind, const struct disk_cache_key *key, struct tenon_slice bytes)
	TO_PLUGINS(disk_cache_put);
#else
static inline void disk_cache_key(const struct tenon_slice *parts, size_t count,
				  struct disk_cache_key *key)
{
}

static inline bool disk_cache_get(const char *kind, const struct disk_cache_key *key,
				  struct tenon_buffer *out)
{
	return false;
}

static inline void disk_cache_put(const char *kind, const struct disk_cache_key *key,
				  struct tenon_slice bytes)
{
}
#endif

#endif /* LIB_DISK_CACHE_H */
