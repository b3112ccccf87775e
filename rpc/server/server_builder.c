/* SPDX-License-Identifier: MIT */
/* The process that builds kernels of files in the cache, a session without a client (kernel_store.h). */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rpc/server/kernel_store.h"
#include "rpc/server/sandbox.h"
#include "rpc/server/server_state.h"

/* there is no client that could leave */
#define NEVER (UINT64_MAX / 2)
/* how often to look whether a session has loaded a module */
#define LOOK_MS 20

void server_builder_init(struct server *s)
{
	/* what a session writes, others must not read */
	s->kernels = s->cache.most && s->options.sandbox && !(s->missing & SANDBOX_FILES) &&
		     kernel_store_make(&s->cache);
}

void server_builder_wanted(struct server *s)
{
	s->unbuilt = s->kernels;
}

/* There is a place: no client is closed for it. */
static void start(struct server *s, const char *hash)
{
	struct peer p = { .fd = fcntl(s->alive[0], F_DUPFD_CLOEXEC, 0),
			  .state = PEER_WAITING,
			  .greeted = true,
			  .gone = NEVER,
			  PEER_NONE };

	if (p.fd < 0)
		return;
	p.builds = strdup(hash);
	if (!p.builds) {
		close(p.fd);
		return;
	}
	p.serial = ++s->serial;
	s->peers[s->peer_count++] = p;
	if (!peer_start(s, &s->peers[s->peer_count - 1]))
		server_remove_peer(s, s->peer_count - 1);
}

/* Sessions that have loaded a module may measure time: build while there is none. */
static bool is_disturbed(const struct server *s)
{
	unsigned int i;

	for (i = 0; i < s->peer_count; i++)
		if (s->peers[i].state == PEER_SESSION && !s->peers[i].builds &&
		    atomic_load(&s->peers[i].watch->loads))
			return true;
	return false;
}

static struct peer *find_builder(const struct server *s)
{
	unsigned int i;

	for (i = 0; i < s->peer_count; i++)
		if (s->peers[i].builds && s->peers[i].state == PEER_SESSION)
			return &s->peers[i];
	return NULL;
}

static void stop(struct server *s, struct peer *builder)
{
	if (builder->stopped)
		return;
	builder->stopped = true;
	peer_kill(builder);
	*s->last_built = '\0';
	s->unbuilt = true;
	server_tell_keeping(s);
}

void server_builder_step(struct server *s)
{
	struct peer *builder = find_builder(s);
	const bool disturbed = is_disturbed(s);

	if (builder && disturbed)
		stop(s, builder);
	if (!s->unbuilt || builder || disturbed || s->keeper || s->peer_count == s->peer_room)
		return;
	s->unbuilt = false;
	/* If the kernels of a file could not be stored, go on with the files that follow it. */
	if (!kernel_store_next(&s->cache, s->last_built, s->last_built))
		return;
	start(s, s->last_built);
	server_tell_keeping(s);
}

uint64_t server_building(const struct server *s)
{
	const struct peer *builder = find_builder(s);

	return builder && !builder->stopped ? kernel_store_number(builder->builds) : 0;
}

uint64_t server_builder_deadline(const struct server *s)
{
	return s->sessions && server_building(s) ? now_ms() + LOOK_MS : 0;
}
