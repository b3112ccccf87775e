/* SPDX-License-Identifier: MIT */
/* The process that copies files of a session that has ended, or kernels, to the cache (file_cache.h, kernel_store.h). */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rpc/server/descriptors.h"
#include "rpc/server/kernel_store.h"
#include "rpc/server/server_state.h"

/* A session whose client has gone may leave files to keep when its process has ended. */
static bool is_ending(const struct peer *p)
{
	return p->pid && p->gone && !p->builds && atomic_load(&p->watch->missed);
}

static bool is_keeping(const struct server *s)
{
	unsigned int i;

	if (s->keeper)
		return true;
	for (i = 0; s->cache.most && i < s->peer_count; i++)
		if (is_ending(&s->peers[i]))
			return true;
	return false;
}

uint64_t server_keeping(const struct server *s)
{
	return is_keeping(s) ? KEEPING : server_building(s);
}

void server_tell_keeping(struct server *s)
{
	const uint64_t keeping = server_keeping(s);
	unsigned int i;

	for (i = 0; i < s->peer_count; i++)
		if (s->peers[i].watch)
			atomic_store(&s->peers[i].watch->keeping, keeping);
}

static void run_keeper(struct server *s, const struct left *l, pid_t server)
{
	char in_memory[40];
	const char *files = l->mounted < 0 ? l->folder : in_memory;
	sigset_t none;

	/* "/." is the folder itself, since a link is not followed */
	snprintf(in_memory, sizeof(in_memory), "/proc/self/fd/%d/.", l->mounted);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != server)
		_exit(1);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	server_forget(s, -1);
	descriptors_keep((int[]){ l->mounted }, 1);
	/* the next session may be measuring time already */
	setpriority(PRIO_PROCESS, 0, 19);
	if (l->builds)
		kernel_store_keep(&s->cache, l->builds, files);
	else
		file_cache_keep(&s->cache, files);
	folder_remove(l->folder);
	_exit(0);
}

/* Forget the first of what is left. */
static void drop_first(struct server *s)
{
	struct left *l = s->left;

	if (l->mounted >= 0)
		close(l->mounted);
	free(l->folder);
	free(l->builds);
	memmove(l, l + 1, --s->left_count * sizeof(*l));
}

static void start_keeper(struct server *s)
{
	const struct left *l = s->left;
	pid_t server = getpid();

	while (!s->keeper && s->left_count) {
		if (!l->builds)
			*s->last_built = '\0';
		s->keeper = fork();
		if (!s->keeper)
			run_keeper(s, l, server);
		if (s->keeper < 0) {
			s->keeper = 0;
			folder_remove(l->folder);
		}
		drop_first(s);
	}
}

/*
 * Copy the files that a client sent, or the kernels that were built, to the cache, and remove the
 * folder. Large files take seconds, so a child process does this. Only one runs at a time; what
 * comes meanwhile waits, but not without end: it takes room on the disk.
 */
bool server_keep_files(struct server *s, struct peer *p)
{
	if (!s->cache.most || p->stopped || !(p->builds || atomic_load(&p->watch->missed)))
		return false;
	if (!p->builds && s->left_count >= LEFT_MOST)
		return false;
	s->left[s->left_count++] = (struct left){ p->folder, p->mounted, p->builds };
	p->folder = NULL;
	p->mounted = -1;
	p->builds = NULL;
	start_keeper(s);
	return true;
}

void server_keeper_ended(struct server *s)
{
	s->keeper = 0;
	start_keeper(s);
	server_builder_wanted(s);
	/*
	 * First the server begins to build the kernels of the file that was copied; then it tells sessions, of which one
	 * may wait for these kernels.
	 */
	server_builder_step(s);
	server_tell_keeping(s);
}

/* What would be kept is removed with the server's folder. */
void server_close_keeper(struct server *s)
{
	s->cache.most = 0;
	while (s->left_count)
		drop_first(s);
	if (!s->keeper)
		return;
	kill(s->keeper, SIGKILL);
	while (waitpid(s->keeper, NULL, 0) < 0 && errno == EINTR)
		;
	s->keeper = 0;
}
