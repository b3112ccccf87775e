/* SPDX-License-Identifier: MIT */
/* The modules of a session: loading, importing, functions, and evaluators of these. */
#include "tests/unit/suite.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/remote/client.h"

#define LIBRARY "tests/interop/data/tvm-0.27.0.post1/host_vecadd/lib.so"

/* Upload a library. Skips on other machines than it is for. */
static uint64_t load_library(struct client *c, const char *name)
{
	static char bytes[1 << 20];
	FILE *f = fopen(LIBRARY, "rb");
	size_t size;

	assert_non_null(f);
	size = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	assert_true(size && size < sizeof(bytes));
	CALL(c, client_function(c, "tvm.rpc.server.upload"), wire_string(name),
	     wire_bytes(bytes, size));
	assert_int_equal(c->code, PACKET_RETURN);
	CALL(c, client_function(c, "tvm.rpc.server.load_module"), wire_string(name),
	     wire_string("so"));
#ifndef __x86_64__
	if (c->code != PACKET_RETURN) {
		client_close(c);
		skip();
	}
#endif
	assert_int_equal(c->code, PACKET_RETURN);
	assert_int_equal(c->values.values[0].as.integer, TENON_TYPE_MODULE);
	return c->values.values[1].as.handle;
}

static struct wire_value wire_module(uint64_t handle)
{
	return (struct wire_value){ WIRE_MODULE, { .handle = handle } };
}

static struct wire_value wire_bool(bool is)
{
	return (struct wire_value){ WIRE_BOOL, { .integer = is } };
}

static void a_module_has_functions_and_imports(void **state)
{
	uint64_t parent, child, import, find;
	struct client c;

	(void)state;
	client_start(&c);
	import = client_function(&c, "tvm.rpc.server.ImportModule");
	find = client_function(&c, "tvm.rpc.server.ModuleGetFunction");
	parent = load_library(&c, "a.so");
	child = load_library(&c, "b.so");
	CALL(&c, import, wire_module(parent), wire_module(child));
	assert_int_equal(c.code, PACKET_RETURN);
	CALL(&c, import, wire_module(parent), wire_module(parent));
	assert_exception(&c, "");
	CALL(&c, import, wire_module(parent), wire_int(1));
	assert_exception(&c, "");
	CALL(&c, import, wire_int(1), wire_module(parent));
	assert_exception(&c, "");
	CALL(&c, import, wire_module(parent));
	assert_exception(&c, "1 arguments");
	CALL(&c, find, wire_module(parent), wire_string("vecadd"), wire_bool(true));
	assert_int_equal(c.values.values[0].as.integer, TENON_TYPE_FUNCTION);
	CALL(&c, find, wire_module(parent), wire_string("other"), wire_bool(true));
	assert_int_equal(c.code, PACKET_RETURN);
	assert_int_equal(c.values.values[0].as.integer, TENON_TYPE_NONE);
	CALL(&c, find, wire_module(parent), wire_string("vecadd"), wire_string("x"));
	assert_exception(&c, "");
	CALL(&c, find, wire_module(parent), wire_int(1), wire_bool(true));
	assert_exception(&c, "");
	client_close(&c);
	assert_int_equal(c.result, 0);
}

static void the_library_of_the_program_may_have_no_modules(void **state)
{
	struct wire_value name = wire_string("prefix");
	char large[300];
	struct client c;
	uint64_t f;

	(void)state;
	memset(large, 'x', sizeof(large));
	client_start(&c);
	f = client_function(&c, "ffi.SystemLib");
	client_request(&c, PACKET_CALL, f, NULL, 0);
	CALL(&c, f, name);
	CALL(&c, f, name, name);
	assert_exception(&c, "2 arguments");
	CALL(&c, f, wire_int(1));
	assert_exception(&c, "");
	CALL(&c, f, wire_bytes(large, sizeof(large)));
	assert_exception(&c, "a prefix of 300 bytes");
	client_close(&c);
	assert_int_equal(c.result, 0);
}

static void a_path_of_a_module_is_one_of_the_session(void **state)
{
	char large[5000];
	struct client c;
	uint64_t load;

	(void)state;
	memset(large, 'x', sizeof(large));
	client_start(&c);
	load = client_function(&c, "tvm.rpc.server.load_module");
	CALL(&c, load, wire_string("../lib.so"));
	assert_exception(&c, "own folder");
	CALL(&c, load, wire_bytes(large, sizeof(large)));
	assert_exception(&c, "a file name of 5000 bytes");
	CALL(&c, load, wire_int(1));
	assert_exception(&c, "");
	client_request(&c, PACKET_CALL, load, NULL, 0);
	assert_exception(&c, "0 arguments");
	/* longer with what its linking adds */
	CALL(&c, load, wire_bytes(large, 4094));
	assert_exception(&c, "");
	memcpy(large + 4090, ".tar", 4);
	CALL(&c, load, wire_bytes(large, 4094));
	assert_exception(&c, "");
	CALL(&c, load, wire_string("absent.tar"));
	assert_exception(&c, "absent.tar");
	client_close(&c);
	/* without native code, by the name of a library alone */
	client_open(&c, WIRE_FFI);
	c.options.native_code = false;
	client_init(&c);
	load = client_function(&c, "tvm.rpc.server.load_module");
	CALL(&c, load, wire_string("folder/lib.dylib"));
	assert_exception(&c, "native code");
	CALL(&c, load, wire_string("lib.tar"));
	assert_exception(&c, "native code");
	CALL(&c, load, wire_string("graph.tenon"));
	assert_exception(&c, "graph.tenon");
	client_close(&c);
	assert_int_equal(c.result, 0);
}

/* what TVM 0.14 asks for: a module, a function, numbers, and a function that prepares */
#define ARGUMENTS 12

static void fill_arguments(struct wire_value args[ARGUMENTS], uint64_t module)
{
	static const int64_t numbers[] = { kDLCPU, 0, 1, 2, 0, 0, 0, 0, 0 };

	args[0] = wire_module(module);
	args[1] = wire_string("vecadd");
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		args[2 + i] = wire_int(numbers[i]);
	args[ARGUMENTS - 1] = wire_string("");
}

static void an_evaluator_of_a_module_checks_each_argument(void **state)
{
	struct wire_tensor t[3];
	struct wire_value args[ARGUMENTS], tensors[3];
	uint64_t make, module, evaluate;
	struct client c;

	(void)state;
	client_start(&c);
	make = client_function(&c, "runtime.RPCTimeEvaluator");
	module = load_library(&c, "a.so");
	for (uint32_t i = 0; i < ARGUMENTS; i++) {
		fill_arguments(args, module);
		args[i] = i == 1 || i == ARGUMENTS - 1 ? wire_int(1) : wire_string("x");
		client_request(&c, PACKET_CALL, make, args, ARGUMENTS);
		assert_exception(&c, "");
	}
	fill_arguments(args, module);
	args[1] = wire_string("other");
	client_request(&c, PACKET_CALL, make, args, ARGUMENTS);
	assert_exception(&c, "the module has no function \"other\"");
	for (uint32_t n = 0; n <= ARGUMENTS; n++) {
		fill_arguments(args, module);
		client_request(&c, PACKET_CALL, make, args, n);
	}
	assert_int_equal(c.code, PACKET_RETURN);
	evaluate = c.values.values[1].as.handle;
	/* a call that fails, and one that does not */
	CALL(&c, evaluate, wire_int(1));
	assert_int_equal(c.code, PACKET_EXCEPTION);
	for (int i = 0; i < 3; i++) {
		t[i] = (struct wire_tensor){ .data = client_alloc(&c, 512),
					     .device = { kDLCPU, 0 },
					     .dtype = { kDLFloat, 32, 1 },
					     .ndim = 1,
					     .shape = { 128 } };
		tensors[i] = wire_tensor_value(&t[i]);
	}
	client_request(&c, PACKET_CALL, evaluate, tensors, 3);
	assert_int_equal(client_text(&c).size, 2 * sizeof(double));
	client_close(&c);
	assert_int_equal(c.result, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_module_has_functions_and_imports),
		cmocka_unit_test(the_library_of_the_program_may_have_no_modules),
		cmocka_unit_test(a_path_of_a_module_is_one_of_the_session),
		cmocka_unit_test(an_evaluator_of_a_module_checks_each_argument),
	};

	return cmocka_run_group_tests(tests, client_echo, NULL);
}
