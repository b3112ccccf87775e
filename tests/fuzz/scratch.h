/* SPDX-License-Identifier: MIT */
/*
 * A folder for the files that commands work on, removed when the program exits.
 *
 * It is in FUZZ_SCRATCH if that is set, else in memory if the system has /dev/shm.
 */
#ifndef TESTS_FUZZ_SCRATCH_H
#define TESTS_FUZZ_SCRATCH_H

#include <stddef.h>

/* Path of a file in the scratch folder, which the first call makes. It holds until the eighth call after. */
const char *scratch_path(const char *name);

/* Write a file there, always a new one: a mapping of the old file keeps its bytes. Returns its path. */
const char *scratch_write(const char *name, const void *bytes, size_t size);

/* Remove a folder there and the files in it; aborts when it holds anything but files. */
void scratch_remove(const char *name);

#endif /* TESTS_FUZZ_SCRATCH_H */
