/* SPDX-License-Identifier: MIT */
/* Compare each result with its expected value. */
#include "tools/cli/progress.h"
#include "tools/run/run.h"

/* Find the result for an expectation: by position, or by the name of a model's output. */
static size_t expected_result(struct tenon_model *model, struct tenon_slice name, size_t i)
{
	size_t index;

	if (!model || !name.size)
		return i;
	return tenon_model_find_output(model, name, &index) ? SIZE_MAX : index;
}

static int too_many_expected(struct cli *cli, size_t expected, size_t outputs, bool model)
{
	const char *plural = outputs == 1 ? "" : "s";

	if (model)
		return cli_usage(cli, "%zu --expect, but the model has %zu output%s", expected,
				 outputs, plural);
	return cli_usage(cli,
			 "%zu --expect, but the function returned nothing to compare "
			 "beside its %zu output%s",
			 expected, outputs, plural);
}

int run_compare(struct cli *cli, struct run *run)
{
	struct expectations *e = &run->expectations;
	const struct results *r = &run->results;
	int code = CLI_OK;

	if (e->count > r->count)
		return too_many_expected(cli, e->count, r->count, run->model);
	progress_say("comparing");
	for (size_t i = 0; i < e->count; i++) {
		size_t result = expected_result(run->model, e->at[i].spec.name, i);

		if (result == SIZE_MAX)
			return cli_error(cli, CLI_USAGE);
		compare_values(&r->at[result], &e->at[i].value, &run->options.tolerance,
			       &e->comparisons[i]);
		if (!e->comparisons[i].equal)
			code = CLI_DIFFERS;
	}
	return code;
}
