/* SPDX-License-Identifier: MIT */
/* The server under clients that leave, lie or wait, and its own end: it serves the next one, and keeps nothing. */
#include "tests/remote/server_process.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/remote/recording.h"

/* ---- connections that end early, or never begin */

static void a_session_cut_at_any_byte_leaves_nothing(void **state)
{
	struct recording r;
	size_t size;
	int fd;

	(void)state;
	recording_read(&r, "tensor_copy");
	for (size = 0; size < r.requests.size; size++) {
		fd = connect_server();
		assert_true(fd >= 0);
		server_send(fd, r.requests.data, size);
		close(fd);
	}
	recording_free(&r);
	the_next_client_is_served();
	nothing_is_left();
}

static uint32_t random_next(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

static void garbage_leaves_nothing(void **state)
{
	char bytes[512];
	uint32_t seed = 1;
	int i, fd;
	size_t j;

	(void)state;
	for (i = 0; i < 100; i++) {
		fd = connect_server();
		assert_true(fd >= 0);
		for (j = 0; j < sizeof(bytes); j++)
			bytes[j] = (char)random_next(&seed);
		/* without a handshake; behind it; and in packets of possible lengths */
		if (i % 3)
			server_send_key(fd, "client:fixture");
		if (i % 3 == 2)
			for (j = 0; j + 64 <= sizeof(bytes); j += 64)
				memcpy(bytes + j, "\x38\0\0\0\0\0\0\0", 8);
		server_send(fd, bytes, sizeof(bytes));
		close(fd);
	}
	the_next_client_is_served();
	nothing_is_left();
}

/* Some say nothing, some begin a handshake, some have a wrong key, and of 200 one has a session. A process with a sanitizer
 * takes five times as long to start and to end. */
static void thousands_of_connects_leave_nothing(void **state)
{
	const char *sanitizers = getenv("SAN");
	const int count = sanitizers && *sanitizers ? 2000 : 10000;
	const double end = now() + PATIENCE_S;
	int i, fd;

	(void)state;
	for (i = 0; i < count; i++) {
		assert_true(now() < end);
		fd = connect_server();
		assert_true(fd >= 0);
		if (i % 200 == 3)
			server_send_key(fd, "client:fixture");
		else if (i % 4 == 1)
			server_send(fd, "\x71\xf2\x0f\0\xff", 5);
		else if (i % 4 == 2)
			server_send_key(fd, "client:other");
		close(fd);
	}
	the_next_client_is_served();
	nothing_is_left();
}

static void a_wrong_key_is_answered_with_its_number(void **state)
{
	char reply[4];
	int fd = connect_server();

	(void)state;
	server_send_key(fd, "client:other");
	assert_int_equal(recv(fd, reply, 4, MSG_WAITALL), 4);
	assert_memory_equal(reply, "\x73\xf2\x0f\0", 4);
	assert_int_equal(recv(fd, reply, 1, 0), 0);
	close(fd);
}

static void clients_that_say_nothing_keep_no_other_from_its_session(void **state)
{
	int fds[300], i;

	(void)state;
	for (i = 0; i < 300; i++) {
		fds[i] = connect_server();
		assert_true(fds[i] >= 0);
		if (i % 2)
			server_send(fds[i], "\x71", 1);
	}
	the_next_client_is_served();
	for (i = 0; i < 300; i++)
		close(fds[i]);
	nothing_is_left();
}

static void clients_beyond_the_number_of_sessions_wait(void **state)
{
	struct client first[8], c;
	int i, fd;

	(void)state;
	for (i = 0; i < 8; i++)
		open_client(&first[i], "client:fixture");
	assert_int_equal(count_sessions(), 8);
	/* one that waits and leaves, and one that gets the next session */
	fd = connect_server();
	server_send_key(fd, "client:fixture");
	close(fd);
	fd = connect_server();
	server_send_key(fd, "client:fixture");
	server_client_close(&first[0]);
	assert_int_equal(recv(fd, &c.code, 1, 0), 1);
	close(fd);
	for (i = 1; i < 8; i++) {
		assert_int_equal(client_function(&first[i], "tvm.rpc.server.upload"), 64);
		server_client_close(&first[i]);
	}
	nothing_is_left();
}

/* ---- the end of the server */

static struct {
	pid_t number;
	int count;
} session;

static void count_process(void *context, const struct process *p)
{
	(void)context;
	session.count += p->group == session.number;
}

static int count_session(void)
{
	session.count = 0;
	/* those that a killed server left to this process */
	while (waitpid(-session.number, NULL, WNOHANG) > 0)
		;
	process_list(count_process, NULL);
	return session.count;
}

static void a_killed_server_takes_its_sessions_with_it(void **state)
{
	struct client c;
	int status;

	(void)state;
	open_client(&c, "client:fixture");
	session.number = 0;
	process_list(find_child, &session.number);
	CALL(&c, hostile_function(&c, "leaves_processes"), wire_int(0));
	assert_true(count_session() > 1);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	kill(server.pid, SIGKILL);
	waitpid(server.pid, &status, 0);
	/* what the session started ends with it; without the filter it has left the group */
	if (!kernel_lacks("seccomp ("))
		wait_for(count_session, 0, "processes of the session");
	prctl(PR_SET_CHILD_SUBREAPER, 0);
	/* the session held the only other end of the connection */
	assert_false(client_receive(&c));
	server_client_close(&c);
	assert_int_equal(count_entries(server.base), 1);
	/* the next server removes the folder, and takes the socket over */
	start_server();
	assert_int_equal(count_entries(server.base), 1);
	nothing_is_left();
}

static void wait_for_server(int *status)
{
	pid_t ended;

	do
		ended = waitpid(server.pid, status, 0);
	while (ended < 0 && errno == EINTR);
	assert_int_equal(ended, server.pid);
}

static void stop_server(int signal)
{
	int status;

	kill(server.pid, signal);
	wait_for_server(&status);
	assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
	assert_int_equal(count_entries(server.base), 0);
}

static void a_server_that_is_stopped_leaves_no_folder(void **state)
{
	struct client c;
	int i;

	(void)state;
	for (i = 0; i < 4; i++) {
		open_client(&c, "client:fixture");
		CALL(&c, hostile_function(&c, "leaves_processes"), wire_int(0));
		/* while the session runs, and while it ends */
		if (i > 1)
			server_client_close(&c);
		stop_server(i % 2 ? SIGINT : SIGTERM);
		if (i <= 1)
			server_client_close(&c);
		start_server();
	}
	nothing_is_left();
}

static void a_server_that_is_stopped_while_it_starts_leaves_no_folder(void **state)
{
	double end;
	int i;

	(void)state;
	stop_server(SIGTERM);
	for (i = 0; i < 20; i++) {
		launch_server(NULL);
		end = now() + PATIENCE_S;
		while (!count_entries(server.base))
			assert_true(now() < end);
		stop_server(i % 2 ? SIGINT : SIGTERM);
	}
	start_server();
	nothing_is_left();
}

/* the code of leaves_processes() leaves its process group then */
static void what_leaves_its_group_ends_with_its_session_without_a_sandbox(void **state)
{
	(void)state;
	stop_server(SIGTERM);
	start_server_with("--no-sandbox");
	assert_int_equal(call_hostile("leaves_processes"), 0);
	nothing_is_left();
	assert_int_equal(call_hostile("leaves_processes"), 0);
	nothing_is_left();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_session_cut_at_any_byte_leaves_nothing),
		cmocka_unit_test(garbage_leaves_nothing),
		cmocka_unit_test(thousands_of_connects_leave_nothing),
		cmocka_unit_test(a_wrong_key_is_answered_with_its_number),
		cmocka_unit_test(clients_that_say_nothing_keep_no_other_from_its_session),
		cmocka_unit_test(clients_beyond_the_number_of_sessions_wait),
		cmocka_unit_test(a_killed_server_takes_its_sessions_with_it),
		cmocka_unit_test(a_server_that_is_stopped_leaves_no_folder),
		cmocka_unit_test(a_server_that_is_stopped_while_it_starts_leaves_no_folder),
		cmocka_unit_test(what_leaves_its_group_ends_with_its_session_without_a_sandbox),
	};

	return run_with_server(tests);
}
