/* SPDX-License-Identifier: MIT */
/* Landlock. The numbers are the kernel's: some C libraries install no header of it. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rpc/server/name_list.h"
#include "rpc/server/sandbox.h"

/* the same on all machines but alpha */
#define CREATE_RULESET 444
#define ADD_RULE       445
#define RESTRICT_SELF  446
#define VERSION	       1 /* flag of CREATE_RULESET */
#define PATH_BENEATH   1 /* type of a rule */

enum {
	EXECUTE = 1 << 0,
	WRITE_FILE = 1 << 1,
	READ_FILE = 1 << 2,
	READ_DIR = 1 << 3,
	REFER = 1 << 13,     /* version 2 */
	TRUNCATE = 1 << 14,  /* version 3 */
	IOCTL_DEV = 1 << 15, /* version 5 */
	ALL_1 = (1 << 13) - 1,

	READING = EXECUTE | READ_FILE | READ_DIR,
	/* what a rule for a file, not a folder, may have */
	OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV,
};

/* as in linux/landlock.h */
struct ruleset {
	uint64_t files;
	uint64_t network; /* version 4 */
	uint64_t scopes;  /* version 6 */
};

struct beneath {
	uint64_t access;
	int32_t fd;
} __attribute__((packed));

static int version(void)
{
	return (int)syscall(CREATE_RULESET, NULL, 0, VERSION);
}

static uint64_t handled(int v)
{
	return (uint64_t)ALL_1 | (v >= 2 ? REFER : 0) | (v >= 3 ? TRUNCATE : 0) |
	       (v >= 5 ? IOCTL_DEV : 0);
}

static int create_ruleset(int v)
{
	struct ruleset ruleset = { .files = handled(v), .network = 3, .scopes = 3 };
	size_t size = v >= 6 ? sizeof(ruleset) : v >= 4 ? 16 : 8;

	return (int)syscall(CREATE_RULESET, &ruleset, size, 0);
}

static bool allow_descriptor(int ruleset, int v, int fd, uint64_t access)
{
	struct beneath rule = { .access = access & handled(v), .fd = fd };
	struct stat st;

	if (fstat(fd, &st))
		return false;
	if (!S_ISDIR(st.st_mode))
		rule.access &= OF_FILES;
	return !syscall(ADD_RULE, ruleset, PATH_BENEATH, &rule, 0);
}

/* A path that does not exist needs no rule. */
static bool allow(int ruleset, int v, const char *path, uint64_t access)
{
	int fd = open(path, O_PATH | O_CLOEXEC);
	bool ok;

	if (fd < 0)
		return true;
	ok = allow_descriptor(ruleset, v, fd, access);
	close(fd);
	return ok;
}

static bool allow_list(int ruleset, int v, const char *const *paths, uint64_t access)
{
	for (; paths && *paths; paths++)
		if (!allow(ruleset, v, *paths, access))
			return false;
	return true;
}

/* programs, libraries, drivers and their configuration; what describes the machine */
static const char *const system_paths[] = { "/usr", "/lib",  "/lib32",	   "/lib64",
					    "/bin", "/sbin", "/opt",	   "/etc",
					    "/sys", "/proc", "/nix/store", "/run/opengl-driver",
					    NULL };

static bool is_below(const char *path, const char *const *folders)
{
	char folder[PATH_MAX];
	size_t size;

	for (; folders && *folders; folders++) {
		if (!realpath(*folders, folder))
			continue;
		size = strlen(folder);
		if (!strncmp(path, folder, size) && (path[size] == '/' || !path[size]))
			return true;
	}
	return false;
}

bool sandbox_reads(const struct sandbox_options *options, const char *path)
{
	char resolved[PATH_MAX];

	if (!realpath(path, resolved))
		return false;
	return is_below(resolved, system_paths) || is_below(resolved, options->read) ||
	       is_below(resolved, options->write);
}

/*
 * Nodes below /dev (name_list.h; a table of pointers would double the size). /dev/shm is not among
 * them: it is shared by all programs of the user, and its files persist.
 */
static const char devices[] = "null\0"
			      "zero\0"
			      "full\0"
			      "random\0"
			      "urandom\0"
			      "dri\0"
			      "nvidia*\0"
			      "nvhost*\0"
			      "nvmap\0"
			      "nvgpu\0"
			      "kfd\0"
			      "mali*\0"
			      "kgsl-3d0\0"
			      "accel\0"
			      "dma_heap\0"
			      "udmabuf\0"
			      "tenon\0";

static bool allow_devices(int ruleset, int v)
{
	DIR *dir = opendir("/dev");
	struct dirent *entry;
	char path[300];
	bool ok = true;

	while (dir && ok && (entry = readdir(dir))) {
		if (!name_list_has(devices, entry->d_name, strlen(entry->d_name)))
			continue;
		snprintf(path, sizeof(path), "/dev/%s", entry->d_name);
		ok = allow(ruleset, v, path, handled(v));
	}
	if (dir)
		closedir(dir);
	return ok;
}

/*
 * Let sessions set names of threads: libcuda and C libraries write /proc/self/task/NUMBER/comm. A
 * rule of Landlock belongs to an inode in memory, and the kernel drops inodes of /proc when memory
 * is short. The open descriptor keeps this one.
 */
static bool allow_thread_names(int ruleset, int v)
{
	int fd = open("/proc/self/task", O_PATH | O_CLOEXEC);

	return fd < 0 || allow_descriptor(ruleset, v, fd, READING | WRITE_FILE | TRUNCATE);
}

bool sandbox_files(const struct sandbox_options *options)
{
	int v = version(), ruleset;
	bool ok;

	if (v < 1)
		return false;
	ruleset = create_ruleset(v);
	if (ruleset < 0)
		return false;
	ok = allow(ruleset, v, options->folder, handled(v)) &&
	     (!options->cache || allow(ruleset, v, options->cache, READ_FILE)) &&
	     allow_list(ruleset, v, system_paths, READING) && allow_devices(ruleset, v) &&
	     allow_thread_names(ruleset, v) && allow_list(ruleset, v, options->read, READING) &&
	     allow_list(ruleset, v, options->write, handled(v)) &&
	     !syscall(RESTRICT_SELF, ruleset, 0);
	close(ruleset);
	return ok;
}
