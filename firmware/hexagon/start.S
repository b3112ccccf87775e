/* SPDX-License-Identifier: MIT */
/* First instructions, system calls, and the entry of signals, for mortise as a program of Linux on Hexagon. */
	.text
	.globl _start
	.p2align 4
_start:
	{
		r29 = ##stack_top
		r30 = #0
	}
	{
		r31 = #0
		jump board_main
	}

/* long board_call(long a, b, c, d, e, f, long number) */
	.globl board_call
	.p2align 4
board_call:
	r6 = memw(r29+#0)
	trap0(#1)
	jumpr r31

/*
 * QEMU 7.2 leaves the predicates out of the context of a signal. Code that a timer interrupts may hold conditions in
 * them, so they are kept here.
 */
	.globl board_signal
	.p2align 4
board_signal:
	allocframe(#8)
	r3 = p3:0
	memw(r29+#0) = r3
	call board_on_signal
	r3 = memw(r29+#0)
	p3:0 = r3
	dealloc_return

/* Drop the stack and run mortise_loop() on an empty one. */
	.globl board_give_up
	.p2align 4
board_give_up:
	r29 = ##stack_top
	jump board_resume

	.section .note.GNU-stack,"",@progbits
