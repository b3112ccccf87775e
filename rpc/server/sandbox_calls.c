/* SPDX-License-Identifier: MIT */
/*
 * What sessions need, as measured with --sandbox-learn on the CPU, PoCL, lavapipe and the simulator of mortise, and what
 * the libraries of NVIDIA, Mesa and C are known to call. A call that is not here is refused. What is here acts on
 * the session's own memory, threads and descriptors, on files that Landlock governs, or tells about the machine.
 */
#include "rpc/server/sandbox_calls.h"

#include <sys/syscall.h>

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

const uint16_t calls_allowed[] = {
	/* descriptors */
	SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_pread64, SYS_pwrite64, SYS_preadv,
	SYS_pwritev, SYS_preadv2, SYS_pwritev2, SYS_close, 436 /* close_range */, SYS_lseek,
	SYS_dup, SYS_dup3, SYS_pipe2, SYS_eventfd2, SYS_sendfile, SYS_copy_file_range,
	SYS_timerfd_create, SYS_signalfd4,
	/* waiting */
	SYS_epoll_create1, SYS_epoll_ctl, SYS_epoll_pwait, 441 /* epoll_pwait2 */,
	SYS_restart_syscall,
	/* sockets that there are */
	SYS_recvfrom, SYS_recvmsg, SYS_shutdown, SYS_getsockname, SYS_getpeername, SYS_getsockopt,
	/* files, which Landlock governs; chmod(), utime() and the like are not: it does not govern them */
	SYS_faccessat, 439 /* faccessat2 */, SYS_readlinkat, SYS_getdents64, SYS_getcwd, SYS_chdir,
	SYS_fchdir, SYS_mkdirat, SYS_unlinkat, SYS_renameat2, SYS_linkat, SYS_symlinkat,
	SYS_ftruncate, SYS_fallocate, SYS_fsync, SYS_fdatasync, SYS_flock, SYS_statx, SYS_statfs,
	SYS_fstatfs, SYS_readahead, SYS_umask,
	/* memory */
	SYS_munmap, SYS_mremap, SYS_mprotect, SYS_madvise, SYS_brk, SYS_msync, SYS_mincore,
	SYS_mlock, SYS_mlock2, SYS_munlock, SYS_mlockall, SYS_munlockall, SYS_membarrier,
	SYS_memfd_create, SYS_get_mempolicy, SYS_set_mempolicy, SYS_mbind,
	/* the process and its threads */
	SYS_execve, SYS_exit, SYS_exit_group, SYS_wait4, SYS_waitid, SYS_getpid, SYS_gettid,
	SYS_getppid, SYS_getpgid, SYS_getsid, SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid,
	SYS_getresuid, SYS_getresgid, SYS_getgroups, SYS_capget, SYS_getrusage, SYS_times,
	SYS_uname, SYS_sysinfo, SYS_getcpu, SYS_getpriority, SYS_ioprio_get, SYS_sched_yield,
	SYS_sched_getaffinity, SYS_sched_getscheduler, SYS_sched_getparam, SYS_sched_getattr,
	SYS_sched_get_priority_max, SYS_sched_get_priority_min, SYS_sched_rr_get_interval,
	SYS_set_tid_address, SYS_set_robust_list, SYS_futex, SYS_rseq,
	/* signals to oneself */
	SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_rt_sigpending,
	SYS_rt_sigsuspend, SYS_rt_sigtimedwait, SYS_sigaltstack,
	/* time and random numbers */
	SYS_nanosleep, SYS_getitimer, SYS_setitimer, SYS_timer_create, SYS_timer_getoverrun,
	SYS_timer_delete, SYS_getrandom,
#ifdef SYS_clock_gettime32
	/* musl's names on machines of 32 bits */
	SYS_clock_gettime32, SYS_clock_getres_time32, SYS_clock_nanosleep_time32,
	SYS_gettimeofday_time32, SYS_timer_settime32, SYS_timer_gettime32, SYS_timerfd_settime32,
	SYS_timerfd_gettime32,
#else
	SYS_clock_gettime, SYS_clock_getres, SYS_clock_nanosleep, SYS_gettimeofday,
	SYS_timer_settime, SYS_timer_gettime, SYS_timerfd_settime, SYS_timerfd_gettime,
#endif
#if defined(__x86_64__) || defined(__i386__) || defined(__arm__)
	/* before there were the above */
	SYS_dup2, SYS_pipe, SYS_poll, SYS_epoll_create, SYS_epoll_wait, SYS_eventfd, SYS_access,
	SYS_stat, SYS_lstat, SYS_readlink, SYS_getdents, SYS_mkdir, SYS_rmdir, SYS_unlink,
	SYS_rename, SYS_link, SYS_symlink, SYS_creat, SYS_getpgrp, SYS_pause,
#endif
#if defined(__x86_64__) || defined(__i386__)
	SYS_time, SYS_alarm,
#endif
#ifdef SYS_sync_file_range
	SYS_sync_file_range,
#endif
#ifdef SYS_renameat
	SYS_renameat,
#endif
#ifdef SYS_getrlimit
	SYS_getrlimit,
#endif
#ifdef SYS_setrlimit
	SYS_setrlimit,
#endif
#ifdef SYS_fstat
	SYS_fstat,
#endif
#ifdef SYS_newfstatat
	SYS_newfstatat,
#endif
#ifdef SYS_ppoll
	SYS_ppoll,
#endif
#ifdef SYS_pselect6
	SYS_pselect6,
#endif
#ifdef SYS_select
	SYS_select,
#endif
#ifdef SYS_mmap
	SYS_mmap,
#endif
#ifdef SYS_fadvise64
	SYS_fadvise64,
#endif
#ifdef SYS_arch_prctl
	SYS_arch_prctl,
#endif
#ifdef SYS_set_thread_area
	SYS_set_thread_area,
#endif
#ifdef __riscv
	258, /* riscv_hwprobe */
	259, /* riscv_flush_icache */
#endif
#ifndef __LP64__
	/* machines of 32 bits */
	SYS__llseek, SYS__newselect, SYS_mmap2, SYS_stat64, SYS_lstat64, SYS_fstat64, SYS_fstatat64,
	SYS_statfs64, SYS_fstatfs64, SYS_ftruncate64, SYS_sendfile64, SYS_ugetrlimit, SYS_getuid32,
	SYS_geteuid32, SYS_getgid32, SYS_getegid32, SYS_getresuid32, SYS_getresgid32,
	SYS_getgroups32, SYS_sigaction, SYS_sigprocmask, SYS_sigreturn, SYS_sigpending,
	SYS_sigsuspend,
#ifdef SYS_waitpid
	SYS_waitpid,
#endif
#ifdef SYS_fadvise64_64
	SYS_fadvise64_64,
#endif
#ifdef SYS_arm_fadvise64_64
	SYS_arm_fadvise64_64,
#endif
	403, /* clock_gettime64 */
	406, /* clock_getres_time64 */
	407, /* clock_nanosleep_time64 */
	408, /* timer_gettime64 */
	409, /* timer_settime64 */
	410, /* timerfd_gettime64 */
	411, /* timerfd_settime64 */
	413, /* pselect6_time64 */
	414, /* ppoll_time64 */
	421, /* rt_sigtimedwait_time64 */
	422, /* futex_time64 */
	423, /* sched_rr_get_interval_time64 */
#endif
};
const size_t calls_allowed_count = COUNT(calls_allowed);

const struct call calls_ruled[] = {
	{ SYS_clone, CALL_CLONE },
	{ 435, CALL_CLONE3 },
#ifdef SYS_fork
	{ SYS_fork, CALL_START },
#endif
#ifdef SYS_vfork
	{ SYS_vfork, CALL_START },
#endif
	{ SYS_kill, CALL_OWN },
	{ SYS_tgkill, CALL_OWN },
	{ SYS_tkill, CALL_OWN_THREAD },
	{ SYS_rt_sigqueueinfo, CALL_OWN },
	{ SYS_rt_tgsigqueueinfo, CALL_OWN },
	{ SYS_prlimit64, CALL_OWN },
	{ SYS_sched_setaffinity, CALL_OWN_THREAD },
	{ SYS_sched_setscheduler, CALL_OWN_THREAD },
	{ SYS_sched_setparam, CALL_OWN_THREAD },
	{ SYS_setpriority, CALL_PRIORITY },
	{ SYS_ioprio_set, CALL_IO_PRIORITY },
#ifdef SYS_open
	{ SYS_open, CALL_OPEN },
#endif
	{ SYS_openat, CALL_OPENAT },
	{ SYS_ioctl, CALL_IOCTL },
	{ SYS_fcntl, CALL_FCNTL },
#ifdef SYS_fcntl64
	{ SYS_fcntl64, CALL_FCNTL },
#endif
	{ SYS_prctl, CALL_PRCTL },
	{ SYS_socketpair, CALL_PAIR },
	{ SYS_socket, CALL_SOCKET },
	{ SYS_connect, CALL_CONNECT },
	{ SYS_sendto, CALL_SEND },
	{ SYS_sendmsg, CALL_MESSAGE },
#ifdef __arm__
	/* calls of this machine: cacheflush, set_tls, get_tls */
	{ 0x0f0002, CALL_ALLOWED },
	{ 0x0f0005, CALL_ALLOWED },
	{ 0x0f0006, CALL_ALLOWED },
#endif
};
const size_t calls_ruled_count = COUNT(calls_ruled);

/* the byte of an ioctl()'s number that names its driver: Landlock says which of their nodes can be opened */
const uint8_t ioctl_types[] = {
	0x00, /* nvidia-uvm */
	0x09, /* Adreno (kgsl) */
	0x80, /* Mali */
	0xb7, /* remoteproc */
	'>',  /* fences */
	';',  /* VFIO */
	'A',  /* nvgpu: address spaces */
	'F',  /* NVIDIA */
	'G',  /* nvgpu */
	'H',  /* heaps of dma-bufs, nvhost */
	'K',  /* AMD (kfd) */
	'N',  /* nvmap */
	'b',  /* dma-bufs */
	'd',  /* DRM, accelerators */
	'm',  /* nvidia-modeset */
	'u',  /* udmabuf */
};
const size_t ioctl_types_count = COUNT(ioctl_types);

/*
 * single ioctls of other types: the rest of these types acts on terminals, sockets and file systems
 */
const uint32_t ioctl_numbers[] = {
	0x5401,	    /* TCGETS: is it a terminal? */
	0x802c542a, /* TCGETS2 */
	0x5413,	    /* TIOCGWINSZ */
	0x541b,	    /* FIONREAD */
	0x5421,	    /* FIONBIO */
	0x5450,	    /* FIONCLEX */
	0x5451,	    /* FIOCLEX */
};
const size_t ioctl_numbers_count = COUNT(ioctl_numbers);

/* without those that have signals sent to a process: F_SETOWN, F_SETSIG, F_SETLEASE, F_NOTIFY */
const uint16_t fcntl_commands[] = {
	0,    /* F_DUPFD */
	1,    /* F_GETFD */
	2,    /* F_SETFD */
	3,    /* F_GETFL */
	4,    /* F_SETFL, but O_ASYNC */
	5,    /* F_GETLK */
	6,    /* F_SETLK */
	7,    /* F_SETLKW */
	12,   /* F_GETLK64 */
	13,   /* F_SETLK64 */
	14,   /* F_SETLKW64 */
	36,   /* F_OFD_GETLK */
	37,   /* F_OFD_SETLK */
	38,   /* F_OFD_SETLKW */
	1030, /* F_DUPFD_CLOEXEC */
	1031, /* F_SETPIPE_SZ */
	1032, /* F_GETPIPE_SZ */
	1033, /* F_ADD_SEALS */
	1034, /* F_GET_SEALS */
};
const size_t fcntl_commands_count = COUNT(fcntl_commands);

const uint32_t prctl_options[] = {
	3,	    /* PR_GET_DUMPABLE */
	15,	    /* PR_SET_NAME */
	16,	    /* PR_GET_NAME */
	21,	    /* PR_GET_SECCOMP */
	23,	    /* PR_CAPBSET_READ */
	29,	    /* PR_SET_TIMERSLACK */
	30,	    /* PR_GET_TIMERSLACK */
	38,	    /* PR_SET_NO_NEW_PRIVS */
	39,	    /* PR_GET_NO_NEW_PRIVS */
	41,	    /* PR_SET_THP_DISABLE */
	42,	    /* PR_GET_THP_DISABLE */
	51,	    /* PR_SVE_GET_VL */
	52,	    /* PR_GET_SPECULATION_CTRL */
	56,	    /* PR_GET_TAGGED_ADDR_CTRL */
	64,	    /* PR_SME_GET_VL */
	70,	    /* PR_RISCV_V_GET_CONTROL */
	0x53564d41, /* PR_SET_VMA: names of mappings */
};
const size_t prctl_options_count = COUNT(prctl_options);
