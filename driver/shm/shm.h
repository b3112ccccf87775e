/* SPDX-License-Identifier: MIT */
/* Memory that this process and a device both map. */
#ifndef DRIVER_SHM_H
#define DRIVER_SHM_H

/*
 * A range of bytes that this process and a device (an emulator's RAM file, a simulator, another process)
 * both map. A memfd is sealed, so that it cannot become shorter while it is mapped. A file is locked: a
 * second process that opens it is refused. A file can still be cut by others, which ends a process that
 * touches the mapping by SIGBUS; use memfds where the device's side can open /proc/<pid>/fd.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct shm - a mapping
 * @base: first byte
 * @size: bytes, a multiple of the page size
 * @fd: descriptor of the file, close-on-exec
 */
struct shm {
	uint8_t *base;
	size_t size;
	int fd;
};

/* a struct shm with nothing in it: shm_close() of it does nothing */
#define SHM_INIT                                                                                   \
	{                                                                                          \
		NULL, 0, -1                                                                        \
	}

/**
 * shm_create - make anonymous memory that can be passed on as a descriptor
 * @name: for /proc and messages
 * @size: bytes; rounded up to pages
 * @out: the mapping; zeroed bytes
 *
 * Return: 0; -TENON_E_OVERFLOW; -TENON_E_IO with the reason.
 */
int shm_create(const char *name, size_t size, struct shm *out);

/**
 * shm_open_file - map a file
 * @path: its name
 * @size: bytes wanted; rounded up to pages
 * @fresh: make the file, or replace what a path of that name holds: nothing of an older session is seen.
 *	Without it the file has to exist and to be at least @size long
 * @out: the mapping
 *
 * Return: 0; -TENON_E_IO; -TENON_E_TRUNCATED when the file is shorter; -TENON_E_DEVICE when another
 *	process has it.
 */
int shm_open_file(const char *path, size_t size, bool fresh, struct shm *out);

/**
 * shm_extend - map more of a file
 * @name: for messages
 * @size: bytes wanted, not less than are mapped; rounded up to pages
 * @shm: from shm_open_file(); its address may change
 *
 * Return: 0; -TENON_E_TRUNCATED when the file is shorter; -TENON_E_OVERFLOW; -TENON_E_IO.
 */
int shm_extend(const char *name, uint64_t size, struct shm *shm);

/** shm_unlock - let other processes open the file, while it stays mapped here */
void shm_unlock(const struct shm *shm);

/** shm_close - unmap and close; the struct is SHM_INIT then */
void shm_close(struct shm *shm);

#endif /* DRIVER_SHM_H */
