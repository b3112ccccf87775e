/* SPDX-License-Identifier: MIT */
/* Connect to a server in another process as a client of TVM does. */
#include "tests/unit/suite.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/remote/server_client.h"

static int connect_to(const void *address, socklen_t size)
{
	int fd = socket(*(const sa_family_t *)address, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (connect(fd, address, size)) {
		close(fd);
		return -1;
	}
	return fd;
}

int server_connect(const char *text)
{
	static const char loopback[] = "127.0.0.1:";
	struct sockaddr_in tcp = { .sin_family = AF_INET };
	struct sockaddr_un path = { .sun_family = AF_UNIX };

	if (!strncmp(text, loopback, strlen(loopback))) {
		tcp.sin_port = htons((uint16_t)atoi(text + strlen(loopback)));
		tcp.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		return connect_to(&tcp, sizeof(tcp));
	}
	assert_true(strlen(text) < sizeof(path.sun_path));
	strcpy(path.sun_path, text);
	return connect_to(&path, sizeof(path));
}

void server_send(int fd, const void *data, size_t size)
{
	if (send(fd, data, size, MSG_NOSIGNAL) < 0)
		errno = 0;
}

void server_send_key(int fd, const char *key)
{
	char bytes[256] = { 0x71, (char)0xf2, 0x0f, 0, (char)strlen(key), 0, 0, 0 };

	strcpy(bytes + 8, key);
	server_send(fd, bytes, 8 + strlen(key));
}

void server_client_begin(struct client *c, const char *path, const char *key)
{
	char reply[8 + 7 + 7];

	memset(c, 0, sizeof(*c));
	c->generation = WIRE_FFI;
	c->fd = server_connect(path);
	assert_true(c->fd >= 0);
	assert_int_equal(connection_of_fds(c->fd, c->fd, "server", &c->connection), 0);
	c->connection->deadline = connection_deadline(PATIENCE_S * 1000);
	stream_init(&c->stream, c->connection, UINT64_MAX);
	server_send_key(c->fd, key);
	assert_int_equal(stream_read(&c->stream, reply, sizeof(reply)), 0);
	assert_memory_equal(reply, "\x71\xf2\x0f\0\x0e\0\0\0server:fixture", sizeof(reply));
}

void server_client_close(struct client *c)
{
	connection_close(c->connection);
	stream_fini(&c->stream);
	tenon_buffer_fini(&c->request);
	wire_sequence_fini(&c->values);
	tenon_error_clear();
}

uint64_t server_client_function(struct client *c, const char *module, const char *function)
{
	static char bytes[4 << 20];
	char path[4096], name[64];
	const char *build = getenv("TENON_BUILD");
	uint64_t handle;
	size_t size;
	FILE *f;

	snprintf(name, sizeof(name), "%s.so", module);
	snprintf(path, sizeof(path), "%s/tests/remote/%s", build ? build : "build", name);
	f = fopen(path, "rb");
	assert_non_null(f);
	size = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	CALL(c, client_function(c, "tvm.rpc.server.upload"), wire_string(name),
	     wire_bytes(bytes, size));
	assert_int_equal(c->code, PACKET_RETURN);
	CALL(c, client_function(c, "tvm.rpc.server.load_module"), wire_string(name));
	assert_int_equal(c->code, PACKET_RETURN);
	handle = c->values.values[1].as.handle;
	CALL(c, client_function(c, "tvm.rpc.server.ModuleGetFunction"),
	     { WIRE_MODULE, { .handle = handle } }, wire_string(function),
	     { WIRE_BOOL, { .integer = 1 } });
	assert_int_equal(c->values.values[0].as.integer, TENON_TYPE_FUNCTION);
	return c->values.values[1].as.handle;
}
