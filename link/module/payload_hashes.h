/* SPDX-License-Identifier: MIT */
/* The record of payload hashes in a shared object. */
#ifndef LINK_MODULE_PAYLOAD_HASHES_H
#define LINK_MODULE_PAYLOAD_HASHES_H

/*
 * The symbol `__tenon_hashes`, which TVM ignores:
 *
 *	u64 size of what follows
 *	u32 version, 1
 *	u64 count, and for each module of the import tree the SHA-256 of its payload: 32 bytes, which
 *	    are 0 for the shared object itself
 *
 * All numbers are little-endian. A hash finds damage, and tells payloads apart; against forgery a file
 * needs a signature.
 */

#include <tenon/buffer.h>

#include "lib/sha256.h"

#define PAYLOAD_HASHES_SYMBOL "__tenon_hashes"

/**
 * struct payload_hashes - the hashes of a file
 * @at: @count hashes of SHA256_SIZE bytes; borrowed
 * @count: number of modules; 0 in the host code that tenon unpack writes
 */
struct payload_hashes {
	const uint8_t *at;
	uint64_t count;
};

/**
 * payload_hashes_begin - write hashes that are 0
 * @count: number of modules
 * @out: an empty buffer
 *
 * Return: 0; -TENON_E_NOMEM, which @out keeps.
 */
int payload_hashes_begin(size_t count, struct tenon_buffer *out);

/**
 * payload_hashes_set - write the hash of a module
 * @hashes: what payload_hashes_begin() has written; nothing happens if that failed
 * @module: its number
 * @payload: its payload
 */
void payload_hashes_set(struct tenon_buffer *hashes, size_t module, struct tenon_slice payload);

/**
 * payload_hashes_read - read the hashes of a file
 * @bytes: from the symbol to the end of the symbol or segment; must outlive @out
 * @file: for messages
 * @out: receives them
 *
 * Return: 0; -TENON_E_TRUNCATED; -TENON_E_FORMAT; -TENON_E_UNSUPPORTED for another version.
 */
int payload_hashes_read(struct tenon_slice bytes, const char *file, struct payload_hashes *out);

/**
 * payload_hashes_match - compare the hash of a module with that of its payload
 * @module: below @h->count
 * @found: receives the hash of the payload, in hexadecimal digits
 * @wanted: receives that of the file
 */
bool payload_hashes_match(const struct payload_hashes *h, size_t module, struct tenon_slice payload,
			  char found[SHA256_TEXT], char wanted[SHA256_TEXT]);

#endif /* LINK_MODULE_PAYLOAD_HASHES_H */
