/* SPDX-License-Identifier: MIT */
/* the process that builds kernels of files in the cache, a session without a client (kernel_store.h) */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rpc/server/kernel_store.h"
#include "rpc/server/sandbox.h"
#include "rpc/server/server_state.h"

/* there is no client that could leave */
#define NEVER (UINT64_MAX / 2)

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
	if (!server_add_peer(s, &p, 0))
		free(p.builds);
	else if (!peer_start(s, &s->peers[s->peer_count - 1]))
		server_remove_peer(s, s->peer_count - 1);
}

/* Sessions may measure time: build while there is none. */
void server_builder_start(struct server *s)
{
	char hash[SHA256_TEXT];
	unsigned int i;

	if (!s->unbuilt || s->sessions || s->keeper)
		return;
	for (i = 0; i < s->peer_count; i++)
		if (s->peers[i].state == PEER_WAITING)
			return;
	s->unbuilt = false;
	/* If the kernels of a file could not be stored, the same file comes up again: do not repeat it. */
	if (!kernel_store_next(&s->cache, hash) || !strcmp(hash, s->built))
		return;
	start(s, hash);
}

void server_builder_stop(struct server *s)
{
	unsigned int i;

	for (i = 0; i < s->peer_count; i++) {
		struct peer *p = &s->peers[i];

		if (!p->builds || p->state != PEER_SESSION)
			continue;
		free(p->builds);
		p->builds = NULL;
		peer_kill(p);
		s->unbuilt = true;
	}
}
