/* SPDX-License-Identifier: MIT */
/*
 * Make Relax programs of arbitrary bytes, so that a fuzzer gets as far as the builtins.
 *
 * Each byte is a decision: which builtin is called, and with what. Operands fit the builtin's parameters most of the
 * time, so that runs get far; now and then they are anything else.
 */
#ifndef TESTS_FUZZ_RELAX_PROGRAM_H
#define TESTS_FUZZ_RELAX_PROGRAM_H

#include <stddef.h>
#include <stdint.h>
#include <tenon/buffer.h>

/* Name of a function that programs call as compiled code; the target registers it. */
#define RELAX_PROGRAM_STAND_IN "fuzz.stand_in"
/* Name of a function that returns a small key-value cache. */
#define RELAX_PROGRAM_STATE "fuzz.state"
/* Name of a function that returns a small recurrent state. */
#define RELAX_PROGRAM_RNN "fuzz.rnn"

/* Write the executable that @size decisions make; the caller drops @out. */
void relax_program(const uint8_t *decisions, size_t size, struct tenon_buffer *out);

#endif /* TESTS_FUZZ_RELAX_PROGRAM_H */
