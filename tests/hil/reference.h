/* SPDX-License-Identifier: MIT */
/*
 * What each packet does to memory, written a second time as plainly as possible, to compare a board with.
 *
 * Packets have to be valid. Ranges of gemm and vector may be the same, but do not overlap otherwise.
 */
#ifndef TESTS_HIL_REFERENCE_H
#define TESTS_HIL_REFERENCE_H

#include <stddef.h>
#include <stdint.h>
#include <tenon/uapi/mortise.h>

#include "tests/fuzz/random.h"

/* room for any packet that random_packet() makes */
union any_packet {
	struct mortise_header header;
	struct mortise_copy copy;
	struct mortise_fill fill;
	struct mortise_semaphore signal;
	struct mortise_vector vector;
	struct mortise_gemm gemm;
};

/* Make a valid packet over @room bytes of memory at the device's address @base; its size. */
size_t random_packet(struct random *random, union any_packet *packet, uint64_t base, uint32_t room);

/* Do what it says to @memory, which the device has at @base. */
void reference_run(const union any_packet *packet, uint8_t *memory, uint64_t base);

#endif /* TESTS_HIL_REFERENCE_H */
