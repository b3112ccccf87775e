/* SPDX-License-Identifier: MIT */
/* Fill the properties that such accelerators share. */
#include "devices/mapped/inline_properties.h"

void inline_properties(uint64_t memory, struct tenon_device_properties *p)
{
	p->device_class = TENON_CLASS_ACCELERATOR;
	p->max_threads = 1;
	p->max_block[0] = p->max_block[1] = p->max_block[2] = 1;
	p->max_grid[0] = p->max_grid[1] = p->max_grid[2] = 1;
	p->warp_size = 1;
	p->total_memory = memory;
	p->max_allocation = memory;
	p->timestamp_period = 1000;
	p->heap_count = 1;
	p->heaps[0].size = memory;
	p->heaps[0].flags = TENON_HEAP_DEVICE_LOCAL | TENON_HEAP_HOST_VISIBLE |
			    TENON_HEAP_HOST_COHERENT | TENON_HEAP_HOST_CACHED;
}
