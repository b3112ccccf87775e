/* SPDX-License-Identifier: MIT */
/* Make system calls fail on a schedule, and count the descriptors and mappings that are left. */
#include "tests/driver/faults.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/unit/suite.h"

/* a device frees memory when others are done: four threads of the conformance suite have had 144 buffers open */
#define MOST 1024

static const struct system_calls *under = &system_calls_of_kernel;
static unsigned int left[CALLS]; /* calls until the one that fails; 0: none fails */
static struct fault fault;
int faults_step;

static struct {
	int fd;
	char path[512];
} opened[MOST];
static unsigned int opened_count;

static struct {
	void *start;
	size_t size;
} mapped[MOST];
static unsigned int mapped_count;

/* Threads of what is tested make calls, too. A case that failed inside leaves it locked, for its own thread. */
static pthread_mutex_t lock;

static void make_lock(void)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&lock, &attributes);
	pthread_mutexattr_destroy(&attributes);
}

static void enter(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_lock);
	pthread_mutex_lock(&lock);
}

static void leave(void)
{
	const int error = errno;

	pthread_mutex_unlock(&lock);
	errno = error;
}

const char *path_of(int fd)
{
	const char *path = "";

	enter();
	for (unsigned int i = 0; i < opened_count; i++)
		if (opened[i].fd == fd)
			path = opened[i].path;
	leave();
	return path;
}

void fake_opened(int fd, const char *path)
{
	enter();
	assert_true(opened_count < MOST);
	opened[opened_count].fd = fd;
	snprintf(opened[opened_count].path, sizeof(opened->path), "%s", path);
	opened_count++;
	leave();
}

void faults_over(const struct system_calls *calls)
{
	under = calls;
}

void assert_nothing_open(void)
{
	for (unsigned int i = 0; i < opened_count; i++)
		print_error("open: %s\n", opened[i].path);
	assert_int_equal(opened_count, 0);
	assert_int_equal(mapped_count, 0);
}

/* With the lock. */
static bool fails_now(enum call call, const char *path, unsigned long request)
{
	if (!left[call] || --left[call])
		return false;
	snprintf(fault.path, sizeof(fault.path), "%s", path);
	fault.request = request;
	fault.step = faults_step;
	fault.happened = true;
	errno = fault.error;
	return true;
}

/* Does this call fail? Sets errno. */
static bool fails(enum call call, const char *path, unsigned long request)
{
	bool failed;

	enter();
	failed = fails_now(call, path, request);
	leave();
	return failed;
}

/* The same of a descriptor. */
static bool fd_fails(enum call call, int fd, unsigned long request)
{
	bool failed;

	enter();
	failed = fails_now(call, path_of(fd), request);
	leave();
	return failed;
}

/* What a call that moves @size bytes returns when it fails: fewer, or -1. */
static ssize_t fewer(ssize_t size)
{
	return fault.error == SHORT ? (size > 0 ? size - 1 : 0) : -1;
}

static int faulty_access(const char *path, int mode)
{
	return fails(CALL_ACCESS, path, 0) ? -1 : under->access(path, mode);
}

static int faulty_open(const char *path, int flags)
{
	int fd;

	if (fails(CALL_OPEN, path, 0))
		return -1;
	fd = under->open(path, flags);
	if (fd >= 0)
		fake_opened(fd, path);
	return fd;
}

static int faulty_close(int fd)
{
	bool failed = fd_fails(CALL_CLOSE, fd, 0);
	int error = errno;
	unsigned int i = 0;

	enter();
	while (i < opened_count && opened[i].fd != fd)
		i++;
	/* closed twice, or never opened */
	assert_true(i < opened_count);
	opened[i] = opened[--opened_count];
	leave();
	under->close(fd);
	errno = error;
	return failed ? -1 : 0;
}

static int faulty_ioctl(int fd, unsigned long request, void *argument)
{
	if (fd_fails(CALL_IOCTL, fd, request))
		return -1;
	return under->ioctl(fd, request, argument);
}

static void *faulty_mmap(void *start, size_t size, int protection, int flags, int fd, off_t offset)
{
	void *at;

	if (fd_fails(CALL_MMAP, fd, 0))
		return MAP_FAILED;
	at = under->mmap(start, size, protection, flags, fd, offset);
	if (at != MAP_FAILED) {
		enter();
		assert_true(mapped_count < MOST);
		mapped[mapped_count].start = at;
		mapped[mapped_count].size = size;
		mapped_count++;
		leave();
	}
	return at;
}

static int faulty_munmap(void *start, size_t size)
{
	unsigned int i = 0;

	enter();
	while (i < mapped_count && mapped[i].start != start)
		i++;
	assert_true(i < mapped_count);
	assert_int_equal(mapped[i].size, size);
	mapped[i] = mapped[--mapped_count];
	leave();
	return under->munmap(start, size);
}

static int faulty_madvise(void *start, size_t size, int advice)
{
	return fails(CALL_MADVISE, "", 0) ? -1 : under->madvise(start, size, advice);
}

static ssize_t faulty_read(int fd, void *bytes, size_t size)
{
	ssize_t n;

	if (!fd_fails(CALL_READ, fd, 0))
		return under->read(fd, bytes, size);
	n = fault.error == SHORT ? under->read(fd, bytes, size) : -1;
	return fewer(n);
}

static ssize_t faulty_write(int fd, const void *bytes, size_t size)
{
	return fd_fails(CALL_WRITE, fd, 0) ? fewer((ssize_t)size) : under->write(fd, bytes, size);
}

static ssize_t faulty_pread(int fd, void *bytes, size_t size, off_t offset)
{
	ssize_t n;

	if (!fd_fails(CALL_PREAD, fd, 0))
		return under->pread(fd, bytes, size, offset);
	n = fault.error == SHORT ? under->pread(fd, bytes, size, offset) : -1;
	return fewer(n);
}

static ssize_t faulty_pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
	return fd_fails(CALL_PWRITE, fd, 0) ? fewer((ssize_t)size)
					    : under->pwrite(fd, bytes, size, offset);
}

static ssize_t faulty_readlink(const char *path, char *target, size_t room)
{
	return fails(CALL_READLINK, path, 0) ? -1 : under->readlink(path, target, room);
}

static int faulty_ppoll(struct pollfd *polled, nfds_t count, const struct timespec *timeout)
{
	return fd_fails(CALL_PPOLL, polled->fd, 0) ? -1 : under->ppoll(polled, count, timeout);
}

static int faulty_eventfd(unsigned int count, int flags)
{
	int fd;

	if (fails(CALL_EVENTFD, "eventfd", 0))
		return -1;
	fd = under->eventfd(count, flags);
	if (fd >= 0)
		fake_opened(fd, "eventfd");
	return fd;
}

static int faulty_mkdir(const char *path, mode_t mode)
{
	return fails(CALL_MKDIR, path, 0) ? -1 : under->mkdir(path, mode);
}

static int faulty_rmdir(const char *path)
{
	return fails(CALL_RMDIR, path, 0) ? -1 : under->rmdir(path);
}

static int faulty_flock(int fd, int operation)
{
	return fd_fails(CALL_FLOCK, fd, 0) ? -1 : under->flock(fd, operation);
}

const struct system_calls faulty_calls = {
	.access = faulty_access,
	.open = faulty_open,
	.close = faulty_close,
	.ioctl = faulty_ioctl,
	.mmap = faulty_mmap,
	.munmap = faulty_munmap,
	.madvise = faulty_madvise,
	.read = faulty_read,
	.write = faulty_write,
	.pread = faulty_pread,
	.pwrite = faulty_pwrite,
	.readlink = faulty_readlink,
	.ppoll = faulty_ppoll,
	.eventfd = faulty_eventfd,
	.mkdir = faulty_mkdir,
	.rmdir = faulty_rmdir,
	.flock = faulty_flock,
};

/* ---- the sweep */

/* what the manual pages and the kernel's documents list for each */
static const int access_errors[] = { EACCES, ENOENT, EIO, ELOOP, ENOMEM, ENOTDIR, EROFS, 0 };
static const int open_errors[] = { EINTR, EACCES, EPERM,  ENOENT, ENODEV, ENXIO,
				   EBUSY, EMFILE, ENFILE, ENOMEM, EINVAL, 0 };
static const int close_errors[] = { EIO, EINTR, 0 };
static const int mmap_errors[] = { EINVAL, ENOMEM, EACCES, EPERM, EAGAIN, ENODEV, EOVERFLOW, 0 };
static const int madvise_errors[] = { EINVAL, EAGAIN, 0 };
static const int read_errors[] = { EINTR, EAGAIN, EIO, ENODEV, EINVAL, SHORT, 0 };
/* ENOENT: attributes that load firmware have not found it */
static const int write_errors[] = { EINTR,  EIO,    EINVAL,    ENODEV, EBUSY,
				    ENOMEM, ENOENT, ETIMEDOUT, SHORT,  0 };
static const int transfer_errors[] = { EINTR, EIO, EINVAL, EFAULT, ENODEV, EPERM, SHORT, 0 };
static const int link_errors[] = { ENOENT, EACCES, EINVAL, ENOMEM, 0 };
static const int poll_errors[] = { EINTR, EINVAL, ENOMEM, 0 };
static const int eventfd_errors[] = { EMFILE, ENFILE, ENODEV, ENOMEM, 0 };
static const int folder_errors[] = { EACCES, EEXIST, ENOENT, ENOMEM, EBUSY, EINVAL, 0 };

static const int lock_errors[] = { EINTR, EWOULDBLOCK, ENOLCK, 0 };

static const int *errors_of(const struct sweep *s, enum call call)
{
	static const int *const errors[CALLS] = {
		[CALL_ACCESS] = access_errors,	 [CALL_OPEN] = open_errors,
		[CALL_CLOSE] = close_errors,	 [CALL_MMAP] = mmap_errors,
		[CALL_MADVISE] = madvise_errors, [CALL_READ] = read_errors,
		[CALL_WRITE] = write_errors,	 [CALL_PREAD] = transfer_errors,
		[CALL_PWRITE] = transfer_errors, [CALL_READLINK] = link_errors,
		[CALL_PPOLL] = poll_errors,	 [CALL_EVENTFD] = eventfd_errors,
		[CALL_MKDIR] = folder_errors,	 [CALL_RMDIR] = folder_errors,
		[CALL_FLOCK] = lock_errors,
	};

	return call == CALL_IOCTL ? s->ioctl_errors : errors[call];
}

/* A table of its own: were it system_status(), a wrong line in that could not be seen. */
static int class_of(const struct fault *f)
{
	static const struct {
		int error;
		int status;
	} classes[] = {
		{ EINTR, 0 },
		{ ENOMEM, -TENON_E_NOMEM },
		{ ENOSPC, -TENON_E_NOMEM },
		{ ENOENT, -TENON_E_NOT_FOUND },
		{ ENODEV, -TENON_E_LOST },
		{ ENXIO, -TENON_E_LOST },
		{ ECANCELED, -TENON_E_LOST },
		{ EIO, -TENON_E_DEVICE },
		{ EBUSY, -TENON_E_DEVICE },
		{ ETIME, -TENON_E_TIMEOUT },
		{ ETIMEDOUT, -TENON_E_TIMEOUT },
		{ ENOTTY, -TENON_E_UNSUPPORTED },
		{ EOPNOTSUPP, -TENON_E_UNSUPPORTED },
		{ ENOSYS, -TENON_E_UNSUPPORTED },
		{ EINVAL, -TENON_E_VALUE },
		{ EFAULT, -TENON_E_VALUE },
		{ ELOOP, -TENON_E_IO },
		{ ENOTDIR, -TENON_E_IO },
		{ EROFS, -TENON_E_IO },
		{ EOVERFLOW, -TENON_E_OVERFLOW },
		{ E2BIG, -TENON_E_OVERFLOW },
		{ EEXIST, -TENON_E_EXISTS },
		{ EACCES, -TENON_E_IO },
		{ EPERM, -TENON_E_IO },
		{ EMFILE, -TENON_E_IO },
		{ ENFILE, -TENON_E_IO },
		{ EAGAIN, -TENON_E_IO },
		{ ENOLCK, -TENON_E_IO },
		{ SHORT, -TENON_E_TRUNCATED },
	};

	/* nothing can be done about a descriptor that closes with an error, or about fork() */
	if (f->call == CALL_CLOSE || f->call == CALL_MADVISE)
		return 0;
	if (f->call == CALL_OPEN && (f->error == ENODEV || f->error == ENXIO))
		return -TENON_E_DEVICE;
	for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++)
		if (classes[i].error == f->error)
			return classes[i].status;
	print_error("no class for errno %d\n", f->error);
	fail();
	return 0;
}

static int expected_of(const struct sweep *s)
{
	int special = s->expected ? s->expected(&fault) : 2;

	return special == 2 ? class_of(&fault) : special;
}

static const char *const names[CALLS] = { "access",  "open",	"close",    "ioctl",
					  "mmap",    "madvise", "read",	    "write",
					  "pread",   "pwrite",	"readlink", "ppoll",
					  "eventfd", "mkdir",	"rmdir",    "flock" };

static void say(const char *what)
{
	print_error("%s(%s, request %#lx) with errno %d: %s\n", names[fault.call], fault.path,
		    fault.request, fault.error, what);
}

static void nothing_is_left(const struct sweep *s)
{
	unsigned int objects = s->reset ? s->reset(&fault) : 0;

	if (opened_count || mapped_count || objects)
		say("something is left");
	assert_nothing_open();
	assert_int_equal(objects, 0);
}

/* Return: whether the call was reached. */
static bool try(const struct sweep *s, enum call call, unsigned int nth, int error)
{
	int status, expected;

	memset(&fault, 0, sizeof(fault));
	memset(left, 0, sizeof(left));
	fault.call = call;
	fault.error = error;
	fault.nth = nth;
	left[call] = nth;
	faults_step = 0;
	tenon_error_clear();
	status = s->scenario(&faulty_calls);
	left[call] = 0;
	expected = fault.happened ? expected_of(s) : 0;
	if (expected <= 0 && status != expected) {
		say(tenon_error_message());
		print_error("expected status %d, found %d\n", expected, status);
		fail();
	}
	/* a failure has its message, and what was put right leaves none */
	if (expected <= 0)
		assert_int_equal(tenon_error_status(), expected);
	tenon_error_clear();
	nothing_is_left(s);
	return fault.happened;
}

unsigned int sweep_faults(const struct sweep *s)
{
	unsigned int faults = 0;

	faults_over(s->under);
	nothing_is_left(s);
	for (int call = 0; call < CALLS; call++) {
		const int *errors = errors_of(s, (enum call)call);
		unsigned int nth;

		for (nth = 1; errors && *errors; nth++) {
			bool reached = false;

			for (const int *e = errors; *e; e++)
				reached = try(s, (enum call)call, nth, *e);
			if (!reached)
				break;
			for (const int *e = errors; *e; e++)
				faults++;
		}
		if (nth > 1)
			print_message("%u of %s, ", nth - 1, names[call]);
	}
	print_message("%u faults\n", faults);
	return faults;
}
