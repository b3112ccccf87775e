/* SPDX-License-Identifier: MIT */
/* Find files in the folder of a model. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "llm/llm_engine.h"

bool llm_is_folder(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

bool llm_has_file(const char *folder, const char *file)
{
	char path[4352];
	const int n = snprintf(path, sizeof(path), "%s/%s", folder, file);

	return n > 0 && (size_t)n < sizeof(path) && !access(path, F_OK);
}

static bool ends_with(const char *name, const char *suffix)
{
	size_t n = strlen(name), m = strlen(suffix);

	return n > m && !strcmp(name + n - m, suffix);
}

int llm_find_only(const char *folder, const char *suffix, char **out)
{
	DIR *d = opendir(folder);
	struct dirent *e;
	int err = 0;

	*out = NULL;
	if (!d)
		return tenon_error(-TENON_E_IO, "%s: %s", folder, strerror(errno));
	while (!err && (e = readdir(d))) {
		if (!ends_with(e->d_name, suffix))
			continue;
		if (*out)
			err = tenon_error(-TENON_E_EXISTS,
					  "%s has several files with the suffix %s", folder,
					  suffix);
		else if (asprintf(out, "%s/%s", folder, e->d_name) < 0) {
			*out = NULL;
			err = tenon_error(-TENON_E_NOMEM, "no memory for a path");
		}
	}
	closedir(d);
	if (err) {
		free(*out);
		*out = NULL;
	}
	return err;
}
