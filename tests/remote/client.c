/* SPDX-License-Identifier: MIT */
/* Talk to a session of the server in this process, over one end of a socket pair. */
#include "tests/unit/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <tenon/backend/buffer.h>
#include <unistd.h>

#include "tests/remote/client.h"

static void *session_thread(void *argument)
{
	struct client *c = argument;
	struct connection *connection;

	c->result = connection_of_fds(c->session_fd, c->session_fd, "client", &connection);
	if (c->result) {
		close(c->session_fd);
	} else {
		c->result = session_run(connection, c->folder, &c->options, NULL);
		connection_close(connection);
	}
	tenon_error_clear();
	return NULL;
}

void client_open(struct client *c, enum wire_generation generation)
{
	const char *base = getenv("TMPDIR");
	int pair[2];

	memset(c, 0, sizeof(*c));
	c->generation = generation;
	c->options = (struct session_options){
		.packet_most = 64 << 20,
		.folder_most = 16 << 20,
		.memory_most = 64 << 20,
		.native_code = true,
	};
	snprintf(c->folder, sizeof(c->folder), "%s/session-XXXXXX", base ? base : "/tmp");
	assert_non_null(mkdtemp(c->folder));
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	c->fd = pair[0];
	c->session_fd = pair[1];
	assert_int_equal(connection_of_fds(c->fd, c->fd, "session", &c->connection), 0);
	stream_init(&c->stream, c->connection, UINT64_MAX);
	assert_int_equal(pthread_create(&c->thread, NULL, session_thread, c), 0);
}

void client_close(struct client *c)
{
	char remove[5000];

	client_close_keeping(c);
	snprintf(remove, sizeof(remove), "rm -rf '%s'", c->folder);
	assert_int_equal(system(remove), 0);
}

void client_close_keeping(struct client *c)
{
	connection_close(c->connection);
	pthread_join(c->thread, NULL);
	stream_fini(&c->stream);
	tenon_buffer_fini(&c->request);
	wire_sequence_fini(&c->values);
	tenon_error_clear();
}

void client_send_raw(struct client *c, const void *data, size_t size)
{
	const struct tenon_slice bytes = { data, size };

	/* the session may have closed the connection: the reply tells */
	if (stream_write(&c->stream, bytes, (struct tenon_slice){ 0 }))
		tenon_error_clear();
}

void client_send(struct client *c, const void *data, size_t size)
{
	c->request.size = 0;
	tenon_buffer_u64(&c->request, size);
	assert_int_equal(tenon_buffer_append(&c->request, data, size), 0);
	client_send_raw(c, c->request.data, c->request.size);
}

bool client_receive(struct client *c)
{
	struct tenon_cursor at;

	if (stream_read_packet(&c->stream, NULL, NULL, &c->bytes) != STREAM_PACKET) {
		tenon_error_clear();
		return false;
	}
	at = tenon_cursor_of(c->bytes.data, c->bytes.size, "reply", 0);
	assert_int_equal(tenon_cursor_u32(&at, &c->code), 0);
	c->values.count = 0;
	if (c->code == PACKET_COPY_ACK) {
		c->bytes = (struct tenon_slice){ (const char *)at.at, tenon_cursor_left(&at) };
		return true;
	}
	assert_true(c->code == PACKET_RETURN || c->code == PACKET_EXCEPTION);
	if (c->bytes.size > 8)
		assert_int_equal(wire_read_sequence(&at, c->generation, &c->values), 0);
	return true;
}

void client_request(struct client *c, uint32_t code, uint64_t function,
		    const struct wire_value *values, uint32_t count)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;

	tenon_buffer_u32(&b, code);
	if (code == PACKET_INIT)
		tenon_buffer_string(&b, tenon_slice_of(PACKET_VERSION));
	if (code == PACKET_CALL)
		tenon_buffer_u64(&b, function);
	wire_write_sequence(&b, c->generation, values, count);
	assert_int_equal(b.status, 0);
	client_send(c, b.data, b.size);
	tenon_buffer_fini(&b);
	assert_true(client_receive(c));
}

void client_init(struct client *c)
{
	client_request(c, PACKET_INIT, 0, NULL, 0);
	assert_int_equal(c->code, PACKET_RETURN);
	assert_int_equal(c->bytes.size, 8);
}

void client_start(struct client *c)
{
	client_open(c, WIRE_FFI);
	client_init(c);
}

static int echo(void *self, const struct tenon_value *args, int32_t count, struct tenon_value *ret)
{
	(void)self;
	return count ? tenon_value_own(&args[0], ret) : 0;
}

int client_echo(void **state)
{
	(void)state;
	return tenon_function_register_c("test.echo", echo, true);
}

struct tenon_slice client_text(const struct client *c)
{
	assert_int_equal(c->code, PACKET_RETURN);
	assert_int_equal(c->values.count, 2);
	return c->values.values[1].as.text;
}

uint64_t client_function(struct client *c, const char *name)
{
	REQUEST(c, PACKET_GET_FUNCTION, wire_string(name));
	assert_int_equal(c->code, PACKET_RETURN);
	assert_int_equal(c->values.count, 1);
	assert_int_equal(c->values.values[0].kind, WIRE_POINTER);
	return c->values.values[0].as.handle;
}

void assert_exception_at(struct client *c, const char *text, const char *file, int line)
{
	struct tenon_slice found = { 0 };

	if (c->code == PACKET_EXCEPTION && c->values.count == 1)
		found = c->values.values[0].as.text;
	if (found.size && memmem(found.data, found.size, text, strlen(text)))
		return;
	print_error("expected an exception with \"%s\", found packet %u: \"%.*s\"\n", text, c->code,
		    (int)found.size, found.data);
	_fail(file, line);
}

uint64_t client_alloc(struct client *c, int64_t size)
{
	struct wire_tensor t = byte_record(0, size);

	REQUEST(c, PACKET_ALLOC_TENSOR, wire_tensor_value(&t), wire_none());
	assert_int_equal(c->code, PACKET_RETURN);
	assert_int_equal(c->values.count, 1);
	return c->values.values[0].as.handle;
}

static void copy(struct client *c, uint32_t code, struct wire_tensor *t, uint64_t n,
		 const void *data, size_t size)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;

	tenon_buffer_u32(&b, code);
	wire_write_tensor(&b, t);
	tenon_buffer_u64(&b, n);
	tenon_buffer_append(&b, data, size);
	client_send(c, b.data, b.size);
	tenon_buffer_fini(&b);
	assert_true(client_receive(c));
}

void client_copy_to(struct client *c, struct wire_tensor *t, uint64_t n, const void *data,
		    size_t size)
{
	copy(c, PACKET_COPY_TO, t, n, data, size);
}

void client_copy_from(struct client *c, struct wire_tensor *t, uint64_t n)
{
	copy(c, PACKET_COPY_FROM, t, n, NULL, 0);
}
