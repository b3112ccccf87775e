/* SPDX-License-Identifier: MIT */
/* Stubs of public functions that this build leaves out. */
#include <tenon/self_test.h>

#include "lib/brief_errors.h"

#ifndef CONFIG_SELF_TEST
static int off(void)
{
	return tenon_error(-TENON_E_UNSUPPORTED, "CONFIG_SELF_TEST is off in this build");
}

int tenon_cases_open(const char *file, struct tenon_cases **out)
{
	(void)file;
	*out = NULL;
	return off();
}

void tenon_cases_close(struct tenon_cases *cases)
{
	(void)cases;
}

size_t tenon_cases_count(const struct tenon_cases *cases)
{
	(void)cases;
	return 0;
}

const struct tenon_case *tenon_cases_at(const struct tenon_cases *cases, size_t index)
{
	(void)cases;
	(void)index;
	return NULL;
}

int tenon_self_test(struct tenon_model *model, const struct tenon_case *c,
		    struct tenon_model *reference, struct tenon_buffer *why)
{
	(void)model;
	(void)c;
	(void)reference;
	(void)why;
	return off();
}
#endif
