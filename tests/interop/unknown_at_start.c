/* SPDX-License-Identifier: MIT */
/* A module whose constructor calls a name that no library defines. */
int defined_by_no_library(void);

__attribute__((constructor)) static void start(void)
{
	defined_by_no_library();
}
