/* SPDX-License-Identifier: MIT */
/*
 * What anyone who can connect may send to a session: each of its functions with arguments of each kind, and each request that is cut or
 * has another byte. Each gets a reply, and the session serves on.
 */
#include "tests/unit/suite.h"

#include <stdlib.h>
#include <tenon/backend/buffer.h>

#include "tests/remote/client.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The session is there, and does what it is asked for. */
static void assert_serves(struct client *c)
{
	CALL(c, client_function(c, "test.echo"), wire_int(7));
	assert_int_equal(c->code, PACKET_RETURN);
	assert_int_equal(c->values.values[1].as.integer, 7);
}

/* ---- arguments of each kind */

#define KINDS 15

static void make_kinds(struct client *c, struct wire_tensor t[3], struct wire_value kinds[KINDS])
{
	const uint64_t f = client_function(c, "test.echo"), data = client_alloc(c, 16);
	const struct wire_value made[KINDS] = {
		wire_none(),
		wire_int(0),
		wire_int(-1),
		{ WIRE_FLOAT, { .real = 1.5 } },
		{ WIRE_DTYPE, { .dtype = { kDLFloat, 32, 1 } } },
		wire_cpu(),
		wire_string("name"),
		wire_string("lib.so"),
		wire_bytes("a\0b", 3),
		wire_pointer(0),
		wire_pointer(data),
		{ WIRE_FUNCTION, { .handle = f } },
		{ WIRE_OBJECT, { .handle = f } },
		wire_tensor_value(&t[0]),
		wire_tensor_value(&t[1]),
	};

	t[0] = byte_record(data, 16);
	t[1] = byte_record(0, 0);
	memcpy(kinds, made, sizeof(made));
}

static void call_with_each_kind(struct client *c, const char *name)
{
	struct wire_tensor t[3];
	struct wire_value kinds[KINDS], args[3];
	const uint64_t f = client_function(c, name);

	if (!f)
		return;
	make_kinds(c, t, kinds);
	client_request(c, PACKET_CALL, f, NULL, 0);
	for (size_t i = 0; i < KINDS; i++) {
		args[0] = kinds[i];
		client_request(c, PACKET_CALL, f, args, 1);
		for (size_t k = 0; k < KINDS; k++) {
			args[1] = kinds[k];
			args[2] = kinds[(i + k) % KINDS];
			client_request(c, PACKET_CALL, f, args, 2);
			client_request(c, PACKET_CALL, f, args, 3);
		}
	}
	assert_serves(c);
}

static void each_function_takes_or_refuses_each_kind(void **state)
{
	static const char *const names[] = {
		"tvm.rpc.server.upload",
		"tvm.rpc.server.download",
		"tvm.rpc.server.download_linked_module",
		"tvm.rpc.server.remove",
		"tvm.rpc.server.listdir",
		"tvm.rpc.server.load_module",
		"tvm.rpc.server.ImportModule",
		"tvm.rpc.server.ModuleGetFunction",
		"tvm.rpc.server.GetCRTMaxPacketSize",
		"runtime.RPCTimeEvaluator",
		"runtime.SystemLib",
		"ffi.SystemLib",
		"tenon.rpc.list_functions",
		"tenon.rpc.use_file",
		"tenon.trace.begin",
		"tenon.trace.now",
		"tenon.trace.end",
		"test.echo",
	};
	static const enum wire_generation generations[] = { WIRE_FFI, WIRE_LEGACY };
	struct client c;

	(void)state;
	for (size_t g = 0; g < COUNT(generations); g++) {
		client_open(&c, generations[g]);
		client_init(&c);
		for (size_t i = 0; i < COUNT(names); i++)
			call_with_each_kind(&c, names[i]);
		client_close(&c);
		assert_int_equal(c.result, 0);
	}
}

/* ---- requests of each kind, whole and broken */

static struct tenon_buffer request_of(const struct client *c, uint32_t code, uint64_t function,
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
	return b;
}

/* Send the bytes, and read the reply. A request to end may have become of them: then the next one meets a new session. */
static void send_any(struct client *c, const char *bytes, size_t size)
{
	const enum wire_generation generation = c->generation;

	client_send(c, bytes, size);
	/* a packet without bytes is none */
	if (!size || client_receive(c))
		return;
	assert_true(size >= 4 && *bytes == PACKET_SHUTDOWN);
	client_close(c);
	assert_int_equal(c->result, 0);
	client_open(c, generation);
	client_init(c);
}

static void send_broken(struct client *c, struct tenon_buffer *b)
{
	static const unsigned char changes[] = { 0xff, 0x01, 0x80, 0x20 };
	char *bytes = malloc(b->size);

	assert_non_null(bytes);
	for (size_t size = 0; size < b->size; size++)
		send_any(c, b->data, size);
	for (size_t at = 0; at < b->size; at++)
		for (size_t i = 0; i < COUNT(changes); i++) {
			memcpy(bytes, b->data, b->size);
			bytes[at] = (char)(bytes[at] ^ changes[i]);
			send_any(c, bytes, b->size);
		}
	free(bytes);
	tenon_buffer_fini(b);
	assert_serves(c);
}

static void break_requests(struct client *c)
{
	struct wire_tensor t[3];
	struct wire_value kinds[KINDS];
	const struct wire_value cpu = wire_cpu(), other = { WIRE_DEVICE, { .device = { 99, 1 } } };
	struct tenon_buffer b;

	make_kinds(c, t, kinds);
	const struct {
		uint32_t code, count;
		struct wire_value values[4];
	} requests[] = {
		{ PACKET_INIT, 1, { wire_string("rpc.LocalSession") } },
		{ PACKET_GET_FUNCTION, 1, { wire_string("test.echo") } },
		{ PACKET_FREE_HANDLE, 2, { kinds[10], wire_int(1) } },
		{ PACKET_SET_DEVICE, 1, { cpu } },
		{ PACKET_SET_DEVICE, 1, { other } },
		{ PACKET_GET_ATTRIBUTE, 2, { cpu, wire_int(0) } },
		{ PACKET_GET_ATTRIBUTE, 2, { other, wire_int(5) } },
		{ PACKET_ALLOC, 4, { cpu, wire_int(64), wire_int(64), kinds[4] } },
		{ PACKET_FREE, 2, { cpu, kinds[10] } },
		{ PACKET_SYNC, 2, { cpu, wire_pointer(0) } },
		{ PACKET_SYNC, 2, { other, wire_pointer(0) } },
		{ PACKET_COPY_AMONG, 3, { kinds[13], kinds[13], wire_pointer(0) } },
		{ PACKET_ALLOC_TENSOR, 2, { kinds[13], wire_string("global") } },
		{ PACKET_CREATE_STREAM, 1, { cpu } },
		{ PACKET_CREATE_STREAM, 1, { other } },
		{ PACKET_FREE_STREAM, 2, { cpu, wire_pointer(0) } },
		{ PACKET_SET_STREAM, 2, { cpu, wire_pointer(0) } },
		{ PACKET_SET_STREAM, 2, { other, wire_pointer(0) } },
		{ PACKET_CURRENT_STREAM, 1, { cpu } },
	};

	for (size_t i = 0; i < COUNT(requests); i++) {
		b = request_of(c, requests[i].code, 0, requests[i].values, requests[i].count);
		send_broken(c, &b);
	}
	b = request_of(c, PACKET_CALL, client_function(c, "test.echo"), kinds, KINDS - 2);
	send_broken(c, &b);
	for (uint32_t code = PACKET_COPY_FROM; code <= PACKET_COPY_TO; code++) {
		b = (struct tenon_buffer)TENON_BUFFER_INIT;
		t[2] = byte_record(client_alloc(c, 16), 16);
		tenon_buffer_u32(&b, code);
		wire_write_tensor(&b, &t[2]);
		tenon_buffer_u64(&b, 16);
		tenon_buffer_append(&b, "0123456789abcdef", code == PACKET_COPY_TO ? 16 : 0);
		send_broken(c, &b);
	}
}

static void each_broken_request_gets_a_reply(void **state)
{
	static const enum wire_generation generations[] = { WIRE_FFI, WIRE_LEGACY };
	struct client c;

	(void)state;
	for (size_t g = 0; g < COUNT(generations); g++) {
		client_open(&c, generations[g]);
		client_init(&c);
		break_requests(&c);
		client_close(&c);
		assert_int_equal(c.result, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_function_takes_or_refuses_each_kind),
		cmocka_unit_test(each_broken_request_gets_a_reply),
	};

	return cmocka_run_group_tests(tests, client_echo, NULL);
}
