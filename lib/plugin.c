/* SPDX-License-Identifier: MIT */
#include "lib/plugin.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tenon/buffer.h>
#include <tenon/error.h>

#include "generated/install_paths.h"
#include "lib/brief_errors.h"
#include "lib/file_trust.h"
#include "lib/fork_gate.h"
#include "lib/library_path.h"

static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;

/**
 * struct search - search for a plug-in
 * @plugin: the plug-in
 * @library: path of libtenon.so
 * @tried: files that could not be used, with the reasons
 */
struct search {
	const struct plugin *plugin;
	const char *library;
	struct tenon_buffer tried;
};

static bool as_closed_as(const char *library, const char *path)
{
	struct stat l, st;

	if (stat(library, &l) || lstat(path, &st) || S_ISLNK(st.st_mode))
		return false;
	if (st.st_uid && st.st_uid != geteuid() && st.st_uid != l.st_uid)
		return false;
	if (st.st_mode & S_IWGRP && st.st_gid != l.st_gid)
		return false;
	return !(st.st_mode & ~l.st_mode & (S_IWGRP | S_IWOTH));
}

/*
 * A user who can change libtenon.so gains nothing by changing a file beside it. So in the build
 * folder of another user or group, plug-ins are trusted as far as the library.
 */
static bool trusted_as_library(const char *library, const char *folder, const char *path)
{
	return library && as_closed_as(library, folder) && as_closed_as(library, path);
}

static const struct plugin_entry *open_library(const char *path)
{
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	const struct plugin_entry *entry = handle ? dlsym(handle, "tenon_plugin") : NULL;
	const char *words;

	if (!entry) {
		words = dlerror();
		tenon_error(-TENON_E_IO, "%s", words ? words : path);
	} else if (strcmp(entry->version, TENON_VERSION_TEXT)) {
		tenon_error(-TENON_E_IO, "%s: another release than that of libtenon.so", path);
	} else {
		return entry;
	}
	if (handle)
		dlclose(handle);
	return NULL;
}

static const struct plugin_entry *try_folder(struct search *s, const char *folder,
					     const char *library)
{
	char path[PATH_MAX], real[PATH_MAX];
	const struct plugin_entry *entry;
	int err;

	if (snprintf(path, sizeof(path), "%s/%s.so", folder, s->plugin->name) >= (int)sizeof(path))
		return NULL;
	err = file_trust_path(path, real);
	if (err == -TENON_E_USAGE && trusted_as_library(library, folder, path)) {
		strcpy(real, path);
		err = 0;
	}
	if (!err) {
		entry = open_library(real);
		if (entry)
			return entry;
	}
	tenon_buffer_printf(&s->tried, "%s%s", s->tried.size ? "; " : "", tenon_error_message());
	tenon_error_clear();
	return NULL;
}

static const struct plugin_entry *try_beside(struct search *s, const char *below)
{
	char folder[PATH_MAX];
	const char *slash = strrchr(s->library, '/');

	if (snprintf(folder, sizeof(folder), "%.*s/%s", (int)(slash - s->library), s->library,
		     below) >= (int)sizeof(folder))
		return NULL;
	return try_folder(s, folder, s->library);
}

static const struct plugin_entry *look(struct search *s)
{
	const struct plugin_entry *entry = NULL;
	char library[PATH_MAX];

	if (library_path(library)) {
		s->library = library;
		entry = try_beside(s, "plugins");
		if (!entry)
			entry = try_beside(s, "tenon");
	}
	return entry ? entry : try_folder(s, TENON_PLUGIN_FOLDER, NULL);
}

int plugin_open(struct plugin *plugin, int status)
{
	struct search s = { .plugin = plugin, .tried = TENON_BUFFER_INIT };
	const struct plugin_entry *entry;
	int err = 0;

	if (__atomic_load_n(&plugin->offer, __ATOMIC_ACQUIRE))
		return 0;
	fork_gate_lock(&open_lock);
	if (!plugin->offer) {
		entry = look(&s);
		if (entry)
			__atomic_store_n(&plugin->offer, entry->offer, __ATOMIC_RELEASE);
		else
			err = tenon_error(status,
					  "%s=m: no plug-in %s.so of Tenon " TENON_VERSION_TEXT
					  " can be used (%s). Install its package, or build with "
					  "%s=y",
					  plugin->option, plugin->name,
					  s.tried.data ? s.tried.data : "none was found",
					  plugin->option);
	}
	fork_gate_unlock(&open_lock);
	tenon_buffer_fini(&s.tried);
	return err;
}
