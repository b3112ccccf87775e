/* SPDX-License-Identifier: MIT */
/* tenon params from-npz: make a file of parameters of numpy's arrays. */
#include "tools/tensor/npz.h"
#include "tools/params_verb/params.h"

int params_from_npz(struct cli *cli, const struct words *w)
{
	struct npz npz;
	int err;

	if (w->count != (w->output ? 1 : 2))
		return cli_usage(cli,
				 "params from-npz: FILE.npz, and what to make of it: FILE.npz TO");
	if (params_check_target(cli, params_target(w)))
		return CLI_USAGE;
	err = npz_read(w->word[0], &npz);
	if (!err)
		err = params_write(cli, w, npz.params, npz.count);
	npz_fini(&npz);
	return err ? params_failed(cli) : CLI_OK;
}
