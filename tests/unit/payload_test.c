/* SPDX-License-Identifier: MIT */
/* Payloads of devices: fields, tables of kernels, and forms of all generations. */
#include "tests/unit/payload.h"

#include <tenon/backend/buffer.h>
#include <tenon/visit.h>

#include "runtime/payload/payload_file.h"
#include "runtime/payload/payload_visit.h"

static const char *const two_kernels[] = { "left", "right" };

static void put_spirv(struct tenon_buffer *b, const char *name, uint32_t flag, bool sized)
{
	put_string(b, name);
	if (sized)
		tenon_buffer_u64(b, 4 + 8 + 12);
	tenon_buffer_u32(b, flag);
	tenon_buffer_u64(b, 3);
	tenon_buffer_u32(b, 0x07230203);
	tenon_buffer_u32(b, 0x00010000);
	tenon_buffer_u32(b, 77);
}

/* a text for each of the two kernels */
static void put_texts(struct tenon_buffer *b, const char *left, const char *right)
{
	tenon_buffer_u64(b, 2);
	put_string(b, "left");
	put_string(b, left);
	put_string(b, "right");
	put_string(b, right);
}

static void most_device_kinds_have_three_fields(void **state)
{
	static const char *const kinds[] = { "opencl",	"cuda", "hip",	"hsaco",
					     "hexagon", "hex",	"aocl", "sdaccel" };
	size_t i;

	(void)state;
	EACH_GENERATION(g)
	{
		for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
			struct tenon_buffer b = TENON_BUFFER_INIT;
			struct tenon_payload_info facts;

			put_string(&b, "cubin");
			put_kernels(&b, two_kernels, 2, *g == FFI);
			put_string(&b, "\x7f"
				       "ELF code");
			facts = facts_of(kinds[i], *g, &b);
			assert_slice(facts.format, "cubin");
			assert_slice(facts.code, "\x7f"
						 "ELF code");
			assert_int_equal(facts.function_count, 2);
			assert_functions(&facts, "left right");
			assert_source(&facts, NULL);
			tenon_buffer_fini(&b);
		}
	}
}

static void look_at_signature(const struct tenon_payload_function *f)
{
	struct tenon_cursor tags = tenon_cursor_of(f->tags.data, f->tags.size, "tags", 0);
	struct tenon_slice tag;

	assert_int_equal(f->arg_types.size, 12);
	assert_memory_equal(f->arg_types.data, "\x03\x40\x01\0\x03\x40\x01\0\0\x20\x01\0", 12);
	assert_int_equal(f->tag_count, 2);
	assert_int_equal(tenon_cursor_string(&tags, &tag), 0);
	assert_slice(tag, "blockIdx.x");
	assert_int_equal(tenon_cursor_string(&tags, &tag), 0);
	assert_slice(tag, "threadIdx.x");
	assert_int_equal(tenon_cursor_left(&tags), 0);
}

static void argument_types_and_launch_tags_are_found(void **state)
{
	(void)state;
	EACH_GENERATION(g)
	{
		struct tenon_buffer b = TENON_BUFFER_INIT;
		struct tenon_payload_info facts;

		put_device(&b, "cl", "k", "// Function: k\n", *g == FFI);
		facts = facts_of("opencl", *g, &b);
		assert_int_equal(facts.function_count, 1);
		look_at_signature(&facts.functions[0]);
		assert_source(&facts, "// Function: k\n");
		tenon_buffer_fini(&b);
	}
}

static void opencl_with_spirv_has_two_fields(void **state)
{
	(void)state;
	EACH_GENERATION(g)
	{
		struct tenon_buffer b = TENON_BUFFER_INIT;
		struct tenon_payload_info facts;

		put_kernels(&b, two_kernels, 2, *g == FFI);
		tenon_buffer_u64(&b, 2);
		put_spirv(&b, "left", 0, *g == FFI);
		put_spirv(&b, "right", 1, *g == FFI);
		facts = facts_of("opencl", *g, &b);
		assert_slice(facts.format, "spirv");
		assert_functions(&facts, "left right");
		assert_int_equal(facts.part_count, 2);
		assert_slice(facts.parts[1].name, "right");
		assert_int_equal(facts.parts[1].flags, 1);
		assert_int_equal(facts.parts[1].code.size, 12);
		tenon_buffer_fini(&b);
	}
}

static void vulkan_programs_have_a_length_since_0_24(void **state)
{
	int form;

	(void)state;
	for (form = 0; form < 3; form++) {
		enum tenon_generation g = form == 0 ? LEGACY : FFI;
		struct tenon_buffer b = TENON_BUFFER_INIT;
		struct tenon_payload_info facts;

		put_string(&b, "vulkan");
		put_kernels(&b, two_kernels, 2, g == FFI);
		tenon_buffer_u64(&b, 2);
		put_spirv(&b, "left", 0, form == 2);
		put_spirv(&b, "right", 1, form == 2);
		facts = facts_of("vulkan", g, &b);
		assert_slice(facts.format, "vulkan");
		assert_functions(&facts, "left right");
		tenon_buffer_fini(&b);
	}
}

static void a_vulkan_program_without_its_magic_number_is_refused(void **state)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct tenon_cursor c;

	(void)state;
	put_string(&b, "vulkan");
	put_kernels(&b, two_kernels, 1, false);
	tenon_buffer_u64(&b, 1);
	put_spirv(&b, "left", 0, false);
	b.data[b.size - 12] ^= 1;
	c = tenon_cursor_of(b.data, b.size, "payload", 0x100);
	assert_int_equal(payload_measure(payload_format_of(tenon_slice_of("vulkan")), &c,
					 PAYLOAD_NO_EXTRA_TAGS),
			 -TENON_E_FORMAT);
	assert_error_has(": no SPIR-V program");
	tenon_buffer_fini(&b);
}

static void metal_changed_its_order_twice(void **state)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct tenon_payload_info facts;

	(void)state;
	/* up to 0.12, and from compilers without Metal: one text */
	put_string(&b, "metal");
	put_kernels(&b, two_kernels, 2, false);
	put_string(&b, "// Function: left\n…");
	facts = facts_of("metal", LEGACY, &b);
	assert_slice(facts.format, "metal");
	assert_functions(&facts, "left right");

	/* from 0.13 on: a version, sources by name, and the format last */
	b.size = 0;
	put_string(&b, "0.1.0");
	put_texts(&b, "first text\n", "second text");
	put_kernels(&b, two_kernels, 2, false);
	put_string(&b, "metal");
	facts = facts_of("metal", LEGACY, &b);
	assert_slice(facts.format, "metal");
	assert_functions(&facts, "left right");
	assert_source(&facts, "first text\nsecond text\n");

	/* from 0.24 on: format, table, sources */
	b.size = 0;
	put_string(&b, "metallib");
	put_kernels(&b, two_kernels, 2, true);
	put_texts(&b, "first text", "second text");
	facts = facts_of("metal", FFI, &b);
	assert_slice(facts.format, "metallib");
	assert_functions(&facts, "left right");
	tenon_buffer_fini(&b);
}

static void a_part_that_is_no_text_hides_the_source(void **state)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct tenon_payload_info facts;

	(void)state;
	put_string(&b, "metallib");
	put_kernels(&b, two_kernels, 2, true);
	put_texts(&b, "first text", "\xff");
	facts = facts_of("metal", FFI, &b);
	assert_source(&facts, NULL);
	tenon_buffer_fini(&b);
}

static void webgpu_has_no_format_and_a_text_for_each_kernel(void **state)
{
	(void)state;
	EACH_GENERATION(g)
	{
		struct tenon_buffer b = TENON_BUFFER_INIT;
		struct tenon_payload_info facts;

		put_kernels(&b, two_kernels, 2, *g == FFI);
		put_texts(&b, "fn left() {}\n", "fn right() {}\n");
		facts = facts_of("webgpu", *g, &b);
		assert_int_equal(facts.format.size, 0);
		assert_functions(&facts, "left right");
		assert_source(&facts, "fn left() {}\nfn right() {}\n");
		tenon_buffer_fini(&b);
	}
}

static void an_error_is_that_of_the_form_that_got_furthest(void **state)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct tenon_cursor c;

	(void)state;
	put_device(&b, "cl", "k", "// code", false);
	b.size -= 3;
	c = tenon_cursor_of(b.data, b.size, "payload", 0x40);
	assert_int_equal(payload_measure(payload_format_of(tenon_slice_of("opencl")), &c,
					 PAYLOAD_NO_EXTRA_TAGS),
			 -TENON_E_TRUNCATED);
	assert_error_has("length 7, 4 bytes left");
	tenon_buffer_fini(&b);
}

struct listing {
	unsigned int next, last; /* numbers of the names "k0", "k1" and so on */
};

static int look_at_number(void *context, struct tenon_slice name)
{
	struct listing *l = context;
	char want[16];

	snprintf(want, sizeof(want), "k%u", l->next);
	assert_true(tenon_slice_equal(name, tenon_slice_of(want)));
	return l->next++ == l->last ? 7 : 0;
}

/* a number of functions without memory, and one more than that, which takes some */
static void names_are_listed_in_order_until_the_visitor_stops(void **state)
{
	static const unsigned int counts[] = { 1, 7, 8, 9, 16, 17, 40 };
	char text[40][8];
	const char *names[40];
	unsigned int i, n;

	(void)state;
	for (i = 0; i < 40; i++) {
		snprintf(text[i], sizeof(text[i]), "k%u", i);
		names[i] = text[i];
	}
	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		for (n = 0; n < 3; n++) {
			struct tenon_payload_info info = { .generation = TENON_GENERATION_FFI,
							   .extra_tags = true };
			struct listing l = { 0, n == 0 ? ~0u : n == 1 ? counts[i] - 1 : 0 };
			struct tenon_buffer b = TENON_BUFFER_INIT;
			struct tenon_cursor c;
			int result;

			put_string(&b, "cl");
			put_kernels(&b, names, counts[i], true);
			put_string(&b, "// code");
			c = tenon_cursor_of(b.data, b.size, "payload", 0);
			assert_int_equal(payload_names(payload_format_of(tenon_slice_of("opencl")),
						       &c, &info, look_at_number, &l, &result),
					 0);
			assert_int_equal(result, n ? 7 : 0);
			assert_int_equal(l.next, n < 2 ? counts[i] : 1);
			tenon_buffer_fini(&b);
		}
}

struct visit {
	size_t stops_at, fields;
	int64_t nodes;
};

static int look_at_field(void *context, const char *name, const struct tenon_value *value)
{
	struct visit *v = context;

	if (name && !strcmp(name, "nodes"))
		assert_int_equal(tenon_value_int(value, &v->nodes), 0);
	return ++v->fields == v->stops_at ? 7 : 0;
}

/* elements of the list "nodes" of the outermost object are counted without reading the rest */
static void nodes_of_a_graph_are_counted_in_any_text(void **state)
{
	static const struct {
		const char *text;
		int64_t nodes;
	} cases[] = {
		{ "", 0 },
		{ "{\"nodes\": []}", 0 },
		{ "{\"nodes\": [{}, {\"a\": [{}]}, 3, [{}]], \"x\": {}}", 2 },
		{ "{\"attrs\": {\"nodes\": [{}]}, \"nodes\": [{}, {}, {}]}", 3 },
		{ "{\"a\\\"b\": \"{\", \"nodes\": [{}]}", 1 },
		{ "{\"nodes", 0 },
		{ "{\"", 0 },
		{ "{\"nodes\\", 0 },
		{ "}]}{\"nodes\": [{}", 1 },
		{ "[{\"nodes\": [{}]}]", 0 },
		{ "{\"nodes\": {\"a\": {}}}", 1 },
	};
	struct tenon_payload_info info = { .generation = TENON_GENERATION_FFI };
	struct visit v;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		v = (struct visit){ 0, 0, 0 };
		info.text = tenon_slice_of(cases[i].text);
		assert_int_equal(
			payload_visit_info(&info,
					   &(struct tenon_visitor){ sizeof(struct tenon_visitor),
								    look_at_field, NULL, &v }),
			0);
		assert_int_equal(v.nodes, cases[i].nodes);
	}
}

/* each field of a payload's module, in turn */
static void a_visitor_that_stops_is_obeyed_at_each_field(void **state)
{
	static const float value = 1;
	struct tenon_buffer b[2] = { TENON_BUFFER_INIT, TENON_BUFFER_INIT }, blob;
	const struct blob_source src = { .file = "x.so", .generation = FFI, .inspect = true };
	struct visit v = { 0, 0, 0 };
	const struct tenon_visitor visitor = { sizeof(visitor), look_at_field, NULL, &v };
	struct tenon_module *root, *m;
	size_t i, all;

	(void)state;
	put_device(&b[0], "hsaco", "k", "code", true);
	put_string(&b[1], "{\"nodes\": [{}]}");
	tenon_buffer_u64(&b[1], 1);
	tenon_buffer_u64(&b[1], 1);
	put_string(&b[1], "p0");
	put_tensor(&b[1], &value, 1);
	put_string(&b[1], "default");
	const struct part parts[] = { { "_lib", { NULL, 0 } },
				      { "hip", slice_of(&b[0]) },
				      { "GraphExecutorFactory", slice_of(&b[1]) } };

	blob = blob_of(FFI, parts, 3, ROWS(0, 2, 2, 2), ROWS(1, 2));
	assert_int_equal(import_tree_read(slice_of(&blob), &src, NULL, &root), 0);
	for (i = 0; i < 2; i++) {
		m = root->imports[i];
		v = (struct visit){ 0, 0, 0 };
		assert_int_equal(tenon_object_visit(&m->object, &visitor), 0);
		all = v.fields;
		assert_true(all > 5);
		for (v.stops_at = 1; v.stops_at <= all; v.stops_at++) {
			v.fields = 0;
			assert_int_equal(tenon_object_visit(&m->object, &visitor), 7);
			assert_int_equal(v.fields, v.stops_at);
		}
		tenon_buffer_fini(&b[i]);
	}
	tenon_object_unref(root);
	tenon_buffer_fini(&blob);
}

/* the only import of a blob that comes from no file */
static struct tenon_module *only_import(const char *kind, const struct tenon_buffer *payload,
					struct tenon_buffer *blob, struct tenon_module **root)
{
	const struct blob_source src = { .file = "", .generation = FFI };
	const struct part parts[] = { { "_lib", { NULL, 0 } }, { kind, slice_of(payload) } };

	*blob = blob_of(FFI, parts, 2, ROWS(0, 1, 1), ROWS(1));
	assert_int_equal(import_tree_read(slice_of(blob), &src, NULL, root), 0);
	return (*root)->imports[0];
}

static void assert_begins(const char *text)
{
	assert_ptr_equal(strstr(tenon_error_message(), text), tenon_error_message());
}

static void a_function_without_a_backend_says_what_is_missing(void **state)
{
	struct tenon_buffer b = TENON_BUFFER_INIT, blob;
	struct tenon_value ret = tenon_arg_none();
	struct tenon_module *root, *m;
	struct tenon_function *f;

	(void)state;
	put_device(&b, "hsaco", "k", "code", true);
	m = only_import("hip", &b, &blob, &root);
	assert_int_equal(tenon_module_find_function(m, tenon_slice_of("absent"), false, &f), 0);
	assert_null(f);
	assert_int_equal(tenon_module_get_function(m, "k", &f), 0);
	assert_int_equal(tenon_function_call(f, NULL, 0, &ret), -TENON_E_NO_LOADER);
	assert_begins("import 1 of 2 (kind \"hip\", ");
	tenon_object_unref(f);
	tenon_object_unref(root);
	tenon_buffer_fini(&blob);

	b.size -= 3;
	m = only_import("hip", &b, &blob, &root);
	assert_true(tenon_module_get_function(m, "k", &f) < 0);
	assert_begins("import 1 of 2 (kind \"hip\")");
	tenon_object_unref(root);
	tenon_buffer_fini(&blob);
	tenon_buffer_fini(&b);
}

#ifdef CONFIG_DEVICES
static int take_no_suffix(void *context, const char *suffix)
{
	(void)context;
	return !*suffix;
}
#endif

/* of a plug-in that was built before formats had a remedy */
static void a_format_of_an_older_plug_in_is_read_and_listed(void **state)
{
	static const char *const kinds[] = { "older_plug_in", NULL };
	static const struct tenon_payload_format older = {
		.size = offsetof(struct tenon_payload_format, remedy),
		.kinds = kinds,
		.fields = "n",
		.remedy = "This is not read.",
	};
	struct tenon_buffer b = TENON_BUFFER_INIT, blob;
	struct tenon_module *root, *m;

	(void)state;
	assert_int_equal(tenon_payload_format_register(&older), 0);
	put_string(&b, "k");
	m = only_import("older_plug_in", &b, &blob, &root);
	assert_list_field(m, "functions", "k");
	assert_text_field(m, "remedy",
			  "Install a plug-in for it, or register a loader "
			  "(tenon/backend/module_kind.h).");
#ifdef CONFIG_DEVICES
	assert_false(payload_file_known(tenon_slice_of("older")));
	assert_int_equal(payload_file_each_suffix(true, take_no_suffix, NULL), 0);
#endif
	tenon_object_unref(root);
	tenon_buffer_fini(&blob);
	tenon_buffer_fini(&b);
}

static void a_source_is_given_in_its_own_format_alone(void **state)
{
	static const char *const any[] = { NULL, "", "metal" };
	struct tenon_buffer b = TENON_BUFFER_INIT, blob;
	struct tenon_value source = tenon_arg_none();
	struct tenon_module *root, *m;
	size_t i;

	(void)state;
	put_string(&b, "metal");
	put_kernels(&b, two_kernels, 2, true);
	put_texts(&b, "first\n", "second\n");
	m = only_import("metal", &b, &blob, &root);
	for (i = 0; i < 3; i++) {
		assert_int_equal(m->ops->source(m, any[i], &source), 0);
		tenon_value_release(&source);
	}
	assert_int_equal(m->ops->source(m, "cl", &source), -TENON_E_UNSUPPORTED);
	assert_error_has("no source as \"cl\"; its own format is \"metal\"");
	tenon_object_unref(root);
	tenon_buffer_fini(&blob);

	b.size = 0;
	put_kernels(&b, two_kernels, 2, true);
	put_texts(&b, "first", "second");
	m = only_import("webgpu", &b, &blob, &root);
	assert_int_equal(m->ops->source(m, "wgsl", &source), -TENON_E_UNSUPPORTED);
	assert_error_has("its own format is \"\"");
	tenon_object_unref(root);
	tenon_buffer_fini(&blob);
	tenon_buffer_fini(&b);
}

static void sizes_are_written_for_people(void **state)
{
	char text[PAYLOAD_SIZE_TEXT];

	(void)state;
	assert_string_equal(payload_size_text(0, text), "0 bytes");
	assert_string_equal(payload_size_text(1, text), "1 byte");
	assert_string_equal(payload_size_text(1023, text), "1023 bytes");
	assert_string_equal(payload_size_text(1024, text), "1 KiB");
	assert_string_equal(payload_size_text(1536, text), "1.5 KiB");
	assert_string_equal(payload_size_text(48 * 1024, text), "48 KiB");
	assert_string_equal(payload_size_text(1258291, text), "1.1 MiB");
	assert_string_equal(payload_size_text(UINT64_C(3) << 30, text), "3 GiB");
	assert_string_equal(payload_size_text(UINT64_MAX, text), "15 EiB");
}
int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(most_device_kinds_have_three_fields),
		cmocka_unit_test(argument_types_and_launch_tags_are_found),
		cmocka_unit_test(opencl_with_spirv_has_two_fields),
		cmocka_unit_test(vulkan_programs_have_a_length_since_0_24),
		cmocka_unit_test(a_vulkan_program_without_its_magic_number_is_refused),
		cmocka_unit_test(metal_changed_its_order_twice),
		cmocka_unit_test(a_part_that_is_no_text_hides_the_source),
		cmocka_unit_test(webgpu_has_no_format_and_a_text_for_each_kernel),
		cmocka_unit_test(an_error_is_that_of_the_form_that_got_furthest),
		cmocka_unit_test(names_are_listed_in_order_until_the_visitor_stops),
		cmocka_unit_test(nodes_of_a_graph_are_counted_in_any_text),
		cmocka_unit_test(a_visitor_that_stops_is_obeyed_at_each_field),
		cmocka_unit_test(a_function_without_a_backend_says_what_is_missing),
		cmocka_unit_test(a_format_of_an_older_plug_in_is_read_and_listed),
		cmocka_unit_test(a_source_is_given_in_its_own_format_alone),
		cmocka_unit_test(sizes_are_written_for_people),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
