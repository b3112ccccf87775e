/* SPDX-License-Identifier: MIT */
/*
 * Our client with our session, where one reply after the other is another one: the client gets what it asked for, or an error with a
 * message, and the session can be closed.
 */
#include "tests/remote/rpc_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <tenon/backend/buffer.h>
#include <tenon/trace.h>
#include <unistd.h>

#include "rpc/client/rpc.h"
#include "rpc/wire/packet.h"
#include "tests/remote/rpc_asks.h"

/* what comes in place of a reply */
enum other {
	OTHER_EXCEPTION,
	OTHER_NOTHING, /* a reply without values */
	OTHER_NONE,
	OTHER_NULL,
	OTHER_NEGATIVE,
	OTHER_LARGE,
	OTHER_TEXT,
	OTHER_COPY, /* as of bytes that were asked for, without any */
	OTHER_CODE,
	OTHER_PART,
	OTHER_END, /* of the connection */
	OTHERS,
};

/* the client's end of a connection, which looks at what comes */
struct changing {
	struct connection base;
	struct connection *inner;
	struct tenon_buffer b; /* what comes next */
	size_t at;
	bool greeted;
	bool ended;
};

static long replies, changed_at; /* changed_at: 0 for none */
static enum other other;
static char said[512]; /* the error of the last session */

/* ---- other replies */

static void write_reply(struct tenon_buffer *b)
{
	static const struct wire_value values[OTHERS][2] = {
		[OTHER_EXCEPTION] = { { WIRE_STRING, { .text = { "another reply", 13 } } } },
		[OTHER_NONE] = { { WIRE_INT, { .integer = TENON_TYPE_NONE } },
				 { WIRE_NONE, { 0 } } },
		[OTHER_NULL] = { { WIRE_POINTER, { .handle = 0 } } },
		[OTHER_NEGATIVE] = { { WIRE_INT, { .integer = TENON_TYPE_INT } },
				     { WIRE_INT, { .integer = -1 } } },
		[OTHER_LARGE] = { { WIRE_INT, { .integer = TENON_TYPE_INT } },
				  { WIRE_INT, { .integer = INT64_MAX } } },
		[OTHER_TEXT] = { { WIRE_INT, { .integer = TENON_TYPE_STRING } },
				 { WIRE_STRING, { .text = { "x", 1 } } } },
	};
	static const uint32_t counts[OTHERS] = {
		[OTHER_EXCEPTION] = 1, [OTHER_NONE] = 2,  [OTHER_NULL] = 1,
		[OTHER_NEGATIVE] = 2,  [OTHER_LARGE] = 2, [OTHER_TEXT] = 2,
	};
	const uint32_t code = other == OTHER_EXCEPTION ? PACKET_EXCEPTION
			      : other == OTHER_COPY    ? PACKET_COPY_ACK
			      : other == OTHER_CODE    ? 99
						       : PACKET_RETURN;
	const size_t start = packet_begin(b, code);

	if (other < OTHER_COPY)
		wire_write_sequence(b, WIRE_FFI, values[other], counts[other]);
	if (other == OTHER_PART)
		tenon_buffer_u8(b, 7);
	packet_end(b, start, 0);
	assert_int_equal(b->status, 0);
}

/* Take the next reply, or what the server sends before it. Return: 0, or a status */
static int take_next(struct changing *c)
{
	uint32_t word = 0;
	uint64_t size = 0;
	const size_t head = c->greeted ? sizeof(size) : 2 * sizeof(word);
	char bytes[8];
	int err;

	c->at = c->b.size = 0;
	c->inner->deadline = c->base.deadline;
	err = connection_read(c->inner, bytes, head);
	if (err)
		return err;
	tenon_buffer_append(&c->b, bytes, head);
	if (c->greeted) {
		memcpy(&size, bytes, sizeof(size));
	} else {
		memcpy(&word, bytes + sizeof(word), sizeof(word));
		size = word;
	}
	while (!err && size) {
		const size_t n = size < sizeof(bytes) ? (size_t)size : sizeof(bytes);

		err = connection_read(c->inner, bytes, n);
		tenon_buffer_append(&c->b, bytes, n);
		size -= n;
	}
	if (c->greeted && ++replies == changed_at) {
		c->ended = other == OTHER_END;
		c->b.size = 0;
		if (!c->ended)
			write_reply(&c->b);
	}
	c->greeted = true;
	return err ? err : c->b.status;
}

static ssize_t changing_read(struct connection *base, void *data, size_t size)
{
	struct changing *c = (struct changing *)base;
	int err = 0;

	if (c->at == c->b.size && !c->ended)
		err = take_next(c);
	if (err)
		return err;
	if (size > c->b.size - c->at)
		size = c->b.size - c->at;
	if (size)
		memcpy(data, c->b.data + c->at, size);
	c->at += size;
	return (ssize_t)size;
}

static ssize_t changing_write(struct connection *base, const struct iovec *parts, int count)
{
	struct changing *c = (struct changing *)base;

	c->inner->deadline = base->deadline;
	return c->inner->ops->write(c->inner, parts, count);
}

static void changing_close(struct connection *base)
{
	struct changing *c = (struct changing *)base;

	connection_close(c->inner);
	tenon_buffer_fini(&c->b);
	free(c);
}

static int changing_await(const struct connection *base)
{
	const struct changing *c = (const struct changing *)base;

	return c->at < c->b.size || c->ended ? 0 : connection_await(c->inner);
}

static struct connection *changing_of(int fd)
{
	static const struct connection_ops ops = { changing_read, changing_write, changing_close,
						   changing_await, NULL };
	struct changing *c = calloc(1, sizeof(*c));

	assert_non_null(c);
	c->base.ops = &ops;
	assert_int_equal(connection_of_fds(fd, fd, "board", &c->inner), 0);
	return &c->base;
}

/* ---- sessions */

/* the session is in a process of its own, which records a trace of its own */
static bool apart;

/* The session serves one end of a socket; its process, or 0. Gives the other end. */
static pid_t start_session(int *fd)
{
	int pair[2];
	pid_t child = 0;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	*fd = pair[0];
	session.fd = pair[1];
	if (!apart) {
		assert_int_equal(pthread_create(&session.thread, NULL, serve, NULL), 0);
		return 0;
	}
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		close(pair[0]);
		serve(NULL);
		_exit(0);
	}
	close(pair[1]);
	return child;
}

static void end_session(pid_t child)
{
	int status;

	tenon_object_unref(session.cpu);
	tenon_remote_close(session.remote);
	session.cpu = NULL;
	session.remote = NULL;
	if (!child) {
		pthread_join(session.thread, NULL);
		return;
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* Return: 0, or a status with its message */
static int ask_session(int (*asked)(uint64_t *facts), bool wait_each, uint64_t *facts)
{
	const struct tenon_remote_options o = { .size = sizeof(o),
						.key = "board",
						.wait_each = wait_each };
	int fd, err;
	pid_t child;

	replies = 0;
	*facts = 7;
	child = start_session(&fd);
	err = rpc_connect_over(changing_of(fd), "board", &o, &session.remote);
	err = err ? err : tenon_remote_device(session.remote, rpc_cpu(), &session.cpu);
	err = err ? err : asked(facts);
	if (err && !*tenon_error_message())
		fail_msg("reply %ld is another one (%d): an error without a message", changed_at,
			 (int)other);
	snprintf(said, sizeof(said), "%s", err ? tenon_error_message() : "");
	end_session(child);
	tenon_error_clear();
	return err;
}

/* Test whether what is asked for can be there: the libraries are for x86-64. */
static bool can_be_answered(int (*asked)(uint64_t *facts))
{
#ifdef __x86_64__
	(void)asked;
	return true;
#else
	return asked != rpc_ask_all && asked != rpc_run_models;
#endif
}

/* @kinds: how many other replies take turns in the place of each */
static void change_each_reply(int (*asked)(uint64_t *facts), bool wait_each, int kinds)
{
	uint64_t facts, other_facts;
	long all, refused = 0;

	changed_at = 0;
	if (ask_session(asked, wait_each, &facts)) {
		if (can_be_answered(asked))
			fail_msg("undisturbed: %s", said);
		print_message("# %s\n", said);
		skip();
	}
	all = replies;
	assert_true(all > 10);
	for (changed_at = 1; changed_at <= all; changed_at++)
		for (int i = 0; i < kinds; i++) {
			other = (enum other)((changed_at * kinds + i) % OTHERS);
			refused += ask_session(asked, wait_each, &other_facts) != 0;
		}
	changed_at = 0;
	/* most are noticed: an exception and an end always are */
	assert_true(refused > all);
	assert_int_equal(ask_session(asked, wait_each, &other_facts), 0);
	assert_true(facts == other_facts);
}

static void each_reply_to_a_client_that_waits_may_be_another(void **state)
{
	(void)state;
	change_each_reply(rpc_ask_all, true, 4);
}

static void each_reply_to_a_client_may_be_another(void **state)
{
	(void)state;
	change_each_reply(rpc_ask_all, false, 7);
}

static void each_reply_to_a_model_may_be_another(void **state)
{
	(void)state;
	change_each_reply(rpc_run_models, false, 3);
}

#ifdef CONFIG_TRACE
/* The trace ends while the session is there, so what the server recorded is fetched. */
static int ask_traced(uint64_t *facts)
{
	char path[4100];
	int err;

	snprintf(path, sizeof(path), "%s/trace.json", session.folder);
	err = tenon_trace(path);
	err = err ? err : rpc_ask_device(facts);
	/* if a session failed, the file has no trace of it, and tenon_trace() prints that on standard error */
	if (tenon_trace(NULL))
		fail_msg("%s", tenon_error_message());
	return err;
}

static void each_reply_to_a_client_that_traces_may_be_another(void **state)
{
	(void)state;
	apart = true;
	change_each_reply(ask_traced, false, 5);
	apart = false;
}
#endif

static int make_ready(void **state)
{
	make_folder();
	return register_functions(state);
}

static int end(void **state)
{
	(void)state;
	tenon_device_close_all();
	return remove_folder();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_reply_to_a_client_that_waits_may_be_another),
		cmocka_unit_test(each_reply_to_a_client_may_be_another),
		cmocka_unit_test(each_reply_to_a_model_may_be_another),
#ifdef CONFIG_TRACE
		cmocka_unit_test(each_reply_to_a_client_that_traces_may_be_another),
#endif
	};

	return cmocka_run_group_tests(tests, make_ready, end);
}
