/* SPDX-License-Identifier: MIT */
/*
 * Models of TensorFlow Lite in memory that the caller gives, on ethosu://accel/0 with the kernel's model (a named fake): runs
 * take no memory, and a dma-buf is the arena of the NPU, to which nothing is copied.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <tenon/device.h>
#include <tenon/memory.h>
#include <tenon/model.h>
#include <tenon/module.h>
#include <tenon/regions.h>
#include <tenon/timeline.h>

#include "devices/ethosu/ethosu_device.h"
#include "tests/driver/faults.h"
#include "tests/driver/tree.h"
#include "tests/nomem/failing_malloc.h"
#include "tests/npu/npu_kernel.h"
#include "tests/unit/suite.h"

#define DATA "tests/ethosu/data/"

static const char *const files[] = {
	DATA "u65_conv1x1/vela.tflite",
	DATA "u65_softmax_mix/vela.tflite",
	DATA "u65_cpu_fallback/vela.tflite",
};

#define FILES (sizeof(files) / sizeof(*files))

static struct tenon_device *device;

/* the kernel's model takes memory for what a kernel has */
static struct system_calls uncounted;

static int uncounted_ioctl(int fd, unsigned long request, void *argument)
{
	int ret;

	failing_malloc_pass(true);
	ret = npu_calls.ioctl(fd, request, argument);
	failing_malloc_pass(false);
	return ret;
}

static int begin(void **state)
{
	int err = tree_setup(state);

	npu_start();
	npu.job_time = NPU_SECOND / 1000;
	uncounted = npu_calls;
	uncounted.ioctl = uncounted_ioctl;
	faults_over(&uncounted);
	ethosu_accel_source.calls = &faulty_calls;
	ethosu_accel_source.root = tree;
	npu_set_time(tenon_now());
	if (!err && tenon_device_open("ethosu://accel/0", &device))
		fail_msg("%s", tenon_error_message());
	return err;
}

static int finish(void **state)
{
	tenon_object_unref(device);
	return tree_teardown(state);
}

static void assert_ok_at(int err, const char *file, int line)
{
	if (!err)
		return;
	print_error("status %d: %s\n", err, tenon_error_message());
	_fail(file, line);
}

#define assert_ok(err) assert_ok_at(err, __FILE__, __LINE__)

/* ---- a model in memory of the caller */

struct place {
	struct tenon_module *root;
	DLDevice npu;
	struct tenon_model_options options;
	struct tenon_need need;
	struct tenon_regions regions;
	struct tenon_memory *buffer; /* of planned memory that is a dma-buf */
	int fd;
};

static void region_set(struct tenon_region *r, uint64_t size)
{
	free(r->data);
	r->size = (size_t)size;
	r->data = aligned_alloc(TENON_REGION_ALIGN, (r->size | 127) + 1);
	assert_non_null(r->data);
}

static void place_init(struct place *p, const char *file, struct tenon_device *on)
{
	int i;

	*p = (struct place){ .fd = -1 };
	assert_ok(tenon_module_load(file, &p->root));
	p->npu = tenon_device_id(on);
	p->options = (struct tenon_model_options){ .size = sizeof(p->options),
						   .devices = &p->npu,
						   .device_count = 1 };
	p->need.size = sizeof(p->need);
	assert_ok(tenon_model_need(p->root, &p->options, &p->need));
	p->regions.size = sizeof(p->regions);
	for (i = 0; i < TENON_SORTS; i++) {
		region_set(&p->regions.region[i], p->need.sort[i].bytes);
	}
}

/* Let planned memory be a buffer of the device, as a dma-buf. */
static void place_share(struct place *p)
{
	const struct tenon_memory_request request = { sizeof(request), p->need.shared.bytes,
						      TENON_MEMORY_DEFAULT | TENON_MEMORY_MAP |
							      TENON_MEMORY_EXPORT,
						      -1, NULL };
	struct tenon_region *planned = &p->regions.region[TENON_PLANNED];

	region_set(&p->regions.region[TENON_PERSISTENT],
		   p->need.sort[TENON_PERSISTENT].bytes + TENON_REGION_DMABUF);
	free(planned->data);
	assert_ok(tenon_memory_alloc(device, &request, &p->buffer));
	assert_ok(tenon_memory_export(p->buffer, TENON_HANDLE_DMA_BUF, &p->fd));
	planned->size = (size_t)request.bytes;
	assert_ok(tenon_memory_map(p->buffer, TENON_MAP_READ | TENON_MAP_WRITE, 0, request.bytes,
				   &planned->data));
	p->regions.dmabuf[TENON_PLANNED] = &p->fd;
}

static void place_fini(struct place *p)
{
	int i;

	for (i = 0; i < TENON_SORTS; i++)
		if (i != TENON_PLANNED || !p->buffer)
			free(p->regions.region[i].data);
	if (p->fd >= 0)
		faulty_calls.close(p->fd);
	tenon_object_unref(p->buffer);
	tenon_object_unref(p->root);
}

/* ---- runs */

static _Alignas(TENON_TENSOR_ALIGN) char bytes[1 << 18];

/* Return: 0; the status of the first call that failed. */
static int run(struct tenon_model *model, char seed)
{
	struct tenon_value value;
	struct tenon_port port;
	size_t i;
	DLTensor t;
	int err = 0;

	memset(bytes, seed, sizeof(bytes));
	for (i = 0; i < tenon_model_input_count(model) && !err; i++) {
		err = tenon_model_input(model, i, &port);
		t = tenon_dltensor(bytes, (int64_t *)(uintptr_t)port.shape, port.ndim, port.dtype);
		value = tenon_arg_tensor(&t);
		err = err ? err : tenon_model_set_input(model, i, &value);
	}
	return err ? err : tenon_model_run(model);
}

static int hash_outputs(struct tenon_model *model, uint64_t *hash)
{
	struct tenon_value value;
	DLTensor *t;
	size_t i, k, size;
	int err = 0;

	*hash = 14695981039346656037u;
	for (i = 0; i < tenon_model_output_count(model) && !err; i++) {
		err = tenon_model_output_value(model, i, &value);
		err = err ? err : tenon_value_tensor(&value, &t);
		err = err ? err : tenon_tensor_bytes(t, &size);
		for (k = 0; k < size && !err; k++)
			*hash = (*hash ^ ((unsigned char *)t->data)[k]) * UINT64_C(1099511628211);
		tenon_value_release(&value);
	}
	return err;
}

/* What the functional model gives, in memory of the library. */
static uint64_t expected(const char *file, char seed)
{
	struct tenon_device *sim;
	struct tenon_module *root;
	struct tenon_model *model;
	DLDevice id;
	const struct tenon_model_options o = { .size = sizeof(o),
					       .devices = &id,
					       .device_count = 1 };
	uint64_t hash;

	assert_ok(tenon_device_open("ethosu://sim", &sim));
	id = tenon_device_id(sim);
	assert_ok(tenon_module_load(file, &root));
	assert_ok(tenon_model_open(root, &o, &model));
	assert_ok(run(model, seed));
	assert_ok(hash_outputs(model, &hash));
	tenon_model_close(model);
	tenon_object_unref(root);
	tenon_object_unref(sim);
	return hash;
}

/* Run with several inputs, in which no thread takes memory. Returns how many bytes were copied. */
static uint64_t runs_without_memory(struct place *p, const char *file)
{
	struct ethosu_device *d = (struct ethosu_device *)device;
	struct tenon_model *model;
	const bool counts = failing_malloc_works();
	uint64_t hash[3], copied;
	long requests;
	int i, err = 0;

	assert_ok(tenon_model_open_in(p->root, &p->options, &p->regions, &model));
	d->copied = 0;
	if (counts)
		failing_malloc_start(FAILING_MALLOC_ALL);
	for (i = 0; i < 3 && !err; i++) {
		err = run(model, (char)(i * 21));
		err = err ? err : hash_outputs(model, &hash[i]);
	}
	requests = counts ? failing_malloc_stop() : 0;
	copied = d->copied;
	assert_ok(err);
	assert_int_equal(requests, 0);
	tenon_model_close(model);
	for (i = 0; i < 3; i++)
		assert_true(hash[i] == expected(file, (char)(i * 21)));
	return copied;
}

static void runs_on_hardware_take_no_memory(void **state)
{
	struct place p;
	size_t i;

	(void)state;
	for (i = 0; i < FILES; i++) {
		place_init(&p, files[i], device);
		assert_true(runs_without_memory(&p, files[i]) > 0);
		place_fini(&p);
	}
}

static void a_dma_buf_is_the_arena_and_nothing_is_copied(void **state)
{
	struct place p;
	size_t i;

	(void)state;
	for (i = 0; i < FILES; i++) {
		place_init(&p, files[i], device);
		assert_true(p.need.shared.bytes > 0);
		place_share(&p);
		assert_int_equal(runs_without_memory(&p, files[i]), 0);
		print_message("# %s: %zu bytes of a dma-buf\n", files[i],
			      p.regions.region[TENON_PLANNED].size);
		place_fini(&p);
	}
}

static void a_run_loses_inputs_in_a_dma_buf(void **state)
{
	struct tenon_model *model;
	struct tenon_tensor *t;
	struct tenon_port port;
	struct place p;

	(void)state;
	place_init(&p, files[0], device);
	place_share(&p);
	assert_ok(tenon_model_open_in(p.root, &p.options, &p.regions, &model));
	assert_ok(run(model, 1));
	assert_false(tenon_model_input_is_set(model, 0));
	assert_int_equal(tenon_model_run(model), -TENON_E_USAGE);
	assert_ok(tenon_model_input(model, 0, &port));
	assert_ok(tenon_tensor_create(port.shape, port.ndim, port.dtype, &t));
	assert_int_equal(tenon_model_bind_input(model, 0, t), -TENON_E_UNSUPPORTED);
	tenon_object_unref(t);
	tenon_model_close(model);
	place_fini(&p);
}

/* Vela makes one of what sets the first values of variables. */
static void an_operator_without_inputs_has_an_arena_too(void **state)
{
	static const uint32_t inputs[] = { 5, 0, 1, 2, 3, 4 }, fewer = 4;
	struct tenon_need need = { .size = sizeof(need) };
	struct tenon_module *root;
	struct place p;
	size_t size;
	char *at;
	FILE *f;

	(void)state;
	place_init(&p, files[0], device);
	f = fopen(files[0], "rb");
	assert_non_null(f);
	size = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	at = memmem(bytes, size, inputs, sizeof(inputs));
	assert_non_null(at);
	memcpy(at, &fewer, sizeof(fewer));
	assert_ok(tenon_module_load_bytes("tflite", (struct tenon_slice){ bytes, size }, &root));
	assert_ok(tenon_model_need(root, &p.options, &need));
	/* the input has a place behind the arena now */
	assert_true(need.shared.bytes >= p.need.shared.bytes);
	tenon_object_unref(root);
	place_fini(&p);
}

static void assert_refused(struct place *p, int status, const char *why)
{
	struct tenon_model *model;

	assert_int_equal(tenon_model_open_in(p->root, &p->options, &p->regions, &model), status);
	assert_null(model);
	assert_error_has(why);
}

static void a_dma_buf_that_is_too_small_is_refused_with_what_is_needed(void **state)
{
	char want[32];
	struct place p;

	(void)state;
	place_init(&p, files[0], device);
	place_share(&p);
	p.regions.region[TENON_PLANNED].data = (char *)p.regions.region[TENON_PLANNED].data + 64;
	assert_refused(&p, -TENON_E_VALUE, "at a multiple of 128");
	p.regions.region[TENON_PLANNED].data = (char *)p.regions.region[TENON_PLANNED].data - 64;
	p.regions.region[TENON_PLANNED].size--;
	snprintf(want, sizeof(want), "%zu of planned memory", (size_t)p.need.shared.bytes);
	assert_refused(&p, -TENON_E_NOMEM, want);
	place_fini(&p);
}

/* The bytes of persistent memory that the message of a failed opening asks for. */
static size_t persistent_asked(struct place *p)
{
	static const char before[] = "needed are ";
	struct tenon_model *model;
	const char *at;
	size_t bytes;

	assert_int_equal(tenon_model_open_in(p->root, &p->options, &p->regions, &model),
			 -TENON_E_NOMEM);
	at = strstr(tenon_error_message(), before);
	assert_non_null(at);
	bytes = strtoul(at + sizeof(before) - 1, NULL, 10);
	tenon_error_clear();
	return bytes;
}

static void the_message_asks_for_the_persistent_memory_that_a_dma_buf_takes(void **state)
{
	struct place p;
	size_t alone;

	(void)state;
	place_init(&p, files[0], device);
	p.regions.region[TENON_PLANNED].size--;
	alone = persistent_asked(&p);
	place_share(&p);
	p.regions.region[TENON_PLANNED].size--;
	assert_int_equal(persistent_asked(&p), alone + TENON_REGION_DMABUF);
	place_fini(&p);
}

/* A memfd stands for a dma-buf of another driver: the kernel refuses both. */
static void a_dma_buf_that_would_be_copied_is_refused(void **state)
{
	struct tenon_device *sim;
	struct place p;

	(void)state;
	place_init(&p, files[0], device);
	p.fd = memfd_create("foreign", MFD_CLOEXEC);
	assert_int_equal(ftruncate(p.fd, 1 << 20), 0);
	p.regions.dmabuf[TENON_PLANNED] = &p.fd;
	assert_refused(&p, -TENON_E_UNSUPPORTED, "/dev/accel/accel0");
	assert_ok(tenon_device_open("ethosu://sim", &sim));
	p.npu = tenon_device_id(sim);
	assert_refused(&p, -TENON_E_UNSUPPORTED, "a dma-buf");
	p.npu = tenon_device_id(device);
	p.regions.dmabuf[TENON_PLANNED] = NULL;
	p.regions.dmabuf[TENON_TEMPORARY] = &p.fd;
	assert_refused(&p, -TENON_E_UNSUPPORTED, "temporary memory is a dma-buf");
	close(p.fd);
	p.fd = -1;
	place_fini(&p);
	tenon_object_unref(sim);
}

static void a_model_that_cannot_be_in_a_dma_buf_is_refused(void **state)
{
	struct place p;

	(void)state;
	place_init(&p, "tests/tflite/data/several.tflite", device);
	assert_int_equal(p.need.shared.bytes, 0);
	p.fd = memfd_create("foreign", MFD_CLOEXEC);
	p.regions.dmabuf[TENON_PLANNED] = &p.fd;
	assert_refused(&p, -TENON_E_UNSUPPORTED, "no operator of an NPU");
	close(p.fd);
	p.fd = -1;
	place_fini(&p);
	place_init(&p, DATA "u65_add2_cop2/vela.tflite", device);
	p.need.shared.bytes = 4096;
	place_share(&p);
	assert_refused(&p, -TENON_E_UNSUPPORTED, "regions of its own");
	place_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_on_hardware_take_no_memory),
		cmocka_unit_test(a_dma_buf_is_the_arena_and_nothing_is_copied),
		cmocka_unit_test(a_run_loses_inputs_in_a_dma_buf),
		cmocka_unit_test(an_operator_without_inputs_has_an_arena_too),
		cmocka_unit_test(a_dma_buf_that_is_too_small_is_refused_with_what_is_needed),
		cmocka_unit_test(the_message_asks_for_the_persistent_memory_that_a_dma_buf_takes),
		cmocka_unit_test(a_dma_buf_that_would_be_copied_is_refused),
		cmocka_unit_test(a_model_that_cannot_be_in_a_dma_buf_is_refused),
	};

	return cmocka_run_group_tests(tests, begin, finish);
}
