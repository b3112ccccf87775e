/* SPDX-License-Identifier: MIT */
/* List the nodes of /dev/dri and /dev/accel by sysfs, with details of libdrm. */
#include "driver/drm/drm_nodes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tenon/error.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "lib/vendor_library.h"

/* first fields of libdrm's drmVersion; the rest is not used */
struct drm_version {
	int major;
	int minor;
	int patchlevel;
	int name_size;
	char *name;
};

static struct {
	struct drm_version *(*get_version)(int fd);
	void (*free_version)(struct drm_version *version);
} drm;

static char missing[512]; /* message of the dynamic linker */

static void open_library(void)
{
	static const char *const names[] = { "libdrm.so.2", NULL };
	static const struct vendor_symbol symbols[] = {
		{ "drmGetVersion", 0, false },
		{ "drmFreeVersion", sizeof(void *), false },
	};
	void *handle;

	if (!vendor_library_open(names, "Debian: apt install libdrm2", symbols, 2, &drm, &handle))
		return;
	snprintf(missing, sizeof(missing), "%s", tenon_error_message());
	tenon_error_clear();
}

bool drm_library_found(const char **words)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, open_library);
	*words = missing;
	return drm.get_version != NULL;
}

static void ask_library(int fd, struct drm_node *n)
{
	struct drm_version *v;
	const char *words;

	if (!drm_library_found(&words))
		return;
	v = drm.get_version(fd);
	if (!v)
		return;
	snprintf(n->driver, sizeof(n->driver), "%.*s", v->name_size, v->name ? v->name : "");
	snprintf(n->version, sizeof(n->version), "%d.%d.%d", v->major, v->minor, v->patchlevel);
	drm.free_version(v);
}

/* Read the last component of a link in sysfs. */
static void link_name(const char *root, const struct drm_node *n, const char *which, char *out,
		      size_t room)
{
	char path[PATH_MAX], target[PATH_MAX];
	const char *name, *slash;
	ssize_t length;

	snprintf(path, sizeof(path), "%s/sys/class/%s/%s/%s", root, n->accel ? "accel" : "drm",
		 strrchr(n->path, '/') + 1, which);
	length = readlink(path, target, sizeof(target) - 1);
	if (length <= 0)
		return;
	target[length] = 0;
	slash = strrchr(target, '/');
	name = slash ? slash + 1 : target;
	if (strlen(name) < room)
		strcpy(out, name);
}

/* Test for the form "0000:03:00.0"; other buses use other names. */
static bool is_pci(const char *name)
{
	unsigned int domain, bus, device, function;
	int end = 0;

	return sscanf(name, "%x:%x:%x.%x%n", &domain, &bus, &device, &function, &end) == 4 &&
	       !name[end];
}

static void ask_sysfs(const char *root, struct drm_node *n)
{
	char device[sizeof(n->pci)] = "";

	if (!*n->driver)
		link_name(root, n, "device/driver", n->driver, sizeof(n->driver));
	link_name(root, n, "device", device, sizeof(device));
	if (is_pci(device))
		strcpy(n->pci, device);
}

static void find_group(const char *path, struct drm_node *n)
{
	char buffer[1024];
	struct group group, *found = NULL;
	struct stat st;

	if (!stat(path, &st) && !getgrgid_r(st.st_gid, &group, buffer, sizeof(buffer), &found) &&
	    found)
		snprintf(n->group, sizeof(n->group), "%s", found->gr_name);
}

static void look_at(const char *root, struct drm_node *n)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s%s", root, n->path);
	fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		n->error = errno;
	} else {
		ask_library(fd, n);
		close(fd);
	}
	find_group(path, n);
	ask_sysfs(root, n);
}

static size_t read_folder(const char *root, const char *folder, const char *prefix, bool accel,
			  struct drm_node *nodes, size_t most)
{
	char path[PATH_MAX];
	struct dirent **names;
	size_t found = 0;
	int i, count, number, end;

	snprintf(path, sizeof(path), "%s%s", root, folder);
	count = scandir(path, &names, NULL, versionsort);
	if (count < 0 && errno == ENOMEM)
		tenon_error(-TENON_E_NOMEM, "%s: no memory to list it", path);
	for (i = 0; i < count; i++) {
		const char *name = names[i]->d_name;
		struct drm_node *n = &nodes[found];

		end = 0;
		if (found < most && !strncmp(name, prefix, strlen(prefix)) &&
		    sscanf(name + strlen(prefix), "%d%n", &number, &end) == 1 &&
		    !name[strlen(prefix) + (size_t)end] && strlen(name) < 32) {
			memset(n, 0, sizeof(*n));
			snprintf(n->path, sizeof(n->path), "%s/%.31s", folder, name);
			n->number = number;
			n->accel = accel;
			look_at(root, n);
			found++;
		}
		free(names[i]);
	}
	if (count >= 0)
		free(names);
	return found;
}

size_t drm_nodes_read(const char *root, struct drm_node *nodes, size_t most)
{
	size_t n = read_folder(root, "/dev/dri", "renderD", false, nodes, most);

	return n + read_folder(root, "/dev/accel", "accel", true, nodes + n, most - n);
}
