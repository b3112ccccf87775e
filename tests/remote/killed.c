/* SPDX-License-Identifier: MIT */
/* Exchanges with a server that is killed, and what may be left of it. */
#include "tests/remote/killed.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <tenon/backend/buffer.h>
#include <time.h>
#include <unistd.h>

#include "lib/clock.h"
#include "rpc/server/process_list.h"
#include "tests/unit/suite.h"

struct farm_process killed_server;
char killed_base[3000];
uint64_t killed_longest;
static uint32_t seed;

uint32_t killed_random(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 17;
	seed ^= seed << 5;
	return seed % n;
}

void killed_pause(long us)
{
	nanosleep(&(struct timespec){ 0, us * 1000 }, NULL);
}

/* ---- what may be left */

struct children {
	pid_t parent;
	pid_t last;
	int count;
};

static void add_child(void *context, const struct process *p)
{
	struct children *c = context;

	/* sessions, and all that they started */
	if (p->parent == c->parent || (c->last && p->group == c->last)) {
		c->count++;
		c->last = c->last ? c->last : p->pid;
	}
}

pid_t killed_session_of(pid_t pid)
{
	struct children c = { .parent = pid };

	process_list(add_child, &c);
	return c.last;
}

static int count_left(pid_t parent, pid_t session)
{
	struct children c = { .parent = parent, .last = session };

	process_list(add_child, &c);
	return c.count;
}

int killed_count_entries(const char *path, char *last)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	int n = 0;

	while (dir && (entry = readdir(dir))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (last)
			snprintf(last, 4096, "%s/%s", path, entry->d_name);
		n++;
	}
	if (dir)
		closedir(dir);
	return n;
}

int killed_count_descriptors(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	return killed_count_entries(path, NULL);
}

/* One folder of a server, with its cache alone. */
static bool folders_are_clean(void)
{
	char folder[4096];

	return killed_count_entries(killed_base, folder) == 1 &&
	       killed_count_entries(folder, NULL) == 1;
}

void killed_nothing_is_left(pid_t session, int descriptors, const char *what)
{
	const uint64_t end = clock_ms() + PATIENCE_S * 1000;
	int left = -1;

	/* the list of processes is the slowest to read */
	while (killed_count_descriptors(killed_server.pid) != descriptors || !folders_are_clean() ||
	       (left = count_left(killed_server.pid, session))) {
		if (clock_ms() > end)
			fail_msg("%s: %d processes, %d descriptors of %d, folders %s", what, left,
				 killed_count_descriptors(killed_server.pid), descriptors,
				 folders_are_clean() ? "removed" : "left");
		killed_pause(5000);
	}
}

/* ---- an exchange */

void exchange_open(struct exchange *x)
{
	memset(x, 0, sizeof(*x));
	x->c.generation = WIRE_FFI;
	x->c.fd = farm_connect(killed_server.port);
	assert_int_equal(connection_of_fds(x->c.fd, x->c.fd, "server", &x->c.connection), 0);
	x->c.connection->deadline = connection_deadline(PATIENCE_S * 1000);
	stream_init(&x->c.stream, x->c.connection, UINT64_MAX);
}

void exchange_close(struct exchange *x)
{
	connection_close(x->c.connection);
	stream_fini(&x->c.stream);
	tenon_buffer_fini(&x->c.request);
	tenon_buffer_fini(&x->bytes);
	wire_sequence_fini(&x->c.values);
	tenon_error_clear();
}

void exchange_hello(struct exchange *x, const char *key)
{
	char text[200], reply[8 + 8];
	int n = snprintf(text, sizeof(text), "client:%s", key);

	tenon_buffer_u32(&x->bytes, 0xff271);
	tenon_buffer_u32(&x->bytes, (uint32_t)n);
	tenon_buffer_append(&x->bytes, text, (size_t)n);
	farm_send(x->c.fd, x->bytes.data, x->bytes.size);
	x->bytes.size = 0;
	assert_int_equal(stream_read(&x->c.stream, reply, sizeof(reply)), 0);
	assert_memory_equal(reply, "\x71\xf2\x0f\0\x08\0\0\0server:k", sizeof(reply));
}

/* Its session dies with it, and becomes a child of this process, whose init may be slow to reap it. */
void killed_end_server(pid_t session)
{
	int status;

	waitpid(killed_server.pid, &status, 0);
	if (session)
		waitpid(session, &status, 0);
	unlink(killed_server.log);
}

int killed_setup(void **state)
{
	const char *folder = getenv("TMPDIR"), *text = getenv("TENON_SEED");

	(void)state;
	seed = text ? (uint32_t)strtoul(text, NULL, 10) : (uint32_t)time(NULL);
	if (!seed)
		seed = 1;
	print_message("# TENON_SEED=%u\n", seed);
	snprintf(killed_base, sizeof(killed_base), "%s/base", folder ? folder : "/tmp");
	if (prctl(PR_SET_CHILD_SUBREAPER, 1))
		return -1;
	return mkdir(killed_base, 0700);
}
