/* SPDX-License-Identifier: MIT */
/* What a child of a test ran is counted although it ends by _exit(): linked into programs of scripts/coverage, by --wrap=_exit. */
#include <time.h>

void __gcov_dump(void);
void __real__exit(int status) __attribute__((noreturn));
void __wrap__exit(int status) __attribute__((noreturn));

/* To add to the files of all sources takes longer than most children run. Those that fail each allocation once repeat them all in one. */
#define LEAST (CLOCKS_PER_SEC / 5)

void __wrap__exit(int status)
{
	if (clock() > LEAST)
		__gcov_dump();
	__real__exit(status);
}
