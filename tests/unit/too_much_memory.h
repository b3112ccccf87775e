/* SPDX-License-Identifier: MIT */
/* Let sanitizers accept requests for more memory than there can be, which they otherwise take for an error of the program. */
#ifndef TESTS_UNIT_TOO_MUCH_MEMORY_H
#define TESTS_UNIT_TOO_MUCH_MEMORY_H

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
