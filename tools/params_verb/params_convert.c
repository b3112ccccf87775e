/* SPDX-License-Identifier: MIT */
/* tenon params convert: write parameters in another format. */
#include "lib/option.h"
#include "tools/file/output.h"
#include "tools/params_verb/params.h"
#include "tools/tensor/npz.h"
#include "tools/text/text.h"

/* Check the name and the contents of the file to write: an array file is made, too, if its name says so. */
static int check_target(struct cli *cli, const struct words *w)
{
	const char *to = params_target(w);

	if (!params_in_npz(to))
		return params_check_target(cli, to);
	if (!OPTION_ON(NPZ)) {
		printable_format(cli->err,
				 "tenon: %s: this build writes no .npz files: CONFIG_NPZ is off\n",
				 to);
		return CLI_UNAVAILABLE;
	}
	if (w->align)
		return cli_usage(cli, "--align: NumPy's files have no alignment to choose");
	return params_check_contents(cli, to);
}

static int write_params(struct cli *cli, const struct words *w, const struct tenon_params *params)
{
	const struct tenon_param *list = tenon_params_at(params, 0);
	const size_t count = tenon_params_count(params);
	const char *to = params_target(w);
	int err;

	if (OPTION_ON(NPZ) && params_in_npz(to)) {
		err = output_check(to);
		if (!err)
			err = npz_write(to, list, count);
		if (!err)
			printable_format(cli->out, "%s: %zu parameters\n", to, count);
		return err;
	}
	return params_write(cli, w, list, count);
}

int params_convert(struct cli *cli, const struct words *w)
{
	const int files = w->count - !w->output;
	struct model_params from = w->names;
	struct tenon_params *params;
	int i, err, code;

	if (files < 1)
		return cli_usage(cli, "params convert: FILE…, and what to make of them");
	for (i = 0; i < files; i++) {
		optarg = w->word[i];
		if (model_params_add(cli, &from))
			return CLI_USAGE;
	}
	code = check_target(cli, w);
	if (code)
		return code;
	err = model_params_open(&from, &params);
	if (!err)
		err = write_params(cli, w, params);
	tenon_object_unref(params);
	return err ? params_failed(cli) : CLI_OK;
}
