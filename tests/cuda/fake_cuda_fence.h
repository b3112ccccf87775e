/* SPDX-License-Identifier: MIT */
/* Included by fake_cuda.c: semaphores of another API. The other API's opaque fd is an eventfd here. */

EXPORT int cuImportExternalSemaphore(void **out, const struct cu_external_semaphore *from)
{
	struct semaphore *s;
	size_t i;

	ENTER_CONTEXT("cuImportExternalSemaphore");
	for (i = 0; i < sizeof(from->reserved) / sizeof(from->reserved[0]); i++)
		if (from->reserved[i] || from->flags)
			complain("flags and reserved words have to be 0",
				 "cuImportExternalSemaphore");
	if (from->type != CU_EXTERNAL_OPAQUE_FD || !is_eventfd(from->handle.fd))
		return CU_INVALID_HANDLE;
	s = make_handle(sizeof(*s), SEMAPHORE);
	s->fd = from->handle.fd;
	*out = s;
	return 0;
}

EXPORT int cuWaitExternalSemaphoresAsync(void *const *list, const struct cu_semaphore_wait *waits,
					 uint32_t count, cu_stream stream)
{
	static const struct cu_semaphore_wait once;
	struct op *o;
	uint32_t i;

	ENTER_CONTEXT("cuWaitExternalSemaphoresAsync");
	CHECK(stream, STREAM, "cuWaitExternalSemaphoresAsync");
	for (i = 0; i < count; i++) {
		CHECK(list[i], SEMAPHORE, "cuWaitExternalSemaphoresAsync");
		if (memcmp(&waits[i], &once, sizeof(once)))
			complain("a binary semaphore has no value and takes no flags",
				 "cuWaitExternalSemaphoresAsync");
		o = op_make(OP_SEMAPHORE);
		o->semaphore = list[i];
		__atomic_add_fetch(&o->semaphore->waits, 1, __ATOMIC_ACQ_REL);
		enqueue(stream, o);
	}
	return 0;
}

EXPORT int cuDestroyExternalSemaphore(void *semaphore)
{
	struct semaphore *s = semaphore;

	ENTER_CONTEXT("cuDestroyExternalSemaphore");
	CHECK(s, SEMAPHORE, "cuDestroyExternalSemaphore");
	if (__atomic_load_n(&s->waits, __ATOMIC_ACQUIRE))
		complain("a stream still waits for it", "cuDestroyExternalSemaphore");
	end_handle(s);
	close(s->fd);
	return 0;
}
