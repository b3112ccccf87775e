/* SPDX-License-Identifier: MIT */
/* Ways out of a sandbox: files outside of the session's folder. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "escape_calls.h"

static int open_readable(void)
{
	return open(READABLE, O_RDONLY | O_CLOEXEC);
}

static int64_t opens(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

int64_t reads_outside(void)
{
	return opens(OUTSIDE, O_RDONLY);
}

int64_t writes_outside(void)
{
	return opens(OUTSIDE, O_WRONLY);
}

int64_t creates_outside(void)
{
	return opens(OUTSIDE "-created", O_WRONLY | O_CREAT);
}

int64_t lists_outside(void)
{
	return opens("..", O_RDONLY | O_DIRECTORY);
}

int64_t lists_the_cache(void)
{
	return opens("../cache", O_RDONLY | O_DIRECTORY);
}

int64_t removes_outside(void)
{
	return stopped(unlink(OUTSIDE));
}

int64_t renames_outside(void)
{
	int64_t made = opens("renamed", O_WRONLY | O_CREAT);

	return made ? made : stopped(rename("renamed", OUTSIDE "-renamed"));
}

int64_t links_outside(void)
{
	return stopped(link(OUTSIDE, "linked"));
}

int64_t reads_through_a_link(void)
{
	(void)!symlink(OUTSIDE, "link");
	return opens("link", O_RDONLY);
}

int64_t reads_passwords(void)
{
	return opens("/etc/shadow", O_RDONLY);
}

int64_t lists_the_configuration(void)
{
	return opens("/etc", O_RDONLY | O_DIRECTORY);
}

/* ssh's, and certificates' */
int64_t reads_keys_of_services(void)
{
	int64_t answer = opens("/etc/ssh", O_RDONLY | O_DIRECTORY);

	return answer ? opens("/etc/ssl/private", O_RDONLY | O_DIRECTORY) : 0;
}

int64_t lists_what_the_kernel_lets_root_debug(void)
{
	int64_t answer = opens("/sys/kernel/debug", O_RDONLY | O_DIRECTORY);

	return answer ? opens("/sys/kernel/tracing", O_RDONLY | O_DIRECTORY) : 0;
}

int64_t makes_shared_memory(void)
{
	int64_t answer = opens("/dev/shm/tenon-escape", O_RDWR | O_CREAT);

	unlink("/dev/shm/tenon-escape");
	return answer;
}

static int64_t opens_of_server(const char *what, int flags)
{
	char path[64], byte;
	int fd;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)getppid(), what);
	fd = open(path, flags | O_CLOEXEC);
	if (fd < 0)
		return errno;
	n = read(fd, &byte, 1);
	close(fd);
	return n == 1 || flags != O_RDONLY ? 0 : EACCES;
}

int64_t reads_memory_of_the_server(void)
{
	return opens_of_server("mem", O_RDWR);
}

int64_t reads_environment_of_the_server(void)
{
	return opens_of_server("environ", O_RDONLY);
}

int64_t opens_a_descriptor_of_the_server(void)
{
	return opens_of_server("fd/2", O_WRONLY);
}

int64_t truncates_outside(void)
{
	return stopped(truncate(OUTSIDE, 0));
}

int64_t truncates_while_it_opens_for_reading(void)
{
	return opens("own", O_WRONLY | O_CREAT) ? EIO : opens("own", O_RDONLY | O_TRUNC);
}

int64_t opens_for_neither(void)
{
	return opens(OUTSIDE, 3);
}

int64_t changes_a_mode(void)
{
	return stopped(chmod(OUTSIDE, 0666));
}

int64_t changes_a_mode_at(void)
{
	return stopped(fchmodat(AT_FDCWD, OUTSIDE, 0666, 0));
}

int64_t changes_a_mode_of_a_descriptor(void)
{
	struct stat st;
	int fd = open_readable();

	if (fstat(fd, &st))
		return EIO;
	return stopped(fchmod(fd, st.st_mode & 07777));
}

int64_t changes_a_mode_newly(void)
{
	return stopped(syscall(452, AT_FDCWD, OUTSIDE, 0666, 0));
}

int64_t changes_an_owner(void)
{
	return stopped(chown(OUTSIDE, getuid(), getgid()));
}

int64_t changes_an_owner_of_a_descriptor(void)
{
	return stopped(fchown(open_readable(), (uid_t)-1, (gid_t)-1));
}

int64_t changes_times(void)
{
	return stopped(utimensat(AT_FDCWD, OUTSIDE, NULL, 0));
}

int64_t changes_times_of_a_descriptor(void)
{
	int fd = open("times", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	return fd < 0 ? EIO : stopped(futimens(fd, NULL));
}

int64_t sets_an_attribute(void)
{
	return stopped(setxattr(OUTSIDE, "user.escape", "1", 1, 0));
}

int64_t sets_an_attribute_of_a_descriptor(void)
{
	int fd = open("attributes", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	return fd < 0 ? EIO : stopped(fsetxattr(fd, "user.escape", "1", 1, 0));
}

int64_t removes_an_attribute(void)
{
	(void)!setxattr(OUTSIDE, "user.escape", "1", 1, 0);
	return stopped(removexattr(OUTSIDE, "user.escape"));
}

/* FS_IOC_GETFLAGS and FS_IOC_SETFLAGS */
int64_t sets_flags_of_a_file(void)
{
	int fd = open_readable(), flags = 0;

	if (ioctl(fd, _IOR('f', 1, long), &flags))
		return errno;
	return stopped(ioctl(fd, _IOW('f', 2, long), &flags));
}

/* FS_IOC_FSGETXATTR: who can set the project of a file leaves its quota */
int64_t sets_a_project_of_a_file(void)
{
	char attributes[28];

	return stopped(ioctl(open_readable(), _IOR('X', 31, char[28]), attributes));
}

int64_t makes_a_node(void)
{
	return stopped(mknodat(AT_FDCWD, "node", S_IFBLK | 0600, 0x800));
}

int64_t opens_by_handle(void)
{
	struct {
		unsigned int size;
		int type;
		char bytes[128];
	} handle = { .size = 128 };
	int mount;

	return stopped(syscall(SYS_name_to_handle_at, AT_FDCWD, OUTSIDE, &handle, &mount, 0));
}

int64_t watches_files(void)
{
	int fd = (int)syscall(SYS_inotify_init1, 0);

	return fd < 0 ? errno : stopped(syscall(SYS_inotify_add_watch, fd, "../cache", 0xfff));
}

int64_t changes_the_root(void)
{
	return stopped(syscall(SYS_chroot, "."));
}

int64_t mounts(void)
{
	return stopped(syscall(SYS_mount, "none", ".", "tmpfs", 0L, NULL));
}

int64_t mounts_newly(void)
{
	return stopped(syscall(428, AT_FDCWD, ".", 1));
}
