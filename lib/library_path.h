/* SPDX-License-Identifier: MIT */
/* The path of libtenon.so, for files that are searched beside it. */
#ifndef LIB_LIBRARY_PATH_H
#define LIB_LIBRARY_PATH_H

#include <limits.h>
#include <stdbool.h>

#include "lib/plugin_api.h"

/*
 * Absolute path of libtenon.so, or of the program that contains the library, for files that are
 * searched beside it. False if it is not known, and in a program with raised privileges: a user
 * can link such a program into any folder.
 */
bool library_path(char path[PATH_MAX]) TO_PLUGINS(library_path);

/*
 * The same for the file that has @address in it. A plug-in that contains this function passes the address of a public
 * function of the library: library_path() would tell the file of the plug-in.
 */
bool library_path_of(const void *address, char path[PATH_MAX]);

#endif /* LIB_LIBRARY_PATH_H */
