/* SPDX-License-Identifier: MIT */
/* The cgroup of the server: finding it, making it the parent of those of sessions, and leaving it as it was. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <tenon/backend/buffer.h>
#include <time.h>
#include <unistd.h>

#include "rpc/server/session_cgroup.h"

/* how long the last processes of sessions may take to end, in steps of 10 ms */
#define END_STEPS 200

/* ---- text files of the kernel */

/* Read a file as text; NULL with errno. */
static char *read_text(const char *path)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	char part[4096];
	ssize_t n;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return NULL;
	while ((n = read(fd, part, sizeof(part))) > 0)
		tenon_buffer_append(&b, part, (size_t)n);
	close(fd);
	tenon_buffer_u8(&b, 0);
	if (n < 0 || b.status) {
		tenon_buffer_fini(&b);
		errno = EIO;
		return NULL;
	}
	return (char *)b.data;
}

static bool write_text(const char *folder, const char *file, const char *text)
{
	char path[PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	return cgroup_write(AT_FDCWD, path, text);
}

/* Test whether a file of a cgroup, words with spaces or lines between, has a word. */
static bool has_word(const char *folder, const char *file, const char *word)
{
	char path[PATH_MAX + 64], *text, *rest, *at;
	bool found = false;

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	text = read_text(path);
	for (at = text ? strtok_r(text, " \n", &rest) : NULL; at; at = strtok_r(NULL, " \n", &rest))
		found |= !strcmp(at, word);
	free(text);
	return found;
}

/* ---- finding it */

/* The path of a line "0::PATH" of /proc/self/cgroup: the hierarchy of version 2. */
static bool own_path(const char *own, char path[PATH_MAX])
{
	const char *line = own;

	while (line && strncmp(line, "0::/", 4)) {
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	if (!line || strcspn(line + 3, "\n") >= PATH_MAX)
		return false;
	snprintf(path, PATH_MAX, "%.*s", (int)strcspn(line + 3, "\n"), line + 3);
	return true;
}

/* A line of mountinfo: "36 35 98:0 ROOT POINT options - cgroup2 source options". */
static bool is_in_mount(const char *line, size_t size, const char *own, char path[PATH_MAX])
{
	const char *end = line + size, *root = line, *point, *type = strstr(line, " - cgroup2 ");
	size_t root_size, point_size;
	int i;

	if (!type || type >= end)
		return false;
	for (i = 0; i < 3 && root; i++) {
		root = strchr(root, ' ');
		root = root ? root + 1 : NULL;
	}
	point = root ? strchr(root, ' ') : NULL;
	if (!point || point >= type)
		return false;
	root_size = (size_t)(point++ - root);
	point_size = strcspn(point, " ");
	/* spaces and the like are written as numbers: there is no such path in practice */
	if (memchr(point, '\\', point_size))
		return false;
	if (root_size == 1)
		root_size = 0;
	if (strncmp(own, root, root_size) || (own[root_size] && own[root_size] != '/'))
		return false;
	own += root_size;
	if (!strcmp(own, "/"))
		own = "";
	return snprintf(path, PATH_MAX, "%.*s%s", (int)point_size, point, own) < PATH_MAX;
}

bool server_cgroup_find(const char *mounts, const char *own, char path[PATH_MAX])
{
	char in_hierarchy[PATH_MAX];
	const char *line;

	if (!own_path(own, in_hierarchy))
		return false;
	for (line = mounts; *line; line += strcspn(line, "\n"), line += *line == '\n')
		if (is_in_mount(line, strcspn(line, "\n"), in_hierarchy, path))
			return true;
	return false;
}

static bool find(struct server_cgroup *g, char why[CGROUP_REASON])
{
	char *mounts = read_text("/proc/self/mountinfo"), *own = read_text("/proc/self/cgroup");
	const bool found = mounts && own && server_cgroup_find(mounts, own, g->path);

	free(mounts);
	free(own);
	if (!found)
		snprintf(why, CGROUP_REASON, "no hierarchy of cgroup v2 is mounted");
	else if (!has_word(g->path, "cgroup.controllers", "memory"))
		snprintf(why, CGROUP_REASON, "%.300s has no memory controller", g->path);
	else
		return true;
	return false;
}

/* ---- handing controllers to the cgroups of sessions */

static void name_own(const struct server_cgroup *g, char path[PATH_MAX + 32])
{
	snprintf(path, PATH_MAX + 32, "%s/tenon-%d", g->path, (int)getpid());
}

static bool is_alone(const struct server_cgroup *g)
{
	char path[PATH_MAX + 32], own[16], *text;
	bool alone;

	snprintf(path, sizeof(path), "%s/cgroup.procs", g->path);
	snprintf(own, sizeof(own), "%d\n", (int)getpid());
	text = read_text(path);
	alone = text && !strcmp(text, own);
	free(text);
	return alone;
}

static bool move(struct server_cgroup *g, char why[CGROUP_REASON])
{
	char path[PATH_MAX + 32];

	if (!is_alone(g)) {
		snprintf(why, CGROUP_REASON,
			 "other processes are in %.200s: start the server in a cgroup of its own, "
			 "with "
			 "systemd-run --scope -p Delegate=yes",
			 g->path);
		return false;
	}
	name_own(g, path);
	if (!mkdir(path, 0700)) {
		if (write_text(path, "cgroup.procs", "0")) {
			g->moved = true;
			return true;
		}
		rmdir(path);
	}
	snprintf(why, CGROUP_REASON, "%.300s: %s", path, strerror(errno));
	return false;
}

/* Those below may use a controller; the one at the root may keep its processes. */
static bool enable(struct server_cgroup *g, const char *controller, char why[CGROUP_REASON])
{
	char change[16];

	if (has_word(g->path, "cgroup.subtree_control", controller))
		return true;
	snprintf(change, sizeof(change), "+%s", controller);
	if (write_text(g->path, "cgroup.subtree_control", change))
		return true;
	if (errno == EBUSY && !g->moved) {
		if (!move(g, why))
			return false;
		if (write_text(g->path, "cgroup.subtree_control", change))
			return true;
	}
	snprintf(why, CGROUP_REASON, "%.300s/cgroup.subtree_control: %s", g->path, strerror(errno));
	return false;
}

/* Make a cgroup and start a process in it, as a session does. */
static bool try_one(struct server_cgroup *g, char why[CGROUP_REASON])
{
	const int cgroup = session_cgroup_make(g, 0, UINT64_C(1) << 30, 16);
	pid_t pid;

	if (cgroup < 0) {
		snprintf(why, CGROUP_REASON, "a cgroup in %.300s: %s", g->path, strerror(errno));
		return false;
	}
	pid = session_cgroup_fork(cgroup);
	if (!pid)
		_exit(0);
	if (pid < 0)
		snprintf(why, CGROUP_REASON, "a process in %.300s: %s", g->path, strerror(errno));
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	session_cgroup_remove(g, 0, cgroup);
	return pid > 0;
}

bool server_cgroup_open(struct server_cgroup *g, char why[CGROUP_REASON])
{
	char unused[CGROUP_REASON];

	*g = (struct server_cgroup){ .path = "" };
	if (find(g, why)) {
		server_cgroup_clean(g);
		if (enable(g, "memory", why)) {
			g->pids = has_word(g->path, "cgroup.controllers", "pids") &&
				  enable(g, "pids", unused);
			if (try_one(g, why))
				return true;
		}
		server_cgroup_close(g);
	}
	*g->path = '\0';
	return false;
}

/* ---- removing */

/* "tenon-PID" or "tenon-PID-NUMBER", of this server or of one that is dead */
static bool may_be_removed(const char *name)
{
	char *end;
	long pid;

	if (strncmp(name, "tenon-", 6))
		return false;
	pid = strtol(name + 6, &end, 10);
	return end != name + 6 && (!*end || *end == '-') && pid > 0 &&
	       ((pid == getpid() && *end) || (kill((pid_t)pid, 0) && errno == ESRCH));
}

/* The kernel removes none that has processes. */
void server_cgroup_clean(struct server_cgroup *g)
{
	struct dirent *entry;
	DIR *dir = opendir(g->path);

	g->leftover = false;
	while (dir && (entry = readdir(dir)))
		if (may_be_removed(entry->d_name) &&
		    unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR) && errno == EBUSY)
			g->leftover = true;
	if (dir)
		closedir(dir);
}

void server_cgroup_close(struct server_cgroup *g)
{
	const struct timespec step = { 0, 10000000 };
	char path[PATH_MAX + 32];
	int i;

	if (!*g->path)
		return;
	for (i = 0; g->leftover && i < END_STEPS; i++) {
		server_cgroup_clean(g);
		if (g->leftover)
			nanosleep(&step, NULL);
	}
	if (!g->moved)
		return;
	if (g->pids)
		write_text(g->path, "cgroup.subtree_control", "-pids");
	write_text(g->path, "cgroup.subtree_control", "-memory");
	name_own(g, path);
	if (write_text(g->path, "cgroup.procs", "0"))
		rmdir(path);
	g->moved = false;
}
