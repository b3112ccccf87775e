/* SPDX-License-Identifier: MIT */
/* Files of earlier sessions, which clients need not send again. */
#ifndef RPC_SERVER_FILE_CACHE_H
#define RPC_SERVER_FILE_CACHE_H

/*
 * A client with the extension asks for a file by its SHA-256 before it sends the file. What it had to send is
 * copied to the server's cache when its session has ended, under the hash that the server computed, so the next
 * session need not receive it again.
 *
 * No name in the cache comes from a client. The file there is a copy: a descriptor that uploaded code passed to
 * another process does not reach it. Sessions may open a file of the cache but neither list the cache (Landlock) nor
 * watch it (seccomp), so a client gets a file only if it knows its hash; and each copy for a session is hashed again, because without
 * Landlock uploaded code could write the cache.
 */

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "lib/sha256.h"

/**
 * struct file_cache - a cache
 * @path: its folder
 * @temporary: name of a file that is being copied; outside of @path, which sessions may read
 * @most: quota in bytes; 0 for no cache
 */
struct file_cache {
	char path[PATH_MAX];
	char temporary[PATH_MAX];
	uint64_t most;
};

/** file_cache_init - choose where the cache is in a server's folder, and its quota */
void file_cache_init(struct file_cache *c, const char *folder, uint64_t most);

/** file_cache_make - create the folder unless it exists; false on failure */
bool file_cache_make(const struct file_cache *c);

/**
 * file_cache_keep - copy the files of a session that has ended
 * @c: the cache; old files are removed to keep its quota
 * @folder: the session's folder; uploaded code made what is in it
 *
 * Files that their owner may not write came from the cache, and are skipped.
 *
 * Context: one process at a time.
 */
void file_cache_keep(const struct file_cache *c, const char *folder);

/**
 * file_cache_open - open a file of the cache
 * @path: folder of the cache
 * @hash: 64 hexadecimal digits; other text is in no cache
 * @size: bytes that the file must have
 *
 * Return: a descriptor; -1 when the cache has no such file.
 */
int file_cache_open(const char *path, const char *hash, uint64_t size);

/**
 * file_cache_copy - copy a file and hash it
 * @from: descriptor to read
 * @to: descriptor to write
 * @most: fail when there are more bytes
 * @text: receives the hash
 *
 * Return: 0; -1 with errno set.
 */
int file_cache_copy(int from, int to, uint64_t most, char text[SHA256_TEXT]);

/** file_cache_is_name - test whether text is the name of a file in a cache: a SHA-256 in hexadecimal digits */
bool file_cache_is_name(const char *text);

/** file_cache_is_before - compare times of files */
bool file_cache_is_before(const struct timespec *a, const struct timespec *b);

#endif /* RPC_SERVER_FILE_CACHE_H */
