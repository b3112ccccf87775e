/* SPDX-License-Identifier: MIT */
/* Stubs where artifacts are left out. */
#include <tenon/artifact.h>

#include "lib/switched_off.h"

#define OFF_REASON tenon_error(-TENON_E_UNSUPPORTED, "artifacts need CONFIG_DEVICES and CONFIG_DSO")
/* clang-format off */
OFF_OUT(tenon_artifacts_load, *out = NULL, (const struct tenon_artifact *items, size_t count,
	const struct tenon_target *targets, size_t target_count, struct tenon_module **out))
/* clang-format on */

int tenon_module_load_for(const char *path, const struct tenon_target *targets, size_t count,
			  struct tenon_module **out)
{
	*out = NULL;
	return count ? tenon_error(-TENON_E_UNSUPPORTED,
				   "%s: target keys need CONFIG_DEVICES and CONFIG_DSO", path)
		     : tenon_module_load(path, out);
}
