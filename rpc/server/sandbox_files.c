/* SPDX-License-Identifier: MIT */
/* Restrict the files of a session by Landlock. The numbers are the kernel's: some C libraries install no header of it. */
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

#include "generated/install_paths.h"
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

/* what sessions may do below a path */
struct rule {
	int ruleset;
	int version;
	uint64_t access;
};

static bool allow_descriptor(const struct rule *rule, int fd)
{
	struct beneath beneath = { .access = rule->access & handled(rule->version), .fd = fd };
	struct stat st;

	if (fstat(fd, &st))
		return false;
	if (!S_ISDIR(st.st_mode))
		beneath.access &= OF_FILES;
	return !syscall(ADD_RULE, rule->ruleset, PATH_BENEATH, &beneath, 0);
}

/* A path that does not exist needs no rule. */
static bool allow(const char *path, const void *context)
{
	int fd = open(path, O_PATH | O_CLOEXEC);
	bool ok;

	if (fd < 0)
		return true;
	ok = allow_descriptor(context, fd);
	close(fd);
	return ok;
}

/* Do something with each path until it returns false. */
typedef bool (*path_visit)(const char *path, const void *context);

static bool each_of(const char *const *paths, path_visit visit, const void *context)
{
	for (; paths && *paths; paths++)
		if (!visit(*paths, context))
			return false;
	return true;
}

/* The entries of a folder whose names are on a list (name_list.h). */
static bool each_named(const char *folder, const char *names, path_visit visit, const void *context)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	char path[300];
	bool ok = true;

	while (dir && ok && (entry = readdir(dir))) {
		if (!name_list_has(names, entry->d_name, strlen(entry->d_name)))
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		ok = visit(path, context);
	}
	if (dir)
		closedir(dir);
	return ok;
}

/*
 * What sessions read: programs, libraries, drivers and their configuration; what describes the
 * machine. Neither all of /etc, where a server that runs as root can read passwords and keys, nor
 * all of /sys, where root debugs and traces. C libraries, the loaders of OpenCL and Vulkan, PoCL
 * and its compiler, Mesa and linkers were seen to open these; compilers ask for the distribution.
 * The last names below /etc are the configuration of vendors' drivers.
 */
static const struct {
	const char *folder;
	const char *names;
} system_paths[] = {
	{ "/", "usr\0lib\0lib32\0lib64\0bin\0sbin\0opt\0proc\0" },
	{ "/nix", "store\0" },
	{ "/run", "opengl-driver\0" },
	{ "/sys", "block\0bus\0class\0dev\0devices\0module\0" },
	{ "/sys/firmware", "devicetree\0" },
	{ "/sys/fs", "cgroup\0" },
	{ "/sys/kernel", "mm\0" },
	{ "/etc", "ld.so.*\0ld-musl-*\0localtime\0locale.alias\0OpenCL\0vulkan\0glvnd\0drirc\0"
		  "os-release\0lsb-release\0redhat-release\0debian_version\0SuSE-release\0"
		  "gentoo-release\0nvidia*\0nv_tegra_release\0amd\0powervr.ini\0" },
	{ "/etc/xdg", "vulkan\0" },
};

/* Return: false when a visit does. */
static bool each_system_path(path_visit visit, const void *context)
{
	size_t i;

	for (i = 0; i < sizeof(system_paths) / sizeof(*system_paths); i++)
		if (!each_named(system_paths[i].folder, system_paths[i].names, visit, context))
			return false;
	return visit(TENON_BACKENDS_FILE, context);
}

static bool is_elsewhere(const char *folder, const void *context)
{
	const char *path = context;
	char resolved[PATH_MAX];
	size_t size;

	if (!realpath(folder, resolved))
		return true;
	size = strlen(resolved);
	return strncmp(path, resolved, size) || (path[size] != '/' && path[size]);
}

bool sandbox_reads(const struct sandbox_options *options, const char *path)
{
	char resolved[PATH_MAX];

	if (!realpath(path, resolved))
		return false;
	return !each_system_path(is_elsewhere, resolved) ||
	       !each_of(options->read, is_elsewhere, resolved) ||
	       !each_of(options->write, is_elsewhere, resolved);
}

/*
 * Nodes below /dev (a table of pointers would double the size). /dev/shm is not among
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

/*
 * Let sessions set names of threads: libcuda and C libraries write /proc/self/task/NUMBER/comm. A
 * rule of Landlock belongs to an inode in memory, and the kernel drops inodes of /proc when memory
 * is short. The open descriptor keeps this one.
 */
static bool allow_thread_names(struct rule rule)
{
	int fd = open("/proc/self/task", O_PATH | O_CLOEXEC);

	rule.access = READING | WRITE_FILE | TRUNCATE;
	return fd < 0 || allow_descriptor(&rule, fd);
}

bool sandbox_files(const struct sandbox_options *options)
{
	struct rule all = { .version = version() }, readable, cached;
	bool ok;

	if (all.version < 1)
		return false;
	all.ruleset = create_ruleset(all.version);
	if (all.ruleset < 0)
		return false;
	all.access = handled(all.version);
	readable = cached = all;
	readable.access = READING;
	cached.access = READ_FILE;
	ok = allow(options->folder, &all) && (!options->cache || allow(options->cache, &cached)) &&
	     each_system_path(allow, &readable) && each_named("/dev", devices, allow, &all) &&
	     allow_thread_names(all) && each_of(options->read, allow, &readable) &&
	     each_of(options->write, allow, &all) && !syscall(RESTRICT_SELF, all.ruleset, 0);
	close(all.ruleset);
	return ok;
}
