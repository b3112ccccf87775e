/* SPDX-License-Identifier: MIT */
/* The names most like one that was not found, for its error message. */
#ifndef LIB_NEAREST_NAME_H
#define LIB_NEAREST_NAME_H

#include <tenon/buffer.h>
#include <tenon/string.h>

#include "lib/plugin_api.h"

#define NEAREST_MOST 3

struct nearest_name {
	struct tenon_slice wanted;
	struct tenon_slice name[NEAREST_MOST]; /* best first; borrowed */
	unsigned int distance[NEAREST_MOST];
	size_t count;
	size_t offered; /* number of names offered */
};

#ifdef CONFIG_ERROR_MESSAGES
/* Offer a name; it is kept if it is among the nearest and within the allowed distance. */
void nearest_name_offer(struct nearest_name *n, struct tenon_slice name)
	TO_PLUGINS(nearest_name_offer);

/* Append ` Nearest: "a", "b".`, or nothing when no name is near. */
int nearest_name_print(const struct nearest_name *n, struct tenon_buffer *out)
	TO_PLUGINS(nearest_name_print);
#else
static inline void nearest_name_offer(struct nearest_name *n, struct tenon_slice name)
{
	n->offered++;
}

static inline int nearest_name_print(const struct nearest_name *n, struct tenon_buffer *out)
{
	return out->status;
}
#endif

#endif /* LIB_NEAREST_NAME_H */
