/* SPDX-License-Identifier: MIT */
/*
 * Code for several processors in one shared object.
 *
 * The variable __tenon_processors is a string of keys with a space between two, the best first:
 * "x86_64_v4_avx512vnni x86_64_v3". The symbol of a function, "." and a key is that function's code for processors
 * with the features of the key; the symbol alone is the code for all others. Other runtimes take the latter.
 */
#ifndef RUNTIME_LIBRARY_PROCESSOR_CODE_H
#define RUNTIME_LIBRARY_PROCESSOR_CODE_H

#include <stdbool.h>
#include <tenon/string.h>

#define PROCESSOR_KEYS "__tenon_processors"

/* Test whether this machine has the features of a key; false for a key that is not known. */
bool processor_has(struct tenon_slice key);

/**
 * processor_choose - choose the code for a machine
 * @keys: value of __tenon_processors
 * @wanted: the only key to choose, of the variable TENON_PROCESSOR; NULL for the best
 * @has: processor_has(), or a test's fake
 *
 * Return: a slice of @keys, empty for the code without a key.
 */
struct tenon_slice processor_choose(struct tenon_slice keys, const char *wanted,
				    bool (*has)(struct tenon_slice key));

/* Test whether a symbol is one of a function and a key of @keys. */
bool processor_is_variant(struct tenon_slice keys, const char *symbol);

#endif /* RUNTIME_LIBRARY_PROCESSOR_CODE_H */
