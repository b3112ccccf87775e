/* SPDX-License-Identifier: MIT */
/* Threads that open the same library, call it and close it. */
#include "fixture.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>
#include <cmocka.h>

/*
 * ThreadSanitizer does not see the locks of the dynamic linker, and so neither that its memory was
 * written before it was read. Compiled code, and the library that stands for it, keeps handles in
 * plain variables, as TVM's does: each thread that finds none writes the same one.
 */
#define VISIBLE __attribute__((visibility("default")))
VISIBLE const char *__tsan_default_suppressions(void);
VISIBLE const char *__tsan_default_suppressions(void)
{
	return "race:ld-linux\nrace:loaded_object_init\nrace:keeps_handle.so\n";
}

#define THREADS 3
#define ROUNDS	10000

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
	int err;

	err = tenon_module_load(path, &m);
	if (err)
		return err;
	err = tenon_module_get_function(m, "call_kept", &f);
	if (!err) {
		err = tenon_call(f, &ret);
		tenon_object_unref(f);
	}
	tenon_object_unref(m);
	return err ? err : ret.as.integer != 5;
}

static void *open_again_and_again(void *path)
{
	unsigned int turn = (unsigned int)(uintptr_t)&path;
	void *failed = NULL;
	int i;

	for (i = 0; i < ROUNDS && !failed; i++) {
		struct timespec pause = { 0, (long)((turn = turn * 1103515245 + 12345) >> 18) };

		failed = open_and_call(path) ? path : NULL;
		if (turn & 0x10000)
			nanosleep(&pause, NULL);
	}
	return failed;
}

static void threads_open_and_close_the_same_file(void **state)
{
	const char *path = fixture_module_path("keeps_handle.so");
	pthread_t threads[THREADS];
	void *failed;
	size_t i;

	(void)state;
	fixture_ok(tenon_function_register_c("fixture.kept", kept, true), "fixture.kept");
	for (i = 0; i < THREADS; i++)
		assert_int_equal(
			pthread_create(&threads[i], NULL, open_again_and_again, (void *)path), 0);
	for (i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &failed);
		assert_null(failed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_open_and_close_the_same_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
