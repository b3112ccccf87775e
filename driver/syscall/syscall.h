/* SPDX-License-Identifier: MIT */
/* The table of system calls that driver rooms use, so that tests can replace them. */
#ifndef DRIVER_SYSCALL_H
#define DRIVER_SYSCALL_H

/*
 * Rooms that drive kernel interfaces (driver/uio, driver/vfio, driver/dmabuf, …) make their system calls through a
 * table of functions that the caller passes to their open functions. NULL stands for the kernel's calls. Tests
 * pass tables that fail on a schedule, count descriptors and mappings, or answer as a device would.
 *
 * Registers and buffers are accessed through mappings, never through this table, so it costs nothing on the path of
 * commands; a wait costs one indirect call.
 *
 * The functions below repeat interrupted calls, and turn errno into a status with a message.
 */

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/**
 * struct system_calls - functions with the contracts of the system calls of their names
 *
 * Each returns -1 (mmap: MAP_FAILED) and sets errno when it fails.
 */
struct system_calls {
	int (*access)(const char *path, int mode);
	int (*open)(const char *path, int flags);
	int (*close)(int fd);
	int (*ioctl)(int fd, unsigned long request, void *argument);
	void *(*mmap)(void *start, size_t size, int protection, int flags, int fd, off_t offset);
	int (*munmap)(void *start, size_t size);
	int (*madvise)(void *start, size_t size, int advice);
	ssize_t (*read)(int fd, void *bytes, size_t size);
	ssize_t (*write)(int fd, const void *bytes, size_t size);
	ssize_t (*pread)(int fd, void *bytes, size_t size, off_t offset);
	ssize_t (*pwrite)(int fd, const void *bytes, size_t size, off_t offset);
	ssize_t (*readlink)(const char *path, char *target, size_t room);
	int (*ppoll)(struct pollfd *polled, nfds_t count, const struct timespec *timeout);
	int (*eventfd)(unsigned int count, int flags);
	int (*mkdir)(const char *path, mode_t mode);
	int (*rmdir)(const char *path);
	int (*flock)(int fd, int operation);
};

/* the kernel's */
extern const struct system_calls system_calls_of_kernel;

/**
 * system_calls_or_kernel - the table that stands for what a caller passed
 * @calls: a table, or NULL
 */
static inline const struct system_calls *system_calls_or_kernel(const struct system_calls *calls)
{
	return calls ? calls : &system_calls_of_kernel;
}

/**
 * system_status - the class of an error
 * @error: errno
 *
 * Return: -TENON_E_NOMEM for ENOMEM and ENOSPC; -TENON_E_NOT_FOUND for ENOENT; -TENON_E_LOST for ENODEV, ENXIO,
 *	ESHUTDOWN, EBADFD and ECANCELED: the device was there when it was opened; -TENON_E_DEVICE for EIO, EBUSY and
 *	EREMOTEIO; -TENON_E_TIMEOUT for ETIME and ETIMEDOUT; -TENON_E_UNSUPPORTED for ENOTTY, ENOSYS and EOPNOTSUPP;
 *	-TENON_E_VALUE for EINVAL, EFAULT and ERANGE; -TENON_E_OVERFLOW for EOVERFLOW, E2BIG and EFBIG;
 *	-TENON_E_EXISTS for EEXIST; -TENON_E_IO for all others, such as EACCES, EPERM, EMFILE and EAGAIN.
 */
int system_status(int error);

/**
 * system_error - raise an error for errno
 * @error: errno
 * @name: the file or device, for the message
 * @action: what could not be done: "map BAR 0"
 *
 * Return: system_status(@error).
 */
int system_error(int error, const char *name, const char *action);

/**
 * system_find - look for a file that the effective user may read and write, without opening it
 * @calls: table
 * @path: its name
 *
 * Return: 0; -TENON_E_NOT_FOUND when there is no such file; else system_status().
 */
int system_find(const struct system_calls *calls, const char *path);

/**
 * system_open - open a file, close-on-exec
 * @calls: table
 * @path: its name
 * @flags: O_RDWR and the like
 *
 * Return: the descriptor; -TENON_E_NOT_FOUND when there is no such file; -TENON_E_DEVICE when a node has no device
 *	behind it (ENODEV, ENXIO); else system_status().
 */
int system_open(const struct system_calls *calls, const char *path, int flags);

/** system_close - close *@fd if it is one, and make it -1 */
void system_close(const struct system_calls *calls, int *fd);

/**
 * system_ioctl - ioctl(), repeated after EINTR
 *
 * Return: what ioctl() returned, 0 or above; the negative errno. No message is raised.
 */
int system_ioctl(const struct system_calls *calls, int fd, unsigned long request, void *argument);

/**
 * system_map - map a shared range of a descriptor for reading and writing
 * @calls: table
 * @fd: descriptor
 * @name: file or device, for messages
 * @offset: in bytes, a multiple of the page size
 * @size: bytes
 * @base: the mapping; NULL on failure
 *
 * Children of fork() do not get the mapping: registers and buffers of a device have one owner.
 *
 * Return: 0; -TENON_E_OVERFLOW when size or offset do not fit; else system_status().
 */
int system_map(const struct system_calls *calls, int fd, const char *name, uint64_t offset,
	       uint64_t size, void **base);

/** system_unmap - unmap *@base if it is mapped, and make it NULL */
void system_unmap(const struct system_calls *calls, void **base, uint64_t size);

/**
 * system_wait - wait until a descriptor is ready
 * @calls: table
 * @fd: descriptor
 * @name: file or device, for messages
 * @events: POLLIN or POLLOUT
 * @deadline: absolute nanoseconds of CLOCK_MONOTONIC; UINT64_MAX to wait without limit, 0 to look once
 *
 * Return: 1 when it is ready or failed: the next call on it says which; 0 when the deadline passed; the negative
 *	status.
 */
int system_wait(const struct system_calls *calls, int fd, const char *name, short events,
		uint64_t deadline);

/**
 * system_lock - lock a file or node against other programs that lock it, or unlock it
 * @calls: table
 * @fd: descriptor
 * @on: lock it, without waiting
 *
 * Return: 0; -1 with errno, EWOULDBLOCK when another one has the lock.
 */
int system_lock(const struct system_calls *calls, int fd, bool on);

/**
 * system_read_whole - read exactly some bytes at an offset
 * @calls: table
 * @fd: descriptor
 * @name: file or device, for messages
 * @offset: in bytes
 * @bytes: room for @size bytes; zeroed on failure
 * @size: bytes
 *
 * Return: 0; -TENON_E_TRUNCATED when there are fewer; else system_status().
 */
int system_read_whole(const struct system_calls *calls, int fd, const char *name, uint64_t offset,
		      void *bytes, size_t size);

/** system_write_whole - write exactly some bytes at an offset; as system_read_whole() */
int system_write_whole(const struct system_calls *calls, int fd, const char *name, uint64_t offset,
		       const void *bytes, size_t size);

/**
 * system_read_text - read a small text file, such as an attribute in sysfs
 * @calls: table
 * @path: its name
 * @text: room for the text, NUL-terminated, without white space at its end; "" on failure
 * @room: bytes of @text; a longer text is cut
 *
 * Return: 0; -TENON_E_NOT_FOUND when there is no such file; else as system_open().
 */
int system_read_text(const struct system_calls *calls, const char *path, char *text, size_t room);

/**
 * system_read_number - read a number from an attribute in sysfs: "4096", "0x1000"
 *
 * Return: as system_read_text(); -TENON_E_FORMAT when the text is no number. *@number is 0 on failure.
 */
int system_read_number(const struct system_calls *calls, const char *path, uint64_t *number);

/**
 * system_write_text - write an attribute in sysfs by one write()
 *
 * Return: as system_open(); -TENON_E_TRUNCATED when the kernel took a part.
 */
int system_write_text(const struct system_calls *calls, const char *path, const char *text);

/**
 * struct system_source - where a driver looks for devices; tests set another place
 * @calls: system calls; NULL for Linux's
 * @root: prefix of /dev and /sys
 */
struct system_source {
	const struct system_calls *calls;
	const char *root;
};

#endif /* DRIVER_SYSCALL_H */
