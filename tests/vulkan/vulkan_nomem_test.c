/* SPDX-License-Identifier: MIT */
/*
 * A program on Vulkan, once for each allocation of the library in it, with that one failing: it ends with an error and gives back
 * every object, or does without. What the driver allocates succeeds: it need not survive without memory.
 */
#include "tests/vulkan/vulkan_rig.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define NO_STAND_IN
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define NO_STAND_IN
#endif

static struct rig rig;
static atomic_long allocations, fails_at;

#ifndef NO_STAND_IN

/* of this program, which the library is linked into */
extern const char __executable_start[], etext[];

static bool runs_out(const void *caller)
{
	const uintptr_t at = (uintptr_t)caller;

	return atomic_load(&fails_at) && at >= (uintptr_t)__executable_start &&
	       at < (uintptr_t)etext && atomic_fetch_add(&allocations, 1) + 1 == fails_at;
}

#define STAND_IN __attribute__((visibility("default")))
#define CALLER	 __builtin_return_address(0)

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *p, size_t size);

STAND_IN void *malloc(size_t size)
{
	return runs_out(CALLER) ? NULL : __libc_malloc(size);
}

STAND_IN void *calloc(size_t count, size_t size)
{
	return runs_out(CALLER) ? NULL : __libc_calloc(count, size);
}

STAND_IN void *realloc(void *p, size_t size)
{
	return runs_out(CALLER) ? NULL : __libc_realloc(p, size);
}

#endif

static int find_it(void **state)
{
	(void)state;
	if (rig_unavailable())
		return 0;
	rig_find(&rig);
	return rig.fake ? 0 : -1;
}

static int close_it(void **state)
{
	(void)state;
	return rig_unavailable() ? 0 : rig_close(&rig);
}

/* Return: whether there are so many allocations */
static bool play(const char *uri, long n)
{
	int err;

	allocations = 0;
	fails_at = n;
	err = rig_program(&rig, uri);
	fails_at = 0;
	if (err && err != -TENON_E_NOMEM)
		fail_msg("%s, allocation %ld: %d: %s", uri, n, err, tenon_error_message());
	if (rig.fake->live)
		fail_msg("%s, allocation %ld: %d objects left", uri, n, rig.fake->live);
	tenon_error_clear();
	return allocations >= n;
}

static void every_allocation_may_fail(void **state)
{
	static const char *const devices[] = {
		"vulkan:0", "vulkan://0?without=push-descriptors&without=host-memory"
	};
	long n;

	(void)state;
	rig_needs_device();
#ifdef NO_STAND_IN
	print_message("this build cannot stand in for the allocator\n");
	skip();
#endif
	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
		/* what is made once in a process is made now */
		assert_int_equal(rig_program(&rig, devices[i]), 0);
		for (n = 1; play(devices[i], n); n++)
			;
		print_message("# %s: %ld allocations failed, one at a time\n", devices[i], n - 1);
		assert_true(n > 20);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_allocation_may_fail, find_it, close_it),
	};

	vulkan_environment(NULL);
	return cmocka_run_group_tests_name("Vulkan without memory", tests, NULL, NULL);
}
