/* SPDX-License-Identifier: MIT */
/* Serve a session in a thread with functions for tests, and connect our client to it. */
#include "tests/remote/rpc_session.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <tenon/array.h>
#include <tenon/backend/buffer.h>
#include <tenon/rpc.h>
#include <tenon/string.h>
#include <time.h>
#include <unistd.h>

#include "rpc/client/rpc.h"
#include "rpc/server/session.h"
#include "rpc/wire/handshake.h"
#include "rpc/wire/stream.h"

struct rpc_session session;

/* of the functions that wait */
sem_t entered, released, let_go;

/* ---- functions of the server */

static int echo(void *self, const struct tenon_value *args, int32_t count, struct tenon_value *ret)
{
	(void)self;
	return count ? tenon_value_own(&args[0], ret) : 0;
}

static int fails(void *self, const struct tenon_value *args, int32_t count, struct tenon_value *ret)
{
	struct tenon_slice text = { "", 0 };

	(void)self;
	(void)ret;
	if (count && tenon_value_text(&args[0], &text))
		return -1;
	return tenon_error(-TENON_E_VALUE, "%.*s", (int)text.size, text.data);
}

static int counts(void *self, const struct tenon_value *args, int32_t count,
		  struct tenon_value *ret)
{
	static int64_t calls;

	(void)self;
	(void)args;
	calls += count;
	*ret = tenon_arg_int(calls);
	return 0;
}

static int make(void *self, const struct tenon_value *args, int32_t count, struct tenon_value *ret)
{
	const int64_t shape[] = { 2, 3 };
	struct tenon_function *function;
	struct tenon_tensor *tensor;
	struct tenon_array *array;
	struct tenon_slice what;

	(void)self;
	if (!count || tenon_value_text(&args[0], &what))
		return -1;
	if (tenon_slice_equal(what, tenon_slice_of("function"))) {
		if (tenon_function_create(NULL, echo, NULL, &function))
			return -1;
		*ret = tenon_arg_object(function);
	} else if (tenon_slice_equal(what, tenon_slice_of("tensor"))) {
		if (tenon_tensor_create(shape, 2, tenon_dtype(kDLFloat, 32, 1), &tensor))
			return -1;
		((float *)tensor->dl.data)[5] = 7;
		*ret = tenon_arg_object(tensor);
	} else {
		if (tenon_array_create(args, 1, &array))
			return -1;
		*ret = tenon_arg_object(array);
	}
	return 0;
}

static int hangs(void *self, const struct tenon_value *args, int32_t count, struct tenon_value *ret)
{
	(void)self;
	(void)args;
	(void)count;
	(void)ret;
	sem_wait(&let_go);
	return 0;
}

/* Wait to be released; true if that came. */
static int waits(void *self, const struct tenon_value *args, int32_t count, struct tenon_value *ret)
{
	struct timespec most;

	(void)self;
	(void)args;
	(void)count;
	clock_gettime(CLOCK_REALTIME, &most);
	most.tv_sec += 30;
	sem_post(&entered);
	*ret = tenon_arg_bool(!sem_timedwait(&released, &most));
	return 0;
}

/* ---- the session's end of the connection */

/* false if the client left before */
static bool accept_client(struct connection *connection, bool *extension)
{
	struct handshake h = { .size = 0 };
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct iovec part;
	struct handshake_client client;
	int missing;

	while ((missing = handshake_missing(&h)) > 0) {
		if (connection_read(connection, h.bytes + h.size, (size_t)missing))
			return false;
		h.size += (size_t)missing;
	}
	assert_true(handshake_parse(&h, &client));
	assert_string_equal(client.key, "board");
	*extension = client.extension;
	tenon_buffer_u32(&b, HANDSHAKE_MAGIC);
	tenon_buffer_string(&b, tenon_slice_of(*extension ? "server:board " HANDSHAKE_EXTENSION
							  : "server:board"));
	/* the length is an i32 here: drop the upper half of the u64 */
	memmove(b.data + 8, b.data + 12, b.size - 12);
	part = (struct iovec){ b.data, b.size - 4 };
	missing = connection_write(connection, &part, 1);
	tenon_buffer_fini(&b);
	return !missing;
}

void *serve(void *argument)
{
	struct session_options o = {
		.packet_most = 64 << 20,
		.folder_most = 16 << 20,
		.memory_most = 64 << 20,
		.native_code = true,
	};
	struct tenon_rpc_server_options options;
	struct connection *connection;

	(void)argument;
	if (connection_of_fds(session.fd, session.fd, "client", &connection)) {
		close(session.fd);
		return NULL;
	}
	if (!accept_client(connection, &o.extension))
		goto close;
	if (session.accepted)
		session.accepted();
	if (session.by_program) {
		tenon_rpc_server_options_init(&options, sizeof(options));
		tenon_rpc_serve_session(session.fd, session.folder, &options);
	} else {
		session_run(connection, session.folder, &o, NULL);
	}
close:
	connection_close(connection);
	tenon_error_clear();
	return NULL;
}

void make_folder(void)
{
	const char *base = getenv("TMPDIR");

	snprintf(session.folder, sizeof(session.folder), "%s/session-XXXXXX", base ? base : "/tmp");
	assert_non_null(mkdtemp(session.folder));
}

int remove_folder(void)
{
	char command[4100];

	snprintf(command, sizeof(command), "rm -rf '%s'", session.folder);
	return system(command);
}

void open_session(bool wait_each, uint32_t request_ms)
{
	struct tenon_remote_options o = {
		.size = sizeof(o),
		.key = "board",
		.wait_each = wait_each,
		.request_ms = request_ms,
	};
	struct connection *connection;
	int pair[2];

	make_folder();
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	session.fd = pair[1];
	session.wait_each = wait_each;
	assert_int_equal(pthread_create(&session.thread, NULL, serve, NULL), 0);
	assert_int_equal(connection_of_fds(pair[0], pair[0], "board", &connection), 0);
	assert_int_equal(rpc_connect_over(connection, "board", &o, &session.remote), 0);
	assert_int_equal(tenon_remote_device(session.remote, rpc_cpu(), &session.cpu), 0);
}

int setup_pipelined(void **state)
{
	(void)state;
	open_session(false, 0);
	return 0;
}

int setup_waiting(void **state)
{
	(void)state;
	open_session(true, 0);
	return 0;
}

int teardown(void **state)
{
	(void)state;
	tenon_object_unref(session.cpu);
	tenon_remote_close(session.remote);
	pthread_join(session.thread, NULL);
	tenon_device_close_all();
	tenon_error_clear();
	return remove_folder();
}

struct tenon_function *function(const char *name)
{
	struct tenon_function *f = NULL;

	assert_int_equal(tenon_remote_function(session.remote, name, &f), 0);
	return f;
}

void check_echo(struct tenon_function *f, struct tenon_value value)
{
	struct tenon_value back = tenon_arg_none();

	assert_int_equal(tenon_call(f, &back, value), 0);
	assert_true(tenon_value_equal(&value, &back));
	tenon_value_release(&back);
}

struct tenon_tensor *tensor(const int64_t *shape, int32_t ndim, DLDataType dtype)
{
	struct tenon_tensor *made;

	assert_int_equal(
		tenon_tensor_create_on(tenon_device_id(session.cpu), shape, ndim, dtype, &made), 0);
	return made;
}

int register_functions(void **state)
{
	(void)state;
	return tenon_function_register_c("test.echo", echo, true) ||
	       tenon_function_register_c("test.fails", fails, true) ||
	       tenon_function_register_c("test.counts", counts, true) ||
	       tenon_function_register_c("test.make", make, true) ||
	       tenon_function_register_c("test.hangs", hangs, true) ||
	       tenon_function_register_c("test.waits", waits, true);
}
