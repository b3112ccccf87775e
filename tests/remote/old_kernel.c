/* SPDX-License-Identifier: MIT */
/*
 * LD_PRELOAD: what a program sees of an older kernel. TENON_TEST_LANDLOCK is the version of Landlock, 0 for none;
 * TENON_TEST_SECCOMP=0 has no seccomp, TENON_TEST_CLOSE_RANGE=0 no close_range().
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>

#define CREATE_RULESET 444 /* landlock_create_ruleset */
#define CLOSE_RANGE    436
#define SET_SECCOMP    22

static long number(const char *name, long otherwise)
{
	const char *text = getenv(name);

	return text ? atol(text) : otherwise;
}

long syscall(long call, ...)
{
	static long (*next)(long, ...);
	const long version = number("TENON_TEST_LANDLOCK", -1);
	long argument[6], there;
	va_list list;
	int i;

	va_start(list, call);
	for (i = 0; i < 6; i++)
		argument[i] = va_arg(list, long);
	va_end(list);
	if (!next)
		next = (long (*)(long, ...))(__UINTPTR_TYPE__)dlsym(RTLD_NEXT, "syscall");
	if ((call == CLOSE_RANGE && !number("TENON_TEST_CLOSE_RANGE", 1)) ||
	    (call == CREATE_RULESET && !version) ||
	    (call == SYS_seccomp && !number("TENON_TEST_SECCOMP", 1))) {
		errno = ENOSYS;
		return -1;
	}
	there = next(call, argument[0], argument[1], argument[2], argument[3], argument[4],
		     argument[5]);
	/* the question for the version: no attributes, and a flag */
	if (call == CREATE_RULESET && !argument[0] && argument[2] == 1 && version > 0 &&
	    version < there)
		return version;
	return there;
}

int prctl(int option, ...)
{
	static int (*next)(int, ...);
	unsigned long argument[4];
	va_list list;
	int i;

	va_start(list, option);
	for (i = 0; i < 4; i++)
		argument[i] = va_arg(list, unsigned long);
	va_end(list);
	if (!next)
		next = (int (*)(int, ...))(__UINTPTR_TYPE__)dlsym(RTLD_NEXT, "prctl");
	if (option == SET_SECCOMP && !number("TENON_TEST_SECCOMP", 1)) {
		errno = EINVAL;
		return -1;
	}
	return next(option, argument[0], argument[1], argument[2], argument[3]);
}
