/* SPDX-License-Identifier: MIT */
/*
 * Two processes that share memory and fences: one fills memory behind a gate and hands over memory and fence
 * before the gate opens; the other waits for the fence on its queue, reads, writes an answer behind it, and
 * hands back a fence that the first takes into a wait set.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <tenon/backend/backend.h>
#include <tenon/backend/queue.h>
#include <tenon/fence.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/suite.h"
#include "tests/vulkan/vulkan_environment.h"

#define SIZE   65536
#define SECOND UINT64_C(1000000000)

/* what the other process ends with */
enum {
	DONE = 0,
	FAILED = 1,
	CANNOT = 77, /* the device is not there, or does not give memory away */
};

static void send_fds(int to, const int *fds, size_t count)
{
	char byte = (char)count, room[CMSG_SPACE(2 * sizeof(int))] = { 0 };
	struct iovec v = { &byte, 1 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = room };
	struct cmsghdr *c;

	if (count) {
		m.msg_controllen = CMSG_SPACE(count * sizeof(int));
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(count * sizeof(int));
		memcpy(CMSG_DATA(c), fds, count * sizeof(int));
	} else {
		m.msg_control = NULL;
	}
	if (sendmsg(to, &m, MSG_NOSIGNAL) != 1)
		perror("sendmsg");
}

/* Return: how many came; -1 when the other side ended. */
static int receive_fds(int from, int *fds, size_t most)
{
	char byte, room[CMSG_SPACE(2 * sizeof(int))];
	struct iovec v = { &byte, 1 };
	struct msghdr m = {
		.msg_iov = &v, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room)
	};
	struct cmsghdr *c;

	if (recvmsg(from, &m, MSG_CMSG_CLOEXEC) != 1)
		return -1;
	c = CMSG_FIRSTHDR(&m);
	if (c)
		memcpy(fds, CMSG_DATA(c), most * sizeof(int));
	return byte;
}

static uint64_t soon(void)
{
	return tenon_deadline(60 * SECOND);
}

static int failed(const char *what)
{
	fprintf(stderr, "# the other process: %s: %s\n", what, tenon_error_message());
	return FAILED;
}

/* What the other process does with what it is given. */
static int answer(struct tenon_device *d, int memory_fd, int fence_fd, int socket)
{
	const struct tenon_memory_import from = { .size = sizeof(from),
						  .type = TENON_HANDLE_OPAQUE_FD,
						  .fd = memory_fd,
						  .bytes = SIZE,
						  .usage = TENON_MEMORY_DEFAULT };
	struct tenon_point there = { NULL, 1 }, answered = { NULL, 1 };
	struct tenon_sync behind = { &there, 1, NULL, 0 }, done = { NULL, 0, &answered, 1 };
	struct tenon_memory *m;
	struct tenon_queue *q;
	uint32_t words[4] = { 0 };
	int fd;

	if (tenon_memory_import(d, &from, &m))
		return failed("import of the memory");
	if (tenon_fence_import(TENON_FENCE_EVENTFD, fence_fd, &there.timeline))
		return failed("import of the fence");
	if (tenon_queue_create(d, &q) || tenon_timeline_create(0, &answered.timeline))
		return failed("queue");
	if (tenon_queue_read(q, words, m, 1024, sizeof(words), &behind) ||
	    tenon_queue_fill(q, m, 0, SIZE, 0xa5a5a5a5, 4, &done))
		return failed("submission");
	if (tenon_fence_export(&answered, TENON_FENCE_EVENTFD, &fd))
		return failed("export of the answer");
	send_fds(socket, &fd, 1);
	if (tenon_queue_sync(q, soon()))
		return failed("sync");
	close(fd);
	tenon_object_unref(q);
	tenon_object_unref(m);
	tenon_object_unref(there.timeline);
	tenon_object_unref(answered.timeline);
	if (words[0] != 0x12345678 || words[3] != 0x12345678) {
		fprintf(stderr, "# the other process read %x\n", words[0]);
		return FAILED;
	}
	return DONE;
}

static int other_process(const char *uri, int socket)
{
	struct tenon_device *d;
	int fds[2] = { -1, -1 }, result;

	if (receive_fds(socket, fds, 2) != 2)
		return CANNOT;
	if (tenon_device_open(uri, &d))
		return failed("device");
	result = answer(d, fds[0], fds[1], socket);
	close(fds[0]);
	close(fds[1]);
	tenon_object_unref(d);
	tenon_device_close_all();
	return result;
}

/* Memory that is filled when @gate is reached, and the fence of that; skips where the device cannot. */
static struct tenon_memory *fill_later(struct tenon_queue *q, const struct tenon_point *gate,
				       const struct tenon_point *filled, int socket)
{
	const struct tenon_memory_request request = { sizeof(request), SIZE,
						      TENON_MEMORY_DEFAULT | TENON_MEMORY_EXPORT,
						      -1, NULL };
	struct tenon_sync s = { gate, 1, filled, 1 };
	struct tenon_memory *m;
	int fds[2];

	assert_int_equal(tenon_memory_alloc(q->device, &request, &m), 0);
	assert_int_equal(tenon_queue_fill(q, m, 0, SIZE, 0x12345678, 4, &s), 0);
	assert_int_equal(tenon_memory_export(m, TENON_HANDLE_OPAQUE_FD, &fds[0]), 0);
	assert_int_equal(tenon_fence_export(filled, TENON_FENCE_EVENTFD, &fds[1]), 0);
	send_fds(socket, fds, 2);
	close(fds[0]);
	close(fds[1]);
	return m;
}

/* Wait for the answer's fence the way an event loop does. */
static void wait_for_answer(int socket)
{
	struct tenon_point answered = { NULL, 1 };
	struct tenon_wait_result r = { NULL, -1 };
	struct tenon_wait_set *set;
	struct pollfd p = { .events = POLLIN };
	int fd;

	assert_int_equal(receive_fds(socket, &fd, 1), 1);
	assert_int_equal(tenon_fence_import(TENON_FENCE_EVENTFD, fd, &answered.timeline), 0);
	close(fd);
	assert_int_equal(tenon_wait_set_create(&set), 0);
	assert_int_equal(tenon_wait_set_add(set, &answered, &fd), 0);
	p.fd = tenon_wait_set_fd(set);
	while (!tenon_wait_set_next(set, &r))
		assert_int_equal(poll(&p, 1, 60000), 1);
	assert_int_equal(r.status, 0);
	assert_ptr_equal(r.context, &fd);
	tenon_object_unref(set);
	tenon_object_unref(answered.timeline);
}

static void share(struct tenon_device *d, int socket)
{
	const struct timespec moment = { 0, 50 * 1000 * 1000 };
	struct tenon_point gate = { NULL, 1 }, filled = { NULL, 1 };
	struct tenon_memory *m;
	struct tenon_queue *q;
	uint32_t word = 0;

	assert_int_equal(tenon_timeline_create(0, &gate.timeline), 0);
	assert_int_equal(tenon_timeline_create(0, &filled.timeline), 0);
	assert_int_equal(tenon_queue_create(d, &q), 0);
	m = fill_later(q, &gate, &filled, socket);
	/* time to read too early, if nothing holds it back */
	nanosleep(&moment, NULL);
	assert_int_equal(tenon_timeline_signal(gate.timeline, 1), 0);
	wait_for_answer(socket);
	assert_int_equal(tenon_queue_read(q, &word, m, SIZE - 4, 4, NULL), 0);
	assert_int_equal(tenon_queue_sync(q, soon()), 0);
	assert_int_equal(word, 0xa5a5a5a5);
	tenon_object_unref(m);
	tenon_object_unref(q);
	tenon_object_unref(gate.timeline);
	tenon_object_unref(filled.timeline);
}

static void between_processes(const char *uri)
{
	struct tenon_device *d = NULL;
	int sockets[2], status, err;
	bool able;
	pid_t pid;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
	/* before either has opened a device: drivers do not survive fork() */
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		close(sockets[0]);
		_exit(other_process(uri, sockets[1]));
	}
	close(sockets[1]);
	err = tenon_device_open(uri, &d);
	able = !err &&
	       d->properties->exports & d->properties->imports & 1u << TENON_HANDLE_OPAQUE_FD;
	if (able)
		share(d, sockets[0]);
	else
		print_message("# skip: %s: %s\n", uri,
			      err ? tenon_error_message() : "no memory that leaves the process");
	tenon_error_clear();
	close(sockets[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), able ? DONE : CANNOT);
	tenon_object_unref(d);
	tenon_device_close_all();
	if (!able)
		skip();
}

static void memory_and_fences_of_the_processor_are_shared(void **state)
{
	(void)state;
	between_processes("cpu://0?queue=worker");
}

#ifdef CONFIG_DEVICE_VULKAN
static void memory_and_fences_of_vulkan_are_shared(void **state)
{
	(void)state;
	between_processes("vulkan:0");
}
#endif

#ifdef CONFIG_DEVICE_OPENCL
static void memory_and_fences_of_opencl_are_shared(void **state)
{
	(void)state;
	between_processes("opencl:0");
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_and_fences_of_the_processor_are_shared),
#ifdef CONFIG_DEVICE_VULKAN
		cmocka_unit_test(memory_and_fences_of_vulkan_are_shared),
#endif
#ifdef CONFIG_DEVICE_OPENCL
		cmocka_unit_test(memory_and_fences_of_opencl_are_shared),
#endif
	};

	vulkan_environment(NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
