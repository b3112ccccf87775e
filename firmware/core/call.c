/* SPDX-License-Identifier: MIT */
/* Functions of loaded code. */
#include "firmware/core/mortise.h"

static bool extents_are_set(const uint32_t extents[3])
{
	return extents[0] && extents[1] && extents[2];
}

static enum mortise_end check_fields(struct mortise *m, const struct mortise_call *p)
{
	const struct mortise_header *header = &p->header;

	if (header->words < sizeof(*p) / MORTISE_WORD)
		return mortise_bad_field(m, offsetof(struct mortise_header, words));
	if (p->count > MORTISE_ARGUMENT_COUNT)
		return mortise_bad_field(m, offsetof(struct mortise_call, count));
	if (header->words != (sizeof(*p) + p->count * sizeof(p->arguments[0])) / MORTISE_WORD)
		return mortise_bad_field(m, offsetof(struct mortise_header, words));
	if (!extents_are_set(p->groups))
		return mortise_bad_field(m, offsetof(struct mortise_call, groups));
	if (!extents_are_set(p->threads))
		return mortise_bad_field(m, offsetof(struct mortise_call, threads));
	if (p->reserved)
		return mortise_bad_field(m, offsetof(struct mortise_call, reserved));
	return MORTISE_DONE;
}

static enum mortise_end take_arguments(struct mortise *m, const struct mortise_call *p)
{
	uint32_t i;

	for (i = 0; i < p->count; i++) {
		const struct mortise_argument *a = &p->arguments[i];

		if ((a->access & ~7U) || (!a->access && a->size))
			return mortise_bad_field(m, sizeof(*p) + i * sizeof(*a));
		if (a->access && !mortise_range(m, a->value, a->size, a->access, 1))
			return MORTISE_FAILED;
		m->values[i] = a->value;
	}
	return MORTISE_DONE;
}

static enum mortise_end run_group(struct mortise *m, mortise_function function,
				  const struct mortise_group *group)
{
	int32_t returned = function(m->values, group);

	if (returned)
		return mortise_fault(m, MORTISE_FAULT_KERNEL, (uintptr_t)function,
				     (uint32_t)returned);
	return mortise_go_on(m);
}

/* Go to the next group of the grid, x first; false behind the last. */
static bool next_group(struct mortise_group *g)
{
	uint32_t i;

	for (i = 0; i < 3; i++) {
		if (++g->group[i] < g->groups[i])
			return true;
		g->group[i] = 0;
	}
	return false;
}

enum mortise_end mortise_run_call(struct mortise *m, const void *packet)
{
	const struct mortise_call *p = packet;
	struct mortise_group g;
	mortise_function function;
	enum mortise_end end;
	uint32_t i, align;
	uint64_t thumb;

	if (check_fields(m, p) != MORTISE_DONE)
		return MORTISE_FAILED;
	/* an odd address is a function in Thumb code */
	thumb = m->port->machine == MORTISE_MACHINE_ARM;
	/* x86 has functions at any address, Hexagon packets of whole words */
	align = m->port->machine == MORTISE_MACHINE_X86_64    ? 1
		: m->port->machine == MORTISE_MACHINE_HEXAGON ? 4
							      : 2;
	if (!mortise_range(m, p->function & ~thumb, 2, MORTISE_EXECUTE, align) ||
	    take_arguments(m, p) != MORTISE_DONE)
		return MORTISE_FAILED;
	for (i = 0; i < 3; i++) {
		g.group[i] = 0;
		g.groups[i] = p->groups[i];
		g.threads[i] = p->threads[i];
	}
	function = (mortise_function)(uintptr_t)p->function;
	do {
		end = run_group(m, function, &g);
	} while (end == MORTISE_DONE && next_group(&g));
	return end;
}
