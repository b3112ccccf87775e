/* SPDX-License-Identifier: MIT */
/* Start, tell, kill and reap the processes of sessions. */
#include "rpc/server/peer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <tenon/backend/buffer.h>
#include <tenon/string.h>
#include <tenon/error.h>
#include <time.h>
#include <unistd.h>

#include "rpc/server/server_state.h"
#include "rpc/wire/packet.h"

uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static bool prepare(struct server *s, struct peer *p)
{
	char folder[PATH_MAX];
	void *shared = mmap(NULL, sizeof(*p->watch), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (shared == MAP_FAILED) {
		server_say(s, "cannot start a session: %s", strerror(errno));
		return false;
	}
	p->watch = shared;
	atomic_store(&p->watch->keeping, server_keeping(s));
	if (session_folder_create(&s->folder, folder)) {
		server_say(s, "%s", tenon_error_message());
		tenon_error_clear();
		return false;
	}
	p->folder = strdup(folder);
	return p->folder != NULL;
}

static bool make_cgroup(struct server *s, struct peer *p)
{
	if (!*s->cgroup.path)
		return true;
	p->cgroup = session_cgroup_make(&s->cgroup, p->serial, s->options.memory_most,
					s->options.processes_most);
	if (p->cgroup >= 0)
		return true;
	server_say(s, "cannot start a session: a cgroup in %s: %s", s->cgroup.path,
		   strerror(errno));
	return false;
}

void peer_remove_cgroup(struct server *s, struct peer *p)
{
	if (p->cgroup >= 0)
		session_cgroup_remove(&s->cgroup, p->serial, p->cgroup);
	p->cgroup = -1;
}

static bool send_key(struct peer *p, const char *key)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	bool ok;

	/* a proxy did it, unless the client waits for our proof */
	if (p->greeted && !*p->suffix)
		return true;
	ok = !tenon_buffer_printf(&b, "server:%s%s%s", key, p->suffix,
				  p->extension ? " " HANDSHAKE_EXTENSION : "") &&
	     handshake_send(p->fd, b.data, b.size);
	tenon_buffer_fini(&b);
	return ok;
}

/* What a session's process gets is closed here when it has started, or could not. */
static void close_ends(struct peer_ends *ends)
{
	if (ends->limits >= 0)
		close(ends->limits);
	if (ends->output >= 0)
		close(ends->output);
}

bool peer_start(struct server *s, struct peer *p)
{
	struct peer_ends ends = { -1, -1 };
	pid_t server = getpid();

	if (!prepare(s, p) || !make_cgroup(s, p) || !send_key(p, s->options.key))
		return false;
	if (!peer_limits_begin(p, &ends.limits) || !peer_output_begin(p, &ends.output)) {
		server_say(s, "cannot start a session: %s", strerror(errno));
		close_ends(&ends);
		return false;
	}
	fcntl(p->fd, F_SETFL, fcntl(p->fd, F_GETFL) & ~O_NONBLOCK);
	p->pid = p->cgroup < 0 ? fork() : session_cgroup_fork(p->cgroup);
	if (!p->pid)
		peer_run(s, p, server, ends);
	close_ends(&ends);
	if (p->pid < 0) {
		server_say(s, "cannot start a session: %s", strerror(errno));
		p->pid = 0;
		return false;
	}
	p->state = PEER_SESSION;
	peer_usage_begin(p);
	p->deadline = p->limit_ms ? now_ms() + p->limit_ms : 0;
	s->sessions += !p->builds;
	return true;
}

void peer_send_exception(struct peer *p, enum wire_generation generation, const char *text)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct wire_value value = wire_string(text);
	size_t start = packet_begin(&b, PACKET_EXCEPTION);

	wire_write_sequence(&b, generation == WIRE_LEGACY ? WIRE_LEGACY : WIRE_FFI, &value, 1);
	packet_end(&b, start, 0);
	if (!b.status)
		send(p->fd, b.data, b.size, MSG_NOSIGNAL | MSG_DONTWAIT);
	tenon_buffer_fini(&b);
}

/*
 * Tell the client why its session has ended: it takes an exception as the reply to its current or next
 * request. Within a reply of the session nothing can be added. Returns true when the peer waits for a request.
 */
static bool tell(struct peer *p)
{
	if (peer_answers_later(p) && peer_await_request(p))
		return true;
	if (atomic_load(&p->watch->state) != SESSION_REPLYING)
		peer_send_exception(p, (enum wire_generation)atomic_load(&p->watch->generation),
				    p->reason);
	return false;
}

static void describe_end(const siginfo_t *info, char text[200])
{
	if (info->si_code == CLD_EXITED)
		snprintf(text, 200, "uploaded code ended the session's process with status %d",
			 info->si_status);
	else
		snprintf(text, 200, "the session's process was killed by signal %d (%s)",
			 info->si_status, strsignal(info->si_status));
}

void peer_kill(struct peer *p)
{
	/* first the leader, which makes its group with setsid() and may not have done so yet */
	kill(p->pid, SIGKILL);
	kill(-p->pid, SIGKILL);
	if (p->cgroup >= 0)
		session_cgroup_kill(p->cgroup);
}

bool peer_reap(struct server *s, struct peer *p)
{
	siginfo_t info = { 0 };
	bool waits = false;

	/*
	 * kill the group before the leader is reaped: until then no other group can get its number
	 */
	kill(-p->pid, SIGKILL);
	while (waitid(P_PID, (id_t)p->pid, &info, WEXITED) && errno == EINTR)
		;
	if (!*p->reason && !p->gone && p->cgroup >= 0 && session_cgroup_ran_out(p->cgroup)) {
		peer_exceed_memory(s, p);
		p->tell = true;
	} else if (!*p->reason && !p->gone && atomic_load(&p->watch->state) == SESSION_WORKING) {
		describe_end(&info, p->reason);
		p->tell = true;
	}
	peer_remove_cgroup(s, p);
	if (p->tell) {
		waits = tell(p);
		server_say(s, "session %llu: %s", (unsigned long long)p->serial, p->reason);
	}
	/* what it sent, if the server has not looked yet */
	peer_limits_serve(s, p, 0);
	peer_limits_end(p);
	peer_output_end(s, p);
	p->pid = 0;
	s->sessions -= !p->builds;
	if (s->sweeps)
		server_sweep(s);
	return waits;
}
