/* SPDX-License-Identifier: MIT */
#ifndef TENON_UAPI_MORTISE_ORDER_H
#define TENON_UAPI_MORTISE_ORDER_H

/**
 * DOC: words that two sides share
 *
 * The orders that the protocol of <tenon/uapi/mortise.h> needs, for host and firmware alike, as operations
 * of the compiler (gcc and clang have them on all machines, without a library). A test that explores the
 * protocol replaces them: it defines MORTISE_ORDER_REPLACED and the same names.
 */

#include <stdint.h>

#ifndef MORTISE_ORDER_REPLACED

/** mortise_load - read a word; what the writer wrote before it released the word is seen behind it */
static inline uint32_t mortise_load(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/** mortise_peek - read a word that orders nothing */
static inline uint32_t mortise_peek(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

/** mortise_release - write a word behind all writes before it */
static inline void mortise_release(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/** mortise_put - write a word that orders nothing */
static inline void mortise_put(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELAXED);
}

/** mortise_fence - order all before it, stores too, in front of all behind it */
static inline void mortise_fence(void)
{
	__sync_synchronize();
}

#endif /* MORTISE_ORDER_REPLACED */

#endif /* TENON_UAPI_MORTISE_ORDER_H */
