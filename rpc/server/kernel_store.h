/* SPDX-License-Identifier: MIT */
/* Kernels that were compiled for cached files before a session asks for them. */
#ifndef RPC_SERVER_KERNEL_STORE_H
#define RPC_SERVER_KERNEL_STORE_H

/*
 * For a shared object in the cache of files (file_cache.h) the server has its kernels built, by a process in the sandbox of
 * a session that runs nothing of the object, and keeps what this leaves in the cache of compiled kernels (lib/disk_cache.h).
 * A session that names the file by its hash copies the kernels to its own cache, so no driver compiles there.
 *
 * The kernels of a file depend on its bytes alone. If source code in a file exploits a compiler, only sessions that load
 * this file get the changed kernels. No session writes what another session reads. This needs Landlock.
 */

#include <stdbool.h>

#include "rpc/server/file_cache.h"

#ifdef CONFIG_KERNEL_CACHE
/** kernel_store_make - create the folder of kernels in a cache; false on failure */
bool kernel_store_make(const struct file_cache *c);

/**
 * kernel_store_next - find the newest file in the cache whose kernels were not built
 * @c: the cache
 * @last: the file that was found before: find only those that follow it; "" to begin with the newest
 * @hash: receives the name; may be @last
 *
 * Return: false when there is none.
 */
bool kernel_store_next(const struct file_cache *c, const char *last, char hash[SHA256_TEXT]);

/**
 * kernel_store_build - build the kernels of a file in the cache of compiled kernels of this process
 * @cache: folder of the cache of files
 * @hash: name of the file
 *
 * Context: a process in the sandbox. No code of the file runs, but drivers compile its sources.
 */
void kernel_store_build(const char *cache, const char *hash);

/**
 * kernel_store_keep - keep what was built
 * @c: the cache; a quarter of its quota is for kernels
 * @hash: the file whose kernels were built
 * @folder: where, a session's folder
 *
 * A file without kernels, or without room for them, is kept as one without, and not built again.
 *
 * Context: as file_cache_keep().
 */
void kernel_store_keep(const struct file_cache *c, const char *hash, const char *folder);

/** kernel_store_has - test whether the kernels of a file were built; also true when it has none */
bool kernel_store_has(const char *cache, const char *hash);

/** kernel_store_number - the first digits of a hash, by which a session recognises its file */
uint64_t kernel_store_number(const char *hash);

/**
 * kernel_store_take - copy the kernels of a file, if there are any, to a session's cache of compiled kernels
 * @cache: folder of the cache of files
 * @hash: 64 hexadecimal digits
 * @folder: descriptor of the session's folder
 */
void kernel_store_take(const char *cache, const char *hash, int folder);
#else
static inline bool kernel_store_make(const struct file_cache *c)
{
	return false;
}

static inline bool kernel_store_next(const struct file_cache *c, const char *last,
				     char hash[SHA256_TEXT])
{
	return false;
}

static inline void kernel_store_build(const char *cache, const char *hash)
{
}

static inline void kernel_store_keep(const struct file_cache *c, const char *hash,
				     const char *folder)
{
}

static inline bool kernel_store_has(const char *cache, const char *hash)
{
	return false;
}

static inline uint64_t kernel_store_number(const char *hash)
{
	return 0;
}

static inline void kernel_store_take(const char *cache, const char *hash, int folder)
{
}
#endif

#endif /* RPC_SERVER_KERNEL_STORE_H */
