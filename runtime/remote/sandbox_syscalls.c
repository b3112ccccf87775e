/* SPDX-License-Identifier: MIT */
/*
 * seccomp: a filter that denies what no driver or compiled code needs. The structures and numbers are
 * the kernel's: some C libraries install no header of them.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "runtime/remote/sandbox.h"

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

/* calls that are denied */
static const uint16_t denied[] = {
	/* other processes */
	SYS_ptrace,
	SYS_process_vm_readv,
	SYS_process_vm_writev,
	SYS_kcmp,
	424, /* pidfd_send_signal */
	438, /* pidfd_getfd */
	440, /* process_madvise */
	448, /* process_mrelease */
	SYS_tkill,
	/* the server kills the process group */
	SYS_setsid,
	SYS_setpgid,
	425, /* io_uring_setup */
	/* names of files in folders that a session may not list */
	SYS_inotify_add_watch,
	SYS_fanotify_init,
	/* the kernel and the machine */
	SYS_bpf,
	SYS_perf_event_open,
	SYS_keyctl,
	SYS_add_key,
	SYS_request_key,
	SYS_userfaultfd,
	SYS_init_module,
	SYS_finit_module,
	SYS_delete_module,
	SYS_kexec_load,
	SYS_reboot,
	SYS_swapon,
	SYS_swapoff,
	SYS_mount,
	SYS_umount2,
	SYS_pivot_root,
	SYS_chroot,
	SYS_unshare,
	SYS_setns,
	428, /* open_tree */
	429, /* move_mount */
	430, /* fsopen */
	432, /* fsmount */
	442, /* mount_setattr */
	SYS_sethostname,
	SYS_setdomainname,
	SYS_settimeofday,
	SYS_clock_settime,
	SYS_adjtimex,
	SYS_clock_adjtime,
	SYS_syslog,
	SYS_acct,
	SYS_quotactl,
};

/* those that are denied unless their first argument is 0 or the process itself */
static const uint16_t own_only[] = {
	SYS_kill, SYS_tgkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_prlimit64,
};

/* new processes and threads; C libraries take clone() when there is no clone3() */
static const uint16_t starts[] = {
	SYS_clone,
#ifdef SYS_fork
	SYS_fork,
#endif
#ifdef SYS_vfork
	SYS_vfork,
#endif
};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* what clone() and unshare() make: namespaces of mounts, groups, names, IPC, users, processes and networks */
#define NAMESPACES 0x7e020000U

/* room for all of them; made by a program, because a list of instructions is several times as large */
struct filter {
	struct instruction code[2 * (COUNT(denied) + COUNT(starts)) + 6 * COUNT(own_only) + 24];
	unsigned short length;
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

/* Skip @yes or @no instructions. */
static void compare(struct filter *f, uint32_t value, uint8_t yes, uint8_t no)
{
	add(f, 0x15, yes, no, value);
}

/* The answer to calls of a list. */
static void answer(struct filter *f, const uint16_t *calls, size_t count, uint32_t value)
{
	while (count--) {
		compare(f, *calls++, 0, 1);
		give(f, value);
	}
}

/* A call that is allowed with one value of its first argument, or two. */
static void allow_only(struct filter *f, uint32_t call, uint32_t first, uint32_t second)
{
	compare(f, call, 0, 5);
	load(f, ARGUMENT(0));
	compare(f, first, 2, 0);
	compare(f, second, 1, 0);
	give(f, DENY);
	give(f, ALLOW);
}

/* In a namespace of its own, code is root to parts of the kernel that it could not reach else. */
static void deny_namespaces(struct filter *f)
{
	compare(f, SYS_clone, 0, 4);
	load(f, ARGUMENT(0));
	add(f, 0x45, 0, 1, NAMESPACES);
	give(f, DENY);
	load(f, NUMBER);
}

/* @start: the answer to a new process or thread */
static void fill(struct filter *f, uint32_t start)
{
	/* its flags are in memory, where another thread could change them */
	static const uint16_t clone3 = 435;
	size_t i;

	load(f, ARCH);
	compare(f, MACHINE, 1, 0);
	give(f, KILL);
	load(f, NUMBER);
#ifdef __x86_64__
	/* calls of the x32 ABI have other numbers */
	add(f, 0x35, 0, 1, 0x40000000U);
	give(f, DENY);
#endif
	deny_namespaces(f);
	answer(f, starts, COUNT(starts), start);
	answer(f, &clone3, 1, ABSENT);
	answer(f, denied, COUNT(denied), DENY);
	for (i = 0; i < COUNT(own_only); i++)
		allow_only(f, own_only[i], 0, (uint32_t)getpid());
	/* the network; sockets of this machine serve drivers */
	allow_only(f, SYS_socket, AF_UNIX, AF_UNIX);
	give(f, ALLOW);
}

static bool set_filter(uint32_t start, int *listener)
{
	struct filter filter = { .length = 0 };
	struct program program = { 0, filter.code };

	fill(&filter, start);
	program.length = filter.length;
	if (start != ASK)
		return !prctl(PR_SET_SECCOMP, FILTER_MODE, &program, 0, 0);
	*listener = (int)syscall(SYS_seccomp, SET_FILTER, NEW_LISTENER | KILLABLE, &program);
	/* before Linux 5.19, a signal has the call made and asked for again */
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

unsigned int sandbox_syscalls(int *listener)
{
	if (can_ask() && set_filter(ASK, listener))
		return 0;
	return SANDBOX_PROCESSES | (set_filter(ALLOW, listener) ? 0 : SANDBOX_SYSCALLS);
}

#else

unsigned int sandbox_syscalls(int *listener)
{
	(void)listener;
	return SANDBOX_PROCESSES | SANDBOX_SYSCALLS;
}

#endif
