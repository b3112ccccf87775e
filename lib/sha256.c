/* SPDX-License-Identifier: MIT */
/* SHA-256 in C, or by the processor's instructions where it has them. */
#include "lib/sha256.h"

#include <stdbool.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#include <immintrin.h>

#define HAS_SHA_INSTRUCTIONS 1
#define SHA_INSTRUCTIONS     __attribute__((target("sha,sse4.1,ssse3")))

/* asking the processor takes as long as hashing some blocks, in a virtual machine many */
#define BLOCKS_LEAST 256
#elif defined(__aarch64__) && !defined(__AARCH64EB__) &&                                           \
	(!defined(__clang__) || defined(__ARM_FEATURE_SHA2))
/* clang up to 15 declares the instructions only where the whole file may use them */
#include <arm_neon.h>
#include <sys/auxv.h>

#define HAS_SHA_INSTRUCTIONS 1
#ifdef __clang__
#define SHA_INSTRUCTIONS
#else
#define SHA_INSTRUCTIONS __attribute__((target("+crypto")))
#endif
#define BLOCKS_LEAST 8
#endif

static const uint32_t constants[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static uint32_t rotate(uint32_t x, int n)
{
	return x >> n | x << (32 - n);
}

static void add_block_in_c(struct sha256 *h, const uint8_t *b)
{
	uint32_t w[64], s[8], t1, t2;
	int i;

	for (i = 0; i < 16; i++)
		w[i] = (uint32_t)b[4 * i] << 24 | (uint32_t)b[4 * i + 1] << 16 |
		       (uint32_t)b[4 * i + 2] << 8 | b[4 * i + 3];
	for (; i < 64; i++)
		w[i] = w[i - 16] + w[i - 7] +
		       (rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3) +
		       (rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10);
	memcpy(s, h->state, sizeof(s));
	for (i = 0; i < 64; i++) {
		t1 = s[7] + (rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25)) +
		     ((s[4] & s[5]) ^ (~s[4] & s[6])) + constants[i] + w[i];
		t2 = (rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22)) +
		     ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
		memmove(s + 1, s, 7 * sizeof(*s));
		s[4] += t1;
		s[0] = t1 + t2;
	}
	for (i = 0; i < 8; i++)
		h->state[i] += s[i];
}

#ifdef __x86_64__
/* Four rounds with the words in @w; the constants are @k to @k + 3. */
static inline SHA_INSTRUCTIONS void four_rounds(__m128i *abef, __m128i *cdgh, __m128i w, int k)
{
	__m128i sum = _mm_add_epi32(w, _mm_loadu_si128((const void *)(constants + k)));

	*cdgh = _mm_sha256rnds2_epu32(*cdgh, *abef, sum);
	*abef = _mm_sha256rnds2_epu32(*abef, *cdgh, _mm_shuffle_epi32(sum, 0x0e));
}

/* The state is kept as the instructions want it: a, b, e, f in one register, c, d, g, h in another. */
static SHA_INSTRUCTIONS void add_blocks_by_instructions(struct sha256 *h, const uint8_t *b,
							size_t count)
{
	const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
	__m128i low = _mm_shuffle_epi32(_mm_loadu_si128((const void *)h->state), 0xb1);
	__m128i high = _mm_shuffle_epi32(_mm_loadu_si128((const void *)(h->state + 4)), 0x1b);
	__m128i abef = _mm_alignr_epi8(low, high, 8), cdgh = _mm_blend_epi16(high, low, 0xf0);
	__m128i w[4], before[2], next;
	int i;

	for (; count; count--, b += 64) {
		before[0] = abef;
		before[1] = cdgh;
		for (i = 0; i < 4; i++) {
			w[i] = _mm_loadu_si128((const void *)(b + 16 * i));
			w[i] = _mm_shuffle_epi8(w[i], swap);
			four_rounds(&abef, &cdgh, w[i], 4 * i);
		}
		for (i = 16; i < 64; i += 4) {
			next = _mm_sha256msg1_epu32(w[0], w[1]);
			next = _mm_add_epi32(next, _mm_alignr_epi8(w[3], w[2], 4));
			next = _mm_sha256msg2_epu32(next, w[3]);
			w[0] = w[1];
			w[1] = w[2];
			w[2] = w[3];
			w[3] = next;
			four_rounds(&abef, &cdgh, next, i);
		}
		abef = _mm_add_epi32(abef, before[0]);
		cdgh = _mm_add_epi32(cdgh, before[1]);
	}
	low = _mm_shuffle_epi32(abef, 0x1b);
	high = _mm_shuffle_epi32(cdgh, 0xb1);
	_mm_storeu_si128((void *)h->state, _mm_blend_epi16(low, high, 0xf0));
	_mm_storeu_si128((void *)(h->state + 4), _mm_alignr_epi8(high, low, 8));
}

static bool has_instructions(void)
{
	unsigned int a, b, c, d;

	/* SSSE3 and SSE4.1, then SHA */
	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_SSSE3) || !(c & bit_SSE4_1))
		return false;
	return __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & bit_SHA;
}
#elif defined(HAS_SHA_INSTRUCTIONS)
static SHA_INSTRUCTIONS void add_blocks_by_instructions(struct sha256 *h, const uint8_t *b,
							size_t count)
{
	uint32x4_t abcd = vld1q_u32(h->state), efgh = vld1q_u32(h->state + 4);
	uint32x4_t w[4], before[2], sum, old;
	int i;

	for (; count; count--, b += 64) {
		before[0] = abcd;
		before[1] = efgh;
		for (i = 0; i < 4; i++)
			w[i] = vreinterpretq_u32_u8(vrev32q_u8(vld1q_u8(b + 16 * i)));
		for (i = 0; i < 64; i += 4) {
			sum = vaddq_u32(w[0], vld1q_u32(constants + i));
			old = abcd;
			abcd = vsha256hq_u32(abcd, efgh, sum);
			efgh = vsha256h2q_u32(efgh, old, sum);
			/* the four words that follow; those of the last 16 rounds are not used */
			sum = vsha256su1q_u32(vsha256su0q_u32(w[0], w[1]), w[2], w[3]);
			w[0] = w[1];
			w[1] = w[2];
			w[2] = w[3];
			w[3] = sum;
		}
		abcd = vaddq_u32(abcd, before[0]);
		efgh = vaddq_u32(efgh, before[1]);
	}
	vst1q_u32(h->state, abcd);
	vst1q_u32(h->state + 4, efgh);
}

static bool has_instructions(void)
{
	return getauxval(AT_HWCAP) & HWCAP_SHA2;
}
#endif

static void add_blocks(struct sha256 *h, const uint8_t *b, size_t count)
{
#ifdef HAS_SHA_INSTRUCTIONS
	if (count >= BLOCKS_LEAST && has_instructions()) {
		add_blocks_by_instructions(h, b, count);
		return;
	}
#endif
	for (; count; count--, b += 64)
		add_block_in_c(h, b);
}

void sha256_init(struct sha256 *h)
{
	static const uint32_t start[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
					   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };

	memcpy(h->state, start, sizeof(start));
	h->size = 0;
}

void sha256_add(struct sha256 *h, const void *data, size_t size)
{
	const uint8_t *at = data;
	size_t filled = (size_t)(h->size % 64), n;

	h->size += size;
	while (size) {
		if (!filled && size >= 64) {
			n = size / 64;
			add_blocks(h, at, n);
			at += 64 * n;
			size -= 64 * n;
			continue;
		}
		n = 64 - filled < size ? 64 - filled : size;
		memcpy(h->block + filled, at, n);
		at += n;
		size -= n;
		filled = (filled + n) % 64;
		if (!filled)
			add_blocks(h, h->block, 1);
	}
}

void sha256_end(struct sha256 *h, uint8_t out[SHA256_SIZE])
{
	uint64_t bits = h->size * 8;
	uint8_t end[8];
	int i;

	for (i = 0; i < 8; i++)
		end[i] = (uint8_t)(bits >> (56 - 8 * i));
	sha256_add(h, "\x80", 1);
	while (h->size % 64 != 56)
		sha256_add(h, "", 1);
	sha256_add(h, end, sizeof(end));
	for (i = 0; i < SHA256_SIZE; i++)
		out[i] = (uint8_t)(h->state[i / 4] >> (24 - i % 4 * 8));
}

void sha256_digits(const uint8_t hash[SHA256_SIZE], char text[SHA256_TEXT])
{
	static const char digits[] = "0123456789abcdef";
	int i;

	for (i = 0; i < SHA256_SIZE; i++) {
		text[2 * i] = digits[hash[i] >> 4];
		text[2 * i + 1] = digits[hash[i] & 15];
	}
	text[2 * SHA256_SIZE] = '\0';
}

void sha256_text(struct sha256 *h, char text[SHA256_TEXT])
{
	uint8_t hash[SHA256_SIZE];

	sha256_end(h, hash);
	sha256_digits(hash, text);
}
