/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into a program of cmocka: runs each of its cases once for each place in Tenon from which that case asks the C library for
 * memory, a file or a thread, and lets this request fail. The case may fail then; it may not crash, and it ends by itself.
 *
 * A place is a request and the functions of the program that lead to it. EACH_PLACE names a file that holds the places that were
 * tried, so that a place in several cases and programs is tried once. EACH_PLACE_TESTS lists the sources of tests by their names: what
 * they ask for themselves succeeds, and that they crash themselves is no fault. A case that takes long, or that crashes or is ended by a
 * signal when nothing fails, is left out. Prints a line for each fault, and "# CASES PLACES" at
 * the end, in place of what the cases print; the exit status tells whether there was a fault.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define FRAMES_MOST 48
#define DEPTH	    6
#define PLACES_MOST (1 << 17)
#ifndef CASE_MOST
#define CASE_MOST 4096
#endif
#define REQUESTS_MOST 5000   /* of a process: a case that makes more makes the same over and over */
#define SHORT_US      100000 /* of processors */
#define SECONDS	      60
#define PART	      (-1) /* in place of an errno: half of the bytes are moved */

/* cmocka's */
typedef int (*fixture)(void **state);
struct one_case {
	const char *name;
	void (*test)(void **state);
	fixture set_up, tear_down;
	void *initial_state;
};

/* ---- functions of the program */

struct function {
	uintptr_t start, size;
	const char *name;
	bool of_test;
};

static struct function *functions;
static size_t function_count;
static uintptr_t program, text_begin, text_end, libc_begin, libc_end;

static bool is_listed(const char *list, const char *name)
{
	const size_t size = strlen(name);
	const char *at = list;

	while (size && (at = strstr(at, name))) {
		if ((at == list || at[-1] == ' ') && (!at[size] || at[size] == ' '))
			return true;
		at += size;
	}
	return false;
}

static int by_start(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static void read_symbols(const char *image, const ElfW(Shdr) * table, const char *names)
{
	const ElfW(Sym) *s = (const void *)(image + table->sh_offset);
	const char *tests = getenv("EACH_PLACE_TESTS");
	size_t n = table->sh_size / sizeof(*s);
	bool of_test = false;

	functions = calloc(n, sizeof(*functions));
	for (; n && functions; n--, s++) {
		if (ELF64_ST_TYPE(s->st_info) == STT_FILE)
			of_test = is_listed(tests ? tests : "", names + s->st_name);
		if (ELF64_ST_TYPE(s->st_info) != STT_FUNC || !s->st_shndx)
			continue;
		functions[function_count++] =
			(struct function){ program + s->st_value, s->st_size, names + s->st_name,
					   of_test && ELF64_ST_BIND(s->st_info) == STB_LOCAL };
	}
	qsort(functions, function_count, sizeof(*functions), by_start);
}

static void read_program(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	const ElfW(Ehdr) * head;
	const ElfW(Shdr) * sections;
	const char *image;
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return;
	image = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (image == MAP_FAILED)
		return;
	head = (const void *)image;
	sections = (const void *)(image + head->e_shoff);
	for (int i = 0; i < head->e_shnum; i++)
		if (sections[i].sh_type == SHT_SYMTAB)
			read_symbols(image, &sections[i],
				     image + sections[sections[i].sh_link].sh_offset);
}

static int find_texts(struct dl_phdr_info *info, size_t size, void *first)
{
	const bool is_program = *(bool *)first,
		   is_libc = strstr(info->dlpi_name, "/libc.so") != NULL;

	*(bool *)first = false;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const uintptr_t begin = info->dlpi_addr + p->p_vaddr;

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		if (is_program) {
			program = info->dlpi_addr;
			text_begin = begin;
			text_end = begin + p->p_memsz;
		} else if (is_libc) {
			libc_begin = begin;
			libc_end = begin + p->p_memsz;
		}
	}
	return 0;
}

static const struct function *find_function(uintptr_t at)
{
	size_t low = 0, high = function_count, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (functions[middle].start <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &functions[low - 1] : NULL;
}

/* The functions of the program that led here, the last one first. */
static int find_callers(const struct function *f[], uintptr_t at[], int most)
{
	void *frames[FRAMES_MOST];
	const int count = backtrace(frames, FRAMES_MOST);
	int n = 0;

	for (int i = 0; i < count && n < most; i++) {
		at[n] = (uintptr_t)frames[i];
		if (at[n] < text_begin || at[n] >= text_end)
			continue;
		f[n] = find_function(at[n] - 1);
		if (f[n])
			n++;
	}
	return n;
}

/* ---- places */

struct place {
	uint64_t key;
	int error;
};

/* of all programs */
static _Atomic(uint64_t) *tried;

/* of one case, in memory that its processes share */
static struct {
	atomic_size_t count, crashes;
	atomic_bool too_many; /* there were places without room */
	struct place place[CASE_MOST];
} * found;

static enum { IDLE, GATHERING, FAILING } mode;
static struct place failing;
static atomic_bool has_failed;
static atomic_long requests;
static __thread bool inside __attribute__((tls_model("initial-exec")));

static bool is_new(uint64_t key)
{
	uint64_t none;

	for (size_t i = key % PLACES_MOST, n = 0; n < PLACES_MOST; i = (i + 1) % PLACES_MOST, n++) {
		none = 0;
		if (atomic_compare_exchange_strong(&tried[i], &none, key))
			return true;
		if (none == key)
			return false;
	}
	atomic_store(&found->too_many, true);
	return false;
}

static uint64_t mix(uint64_t key, uint64_t more)
{
	key = (key ^ more) * UINT64_C(0x9e3779b97f4a7c15);
	return key ^ (key >> 29);
}

/* A place as a number that it has in each program; 0 if it is none of Tenon's. */
static uint64_t key_of_place(const char *request)
{
	const struct function *f[DEPTH];
	uintptr_t at[DEPTH];
	uint64_t key = 1;
	const int n = find_callers(f, at, DEPTH);

	if (!n || f[0]->of_test)
		return 0;
	for (; *request; request++)
		key = mix(key, (unsigned char)*request);
	for (int i = 0; i < n && !f[i]->of_test; i++) {
		for (const char *c = f[i]->name; *c; c++)
			key = mix(key, (unsigned char)*c);
		key = mix(key, at[i] - f[i]->start);
	}
	return key | 1;
}

static bool can_be_watched(uintptr_t caller)
{
	return mode != IDLE && !inside &&
	       ((caller >= text_begin && caller < text_end) ||
		(caller >= libc_begin && caller < libc_end));
}

/* How a request from @caller ends that may end in the ways of @errors, up to a 0: one of these, or 0 if it is made. */
static int outcome(const char *request, void *caller, const int *errors)
{
	const int error_before = errno;
	uint64_t key;
	int result = 0;
	size_t n;

	if (!can_be_watched((uintptr_t)caller) || atomic_fetch_add(&requests, 1) >= REQUESTS_MOST)
		return 0;
	inside = true;
	key = key_of_place(request);
	for (; key && *errors; errors++) {
		key = mix(key, (uint64_t)*errors) | 1;
		if (mode == GATHERING && is_new(key)) {
			n = atomic_fetch_add(&found->count, 1);
			if (n < CASE_MOST)
				found->place[n] = (struct place){ key, *errors };
			else
				atomic_store(&found->too_many, true);
		} else if (mode == FAILING && key == failing.key &&
			   !atomic_exchange(&has_failed, true)) {
			result = *errors;
		}
	}
	inside = false;
	errno = result > 0 ? result : error_before;
	return result;
}

/* ---- requests */

#define ERRORS(...)	   ((const int[]){ __VA_ARGS__, 0 })
#define OUTCOME(name, ...) outcome(#name, __builtin_return_address(0), ERRORS(__VA_ARGS__))
#define REAL(name)                                                                                 \
	static __typeof__(name) *real;                                                             \
	if (!real)                                                                                 \
	*(void **)&real = dlsym(RTLD_NEXT, #name)

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t align, size_t size);

void *malloc(size_t size)
{
	return OUTCOME(malloc, ENOMEM) ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return OUTCOME(calloc, ENOMEM) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *memory, size_t size)
{
	return OUTCOME(realloc, ENOMEM) ? NULL : __libc_realloc(memory, size);
}

void *reallocarray(void *memory, size_t n, size_t size)
{
	size_t bytes;

	if (OUTCOME(reallocarray, ENOMEM) || __builtin_mul_overflow(n, size, &bytes))
		return NULL;
	return __libc_realloc(memory, bytes);
}

void *aligned_alloc(size_t align, size_t size)
{
	return OUTCOME(aligned_alloc, ENOMEM) ? NULL : __libc_memalign(align, size);
}

int posix_memalign(void **out, size_t align, size_t size)
{
	void *memory = OUTCOME(posix_memalign, ENOMEM) ? NULL : __libc_memalign(align, size);

	if (!memory)
		return ENOMEM;
	*out = memory;
	return 0;
}

#define REQUEST(type, name, wrong, parameters, arguments, ...)                                     \
	type name parameters                                                                       \
	{                                                                                          \
		REAL(name);                                                                        \
		return OUTCOME(name, __VA_ARGS__) ? (type)(wrong) : real arguments;                \
	}

/* what moves bytes, and may move a part of them; the eight of an event are moved as long as it is open */
#define MOVE(name, parameters, arguments)                                                          \
	ssize_t name parameters                                                                    \
	{                                                                                          \
		const int how = size == 8 ? 0 : OUTCOME(name, EIO, EINTR, PART);                   \
                                                                                                   \
		REAL(name);                                                                        \
		if (how == PART)                                                                   \
			size = (size + 1) / 2;                                                     \
		return how > 0 ? -1 : real arguments;                                              \
	}

#define WITH_WORD(name, type, parameters, last, real_arguments, ...)                               \
	int name parameters                                                                        \
	{                                                                                          \
		va_list list;                                                                      \
		type word;                                                                         \
                                                                                                   \
		REAL(name);                                                                        \
		va_start(list, last);                                                              \
		word = va_arg(list, type);                                                         \
		va_end(list);                                                                      \
		return OUTCOME(name, __VA_ARGS__) ? -1 : real real_arguments;                      \
	}

MOVE(read, (int fd, void *to, size_t size), (fd, to, size))
MOVE(pread, (int fd, void *to, size_t size, off_t from), (fd, to, size, from))
MOVE(pread64, (int fd, void *to, size_t size, off64_t from), (fd, to, size, from))
MOVE(write, (int fd, const void *from, size_t size), (fd, from, size))
WITH_WORD(open, unsigned int, (const char *path, int flags, ...), flags, (path, flags, word),
	  EMFILE, ENOENT)
WITH_WORD(open64, unsigned int, (const char *path, int flags, ...), flags, (path, flags, word),
	  EMFILE, ENOENT)
WITH_WORD(openat, unsigned int, (int at, const char *path, int flags, ...), flags,
	  (at, path, flags, word), EMFILE, ENOENT)
WITH_WORD(openat64, unsigned int, (int at, const char *path, int flags, ...), flags,
	  (at, path, flags, word), EMFILE, ENOENT)
WITH_WORD(ioctl, void *, (int fd, unsigned long what, ...), what, (fd, what, word), EIO, EINTR)
REQUEST(int, fstat, -1, (int fd, struct stat *st), (fd, st), EIO)
REQUEST(int, fstat64, -1, (int fd, struct stat64 *st), (fd, st), EIO)
REQUEST(int, stat, -1, (const char *path, struct stat *st), (path, st), EIO)
REQUEST(int, stat64, -1, (const char *path, struct stat64 *st), (path, st), EIO)
REQUEST(int, lstat, -1, (const char *path, struct stat *st), (path, st), EIO)
REQUEST(int, lstat64, -1, (const char *path, struct stat64 *st), (path, st), EIO)
REQUEST(int, access, -1, (const char *path, int how), (path, how), EACCES)
REQUEST(void *, mmap, MAP_FAILED,
	(void *at, size_t size, int access, int flags, int fd, off_t offset),
	(at, size, access, flags, fd, offset), ENOMEM)
REQUEST(void *, mmap64, MAP_FAILED,
	(void *at, size_t size, int access, int flags, int fd, off64_t offset),
	(at, size, access, flags, fd, offset), ENOMEM)
REQUEST(int, mprotect, -1, (void *at, size_t size, int access), (at, size, access), ENOMEM)
REQUEST(int, poll, -1, (struct pollfd * fds, nfds_t n, int time), (fds, n, time), EINTR, ENOMEM)
REQUEST(off_t, lseek, -1, (int fd, off_t offset, int from), (fd, offset, from), EIO)
REQUEST(off64_t, lseek64, -1, (int fd, off64_t offset, int from), (fd, offset, from), EIO)
REQUEST(int, ftruncate, -1, (int fd, off_t size), (fd, size), ENOSPC)
REQUEST(int, ftruncate64, -1, (int fd, off64_t size), (fd, size), ENOSPC)
REQUEST(int, dup, -1, (int fd), (fd), EMFILE)
REQUEST(int, pipe2, -1, (int fd[2], int flags), (fd, flags), EMFILE)
REQUEST(int, eventfd, -1, (unsigned int n, int flags), (n, flags), EMFILE)
REQUEST(int, memfd_create, -1, (const char *name, unsigned int flags), (name, flags), EMFILE)
REQUEST(char *, realpath, 0, (const char *path, char *to), (path, to), EACCES)
REQUEST(ssize_t, readlink, -1, (const char *path, char *to, size_t size), (path, to, size), EACCES)
REQUEST(DIR *, opendir, 0, (const char *path), (path), EMFILE)
REQUEST(DIR *, fdopendir, 0, (int fd), (fd), ENOMEM)
REQUEST(FILE *, fopen, 0, (const char *path, const char *how), (path, how), EMFILE)
REQUEST(FILE *, fopen64, 0, (const char *path, const char *how), (path, how), EMFILE)
REQUEST(int, mkdir, -1, (const char *path, mode_t mode), (path, mode), ENOSPC)
REQUEST(int, rename, -1, (const char *from, const char *to), (from, to), EIO)
REQUEST(ssize_t, getrandom, -1, (void *to, size_t size, unsigned int flags), (to, size, flags),
	ENOSYS)
REQUEST(int, pthread_create, EAGAIN,
	(pthread_t * thread, const pthread_attr_t *attributes, void *(*start)(void *), void *word),
	(thread, attributes, start, word), EAGAIN)

/* ---- cases */

static int report = STDOUT_FILENO; /* for parents and children */
static atomic_bool over;	   /* the case has failed: its threads go on with what it drops */

void __longjmp_chk(sigjmp_buf to, int value)
{
	static void (*real)(sigjmp_buf, int) __attribute__((noreturn));

	atomic_store(&over, true);
	*(void **)&real = dlsym(RTLD_NEXT, "__longjmp_chk");
	real(to, value);
}

/* Print a crash in Tenon. One in the test itself is not printed: the test uses what it was refused without a look. */
static void crashed(int number)
{
	const struct function *f[8];
	uintptr_t at[8];
	int n;

	inside = true;
	n = find_callers(f, at, 8);
	if ((n && f[0]->of_test) || atomic_load(&over))
		_exit(0);
	atomic_fetch_add(&found->crashes, 1);
	dprintf(report, "# signal %d in", number);
	for (int i = 0; i < n; i++)
		dprintf(report, " %s+%#zx", f[i]->name, (size_t)(at[i] - f[i]->start));
	dprintf(report, "\n");
	_exit(1);
}

static const int crashes[] = { SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL };

/* cmocka would make a failed case of a crash */
void (*signal(int number, void (*act)(int)))(int)
{
	REAL(signal);
	for (size_t i = 0; i < sizeof(crashes) / sizeof(*crashes) && mode != IDLE; i++)
		if (number == crashes[i])
			return SIG_DFL;
	return real(number, act);
}

static int run_group(const char *name, const struct one_case *one, fixture set_up,
		     fixture tear_down)
{
	static int (*real)(const char *, const struct one_case *, size_t, fixture, fixture);
	/* of this thread: for a stack that overflows */
	static char room[1 << 17];
	const stack_t stack = { .ss_sp = room, .ss_size = sizeof(room) };
	const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);

	*(void **)&real = dlsym(RTLD_NEXT, "_cmocka_run_group_tests");
	if (!real || nowhere < 0 || sigaltstack(&stack, NULL))
		return -1;
	for (size_t i = 0; i < sizeof(crashes) / sizeof(*crashes); i++)
		sigaction(crashes[i],
			  &(struct sigaction){ .sa_handler = crashed,
					       .sa_flags = SA_RESETHAND | SA_ONSTACK },
			  NULL);
	dup2(nowhere, STDOUT_FILENO);
	dup2(nowhere, STDERR_FILENO);
	return real(name, one, 1, set_up, tear_down);
}

/* Returns the status of a child as waitpid() has it; -1 if it was stopped because it did not end. */
static int end_of(pid_t child, struct rusage *used)
{
	struct pollfd ended = { (int)syscall(SYS_pidfd_open, child, 0), POLLIN, 0 };
	int status = -1;
	const bool late = poll(&ended, 1, SECONDS * 1000) == 0;

	kill(late ? -child : 0, late ? SIGKILL : 0);
	wait4(child, &status, 0, used);
	/* what it started */
	kill(-child, SIGKILL);
	close(ended.fd);
	return late ? -1 : status;
}

/* In a child, with the mode of the moment. */
static int run(const char *name, const struct one_case *one, fixture set_up, fixture tear_down,
	       struct rusage *used)
{
	pid_t child;

	fflush(NULL);
	child = fork();
	if (!child) {
		setpgid(0, 0);
		_exit(run_group(name, one, set_up, tear_down) != 0);
	}
	setpgid(child, child);
	return end_of(child, used);
}

/* Whether a child crashed or had to be stopped. The child prints its crash itself, if it still can. */
static bool ended_badly(int status)
{
	return atomic_exchange(&found->crashes, 0) || status == -1 || WIFSIGNALED(status);
}

static bool is_fault(const struct one_case *one, const struct place *place, int status)
{
	if (!ended_badly(status))
		return false;
	if (status != -1 && WIFSIGNALED(status))
		dprintf(report, "# ended by signal %d: ", WTERMSIG(status));
	else
		dprintf(report, "# %s", status == -1 ? "does not end: " : "");
	dprintf(report, "%s, %s\n", one->name,
		place->error == PART ? "a part of the bytes is moved" : strerror(place->error));
	return true;
}

/* A case that takes longer does much more than a place needs. */
static bool is_short(const struct rusage *used)
{
	return !used->ru_utime.tv_sec && !used->ru_stime.tv_sec &&
	       used->ru_utime.tv_usec + used->ru_stime.tv_usec < SHORT_US;
}

/* Return: whether the places that were found are to be tried; if not, they are for other cases */
static bool gathers(const char *name, const struct one_case *one, fixture set_up, fixture tear_down)
{
	static uint64_t tried_before[PLACES_MOST];
	struct rusage used;
	int status;

	found->count = 0;
	found->too_many = false;
	memcpy(tried_before, (const void *)tried, sizeof(tried_before));
	mode = GATHERING;
	status = run(name, one, set_up, tear_down, &used);
	if (!ended_badly(status) && is_short(&used))
		return true;
	memcpy((void *)tried, tried_before, sizeof(tried_before));
	return false;
}

int _cmocka_run_group_tests(const char *name, const struct one_case *cases, size_t count,
			    fixture set_up, fixture tear_down)
{
	size_t places = 0, i, k;
	int faults = 0;

	for (i = 0; i < count; i++, mode = IDLE) {
		if (!gathers(name, &cases[i], set_up, tear_down))
			continue;
		if (found->too_many) {
			dprintf(report, "# no room for all places of %s\n", cases[i].name);
			faults++;
			continue;
		}
		mode = FAILING;
		for (k = 0; k < found->count; k++) {
			failing = found->place[k];
			faults += is_fault(&cases[i], &failing,
					   run(name, &cases[i], set_up, tear_down, NULL));
		}
		places += k;
	}
	dprintf(report, "# %zu %zu\n", count, places);
	return faults != 0;
}

__attribute__((constructor)) static void prepare(void)
{
	const char *path = getenv("EACH_PLACE");
	const size_t bytes = PLACES_MOST * sizeof(*tried);
	void *frames[2];
	bool first = true;
	int fd;

	unsetenv("LD_PRELOAD");
	dl_iterate_phdr(find_texts, &first);
	read_program();
	/* the first call opens the unwinder */
	backtrace(frames, 2);
	report = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 200);
	fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
	if (fd < 0 || ftruncate(fd, (off_t)bytes))
		_exit(1);
	tried = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	found = mmap(NULL, sizeof(*found), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (tried == MAP_FAILED || found == MAP_FAILED)
		_exit(1);
}
