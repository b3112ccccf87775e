/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_KIND_NAME_LIST_H
#define RUNTIME_KIND_NAME_LIST_H

/* Names for a message, each once: "opencl, vulkan", ".so, .examplejson". */

#include <tenon/buffer.h>

/**
 * struct name_list - a list under way
 * @out: the names are appended
 * @start: size of @out before the first
 * @mark: in front of each name: "", "."
 */
struct name_list {
	struct tenon_buffer *out;
	size_t start;
	const char *mark;
};

void name_list_add(struct name_list *list, const char *name);

/* Add what follows @prefix in the names of global functions. */
void name_list_add_globals(struct name_list *list, const char *prefix);

/* An empty list says "none". Return: the status of the buffer. */
int name_list_end(struct name_list *list);

#endif /* RUNTIME_KIND_NAME_LIST_H */
