/* SPDX-License-Identifier: MIT */
/*
 * Damage a valid input one field at a time, so that the reader gets past its first check.
 *
 * A mutant is a valid input that is being damaged. Mutators know a format and change one field of it; most of the file
 * still makes sense. What a mutator does depends on the mutant and its random numbers alone.
 */
#ifndef TESTS_FUZZ_MUTANT_H
#define TESTS_FUZZ_MUTANT_H

#include <tenon/string.h>

#include "tests/fuzz/random.h"

/**
 * struct mutant - an input that is being changed
 * @data: its bytes
 * @size: how many
 * @room: how many there may be
 * @donor: another valid input, to take parts from; may be empty
 * @random: decides what is changed
 */
struct mutant {
	uint8_t *data;
	size_t size;
	size_t room;
	struct tenon_slice donor;
	struct random random;
};

/* A little-endian number of up to eight bytes; bytes outside of the mutant read as 0. */
uint64_t mutant_get(const struct mutant *m, uint64_t at, unsigned int width);

/* Write one; bytes outside of the mutant are not written. */
void mutant_put(struct mutant *m, uint64_t at, uint64_t value, unsigned int width);

/* Replace @count bytes at @at by others; what has no room is cut off at the end. */
void mutant_replace(struct mutant *m, uint64_t at, size_t count, const void *bytes, size_t size);

/* A number that readers get wrong: a limit of some type, or close to @near. */
uint64_t mutant_number(struct mutant *m, uint64_t near);

/* Is the slice at @at, whole. */
bool mutant_has(const struct mutant *m, uint64_t at, struct tenon_slice text);

/* ---- mutators: each makes one change */

/* Knows nothing of the format. */
void mutate_bytes(struct mutant *m);

/* A file of 64-bit ELF: headers, tables, and the import tree in it. */
void mutate_elf(struct mutant *m);

/* An import tree: counts, lengths, kinds, operands of Relax instructions. */
void mutate_blob(struct mutant *m);

/* Text of JSON, or of numpy's headers: numbers, tokens, pieces. */
void mutate_json(struct mutant *m);

/* Text in lines: a line less or twice, or one of @words somewhere. */
void mutate_lines(struct mutant *m, const char *const *words, size_t count);

/* A file of parameters: names, shapes, data types with and without the bytes they need. */
void mutate_params(struct mutant *m);

/* An array of numpy, or a zip file of them. */
void mutate_npy(struct mutant *m);

#endif /* TESTS_FUZZ_MUTANT_H */
