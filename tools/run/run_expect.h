/* SPDX-License-Identifier: MIT */
/* Comparison of results with --expect */
#ifndef TOOLS_RUN_RUN_EXPECT_H
#define TOOLS_RUN_RUN_EXPECT_H

#include <tenon/model.h>

#include "tools/cli/cli.h"
#include "tools/tensor/argument.h"
#include "tools/tensor/compare.h"

/**
 * struct results - results to compare
 * @at: owned values: the outputs of a model; or the outputs of a function and its return value,
 * unless that is None and there are outputs
 * @count: how many
 */
struct results {
	struct tenon_value *at;
	size_t count;
};

/** results_drop - release the values; the list keeps its capacity */
void results_drop(struct results *r);
void results_fini(struct results *r);

/**
 * struct expectations - expected results, in the order given
 * @at: the expected values
 * @comparisons: one comparison each, made after the run
 * @count: how many
 * @tolerance: largest difference that counts as equal
 */
struct expectations {
	struct argument *at;
	struct comparison *comparisons;
	size_t count;
	struct tolerance tolerance;
};

/**
 * expectations_compare - compare results with expectations
 * @e: expectations; receives the comparisons
 * @r: results
 * @model: model with the names of outputs; NULL for a function
 *
 * Return: CLI_OK; CLI_DIFFERS; or another exit code, its message printed.
 */
int expectations_compare(struct cli *cli, struct expectations *e, const struct results *r,
			 struct tenon_model *model);

#endif /* TOOLS_RUN_RUN_EXPECT_H */
