/* SPDX-License-Identifier: MIT */
/*
 * seccomp: a filter that allows the calls of a list (sandbox_calls.c) and nothing else. The structures and numbers
 * are the kernel's: some C libraries install no header of them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "rpc/server/sandbox.h"
#include "rpc/server/sandbox_calls.h"

#if defined(__x86_64__) && !defined(__ILP32__)
#define MACHINE 0xc000003eU
#elif defined(__i386__)
#define MACHINE 0x40000003U
#elif defined(__aarch64__)
#define MACHINE 0xc00000b7U
#elif defined(__arm__)
#define MACHINE 0x40000028U
#elif defined(__riscv) && __riscv_xlen == 64
#define MACHINE 0xc00000f3U
#endif

#ifdef MACHINE

/* as in linux/filter.h */
struct instruction {
	uint16_t code;
	uint8_t jump_true;
	uint8_t jump_false;
	uint32_t k;
};

struct program {
	unsigned short length;
	const struct instruction *filter;
};

#define FILTER_MODE	 2
#define SET_FILTER	 1 /* operation of seccomp() */
#define ACTION_AVAILABLE 2
#define NEW_LISTENER	 8 /* flags of the former */
#define KILLABLE	 32
#define ALLOW		 0x7fff0000U
#define KILL		 0x80000000U
#define ASK		 0x7fc00000U
#define DENY		 (0x00050000U | EPERM)
#define ABSENT		 (0x00050000U | ENOSYS)

/* offsets in struct seccomp_data; all machines above are little-endian */
#define NUMBER	    0
#define ARCH	    4
#define ARGUMENT(n) (16 + 8 * (n))

#define PAIR_TYPES    15 /* of the type of a socket: without its flags */
#define FAST_OPEN     0x20000000U
#define WHICH_PROCESS 0 /* of setpriority() */
#define WHICH_IO      1 /* of ioprio_set() */
#define ACCESS_NEITHER                                                                             \
	3 /* of open(): a descriptor for ioctl() alone, of which Landlock asks nothing */

/*
 * A filter under construction: a search tree of the rules by number, so that a call needs only as
 * many comparisons as the tree is deep. For calls that are allowed with all arguments the kernel
 * has a bitmap.
 */
struct filter {
	struct instruction code[3072];
	unsigned short length;
	uint32_t refused; /* the answer to a call that is not allowed */
	uint32_t absent;  /* to a newer one */
	uint32_t start;	  /* to a new process or thread */
	uint32_t ask;	  /* to one for which the server looks */
	bool sockets;
	struct call calls[448];
	size_t count;
};

static void add(struct filter *f, uint16_t code, uint8_t jump_true, uint8_t jump_false, uint32_t k)
{
	f->code[f->length++] = (struct instruction){ code, jump_true, jump_false, k };
}

static void load(struct filter *f, uint32_t offset)
{
	add(f, 0x20, 0, 0, offset);
}

static void give(struct filter *f, uint32_t value)
{
	add(f, 0x06, 0, 0, value);
}

static void mask(struct filter *f, uint32_t bits)
{
	add(f, 0x54, 0, 0, bits);
}

/* Answer @value when what is loaded equals @k; else go on. */
static void on_equal(struct filter *f, uint32_t k, uint32_t value)
{
	add(f, 0x15, 0, 1, k);
	give(f, value);
}

static void unless_equal(struct filter *f, uint32_t k, uint32_t value)
{
	add(f, 0x15, 1, 0, k);
	give(f, value);
}

static void on_any_bit(struct filter *f, uint32_t bits, uint32_t value)
{
	add(f, 0x45, 0, 1, bits);
	give(f, value);
}

/* ---- rules: each ends with an answer. The kernel takes the low half of an argument that is an int. */

static void own(struct filter *f, unsigned int argument, uint32_t other)
{
	load(f, ARGUMENT(argument));
	on_equal(f, 0, ALLOW);
	on_equal(f, (uint32_t)getpid(), ALLOW);
	give(f, other);
}

static void open_flags(struct filter *f, unsigned int argument)
{
	load(f, ARGUMENT(argument));
	mask(f, O_ACCMODE | O_TRUNC);
	/* truncation of a file that is opened for reading: Landlock does not see it before its version 3 */
	on_equal(f, O_RDONLY | O_TRUNC, f->refused);
	on_equal(f, ACCESS_NEITHER, f->refused);
	on_equal(f, ACCESS_NEITHER | O_TRUNC, f->refused);
	give(f, ALLOW);
}

static void ioctl_rule(struct filter *f)
{
	size_t i;

	load(f, ARGUMENT(1));
	for (i = 0; i < ioctl_numbers_count; i++)
		on_equal(f, ioctl_numbers[i], ALLOW);
	mask(f, 0xff00);
	for (i = 0; i < ioctl_types_count; i++)
		on_equal(f, (uint32_t)ioctl_types[i] << 8, ALLOW);
	give(f, f->refused);
}

static void fcntl_rule(struct filter *f)
{
	size_t i;

	load(f, ARGUMENT(1));
	/* Skip the check of flags for all but F_SETFL. */
	add(f, 0x15, 0, 3, F_SETFL);
	load(f, ARGUMENT(2));
	on_any_bit(f, O_ASYNC, f->refused);
	load(f, ARGUMENT(1));
	for (i = 0; i < fcntl_commands_count; i++)
		on_equal(f, fcntl_commands[i], ALLOW);
	give(f, f->refused);
}

static void prctl_rule(struct filter *f)
{
	size_t i;

	load(f, ARGUMENT(0));
	for (i = 0; i < prctl_options_count; i++)
		on_equal(f, prctl_options[i], ALLOW);
	give(f, f->refused);
}

/* Sockets that have a peer for good: a datagram socket could send to any name. */
static void socket_rule(struct filter *f)
{
	load(f, ARGUMENT(0));
	unless_equal(f, AF_UNIX, f->refused);
	load(f, ARGUMENT(1));
	mask(f, PAIR_TYPES);
	on_equal(f, SOCK_STREAM, ALLOW);
	on_equal(f, SOCK_SEQPACKET, ALLOW);
	give(f, f->refused);
}

static void send_rule(struct filter *f, unsigned int flags)
{
	load(f, ARGUMENT(flags));
	/* with an address it is a connect() */
	on_any_bit(f, FAST_OPEN, f->refused);
}

static void no_pointer(struct filter *f, unsigned int argument)
{
	load(f, ARGUMENT(argument));
	unless_equal(f, 0, f->refused);
	load(f, ARGUMENT(argument) + 4);
	unless_equal(f, 0, f->refused);
}

static void rule(struct filter *f, enum call_rule r)
{
	switch (r) {
	case CALL_DENIED:
		give(f, f->refused);
		break;
	case CALL_ABSENT:
		give(f, f->absent);
		break;
	case CALL_CLONE3:
		give(f, ABSENT);
		break;
	case CALL_ALLOWED:
		give(f, ALLOW);
		break;
	case CALL_CLONE:
		load(f, ARGUMENT(0));
		on_any_bit(f, CLONE_REFUSED, f->refused);
		give(f, f->start);
		break;
	case CALL_START:
		give(f, f->start);
		break;
	case CALL_OWN:
		own(f, 0, f->refused);
		break;
	case CALL_OWN_THREAD:
		own(f, 0, f->ask);
		break;
	case CALL_PRIORITY:
	case CALL_IO_PRIORITY:
		load(f, ARGUMENT(0));
		unless_equal(f, r == CALL_PRIORITY ? WHICH_PROCESS : WHICH_IO, f->refused);
		own(f, 1, f->ask);
		break;
	case CALL_OPEN:
		open_flags(f, 1);
		break;
	case CALL_OPENAT:
		open_flags(f, 2);
		break;
	case CALL_IOCTL:
		ioctl_rule(f);
		break;
	case CALL_FCNTL:
		fcntl_rule(f);
		break;
	case CALL_PRCTL:
		prctl_rule(f);
		break;
	case CALL_PAIR:
		socket_rule(f);
		break;
	case CALL_SOCKET:
		if (f->sockets)
			socket_rule(f);
		else
			give(f, f->refused);
		break;
	case CALL_CONNECT:
		give(f, f->sockets ? f->ask : f->refused);
		break;
	case CALL_SEND:
		send_rule(f, 3);
		no_pointer(f, 4);
		give(f, ALLOW);
		break;
	case CALL_MESSAGE:
		send_rule(f, 2);
		give(f, ALLOW);
		break;
	}
}

/* ---- the tree */

static int by_number(const void *a, const void *b)
{
	const uint32_t x = ((const struct call *)a)->number, y = ((const struct call *)b)->number;

	return (x > y) - (x < y);
}

static void add_calls(struct filter *f)
{
	size_t i;

	for (i = 0; i < calls_allowed_count; i++)
		f->calls[f->count++] = (struct call){ calls_allowed[i], CALL_ALLOWED };
	for (i = 0; i < calls_ruled_count; i++)
		f->calls[f->count++] = calls_ruled[i];
	qsort(f->calls, f->count, sizeof(*f->calls), by_number);
}

/* a range of numbers with one rule, up to the next */
struct ranges {
	struct call range[2 * 448 + 2];
	size_t count;
};

static void begin_range(struct ranges *r, uint32_t number, uint8_t rule)
{
	if (r->count && r->range[r->count - 1].rule == rule && rule <= CALL_ALLOWED)
		return;
	if (r->count && r->range[r->count - 1].number == number)
		r->range[r->count - 1].rule = rule;
	else
		r->range[r->count++] = (struct call){ number, rule };
}

static uint8_t unlisted(uint32_t number)
{
	return number < CALLS_NEWER ? CALL_DENIED : CALL_ABSENT;
}

static void find_ranges(const struct filter *f, struct ranges *r)
{
	uint32_t next = 0;
	size_t i;

	for (i = 0; i < f->count; i++) {
		if (f->calls[i].number > next) {
			begin_range(r, next, unlisted(next));
			if (next < CALLS_NEWER && f->calls[i].number > CALLS_NEWER)
				begin_range(r, CALLS_NEWER, CALL_ABSENT);
		}
		begin_range(r, f->calls[i].number, f->calls[i].rule);
		next = f->calls[i].number + 1;
	}
	begin_range(r, next, unlisted(next));
	if (next < CALLS_NEWER)
		begin_range(r, CALLS_NEWER, CALL_ABSENT);
}

static void branch(struct filter *f, const struct call *range, size_t count)
{
	const size_t half = count / 2;
	unsigned short jump;

	if (count == 1) {
		rule(f, (enum call_rule)range->rule);
		return;
	}
	/* a jump that depends on a comparison reaches 255 instructions */
	add(f, 0x35, 0, 1, range[half].number);
	jump = f->length;
	add(f, 0x05, 0, 0, 0);
	branch(f, range, half);
	f->code[jump].k = (uint32_t)(f->length - jump - 1);
	branch(f, range + half, count - half);
}

static void fill(struct filter *f)
{
	struct ranges ranges = { .count = 0 };

	load(f, ARCH);
	unless_equal(f, MACHINE, KILL);
	load(f, NUMBER);
#ifdef __x86_64__
	/* calls of the x32 ABI have other numbers */
	add(f, 0x35, 0, 1, 0x40000000U);
	give(f, DENY);
#endif
	add_calls(f);
	find_ranges(f, &ranges);
	branch(f, ranges.range, ranges.count);
}

static bool set_filter(const struct sandbox_options *options, bool ask, int *listener)
{
	static struct filter filter;
	struct program program = { 0, filter.code };

	filter = (struct filter){
		.refused = options->learn && ask ? ASK : DENY,
		.absent = options->learn && ask ? ASK : ABSENT,
		.start = ask ? ASK : ALLOW,
		.ask = ask ? ASK : DENY,
		.sockets = options->sockets && ask,
	};
	fill(&filter);
	program.length = filter.length;
	if (!ask)
		return !prctl(PR_SET_SECCOMP, FILTER_MODE, &program, 0, 0);
	*listener = (int)syscall(SYS_seccomp, SET_FILTER, NEW_LISTENER | KILLABLE, &program);
	/* before Linux 5.19 a signal interrupts the wait, and the call is made again */
	if (*listener < 0)
		*listener = (int)syscall(SYS_seccomp, SET_FILTER, NEW_LISTENER, &program);
	return *listener >= 0;
}

/* Notifications exist since Linux 5.0, and can let a call go on since 5.5. */
static bool can_ask(void)
{
	const uint32_t action = ASK;
	struct utsname name;
	char *minor;
	long major;

	if (syscall(SYS_seccomp, ACTION_AVAILABLE, 0, &action) || uname(&name))
		return false;
	major = strtol(name.release, &minor, 10);
	return major > 5 || (major == 5 && *minor == '.' && strtol(minor + 1, NULL, 10) >= 5);
}

unsigned int sandbox_syscalls(const struct sandbox_options *options, int *listener)
{
	if (can_ask() && set_filter(options, true, listener))
		return 0;
	return SANDBOX_PROCESSES | (set_filter(options, false, listener) ? 0 : SANDBOX_SYSCALLS);
}

#else

unsigned int sandbox_syscalls(const struct sandbox_options *options, int *listener)
{
	return SANDBOX_PROCESSES | SANDBOX_SYSCALLS;
}

#endif
