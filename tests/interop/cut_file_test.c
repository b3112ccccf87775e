/* SPDX-License-Identifier: MIT */
/* Files that become shorter while they are in use: cp over a model does that. */
#include "fixture.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include <tenon/backend/module_kind.h>

#include "spawn.h"

#define PARAMS "tvm-0.18/params_file/all.params"
#define MODULE "tvm-0.18/opencl_vecadd/lib.so"

static const char *copy_of(const char *file, const char *name)
{
	static char path[1024], command[4096];
	const char *folder = getenv("TMPDIR");

	snprintf(path, sizeof(path), "%s/cut-%d-%s", folder ? folder : "/tmp", (int)getpid(), name);
	snprintf(command, sizeof(command), "cp '%s' '%s'", file, path);
	assert_int_equal(system(command), 0);
	return path;
}

static int count_name(void *context, struct tenon_slice name)
{
	*(size_t *)context += name.size;
	return 0;
}

static size_t names_below(struct tenon_module *m)
{
	size_t i, size = 0;

	if (m->ops->each_function)
		assert_int_equal(m->ops->each_function(m, count_name, &size), 0);
	for (i = 0; i < m->import_count; i++)
		size += names_below(m->imports[i]);
	return size;
}

static void what_was_inspected_outlives_its_file(void **state)
{
	const char *path = copy_of(fixture_path(MODULE), "inspect.so");
	struct tenon_module *m;
	size_t before;

	(void)state;
	fixture_ok(tenon_module_inspect(path, &m), "inspect");
	before = names_below(m);
	assert_int_equal(truncate(path, 0), 0);
	assert_int_equal(names_below(m), before);
	assert_true(before > 0);
	tenon_object_unref(m);
	unlink(path);
}

static void copying_a_parameter_that_was_cut_off_is_an_error(void **state)
{
	const char *path = copy_of(fixture_path(PARAMS), "load.params");
	const struct tenon_param *param;
	struct tenon_params *params;
	void *to;
	size_t i;

	(void)state;
	fixture_ok(tenon_params_open(path, &params), "open");
	assert_int_equal(truncate(path, 0), 0);
	for (i = 0; (param = tenon_params_at(params, i)); i++) {
		assert_ptr_equal(tenon_params_find(params, param->name), param);
		to = malloc(param->bytes + 1);
		if (param->bytes) {
			assert_int_equal(tenon_params_load(params, param, to), -TENON_E_IO);
			fixture_says(path);
		}
		free(to);
	}
	assert_true(i > 0);
	tenon_object_unref(params);
	unlink(path);
}

/* ---- while it is read */

struct writer {
	const char *path;
	char *bytes;
	size_t size;
	int stop;
};

/* As cp(1) writes over a file, again and again. */
static void *write_over(void *context)
{
	struct writer *w = context;

	while (!__atomic_load_n(&w->stop, __ATOMIC_RELAXED)) {
		int fd = open(w->path, O_WRONLY | O_TRUNC);

		if (fd < 0 || write(fd, w->bytes, w->size) != (ssize_t)w->size)
			return w;
		close(fd);
	}
	return NULL;
}

static void start_writer(struct writer *w, pthread_t *thread)
{
	FILE *f = fopen(w->path, "rb");

	assert_non_null(f);
	w->bytes = malloc(w->size);
	assert_int_equal(fread(w->bytes, 1, w->size, f), w->size);
	fclose(f);
	assert_int_equal(pthread_create(thread, NULL, write_over, w), 0);
}

static void stop_writer(struct writer *w, pthread_t thread)
{
	void *failed;

	__atomic_store_n(&w->stop, 1, __ATOMIC_RELAXED);
	pthread_join(thread, &failed);
	assert_null(failed);
	free(w->bytes);
	unlink(w->path);
}

static size_t size_of(const char *path)
{
	FILE *f = fopen(path, "rb");
	long size;

	assert_non_null(f);
	fseek(f, 0, SEEK_END);
	size = ftell(f);
	fclose(f);
	return (size_t)size;
}

static void parameters_that_are_written_over_are_read_or_refused(void **state)
{
	const char *path = copy_of(fixture_path(PARAMS), "race.params");
	struct writer w = { .path = path, .size = size_of(path) };
	struct tenon_params *params;
	pthread_t thread;
	int i;

	(void)state;
	start_writer(&w, &thread);
	for (i = 0; i < 5000; i++)
		if (!tenon_params_open(path, &params))
			tenon_object_unref(params);
	stop_writer(&w, thread);
}

static void a_module_that_is_written_over_is_inspected_or_refused(void **state)
{
	const char *path = copy_of(fixture_path(MODULE), "race.so");
	struct writer w = { .path = path, .size = size_of(path) };
	struct tenon_module *m;
	pthread_t thread;
	int i;

	(void)state;
	start_writer(&w, &thread);
	for (i = 0; i < 5000; i++)
		if (!tenon_module_inspect(path, &m))
			tenon_object_unref(m);
	stop_writer(&w, thread);
}

/* ---- the command */

static void a_module_that_is_cut_off_while_it_runs_ends_the_command_with_a_message(void **state)
{
	const char *path = copy_of(fixture_module_path("cuts_itself.so"), "runs.so");
	struct spawn s;

	(void)state;
	spawn_command(&s);
	spawn_arg(&s, "run");
	spawn_arg(&s, path);
	spawn_arg(&s, "--function");
	spawn_arg(&s, "cut");
	spawn_run(&s, NULL);
	assert_non_null(strstr(s.err, path));
	assert_non_null(strstr(s.err, "shorter"));
	assert_int_equal(s.status, 3);
	spawn_fini(&s);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_inspected_outlives_its_file),
		cmocka_unit_test(copying_a_parameter_that_was_cut_off_is_an_error),
		cmocka_unit_test(parameters_that_are_written_over_are_read_or_refused),
		cmocka_unit_test(a_module_that_is_written_over_is_inspected_or_refused),
		cmocka_unit_test(
			a_module_that_is_cut_off_while_it_runs_ends_the_command_with_a_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
