/* SPDX-License-Identifier: MIT */
/* Our client with our session, in both encodings of waiting: pipelined, and request by request. */
#include "tests/remote/rpc_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <tenon/backend/buffer.h>
#include <tenon/rpc.h>
#include <tenon/string.h>

#include "rpc/client/rpc.h"

static void values_of_every_kind_come_back(void **state)
{
	static const size_t sizes[] = { 0, 1, 7, 8, 300 };
	struct tenon_function *f = function("test.echo");
	struct tenon_value text;
	struct tenon_slice bytes;
	char long_text[300];
	size_t i;

	(void)state;
	memset(long_text, 'x', sizeof(long_text));
	check_echo(f, tenon_arg_none());
	check_echo(f, tenon_arg_int(0));
	check_echo(f, tenon_arg_int(-1));
	check_echo(f, tenon_arg_int(INT64_C(1) << 62));
	check_echo(f, tenon_arg_float(-0.0));
	check_echo(f, tenon_arg_float(1.5));
	check_echo(f, tenon_arg_bool(true));
	check_echo(f, tenon_arg_dtype(tenon_dtype(kDLFloat, 16, 4)));
	check_echo(f, tenon_arg_device((DLDevice){ kDLOpenCL, 3 }));
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		bytes = (struct tenon_slice){ long_text, sizes[i] };
		assert_int_equal(tenon_string_value(bytes, &text), 0);
		check_echo(f, text);
		tenon_value_release(&text);
		check_echo(f, tenon_arg_bytes(&bytes));
	}
	tenon_object_unref(f);
	assert_null(function("no.such"));
}

static void objects_stay_on_the_server(void **state)
{
	struct tenon_function *f = function("test.make"), *e = function("test.echo");
	struct tenon_value made = tenon_arg_none(), back = tenon_arg_none();
	struct tenon_function *inner;

	(void)state;
	assert_int_equal(tenon_call(f, &made, tenon_arg_string("function")), 0);
	assert_int_equal(tenon_value_object(&made, TENON_TYPE_FUNCTION, &inner), 0);
	check_echo(inner, tenon_arg_int(5));
	tenon_value_release(&made);
	assert_int_equal(tenon_call(f, &made, tenon_arg_string("array")), 0);
	/* an array is a reference here, and the same array there */
	assert_int_equal(tenon_call(e, &back, made), 0);
	assert_true(back.type >= TENON_TYPE_OBJECT);
	tenon_value_release(&back);
	tenon_value_release(&made);
	assert_int_equal(tenon_call(e, &back, tenon_arg_object(e)), 0);
	assert_int_equal(back.type, TENON_TYPE_FUNCTION);
	tenon_value_release(&back);
	tenon_object_unref(f);
	tenon_object_unref(e);
	assert_int_equal(tenon_remote_wait(session.remote), 0);
}

static void an_error_has_its_text_and_the_session_goes_on(void **state)
{
	struct tenon_function *f = function("test.fails"), *e = function("test.echo");
	struct tenon_value ret = tenon_arg_none();
	int64_t shape[] = { 1 };
	float x = 1;
	DLTensor host = tenon_dltensor(&x, shape, 1, tenon_dtype(kDLFloat, 32, 1));

	(void)state;
	assert_int_equal(tenon_call(f, &ret, tenon_arg_string("the reason")), -TENON_E_CALL);
	assert_non_null(strstr(tenon_error_message(), "the reason"));
	/* a tensor of the host cannot be sent, and the remedy is named */
	assert_int_equal(tenon_call(e, &ret, tenon_arg_tensor(&host)), -TENON_E_TYPE);
	assert_non_null(strstr(tenon_error_message(), "tenon_remote_device"));
	tenon_error_clear();
	check_echo(e, tenon_arg_int(1));
	tenon_object_unref(f);
	tenon_object_unref(e);
}

static void a_posted_failure_is_told_once(void **state)
{
	struct tenon_function *f = function("test.fails"), *e = function("test.echo");
	struct tenon_value text = tenon_arg_string("posted");
	int err;

	(void)state;
	err = tenon_remote_post(session.remote, f, &text, 1);
	if (session.wait_each) {
		assert_int_equal(err, -TENON_E_CALL);
	} else {
		assert_int_equal(err, 0);
		assert_int_equal(tenon_remote_wait(session.remote), -TENON_E_CALL);
	}
	assert_non_null(strstr(tenon_error_message(), "posted"));
	tenon_error_clear();
	assert_int_equal(tenon_remote_wait(session.remote), 0);
	check_echo(e, tenon_arg_int(1));
	tenon_object_unref(f);
	tenon_object_unref(e);
}

static bool no_copies;

/* the client copies the text of a failure by it */
char *strndup(const char *text, size_t most)
{
	const size_t size = strnlen(text, most);
	char *copy = no_copies ? NULL : malloc(size + 1);

	if (!copy)
		return NULL;
	memcpy(copy, text, size);
	copy[size] = '\0';
	return copy;
}

static void a_posted_failure_is_told_without_memory_for_its_text(void **state)
{
	struct tenon_value text = tenon_arg_string("posted");
	struct tenon_function *f = function("test.fails");

	(void)state;
	assert_int_equal(tenon_remote_post(session.remote, f, &text, 1), 0);
	no_copies = true;
	assert_int_equal(tenon_remote_wait(session.remote), -TENON_E_CALL);
	no_copies = false;
	assert_non_null(strstr(tenon_error_message(), "no memory for its reason"));
	tenon_error_clear();
	assert_int_equal(tenon_remote_wait(session.remote), 0);
	tenon_object_unref(f);
}

static void posted_calls_run_in_order_without_waiting(void **state)
{
	struct tenon_function *f = function("test.counts");
	struct tenon_value one = tenon_arg_int(1), ret = tenon_arg_none();
	struct tenon_remote_facts before, after;
	int64_t first, last;
	int i;

	(void)state;
	assert_int_equal(tenon_call(f, &ret), 0);
	first = ret.as.integer;
	tenon_remote_facts(session.remote, &before);
	for (i = 0; i < 1000; i++)
		assert_int_equal(tenon_remote_post(session.remote, f, &one, 1), 0);
	assert_int_equal(tenon_call(f, &ret), 0);
	last = ret.as.integer;
	assert_int_equal(last - first, 1000);
	tenon_remote_facts(session.remote, &after);
	assert_int_equal(after.pipelined, !session.wait_each);
	assert_int_equal(after.waits - before.waits, session.wait_each ? 1001 : 1);
	tenon_object_unref(f);
}

static void functions_are_listed_and_measured(void **state)
{
	const struct tenon_remote_timing timing = { .size = sizeof(timing),
						    .number = 3,
						    .repeat = 4 };
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct tenon_value args[2] = { tenon_arg_int(1), tenon_arg_int(2) };

	(void)state;
	assert_int_equal(tenon_remote_list_functions(session.remote, &b), 0);
	tenon_buffer_u8(&b, 0);
	assert_non_null(strstr(b.data, "test.echo"));
	tenon_buffer_fini(&b);
	assert_int_equal(tenon_remote_time(session.remote, NULL, "test.counts", rpc_cpu(), &timing,
					   args, 2, &b),
			 0);
	assert_int_equal(b.size, 4 * sizeof(double));
	tenon_buffer_fini(&b);
	assert_int_equal(
		tenon_remote_time(session.remote, NULL, "no.such", rpc_cpu(), NULL, NULL, 0, &b),
		-TENON_E_CALL);
	tenon_error_clear();
	tenon_buffer_fini(&b);
}

static void attributes_are_asked_there(void **state)
{
	struct tenon_value value;

	(void)state;
	assert_int_equal(tenon_remote_attribute(session.remote, (DLDevice){ 16, 0 },
						TENON_ATTRIBUTE_EXISTS, &value),
			 0);
	assert_int_equal(value.as.integer, 0);
	assert_int_equal(tenon_remote_ping(session.remote), 0);
}

static void a_closed_session_fails_and_crashes_nothing(void **state)
{
	struct tenon_function *e = function("test.echo");
	struct tenon_value ret = tenon_arg_none();
	int64_t shape[] = { 4 };
	struct tenon_tensor *a = tensor(shape, 1, tenon_dtype(kDLInt, 32, 1));

	(void)state;
	tenon_object_ref(session.remote);
	tenon_remote_close(session.remote);
	assert_int_equal(tenon_call(e, &ret, tenon_arg_int(1)), -TENON_E_LOST);
	assert_int_equal(tenon_remote_ping(session.remote), -TENON_E_LOST);
	assert_true(tenon_tensor_copy(&a->dl, &(DLTensor){ .data = shape,
							   .device = { kDLCPU, 0 },
							   .ndim = 1,
							   .dtype = a->dl.dtype,
							   .shape = a->dl.shape }) < 0);
	tenon_error_clear();
	tenon_object_unref(a);
	tenon_object_unref(e);
}

static void a_session_ends_with_its_last_object(void **state)
{
	int64_t shape[] = { 4 }, back[4];
	struct tenon_tensor *a = tensor(shape, 1, tenon_dtype(kDLInt, 64, 1));
	const DLTensor host = tenon_dltensor(back, a->dl.shape, 1, a->dl.dtype);

	(void)state;
	assert_ptr_equal(tenon_remote_of_device(session.cpu, NULL), session.remote);
	tenon_object_unref(session.remote);
	session.remote = NULL;
	assert_int_equal(tenon_tensor_copy(&a->dl, &host), 0);
	assert_non_null(tenon_remote_of_device(session.cpu, NULL));
	tenon_object_unref(a);
	assert_null(tenon_remote_of_device(session.cpu, NULL));
	/* the device is still there, and no tensor can be made on it */
	assert_int_equal(
		tenon_tensor_create_on(tenon_device_id(session.cpu), shape, 1, host.dtype, &a),
		-TENON_E_LOST);
	tenon_error_clear();
}

/* A session over a socket of this process, whose devices have TVM's numbers */
static int setup_tvm(void **state)
{
	struct tenon_remote_options o = { .size = sizeof(o), .key = "board", .tvm_devices = true };
	char address[40];
	int pair[2];

	(void)state;
	make_folder();
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	session.fd = pair[1];
	assert_int_equal(pthread_create(&session.thread, NULL, serve, NULL), 0);
	snprintf(address, sizeof(address), "fd:%d", pair[0]);
	assert_int_equal(tenon_remote_connect(address, &o, &session.remote), 0);
	assert_int_equal(tenon_remote_device(session.remote, rpc_cpu(), &session.cpu), 0);
	return 0;
}

/* Without the extension, which a program that does the handshake does not offer */
static int setup_by_program(void **state)
{
	session.by_program = true;
	return setup_waiting(state);
}

static int teardown_by_program(void **state)
{
	int err = teardown(state);

	session.by_program = false;
	return err;
}

static void a_program_serves_a_session_on_its_own_socket(void **state)
{
	struct tenon_function *e = function("test.echo");
	int64_t shape[] = { 4 };
	struct tenon_tensor *a = tensor(shape, 1, tenon_dtype(kDLInt, 64, 1));

	(void)state;
	check_echo(e, tenon_arg_int(7));
	assert_int_equal(tenon_remote_upload(session.remote, "name", tenon_slice_of("bytes")), 0);
	tenon_object_unref(a);
	tenon_object_unref(e);
}

static void a_program_tells_why_a_session_ends(void **state)
{
	static const char why[] = "RPCSessionTimeoutError: it has expired";
	struct tenon_function *e = function("test.echo");
	struct tenon_value ret = tenon_arg_none();

	(void)state;
	/* the reply to the request before it */
	assert_int_equal(tenon_rpc_send_exception(session.fd, why), 0);
	assert_int_equal(tenon_call(e, &ret, tenon_arg_int(7)), -TENON_E_CALL);
	assert_non_null(strstr(tenon_error_message(), "it has expired"));
	assert_string_equal(tenon_error_kind(), "RPCSessionTimeoutError");
	tenon_error_clear();
	tenon_object_unref(e);
	assert_int_equal(tenon_rpc_send_exception(-1, why), -TENON_E_IO);
	tenon_error_clear();
}

static void devices_have_tvms_numbers_if_asked_for(void **state)
{
	DLDevice id = tenon_device_id(session.cpu);
	struct tenon_value ret = tenon_arg_none();
	struct tenon_function *e = function("test.echo"), *make = function("test.make");
	int64_t shape[] = { 2, 3 };
	struct tenon_tensor *a;
	struct tenon_device *again;

	(void)state;
	assert_int_equal(id.device_type % 128, kDLCPU);
	assert_true(id.device_type > 128);
	assert_int_equal(id.device_id, 0);
	assert_int_equal(tenon_device_get(id, &again), 0);
	assert_ptr_equal(again, session.cpu);
	tenon_object_unref(again);
	/* on the way there a device loses the number of the session */
	assert_int_equal(tenon_call(e, &ret, tenon_arg_device(id)), 0);
	assert_int_equal(ret.as.device.device_type, kDLCPU);
	assert_int_equal(tenon_call(make, &ret, tenon_arg_string("tensor")), 0);
	assert_int_equal(tenon_value_object(&ret, TENON_TYPE_TENSOR, &a), 0);
	assert_int_equal(a->dl.device.device_type, id.device_type);
	tenon_value_release(&ret);
	assert_int_equal(tenon_tensor_create_on(id, shape, 2, tenon_dtype(kDLFloat, 32, 1), &a), 0);
	assert_int_equal(tenon_remote_sync(session.remote, rpc_cpu()), 0);
	tenon_object_unref(a);
	tenon_object_unref(e);
	tenon_object_unref(make);
}

static void a_deadline_ends_the_session(void **state)
{
	struct tenon_function *f;
	struct tenon_value ret = tenon_arg_none();

	(void)state;
	assert_int_equal(sem_init(&let_go, 0, 0), 0);
	/* the requests before the call have as long, and must not miss it */
	open_session(false, 3000);
	f = function("test.hangs");
	assert_int_equal(tenon_call(f, &ret), -TENON_E_TIMEOUT);
	sem_post(&let_go);
	assert_int_equal(tenon_remote_ping(session.remote), -TENON_E_LOST);
	tenon_error_clear();
	tenon_object_unref(f);
	teardown(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(values_of_every_kind_come_back),
		BOTH(objects_stay_on_the_server),
		BOTH(an_error_has_its_text_and_the_session_goes_on),
		BOTH(a_posted_failure_is_told_once),
		cmocka_unit_test_setup_teardown(
			a_posted_failure_is_told_without_memory_for_its_text, setup_pipelined,
			teardown),
		BOTH(posted_calls_run_in_order_without_waiting),
		BOTH(functions_are_listed_and_measured),
		BOTH(attributes_are_asked_there),
		BOTH(a_closed_session_fails_and_crashes_nothing),
		BOTH(a_session_ends_with_its_last_object),
		cmocka_unit_test_setup_teardown(a_program_serves_a_session_on_its_own_socket,
						setup_by_program, teardown_by_program),
		cmocka_unit_test_setup_teardown(a_program_tells_why_a_session_ends,
						setup_by_program, teardown_by_program),
		cmocka_unit_test_setup_teardown(devices_have_tvms_numbers_if_asked_for, setup_tvm,
						teardown),
		cmocka_unit_test(a_deadline_ends_the_session),
	};

	return cmocka_run_group_tests(tests, register_functions, NULL);
}
