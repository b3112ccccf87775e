/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_DEVICE_BACKEND_CHOICE_H
#define RUNTIME_DEVICE_BACKEND_CHOICE_H

/**
 * DOC: backends that are left out
 *
 * TENON_BACKENDS, else the file $(sysconfdir)/tenon/backends.conf, names the backends whose drivers may be used:
 * names with commas, blanks or line ends between. Where a name stands alone only those named so are
 * used; a '-' in front of a name leaves that one out. '#' begins a comment that ends with its line. The processor
 * is always used. Both are read once in a process.
 */

#include <stdbool.h>

#include <tenon/backend/backend.h>

#include "lib/plugin_api.h"

#define BACKEND_LIST_MOST 4096

/* Does a list leave a name out. */
bool backend_list_leaves_out(const char *list, const char *name);

/*
 * Read a file with a list. Return: its length, and @list ends with a NUL; -1 where there is no such file; -2 when it
 * cannot be used, with the reason in @why and @list empty.
 */
int backend_list_read(const char *path, char list[BACKEND_LIST_MOST], const char **why);

/* Return: 0; -TENON_E_DEVICE with what leaves the backend out. */
int backend_check_choice(const struct tenon_backend *backend);

/* Append what is wrong with the list that is used, a line each. */
int backend_choice_problems(struct tenon_buffer *out) TO_PLUGINS(backend_choice_problems);

#endif /* RUNTIME_DEVICE_BACKEND_CHOICE_H */
