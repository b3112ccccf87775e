/* SPDX-License-Identifier: MIT */
/*
 * The time of a request, and the memory and files of all processes of a session. A session is uploaded code, so the server
 * takes what the kernel says, and what its own relay noted, and nothing that the session could write.
 */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/clock.h"
#include "rpc/server/folder.h"
#include "rpc/server/process_list.h"
#include "rpc/server/server_state.h"

/* how often a session is looked at */
#define LOOK_MS 500
/* counting files may take 1/FILES_SHARE of the server's time */
#define FILES_SHARE  20
#define UNNAMED_MOST 256
/* a session that uses less than 1/BUSY_SHARE of a processor counts as waiting */
#define BUSY_SHARE 10

/* a file without a name, which several descriptors may refer to */
struct unnamed {
	dev_t device;
	ino_t number;
};

/**
 * struct usage - what the processes of a session use
 * @group: their process group
 * @ticks: processor time
 * @memory: of the processes
 * @unnamed_memory: of open files without a name in memory
 * @files: on disk, in bytes
 * @hidden: a process does not let the server see its open files
 * @unnamed: files that were counted
 * @unnamed_count: number of them
 */
struct usage {
	pid_t group;
	uint64_t ticks;
	struct process_memory memory;
	uint64_t unnamed_memory;
	uint64_t files;
	bool hidden;
	struct unnamed unnamed[UNNAMED_MOST];
	size_t unnamed_count;
};

static void add_unnamed(void *context, const struct stat *file, bool in_memory)
{
	const uint64_t size = (uint64_t)file->st_blocks * 512;
	struct usage *u = context;
	size_t i;

	for (i = 0; i < u->unnamed_count; i++)
		if (u->unnamed[i].device == file->st_dev && u->unnamed[i].number == file->st_ino)
			return;
	if (u->unnamed_count < UNNAMED_MOST)
		u->unnamed[u->unnamed_count++] =
			(struct unnamed){ .device = file->st_dev, .number = file->st_ino };
	*(in_memory ? &u->unnamed_memory : &u->files) += size;
}

static void add_process(void *context, const struct process *process)
{
	struct usage *u = context;

	if (process->group != u->group)
		return;
	u->ticks += process->ticks;
	/* only root can read the files of a zombie */
	if (process_memory(process->pid, &u->memory))
		u->hidden |= !process_unnamed_files(process->pid, add_unnamed, u);
}

static void collect(const struct peer *p, struct usage *u)
{
	struct process first;

	u->group = p->pid;
	if (p->limits.used)
		process_list(add_process, u);
	else if (process_read(p->pid, &first))
		add_process(u, &first);
}

/* ---- the time of a request */

/* how long ago bytes of the client came, and bytes for it were taken from the session; in one unit */
struct ages {
	uint64_t received;
	uint64_t sent;
	uint64_t received_ms;
};

static bool tcp_ages(int fd, struct ages *out)
{
	struct tcp_info info;
	socklen_t size = sizeof(info);

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) ||
	    size < offsetof(struct tcp_info, tcpi_last_data_recv) +
			    sizeof(info.tcpi_last_data_recv))
		return false;
	out->received = out->received_ms = info.tcpi_last_data_recv;
	out->sent = info.tcpi_last_data_sent;
	return true;
}

static bool relay_ages(const struct relay_traffic *traffic, struct ages *out)
{
	const uint64_t now = clock_now();

	if (!traffic)
		return false;
	out->received = now - atomic_load(&traffic->received);
	out->sent = now - atomic_load(&traffic->sent);
	out->received_ms = out->received / 1000000;
	return true;
}

/* Neither are there unread bytes, nor did the session, which sets no limit for its reads, set one. */
static bool reads_for_ever(int fd)
{
	struct timeval limit = { 0, 0 };
	socklen_t size = sizeof(limit);
	int unread = 0;

	return !ioctl(fd, FIONREAD, &unread) && !unread &&
	       !getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, &size) && !limit.tv_sec &&
	       !limit.tv_usec;
}

/*
 * Decide whether the session waits for its client: it has read all that arrived and sent something
 * since, its first thread sleeps in a call on this socket, and no other thread or process runs.
 * Otherwise a request runs, at the earliest since the session was last seen to wait or the client
 * last sent something. The kernel counts TCP's times in ticks, so for a request in the same tick as
 * the last reply the other signs decide.
 */
static void look_at_request(struct peer *p, const struct usage *used, uint64_t now)
{
	const uint64_t per_second = (uint64_t)sysconf(_SC_CLK_TCK);
	struct peer_usage *u = &p->usage;
	struct ages ages = { 0, 0, 0 };
	const bool known = tcp_ages(p->fd, &ages) || relay_ages(p->traffic, &ages);
	const uint64_t ticks = used->ticks > u->ticks ? used->ticks - u->ticks : 0;
	const bool busy =
		ticks * 1000 * BUSY_SHARE > (now - u->looked) * per_second + 1000 * BUSY_SHARE;

	u->ticks = used->ticks;
	if (!busy && (!known || ages.sent <= ages.received) && reads_for_ever(p->fd) &&
	    process_waits(p->pid, p->fd) != PROCESS_WORKS) {
		u->waited = now;
		u->working = 0;
		return;
	}
	u->working = u->waited;
	if (known && ages.received_ms < now && now - ages.received_ms > u->working)
		u->working = now - ages.received_ms;
}

static bool request_is_late(const struct server *s, const struct peer *p, uint64_t now)
{
	return s->options.request_ms && p->usage.working &&
	       now >= p->usage.working + s->options.request_ms;
}

/* ---- memory and files */

/* A process has mapped some of the files in memory, where they count as shared memory: take the larger of both. */
static uint64_t memory_of(const struct usage *u)
{
	return u->memory.own +
	       (u->memory.shared > u->unnamed_memory ? u->memory.shared : u->unnamed_memory);
}

static void exceed(struct peer *p, uint64_t most, const char *what)
{
	snprintf(p->reason, sizeof(p->reason), "the session used more than %llu MiB of %s",
		 (unsigned long long)(most >> 20), what);
}

void peer_exceed_memory(const struct server *s, struct peer *p)
{
	exceed(p, s->options.memory_most, "memory (tenon rpc serve --memory)");
}

static void look_at_files(const struct server *s, struct peer *p, struct usage *u)
{
	const uint64_t most = s->options.folder_most, begin = now_ms();

	if (begin >= p->usage.files && !folder_size(p->folder, &u->files))
		snprintf(p->reason, sizeof(p->reason),
			 "the session's files cannot be counted: more than %d, deeper than %d "
			 "folders, "
			 "or closed to their owner",
			 FOLDER_ENTRIES_MOST, FOLDER_DEPTH_MOST);
	else if (u->files > most)
		exceed(p, most, "disk space (tenon rpc serve --folder-size)");
	if (begin >= p->usage.files)
		p->usage.files = begin + FILES_SHARE * (now_ms() - begin);
}

static void look_at_limits(const struct server *s, struct peer *p, struct usage *u)
{
	const uint64_t most = s->options.memory_most;

	/* the kernel counts what is in a cgroup, shared memory once */
	if (most && p->cgroup < 0 && memory_of(u) > most)
		peer_exceed_memory(s, p);
	else if (u->hidden && p->usage.visible)
		snprintf(p->reason, sizeof(p->reason), "the session hides its open files");
	else
		look_at_files(s, p, u);
}

/* ---- looking */

void peer_usage_begin(struct peer *p)
{
	const uint64_t now = now_ms();

	struct usage u = { .group = p->pid };

	p->usage = (struct peer_usage){
		.looked = now,
		.waited = now,
		.working = now,
		.visible = process_unnamed_files(p->pid, add_unnamed, &u),
	};
}

uint64_t peer_usage_deadline(const struct server *s, const struct peer *p)
{
	const uint64_t late = p->usage.working + s->options.request_ms;
	uint64_t at = p->usage.looked + LOOK_MS;

	if (s->options.request_ms && p->usage.working && late < at)
		at = late;
	return at;
}

void peer_usage_look(struct peer *p)
{
	struct usage u = { 0 };

	collect(p, &u);
	look_at_request(p, &u, now_ms());
}

bool peer_usage_exceeded(const struct server *s, struct peer *p)
{
	const uint64_t now = now_ms();
	struct usage u = { 0 };

	if (now < peer_usage_deadline(s, p))
		return false;
	collect(p, &u);
	look_at_request(p, &u, now);
	p->usage.looked = now;
	if (request_is_late(s, p, now))
		snprintf(p->reason, sizeof(p->reason),
			 "the request took longer than %.9g s (tenon rpc serve --request-timeout)",
			 (double)s->options.request_ms / 1000);
	else if (s->options.sandbox)
		look_at_limits(s, p, &u);
	return *p->reason;
}
