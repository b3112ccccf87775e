/* SPDX-License-Identifier: MIT */
/* The process of a session, from fork() until it serves its client: what it keeps of the server, and its limits. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <tenon/tenon.h>
#include <unistd.h>

#include "lib/library_path.h"
#include "rpc/server/descriptors.h"
#include "rpc/server/folder.h"
#include "rpc/server/kernel_store.h"
#include "rpc/server/name_list.h"
#include "rpc/server/sandbox.h"
#include "rpc/server/server_state.h"
#include "rpc/wire/connection.h"

static void reset_signals(void)
{
	sigset_t none;
	int i;

	for (i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
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
static int end_group_with_server(int alive)
{
	char path[40];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", alive);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -1;
	fcntl(fd, F_SETOWN, -getpid());
	fcntl(fd, F_SETSIG, SIGKILL);
	fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK);
	return fd;
}

/* variables for the C library, compilers, drivers and runtimes (name_list.h) */
static const char variables[] = "PATH\0"
				"LANG\0"
				"LANGUAGE\0"
				"LC_*\0"
				"TZ\0"
				"LD_*\0"
				"MALLOC_*\0"
				"GLIBC_*\0"
				"CC\0"
				"LIBRARY_PATH\0"
				"COMPILER_PATH\0"
				"GCC_*\0"
				"LLVM_*\0"
				"TENON_*\0"
				"TVM_*\0"
				"OMP_*\0"
				"GOMP_*\0"
				"KMP_*\0"
				"MKL_*\0"
				"OPENBLAS_*\0"
				"DNNL_*\0"
				"ONEDNN_*\0"
				"OCL_*\0"
				"OPENCL_*\0"
				"POCL_*\0"
				"CL_*\0"
				"VK_*\0"
				"MESA_*\0"
				"LIBGL_*\0"
				"GALLIUM_*\0"
				"LP_*\0"
				"RUSTICL_*\0"
				"EGL_*\0"
				"__EGL_*\0"
				"__GL_*\0"
				"CUDA_*\0"
				"NVIDIA_*\0"
				"NVRTC_*\0"
				"HIP_*\0"
				"HSA_*\0"
				"ROCR_*\0"
				"ROCM_*\0"
				"AMD_*\0"
				"RADV_*\0"
				"ANV_*\0"
				"INTEL_*\0"
				"ZE_*\0"
				"SYCL_*\0"
				"GPU_*\0"
				"MALI_*\0"
				"QEMU_*\0"
				"ASAN_OPTIONS\0"
				"LSAN_OPTIONS\0"
				"TSAN_OPTIONS\0"
				"UBSAN_OPTIONS\0";

/* The environment of the server may hold tokens. unsetenv() leaves their text in memory, so overwrite it. */
static void drop_variables(void)
{
	char **from, **to = environ;

	for (from = environ; from && *from; from++) {
		if (name_list_has(variables, *from, strcspn(*from, "=")))
			*to++ = *from;
		else
			explicit_bzero(*from, strlen(*from));
	}
	if (to)
		*to = NULL;
}

/* Caches of compiled kernels are in the folder too: one session must not prepare them for others. */
static void use_folder(const char *folder)
{
	static const char *const others[] = { "TENON_CACHE_DIR",	  "POCL_CACHE_DIR",
					      "CUDA_CACHE_PATH",	  "MESA_SHADER_CACHE_DIR",
					      "MESA_GLSL_CACHE_DIR",	  "XDG_DATA_HOME",
					      "XDG_CONFIG_HOME",	  "XDG_RUNTIME_DIR",
					      "DBUS_SESSION_BUS_ADDRESS", "SSH_AUTH_SOCK" };
	size_t i;

	for (i = 0; i < sizeof(others) / sizeof(*others); i++)
		unsetenv(others[i]);
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
static void enter_sandbox(const struct server *s, const char *folder, int mounted, int socket)
{
	const struct tenon_rpc_server_options *o = &s->options;
	static struct own_paths own;
	const char *read[READ_MOST + 6] = { own.command, own.library, own.plugins, own.installed,
					    own.compatible };
	struct sandbox_options sandbox = {
		.folder = folder,
		.cache = s->cache.most ? s->cache.path : NULL,
		.read = read,
		.write = o->write,
		.memory_most = o->memory_most,
		.file_most = o->folder_most,
		.sockets = o->sockets && *o->sockets,
		.learn = o->learn,
	};
	size_t i;
	int listener;

	find_own_paths(&own);
	for (i = 0; o->read && o->read[i] && i < READ_MOST; i++)
		read[5 + i] = o->read[i];
	if (sandbox_enter(&sandbox, &listener) & ~s->missing)
		_exit(1);
	peer_limits_send(socket, listener, mounted);
}

/* how long a request waits for what the server copies or builds, where no request has a limit */
#define WAIT_MS 300000

void peer_run(struct server *s, struct peer *p, pid_t server, struct peer_ends ends)
{
	const struct tenon_rpc_server_options *o = &s->options;
	struct session_options session = {
		.packet_most = o->packet_most,
		.folder_most = o->folder_most,
		.memory_most = o->memory_most ? o->memory_most : UINT64_MAX,
		.cache = s->cache.most ? s->cache.path : NULL,
		.kernels = s->kernels,
		.wait_ms = o->request_ms ? o->request_ms / 2 : WAIT_MS,
		.native_code = o->native_code,
		.extension = p->extension,
	};
	struct session_watch *watch = p->watch;
	const char *folder = p->folder;
	struct connection *connection;
	int fd = p->fd, mounted = -1, err;

	/* a process group that seccomp keeps all its processes in, and no controlling terminal */
	setsid();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != server)
		_exit(1);
	reset_signals();
	descriptors_standard(ends.output);
	/* hostile sources may take over the compiler in a process that builds: it gets no watch */
	server_forget(s, p->builds ? -1 : fd);
	descriptors_keep((int[]){ fd, ends.limits, end_group_with_server(s->alive[0]) }, 3);
	server_options_close(s);
	be_first_to_go();
	if (o->sandbox)
		drop_variables();
	if (o->folder_in_memory) {
		mounted = session_folder_mount(folder, o->folder_most);
		if (mounted < 0)
			_exit(1);
	}
	use_folder(folder);
	/* without the filter, processes can leave the group: have them end with this one (server_sweep) */
	if (s->sweeps)
		prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (o->sandbox)
		enter_sandbox(s, folder, mounted, ends.limits);
	else
		close(ends.limits);
	if (p->builds) {
		kernel_store_build(s->cache.path, p->builds);
		_exit(0);
	}
	err = connection_of_fds(fd, fd, "the client", &connection);
	if (!err)
		err = session_run(connection, folder, &session, watch);
	/* The kernel releases everything; destructors of uploaded code do not run. */
	_exit(err ? 1 : 0);
}
