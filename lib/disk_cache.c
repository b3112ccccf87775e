/* SPDX-License-Identifier: MIT */
#include "lib/disk_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/disk_cache_trim.h"

/* the header alone, and small: the library would be one more to load */
#define XXH_INLINE_ALL
#define XXH_VECTOR 0
#include <xxhash.h>

/* head of an entry: what it is, its key, size and hash of the bytes behind */
#define MAGIC	  "TENONKC2"
#define HEAD_SIZE (8 + DISK_CACHE_KEY + 8 + DISK_CACHE_KEY)

/* a compiled kernel is not larger; a file that says so is not ours */
#define SIZE_MOST (UINT64_C(1) << 30)

static void hash_add(XXH128_hash_t *hash, const void *data, size_t size)
{
	*hash = XXH3_128bits_withSeed(data, size,
				      hash->low64 ^ (hash->high64 << 32 | hash->high64 >> 32));
}

static void hash_end(XXH128_hash_t hash, uint8_t out[DISK_CACHE_KEY])
{
	XXH128_canonical_t same_everywhere;

	_Static_assert(sizeof(same_everywhere) == DISK_CACHE_KEY, "a key is a hash");
	_Static_assert(DISK_CACHE_NAME == 2 * DISK_CACHE_KEY, "a name is a key");
	XXH128_canonicalFromHash(&same_everywhere, hash);
	memcpy(out, same_everywhere.digest, DISK_CACHE_KEY);
}

void disk_cache_key(const struct tenon_slice *parts, size_t count, struct disk_cache_key *key)
{
	XXH128_hash_t hash = { 0, 0 };
	size_t i;

	for (i = 0; i < count; i++)
		hash_add(&hash, parts[i].data, parts[i].size);
	hash_end(hash, key->bytes);
}

/* Write the folder of a kind; false when the cache is off or has no place. */
static bool folder(const char *kind, char *path, size_t room)
{
	const char *base = secure_getenv("TENON_CACHE_DIR"), *home;
	int n;

	if (base) {
		n = *base ? snprintf(path, room, "%s/%s", base, kind) : -1;
	} else {
		base = secure_getenv("XDG_CACHE_HOME");
		home = secure_getenv("HOME");
		if (base && *base == '/')
			n = snprintf(path, room, "%s/tenon/%s", base, kind);
		else if (home && *home == '/')
			n = snprintf(path, room, "%s/.cache/tenon/%s", home, kind);
		else
			n = -1;
	}
	return n > 0 && (size_t)n < room;
}

static bool entry_path(const char *kind, const struct disk_cache_key *key, char *path, size_t room)
{
	size_t n, i;

	if (!folder(kind, path, room))
		return false;
	n = strlen(path);
	if (n + 2 + 2 * DISK_CACHE_KEY > room)
		return false;
	path[n++] = '/';
	for (i = 0; i < DISK_CACHE_KEY; i++)
		n += (size_t)sprintf(path + n, "%02x", key->bytes[i]);
	return true;
}

static bool read_all(int fd, void *data, size_t size)
{
	char *at = data;
	ssize_t n;

	for (; size; at += n, size -= (size_t)n) {
		n = read(fd, at, size);
		if (n < 0 && errno == EINTR)
			n = 0;
		else if (n <= 0)
			return false;
	}
	return true;
}

static bool write_all(int fd, const void *data, size_t size)
{
	const char *at = data;
	ssize_t n;

	for (; size; at += n, size -= (size_t)n) {
		n = write(fd, at, size);
		if (n < 0 && errno == EINTR)
			n = 0;
		else if (n < 0)
			return false;
	}
	return true;
}

static void make_head(const struct disk_cache_key *key, const void *data, uint64_t size,
		      uint8_t head[HEAD_SIZE])
{
	XXH128_hash_t hash = { 0, 0 };
	size_t i;

	memcpy(head, MAGIC, 8);
	memcpy(head + 8, key->bytes, DISK_CACHE_KEY);
	for (i = 0; i < 8; i++)
		head[8 + DISK_CACHE_KEY + i] = (uint8_t)(size >> 8 * i);
	hash_add(&hash, data, (size_t)size);
	hash_end(hash, head + 16 + DISK_CACHE_KEY);
}

/* Read and check an entry; false for one that is damaged or not ours. */
static bool read_entry(int fd, const struct disk_cache_key *key, struct tenon_buffer *out)
{
	uint8_t head[HEAD_SIZE], want[HEAD_SIZE];
	struct stat st;
	uint64_t size;
	void *data;
	bool good;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size < HEAD_SIZE ||
	    (uint64_t)st.st_size > SIZE_MOST || !read_all(fd, head, sizeof(head)))
		return false;
	size = (uint64_t)st.st_size - HEAD_SIZE;
	data = malloc((size_t)size + 1);
	if (!data)
		return false;
	good = read_all(fd, data, (size_t)size);
	if (good) {
		make_head(key, data, size, want);
		good = !memcmp(head, want, HEAD_SIZE) &&
		       !tenon_buffer_append(out, data, (size_t)size);
	}
	free(data);
	return good;
}

bool disk_cache_get(const char *kind, const struct disk_cache_key *key, struct tenon_buffer *out)
{
	char path[PATH_MAX];
	bool good;
	int fd;

	if (!entry_path(kind, key, path, sizeof(path)))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	good = read_entry(fd, key, out);
	/* what is used stays when room is made; a folder that is read only stays as it is */
	if (good)
		futimens(fd, NULL);
	close(fd);
	if (!good)
		unlink(path);
	return good;
}

/* mkdir -p, for the user alone */
static void make_folders(char *path)
{
	char *at;

	for (at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
		*at = 0;
		mkdir(path, 0700);
		*at = '/';
	}
	mkdir(path, 0700);
}

void disk_cache_put(const char *kind, const struct disk_cache_key *key, struct tenon_slice bytes)
{
	char path[PATH_MAX], temporary[PATH_MAX + 8];
	const uint64_t most = disk_cache_limit();
	uint8_t head[HEAD_SIZE];
	bool good;
	int fd;

	if (bytes.size > SIZE_MOST - HEAD_SIZE || bytes.size + HEAD_SIZE > most ||
	    !folder(kind, path, sizeof(path)))
		return;
	make_folders(path);
	if (!entry_path(kind, key, path, sizeof(path)))
		return;
	snprintf(temporary, sizeof(temporary), "%s.XXXXXX", path);
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return;
	make_head(key, bytes.data, bytes.size, head);
	good = write_all(fd, head, sizeof(head)) && write_all(fd, bytes.data, bytes.size);
	/* no sync: what a crash tears has no valid hash, and is made anew */
	if (close(fd) || !good || rename(temporary, path))
		unlink(temporary);
	else if (folder(kind, path, sizeof(path)))
		disk_cache_trim(path, most);
}
