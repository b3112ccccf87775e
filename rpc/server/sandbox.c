/* SPDX-License-Identifier: MIT */
/* Enter the sandbox: limits, capabilities, files, system calls, in this order. */
#include "rpc/server/sandbox.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* files and sockets that a session may have open: drivers need a few dozen */
#define FILES_MOST 512

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SHADOW_MEMORY 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SHADOW_MEMORY 1
#endif
#endif

static bool set_limit(int resource, uint64_t most)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit))
		return false;
	if (limit.rlim_max == RLIM_INFINITY || limit.rlim_max > most)
		limit.rlim_max = most;
	limit.rlim_cur = limit.rlim_max;
	return !setrlimit(resource, &limit);
}

static bool set_limits(const struct sandbox_options *options)
{
	bool ok = set_limit(RLIMIT_CORE, 0) && set_limit(RLIMIT_NOFILE, FILES_MOST) &&
		  set_limit(RLIMIT_FSIZE, options->file_most);

#ifndef SHADOW_MEMORY /* sanitizers reserve terabytes */
	if (options->memory_most)
		ok = set_limit(RLIMIT_DATA, options->memory_most) && ok;
#endif
	return ok;
}

/* as in linux/capability.h */
struct capability_header {
	uint32_t version;
	int32_t process;
};

struct capabilities {
	uint32_t effective;
	uint32_t permitted;
	uint32_t inheritable;
};

#define CAPABILITIES_VERSION 0x20080522
/* Memory that drivers lock, and folders of other users on the way to what a session may use. */
#define DAC_OVERRIDE (1U << 1)
#define IPC_LOCK     (1U << 14)

bool sandbox_drop_capabilities(uint32_t keep)
{
	struct capability_header header = { .version = CAPABILITIES_VERSION };
	struct capabilities sets[2] = { 0 };

	if (syscall(SYS_capget, &header, sets))
		return false;
	sets[0].permitted &= keep;
	sets[0].effective &= sets[0].permitted;
	sets[0].inheritable = 0;
	sets[1] = (struct capabilities){ 0 };
	return !syscall(SYS_capset, &header, sets);
}

unsigned int sandbox_enter(const struct sandbox_options *options, int *listener)
{
	unsigned int missing = 0;

	*listener = -1;
	if (!set_limits(options))
		missing |= SANDBOX_LIMITS;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return missing | SANDBOX_PRIVILEGES | SANDBOX_FILES | SANDBOX_SYSCALLS |
		       SANDBOX_PROCESSES;
	/* drop them before any exec(): no_new_privs then keeps programs from regaining them */
	/* of a server that runs as root: what root can do to the kernel and to other processes */
	if (!sandbox_drop_capabilities(DAC_OVERRIDE | IPC_LOCK))
		missing |= SANDBOX_PRIVILEGES;
	if (!sandbox_files(options))
		missing |= SANDBOX_FILES;
	return missing | sandbox_syscalls(options, listener);
}

const char *sandbox_part_name(enum sandbox_part part)
{
	switch (part) {
	case SANDBOX_PRIVILEGES:
		return "no_new_privs (uploaded code can run setuid programs)";
	case SANDBOX_FILES:
		return "Landlock (uploaded code can use all files of this user)";
	case SANDBOX_SYSCALLS:
		return "seccomp (uploaded code can use the network, signal processes of this user "
		       "and "
		       "type into its terminals)";
	case SANDBOX_LIMITS:
		return "resource limits (uploaded code can use all memory and disk space)";
	case SANDBOX_PROCESSES:
		return "seccomp's notifications (uploaded code can start processes without end)";
	}
	return "?";
}
