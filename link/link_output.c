/* SPDX-License-Identifier: MIT */
/* Check that an output replaces no input. */
#include "lib/brief_errors.h"
#include "lib/file_same.h"
#include "link/link_request.h"

int link_output_check(const char *output, const char *input)
{
	if (!file_is_same(output, input))
		return 0;
	return tenon_error(-TENON_E_VALUE,
			   "%s: the output would replace this input; give another file to --output",
			   input);
}

int link_output_check_all(const struct link_request *r)
{
	size_t i;
	int err = 0;

	for (i = 0; i < r->input_count && !err; i++)
		if (!r->inputs[i].is_constants)
			err = link_output_check(r->output, r->inputs[i].path);
	if (!err && r->params)
		err = link_output_check(r->output, r->params);
	return err;
}
