/* SPDX-License-Identifier: MIT */
/* Keep the program's policy and ask it for each file. */
#include "runtime/library/load_policy.h"

#include <tenon/error.h>
#include <tenon/module.h>

#include "lib/brief_errors.h"

static struct {
	tenon_load_policy policy;
	void *context;
} ask;

int tenon_load_policy_set(tenon_load_policy policy, void *context)
{
	ask.policy = policy;
	ask.context = context;
	return 0;
}

int load_policy_check(const char *path)
{
	int err;

	if (!ask.policy)
		return 0;
	/* A policy that sets no message must not be given that of an older error. */
	tenon_error_clear();
	err = ask.policy(ask.context, path);
	if (!err)
		return 0;
	if (!tenon_error_status())
		return tenon_error(err, "%s: refused by the program's policy, without a reason",
				   path);
	return tenon_error_in(err, "%s: refused by the program's policy", path);
}
