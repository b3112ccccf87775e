/* SPDX-License-Identifier: MIT */
/* Tell which backends the user excluded. */
#ifndef RUNTIME_DEVICE_BACKEND_CHOICE_H
#define RUNTIME_DEVICE_BACKEND_CHOICE_H

/*
 * TENON_BACKENDS, else the file $(sysconfdir)/tenon/backends.conf, selects the backends whose
 * drivers may be used: a list of names, separated by commas, blanks or newlines. If a name has no
 * prefix, only such names are used; a name with the prefix '-' is left out. '#' begins a comment
 * until the end of the line. The CPU is always used. The list is read once per process.
 */

#include <stdbool.h>

#include <tenon/backend/backend.h>

#include "lib/plugin_api.h"

#define BACKEND_LIST_MOST 4096

/* Test whether a list leaves out a backend. */
bool backend_list_leaves_out(const char *list, const char *name);

/*
 * Read a list from a file. Return: its length, and @list ends with a NUL; -1 if there is no such
 * file; -2 when it cannot be used, with the reason in @why and @list empty.
 */
int backend_list_read(const char *path, char list[BACKEND_LIST_MOST], const char **why);

/* Return: 0; -TENON_E_DEVICE, with the origin of the list, for a backend that is left out. */
int backend_check_choice(const struct tenon_backend *backend) TO_PLUGINS(backend_check_choice);

/* Append the problems of the list, one per line. */
int backend_choice_problems(struct tenon_buffer *out) TO_PLUGINS(backend_choice_problems);

#endif /* RUNTIME_DEVICE_BACKEND_CHOICE_H */
