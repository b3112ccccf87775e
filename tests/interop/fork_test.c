/* SPDX-License-Identifier: MIT */
/* Child processes of a process whose threads load modules at that moment. */
#include "fixture.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

/*
 * ThreadSanitizer does not see the locks of the dynamic linker, and compiled code keeps its handles in plain
 * variables: see reopen_threads_test.c.
 */
#define VISIBLE __attribute__((visibility("default")))
VISIBLE const char *__tsan_default_suppressions(void);
VISIBLE const char *__tsan_default_suppressions(void)
{
	return "race:ld-linux\nrace:loaded_object_init\nrace:keeps_handle.so\n";
}

#define THREADS	 4
#define CHILDREN 100

static int stop;

static int kept(void *self, const struct tenon_value *args, int32_t count, struct tenon_value *ret)
{
	(void)self, (void)args, (void)count;
	*ret = tenon_arg_int(5);
	return 0;
}

static int open_and_call(const char *path)
{
	struct tenon_value ret = tenon_arg_none();
	struct tenon_function *f;
	struct tenon_module *m;

	if (tenon_module_load(path, &m))
		return 1;
	if (tenon_module_get_function(m, "call_kept", &f))
		return 2;
	if (tenon_call(f, &ret) || ret.as.integer != 5)
		return 3;
	tenon_object_unref(f);
	tenon_object_unref(m);
	return 0;
}

static void *open_again_and_again(void *path)
{
	int failed = 0;

	while (!failed && !__atomic_load_n(&stop, __ATOMIC_RELAXED))
		failed = open_and_call(path);
	return failed ? path : NULL;
}

static void start_threads(pthread_t *threads, const char *path)
{
	size_t i;

	__atomic_store_n(&stop, 0, __ATOMIC_RELAXED);
	for (i = 0; i < THREADS; i++)
		assert_int_equal(
			pthread_create(&threads[i], NULL, open_again_and_again, (void *)path), 0);
}

static void stop_threads(pthread_t *threads)
{
	void *failed;
	size_t i;

	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &failed);
		assert_null(failed);
	}
}

/* The wait status of a child that opens a module, calls it and registers a function. */
static int child_status(const char *path)
{
	pid_t child = fork();
	int status = -1;

	if (!child) {
		/* a lock that no thread of this process holds is never free */
		alarm(120);
		status = open_and_call(path);
		if (!status && tenon_function_register_c("fixture.child", kept, true))
			status = 4;
		_exit(status);
	}
	waitpid(child, &status, 0);
	return status;
}

static void a_child_opens_modules_whatever_the_threads_of_its_parent_did(void **state)
{
	const char *path = fixture_module_path("keeps_handle.so");
	pthread_t threads[THREADS];
	int i;

	(void)state;
#ifdef __SANITIZE_ADDRESS__
	print_message("# the allocator of AddressSanitizer may be locked for ever in a child\n");
	skip();
#endif
#ifdef __SANITIZE_THREAD__
	/* a debugger showed the child in dlopen(), in Mutex::Lock() of LibIgnore::OnLibraryLoaded() */
	print_message(
		"# ThreadSanitizer's own lock of dlopen() may be locked for ever in a child\n");
	skip();
#endif
	start_threads(threads, path);
	for (i = 0; i < CHILDREN; i++)
		assert_int_equal(child_status(path), 0);
	stop_threads(threads);
}

static void a_constructor_may_fork_while_other_threads_open_modules(void **state)
{
	char *path = strdup(fixture_module_path("keeps_handle.so"));
	pthread_t threads[THREADS];
	struct tenon_module *m;
	int i;

	(void)state;
	start_threads(threads, path);
	for (i = 0; i < 2; i++) {
		fixture_ok(tenon_module_load(fixture_module_path("forks_at_start.so"), &m), "load");
		tenon_object_unref(m);
	}
	stop_threads(threads);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_child_opens_modules_whatever_the_threads_of_its_parent_did),
		cmocka_unit_test(a_constructor_may_fork_while_other_threads_open_modules),
	};

	fixture_ok(tenon_function_register_c("fixture.kept", kept, true), "fixture.kept");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
