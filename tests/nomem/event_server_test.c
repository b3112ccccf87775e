/* SPDX-License-Identifier: MIT */
/*
 * rpc.CreateEventDrivenServer of libtvm_runtime.so: a session is served through its handler once for each allocation, with
 * that one failing. What is written are whole answers, in order; after an error the session has ended.
 */
#include "tests/unit/dropin.h"

#include <tenon/backend/buffer.h>

#include "rpc/wire/packet.h"
#include "tests/nomem/failing_malloc.h"

/* what the handler gets and returns */
#define READ_AND_WRITE 3
#define ENDED	       0
#define WRITE_FIRST    2

static void *create_server;
static char requests[1024];
static size_t request_size;

static char written[4096];
static size_t written_size;

/* the function that the handler writes with: as a connection that takes few bytes at a time */
static int write_few(void *self, const struct tenon_value *args, int32_t count,
		     struct tenon_value *ret)
{
	struct tenon_slice text;
	size_t n;

	(void)self;
	(void)count;
	assert_int_equal(tenon_value_text(args, &text), 0);
	n = text.size < 50 ? text.size : 50;
	assert_true(n <= sizeof(written) - written_size);
	memcpy(written + written_size, text.data, n);
	written_size += n;
	*ret = tenon_arg_int((int64_t)n);
	return 0;
}

/* Return: whether there is a server; memory for it may be what failed */
static bool server_create(void **handler)
{
	struct tenon_value arg, ret = tenon_arg_none();
	void *write;
	int err;

	if (ffi.create(NULL, write_few, NULL, &write)) {
		dropin_drop_error();
		return false;
	}
	arg = (struct tenon_value){ .type = TENON_TYPE_FUNCTION, .as.object = write };
	err = ffi.call(create_server, &arg, 1, &ret);
	ffi.unref(write);
	if (err)
		dropin_drop_error();
	*handler = ret.as.object;
	return !err;
}

/* Hand bytes over. Return: what the handler returns, or -1 for an error */
static int64_t hand_over(void *handler, const char *bytes, size_t size)
{
	struct tenon_slice text = { bytes, size };
	struct tenon_value args[2] = { tenon_arg_bytes(&text), tenon_arg_int(READ_AND_WRITE) };
	struct tenon_value ret = tenon_arg_none();

	if (!ffi.call(handler, args, 2, &ret))
		return ret.as.integer;
	dropin_drop_error();
	return -1;
}

/* Send all requests in small parts. Return: false after an error, which further parts must not undo */
static bool serve(void *handler)
{
	bool failed = false;
	int64_t next = 0;
	size_t at, n, before;

	for (at = 0; at < request_size; at += n) {
		n = request_size - at < 30 ? request_size - at : 30;
		before = written_size;
		next = hand_over(handler, requests + at, n);
		assert_true(!failed || (next == -1 && written_size == before));
		failed = next == -1;
	}
	while (next == WRITE_FIRST)
		next = hand_over(handler, NULL, 0);
	return next == ENDED;
}

/* What was written are answers as a whole, but for the last one after an error. Return: their number */
static unsigned int answers(bool whole)
{
	unsigned int n = 0;
	uint64_t size;
	uint32_t code;
	size_t at = 0;

	while (written_size - at >= 12) {
		memcpy(&size, written + at, 8);
		memcpy(&code, written + at + 8, 4);
		assert_true(size >= 4 && size < sizeof(written));
		assert_true(code == PACKET_RETURN || code == PACKET_EXCEPTION);
		if (size > written_size - at - 8)
			break;
		at += 8 + size;
		n++;
	}
	assert_true(!whole || at == written_size);
	return n;
}

static void add_request(struct tenon_buffer *b, enum packet_code code, const char *name)
{
	struct wire_value value = { WIRE_STRING, { .text = tenon_slice_of(name ? name : "") } };
	size_t start = packet_begin(b, code);

	if (code == PACKET_INIT)
		tenon_buffer_string(b, tenon_slice_of(PACKET_VERSION));
	wire_write_sequence(b, WIRE_FFI, &value, name != NULL);
	packet_end(b, start, 0);
}

#define ANSWERS 3

static int make_ready(void **state)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;

	add_request(&b, PACKET_INIT, NULL);
	add_request(&b, PACKET_GET_FUNCTION, "runtime.NumThreads");
	add_request(&b, PACKET_GET_FUNCTION, "no.such.function");
	add_request(&b, PACKET_SHUTDOWN, NULL);
	if (b.status || b.size > sizeof(requests))
		return -1;
	memcpy(requests, b.data, b.size);
	request_size = b.size;
	tenon_buffer_fini(&b);

	if (dropin_open(state))
		return -1;
	create_server = dropin_find("rpc.CreateEventDrivenServer");
	return 0;
}

static void a_server_without_memory_writes_whole_answers_or_ends(void **state)
{
	long at, requested = 1;
	bool whole = false;
	void *handler;

	(void)state;
	if (!failing_malloc_works())
		skip();
	for (at = 0; at <= requested; at += failing_malloc_step()) {
		written_size = 0;
		failing_malloc_start(at);
		if (server_create(&handler)) {
			whole = serve(handler);
			ffi.unref(handler);
		}
		requested = failing_malloc_stop();
		assert_true(at || (whole && answers(true) == ANSWERS));
		if (at)
			answers(whole);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_server_without_memory_writes_whole_answers_or_ends),
	};

	return cmocka_run_group_tests(tests, make_ready, NULL);
}
