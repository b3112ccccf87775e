/* SPDX-License-Identifier: MIT */
/* tenon params convert */
#include "tools/params/params.h"

int params_convert(struct cli *cli, const struct words *w)
{
	const int files = w->count - !w->output;
	struct model_params from = w->names;
	struct tenon_params *params;
	int i, err;

	if (files < 1)
		return cli_usage(cli, "params convert: FILE…, and what to make of them");
	for (i = 0; i < files; i++) {
		optarg = w->word[i];
		if (model_params_option(cli, &from, MODEL_PARAMS))
			return CLI_USAGE;
	}
	if (params_check_target(cli, params_target(w)))
		return CLI_USAGE;
	err = model_params_open(&from, &params);
	if (!err)
		err = params_write(cli, w, tenon_params_at(params, 0), tenon_params_count(params));
	tenon_object_unref(params);
	return err ? params_failed(cli) : CLI_OK;
}
