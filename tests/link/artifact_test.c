/* SPDX-License-Identifier: MIT */
/* Artifacts, their record in a file, and manifests. */
#include "tests/unit/suite.h"

#include <stdlib.h>
#include <tenon/backend/buffer.h>

#include "link/module/artifact_record.h"
#include "link/module/manifest.h"

static struct artifact *add(struct artifact_set *set, const char *loader, const char *key,
			    const char *file)
{
	struct artifact *a;

	assert_int_equal(
		artifact_add(set, &(struct artifact_names){ loader, loader, key, file, "opencl:0" },
			     &a),
		0);
	return a;
}

static void make_set(struct artifact_set *set)
{
	add(set, "opencl", "fpga1", "b.cl")->module = 3;
	add(set, ARTIFACT_NATIVE, ARTIFACT_HOST, "main.c");
	add(set, "opencl", "fpga0", "z.cl")->module = 2;
	add(set, "cuda", "cuda", "k.ptx")->module = 1;
	add(set, "opencl", "fpga0", "a.cl")->module = 4;
	add(set, "const_loader", "const_loader", "weights.payload")->module = 5;
}

static void assert_order(const struct artifact_set *set)
{
	static const char *const order[] = {
		"weights.payload", "main.c", "k.ptx", "a.cl", "z.cl", "b.cl"
	};
	size_t i;

	assert_int_equal(set->count, 6);
	for (i = 0; i < 6; i++)
		assert_string_equal(set->items[i].file_name, order[i]);
}

static void a_set_is_loaded_group_by_group(void **state)
{
	static const size_t ends[] = { 1, 2, 3, 5, 6 };
	struct artifact_set set = { 0 };
	size_t i, at = 0;

	(void)state;
	make_set(&set);
	artifact_sort(&set);
	assert_order(&set);
	for (i = 0; i < 5; i++) {
		at = artifact_group(&set, at);
		assert_int_equal(at, ends[i]);
	}
	assert_int_equal(artifact_find(&set, "z.cl"), 4);
	assert_int_equal(artifact_find(&set, "y.cl"), SIZE_MAX);
	artifact_set_fini(&set);
}

static void a_file_name_is_unique_in_a_set(void **state)
{
	struct artifact_set set = { 0 };
	struct artifact *a;

	(void)state;
	add(&set, "opencl", "opencl", "a.cl");
	assert_int_equal(
		artifact_add(&set,
			     &(struct artifact_names){ .loader = "cuda", .file_name = "a.cl" }, &a),
		-TENON_E_EXISTS);
	assert_error_has("two files are called a.cl");
	assert_int_equal(set.count, 1);
	artifact_set_fini(&set);
}

static void a_record_is_read_as_it_was_written(void **state)
{
	struct tenon_buffer first = TENON_BUFFER_INIT, second = TENON_BUFFER_INIT;
	struct artifact_set set = { 0 }, back = { 0 };

	(void)state;
	make_set(&set);
	artifact_sort(&set);
	assert_int_equal(artifact_record_write(&set, &first), 0);
	/* bytes behind the record belong to others */
	tenon_buffer_u64(&first, 4711);
	assert_int_equal(
		artifact_record_read((struct tenon_slice){ first.data, first.size }, "x.so", &back),
		0);
	assert_order(&back);
	assert_string_equal(back.items[5].target_key, "fpga1");
	assert_string_equal(back.items[5].device, "opencl:0");
	assert_int_equal(back.items[5].module, 3);
	assert_int_equal(artifact_record_write(&back, &second), 0);
	assert_int_equal(second.size, first.size - 8);
	assert_memory_equal(first.data, second.data, second.size);
	tenon_buffer_fini(&first);
	tenon_buffer_fini(&second);
	artifact_set_fini(&set);
	artifact_set_fini(&back);
}

static void a_record_cut_or_changed_anywhere_is_no_crash(void **state)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct artifact_set set = { 0 };
	size_t i;
	char *copy;
	int err;

	(void)state;
	make_set(&set);
	assert_int_equal(artifact_record_write(&set, &b), 0);
	artifact_set_fini(&set);
	for (i = 0; i < b.size; i++) {
		/* a copy of just this size, so that a sanitizer sees a read behind it */
		copy = malloc(i + 1);
		memcpy(copy, b.data, i);
		err = artifact_record_read((struct tenon_slice){ copy, i }, "x.so", &set);
		assert_true(err == -TENON_E_TRUNCATED);
		artifact_set_fini(&set);
		free(copy);
		b.data[i] ^= 0x55;
		artifact_record_read((struct tenon_slice){ b.data, b.size }, "x.so", &set);
		artifact_set_fini(&set);
		b.data[i] ^= 0x55;
	}
	tenon_error_clear();
	tenon_buffer_fini(&b);
}

#define HEAD "{\"tenon_manifest\": 1, \"abi\": \"legacy\", \"host\": {\"file\": \"host.so\"}, "

static int read_text(const char *text)
{
	struct manifest m = { 0 };
	int err = manifest_read(tenon_slice_of(text), "manifest.json", &m);

	manifest_fini(&m);
	return err;
}

static void a_manifest_is_read(void **state)
{
	static const char text[] =
		"{\"modules\": [{\"loader\": \"opencl\", \"file\": \"a\\u0062.cl\", \"imports\": "
		"[1]},\n"
		" {\"loader\": \"native\"}], \"later\": [{}], \"abi\": \"modern\",\n"
		" \"kernel_tables\": \"tagged\", \"host\": {\"artifacts\": [{\"file_name\": "
		"\"x.c\"}],\n"
		" \"file\": \"host.so\"}, \"tenon_manifest\": 1}";
	struct manifest m = { 0 };

	(void)state;
	assert_int_equal(manifest_read(tenon_slice_of(text), "manifest.json", &m), 0);
	assert_int_equal(m.generation, TENON_GENERATION_FFI);
	assert_int_equal(m.dialect, PAYLOAD_EXTRA_TAGS);
	assert_string_equal(m.host, "host.so");
	assert_int_equal(m.host_count, 1);
	assert_string_equal(m.host_artifacts[0].file_name, "x.c");
	assert_int_equal(m.tree.count, 2);
	assert_string_equal(m.names[0].file, "ab.cl");
	assert_string_equal(m.names[0].table, "");
	assert_int_equal(m.tree.modules[0].import_count, 1);
	assert_true(m.tree.modules[1].library);
	manifest_fini(&m);
}

static void a_manifest_that_is_wrong_is_refused(void **state)
{
	static const struct {
		const char *text;
		int status;
		const char *says;
	} cases[] = {
		{ "", -TENON_E_FORMAT, "" },
		{ "[]", -TENON_E_FORMAT, "" },
		{ "{\"tenon_manifest\": 1, ", -TENON_E_TRUNCATED, "" },
		{ "{}", -TENON_E_FORMAT, "it has no \"tenon_manifest\"" },
		{ "{\"tenon_manifest\": 2}", -TENON_E_UNSUPPORTED, "want \"tenon_manifest\": 1" },
		{ "{\"tenon_manifest\": 1, \"abi\": \"new\"}", -TENON_E_VALUE,
		  "want \"legacy\" or \"modern\"" },
		{ "{\"tenon_manifest\": 1, \"abi\": \"modern\"}", -TENON_E_FORMAT,
		  "there is no \"host\"" },
		{ HEAD "\"modules\": []}", -TENON_E_VALUE, "there are no modules" },
		{ HEAD "\"modules\": [{}]}", -TENON_E_FORMAT, "has no loader" },
		{ HEAD "\"modules\": [{\"loader\": \"cuda\"}]}", -TENON_E_FORMAT, "has no file" },
		{ HEAD "\"modules\": [{\"loader\": \"cuda\", \"file\": \"../a.ptx\"}]}",
		  -TENON_E_VALUE, "not the name of a file in the folder" },
		{ HEAD "\"modules\": [{\"loader\": \"cuda\", \"file\": \"/etc/passwd\"}]}",
		  -TENON_E_VALUE, "not the name of a file in the folder" },
		{ HEAD "\"modules\": [{\"loader\": \"cuda\", \"file\": \"a\", \"table\": \"..\"}]}",
		  -TENON_E_VALUE, "not the name of a file in the folder" },
		{ HEAD "\"modules\": [{\"loader\": \"native\", \"imports\": [0]}]}", -TENON_E_VALUE,
		  "the number of a module" },
		{ HEAD "\"modules\": [{\"loader\": \"native\", \"imports\": [1]}]}", -TENON_E_VALUE,
		  "the number of a module" },
		{ HEAD "\"modules\": [{\"loader\": \"native\"}, {\"loader\": \"native\"}]}",
		  -TENON_E_VALUE, "a second one that is native" },
		{ HEAD "\"modules\": [{\"loader\": \"native\"}], \"modules\": []}", -TENON_E_FORMAT,
		  "given before" },
		{ HEAD "\"modules\": [{\"loader\": \"a\\u0000b\"}]}", -TENON_E_FORMAT,
		  "zero byte" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (read_text(cases[i].text) != cases[i].status) {
			print_error("case %zu: status %d: %s\n", i, tenon_error_status(),
				    tenon_error_message());
			fail();
		}
		assert_error_has(cases[i].says);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_set_is_loaded_group_by_group),
		cmocka_unit_test(a_file_name_is_unique_in_a_set),
		cmocka_unit_test(a_record_is_read_as_it_was_written),
		cmocka_unit_test(a_record_cut_or_changed_anywhere_is_no_crash),
		cmocka_unit_test(a_manifest_is_read),
		cmocka_unit_test(a_manifest_that_is_wrong_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
