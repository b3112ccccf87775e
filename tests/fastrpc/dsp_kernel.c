/* SPDX-License-Identifier: MIT */
/* A fake of the kernel's FastRPC: each process on the DSP is a process of qemu-hexagon that loads the firmware's library. */
#include "tests/fastrpc/dsp_kernel.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver/board/board_private.h"
#include "driver/board/qemu_process.h"
#include "driver/dmabuf/dmabuf_uapi.h"
#include "driver/fastrpc/fastrpc_uapi.h"
#include "tests/driver/tree.h"
#include "tests/fastrpc/dsp_process.h"

#define SESSIONS_MOST 32
/* a page of the emulated process */
#define PAGE 65536U

struct dsp_kernel dsp_kernel;

/* an open node; @owner: children of fork() have copies of the descriptor alone */
struct session {
	int fd;
	pid_t owner;
	bool has_process;
	struct qemu_process process;
};

static struct session sessions[SESSIONS_MOST];
static struct session *last;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int refuse(int error)
{
	errno = error;
	return -1;
}

static struct session *session_of(int fd)
{
	struct session *found = NULL;
	size_t i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < SESSIONS_MOST && !found; i++)
		if (sessions[i].owner == getpid() && sessions[i].fd == fd)
			found = &sessions[i];
	pthread_mutex_unlock(&lock);
	return found;
}

static int fake_open(const char *path, int flags)
{
	int fd = system_calls_of_kernel.open(path, flags);
	size_t i = 0;

	if (fd < 0 || !strstr(path, "/dev/fastrpc-"))
		return fd;
	pthread_mutex_lock(&lock);
	while (i < SESSIONS_MOST && sessions[i].owner == getpid())
		i++;
	if (i < SESSIONS_MOST) {
		sessions[i] = (struct session){ .fd = fd, .owner = getpid() };
		dsp_kernel.opened++;
	}
	pthread_mutex_unlock(&lock);
	if (i < SESSIONS_MOST)
		return fd;
	close(fd);
	return refuse(EBUSY);
}

/* A session ends with its process and its maps. */
static int fake_close(int fd)
{
	struct session *s = session_of(fd);

	if (s && s->has_process) {
		qemu_process_stop(&s->process);
		__atomic_sub_fetch(&dsp_kernel.processes, 1, __ATOMIC_RELAXED);
	}
	pthread_mutex_lock(&lock);
	if (s)
		*s = (struct session){ .fd = -1 };
	pthread_mutex_unlock(&lock);
	return system_calls_of_kernel.close(fd);
}

static int allocate(struct fastrpc_uapi_buffer *b)
{
	b->fd = memfd_create("dma-buf", MFD_CLOEXEC);
	return b->fd < 0 || ftruncate(b->fd, (off_t)((b->size + PAGE - 1) / PAGE * PAGE)) ? -1 : 0;
}

/* ---- the process */

static int create(struct session *s, const struct fastrpc_uapi_create *c)
{
	const char *libraries =
		dsp_kernel.libraries ? dsp_kernel.libraries : getenv("TENON_FIRMWARE_PATH");
	char folder[1024], program[1024];
	const char *const words[] = { "env", "-C", folder, "qemu-hexagon", program, NULL };
	struct stat st;
	char begin[4];

	if (s->has_process)
		return refuse(EEXIST);
	if (c->attributes != FASTRPC_UAPI_UNSIGNED || c->signature_size || !c->program ||
	    fstat(c->fd, &st) || st.st_size < (off_t)c->size ||
	    pread(c->fd, begin, sizeof(begin), 0) != sizeof(begin) ||
	    memcmp(begin, "\177ELF", sizeof(begin)))
		return refuse(EINVAL);
	snprintf(folder, sizeof(folder), "%.*s", (int)strcspn(libraries, ":"), libraries);
	snprintf(program, sizeof(program), "%s/tests/fastrpc/dsp_process.elf",
		 getenv("TENON_BUILD"));
	if (qemu_process_start(words, c->fd, &s->process))
		return refuse(EIO);
	s->has_process = true;
	last = s;
	__atomic_add_fetch(&dsp_kernel.processes, 1, __ATOMIC_RELAXED);
	return 0;
}

static bool send_all(int fd, const void *bytes, size_t size)
{
	return !size || send(fd, bytes, size, MSG_NOSIGNAL) == (ssize_t)size;
}

static bool receive_all(int fd, void *bytes, size_t size)
{
	return !size || recv(fd, bytes, size, MSG_WAITALL) == (ssize_t)size;
}

static size_t padded(uint32_t size)
{
	return (size + 7U) & ~7U;
}

/* A request and its answer. A process that ended is a DSP that restarted. */
static int exchange(struct session *s, const struct dsp_request *r, uint32_t inputs,
		    const struct fastrpc_uapi_argument *a, uint32_t *result)
{
	uint8_t in[DSP_BYTES_MOST] = { 0 }, out[DSP_BYTES_MOST];
	struct dsp_answer answer;
	size_t in_size = 0, out_size = 0, i;

	for (i = 0; i < DSP_ARGUMENTS_MOST; i++) {
		if (in_size + out_size + padded(r->sizes[i]) > DSP_BYTES_MOST)
			return refuse(E2BIG);
		if (i < inputs && r->sizes[i])
			memcpy(in + in_size, (const void *)(uintptr_t)a[i].pointer, r->sizes[i]);
		*(i < inputs ? &in_size : &out_size) += padded(r->sizes[i]);
	}
	if (!send_all(s->process.uart, r, sizeof(*r)) || !send_all(s->process.uart, in, in_size) ||
	    !receive_all(s->process.uart, &answer, sizeof(answer)) ||
	    !receive_all(s->process.uart, out, out_size))
		return refuse(ECONNRESET);
	for (i = inputs, out_size = 0; i < DSP_ARGUMENTS_MOST; i++) {
		if (r->sizes[i])
			memcpy((void *)(uintptr_t)a[i].pointer, out + out_size, r->sizes[i]);
		out_size += padded(r->sizes[i]);
	}
	*result = answer.result;
	return 0;
}

static int invoke(struct session *s, const struct fastrpc_uapi_invoke *call)
{
	const struct fastrpc_uapi_argument *a = (const void *)(uintptr_t)call->arguments;
	uint32_t inputs = call->scalars >> 16 & 0xff, outputs = call->scalars >> 8 & 0xff, i;
	struct dsp_request r = { DSP_CALL, call->handle, call->scalars, { 0 } };
	uint32_t result;

	/* handle 1 is the kernel's own */
	if (!s->has_process || call->handle == 1 || call->scalars & 0xff ||
	    inputs + outputs > DSP_ARGUMENTS_MOST)
		return refuse(call->handle == 1 ? EPERM : EINVAL);
	for (i = 0; i < inputs + outputs; i++)
		r.sizes[i] = (uint32_t)a[i].size;
	return exchange(s, &r, inputs, a, &result) ? -1 : (int)result;
}

static int map(struct session *s, struct fastrpc_uapi_map *m)
{
	char path[64];
	struct fastrpc_uapi_argument argument = { (uintptr_t)path, 0, -1, 0 };
	struct dsp_request r = { DSP_MAP, 0, (uint32_t)(m->size + PAGE - 1) / PAGE * PAGE, { 0 } };
	uint32_t address;

	if (!s->has_process || m->flags != FASTRPC_UAPI_MAP_FD)
		return refuse(EINVAL);
	r.sizes[0] =
		(uint32_t)snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), m->fd) + 1;
	if (exchange(s, &r, 1, &argument, &address))
		return -1;
	m->dsp_address = dsp_kernel.map_address ? dsp_kernel.map_address : address;
	return address ? 0 : refuse(ENOMEM);
}

static int fake_ioctl(int fd, unsigned long request, void *argument)
{
	struct session *s = session_of(fd);

	if (request == DMABUF_UAPI_SYNC)
		return 0;
	if (!s)
		return refuse(ENOTTY);
	switch (request) {
	case FASTRPC_UAPI_ALLOCATE:
		return allocate(argument);
	case FASTRPC_UAPI_CREATE:
		return create(s, argument);
	case FASTRPC_UAPI_INVOKE:
		return invoke(s, argument);
	case FASTRPC_UAPI_MAP:
		return map(s, argument);
	}
	return refuse(ENOTTY);
}

/* ---- for tests */

struct system_calls dsp_calls;

static pid_t owner;

static void clean_up(void)
{
	if (getpid() == owner)
		tree_teardown(NULL);
}

static const char *missing(void)
{
	static char why[1200];
	const char *build = getenv("TENON_BUILD"), *firmware = getenv("TENON_FIRMWARE_PATH"),
		   *emulator = getenv("EMULATOR");

	if (emulator && *emulator)
		return "this program is emulated itself";
	if (!build || !firmware)
		return "TENON_BUILD is not set: run it with \"make check\"";
	snprintf(why, sizeof(why), "%s/tests/fastrpc/dsp_process.elf", build);
	if (access(why, R_OK))
		return "no compiler made the fake process of the DSP (Debian: clang, lld)";
	if (system("command -v qemu-hexagon > /dev/null"))
		return "qemu-hexagon is not found in PATH (Debian: qemu-user)";
	return NULL;
}

const char *dsp_kernel_start(void)
{
	char shell[64] = "\177ELF\1\1\1";
	const char *why = missing();

	if (why)
		return why;
	memset(shell + 7, '.', sizeof(shell) - 8);
	if (tree_setup(NULL))
		return "no folder for the fake";
	owner = getpid();
	atexit(clean_up);
	unsetenv("ADSP_LIBRARY_PATH");
	tree_zeroes(DSP_NODE, 0);
	tree_text(DSP_SHELL, shell);
	dsp_calls = system_calls_of_kernel;
	dsp_calls.open = fake_open;
	dsp_calls.close = fake_close;
	dsp_calls.ioctl = fake_ioctl;
	return NULL;
}

const char *dsp_kernel_use(void)
{
	const char *why = dsp_kernel_start();

	board_fastrpc_source =
		(struct board_fastrpc_source){ &dsp_calls, tree, UINT64_C(60000000000),
					       UINT64_C(200000000) };
	return why;
}

void dsp_kernel_signal(int signal)
{
	qemu_process_signal(&last->process, signal);
	if (signal == SIGSTOP)
		qemu_process_await_stop(&last->process);
}
