/* SPDX-License-Identifier: MIT */
/*
 * Processes that build kernels. They share a page that says which kernels are taken, and leave what
 * they build in the disk cache.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <tenon/prepare.h>

#include "tools/cli/progress.h"
#include "tools/device_option/target_list.h"
#include "tools/link_verb/link_load.h"
#include "tools/text/memory_stream.h"
#include "tools/warm/warm.h"

/* kernels after these are built by the first process */
#define KERNELS_MOST 65536

/**
 * struct share - memory of all processes
 * @total: kernels of the module; 0 until a process knows
 * @done: those that were built or failed; atomic, as the others
 * @failed: those that were not built
 * @building: processes that open the device to build
 * @reported: a process has written @message
 * @message: what it printed
 * @kernel: name of the kernel that each process builds; "" for none
 * @taken: for each kernel, the number of the process that builds or built it, plus 1; 0 for none.
 *	Where a driver builds whole programs, only for the first kernel of each.
 */
struct share {
	uint32_t total;
	uint32_t done;
	uint32_t failed;
	uint32_t building;
	uint32_t reported;
	char message[WARM_MESSAGE];
	char kernel[WARM_WORKERS_MOST][128];
	uint16_t taken[KERNELS_MOST];
};

struct worker {
	struct cli *cli;
	const struct warm *w;
	struct share *share;
	unsigned int number;
	unsigned int count;
	int go[2];   /* pipe: a byte for each process that is to build, besides the first */
	size_t seen; /* kernels that the preparation has finished or left out */
};

/* ---- a worker */

static bool take(void *context, size_t index, struct tenon_slice kernel)
{
	const struct worker *k = context;
	char *name = k->share->kernel[k->number];
	uint16_t none = 0;

	if (index >= KERNELS_MOST
		    ? k->number != 0
		    : !__atomic_compare_exchange_n(&k->share->taken[index], &none,
						   (uint16_t)(k->number + 1), false,
						   __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return false;
	/* Threads of the first process may overwrite each other's name. */
	snprintf(name, sizeof(k->share->kernel[0]), "%.*s", (int)kernel.size, kernel.data);
	return true;
}

/* Whether this process left a kernel, or the program that begins with it, to another one. */
static bool is_others(const struct worker *k, size_t index)
{
	uint16_t taken;

	if (index >= KERNELS_MOST)
		return k->number != 0;
	taken = __atomic_load_n(&k->share->taken[index], __ATOMIC_RELAXED);
	return taken && taken != k->number + 1;
}

/* A kernel was built, failed or was left out; or a whole program that failed or was left out. */
static void note(void *context, const struct tenon_prepare_progress *p)
{
	struct worker *k = context;
	const uint32_t count = (uint32_t)(p->done - k->seen);

	k->seen = p->done;
	__atomic_store_n(&k->share->total, (uint32_t)p->total, __ATOMIC_RELAXED);
	if (is_others(k, p->index))
		return;
	__atomic_add_fetch(&k->share->done, count, __ATOMIC_RELAXED);
	if (p->status)
		__atomic_add_fetch(&k->share->failed, count, __ATOMIC_RELAXED);
}

static bool is_serial(const struct tenon_device *device)
{
	return tenon_device_properties(device)->flags & TENON_DEVICE_SERIAL_BUILDS;
}

static int prepare(struct worker *k, struct tenon_device *device)
{
	const struct tenon_prepare how = {
		.size = sizeof(how),
		.threads = is_serial(device) ? 1 : k->w->jobs,
		.context = k,
		.choose = take,
		.progress = note,
	};
	struct tenon_module *m;
	int err;

	err = link_load(k->w->file, NULL, 0, &m);
	if (err)
		return cli_error(k->cli, cli_exit_of(err, CLI_NO_FILE));
	err = tenon_module_prepare(m, device, &how);
	k->share->kernel[k->number][0] = '\0';
	tenon_object_unref(m);
	if (!err)
		return CLI_OK;
	/* The device is there: what failed is a compiler. */
	return cli_error(k->cli,
			 err == -TENON_E_DEVICE ? CLI_FAILED : cli_exit_of(err, CLI_FAILED));
}

/* Let the other processes build too. */
static void start_others(const struct worker *k)
{
	unsigned int i;

	for (i = 1; i < k->count; i++)
		if (write(k->go[1], "", 1) != 1)
			break;
}

static int build(struct worker *k)
{
	struct tenon_device *device = NULL;
	int code;

	code = target_open(k->cli, k->w->device, &device);
	if (code || !device)
		return code;
	if (!k->number && is_serial(device))
		start_others(k);
	if (!k->number)
		close(k->go[1]);
	code = prepare(k, device);
	tenon_object_unref(device);
	tenon_device_close_all();
	return code;
}

static void leave_message(struct share *share, const char *text)
{
	uint32_t none = 0;

	if (*text && __atomic_compare_exchange_n(&share->reported, &none, 1, false,
						 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		snprintf(share->message, sizeof(share->message), "%s", text);
}

#define NO_MESSAGE "tenon: no memory for the messages of a process that builds kernels\n"

/* The first process decides whether the others are needed. */
static bool is_needed(const struct worker *k)
{
	char byte;
	ssize_t n;

	if (!k->number)
		return true;
	do
		n = read(k->go[0], &byte, 1);
	while (n < 0 && errno == EINTR);
	return n == 1;
}

static void worker_main(struct worker *k, pid_t parent)
{
	struct memory_stream said;
	int code = CLI_OK;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(CLI_FAILED);
	if (k->number)
		close(k->go[1]);
	if (memory_stream_open(&said)) {
		leave_message(k->share, NO_MESSAGE);
		_exit(CLI_FAILED);
	}
	k->cli->err = said.out;
	if (is_needed(k)) {
		__atomic_add_fetch(&k->share->building, 1, __ATOMIC_RELAXED);
		code = build(k);
	}
	leave_message(k->share, memory_stream_close(&said) ? NO_MESSAGE : said.text.data);
	_exit(code);
}

/* ---- the caller */

static void show(const struct warm *w, const struct share *share)
{
	uint32_t total = __atomic_load_n(&share->total, __ATOMIC_RELAXED);

	if (total)
		progress_say("building kernels for %s, %u of %u done", w->device,
			     __atomic_load_n(&share->done, __ATOMIC_RELAXED), total);
	else
		progress_say("opening %s", w->device);
}

/* Wait until a process ends. Return: its status, as waitpid() stores it; -1 if that is unknown. */
static int wait_for(const struct warm *w, const struct share *share, pid_t pid)
{
	const struct timespec moment = { 0, 20000000 };
	int status = 0;
	pid_t ended;

	while (!(ended = waitpid(pid, &status, WNOHANG)) || (ended < 0 && errno == EINTR)) {
		show(w, share);
		nanosleep(&moment, NULL);
	}
	return ended < 0 ? -1 : status;
}

/* The exit code of a process; explains a driver that ended it. */
static int judge(const struct warm *w, struct share *share, unsigned int number, int status)
{
	char text[512];

	if (status == -1) {
		leave_message(share, "tenon: it is not known how a process that built kernels "
				     "ended\n");
		return CLI_FAILED;
	}
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	share->kernel[number][sizeof(share->kernel[0]) - 1] = '\0';
	snprintf(text, sizeof(text), "tenon: the driver of %.200s ended with signal %d%s%s\n",
		 w->device, WTERMSIG(status),
		 share->kernel[number][0] ? " while it built kernel " : "", share->kernel[number]);
	leave_message(share, text);
	__atomic_add_fetch(&share->failed, 1, __ATOMIC_RELAXED);
	return CLI_FAILED;
}

static int start_all(struct worker *k, pid_t *pids)
{
	pid_t parent = getpid();
	unsigned int i;

	if (pipe2(k->go, O_CLOEXEC))
		return tenon_error(-TENON_E_IO, "pipe: %s", strerror(errno));
	/* Where the caller ignores SIGCHLD, the kernel keeps no status of processes that ended. */
	signal(SIGCHLD, SIG_DFL);
	fflush(k->cli->out);
	fflush(k->cli->err);
	for (i = 0; i < k->count; i++) {
		k->number = i;
		pids[i] = fork();
		if (!pids[i])
			worker_main(k, parent);
		if (pids[i] < 0)
			break;
	}
	close(k->go[0]);
	close(k->go[1]);
	k->count = i;
	return i ? 0 : tenon_error(-TENON_E_NOMEM, "no process: %s", strerror(errno));
}

int warm_build(struct cli *cli, struct warm *w)
{
	pid_t pids[WARM_WORKERS_MOST];
	struct worker k = { .cli = cli, .w = w, .count = w->jobs };
	unsigned int i;
	int code = 0, found;

	k.share = mmap(NULL, sizeof(*k.share), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	if (k.share == MAP_FAILED) {
		tenon_error(-TENON_E_NOMEM, "no shared memory: %s", strerror(errno));
		return cli_error(cli, CLI_FAILED);
	}
	if (start_all(&k, pids)) {
		munmap(k.share, sizeof(*k.share));
		return cli_error(cli, CLI_FAILED);
	}
	if (progress_start(0, cli->err == stderr && isatty(STDERR_FILENO)))
		tenon_error_clear();
	for (i = 0; i < k.count; i++) {
		found = judge(w, k.share, i, wait_for(w, k.share, pids[i]));
		code = code ? code : found;
	}
	progress_stop();
	w->kernels = k.share->total;
	w->failed = k.share->failed;
	memcpy(w->message, k.share->message, sizeof(w->message));
	w->message[sizeof(w->message) - 1] = '\0';
	w->processes = k.share->building;
	munmap(k.share, sizeof(*k.share));
	return code;
}
