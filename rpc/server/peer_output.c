/* SPDX-License-Identifier: MIT */
/*
 * What a session prints. It writes to a pipe, and the server reports each line under the session's number: uploaded
 * code holds no terminal and no file of the operator, and cannot forge a line of the server.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "rpc/server/server_state.h"

/* bytes that are reported in a second; the rest is read and left out, so that no session fills the log */
#define RATE (64 << 10)

bool peer_output_begin(struct peer *p, int *child)
{
	int fds[2];

	*child = -1;
	if (pipe2(fds, O_CLOEXEC))
		return false;
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	p->output = (struct peer_output){ .fd = fds[0], .second = now_ms() / 1000 };
	*child = fds[1];
	return true;
}

static void report_line(struct server *s, struct peer *p)
{
	struct peer_output *o = &p->output;

	if (o->size && p->builds)
		server_say(s, "building kernels of %.12s: %.*s", p->builds, (int)o->size, o->line);
	else if (o->size)
		server_say(s, "session %llu: %.*s", (unsigned long long)p->serial, (int)o->size,
			   o->line);
	o->size = 0;
}

static void report_left_out(struct server *s, struct peer *p)
{
	if (p->output.left_out)
		server_say(s,
			   "session %llu: %llu bytes of its output are left out here, beyond %d "
			   "KiB a second",
			   (unsigned long long)p->serial, (unsigned long long)p->output.left_out,
			   RATE >> 10);
	p->output.left_out = 0;
}

static void add_byte(struct server *s, struct peer *p, char byte)
{
	struct peer_output *o = &p->output;

	if (byte != '\n')
		o->line[o->size++] = byte;
	if (byte == '\n' || o->size == sizeof(o->line))
		report_line(s, p);
}

static void add(struct server *s, struct peer *p, const char *bytes, size_t size)
{
	struct peer_output *o = &p->output;
	const uint64_t second = now_ms() / 1000;
	size_t i;

	if (second != o->second) {
		o->second = second;
		o->used = 0;
		report_left_out(s, p);
	}
	for (i = 0; i < size && o->used < RATE; i++, o->used++)
		add_byte(s, p, bytes[i]);
	o->left_out += size - i;
}

/* Read once. Returns 1 when there may be more, 0 when there is nothing now, -1 at the end. */
static int read_some(struct server *s, struct peer *p)
{
	char bytes[4096];
	ssize_t n = read(p->output.fd, bytes, sizeof(bytes));

	if (n > 0)
		add(s, p, bytes, (size_t)n);
	if (n < 0 && errno == EINTR)
		return 1;
	return n > 0 ? 1 : n < 0 && errno == EAGAIN ? 0 : -1;
}

int peer_output_polled(const struct peer *p)
{
	return p->output.fd;
}

/* All writers have closed their ends, or are dead. */
static void finish(struct server *s, struct peer *p)
{
	report_line(s, p);
	report_left_out(s, p);
	close(p->output.fd);
	p->output.fd = -1;
}

void peer_output_serve(struct server *s, struct peer *p)
{
	/* one read at a time: a session that prints without end keeps no other waiting */
	if (p->output.fd >= 0 && read_some(s, p) < 0)
		finish(s, p);
}

void peer_output_end(struct server *s, struct peer *p)
{
	int rounds = 64;

	if (p->output.fd < 0)
		return;
	/* what is left fits the pipe, unless a process has left the group */
	while (rounds-- && read_some(s, p) > 0)
		;
	finish(s, p);
}
