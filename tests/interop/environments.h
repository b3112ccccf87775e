/* SPDX-License-Identifier: MIT */
/*
 * Where the environments of Python with TVM lie that scripts/interop-generate makes: the folder TENON_VENVS, or one
 * below the build folder.
 */
#ifndef TENON_TESTS_INTEROP_ENVIRONMENTS_H
#define TENON_TESTS_INTEROP_ENVIRONMENTS_H

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

/* path becomes the last file, by version, that matches the pattern in these environments. Returns NULL if there is none. */
static inline const char *environments_file(const char *pattern, char *path, size_t size)
{
	const char *folder = getenv("TENON_VENVS"), *build = getenv("TENON_BUILD");
	char whole[2048];
	glob_t found;

	if (folder && *folder)
		snprintf(whole, sizeof(whole), "%s/%s", folder, pattern);
	else
		snprintf(whole, sizeof(whole), "%s/interop-venvs/%s", build ? build : "build",
			 pattern);
	if (glob(whole, 0, NULL, &found))
		return NULL;
	snprintf(path, size, "%s", found.gl_pathv[found.gl_pathc - 1]);
	globfree(&found);
	return path;
}

#endif
