/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "runtime/device/device_table.h"

#ifdef CONFIG_BACKEND_PLUGINS
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "generated/install_paths.h"

static struct tenon_buffer problems = TENON_BUFFER_INIT;

/* Code that anybody could have put there is not run. What is not there at all is told by who opens it. */
static bool writable_by_all(const char *path)
{
	struct stat st;

	if (stat(path, &st) || !(st.st_mode & S_IWOTH))
		return false;
	tenon_buffer_printf(&problems,
			    "%s: anybody can write to it, so it is not used: chmod o-w\n", path);
	return true;
}

static void open_one(const char *path)
{
	const struct tenon_backend *backend;
	tenon_backend_entry_fn entry;
	const char *words;
	void *handle;

	if (writable_by_all(path))
		return;
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!handle) {
		/* glibc's words begin with the path, those of other libraries do not */
		words = dlerror();
		words = words ? words : "cannot be opened";
		tenon_buffer_printf(&problems, "%s%s%s\n",
				    strncmp(words, path, strlen(path)) ? path : "",
				    strncmp(words, path, strlen(path)) ? ": " : "", words);
		return;
	}
	*(void **)&entry = dlsym(handle, "tenon_backend_entry");
	backend = entry ? entry(TENON_DEVICE_ABI) : NULL;
	if (!entry)
		tenon_buffer_printf(&problems, "%s: no tenon_backend_entry: not a backend\n", path);
	else if (!backend)
		tenon_buffer_printf(&problems,
				    "%s: does not serve device ABI %u. Install the one built for "
				    "this version of Tenon\n",
				    path, TENON_DEVICE_ABI);
	else if (!tenon_backend_register(backend))
		return; /* stays open for ever */
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
	char path[4096];
	struct dirent **names;
	int i, n;

	if (length >= sizeof(path))
		return;
	snprintf(path, sizeof(path), "%.*s", (int)length, folder);
	if (writable_by_all(path))
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
	/* a set-uid program must not open what its caller points at */
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

	pthread_once(&once, open_all);
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
	(void)out;
	return 0;
}
#endif
