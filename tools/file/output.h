/* SPDX-License-Identifier: MIT */
/* The files that commands write. */
#ifndef TOOLS_FILE_OUTPUT_H
#define TOOLS_FILE_OUTPUT_H

/*
 * All of them are written here: to a temporary name, synced, and renamed; to a terminal, a pipe or a
 * device in place. A file that the command line names as well, also by another path, is not
 * replaced: it is an input.
 */

#include <tenon/error.h>
#include <tenon/string.h>

/**
 * output_words - remember the command line
 * @argv: @argc words; must outlive all outputs
 */
void output_words(int argc, char **argv);

/**
 * output_check - refuse an output that another word of the command line names
 * @path: the output. Where it is a part of a word of the command line, that word does not count.
 *
 * For outputs that are written elsewhere, and for those that come after long work.
 *
 * Return: 0; -TENON_E_VALUE.
 */
int output_check(const char *path);

/** output_write - write a file that the user named, "-" for standard output; as output_check() and file_write() */
int output_write(const char *path, const struct tenon_slice *parts, size_t count);

/**
 * output_replace - write a file whose name comes from an input, in a folder that the user named
 *
 * A link or special file with this name is replaced, not followed: others may have put it there.
 *
 * Return: as output_write().
 */
int output_replace(const char *path, const struct tenon_slice *parts, size_t count);

/** output_write_in - output_replace() of @folder/@name; @name has no slashes */
int output_write_in(const char *folder, const char *name, struct tenon_slice bytes);

#endif /* TOOLS_FILE_OUTPUT_H */
