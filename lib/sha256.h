/* SPDX-License-Identifier: MIT */
/* SHA-256 of FIPS 180-4, by which files are recognised. */
#ifndef LIB_SHA256_H
#define LIB_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_SIZE 32
#define SHA256_TEXT 65

/** struct sha256 - a hash under way */
struct sha256 {
	uint32_t state[8];
	uint64_t size;
	uint8_t block[64];
};

void sha256_init(struct sha256 *h);
void sha256_add(struct sha256 *h, const void *data, size_t size);

/** sha256_end - end the hash, and give its bytes */
void sha256_end(struct sha256 *h, uint8_t out[SHA256_SIZE]);

/** sha256_digits - write a hash in hexadecimal digits */
void sha256_digits(const uint8_t hash[SHA256_SIZE], char text[SHA256_TEXT]);

/** sha256_text - end the hash, and write it in hexadecimal digits */
void sha256_text(struct sha256 *h, char text[SHA256_TEXT]);

/** sha256_bytes - the hash of bytes */
static inline void sha256_bytes(const void *data, size_t size, uint8_t out[SHA256_SIZE])
{
	struct sha256 h;

	sha256_init(&h);
	sha256_add(&h, data, size);
	sha256_end(&h, out);
}

/** sha256_of - the hash of bytes in hexadecimal digits */
static inline void sha256_of(const void *data, size_t size, char text[SHA256_TEXT])
{
	struct sha256 h;

	sha256_init(&h);
	sha256_add(&h, data, size);
	sha256_text(&h, text);
}

#endif /* LIB_SHA256_H */
