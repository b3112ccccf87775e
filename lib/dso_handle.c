/* SPDX-License-Identifier: MIT */
/*
 * What pthread_atfork() of glibc reads: the shared object whose handlers end when it is unloaded. The compiler's start-up
 * files have it, and a libtenon.so of the smallest size is linked without these. libtenon.so is never unloaded, so NULL is
 * right, as it is in a program. Weak: start-up files that are linked have theirs.
 */

extern void *__dso_handle __attribute__((visibility("hidden")));
void *__dso_handle __attribute__((weak));
