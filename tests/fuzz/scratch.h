/* SPDX-License-Identifier: MIT */
#ifndef TESTS_FUZZ_SCRATCH_H
#define TESTS_FUZZ_SCRATCH_H

/*
 * Files for commands to work on: in FUZZ_SCRATCH where that is set, else in memory where the system has
 * /dev/shm. They are removed when the program exits.
 */

#include <stddef.h>

/* Path of a file in the scratch folder, which the first call makes. It holds until the eighth call after. */
const char *scratch_path(const char *name);

/* Write a file there, always a new one: a mapping of the old file keeps its bytes. Returns its path. */
const char *scratch_write(const char *name, const void *bytes, size_t size);

/* Remove a folder there and the files in it; aborts when it holds anything but files. */
void scratch_remove(const char *name);

#endif /* TESTS_FUZZ_SCRATCH_H */
