/* SPDX-License-Identifier: MIT */
#include "runtime/remote/sandbox.h"

#include <sys/prctl.h>
#include <sys/resource.h>

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

unsigned int sandbox_enter(const struct sandbox_options *options, int *listener)
{
	unsigned int missing = 0;

	*listener = -1;
	if (!set_limits(options))
		missing |= SANDBOX_LIMITS;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return missing | SANDBOX_PRIVILEGES | SANDBOX_FILES | SANDBOX_SYSCALLS |
		       SANDBOX_PROCESSES;
	if (!sandbox_files(options))
		missing |= SANDBOX_FILES;
	return missing | sandbox_syscalls(listener);
}

const char *sandbox_part_name(enum sandbox_part part)
{
	switch (part) {
	case SANDBOX_PRIVILEGES:
		return "no_new_privs: uploaded code can run setuid programs";
	case SANDBOX_FILES:
		return "Landlock: uploaded code can use all files of this user";
	case SANDBOX_SYSCALLS:
		return "seccomp: uploaded code can use the network and signal processes of this "
		       "user";
	case SANDBOX_LIMITS:
		return "resource limits: uploaded code can use all memory and disk space";
	case SANDBOX_PROCESSES:
		return "notifications of seccomp: uploaded code can start processes without end";
	}
	return "?";
}
