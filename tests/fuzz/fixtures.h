/* SPDX-License-Identifier: MIT */
/* Find the files that real compilers made, as seeds of campaigns: those of tests/interop/data, and of folders that the caller adds. */
#ifndef TESTS_FUZZ_FIXTURES_H
#define TESTS_FUZZ_FIXTURES_H

#include <tenon/string.h>

/* Add a folder with more of them; the string is kept. */
void fixtures_add_folder(const char *path);

/* Path of a fixture by its name below one of the folders, in static memory; NULL when none has it. */
const char *fixture_find(const char *name);

/* Visit the files whose names end with @suffix and that have at most @most bytes, in the same order each time. */
void fixtures_each(const char *suffix, size_t most,
		   void (*visit)(void *context, struct tenon_slice bytes), void *context);

#endif /* TESTS_FUZZ_FIXTURES_H */
