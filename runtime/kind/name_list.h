/* SPDX-License-Identifier: MIT */
/* Comma-separated lists of unique names for messages: "opencl, vulkan", ".so, .ptx". */
#ifndef RUNTIME_KIND_NAME_LIST_H
#define RUNTIME_KIND_NAME_LIST_H

#include <tenon/buffer.h>

/**
 * struct name_list - a list being built
 * @out: buffer that the names are appended to
 * @start: size of @out before the first
 * @mark: prefix of each name: "" or "."
 */
struct name_list {
	struct tenon_buffer *out;
	size_t start;
	const char *mark;
};

void name_list_add(struct name_list *list, const char *name);

/* Add the names of global functions that start with @prefix, without the prefix. */
void name_list_add_globals(struct name_list *list, const char *prefix);

/* End the list; an empty one becomes "none". Return: the status of the buffer. */
int name_list_end(struct name_list *list);

#endif /* RUNTIME_KIND_NAME_LIST_H */
