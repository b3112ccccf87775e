/* SPDX-License-Identifier: MIT */
/*
 * Threads load, run and unload models again and again: memory, descriptors, threads and mappings of the process stay as they
 * are. PROVE_SECONDS says for how long (2), PROVE_SEED which models (1). PROVE_PLANT=memory, descriptor, mapping or
 * thread loses some, to show that it is seen.
 */
#include "tests/unit/suite.h"

#include <dirent.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <tenon/tenon.h>
#include <unistd.h>

#include "lib/clock.h"
#include "tests/fuzz/random.h"

#define THREADS 8
/* what an allocator may keep for itself, and stacks that were used a bit further */
#define MEMORY_SLACK  (4 << 20)
#define MAPPING_SLACK 8

#define OLD "tests/interop/data/tvm-0.18/"
#define NEW "tests/interop/data/tvm-0.27.0.post1/"

static const char *const models[] = {
	OLD "graph_mlp/graph.so",   OLD "aot_mlp/aot_packed.so", NEW "model_mlp/model.so",
	NEW "model_chain/model.so", NEW "model_branch/model.so", NEW "model_resnet_tiny/model.so",
};

static const char *const modules[] = {
	OLD "host_vecadd/lib.so", OLD "opencl_multi/lib.so", OLD "vulkan_multi/lib.so",
	NEW "tree_nested/lib.so", NEW "host_several/lib.so",
};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static uint64_t ends;
static atomic_ulong rounds, failures;
static pthread_barrier_t all_are_warm, measured;

/* ---- a round */

static int fill(struct tenon_model *model, size_t index)
{
	struct tenon_tensor *tensor = NULL;
	struct tenon_value value;
	struct tenon_port port;
	int err = tenon_model_input(model, index, &port);

	if (!err)
		err = tenon_tensor_create(port.shape, port.ndim, port.dtype, &tensor);
	value = tenon_arg_object(tensor);
	if (!err)
		err = tenon_model_set_input(model, index, &value);
	tenon_object_unref(tensor);
	return err;
}

static int run_model(const char *path)
{
	struct tenon_module *root = NULL;
	struct tenon_model *model = NULL;
	size_t i;
	int err = tenon_module_load(path, &root);

	if (!err)
		err = tenon_model_open(root, NULL, &model);
	for (i = 0; !err && i < tenon_model_input_count(model); i++)
		if (!tenon_model_input_is_set(model, i))
			err = fill(model, i);
	for (i = 0; !err && i < 3; i++)
		err = tenon_model_run(model);
	tenon_model_close(model);
	tenon_object_unref(root);
	return err;
}

static int load_module(const char *path)
{
	struct tenon_function *f = NULL;
	struct tenon_module *root = NULL;
	int err = tenon_module_load(path, &root);

	/* The lookup visits all modules of the tree when none has the function. */
	if (!err && tenon_module_get_function(root, "vecadd", &f))
		tenon_error_clear();
	tenon_object_unref(f);
	tenon_object_unref(root);
	return err;
}

static void *sleep_on(void *unused)
{
	for (;;)
		pause();
	return unused;
}

/* One, after all threads are warm. */
static void lose_thread(void)
{
	static atomic_flag lost = ATOMIC_FLAG_INIT;
	pthread_t thread;

	if (ends && !atomic_flag_test_and_set(&lost))
		pthread_create(&thread, NULL, sleep_on, NULL);
}

static void plant(void)
{
	const char *what = getenv("PROVE_PLANT");
	static void *volatile lost;

	if (!what)
		return;
	if (!strcmp(what, "memory")) {
		lost = malloc(1 << 16);
		memset(lost, 1, 1 << 16);
	}
	if (!strcmp(what, "descriptor"))
		(void)!fcntl(1, F_DUPFD, 400);
	if (!strcmp(what, "mapping"))
		mmap(NULL, 4096, (rand() & 1) ? PROT_READ : PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!strcmp(what, "thread"))
		lose_thread();
}

static void round_of(struct random *r)
{
	size_t n = random_below(r, COUNT(models) + COUNT(modules));
	const char *path = n < COUNT(models) ? models[n] : modules[n - COUNT(models)];

	plant();
	if (n < COUNT(models) ? run_model(path) : load_module(path)) {
		fprintf(stderr, "%s: %s\n", path, tenon_error_message());
		tenon_error_clear();
		failures++;
	}
	rounds++;
}

static void *thread(void *number)
{
	const char *seed = getenv("PROVE_SEED");
	struct random r = { (seed ? strtoull(seed, NULL, 10) : 1) + (uintptr_t)number };
	size_t i;

	for (i = 0; i < 3 * (COUNT(models) + COUNT(modules)); i++)
		round_of(&r);
	pthread_barrier_wait(&all_are_warm);
	pthread_barrier_wait(&measured);
	while (clock_now() < ends)
		round_of(&r);
	return NULL;
}

/* ---- what the process has */

struct belongings {
	long memory, threads, mappings, descriptors;
};

static long line_of_status(const char *name)
{
	char line[256];
	long value = -1;
	FILE *f = fopen("/proc/self/status", "r");

	assert_non_null(f);
	while (value < 0 && fgets(line, sizeof(line), f))
		if (!strncmp(line, name, strlen(name)))
			value = strtol(line + strlen(name), NULL, 10);
	fclose(f);
	return value;
}

static long entries(const char *folder)
{
	DIR *d = opendir(folder);
	long n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static long lines(const char *path)
{
	FILE *f = fopen(path, "r");
	long n = 0;
	int c;

	assert_non_null(f);
	while ((c = getc(f)) != EOF)
		n += c == '\n';
	fclose(f);
	return n;
}

static struct belongings count_belongings(void)
{
	malloc_trim(0);
	return (struct belongings){ line_of_status("VmRSS:") << 10, line_of_status("Threads:"),
				    lines("/proc/self/maps"), entries("/proc/self/fd") };
}

static void loading_and_unloading_for_long_costs_nothing(void **unused)
{
	const char *seconds = getenv("PROVE_SECONDS"), *sanitizer = getenv("SAN");
	struct belongings before, after;
	pthread_t threads[THREADS];
	uintptr_t i;

	(void)unused;
#ifndef __x86_64__
	print_message("the recorded modules are for x86-64\n");
	skip();
#endif
	/* AddressSanitizer keeps what was freed; ThreadSanitizer takes a module at the address of an unloaded one for it */
	if (sanitizer && *sanitizer) {
		print_message("sanitizers have memory of their own\n");
		skip();
	}
	pthread_barrier_init(&all_are_warm, NULL, THREADS + 1);
	pthread_barrier_init(&measured, NULL, THREADS + 1);
	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, thread, (void *)i), 0);
	pthread_barrier_wait(&all_are_warm);
	before = count_belongings();
	ends = clock_now() + (seconds ? strtoull(seconds, NULL, 10) : 2) * UINT64_C(1000000000);
	pthread_barrier_wait(&measured);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	after = count_belongings();
	print_message("# %lu rounds; memory %ld KiB before, %ld after; mappings %ld, %ld\n", rounds,
		      before.memory >> 10, after.memory >> 10, before.mappings, after.mappings);
	assert_int_equal(failures, 0);
	assert_true(after.memory <= before.memory + MEMORY_SLACK);
	assert_true(after.mappings <= before.mappings + MAPPING_SLACK);
	assert_int_equal(after.descriptors, before.descriptors);
	assert_int_equal(after.threads, before.threads - THREADS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loading_and_unloading_for_long_costs_nothing),
	};

	mallopt(M_ARENA_MAX, 2);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
