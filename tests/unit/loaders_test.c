/* SPDX-License-Identifier: MIT */
/* Loaders of kinds of modules: registered, called, and what becomes of failures. */
#include "tests/unit/blob.h"

#include <tenon/backend/buffer.h>

#include "runtime/kind/loaders.h"
#include "runtime/library/globals.h"

/* a kind of somebody else's: its payload is one string */
struct acme {
	struct tenon_module base;
	char text[32];
};

static const struct tenon_module_ops acme_ops = { 0 };
static int loads;

static int acme_load(struct tenon_cursor *c, const struct tenon_payload *payload,
		     struct tenon_module **out)
{
	struct tenon_slice text;
	struct acme *a;
	int err;

	*out = NULL;
	err = tenon_cursor_string(c, &text);
	if (err)
		return err;
	if (text.size > 31)
		return tenon_cursor_error(c, -TENON_E_FORMAT, "a text of %zu", text.size);
	a = calloc(1, sizeof(*a));
	tenon_module_init(&a->base, &acme_ops, tenon_slice_of("acme"), TENON_MODULE_RUNNABLE);
	memcpy(a->text, text.data, text.size);
	loads++;
	/* 0 while a legacy blob is still being measured */
	assert_true(payload->count == 0 || payload->index < payload->count);
	*out = &a->base;
	return 0;
}

static const struct tenon_module_loader acme_loader = { "acme", acme_load };

static int refuse_all(struct tenon_cursor *c, const struct tenon_payload *payload,
		      struct tenon_module **out)
{
	(void)payload;
	*out = NULL;
	return tenon_cursor_error(c, -TENON_E_FORMAT, "nothing pleases this loader");
}

static const struct tenon_module_loader hip_loader = { "hip", refuse_all };

static int register_acme(void **state)
{
	(void)state;
	return tenon_module_loader_register(&acme_loader) ||
	       tenon_module_loader_register(&hip_loader);
}

static struct tenon_buffer acme_blob(enum tenon_generation g, const char *text)
{
	struct tenon_buffer payload = TENON_BUFFER_INIT, b;

	put_string(&payload, text);
	const struct part parts[] = { { "_lib", { NULL, 0 } }, { "acme", slice_of(&payload) } };

	b = blob_of(g, parts, 2, ROWS(0, 1, 1), ROWS(1));
	tenon_buffer_fini(&payload);
	return b;
}

static void a_registered_loader_serves_both_generations(void **state)
{
	enum tenon_generation g;

	(void)state;
	assert_true(tenon_module_loader_known(tenon_slice_of("acme")));
	for (g = TENON_GENERATION_LEGACY; g <= TENON_GENERATION_FFI; g++) {
		struct tenon_buffer b = acme_blob(g, "hello");
		struct blob_source src = { .file = "x.so", .generation = g };
		struct tenon_module *m;

		loads = 0;
		assert_int_equal(import_tree_read(slice_of(&b), &src, NULL, &m), 0);
		assert_slice(m->imports[0]->kind, "acme");
		assert_string_equal(((struct acme *)m->imports[0])->text, "hello");
		assert_int_equal(loads, 1);
		tenon_object_unref(m);
		tenon_buffer_fini(&b);
	}
}

static void what_a_loader_made_of_a_tree_that_is_refused_is_given_back(void **state)
{
	struct tenon_buffer b = acme_blob(TENON_GENERATION_LEGACY, "hello");
	struct blob_source src = { .file = "x.so", .generation = TENON_GENERATION_LEGACY };
	struct tenon_module *m;

	(void)state;
	/* the child's number: found out after the module was made; the sanitizer looks for leaks */
	b.data[b.size - 8] = 9;
	assert_int_equal(import_tree_read(slice_of(&b), &src, NULL, &m), -TENON_E_FORMAT);
	assert_error_has("module 0 imports module 9, there are 2");
	tenon_buffer_fini(&b);
}

static void a_loader_that_fails_is_named_with_the_place(void **state)
{
	struct tenon_buffer payload = TENON_BUFFER_INIT, b;
	struct blob_source src = { .file = "x.so", .offset = 0x100 };
	struct tenon_module *m;

	(void)state;
	put_device(&payload, "hsaco", "kernel", "code", false);
	const struct part parts[] = { { "_lib", { NULL, 0 } }, { "hip", slice_of(&payload) } };

	src.generation = TENON_GENERATION_LEGACY;
	b = blob_of(src.generation, parts, 2, ROWS(0, 1, 1), ROWS(1));
	assert_int_equal(import_tree_read(slice_of(&b), &src, NULL, &m), -TENON_E_FORMAT);
	assert_error("import 1 of 2 (kind \"hip\", 120 bytes at 0x127): payload at 0x127: nothing "
		     "pleases this loader");
	/* to look at it needs no loader */
	src.inspect = true;
	assert_int_equal(import_tree_read(slice_of(&b), &src, NULL, &m), 0);
	assert_list_field(m->imports[0], "functions", "kernel");
	assert_text_field(m->imports[0], "loader", "ready");
	tenon_object_unref(m);
	tenon_buffer_fini(&b);
	tenon_buffer_fini(&payload);
}

static void bytes_that_a_loader_leaves_over_are_refused(void **state)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct tenon_module *m;

	(void)state;
	put_string(&b, "hello");
	tenon_buffer_u8(&b, 0);
	assert_int_equal(tenon_module_load_bytes("acme", slice_of(&b), &m), -TENON_E_FORMAT);
	assert_null(m);
	assert_error("payload at 0xd: 1 bytes left over");
	tenon_buffer_fini(&b);
}

static void a_kind_is_registered_once(void **state)
{
	(void)state;
	assert_int_equal(tenon_module_loader_register(&acme_loader), -TENON_E_EXISTS);
	assert_error("kind \"acme\" has a registered loader");
}

static int load_packed(void *self, const struct tenon_value *args, int32_t count,
		       struct tenon_value *ret)
{
	struct tenon_slice bytes;
	struct acme *a;

	(void)self;
	assert_int_equal(count, 1);
	assert_int_equal(tenon_value_text(&args[0], &bytes), 0);
	if (bytes.size && bytes.data[0] == '!')
		return tenon_error(-TENON_E_VALUE, "an exclamation");
	if (bytes.size && bytes.data[0] == '?') {
		*ret = tenon_arg_int(3);
		return 0;
	}
	a = calloc(1, sizeof(*a));
	tenon_module_init(&a->base, &acme_ops, tenon_slice_of("packed_kind"), 0);
	memcpy(a->text, bytes.data, bytes.size < 31 ? bytes.size : 31);
	*ret = tenon_arg_object(a);
	return 0;
}

static void a_packed_function_is_a_loader_too(void **state)
{
	const struct part parts[] = { { "_lib", { NULL, 0 } },
				      { "packed_kind", { "payload", 7 } },
				      { "packed_kind", { "another", 7 } } };
	struct blob_source src = { .file = "x.so", .generation = TENON_GENERATION_FFI };
	struct tenon_buffer b = blob_of(src.generation, parts, 3, ROWS(0, 2, 2, 2), ROWS(1, 2));
	struct tenon_module *m;

	(void)state;
	assert_false(tenon_module_loader_known(tenon_slice_of("packed_kind")));
	assert_int_equal(tenon_function_register_c("ffi.Module.load_from_bytes.packed_kind",
						   load_packed, true),
			 0);
	assert_true(tenon_module_loader_known(tenon_slice_of("packed_kind")));
	assert_int_equal(import_tree_read(slice_of(&b), &src, NULL, &m), 0);
	assert_string_equal(((struct acme *)m->imports[0])->text, "payload");
	assert_string_equal(((struct acme *)m->imports[1])->text, "another");
	tenon_object_unref(m);

	assert_int_equal(tenon_module_load_bytes("packed_kind", tenon_slice_of("abc"), &m), 0);
	assert_string_equal(((struct acme *)m)->text, "abc");
	tenon_object_unref(m);
	assert_int_equal(tenon_module_load_bytes("packed_kind", tenon_slice_of("!"), &m),
			 -TENON_E_VALUE);
	assert_error("an exclamation");
	assert_int_equal(tenon_module_load_bytes("packed_kind", tenon_slice_of("?"), &m),
			 -TENON_E_TYPE);
	tenon_error_clear();

	/* without lengths only a C loader can say where it ends */
	tenon_buffer_fini(&b);
	src.generation = TENON_GENERATION_LEGACY;
	b = blob_of(src.generation, parts, 3, ROWS(0, 2, 2, 2), ROWS(1, 2));
	assert_int_equal(import_tree_read(slice_of(&b), &src, NULL, &m), -TENON_E_NO_LOADER);
	assert_error_has("import 1 of 3 (kind \"packed_kind\" at 0x");
	tenon_buffer_fini(&b);
}

static void an_unknown_kind_names_those_that_are_known(void **state)
{
	struct tenon_buffer names = TENON_BUFFER_INIT;
	struct tenon_module *m;

	(void)state;
	assert_int_equal(tenon_module_load_bytes("no_such", tenon_slice_of(""), &m),
			 -TENON_E_NO_LOADER);
	assert_error_has("no loader for kind \"no_such\". Kinds this build loads: hip, acme, "
			 "const_loader, metadata, metadata_module");
	assert_int_equal(tenon_module_loader_names(&names), 0);
	/* each once, whatever else begins or ends like it */
	assert_non_null(strstr(names.data, "const_loader, metadata, metadata_module"));
	tenon_buffer_fini(&names);
}

static void built_in_loaders_have_global_names(void **state)
{
	struct tenon_value ret = tenon_arg_none(), arg;
	struct tenon_module *m;
	struct tenon_function *f;
	struct tenon_slice bytes;

	(void)state;
	assert_int_equal(loader_register_globals(), 0);
	assert_int_equal(loader_register_globals(), 0);
	assert_int_equal(tenon_function_find("ffi.Module.load_from_bytes.metadata_module", &f), 0);
	assert_non_null(f);
	bytes = tenon_slice_of("");
	arg = tenon_arg_bytes(&bytes);
	assert_int_equal(tenon_function_call(f, &arg, 1, &ret), 0);
	assert_int_equal(tenon_value_object(&ret, TENON_TYPE_MODULE, &m), 0);
	assert_slice(m->kind, "metadata_module");
	tenon_value_release(&ret);
	assert_int_equal(tenon_function_call(f, NULL, 0, &ret), -TENON_E_TYPE);
	assert_error("ffi.Module.load_from_bytes.metadata_module takes the bytes alone; 0 "
		     "arguments given");
	tenon_object_unref(f);
}

static int load_acme_file(void *self, const struct tenon_value *args, int32_t count,
			  struct tenon_value *ret)
{
	struct tenon_slice path, extension;
	struct acme *a;

	(void)self;
	assert_int_equal(count, 2);
	assert_int_equal(tenon_value_text(&args[0], &path), 0);
	assert_int_equal(tenon_value_text(&args[1], &extension), 0);
	assert_slice(extension, "acmefile");
	assert_slice(path, "some.acmefile");
	a = calloc(1, sizeof(*a));
	tenon_module_init(&a->base, &acme_ops, tenon_slice_of("acme"), 0);
	*ret = tenon_arg_object(a);
	return 0;
}

static void a_file_is_loaded_by_its_extension(void **state)
{
	struct tenon_module *m;

	(void)state;
	assert_int_equal(tenon_function_register_c("ffi.Module.load_from_file.acmefile",
						   load_acme_file, true),
			 0);
	assert_int_equal(tenon_module_load("some.acmefile", &m), 0);
	assert_slice(m->kind, "acme");
	tenon_object_unref(m);
}

static void a_file_without_a_loader_is_refused_with_what_can_be_done(void **state)
{
	static char tar[1024];
	static const struct {
		const char *name;
		struct tenon_slice bytes;
		const char *message;
	} cases[] = {
		{ "x.tar",
		  { tar, sizeof(tar) },
		  ": no loader for files named .tar (this one looks like a tar archive); it is a "
		  "Model "
		  "Library Format archive: tenon link -o model.so makes a module of it. This "
		  "build loads: .so" },
		{ "x.params",
		  { "\xb7\x9c\x04\x05\x4f\x8d\xe5\xf7", 8 },
		  ": no loader for files named .params (this one looks like TVM parameters "
		  "(.params))" },
		{ "x.bin",
		  { "\x7f"
		    "ELF\2\1\1",
		    7 },
		  ": no loader for files named .bin (this one looks like an ELF file); it is an "
		  "ELF "
		  "file: give it the extension .so" },
	};
	struct tenon_module *m;
	size_t i;

	(void)state;
	strcpy(tar, "./metadata.json");
	memcpy(tar + 257, "ustar", 5);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *path = scratch_file(cases[i].name);

		write_scratch(path, cases[i].bytes);
		assert_int_equal(tenon_module_load(path, &m), -TENON_E_NO_LOADER);
		assert_error_has(cases[i].message);
		unlink(path);
	}
	/* this program */
	assert_int_equal(symlink("/proc/self/exe", scratch_file("program.bin")), 0);
	assert_int_equal(tenon_module_load(scratch_file("program.bin"), &m), -TENON_E_NO_LOADER);
	assert_error_has("(this one looks like a program); a module is a shared object");
	unlink(scratch_file("program.bin"));
	assert_int_equal(tenon_module_load("/no/such.tar", &m), -TENON_E_IO);
	assert_error("/no/such.tar: No such file or directory");
	assert_int_equal(tenon_module_load("/no/such.so", &m), -TENON_E_IO);
	assert_error("/no/such.so: No such file or directory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_registered_loader_serves_both_generations),
		cmocka_unit_test(what_a_loader_made_of_a_tree_that_is_refused_is_given_back),
		cmocka_unit_test(a_loader_that_fails_is_named_with_the_place),
		cmocka_unit_test(bytes_that_a_loader_leaves_over_are_refused),
		cmocka_unit_test(a_kind_is_registered_once),
		cmocka_unit_test(a_packed_function_is_a_loader_too),
		cmocka_unit_test(an_unknown_kind_names_those_that_are_known),
		cmocka_unit_test(built_in_loaders_have_global_names),
		cmocka_unit_test(a_file_is_loaded_by_its_extension),
		cmocka_unit_test(a_file_without_a_loader_is_refused_with_what_can_be_done),
	};

	return cmocka_run_group_tests(tests, register_acme, NULL);
}
