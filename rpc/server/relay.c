/* SPDX-License-Identifier: MIT */
/* Copy bytes between two descriptors in a process that can do nothing else. */
#include "rpc/server/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include "lib/clock.h"
#include "rpc/server/descriptors.h"
#include "rpc/server/sandbox.h"
#include "rpc/wire/tls.h"

/* bytes on the way from one side to the other */
struct flow {
	int from;
	int to;
	bool to_is_socket;	      /* its end can be passed on */
	bool ended;		      /* nothing more comes */
	_Atomic uint64_t *read_at;    /* when bytes were last read; may be NULL */
	_Atomic uint64_t *written_at; /* when they were last written */
	size_t start;
	size_t size;
	char bytes[64 << 10];
};

static bool is_busy(void)
{
	return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

static void note(_Atomic uint64_t *at)
{
	if (at)
		atomic_store(at, clock_now());
}

/* Read when there is room. False on failure. */
static bool fill(struct flow *f)
{
	ssize_t n;

	if (f->ended || f->size)
		return true;
	n = read(f->from, f->bytes, sizeof(f->bytes));
	/* EIO: a terminal that hung up */
	if (n < 0 && !is_busy() && errno != EIO)
		return false;
	if (!n || (n < 0 && errno == EIO))
		f->ended = true;
	f->start = 0;
	f->size = n > 0 ? (size_t)n : 0;
	note(f->size ? f->read_at : NULL);
	return true;
}

static bool drain(struct flow *f)
{
	ssize_t n;

	while (f->size) {
		n = write(f->to, f->bytes + f->start, f->size);
		if (n < 0 && !is_busy())
			return false;
		if (n < 0)
			return true;
		f->start += (size_t)n;
		f->size -= (size_t)n;
		note(f->written_at);
	}
	return true;
}

/* Returns false when both sides can be closed. */
static bool step(struct flow *f)
{
	if (!drain(f) || !fill(f) || !drain(f))
		return false;
	if (f->ended && !f->size && f->to >= 0) {
		/* a pipe has no end to pass on while its other direction is in use: close it */
		if (f->to_is_socket)
			shutdown(f->to, SHUT_WR);
		else
			close(f->to);
		f->to = -1;
	}
	return true;
}

#define PATIENCE_MS 30000
#define LOOK_MS	    1000

int relay_patience(uint64_t *deadline, int socket, bool pending)
{
	struct pollfd polled = { socket, 0, 0 };
	const uint64_t now = clock_ms();

	if (!pending)
		return -1;
	if (!*deadline && poll(&polled, 1, 0) > 0 && polled.revents & POLLHUP)
		*deadline = now + PATIENCE_MS;
	return *deadline && now >= *deadline ? 0 : LOOK_MS;
}

static void wait_for(struct flow *a, struct flow *b, int ms)
{
	struct pollfd polled[4] = {
		{ a->ended || a->size ? -1 : a->from, POLLIN, 0 },
		{ a->size ? a->to : -1, POLLOUT, 0 },
		{ b->ended || b->size ? -1 : b->from, POLLIN, 0 },
		{ b->size ? b->to : -1, POLLOUT, 0 },
	};

	poll(polled, 4, ms);
}

static void make_non_blocking(int fd)
{
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

int relay_copy(struct relay_ends ends, int socket, struct relay_traffic *traffic)
{
	static struct flow in, out;
	uint64_t deadline = 0;
	int ms;

	in = (struct flow){ .from = ends.in,
			    .to = socket,
			    .to_is_socket = true,
			    .written_at = &traffic->received };
	out = (struct flow){ .from = socket,
			     .to = ends.out,
			     .to_is_socket = ends.in == ends.out,
			     .read_at = &traffic->sent };
	make_non_blocking(ends.in);
	make_non_blocking(ends.out);
	make_non_blocking(socket);
	for (;;) {
		if (!step(&in) || !step(&out))
			return -1;
		/* the session has ended: nothing that the peer still sends matters */
		if (out.ended && !out.size)
			return 0;
		ms = relay_patience(&deadline, socket, out.size > 0);
		if (!ms)
			return -1;
		wait_for(&in, &out, ms);
	}
}

/* A serial line passes every byte as it is. Within the sandbox a terminal cannot be set. */
static void make_raw(int fd)
{
	struct termios terminal;

	if (tcgetattr(fd, &terminal))
		return;
	cfmakeraw(&terminal);
	tcsetattr(fd, TCSANOW, &terminal);
}

static void run_relay(struct relay_ends ends, const struct tls_server *tls, int socket,
		      struct relay_traffic *traffic)
{
	static const struct sandbox_options nothing = { .folder = "/nonexistent", .file_most = 0 };
	sigset_t none;
	int listener;

	descriptors_standard(-1);
	descriptors_keep((int[]){ ends.in, ends.out, socket }, 3);
	make_raw(ends.in);
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	sandbox_enter(&nothing, &listener);
	/* a relay starts no processes, so no call waits for an answer of this listener */
	if (listener >= 0)
		close(listener);
	_exit((tls ? tls_relay(tls, ends.in, socket, traffic) : relay_copy(ends, socket, traffic))
		      ? 1
		      : 0);
}

pid_t relay_start(struct relay_ends ends, const struct tls_server *tls,
		  struct relay_traffic *traffic, void (*forget)(void *context), void *context,
		  int *socket)
{
	pid_t server = getpid(), pid;
	int pair[2], saved;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return -1;
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != server)
			_exit(1);
		if (forget)
			forget(context);
		run_relay(ends, tls, pair[1], traffic);
	}
	saved = errno;
	close(pair[1]);
	if (pid < 0) {
		close(pair[0]);
		errno = saved;
		return -1;
	}
	*socket = pair[0];
	close(ends.in);
	if (ends.out != ends.in)
		close(ends.out);
	return pid;
}
