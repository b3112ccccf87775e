/* SPDX-License-Identifier: MIT */
/* What the lines of command_test read besides data of the tree. */
#ifndef TESTS_NOMEM_COMMAND_FILES_H
#define TESTS_NOMEM_COMMAND_FILES_H

/**
 * command_files_make - write arrays.npz, keys with a signature, the folder words with a tokenizer, and an emulator
 * @folder: where; also what PATH is then
 * @array: the one in arrays.npz, in NumPy's format
 * @module: what is signed
 *
 * What the build cannot read is left out.
 *
 * Return: 0; else it failed.
 */
int command_files_make(const char *folder, const char *array, const char *module);

#endif /* TESTS_NOMEM_COMMAND_FILES_H */
