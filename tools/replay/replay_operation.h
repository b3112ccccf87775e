/* SPDX-License-Identifier: MIT */
/* Repeat one operation on a device. */
#ifndef TOOLS_REPLAY_REPLAY_OPERATION_H
#define TOOLS_REPLAY_REPLAY_OPERATION_H

#include "tools/replay/replay_target.h"

/* replay_operation_run(): the device, or the module for it, does not have this operation */
#define REPLAY_ABSENT 1

/**
 * struct replay_results - what the tensors of an operation contain after it
 * @at: a tensor of the host for each argument that the operation writes to; NULL for others
 * @count: number of arguments
 */
struct replay_results {
	struct tenon_tensor **at;
	size_t count;
};

/**
 * replay_operation_run - repeat an operation
 * @m: the record
 * @op: the operation
 * @t: where
 * @out: receives the results; release them with replay_results_fini(), also on failure
 *
 * Return: 0; REPLAY_ABSENT; the status of what failed.
 */
int replay_operation_run(const struct replay_manifest *m, const struct replay_operation *op,
			 const struct replay_target *t, struct replay_results *out);

/** replay_operation_recorded - the results that were recorded; as replay_operation_run() */
int replay_operation_recorded(const struct replay_manifest *m, const struct replay_operation *op,
			      struct replay_results *out);

void replay_results_fini(struct replay_results *r);

#endif /* TOOLS_REPLAY_REPLAY_OPERATION_H */
