/* SPDX-License-Identifier: MIT */
/*
 * mortise on Hexagon, as a program that qemu-hexagon runs. The host gives it two descriptors: 3 is the file that is
 * the window, 4 a socket. A byte that arrives there is the doorbell, a byte that is sent there the interrupt.
 */
#include "firmware/boards/board.h"

#define WINDOW	    0x40000000U
#define WINDOW_SIZE (16U << 20)
#define TICK_HZ	    1000000000U
#define BEAT_US	    10000
#define LOOK_NS	    20000000
#define ALIGNED	    __attribute__((aligned(8)))

enum { MEMORY = 3, UART = 4 };

/* numbers and constants of Linux on Hexagon */
enum {
	SYS_READ = 63,
	SYS_PPOLL = 73,
	SYS_EXIT_GROUP = 94,
	SYS_SETITIMER = 103,
	SYS_CLOCK_GETTIME = 113,
	SYS_SIGALTSTACK = 132,
	SYS_SIGACTION = 134,
	SYS_SIGPROCMASK = 135,
	SYS_SENDTO = 206,
	SYS_MMAP = 222,
	PROT_ALL = 7,
	MAP_SHARED_FIXED = 0x11,
	MSG_DONTWAIT_NOSIGNAL = 0x4040,
	CLOCK_MONOTONIC = 1,
	POLLIN = 1,
	SIGILL = 4,
	SIGTRAP = 5,
	SIGABRT = 6,
	SIGBUS = 7,
	SIGFPE = 8,
	SIGSEGV = 11,
	SIGALRM = 14,
	SIG_SETMASK = 2,
	SA_SIGINFO = 4,
	SA_ONSTACK = 0x08000000,
	NO_MEMORY = 1, /* exit status */
};

struct action {
	void (*handler)(void);
	uint32_t flags;
	uint32_t mask[2];
};

/* the part of siginfo_t that a fault has */
struct signal_info {
	int32_t number, error, code;
	uint32_t address;
};

/* places in ucontext_t, in words: the alternate stack, and the program counter behind it */
enum {
	CONTEXT_STACK = 2,
	CONTEXT_PC = 3 + 32 + 10, /* from the stack on */
};

long board_call(long a, long b, long c, long d, long e, long f, long number);
void board_signal(void);
void board_on_signal(int32_t number, const struct signal_info *info, const uint32_t *context);
void board_give_up(void) __attribute__((noreturn));
void board_main(void);
void board_resume(void);

ALIGNED static uint8_t signal_stack[32768];
static struct mortise m;
static volatile bool armed;
static bool timer_runs;

static uint64_t ticks(struct mortise *unused)
{
	int32_t time[2] = { 0, 0 };

	board_call(CLOCK_MONOTONIC, (long)time, 0, 0, 0, 0, SYS_CLOCK_GETTIME);
	return (uint32_t)time[0] * (uint64_t)TICK_HZ + (uint32_t)time[1];
}

/* One signal, a while from now. */
static void start_timer(void)
{
	const int32_t timer[4] = { 0, 0, 0, BEAT_US };

	timer_runs = true;
	board_call(0, (long)timer, 0, 0, 0, 0, SYS_SETITIMER);
}

/* A packet may end before the timer, and the next one then runs under the same. */
static void arm(struct mortise *unused, bool on)
{
	armed = on;
	if (on && !timer_runs)
		start_timer();
}

/*
 * Until there is work: a byte of the doorbell wakes the core, and a deadline now and then, for a host that has the
 * window and not the socket. A byte that came before stays in the socket, so no wake-up is lost.
 */
static void sleep_once(struct mortise *unused)
{
	const int32_t deadline[2] = { 0, LOOK_NS };
	char bytes[64];

	while (!mortise_has_work(&m)) {
		struct {
			int32_t fd;
			int16_t events, found;
		} poll = { UART, POLLIN, 0 };

		if (board_call((long)&poll, 1, (long)deadline, 0, 0, 0, SYS_PPOLL) <= 0)
			continue;
		/* 0: the host is gone */
		if (!board_call(UART, (long)bytes, sizeof(bytes), 0, 0, 0, SYS_READ))
			board_call(0, 0, 0, 0, 0, 0, SYS_EXIT_GROUP);
	}
}

/* A full socket holds bytes that wake the host already. */
static void interrupt_host(struct mortise *unused)
{
	board_call(UART, (long)"!", 1, MSG_DONTWAIT_NOSIGNAL, 0, 0, SYS_SENDTO);
}

static void fence_code(void)
{
	__asm__ volatile("syncht\n\tisync" ::: "memory");
}

static void stop(struct mortise *unused)
{
	board_call(0, 0, 0, 0, 0, 0, SYS_EXIT_GROUP);
}

static const struct mortise_port port = {
	.machine = MORTISE_MACHINE_HEXAGON,
	.features = MORTISE_FEATURE_CALL | MORTISE_FEATURE_DOORBELL | MORTISE_FEATURE_INTERRUPT |
		    MORTISE_FEATURE_WATCHDOG | MORTISE_FEATURE_TIMESTAMP,
	.tick_hz = TICK_HZ,
	.idle_polls = 20000,
	.window_address = WINDOW,
	.window_size = WINDOW_SIZE,
	.ticks = ticks,
	.sleep = sleep_once,
	.interrupt = interrupt_host,
	.arm = arm,
	.fence_code = fence_code,
	.stop = stop,
};

/* QEMU 7.2 makes the first word of ucontext_t as long as a word of its host. */
static uint32_t interrupted_at(const uint32_t *context)
{
	uint32_t at = CONTEXT_STACK;

	if (context[at] != (uint32_t)signal_stack)
		at++;
	return context[at + CONTEXT_PC];
}

void board_on_signal(int32_t number, const struct signal_info *info, const uint32_t *context)
{
	uint32_t pc = interrupted_at(context);

	if (number == SIGALRM) {
		timer_runs = false;
		if (armed)
			start_timer();
		if (board_tick(&m, armed, pc))
			return;
	} else {
		mortise_stop_packet(&m, MORTISE_FAULT_TRAP, info->address, (uint32_t)number, pc);
	}
	board_give_up();
}

void board_resume(void)
{
	const uint32_t none[2] = { 0, 0 };

	/* the signal that led here blocks itself and the others */
	board_call(SIG_SETMASK, (long)none, 0, sizeof(none), 0, 0, SYS_SIGPROCMASK);
	mortise_loop(&m);
}

static void take_signals(void)
{
	static const uint8_t signals[] = { SIGILL, SIGTRAP, SIGABRT, SIGBUS,
					   SIGFPE, SIGSEGV, SIGALRM };
	const struct action action = { board_signal,
				       SA_SIGINFO | SA_ONSTACK,
				       { UINT32_MAX, UINT32_MAX } };
	const struct {
		void *base;
		int32_t flags;
		uint32_t size;
	} stack = { signal_stack, 0, sizeof(signal_stack) };
	size_t i;

	board_call((long)&stack, 0, 0, 0, 0, 0, SYS_SIGALTSTACK);
	for (i = 0; i < sizeof(signals); i++)
		board_call(signals[i], (long)&action, 0, sizeof(action.mask), 0, 0, SYS_SIGACTION);
}

void board_main(void)
{
	if (board_call(WINDOW, WINDOW_SIZE, PROT_ALL, MAP_SHARED_FIXED, MEMORY, 0, SYS_MMAP) !=
	    (long)WINDOW)
		board_call(NO_MEMORY, 0, 0, 0, 0, 0, SYS_EXIT_GROUP);
	take_signals();
	mortise_boot(&m, &port);
	mortise_loop(&m);
}
