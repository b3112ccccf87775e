/* SPDX-License-Identifier: MIT */
/* Command streams on a device: results, regions, chains of jobs, deadlines, and memory that stays the device's. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <tenon/executable.h>
#include <tenon/module.h>

#include "devices/mortise/mortise_device.h"
#include "tests/fuzz/random.h"
#include "tests/hil/reference.h"
#include "tests/mortise/stream.h"
#include "tests/mortise/stream_cases.h"
#include "tests/unit/suite.h"

#define SECOND UINT64_C(1000000000)

#define ok(call)                                                                                   \
	do {                                                                                       \
		int err_ = (call);                                                                 \
		if (err_)                                                                          \
			print_error("%s: %s\n", #call, tenon_error_message());                     \
		assert_int_equal(err_, 0);                                                         \
	} while (0)

static uint64_t soon(void)
{
	return tenon_deadline(60 * SECOND);
}

/**
 * struct bench - a stream on a device
 * @payload: its bytes
 * @program: made of them
 * @executable: on @device
 */
struct bench {
	struct tenon_buffer payload;
	struct tenon_program *program;
	struct tenon_device *device;
	struct tenon_executable *executable;
	struct tenon_queue *queue;
};

static struct tenon_kernel *kernel_of(struct bench *b, const char *name)
{
	struct tenon_kernel *kernel = NULL;
	size_t i;

	for (i = 0; i < b->program->kernel_count; i++)
		if (tenon_slice_equal(b->program->kernels[i].name, tenon_slice_of(name)))
			ok(tenon_executable_kernel(b->executable, i, &kernel));
	assert_non_null(kernel);
	return kernel;
}

/* The payload of @b becomes an executable. */
static void build(struct bench *b)
{
	const struct tenon_slice bytes = { b->payload.data, b->payload.size };

	ok(tenon_program_read(tenon_slice_of("cmdstream"), TENON_GENERATION_FFI, bytes, "test",
			      &b->program));
	ok(tenon_device_open(stream_uri, &b->device));
	ok(tenon_executable_create(b->device, b->program, NULL, &b->executable));
	ok(tenon_queue_create(b->device, &b->queue));
}

static void start(struct bench *b)
{
	*b = (struct bench){ .payload = TENON_BUFFER_INIT };
	ok(sample_stream(&b->payload));
	build(b);
}

static void end(struct bench *b)
{
	tenon_object_unref(b->queue);
	tenon_object_unref(b->executable);
	tenon_object_unref(b->device);
	tenon_program_free(b->program);
	tenon_buffer_fini(&b->payload);
}

static struct tenon_memory *memory(struct bench *b, uint64_t size, const void *bytes)
{
	struct tenon_memory_request request = { sizeof(request), size, TENON_MEMORY_DEFAULT, -1,
						NULL };
	struct tenon_memory *m = NULL;

	ok(tenon_memory_alloc(b->device, &request, &m));
	if (bytes) {
		ok(tenon_queue_write(b->queue, m, 0, bytes, size, NULL));
		ok(tenon_queue_sync(b->queue, soon()));
	}
	return m;
}

static int launch(struct bench *b, const char *name, struct tenon_memory *const *memory,
		  const struct tenon_job *job)
{
	uint64_t arguments[8];
	struct tenon_dispatch d = { .kernel = kernel_of(b, name),
				    .arguments = arguments,
				    .grid = { 1, 1, 1 },
				    .block = { 1, 1, 1 } };
	uint32_t i;

	for (i = 0; i < d.kernel->info->argument_count; i++)
		arguments[i] = (uintptr_t)tenon_memory_data(memory[i]);
	return tenon_queue_launch(b->queue, &d, job);
}

static void make_input(int8_t *x, uint64_t seed)
{
	struct random r = { seed };
	int i;

	for (i = 0; i < SAMPLE_INPUTS; i++)
		x[i] = (int8_t)random_next(&r);
}

static void assert_dense(const int8_t *x, const int8_t *y)
{
	unsigned int n;

	for (n = 0; n < SAMPLE_OUTPUTS; n++)
		assert_int_equal(y[n], sample_result(x, n));
}

/* ---- results */

static void a_stream_computes_what_its_packets_say(void **unused)
{
	int8_t x[SAMPLE_INPUTS], y[SAMPLE_OUTPUTS];
	struct tenon_memory *m[2];
	struct bench b;
	uint64_t seed;

	(void)unused;
	start(&b);
	for (seed = 1; seed <= 20; seed++) {
		make_input(x, seed);
		m[0] = memory(&b, sizeof(x), x);
		m[1] = memory(&b, sizeof(y), NULL);
		ok(launch(&b, "dense", m, NULL));
		ok(tenon_queue_read(b.queue, y, m[1], 0, sizeof(y), NULL));
		ok(tenon_queue_sync(b.queue, soon()));
		assert_dense(x, y);
		ok(launch(&b, "clear", m + 1, NULL));
		ok(tenon_queue_read(b.queue, y, m[1], 0, sizeof(y), NULL));
		ok(tenon_queue_sync(b.queue, soon()));
		assert_int_equal(y[0] | y[7], 0);
		tenon_object_unref(m[0]);
		tenon_object_unref(m[1]);
	}
	end(&b);
}

static DLTensor tensor_of(void *data, int64_t *shape, DLDevice device)
{
	return (DLTensor){ .data = data,
			   .device = device,
			   .ndim = 1,
			   .dtype = tenon_dtype(TENON_DTYPE_INT, 8, 1),
			   .shape = shape };
}

static void tensors_of_the_host_are_copied(void **unused)
{
	static const DLDevice cpu = { kDLCPU, 0 };
	int64_t inputs = SAMPLE_INPUTS, outputs = SAMPLE_OUTPUTS, few = 4;
	int8_t x[SAMPLE_INPUTS], y[SAMPLE_OUTPUTS] = { 99, 99, 99, 99, 99, 99, 99, 99 };
	DLTensor tx = tensor_of(x, &inputs, cpu), ty = tensor_of(y, &outputs, cpu);
	const DLTensor *tensors[] = { &tx, &ty };
	struct bench b;

	(void)unused;
	start(&b);
	make_input(x, 5);
	ok(tenon_queue_run(b.queue, kernel_of(&b, "dense"), tensors, 2, NULL));
	ok(tenon_queue_sync(b.queue, soon()));
	assert_dense(x, y);
	assert_int_equal(tenon_queue_run(b.queue, kernel_of(&b, "dense"), tensors, 1, NULL),
			 -TENON_E_TYPE);
	ty.shape = &few;
	assert_int_equal(tenon_queue_run(b.queue, kernel_of(&b, "dense"), tensors, 2, NULL),
			 -TENON_E_VALUE);
	assert_error_has("4 bytes; the kernel accesses 8");
	end(&b);
}

/* Host memory that lies in the window of the board is used in place. */
static void memory_that_the_device_reaches_is_not_copied(void **unused)
{
	static const DLDevice cpu = { kDLCPU, 0 };
	int64_t inputs = SAMPLE_INPUTS, outputs = SAMPLE_OUTPUTS;
	const struct tenon_job late = { .size = sizeof(late) };
	int8_t x[SAMPLE_INPUTS];
	struct tenon_memory *m[2];
	const DLTensor *tensors[2];
	DLTensor tx, ty;
	struct bench b;

	(void)unused;
	start(&b);
	make_input(x, 6);
	m[0] = memory(&b, sizeof(x), x);
	m[1] = memory(&b, SAMPLE_OUTPUTS, NULL);
	assert_non_null(m[0]->host);
	tx = tensor_of(m[0]->host, &inputs, cpu);
	ty = tensor_of(m[1]->host, &outputs, cpu);
	tensors[0] = &tx;
	tensors[1] = &ty;
	/* the simulator is frozen: what was changed after the submission is what it sees */
	ok(tenon_device_sync(b.device, soon()));
	ok(board_inject(mortise_device_of(b.device)->board, BOARD_FREEZE));
	ok(tenon_queue_run(b.queue, kernel_of(&b, "dense"), tensors, 2, &late));
	make_input(x, 7);
	memcpy(m[0]->host, x, sizeof(x));
	ok(board_inject(mortise_device_of(b.device)->board, BOARD_THAW));
	ok(tenon_queue_sync(b.queue, soon()));
	assert_dense(x, m[1]->host);
	/* and tensors that are on the device */
	tx.device = ty.device = b.device->id;
	tx.data = tenon_memory_data(m[0]);
	ty.data = tenon_memory_data(m[1]);
	make_input(x, 8);
	ok(tenon_queue_write(b.queue, m[0], 0, x, sizeof(x), NULL));
	ok(tenon_queue_run(b.queue, kernel_of(&b, "dense"), tensors, 2, NULL));
	ok(tenon_queue_sync(b.queue, soon()));
	assert_dense(x, m[1]->host);
	tenon_object_unref(m[0]);
	tenon_object_unref(m[1]);
	end(&b);
}

static void memory_that_is_too_small_is_refused(void **unused)
{
	struct tenon_memory *m[2];
	struct bench b;

	(void)unused;
	start(&b);
	m[0] = memory(&b, SAMPLE_INPUTS - 1, NULL);
	m[1] = memory(&b, SAMPLE_OUTPUTS, NULL);
	assert_int_equal(launch(&b, "dense", m, NULL), -TENON_E_VALUE);
	assert_error_has("15 bytes of memory for region 0 (input), which has 16");
	tenon_object_unref(m[0]);
	tenon_object_unref(m[1]);
	end(&b);
}

/* ---- random streams */

#define ROOM 16384U

static void put_random(struct cmdstream_emitter *e, union any_packet *p, size_t size)
{
	switch (p->header.opcode) {
	case MORTISE_OP_COPY:
		PUT(e, MORTISE_OP_COPY, p->copy, HOLE(mortise_copy, to, 0, p->copy.to - 1),
		    HOLE(mortise_copy, from, 0, p->copy.from - 1));
		break;
	case MORTISE_OP_FILL:
		PUT(e, MORTISE_OP_FILL, p->fill, HOLE(mortise_fill, to, 0, p->fill.to - 1));
		break;
	case MORTISE_OP_SIGNAL:
		PUT(e, MORTISE_OP_SIGNAL, p->signal,
		    HOLE(mortise_semaphore, address, 0, p->signal.address - 1));
		break;
	case MORTISE_OP_VECTOR: {
		const struct hole holes[] = { HOLE(mortise_vector, to, 0, p->vector.to - 1),
					      HOLE(mortise_vector, a, 0, p->vector.a - 1),
					      HOLE(mortise_vector, b, 0, p->vector.b - 1) };

		put_packet(e, MORTISE_OP_VECTOR, p, size, holes, p->vector.b ? 3 : 2);
		break;
	}
	case MORTISE_OP_GEMM: {
		const struct hole holes[] = { HOLE(mortise_gemm, to, 0, p->gemm.to - 1),
					      HOLE(mortise_gemm, a, 0, p->gemm.a - 1),
					      HOLE(mortise_gemm, b, 0, p->gemm.b - 1),
					      HOLE(mortise_gemm, bias, 0, p->gemm.bias - 1) };

		put_packet(e, MORTISE_OP_GEMM, p, size, holes, p->gemm.bias ? 4 : 3);
		break;
	}
	default:
		put_packet(e, p->header.opcode, p, size, NULL, 0);
	}
}

/* random_packet() takes an address of 0 for none, so the memory begins at 1: what is aligned is moved back by 1. */
static void compare_stream(uint64_t seed, unsigned int packets)
{
	static uint8_t want[ROOM], found[ROOM];
	struct random r = { seed };
	const uint32_t argument = 0;
	struct cmdstream_emitter e;
	struct tenon_memory *m;
	union any_packet p;
	struct bench b = { .payload = TENON_BUFFER_INIT };
	unsigned int i;
	size_t size;

	cmdstream_emitter_init(&e);
	put_region(&e, TENON_REGION_INPUT, READ_WRITE, ROOM, NULL);
	for (i = 0; i < ROOM; i++)
		want[i] = (uint8_t)random_next(&r);
	memcpy(found, want, ROOM);
	for (i = 0; i < packets; i++) {
		size = random_packet(&r, &p, 1, ROOM);
		reference_run(&p, want, 1);
		put_random(&e, &p, size);
	}
	cmdstream_end_kernel(&e, "random", &argument, 1);
	ok(flush_stream(&e, &b.payload));
	cmdstream_emitter_fini(&e);
	build(&b);
	m = memory(&b, ROOM, found);
	ok(launch(&b, "random", &m, NULL));
	ok(tenon_queue_read(b.queue, found, m, 0, ROOM, NULL));
	ok(tenon_queue_sync(b.queue, soon()));
	for (i = 0; i < ROOM; i++)
		if (found[i] != want[i])
			fail_msg("seed %llu: byte %u is 0x%02x, not 0x%02x",
				 (unsigned long long)seed, i, found[i], want[i]);
	tenon_object_unref(m);
	end(&b);
}

static void random_streams_do_what_the_reference_does(void **unused)
{
	uint64_t seed;

	(void)unused;
	for (seed = 1; seed <= 20; seed++)
		compare_stream(seed, 100);
}

static void a_stream_may_be_longer_than_the_ring(void **unused)
{
	(void)unused;
	compare_stream(77, 20000);
}

/* ---- jobs */

struct chain {
	struct tenon_timeline *timeline;
	struct tenon_point begin;
	struct tenon_point done;
};

static struct chain chain(void)
{
	struct chain c = { 0 };

	ok(tenon_timeline_create(0, &c.timeline));
	c.begin = (struct tenon_point){ c.timeline, 1 };
	c.done = (struct tenon_point){ c.timeline, 2 };
	return c;
}

static void jobs_on_two_queues_are_chained(void **unused)
{
	struct chain c = chain();
	struct tenon_job first = { .size = sizeof(first), .sync = { NULL, 0, &c.begin, 1 } };
	struct tenon_job second = { .size = sizeof(second), .sync = { &c.begin, 1, &c.done, 1 } };
	int8_t x[SAMPLE_INPUTS], y[SAMPLE_OUTPUTS];
	struct tenon_queue *other;
	struct tenon_memory *m[2];
	struct bench b;

	(void)unused;
	start(&b);
	make_input(x, 9);
	m[0] = memory(&b, sizeof(x), x);
	m[1] = memory(&b, sizeof(y), NULL);
	ok(tenon_queue_create(b.device, &other));
	ok(launch(&b, "clear", m + 1, &first));
	/* the other queue waits for it; its result is what remains */
	tenon_object_ref(b.queue);
	{
		struct tenon_queue *mine = b.queue;

		b.queue = other;
		ok(launch(&b, "dense", m, &second));
		b.queue = mine;
	}
	tenon_object_unref(b.queue);
	ok(tenon_timeline_wait(c.timeline, 2, soon()));
	memcpy(y, m[1]->host, sizeof(y));
	assert_dense(x, y);
	tenon_object_unref(other);
	tenon_object_unref(c.timeline);
	tenon_object_unref(m[0]);
	tenon_object_unref(m[1]);
	end(&b);
}

/* a job that writes @memory, behind a point of @gate */
struct gated {
	struct bench bench;
	struct chain chain;
	struct tenon_timeline *gate;
	struct tenon_memory *memory;
};

/* @deadline: of the job; 0 for none */
static void begin_gated(struct gated *g, uint64_t deadline)
{
	struct tenon_point open = { NULL, 1 };
	struct tenon_job job = {
		.size = sizeof(job),
		.deadline = deadline,
		.sync = { &open, 1, &g->chain.done, 1 },
	};

	g->chain = chain();
	start(&g->bench);
	ok(tenon_timeline_create(0, &g->gate));
	open.timeline = g->gate;
	g->memory = memory(&g->bench, SAMPLE_OUTPUTS, "abcdefgh");
	ok(launch(&g->bench, "clear", &g->memory, &job));
}

static void end_unrun(struct gated *g)
{
	assert_memory_equal(g->memory->host, "abcdefgh", 8);
	tenon_error_clear();
	tenon_object_unref(g->gate);
	tenon_object_unref(g->chain.timeline);
	tenon_object_unref(g->memory);
	end(&g->bench);
}

static void a_job_whose_wait_fails_does_not_run(void **unused)
{
	struct gated g;

	(void)unused;
	begin_gated(&g, 0);
	/* cancelled before it starts */
	tenon_timeline_fail(g.gate, tenon_error(-TENON_E_VALUE, "no longer wanted"));
	assert_int_equal(tenon_timeline_wait(g.chain.timeline, 2, soon()), -TENON_E_VALUE);
	assert_error_has("no longer wanted");
	assert_int_equal(tenon_queue_sync(g.bench.queue, soon()), -TENON_E_VALUE);
	end_unrun(&g);
}

static void a_job_that_waits_past_its_deadline_does_not_run(void **unused)
{
	struct gated g;

	(void)unused;
	begin_gated(&g, tenon_deadline(SECOND / 20));
	assert_int_equal(tenon_timeline_wait(g.chain.timeline, 2, soon()), -TENON_E_TIMEOUT);
	assert_error_has("deadline");
	ok(tenon_timeline_signal(g.gate, 1));
	assert_int_equal(tenon_queue_sync(g.bench.queue, soon()), -TENON_E_TIMEOUT);
	end_unrun(&g);
}

/* The memory of a job that is late, or that was cancelled, is reused only when the device is done with it. */
static void keeps_memory(bool cancel)
{
	struct chain c = chain();
	struct tenon_job job = { .size = sizeof(job), .sync = { NULL, 0, &c.done, 1 } };
	struct tenon_memory *m, *other;
	void *host;
	struct bench b;
	uint64_t freed, before;

	start(&b);
	m = memory(&b, SAMPLE_OUTPUTS, "abcdefgh");
	kernel_of(&b, "clear");
	ok(tenon_device_sync(b.device, soon()));
	ok(board_inject(mortise_device_of(b.device)->board, BOARD_FREEZE));
	if (!cancel)
		job.deadline = tenon_deadline(SECOND / 20);
	ok(launch(&b, "clear", &m, &job));
	if (cancel)
		tenon_timeline_fail(c.timeline, tenon_error(-TENON_E_CALL, "cancelled"));
	assert_int_equal(tenon_timeline_wait(c.timeline, 2, soon()),
			 cancel ? -TENON_E_CALL : -TENON_E_TIMEOUT);
	assert_error_has(cancel ? "cancelled" : "firmware");
	tenon_error_clear();
	/* the program is done with it, the device is not */
	host = m->host;
	before = mortise_heap_left(&mortise_device_of(b.device)->heap);
	tenon_object_unref(m);
	other = memory(&b, SAMPLE_OUTPUTS, NULL);
	assert_ptr_not_equal(other->host, host);
	assert_memory_equal(host, "abcdefgh", 8);
	freed = mortise_heap_left(&mortise_device_of(b.device)->heap);
	assert_true(freed < before);
	tenon_object_unref(other);
	ok(board_inject(mortise_device_of(b.device)->board, BOARD_THAW));
	ok(tenon_queue_sync(b.queue, soon()));
	assert_memory_equal(host, "\0\0\0\0\0\0\0\0", 8);
	ok(tenon_device_check(b.device));
	/* now it is free, and is what the next request gets */
	other = memory(&b, SAMPLE_OUTPUTS, NULL);
	tenon_object_unref(other);
	assert_true(mortise_heap_left(&mortise_device_of(b.device)->heap) > before);
	tenon_object_unref(c.timeline);
	end(&b);
}

static void a_late_job_keeps_its_memory(void **unused)
{
	(void)unused;
	keeps_memory(false);
}

static void a_cancelled_job_keeps_its_memory(void **unused)
{
	(void)unused;
	keeps_memory(true);
}

/* ---- targets */

static void creation_fails(const char *target, uint32_t abi, uint32_t features, const char *why)
{
	const uint32_t config[] = { abi, features }, argument = 0;
	struct bench b = { .payload = TENON_BUFFER_INIT };
	struct mortise_fill fill = { .size = 8, .width = 8 };
	struct cmdstream_emitter e;

	cmdstream_emitter_init(&e);
	put_region(&e, TENON_REGION_OUTPUT, TENON_REGION_WRITE, 8, NULL);
	PUT(&e, MORTISE_OP_FILL, fill, HOLE(mortise_fill, to, 0, 0));
	cmdstream_end_kernel(&e, "f", &argument, 1);
	ok(cmdstream_flush(&e, target, config, 2, &b.payload));
	cmdstream_emitter_fini(&e);
	ok(tenon_device_open(stream_uri, &b.device));
	ok(tenon_program_read(tenon_slice_of("cmdstream"), TENON_GENERATION_FFI,
			      (struct tenon_slice){ b.payload.data, b.payload.size }, "test",
			      &b.program));
	assert_int_equal(tenon_executable_create(b.device, b.program, NULL, &b.executable),
			 -TENON_E_UNSUPPORTED);
	assert_error_has(why);
	end(&b);
}

static void a_stream_for_another_configuration_is_refused(void **unused)
{
	(void)unused;
	creation_fails("ethos-u65-256", MORTISE_ABI, 0, "ethos-u65-256");
	creation_fails("mortise", MORTISE_ABI + 0x10000, 0, "ABI 2.0");
	creation_fails("mortise", MORTISE_ABI + 1, 0, "ABI 1.1");
	creation_fails("mortise", MORTISE_ABI, 0x4000, "features 0x4000");
}

/* ---- modules */

static void call(struct tenon_module *m, const char *name, struct tenon_tensor *x,
		 struct tenon_tensor *y)
{
	const struct tenon_value args[] = { tenon_arg_object(x), tenon_arg_object(y) };
	struct tenon_value ret = tenon_arg_none();
	struct tenon_function *f = NULL;

	ok(tenon_module_get_function(m, name, &f));
	assert_non_null(f);
	ok(tenon_function_call(f, args, 2, &ret));
	tenon_object_unref(f);
}

/* Called like a kernel of any backend, with tensors on the device, and with those of the host. */
static void a_file_is_a_module_with_kernels(void **unused)
{
	const DLDataType int8 = tenon_dtype(TENON_DTYPE_INT, 8, 1);
	const int64_t inputs = SAMPLE_INPUTS, outputs = SAMPLE_OUTPUTS;
	struct tenon_tensor *x, *y, *dx, *dy;
	struct tenon_module *m = NULL;
	struct bench b;
	char path[4096];
	FILE *f;

	(void)unused;
	start(&b);
	snprintf(path, sizeof(path), "%s/sample.cmdstream", getenv("TMPDIR"));
	f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(b.payload.data, 1, b.payload.size, f), b.payload.size);
	fclose(f);
	ok(tenon_module_load(path, &m));
	ok(tenon_device_set_current(b.device));
	ok(tenon_tensor_create(&inputs, 1, int8, &x));
	ok(tenon_tensor_create(&outputs, 1, int8, &y));
	ok(tenon_tensor_create_on(b.device->id, &inputs, 1, int8, &dx));
	ok(tenon_tensor_create_on(b.device->id, &outputs, 1, int8, &dy));
	make_input(x->dl.data, 10);
	call(m, "dense", x, y);
	assert_dense(x->dl.data, y->dl.data);
	make_input(x->dl.data, 11);
	ok(tenon_tensor_copy(&x->dl, &dx->dl));
	call(m, "dense", dx, dy);
	ok(tenon_tensor_copy(&dy->dl, &y->dl));
	assert_dense(x->dl.data, y->dl.data);
	tenon_object_unref(x);
	tenon_object_unref(y);
	tenon_object_unref(dx);
	tenon_object_unref(dy);
	tenon_object_unref(m);
	remove(path);
	end(&b);
}

static int setup(void **unused)
{
	(void)unused;
	if (!tenon_backend_find(tenon_slice_of("mortise")) &&
	    tenon_backend_register(&mortise_backend))
		return -1;
	return 0;
}

static int teardown(void **unused)
{
	(void)unused;
	tenon_device_close_all();
	return 0;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stream_computes_what_its_packets_say),
		cmocka_unit_test(tensors_of_the_host_are_copied),
		cmocka_unit_test(memory_that_the_device_reaches_is_not_copied),
		cmocka_unit_test(memory_that_is_too_small_is_refused),
		cmocka_unit_test(random_streams_do_what_the_reference_does),
		cmocka_unit_test(a_stream_may_be_longer_than_the_ring),
		cmocka_unit_test(jobs_on_two_queues_are_chained),
		cmocka_unit_test(a_job_whose_wait_fails_does_not_run),
		cmocka_unit_test(a_job_that_waits_past_its_deadline_does_not_run),
		cmocka_unit_test(a_late_job_keeps_its_memory),
		cmocka_unit_test(a_cancelled_job_keeps_its_memory),
		cmocka_unit_test(a_stream_for_another_configuration_is_refused),
		cmocka_unit_test(a_file_is_a_module_with_kernels),
	};

	const char *missing = stream_missing();

	if (missing) {
		printf("%s\n", missing);
		return 77;
	}
	return cmocka_run_group_tests_name(stream_uri, tests, setup, teardown);
}
