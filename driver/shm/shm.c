/* SPDX-License-Identifier: MIT */
/* Create sealed memfds, lock and map files, and hand out ranges of them. */
#include "driver/shm/shm.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <tenon/error.h>

#include "lib/brief_errors.h"

static int round_up(const char *name, size_t size, size_t *rounded)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (!size || size > (size_t)INT64_MAX - page)
		return tenon_error(-TENON_E_OVERFLOW, "%s: cannot map %zu bytes", name, size);
	*rounded = (size + page - 1) & ~(page - 1);
	return 0;
}

static int io_error(const char *name, const char *what)
{
	return tenon_error(-TENON_E_IO, "%s: cannot %s: %s", name, what, strerror(errno));
}

/* Map shm->size bytes of shm->fd; closes the descriptor on failure. */
static int map(const char *name, struct shm *shm)
{
	void *base = mmap(NULL, shm->size, PROT_READ | PROT_WRITE, MAP_SHARED, shm->fd, 0);

	if (base == MAP_FAILED) {
		int err = io_error(name, "map it");

		shm_close(shm);
		return err;
	}
	shm->base = base;
	return 0;
}

int shm_create(const char *name, size_t size, struct shm *out)
{
	int err;

	*out = (struct shm)SHM_INIT;
	err = round_up(name, size, &size);
	if (err)
		return err;
	out->fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (out->fd < 0)
		return io_error(name, "create memory");
	if (ftruncate(out->fd, (off_t)size) ||
	    fcntl(out->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW)) {
		err = io_error(name, "size the memory");
		shm_close(out);
		return err;
	}
	out->size = size;
	return map(name, out);
}

static int check_size(const char *path, size_t size, int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return io_error(path, "ask for its size");
	if (st.st_size < 0 || (uint64_t)st.st_size < size)
		return tenon_error(-TENON_E_TRUNCATED,
				   "%s: device memory of %zu bytes expected, the file has %lld",
				   path, size, (long long)st.st_size);
	return 0;
}

/* Sizes and locks are checked on the descriptor, so the file cannot be exchanged in between. */
static int check_file(const char *path, size_t size, bool fresh, int fd)
{
	if (flock(fd, LOCK_EX | LOCK_NB))
		return errno == EWOULDBLOCK
			       ? tenon_error(
					 -TENON_E_DEVICE,
					 "%s: another process uses this device memory, or another "
					 "device of this one",
					 path)
			       : io_error(path, "lock it");
	if (fresh)
		return ftruncate(fd, 0) || ftruncate(fd, (off_t)size) ? io_error(path, "size it")
								      : 0;
	return check_size(path, size, fd);
}

int shm_open_file(const char *path, size_t size, bool fresh, struct shm *out)
{
	int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | (fresh ? O_CREAT : 0);
	int err;

	*out = (struct shm)SHM_INIT;
	err = round_up(path, size, &size);
	if (err)
		return err;
	out->fd = open(path, flags, 0600);
	if (out->fd < 0)
		return io_error(path, "open it");
	err = check_file(path, size, fresh, out->fd);
	if (err) {
		shm_close(out);
		return err;
	}
	out->size = size;
	return map(path, out);
}

int shm_extend(const char *name, uint64_t size, struct shm *shm)
{
	size_t rounded = 0;
	void *base;
	int err;

	if (size > SIZE_MAX)
		return tenon_error(-TENON_E_OVERFLOW, "%s: cannot map %llu bytes", name,
				   (unsigned long long)size);
	err = round_up(name, (size_t)size, &rounded);
	if (!err)
		err = check_size(name, rounded, shm->fd);
	if (err)
		return err;
	base = mremap(shm->base, shm->size, rounded, MREMAP_MAYMOVE);
	if (base == MAP_FAILED)
		return io_error(name, "map it");
	shm->base = base;
	shm->size = rounded;
	return 0;
}

void shm_unlock(const struct shm *shm)
{
	flock(shm->fd, LOCK_UN);
}

void shm_close(struct shm *shm)
{
	if (shm->base)
		munmap(shm->base, shm->size);
	if (shm->fd >= 0)
		close(shm->fd);
	*shm = (struct shm)SHM_INIT;
}
