/* SPDX-License-Identifier: MIT */
/* Which memory a packet may name. */
#include "firmware/core/mortise.h"

/* is [address, address + size) inside [base, base + length), which does not wrap */
static bool inside(uint64_t address, uint64_t size, uint64_t base, uint64_t length)
{
	return address >= base && address - base <= length && size <= length - (address - base);
}

/* neither range wraps */
bool mortise_apart(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size)
{
	return a + a_size <= b || b + b_size <= a;
}

/* May the host declare this region: it lies in the window, behind what belongs to the firmware. */
bool mortise_setup_region(struct mortise *m, const struct mortise_region *region)
{
	const struct mortise_port *port = m->port;

	return region->size && !region->reserved && !(region->access & ~7U) &&
	       inside(region->address, region->size, port->window_address + MORTISE_SHARED_OFFSET,
		      port->window_size - MORTISE_SHARED_OFFSET);
}

void *mortise_range(struct mortise *m, uint64_t address, uint64_t size, uint32_t access,
		    uint32_t align)
{
	uint32_t i;

	for (i = 0; i < m->region_count; i++) {
		const struct mortise_region *r = &m->regions[i];

		if ((r->access & access) == access && inside(address, size, r->address, r->size) &&
		    !(address & (align - 1)))
			return (void *)(uintptr_t)address;
	}
	mortise_fault(m, MORTISE_FAULT_ADDRESS, address, access);
	return NULL;
}

void *mortise_rows(struct mortise *m, uint64_t address, uint32_t rows, uint32_t stride,
		   uint64_t width, uint32_t access, uint32_t align)
{
	/* cannot overflow: (2^32 - 1)^2 + 2^34 is less than 2^64 */
	uint64_t size = (uint64_t)(rows - 1) * stride + width;

	return mortise_range(m, address, size, access, align);
}
