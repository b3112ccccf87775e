/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_RUN_RUN_EXPECT_H
#define TOOLS_RUN_RUN_EXPECT_H

/** DOC: results, and what --expect says that they are */

#include <tenon/model.h>

#include "tools/cli/cli.h"
#include "tools/tensor/argument.h"
#include "tools/tensor/compare.h"

/**
 * struct results - what can be compared
 * @at: owned values: the outputs of a model; or those of a function, then what it returned, unless that
 *	is None and there are outputs
 * @count: how many
 */
struct results {
	struct tenon_value *at;
	size_t count;
};

/** results_drop - drop the values; the room for them stays */
void results_drop(struct results *r);
void results_fini(struct results *r);

/**
 * struct expectations - what is expected, in the order given
 * @at: they
 * @comparisons: one for each, after the run
 * @count: how many
 * @tolerance: how far from the expected is still equal
 */
struct expectations {
	struct argument *at;
	struct comparison *comparisons;
	size_t count;
	struct tolerance tolerance;
};

/**
 * expectations_compare - compare results with what is expected
 * @e: expectations; receives the comparisons
 * @r: results
 * @model: which has names for outputs; NULL for a function
 *
 * Return: CLI_OK; CLI_DIFFERS; or another exit code, its message printed.
 */
int expectations_compare(struct cli *cli, struct expectations *e, const struct results *r,
			 struct tenon_model *model);

#endif /* TOOLS_RUN_RUN_EXPECT_H */
