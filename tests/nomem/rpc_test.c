/* SPDX-License-Identifier: MIT */
/*
 * All that a client asks of an RPC session, once for each allocation of the client, and once for each of the session, with
 * that one failing: the client gets its results, or an error that names memory, and neither process crashes or hangs. What asks a
 * device also runs with a server, which forks the session, and with a failing request of either.
 */
#include "tests/remote/rpc_session.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <tenon/remote.h>
#include <tenon/rpc.h>
#include <unistd.h>

#include "rpc/client/rpc.h"
#include "tests/nomem/deeds.h"
#include "tests/nomem/failing_calls.h"
#include "tests/nomem/failing_malloc.h"
#include "tests/remote/rpc_asks.h"

/* what the processes of the session and of its server tell */
static struct told {
	volatile long requests;
	atomic_long allocations, calls; /* of both */
	volatile int crash;		/* signal that ended the session of a server */
} * told;

/* the session's allocations are those that fail, not the client's */
static bool session_fails;

/* the session is that of a server, which begins before the handshake */
static bool by_server;

/* ---- the session, in a process of its own */

static long stop_faults(void)
{
	return failing_malloc_stop() + failing_calls_stop();
}

#ifdef __GLIBC__
/* The server waits for its session by this. It kills a session that does not end itself. */
__attribute__((visibility("default"))) int waitid(idtype_t type, id_t id, siginfo_t *info,
						  int options)
{
	static int (*real)(idtype_t type, id_t id, siginfo_t * info, int options);
	int err;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "waitid");
	err = real(type, id, info, options);
	if (!err && by_server && info && info->si_pid && info->si_code != CLD_EXITED &&
	    info->si_status != SIGKILL)
		told->crash = info->si_status;
	return err;
}
#endif

/* Serve one client on the socket, as "tenon rpc serve --stdio" does. */
static void serve_stdio(void)
{
	struct tenon_rpc_server_options o;

	alarm(30);
	failing_malloc_pass(false);
	dup2(session.fd, STDIN_FILENO);
	dup2(session.fd, STDOUT_FILENO);
	close(session.fd);
	tenon_rpc_server_options_init(&o, sizeof(o));
	o.stdio = true;
	o.key = "board";
	o.base = session.folder;
	o.native_code = true;
	failing_malloc_share(&told->allocations);
	failing_calls_share(&told->calls);
	if (tenon_rpc_serve(&o) && !*tenon_error_message())
		abort();
}

static pid_t start_session(int *fd)
{
	int pair[2];
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return -1;
	child = fork();
	if (!child) {
		close(pair[0]);
		session.fd = pair[1];
		if (session_fails)
			failing_malloc_pass(true);
		else
			stop_faults();
		if (by_server)
			serve_stdio();
		else
			serve(NULL);
		told->requests = stop_faults();
		_exit(0);
	}
	if (session_fails)
		failing_calls_stop();
	close(pair[1]);
	*fd = pair[0];
	return child;
}

/* the handshake is this suite's, the rest the session's */
static void let_fail(void)
{
	failing_malloc_pass(false);
}

/* ---- what the client asks */

static int connect_session(int fd, bool wait_each)
{
	const struct tenon_remote_options o = { .size = sizeof(o),
						.key = "board",
						.wait_each = wait_each };
	struct connection *connection;
	int err = connection_of_fds(fd, fd, "board", &connection);

	if (err) {
		close(fd);
		return err;
	}
	err = rpc_connect_over(connection, "board", &o, &session.remote);
	return err ? err : tenon_remote_device(session.remote, rpc_cpu(), &session.cpu);
}

/* ---- deeds */

/* Return: 0 once the session ended by itself */
static int end_session(pid_t child)
{
	int status;

	tenon_object_unref(session.cpu);
	tenon_remote_close(session.remote);
	session.cpu = NULL;
	session.remote = NULL;
	if (waitpid(child, &status, 0) != child)
		return -1;
	if (status)
		fprintf(stderr, "the session's process: status %#x\n", (unsigned int)status);
	return status;
}

static int with_session(int (*asked)(uint64_t *facts), bool wait_each, uint64_t *facts)
{
	int err, fd;
	char why[512];
	pid_t child;

	told->requests = 0;
	told->crash = 0;
	child = start_session(&fd);
	if (child < 0)
		return tenon_error(-TENON_E_IO, "no session");
	failing_malloc_pass(session_fails);
	err = connect_session(fd, wait_each);
	err = err ? err : asked(facts);
	/* what the session could not do, the client hears as text, or as the connection's end */
	if (err && session_fails && err != -TENON_E_NOMEM) {
		tenon_error_clear();
		err = tenon_error(-TENON_E_NOMEM, "the session had no memory, or no call");
	}
	/* the end of the session clears it */
	snprintf(why, sizeof(why), "%s", tenon_error_message());
	if (end_session(child) || told->crash) {
		fprintf(stderr, "the session of a server: signal %d\n", told->crash);
		abort();
	}
	tenon_error_clear();
	if (err && *why)
		err = tenon_error(err, "%s", why);
	if (session_fails)
		deed_add_requests(told->requests);
	failing_malloc_pass(false);
	return err;
}

static int ask_pipelined(uint64_t *facts)
{
	session_fails = false;
	return with_session(rpc_ask_all, false, facts);
}

static int ask_one_by_one(uint64_t *facts)
{
	session_fails = false;
	return with_session(rpc_ask_all, true, facts);
}

static int run_here(uint64_t *facts)
{
	session_fails = false;
	return with_session(rpc_run_models, false, facts);
}

static int ask_failing(uint64_t *facts)
{
	session_fails = true;
	return with_session(rpc_ask_all, false, facts);
}

static int run_failing(uint64_t *facts)
{
	session_fails = true;
	return with_session(rpc_run_models, false, facts);
}

static int ask_failing_server(uint64_t *facts)
{
	int err;

	by_server = true;
	session_fails = true;
	err = with_session(rpc_ask_device, false, facts);
	by_server = false;
	return err;
}

static int make_ready(void **state)
{
	told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (told == MAP_FAILED)
		return 1;
	make_folder();
	session.accepted = let_fail;
	return register_functions(state) || deeds_prepare(state);
}

static int end(void **state)
{
	(void)state;
	return remove_folder();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		DEED("a_client_asks", ask_pipelined),
		DEED("a_client_asks_and_waits", ask_one_by_one),
		DEED("a_client_runs_models", run_here),
		DEED_CALLS("calls_of_a_client", ask_pipelined),
		DEED("a_session_answers", ask_failing),
		DEED("a_session_runs_models", run_failing),
		DEED_CALLS("calls_of_a_session", ask_failing),
		DEED("a_server_serves", ask_failing_server),
		DEED_CALLS("calls_of_a_server", ask_failing_server),
	};

	return cmocka_run_group_tests(tests, make_ready, end);
}
