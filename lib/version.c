/* SPDX-License-Identifier: MIT */
/* The release and the configuration of this build. */
#include <tenon/tenon.h>

/* both texts come from the build: Makefile and scripts/kconfig.awk */
const char *tenon_version(void)
{
	return TENON_VERSION_TEXT;
}

const char *tenon_configuration(void)
{
	return TENON_CONFIG_TEXT;
}
