/* SPDX-License-Identifier: MIT */
/* Hash the input of an entry of the cache, also for those who only compare hashes. */
#include <string.h>

#include "lib/disk_cache.h"

/* use the header only, to avoid a dependency on the shared library */
#define XXH_INLINE_ALL
#define XXH_VECTOR 0
#include <xxhash.h>

void disk_cache_key(const struct tenon_slice *parts, size_t count, struct disk_cache_key *key)
{
	XXH128_canonical_t same_everywhere;
	XXH128_hash_t hash = { 0, 0 };
	size_t i;

	_Static_assert(sizeof(same_everywhere) == DISK_CACHE_KEY, "a key is a hash");
	for (i = 0; i < count; i++)
		hash = XXH3_128bits_withSeed(parts[i].data, parts[i].size,
					     hash.low64 ^ (hash.high64 << 32 | hash.high64 >> 32));
	XXH128_canonicalFromHash(&same_everywhere, hash);
	memcpy(key->bytes, same_everywhere.digest, DISK_CACHE_KEY);
}
