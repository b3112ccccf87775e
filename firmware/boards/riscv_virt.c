/* SPDX-License-Identifier: MIT */
/* mortise on QEMU's virt board, rv32 and rv64: machine mode, one hart. */
#include "firmware/boards/board.h"

#define RAM	  0x80000000U
#define TICK_HZ	  10000000U
#define BEAT	  (TICK_HZ / 100) /* 10 ms */
#define LOOK	  (TICK_HZ / 50)  /* 20 ms */
#define UART_IRQ  10
#define TEST	  0x00100000U /* sifive_test: ends the emulator */
#define TEST_PASS 0x5555U

#define UART(i)	   (*(volatile uint8_t *)(0x10000000U + (i)))
#define UART_DATA  UART(0)
#define UART_IER   UART(1)
#define UART_FCR   UART(2)
#define UART_LSR   UART(5)
#define LSR_RX	   0x01
#define LSR_TX_OFF 0x20

#define PLIC(offset)   WORD(0x0c000000U + (offset))
#define PLIC_PRIORITY  PLIC(4 * UART_IRQ)
#define PLIC_ENABLE    PLIC(0x2000)
#define PLIC_THRESHOLD PLIC(0x200000)
#define PLIC_CLAIM     PLIC(0x200004)
#define MTIMECMP_LOW   WORD(0x02004000U)
#define MTIMECMP_HIGH  WORD(0x02004004U)
#define MTIME_LOW      WORD(0x0200bff8U)
#define MTIME_HIGH     WORD(0x0200bffcU)

#define MSTATUS_MIE    8
#define MIE_TIMER      0x80
#define MIE_EXTERNAL   0x800
#define IS_INTERRUPT   ((uintptr_t)1 << (8 * sizeof(uintptr_t) - 1))
#define CAUSE_TIMER    7
#define CAUSE_EXTERNAL 11

void board_main(void);
void board_resume(void);
int board_trap(uintptr_t cause, uintptr_t pc, uintptr_t value);

static struct mortise m;
static volatile bool armed;

static uint64_t ticks(struct mortise *unused)
{
	uint32_t high, low;

	do {
		high = MTIME_HIGH;
		low = MTIME_LOW;
	} while (high != MTIME_HIGH);
	return (uint64_t)high << 32 | low;
}

static void set_timer(uint64_t at)
{
	MTIMECMP_HIGH = UINT32_MAX; /* no interrupt in between */
	MTIMECMP_LOW = (uint32_t)at;
	MTIMECMP_HIGH = (uint32_t)(at >> 32);
}

static void hold_interrupts(bool hold)
{
	if (hold)
		__asm__ volatile("csrc mstatus, %0" ::"r"(MSTATUS_MIE) : "memory");
	else
		__asm__ volatile("csrs mstatus, %0" ::"r"(MSTATUS_MIE) : "memory");
}

/*
 * Until there is work: the doorbell wakes the core, and the timer now and then, for a host that has the board's memory
 * and not its doorbell. An idle board costs next to nothing.
 */
static void sleep_once(struct mortise *unused)
{
	hold_interrupts(true);
	while (!mortise_has_work(&m)) {
		set_timer(ticks(NULL) + LOOK);
		__asm__ volatile("wfi" ::: "memory");
		/* what woke the core is handled here */
		hold_interrupts(false);
		hold_interrupts(true);
	}
	set_timer(ticks(NULL) + BEAT);
	hold_interrupts(false);
}

static void interrupt_host(struct mortise *unused)
{
	unsigned int polls = 0;

	while (!(UART_LSR & LSR_TX_OFF) && ++polls < 1000)
		;
	UART_DATA = '!';
}

static void arm(struct mortise *unused, bool on)
{
	armed = on;
}

static void fence_code(void)
{
	__asm__ volatile("fence.i" ::: "memory");
}

static void stop(struct mortise *unused)
{
	WORD(TEST) = TEST_PASS;
}

static const struct mortise_port port = {
	.machine = MORTISE_MACHINE_RISCV,
	.features = MORTISE_FEATURE_CALL | MORTISE_FEATURE_DOORBELL | MORTISE_FEATURE_INTERRUPT |
		    MORTISE_FEATURE_WATCHDOG | MORTISE_FEATURE_TIMESTAMP,
	.tick_hz = TICK_HZ,
	.idle_polls = 20000,
	.window_address = RAM,
	.window_size = 16 << 20,
	.ticks = ticks,
	.sleep = sleep_once,
	.interrupt = interrupt_host,
	.arm = arm,
	.fence_code = fence_code,
	.stop = stop,
};

/* The doorbell is a byte on the UART; its only use is that it wakes the core. */
static void take_doorbell(void)
{
	uint32_t irq = PLIC_CLAIM;

	while (UART_LSR & LSR_RX)
		(void)UART_DATA;
	PLIC_CLAIM = irq;
}

/* 1 to go on, 0 to give up the packet. */
int board_trap(uintptr_t cause, uintptr_t pc, uintptr_t value)
{
	if (cause == (IS_INTERRUPT | CAUSE_TIMER)) {
		set_timer(ticks(NULL) + BEAT);
		return board_tick(&m, armed, pc);
	}
	if (cause == (IS_INTERRUPT | CAUSE_EXTERNAL)) {
		take_doorbell();
		return 1;
	}
	mortise_stop_packet(&m, MORTISE_FAULT_TRAP, value, (uint32_t)cause, pc);
	return 0;
}

void board_resume(void)
{
	mortise_loop(&m);
}

void board_main(void)
{
	UART_FCR = 1;
	UART_IER = 1;
	PLIC_PRIORITY = 1;
	PLIC_ENABLE = 1U << UART_IRQ;
	PLIC_THRESHOLD = 0;
	set_timer(ticks(NULL) + BEAT);
	__asm__ volatile("csrs mie, %0" ::"r"(MIE_TIMER | MIE_EXTERNAL));
	mortise_boot(&m, &port);
	hold_interrupts(false);
	mortise_loop(&m);
}
