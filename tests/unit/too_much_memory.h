/* SPDX-License-Identifier: MIT */
#ifndef TESTS_UNIT_TOO_MUCH_MEMORY_H
#define TESTS_UNIT_TOO_MUCH_MEMORY_H

/* For suites that ask for more memory than there can be: sanitizers otherwise take such a request for an error of the program. */

const char *__asan_default_options(void);
__attribute__((visibility("default"))) const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

const char *__tsan_default_options(void);
__attribute__((visibility("default"))) const char *__tsan_default_options(void)
{
	return "allocator_may_return_null=1";
}

#endif /* TESTS_UNIT_TOO_MUCH_MEMORY_H */
