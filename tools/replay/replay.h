/* SPDX-License-Identifier: MIT */
/* What the files of tenon replay share: its options, repeating, comparing, reporting. */
#ifndef TOOLS_REPLAY_REPLAY_H
#define TOOLS_REPLAY_REPLAY_H

#include "tools/replay/replay_target.h"
#include "tools/tensor/compare.h"

/**
 * struct replay_options - options of `tenon replay`
 * @folder: the record
 * @targets: the device of --device, or those of --compare
 * @target_count: 1 or 2
 * @tolerance: --rtol and --atol
 * @timeout: seconds; 0 for none
 * @json: print JSON
 */
struct replay_options {
	const char *folder;
	struct replay_target targets[2];
	size_t target_count;
	struct tolerance tolerance;
	double timeout;
	bool json;
};

/** replay_read_options - 0; CLI_OPTIONS_DONE; or an exit code, its message printed */
int replay_read_options(struct cli *cli, int argc, char **argv, struct replay_options *o);

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

/** replay_report - print what was found */
void replay_report(const struct replay_options *o, const struct replay_comparison *c, FILE *out);

/** replay_report_json - likewise, as JSON; 0; -TENON_E_NOMEM */
int replay_report_json(const struct replay_options *o, const struct replay_comparison *c,
		       FILE *out);

#endif /* TOOLS_REPLAY_REPLAY_H */
