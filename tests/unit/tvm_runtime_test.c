/* SPDX-License-Identifier: MIT */
/* What libtvm_runtime.so has of TVM's runtime: tensors, streams, sessions and servers, and how they refuse what is wrong. */
#include "tests/unit/dropin.h"

#include <tenon/array.h>
#include <unistd.h>

/* of the last error */
static char message[4096];

/* Call a function. Return: 0; -1, with the error's text kept */
static int call_object(void *f, struct tenon_value *ret, const struct tenon_value *args,
		       int32_t count)
{
	struct dropin_error *error = NULL;

	*ret = tenon_arg_none();
	*message = '\0';
	if (!ffi.call(f, args, count, ret))
		return 0;
	ffi.take_error((void **)&error);
	assert_non_null(error);
	snprintf(message, sizeof(message), "%.*s", (int)error->message.size, error->message.data);
	ffi.unref(error);
	return -1;
}

static int call(const char *name, struct tenon_value *ret, const struct tenon_value *args,
		int32_t count)
{
	void *f = dropin_find(name);
	int err = call_object(f, ret, args, count);

	ffi.unref(f);
	return err;
}

#define ARGS(...)                                                                                  \
	(const struct tenon_value[]){ __VA_ARGS__ },                                               \
		sizeof((const struct tenon_value[]){ __VA_ARGS__ }) / sizeof(struct tenon_value)

#define works(name, ret, ...) assert_int_equal(call(name, ret, ARGS(__VA_ARGS__)), 0)

static void fails_with_at(int err, const char *text, int line)
{
	if (err && strstr(message, text))
		return;
	print_error("expected: … %s …\nfound:    %s\n", text, err ? message : "no error");
	_fail(__FILE__, line);
}

#define fails(text, name, ...)                                                                     \
	do {                                                                                       \
		struct tenon_value unused;                                                         \
                                                                                                   \
		fails_with_at(call(name, &unused, ARGS(__VA_ARGS__)), text, __LINE__);             \
	} while (0)

static void *function_of(tenon_call_fn call_fn)
{
	void *f;

	assert_int_equal(ffi.create(NULL, call_fn, NULL, &f), 0);
	return f;
}

/* ---- tensors */

static const DLDevice cpu = { kDLCPU, 0 };

static struct tenon_value make_tensor(int64_t extent)
{
	struct tenon_value shape, t;

	works("ffi.Shape", &shape, tenon_arg_int(extent));
	works("runtime.TVMTensorAllocWithScope", &t, shape,
	      tenon_arg_dtype(tenon_dtype(TENON_DTYPE_FLOAT, 32, 1)), tenon_arg_device(cpu));
	dropin_release(&shape);
	return t;
}

static void tensors_are_allocated_in_the_scope_of_all(void **state)
{
	static const struct {
		const char *scope;
		bool fails;
	} rows[] = { { "", false }, { "global", false }, { "texture", true } };
	const struct tenon_value dtype = tenon_arg_dtype(tenon_dtype(TENON_DTYPE_FLOAT, 32, 1)),
				 device = tenon_arg_device(cpu);
	struct tenon_value shape, t;
	size_t i;
	int err;

	(void)state;
	works("ffi.Shape", &shape, tenon_arg_int(4));
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		err = call("runtime.TVMTensorAllocWithScope", &t,
			   ARGS(shape, dtype, device, tenon_arg_string(rows[i].scope)));
		assert_int_equal(err != 0, rows[i].fails);
		dropin_release(&t);
	}
	works("runtime.TVMTensorAllocWithScope", &t, shape, dtype, device, tenon_arg_none());
	dropin_release(&t);
	fails("argument 4", "runtime.TVMTensorAllocWithScope", shape, dtype, device,
	      tenon_arg_int(1));
	/* a session that there is not */
	fails("no such session", "runtime.TVMTensorAllocWithScope", shape, dtype,
	      tenon_arg_device((DLDevice){ (DLDeviceType)(128 * 50 + 1), 0 }));
	dropin_release(&shape);
	works("ffi.Shape", &shape, tenon_arg_int(-4));
	fails("", "runtime.TVMTensorAllocWithScope", shape, dtype, device);
	dropin_release(&shape);
}

static void bytes_are_copied_to_a_tensor_of_their_size(void **state)
{
	float data[2] = { 1, 2 }, back[2] = { 0, 0 };
	struct tenon_value t = make_tensor(2), empty = make_tensor(0), ret;

	(void)state;
	works("runtime.TVMTensorCopyFromBytes", &ret, t, tenon_arg_pointer(data), tenon_arg_int(8));
	works("runtime.TVMTensorCopyToBytes", &ret, t, tenon_arg_pointer(back), tenon_arg_int(8));
	assert_memory_equal(data, back, sizeof(data));
	fails("-1 bytes", "runtime.TVMTensorCopyToBytes", t, tenon_arg_pointer(back),
	      tenon_arg_int(-1));
	fails("NULL", "runtime.TVMTensorCopyToBytes", t, tenon_arg_int(0), tenon_arg_int(8));
	/* nothing is copied, and no address needed */
	works("runtime.TVMTensorCopyFromBytes", &ret, empty, tenon_arg_none(), tenon_arg_int(0));
	works("runtime.TVMTensorCopyToBytes", &ret, empty, tenon_arg_none(), tenon_arg_int(0));
	dropin_release(&t);
	dropin_release(&empty);
}

static void parameters_are_named_tensors(void **state)
{
	struct tenon_value t = make_tensor(2), map, ret;

	(void)state;
	works("ffi.Map", &map, tenon_arg_int(1), t);
	fails("runtime.SaveParams", "runtime.SaveParams", map);
	dropin_release(&map);
	works("ffi.Map", &map, tenon_arg_string("a"), tenon_arg_string("no tensor"));
	fails("runtime.SaveParams", "runtime.SaveParams", map);
	fails("runtime.SaveParamsToFile", "runtime.SaveParamsToFile", map, tenon_arg_string("/"));
	dropin_release(&map);
	works("ffi.Map", &map, tenon_arg_string("a"), t, tenon_arg_string("b"), t);
	works("runtime.SaveParams", &ret, map);
	dropin_release(&map);
	works("runtime.LoadParams", &map, ret);
	assert_int_equal(((struct tenon_map *)map.as.object)->size, 2);
	dropin_release(&map);
	dropin_release(&ret);
	dropin_release(&t);
}

/* ---- streams and attributes of devices */

static void streams_are_those_that_were_made(void **state)
{
	static const char *const functions[] = { "runtime.Device_SetStream",
						 "runtime.Device_StreamSync" };
	struct tenon_value device = tenon_arg_device((DLDevice){ TENON_DL_NULL, 0 }), one, two, ret;
	int local, i;

	(void)state;
	works("runtime.Device_StreamCreate", &ret, tenon_arg_device(cpu));
	assert_int_equal(ret.type, TENON_TYPE_NONE);
	if (call("runtime.Device_StreamCreate", &one, ARGS(device)))
		skip();
	works("runtime.Device_StreamCreate", &two, device);
	for (i = 0; i < 2; i++) {
		works(functions[i], &ret, device, two);
		works(functions[i], &ret, device, one);
		works(functions[i], &ret, device, tenon_arg_none());
		works(functions[i], &ret, tenon_arg_device(cpu), tenon_arg_none());
		fails("argument 2 is no stream", functions[i], device, tenon_arg_pointer(&local));
		fails("argument 2", functions[i], device, tenon_arg_string("a"));
	}
	works("runtime.Device_StreamSyncFromTo", &ret, device, one, two);
	works("runtime.Device_StreamSyncFromTo", &ret, device, tenon_arg_none(), two);
	works("runtime.Device_StreamSyncFromTo", &ret, tenon_arg_device(cpu), tenon_arg_none(),
	      tenon_arg_none());
	fails("argument 2 is no stream", "runtime.Device_StreamSyncFromTo", device,
	      tenon_arg_pointer(&local), one);
	fails("argument 3 is no stream", "runtime.Device_StreamSyncFromTo", device, one,
	      tenon_arg_pointer(&local));
	works("runtime.Device_StreamFree", &ret, device, tenon_arg_none());
	fails("is no stream", "runtime.Device_StreamFree", device, tenon_arg_pointer(&local));
	works("runtime.Device_StreamFree", &ret, device, one);
	works("runtime.Device_StreamFree", &ret, device, two);
	fails("is no stream", "runtime.Device_StreamFree", device, two);
}

static void the_processor_is_there_in_each_build(void **state)
{
	const struct tenon_value type = tenon_arg_int(kDLCPU);
	struct tenon_value ret;

	(void)state;
	works("runtime.GetDeviceAttr", &ret, type, tenon_arg_int(0), tenon_arg_int(0));
	assert_int_equal(ret.as.integer, 1);
	works("runtime.GetDeviceAttr", &ret, type, tenon_arg_int(1), tenon_arg_int(0));
	assert_int_equal(ret.as.integer, 0);
	/* an attribute that a processor may lack */
	call("runtime.GetDeviceAttr", &ret, ARGS(type, tenon_arg_int(0), tenon_arg_int(5)));
	dropin_release(&ret);
	fails("no such session", "runtime.GetDeviceAttr", tenon_arg_int(128 * 50 + 1),
	      tenon_arg_int(0), tenon_arg_int(0));
}

/* ---- static libraries */

static void a_static_library_has_names_alone(void **state)
{
	char path[4100];
	struct tenon_value names, m, parent, f, ret;
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "%s/static.XXXXXX", getenv("TMPDIR") ?: "/tmp");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "bytes", 5), 5);
	close(fd);
	works("ffi.Array", &names, tenon_arg_string("f"), tenon_arg_string("g"));
	works("runtime.ModuleLoadStaticLibrary", &m, tenon_arg_string(path), names);
	works("ffi.ModuleGetFunction", &f, m, tenon_arg_string("g"), tenon_arg_bool(false));
	fails_with_at(call_object(f.as.object, &ret, NULL, 0), "link the library", __LINE__);
	dropin_release(&f);
	/* found through the index of a module that imports it */
	if (!call("ffi.SystemLib", &parent, NULL, 0)) {
		works("ffi.ModuleImportModule", &ret, parent, m);
		works("ffi.ModuleGetFunction", &f, parent, tenon_arg_string("g"),
		      tenon_arg_bool(true));
		dropin_release(&f);
		works("ffi.ModuleClearImports", &ret, parent);
		dropin_release(&parent);
	}
	dropin_release(&names);
	works("ffi.Array", &names, tenon_arg_string("f"), tenon_arg_int(1));
	fails("name 2", "runtime.ModuleLoadStaticLibrary", tenon_arg_string(path), names);
	dropin_release(&names);
	works("ffi.Array", &names, tenon_arg_string("f"));
	unlink(path);
	fails("No such file", "runtime.ModuleLoadStaticLibrary", tenon_arg_string(path), names);
	dropin_release(&names);
	dropin_release(&m);
}

/* ---- sessions */

static void an_address_is_a_host_and_a_port(void **state)
{
	char host[400], key[2000];

	(void)state;
	memset(host, 'h', sizeof(host));
	host[sizeof(host) - 1] = '\0';
	memset(key, 'k', sizeof(key));
	key[sizeof(key) - 1] = '\0';
	fails("host's name of 399 bytes", "rpc.Connect", tenon_arg_string(host), tenon_arg_int(1));
	fails("", "rpc.Connect", tenon_arg_string("::1"), tenon_arg_int(1));
	fails("", "rpc.Connect", tenon_arg_string("[::1]"), tenon_arg_int(1));
	fails("", "rpc.Connect", tenon_arg_string(""), tenon_arg_int(1));
	fails("", "rpc.Connect", tenon_arg_string("127.0.0.1"), tenon_arg_int(1),
	      tenon_arg_string("key -timeout=0.5"));
	fails("a key of 1999 bytes", "rpc.Connect", tenon_arg_string("127.0.0.1"), tenon_arg_int(1),
	      tenon_arg_string(key));
	fails("no number of seconds", "rpc.Connect", tenon_arg_string("127.0.0.1"),
	      tenon_arg_int(1), tenon_arg_string("key -timeout=abc"));
	fails("no number of seconds", "rpc.Connect", tenon_arg_string("127.0.0.1"),
	      tenon_arg_int(1), tenon_arg_string("key -timeout=1e9"));
	fails("not supported", "rpc.Connect", tenon_arg_string("127.0.0.1"), tenon_arg_int(1),
	      tenon_arg_string(""), tenon_arg_bool(false), tenon_arg_string("rpc.Other"));
	fails("argument 5", "rpc.Connect", tenon_arg_string("127.0.0.1"), tenon_arg_int(1),
	      tenon_arg_string(""), tenon_arg_bool(false), tenon_arg_int(1));
	fails("127.0.0.1", "rpc.Connect", tenon_arg_string("127.0.0.1"), tenon_arg_int(1),
	      tenon_arg_string(""), tenon_arg_bool(false), tenon_arg_string("rpc.LocalSession"));
}

static void a_session_ends_while_others_go_on(void **state)
{
	struct tenon_value one, two, index, other, ret, shape, lib, t;
	char name[300];

	(void)state;
	if (call("rpc.LocalSession", &one, NULL, 0))
		skip();
	assert_int_equal(call("rpc.LocalSession", &two, NULL, 0), 0);
	works("rpc.SessTableIndex", &index, one);
	works("rpc.SessTableIndex", &other, two);
	assert_int_not_equal(index.as.integer, other.as.integer);
	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	fails("name of 299 bytes", "ffi.ModuleGetFunction", one, tenon_arg_string(name),
	      tenon_arg_bool(false));
	works("ffi.ModuleGetFunction", &ret, one, tenon_arg_string("no.such.function"),
	      tenon_arg_bool(false));
	assert_int_equal(ret.type, TENON_TYPE_NONE);
	/* local modules are of no session */
	if (!call("ffi.SystemLib", &lib, NULL, 0)) {
		fails("is no session", "rpc.SessTableIndex", lib);
		fails("not of one session", "rpc.ImportRemoteModule", lib, lib);
		dropin_release(&lib);
	}
	fails("argument 2", "rpc.ImportRemoteModule", one, tenon_arg_none());
	fails("", "rpc.LoadRemoteModule", one, tenon_arg_string("missing.so"));
	works("ffi.Shape", &shape, tenon_arg_int(4));
	works("runtime.TVMTensorAllocWithScope", &t, shape,
	      tenon_arg_dtype(tenon_dtype(TENON_DTYPE_FLOAT, 32, 1)),
	      tenon_arg_device(
		      (DLDevice){ (DLDeviceType)(128 * (index.as.integer + 1) + kDLCPU), 0 }));
	dropin_release(&t);
	/* the older one first: it is not the first in the list */
	dropin_release(&one);
	fails("no such session", "runtime.TVMTensorAllocWithScope", shape,
	      tenon_arg_dtype(tenon_dtype(TENON_DTYPE_FLOAT, 32, 1)),
	      tenon_arg_device(
		      (DLDevice){ (DLDeviceType)(128 * (index.as.integer + 1) + kDLCPU), 0 }));
	works("runtime.TVMTensorAllocWithScope", &t, shape,
	      tenon_arg_dtype(tenon_dtype(TENON_DTYPE_FLOAT, 32, 1)),
	      tenon_arg_device(
		      (DLDevice){ (DLDeviceType)(128 * (other.as.integer + 1) + kDLCPU), 0 }));
	dropin_release(&t);
	dropin_release(&shape);
	dropin_release(&two);
}

static void a_child_that_is_no_server_ends_the_session(void **state)
{
	(void)state;
	fails("", "rpc.CreatePipeClient", tenon_arg_string("/nowhere/at.all"));
	fails("", "rpc.CreatePipeClient", tenon_arg_string("true"));
	fails("argument 2", "rpc.CreatePipeClient", tenon_arg_string("true"), tenon_arg_int(1));
}

/* ---- a server behind a connection of the caller's */

static int64_t takes = 1000000;
static int nested_error;
static void *handler;

/* The function that writes: it takes a number of bytes, fails, or returns no number. */
static int write_some(void *self, const struct tenon_value *args, int32_t count,
		      struct tenon_value *ret)
{
	struct tenon_value again[2] = { tenon_arg_string(""), tenon_arg_int(3) },
			   unused = tenon_arg_none();
	struct tenon_slice text;
	void *f;
	int err;

	(void)self;
	(void)count;
	assert_int_equal(tenon_value_text(&args[0], &text), 0);
	switch (takes) {
	case -2:
		f = dropin_find("runtime.LoadParams");
		err = ffi.call(f, again, 1, &unused);
		ffi.unref(f);
		return err;
	case -3:
		*ret = tenon_arg_none();
		return 0;
	case -4:
		nested_error = call_object(handler, &unused, again, 2);
		*ret = tenon_arg_int((int64_t)text.size);
		return 0;
	default:
		*ret = tenon_arg_int(takes < (int64_t)text.size || takes > 100000000
					     ? takes
					     : (int64_t)text.size);
		return 0;
	}
}

static void *new_handler(void)
{
	void *f = function_of(write_some);
	struct tenon_value arg = tenon_arg_none(), ret;
	int err;

	arg.type = TENON_TYPE_FUNCTION;
	arg.as.object = f;
	err = call("rpc.CreateEventDrivenServer", &ret, &arg, 1);
	ffi.unref(f);
	return err ? NULL : ret.as.object;
}

/* Hand bytes over. Return: what the handler returns; -1 for an error */
static int64_t hand_over(const void *bytes, size_t size, int64_t can)
{
	struct tenon_slice text = { bytes, size };
	struct tenon_value args[2] = { tenon_arg_bytes(&text), tenon_arg_int(can) }, ret;

	return call_object(handler, &ret, args, 2) ? -1 : ret.as.integer;
}

/* The first packet of a session: its size, the code of an initialization, a version, and no arguments */
static size_t first_packet(char *out)
{
	static const char version[] = "0.8.0";
	const uint64_t size = 4 + 8 + sizeof(version) - 1 + 4, length = sizeof(version) - 1;
	const uint32_t code = 2, none_follow = 0;

	memcpy(out, &size, 8);
	memcpy(out + 8, &code, 4);
	memcpy(out + 12, &length, 8);
	memcpy(out + 20, version, length);
	memcpy(out + 20 + length, &none_follow, 4);
	return 8 + (size_t)size;
}

static void a_server_of_events_hands_over_whole_packets(void **state)
{
	static const int64_t bad[] = { -1, 200000000, -2, -3 };
	const uint64_t zero = 0, two = 2;
	char packet[64];
	size_t size, i;

	(void)state;
	size = first_packet(packet);
	handler = new_handler();
	if (!handler)
		skip();
	/* part of a packet, what has no content, and what cannot be written yet */
	assert_int_equal(hand_over(packet, 3, 3), 1);
	assert_int_equal(hand_over(packet + 3, size - 3, 1), 2);
	assert_int_equal(hand_over(NULL, 0, 3), 1);
	assert_int_equal(hand_over(&zero, sizeof(zero), 3), 1);
	fails_with_at(call_object(handler, &(struct tenon_value){ 0 },
				  ARGS(tenon_arg_none(), tenon_arg_none())),
		      "argument 1", __LINE__);
	ffi.unref(handler);
	/* the function that writes gets more in its way than it should */
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		handler = new_handler();
		takes = bad[i];
		assert_int_equal(hand_over(packet, size, 3), -1);
		takes = 1000000;
		/* the session ended with the error */
		assert_int_equal(hand_over(packet, size, 3), -1);
		assert_non_null(strstr(message, "the session ended"));
		ffi.unref(handler);
	}
	handler = new_handler();
	takes = -4;
	assert_int_equal(hand_over(packet, size, 3), 1);
	assert_int_equal(nested_error, -1);
	takes = 1000000;
	ffi.unref(handler);
	/* a packet that is too short for a code is the server's to answer */
	handler = new_handler();
	memcpy(packet, &two, sizeof(two));
	assert_int_equal(hand_over(packet, 10, 3), 1);
	ffi.unref(handler);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tensors_are_allocated_in_the_scope_of_all),
		cmocka_unit_test(bytes_are_copied_to_a_tensor_of_their_size),
		cmocka_unit_test(parameters_are_named_tensors),
		cmocka_unit_test(streams_are_those_that_were_made),
		cmocka_unit_test(the_processor_is_there_in_each_build),
		cmocka_unit_test(a_static_library_has_names_alone),
		cmocka_unit_test(an_address_is_a_host_and_a_port),
		cmocka_unit_test(a_session_ends_while_others_go_on),
		cmocka_unit_test(a_child_that_is_no_server_ends_the_session),
		cmocka_unit_test(a_server_of_events_hands_over_whole_packets),
	};

	return cmocka_run_group_tests(tests, dropin_open, NULL);
}
