/* SPDX-License-Identifier: MIT */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

/*
 * A fuzz target is a file NAME_fuzz.c with one function, which libFuzzer calls by its name and
 * replay.c calls with what seeds.c makes, edited in every byte and cut at every byte. "make check"
 * does the latter; tests/fuzz/libfuzzer.sh builds and runs the former, where there is clang.
 */

#include <stddef.h>
#include <stdint.h>
#include <tenon/tenon.h>

/* Read the bytes as what the target is for. Returns 0; damage is no failure, a crash is one. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Look at everything a tree has, call its functions, save it, write it, and drop it. */
void fuzz_use_module(struct tenon_module *m);

/* What came back: running out of memory means that a file's numbers were believed. */
void fuzz_check(int err);

/* An object that keeps a target's bytes: they live longer than all that is made of them. */
struct tenon_object *fuzz_keep(void);

/* The kinds of payloads that the payload target tries; ends with NULL. */
extern const char *const fuzz_kinds[];

#endif /* TESTS_FUZZ_FUZZ_H */
