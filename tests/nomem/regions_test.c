/* SPDX-License-Identifier: MIT */
/*
 * Models in memory that the caller gives: each runs in exactly what it says that it needs, while every
 * request to the allocator of the process fails, and gives what it gives otherwise.
 */
#include "tests/unit/suite.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <tenon/regions.h>
#include <unistd.h>

#include "lib/heap.h"
#include "tests/nomem/failing_malloc.h"

#define D08 "tests/interop/data/tvm-0.8/"
#define D18 "tests/interop/data/tvm-0.18/"
#define D27 "tests/interop/data/tvm-0.27.0.post1/"

#if defined(CONFIG_RELAX_VM) || defined(CONFIG_RELAX_VM_MODULE)
#define RELAX_TESTED
#endif

#if defined(CONFIG_TFLITE_EXECUTOR) || defined(CONFIG_TFLITE_EXECUTOR_MODULE)
#define TFLITE_TESTED
#if defined(CONFIG_DEVICE_ETHOSU) || defined(CONFIG_DEVICE_ETHOSU_MODULE)
#define ETHOSU_TESTED
#endif
#endif

#define VELA "tests/ethosu/data/"

static const struct {
	const char *file, *params, *graph;
} models[] = {
#ifdef TFLITE_TESTED
	{ "tests/tflite/data/several.tflite", NULL, NULL },
#endif
#ifdef ETHOSU_TESTED
	{ VELA "u55_avgpool/vela.tflite", NULL, NULL },
	{ VELA "u65_softmax_mix/vela.tflite", NULL, NULL },
	{ VELA "u65_add2_cop2/vela.tflite", NULL, NULL },
	{ VELA "small/conv16.tflite", NULL, NULL },
	{ VELA "u85_residual/vela.tflite", NULL, NULL },
#endif
	{ D08 "graph_mlp/graph.so", NULL, NULL },
	{ D18 "graph_mlp/graph.so", NULL, NULL },
	{ D18 "graph_nop/graph.so", NULL, NULL },
	{ D18 "aot_mlp/aot_packed.so", NULL, NULL },
	{ D18 "aot_mlp/aot_chost.so", NULL, NULL },
#ifdef RELAX_TESTED
	{ D27 "relax_mlp/vm.so", NULL, NULL },
	{ D27 "model_mlp/model.so", NULL, NULL },
	{ D27 "model_two_outputs/model.so", NULL, NULL },
	{ D27 "model_float16/model.so", NULL, NULL },
	{ D27 "model_resnet_tiny/model.so", NULL, NULL },
	{ "examples/magika/cpu.so", "examples/magika/magika.params", NULL },
#endif
	{ D18 "graph_mlp/lib.so", D18 "graph_mlp/model.params", D18 "graph_mlp/graph.json" },
};

/* the first of TVM's */
#if defined(ETHOSU_TESTED)
#define MLP 6
#elif defined(TFLITE_TESTED)
#define MLP 1
#else
#define MLP 0
#endif

#define MODELS (sizeof(models) / sizeof(*models))

static void assert_ok_at(int err, const char *file, int line)
{
	if (!err)
		return;
	print_error("status %d: %s\n", err, tenon_error_message());
	_fail(file, line);
}

#define assert_ok(err) assert_ok_at(err, __FILE__, __LINE__)

/* the model of an NPU, which is opened before models are */
static struct tenon_device *device;

static int open_npu(void **state)
{
	(void)state;
#ifdef ETHOSU_TESTED
	assert_ok(tenon_device_open("ethosu://sim", &device));
#endif
	return 0;
}

static int close_npu(void **state)
{
	(void)state;
	tenon_object_unref(device);
	return 0;
}

/* what is loaded, and the options to open it */
static struct tenon_model_options options = { .size = sizeof(options) };

static struct tenon_module *load_file(const char *file)
{
	struct tenon_module *root;

	assert_ok(tenon_module_load(file, &root));
	return root;
}

static bool is_vela(size_t model)
{
	return !strncmp(models[model].file, VELA, strlen(VELA));
}

static void read_graph(const char *path)
{
	static char text[16384];
	FILE *f = fopen(path, "rb");

	assert_non_null(f);
	options.graph = (struct tenon_slice){ text, fread(text, 1, sizeof(text), f) };
	fclose(f);
}

/* Let the options be those of a model, but for its parameters. */
static void choose(size_t model)
{
	static DLDevice npu;

	if (device)
		npu = tenon_device_id(device);
	options.devices = &npu;
	options.device_count = is_vela(model);
	options.graph = (struct tenon_slice){ NULL, 0 };
	if (models[model].graph)
		read_graph(models[model].graph);
}

static struct tenon_module *load(size_t model)
{
	options.params = NULL;
	choose(model);
	if (models[model].params)
		assert_ok(tenon_params_open(models[model].params, &options.params));
	return load_file(models[model].file);
}

static void unload(struct tenon_module *root)
{
	tenon_object_unref(options.params);
	options.params = NULL;
	options.graph = (struct tenon_slice){ NULL, 0 };
	tenon_object_unref(root);
}

/* ---- memory */

struct memory {
	struct tenon_need need;
	struct tenon_regions regions;
};

static void need_of(struct tenon_module *root, struct tenon_need *need)
{
	*need = (struct tenon_need){ .size = sizeof(*need) };
	assert_ok(tenon_model_need(root, &options, need));
}

static void region_set(struct tenon_region *r, uint64_t bytes)
{
	free(r->data);
	r->size = (size_t)bytes;
	r->data = aligned_alloc(TENON_REGION_ALIGN, ((size_t)bytes | 127) + 1);
	assert_non_null(r->data);
	memset(r->data, 0xa5, r->size);
}

static void memory_init(struct memory *m, struct tenon_module *root)
{
	int i;

	need_of(root, &m->need);
	m->regions = (struct tenon_regions){ .size = sizeof(m->regions) };
	for (i = 0; i < TENON_SORTS; i++) {
		assert_int_equal(m->need.sort[i].align, TENON_REGION_ALIGN);
		region_set(&m->regions.region[i], m->need.sort[i].bytes);
	}
}

static void memory_fini(struct memory *m)
{
	int i;

	for (i = 0; i < TENON_SORTS; i++)
		free(m->regions.region[i].data);
}

/* ---- models */

static _Alignas(TENON_TENSOR_ALIGN) char input_bytes[1 << 20];

/* Fill bytes so that any dtype has small values: 0, or 1.0 as a float32. */
static void fill_inputs(unsigned int seed)
{
	static const float one = 1.0f, half = 0.5f;
	size_t i;

	for (i = 0; i + 4 <= sizeof(input_bytes); i += 4) {
		seed = seed * 1103515245u + 12345u;
		memcpy(input_bytes + i, seed >> 16 & 1 ? &one : &half, 4);
	}
}

/* Parameters are the inputs that are set when a model was opened; one bit each. */
static uint64_t params_of(struct tenon_model *model)
{
	uint64_t params = 0;
	size_t i;

	for (i = 0; i < tenon_model_input_count(model); i++)
		params |= (uint64_t)tenon_model_input_is_set(model, i) << i;
	return params;
}

static int set_inputs(struct tenon_model *model, uint64_t params)
{
	struct tenon_value value;
	struct tenon_port port;
	DLTensor t;
	size_t i;
	int err = 0;

	for (i = 0; i < tenon_model_input_count(model) && !err; i++) {
		if (params >> i & 1)
			continue;
		err = tenon_model_input(model, i, &port);
		t = tenon_dltensor(input_bytes, (int64_t *)(uintptr_t)port.shape, port.ndim,
				   port.dtype);
		value = tenon_arg_tensor(&t);
		if (!err)
			err = tenon_model_set_input(model, i, &value);
	}
	return err;
}

/* Hash all outputs. */
static int hash_outputs(struct tenon_model *model, uint64_t *hash)
{
	struct tenon_value value;
	DLTensor *t;
	size_t i, k, bytes;
	int err = 0;

	*hash = 14695981039346656037u;
	for (i = 0; i < tenon_model_output_count(model) && !err; i++) {
		err = tenon_model_output_value(model, i, &value);
		if (!err)
			err = tenon_value_tensor(&value, &t);
		if (!err)
			err = tenon_tensor_bytes(t, &bytes);
		for (k = 0; k < bytes && !err; k++)
			*hash = (*hash ^ ((unsigned char *)t->data)[k]) * UINT64_C(1099511628211);
		tenon_value_release(&value);
	}
	return err;
}

static uint64_t ordinary_result(struct tenon_module *root, unsigned int seed)
{
	struct tenon_model *model;
	uint64_t hash;

	fill_inputs(seed);
	assert_ok(tenon_model_open(root, &options, &model));
	assert_ok(set_inputs(model, params_of(model)));
	assert_ok(tenon_model_run(model));
	assert_ok(hash_outputs(model, &hash));
	tenon_model_close(model);
	return hash;
}

/* ---- cases */

/* Open, run three times, and close. */
static int whole_life(struct tenon_module *root, const struct tenon_regions *regions,
		      uint64_t *hash)
{
	struct tenon_model *model;
	uint64_t params;
	int i, err;

	err = tenon_model_open_in(root, &options, regions, &model);
	if (err)
		return err;
	params = params_of(model);
	for (i = 0; i < 3 && !err; i++) {
		err = set_inputs(model, params);
		if (!err)
			err = tenon_model_run(model);
		if (!err)
			err = hash_outputs(model, hash);
	}
	tenon_model_close(model);
	return err;
}

static void a_model_runs_in_what_it_needs_while_every_allocation_fails(void **state)
{
	struct tenon_module *root;
	struct memory m;
	uint64_t hash = 0;
	size_t i;
	long requests;
	int err;

	(void)state;
	if (!failing_malloc_works()) {
		print_message("this build cannot stand in for the allocator\n");
		skip();
	}
	for (i = 0; i < MODELS; i++) {
		root = load(i);
		fill_inputs(7);
		memory_init(&m, root);
		assert_true((m.need.device.bytes > 0) == is_vela(i));
		failing_malloc_start(FAILING_MALLOC_ALL);
		err = whole_life(root, &m.regions, &hash);
		requests = failing_malloc_stop();
		assert_ok(err);
		assert_int_equal(requests, 0);
		/* afterwards: it starts the threads of parallel loops */
		assert_true(hash == ordinary_result(root, 7));
		print_message("# %s: %zu persistent, %zu planned, %zu temporary\n", models[i].file,
			      m.regions.region[0].size, m.regions.region[1].size,
			      m.regions.region[2].size);
		memory_fini(&m);
		unload(root);
	}
}

static void one_byte_less_of_any_sort_is_too_little_and_the_error_names_the_sort(void **state)
{
	static const char *const names[] = { "persistent", "planned", "temporary" };
	struct tenon_module *root;
	struct memory m;
	uint64_t hash;
	size_t i;
	int sort;

	(void)state;
	for (i = 0; i < MODELS; i++) {
		root = load(i);
		memory_init(&m, root);
		for (sort = 0; sort < TENON_SORTS; sort++) {
			if (!m.regions.region[sort].size)
				continue;
			region_set(&m.regions.region[sort], m.need.sort[sort].bytes - 1);
			assert_int_equal(whole_life(root, &m.regions, &hash), -TENON_E_NOMEM);
			assert_error_has(names[sort]);
			region_set(&m.regions.region[sort], m.need.sort[sort].bytes);
		}
		assert_ok(whole_life(root, &m.regions, &hash));
		memory_fini(&m);
		unload(root);
	}
}

/* those without parameters of their own */
#ifdef RELAX_TESTED
#define SHARING (MODELS - 2)
#else
#define SHARING (MODELS - 1)
#endif

static void models_that_never_run_at_once_share_planned_and_temporary_memory(void **state)
{
	struct tenon_module *root[SHARING];
	struct tenon_model *model[SHARING];
	struct memory m[SHARING], shared;
	uint64_t hash, params[SHARING];
	size_t i;
	int sort, round;

	(void)state;
	memset(&shared, 0, sizeof(shared));
	for (i = 0; i < SHARING; i++) {
		root[i] = load(i);
		memory_init(&m[i], root[i]);
		for (sort = TENON_PLANNED; sort < TENON_SORTS; sort++)
			if (m[i].need.sort[sort].bytes > shared.regions.region[sort].size)
				region_set(&shared.regions.region[sort],
					   m[i].need.sort[sort].bytes);
	}
	for (i = 0; i < SHARING; i++) {
		for (sort = TENON_PLANNED; sort < TENON_SORTS; sort++) {
			free(m[i].regions.region[sort].data);
			m[i].regions.region[sort] = shared.regions.region[sort];
		}
		choose(i);
		assert_ok(tenon_model_open_in(root[i], &options, &m[i].regions, &model[i]));
		params[i] = params_of(model[i]);
	}
	for (round = 0; round < 3; round++)
		for (i = 0; i < SHARING; i++) {
			fill_inputs((unsigned int)round);
			assert_ok(set_inputs(model[i], params[i]));
			assert_ok(tenon_model_run(model[i]));
			assert_ok(hash_outputs(model[i], &hash));
			choose(i);
			assert_true(hash == ordinary_result(root[i], (unsigned int)round));
		}
	for (i = 0; i < SHARING; i++) {
		tenon_model_close(model[i]);
		free(m[i].regions.region[TENON_PERSISTENT].data);
		tenon_object_unref(root[i]);
	}
	memory_fini(&shared);
}

/* The options have one parameter of several; the others are those of the module's file. */
static void parameters_that_the_options_lack_are_not_in_memory_that_is_shared(void **state)
{
	struct tenon_module *root = load_file(D18 "graph_mlp/graph.so");
	struct tenon_params *all;
	struct tenon_model *model;
	struct memory m;
	uint64_t hash, params;

	(void)state;
	assert_ok(tenon_params_open(D18 "graph_mlp/model.params", &all));
	assert_true(tenon_params_count(all) > 1);
	assert_ok(tenon_params_create(tenon_params_at(all, 0), 1, NULL, &options.params));
	fill_inputs(3);
	memory_init(&m, root);
	assert_ok(tenon_model_open_in(root, &options, &m.regions, &model));
	params = params_of(model);
	/* as another model does */
	memset(m.regions.region[TENON_PLANNED].data, 0xa5, m.regions.region[TENON_PLANNED].size);
	assert_ok(set_inputs(model, params));
	assert_ok(tenon_model_run(model));
	assert_ok(hash_outputs(model, &hash));
	assert_true(hash == ordinary_result(root, 3));
	tenon_model_close(model);
	memory_fini(&m);
	unload(root);
	tenon_object_unref(all);
}

static void a_model_that_a_function_of_another_opens_is_in_memory_of_its_own(void **state)
{
	static _Alignas(HEAP_ALIGN) char memory[HEAP_SORTS][65536];
	const struct heap_region regions[HEAP_SORTS] = {
		{ memory[0], sizeof(memory[0]), NULL },
		{ memory[1], sizeof(memory[1]), NULL },
		{ memory[2], sizeof(memory[2]), NULL },
	};
	struct tenon_module *root = load(MLP);
	struct tenon_model *model;
	struct heap *heap;

	(void)state;
	assert_ok(heap_create(regions, NULL, &heap));
	heap_enter(heap);
	assert_ok(tenon_model_open(root, NULL, &model));
	assert_int_equal(heap_live(heap), 0);
	assert_ptr_equal(heap_enter(NULL), heap);
	tenon_model_close(model);
	heap_close(heap);
	unload(root);
}

static int threads_here(void)
{
	DIR *folder = opendir("/proc/self/task");
	struct dirent *entry;
	int count = 0;

	while (folder && (entry = readdir(folder)))
		count += entry->d_name[0] != '.';
	if (folder)
		closedir(folder);
	return count;
}

/* In a child process, whose pool of threads is not started. An ordinary run, which starts it, comes last. */
static void loops_of_a_model_in_regions_start_no_thread(void **state)
{
	struct tenon_module *root = load(MLP + 1);
	struct memory m;
	uint64_t hash;
	int status;
	pid_t child;

	(void)state;
	memory_init(&m, root);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		setenv("TVM_NUM_THREADS", "2", 1);
		if (threads_here() != 1 || whole_life(root, &m.regions, &hash))
			_exit(1);
		if (threads_here() != 1)
			_exit(2);
		ordinary_result(root, 1);
		_exit(threads_here() > 1 ? 0 : 77);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	memory_fini(&m);
	unload(root);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
		print_message("parallel loops are not divided here\n");
		skip();
	}
	assert_int_equal(status, 0);
}

static void an_output_may_be_dropped_after_its_model_is_closed(void **state)
{
	struct tenon_module *root = load(MLP);
	struct tenon_model *model;
	struct tenon_value output;
	struct memory m;

	(void)state;
	memory_init(&m, root);
	assert_ok(tenon_model_open_in(root, &options, &m.regions, &model));
	assert_ok(set_inputs(model, params_of(model)));
	assert_ok(tenon_model_run(model));
	assert_ok(tenon_model_output_value(model, 0, &output));
	tenon_model_close(model);
	tenon_value_release(&output);
	memory_fini(&m);
	unload(root);
}

static void a_model_on_a_device_is_refused_by_its_name(void **state)
{
	static const char *const names[] = { "opencl:0", "mortise:0" };
	DLDevice on;
	const struct tenon_model_options o = { .size = sizeof(o),
					       .devices = &on,
					       .device_count = 1 };
	struct tenon_need need = { .size = sizeof(need) };
	const int fd = -1;
	const struct tenon_regions regions = { .size = sizeof(regions), .dmabuf = { NULL, &fd } };
	struct tenon_module *root = load_file(D18 "graph_mlp_opencl/graph.so");
	struct tenon_model *model;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		assert_int_equal(tenon_device_parse(tenon_slice_of(names[i]), &on), 0);
		assert_int_equal(tenon_model_need(root, &o, &need), -TENON_E_UNSUPPORTED);
		assert_error_has(names[i]);
		assert_int_equal(tenon_model_open_in(root, &o, &regions, &model),
				 -TENON_E_UNSUPPORTED);
		assert_error_has(names[i]);
	}
	unload(root);
}

#ifdef RELAX_TESTED
static void a_model_without_a_bound_is_refused_with_what_has_none(void **state)
{
	static const struct {
		const char *file, *said;
		int status;
	} refused[] = {
		/* a dimension that varies */
		{ D18 "relax_mlp/vm.so", "dimension 0", -TENON_E_VALUE },
		{ D27 "model_mlp_compiled/model.so", "compiled as a whole", -TENON_E_UNSUPPORTED },
		{ D27 "model_branch/model.so", "a branch", -TENON_E_UNSUPPORTED },
	};
	struct tenon_need need = { .size = sizeof(need) };
	struct tenon_module *root;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		root = load_file(refused[i].file);
		assert_int_equal(tenon_model_need(root, NULL, &need), refused[i].status);
		assert_error_has(refused[i].said);
		unload(root);
	}
}
#endif

static void a_struct_without_a_size_is_refused(void **state)
{
	struct tenon_module *root = load(MLP);
	const struct tenon_regions regions = { .size = 0 };
	struct tenon_model *model;
	struct tenon_need need = { .size = 0 };

	(void)state;
	assert_int_equal(tenon_model_need(root, NULL, &need), -TENON_E_USAGE);
	assert_int_equal(tenon_model_open_in(root, NULL, &regions, &model), -TENON_E_USAGE);
	unload(root);
}

int main(void)
{
#ifndef __x86_64__
	printf("1..0 # SKIP the files of these models are for x86-64\n");
	return 77;
#endif
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loops_of_a_model_in_regions_start_no_thread),
		cmocka_unit_test(a_model_runs_in_what_it_needs_while_every_allocation_fails),
		cmocka_unit_test(
			one_byte_less_of_any_sort_is_too_little_and_the_error_names_the_sort),
		cmocka_unit_test(models_that_never_run_at_once_share_planned_and_temporary_memory),
		cmocka_unit_test(parameters_that_the_options_lack_are_not_in_memory_that_is_shared),
		cmocka_unit_test(a_model_that_a_function_of_another_opens_is_in_memory_of_its_own),
		cmocka_unit_test(an_output_may_be_dropped_after_its_model_is_closed),
		cmocka_unit_test(a_model_on_a_device_is_refused_by_its_name),
#ifdef RELAX_TESTED
		cmocka_unit_test(a_model_without_a_bound_is_refused_with_what_has_none),
#endif
		cmocka_unit_test(a_struct_without_a_size_is_refused),
	};

	return cmocka_run_group_tests(tests, open_npu, close_npu);
}
