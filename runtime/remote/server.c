/* SPDX-License-Identifier: MIT */
#include "runtime/remote/server.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <tenon/error.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "runtime/remote/address.h"
#include "runtime/remote/sandbox.h"
#include "runtime/remote/server_state.h"

#define HANDSHAKE_MS 10000
/* a session that works when its client leaves may finish its request */
#define GONE_MS 5000

void server_say(struct server *s, const char *format, ...)
{
	char line[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	s->options->say(s->options->context, line);
}

void server_forget(struct server *s, int keep)
{
	unsigned int i;

	for (i = 0; i < s->listener_count; i++)
		close(s->listeners[i]);
	for (i = 0; i < s->peer_count; i++) {
		if (s->peers[i].fd == keep)
			continue;
		close(s->peers[i].fd);
		/* other sessions' shared memory */
		if (s->peers[i].watch)
			munmap(s->peers[i].watch, sizeof(*s->peers[i].watch));
	}
	close(s->signals);
	close(s->folder.fd);
}

/* ---- connections */

static void close_peer(struct peer *p)
{
	close(p->fd);
	free(p->handshake);
	if (p->watch)
		munmap(p->watch, sizeof(*p->watch));
	if (p->folder) {
		folder_remove(p->folder);
		free(p->folder);
	}
}

static void remove_peer(struct server *s, unsigned int i)
{
	close_peer(&s->peers[i]);
	s->peers[i] = s->peers[--s->peer_count];
}

/* Notice a client whose machine vanished. */
static void keep_alive(int fd)
{
	int on = 1, idle = 60, interval = 10, count = 6;

	if (setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on)))
		return;
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

static void make_place(struct server *s)
{
	unsigned int i, oldest = UINT32_MAX;

	if (s->peer_count < s->peer_room)
		return;
	for (i = 0; i < s->peer_count; i++)
		if (s->peers[i].state != PEER_SESSION &&
		    (oldest == UINT32_MAX || s->peers[i].serial < s->peers[oldest].serial))
			oldest = i;
	remove_peer(s, oldest);
}

static void accept_peer(struct server *s, int listener)
{
	struct peer p = { .state = PEER_HANDSHAKE };

	p.fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (p.fd < 0)
		return;
	p.handshake = calloc(1, sizeof(*p.handshake));
	if (!p.handshake || (!s->options->trust_network && !address_same_user(p.fd))) {
		free(p.handshake);
		close(p.fd);
		return;
	}
	keep_alive(p.fd);
	p.serial = ++s->serial;
	p.deadline = now_ms() + HANDSHAKE_MS;
	make_place(s);
	s->peers[s->peer_count++] = p;
}

static uint64_t shorter(uint64_t a, uint64_t b)
{
	return !a || (b && b < a) ? b : a;
}

static bool end_handshake(struct server *s, struct peer *p)
{
	static const uint8_t mismatch[4] = { 0x73, 0xf2, 0x0f, 0x00 };

	if (!handshake_accept(p->handshake, s->options->key, &p->limit_ms)) {
		send(p->fd, mismatch, sizeof(mismatch), MSG_NOSIGNAL | MSG_DONTWAIT);
		return false;
	}
	free(p->handshake);
	p->handshake = NULL;
	p->limit_ms = shorter(p->limit_ms, s->options->session_ms);
	p->state = PEER_WAITING;
	p->deadline = 0;
	return true;
}

/* Read more of a handshake. Returns false when the peer must be closed. */
static bool read_handshake(struct server *s, struct peer *p)
{
	struct handshake *h = p->handshake;
	int missing;
	ssize_t n;

	while ((missing = handshake_missing(h)) > 0) {
		n = recv(p->fd, h->bytes + h->size, (size_t)missing, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return true;
		if (n <= 0)
			return false;
		h->size += (size_t)n;
	}
	return !missing && end_handshake(s, p);
}

/* Returns false when the peer must be closed. */
static bool serve_peer(struct server *s, struct peer *p, short events)
{
	switch (p->state) {
	case PEER_HANDSHAKE:
		return read_handshake(s, p);
	case PEER_WAITING:
		return !(events & (POLLRDHUP | POLLHUP | POLLERR));
	case PEER_SESSION:
		if (!p->gone)
			p->gone = now_ms();
		return true;
	}
	return true;
}

/* ---- sessions */

static void start_sessions(struct server *s)
{
	while (s->sessions < s->options->sessions_most) {
		unsigned int i, first = UINT32_MAX;

		for (i = 0; i < s->peer_count; i++)
			if (s->peers[i].state == PEER_WAITING &&
			    (first == UINT32_MAX || s->peers[i].serial < s->peers[first].serial))
				first = i;
		if (first == UINT32_MAX)
			return;
		if (!peer_start(s, &s->peers[first]))
			remove_peer(s, first);
	}
}

static void reap(struct server *s, pid_t pid)
{
	unsigned int i;

	for (i = 0; i < s->peer_count; i++) {
		if (s->peers[i].state == PEER_SESSION && s->peers[i].pid == pid) {
			peer_reap(s, &s->peers[i]);
			remove_peer(s, i);
			return;
		}
	}
	/* a process that uploaded code started and left behind */
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

/* Read the signals; true when the server must end. */
static bool read_signals(struct server *s)
{
	struct signalfd_siginfo info;
	bool end = false;

	while (read(s->signals, &info, sizeof(info)) == sizeof(info))
		end |= info.ssi_signo != SIGCHLD;
	reap_all(s);
	return end;
}

/* ---- deadlines */

static uint64_t request_deadline(const struct server *s, const struct peer *p)
{
	uint32_t state = atomic_load(&p->watch->state);
	uint64_t since = atomic_load(&p->watch->since), now = now_ms();

	if (!s->options->request_ms)
		return 0;
	/* an idle session is looked at again when a request that starts now would be late */
	if (state == SESSION_IDLE || since > now)
		since = now;
	return since + s->options->request_ms;
}

static uint64_t next_deadline(const struct server *s, const struct peer *p)
{
	uint64_t at = p->deadline;

	if (*p->reason)
		return 0;
	if (p->state == PEER_SESSION) {
		at = shorter(at, request_deadline(s, p));
		if (p->gone)
			at = shorter(at, p->gone + GONE_MS);
	}
	return at;
}

static void check_session(const struct server *s, struct peer *p)
{
	uint64_t now = now_ms(), request = request_deadline(s, p);

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
	} else if (request && now >= request) {
		snprintf(p->reason, sizeof(p->reason),
			 "the request took longer than %.9g s (tenon rpc serve --request-timeout)",
			 (double)s->options->request_ms / 1000);
	}
	if (!*p->reason)
		return;
	p->tell = !p->gone;
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
			remove_peer(s, i--);
			continue;
		}
		next = shorter(next, next_deadline(s, p));
	}
	if (!next)
		return -1;
	now = now_ms();
	return next <= now ? 1 : next - now > 60000 ? 60000 : (int)(next - now) + 1;
}

/* ---- the loop */

static short wanted_events(const struct peer *p)
{
	switch (p->state) {
	case PEER_HANDSHAKE:
		return POLLIN;
	case PEER_WAITING:
		return POLLRDHUP;
	default:
		return p->gone ? 0 : POLLRDHUP;
	}
}

static unsigned int fill_polled(struct server *s)
{
	unsigned int n = 0, i;

	s->polled[n++] = (struct pollfd){ s->signals, POLLIN, 0 };
	for (i = 0; i < s->listener_count; i++)
		s->polled[n++] = (struct pollfd){ s->listeners[i], POLLIN, 0 };
	for (i = 0; i < s->peer_count; i++) {
		const struct peer *p = &s->peers[i];

		/* an error is reported unasked: leave out what waits for its process alone */
		s->polled[n++] = (struct pollfd){ p->gone ? -1 : p->fd, wanted_events(p), 0 };
	}
	return n;
}

static void serve_peers(struct server *s, unsigned int count)
{
	const struct pollfd *polled = s->polled + 1 + s->listener_count;

	/* backwards: the last peer takes the place of a removed one */
	while (count--)
		if (polled[count].revents &&
		    !serve_peer(s, &s->peers[count], polled[count].revents))
			remove_peer(s, count);
}

static int loop(struct server *s)
{
	unsigned int count, peers, i;
	int timeout;

	for (;;) {
		start_sessions(s);
		timeout = check_deadlines(s);
		peers = s->peer_count;
		count = fill_polled(s);
		if (poll(s->polled, count, timeout) < 0) {
			if (errno == EINTR)
				continue;
			return tenon_error(-TENON_E_IO, "poll: %s", strerror(errno));
		}
		serve_peers(s, peers);
		for (i = 0; i < s->listener_count; i++)
			if (s->polled[1 + i].revents)
				accept_peer(s, s->listeners[i]);
		if (s->polled[0].revents && read_signals(s))
			return 0;
	}
}

/* Each connection takes a descriptor; the limit of sessions is set in their processes. */
static void allow_descriptors(void)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit)) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static int open_signals(struct server *s)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	s->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return s->signals < 0 ? tenon_error(-TENON_E_IO, "signalfd: %s", strerror(errno)) : 0;
}

static int open_listeners(struct server *s)
{
	const char *const *text;
	char bound[ADDRESS_TEXT];
	int err;

	for (text = s->options->listen; *text; text++) {
		if (s->listener_count == LISTEN_MOST)
			return tenon_error(-TENON_E_VALUE, "more than %d addresses", LISTEN_MOST);
		err = address_listen(*text, s->options->trust_network,
				     &s->listeners[s->listener_count], bound);
		if (err)
			return err;
		s->listener_count++;
		server_say(s, "listening on %s", bound);
	}
	return 0;
}

/* Try the sandbox in a child, and say what the kernel lacks. */
static void report_sandbox(struct server *s)
{
	const struct sandbox_options sandbox = { .folder = s->folder.path, .file_most = 1 };
	unsigned int part;
	int status = 0;
	pid_t pid;

	if (!s->options->sandbox) {
		server_say(s, "without a sandbox: uploaded code can do all that this user can");
		return;
	}
	pid = fork();
	if (!pid)
		_exit((int)sandbox_enter(&sandbox));
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return;
	s->missing = (unsigned int)WEXITSTATUS(status);
	for (part = 1; part <= SANDBOX_LIMITS; part <<= 1)
		if (s->missing & part)
			server_say(s, "this kernel lacks %s", sandbox_part_name(part));
	if (!geteuid())
		server_say(s, "running as root: uploaded code runs as root within these limits");
}

static void close_server(struct server *s)
{
	unsigned int i;

	for (i = 0; i < s->listener_count; i++) {
		close(s->listeners[i]);
		address_unlink(s->options->listen[i]);
	}
	for (i = s->peer_count; i-- > 0;) {
		if (s->peers[i].state == PEER_SESSION) {
			s->peers[i].gone = 1;
			peer_kill(&s->peers[i]);
			peer_reap(s, &s->peers[i]);
		}
		remove_peer(s, i);
	}
	if (s->signals >= 0)
		close(s->signals);
	free(s->peers);
	free(s->polled);
	server_folder_remove(&s->folder);
}

int server_run(const struct server_options *options)
{
	struct server s = { .options = options, .signals = -1 };
	int err = server_folder_create(options->base, &s.folder);

	if (err)
		return err;
	s.peer_room = options->sessions_most + WAITING_MOST;
	s.peers = calloc(s.peer_room, sizeof(*s.peers));
	s.polled = calloc(1 + LISTEN_MOST + s.peer_room, sizeof(*s.polled));
	if (!s.peers || !s.polled)
		err = tenon_error(-TENON_E_NOMEM, "no memory for %u connections", s.peer_room);
	/* processes that uploaded code leaves behind become children of the server, which reaps them */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	allow_descriptors();
	if (!err)
		err = open_signals(&s);
	if (!err) {
		report_sandbox(&s);
		err = open_listeners(&s);
	}
	if (!err)
		err = loop(&s);
	close_server(&s);
	return err;
}
