/* SPDX-License-Identifier: MIT */
/*
 * The window in which the firmware runs when its packets are fuzzed, at a fixed address, so that inputs can name
 * memory in it.
 *
 * An input is a byte of enum mortise_input flags, a struct mortise_setup where they say so, and the ring.
 */
#ifndef TESTS_FUZZ_MORTISE_WINDOW_H
#define TESTS_FUZZ_MORTISE_WINDOW_H

#include <tenon/uapi/mortise.h>

#define FUZZ_WINDOW	 0x10000000U
#define FUZZ_WINDOW_SIZE 0x1c000U
#define FUZZ_RING	 (FUZZ_WINDOW + MORTISE_SHARED_OFFSET)
#define FUZZ_HEAP	 (FUZZ_WINDOW + 0x16000U) /* read and write */
#define FUZZ_HEAP_SIZE	 0x4000U
#define FUZZ_CONSTANTS	 (FUZZ_WINDOW + 0x1a000U) /* read */
#define FUZZ_CODE	 (FUZZ_WINDOW + 0x1b000U) /* execute: three bytes, which return 0 */

enum mortise_input {
	FUZZ_SETUP = 1,	    /* the setup comes from the input */
	FUZZ_POSITIONS = 2, /* positions in headers are made right */
};

#endif /* TESTS_FUZZ_MORTISE_WINDOW_H */
