/* SPDX-License-Identifier: MIT */
/* Temporary files beside their target, which do not outlive their writers. */
#ifndef LIB_FILE_TEMPORARY_H
#define LIB_FILE_TEMPORARY_H

/*
 * A file is written under a temporary name beside the file that it will replace: the name of that
 * file, ".tenon-" and six more characters. The writer holds a lock on it (flock) until it is
 * renamed, and the kernel releases the lock when the writer exits. The next writer of the same file
 * removes the temporaries that are not locked.
 *
 * All functions set errno.
 */

#include <stdbool.h>

/**
 * struct file_temporary - a file being written
 * @name: its name until it is renamed
 * @fd: to write to
 * @lock: the same file, kept open for its lock
 */
struct file_temporary {
	char *name;
	int fd;
	int lock;
};

/**
 * file_temporary_open - create a temporary, and remove those of dead writers
 * @path: the file that it is for
 * @out: receives the temporary; readable by the user alone
 *
 * Return: 0; -1 with errno.
 */
int file_temporary_open(const char *path, struct file_temporary *out);

/** file_temporary_rename - close a temporary and give it its name; 0, or -1 and it is removed */
int file_temporary_rename(struct file_temporary *t, const char *path);

/** file_temporary_drop - close a temporary and remove it; keeps errno */
void file_temporary_drop(struct file_temporary *t);

#endif /* LIB_FILE_TEMPORARY_H */
