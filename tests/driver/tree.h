/* SPDX-License-Identifier: MIT */
/* A directory that stands for /, with the files of /dev and /sys that a test needs: a named fake of the system. */
#ifndef TESTS_DRIVER_TREE_H
#define TESTS_DRIVER_TREE_H

#include <stddef.h>

/* The directory, made by tree_setup() and removed with all that is in it by tree_teardown(): fixtures of cmocka. */
extern char tree[];
int tree_setup(void **state);
int tree_teardown(void **state);

/* A name without a directory, for fakes that answer for all paths below it. */
void tree_pretend(const char *path);

/* Make a file with a text, with its folders: "/sys/class/uio/uio0/name". Replaces what is there. */
void tree_text(const char *path, const char *text);

/* Make a file of zeroes. */
void tree_zeroes(const char *path, size_t size);

/* Make a symbolic link. */
void tree_link(const char *path, const char *target);

/* Remove a file or an empty folder. */
void tree_drop(const char *path);

/* Read a file; the text is valid until the next call. */
const char *tree_read(const char *path);

#endif /* TESTS_DRIVER_TREE_H */
