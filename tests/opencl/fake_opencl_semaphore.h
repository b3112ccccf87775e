/* SPDX-License-Identifier: MIT */
/*
 * Included by fake_opencl.c: cl_khr_external_semaphore, whose descriptors are eventfds. Operations are done at once
 * here, but an event behind a semaphore that was not signalled is not.
 */

static int complain(void)
{
	COUNT(complaints);
	return -30;
}

static int is_eventfd(int fd)
{
	char link[40], target[32] = "";

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return readlink(link, target, sizeof(target) - 1) > 0 &&
	       !strcmp(target, "anon_inode:[eventfd]");
}

static ocl_semaphore create_semaphore(ocl_context c, const uint64_t *properties, int *status)
{
	int failure = fault(), fd = -1, consumes = 0, binary = 0;
	uint64_t exports = 0;
	ocl_semaphore s;

	if (failure)
		return made(NULL, status, failure);
	for (; *properties; properties += 2)
		if (properties[0] == OCL_SEMAPHORE_TYPE) {
			binary = properties[1] == OCL_SEMAPHORE_BINARY;
		} else if (properties[0] == OCL_SEMAPHORE_EXPORT_TYPES) {
			exports = properties[1];
			if (properties[2])
				return made(NULL, status, complain());
			properties++; /* a list, and its end */
		} else if (properties[0] == OCL_SEMAPHORE_OPAQUE_FD ||
			   properties[0] == OCL_SEMAPHORE_SYNC_FD) {
			fd = (int)properties[1];
			consumes = properties[0] == OCL_SEMAPHORE_OPAQUE_FD;
			if (!is_eventfd(fd))
				return made(NULL, status, -1142);
		}
	if (!binary || !exports == (fd < 0))
		return made(NULL, status, complain());
	s = make(sizeof(*s));
	s->exports = exports;
	s->fd = fd;
	s->consumes = consumes;
	if (fd >= 0)
		COUNT(fence_imports);
	return made(s, status, 0);
}

static int release_semaphore(ocl_semaphore s)
{
	if (!drop(&s->o))
		return 0;
	if (s->fd >= 0)
		close(s->fd);
	free(s);
	return 0;
}

static void keep(ocl_semaphore s)
{
	__atomic_add_fetch(&s->o.references, 1, __ATOMIC_RELAXED);
}

/* Was what a queue waits for signalled; the first who sees it consumes an opaque fd. */
static int has_signalled(ocl_semaphore s)
{
	struct pollfd p = { .fd = s->fd, .events = POLLIN };
	uint64_t counter;

	if (__atomic_load_n(&s->signalled, __ATOMIC_ACQUIRE))
		return 1;
	if (poll(&p, 1, 0) != 1)
		return 0;
	if (!__atomic_exchange_n(&s->signalled, 1, __ATOMIC_ACQ_REL) && s->consumes &&
	    read(s->fd, &counter, sizeof(counter)) != sizeof(counter))
		complain();
	return 1;
}

static int wait_semaphores(ocl_queue q, uint32_t n, const ocl_semaphore *list,
			   const uint64_t *payloads, uint32_t waits, const ocl_event *wait,
			   ocl_event *event)
{
	int failure = fault();

	if (failure)
		return failure;
	if (n != 1 || (*list)->fd < 0 || q->behind == *list)
		return complain();
	keep(*list);
	if (q->behind)
		release_semaphore(q->behind);
	q->behind = *list;
	return 0;
}

static int signal_semaphores(ocl_queue q, uint32_t n, const ocl_semaphore *list,
			     const uint64_t *payloads, uint32_t waits, const ocl_event *wait,
			     ocl_event *event)
{
	int failure = fault();

	if (failure)
		return failure;
	if (n != 1 || !(*list)->exports || (*list)->signalled)
		return complain();
	(*list)->signalled = 1;
	return 0;
}

static int semaphore_handle(ocl_semaphore s, ocl_device d, uint32_t type, size_t size, void *out,
			    size_t *got)
{
	const uint64_t one = 1;
	int failure = fault(), fd;

	if (failure)
		return failure;
	if (s->exports != type || size != sizeof(fd) || !s->signalled)
		return complain();
	COUNT(fence_exports);
	fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	/* all in front of it is done, unless nothing ever is */
	if (!f.hangs && write(fd, &one, sizeof(one)) != sizeof(one))
		return complain();
	memcpy(out, &fd, sizeof(fd));
	return 0;
}
