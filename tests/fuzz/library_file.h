/* SPDX-License-Identifier: MIT */
/* A shared object without code around the symbol of a module, for commands to read. */
#ifndef TESTS_FUZZ_LIBRARY_FILE_H
#define TESTS_FUZZ_LIBRARY_FILE_H

#include <tenon/tenon.h>

/*
 * The bytes of a shared object of this machine without a byte of code: its one symbol is data. It can be
 * loaded although nobody vouches for its content. Appended to @out.
 */
void library_file(const char *symbol, struct tenon_slice content, struct tenon_buffer *out);

#endif /* TESTS_FUZZ_LIBRARY_FILE_H */
