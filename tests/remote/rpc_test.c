/* SPDX-License-Identifier: MIT */
/* our client with our session, in both encodings of waiting: pipelined, and request by request */
#include "tests/unit/suite.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <tenon/array.h>
#include <tenon/memory.h>
#include <tenon/string.h>
#include <tenon/trace.h>
#include <time.h>
#include <unistd.h>

#include "lib/sha256.h"
#include "runtime/remote/handshake.h"
#include "runtime/remote/session.h"
#include "runtime/remote/stream.h"
#include "runtime/rpc/rpc.h"

/* a session of the server in a thread, and a client */
static struct {
	pthread_t thread;
	int fd;
	char folder[4000];
	struct tenon_remote *remote;
	struct tenon_device *cpu;
	bool wait_each;
} t;

/* of the function that waits */
static sem_t entered, released;

/* ---- functions of the server */

static int echo(void *self, const struct tenon_value *args, int32_t count, struct tenon_value *ret)
{
	(void)self;
	return count ? tenon_value_own(&args[0], ret) : 0;
}

static int fails(void *self, const struct tenon_value *args, int32_t count, struct tenon_value *ret)
{
	struct tenon_slice text = { "", 0 };

	(void)self;
	(void)ret;
	if (count && tenon_value_text(&args[0], &text))
		return -1;
	return tenon_error(-TENON_E_VALUE, "%.*s", (int)text.size, text.data);
}

static int counts(void *self, const struct tenon_value *args, int32_t count,
		  struct tenon_value *ret)
{
	static int64_t calls;

	(void)self;
	(void)args;
	calls += count;
	*ret = tenon_arg_int(calls);
	return 0;
}

static int make(void *self, const struct tenon_value *args, int32_t count, struct tenon_value *ret)
{
	const int64_t shape[] = { 2, 3 };
	struct tenon_function *function;
	struct tenon_tensor *tensor;
	struct tenon_array *array;
	struct tenon_slice what;

	(void)self;
	if (!count || tenon_value_text(&args[0], &what))
		return -1;
	if (tenon_slice_equal(what, tenon_slice_of("function"))) {
		if (tenon_function_create(NULL, echo, NULL, &function))
			return -1;
		*ret = tenon_arg_object(function);
	} else if (tenon_slice_equal(what, tenon_slice_of("tensor"))) {
		if (tenon_tensor_create(shape, 2, tenon_dtype(kDLFloat, 32, 1), &tensor))
			return -1;
		((float *)tensor->dl.data)[5] = 7;
		*ret = tenon_arg_object(tensor);
	} else {
		if (tenon_array_create(args, 1, &array))
			return -1;
		*ret = tenon_arg_object(array);
	}
	return 0;
}

static sem_t let_go;

static int hangs(void *self, const struct tenon_value *args, int32_t count, struct tenon_value *ret)
{
	(void)self;
	(void)args;
	(void)count;
	(void)ret;
	sem_wait(&let_go);
	return 0;
}

/* Wait to be released; true if that came. */
static int waits(void *self, const struct tenon_value *args, int32_t count, struct tenon_value *ret)
{
	struct timespec most;

	(void)self;
	(void)args;
	(void)count;
	clock_gettime(CLOCK_REALTIME, &most);
	most.tv_sec += 30;
	sem_post(&entered);
	*ret = tenon_arg_bool(!sem_timedwait(&released, &most));
	return 0;
}

/* ---- the session's end of the connection */

static void accept_client(struct connection *connection, bool *extension)
{
	struct handshake h = { .size = 0 };
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct iovec part;
	struct handshake_client client;
	int missing;

	while ((missing = handshake_missing(&h)) > 0) {
		assert_int_equal(connection_read(connection, h.bytes + h.size, (size_t)missing), 0);
		h.size += (size_t)missing;
	}
	assert_true(handshake_parse(&h, &client));
	assert_string_equal(client.key, "board");
	*extension = client.extension;
	tenon_buffer_u32(&b, HANDSHAKE_MAGIC);
	tenon_buffer_string(&b, tenon_slice_of(*extension ? "server:board " HANDSHAKE_EXTENSION
							  : "server:board"));
	/* the length is an i32 here: drop the upper half of the u64 */
	memmove(b.data + 8, b.data + 12, b.size - 12);
	part = (struct iovec){ b.data, b.size - 4 };
	assert_int_equal(connection_write(connection, &part, 1), 0);
	tenon_buffer_fini(&b);
}

static void *serve(void *argument)
{
	struct session_options o = {
		.packet_most = 64 << 20,
		.folder_most = 16 << 20,
		.memory_most = 64 << 20,
		.native_code = true,
	};
	struct connection *connection;

	(void)argument;
	if (connection_of_fds(t.fd, t.fd, "client", &connection))
		return NULL;
	accept_client(connection, &o.extension);
	session_run(connection, t.folder, &o, NULL);
	connection_close(connection);
	tenon_error_clear();
	return NULL;
}

static void make_folder(void)
{
	const char *base = getenv("TMPDIR");

	snprintf(t.folder, sizeof(t.folder), "%s/session-XXXXXX", base ? base : "/tmp");
	assert_non_null(mkdtemp(t.folder));
}

static int remove_folder(void)
{
	char command[4100];

	snprintf(command, sizeof(command), "rm -rf '%s'", t.folder);
	return system(command);
}

static void open_session(bool wait_each, uint32_t request_ms)
{
	struct tenon_remote_options o = {
		.size = sizeof(o),
		.key = "board",
		.wait_each = wait_each,
		.request_ms = request_ms,
	};
	struct connection *connection;
	int pair[2];

	make_folder();
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	t.fd = pair[1];
	t.wait_each = wait_each;
	assert_int_equal(pthread_create(&t.thread, NULL, serve, NULL), 0);
	assert_int_equal(connection_of_fds(pair[0], pair[0], "board", &connection), 0);
	assert_int_equal(rpc_connect_over(connection, "board", &o, &t.remote), 0);
	assert_int_equal(tenon_remote_device(t.remote, rpc_cpu(), &t.cpu), 0);
}

static int setup_pipelined(void **state)
{
	(void)state;
	open_session(false, 0);
	return 0;
}

static int setup_waiting(void **state)
{
	(void)state;
	open_session(true, 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	tenon_object_unref(t.cpu);
	tenon_remote_close(t.remote);
	pthread_join(t.thread, NULL);
	tenon_device_close_all();
	tenon_error_clear();
	return remove_folder();
}

static struct tenon_function *function(const char *name)
{
	struct tenon_function *f = NULL;

	assert_int_equal(tenon_remote_function(t.remote, name, &f), 0);
	return f;
}

/* ---- cases */

static void check_echo(struct tenon_function *f, struct tenon_value value)
{
	struct tenon_value back = tenon_arg_none();

	assert_int_equal(tenon_call(f, &back, value), 0);
	assert_true(tenon_value_equal(&value, &back));
	tenon_value_release(&back);
}

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
	assert_int_equal(tenon_remote_wait(t.remote), 0);
}

static struct tenon_tensor *tensor(const int64_t *shape, int32_t ndim, DLDataType dtype)
{
	struct tenon_tensor *made;

	assert_int_equal(tenon_tensor_create_on(tenon_device_id(t.cpu), shape, ndim, dtype, &made),
			 0);
	return made;
}

static void copy_there_and_back(int64_t *shape, int32_t ndim, DLDataType dtype)
{
	struct tenon_tensor *there = tensor(shape, ndim, dtype);
	DLTensor from = tenon_dltensor(NULL, shape, ndim, dtype), to = from;
	size_t bytes, i;

	assert_int_equal(tenon_tensor_bytes(&from, &bytes), 0);
	from.data = malloc(bytes + 1);
	to.data = calloc(1, bytes + 1);
	for (i = 0; i < bytes; i++)
		((uint8_t *)from.data)[i] = (uint8_t)(i * 7 + i / 251);
	assert_int_equal(tenon_tensor_copy(&from, &there->dl), 0);
	assert_int_equal(tenon_tensor_copy(&there->dl, &to), 0);
	assert_memory_equal(from.data, to.data, bytes);
	free(from.data);
	free(to.data);
	tenon_object_unref(there);
}

static void tensors_are_copied_in_both_directions(void **state)
{
	int64_t shape[] = { 3, 1 << 18 }, empty[] = { 0, 3 }, two[] = { 2, 3 };
	struct tenon_function *f = function("test.make");
	struct tenon_value made = tenon_arg_none();
	float numbers[6] = { 0 };
	DLTensor host = tenon_dltensor(numbers, two, 2, tenon_dtype(kDLFloat, 32, 1)), *dl;

	(void)state;
	copy_there_and_back(NULL, 0, tenon_dtype(kDLFloat, 32, 1));
	copy_there_and_back(empty, 2, tenon_dtype(kDLInt, 32, 1));
	copy_there_and_back(two, 2, tenon_dtype(kDLFloat, 16, 1));
	copy_there_and_back(shape, 2, tenon_dtype(kDLFloat, 32, 1));
	assert_int_equal(tenon_call(f, &made, tenon_arg_string("tensor")), 0);
	assert_int_equal(tenon_value_tensor(&made, &dl), 0);
	assert_int_equal(dl->ndim, 2);
	assert_int_equal(tenon_tensor_copy(dl, &host), 0);
	assert_true(numbers[5] == 7);
	tenon_value_release(&made);
	tenon_object_unref(f);
}

static void parts_of_tensors_are_copied(void **state)
{
	int64_t eight[] = { 8 }, three[] = { 3 };
	DLDataType byte = tenon_dtype(kDLUInt, 8, 1);
	struct tenon_tensor *a = tensor(eight, 1, byte), *b = tensor(eight, 1, byte);
	char text[8] = "abcdefgh", part[3];
	DLTensor host = tenon_dltensor(text, eight, 1, byte), view = a->dl, small;

	(void)state;
	assert_int_equal(tenon_tensor_copy(&host, &a->dl), 0);
	assert_int_equal(tenon_tensor_copy(&a->dl, &b->dl), 0);
	view = b->dl;
	view.shape = three;
	view.strides = NULL;
	view.byte_offset = 4;
	small = tenon_dltensor(part, three, 1, byte);
	assert_int_equal(tenon_tensor_copy(&view, &small), 0);
	assert_memory_equal(part, "efg", 3);
	assert_int_equal(tenon_tensor_copy(&(DLTensor){ .data = part,
							.device = { kDLCPU, 0 },
							.ndim = 1,
							.dtype = byte,
							.shape = three },
					   &view),
			 0);
	view.byte_offset = 7;
	/* one element too many: refused here or there */
	assert_true(tenon_tensor_copy(&view, &small) < 0);
	tenon_error_clear();
	tenon_object_unref(a);
	tenon_object_unref(b);
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
	err = tenon_remote_post(t.remote, f, &text, 1);
	if (t.wait_each) {
		assert_int_equal(err, -TENON_E_CALL);
	} else {
		assert_int_equal(err, 0);
		assert_int_equal(tenon_remote_wait(t.remote), -TENON_E_CALL);
	}
	assert_non_null(strstr(tenon_error_message(), "posted"));
	tenon_error_clear();
	assert_int_equal(tenon_remote_wait(t.remote), 0);
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
	assert_int_equal(tenon_remote_post(t.remote, f, &text, 1), 0);
	no_copies = true;
	assert_int_equal(tenon_remote_wait(t.remote), -TENON_E_CALL);
	no_copies = false;
	assert_non_null(strstr(tenon_error_message(), "no memory for its reason"));
	tenon_error_clear();
	assert_int_equal(tenon_remote_wait(t.remote), 0);
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
	tenon_remote_facts(t.remote, &before);
	for (i = 0; i < 1000; i++)
		assert_int_equal(tenon_remote_post(t.remote, f, &one, 1), 0);
	assert_int_equal(tenon_call(f, &ret), 0);
	last = ret.as.integer;
	assert_int_equal(last - first, 1000);
	tenon_remote_facts(t.remote, &after);
	assert_int_equal(after.pipelined, !t.wait_each);
	assert_int_equal(after.waits - before.waits, t.wait_each ? 1001 : 1);
	tenon_object_unref(f);
}

static void files_are_sent_once(void **state)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	char path[4200];
	bool sent;
	FILE *f;

	(void)state;
	snprintf(path, sizeof(path), "%s-file", t.folder);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs("content", f);
	fclose(f);
	assert_int_equal(tenon_remote_send_file(t.remote, path, "name", &sent), 0);
	assert_true(sent);
	assert_int_equal(tenon_remote_send_file(t.remote, path, "name", &sent), 0);
	assert_int_equal(sent, t.wait_each);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs("CONTENT", f);
	fclose(f);
	assert_int_equal(tenon_remote_send_file(t.remote, path, "name", &sent), 0);
	assert_true(sent);
	assert_int_equal(tenon_remote_download(t.remote, "name", &b), 0);
	assert_int_equal(b.size, 7);
	assert_memory_equal(b.data, "CONTENT", 7);
	tenon_buffer_fini(&b);
	assert_int_equal(tenon_remote_list_files(t.remote, NULL, &b), 0);
	assert_int_equal(b.size, 4);
	tenon_buffer_fini(&b);
	assert_int_equal(tenon_remote_remove(t.remote, "name"), 0);
	assert_int_equal(tenon_remote_download(t.remote, "name", &b), -TENON_E_CALL);
	assert_non_null(strstr(tenon_error_message(), "name"));
	assert_int_equal(tenon_remote_upload(t.remote, "empty", (struct tenon_slice){ "", 0 }), 0);
	tenon_error_clear();
	unlink(path);
}

static void a_large_file_is_downloaded_to_any_buffer(void **state)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	const size_t size = 3 << 20;
	char *bytes = malloc(size);
	size_t i;

	(void)state;
	assert_non_null(bytes);
	for (i = 0; i < size; i++)
		bytes[i] = (char)(i * 7 + i / 251);
	assert_int_equal(
		tenon_remote_upload(t.remote, "large", (struct tenon_slice){ bytes, size }), 0);
	/* into an empty one, and behind what is there */
	assert_int_equal(tenon_remote_download(t.remote, "large", &b), 0);
	assert_int_equal(b.size, size);
	assert_memory_equal(b.data, bytes, size);
	assert_int_equal(tenon_remote_download(t.remote, "large", &b), 0);
	assert_int_equal(b.size, 2 * size);
	assert_memory_equal(b.data + size, bytes, size);
	tenon_buffer_fini(&b);
	assert_int_equal(tenon_remote_remove(t.remote, "large"), 0);
	free(bytes);
}

static void functions_are_listed_and_measured(void **state)
{
	const struct tenon_remote_timing timing = { .number = 3, .repeat = 4 };
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct tenon_value args[2] = { tenon_arg_int(1), tenon_arg_int(2) };

	(void)state;
	assert_int_equal(tenon_remote_list_functions(t.remote, &b), 0);
	tenon_buffer_u8(&b, 0);
	assert_non_null(strstr(b.data, "test.echo"));
	tenon_buffer_fini(&b);
	assert_int_equal(
		tenon_remote_time(t.remote, NULL, "test.counts", rpc_cpu(), &timing, args, 2, &b),
		0);
	assert_int_equal(b.size, 4 * sizeof(double));
	tenon_buffer_fini(&b);
	assert_int_equal(tenon_remote_time(t.remote, NULL, "no.such", rpc_cpu(), NULL, NULL, 0, &b),
			 -TENON_E_CALL);
	tenon_error_clear();
	tenon_buffer_fini(&b);
}

static void attributes_are_asked_there(void **state)
{
	struct tenon_value value;

	(void)state;
	assert_int_equal(tenon_remote_attribute(t.remote, (DLDevice){ 16, 0 },
						TENON_ATTRIBUTE_EXISTS, &value),
			 0);
	assert_int_equal(value.as.integer, 0);
	assert_int_equal(tenon_remote_ping(t.remote), 0);
}

static void a_closed_session_fails_and_crashes_nothing(void **state)
{
	struct tenon_function *e = function("test.echo");
	struct tenon_value ret = tenon_arg_none();
	int64_t shape[] = { 4 };
	struct tenon_tensor *a = tensor(shape, 1, tenon_dtype(kDLInt, 32, 1));

	(void)state;
	tenon_object_ref(t.remote);
	tenon_remote_close(t.remote);
	assert_int_equal(tenon_call(e, &ret, tenon_arg_int(1)), -TENON_E_LOST);
	assert_int_equal(tenon_remote_ping(t.remote), -TENON_E_LOST);
	assert_true(tenon_tensor_copy(&a->dl, &(DLTensor){ .data = shape,
							   .device = { kDLCPU, 0 },
							   .ndim = 1,
							   .dtype = a->dl.dtype,
							   .shape = a->dl.shape }) < 0);
	tenon_error_clear();
	tenon_object_unref(a);
	tenon_object_unref(e);
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
	assert_int_equal(tenon_remote_ping(t.remote), -TENON_E_LOST);
	tenon_error_clear();
	tenon_object_unref(f);
	teardown(state);
}

/* ---- traces */

static void *call_that_waits(void *f)
{
	struct tenon_value ret = tenon_arg_none();

	return !tenon_call(f, &ret) && ret.as.integer ? f : NULL;
}

static bool begin_trace(char *path, size_t size)
{
	snprintf(path, size, "%s/trace.json", t.folder);
	sem_init(&entered, 0, 0);
	sem_init(&released, 0, 0);
	return !tenon_trace(path);
}

static void a_trace_ends_while_a_request_without_limit_runs(void **state)
{
	struct tenon_function *f = function("test.waits");
	char path[sizeof(t.folder) + 20];
	pthread_t thread;
	void *was_released;

	(void)state;
	if (!begin_trace(path, sizeof(path)))
		skip();
	assert_int_equal(tenon_remote_ping(t.remote), 0);
	assert_int_equal(pthread_create(&thread, NULL, call_that_waits, f), 0);
	sem_wait(&entered);
	assert_int_equal(tenon_trace(NULL), 0);
	sem_post(&released);
	assert_int_equal(pthread_join(thread, &was_released), 0);
	assert_non_null(was_released);
	tenon_object_unref(f);
}

static void a_trace_ends_while_a_posted_request_runs(void **state)
{
	struct tenon_function *f = function("test.waits");
	char path[sizeof(t.folder) + 20];
	struct timespec now, late;

	(void)state;
	if (!begin_trace(path, sizeof(path)))
		skip();
	assert_int_equal(tenon_remote_ping(t.remote), 0);
	/* as if this server could record */
	rpc_of(t.remote)->recorded = true;
	assert_int_equal(tenon_remote_post(t.remote, f, NULL, 0), 0);
	clock_gettime(CLOCK_MONOTONIC, &late);
	late.tv_sec += 25;
	assert_int_equal(tenon_trace(NULL), 0);
	clock_gettime(CLOCK_MONOTONIC, &now);
	assert_true(now.tv_sec < late.tv_sec);
	sem_post(&released);
	/* the session is as it was */
	assert_int_equal(tenon_remote_wait(t.remote), 0);
	tenon_object_unref(f);
}

/* ---- devices by their address */

static char address[200];

static void *open_by_address(void *device)
{
	struct tenon_device *d = NULL;
	char uri[300];

	snprintf(uri, sizeof(uri), "rpc://%s/%s%skey=board", address, (const char *)device,
		 strchr(device, '?') ? "&" : "?");
	return tenon_device_open(uri, &d) ? NULL : d;
}

static int listen_on_a_port(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t size = sizeof(at);

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(fd, 5), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &size), 0);
	snprintf(address, sizeof(address), "127.0.0.1:%d", ntohs(at.sin_port));
	return fd;
}

static void threads_that_open_a_device_share_a_connection(void **state)
{
	const struct timespec moment = { .tv_nsec = 100000000 };
	pthread_t threads[3], server;
	void *found[3];
	int i, fd = listen_on_a_port();

	(void)state;
	make_folder();
	for (i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, open_by_address, "cpu:0"), 0);
	t.fd = accept(fd, NULL, NULL);
	assert_true(t.fd >= 0);
	/* the server takes a while to answer: none may connect meanwhile */
	nanosleep(&moment, NULL);
	assert_int_equal(pthread_create(&server, NULL, serve, NULL), 0);
	for (i = 0; i < 3; i++) {
		assert_int_equal(pthread_join(threads[i], &found[i]), 0);
		assert_non_null(found[i]);
		assert_ptr_equal(found[i], found[0]);
	}
	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(accept(fd, NULL, NULL), -1);
	/* nor does one that wants a proof of the server get a session without it */
	assert_null(open_by_address("cpu:0?secret=/no/such/secret"));
	close(fd);
	for (i = 0; i < 3; i++)
		tenon_object_unref(found[i]);
	tenon_device_close_all();
	pthread_join(server, NULL);
	assert_int_equal(remove_folder(), 0);
}

static void hashes_are_those_of_the_standard(void **state)
{
	struct sha256 h;
	char text[SHA256_TEXT];
	int i;

	(void)state;
	sha256_init(&h);
	sha256_add(&h, "abc", 3);
	sha256_text(&h, text);
	assert_string_equal(text,
			    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	sha256_init(&h);
	for (i = 0; i < 1000000; i++)
		sha256_add(&h, "a", 1);
	sha256_text(&h, text);
	assert_string_equal(text,
			    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static int register_functions(void **state)
{
	(void)state;
	return tenon_function_register_c("test.echo", echo, true) ||
	       tenon_function_register_c("test.fails", fails, true) ||
	       tenon_function_register_c("test.counts", counts, true) ||
	       tenon_function_register_c("test.make", make, true) ||
	       tenon_function_register_c("test.hangs", hangs, true) ||
	       tenon_function_register_c("test.waits", waits, true);
}

#define BOTH(test)                                                                                 \
	{ #test " (pipelined)", test, setup_pipelined, teardown, NULL },                           \
	{                                                                                          \
#test " (request by request)", test, setup_waiting, teardown, NULL                 \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(values_of_every_kind_come_back),
		BOTH(objects_stay_on_the_server),
		BOTH(tensors_are_copied_in_both_directions),
		BOTH(parts_of_tensors_are_copied),
		BOTH(an_error_has_its_text_and_the_session_goes_on),
		BOTH(a_posted_failure_is_told_once),
		cmocka_unit_test_setup_teardown(
			a_posted_failure_is_told_without_memory_for_its_text, setup_pipelined,
			teardown),
		BOTH(posted_calls_run_in_order_without_waiting),
		BOTH(files_are_sent_once),
		BOTH(a_large_file_is_downloaded_to_any_buffer),
		BOTH(functions_are_listed_and_measured),
		BOTH(attributes_are_asked_there),
		BOTH(a_closed_session_fails_and_crashes_nothing),
		cmocka_unit_test(a_deadline_ends_the_session),
		cmocka_unit_test_setup_teardown(a_trace_ends_while_a_request_without_limit_runs,
						setup_pipelined, teardown),
		cmocka_unit_test_setup_teardown(a_trace_ends_while_a_posted_request_runs,
						setup_pipelined, teardown),
		cmocka_unit_test(threads_that_open_a_device_share_a_connection),
		cmocka_unit_test(hashes_are_those_of_the_standard),
	};

	return cmocka_run_group_tests(tests, register_functions, NULL);
}
