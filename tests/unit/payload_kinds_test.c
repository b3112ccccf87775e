/* SPDX-License-Identifier: MIT */
/* Payloads of kinds that are no device's: JSON runtimes, executors, metadata. */
#include "tests/unit/payload.h"

#include <tenon/backend/buffer.h>

static void json_runtimes_have_symbol_graph_and_constants(void **state)
{
	static const char *const kinds[] = { "dnnl_json",   "tensorrt",	    "arm_compute_lib",
					     "bnns_json",   "clml",	    "cublas_json",
					     "cudnn_json",  "hipblas_json", "nnapi",
					     "msc_tensorrt" };
	size_t i;

	(void)state;
	EACH_GENERATION(g)
	{
		for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
			struct tenon_buffer b = TENON_BUFFER_INIT;
			struct tenon_payload_info facts;

			put_string(&b, "graph_0");
			put_string(&b, "{\"nodes\": []}");
			tenon_buffer_u64(&b, 2);
			put_string(&b, "graph_0_const_0");
			put_string(&b, "graph_0_const_1");
			facts = facts_of(kinds[i], *g, &b);
			assert_slice(facts.name, "graph_0");
			assert_functions(&facts, "graph_0");
			assert_source(&facts, "{\"nodes\": []}");
			tenon_buffer_fini(&b);
		}
	}
}

static void constants_are_counted(void **state)
{
	static const float values[3] = { 1, 2, 3 };
	static const char *const kinds[] = { "const_loader", "metadata" };
	size_t i;

	(void)state;
	EACH_GENERATION(g)
	{
		for (i = 0; i < 2; i++) {
			struct tenon_buffer b = TENON_BUFFER_INIT;
			struct tenon_payload_info facts;

			tenon_buffer_u64(&b, 1);
			put_string(&b, "p0");
			tenon_buffer_u64(&b, 1);
			put_tensor(&b, values, 3);
			tenon_buffer_u64(&b, 2);
			put_string(&b, "f");
			put_string(&b, "g");
			tenon_buffer_u64(&b, 2);
			tenon_buffer_u64(&b, 1);
			put_string(&b, "p0");
			tenon_buffer_u64(&b, 0);
			facts = facts_of(kinds[i], *g, &b);
			assert_int_equal(facts.tensor_count, 1);
			assert_int_equal(facts.tensor_bytes, 12);
			assert_functions(&facts, "f g");
			tenon_buffer_fini(&b);
		}
	}
}

static void executors_have_parameters(void **state)
{
	static const float values[2] = { 1, 2 };
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct tenon_payload_info facts;
	size_t start;

	(void)state;
	put_string(&b, "{\"nodes\": [{}, {}]}");
	start = b.size;
	tenon_buffer_u64(&b, 2);
	tenon_buffer_u64(&b, 2);
	put_string(&b, "p0");
	put_string(&b, "p1");
	put_tensor(&b, values, 2);
	put_tensor(&b, values, 1);
	put_string(&b, "default");
	facts = facts_of("GraphExecutorFactory", LEGACY, &b);
	assert_functions(&facts, "default");
	assert_int_equal(facts.tensor_count, 2);
	assert_int_equal(facts.tensor_bytes, 12);
	assert_slice(facts.name, "default");
	facts_of("GraphRuntimeFactory", LEGACY, &b);

	memmove(b.data, b.data + start, b.size - start);
	b.size -= start;
	facts = facts_of("AotExecutorFactory", LEGACY, &b);
	assert_functions(&facts, "default");
	assert_int_equal(facts.tensor_count, 2);

	/* as many names as tensors, or the file is damaged */
	b.data[8] = 1;
	const struct tenon_cursor c = tenon_cursor_of(b.data, b.size, "payload", 0);

	facts = (struct tenon_payload_info){ .generation = LEGACY };
	assert_int_equal(
		payload_read(payload_format_of(tenon_slice_of("AotExecutorFactory")), &c, &facts),
		-TENON_E_FORMAT);
	assert_error("payload at 0x0: 1 names for 2 parameters");
	tenon_buffer_fini(&b);
}

/* forms that no kind of TVM has */
static void a_program_s_own_format_may_be_odd(void **state)
{
	static const char *const kinds[] = { "an_open_group", "names_before_a_name", NULL };
	static const char *const open_kind[] = { "an_open_group", NULL };
	static const struct tenon_payload_format named = { .size = sizeof(named),
							   .kinds = kinds,
							   .fields = "kn" };
	static const char *const one_kind[] = { "names_before_a_name", NULL };
	static const struct tenon_payload_format alone = { .size = sizeof(alone),
							   .kinds = one_kind,
							   .fields = "kn" };
	static const struct tenon_payload_format open = { .size = sizeof(open),
							  .kinds = open_kind,
							  .fields = "*(yi" };
	static const struct tenon_payload_format bad[] = {
		{ .size = sizeof(open), .kinds = kinds },
		{ .size = sizeof(open), .kinds = kinds + 2, .fields = "y" },
		{ .size = sizeof(open), .fields = "y" },
		{ .size = 8, .kinds = kinds, .fields = "y" },
	};
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct tenon_payload_info facts;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(tenon_payload_format_register(&bad[i]), -TENON_E_USAGE);
		assert_error_has("want kinds and fields");
	}
	assert_int_equal(tenon_payload_format_register(&open), 0);
	/* one of its two kinds has another format */
	assert_int_equal(tenon_payload_format_register(&named), -TENON_E_EXISTS);
	tenon_buffer_u64(&b, 1);
	put_string(&b, "ignored");
	tenon_buffer_u32(&b, 7);
	facts = facts_of("an_open_group", FFI, &b);
	assert_functions(&facts, "");
	b.size = 0;
	assert_int_equal(tenon_payload_format_register(&alone), 0);
	tenon_buffer_u64(&b, 1);
	put_string(&b, "f");
	put_string(&b, "not a function");
	facts = facts_of("names_before_a_name", FFI, &b);
	assert_functions(&facts, "f");
	assert_slice(facts.name, "not a function");
	tenon_buffer_fini(&b);
}

static void a_metadata_module_has_no_bytes(void **state)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;

	(void)state;
	EACH_GENERATION(g)
	{
		struct tenon_payload_info facts = facts_of("metadata_module", *g, &b);

		assert_functions(&facts, "");
	}
	tenon_buffer_fini(&b);
}

static void put_relax(struct tenon_buffer *b, const char *first)
{
	const struct {
		uint32_t kind;
		const char *name;
	} functions[] = { { 0, first }, { 1, "main" }, { 2, "compiled" } };
	size_t i;

	tenon_buffer_u64(b, UINT64_C(0xd225de2f4214151d));
	put_string(b, "0.14");
	tenon_buffer_u64(b, 3);
	for (i = 0; i < 3; i++) {
		tenon_buffer_u32(b, functions[i].kind);
		put_string(b, functions[i].name);
		tenon_buffer_u64(b, 0);
		tenon_buffer_u64(b, 0);
		tenon_buffer_u64(b, 1);
		tenon_buffer_u64(b, 2);
		tenon_buffer_u64(b, 2);
		put_string(b, "a_long_parameter");
		put_string(b, "y");
	}
	tenon_buffer_u64(b, 0);
}

static void a_relax_executable_lists_its_own_functions(void **state)
{
	struct tenon_buffer code = TENON_BUFFER_INIT, b = TENON_BUFFER_INIT;
	struct tenon_payload_info facts;
	char name[300] = "";

	(void)state;
	/* a function much longer than the least: the next ones are cut, too */
	memset(name, 'n', sizeof(name) - 1);
	put_relax(&code, name);
	facts = facts_of("relax.VMExecutable", FFI, &code);
	assert_functions(&facts, "main compiled");
	code.size = 0;
	put_relax(&code, "vm.builtin.copy");
	facts = facts_of("relax.VMExecutable", FFI, &code);
	assert_functions(&facts, "main compiled");
	tenon_buffer_string(&b, slice_of(&code));
	facts = facts_of("relax.Executable", LEGACY, &b);
	assert_functions(&facts, "main compiled");
	/* 0.21, and 0.22 by way of it: the bytes wrapped once more */
	facts = facts_of("relax.VMExecutable", LEGACY, &b);
	assert_functions(&facts, "main compiled");
	tenon_buffer_fini(&b);
	tenon_buffer_fini(&code);
}

static int stop_at_once(void *context, struct tenon_slice name)
{
	(void)context;
	(void)name;
	return 7;
}

static int add_name(void *names, struct tenon_slice name)
{
	return tenon_buffer_printf(names, " %.*s", (int)name.size, name.data);
}

static int called_by(const char *bytes, size_t size, struct tenon_buffer *names)
{
	names->size = 0;
	return payload_relax_each_called((struct tenon_slice){ bytes, size }, add_name, names);
}

static void a_relax_executable_lists_what_it_calls(void **state)
{
	struct tenon_buffer code = TENON_BUFFER_INIT, wrapped = TENON_BUFFER_INIT;
	struct tenon_buffer names = TENON_BUFFER_INIT;
	const struct tenon_buffer *forms[] = { &code, &wrapped };
	size_t i, size;

	(void)state;
	put_relax(&code, "vm.builtin.copy");
	tenon_buffer_string(&wrapped, slice_of(&code));
	for (i = 0; i < 2; i++) {
		assert_int_equal(called_by(forms[i]->data, forms[i]->size, &names), 0);
		assert_int_equal(names.size, strlen(" vm.builtin.copy"));
		assert_memory_equal(names.data, " vm.builtin.copy", names.size);
		/* the last number belongs to what is not read here */
		for (size = 0; size < forms[i]->size - 8; size++)
			assert_true(called_by(forms[i]->data, size, &names) < 0);
	}
	/* the visitor's result ends it; another magic number, and another version */
	assert_int_equal(payload_relax_each_called(slice_of(&code), stop_at_once, NULL), 7);
	code.data[8 + 8 + 3] = '5';
	assert_int_equal(called_by(code.data, code.size, &names), 0);
	assert_int_equal(names.size, 0);
	code.data[0] ^= 1;
	assert_true(called_by(code.data, code.size, &names) < 0);
	wrapped.data[8] ^= 1;
	assert_int_equal(called_by(wrapped.data, wrapped.size, &names), -TENON_E_FORMAT);
	assert_error_has("is not the magic number of an executable");
	tenon_buffer_fini(&names);
	tenon_buffer_fini(&code);
	tenon_buffer_fini(&wrapped);
}

static void a_relay_executable_is_measured_without_being_read(void **state)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct tenon_payload_info facts;

	(void)state;
	tenon_buffer_u64(&b, 8 + 13 + 5);
	tenon_buffer_u64(&b, UINT64_C(0xd225de2f4214151d));
	put_string(&b, "0.8.0");
	tenon_buffer_append(&b, "12345", 5);
	facts = facts_of("VMExecutable", LEGACY, &b);
	assert_functions(&facts, "");
	assert_int_equal(facts.code.size, 26);
	tenon_buffer_fini(&b);
}

static void vendor_kinds_are_measured(void **state)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct tenon_payload_info facts;
	uint32_t i;

	(void)state;
	put_string(&b, "symbol");
	put_string(&b, "bytes");
	facts = facts_of("coreml", LEGACY, &b);
	assert_functions(&facts, "symbol");
	facts = facts_of("torch", LEGACY, &b);
	assert_functions(&facts, "symbol");
	facts = facts_of("mrvl_sim", LEGACY, &b);
	assert_source(&facts, "bytes");

	put_string(&b, "binary");
	for (i = 0; i < 3; i++)
		tenon_buffer_u32(&b, i);
	facts = facts_of("mrvl_hw", LEGACY, &b);
	assert_slice(facts.code, "binary");

	b.size = 0;
	put_string(&b, "model");
	put_string(&b, "path");
	put_string(&b, "symbol");
	tenon_buffer_u64(&b, 1);
	put_string(&b, "constant");
	facts = facts_of("VitisAIRuntime", LEGACY, &b);
	assert_functions(&facts, "symbol");

	b.size = 0;
	tenon_buffer_u64(&b, 1);
	put_string(&b, "name");
	put_string(&b, "stream");
	tenon_buffer_u64(&b, 2);
	for (i = 0; i < 4; i++)
		tenon_buffer_u32(&b, i);
	tenon_buffer_u64(&b, 1);
	for (i = 0; i < 2; i++)
		tenon_buffer_u32(&b, i);
	facts_of("ethos-n", LEGACY, &b);
	tenon_buffer_fini(&b);
}

static void host_code_kinds_list_their_functions(void **state)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct tenon_payload_info facts;

	(void)state;
	put_string(&b, "int f(void);");
	put_string(&b, "c");
	tenon_buffer_u64(&b, 1);
	put_string(&b, "f");
	tenon_buffer_u64(&b, 0);
	facts = facts_of("c", FFI, &b);
	assert_slice(facts.format, "c");
	assert_functions(&facts, "f");
	assert_source(&facts, "int f(void);");

	b.size = 0;
	put_string(&b, "!<arch>\n");
	tenon_buffer_u64(&b, 2);
	put_string(&b, "f");
	put_string(&b, "g");
	facts = facts_of("static_library", FFI, &b);
	assert_functions(&facts, "f g");
	tenon_buffer_fini(&b);
}

static void tensors_must_have_the_size_of_their_shape(void **state)
{
	static const float values[3] = { 1, 2, 3 };
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct tenon_cursor c;
	const struct tenon_payload_format *format =
		payload_format_of(tenon_slice_of("const_loader"));

	(void)state;
	tenon_buffer_u64(&b, 1);
	put_string(&b, "p");
	tenon_buffer_u64(&b, 1);
	put_tensor(&b, values, 3);
	c = tenon_cursor_of(b.data, b.size, "payload", 0);
	b.data[25 + 32] = 4;
	assert_int_equal(payload_measure(format, &c, PAYLOAD_NO_EXTRA_TAGS), -TENON_E_FORMAT);
	assert_error("payload at 0x41: a tensor of 12 bytes, its shape wants 16");
	b.data[25 + 32] = 3;
	b.data[25] ^= 1;
	assert_int_equal(payload_measure(format, &c, PAYLOAD_NO_EXTRA_TAGS), -TENON_E_FORMAT);
	assert_error("payload at 0x19: 0xdd5e40f096b4a13e is not the magic number of a tensor, "
		     "0xdd5e40f096b4a13f");
	b.data[25] ^= 1;
	b.data[25 + 16] = 2;
	assert_int_equal(payload_measure(format, &c, PAYLOAD_NO_EXTRA_TAGS), -TENON_E_FORMAT);
	assert_error("payload at 0x19: a tensor of device type 2, want 1 (cpu)");
	b.data[25 + 16] = 1;
	/* 2^62 elements: the product must not wrap to something small */
	memcpy(b.data + 25 + 32, "\0\0\0\0\0\0\0\x40", 8);
	assert_int_equal(payload_measure(format, &c, PAYLOAD_NO_EXTRA_TAGS), -TENON_E_FORMAT);
	assert_error_has("extent 4611686018427387904 of dimension 0 of a tensor");
	tenon_buffer_fini(&b);
}

static void kinds_that_are_listed_alone_have_formats_without_slots(void **state)
{
	static const char *const kinds[] = { "hip",	 "metal",	  "webgpu", "tensorrt",
					     "mrvl_sim", "mrvl_hw",	  "torch",  "ethos-n",
					     "c",	 "static_library" };
	const struct tenon_payload_format *f;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		f = payload_format_of(tenon_slice_of(kinds[i]));
		assert_non_null(f);
		assert_int_equal(f->size, sizeof(*f));
		assert_null(PAYLOAD_SLOT(f, files));
		assert_null(PAYLOAD_SLOT(f, field));
		assert_null(PAYLOAD_SLOT(f, split));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_that_are_listed_alone_have_formats_without_slots),
		cmocka_unit_test(json_runtimes_have_symbol_graph_and_constants),
		cmocka_unit_test(constants_are_counted),
		cmocka_unit_test(executors_have_parameters),
		cmocka_unit_test(a_program_s_own_format_may_be_odd),
		cmocka_unit_test(a_metadata_module_has_no_bytes),
		cmocka_unit_test(a_relax_executable_lists_its_own_functions),
		cmocka_unit_test(a_relax_executable_lists_what_it_calls),
		cmocka_unit_test(a_relay_executable_is_measured_without_being_read),
		cmocka_unit_test(vendor_kinds_are_measured),
		cmocka_unit_test(host_code_kinds_list_their_functions),
		cmocka_unit_test(tensors_must_have_the_size_of_their_shape),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
