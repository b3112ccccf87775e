/* SPDX-License-Identifier: MIT */
/* Mount memory over the folder of a session, for its processes alone: the kernel then limits its files at each page. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "rpc/server/folder.h"
#include "rpc/server/sandbox.h"

static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok;

	if (fd < 0)
		return false;
	errno = 0;
	ok = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	close(fd);
	return ok;
}

/* In a user namespace of its own this user keeps its number, and there are no others. */
static bool map_ids(uid_t user, gid_t group)
{
	char users[40], groups[40];

	snprintf(users, sizeof(users), "%u %u 1", (unsigned int)user, (unsigned int)user);
	snprintf(groups, sizeof(groups), "%u %u 1", (unsigned int)group, (unsigned int)group);
	return write_file("/proc/self/setgroups", "deny") &&
	       write_file("/proc/self/uid_map", users) && write_file("/proc/self/gid_map", groups);
}

/* What is mounted here, no other process sees. */
static bool leave_mounts(bool *own_users)
{
	const uid_t user = geteuid();
	const gid_t group = getegid();

	*own_users = unshare(CLONE_NEWNS);
	if (*own_users &&
	    (errno != EPERM || unshare(CLONE_NEWUSER | CLONE_NEWNS) || !map_ids(user, group)))
		return false;
	return !mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL);
}

int session_folder_mount(const char *path, uint64_t bytes)
{
	char options[80];
	bool own_users;
	int fd;

	/* a size of 0 is no limit */
	snprintf(options, sizeof(options), "size=%" PRIu64 ",nr_inodes=%d,mode=700",
		 bytes ? bytes : 1, FOLDER_ENTRIES_MOST);
	if (!leave_mounts(&own_users) ||
	    mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, options))
		return -1;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* a namespace of users gives all capabilities, and this user had none */
	if (fd >= 0 && own_users && !sandbox_drop_capabilities(0)) {
		close(fd);
		return -1;
	}
	return fd;
}
