/* SPDX-License-Identifier: MIT */
/* Read processes, their memory and their open files from /proc. */
#include "rpc/server/process_list.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Read the beginning of a file of /proc as text. */
static bool read_text(const char *pid, const char *file, char *text, size_t size)
{
	char path[300];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%s/%s", pid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, size - 1);
	close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	return true;
}

/* numbers behind the state: the first two, and the number of threads */
#define NUMBERS 17
#define PARENT	0
#define GROUP	1
#define TICKS	10 /* of user, of the kernel, and both of children */
#define THREADS 16

/* By strtol(): sscanf() would make a static server 8 KiB larger. */
static bool read_process(const char *name, struct process *p)
{
	long numbers[NUMBERS];
	char text[1024], *at;
	int i;

	if (*name < '1' || *name > '9' || !read_text(name, "stat", text, sizeof(text)))
		return false;
	/* "pid (name) state parent group ...": the name may contain anything */
	at = strrchr(text, ')');
	if (!at || strlen(at) < 4)
		return false;
	at += 3;
	for (i = 0; i < NUMBERS; i++) {
		char *end;

		numbers[i] = strtol(at, &end, 10);
		if (end == at)
			return false;
		at = end;
	}
	p->pid = atoi(name);
	p->parent = (pid_t)numbers[PARENT];
	p->group = (pid_t)numbers[GROUP];
	p->ticks = 0;
	for (i = TICKS; i < TICKS + 4; i++)
		p->ticks += numbers[i] > 0 ? (uint64_t)numbers[i] : 0;
	p->threads = numbers[THREADS] > 0 ? (unsigned int)numbers[THREADS] : 1;
	return true;
}

bool process_read(pid_t pid, struct process *out)
{
	char name[24];

	snprintf(name, sizeof(name), "%d", (int)pid);
	return read_process(name, out);
}

bool process_list(void (*each)(void *context, const struct process *p), void *context)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	bool found = false;
	struct process p;

	if (!dir)
		return false;
	while ((entry = readdir(dir))) {
		if (!read_process(entry->d_name, &p))
			continue;
		found = true;
		each(context, &p);
	}
	closedir(dir);
	return found;
}

static uint64_t kib_of(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

bool process_memory(pid_t pid, struct process_memory *sum)
{
	char name[24], text[4096];

	snprintf(name, sizeof(name), "%d", (int)pid);
	if (!read_text(name, "status", text, sizeof(text)))
		return false;
	sum->own += 1024 * kib_of(text, "\nRssAnon:");
	sum->shared += 1024 * kib_of(text, "\nRssShmem:");
	return strstr(text, "\nRssAnon:") != NULL;
}

static bool is_reading(long call)
{
	switch (call) {
	case SYS_read:
#ifdef SYS_recvfrom
	case SYS_recvfrom:
#endif
		return true;
	default:
		return false;
	}
}

enum process_wait process_waits(pid_t pid, int fd)
{
	struct stat socket, its;
	char name[40], text[200], *at;
	long call;

	snprintf(name, sizeof(name), "%d", (int)pid);
	if (!read_text(name, "syscall", text, sizeof(text)) || fstat(fd, &socket))
		return PROCESS_UNKNOWN;
	/* "running", or "NUMBER 0xARGUMENT ..." */
	call = strtol(text, &at, 10);
	if (at == text || !is_reading(call))
		return PROCESS_WORKS;
	snprintf(name, sizeof(name), "/proc/%d/fd/%ld", (int)pid, strtol(at, NULL, 16));
	if (stat(name, &its) || its.st_dev != socket.st_dev || its.st_ino != socket.st_ino)
		return PROCESS_WORKS;
	return PROCESS_READS;
}

/* of statfs(), for tmpfs and hugetlbfs */
#define TMPFS	  0x01021994
#define HUGETLBFS 0x958458f6

static bool is_in_memory(int folder, const char *name)
{
	int fd = openat(folder, name, O_PATH | O_CLOEXEC);
	struct statfs fs;
	bool memory = fd >= 0 && !fstatfs(fd, &fs) &&
		      ((uint32_t)fs.f_type == TMPFS || (uint32_t)fs.f_type == HUGETLBFS);

	if (fd >= 0)
		close(fd);
	return memory;
}

bool process_unnamed_files(pid_t pid,
			   void (*each)(void *context, const struct stat *file, bool in_memory),
			   void *context)
{
	struct dirent *entry;
	struct stat st;
	char name[40];
	DIR *dir;

	snprintf(name, sizeof(name), "/proc/%d/fd", (int)pid);
	dir = opendir(name);
	if (!dir)
		return errno != EACCES;
	while ((entry = readdir(dir)))
		if (!fstatat(dirfd(dir), entry->d_name, &st, 0) && S_ISREG(st.st_mode) &&
		    !st.st_nlink)
			each(context, &st, is_in_memory(dirfd(dir), entry->d_name));
	closedir(dir);
	return true;
}
