/* SPDX-License-Identifier: MIT */
/*
 * Graphs on torq:0 in memory that the caller gives, with the kernel's model (a named fake): planned memory is a dma-buf, which
 * the NPU uses where it is, and runs take no memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <tenon/model.h>
#include <tenon/module.h>
#include <tenon/regions.h>

#include "devices/torq/torq_device.h"
#include "tests/driver/faults.h"
#include "tests/driver/tree.h"
#include "tests/nomem/failing_malloc.h"
#include "tests/torq/torq_kernel.h"
#include "tests/torq/torq_session.h"
#include "tests/unit/suite.h"

/* out = main(a, b), each of 64 numbers */
#define GRAPH                                                                                      \
	"{\"nodes\": [{\"op\": \"null\", \"name\": \"a\", \"inputs\": []},"                        \
	"{\"op\": \"null\", \"name\": \"b\", \"inputs\": []},"                                     \
	"{\"op\": \"tvm_op\", \"name\": \"sum\", \"inputs\": [[0, 0, 0], [1, 0, 0]], \"attrs\": {" \
	"\"num_outputs\": \"1\", \"num_inputs\": \"2\", \"flatten_data\": \"0\","                  \
	"\"func_name\": \"main\"}}], \"arg_nodes\": [0, 1], \"heads\": [[2, 0, 0]], \"attrs\": {"  \
	"\"dltype\": [\"list_str\", [\"int32\", \"int32\", \"int32\"]],"                           \
	"\"storage_id\": [\"list_int\", [0, 1, 2]],"                                               \
	"\"shape\": [\"list_shape\", [[1, 64], [1, 64], [1, 64]]]},"                               \
	"\"node_row_ptr\": [0, 1, 2, 3]}"

#define BYTES 256 /* of a tensor */

static const struct torq_network_data *const data = &torq_networks[0];

/* the fake takes memory for what a kernel has */
static struct system_calls uncounted;

static int uncounted_ioctl(int fd, unsigned long request, void *argument)
{
	int ret;

	failing_malloc_pass(true);
	ret = torq_calls.ioctl(fd, request, argument);
	failing_malloc_pass(false);
	return ret;
}

static int begin_all(void **state)
{
	(void)state;
	tree_pretend("/model-of-the-kernel");
	torq_source.calls = &faulty_calls;
	torq_source.root = tree;
	uncounted = torq_calls;
	uncounted.ioctl = uncounted_ioctl;
	return 0;
}

static void assert_ok_at(int err, const char *file, int line)
{
	if (!err)
		return;
	print_error("status %d: %s\n", err, tenon_error_message());
	_fail(file, line);
}

#define assert_ok(err) assert_ok_at(err, __FILE__, __LINE__)

struct place {
	struct tenon_device *device;
	struct tenon_module *library;
	DLDevice npu;
	struct tenon_model_options options;
	struct tenon_need need;
	struct tenon_regions regions;
	int fd;
};

static void region_set(struct tenon_region *r, uint64_t size)
{
	r->size = (size_t)size;
	r->data = aligned_alloc(TENON_REGION_ALIGN, (r->size | 127) + 1);
	assert_non_null(r->data);
}

static void program_open(struct place *p)
{
	static uint8_t file[TORQ_FILE_MOST];
	const size_t size = torq_data(data, "add.vmfb", file);

	assert_ok(tenon_device_open("torq:0", &p->device));
	assert_ok(tenon_module_load_bytes("torq", (struct tenon_slice){ (const char *)file, size },
					  &p->library));
	p->npu = tenon_device_id(p->device);
}

static void program_close(struct place *p)
{
	tenon_object_unref(p->library);
	tenon_object_unref(p->device);
	tenon_device_close_all();
}

/* A memfd stands for a dma-buf of another driver; the fake maps it. No record has the zeros of tenon_model_need(). */
static void place_init(struct place *p)
{
	static enum torq_fate nothing[16];
	struct tenon_region *planned = &p->regions.region[TENON_PLANNED];
	size_t i;

	*p = (struct place){ .regions.size = sizeof(p->regions), .need.size = sizeof(p->need) };
	torq_begin(data);
	faults_over(&uncounted);
	for (i = 0; i < sizeof(nothing) / sizeof(*nothing); i++)
		nothing[i] = TORQ_NOTHING;
	torq.fates = nothing;
	torq.fate_count = (unsigned int)i;
	program_open(p);
	p->options = (struct tenon_model_options){ .size = sizeof(p->options),
						   .devices = &p->npu,
						   .device_count = 1,
						   .graph = tenon_slice_of(GRAPH) };
	assert_ok(tenon_model_need(p->library, &p->options, &p->need));
	/* its last run may go on */
	assert_ok(tenon_device_sync(p->device, TENON_FOREVER));
	torq.fate_count = 0;
	region_set(&p->regions.region[TENON_PERSISTENT],
		   p->need.sort[TENON_PERSISTENT].bytes + TENON_REGION_DMABUF);
	region_set(&p->regions.region[TENON_TEMPORARY], p->need.sort[TENON_TEMPORARY].bytes);
	p->fd = memfd_create("foreign", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	assert_int_equal(ftruncate(p->fd, (off_t)(p->need.shared.bytes | 4095) + 1), 0);
	planned->size = (size_t)p->need.shared.bytes;
	planned->data = mmap(NULL, planned->size, PROT_READ | PROT_WRITE, MAP_SHARED, p->fd, 0);
	assert_true(planned->data != MAP_FAILED);
	p->regions.dmabuf[TENON_PLANNED] = &p->fd;
}

static void place_fini(struct place *p)
{
	munmap(p->regions.region[TENON_PLANNED].data, (size_t)p->need.shared.bytes);
	close(p->fd);
	free(p->regions.region[TENON_PERSISTENT].data);
	free(p->regions.region[TENON_TEMPORARY].data);
	program_close(p);
	tenon_error_clear();
}

static DLTensor tensor_of(uint8_t *bytes)
{
	static int64_t shape[2] = { 1, BYTES / 4 };

	return tenon_dltensor(bytes, shape, 2, tenon_dtype(TENON_DTYPE_INT, 32, 1));
}

static int run(struct tenon_model *model, uint8_t inputs[2][TORQ_TENSOR_MOST], uint8_t *output)
{
	struct tenon_value value;
	DLTensor t, *found;
	size_t i;
	int err = 0;

	for (i = 0; i < 2 && !err; i++) {
		t = tensor_of(inputs[i]);
		value = tenon_arg_tensor(&t);
		err = tenon_model_set_input(model, i, &value);
	}
	if (!err)
		err = tenon_model_run(model);
	if (!err)
		err = tenon_model_output_value(model, 0, &value);
	if (err)
		return err;
	t = tensor_of(output);
	err = tenon_value_tensor(&value, &found);
	if (!err)
		err = tenon_tensor_copy(found, &t);
	tenon_value_release(&value);
	return err;
}

static void take_record(uint8_t inputs[2][TORQ_TENSOR_MOST], uint8_t *right)
{
	torq_tensor(data, 0, inputs[0]);
	torq_tensor(data, 1, inputs[1]);
	torq_tensor(data, 2, right);
}

static void a_graph_runs_in_a_dma_buf_and_runs_take_no_memory(void **state)
{
	uint8_t inputs[2][TORQ_TENSOR_MOST], right[TORQ_TENSOR_MOST], found[BYTES];
	const bool counts = failing_malloc_works();
	struct tenon_model *model;
	unsigned int attached;
	long requests = 0;
	struct place p;
	int i, err = 0;

	(void)state;
	place_init(&p);
	assert_true(p.need.device.bytes >= 3 * BYTES);
	assert_true(p.need.shared.bytes > p.need.sort[TENON_PLANNED].bytes);
	take_record(inputs, right);
	assert_ok(tenon_model_open_in(p.library, &p.options, &p.regions, &model));
	attached = torq.attached;
	if (counts)
		failing_malloc_start(FAILING_MALLOC_ALL);
	for (i = 0; i < 3 && !err; i++)
		err = run(model, inputs, found);
	if (counts)
		requests = failing_malloc_stop();
	assert_ok(err);
	assert_int_equal(requests, 0);
	assert_memory_equal(found, right, BYTES);
	/* each argument is mapped where it is: in pages of the dma-buf */
	assert_int_equal(torq.attached, attached + 9);
	assert_memory_equal(p.regions.region[TENON_PLANNED].data, inputs[0], BYTES);
	assert_memory_equal((char *)p.regions.region[TENON_PLANNED].data + 8192, right, BYTES);
	tenon_model_close(model);
	place_fini(&p);
}

/* Run once in the regions, and fill what the model had there. */
static void run_and_spoil(struct place *p, uint8_t inputs[2][TORQ_TENSOR_MOST],
			  const uint8_t *right)
{
	struct tenon_model *model;
	uint8_t found[BYTES];

	assert_ok(tenon_model_open_in(p->library, &p->options, &p->regions, &model));
	assert_ok(run(model, inputs, found));
	assert_memory_equal(found, right, BYTES);
	tenon_model_close(model);
	memset(p->regions.region[TENON_PERSISTENT].data, 0xff,
	       p->regions.region[TENON_PERSISTENT].size);
}

/* The thread's queue and the module's executables are made with the first model: tenon_model_need() had others. */
static void what_outlives_a_model_is_not_in_its_memory(void **state)
{
	uint8_t inputs[2][TORQ_TENSOR_MOST], right[TORQ_TENSOR_MOST];
	struct place p;

	(void)state;
	place_init(&p);
	take_record(inputs, right);
	program_close(&p);
	program_open(&p);
	run_and_spoil(&p, inputs, right);
	run_and_spoil(&p, inputs, right);
	place_fini(&p);
}

static void assert_refused(struct place *p, int status, const char *why)
{
	struct tenon_model *model;

	assert_int_equal(tenon_model_open_in(p->library, &p->options, &p->regions, &model), status);
	assert_null(model);
	assert_error_has(why);
}

static void one_byte_less_is_refused_with_what_is_needed(void **state)
{
	char want[64];
	struct place p;

	(void)state;
	place_init(&p);
	p.regions.region[TENON_PLANNED].size--;
	snprintf(want, sizeof(want), "%zu of planned memory", (size_t)p.need.shared.bytes);
	assert_refused(&p, -TENON_E_NOMEM, want);
	place_fini(&p);
}

static void what_a_dma_buf_is_not_for_is_refused(void **state)
{
	DLDevice cpu = { kDLCPU, 0 };
	struct place p;

	(void)state;
	place_init(&p);
	p.options.devices = &cpu;
	assert_refused(&p, -TENON_E_UNSUPPORTED, "cpu:0");
	p.options.devices = &p.npu;
	p.regions.dmabuf[TENON_PLANNED] = NULL;
	p.regions.dmabuf[TENON_TEMPORARY] = &p.fd;
	assert_refused(&p, -TENON_E_UNSUPPORTED, "temporary memory is a dma-buf");
	place_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_graph_runs_in_a_dma_buf_and_runs_take_no_memory),
		cmocka_unit_test(what_outlives_a_model_is_not_in_its_memory),
		cmocka_unit_test(one_byte_less_is_refused_with_what_is_needed),
		cmocka_unit_test(what_a_dma_buf_is_not_for_is_refused),
	};

	return cmocka_run_group_tests(tests, begin_all, NULL);
}
