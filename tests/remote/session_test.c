/* SPDX-License-Identifier: MIT */
/* a session and its client: what works, what is refused, and that the session goes on */
#include "tests/unit/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/remote/wire_codes.h"
#include "tests/remote/client.h"

static int echo(void *self, const struct tenon_value *args, int32_t count, struct tenon_value *ret)
{
	(void)self;
	return count ? tenon_value_own(&args[0], ret) : 0;
}

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
	(void)state;
	return tenon_function_register_c("test.echo", echo, true) ||
	       tenon_function_register_c("test.counts", counts, true);
}

static void open_session(struct client *c)
{
	client_open(c, WIRE_FFI);
	client_init(c);
}

static struct tenon_slice result_text(const struct client *c)
{
	assert_int_equal(c->code, PACKET_RETURN);
	assert_int_equal(c->values.count, 2);
	return c->values.values[1].as.text;
}

static void values_of_every_kind_come_back(void **state)
{
	struct client c;
	uint64_t f;

	(void)state;
	open_session(&c);
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
	assert_slice(result_text(&c), "a text of some length");
	CALL(&c, f, wire_bytes("\0x", 2));
	assert_slice(result_text(&c), "\0x");
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

static void handles_that_are_none_are_refused(void **state)
{
	struct wire_tensor t = byte_record(0x5561e3886080, 16);
	struct client c;
	uint64_t f, data;

	(void)state;
	open_session(&c);
	f = client_function(&c, "test.echo");
	data = client_alloc(&c, 16);
	CALL(&c, 0, wire_int(1));
	assert_exception(&c, "no handle of this session");
	CALL(&c, 0x5561e3886080, wire_int(1));
	assert_exception(&c, "no handle of this session");
	CALL(&c, data, wire_int(1));
	assert_exception(&c, "is no function");
	CALL(&c, f, wire_tensor_value(&t));
	assert_exception(&c, "no handle of this session");
	t.data = f;
	CALL(&c, f, wire_tensor_value(&t));
	assert_exception(&c, "is no tensor");
	CALL(&c, f, { WIRE_MODULE, { .handle = f } });
	assert_exception(&c, "is no module");
	REQUEST(&c, PACKET_FREE_HANDLE, wire_pointer(data));
	assert_exception(&c, "is no object");
	REQUEST(&c, PACKET_FREE, wire_cpu(), wire_pointer(f));
	assert_exception(&c, "is no allocation");
	/* freed once, and not used after that */
	REQUEST(&c, PACKET_FREE_HANDLE, wire_pointer(f));
	assert_int_equal(c.code, PACKET_RETURN);
	REQUEST(&c, PACKET_FREE_HANDLE, wire_pointer(f));
	assert_exception(&c, "was freed");
	CALL(&c, f, wire_int(1));
	assert_exception(&c, "was freed");
	client_close(&c);
	assert_int_equal(c.result, 0);
}

static void copies_stay_within_their_memory(void **state)
{
	struct wire_tensor t, u;
	struct client c;
	uint64_t data;

	(void)state;
	open_session(&c);
	data = client_alloc(&c, 16);
	t = byte_record(data, 16);
	client_copy_to(&c, &t, 16, "0123456789abcdef", 16);
	assert_int_equal(c.code, PACKET_RETURN);
	client_copy_from(&c, &t, 16);
	assert_slice(c.bytes, "0123456789abcdef");
	/* a part of it, at an offset */
	t.byte_offset = 4;
	client_copy_to(&c, &t, 3, "XYZ", 3);
	assert_int_equal(c.code, PACKET_RETURN);
	client_copy_from(&c, &t, 12);
	assert_slice(c.bytes, "XYZ789abcdef");
	/* one byte more than there is, in each way */
	client_copy_from(&c, &t, 13);
	assert_exception(&c, "exceed");
	client_copy_to(&c, &t, 13, "0123456789abc", 13);
	assert_exception(&c, "exceed");
	t.byte_offset = UINT64_MAX;
	client_copy_from(&c, &t, 2);
	assert_exception(&c, "exceed");
	t.byte_offset = 0;
	client_copy_from(&c, &t, UINT64_MAX);
	assert_exception(&c, "exceed");
	/* a call's tensor: its shape, its type, its device */
	t.shape[0] = 17;
	CALL(&c, client_function(&c, "test.counts"), wire_tensor_value(&t));
	assert_exception(&c, "exceed");
	t.shape[0] = -1;
	CALL(&c, client_function(&c, "test.counts"), wire_tensor_value(&t));
	assert_exception(&c, "");
	t = byte_record(data, 16);
	t.dtype.bits = 0;
	CALL(&c, client_function(&c, "test.counts"), wire_tensor_value(&t));
	assert_exception(&c, "");
	t = byte_record(data, 16);
	t.device.device_type = 2;
	CALL(&c, client_function(&c, "test.counts"), wire_tensor_value(&t));
	assert_exception(&c, "memory of cpu");
	/* between two */
	t = byte_record(data, 8);
	u = byte_record(client_alloc(&c, 8), 8);
	REQUEST(&c, PACKET_COPY_AMONG, wire_tensor_value(&t), wire_tensor_value(&u),
		wire_pointer(0));
	assert_int_equal(c.code, PACKET_RETURN);
	client_copy_from(&c, &u, 8);
	assert_slice(c.bytes, "0123XYZ7");
	client_close(&c);
	assert_int_equal(c.result, 0);
}

static void memory_has_a_quota(void **state)
{
	struct wire_tensor t = byte_record(0, 40 << 20);
	struct client c;
	uint64_t data;

	(void)state;
	open_session(&c);
	data = client_alloc(&c, 40 << 20);
	REQUEST(&c, PACKET_ALLOC_TENSOR, wire_tensor_value(&t), wire_none());
	assert_exception(&c, "may have");
	REQUEST(&c, PACKET_FREE, wire_cpu(), wire_pointer(data));
	assert_int_equal(c.code, PACKET_RETURN);
	client_alloc(&c, 40 << 20);
	t.ndim = 3;
	t.shape[0] = t.shape[1] = t.shape[2] = INT64_C(1) << 31;
	REQUEST(&c, PACKET_ALLOC_TENSOR, wire_tensor_value(&t), wire_none());
	assert_exception(&c, "");
	REQUEST(&c, PACKET_ALLOC, wire_cpu(), wire_int(16), wire_int(64),
		{ WIRE_DTYPE, { .dtype = { 2, 32, 1 } } });
	assert_int_equal(c.code, PACKET_RETURN);
	REQUEST(&c, PACKET_ALLOC, wire_cpu(), wire_int(-16), wire_int(64),
		{ WIRE_DTYPE, { .dtype = { 2, 32, 1 } } });
	assert_exception(&c, "");
	t = byte_record(0, 16);
	REQUEST(&c, PACKET_ALLOC_TENSOR, wire_tensor_value(&t), wire_string("global.texture"));
	assert_exception(&c, "scope");
	client_close(&c);
	assert_int_equal(c.result, 0);
}

static void files_are_in_the_sessions_folder(void **state)
{
	static const char *const outside[] = { "/etc/passwd", "../x", "a/../../x", "..", "" };
	static char large[17 << 20];
	uint64_t upload, download, remove, list;
	struct client c;
	size_t i;

	(void)state;
	open_session(&c);
	upload = client_function(&c, "tvm.rpc.server.upload");
	download = client_function(&c, "tvm.rpc.server.download");
	remove = client_function(&c, "tvm.rpc.server.remove");
	list = client_function(&c, "tvm.rpc.server.listdir");
	CALL(&c, upload, wire_string("a.bin"), wire_bytes("abc", 3));
	assert_int_equal(c.code, PACKET_RETURN);
	CALL(&c, upload, wire_string("a.bin"), wire_bytes("other", 5));
	CALL(&c, download, wire_string("a.bin"));
	assert_slice(result_text(&c), "other");
	CALL(&c, upload, wire_string("empty"), wire_bytes("", 0));
	CALL(&c, download, wire_string("empty"));
	assert_slice(result_text(&c), "");
	CALL(&c, list, wire_string("."));
	assert_int_equal(result_text(&c).size, strlen("a.bin,empty"));
	CALL(&c, remove, wire_string("empty"));
	CALL(&c, remove, wire_string("never"));
	assert_int_equal(c.code, PACKET_RETURN);
	CALL(&c, list, wire_string("."));
	assert_slice(result_text(&c), "a.bin");
	CALL(&c, download, wire_string("never"));
	assert_exception(&c, "cannot find file never");
	for (i = 0; i < sizeof(outside) / sizeof(outside[0]); i++) {
		CALL(&c, download, wire_string(outside[i]));
		assert_exception(&c, *outside[i] ? "own folder" : "0 bytes");
		CALL(&c, upload, wire_string(outside[i]), wire_bytes("x", 1));
		assert_exception(&c, "");
		CALL(&c, remove, wire_string(outside[i]));
		assert_exception(&c, "");
	}
	CALL(&c, upload, wire_string("large"), wire_bytes(large, sizeof(large)));
	assert_exception(&c, "folder-size");
	CALL(&c, client_function(&c, "tvm.rpc.server.load_module"), wire_string("a.bin"));
	assert_exception(&c, "a.bin");
	client_close(&c);
	assert_int_equal(c.result, 0);
}

/* A request of an upload, without its length; the caller frees it. */
static struct tenon_buffer upload_request(const struct client *c, uint64_t function,
					  const struct wire_value *values, uint32_t count)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;

	tenon_buffer_u32(&b, PACKET_CALL);
	tenon_buffer_u64(&b, function);
	wire_write_sequence(&b, c->generation, values, count);
	assert_int_equal(b.status, 0);
	return b;
}

static void assert_file(const struct client *c, const char *name, const char *bytes, size_t size)
{
	char path[5000], *found = malloc(size + 1);
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", c->folder, name);
	f = fopen(path, "rb");
	assert_non_null(f);
	assert_int_equal(fread(found, 1, size + 1, f), size);
	assert_memory_equal(found, bytes, size);
	fclose(f);
	free(found);
}

/* sizes around the stream's buffer and around the parts in which a session reads a large upload */
static void uploads_of_all_sizes_arrive(struct client *c)
{
	size_t most = 700000, head, size, i, j;
	struct tenon_buffer b;
	char *bytes = malloc(most);
	uint64_t upload;

	assert_non_null(bytes);
	for (i = 0; i < most; i++)
		bytes[i] = (char)(i * 7 + i / 251);
	client_init(c);
	upload = client_function(c, "tvm.rpc.server.upload");
	b = upload_request(c, upload,
			   (struct wire_value[]){ wire_string("x.bin"), wire_bytes("", 0) }, 2);
	head = b.size;
	tenon_buffer_fini(&b);
	for (i = 0; i < 3; i++) {
		for (j = 0; j < 3; j++) {
			size = STREAM_BUFFER + i * 262144 - head + j - 1;
			CALL(c, upload, wire_string("x.bin"), wire_bytes(bytes, size));
			assert_int_equal(c->code, PACKET_RETURN);
			assert_int_equal(c->values.count, 2);
			assert_int_equal(c->values.values[1].kind, WIRE_NONE);
			assert_file(c, "x.bin", bytes, size);
		}
	}
	/* a longer name, and text in place of bytes */
	CALL(c, upload, wire_string("././././././././././././././x.bin"),
	     { WIRE_STRING, { .text = { bytes, most } } });
	assert_int_equal(c->code, PACKET_RETURN);
	assert_file(c, "x.bin", bytes, most);
	free(bytes);
}

static void large_uploads_arrive_in_both_encodings(void **state)
{
	struct client c;

	(void)state;
	client_open(&c, WIRE_FFI);
	uploads_of_all_sizes_arrive(&c);
	client_close(&c);
	assert_int_equal(c.result, 0);
	client_open(&c, WIRE_LEGACY);
	uploads_of_all_sizes_arrive(&c);
	client_close(&c);
	assert_int_equal(c.result, 0);
}

static void a_large_upload_that_is_refused_costs_nothing_but_itself(void **state)
{
	static char large[17 << 20], name[8300];
	uint64_t upload, list;
	struct tenon_buffer b;
	struct client c;
	size_t head;

	(void)state;
	open_session(&c);
	upload = client_function(&c, "tvm.rpc.server.upload");
	list = client_function(&c, "tvm.rpc.server.listdir");
	CALL(&c, upload, wire_string("../x"), wire_bytes(large, 600000));
	assert_exception(&c, "own folder");
	CALL(&c, upload, wire_string("no/folder"), wire_bytes(large, 600000));
	assert_exception(&c, "cannot find file no/folder");
	CALL(&c, upload, wire_string("x"), wire_bytes(large, sizeof(large)));
	assert_exception(&c, "folder-size");
	CALL(&c, upload, wire_int(1), wire_bytes(large, 600000));
	assert_exception(&c, "");
	CALL(&c, upload, wire_bytes(large, 600000));
	assert_exception(&c, "");
	CALL(&c, upload, wire_string("x"), wire_bytes(large, 600000), wire_int(1));
	assert_exception(&c, "");
	CALL(&c, upload, wire_bytes(large, 600000), wire_bytes(large, 1));
	assert_exception(&c, "");
	memset(name, 'n', sizeof(name));
	CALL(&c, upload, wire_bytes(name, sizeof(name)), wire_bytes(large, 600000));
	assert_exception(&c, "");
	/* bytes after the last argument, which begin with the part that is not read ahead */
	b = upload_request(&c, upload,
			   (struct wire_value[]){ wire_string("x"), wire_bytes("", 0) }, 2);
	head = b.size;
	tenon_buffer_fini(&b);
	b = upload_request(
		&c, upload,
		(struct wire_value[]){ wire_string("x"), wire_bytes(large, STREAM_BUFFER - head) },
		2);
	tenon_buffer_append(&b, large, 5);
	client_send(&c, b.data, b.size);
	assert_true(client_receive(&c));
	assert_exception(&c, "after the last argument");
	tenon_buffer_fini(&b);
	CALL(&c, list, wire_string("."));
	assert_slice(result_text(&c), "");
	CALL(&c, upload, wire_string("x"), wire_bytes(large, 600000));
	assert_file(&c, "x", large, 600000);
	client_close(&c);
	assert_int_equal(c.result, 0);
}

static void an_end_within_a_large_upload_leaves_no_file(void **state)
{
	static char large[600000];
	struct tenon_buffer b;
	struct client c;
	uint64_t upload;
	char path[5000];
	size_t part;

	(void)state;
	for (part = 9; part < sizeof(large); part = part * 7) {
		open_session(&c);
		upload = client_function(&c, "tvm.rpc.server.upload");
		b = upload_request(
			&c, upload,
			(struct wire_value[]){ wire_string("x"), wire_bytes(large, sizeof(large)) },
			2);
		c.request.size = 0;
		tenon_buffer_u64(&c.request, b.size);
		tenon_buffer_append(&c.request, b.data, part);
		client_send_raw(&c, c.request.data, c.request.size);
		client_close_keeping(&c);
		assert_int_equal(c.result, -TENON_E_IO);
		snprintf(path, sizeof(path), "%s/x", c.folder);
		assert_int_equal(access(path, F_OK), -1);
		assert_int_equal(rmdir(c.folder), 0);
		tenon_buffer_fini(&b);
	}
}

static void functions_that_are_not_there_are_null(void **state)
{
	struct client c;

	(void)state;
	open_session(&c);
	assert_int_equal(client_function(&c, "no.such.function"), 0);
	CALL(&c, client_function(&c, "tenon.rpc.list_functions"), wire_int(1));
	assert_exception(&c, "1 arguments");
	client_request(&c, PACKET_CALL, client_function(&c, "tenon.rpc.list_functions"), NULL, 0);
	assert_non_null(memmem(result_text(&c).data, result_text(&c).size, ",test.echo", 10));
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

static void a_session_records_a_trace_for_its_client(void **state)
{
	uint64_t begin, now, end, echo;
	struct client c;

	(void)state;
	open_session(&c);
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
	assert_non_null(memmem(result_text(&c).data, result_text(&c).size, "CallFunc", 8));
	assert_null(memmem(result_text(&c).data, result_text(&c).size, "GetGlobalFunc", 13));
	/* one that the client does not take ends with the session */
	client_request(&c, PACKET_CALL, begin, NULL, 0);
	client_close(&c);
	open_session(&c);
	client_request(&c, PACKET_CALL, client_function(&c, "tenon.trace.begin"), NULL, 0);
	assert_int_equal(c.code, PACKET_RETURN);
	client_close(&c);
}

static void time_evaluators_of_all_versions_count_their_calls(void **state)
{
	/* TVM 0.8, 0.9, 0.10, 0.14: what stands between the repetitions and the last argument */
	static const uint32_t zeros[] = { 1, 3, 4, 5 };
	uint64_t make, evaluate;
	struct client c;

	(void)state;
	open_session(&c);
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
		assert_int_equal(result_text(&c).size, 3 * sizeof(double));
		assert_int_equal(atomic_load(&calls), 1 + 3 * 5);
		client_request(&c, PACKET_CALL, make, args, n - 2 - (i == 3));
		assert_true(i == 1 || c.code == PACKET_EXCEPTION);
	}
	client_close(&c);
	assert_int_equal(c.result, 0);
}

static void devices_answer_or_say_why_not(void **state)
{
	const struct wire_value odd = { WIRE_DEVICE, { .device = { 99, 0 } } };
	const struct wire_value hexagon = { WIRE_DEVICE, { .device = { 16, 0 } } };
	struct wire_tensor t = byte_record(0, 16);
	struct client c;

	(void)state;
	open_session(&c);
	REQUEST(&c, PACKET_GET_ATTRIBUTE, hexagon, wire_int(0));
	assert_int_equal(c.code, PACKET_RETURN);
	assert_int_equal(c.values.values[0].as.integer, 0);
	REQUEST(&c, PACKET_GET_ATTRIBUTE, hexagon, wire_int(5));
	assert_exception(&c, "");
	REQUEST(&c, PACKET_GET_ATTRIBUTE, odd, wire_int(0));
	assert_exception(&c, "unknown type = 99");
	t.device.device_type = 16;
	REQUEST(&c, PACKET_ALLOC_TENSOR, wire_tensor_value(&t), wire_none());
	assert_exception(&c, "");
	REQUEST(&c, PACKET_CREATE_STREAM, wire_cpu());
	assert_int_equal(c.values.values[0].as.handle, 0);
	REQUEST(&c, PACKET_SET_STREAM, wire_cpu(), wire_pointer(0));
	assert_int_equal(c.code, PACKET_RETURN);
	REQUEST(&c, PACKET_SYNC, wire_cpu(), wire_pointer(64));
	assert_exception(&c, "no handle");
	REQUEST(&c, PACKET_CURRENT_STREAM, wire_cpu());
	assert_int_equal(c.values.values[0].as.handle, 0);
	client_close(&c);
	assert_int_equal(c.result, 0);
}

#ifdef CONFIG_DEVICE_NULL
static void tensors_live_on_other_devices_too(void **state)
{
	const struct wire_value device = { WIRE_DEVICE, { .device = { TENON_DEVICE_NULL, 0 } } };
	struct wire_tensor t = byte_record(0, 16);
	struct client c;
	uint64_t stream;

	(void)state;
	open_session(&c);
	t.device.device_type = TENON_DEVICE_NULL;
	REQUEST(&c, PACKET_SET_DEVICE, device);
	assert_int_equal(c.code, PACKET_RETURN);
	REQUEST(&c, PACKET_ALLOC_TENSOR, wire_tensor_value(&t), wire_none());
	assert_int_equal(c.code, PACKET_RETURN);
	t.data = c.values.values[0].as.handle;
	client_copy_to(&c, &t, 16, "0123456789abcdef", 16);
	assert_int_equal(c.code, PACKET_RETURN);
	REQUEST(&c, PACKET_CREATE_STREAM, device);
	stream = c.values.values[0].as.handle;
	assert_true(stream);
	REQUEST(&c, PACKET_SET_STREAM, device, wire_pointer(stream));
	assert_int_equal(c.code, PACKET_RETURN);
	REQUEST(&c, PACKET_SYNC, device, wire_pointer(stream));
	assert_int_equal(c.code, PACKET_RETURN);
	REQUEST(&c, PACKET_SET_STREAM, device, wire_pointer(0));
	REQUEST(&c, PACKET_FREE_STREAM, device, wire_pointer(stream));
	assert_int_equal(c.code, PACKET_RETURN);
	client_copy_from(&c, &t, 16);
	assert_int_equal(c.bytes.size, 16);
	client_copy_from(&c, &t, 17);
	assert_exception(&c, "exceed");
	REQUEST(&c, PACKET_SYNC, device, wire_pointer(0));
	assert_int_equal(c.code, PACKET_RETURN);
	client_close(&c);
	assert_int_equal(c.result, 0);
}
#endif

/* ---- the order of requests, and packets of the wrong form */

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
	open_session(&c);
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
	open_session(&c);
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
	open_session(&c);
	client_send_raw(&c, "\x10\0\0\0\0\0\0\0\3", 9);
	client_close(&c);
	assert_int_equal(c.result, -TENON_E_IO);
	open_session(&c);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_of_every_kind_come_back),
		cmocka_unit_test(handles_that_are_none_are_refused),
		cmocka_unit_test(copies_stay_within_their_memory),
		cmocka_unit_test(memory_has_a_quota),
		cmocka_unit_test(files_are_in_the_sessions_folder),
		cmocka_unit_test(large_uploads_arrive_in_both_encodings),
		cmocka_unit_test(a_large_upload_that_is_refused_costs_nothing_but_itself),
		cmocka_unit_test(an_end_within_a_large_upload_leaves_no_file),
		cmocka_unit_test(functions_that_are_not_there_are_null),
#ifdef CONFIG_TRACE
		cmocka_unit_test(a_session_records_a_trace_for_its_client),
#endif
		cmocka_unit_test(time_evaluators_of_all_versions_count_their_calls),
		cmocka_unit_test(devices_answer_or_say_why_not),
#ifdef CONFIG_DEVICE_NULL
		cmocka_unit_test(tensors_live_on_other_devices_too),
#endif
		cmocka_unit_test(nothing_goes_before_init_server_and_that_once),
		cmocka_unit_test(a_malformed_packet_costs_nothing_but_itself),
		cmocka_unit_test(a_packet_that_is_too_large_ends_the_session),
		cmocka_unit_test(an_end_within_a_packet_is_an_error_and_one_between_is_none),
		cmocka_unit_test(a_legacy_client_gets_legacy_replies),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
