/* SPDX-License-Identifier: MIT */
/*
 * seccomp: a filter that denies what no driver or compiled code needs. The structures and numbers are
 * the kernel's: some C libraries install no header of them.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
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

#define LOAD(offset)                                                                               \
	{                                                                                          \
		0x20, 0, 0, offset                                                                 \
	}
#define RETURN(value)                                                                              \
	{                                                                                          \
		0x06, 0, 0, value                                                                  \
	}
#define EQUAL(value, yes, no)                                                                      \
	{                                                                                          \
		0x15, yes, no, value                                                               \
	}
#define AT_LEAST(value, yes, no)                                                                   \
	{                                                                                          \
		0x35, yes, no, value                                                               \
	}

/* a system call that is denied */
#define DENIED(number) EQUAL((uint32_t)(number), 0, 1), RETURN(DENY)
/* one that is denied unless its first argument is 0 or the process itself */
#define OWN_ONLY(number)                                                                           \
	EQUAL((uint32_t)(number), 0, 5), LOAD(ARGUMENT(0)), EQUAL(0, 2, 0), EQUAL(own, 1, 0),      \
		RETURN(DENY), RETURN(ALLOW)

/* @start: the answer to a new process or thread */
static bool set_filter(uint32_t start, int *listener)
{
	const uint32_t own = (uint32_t)getpid();
	const struct instruction filter[] = {
		LOAD(ARCH),
		EQUAL(MACHINE, 1, 0),
		RETURN(KILL),
		LOAD(NUMBER),
#ifdef __x86_64__
		/* calls of the x32 ABI have other numbers */
		AT_LEAST(0x40000000U, 0, 1),
		RETURN(DENY),
#endif
		/* new processes and threads; C libraries take clone() when there is no clone3() */
		EQUAL((uint32_t)SYS_clone, 0, 1),
		RETURN(start),
#ifdef SYS_fork
		EQUAL((uint32_t)SYS_fork, 0, 1),
		RETURN(start),
#endif
#ifdef SYS_vfork
		EQUAL((uint32_t)SYS_vfork, 0, 1),
		RETURN(start),
#endif
		/* its flags are in memory, where another thread could change them */
		EQUAL(435, 0, 1), /* clone3 */
		RETURN(ABSENT),
		/* other processes */
		DENIED(SYS_ptrace),
		DENIED(SYS_process_vm_readv),
		DENIED(SYS_process_vm_writev),
		DENIED(SYS_kcmp),
		DENIED(424), /* pidfd_send_signal */
		DENIED(438), /* pidfd_getfd */
		DENIED(440), /* process_madvise */
		DENIED(448), /* process_mrelease */
		DENIED(SYS_tkill),
		OWN_ONLY(SYS_kill),
		OWN_ONLY(SYS_tgkill),
		OWN_ONLY(SYS_rt_sigqueueinfo),
		OWN_ONLY(SYS_rt_tgsigqueueinfo),
		OWN_ONLY(SYS_prlimit64),
		/* the server kills the process group */
		DENIED(SYS_setsid),
		DENIED(SYS_setpgid),
		/* the network; sockets of this machine serve drivers */
		EQUAL((uint32_t)SYS_socket, 0, 4),
		LOAD(ARGUMENT(0)),
		EQUAL(AF_UNIX, 1, 0),
		RETURN(DENY),
		RETURN(ALLOW),
		DENIED(425), /* io_uring_setup */
		/* names of files in folders that a session may not list */
		DENIED(SYS_inotify_add_watch),
		DENIED(SYS_fanotify_init),
		/* the kernel and the machine */
		DENIED(SYS_bpf),
		DENIED(SYS_perf_event_open),
		DENIED(SYS_keyctl),
		DENIED(SYS_add_key),
		DENIED(SYS_request_key),
		DENIED(SYS_userfaultfd),
		DENIED(SYS_init_module),
		DENIED(SYS_finit_module),
		DENIED(SYS_delete_module),
		DENIED(SYS_kexec_load),
		DENIED(SYS_reboot),
		DENIED(SYS_swapon),
		DENIED(SYS_swapoff),
		DENIED(SYS_mount),
		DENIED(SYS_umount2),
		DENIED(SYS_pivot_root),
		DENIED(SYS_chroot),
		DENIED(SYS_unshare),
		DENIED(SYS_setns),
		DENIED(428), /* open_tree */
		DENIED(429), /* move_mount */
		DENIED(430), /* fsopen */
		DENIED(432), /* fsmount */
		DENIED(442), /* mount_setattr */
		DENIED(SYS_sethostname),
		DENIED(SYS_setdomainname),
		DENIED(SYS_settimeofday),
		DENIED(SYS_clock_settime),
		DENIED(SYS_adjtimex),
		DENIED(SYS_clock_adjtime),
		DENIED(SYS_syslog),
		DENIED(SYS_acct),
		DENIED(SYS_quotactl),
		RETURN(ALLOW),
	};
	const struct program program = { sizeof(filter) / sizeof(filter[0]), filter };

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
	int major = 0, minor = 0;

	if (syscall(SYS_seccomp, ACTION_AVAILABLE, 0, &action) || uname(&name))
		return false;
	return sscanf(name.release, "%d.%d", &major, &minor) == 2 &&
	       (major > 5 || (major == 5 && minor >= 5));
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
