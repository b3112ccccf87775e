/* SPDX-License-Identifier: MIT */
/* A client on one end of a socket pair, with the session in a thread on the other, to test a server byte by byte. */
#ifndef TESTS_REMOTE_CLIENT_H
#define TESTS_REMOTE_CLIENT_H

#include <pthread.h>
#include <stdbool.h>

#include "rpc/server/session.h"
#include "rpc/wire/packet.h"
#include "rpc/wire/stream.h"

struct client {
	int fd; /* of the connection */
	struct connection *connection;
	enum wire_generation generation;
	struct stream stream;
	struct tenon_buffer request;
	/* the last reply */
	uint32_t code;
	struct tenon_slice bytes;
	struct wire_sequence values;
	/* the session */
	int session_fd;
	pthread_t thread;
	char folder[4096];
	struct session_options options;
	int result;
};

/* Start a session without InitServer. Fails the test when it cannot. */
void client_open(struct client *c, enum wire_generation generation);
/* Close the connection, and wait for the session; its result is in @result. */
void client_close(struct client *c);
/* The same, and the folder stays. */
void client_close_keeping(struct client *c);

/* Send bytes as they are; add no length. */
void client_send_raw(struct client *c, const void *data, size_t size);
/* Send a packet of these bytes, without length. */
void client_send(struct client *c, const void *data, size_t size);
/* Read a reply; false at the end of the stream. */
bool client_receive(struct client *c);

/* a request of values, and its reply; fails the test without one */
void client_request(struct client *c, uint32_t code, uint64_t function,
		    const struct wire_value *values, uint32_t count);
#define REQUEST(c, code, ...)                                                                      \
	client_request(c, code, 0, (struct wire_value[]){ __VA_ARGS__ },                           \
		       sizeof((struct wire_value[]){ __VA_ARGS__ }) / sizeof(struct wire_value))
#define CALL(c, function, ...)                                                                     \
	client_request(c, PACKET_CALL, function, (struct wire_value[]){ __VA_ARGS__ },             \
		       sizeof((struct wire_value[]){ __VA_ARGS__ }) / sizeof(struct wire_value))

void client_init(struct client *c);
/* client_open() and client_init(), in the newer encoding */
void client_start(struct client *c);
/* for a group's setup: register test.echo, which returns its first argument */
int client_echo(void **state);
/* the text or bytes that the last reply returns */
struct tenon_slice client_text(const struct client *c);
/* GetGlobalFunc; 0 for none */
uint64_t client_function(struct client *c, const char *name);
/* the reply is an exception that contains @text */
void assert_exception_at(struct client *c, const char *text, const char *file, int line);
#define assert_exception(c, text) assert_exception_at(c, text, __FILE__, __LINE__)

/* allocate a tensor of bytes on the CPU */
uint64_t client_alloc(struct client *c, int64_t size);
void client_copy_to(struct client *c, struct wire_tensor *t, uint64_t n, const void *data,
		    size_t size);
void client_copy_from(struct client *c, struct wire_tensor *t, uint64_t n);

static inline struct wire_value wire_cpu(void)
{
	return (struct wire_value){ WIRE_DEVICE, { .device = { kDLCPU, 0 } } };
}

static inline struct wire_value wire_bytes(const void *data, size_t size)
{
	return (struct wire_value){ WIRE_BYTES, { .text = { data, size } } };
}

static inline struct wire_tensor byte_record(uint64_t data, int64_t size)
{
	return (struct wire_tensor){
		.data = data,
		.device = { kDLCPU, 0 },
		.dtype = { kDLUInt, 8, 1 },
		.ndim = 1,
		.shape = { size },
	};
}

static inline struct wire_value wire_tensor_value(struct wire_tensor *t)
{
	return (struct wire_value){ WIRE_TENSOR, { .tensor = t } };
}

#endif /* TESTS_REMOTE_CLIENT_H */
