/* SPDX-License-Identifier: MIT */
/* Constants that metadata modules hand to the code that needs them. */
#include "tests/unit/blob.h"

#include <pthread.h>
#include <semaphore.h>
#include <tenon/backend/buffer.h>
#include <time.h>

#include "lib/option.h"
#include "runtime/library/dso.h"

static const float first[4] = { 1.5f, -2, 3.25f, 4 };
static const float second[2] = { 7, 8 };

/* constants p0 and p1, of which symbol "f" wants p1 then p0, and "g" none */
static struct tenon_buffer payload_of(void)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;

	tenon_buffer_u64(&b, 2);
	put_string(&b, "p0");
	put_string(&b, "p1");
	tenon_buffer_u64(&b, 2);
	put_tensor(&b, first, 4);
	put_tensor(&b, second, 2);
	tenon_buffer_u64(&b, 2);
	put_string(&b, "f");
	put_string(&b, "g");
	tenon_buffer_u64(&b, 2);
	tenon_buffer_u64(&b, 2);
	put_string(&b, "p1");
	put_string(&b, "p0");
	tenon_buffer_u64(&b, 0);
	return b;
}

static struct tenon_module *load(const char *kind, const struct tenon_buffer *b)
{
	struct tenon_module *m;

	if (tenon_module_load_bytes(kind, slice_of(b), &m)) {
		print_error("%s\n", tenon_error_message());
		fail();
	}
	return m;
}

/* a module of code: has f and g, and __init_f, which looks at what it is handed */
struct code {
	struct tenon_module base;
	int inits;
	int calls;
	int result; /* what __init_f returns */
	float given[2];
	int64_t count;
};

static int call_code(void *self, const struct tenon_value *args, int32_t count,
		     struct tenon_value *ret)
{
	struct code *c = self;

	(void)args;
	(void)count;
	c->calls++;
	*ret = tenon_arg_int(c->inits);
	return 0;
}

static int call_init(void *self, const struct tenon_value *args, int32_t count,
		     struct tenon_value *ret)
{
	struct tenon_array *array;
	struct code *c = self;
	int64_t i;

	assert_int_equal(count, 1);
	assert_int_equal(tenon_value_object(&args[0], TENON_TYPE_ARRAY, &array), 0);
	c->count = array->size;
	for (i = 0; i < array->size; i++) {
		DLTensor *dl;

		assert_int_equal(tenon_value_tensor(&array->data[i], &dl), 0);
		c->given[i] = ((const float *)dl->data)[0];
	}
	c->inits++;
	if (c->result < 0)
		return tenon_error(-TENON_E_CALL, "no room for constants");
	*ret = tenon_arg_int(c->result);
	return 0;
}

static int code_get_function(struct tenon_module *m, struct tenon_slice name,
			     struct tenon_function **out)
{
	tenon_call_fn fn = NULL;
	int err;

	*out = NULL;
	if (tenon_slice_equal(name, tenon_slice_of("__init_f")))
		fn = call_init;
	else if (tenon_slice_equal(name, tenon_slice_of("f")) ||
		 tenon_slice_equal(name, tenon_slice_of("g")) ||
		 tenon_slice_equal(name, tenon_slice_of("h")))
		fn = call_code;
	if (!fn)
		return 0;
	tenon_object_ref(m);
	err = tenon_function_create(m, fn, tenon_object_unref, out);
	return err;
}

static const struct tenon_module_ops code_ops = { .get_function = code_get_function };

static struct code *with_code(struct tenon_module *m)
{
	struct code *c = calloc(1, sizeof(*c));

	tenon_module_init(&c->base, &code_ops, tenon_slice_of("dnnl_json"), TENON_MODULE_RUNNABLE);
	assert_int_equal(tenon_module_import(m, &c->base), 0);
	tenon_object_unref(c);
	return c;
}

static void constants_are_handed_over_before_the_first_use(void **state)
{
	struct tenon_buffer b = payload_of();
	struct tenon_module *m = load("const_loader", &b);
	struct code *c = with_code(m);
	struct tenon_value ret = tenon_arg_none();
	struct tenon_function *f;

	(void)state;
	assert_int_equal(c->inits, 0);
	assert_int_equal(tenon_module_get_function(m, "f", &f), 0);
	assert_int_equal(c->inits, 1);
	assert_int_equal(c->count, 2);
	assert_true(c->given[0] == second[0]);
	assert_true(c->given[1] == first[0]);
	assert_int_equal(tenon_call(f, &ret), 0);
	assert_int_equal(c->calls, 1);
	tenon_object_unref(f);

	/* once is enough */
	assert_int_equal(tenon_module_get_function(m, "f", &f), 0);
	assert_int_equal(c->inits, 1);
	tenon_object_unref(f);
	tenon_object_unref(m);
	tenon_buffer_fini(&b);
}

static void constants_are_handed_over_when_asked_from_above(void **state)
{
	struct tenon_buffer b = payload_of();
	struct tenon_module *m = load("const_loader", &b), *root;
	struct code *c = with_code(m);
	struct tenon_function *f;

	(void)state;
	root = calloc(1, sizeof(*root));
	tenon_module_init(root, &code_ops, tenon_slice_of("root"), 0);
	root->ops = &(const struct tenon_module_ops){ 0 };
	assert_int_equal(tenon_module_import(root, m), 0);
	tenon_object_unref(m);
	assert_int_equal(tenon_module_get_function(root, "f", &f), 0);
	assert_int_equal(c->inits, 1);
	tenon_object_unref(f);
	tenon_object_unref(root);
	tenon_buffer_fini(&b);
}

static void a_symbol_without_constants_and_without_init_is_no_error(void **state)
{
	struct tenon_buffer b = payload_of();
	struct tenon_module *m = load("const_loader", &b);
	struct code *c = with_code(m);
	struct tenon_function *f;

	(void)state;
	assert_int_equal(tenon_module_get_function(m, "g", &f), 0);
	assert_int_equal(c->inits, 0);
	tenon_object_unref(f);
	/* a name that is not listed is looked for in the imports all the same */
	assert_int_equal(tenon_module_get_function(m, "h", &f), 0);
	tenon_object_unref(f);
	assert_int_equal(tenon_module_get_function(m, "i", &f), -TENON_E_NOT_FOUND);
	tenon_error_clear();
	tenon_object_unref(m);
	tenon_buffer_fini(&b);
}

static void a_refused_hand_over_fails_the_lookup_and_is_tried_again(void **state)
{
	struct tenon_buffer b = payload_of();
	struct tenon_module *m = load("const_loader", &b);
	struct code *c = with_code(m);
	struct tenon_function *f;

	(void)state;
	c->result = -1;
	assert_int_equal(tenon_module_get_function(m, "f", &f), -TENON_E_CALL);
	assert_error("__init_f: no room for constants");
	c->result = 1;
	assert_int_equal(tenon_module_get_function(m, "f", &f), -TENON_E_CALL);
	assert_error("__init_f refused its constants");
	c->result = 0;
	assert_int_equal(tenon_module_get_function(m, "f", &f), 0);
	assert_int_equal(c->inits, 3);
	tenon_object_unref(f);
	tenon_object_unref(m);
	tenon_buffer_fini(&b);
}

static void a_constant_that_is_not_there_is_named_with_its_function(void **state)
{
	struct tenon_buffer b = payload_of();
	struct tenon_function *f;
	struct tenon_module *m;

	(void)state;
	/* the last but one name wanted by f */
	b.data[b.size - 8 - 10 - 1] = '7';
	m = load("const_loader", &b);
	with_code(m);
	assert_int_equal(tenon_module_get_function(m, "f", &f), -TENON_E_NOT_FOUND);
	assert_error("function \"f\" wants the constant \"p7\", which is not among the 2 here");
	tenon_object_unref(m);
	tenon_buffer_fini(&b);
}

static void all_constants_come_as_a_map_of_up_to_four(void **state)
{
	struct tenon_buffer b = payload_of();
	struct tenon_module *m = load("metadata", &b);
	struct tenon_value ret = tenon_arg_none(), key = tenon_arg_string("p1");
	const struct tenon_value *value;
	struct tenon_function *f;
	struct tenon_map *map;
	DLTensor *dl;

	(void)state;
	assert_slice(m->kind, "metadata");
	assert_int_equal(tenon_module_get_function(m, "get_const_var_ndarray", &f), 0);
	tenon_object_unref(f);
	/* so TVM 0.22 and later call it */
	assert_int_equal(tenon_module_get_function(m, "get_const_var_tensor", &f), 0);
	tenon_object_unref(m);
	assert_int_equal(tenon_call(f, &ret), 0);
	assert_int_equal(tenon_value_object(&ret, TENON_TYPE_MAP, &map), 0);
	assert_int_equal(map->size, 2);
	value = tenon_map_find(map, &key);
	assert_non_null(value);
	assert_int_equal(tenon_value_tensor(value, &dl), 0);
	assert_int_equal(dl->ndim, 1);
	assert_int_equal(dl->shape[0], 2);
	assert_int_equal(dl->dtype.code, kDLFloat);
	assert_memory_equal(dl->data, second, sizeof(second));
	tenon_object_unref(f);
	/* the tensors live without their module */
	assert_true(((const float *)dl->data)[1] == 8);
	tenon_value_release(&ret);
	tenon_buffer_fini(&b);
}

static void more_constants_come_as_pairs(void **state)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct tenon_value ret = tenon_arg_none();
	struct tenon_array *array, *pair;
	struct tenon_function *f;
	struct tenon_module *m;
	struct tenon_slice name;
	DLTensor *dl;
	int i;

	(void)state;
	tenon_buffer_u64(&b, 5);
	for (i = 0; i < 5; i++)
		put_string(&b, (const char *[]){ "a", "b", "c", "d", "a longer name" }[i]);
	tenon_buffer_u64(&b, 5);
	for (i = 0; i < 5; i++)
		put_tensor(&b, &first[i % 4], 1);
	tenon_buffer_u64(&b, 0);
	tenon_buffer_u64(&b, 0);
	m = load("const_loader", &b);
	assert_int_equal(tenon_module_get_function(m, "get_const_var_ndarray", &f), 0);
	assert_int_equal(tenon_call(f, &ret), 0);
	assert_int_equal(tenon_value_object(&ret, TENON_TYPE_ARRAY, &array), 0);
	assert_int_equal(array->size, 5);
	assert_int_equal(tenon_value_object(&array->data[4], TENON_TYPE_ARRAY, &pair), 0);
	assert_int_equal(tenon_value_text(&pair->data[0], &name), 0);
	assert_slice(name, "a longer name");
	assert_int_equal(tenon_value_tensor(&pair->data[1], &dl), 0);
	assert_true(((const float *)dl->data)[0] == first[0]);
	tenon_value_release(&ret);
	tenon_object_unref(f);
	tenon_object_unref(m);
	tenon_buffer_fini(&b);
}

static void a_module_is_saved_as_the_bytes_it_came_from(void **state)
{
	struct tenon_buffer b = payload_of(), out = TENON_BUFFER_INIT;
	struct tenon_module *m = load("const_loader", &b);

	(void)state;
	assert_int_equal(tenon_module_save(m, &out), 0);
	assert_int_equal(out.size, b.size);
	assert_memory_equal(out.data, b.data, b.size);
	assert_list_field(m, "functions", "f g");
	assert_list_field(m, "constants", "p0 p1");
	assert_int_equal(number_field(m, "parameter_bytes"), 24);
	tenon_object_unref(m);
	tenon_buffer_fini(&b);
	tenon_buffer_fini(&out);
}

static void bytes_left_over_and_missing_are_refused(void **state)
{
	struct tenon_buffer b = payload_of();
	struct tenon_module *m;
	size_t size;

	(void)state;
	for (size = 0; size < b.size; size++) {
		char *copy = malloc(size + 1);

		memcpy(copy, b.data, size);
		assert_true(tenon_module_load_bytes("const_loader",
						    (struct tenon_slice){ copy, size }, &m) < 0);
		assert_null(m);
		tenon_error_clear();
		free(copy);
	}
	tenon_buffer_u8(&b, 0);
	assert_int_equal(tenon_module_load_bytes("const_loader", slice_of(&b), &m),
			 -TENON_E_FORMAT);
	assert_error_has("1 bytes left over");
	/* two tensors for two names */
	b.size--;
	b.data[8 + 10 + 10] = 1;
	assert_int_equal(tenon_module_load_bytes("const_loader", slice_of(&b), &m),
			 -TENON_E_FORMAT);
	assert_error_has("1 tensors for 2 names");
	tenon_buffer_fini(&b);
}

static void constants_of_a_real_module_have_their_values(void **state)
{
	struct real_blob r = real_blob_open("tvm-0.18/byoc_dnnl_mlp/lib.so");
	const struct blob_source src = { .file = "lib.so",
					 .offset = r.offset,
					 .generation = r.generation };
	struct tenon_value ret = tenon_arg_none(), key = tenon_arg_string("p2");
	const struct tenon_value *value;
	struct tenon_function *f;
	struct tenon_module *m;
	struct tenon_map *map;
	DLTensor *dl;

	(void)state;
	assert_int_equal(import_tree_read(r.bytes, &src, NULL, &m), 0);
	assert_slice(m->kind, "const_loader");
	assert_text_field(m, "loader", "ready");
	assert_int_equal(tenon_module_get_function(m, "get_const_var_ndarray", &f), 0);
	assert_int_equal(tenon_call(f, &ret), 0);
	assert_int_equal(tenon_value_object(&ret, TENON_TYPE_MAP, &map), 0);
	assert_int_equal(map->size, 3);
	value = tenon_map_find(map, &key);
	assert_non_null(value);
	assert_int_equal(tenon_value_tensor(value, &dl), 0);
	assert_int_equal(dl->shape[0], 64);
	/* the first two words of the dump: a1 f3 a0 3e, fb 19 33 bf */
	assert_memory_equal(dl->data, "\xa1\xf3\xa0\x3e\xfb\x19\x33\xbf", 8);
	tenon_value_release(&ret);
	tenon_object_unref(f);

#if !OPTION_ON(DNNL_JSON)
	/* the code is in modules that nothing here loads: found, and refused when called */
	assert_int_equal(tenon_module_get_function(m, "tvmgen_default_dnnl_main_0", &f), 0);
	assert_int_equal(tenon_call(f, &ret), -TENON_E_NO_LOADER);
	assert_error_has("(kind \"dnnl_json\", 1.2 KiB at 0x");
	tenon_object_unref(f);
#endif
	tenon_object_unref(m);
	file_map_close(&r.file);
}

static void a_metadata_module_forwards_to_what_it_imports(void **state)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct tenon_module *m = load("metadata_module", &b);
	struct tenon_function *f;
	struct code *c = with_code(m);

	(void)state;
	assert_int_equal(tenon_module_save(m, &b), 0);
	assert_int_equal(b.size, 0);
	assert_int_equal(tenon_module_get_function(m, "g", &f), 0);
	assert_int_equal(c->inits, 0);
	tenon_object_unref(f);
	tenon_object_unref(m);
	tenon_buffer_fini(&b);
}

#ifdef CONFIG_SYSTEM_LIB
/* ---- compiled code that looks functions up while it is handed its constants */

static void *library_context;
static int (*lookup)(void *library, const char *name, void **out);
static sem_t init_runs;

static int compiled_init(void *self, const struct tenon_value *args, int32_t count,
			 struct tenon_value *ret)
{
	/* time for the other thread to come to where it waits */
	struct timespec pause = { 0, 100000000 };
	void *f;

	(void)self, (void)args, (void)count, (void)ret;
	sem_post(&init_runs);
	nanosleep(&pause, NULL);
	return lookup(library_context, "metadata_test.nothing", &f);
}

static int nothing(void *self, const struct tenon_value *args, int32_t count,
		   struct tenon_value *ret)
{
	(void)self, (void)args, (void)count, (void)ret;
	return 0;
}

static void *find_linked(void *blob, const char *name)
{
	tenon_call_fn code = NULL;

	if (!strcmp(name, "__tvm_ffi__library_bin"))
		return blob;
	if (!strcmp(name, "__tvm_ffi__library_ctx"))
		return &library_context;
	if (!strcmp(name, "__TVMFFIEnvModLookupFromImports"))
		return &lookup;
	if (!strcmp(name, "__tvm_ffi___init_f"))
		code = compiled_init;
	if (!strcmp(name, "__tvm_ffi_f"))
		code = nothing;
	return *(void **)&code;
}

static void *find_from_outside(void *root)
{
	struct tenon_function *f;
	int err = tenon_module_get_function(root, "f", &f);

	if (!err)
		tenon_object_unref(f);
	return err ? root : NULL;
}

static void *find_from_inside(void *root)
{
	void *f;

	sem_wait(&init_runs);
	return lookup(library_context, "f", &f) ? root : NULL;
}

static void lookups_from_inside_and_outside_do_not_wait_for_each_other(void **state)
{
	struct tenon_buffer payload = payload_of();
	const struct part parts[] = { { "const_loader", slice_of(&payload) },
				      { "_lib", { NULL, 0 } } };
	struct tenon_buffer blob = blob_of(TENON_GENERATION_FFI, parts, 2, ROWS(0, 1, 1), ROWS(1));
	static struct dso_symbols symbols = { .find = find_linked, .prefix = "" };
	void *(*const find[])(void *) = { find_from_outside, find_from_inside };
	struct timespec until;
	struct tenon_module *root;
	pthread_t threads[2];
	void *failed;
	size_t i;

	(void)state;
	symbols.context = blob.data;
	sem_init(&init_runs, 0, 0);
	assert_int_equal(tenon_function_register_c("metadata_test.nothing", nothing, false), 0);
	if (dso_open_symbols("test", &symbols, &root))
		fail_msg("%s", tenon_error_message());
	for (i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, find[i], root), 0);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 20;
	for (i = 0; i < 2; i++) {
		assert_int_equal(pthread_timedjoin_np(threads[i], &failed, &until), 0);
		assert_null(failed);
	}
	tenon_object_unref(root);
	tenon_buffer_fini(&blob);
	tenon_buffer_fini(&payload);
	sem_destroy(&init_runs);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(constants_are_handed_over_before_the_first_use),
		cmocka_unit_test(constants_are_handed_over_when_asked_from_above),
		cmocka_unit_test(a_symbol_without_constants_and_without_init_is_no_error),
		cmocka_unit_test(a_refused_hand_over_fails_the_lookup_and_is_tried_again),
		cmocka_unit_test(a_constant_that_is_not_there_is_named_with_its_function),
		cmocka_unit_test(all_constants_come_as_a_map_of_up_to_four),
		cmocka_unit_test(more_constants_come_as_pairs),
		cmocka_unit_test(a_module_is_saved_as_the_bytes_it_came_from),
		cmocka_unit_test(bytes_left_over_and_missing_are_refused),
		cmocka_unit_test(constants_of_a_real_module_have_their_values),
		cmocka_unit_test(a_metadata_module_forwards_to_what_it_imports),
#ifdef CONFIG_SYSTEM_LIB
		cmocka_unit_test(lookups_from_inside_and_outside_do_not_wait_for_each_other),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
