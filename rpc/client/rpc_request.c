/* SPDX-License-Identifier: MIT */
/* Requests of a session: send them, read replies in order, keep failures of posted ones. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <tenon/backend/buffer.h>
#include <tenon/string.h>
#include <tenon/trace.h>

#include "lib/array_room.h"
#include "lib/brief_errors.h"
#include "lib/error_slot.h"
#include "rpc/client/rpc.h"

/* handles of the extension: that of request n is (n + 1) times this */
#define HANDLE_STEP 64

/* memory of requests that is kept for the next one */
#define OUT_KEPT (UINT64_C(1) << 20)

int rpc_fail(struct rpc *r, int status)
{
	if (!r->reason)
		r->reason = strdup(tenon_error_message());
	connection_close(r->connection);
	r->connection = NULL;
	return status;
}

static int check_alive(const struct rpc *r)
{
	if (r->connection)
		return 0;
	return tenon_error(-TENON_E_LOST, "the session with %s is over: %s", r->address,
			   r->reason ? r->reason : "no memory for the reason");
}

/* ---- sending */

static int flush(struct rpc *r, const void *data, uint64_t size)
{
	struct iovec parts[2] = { { r->out.data, r->out.size },
				  { (void *)(uintptr_t)data, (size_t)size } };
	int err = r->out.status;

	if (!err)
		err = connection_write(r->connection, parts, 2);
	r->out.size = 0;
	r->out.status = 0;
	if (r->out.room > OUT_KEPT)
		tenon_buffer_fini(&r->out);
	return err ? rpc_fail(r, err) : 0;
}

static int flush_if_large(struct rpc *r)
{
	return r->out.size > RPC_TOGETHER ? flush(r, NULL, 0) : 0;
}

static void set_deadline(struct rpc *r)
{
	r->connection->deadline = connection_deadline(r->request_ms);
}

/* ---- receiving */

static void keep_failure(struct rpc *r, struct tenon_slice text)
{
	if (r->failed)
		return;
	r->failed = true;
	r->failure = strndup(text.data, text.size);
}

#define TIMEOUT_KIND "RPCSessionTimeoutError"

static int raise_exception(const struct rpc *r, struct tenon_slice text)
{
	/* servers of TVM 0.18 send errors of Python without a text */
	if (!text.size)
		return tenon_error(-TENON_E_CALL,
				   "%s: the call failed there; the server sent no text",
				   r->address);
	tenon_error(-TENON_E_CALL, "%.*s", (int)(text.size > 65536 ? 65536 : text.size), text.data);
	/* an exception that TVM's package registers */
	if (!strncmp(tenon_error_message(), TIMEOUT_KIND, strlen(TIMEOUT_KIND)))
		error_slot_set_kind(-TENON_E_CALL, TIMEOUT_KIND);
	return -TENON_E_CALL;
}

void rpc_drop_failure(struct rpc *r)
{
	free(r->failure);
	r->failure = NULL;
	r->failed = false;
}

static int raise_failure(struct rpc *r)
{
	int err = r->failure ? tenon_error(-TENON_E_CALL, "%s", r->failure)
			     : tenon_error(-TENON_E_CALL,
					   "%s: an earlier request failed there, and there is no "
					   "memory for its reason",
					   r->address);

	rpc_drop_failure(r);
	return err;
}

static int bad_reply(const struct rpc *r, const char *what)
{
	return tenon_error(-TENON_E_FORMAT, "%s: reply of %zu bytes: %s", r->address, r->bytes.size,
			   what);
}

static uint64_t rest_ms(const struct rpc *r)
{
	return r->silence_ms && r->silence_ms < RPC_REST_MS ? r->silence_ms : RPC_REST_MS;
}

/*
 * Get the time limit for the rest of a reply: a server that still computes has not sent its
 * beginning.
 */
static enum stream_result read_rest(struct rpc *r, uint64_t size)
{
	enum stream_result result;

	if (r->stream.end - r->stream.start >= size)
		return stream_read_body(&r->stream, size, &r->bytes);
	connection_limit_silence(r->connection, rest_ms(r));
	result = stream_read_body(&r->stream, size, &r->bytes);
	connection_limit_silence(r->connection, r->silence_ms);
	return result;
}

static int read_packet(struct rpc *r)
{
	uint64_t size = 0;
	enum stream_result result = stream_begin_packet(&r->stream, NULL, NULL, &size);

	if (result == STREAM_PACKET)
		result = read_rest(r, size);
	switch (result) {
	case STREAM_PACKET:
		return 0;
	case STREAM_END:
		return tenon_error(-TENON_E_LOST, "%s closed the connection", r->address);
	default:
		return tenon_error_status();
	}
}

/* Decode a packet that is not a CopyAck. An exception's text goes to @exception. */
static int decode(struct rpc *r, struct tenon_slice *exception)
{
	struct tenon_cursor c = tenon_cursor_of(r->bytes.data, r->bytes.size, "reply", 0);
	uint32_t code = 0;
	int err;

	*exception = (struct tenon_slice){ NULL, 0 };
	r->reply.count = 0;
	err = tenon_cursor_u32(&c, &code);
	if (err)
		return err;
	if (code == PACKET_SHUTDOWN)
		return tenon_error(-TENON_E_LOST, "%s ended the session", r->address);
	if (code != PACKET_RETURN && code != PACKET_EXCEPTION)
		return tenon_error(-TENON_E_FORMAT,
				   "%s: packet with code %d, expected a reply (%d)", r->address,
				   (int)code, PACKET_RETURN);
	err = wire_read_sequence(&c, r->generation, &r->reply);
	if (!err && tenon_cursor_left(&c))
		err = bad_reply(r, "bytes follow the last value");
	if (err || code == PACKET_RETURN)
		return err;
	if (r->reply.count != 1 ||
	    (r->reply.values->kind != WIRE_STRING && r->reply.values->kind != WIRE_BYTES))
		return bad_reply(r, "an exception without a text");
	*exception = r->reply.values->as.text;
	if (!exception->data)
		exception->data = "";
	return 0;
}

/* Read the reply of a request that was sent ahead. */
static int skip_reply(struct rpc *r)
{
	struct tenon_slice exception;
	int err = read_packet(r);

	if (!err)
		err = decode(r, &exception);
	if (err)
		return rpc_fail(r, err);
	r->waiting--;
	if (exception.data)
		keep_failure(r, exception);
	return 0;
}

static int skip_all(struct rpc *r)
{
	int err = 0;

	while (r->waiting && !err)
		err = skip_reply(r);
	return err;
}

/* Read the reply of the last request, after the replies of requests sent ahead. */
static int read_reply(struct rpc *r)
{
	struct tenon_slice exception = { NULL, 0 };
	int err = skip_all(r);

	r->waits++;
	if (err)
		return err;
	err = read_packet(r);
	if (!err)
		err = decode(r, &exception);
	if (err)
		return rpc_fail(r, err);
	/* the earlier failure explains the later one */
	if (r->failed)
		return raise_failure(r);
	return exception.data ? raise_exception(r, exception) : 0;
}

/* ---- requests */

static void write_request(struct rpc *r, enum packet_code code, uint64_t function,
			  const struct wire_value *values, uint32_t count)
{
	size_t start = packet_begin(&r->out, code);

	if (code == PACKET_INIT)
		tenon_buffer_string(&r->out, tenon_slice_of(PACKET_VERSION));
	if (code == PACKET_CALL)
		tenon_buffer_u64(&r->out, function);
	wire_write_sequence(&r->out, r->generation, values, count);
	packet_end(&r->out, start, 0);
	r->requests++;
}

static void write_free(struct rpc *r, const struct rpc_freed *freed)
{
	struct wire_value values[2] = { wire_pointer(freed->handle), wire_int(freed->type) };
	struct wire_value memory[2] = { { WIRE_DEVICE, { .device = freed->device } }, values[0] };

	if (!freed->type)
		write_request(r, PACKET_FREE, 0, memory, 2);
	else
		write_request(r, PACKET_FREE_HANDLE, 0, values,
			      r->generation == WIRE_LEGACY ? 2 : 1);
}

/* Free the objects that were destroyed. A failure is dropped: no caller could handle it. */
static int free_handles(struct rpc *r)
{
	int err = 0;

	while (!err && r->freed_count) {
		write_free(r, &r->freed[--r->freed_count]);
		if (r->pipelined) {
			r->waiting++;
			continue;
		}
		err = flush(r, NULL, 0);
		r->waiting++;
		if (!err)
			err = skip_all(r);
		rpc_drop_failure(r);
	}
	return err;
}

static int begin(struct rpc *r)
{
	int err = check_alive(r);

	if (err)
		return err;
	if (trace_number() != r->traced)
		rpc_trace_begin(r);
	err = check_alive(r);
	if (err)
		return err;
	set_deadline(r);
	err = free_handles(r);
	if (!err && r->waiting > RPC_WAITING_MOST) {
		err = flush(r, NULL, 0);
		if (!err)
			err = skip_all(r);
	}
	return err;
}

static const char *request_name(enum packet_code code)
{
	switch (code) {
	case PACKET_INIT:
		return "begin the session";
	case PACKET_CALL:
		return "call";
	case PACKET_GET_FUNCTION:
		return "find a function";
	case PACKET_ALLOC:
	case PACKET_ALLOC_TENSOR:
		return "allocate";
	case PACKET_COPY_AMONG:
		return "copy there";
	case PACKET_SYNC:
		return "wait for a device";
	default:
		return "request";
	}
}

int rpc_request(struct rpc *r, enum packet_code code, uint64_t function,
		const struct wire_value *values, uint32_t count)
{
	uint64_t start = tenon_trace_now();
	int err = begin(r);

	if (err)
		return err;
	write_request(r, code, function, values, count);
	err = flush(r, NULL, 0);
	if (!err)
		err = read_reply(r);
	rpc_trace(r, request_name(code), start);
	return err;
}

/* The handle in the reply of a request that waited; 0 for a result that has none. */
static uint64_t replied_handle(const struct rpc *r, enum packet_code code)
{
	uint32_t index = code == PACKET_CALL ? 1 : 0;

	if (r->reply.count <= index || r->reply.values[index].kind != WIRE_POINTER)
		return 0;
	return r->reply.values[index].as.handle;
}

int rpc_post(struct rpc *r, enum packet_code code, uint64_t function,
	     const struct wire_value *values, uint32_t count, uint64_t *handle)
{
	int err;

	if (!r->pipelined) {
		err = rpc_request(r, code, function, values, count);
		if (!err && handle)
			*handle = replied_handle(r, code);
		return err;
	}
	err = begin(r);
	if (err)
		return err;
	if (handle)
		*handle = (r->requests + 1) * HANDLE_STEP;
	write_request(r, code, function, values, count);
	r->waiting++;
	return flush_if_large(r);
}

int rpc_drain(struct rpc *r)
{
	int err = check_alive(r);

	if (err)
		return err;
	set_deadline(r);
	err = flush(r, NULL, 0);
	r->waits += r->waiting != 0;
	return err ? err : skip_all(r);
}

int rpc_drain_until(struct rpc *r, uint64_t deadline)
{
	int err = check_alive(r);

	if (err)
		return err;
	set_deadline(r);
	err = flush(r, NULL, 0);
	while (!err && r->waiting) {
		if (r->stream.start == r->stream.end) {
			r->connection->deadline = deadline;
			err = connection_await(r->connection);
			set_deadline(r);
		}
		err = err ? err : skip_reply(r);
	}
	return err;
}

int rpc_settle(struct rpc *r)
{
	uint64_t start = tenon_trace_now();
	int err = begin(r);

	if (!err)
		err = rpc_drain(r);
	if (!err && r->failed)
		err = raise_failure(r);
	rpc_trace(r, "wait for replies", start);
	return err;
}

/* ---- large arguments */

int rpc_begin_large(struct rpc *r, uint64_t function, const struct wire_value *values,
		    uint32_t count, uint64_t more)
{
	size_t start, i;
	int err = begin(r);

	if (err)
		return err;
	start = packet_begin(&r->out, PACKET_CALL);
	tenon_buffer_u64(&r->out, function);
	wire_write_sequence(&r->out, r->generation, values, count);
	/* the length of a text stands before its bytes, in both encodings */
	for (i = 0; i < 8 && !r->out.status; i++)
		r->out.data[r->out.size - 8 + i] = (char)(more >> 8 * i);
	packet_end(&r->out, start, more);
	r->requests++;
	return flush(r, NULL, 0);
}

int rpc_end_large(struct rpc *r)
{
	set_deadline(r);
	return read_reply(r);
}

/* ---- copies */

static void write_copy(struct rpc *r, enum packet_code code, const struct wire_tensor *t,
		       uint64_t size, uint64_t more)
{
	size_t start = packet_begin(&r->out, code);

	wire_write_tensor(&r->out, t);
	tenon_buffer_u64(&r->out, size);
	packet_end(&r->out, start, more);
	r->requests++;
}

static int copy_to(struct rpc *r, const struct wire_tensor *t, const void *data, uint64_t size)
{
	int err = begin(r);

	if (err)
		return err;
	write_copy(r, PACKET_COPY_TO, t, size, size);
	if (size < RPC_TOGETHER && r->pipelined) {
		tenon_buffer_append(&r->out, data, (size_t)size);
		err = flush_if_large(r);
	} else {
		err = flush(r, data, size);
	}
	if (err || !r->pipelined)
		return err ? err : read_reply(r);
	r->waiting++;
	return 0;
}

int rpc_copy_to(struct rpc *r, const struct wire_tensor *t, const void *data, uint64_t size)
{
	uint64_t start = tenon_trace_now();
	int err = copy_to(r, t, data, size);

	rpc_trace(r, "copy to it", start);
	return err;
}

static int read_acknowledged(struct rpc *r, void *data, uint64_t size)
{
	struct tenon_cursor c;
	uint64_t length = 0;
	uint32_t code = 0;
	int n;

	n = stream_ahead(&r->stream, 12);
	if (n <= 0)
		return n ? tenon_error_status()
			 : tenon_error(-TENON_E_LOST, "%s closed the connection", r->address);
	c = tenon_cursor_of(r->stream.buffer + r->stream.start, 12, "reply", 0);
	tenon_cursor_u64(&c, &length);
	tenon_cursor_u32(&c, &code);
	if (code != PACKET_COPY_ACK)
		return 1;
	if (length != size + 4)
		return tenon_error(-TENON_E_FORMAT,
				   "%s: reply of %" PRIu64 " bytes to a copy of %" PRIu64
				   ", expected %" PRIu64,
				   r->address, length, size, size + 4);
	r->stream.start += 12;
	connection_limit_silence(r->connection, rest_ms(r));
	n = stream_read(&r->stream, data, (size_t)size);
	connection_limit_silence(r->connection, r->silence_ms);
	return n;
}

static int copy_from(struct rpc *r, const struct wire_tensor *t, void *data, uint64_t size)
{
	int err = begin(r);

	if (err)
		return err;
	write_copy(r, PACKET_COPY_FROM, t, size, 0);
	err = flush(r, NULL, 0);
	if (!err)
		err = skip_all(r);
	if (err)
		return err;
	err = read_acknowledged(r, data, size);
	if (err < 0)
		return rpc_fail(r, err);
	if (err > 0) {
		err = read_reply(r);
		return err ? err : rpc_fail(r, bad_reply(r, "a copy was answered by a Return"));
	}
	r->waits++;
	return r->failed ? raise_failure(r) : 0;
}

int rpc_copy_from(struct rpc *r, const struct wire_tensor *t, void *data, uint64_t size)
{
	uint64_t start = tenon_trace_now();
	int err = copy_from(r, t, data, size);

	rpc_trace(r, "copy from it", start);
	return err;
}

int rpc_one_value(struct rpc *r, enum wire_kind kind, struct wire_value *out)
{
	if (r->reply.count != 1)
		return rpc_fail(r, bad_reply(r, "expected one value"));
	*out = r->reply.values[0];
	/* a null handle of legacy servers */
	if (kind == WIRE_POINTER && out->kind == WIRE_NONE)
		*out = wire_pointer(0);
	if (out->kind != kind)
		return rpc_fail(r, bad_reply(r, "a value of another kind than expected"));
	return 0;
}

static void free_later(struct rpc *r, const struct rpc_freed *freed)
{
	/* without memory the server frees it at the end of the session */
	if (freed->handle && r->connection &&
	    array_reserve(r->freed, r->freed_room, r->freed_count + 1))
		r->freed[r->freed_count++] = *freed;
}

void rpc_free_locked(struct rpc *r, uint64_t handle, int32_t type)
{
	const struct rpc_freed freed = { handle, type, { kDLCPU, 0 } };

	free_later(r, &freed);
}

void rpc_free_later(struct rpc *r, uint64_t handle, int32_t type)
{
	pthread_mutex_lock(&r->lock);
	rpc_free_locked(r, handle, type);
	pthread_mutex_unlock(&r->lock);
}

void rpc_free_memory_later(struct rpc *r, uint64_t handle, DLDevice there)
{
	const struct rpc_freed freed = { handle, 0, there };

	pthread_mutex_lock(&r->lock);
	free_later(r, &freed);
	pthread_mutex_unlock(&r->lock);
}
