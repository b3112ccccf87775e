/* SPDX-License-Identifier: MIT */
/*
 * Parts of a program that a recording of the device repeats: what vm.builtin.cuda_graph.
 * run_or_capture runs. The first call of a part runs it, and a recording follows the queue of the
 * main device. Later calls run the recording and return the first result, whose storages the
 * program keeps from run to run. A part that cannot be recorded (it reads the device's memory, or
 * takes storage of its own, or its machine has several devices) is called each time.
 *
 * A part may call the attention of a key-value cache that is one of its arguments: its kernels read lengths and pages from
 * the device's memory, where the cache writes them before each run (relax_step.h).
 */
#ifndef RUNTIME_RELAX_RELAX_RECORDED_H
#define RUNTIME_RELAX_RELAX_RECORDED_H

#include "runtime/relax/relax.h"

/* struct relax_part - which part, and how it is called: a closure of the program */
struct relax_part {
	int64_t index;
	const struct tenon_shape *shape; /* extents that the part was made for; NULL for none */
	const struct tenon_value *closure;
	const struct tenon_array *items; /* arguments */
};

/* Run a part, or its recording. @ret: owned result. */
int relax_run_recorded(struct relax_vm *vm, const struct relax_part *part, struct tenon_value *ret);

/* Release all recordings. */
void relax_recorded_free(struct relax_vm *vm);

#endif /* RUNTIME_RELAX_RELAX_RECORDED_H */
