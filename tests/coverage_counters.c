/* SPDX-License-Identifier: MIT */
/*
 * Counts what processes ran however they end: linked into each program and library of scripts/coverage, with
 * tests/coverage_counters.ld, --wrap=_exit and --wrap=__gcov_fork. The counters of gcc are the pages of a file in COUNTERS, one for each
 * program or library, so all processes have them in common, and one that ends by exit() writes the counts of those that were killed, too.
 * A process that may not open the file shares its counters with its children.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* from the linker script: the pages with counters, of this program or library */
extern char coverage_counters[] __attribute__((visibility("hidden")));
extern char coverage_counters_end[] __attribute__((visibility("hidden")));

void __gcov_dump(void);
pid_t __wrap___gcov_fork(void);
void __real__exit(int status) __attribute__((noreturn));
void __wrap__exit(int status) __attribute__((noreturn));

static pid_t writer;

/* The file of this program or library as it was linked; -1 if there is none. */
static int open_counters(size_t size)
{
	char path[sizeof(COUNTERS) + 64];
	struct stat st;
	Dl_info about;
	int fd;

	if (!dladdr(coverage_counters, &about))
		return -1;
	if (getauxval(AT_PHDR) - (uintptr_t)about.dli_fbase < 4096)
		about.dli_fname = "/proc/self/exe";
	if (stat(about.dli_fname, &st))
		return -1;
	snprintf(path, sizeof(path), "%s/%ju-%ju.%09ju", COUNTERS, (uintmax_t)st.st_ino,
		 (uintmax_t)st.st_mtim.tv_sec, (uintmax_t)st.st_mtim.tv_nsec);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0)
		return -1;
	/* for tests that run as other users */
	fchmod(fd, 0666);
	if (!ftruncate(fd, (off_t)size))
		return fd;
	close(fd);
	return -1;
}

__attribute__((constructor(101))) static void share_counters(void)
{
	size_t size = coverage_counters_end - coverage_counters;
	void *shared;
	int fd;

	writer = getpid();
	if (!size)
		return;
	fd = open_counters(size);
	shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | (fd < 0 ? MAP_ANONYMOUS : 0),
		      fd, 0);
	if (shared != MAP_FAILED)
		mremap(shared, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, coverage_counters);
	if (fd >= 0)
		close(fd);
}

/* gcc calls this instead of fork(). Its own sets the counters to 0 in the child. */
pid_t __wrap___gcov_fork(void)
{
	return fork();
}

/* exit() writes counts by itself. A child that ends by _exit() writes none: there are thousands of them. */
void __wrap__exit(int status)
{
	if (getpid() == writer)
		__gcov_dump();
	__real__exit(status);
}
