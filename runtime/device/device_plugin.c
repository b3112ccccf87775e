/* SPDX-License-Identifier: MIT */
/* Open the plug-ins of third parties, after checking who can change them. */
#include <stdlib.h>

#include "lib/brief_errors.h"
#include "runtime/device/device_table.h"

#ifdef CONFIG_DSO
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <tenon/backend/buffer.h>

#include "generated/install_paths.h"
#include "lib/file_trust.h"
#include "lib/fork_gate.h"

static struct tenon_buffer problems = TENON_BUFFER_INIT;

/*
 * Resolve a path, and add a line to the problems when other users can change the file. A path that
 * does not exist is not reported.
 */
static int check_trust(const char *path, char real[PATH_MAX])
{
	int err = file_trust_path(path, real);

	if (err == -TENON_E_USAGE)
		tenon_buffer_printf(&problems, "%s: %s\n", path, tenon_error_message());
	tenon_error_clear();
	return err;
}

static void *open_library(const char *path, const char *real)
{
	void *handle = dlopen(real, RTLD_NOW | RTLD_LOCAL);
	const char *words;

	if (handle)
		return handle;
	/* glibc's messages begin with the path, those of other C libraries do not */
	words = dlerror();
	words = words ? words : "cannot be opened";
	tenon_buffer_printf(&problems, "%s%s%s\n", strncmp(words, path, strlen(path)) ? path : "",
			    strncmp(words, path, strlen(path)) ? ": " : "", words);
	return NULL;
}

static void open_one(const char *path)
{
	const struct tenon_backend *backend;
	tenon_backend_entry_fn entry;
	char real[PATH_MAX];
	void *handle;

	if (check_trust(path, real))
		return;
	handle = open_library(path, real);
	if (!handle)
		return;
	*(void **)&entry = dlsym(handle, "tenon_backend_entry");
	backend = entry ? entry(TENON_PLUGIN_ABI) : NULL;
	if (!entry)
		tenon_buffer_printf(&problems, "%s: no tenon_backend_entry: not a backend\n", path);
	else if (!backend)
		tenon_buffer_printf(&problems,
				    "%s: does not serve device ABI %u. Install the one built for "
				    "this version of Tenon\n",
				    path, TENON_PLUGIN_ABI);
	else if (!tenon_backend_register(backend))
		return; /* never closed */
	else
		tenon_buffer_printf(&problems, "%s: %s\n", path, tenon_error_message());
	tenon_error_clear();
	dlclose(handle);
}

static int is_library(const struct dirent *e)
{
	size_t n = strlen(e->d_name);

	return n > 3 && !strcmp(e->d_name + n - 3, ".so");
}

static void open_folder(const char *folder, size_t length, bool asked)
{
	char path[PATH_MAX], real[PATH_MAX];
	struct dirent **names;
	int i, n;

	if (length >= sizeof(path))
		return;
	snprintf(path, sizeof(path), "%.*s", (int)length, folder);
	if (check_trust(path, real) == -TENON_E_USAGE)
		return;
	n = scandir(path, &names, is_library, alphasort);
	if (n < 0) {
		if (errno == ENOMEM)
			problems.status =
				tenon_error(-TENON_E_NOMEM, "%s: no memory to list it", path);
		else if (asked)
			tenon_buffer_printf(&problems, "%s (from TENON_BACKEND_PATH): %s\n", path,
					    strerror(errno));
		return;
	}
	for (i = 0; i < n; i++) {
		int wrote = snprintf(path, sizeof(path), "%.*s/%s", (int)length, folder,
				     names[i]->d_name);

		if (wrote > 0 && (size_t)wrote < sizeof(path))
			open_one(path);
		free(names[i]);
	}
	free(names);
}

static void open_all(void)
{
	/* a set-uid program must not open files that its caller names */
	const char *path = secure_getenv("TENON_BACKEND_PATH");

	while (path && *path) {
		size_t n = strcspn(path, ":");

		if (n)
			open_folder(path, n, true);
		path += n + (path[n] == ':');
	}
	open_folder(TENON_BACKEND_FOLDER, strlen(TENON_BACKEND_FOLDER), false);
}

void plugins_load(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	fork_gate_enter();
	pthread_once(&once, open_all);
	fork_gate_leave();
}

int plugins_problems(struct tenon_buffer *out)
{
	if (problems.status)
		return tenon_error(problems.status, "no memory for the problems of plug-ins");
	return tenon_buffer_append(out, problems.data, problems.size);
}
#else
void plugins_load(void)
{
}

int plugins_problems(struct tenon_buffer *out)
{
	return 0;
}
#endif
