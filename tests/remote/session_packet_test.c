/* SPDX-License-Identifier: MIT */
/* The packets of a session: their order, wrong forms, ends, and the legacy encoding. */
#include "tests/unit/suite.h"

#include "rpc/wire/wire_codes.h"
#include "tests/remote/client.h"

static void nothing_goes_before_init_server_and_that_once(void **state)
{
	struct client c;

	(void)state;
	client_open(&c, WIRE_FFI);
	REQUEST(&c, PACKET_GET_FUNCTION, wire_string("test.echo"));
	assert_exception(&c, "before InitServer");
	REQUEST(&c, PACKET_INIT, wire_string("rpc.Connect"), wire_string("host"), wire_int(1));
	assert_exception(&c, "rpc.LocalSession");
	client_send(&c,
		    "\2\0\0\0\5\0\0\0\0\0\0\0"
		    "0.7.0\0\0\0\0",
		    21);
	assert_true(client_receive(&c));
	assert_exception(&c, "0.7.0");
	REQUEST(&c, PACKET_INIT, wire_string("rpc.LocalSession"));
	assert_int_equal(c.code, PACKET_RETURN);
	client_request(&c, PACKET_INIT, 0, NULL, 0);
	assert_exception(&c, "before");
	assert_true(client_function(&c, "test.echo"));
	client_close(&c);
	assert_int_equal(c.result, 0);
}

static void a_malformed_packet_costs_nothing_but_itself(void **state)
{
	static const char *const packets[] = { "\x63\0\0\0", "\xff\xff\xff\xff", "\4\0\0\0",
					       "\x0a\0\0\0", "\3\0\0\0" };
	struct client c;

	(void)state;
	client_start(&c);
	for (size_t i = 0; i < sizeof(packets) / sizeof(packets[0]); i++) {
		client_send(&c, packets[i], 4);
		assert_true(client_receive(&c));
		assert_exception(&c, "");
		/* a packet of no bytes is none */
		client_send(&c, "", 0);
	}
	client_send(&c, "\1", 1);
	assert_true(client_receive(&c));
	assert_exception(&c, "");
	assert_true(client_function(&c, "test.echo"));
	client_close(&c);
	assert_int_equal(c.result, 0);
}

static void a_packet_that_is_too_large_ends_the_session(void **state)
{
	struct client c;

	(void)state;
	client_start(&c);
	client_send_raw(&c, "\0\0\0\0\0\0\0\x40", 8);
	assert_true(client_receive(&c));
	assert_exception(&c, "are accepted");
	assert_false(client_receive(&c));
	client_close(&c);
	assert_int_equal(c.result, -TENON_E_FORMAT);
}

static void an_end_within_a_packet_is_an_error_and_one_between_is_none(void **state)
{
	struct client c;

	(void)state;
	client_start(&c);
	client_send_raw(&c, "\x10\0\0\0\0\0\0\0\3", 9);
	client_close(&c);
	assert_int_equal(c.result, -TENON_E_IO);
	client_start(&c);
	client_send_raw(&c, "\x10\0\0", 3);
	client_close(&c);
	assert_int_equal(c.result, 0);
}

static void a_legacy_client_gets_legacy_replies(void **state)
{
	struct client c;
	uint64_t f;

	(void)state;
	client_open(&c, WIRE_LEGACY);
	client_init(&c);
	f = client_function(&c, "test.echo");
	CALL(&c, f, { WIRE_BOOL, { .integer = 1 } });
	assert_int_equal(c.values.values[0].as.integer, LEGACY_INT);
	CALL(&c, f, wire_string("text"));
	assert_int_equal(c.values.values[0].as.integer, LEGACY_STRING);
	CALL(&c, f, { WIRE_FUNCTION, { .handle = f } });
	assert_int_equal(c.values.values[0].as.integer, LEGACY_FUNCTION);
	CALL(&c, f, { WIRE_POINTER, { .handle = 0 } });
	assert_int_equal(c.values.values[0].as.integer, LEGACY_HANDLE);
	/* a null stream may be None */
	REQUEST(&c, PACKET_SYNC, wire_cpu(), wire_none());
	assert_int_equal(c.code, PACKET_RETURN);
	REQUEST(&c, PACKET_FREE_HANDLE, wire_pointer(f), wire_int(LEGACY_FUNCTION));
	assert_int_equal(c.code, PACKET_RETURN);
	CALL(&c, f, wire_int(1));
	assert_exception(&c, "was freed");
	client_close(&c);
	assert_int_equal(c.result, 0);
}

/* ---- what the server is told */

/* a fake client: it notes in which order it is waited for, the server is told, and a byte is taken */
struct noting {
	struct connection base;
	struct session_watch watch;
	bool awaited;
	bool read;
};

static int note_await(const struct connection *c)
{
	struct noting *n = (struct noting *)(uintptr_t)c;

	/* nothing came: until then, the server may answer in the session's place */
	assert_int_equal(atomic_load(&n->watch.state), SESSION_IDLE);
	n->awaited = true;
	return 0;
}

static ssize_t note_read(struct connection *c, void *data, size_t size)
{
	struct noting *n = (struct noting *)c;

	(void)data;
	(void)size;
	assert_true(n->awaited);
	assert_int_equal(atomic_load(&n->watch.state), SESSION_RECEIVING);
	n->read = true;
	return 0;
}

static void the_server_knows_of_a_first_request_before_a_byte_is_taken(void **state)
{
	static const struct connection_ops ops = { .read = note_read, .await = note_await };
	const struct session_options o = { .packet_most = 1000 };
	struct noting n = { .base = { .ops = &ops } };

	(void)state;
	assert_int_equal(session_run(&n.base, "/", &o, &n.watch), 0);
	assert_true(n.read);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_goes_before_init_server_and_that_once),
		cmocka_unit_test(a_malformed_packet_costs_nothing_but_itself),
		cmocka_unit_test(a_packet_that_is_too_large_ends_the_session),
		cmocka_unit_test(an_end_within_a_packet_is_an_error_and_one_between_is_none),
		cmocka_unit_test(a_legacy_client_gets_legacy_replies),
		cmocka_unit_test(the_server_knows_of_a_first_request_before_a_byte_is_taken),
	};

	return cmocka_run_group_tests(tests, client_echo, NULL);
}
