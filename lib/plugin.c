/* SPDX-License-Identifier: MIT */
/* Search the folders for a plug-in, check who can change it, open it and check its release. */
#include "lib/plugin.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tenon/backend/buffer.h>
#include <tenon/error.h>

#include "generated/install_paths.h"
#include "lib/brief_errors.h"
#include "lib/file_trust.h"
#include "lib/fork_gate.h"
#include "lib/library_path.h"
#include "lib/plugin_format.h"

static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;

/* of a search: beside libtenon.so in a build, beside it in an installation, as configured */
#define FOLDERS 3

/**
 * struct search - search for a plug-in
 * @plugin: the plug-in
 * @library: path of libtenon.so; "" if it is not known
 * @folder: the folders, without those that are not there or are listed already
 * @count: how many
 * @tried: files that could not be used, with the reasons
 */
struct search {
	const struct plugin *plugin;
	char library[PATH_MAX];
	char folder[FOLDERS][PATH_MAX];
	size_t count;
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
	return *library && as_closed_as(library, folder) && as_closed_as(library, path);
}

static const struct plugin_offer *open_library(const struct plugin *plugin, const char *path)
{
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	const struct plugin_offer *offer = handle ? dlsym(handle, "tenon_plugin") : NULL;
	const char *words;

	if (!offer) {
		words = dlerror();
		tenon_error(-TENON_E_IO, "%s", words ? words : path);
	} else if (strcmp(offer->version, TENON_VERSION_TEXT)) {
		tenon_error(-TENON_E_IO, "%s: another release than that of libtenon.so", path);
	} else if (!plugin_slot(offer, plugin->part)) {
		tenon_error(-TENON_E_IO, "%s: another plug-in than that of %s", path,
			    plugin->option);
	} else {
		return offer;
	}
	if (handle)
		dlclose(handle);
	return NULL;
}

/* ---- folders */

static void add_folder(struct search *s, const char *path)
{
	size_t i;

	for (i = 0; i < s->count; i++)
		if (!strcmp(s->folder[i], path))
			return;
	snprintf(s->folder[s->count++], PATH_MAX, "%s", path);
}

/* A folder that is not there is left out, unless its absence is what a message is about. */
static void find_folder(struct search *s, const char *path, bool always)
{
	char real[PATH_MAX];
	struct stat st;

	/* in the folder of a build, "tenon" is the command */
	if (realpath(path, real) && !stat(real, &st) && S_ISDIR(st.st_mode))
		add_folder(s, real);
	else if (always)
		add_folder(s, path);
}

static void find_beside(struct search *s, const char *below, bool always)
{
	const char *slash = strrchr(s->library, '/');
	char path[PATH_MAX];

	if (slash && snprintf(path, sizeof(path), "%.*s/%s", (int)(slash - s->library), s->library,
			      below) < (int)sizeof(path))
		find_folder(s, path, always);
}

/* NULL without memory: with its paths it is too large for the stacks of some threads. */
static struct search *begin(const struct plugin *plugin)
{
	struct search *s = malloc(sizeof(*s));

	if (!s)
		return NULL;
	s->plugin = plugin;
	s->count = 0;
	s->tried = (struct tenon_buffer)TENON_BUFFER_INIT;
	if (!library_path(s->library))
		*s->library = 0;
	find_beside(s, "plugins", false);
	find_beside(s, "tenon", false);
	find_folder(s, TENON_PLUGIN_FOLDER, true);
	return s;
}

static void end(struct search *s)
{
	tenon_buffer_fini(&s->tried);
	free(s);
}

static bool file_of(const struct search *s, size_t folder, char path[PATH_MAX])
{
	return snprintf(path, PATH_MAX, "%s/%s.so", s->folder[folder], s->plugin->name) < PATH_MAX;
}

/* ---- messages */

/* Append the package that holds a plug-in, from "relax:tenon-executors,cuda:tenon-backend-cuda". */
static bool print_package(const char *plugin, struct tenon_buffer *out)
{
	const char *at = TENON_PLUGIN_PACKAGES;
	size_t length = strlen(plugin), n;

	for (; *at; at += n + (at[n] == ',')) {
		n = strcspn(at, ",");
		if (n > length && at[length] == ':' && !memcmp(at, plugin, length)) {
			tenon_buffer_printf(out, "the package %.*s", (int)(n - length - 1),
					    at + length + 1);
			return true;
		}
	}
	return false;
}

static void note_tried(struct search *s, const char *path, const char *why)
{
	tenon_buffer_printf(&s->tried, "%s%s%s%s", s->tried.size ? "; " : "", path,
			    *path ? ": " : "", why);
}

static void print_failure(const struct search *s, struct tenon_buffer *out)
{
	const struct plugin *p = s->plugin;

	tenon_buffer_printf(out,
			    "%s=m: no plug-in %s.so of Tenon " TENON_VERSION_TEXT " can be used "
			    "(%s). Install ",
			    p->option, p->name, s->tried.data ? s->tried.data : "no memory");
	if (!print_package(p->name, out))
		tenon_buffer_printf(out, "the plug-in");
	/* not "CONFIG_X=y": some plug-ins have no question in the configuration */
	tenon_buffer_printf(out, ", or build with CONFIG_PLUGINS=n");
}

bool plugin_missing(const struct plugin *plugin, struct tenon_buffer *out)
{
	char path[PATH_MAX];
	struct search *s;
	bool found = false;
	size_t i;

	if (__atomic_load_n(&plugin->offer, __ATOMIC_ACQUIRE))
		return false;
	s = begin(plugin);
	if (!s) {
		tenon_buffer_printf(out, "%s=m: no memory to look for its plug-in", plugin->option);
		return true;
	}
	for (i = 0; i < s->count && !found; i++) {
		if (!file_of(s, i, path))
			continue;
		found = !access(path, F_OK);
		note_tried(s, path, "no such file");
	}
	if (!found)
		print_failure(s, out);
	end(s);
	return !found;
}

/* ---- opening */

static const struct plugin_offer *try_folder(struct search *s, size_t folder)
{
	char path[PATH_MAX], real[PATH_MAX];
	const struct plugin_offer *offer;
	int err;

	if (!file_of(s, folder, path))
		return NULL;
	if (access(path, F_OK)) {
		note_tried(s, path, "no such file");
		return NULL;
	}
	err = file_trust_path(path, real);
	if (err == -TENON_E_USAGE && trusted_as_library(s->library, s->folder[folder], path)) {
		strcpy(real, path);
		err = 0;
	}
	if (!err) {
		offer = open_library(s->plugin, real);
		if (offer)
			return offer;
	}
	note_tried(s, "", tenon_error_message());
	tenon_error_clear();
	return NULL;
}

static const struct plugin_offer *look(struct search *s)
{
	const struct plugin_offer *offer = NULL;
	size_t i;

	for (i = 0; i < s->count && !offer; i++)
		offer = try_folder(s, i);
	return offer;
}

/* Called with @open_lock held. */
static int open_plugin(struct plugin *plugin, int status)
{
	struct tenon_buffer text = TENON_BUFFER_INIT;
	struct search *s = begin(plugin);
	const struct plugin_offer *offer;
	int err = 0;

	if (!s)
		return tenon_error(-TENON_E_NOMEM, "no memory to look for plug-in %s",
				   plugin->name);
	offer = look(s);
	if (offer) {
		__atomic_store_n(&plugin->offer, offer, __ATOMIC_RELEASE);
	} else {
		print_failure(s, &text);
		err = tenon_error(status, "%s", text.data ? text.data : plugin->option);
	}
	end(s);
	tenon_buffer_fini(&text);
	return err;
}

int plugin_open(struct plugin *plugin, int status)
{
	int err = 0;

	if (__atomic_load_n(&plugin->offer, __ATOMIC_ACQUIRE))
		return 0;
	fork_gate_lock(&open_lock);
	if (!plugin->offer)
		err = open_plugin(plugin, status);
	fork_gate_unlock(&open_lock);
	return err;
}

int plugin_lacks(const struct plugin *plugin, const char *what)
{
	struct tenon_buffer text = TENON_BUFFER_INIT;
	Dl_info info;
	int err;

	if (!dladdr(plugin->offer, &info) || !info.dli_fname)
		info.dli_fname = plugin->name;
	tenon_buffer_printf(
		&text, "%s lacks %s: it was built with other options than libtenon.so. Install ",
		info.dli_fname, what);
	if (!print_package(plugin->name, &text))
		tenon_buffer_printf(&text, "%s.so", plugin->name);
	tenon_buffer_printf(&text, " of the same build");
	err = tenon_error(-TENON_E_UNSUPPORTED, "%s", text.data ? text.data : plugin->option);
	tenon_buffer_fini(&text);
	return err;
}

static const struct tenon_payload_format *format_of(const struct tenon_backend *b, const char *kind)
{
	const struct tenon_payload_format *const *f;
	const char *const *k;

	for (f = b->formats; f && *f; f++)
		for (k = (*f)->kinds; *k; k++)
			if (!strcmp(*k, kind))
				return *f;
	return NULL;
}

int plugin_format(struct plugin *plugin, const char *kind, size_t place, const char *slot,
		  const struct tenon_payload_format **out)
{
	int err = plugin_open(plugin, -TENON_E_NO_LOADER);

	if (err)
		return err;
	*out = format_of(plugin->offer->backend, kind);
	return *out && plugin_slot(*out, place) ? 0 : plugin_lacks(plugin, slot);
}
