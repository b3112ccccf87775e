/* SPDX-License-Identifier: MIT */
/* The functions of a session: their values, those that are not there, traces and time evaluators. */
#include "tests/unit/suite.h"

#include "lib/clock.h"
#include "tests/remote/client.h"

static _Atomic int calls;

static int counts(void *self, const struct tenon_value *args, int32_t count,
		  struct tenon_value *ret)
{
	(void)self;
	(void)args;
	(void)count;
	(void)ret;
	atomic_fetch_add(&calls, 1);
	return 0;
}

static int setup(void **state)
{
	int err = client_echo(state);

	return err ? err : tenon_function_register_c("test.counts", counts, true);
}

static void values_of_every_kind_come_back(void **state)
{
	struct client c;
	uint64_t f;

	(void)state;
	client_start(&c);
	f = client_function(&c, "test.echo");
	CALL(&c, f, wire_int(-5));
	assert_int_equal(c.values.values[0].as.integer, TENON_TYPE_INT);
	assert_int_equal(c.values.values[1].as.integer, -5);
	CALL(&c, f, { WIRE_FLOAT, { .real = 1.5 } });
	assert_true(c.values.values[1].as.real == 1.5);
	CALL(&c, f, { WIRE_DTYPE, { .dtype = { 2, 16, 4 } } });
	assert_int_equal(c.values.values[0].as.integer, TENON_TYPE_DTYPE);
	assert_int_equal(c.values.values[1].as.dtype.lanes, 4);
	CALL(&c, f, { WIRE_DEVICE, { .device = { 4, 2 } } });
	assert_int_equal(c.values.values[1].as.device.device_type, 4);
	CALL(&c, f, wire_string("a text of some length"));
	assert_slice(client_text(&c), "a text of some length");
	CALL(&c, f, wire_bytes("\0x", 2));
	assert_slice(client_text(&c), "\0x");
	/* a function, and it can be called */
	CALL(&c, f, { WIRE_FUNCTION, { .handle = f } });
	assert_int_equal(c.values.values[0].as.integer, TENON_TYPE_FUNCTION);
	CALL(&c, c.values.values[1].as.handle, wire_int(3));
	assert_int_equal(c.values.values[1].as.integer, 3);
	client_request(&c, PACKET_CALL, f, NULL, 0);
	assert_int_equal(c.values.values[0].as.integer, TENON_TYPE_NONE);
	client_close(&c);
	assert_int_equal(c.result, 0);
}

static void functions_that_are_not_there_are_null(void **state)
{
	struct client c;

	(void)state;
	client_start(&c);
	assert_int_equal(client_function(&c, "no.such.function"), 0);
	CALL(&c, client_function(&c, "tenon.rpc.list_functions"), wire_int(1));
	assert_exception(&c, "1 arguments");
	client_request(&c, PACKET_CALL, client_function(&c, "tenon.rpc.list_functions"), NULL, 0);
	assert_non_null(memmem(client_text(&c).data, client_text(&c).size, ",test.echo", 10));
	client_close(&c);
	/* without native code, what the runtime registered is not offered */
	client_open(&c, WIRE_FFI);
	c.options.native_code = false;
	client_init(&c);
	assert_int_equal(client_function(&c, "test.echo"), 0);
	CALL(&c, client_function(&c, "tvm.rpc.server.load_module"), wire_string("lib.so"));
	assert_exception(&c, "native code");
	CALL(&c, client_function(&c, "tvm.rpc.server.load_module"), wire_string("lib"));
	assert_exception(&c, "native code");
	client_close(&c);
}

#ifdef CONFIG_TRACE
static void a_session_records_a_trace_for_its_client(void **state)
{
	uint64_t begin, now, end, echo;
	struct client c;

	(void)state;
	client_start(&c);
	begin = client_function(&c, "tenon.trace.begin");
	now = client_function(&c, "tenon.trace.now");
	end = client_function(&c, "tenon.trace.end");
	client_request(&c, PACKET_CALL, end, NULL, 0);
	assert_exception(&c, "no trace");
	/* the second begin drops what the first recorded */
	client_request(&c, PACKET_CALL, begin, NULL, 0);
	echo = client_function(&c, "test.echo");
	client_request(&c, PACKET_CALL, begin, NULL, 0);
	assert_int_equal(c.values.values[0].as.integer, TENON_TYPE_INT);
	assert_true(c.values.values[1].as.integer > 0);
	CALL(&c, echo, wire_int(-5));
	client_request(&c, PACKET_CALL, now, NULL, 0);
	assert_true(c.values.values[1].as.integer > 0);
	client_request(&c, PACKET_CALL, end, NULL, 0);
	assert_non_null(memmem(client_text(&c).data, client_text(&c).size, "CallFunc", 8));
	assert_null(memmem(client_text(&c).data, client_text(&c).size, "GetGlobalFunc", 13));
	/* one that the client does not take ends with the session */
	client_request(&c, PACKET_CALL, begin, NULL, 0);
	client_close(&c);
	client_start(&c);
	client_request(&c, PACKET_CALL, client_function(&c, "tenon.trace.begin"), NULL, 0);
	assert_int_equal(c.code, PACKET_RETURN);
	client_close(&c);
}
#endif

static void time_evaluators_of_all_versions_count_their_calls(void **state)
{
	/* TVM 0.8, 0.9, 0.10, 0.14: what stands between the repetitions and the last argument */
	static const uint32_t zeros[] = { 1, 3, 4, 5 };
	uint64_t make, evaluate;
	struct client c;

	(void)state;
	client_start(&c);
	make = client_function(&c, "runtime.RPCTimeEvaluator");
	for (size_t i = 0; i < 4; i++) {
		struct wire_value args[16] = { wire_none(), wire_string("test.counts"),
					       wire_int(1), wire_int(0),
					       wire_int(5), wire_int(3) };
		uint32_t n = 6, j;

		for (j = 0; j < zeros[i]; j++)
			args[n++] = wire_int(0);
		args[n++] = wire_string("");
		client_request(&c, PACKET_CALL, make, args, n);
		assert_int_equal(c.code, PACKET_RETURN);
		assert_int_equal(c.values.values[0].as.integer, TENON_TYPE_FUNCTION);
		evaluate = c.values.values[1].as.handle;
		atomic_store(&calls, 0);
		CALL(&c, evaluate, wire_int(7));
		assert_int_equal(client_text(&c).size, 3 * sizeof(double));
		assert_int_equal(atomic_load(&calls), 1 + 3 * 5);
		client_request(&c, PACKET_CALL, make, args, n - 2 - (i == 3));
		assert_true(i == 1 || c.code == PACKET_EXCEPTION);
	}
	client_close(&c);
	assert_int_equal(c.result, 0);
}

/* numbers of a time evaluator, from the type of the device on */
#define NUMBERS 9
struct evaluator_numbers {
	int64_t number[NUMBERS];
};

/* Ask for an evaluator of a function with TVM 0.14's arguments. Return: its handle, or 0 for one that is refused */
static uint64_t make_evaluator(struct client *c, const char *function,
			       const struct evaluator_numbers *n, const char *prepare)
{
	struct wire_value args[2 + NUMBERS + 1] = { wire_none(), wire_string(function) };

	for (int i = 0; i < NUMBERS; i++)
		args[2 + i] = wire_int(n->number[i]);
	args[2 + NUMBERS] = wire_string(prepare);
	client_request(c, PACKET_CALL, client_function(c, "runtime.RPCTimeEvaluator"), args,
		       2 + NUMBERS + 1);
	return c->code == PACKET_RETURN ? c->values.values[1].as.handle : 0;
}

static void time_evaluators_with_wrong_arguments_are_refused(void **state)
{
	static const struct evaluator_numbers right = { { 1, 0, 1, 1, 0, 0, 0, 0, 0 } }, wrong[] = {
		{ { 1, 0, 0, 1, 0, 0, 0, 0, 0 } }, /* no call */
		{ { 1, 0, 1, 0, 0, 0, 0, 0, 0 } }, /* no repetition */
		{ { 1, 0, 1, INT32_MAX, 0, 0, 0, 0, 0 } },
		{ { 1, 0, 1, 1, 0, 0, 0, 0, -1 } }, /* bytes of the cache */
		{ { 1, 0, 1, 1, 0, 0, 0, 0, 1LL << 31 } },
	};
	struct client c;

	(void)state;
	client_start(&c);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(make_evaluator(&c, "test.counts", &wrong[i], ""), 0);
	assert_int_equal(make_evaluator(&c, "test.absent", &right, ""), 0);
	assert_int_equal(make_evaluator(&c, "test.counts", &right, "test.absent"), 0);
	client_close(&c);
	assert_int_equal(c.result, 0);
}

/* Repetitions that take as long as they should, with a pause and a flushed cache; and a device that is not there. */
static void time_evaluators_take_their_time(void **state)
{
	static const struct evaluator_numbers longer = { { 1, 0, 1, 2, 50, 100, 1, 0, 4096 } },
					      absent = { { 1, 77, 1, 1, 0, 0, 0, 0, 0 } };
	struct client c;
	uint64_t evaluate, start;

	(void)state;
	client_start(&c);
	evaluate = make_evaluator(&c, "test.counts", &longer, "test.counts");
	assert_true(evaluate);
	atomic_store(&calls, 0);
	start = clock_now();
	CALL(&c, evaluate, wire_int(7));
	assert_int_equal(client_text(&c).size, 2 * sizeof(double));
	/* twice 50 milliseconds of calls */
	assert_true(clock_now() - start >= 100000000);
	/* the function before, twice what prepares, and a call in each repetition, where one may take all of its time */
	assert_true(atomic_load(&calls) >= 1 + 2 + 2);
	evaluate = make_evaluator(&c, "test.counts", &absent, "");
	assert_true(evaluate);
	CALL(&c, evaluate, wire_int(7));
	assert_int_equal(c.code, PACKET_EXCEPTION);
	client_close(&c);
	assert_int_equal(c.result, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_of_every_kind_come_back),
		cmocka_unit_test(functions_that_are_not_there_are_null),
#ifdef CONFIG_TRACE
		cmocka_unit_test(a_session_records_a_trace_for_its_client),
#endif
		cmocka_unit_test(time_evaluators_of_all_versions_count_their_calls),
		cmocka_unit_test(time_evaluators_with_wrong_arguments_are_refused),
		cmocka_unit_test(time_evaluators_take_their_time),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
