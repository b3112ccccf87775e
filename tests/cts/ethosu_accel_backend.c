/* SPDX-License-Identifier: MIT */
/*
 * Ethos-U behind the kernel's accel interface, on the kernel's model (a named fake), with memory in buffers of the driver.
 * Payloads are networks, with one kernel "main", so the suite's kernels cannot be had.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "devices/ethosu/ethosu_accel_device.h"
#include "tests/cts/cts.h"
#include "tests/driver/faults.h"
#include "tests/driver/tree.h"
#include "tests/npu/npu_kernel.h"

#define NETWORK "a payload is a network, whose one kernel computes it"

static int network(struct tenon_buffer *out)
{
	const char *source = getenv("TENON_SOURCE");
	char path[512], bytes[4096];
	FILE *file;
	size_t size;

	snprintf(path, sizeof(path), "%s/tests/ethosu/data/u65_conv1x1/u65.npz",
		 source ? source : ".");
	file = fopen(path, "rb");
	if (!file)
		return -1;
	while ((size = fread(bytes, 1, sizeof(bytes), file)))
		tenon_buffer_append(out, bytes, size);
	fclose(file);
	return out->status;
}

/* ---- the model takes one call at a time */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int locked_open(const char *path, int flags)
{
	int fd;

	pthread_mutex_lock(&lock);
	fd = faulty_calls.open(path, flags);
	pthread_mutex_unlock(&lock);
	return fd;
}

static int locked_close(int fd)
{
	int err;

	pthread_mutex_lock(&lock);
	err = faulty_calls.close(fd);
	pthread_mutex_unlock(&lock);
	return err;
}

static int locked_ioctl(int fd, unsigned long request, void *argument)
{
	int err;

	pthread_mutex_lock(&lock);
	err = faulty_calls.ioctl(fd, request, argument);
	pthread_mutex_unlock(&lock);
	return err;
}

static void *locked_mmap(void *start, size_t size, int protection, int flags, int fd, off_t offset)
{
	void *base;

	pthread_mutex_lock(&lock);
	base = npu_calls.mmap(start, size, protection, flags, fd, offset);
	pthread_mutex_unlock(&lock);
	return base;
}

/* These do not reach the model. Mappings are not counted: a child has none of its parent's. */
static int plain_munmap(void *start, size_t size)
{
	return npu_calls.munmap(start, size);
}

static int plain_madvise(void *start, size_t size, int advice)
{
	return npu_calls.madvise(start, size, advice);
}

static int locked_ppoll(struct pollfd *polled, nfds_t count, const struct timespec *timeout)
{
	int ready;

	pthread_mutex_lock(&lock);
	ready = faulty_calls.ppoll(polled, count, timeout);
	pthread_mutex_unlock(&lock);
	return ready;
}

static const struct system_calls locked_calls = {
	.open = locked_open,
	.close = locked_close,
	.ioctl = locked_ioctl,
	.mmap = locked_mmap,
	.munmap = plain_munmap,
	.madvise = plain_madvise,
	.ppoll = locked_ppoll,
};

/* The node is in the model alone, so its folder need not exist. */
static const char *setup(void)
{
	tree_pretend("/model-of-the-kernel");
	npu_start();
	npu.cma = UINT64_C(256) << 20;
	faults_over(&npu_calls);
	ethosu_accel_source.calls = &locked_calls;
	ethosu_accel_source.root = tree;
	return NULL;
}

static const struct cts_note unsupported[] = {
	{ "a_module_of_the_kind_is_loaded_and_called", NETWORK },
	{ NULL, NULL },
};

const struct cts_backend cts_backend = {
	.uri = "ethosu://accel/0?memory=buffers",
	.kind = "ethos-u",
	.payload = network,
	.modern = true,
	.no_kernels = NETWORK,
	.setup = setup,
	.unsupported = unsupported,
};
