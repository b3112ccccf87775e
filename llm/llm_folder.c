/* SPDX-License-Identifier: MIT */
/* Find files in the folder of a model. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "lib/option.h"
#include "llm/llm_engine.h"

bool llm_is_folder(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

bool llm_is_absent(const char *path)
{
	return access(path, F_OK) && (errno == ENOENT || errno == ENOTDIR);
}

bool llm_has_file(const char *folder, const char *file)
{
	char path[4352];
	const int n = snprintf(path, sizeof(path), "%s/%s", folder, file);

	return n > 0 && (size_t)n < sizeof(path) && !llm_is_absent(path);
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

static bool is_gguf(const char *path)
{
	char head[4] = "";
	/* a named pipe without a writer has no bytes; nothing waits for them */
	const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	const bool is = fd >= 0 && read(fd, head, 4) == 4 && !memcmp(head, "GGUF", 4);

	if (fd >= 0)
		close(fd);
	return is;
}

int llm_find_gguf(const struct tenon_llm *llm, char **out)
{
	int err;

	*out = NULL;
	if (!OPTION_ON(PARAMS_FILES))
		return 0;
	if (llm->weights_file && is_gguf(llm->weights_file)) {
		*out = strdup(llm->weights_file);
		return *out ? 0 : tenon_error(-TENON_E_NOMEM, "no memory for a path");
	}
	err = llm_find_only(llm->folder, ".gguf", out);
	/* of several, none is the model's */
	if (err == -TENON_E_EXISTS) {
		tenon_error_clear();
		err = 0;
	}
	return err;
}
