/* SPDX-License-Identifier: MIT */
/* Included by fake_cuda.c: streams, events, and what runs on them. */

enum {
	OP_COPY,
	OP_SET,
	OP_FUNCTION,
	OP_KERNEL,
	OP_RECORD,
	OP_WAIT,
	OP_FREE,
	OP_GRAPH,
	OP_SEMAPHORE
};

struct semaphore {
	struct handle handle;
	int fd;
	int waits; /* atomic: in streams */
};

struct op {
	struct op *next;
	int kind;
	uint64_t to, from; /* addresses of the device; 0: the host's */
	void *host_to;
	const void *host_from;
	void *staged; /* a copy that the driver made; freed behind */
	size_t size;
	uint32_t value, width;
	void (*function)(void *);
	void *context;
	struct cu_event_data *event;
	uint64_t generation;
	struct semaphore *semaphore;
	struct ptx_launch launch;
	unsigned char params[512];
	struct op *nodes; /* of a graph, in the order in which they run */
};

struct cu_stream_data {
	struct handle handle;
	struct cu_stream_data *all;
	struct op *first, *last;
	int busy, ending;
};

struct cu_event_data {
	struct handle handle;
	int timed;
	uint64_t recorded, completed;
	double time;
};

static struct cu_stream_data *streams; /* never shorter: those that ended stay */

static double milliseconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void set_memory(char *at, const struct op *o)
{
	size_t i;

	for (i = 0; i < o->size; i += o->width)
		memcpy(at + i, &o->value, o->width);
}

static int is_eventfd(int fd)
{
	char link[40], target[32] = "";

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return readlink(link, target, sizeof(target) - 1) > 0 &&
	       !strcmp(target, "anon_inode:[eventfd]");
}

static int has_signalled(const struct semaphore *s)
{
	struct pollfd p = { .fd = s->fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

/* A wait consumes the signal of a binary semaphore. */
static void consume(struct semaphore *s)
{
	uint64_t counter;

	if (read(s->fd, &counter, sizeof(counter)) != sizeof(counter))
		complain("a semaphore that was consumed before", "cuWaitExternalSemaphoresAsync");
	__atomic_sub_fetch(&s->waits, 1, __ATOMIC_ACQ_REL);
}

/* Without the lock. Returns what spoils the context, or 0. */
static int execute(struct op *o)
{
	struct range *freed;
	void *to, *from;
	struct op *n;
	int status = 0;

	switch (o->kind) {
	case OP_COPY:
		to = o->to ? memory_at(o->to, o->size) : o->host_to;
		from = o->from	   ? memory_at(o->from, o->size)
		       : o->staged ? o->staged
				   : (void *)(uintptr_t)o->host_from;
		if (!to || !from)
			return CU_ILLEGAL_ADDRESS;
		memcpy(to, from, o->size);
		return 0;
	case OP_SET:
		to = memory_at(o->to, o->size);
		if (to)
			set_memory(to, o);
		return to ? 0 : CU_ILLEGAL_ADDRESS;
	case OP_FUNCTION:
		in_function = 1;
		o->function(o->context);
		in_function = 0;
		return 0;
	case OP_KERNEL:
		o->launch.params = o->params;
		return o->launch.kernel->code ? ptx_run(&o->launch) : 0;
	case OP_FREE:
		freed = range_take(PLAIN, o->to);
		if (freed)
			range_free(freed);
		return 0;
	case OP_SEMAPHORE:
		consume(o->semaphore);
		return 0;
	case OP_GRAPH:
		for (n = o->nodes; n && !status; n = n->next)
			status = execute(n);
		return status;
	default:
		return 0;
	}
}

static void op_free(struct op *o)
{
	struct op *n;

	while ((n = o->nodes)) {
		o->nodes = n->next;
		free(n);
	}
	free(o->staged);
	free(o);
}

static int can_run(const struct cu_stream_data *s)
{
	const struct op *o = s->first;

	if (!o || s->busy || __atomic_load_n(&f.hangs, __ATOMIC_ACQUIRE))
		return 0;
	if (o->kind == OP_SEMAPHORE)
		return has_signalled(o->semaphore) || sticky_of(s->handle.context);
	return o->kind != OP_WAIT || o->event->completed >= o->generation ||
	       sticky_of(s->handle.context);
}

/* Run the first operation of a stream. The lock is held, but not while it runs. */
static void run_one(struct cu_stream_data *s)
{
	struct cu_context_data *c = s->handle.context;
	struct op *o = s->first;
	int status = 0;

	s->first = o->next;
	if (!s->first)
		s->last = NULL;
	s->busy = 1;
	pthread_mutex_unlock(&lock);
	if (!sticky_of(c))
		status = execute(o);
	if (status)
		spoil(c, status);
	pthread_mutex_lock(&lock);
	s->busy = 0;
	if (o->kind == OP_RECORD && !sticky_of(c)) {
		if (o->event->completed < o->generation)
			o->event->completed = o->generation;
		o->event->time = milliseconds();
	}
	op_free(o);
	pthread_cond_broadcast(&moved);
}

/* Without threads: run all that can. The lock is held. */
static void pump(void)
{
	struct cu_stream_data *s;
	int ran = inline_streams;

	while (ran) {
		ran = 0;
		for (s = streams; s; s = s->all)
			while (can_run(s)) {
				run_one(s);
				ran = 1;
			}
	}
}

static void wait_a_moment(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += 2000000;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	pthread_cond_timedwait(&moved, &lock, &t);
}

static void *stream_thread(void *context)
{
	struct cu_stream_data *s = context;

	pthread_mutex_lock(&lock);
	while (!s->ending || s->first) {
		if (can_run(s))
			run_one(s);
		else if (s->ending && s->handle.context->magic == GONE)
			break;
		else
			wait_a_moment();
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

static int is_idle(const struct cu_stream_data *s)
{
	return !s->first && !s->busy;
}

/* What waits for a whole device. */
static void quiesce(struct cu_context_data *c)
{
	struct cu_stream_data *s;
	int busy = 1;

	pthread_mutex_lock(&lock);
	while (busy && !sticky_of(c)) {
		pump();
		busy = 0;
		for (s = streams; s; s = s->all)
			busy |= s->handle.context == c && !is_idle(s);
		if (busy && f.hangs) {
			COUNT(blocked);
			break;
		}
		if (busy)
			wait_a_moment();
	}
	pthread_mutex_unlock(&lock);
}

static int enqueue(cu_stream s, struct op *o)
{
	pthread_mutex_lock(&lock);
	if (s->last)
		s->last->next = o;
	else
		s->first = o;
	s->last = o;
	if (o->kind == OP_RECORD)
		o->generation = ++o->event->recorded;
	pump();
	pthread_cond_broadcast(&moved);
	pthread_mutex_unlock(&lock);
	return 0;
}

static struct op *op_make(int kind)
{
	struct op *o = calloc(1, sizeof(*o));

	o->kind = kind;
	return o;
}

EXPORT int cuStreamCreate(cu_stream *out, uint32_t flags)
{
	struct cu_stream_data *s;
	pthread_attr_t attributes;
	pthread_t thread;

	ENTER_CONTEXT("cuStreamCreate");
	s = make_handle(sizeof(*s), STREAM);
	pthread_mutex_lock(&lock);
	s->all = streams;
	streams = s;
	pthread_mutex_unlock(&lock);
	if (!inline_streams) {
		pthread_attr_init(&attributes);
		pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
		if (pthread_create(&thread, &attributes, stream_thread, s))
			abort();
		pthread_attr_destroy(&attributes);
	}
	*out = s;
	return 0;
}

EXPORT int cuStreamDestroy_v2(cu_stream s)
{
	ENTER_CONTEXT("cuStreamDestroy_v2");
	CHECK(s, STREAM, "cuStreamDestroy_v2");
	pthread_mutex_lock(&lock);
	end_handle(s);
	s->ending = 1;
	pthread_cond_broadcast(&moved);
	pthread_mutex_unlock(&lock);
	return 0;
}

EXPORT int cuStreamQuery(cu_stream s)
{
	int idle;

	ENTER_CONTEXT("cuStreamQuery");
	CHECK(s, STREAM, "cuStreamQuery");
	pthread_mutex_lock(&lock);
	pump();
	idle = is_idle(s);
	pthread_mutex_unlock(&lock);
	return idle ? sticky_of(current) : CU_NOT_READY;
}

/* What the documentation says waits for the stream. */
static void drain(cu_stream s)
{
	pthread_mutex_lock(&lock);
	if (!is_idle(s))
		COUNT(waits);
	while (!is_idle(s) && !f.hangs && !sticky_of(current)) {
		pump();
		wait_a_moment();
	}
	if (!is_idle(s) && f.hangs)
		COUNT(blocked);
	pthread_mutex_unlock(&lock);
}

EXPORT int cuStreamWaitEvent(cu_stream s, cu_event e, uint32_t flags)
{
	struct op *o;

	ENTER_CONTEXT("cuStreamWaitEvent");
	CHECK(s, STREAM, "cuStreamWaitEvent");
	CHECK(e, EVENT, "cuStreamWaitEvent");
	o = op_make(OP_WAIT);
	o->event = e;
	pthread_mutex_lock(&lock);
	o->generation = e->recorded;
	pthread_mutex_unlock(&lock);
	return enqueue(s, o);
}

EXPORT int cuLaunchHostFunc(cu_stream s, void (*function)(void *), void *context)
{
	struct op *o;

	ENTER_CONTEXT("cuLaunchHostFunc");
	CHECK(s, STREAM, "cuLaunchHostFunc");
	COUNT(host_functions);
	o = op_make(OP_FUNCTION);
	o->function = function;
	o->context = context;
	return enqueue(s, o);
}

EXPORT int cuEventCreate(cu_event *out, uint32_t flags)
{
	ENTER_CONTEXT("cuEventCreate");
	COUNT(events);
	*out = make_handle(sizeof(struct cu_event_data), EVENT);
	(*out)->timed = !(flags & CU_EVENT_DISABLE_TIMING);
	return 0;
}

#ifndef FAKE_BROKEN
EXPORT int cuEventRecord(cu_event e, cu_stream s)
{
	struct op *o;

	ENTER_CONTEXT("cuEventRecord");
	CHECK(e, EVENT, "cuEventRecord");
	CHECK(s, STREAM, "cuEventRecord");
	o = op_make(OP_RECORD);
	o->event = e;
	return enqueue(s, o);
}
#endif

EXPORT int cuEventQuery(cu_event e)
{
	int done;

	ENTER_CONTEXT("cuEventQuery");
	CHECK(e, EVENT, "cuEventQuery");
	pthread_mutex_lock(&lock);
	pump();
	done = e->completed >= e->recorded;
	pthread_mutex_unlock(&lock);
	return sticky_of(current) ? sticky_of(current) : done ? 0 : CU_NOT_READY;
}

EXPORT int cuEventDestroy_v2(cu_event e)
{
	ENTER_CONTEXT("cuEventDestroy_v2");
	CHECK(e, EVENT, "cuEventDestroy_v2");
	end_handle(e);
	return 0;
}

EXPORT int cuEventElapsedTime(float *out, cu_event from, cu_event to)
{
	int status = 0;

	ENTER_CONTEXT("cuEventElapsedTime");
	CHECK(from, EVENT, "cuEventElapsedTime");
	CHECK(to, EVENT, "cuEventElapsedTime");
	pthread_mutex_lock(&lock);
	if (!from->timed || !to->timed || !from->recorded || !to->recorded)
		status = CU_INVALID_HANDLE;
	else if (from->completed < from->recorded || to->completed < to->recorded)
		status = CU_NOT_READY;
	*out = (float)(to->time - from->time);
	pthread_mutex_unlock(&lock);
	return status;
}
