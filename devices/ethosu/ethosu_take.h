/* SPDX-License-Identifier: MIT */
/* Memory that the model of Ethos-U takes for the time of an operation. */
#ifndef DEVICES_ETHOSU_ETHOSU_TAKE_H
#define DEVICES_ETHOSU_ETHOSU_TAKE_H

#include <stddef.h>
#include <string.h>

#include "lib/heap.h"

/* Take memory from the model that the thread runs, or from malloc(); give it back with heap_free(). */
static inline void *ethosu_take(size_t size)
{
	return heap_take(HEAP_TEMPORARY, sizeof(max_align_t), size, "model of Ethos-U");
}

static inline void *ethosu_take_zeroed(size_t count, size_t size)
{
	void *memory = count && size > SIZE_MAX / count ? NULL : ethosu_take(count * size);

	return memory ? memset(memory, 0, count * size) : NULL;
}

#endif /* DEVICES_ETHOSU_ETHOSU_TAKE_H */
