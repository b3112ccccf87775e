/* SPDX-License-Identifier: MIT */
/* Make maps of any size, for results that are only read. */
#ifndef RUNTIME_CORE_MAP_OBJECT_H
#define RUNTIME_CORE_MAP_OBJECT_H

#include <tenon/array.h>

#include "lib/plugin_api.h"

/*
 * tenon_map_create() without a size limit, for results that are only read. The pairs are stored as
 * one array, which readers of either language iterate; foreign code that changes a map accepts at
 * most TENON_MAP_MOST pairs in this form.
 */
int map_create_long(const struct tenon_value *pairs, size_t count, struct tenon_map **out)
	TO_PLUGINS(map_create_long);

#endif /* RUNTIME_CORE_MAP_OBJECT_H */
