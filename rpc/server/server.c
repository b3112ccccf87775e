/* SPDX-License-Identifier: MIT */
/*
 * The server: one process with one thread listens, does the handshakes and starts a child process for each session.
 * It never opens a device or a module, so a child of fork() has the state of a new process. It holds each session's
 * socket too: it reports a crash or a passed deadline to the client, and notices a client that left. All processes
 * of a session are killed and its folder is removed when it ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <tenon/error.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "lib/clock.h"
#include "rpc/server/sandbox.h"
#include "rpc/server/server_state.h"
#include "rpc/wire/address.h"

/* a session that works when its client leaves may finish its request */
#define GONE_MS 5000
/* a slow line may need this long for the end of a session */
#define RELAY_MS 30000

void server_say(struct server *s, const char *format, ...)
{
	char line[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (s->options.say)
		s->options.say(s->options.context, line);
}

void server_forget(struct server *s, int own)
{
	unsigned int i;

	for (i = 0; i < s->peer_count; i++) {
		if (s->peers[i].traffic)
			munmap(s->peers[i].traffic, sizeof(*s->peers[i].traffic));
		if (s->peers[i].watch && s->peers[i].fd != own)
			munmap(s->peers[i].watch, sizeof(*s->peers[i].watch));
	}
}

/* Returns false when the peer must be closed. */
static bool serve_peer(struct server *s, struct peer *p, short events)
{
	if (p->state != PEER_SESSION)
		return server_admit(s, p, events);
	if (!p->gone)
		p->gone = now_ms();
	return true;
}

/* ---- sessions */

static void start_sessions(struct server *s)
{
	while (s->sessions < s->options.sessions_most) {
		unsigned int i, first = UINT32_MAX;

		for (i = 0; i < s->peer_count; i++)
			if (s->peers[i].state == PEER_WAITING &&
			    (first == UINT32_MAX || s->peers[i].serial < s->peers[first].serial))
				first = i;
		if (first == UINT32_MAX)
			return;
		if (!peer_start(s, &s->peers[first]))
			server_remove_peer(s, first);
	}
}

static void reap(struct server *s, pid_t pid)
{
	unsigned int i;

	for (i = 0; i < s->peer_count; i++) {
		if (s->peers[i].state == PEER_SESSION && s->peers[i].pid == pid) {
			if (peer_reap(s, &s->peers[i]))
				server_release_session(s, &s->peers[i]);
			else
				server_remove_peer(s, i);
			return;
		}
	}
	if (s->registered && registration_reap(&s->registration, pid))
		return;
	for (i = 0; i < s->peer_count; i++)
		if (s->peers[i].relay == pid)
			s->peers[i].relay = 0;
	if (s->relay == pid)
		s->relay = 0;
	if (s->keeper == pid)
		server_keeper_ended(s);
	/* a relay, a keeper, or a process that uploaded code started and left behind */
	waitpid(pid, NULL, WNOHANG);
}

static void reap_all(struct server *s)
{
	siginfo_t info;

	for (;;) {
		info.si_pid = 0;
		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) || !info.si_pid)
			return;
		reap(s, info.si_pid);
	}
}

/* A process of a session that has ended keeps its cgroup until it has ended too. */
static void clean_cgroups(struct server *s)
{
	if (s->cgroup.leftover)
		server_cgroup_clean(&s->cgroup);
}

/* Read the signals; true when the server must end. */
static bool read_signals(struct server *s)
{
	struct signalfd_siginfo info;
	bool end = false;

	while (read(s->signals.fd, &info, sizeof(info)) == sizeof(info))
		end |= info.ssi_signo != SIGCHLD;
	reap_all(s);
	clean_cgroups(s);
	return end;
}

/* ---- deadlines */

static uint64_t shorter(uint64_t a, uint64_t b)
{
	return !a || (b && b < a) ? b : a;
}

static uint64_t next_deadline(const struct server *s, const struct peer *p)
{
	uint64_t at = p->deadline;

	if (*p->reason)
		return 0;
	if (p->state == PEER_SESSION) {
		if (p->gone)
			at = shorter(at, p->gone + GONE_MS);
		at = shorter(at, p->limits.later);
		at = shorter(at, peer_usage_deadline(s, p));
	}
	return at;
}

static void check_session(const struct server *s, struct peer *p)
{
	uint64_t now = now_ms();

	if (*p->reason)
		return;
	if (p->gone && now >= p->gone + GONE_MS) {
		snprintf(p->reason, sizeof(p->reason), "the client left");
	} else if (p->deadline && now >= p->deadline) {
		/* stock clients know this text */
		snprintf(p->reason, sizeof(p->reason),
			 "RPCSessionTimeoutError: Your %.9gs session has expired, try to increase "
			 "the "
			 "\"session_timeout\" value.",
			 (double)p->limit_ms / 1000);
	} else if (!peer_usage_exceeded(s, p)) {
		return;
	}
	p->tell = !p->gone;
	peer_usage_look(p);
	peer_kill(p);
}

static int check_deadlines(struct server *s)
{
	uint64_t now = now_ms(), next = 0;
	unsigned int i;

	for (i = 0; i < s->peer_count; i++) {
		struct peer *p = &s->peers[i];

		if (p->state == PEER_SESSION)
			check_session(s, p);
		else if (p->deadline && now >= p->deadline) {
			server_remove_peer(s, i--);
			continue;
		}
		next = shorter(next, next_deadline(s, p));
	}
	if (s->registered)
		next = shorter(next, registration_deadline(&s->registration));
	next = shorter(next, server_proxy_deadline(s));
	next = shorter(next, server_builder_deadline(s));
	if (!next)
		return -1;
	now = now_ms();
	return next <= now ? 1 : next - now > 60000 ? 60000 : (int)(next - now) + 1;
}

/* ---- the loop */

static short wanted_events(const struct peer *p)
{
	switch (p->state) {
	case PEER_DIALING:
		return POLLOUT;
	case PEER_PROXIED:
	case PEER_ACCEPTED:
	case PEER_HANDSHAKE:
	case PEER_PROOF:
	case PEER_ENDED:
		return POLLIN;
	case PEER_WAITING:
		return POLLRDHUP;
	default:
		return p->gone ? 0 : POLLRDHUP;
	}
}

/* signals and the tracker come before the listeners */
#define POLLED_FIRST 2

static unsigned int fill_polled(struct server *s)
{
	unsigned int n = 0, i;

	s->polled[n++] = (struct pollfd){ s->signals.fd, POLLIN, 0 };
	s->polled[n++] =
		s->registered ? registration_polled(&s->registration) : (struct pollfd){ -1, 0, 0 };
	for (i = 0; i < s->listener_count; i++)
		s->polled[n++] = (struct pollfd){ s->listeners[i].fd, POLLIN, 0 };
	for (i = 0; i < s->peer_count; i++) {
		const struct peer *p = &s->peers[i];

		/*
		 * poll() reports errors even without events: leave out peers that only wait for
		 * their process
		 */
		s->polled[n++] = (struct pollfd){ p->gone ? -1 : p->fd, wanted_events(p), 0 };
	}
	for (i = 0; i < s->peer_count; i++)
		s->polled[n++] = (struct pollfd){ peer_limits_polled(&s->peers[i]), POLLIN, 0 };
	for (i = 0; i < s->peer_count; i++)
		s->polled[n++] = (struct pollfd){ peer_output_polled(&s->peers[i]), POLLIN, 0 };
	return n;
}

/* before serve_peers(), which changes the order of peers */
static void serve_sessions(struct server *s, unsigned int count)
{
	const struct pollfd *polled = s->polled + POLLED_FIRST + s->listener_count + count;
	unsigned int i;

	for (i = 0; i < count; i++) {
		if (polled[i].revents)
			peer_limits_serve(s, &s->peers[i], polled[i].revents);
		if (polled[count + i].revents)
			peer_output_serve(s, &s->peers[i]);
	}
}

static void serve_peers(struct server *s, unsigned int count)
{
	const struct pollfd *polled = s->polled + POLLED_FIRST + s->listener_count;

	/* backwards: the last peer takes the place of a removed one */
	while (count--)
		if (polled[count].revents &&
		    !serve_peer(s, &s->peers[count], polled[count].revents))
			server_remove_peer(s, count);
}

static int loop(struct server *s)
{
	unsigned int count, peers, i;
	int timeout;

	for (;;) {
		start_sessions(s);
		server_builder_step(s);
		server_proxy_dial(s);
		/* the peer of standard input and output has left */
		if (s->options.stdio && !s->listener_count && !s->peer_count)
			return 0;
		timeout = check_deadlines(s);
		peers = s->peer_count;
		count = fill_polled(s);
		if (poll(s->polled, count, timeout) < 0) {
			if (errno == EINTR)
				continue;
			return tenon_error(-TENON_E_IO, "poll: %s", strerror(errno));
		}
		serve_sessions(s, peers);
		serve_peers(s, peers);
		for (i = 0; i < s->listener_count; i++)
			if (s->polled[POLLED_FIRST + i].revents)
				server_accept(s, &s->listeners[i]);
		if (s->polled[0].revents && read_signals(s))
			return 0;
		if (s->registered)
			registration_step(&s->registration, s->polled[1].revents);
	}
}

/* Signals that end the server, and the pipe that tells sessions that it lives. */
static int open_signals(struct server *s)
{
	int err = stop_signals_open(&s->signals, true);

	if (!err && pipe2(s->alive, O_CLOEXEC))
		err = tenon_error(-TENON_E_IO, "pipe: %s", strerror(errno));
	return err;
}

static void close_signals(struct server *s)
{
	if (s->alive[0] >= 0) {
		close(s->alive[0]);
		close(s->alive[1]);
	}
	stop_signals_close(&s->signals);
}

static int open_tracker(struct server *s)
{
	const struct tenon_rpc_server_options *o = &s->options;
	struct registration_options r = {
		.tracker = o->tracker,
		.name = o->key,
		.key = o->key,
		.slots = o->sessions_most,
		.host = o->advertise_host,
		.port = o->advertise_port,
		.check = o->health_check,
		.say = o->say,
		.context = o->context,
	};
	unsigned int i;
	int port;

	for (i = 0; i < s->listener_count && !r.port; i++) {
		port = address_port(s->listeners[i].fd);
		if (port > 0)
			r.port = (uint16_t)port;
	}
	if (!r.port)
		return tenon_error(-TENON_E_VALUE,
				   "tracker %s: clients need a TCP port; add --listen HOST:PORT",
				   o->tracker);
	s->registered = true;
	return registration_init(&s->registration, &r);
}

/* Clients on other machines must prove that they may connect. */
static void report_network(struct server *s)
{
	unsigned int i;
	bool remote = s->options.proxy != NULL;

	for (i = 0; i < s->listener_count; i++)
		remote |= !s->listeners[i].local;
	if (remote && !s->secret.size)
		server_say(s, "clients on other machines need no secret: each can run code here");
	else if (remote && !s->tls)
		server_say(s, "without TLS: what clients send after the proof of the secret can be "
			      "read and changed on the way");
}

static int open_peers(struct server *s)
{
	int err = server_listen(s);

	if (!err)
		report_network(s);

	if (!err && s->options.proxy)
		err = dial_resolve(s->options.proxy, &s->proxy);
	if (!err && s->options.tracker)
		err = open_tracker(s);
	return err;
}

/* Processes that this one started before its exec() are not the server's to kill. */
static bool has_children(void)
{
	siginfo_t info;

	return !waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) || errno != ECHILD;
}

/*
 * Print one line that names the missing parts of the sandbox. A server for one client (--stdio)
 * does not report missing cgroups, since each connection by ssh would print the line.
 */
static void report_missing(struct server *s, const char *no_cgroup)
{
	char text[900 + CGROUP_REASON];
	size_t size = 0;
	unsigned int part;

	for (part = 1; part <= SANDBOX_PROCESSES; part <<= 1)
		if (s->missing & part)
			size += (size_t)snprintf(text + size, sizeof(text) - size, "%s%s",
						 size ? ", " : "", sandbox_part_name(part));
	if ((s->missing & SANDBOX_PROCESSES) &&
	    (s->options.learn || (s->options.sockets && *s->options.sockets)))
		size += (size_t)snprintf(text + size, sizeof(text) - size,
					 ", and so --sandbox-learn and --allow-socket");
	if (*no_cgroup && s->options.memory_most && !s->options.stdio)
		snprintf(text + size, sizeof(text) - size,
			 "%ssessions have no cgroups (what one takes within half a second is not "
			 "limited): %s",
			 size ? "; " : "", no_cgroup);
	else if (!size)
		return;
	server_say(s, "%s%s", size ? "this kernel lacks " : "", text);
}

/* The exit status of a child that tries @what; @pid is what fork() returned. */
static int exit_status(pid_t pid, const char *what, int *status)
{
	int how;

	if (pid < 0)
		return tenon_error(-TENON_E_IO, "cannot start a process that tries %s: fork: %s",
				   what, strerror(errno));
	while (waitpid(pid, &how, 0) < 0)
		if (errno != EINTR)
			return tenon_error(-TENON_E_IO,
					   "no result of the process that tried %s: waitpid: %s",
					   what, strerror(errno));
	if (WIFSIGNALED(how))
		return tenon_error(-TENON_E_IO,
				   "the process that tried %s was killed by signal %d (%s)", what,
				   WTERMSIG(how), strsignal(WTERMSIG(how)));
	*status = WEXITSTATUS(how);
	return 0;
}

/* Try in a child what --folder-in-memory needs. */
static int check_mount(struct server *s)
{
	int status = 0, err;
	pid_t pid;

	if (!s->options.folder_in_memory)
		return 0;
	pid = fork();
	if (!pid)
		_exit(session_folder_mount(s->folder.path, 1) >= 0 ? 0 : errno ? errno : EIO);
	err = exit_status(pid, "--folder-in-memory", &status);
	if (err || !status)
		return err;
	return tenon_error(-TENON_E_UNSUPPORTED,
			   "--folder-in-memory: cannot mount a tmpfs for a session alone: %s. It "
			   "needs "
			   "root, or user namespaces (sysctl user.max_user_namespaces, "
			   "kernel.apparmor_restrict_unprivileged_userns)",
			   strerror(status));
}

/*
 * Try the sandbox in a child, and say what the kernel lacks. Without a result the server does not start: s->missing would name no
 * part, and each session ends where a part that it does not name is missing (peer_child.c).
 */
static int report_sandbox(struct server *s)
{
	const struct sandbox_options sandbox = { .folder = s->folder.path, .file_most = 1 };
	char no_cgroup[CGROUP_REASON] = "";
	int status = 0, listener, err;
	pid_t pid;

	if (!s->options.sandbox) {
		s->sweeps = !has_children();
		server_say(s, "without a sandbox: uploaded code can do all that this user can");
		return 0;
	}
	pid = fork();
	if (!pid)
		_exit((int)sandbox_enter(&sandbox, &listener));
	err = exit_status(pid, "the sandbox", &status);
	if (err)
		return err;
	s->missing = (unsigned int)status;
	s->sweeps = (s->missing & SANDBOX_SYSCALLS) && !has_children();
	server_cgroup_open(&s->cgroup, no_cgroup);
	report_missing(s, no_cgroup);
	if (s->options.learn && !(s->missing & SANDBOX_PROCESSES))
		server_say(s, "--sandbox-learn: sessions may make every system call, and those "
			      "that are not "
			      "on the sandbox's list are named here");
	if (!geteuid())
		server_say(s, "running as root: uploaded code runs as root within these limits");
	return 0;
}

/* The relay of standard output has the last bytes of the session. */
static void await_relay(struct server *s)
{
	const uint64_t deadline = clock_ms() + RELAY_MS;

	while (s->relay && clock_ms() < deadline && waitpid(s->relay, NULL, WNOHANG) != s->relay)
		poll(NULL, 0, 5);
}

static void close_server(struct server *s)
{
	unsigned int i;

	server_unlisten(s);
	server_close_keeper(s);
	for (i = s->peer_count; i-- > 0;) {
		if (s->peers[i].state == PEER_SESSION) {
			s->peers[i].gone = 1;
			peer_kill(&s->peers[i]);
			peer_reap(s, &s->peers[i]);
		}
		server_remove_peer(s, i);
	}
	await_relay(s);
	if (s->registered)
		registration_fini(&s->registration);
	server_cgroup_close(&s->cgroup);
	free(s->peers);
	free(s->polled);
	server_folder_remove(&s->folder);
	/* when there is no folder any more: a signal would leave it */
	close_signals(s);
}

static int server_run(struct server *s)
{
	const struct tenon_rpc_server_options *o = &s->options;
	int err;

	s->alive[0] = s->alive[1] = -1;
	if (o->stdio)
		server_keep_messages_out();
	/* before there is a folder: a signal would leave it */
	err = open_signals(s);
	if (!err)
		err = server_folder_create(o->base, &s->folder);
	if (err) {
		close_signals(s);
		return err;
	}
	/* a server for one client has no later session */
	file_cache_init(&s->cache, s->folder.path, o->stdio ? 0 : o->cache_most);
	/* before any session: each gets a right to it when it starts */
	if (s->cache.most && !file_cache_make(&s->cache))
		s->cache.most = 0;
	/* one for the connection to a proxy */
	s->peer_room = o->sessions_most + WAITING_MOST + UNPROVEN_MOST + 1;
	s->peers = calloc(s->peer_room, sizeof(*s->peers));
	s->polled = calloc(POLLED_FIRST + LISTEN_MOST + 3 * s->peer_room, sizeof(*s->polled));
	if (!s->peers || !s->polled)
		err = tenon_error(-TENON_E_NOMEM, "no memory for %u connections", s->peer_room);
	/* processes that uploaded code leaves behind become children of the server, which reaps them */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	descriptors_allow_all();
	if (!err)
		err = check_mount(s);
	if (!err)
		err = report_sandbox(s);
	if (!err) {
		server_builder_init(s);
		err = open_peers(s);
	}
	if (!err)
		err = loop(s);
	close_server(s);
	return err;
}

int tenon_rpc_serve(const struct tenon_rpc_server_options *options)
{
	struct server *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return tenon_error(-TENON_E_NOMEM, "no memory for a server");
	err = server_options_open(s, options);
	if (!err)
		err = server_run(s);
	server_options_close(s);
	free(s);
	return err;
}
