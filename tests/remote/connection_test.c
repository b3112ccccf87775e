/* SPDX-License-Identifier: MIT */
/* Bytes over sockets and pipes: time limits, silence, peers that leave, and calls to the system that fail. */
#include "tests/unit/suite.h"

#include <signal.h>
#include <stdio.h>
#include <tenon/error.h>

#include "rpc/wire/connection.h"
#include "tests/remote/failing_call.h"

#define SOON_MS 30000

/* one end, and what is written to and read from it */
static struct {
	struct connection *c;
	int in, out; /* of the peer */
} ends;

static void open_socket(void)
{
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_int_equal(connection_of_fds(pair[0], pair[0], "peer", &ends.c), 0);
	ends.in = ends.out = pair[1];
}

static void open_pipes(void)
{
	int to[2], from[2];

	assert_int_equal(pipe(to), 0);
	assert_int_equal(pipe(from), 0);
	assert_int_equal(connection_of_fds(from[0], to[1], "peer", &ends.c), 0);
	ends.in = to[0];
	ends.out = from[1];
}

static void (*const kinds[])(void) = { open_socket, open_pipes };

/* Close the peer's ends alone. */
static void leave(void)
{
	close(ends.out);
	if (ends.in != ends.out)
		close(ends.in);
	ends.in = ends.out = -1;
}

static void end(void)
{
	leave();
	connection_close(ends.c);
	fail_calls("", 0, 0);
	tenon_error_clear();
}

static int send_text(const char *text)
{
	struct iovec parts[3] = { { (char *)(uintptr_t)text, 1 },
				  { NULL, 0 },
				  { (char *)(uintptr_t)text + 1, strlen(text) - 1 } };

	return connection_write(ends.c, parts, 3);
}

/* Write until the peer would have to read. */
static int fill(void)
{
	static char many[1 << 20];
	struct iovec part;
	int err;

	do {
		part = (struct iovec){ many, sizeof(many) };
		err = connection_write(ends.c, &part, 1);
	} while (!err);
	return err;
}

static void bytes_pass_in_both_directions(void **state)
{
	static const uint64_t limits[] = { 0, SOON_MS };
	char bytes[10];

	(void)state;
	for (size_t i = 0; i < 8; i++) {
		kinds[i % 2]();
		ends.c->deadline = connection_deadline(limits[i / 2 % 2]);
		connection_limit_silence(ends.c, i / 4 * SOON_MS);
		assert_int_equal(send_text("ab"), 0);
		assert_int_equal(read(ends.in, bytes, 10), 2);
		assert_memory_equal(bytes, "ab", 2);
		assert_int_equal(write(ends.out, "xyz", 3), 3);
		assert_int_equal(connection_await(ends.c), 0);
		assert_int_equal(connection_read(ends.c, bytes, 3), 0);
		assert_memory_equal(bytes, "xyz", 3);
		end();
	}
}

static void a_deadline_ends_each_wait(void **state)
{
	char byte;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		kinds[i]();
		ends.c->deadline = 1;
		assert_int_equal(connection_await(ends.c), -TENON_E_TIMEOUT);
		assert_error_has("within the time limit");
		assert_int_equal(connection_read(ends.c, &byte, 1), -TENON_E_TIMEOUT);
		assert_int_equal(fill(), -TENON_E_TIMEOUT);
		/* in the future, and then it passes */
		ends.c->deadline = connection_deadline(20);
		assert_int_equal(connection_read(ends.c, &byte, 1), -TENON_E_TIMEOUT);
		end();
	}
}

static void silence_ends_each_wait(void **state)
{
	char byte;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		kinds[i % 2]();
		ends.c->deadline = connection_deadline(i / 2 * SOON_MS);
		connection_limit_silence(ends.c, 20);
		assert_int_equal(connection_await(ends.c), -TENON_E_TIMEOUT);
		assert_error_has("not a byte passed for 0.02 s");
		assert_int_equal(connection_read(ends.c, &byte, 1), -TENON_E_TIMEOUT);
		assert_int_equal(fill(), -TENON_E_TIMEOUT);
		end();
	}
}

static void a_deadline_without_end_is_none(void **state)
{
	(void)state;
	assert_true(connection_deadline(0) == 0);
	assert_true(connection_deadline(UINT64_MAX) == 0);
	assert_true(connection_deadline(1) > 0);
	open_socket();
	/* further than poll() can wait */
	ends.c->deadline = connection_deadline(UINT64_C(1) << 40);
	assert_int_equal(write(ends.out, "a", 1), 1);
	assert_int_equal(connection_await(ends.c), 0);
	end();
}

static void a_peer_that_leaves_raises_no_signal(void **state)
{
	sigset_t pipe_set, old, pending;
	char byte;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		kinds[i]();
		leave();
		assert_int_equal(connection_read(ends.c, &byte, 1), -TENON_E_IO);
		assert_error_has("closed the connection");
		assert_int_equal(send_text("ab"), -TENON_E_IO);
		end();
	}
	/* one that the program had already stays its own */
	sigemptyset(&pipe_set);
	sigaddset(&pipe_set, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &pipe_set, &old);
	raise(SIGPIPE);
	open_pipes();
	leave();
	assert_int_equal(send_text("ab"), -TENON_E_IO);
	sigpending(&pending);
	assert_true(sigismember(&pending, SIGPIPE));
	sigtimedwait(&pipe_set, NULL, &(struct timespec){ 0, 0 });
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	end();
}

static void a_call_that_is_interrupted_is_made_again(void **state)
{
	static const int errors[] = { EINTR, EAGAIN };
	char byte;

	(void)state;
	for (size_t i = 0; i < 8; i++) {
		kinds[i % 2]();
		ends.c->deadline = connection_deadline(i / 2 % 2 * SOON_MS);
		assert_int_equal(write(ends.out, "ab", 2), 2);
		fail_calls("read", errors[i / 4], 1);
		assert_int_equal(connection_read(ends.c, &byte, 1), 0);
		fail_calls(i % 2 ? "writev" : "sendmsg", errors[i / 4], 1);
		assert_int_equal(send_text("ab"), 0);
		fail_calls("recv", EINTR, 1);
		assert_int_equal(connection_await(ends.c), 0);
		fail_calls("poll", EINTR, 1);
		assert_int_equal(connection_await(ends.c), 0);
		end();
	}
}

static void a_call_that_fails_is_told(void **state)
{
	char byte;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		kinds[i]();
		fail_calls("read", EBADF, 1);
		assert_int_equal(connection_read(ends.c, &byte, 1), -TENON_E_IO);
		assert_error_has("cannot read from peer");
		fail_calls(i ? "writev" : "sendmsg", ENOBUFS, 1);
		assert_int_equal(send_text("ab"), -TENON_E_IO);
		assert_error_has("cannot write to peer");
		ends.c->deadline = connection_deadline(SOON_MS);
		fail_calls("poll", EFAULT, 1);
		assert_int_equal(connection_await(ends.c), -TENON_E_IO);
		assert_error_has("poll");
		end();
	}
	connection_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_pass_in_both_directions),
		cmocka_unit_test(a_deadline_ends_each_wait),
		cmocka_unit_test(silence_ends_each_wait),
		cmocka_unit_test(a_deadline_without_end_is_none),
		cmocka_unit_test(a_peer_that_leaves_raises_no_signal),
		cmocka_unit_test(a_call_that_is_interrupted_is_made_again),
		cmocka_unit_test(a_call_that_fails_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
