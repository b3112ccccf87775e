/* SPDX-License-Identifier: MIT */
/*
 * What a fuzz target is, and the hooks that it may override.
 *
 * A fuzz target is a file NAME_fuzz.c with one function, LLVMFuzzerTestOneInput(), and the hooks below that it
 * overrides. Three drivers call it:
 *
 * - "make check" (replay.c): with seeds and the corpus, edited in every byte, cut at every byte, and with a short
 *   campaign.
 * - "make fuzz" (campaign.c): with a given number of mutants of all fixtures, the same for the same seed.
 * - tests/fuzz/libfuzzer.sh: with clang's libFuzzer, which is led by coverage.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tenon/tenon.h>

#include "tests/fuzz/mutant.h"

/* Read the bytes as what the target is for. Returns 0; damage is no failure, a crash is one. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- hooks that a target may define; the defaults are in hooks.c */

/* Make one change to an input. Without one: mutate_bytes(). */
void fuzz_mutate(struct mutant *m);

/* Visit the valid inputs that fixtures hold, for a campaign. Without one: none but those of seeds.c. */
void fuzz_fixtures(void (*visit)(void *context, struct tenon_slice bytes), void *context);

/* Memory that an input may cost: for each byte of it, and beside that. */
extern const size_t fuzz_memory_per_byte, fuzz_memory_at_all;

/* Visit valid inputs of the target's own, beside those of seeds.c. */
void fuzz_seeds(void (*visit)(void *context, const char *name, struct tenon_slice bytes),
		void *context);

/*
 * An input may ask for any amount of memory, and is to fail cleanly when it is not given. Without it a
 * request for much is a fault: inspecting a file must not need more than the file has.
 */
extern const bool fuzz_may_ask_for_memory;

/* Trying each edit of each byte would take too long; the campaign alone edits. */
extern const bool fuzz_is_slow;

/* The kinds of payloads that the payload target tries; ends with NULL. */
extern const char *const fuzz_kinds[];

/* ---- what targets share */

/* Look at everything a tree has, call its functions, save it, write it, and drop it. */
void fuzz_use_module(struct tenon_module *m);

/* What came back: running out of memory means that a file's numbers were believed. */
void fuzz_check(int err);

/* Read bytes as parameters of any format, and make a tensor of each; returns 0. */
int fuzz_params(struct tenon_slice bytes);

/* An object that keeps a target's bytes: they live longer than all that is made of them. */
struct tenon_object *fuzz_keep(void);

#endif /* TESTS_FUZZ_FUZZ_H */
