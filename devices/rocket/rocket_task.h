/* SPDX-License-Identifier: MIT */
/* A task while its words are read, and the check of its units (rocket_walk.h). */
#ifndef DEVICES_ROCKET_ROCKET_TASK_H
#define DEVICES_ROCKET_ROCKET_TASK_H

#include "devices/cmdstream/cmdstream.h"
#include "devices/rocket/rocket_registers.h"

/**
 * struct rocket_task - a task so far
 * @walk: the walk
 * @begin: where it begins in the kernel's code
 * @at: the word
 * @value: of each register
 * @is_set: it was written
 * @is_placed: an address of a region was
 * @places: these
 */
struct rocket_task {
	struct cmdstream_walk *walk;
	uint64_t begin;
	uint64_t at;
	uint32_t value[ROCKET_REGISTERS];
	bool is_set[ROCKET_REGISTERS];
	bool is_placed[ROCKET_REGISTERS];
	struct cmdstream_place places[ROCKET_REGISTERS];
};

/**
 * rocket_check_units - check a task when its last word starts units
 * @t: task; t->at is that word
 * @units: mask of enum rocket_unit
 *
 * Return: 0; -TENON_E_FORMAT when a unit has no registers, or leaves a region; -TENON_E_UNSUPPORTED for units that Linux
 *	would wait for in vain, and forms whose extents are not known.
 */
int rocket_check_units(struct rocket_task *t, uint32_t units);

#endif /* DEVICES_ROCKET_ROCKET_TASK_H */
