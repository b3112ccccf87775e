/* SPDX-License-Identifier: MIT */
/* What the compiler may call by itself, and nothing more of a C library. */
#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t size);
void *memset(void *to, int byte, size_t size);

void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
	unsigned char *t = to;
	const unsigned char *f = from;

	while (size--)
		*t++ = *f++;
	return to;
}

void *memset(void *to, int byte, size_t size)
{
	unsigned char *t = to;

	while (size--)
		*t++ = (unsigned char)byte;
	return to;
}
