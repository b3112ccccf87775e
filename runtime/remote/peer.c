/* SPDX-License-Identifier: MIT */
#include "runtime/remote/peer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <tenon/string.h>
#include <tenon/tenon.h>
#include <time.h>
#include <unistd.h>

#include "lib/library_path.h"
#include "runtime/remote/connection.h"
#include "runtime/remote/packet.h"
#include "runtime/remote/sandbox.h"
#include "runtime/remote/server_state.h"

uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* ---- in the child */

static void reset_signals(void)
{
	sigset_t none;
	int i;

	for (i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Standard input is empty, and what uploaded code prints goes to standard error. */
static void set_standard_streams(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null >= 0) {
		dup2(null, 0);
		close(null);
	}
	dup2(2, 1);
}

/* When memory runs out, the kernel should choose a session. */
static void be_first_to_go(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, "1000", 4) < 0)
		errno = 0;
	close(fd);
}

/*
 * PR_SET_PDEATHSIG is for this process alone. What it starts ends with the server too: the kernel signals the group when the
 * server's end of the pipe closes. The owner belongs to an open file, so each session opens its own.
 */
static void end_group_with_server(int alive)
{
	char path[40];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", alive);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return;
	fcntl(fd, F_SETOWN, -getpid());
	fcntl(fd, F_SETSIG, SIGKILL);
	fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK);
}

/* Caches of compiled kernels are in the folder too: one session must not prepare them for others. */
static void use_folder(const char *folder)
{
	unsetenv("TENON_CACHE_DIR");
	unsetenv("POCL_CACHE_DIR");
	unsetenv("CUDA_CACHE_PATH");
	setenv("HOME", folder, 1);
	setenv("TMPDIR", folder, 1);
	setenv("XDG_CACHE_HOME", folder, 1);
	if (chdir(folder))
		_exit(1);
}

/*
 * What sessions may read beside the system, where Tenon is not installed to /usr: the command, which probes
 * drivers in a process of its own, the library, and its folders.
 */
struct own_paths {
	char command[PATH_MAX];
	char library[PATH_MAX];
	char plugins[PATH_MAX + 16];
	char installed[PATH_MAX + 16];
	char compatible[PATH_MAX + 16];
};

static void find_own_paths(struct own_paths *own)
{
	const char *slash;
	int size;

	memset(own, 0, sizeof(*own));
	if (readlink("/proc/self/exe", own->command, sizeof(own->command) - 1) < 0)
		*own->command = '\0';
	if (!library_path(own->library))
		return;
	slash = strrchr(own->library, '/');
	size = slash ? (int)(slash - own->library) : 0;
	snprintf(own->plugins, sizeof(own->plugins), "%.*s/plugins", size, own->library);
	snprintf(own->installed, sizeof(own->installed), "%.*s/tenon", size, own->library);
	snprintf(own->compatible, sizeof(own->compatible), "%.*s/compat", size, own->library);
}

#define READ_MOST 64

/* End the process if anything is missing that the server did not report when it started. */
static void enter_sandbox(const struct server *s, const char *folder, int socket)
{
	const struct server_options *o = s->options;
	static struct own_paths own;
	const char *read[READ_MOST + 6] = { own.command, own.library, own.plugins, own.installed,
					    own.compatible };
	struct sandbox_options sandbox = {
		.folder = folder,
		.cache = s->cache.most ? s->cache.path : NULL,
		.read = read,
		.write = o->write,
		.memory_most = o->memory_most,
		.file_most = o->session.folder_most,
	};
	size_t i;
	int listener;

	find_own_paths(&own);
	for (i = 0; o->read && o->read[i] && i < READ_MOST; i++)
		read[5 + i] = o->read[i];
	if (sandbox_enter(&sandbox, &listener) & ~s->missing)
		_exit(1);
	peer_limits_send(socket, listener);
}

static void run_child(struct server *s, struct peer *p, pid_t server, int limits)
{
	const struct server_options *o = s->options;
	struct session_options session = o->session;
	struct session_watch *watch = p->watch;
	const char *folder = p->folder;
	struct connection *connection;
	int fd = p->fd, err;

	session.extension = p->extension;
	session.cache = s->cache.most ? s->cache.path : NULL;
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != server)
		_exit(1);
	reset_signals();
	set_standard_streams();
	end_group_with_server(s->alive[0]);
	server_forget(s, fd);
	/* uploaded code must not find them in memory */
	explicit_bzero((void *)(uintptr_t)&o->secret, sizeof(o->secret));
	tls_server_close(o->tls);
	be_first_to_go();
	use_folder(folder);
	if (o->sandbox)
		enter_sandbox(s, folder, limits);
	else
		close(limits);
	/* without the filter, processes can leave the group: have them end with this one (server_sweep) */
	if (s->sweeps)
		prctl(PR_SET_CHILD_SUBREAPER, 1);
	err = connection_of_fds(fd, fd, "the client", &connection);
	if (!err)
		err = session_run(connection, folder, &session, watch);
	/* The kernel releases everything; destructors of uploaded code do not run. */
	_exit(err ? 1 : 0);
}

/* ---- in the server */

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
	atomic_store(&p->watch->keeping, server_is_keeping(s));
	if (session_folder_create(&s->folder, folder)) {
		server_say(s, "%s", tenon_error_message());
		tenon_error_clear();
		return false;
	}
	p->folder = strdup(folder);
	return p->folder != NULL;
}

static bool send_key(struct peer *p, const char *key)
{
	const char *extension = p->extension ? " " HANDSHAKE_EXTENSION : "";
	struct tenon_buffer b = TENON_BUFFER_INIT;
	size_t size = strlen("server:") + strlen(key) + strlen(p->suffix) + strlen(extension);
	bool ok;

	/* a proxy did it, unless the client waits for our proof */
	if (p->greeted && !*p->suffix)
		return true;

	tenon_buffer_u32(&b, HANDSHAKE_MAGIC);
	tenon_buffer_u32(&b, (uint32_t)size);
	tenon_buffer_printf(&b, "server:%s%s%s", key, p->suffix, extension);
	ok = !b.status &&
	     send(p->fd, b.data, b.size, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)b.size;
	tenon_buffer_fini(&b);
	return ok;
}

bool peer_start(struct server *s, struct peer *p)
{
	pid_t server = getpid();
	int limits;

	if (!prepare(s, p) || !send_key(p, s->options->key) || !peer_limits_begin(p, &limits))
		return false;
	fcntl(p->fd, F_SETFL, fcntl(p->fd, F_GETFL) & ~O_NONBLOCK);
	p->pid = fork();
	if (!p->pid)
		run_child(s, p, server, limits);
	close(limits);
	if (p->pid < 0) {
		peer_limits_end(p);
		server_say(s, "cannot start a session: %s", strerror(errno));
		p->pid = 0;
		return false;
	}
	/* in both processes: either may be first */
	setpgid(p->pid, p->pid);
	p->state = PEER_SESSION;
	p->deadline = p->limit_ms ? now_ms() + p->limit_ms : 0;
	s->sessions++;
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
	kill(-p->pid, SIGKILL);
}

bool peer_reap(struct server *s, struct peer *p)
{
	siginfo_t info = { 0 };
	bool waits = false;

	/* before the leader is reaped: until then its number names this group alone */
	kill(-p->pid, SIGKILL);
	while (waitid(P_PID, (id_t)p->pid, &info, WEXITED) && errno == EINTR)
		;
	if (!*p->reason && !p->gone && atomic_load(&p->watch->state) == SESSION_WORKING) {
		describe_end(&info, p->reason);
		p->tell = true;
	}
	if (p->tell) {
		waits = tell(p);
		server_say(s, "session %llu: %s", (unsigned long long)p->serial, p->reason);
	}
	peer_limits_end(p);
	p->pid = 0;
	s->sessions--;
	if (s->sweeps)
		server_sweep(s);
	return waits;
}
