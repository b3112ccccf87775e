/* SPDX-License-Identifier: MIT */
/* Uploaded code that ends its session, or leaves things behind. */
#include "tests/remote/server_process.h"

#include <tenon/backend/buffer.h>

static void ends_its_session(const char *name, const char *text)
{
	struct client other, c;
	uint64_t f;

	open_client(&other, "client:fixture");
	open_client(&c, "client:fixture");
	f = hostile_function(&c, name);
	CALL(&c, f, wire_int(0));
	assert_exception(&c, text);
	assert_false(client_receive(&c));
	server_client_close(&c);
	/* another session lives on */
	CALL(&other, hostile_function(&other, "add_one"), wire_int(1));
	assert_int_equal(other.values.values[1].as.integer, 2);
	server_client_close(&other);
	nothing_is_left();
}

static void a_crash_is_reported_to_its_client_alone(void **state)
{
	(void)state;
	ends_its_session("crashes", "killed by signal 11");
	ends_its_session("exits", "status 7");
}

static void an_endless_loop_is_ended(void **state)
{
	(void)state;
	ends_its_session("hangs", "--request-timeout");
}

static void a_session_has_the_time_that_its_client_asked_for(void **state)
{
	struct client c;

	(void)state;
	begin_client(&c, "client:fixture -timeout=0.2");
	client_init(&c);
	/* on a slow machine the server has ended the session already, and this request receives the reason */
	REQUEST(&c, PACKET_GET_FUNCTION, wire_string("tvm.rpc.server.upload"));
	if (c.code == PACKET_RETURN)
		assert_true(client_receive(&c));
	assert_exception(&c, "RPCSessionTimeoutError: Your 0.2s session has expired");
	assert_false(client_receive(&c));
	server_client_close(&c);
	nothing_is_left();
}

static void expires_unknown(enum wire_generation generation, bool init_later)
{
	struct client c;

	begin_client(&c, "client:fixture -timeout=0.2");
	c.generation = generation;
	if (init_later)
		pause_ms(400);
	client_init(&c);
	wait_for(count_sessions, 0, "sessions");
	wait_for(count_folders, 0, "folders");
	REQUEST(&c, PACKET_GET_FUNCTION, wire_string("tvm.rpc.server.upload"));
	assert_exception(&c, "RPCSessionTimeoutError: Your 0.2s session has expired");
	assert_false(client_receive(&c));
	server_client_close(&c);
	nothing_is_left();
}

static void a_client_whose_session_expired_is_answered_in_its_encoding(void **state)
{
	(void)state;
	expires_unknown(WIRE_FFI, false);
	expires_unknown(WIRE_LEGACY, false);
	expires_unknown(WIRE_FFI, true);
	expires_unknown(WIRE_LEGACY, true);
}

/* what a client sends to a session that has ended before it told its encoding */
static void sends_to_ended_session(const void *data, size_t size, bool answered)
{
	struct client c;

	begin_client(&c, "client:fixture -timeout=0.2");
	client_init(&c);
	wait_for(count_sessions, 0, "sessions");
	client_send_raw(&c, data, size);
	assert_true(client_receive(&c) == answered);
	if (answered) {
		assert_exception(&c, "session has expired");
		assert_false(client_receive(&c));
	}
	server_client_close(&c);
	nothing_is_left();
}

static void a_session_that_ended_takes_hostile_requests(void **state)
{
	static char large[1 << 16];

	(void)state;
	memset(large, 0x7f, sizeof(large));
	/* a packet larger than any, one that means nothing, and an end of the session after an empty one */
	sends_to_ended_session(large, sizeof(large), true);
	sends_to_ended_session("\5\0\0\0\0\0\0\0abcde", 13, true);
	sends_to_ended_session("\0\0\0\0\0\0\0\0\4\0\0\0\0\0\0\0\1\0\0\0", 20, false);
	the_next_client_is_served();
}

static void a_client_that_leaves_during_a_call_leaves_nothing(void **state)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct wire_value none = wire_int(0);
	struct client c;
	uint64_t f;

	(void)state;
	open_client(&c, "client:fixture");
	f = hostile_function(&c, "hangs");
	tenon_buffer_u32(&b, PACKET_CALL);
	tenon_buffer_u64(&b, f);
	wire_write_sequence(&b, WIRE_FFI, &none, 1);
	client_send(&c, b.data, b.size);
	tenon_buffer_fini(&b);
	server_client_close(&c);
	nothing_is_left();
	the_next_client_is_served();
}

static void processes_and_files_of_uploaded_code_are_removed(void **state)
{
	(void)state;
	assert_int_equal(call_hostile("leaves_processes"), 0);
	nothing_is_left();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_crash_is_reported_to_its_client_alone),
		cmocka_unit_test(an_endless_loop_is_ended),
		cmocka_unit_test(a_session_has_the_time_that_its_client_asked_for),
		cmocka_unit_test(a_client_whose_session_expired_is_answered_in_its_encoding),
		cmocka_unit_test(a_session_that_ended_takes_hostile_requests),
		cmocka_unit_test(a_client_that_leaves_during_a_call_leaves_nothing),
		cmocka_unit_test(processes_and_files_of_uploaded_code_are_removed),
	};

	return run_with_server(tests);
}
