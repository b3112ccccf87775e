/* SPDX-License-Identifier: MIT */
/* Kernels that go wrong, and one that goes well. */
#include <tenon/uapi/mortise_kernel.h>

static uint32_t counter = 5;
static uint32_t *const pointers[2] = { &counter, &counter };
uint32_t nobody __attribute__((weak));

/* through addresses that only relocations make right */
static int32_t count(const uint64_t *arguments, const struct mortise_group *group)
{
	*MORTISE_POINTER(uint32_t, arguments, 0) = ++*pointers[group->group[0] & 1];
	return 0;
}
MORTISE_KERNEL(count, "handle", "");

static int32_t fail(const uint64_t *arguments, const struct mortise_group *group)
{
	(void)group;
	return MORTISE_SCALAR(int32_t, arguments, 0);
}
MORTISE_KERNEL(fail, "int32", "");

/* Ends when the word becomes what is wanted. */
static int32_t spin(const uint64_t *arguments, const struct mortise_group *group)
{
	volatile uint32_t *word = MORTISE_POINTER(uint32_t, arguments, 0);

	(void)group;
	while (*word != MORTISE_SCALAR(uint32_t, arguments, 1))
		;
	return 0;
}
MORTISE_KERNEL(spin, "handle uint32", "");
