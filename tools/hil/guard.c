/* SPDX-License-Identifier: MIT */
/* Two processes that watch each other and clean up. */
#include "tools/hil/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <tenon/error.h>
#include <unistd.h>

#include "lib/brief_errors.h"

static volatile sig_atomic_t signalled;

static void request_stop(int number)
{
	signalled = 1;
}

static void handle_signals(void)
{
	struct sigaction action = { .sa_handler = request_stop };

	sigemptyset(&action.sa_mask);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	action.sa_handler = SIG_IGN;
	sigaction(SIGPIPE, &action, NULL);
}

/* The second process. @life is closed at its other end when the first one dies. */
static void do_work(const struct guard_work *work, int life)
{
	const struct stop stop = { life, &signalled };
	int code;

	/* Signals from the terminal reach the first process, which passes them on. */
	setsid();
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	code = work->run(work->context, &stop);
	process_kill_children();
	fflush(NULL);
	_exit(code);
}

static int wait_for(pid_t worker, const struct guard_work *work)
{
	struct stop none = { -1, &signalled };
	bool passed_on = false;
	int how;

	while (waitpid(worker, &how, 0) < 0) {
		if (errno == EINTR && signalled && !passed_on)
			passed_on = !kill(worker, SIGTERM);
	}
	if (WIFEXITED(how))
		return WEXITSTATUS(how);
	signalled = 0;
	process_kill_children();
	how = work->rescue(work->context, &none);
	process_kill_children();
	return how;
}

int guard_run(const struct guard_work *work, int *code)
{
	struct sigaction before[4];
	static const int numbers[] = { SIGTERM, SIGINT, SIGHUP, SIGPIPE };
	int life[2], err = 0;
	pid_t worker;

	if (pipe2(life, O_CLOEXEC))
		return tenon_error(-TENON_E_IO, "cannot create a pipe: %s", strerror(errno));
	for (int i = 0; i < 4; i++)
		sigaction(numbers[i], NULL, &before[i]);
	signalled = 0;
	handle_signals();
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	fflush(NULL);
	worker = fork();
	if (!worker) {
		close(life[1]);
		do_work(work, life[0]);
	}
	close(life[0]);
	if (worker < 0)
		err = tenon_error(-TENON_E_IO, "cannot start a process: %s", strerror(errno));
	else
		*code = wait_for(worker, work);
	close(life[1]);
	prctl(PR_SET_CHILD_SUBREAPER, 0);
	for (int i = 0; i < 4; i++)
		sigaction(numbers[i], &before[i], NULL);
	return err;
}
