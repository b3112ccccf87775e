/* SPDX-License-Identifier: MIT */
/* Stubs where artifacts are left out */
#include <tenon/artifact.h>

#include "lib/brief_errors.h"

int tenon_artifacts_load(const struct tenon_artifact *items, size_t count,
			 const struct tenon_target *targets, size_t target_count,
			 struct tenon_module **out)
{
	(void)items;
	(void)count;
	(void)targets;
	(void)target_count;
	*out = NULL;
	return tenon_error(-TENON_E_UNSUPPORTED, "artifacts need CONFIG_DEVICES and CONFIG_DSO");
}

int tenon_module_load_for(const char *path, const struct tenon_target *targets, size_t count,
			  struct tenon_module **out)
{
	(void)targets;
	*out = NULL;
	return count ? tenon_error(-TENON_E_UNSUPPORTED,
				   "%s: target keys need CONFIG_DEVICES and CONFIG_DSO", path)
		     : tenon_module_load(path, out);
}
