/* SPDX-License-Identifier: MIT */
/* Ways out of a sandbox: what outlives the session, and calls of the kernel that it has no use for. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "escape_calls.h"

/* ---- what stays */

#ifdef SYS_shmget
int64_t makes_a_segment(void)
{
	return stopped(syscall(SYS_shmget, 0L, 4096L, 01600L));
}

int64_t makes_a_queue(void)
{
	return stopped(syscall(SYS_msgget, 0L, 01600L));
}

int64_t makes_semaphores(void)
{
	return stopped(syscall(SYS_semget, 0L, 1L, 01600L));
}
#else
int64_t makes_a_segment(void)
{
	return stopped(syscall(SYS_ipc, 23L, 0L, 4096L, 01600L));
}

int64_t makes_a_queue(void)
{
	return stopped(syscall(SYS_ipc, 13L, 0L, 01600L));
}

int64_t makes_semaphores(void)
{
	return stopped(syscall(SYS_ipc, 2L, 0L, 1L, 01600L));
}
#endif

int64_t makes_a_named_queue(void)
{
	return stopped(syscall(SYS_mq_open, "tenon-escape", (long)(O_CREAT | O_RDWR), 0600L, NULL));
}

int64_t stores_a_key(void)
{
	return stopped(syscall(SYS_add_key, "user", "escape", "1", 1L, -4L));
}

/* ---- the kernel */

int64_t rings_the_kernel(void)
{
	static char parameters[256];

	return stopped(syscall(425, 4L, parameters));
}

int64_t handles_faults(void)
{
	return stopped(syscall(SYS_userfaultfd, 1L));
}

int64_t loads_a_program(void)
{
	static char attributes[128];

	return stopped(syscall(SYS_bpf, 0L, attributes, sizeof(attributes)));
}

int64_t counts_events(void)
{
	struct {
		uint32_t type, size;
		uint64_t config, rest[14];
	} attributes = { .type = 1, .size = 64 };

	return stopped(syscall(SYS_perf_event_open, &attributes, 0L, -1L, -1L, 0L));
}

int64_t moves_its_break(void)
{
	return prctl(35, 7L, 0L, 0L, 0L) < 0 && errno == EPERM ? EPERM : 0;
}

int64_t becomes_another_machine(void)
{
	return stopped(syscall(SYS_personality, 0x0400000L));
}

int64_t calls_as_x32(void)
{
#ifdef __x86_64__
	return stopped(syscall(0x40000000L | SYS_getpid));
#else
	return ENOSYS;
#endif
}

int64_t splices(void)
{
	return stopped(syscall(SYS_tee, 0L, 1L, 1L, 0L)) == EPERM ? EPERM : 0;
}

int64_t submits_old_io(void)
{
	unsigned long context = 0;

	return stopped(syscall(SYS_io_setup, 1L, &context));
}

int64_t sets_the_clock(void)
{
	static char now[256];

	/* reads it, with these modes */
	return stopped(syscall(SYS_adjtimex, now));
}

int64_t reads_the_kernels_log(void)
{
	return stopped(syscall(SYS_syslog, 10L, NULL, 0L));
}

int64_t sets_a_quota(void)
{
	return syscall(SYS_quotactl, 0L, NULL, 0L, NULL) < 0 && errno == EPERM ? EPERM : 0;
}

int64_t names_the_machine(void)
{
	return syscall(SYS_sethostname, NULL, -1L) < 0 && errno == EPERM ? EPERM : 0;
}

int64_t adds_swap(void)
{
	return syscall(SYS_swapon, NULL, 0L) < 0 && errno == EPERM ? EPERM : 0;
}

int64_t loads_a_module(void)
{
	return syscall(SYS_init_module, NULL, 0L, NULL) < 0 && errno == EPERM ? EPERM : 0;
}

int64_t asks_for_ports(void)
{
#ifdef SYS_iopl
	return stopped(syscall(SYS_iopl, 0L));
#else
	return ENOSYS;
#endif
}

int64_t changes_its_user(void)
{
	return stopped(syscall(SYS_setuid, (long)getuid()));
}
