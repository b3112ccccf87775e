/* SPDX-License-Identifier: MIT */
/* mortise on the Cortex-M3 of Arm's mps2-an385. */
#include "firmware/boards/board.h"

#define PSRAM	 0x21000000U
#define CLOCK_HZ 25000000U
#define BEAT_MS	 10

#define UART_DATA      WORD(0x40004000U)
#define UART_STATE     WORD(0x40004004U)
#define UART_CTRL      WORD(0x40004008U)
#define UART_INTCLEAR  WORD(0x4000400cU)
#define UART_BAUDDIV   WORD(0x40004010U)
#define STATE_TX_FULL  1
#define STATE_RX_FULL  2
#define CTRL_TX	       1
#define CTRL_RX	       2
#define CTRL_RX_IRQ    8
#define RX_IRQ_PENDING 2

#define TIMER_CTRL   WORD(0x40000000U)
#define TIMER_VALUE  WORD(0x40000004U)
#define TIMER_RELOAD WORD(0x40000008U)

#define SYST_CSR	 WORD(0xe000e010U)
#define SYST_RVR	 WORD(0xe000e014U)
#define SYST_CVR	 WORD(0xe000e018U)
#define NVIC_ISER	 WORD(0xe000e100U)
#define CFSR		 WORD(0xe000ed28U)
#define HFSR		 WORD(0xe000ed2cU)
#define MMFAR		 WORD(0xe000ed34U)
#define BFAR		 WORD(0xe000ed38U)
#define CFSR_MMFAR_VALID 0x80U
#define CFSR_BFAR_VALID	 0x8000U
#define SYST_ON		 7 /* enabled, interrupts, the core's clock */
#define UART_RX_IRQ	 0

/* what the core puts on the stack of what it interrupts */
struct frame {
	uint32_t r0, r1, r2, r3, r12, lr, pc, xpsr;
};

void board_reset(void);
void board_main(void);
void board_resume(void);
void board_fault(void);
void board_systick(void);
void board_uart(void);
uint32_t board_in_fault(struct frame *frame);
uint32_t board_in_systick(struct frame *frame);

extern uint32_t bss_begin[], bss_end[], stack_top[];

static struct mortise m;
static volatile bool armed;
static uint64_t clock_total;
static uint32_t clock_last;

/* The timer counts down through 32 bits; it is read often enough while the core is awake. */
static uint64_t ticks(struct mortise *unused)
{
	uint32_t now = ~TIMER_VALUE;

	clock_total += now - clock_last;
	clock_last = now;
	return clock_total;
}

/*
 * Until there is work: the doorbell wakes the core, and the timer now and then, for a host that has the board's memory
 * and not its doorbell.
 */
static void sleep_once(struct mortise *unused)
{
	__asm__ volatile("cpsid i" ::: "memory");
	while (!mortise_has_work(&m))
		__asm__ volatile("dsb\n\twfi\n\tcpsie i\n\tisb\n\tcpsid i" ::: "memory");
	__asm__ volatile("cpsie i" ::: "memory");
}

static void interrupt_host(struct mortise *unused)
{
	unsigned int polls = 0;

	while ((UART_STATE & STATE_TX_FULL) && ++polls < 1000)
		;
	UART_DATA = '!';
}

static void arm(struct mortise *unused, bool on)
{
	armed = on;
}

static void fence_code(void)
{
	__asm__ volatile("dsb\n\tisb" ::: "memory");
}

/* Ends the emulator by semihosting; without a debugger this is a trap, so it is the last thing done. */
static void stop(struct mortise *unused)
{
	register uint32_t operation __asm__("r0") = 0x18; /* SYS_EXIT */
	register uint32_t reason __asm__("r1") = 0x20026; /* ADP_Stopped_ApplicationExit */

	__asm__ volatile("bkpt 0xab" : "+r"(operation) : "r"(reason) : "memory");
}

static const struct mortise_port port = {
	.machine = MORTISE_MACHINE_ARM,
	.features = MORTISE_FEATURE_CALL | MORTISE_FEATURE_DOORBELL | MORTISE_FEATURE_INTERRUPT |
		    MORTISE_FEATURE_WATCHDOG | MORTISE_FEATURE_TIMESTAMP,
	.tick_hz = CLOCK_HZ,
	.idle_polls = 20000,
	.window_address = PSRAM,
	.window_size = 16 << 20,
	.ticks = ticks,
	.sleep = sleep_once,
	.interrupt = interrupt_host,
	.arm = arm,
	.fence_code = fence_code,
	.stop = stop,
};

void board_uart(void)
{
	/* in this order: a byte that comes in between interrupts again, or is read here */
	UART_INTCLEAR = RX_IRQ_PENDING;
	while (UART_STATE & STATE_RX_FULL)
		(void)UART_DATA;
}

/* Return from the exception into board_resume() on an empty stack; returns the new stack pointer. */
static uint32_t give_up(void)
{
	struct frame *frame = (struct frame *)((uintptr_t)stack_top - sizeof(*frame));

	*frame = (struct frame){ .pc = (uint32_t)board_resume & ~1U, .xpsr = 0x01000000 };
	return (uint32_t)frame;
}

uint32_t board_in_fault(struct frame *frame)
{
	uint32_t why = CFSR, address = 0;

	if (why & CFSR_BFAR_VALID)
		address = BFAR;
	else if (why & CFSR_MMFAR_VALID)
		address = MMFAR;
	CFSR = why;
	HFSR = HFSR;
	mortise_stop_packet(&m, MORTISE_FAULT_TRAP, address, why, frame->pc);
	return give_up();
}

uint32_t board_in_systick(struct frame *frame)
{
	return board_tick(&m, armed, frame->pc) ? 0 : give_up();
}

/* Hand the interrupted frame to C; where a stack pointer comes back, return to that. */
#define ON_FRAME(function)                                                                         \
	__asm__ volatile("mrs r0, msp\n\t"                                                         \
			 "push {r4, lr}\n\t"                                                       \
			 "bl " #function "\n\t"                                                    \
			 "pop {r4, lr}\n\t"                                                        \
			 "cbz r0, 1f\n\t"                                                          \
			 "msr msp, r0\n\t"                                                         \
			 "1: bx lr")

__attribute__((naked)) void board_fault(void)
{
	ON_FRAME(board_in_fault);
}

__attribute__((naked)) void board_systick(void)
{
	ON_FRAME(board_in_systick);
}

void board_resume(void)
{
	mortise_loop(&m);
}

void board_main(void)
{
	UART_BAUDDIV = 16;
	UART_CTRL = CTRL_TX | CTRL_RX | CTRL_RX_IRQ;
	TIMER_RELOAD = UINT32_MAX;
	TIMER_VALUE = UINT32_MAX;
	TIMER_CTRL = 1;
	SYST_RVR = CLOCK_HZ / 1000 * BEAT_MS - 1;
	SYST_CVR = 0;
	SYST_CSR = SYST_ON;
	NVIC_ISER = 1U << UART_RX_IRQ;
	mortise_boot(&m, &port);
	mortise_loop(&m);
}

void board_reset(void)
{
	uint32_t *word;

	for (word = bss_begin; word < bss_end; word++)
		*word = 0;
	board_main();
}

__attribute__((section(".vectors"), used)) static void (*const vectors[17])(void) = {
	(void (*)(void))stack_top,
	board_reset,
	[2] = board_fault, /* NMI */
	[3] = board_fault, /* hard fault: all faults are raised to it */
	[4] = board_fault,
	[5] = board_fault,
	[6] = board_fault,
	[11] = board_fault,
	[14] = board_fault,
	[15] = board_systick,
	[16 + UART_RX_IRQ] = board_uart,
};
