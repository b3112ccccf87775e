/* SPDX-License-Identifier: MIT */
/* Payload formats that come with backends, with plug-ins, and with the program. */
#include "tests/unit/blob.h"

#include <sys/stat.h>
#include <tenon/backend/buffer.h>
#include <tenon/backend/module_kind.h>
#include <tenon/backend/payload_format.h>

static char folder[512];

static int make_folder(void **state)
{
	const char *tmp = getenv("TMPDIR"), *build = getenv("TENON_BUILD");
	char from[1024], to[600];

	(void)state;
	assert_non_null(build);
	snprintf(folder, sizeof(folder), "%s/formats-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(folder));
	snprintf(from, sizeof(from), "%s/tests/device/plugin_npu.so", build);
	snprintf(to, sizeof(to), "%s/npu.so", folder);
	assert_int_equal(symlink(from, to), 0);
	setenv("TENON_BACKEND_PATH", folder, 1);
	return 0;
}

static const char *path_of(const char *name)
{
	static char path[600];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static int remove_folder(void **state)
{
	(void)state;
	unlink(path_of("npu.so"));
	unlink(path_of("model.npu"));
	unlink(path_of("model.null"));
	return rmdir(folder);
}

/* two streams, with two regions and with one */
static struct tenon_buffer npu_payload(void)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	uint64_t i, regions;

	tenon_buffer_append(&b, "NPU1", 4);
	tenon_buffer_u64(&b, 2);
	for (regions = 2; regions; regions--) {
		put_string(&b, regions == 2 ? "conv" : "pool");
		put_string(&b, "commands");
		tenon_buffer_u64(&b, regions);
		for (i = 0; i < regions; i++) {
			tenon_buffer_u64(&b, i);
			tenon_buffer_u64(&b, 4096);
		}
	}
	return b;
}

static void check_npu(struct tenon_module *m)
{
	struct tenon_function *f;

	assert_slice(m->kind, "acme_npu");
	assert_list_field(m, "functions", "conv pool");
	assert_text_field(m, "format", "npu");
	assert_text_field(m, "loader", "ready");
	assert_int_equal(number_field(m, "regions"), 3);
	assert_int_equal(tenon_module_get_function(m, "pool", &f), 0);
	tenon_object_unref(f);
}

static void a_plug_in_brings_the_format_of_its_payloads(void **state)
{
	struct tenon_buffer b = npu_payload();
	struct tenon_module *m;
	size_t cut;

	(void)state;
	assert_int_equal(tenon_module_load_bytes("acme_npu", slice_of(&b), &m), 0);
	check_npu(m);
	tenon_object_unref(m);
	for (cut = 0; cut < b.size; cut++) {
		const struct tenon_slice bytes = { b.data, cut };

		assert_true(tenon_module_load_bytes("acme_npu", bytes, &m) < 0);
		tenon_error_clear();
	}
	tenon_buffer_fini(&b);
}

/* the end of a payload in an older blob is found by its format alone */
static void its_payloads_stand_in_blobs_of_both_generations(void **state)
{
	static const enum tenon_generation both[] = { TENON_GENERATION_LEGACY,
						      TENON_GENERATION_FFI };
	struct tenon_buffer payload = npu_payload(), blob;
	const struct part parts[] = { { "_lib", { NULL, 0 } },
				      { "acme_npu", slice_of(&payload) },
				      { "acme_npu", slice_of(&payload) } };
	struct blob_source src = { .file = "lib.so", .inspect = true };
	struct tenon_module *m;
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		blob = blob_of(both[i], parts, 3, ROWS(0, 2, 2, 2), ROWS(1, 2));
		src.generation = both[i];
		assert_int_equal(import_tree_read(slice_of(&blob), &src, NULL, &m), 0);
		check_npu(m->imports[0]);
		check_npu(m->imports[1]);
		tenon_object_unref(m);
		tenon_buffer_fini(&blob);
	}
	tenon_buffer_fini(&payload);
}

static void a_plug_in_brings_its_file_suffix(void **state)
{
	struct tenon_buffer b = npu_payload();
	struct tenon_module *m;

	(void)state;
	write_scratch(path_of("model.npu"), slice_of(&b));
	assert_int_equal(tenon_module_load(path_of("model.npu"), &m), 0);
	check_npu(m);
	tenon_object_unref(m);
	/* another program's file of that suffix */
	b.data[0] ^= 1;
	write_scratch(path_of("model.npu"), slice_of(&b));
	assert_int_equal(tenon_module_load(path_of("model.npu"), &m), -TENON_E_NO_LOADER);
	assert_error_has("model.npu");
	tenon_buffer_fini(&b);
}

static void a_plug_in_brings_loaders_of_other_module_kinds(void **state)
{
	const struct tenon_slice four = { "\1\2\3\4", 4 }, three = { "\1\2\3", 3 };
	struct tenon_buffer names = TENON_BUFFER_INIT;
	struct tenon_module *m;

	(void)state;
	assert_int_equal(tenon_module_load_bytes("acme_firmware", four, &m), 0);
	assert_slice(m->kind, "acme_firmware");
	tenon_object_unref(m);
	assert_int_equal(tenon_module_load_bytes("acme_firmware", three, &m), -TENON_E_TRUNCATED);
	assert_true(tenon_module_loader_known(tenon_slice_of("acme_firmware")));
	assert_int_equal(tenon_module_loader_names(&names), 0);
	assert_non_null(strstr(names.data, "acme_npu"));
	assert_non_null(strstr(names.data, "acme_firmware"));
	tenon_buffer_fini(&names);
	tenon_error_clear();
}

static int own_field(char letter, struct tenon_cursor *c, struct tenon_payload_info *info)
{
	struct tenon_payload_function f = { .name = { NULL, 0 } };
	int err;

	assert_int_equal(letter, 'Z');
	err = tenon_cursor_bytes(c, 5, &f.name);
	return err ? err : tenon_payload_add_function(info, &f);
}

static const char *const own_kinds[] = { "program_kind", NULL };

static void a_program_registers_a_format(void **state)
{
	static struct tenon_payload_format format = {
		.kinds = own_kinds,
		.fields = "fZ",
		.remedy = "Turn it off and on again.",
	};
	struct tenon_buffer payload = TENON_BUFFER_INIT, blob;
	struct blob_source src = { .file = "lib.so", .generation = TENON_GENERATION_LEGACY };
	struct tenon_module *m;

	(void)state;
	put_string(&payload, "own");
	tenon_buffer_append(&payload, "hello", 5);
	const struct part parts[] = { { "_lib", { NULL, 0 } },
				      { "program_kind", slice_of(&payload) } };

	assert_int_equal(tenon_payload_format_register(&format), -TENON_E_USAGE);
	/* of a time before there was @field: its own letters cannot be read */
	format.field = own_field;
	format.size = offsetof(struct tenon_payload_format, field);
	assert_int_equal(tenon_payload_format_register(&format), 0);
	assert_int_equal(tenon_payload_format_register(&format), -TENON_E_EXISTS);
	blob = blob_of(TENON_GENERATION_LEGACY, parts, 2, ROWS(0, 1, 1), ROWS(1));
	assert_int_equal(import_tree_read(slice_of(&blob), &src, NULL, &m), -TENON_E_UNSUPPORTED);
	assert_error_has("field Z");

	format.size = sizeof(format);
	assert_int_equal(import_tree_read(slice_of(&blob), &src, NULL, &m), 0);
	assert_list_field(m->imports[0], "functions", "hello");
	assert_text_field(m->imports[0], "loader", "missing");
	assert_text_field(m->imports[0], "remedy", "Turn it off and on again.");
	tenon_object_unref(m);
	tenon_buffer_fini(&payload);
	tenon_buffer_fini(&blob);
}

#ifdef CONFIG_DEVICE_NULL
static struct tenon_buffer null_payload(uint32_t number)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	static const char *const name[] = { "first" };

	put_string(&b, "null");
	put_kernels(&b, name, 1, true);
	tenon_buffer_u64(&b, 1);
	tenon_buffer_u32(&b, number);
	return b;
}

static void a_file_of_the_template_is_loaded_and_its_numbers_are_checked(void **state)
{
	struct tenon_buffer b = null_payload(0);
	struct tenon_function *f;
	struct tenon_module *m;

	(void)state;
	write_scratch(path_of("model.null"), slice_of(&b));
	assert_int_equal(tenon_module_load(path_of("model.null"), &m), 0);
	assert_list_field(m, "functions", "first");
	assert_int_equal(tenon_module_get_function(m, "first", &f), 0);
	tenon_object_unref(f);
	tenon_object_unref(m);
	tenon_buffer_fini(&b);

	b = null_payload(1000000);
	write_scratch(path_of("model.null"), slice_of(&b));
	assert_int_equal(tenon_module_load(path_of("model.null"), &m), -TENON_E_FORMAT);
	assert_error_has("kernel 0 is function 1000000; there are ");
	tenon_buffer_fini(&b);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plug_in_brings_the_format_of_its_payloads),
		cmocka_unit_test(its_payloads_stand_in_blobs_of_both_generations),
		cmocka_unit_test(a_plug_in_brings_its_file_suffix),
		cmocka_unit_test(a_plug_in_brings_loaders_of_other_module_kinds),
		cmocka_unit_test(a_program_registers_a_format),
#ifdef CONFIG_DEVICE_NULL
		cmocka_unit_test(a_file_of_the_template_is_loaded_and_its_numbers_are_checked),
#endif
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
