/* SPDX-License-Identifier: MIT */
/* Sleep on a word of memory. Wakeups may be spurious: check the word again. */
#ifndef RUNTIME_CORE_FUTEX_H
#define RUNTIME_CORE_FUTEX_H

#include <limits.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Numbers from the kernel's ABI: not every C library ships the kernel's headers. */
#define FUTEX_WAIT	   0
#define FUTEX_WAKE	   1
#define FUTEX_PRIVATE_FLAG 128

#if !defined(SYS_futex) && defined(SYS_futex_time64)
#define SYS_futex SYS_futex_time64
#endif

/* Sleep while *@word is @value. */
static inline void futex_wait(uint32_t *word, uint32_t value)
{
	syscall(SYS_futex, word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

static inline void futex_wake_one(uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL, NULL, 0);
}

static inline void futex_wake_all(uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, INT_MAX, NULL, NULL, 0);
}

static inline void cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__) || (defined(__arm__) && __ARM_ARCH >= 7)
	__asm__ volatile("yield");
#else
	__asm__ volatile("");
#endif
}

#endif /* RUNTIME_CORE_FUTEX_H */
