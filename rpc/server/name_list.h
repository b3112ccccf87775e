/* SPDX-License-Identifier: MIT */
/* Lists of names, each with its NUL; a name that ends with * is the beginning of others. */
#ifndef RPC_SERVER_NAME_LIST_H
#define RPC_SERVER_NAME_LIST_H

#include <stdbool.h>
#include <string.h>

/** name_list_has - test whether a list has the name of @size bytes */
static inline bool name_list_has(const char *list, const char *name, size_t size)
{
	for (; *list; list += strlen(list) + 1) {
		const size_t length = strlen(list);
		const bool begins = list[length - 1] == '*';

		if (begins ? size >= length - 1 && !memcmp(list, name, length - 1)
			   : size == length && !memcmp(list, name, size))
			return true;
	}
	return false;
}

#endif /* RPC_SERVER_NAME_LIST_H */
