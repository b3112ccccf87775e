/* SPDX-License-Identifier: MIT */
/*
 * Counts what processes ran however they end: linked into each program and library of scripts/coverage, with
 * tests/coverage_counters.ld and --wrap=_exit. The counters of gcc are the pages of a file in COUNTERS, one for each program or library,
 * so all processes have them in common, and one that ends by exit() writes the counts of those that were killed, too. A process that may
 * not open the file shares its counters with its children.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
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
pid_t __gcov_fork(void);
int __gcov_execl(const char *path, char *word, ...);
int __gcov_execlp(const char *path, char *word, ...);
int __gcov_execv(const char *path, char *const words[]);
int __gcov_execvp(const char *path, char *const words[]);
int __gcov_execve(const char *path, char *const words[], char *const environment[]);
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

/* Put the counters on other pages: those of a file, or of this process alone if it is -1 and the pages are private. */
static void move_counters(int fd, int kind)
{
	size_t size = coverage_counters_end - coverage_counters;
	void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, kind | (fd < 0 ? MAP_ANONYMOUS : 0),
			   fd, 0);

	if (pages == MAP_FAILED)
		return;
	if (fd < 0)
		memcpy(pages, coverage_counters, size);
	mremap(pages, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, coverage_counters);
}

__attribute__((constructor(101))) static void share_counters(void)
{
	size_t size = coverage_counters_end - coverage_counters;
	int fd;

	writer = getpid();
	if (!size)
		return;
	fd = open_counters(size);
	move_counters(fd, MAP_SHARED);
	if (fd >= 0)
		close(fd);
}

/*
 * Writing adds the counts of earlier programs to the counters in memory, so those must be of this process alone: else they double each
 * time. Destructors of gcc, which write, run after this one.
 */
__attribute__((destructor(101))) static void keep_counters(void)
{
	if (coverage_counters_end - coverage_counters)
		move_counters(-1, MAP_PRIVATE);
}

/* exit() writes counts by itself. A child that ends by _exit() writes none: there are thousands of them. */
void __wrap__exit(int status)
{
	if (getpid() == writer) {
		keep_counters();
		__gcov_dump();
	}
	__real__exit(status);
}

/* gcc calls these instead of those of libc. Its own write counts before, and set them to 0 in a child. */

pid_t __gcov_fork(void)
{
	return fork();
}

int __gcov_execv(const char *path, char *const words[])
{
	return execv(path, words);
}

int __gcov_execvp(const char *path, char *const words[])
{
	return execvp(path, words);
}

int __gcov_execve(const char *path, char *const words[], char *const environment[])
{
	return execve(path, words, environment);
}

#define WORDS_MOST 64

static void take_words(char *words[WORDS_MOST], char *word, va_list list)
{
	size_t i = 0;

	for (words[i++] = word; word && i < WORDS_MOST - 1; words[i++] = word)
		word = va_arg(list, char *);
	words[i - 1] = NULL;
}

int __gcov_execl(const char *path, char *word, ...)
{
	char *words[WORDS_MOST];
	va_list list;

	va_start(list, word);
	take_words(words, word, list);
	va_end(list);
	return execv(path, words);
}

int __gcov_execlp(const char *path, char *word, ...)
{
	char *words[WORDS_MOST];
	va_list list;

	va_start(list, word);
	take_words(words, word, list);
	va_end(list);
	return execvp(path, words);
}
