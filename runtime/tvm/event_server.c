/* SPDX-License-Identifier: MIT */
/*
 * rpc.CreateEventDrivenServer: a server of TVM's RPC behind a connection that the caller reads and writes, such as a
 * websocket. libtenon-rpc serves the session in a thread at the other end of a pair of sockets; each packet that
 * arrived is handed to it, and its answer taken.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <tenon/string.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "runtime/tvm/tvm.h"

#define FUNCTION "rpc.CreateEventDrivenServer"

/* the size of a packet without these 8 bytes; its code follows */
#define SIZE_BYTES    8
#define CODE_BYTES    4
#define CODE_SHUTDOWN 1

/* what the handler returns */
enum { ENDED = 0, READ_ON = 1, WRITE_FIRST = 2 };

struct bytes {
	char *data;
	size_t size;
};

/**
 * struct event_server - the caller's end
 * @fd: the socket to the thread; -1 when the session ended
 * @send: the caller's function that writes
 * @busy: a thread is in the handler
 * @in: of a packet that has not arrived as a whole
 * @out: answers that the caller has not taken
 */
struct event_server {
	int fd;
	struct tenon_function *send;
	bool busy;
	struct bytes in, out;
};

/* Make room for @size more bytes. Return: where; NULL with an error set. */
static char *extend(struct bytes *b, size_t size)
{
	char *data = size > SIZE_MAX - b->size ? NULL : realloc(b->data, b->size + size);

	if (!data) {
		tenon_error(-TENON_E_NOMEM, FUNCTION ": no memory for a packet");
		return NULL;
	}
	b->data = data;
	b->size += size;
	return data + b->size - size;
}

static int session_ended(void)
{
	return tenon_error(-TENON_E_IO, FUNCTION ": the session ended");
}

static void drop_front(struct bytes *b, size_t size)
{
	b->size -= size;
	if (b->size)
		memmove(b->data, b->data + size, b->size);
}

/* Take the answer to a packet. */
static int receive(struct event_server *s)
{
	uint64_t size;
	char *at;

	if (!tvm_transfer(s->fd, &size, sizeof(size), false) || size > SIZE_MAX - sizeof(size))
		goto ended;
	at = extend(&s->out, sizeof(size) + (size_t)size);
	if (!at)
		return -TENON_E_NOMEM;
	memcpy(at, &size, sizeof(size));
	if (tvm_transfer(s->fd, at + sizeof(size), (size_t)size, false))
		return 0;
	s->out.size -= sizeof(size) + (size_t)size;
ended:
	return session_ended();
}

/* Hand over the packets that arrived as a whole. */
static int serve(struct event_server *s, bool *ended)
{
	uint64_t size;
	int32_t code;
	int err = 0;

	while (!err && !*ended && s->in.size >= SIZE_BYTES) {
		memcpy(&size, s->in.data, sizeof(size));
		if (size > s->in.size - SIZE_BYTES)
			break;
		code = 0;
		if (size >= CODE_BYTES)
			memcpy(&code, s->in.data + SIZE_BYTES, sizeof(code));
		*ended = code == CODE_SHUTDOWN;
		/* a size of 0 ends nothing and has no answer */
		if (size && !tvm_transfer(s->fd, s->in.data, SIZE_BYTES + (size_t)size, true))
			err = session_ended();
		if (!err && size && !*ended)
			err = receive(s);
		drop_front(&s->in, SIZE_BYTES + (size_t)size);
	}
	return err;
}

/* Let the caller write; its function returns how many bytes it took. */
static int write_out(struct event_server *s)
{
	struct tenon_slice text = { s->out.data, s->out.size };
	struct tenon_value ret = tenon_arg_none();
	int64_t taken = 0;
	int err = tenon_call(s->send, &ret, tenon_arg_bytes(&text));

	if (!err)
		err = tenon_value_int(&ret, &taken);
	tenon_value_release(&ret);
	if (!err && (taken < 0 || (uint64_t)taken > s->out.size))
		err = tenon_error(-TENON_E_VALUE, FUNCTION ": %lld of %zu bytes were written",
				  (long long)taken, s->out.size);
	if (!err)
		drop_front(&s->out, (size_t)taken);
	return err;
}

static int handle_bytes(struct event_server *s, struct tenon_slice arrived, bool can_write,
			struct tenon_value *ret)
{
	bool ended = false;
	char *at;
	int err = 0;

	if (s->fd < 0)
		return session_ended();
	if (arrived.size) {
		at = extend(&s->in, arrived.size);
		if (!at)
			return -TENON_E_NOMEM;
		memcpy(at, arrived.data, arrived.size);
		err = serve(s, &ended);
	}
	if (!err && s->out.size && can_write)
		err = write_out(s);
	if (!err)
		*ret = tenon_arg_int(ended ? ENDED : s->out.size ? WRITE_FIRST : READ_ON);
	return err;
}

/* The thread ends with the connection. */
static void end_session(struct event_server *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	free(s->in.data);
	free(s->out.data);
	s->in = s->out = (struct bytes){ NULL, 0 };
}

/* the handler: bytes that arrived, and a set of what the connection can do: 1 to read, 2 to write */
static PACKED_CALL(handle)
{
	struct event_server *s = self;
	struct tenon_slice arrived;
	int64_t can;
	int err = arguments_check(FUNCTION, count, 2, 2);

	if (!err)
		err = tvm_text(FUNCTION, args, 0, &arrived);
	if (!err)
		err = tvm_int(FUNCTION, args, 1, &can);
	if (err)
		return err;
	if (__atomic_exchange_n(&s->busy, true, __ATOMIC_ACQUIRE))
		return tenon_error(-TENON_E_USAGE, FUNCTION ": the handler runs already");
	err = handle_bytes(s, arrived, can & 2, ret);
	/* Bytes of a packet may be lost, so that those behind it would be taken for another one. */
	if (err)
		end_session(s);
	__atomic_store_n(&s->busy, false, __ATOMIC_RELEASE);
	return err;
}

static void release(void *self)
{
	struct event_server *s = self;

	end_session(s);
	tenon_object_unref(s->send);
	free(s);
}

/* the function that writes, and two names that TVM's server keeps */
static PACKED_CALL(create)
{
	struct tenon_function *send, *handler;
	struct event_server *s;
	int err = arguments_check(FUNCTION, count, 1, 3);

	if (!err)
		err = tvm_object(FUNCTION, args, 0, TENON_TYPE_FUNCTION, &send);
	if (err)
		return err;
	s = calloc(1, sizeof(*s));
	if (!s)
		return tenon_error(-TENON_E_NOMEM, FUNCTION ": no memory");
	tenon_object_ref(send);
	s->send = send;
	err = tvm_serve_in_thread(false, &s->fd);
	if (!err)
		err = tenon_function_create(s, handle, release, &handler);
	if (err) {
		release(s);
		return err;
	}
	*ret = tenon_arg_object(handler);
	return 0;
}

const struct global_function tvm_event_server_globals[] = {
	{ FUNCTION, create },
	{ NULL, NULL },
};
