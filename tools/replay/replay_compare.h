/* SPDX-License-Identifier: MIT */
/* Repeat all operations, and find the first whose result differs. */
#ifndef TOOLS_REPLAY_REPLAY_COMPARE_H
#define TOOLS_REPLAY_REPLAY_COMPARE_H

#include "tools/replay/replay_target.h"
#include "tools/tensor/compare.h"

/**
 * struct replay_difference - where a result differs
 * @operation: the operation; NULL for none
 * @argument: index of the argument
 * @comparison: how it differs
 */
struct replay_difference {
	const struct replay_operation *operation;
	size_t argument;
	struct comparison comparison;
};

/**
 * struct replay_failure - an operation that failed, or is not there
 * @operation: the operation; NULL for none
 * @target: where
 * @reason: why it failed; freed with the comparison; NULL for one that is not there
 */
struct replay_failure {
	const struct replay_operation *operation;
	const struct replay_target *target;
	char *reason;
};

/**
 * struct replay_comparison - what was found
 * @compared: operations that were compared
 * @absent: operations that a device, or the module for it, does not have
 * @failed: operations that failed on a device
 * @absolute: largest absolute difference of results that count as equal
 * @relative: likewise, relative
 * @first: the first operation whose result differs
 * @kernel: the first kernel in that operator whose result differs, where both devices have it
 * @failure: the first operation that failed
 * @missing: the first operation that a device lacks
 */
struct replay_comparison {
	uint64_t compared;
	uint64_t absent;
	uint64_t failed;
	double absolute;
	double relative;
	struct replay_difference first;
	struct replay_difference kernel;
	struct replay_failure failure;
	struct replay_failure missing;
};

/**
 * replay_compare - repeat the operations up to the first whose result differs
 * @m: the record
 * @targets: one device, which is compared with the record; or two, of which the second is compared
 *	with the first
 * @count: 1 or 2
 * @tolerance: largest difference that counts as equal
 * @out: receives what was found; release it with replay_comparison_fini()
 *
 * Each operation begins with the contents that were recorded, whatever came out of those before it. What an
 * operator submits is compared only where the operator was not, or its result differs.
 *
 * Return: 0; -TENON_E_IO, -TENON_E_FORMAT for a record that cannot be read; -TENON_E_NOMEM.
 */
int replay_compare(const struct replay_manifest *m, const struct replay_target *targets,
		   size_t count, const struct tolerance *tolerance, struct replay_comparison *out);

void replay_comparison_fini(struct replay_comparison *c);

#endif /* TOOLS_REPLAY_REPLAY_COMPARE_H */
