/* SPDX-License-Identifier: MIT */
/* Signals that end a server, by signalfd, and its limit of descriptors (stop_signals.h). */
#include "rpc/wire/stop_signals.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <tenon/error.h>
#include <unistd.h>

#include "lib/brief_errors.h"

int stop_signals_open(struct stop_signals *s, bool children)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	if (children)
		sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, &s->before);
	s->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return s->fd < 0 ? tenon_error(-TENON_E_IO, "signalfd: %s", strerror(errno)) : 0;
}

void stop_signals_close(struct stop_signals *s)
{
	struct signalfd_siginfo info;

	if (s->fd >= 0) {
		while (read(s->fd, &info, sizeof(info)) == sizeof(info))
			;
		close(s->fd);
	}
	sigprocmask(SIG_SETMASK, &s->before, NULL);
}

void descriptors_allow_all(void)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit)) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}
