/* SPDX-License-Identifier: MIT */
/* Reset, traps, and the way back to the loop when a packet is given up. */
#if __riscv_xlen == 64
#define STORE sd
#define LOAD  ld
#define SIZE  8
#else
#define STORE sw
#define LOAD  lw
#define SIZE  4
#endif

	.section .start, "ax"
	.globl _start
_start:
	csrr	t0, mhartid
	bnez	t0, park
	la	sp, stack_top
	la	t0, bss_begin
	la	t1, bss_end
1:	bgeu	t0, t1, 2f
	STORE	zero, 0(t0)
	addi	t0, t0, SIZE
	j	1b
2:	la	t0, trap
	csrw	mtvec, t0
	call	board_main
park:	wfi
	j	park

	/* registers that a C function may change are kept on the stack of what was interrupted */
	.align	2
trap:
	addi	sp, sp, -16 * SIZE
	STORE	ra, 0 * SIZE(sp)
	STORE	t0, 1 * SIZE(sp)
	STORE	t1, 2 * SIZE(sp)
	STORE	t2, 3 * SIZE(sp)
	STORE	t3, 4 * SIZE(sp)
	STORE	t4, 5 * SIZE(sp)
	STORE	t5, 6 * SIZE(sp)
	STORE	t6, 7 * SIZE(sp)
	STORE	a0, 8 * SIZE(sp)
	STORE	a1, 9 * SIZE(sp)
	STORE	a2, 10 * SIZE(sp)
	STORE	a3, 11 * SIZE(sp)
	STORE	a4, 12 * SIZE(sp)
	STORE	a5, 13 * SIZE(sp)
	STORE	a6, 14 * SIZE(sp)
	STORE	a7, 15 * SIZE(sp)
	csrr	a0, mcause
	csrr	a1, mepc
	csrr	a2, mtval
	call	board_trap
	beqz	a0, give_up
	LOAD	ra, 0 * SIZE(sp)
	LOAD	t0, 1 * SIZE(sp)
	LOAD	t1, 2 * SIZE(sp)
	LOAD	t2, 3 * SIZE(sp)
	LOAD	t3, 4 * SIZE(sp)
	LOAD	t4, 5 * SIZE(sp)
	LOAD	t5, 6 * SIZE(sp)
	LOAD	t6, 7 * SIZE(sp)
	LOAD	a0, 8 * SIZE(sp)
	LOAD	a1, 9 * SIZE(sp)
	LOAD	a2, 10 * SIZE(sp)
	LOAD	a3, 11 * SIZE(sp)
	LOAD	a4, 12 * SIZE(sp)
	LOAD	a5, 13 * SIZE(sp)
	LOAD	a6, 14 * SIZE(sp)
	LOAD	a7, 15 * SIZE(sp)
	addi	sp, sp, 16 * SIZE
	mret

	/* drop the stack; interrupts are on again behind mret */
give_up:
	la	sp, stack_top
	li	t0, 0x1880		/* MPP: machine mode; MPIE */
	csrs	mstatus, t0
	la	t0, board_resume
	csrw	mepc, t0
	mret
