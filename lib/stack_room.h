/* SPDX-License-Identifier: MIT */
/* Refuse recursion before the thread's stack is full. */
#ifndef LIB_STACK_ROOM_H
#define LIB_STACK_ROOM_H

/*
 * Input data can determine how deep calls nest. Recursive code checks here first, so that the limit
 * is the actual stack: a main thread has megabytes, a thread of musl 128 KiB.
 *
 * The bounds are found once for each thread; a check compares an address with them. On a stack that
 * is not the thread's own (a coroutine, a signal handler's) the bounds are unknown: then a small
 * fixed number of bytes below the place of the first check is assumed.
 */

#include <stdbool.h>
#include <stdint.h>

#include "lib/thread_variable.h"

/**
 * struct stack_room - where the thread's stack may be used
 * @low: lowest address at which a frame may begin, with a reserve below for the functions it calls
 * @size: bytes from there to the top; 0 before the first check
 * @guessed: the bounds of this stack are not known
 */
struct stack_room {
	uintptr_t low;
	uintptr_t size;
	bool guessed;
};

extern __thread struct stack_room stack_room THREAD_VARIABLE_AT_ONCE;

/* Slow path of stack_room_check(); @here is the caller's frame. */
int stack_room_slow(uintptr_t here);

/**
 * stack_room_check - may the caller go one level deeper
 *
 * Context: any thread. The first check of a thread may allocate and make system calls.
 * Return: 0; -TENON_E_OVERFLOW, with the size of the stack in the message.
 */
static inline int stack_room_check(void)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	if (__builtin_expect(here - stack_room.low < stack_room.size, 1))
		return 0;
	return stack_room_slow(here);
}

/**
 * stack_room_forget - discard bounds that were guessed for an earlier stack
 *
 * Call it at the outermost entry of recursive code: the thread may run another coroutine now.
 */
static inline void stack_room_forget(void)
{
	if (stack_room.guessed)
		stack_room.size = 0;
}

#endif /* LIB_STACK_ROOM_H */
