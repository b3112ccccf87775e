/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_CORE_MAP_OBJECT_H
#define RUNTIME_CORE_MAP_OBJECT_H

#include <tenon/array.h>

#include "lib/plugin_api.h"

/*
 * tenon_map_create() of any number of pairs. They lie side by side: readers in either language walk
 * over them, but foreign code that changes a map takes no more than TENON_MAP_MOST for such a form.
 * For results that are only read.
 */
int map_create_long(const struct tenon_value *pairs, size_t count, struct tenon_map **out)
	TO_PLUGINS(map_create_long);

#endif /* RUNTIME_CORE_MAP_OBJECT_H */
