/* SPDX-License-Identifier: MIT */
/* Kernels that are built ahead of calls, on a named fake whose compiler does what a case says. */
#include "tests/unit/suite.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <tenon/backend/buffer.h>
#include <tenon/backend/executable.h>
#include <tenon/backend/memory.h>
#include <tenon/backend/payload_format.h>
#include <tenon/backend/queue.h>
#include <tenon/prepare.h>

#include "lib/clock.h"
#include "runtime/payload/payload_module.h"
#include "tools/device_option/kernels.h"

#define KERNELS 6

/*
 * The compiler. A kernel whose name contains @held waits until release(); one whose name contains
 * @fails does not compile. With @together a build waits until so many run at a time.
 */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	const char *held;
	const char *fails;
	int together;
	int now, most, builds;
	char order[64][16];
} compiler = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

/* ---- the backend */

static bool named(const char *part, const char *name)
{
	return part && strstr(name, part);
}

static int fake_kernel(struct tenon_executable *e, size_t index, struct tenon_kernel **out)
{
	struct tenon_kernel *all = (struct tenon_kernel *)(e + 1), *k = &all[index];
	struct tenon_slice name = e->program->kernels[index].name;
	char text[16] = "";
	bool failed;

	memcpy(text, name.data, name.size < 15 ? name.size : 15);
	pthread_mutex_lock(&compiler.lock);
	strcpy(compiler.order[compiler.builds++], text);
	if (++compiler.now > compiler.most)
		compiler.most = compiler.now;
	pthread_cond_broadcast(&compiler.changed);
	while (named(compiler.held, text) || compiler.most < compiler.together)
		pthread_cond_wait(&compiler.changed, &compiler.lock);
	failed = named(compiler.fails, text);
	compiler.now--;
	pthread_mutex_unlock(&compiler.lock);
	if (failed)
		return tenon_error(-TENON_E_DEVICE, "line 1: told to fail");
	k->executable = e;
	k->info = &e->program->kernels[index];
	*out = k;
	return 0;
}

static int fake_create(struct tenon_device *device, const struct tenon_program *program,
		       struct tenon_executable **out)
{
	struct tenon_executable *e =
		calloc(1, sizeof(*e) + program->kernel_count * sizeof(struct tenon_kernel));
	int err = e ? tenon_executable_init(e, device, program) : -TENON_E_NOMEM;

	if (err)
		free(e);
	else
		*out = e;
	return err;
}

static void fake_destroy(struct tenon_executable *e)
{
	tenon_executable_fini(e);
	free(e);
}

static void fake_close(struct tenon_device *device)
{
	free(device);
}

#define EXECUTABLE_OPS                                                                             \
	.size = sizeof(struct tenon_executable_ops), .create = fake_create,                        \
	.destroy = fake_destroy, .kernel = fake_kernel

static const struct tenon_memory_ops memory_ops = { .size = sizeof(memory_ops) };
static const struct tenon_queue_ops queue_ops = { .size = sizeof(queue_ops) };
static const struct tenon_executable_ops executable_ops = {
	EXECUTABLE_OPS,
	.build_flags = TENON_BUILD_CONCURRENT,
};
static const struct tenon_executable_ops whole_ops = { EXECUTABLE_OPS };

static const struct tenon_device_ops device_ops[2] = {
	{ .size = sizeof(device_ops[0]),
	  .close = fake_close,
	  .memory = &memory_ops,
	  .queue = &queue_ops,
	  .executable = &executable_ops },
	{ .size = sizeof(device_ops[0]),
	  .close = fake_close,
	  .memory = &memory_ops,
	  .queue = &queue_ops,
	  .executable = &whole_ops },
};

static int fake_count(uint32_t *count)
{
	*count = 2;
	return 0;
}

static int fake_describe(uint32_t index, struct tenon_device_properties *p)
{
	(void)index;
	strcpy(p->name, "compiler");
	p->alignment = 1;
	p->queues = 1;
	return 0;
}

static const char *const kinds[] = { "compiled", NULL };
static const struct tenon_payload_format format = {
	.size = sizeof(format),
	.kinds = kinds,
	.fields = "fmd",
};
static const struct tenon_payload_format *const formats[] = { &format, NULL };

static int fake_open(const struct tenon_device_choice *choice, struct tenon_device **out);

static const struct tenon_backend compiler_backend = {
	.abi = TENON_PLUGIN_ABI,
	.size = sizeof(compiler_backend),
	.name = "compiler",
	.device_type = 71,
	.kinds = kinds,
	.count = fake_count,
	.describe = fake_describe,
	.open = fake_open,
	.formats = formats,
};

/* device 1 builds whole programs */
static int fake_open(const struct tenon_device_choice *choice, struct tenon_device **out)
{
	struct tenon_device *d = calloc(1, sizeof(*d));
	int err = d ? tenon_device_init(d, &device_ops[choice->index], &compiler_backend,
					choice->index)
		    : -TENON_E_NOMEM;

	if (err)
		free(d);
	else
		fake_describe(choice->index, d->properties);
	*out = err ? NULL : d;
	return err;
}

/* ---- what cases start from */

static struct tenon_device *device, *whole;

/* a module of KERNELS kernels "<letter>0", "<letter>1", … */
static struct tenon_module *module_of(char letter)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct tenon_module *m = NULL;
	char name[3] = { letter, '0', '\0' };
	int i;

	tenon_buffer_string(&b, tenon_slice_of("text"));
	tenon_buffer_u64(&b, KERNELS);
	for (i = 0; i < KERNELS; i++, name[1]++) {
		tenon_buffer_string(&b, tenon_slice_of(name));
		tenon_buffer_string(&b, tenon_slice_of(""));
		tenon_buffer_u64(&b, 0);
		tenon_buffer_u64(&b, 0);
		tenon_buffer_u64(&b, 0);
	}
	tenon_buffer_string(&b, tenon_slice_of("the program"));
	assert_int_equal(
		tenon_module_load_bytes("compiled", (struct tenon_slice){ b.data, b.size }, &m), 0);
	tenon_buffer_fini(&b);
	return m;
}

static void release(const char *held)
{
	pthread_mutex_lock(&compiler.lock);
	compiler.held = held;
	pthread_cond_broadcast(&compiler.changed);
	pthread_mutex_unlock(&compiler.lock);
}

static int builds(void)
{
	int n;

	pthread_mutex_lock(&compiler.lock);
	n = compiler.builds;
	pthread_mutex_unlock(&compiler.lock);
	return n;
}

static void wait_for_builds(int count)
{
	pthread_mutex_lock(&compiler.lock);
	while (compiler.builds < count)
		pthread_cond_wait(&compiler.changed, &compiler.lock);
	pthread_mutex_unlock(&compiler.lock);
}

static void nap(void)
{
	const struct timespec moment = { 0, 20000000 };

	nanosleep(&moment, NULL);
}

static int begin(void **state)
{
	(void)state;
	compiler.held = compiler.fails = NULL;
	compiler.together = compiler.now = compiler.most = compiler.builds = 0;
	assert_int_equal(tenon_device_open("compiler:0", &device), 0);
	assert_int_equal(tenon_device_open("compiler:1", &whole), 0);
	return 0;
}

static int end(void **state)
{
	(void)state;
	tenon_object_unref(device);
	tenon_object_unref(whole);
	tenon_device_close_all();
	tenon_error_clear();
	return 0;
}

/*
 * What a preparation reported; the library calls one thread at a time. Threads of the preparation
 * must not use cmocka's assertions: they note what is wrong.
 */
struct report {
	size_t calls, total, failures;
	bool wrong; /* a number is out of order, out of range or reported twice, or a text missing */
	bool seen[32];
};

static void note(void *context, const struct tenon_prepare_progress *p)
{
	struct report *r = context;

	r->calls++;
	r->total = p->total;
	r->failures += p->status != 0;
	if (p->done != r->calls || p->index >= 32 || r->seen[p->index] ||
	    (p->status && !strstr(tenon_error_message(), "told to fail")))
		r->wrong = true;
	else
		r->seen[p->index] = true;
}

/* ---- cases */

static void all_kernels_of_a_module_and_its_imports_are_built_once(void **state)
{
	struct tenon_module *root = module_of('a'), *left = module_of('b'), *right = module_of('c'),
			    *shared = module_of('d');
	struct report r = { 0 };
	const struct tenon_prepare how = {
		.size = sizeof(how), .threads = 3, .context = &r, .progress = note
	};

	(void)state;
	assert_int_equal(tenon_module_import(root, left), 0);
	assert_int_equal(tenon_module_import(root, right), 0);
	assert_int_equal(tenon_module_import(left, shared), 0);
	assert_int_equal(tenon_module_import(right, shared), 0);
	assert_int_equal(tenon_module_prepare(root, device, &how), 0);
	assert_int_equal(r.calls, 4 * KERNELS);
	assert_int_equal(r.total, 4 * KERNELS);
	assert_false(r.wrong);
	assert_int_equal(builds(), 4 * KERNELS);
	/* nothing is left for another time */
	assert_int_equal(tenon_module_prepare(root, device, NULL), 0);
	assert_int_equal(builds(), 4 * KERNELS);
	tenon_object_unref(root);
	tenon_object_unref(left);
	tenon_object_unref(right);
	tenon_object_unref(shared);
}

static void several_threads_build_kernels_of_one_program(void **state)
{
	struct tenon_module *m = module_of('a');
	const struct tenon_prepare how = { .size = sizeof(how), .threads = 3 };

	(void)state;
	compiler.together = 3;
	assert_int_equal(tenon_module_prepare(m, device, &how), 0);
	assert_int_equal(compiler.most, 3);
	assert_int_equal(builds(), KERNELS);
	tenon_object_unref(m);
}

static void a_backend_that_builds_whole_programs_gets_one_thread_for_each(void **state)
{
	struct tenon_module *root = module_of('a'), *import = module_of('b');
	const struct tenon_prepare how = { .size = sizeof(how), .threads = 4 };

	(void)state;
	assert_int_equal(tenon_module_import(root, import), 0);
	compiler.together = 2;
	assert_int_equal(tenon_module_prepare(root, whole, &how), 0);
	assert_int_equal(compiler.most, 2);
	assert_int_equal(builds(), 2 * KERNELS);
	tenon_object_unref(root);
	tenon_object_unref(import);
}

static void a_failure_names_the_kernel_and_the_others_are_built(void **state)
{
	struct tenon_module *m = module_of('a');
	struct report r = { 0 };
	const struct tenon_prepare how = {
		.size = sizeof(how), .threads = 2, .context = &r, .progress = note
	};

	(void)state;
	compiler.fails = "a2";
	assert_int_equal(tenon_module_prepare(m, device, &how), -TENON_E_DEVICE);
	assert_error_has("kernel a2 on compiler:0: line 1: told to fail");
	assert_int_equal(r.calls, KERNELS);
	assert_int_equal(r.failures, 1);
	assert_false(r.wrong);
	assert_int_equal(builds(), KERNELS);
	/* it is not remembered */
	compiler.fails = NULL;
	assert_int_equal(tenon_module_prepare(m, device, NULL), 0);
	assert_int_equal(builds(), KERNELS + 1);
	tenon_object_unref(m);
}

static void a_program_that_does_not_build_is_tried_once(void **state)
{
	struct tenon_module *m = module_of('a');
	struct report r = { 0 };
	const struct tenon_prepare how = { .size = sizeof(how), .context = &r, .progress = note };

	(void)state;
	compiler.fails = "a";
	assert_int_equal(tenon_module_prepare(m, whole, &how), -TENON_E_DEVICE);
	assert_error_has("kernel a0 on compiler:1");
	assert_int_equal(builds(), 1);
	assert_int_equal(r.calls, 1);
	tenon_object_unref(m);
}

static bool is_odd(void *context, size_t index, struct tenon_slice kernel)
{
	struct report *r = context;

	if (kernel.data[1] - '0' != (int)index)
		r->wrong = true;
	return index % 2;
}

static void what_is_not_chosen_is_left_out(void **state)
{
	struct tenon_module *m = module_of('a');
	struct report r = { 0 };
	const struct tenon_prepare how = {
		.size = sizeof(how), .threads = 1, .context = &r, .choose = is_odd, .progress = note
	};
	int i;

	(void)state;
	assert_int_equal(tenon_module_prepare(m, device, &how), 0);
	assert_false(r.wrong);
	assert_int_equal(r.calls, KERNELS);
	assert_int_equal(builds(), KERNELS / 2);
	for (i = 0; i < KERNELS / 2; i++)
		assert_int_equal(compiler.order[i][1], '1' + 2 * i);
	tenon_object_unref(m);
}

struct caller {
	pthread_t thread;
	struct tenon_executable *executable;
	size_t index;
	int err;
};

static void *call_main(void *context)
{
	struct caller *c = context;
	struct tenon_kernel *k;

	c->err = tenon_executable_kernel(c->executable, c->index, &k);
	return NULL;
}

static void call_kernel(struct caller *c, struct tenon_module *m, size_t index)
{
	c->index = index;
	assert_int_equal(payload_module_executable(m, device, &c->executable), 0);
	assert_non_null(c->executable);
	assert_int_equal(pthread_create(&c->thread, NULL, call_main, c), 0);
}

static void called(struct caller *c)
{
	pthread_join(c->thread, NULL);
	assert_int_equal(c->err, 0);
	tenon_object_unref(c->executable);
}

static void a_kernel_that_a_call_needs_comes_first(void **state)
{
	struct tenon_module *m = module_of('a');
	const struct tenon_prepare how = { .size = sizeof(how), .threads = 1 };
	struct tenon_preparation *p;
	struct caller c;

	(void)state;
	compiler.held = "a";
	assert_int_equal(tenon_module_prepare_start(m, device, &how, &p), 0);
	wait_for_builds(1);
	call_kernel(&c, m, 5);
	wait_for_builds(2);
	assert_string_equal(compiler.order[1], "a5");
	/* the preparation begins no other kernel before the call has its own */
	release("a5");
	nap();
	assert_int_equal(builds(), 2);
	release(NULL);
	called(&c);
	assert_int_equal(tenon_preparation_wait(p), 0);
	assert_int_equal(builds(), KERNELS);
	assert_string_equal(compiler.order[2], "a1");
	tenon_object_unref(p);
	tenon_object_unref(m);
}

static void a_call_waits_for_the_kernel_that_is_being_built(void **state)
{
	struct tenon_module *m = module_of('a');
	const struct tenon_prepare how = { .size = sizeof(how), .threads = 1 };
	struct tenon_preparation *p;
	struct caller c;

	(void)state;
	compiler.held = "a0";
	assert_int_equal(tenon_module_prepare_start(m, device, &how, &p), 0);
	wait_for_builds(1);
	call_kernel(&c, m, 0);
	nap();
	release(NULL);
	called(&c);
	assert_int_equal(tenon_preparation_wait(p), 0);
	assert_int_equal(builds(), KERNELS);
	tenon_object_unref(p);
	tenon_object_unref(m);
}

static void a_thread_that_waits_for_a_kernel_builds_it_after_the_call(void **state)
{
	struct tenon_module *m = module_of('a');
	const struct tenon_prepare how = { .size = sizeof(how), .threads = 1 };
	struct tenon_preparation *first, *second;
	struct caller c;

	(void)state;
	compiler.held = "a";
	compiler.fails = "a0";
	assert_int_equal(tenon_module_prepare_start(m, device, &how, &first), 0);
	wait_for_builds(1);
	/* the second one waits for the kernel that the first one builds */
	assert_int_equal(tenon_module_prepare_start(m, device, &how, &second), 0);
	nap();
	call_kernel(&c, m, 5);
	wait_for_builds(2);
	/* that one fails, but the call comes first */
	release("a5");
	nap();
	assert_int_equal(builds(), 2);
	release(NULL);
	called(&c);
	assert_int_equal(tenon_preparation_wait(first), -TENON_E_DEVICE);
	assert_int_equal(tenon_preparation_wait(second), -TENON_E_DEVICE);
	tenon_object_unref(first);
	tenon_object_unref(second);
	tenon_object_unref(m);
}

static void a_released_module_ends_its_preparation(void **state)
{
	struct tenon_module *m = module_of('a');
	const struct tenon_prepare how = { .size = sizeof(how), .threads = 2 };
	struct tenon_preparation *p;

	(void)state;
	compiler.held = "a";
	assert_int_equal(tenon_module_prepare_start(m, device, &how, &p), 0);
	wait_for_builds(2);
	tenon_object_unref(m);
	release(NULL);
	assert_int_equal(tenon_preparation_wait(p), 0);
	assert_int_equal(builds(), 2);
	tenon_object_unref(p);
}

static void a_released_module_ends_several_preparations(void **state)
{
	struct tenon_module *m = module_of('a');
	const struct tenon_prepare how = { .size = sizeof(how), .threads = 1 };
	struct tenon_preparation *first, *second;

	(void)state;
	compiler.held = "a";
	assert_int_equal(tenon_module_prepare_start(m, device, &how, &first), 0);
	wait_for_builds(1);
	assert_int_equal(tenon_module_prepare_start(m, device, &how, &second), 0);
	tenon_object_unref(m);
	release(NULL);
	assert_int_equal(tenon_preparation_wait(first), 0);
	assert_int_equal(tenon_preparation_wait(second), 0);
	assert_int_equal(builds(), 1);
	tenon_object_unref(first);
	tenon_object_unref(second);
}

static void a_child_process_does_not_wait_for_threads_of_its_parent(void **state)
{
	struct tenon_module *m = module_of('a');
	const struct tenon_prepare how = { .size = sizeof(how), .threads = 1 };
	struct tenon_preparation *p;
	int status;
	pid_t child;

	(void)state;
	compiler.held = "a";
	assert_int_equal(tenon_module_prepare_start(m, device, &how, &p), 0);
	wait_for_builds(1);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		alarm(60);
		_exit(tenon_preparation_wait(p) != -TENON_E_LOST ||
		      !strstr(tenon_error_message(), "parent process"));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	release(NULL);
	assert_int_equal(tenon_preparation_wait(p), 0);
	tenon_object_unref(p);
	tenon_object_unref(m);
}

static void *release_late(void *unused)
{
	(void)unused;
	nap();
	release(NULL);
	return NULL;
}

static void a_dropped_preparation_leaves_no_thread(void **state)
{
	struct tenon_module *m = module_of('a');
	const struct tenon_prepare how = { .size = sizeof(how), .threads = 2 };
	struct tenon_preparation *p;
	pthread_t thread;
	int after;

	(void)state;
	compiler.held = "a";
	assert_int_equal(tenon_module_prepare_start(m, device, &how, &p), 0);
	wait_for_builds(1);
	assert_int_equal(pthread_create(&thread, NULL, release_late, NULL), 0);
	tenon_object_unref(p);
	after = builds();
	pthread_join(thread, NULL);
	nap();
	assert_int_equal(builds(), after);
	assert_int_equal(compiler.now, 0);
	/* the module is usable, and the rest can be built */
	assert_int_equal(tenon_module_prepare(m, device, NULL), 0);
	assert_int_equal(builds(), KERNELS);
	tenon_object_unref(m);
}

static void a_lost_device_ends_a_preparation(void **state)
{
	struct tenon_module *m = module_of('a');
	const struct tenon_prepare how = { .size = sizeof(how), .threads = 1 };
	struct tenon_preparation *p;

	(void)state;
	compiler.held = "a0";
	assert_int_equal(tenon_module_prepare_start(m, device, &how, &p), 0);
	wait_for_builds(1);
	tenon_error(-TENON_E_LOST, "unplugged");
	tenon_device_lose(device, -TENON_E_LOST);
	tenon_error_clear();
	release(NULL);
	assert_int_equal(tenon_preparation_wait(p), -TENON_E_LOST);
	assert_error_has("unplugged");
	assert_int_equal(builds(), 1);
	tenon_object_unref(p);
	tenon_object_unref(m);
}

#ifdef CONFIG_TOOL
static void the_time_that_the_command_shows_ends_with_the_last_kernel(void **state)
{
	struct tenon_module *m = module_of('a');
	const struct target_list targets = { .on = { device }, .count = 1 };
	struct kernels k = { 0 };
	uint64_t ended;

	(void)state;
	kernels_build(&k, m, &targets);
	assert_int_equal(k.count, 1);
	assert_int_equal(tenon_preparation_wait(k.building[0]), 0);
	ended = clock_now();
	nap();
	kernels_wait(&k);
	assert_int_equal(k.built, KERNELS);
	assert_true(k.nanoseconds > 0);
	assert_true(k.nanoseconds <= ended - k.began);
	kernels_fini(&k);
	tenon_object_unref(m);
}
#endif

static void a_module_without_kernels_is_prepared_at_once(void **state)
{
	struct tenon_device *cpu = NULL;
	struct tenon_module *m = module_of('a');

	(void)state;
	assert_int_equal(tenon_device_open("null:0", &cpu), 0);
	assert_int_equal(tenon_module_prepare(m, cpu, NULL), 0);
	assert_int_equal(builds(), 0);
	tenon_object_unref(cpu);
	tenon_object_unref(m);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest cases[] = {
		CASE(all_kernels_of_a_module_and_its_imports_are_built_once),
		CASE(several_threads_build_kernels_of_one_program),
		CASE(a_backend_that_builds_whole_programs_gets_one_thread_for_each),
		CASE(a_failure_names_the_kernel_and_the_others_are_built),
		CASE(a_program_that_does_not_build_is_tried_once),
		CASE(what_is_not_chosen_is_left_out),
		CASE(a_kernel_that_a_call_needs_comes_first),
		CASE(a_call_waits_for_the_kernel_that_is_being_built),
		CASE(a_thread_that_waits_for_a_kernel_builds_it_after_the_call),
		CASE(a_released_module_ends_its_preparation),
		CASE(a_released_module_ends_several_preparations),
		CASE(a_child_process_does_not_wait_for_threads_of_its_parent),
		CASE(a_dropped_preparation_leaves_no_thread),
		CASE(a_lost_device_ends_a_preparation),
#ifdef CONFIG_TOOL
		CASE(the_time_that_the_command_shows_ends_with_the_last_kernel),
#endif
		CASE(a_module_without_kernels_is_prepared_at_once),
	};

	tenon_backend_register(&compiler_backend);
	return cmocka_run_group_tests_name("preparations", cases, NULL, NULL);
}
