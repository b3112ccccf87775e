/* SPDX-License-Identifier: MIT */
/*
 * Blobs and payloads, read, listed, written and made into programs: each is done once for each allocation in it, with that one
 * failing. It ends with -TENON_E_NOMEM, or with what it gives undisturbed, and nothing is lost.
 */
#include "tests/unit/payload.h"

#include <tenon/backend/buffer.h>
#include <tenon/backend/executable.h>
#include <tenon/prepare.h>
#include <tenon/visit.h>

#include "runtime/payload/payload_file.h"
#include "runtime/payload/payload_kernel.h"
#include "runtime/payload/payload_program.h"
#include "tests/nomem/failing_malloc.h"

/* what a deed works on; facts are what came out */
static struct tenon_buffer bytes;
static struct tenon_module *module;
static uint64_t facts;

typedef int (*deed)(void);

static void add(struct tenon_slice data)
{
	for (size_t i = 0; i < data.size; i++)
		facts = (facts ^ (unsigned char)data.data[i]) * UINT64_C(1099511628211);
}

static int once(deed act, long fails_at, long *requests)
{
	int err;

	facts = UINT64_C(14695981039346656037);
	tenon_error_clear();
	failing_malloc_start(fails_at);
	err = act();
	*requests = failing_malloc_stop();
	return err;
}

static bool says_so(int err)
{
	return err == -TENON_E_NOMEM && (message_has("memory") || message_has("thread"));
}

static void assert_survives_at(deed act, const char *file, int line)
{
	long requests, all, n, tries, live;
	uint64_t want;
	int err;

	/* what is found once is kept */
	once(act, 0, &all);
	err = once(act, 0, &all);
	if (err)
		print_error("undisturbed: %d, %s\n", err, tenon_error_message());
	_assert_int_equal((unsigned int)err, 0, file, line);
	want = facts;
	for (n = 1; n <= all && failing_malloc_works(); n++)
		for (tries = 0, live = -1; tries < 4 && live < failing_malloc_live(); tries++) {
			live = failing_malloc_live();
			err = once(act, n, &requests);
			if (err ? !says_so(err) : facts != want) {
				print_error("allocation %ld: %d, %s\n", n, err,
					    tenon_error_message());
				_fail(file, line);
			}
			tenon_error_clear();
			if (failing_malloc_live() > live && tries == 3) {
				print_error("allocation %ld: loses memory\n", n);
				_fail(file, line);
			}
		}
	assert_int_equal(once(act, 0, &requests), 0);
	assert_true(facts == want);
	tenon_buffer_fini(&bytes);
}

#define assert_survives(act) assert_survives_at(act, __FILE__, __LINE__)

static struct tenon_slice given(void)
{
	return slice_of(&bytes);
}

/* ---- blobs */

static int read_tree(enum tenon_generation generation)
{
	const struct blob_source src = { .file = "x.so", .generation = generation };
	struct tenon_module *root;
	int err = import_tree_read(given(), &src, NULL, &root);

	if (err)
		return err;
	add(root->imports[0]->kind);
	tenon_object_unref(root);
	return 0;
}

static int read_legacy(void)
{
	return read_tree(LEGACY);
}

static int read_modern(void)
{
	return read_tree(FFI);
}

static int (*const readers[])(void) = { read_legacy, read_modern };

/* its message lists the kinds that have loaders, or none */
static int read_unknown(void)
{
	int err = read_legacy();

	return err == -TENON_E_NO_LOADER ? 0 : err;
}

/* imports before their importers: these are sorted */
static void trees_are_read(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		struct tenon_buffer payload = TENON_BUFFER_INIT;

		put_device(&payload, "hsaco", "k", "code", both[i] == FFI);
		const struct part hip = { "hip", slice_of(&payload) };
		const struct part parts[] = { hip, { "_lib", { NULL, 0 } }, hip, hip };

		bytes = blob_of(both[i], parts, 4, ROWS(0, 1, 1, 2, 3), ROWS(3, 1, 2));
		assert_survives(readers[i]);
		tenon_buffer_fini(&payload);
	}
	const struct part unknown[] = { { "_lib", { NULL, 0 } }, { "acme_npu", { "abcd", 4 } } };

	bytes = blob_of(LEGACY, unknown, 2, ROWS(0, 1, 1), ROWS(1));
	assert_survives(read_unknown);
}

static int write_tree(enum tenon_generation generation)
{
	struct tenon_buffer out = TENON_BUFFER_INIT;
	int err = tenon_module_write_blob(module, generation, &out);

	if (!err)
		add(slice_of(&out));
	assert_true(!err || !out.size);
	tenon_buffer_fini(&out);
	return err;
}

static int write_legacy(void)
{
	return write_tree(LEGACY);
}

static int write_modern(void)
{
	return write_tree(FFI);
}

static int save_name(struct tenon_module *m, struct tenon_buffer *out)
{
	return tenon_buffer_slice(out, m->kind);
}

static const struct tenon_module_ops named_ops = { .save = save_name };

static struct tenon_module *make_named(const char *kind, uint32_t properties)
{
	struct tenon_module *m = calloc(1, sizeof(*m));

	assert_non_null(m);
	tenon_module_init(m, &named_ops, tenon_slice_of(kind), properties);
	return m;
}

/* 40 modules, one of which several import: they are renumbered */
static void trees_are_written(void **state)
{
	struct tenon_module *shared = make_named("shared", TENON_MODULE_SERIALIZABLE), *m;
	size_t i;

	(void)state;
	module = make_named("llvm", TENON_MODULE_EXPORTABLE);
	for (i = 0; i < 38; i++) {
		m = make_named("part", TENON_MODULE_SERIALIZABLE);
		assert_int_equal(tenon_module_import(module, m), 0);
		if (i % 9 == 0)
			assert_int_equal(tenon_module_import(m, shared), 0);
		tenon_object_unref(m);
	}
	tenon_object_unref(shared);
	assert_survives(write_legacy);
	assert_survives(write_modern);
	tenon_object_unref(module);
}

/* ---- payloads */

static int add_name(void *unused, struct tenon_slice name)
{
	(void)unused;
	add(name);
	return 0;
}

static int list_names(void)
{
	const struct tenon_cursor c = tenon_cursor_of(bytes.data, bytes.size, "payload", 0);
	struct tenon_payload_info info = { .generation = FFI, .extra_tags = true };
	int result;

	return payload_names(payload_format_of(tenon_slice_of("metal")), &c, &info, add_name, NULL,
			     &result);
}

static int read_names(void)
{
	const struct tenon_cursor c = tenon_cursor_of(bytes.data, bytes.size, "payload", 0);
	struct tenon_payload_info info = { .generation = FFI };
	int err = payload_read(payload_format_of(tenon_slice_of("static_library")), &c, &info);

	for (size_t i = 0; i < info.function_count; i++)
		add(info.functions[i].name);
	payload_info_fini(&info);
	return err;
}

static int read_contents(void)
{
	const struct tenon_cursor c = tenon_cursor_of(bytes.data, bytes.size, "payload", 0);
	struct tenon_payload_info info = { .generation = FFI, .extra_tags = true };
	struct tenon_buffer text = TENON_BUFFER_INIT;
	int err = payload_read(payload_format_of(tenon_slice_of("metal")), &c, &info);

	if (!err)
		err = payload_source(&info, &text);
	if (!err)
		add(slice_of(&text));
	tenon_buffer_fini(&text);
	payload_info_fini(&info);
	return err;
}

static const char *const many[] = { "a", "b", "c", "d", "e", "f", "g", "h", "i", "j" };

#define MANY (sizeof(many) / sizeof(many[0]))

static void put_metal(void)
{
	size_t i;

	put_string(&bytes, "metal");
	put_kernels(&bytes, many, MANY, true);
	tenon_buffer_u64(&bytes, MANY);
	for (i = 0; i < MANY; i++) {
		put_string(&bytes, many[i]);
		put_string(&bytes, "text");
	}
}

static void functions_and_parts_are_listed(void **state)
{
	(void)state;
	put_metal();
	assert_survives(list_names);
	put_metal();
	assert_survives(read_contents);
	put_string(&bytes, "!<arch>\n");
	tenon_buffer_u64(&bytes, MANY);
	for (size_t i = 0; i < MANY; i++)
		put_string(&bytes, many[i]);
	assert_survives(read_names);
}

/* ---- modules of payloads */

static int visit_field(void *unused, const char *name, const struct tenon_value *value)
{
	struct tenon_slice text;

	(void)unused;
	if (name)
		add(tenon_slice_of(name));
	if (value->type == TENON_TYPE_ARRAY || value->type == TENON_TYPE_MAP)
		return tenon_object_visit(value->as.object,
					  &(struct tenon_visitor){ sizeof(struct tenon_visitor),
								   visit_field, NULL, NULL });
	if (!tenon_value_text(value, &text))
		add(text);
	tenon_error_clear();
	return 0;
}

static int look_at_module(void)
{
	struct tenon_value source = tenon_arg_none();
	struct tenon_function *f = NULL;
	struct tenon_slice text;
	int err = tenon_object_visit(
		&module->object,
		&(struct tenon_visitor){ sizeof(struct tenon_visitor), visit_field, NULL, NULL });

	if (!err)
		err = tenon_module_find_function(module, tenon_slice_of("j"), false, &f);
	if (!err)
		err = module->ops->source(module, "", &source);
	if (!err && !tenon_value_text(&source, &text))
		add(text);
	tenon_value_release(&source);
	tenon_object_unref(f);
	return err;
}

/* the message has the reason, or says that no memory was left for a message */
static int call_placeholder(void)
{
	struct tenon_value ret = tenon_arg_none();
	struct tenon_function *f;
	int err = tenon_module_get_function(module, "j", &f);

	if (err)
		return err;
	err = tenon_function_call(f, NULL, 0, &ret);
	tenon_object_unref(f);
	return err == -TENON_E_NO_LOADER ? 0 : err;
}

/* of the other generation: what has kernels is refused, what cannot be read, too */
static int carry_over(void)
{
	int err = write_tree(LEGACY);

	if (err == -TENON_E_NOMEM)
		return err;
	assert_int_equal(err, -TENON_E_UNSUPPORTED);
	return 0;
}

static void modules_of_payloads_are_inspected(void **state)
{
	const struct blob_source src = { .file = "x.so", .generation = FFI, .inspect = true };
	struct tenon_buffer blob;

	(void)state;
	put_metal();
	const struct part parts[] = { { "_lib", { NULL, 0 } }, { "metal", given() } };

	blob = blob_of(FFI, parts, 2, ROWS(0, 1, 1), ROWS(1));
	assert_int_equal(import_tree_read(slice_of(&blob), &src, NULL, &module), 0);
	struct tenon_module *root = module;

	module = root->imports[0];
	assert_survives(look_at_module);
	assert_survives(call_placeholder);
	assert_survives(carry_over);
	tenon_object_unref(root);
	tenon_buffer_fini(&blob);
}

/* ---- programs */

#ifdef CONFIG_DEVICES
static int make_program(const char *kind)
{
	struct tenon_program *p;
	int err = tenon_program_read(tenon_slice_of(kind), TENON_GENERATION_NONE, given(), "x", &p);

	if (err)
		return err;
	add(p->kernels[0].code);
	tenon_program_free(p);
	return 0;
}

static int make_opencl(void)
{
	return make_program("opencl");
}

static int make_metal(void)
{
	return make_program("metal");
}

static int make_hip(void)
{
	return make_program("hip");
}

static void programs_are_made(void **state)
{
	(void)state;
	struct tenon_program *p;

	put_metal();
	assert_survives(make_metal);
	/* the only form of its kind, of the dialect that is tried second */
	put_device(&bytes, "hsaco", "k", "body", false);
	assert_survives(make_hip);
	assert_int_equal(tenon_program_read(tenon_slice_of("hip"), FFI,
					    (struct tenon_slice){ NULL, 3 }, "x", &p),
			 -TENON_E_VALUE);
	assert_int_equal(tenon_program_read(tenon_slice_of("hip"), FFI,
					    (struct tenon_slice){ "cut", 3 }, "x", &p),
			 -TENON_E_TRUNCATED);
#if defined(CONFIG_DEVICE_OPENCL) || defined(CONFIG_DEVICE_OPENCL_MODULE)
	/* in the other form than is tried first, and cut at the names */
	put_device(&bytes, "cl", "k", "// Function: k\nbody\n// Function: l\n", false);
	assert_survives(make_opencl);
	/* SPIR-V: a part for each kernel */
	put_kernels(&bytes, many, 1, true);
	tenon_buffer_u64(&bytes, 1);
	put_string(&bytes, "a");
	tenon_buffer_u32(&bytes, 0);
	tenon_buffer_u64(&bytes, 1);
	tenon_buffer_u32(&bytes, 0x07230203);
	assert_survives(make_opencl);
#else
	(void)make_opencl;
#endif
}

static int register_format(void)
{
	static const char *const kinds[] = { "nomem_kind", NULL };
	static const struct tenon_payload_format format = {
		.size = sizeof(format),
		.kinds = kinds,
		.fields = "f",
	};

	return tenon_payload_format_register(&format);
}

static void a_format_is_registered_once_there_is_memory(void **state)
{
	long requests;

	(void)state;
	if (!failing_malloc_works())
		skip();
	assert_int_equal(once(register_format, 1, &requests), -TENON_E_NOMEM);
	assert_int_equal(once(register_format, 1, &requests), -TENON_E_NOMEM);
	assert_int_equal(register_format(), 0);
	assert_int_equal(register_format(), -TENON_E_EXISTS);
	tenon_error_clear();
}
#endif

#ifdef CONFIG_DEVICE_NULL
static struct tenon_device *device;

static void put_null(const char *name)
{
	put_string(&bytes, "null");
	put_kernels(&bytes, &name, 1, true);
	tenon_buffer_u64(&bytes, 1);
	tenon_buffer_u32(&bytes, 0);
}

/* its first function has this name */
static char wanted[40];

static int load_null(void)
{
	struct tenon_module *m;
	struct tenon_function *f;
	int err = payload_module_load(tenon_slice_of("null"), given(), &m);

	if (err)
		return err;
	err = tenon_module_get_function(m, wanted, &f);
	if (!err)
		tenon_object_unref(f);
	tenon_object_unref(m);
	return err;
}

static int get_kernel(void)
{
	const struct blob_source src = { .file = "x.so", .generation = FFI };
	struct tenon_function *f = NULL;
	struct tenon_module *root;
	int err = import_tree_read(given(), &src, NULL, &root);

	if (err)
		return err;
	err = tenon_module_get_function(root->imports[0], "a", &f);
	tenon_object_unref(f);
	tenon_object_unref(root);
	return err;
}

/* a module below that cannot be read */
static int prepare_damaged(void)
{
	const struct tenon_prepare how = { .size = sizeof(how), .threads = 1 };
	struct tenon_preparation *p;
	int err = tenon_module_prepare(module, device, &how);

	if (err == -TENON_E_NOMEM)
		return err;
	assert_int_equal(err, -TENON_E_TRUNCATED);
	err = tenon_module_prepare_start(module, device, &how, &p);
	if (err == -TENON_E_NOMEM)
		return err;
	assert_int_equal(err, -TENON_E_TRUNCATED);
	return 0;
}

static int prepare_meanwhile(void)
{
	const struct tenon_prepare how = { .size = sizeof(how), .threads = 2 };
	struct tenon_preparation *p;
	int err = tenon_module_prepare_start(module, device, &how, &p);

	if (err)
		return err;
	err = tenon_preparation_wait(p);
	tenon_object_unref(p);
	return err;
}

static int prepare(void)
{
	const struct tenon_prepare how = { .size = sizeof(how), .threads = 1 };

	return tenon_module_prepare(module, device, &how);
}

static void modules_are_loaded_alone(void **state)
{
	size_t i;

	(void)state;
	/* the kind is appended to the bytes, which have room for it or not */
	for (i = 0; i < sizeof(wanted) - 1; i += 3) {
		memset(wanted, 'n', i + 1);
		put_null(wanted);
		assert_survives(load_null);
	}
	/* in the older form, which blobs of today do not have */
	put_device(&bytes, "hsaco", "k", "body", false);
	assert_int_equal(payload_module_load(tenon_slice_of("hip"), given(), &module), 0);
	assert_int_equal(write_modern(), -TENON_E_UNSUPPORTED);
	tenon_error_clear();
	tenon_object_unref(module);
	tenon_buffer_fini(&bytes);
}

static struct tenon_module *load_one(const char *kind, struct tenon_slice payload)
{
	struct tenon_module *m;

	assert_int_equal(payload_module_load(tenon_slice_of(kind), payload, &m), 0);
	return m;
}

static void import_one(struct tenon_module *parent, struct tenon_module *m)
{
	assert_int_equal(tenon_module_import(parent, m), 0);
	tenon_object_unref(m);
}

static void modules_are_prepared(void **state)
{
	struct tenon_buffer cut = TENON_BUFFER_INIT, blob;
	const struct blob_source src = { .file = "x.so", .generation = FFI };
	struct tenon_module *m;
	size_t i;

	(void)state;
	put_null("a");
	const struct part whole[] = { { "_lib", { NULL, 0 } }, { "null", given() } };

	/* kernels are made when the first one is looked for */
	blob = blob_of(FFI, whole, 2, ROWS(0, 1, 1), ROWS(1));
	tenon_buffer_fini(&bytes);
	bytes = blob;
	assert_survives(get_kernel);
	put_null("a");
	assert_int_equal(tenon_device_open("null:0", &device), 0);
	module = load_one("null", given());
	for (i = 0; i < 20; i++) {
		m = load_one("null", given());
		/* another way to the same module */
		if (i)
			assert_int_equal(tenon_module_import(module->imports[i - 1], m), 0);
		import_one(module, m);
	}
	/* others are left out */
	import_one(module, make_named("llvm", TENON_MODULE_EXPORTABLE));
	tenon_buffer_append(&cut, bytes.data, bytes.size - 1);
	tenon_buffer_fini(&bytes);
	put_device(&bytes, "hsaco", "k", "body", true);
	import_one(module, load_one("hip", given()));
	assert_survives(prepare);
	assert_survives(prepare_meanwhile);
	tenon_object_unref(module);

	const struct part damaged = { "null", slice_of(&cut) };
	const struct part parts[] = { { "_lib", { NULL, 0 } }, damaged, damaged };

	blob = blob_of(FFI, parts, 3, ROWS(0, 2, 2, 2), ROWS(1, 2));
	assert_int_equal(import_tree_read(slice_of(&blob), &src, NULL, &module), 0);
	assert_survives(prepare_damaged);
	tenon_object_unref(module);
	tenon_buffer_fini(&blob);
	tenon_buffer_fini(&cut);
	tenon_object_unref(device);
}
#endif

#ifdef CONFIG_DEVICE_OPENCL
static char program[1100], table[1100];

static int load_file(void)
{
	const struct tenon_value args[] = { tenon_arg_string(program) };
	struct tenon_value ret = tenon_arg_none();
	int err = payload_file_load(NULL, args, 1, &ret);

	tenon_value_release(&ret);
	return err;
}

static void a_program_and_its_table_are_loaded(void **state)
{
	const char *json =
		"{\"func_info\": {\"k\": {\"name\": \"k\", \"arg_types\": [\"handle\", \"int32\"], "
		"\"launch_param_tags\": [\"blockIdx.x\"], \"arg_extra_tags\": [0, 0]}}}";

	(void)state;
	snprintf(program, sizeof(program), "%s", scratch_file("nomem.cl"));
	snprintf(table, sizeof(table), "%s", scratch_file("nomem.tvm_meta.json"));
	write_scratch(program, tenon_slice_of("// Function: k\n"));
	write_scratch(table, tenon_slice_of(json));
	assert_survives(load_file);
	unlink(program);
	unlink(table);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trees_are_read),
		cmocka_unit_test(trees_are_written),
		cmocka_unit_test(functions_and_parts_are_listed),
		cmocka_unit_test(modules_of_payloads_are_inspected),
#ifdef CONFIG_DEVICES
		cmocka_unit_test(programs_are_made),
		cmocka_unit_test(a_format_is_registered_once_there_is_memory),
#endif
#ifdef CONFIG_DEVICE_NULL
		cmocka_unit_test(modules_are_loaded_alone),
		cmocka_unit_test(modules_are_prepared),
#endif
#ifdef CONFIG_DEVICE_OPENCL
		cmocka_unit_test(a_program_and_its_table_are_loaded),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
