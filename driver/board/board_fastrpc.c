/* SPDX-License-Identifier: MIT */
/*
 * A board on a Hexagon DSP behind the kernel's FastRPC. Its window is a buffer that both map; a thread calls the library
 * with the firmware, in an unsigned process on the DSP, and the call returns when the firmware ends. Both sides poll: no
 * doorbell reaches a process on a DSP, and no interrupt comes back.
 */
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>
#include <tenon/error.h>
#include <tenon/uapi/mortise_dsp.h>
#include <tenon/uapi/mortise_order.h>
#include <time.h>

#include "driver/board/board_private.h"
#include "driver/fastrpc/fastrpc.h"
#include "lib/brief_errors.h"
#include "lib/clock.h"

#define DEFAULT_DSP "cdsp"
#define PAUSE_NS    1000000
#define BOOT_NS	    UINT64_C(30000000000)
#define STOP_NS	    UINT64_C(10000000000)
#define LEAVE_NS    UINT64_C(200000000)

struct board_fastrpc_source board_fastrpc_source = { NULL, "", STOP_NS, LEAVE_NS };

/**
 * struct dsp - a session
 * @session: with a process on the DSP; the thread uses it
 * @buffer: the window, and a page with struct mortise_dsp_end
 * @address: the DSP's address of the window
 * @thread: waits for the firmware to end
 * @runs: there is a thread, and nobody ended it yet
 * @asked_at: when the firmware was told to end; 0 before
 * @stuck: the firmware did not end in time: the thread goes on using all of this
 * @ended: the thread has written @status and @why
 * @status: why it ended
 * @why: the same for people
 * @lock: guards @runs, @asked_at and @stuck
 */
struct dsp {
	struct fastrpc session;
	struct dmabuf buffer;
	uint64_t address;
	pthread_t thread;
	bool runs;
	uint64_t asked_at;
	bool stuck;
	bool ended;
	int status;
	char why[400];
	pthread_mutex_t lock;
};

static int open_node(const char *place, struct fastrpc *out)
{
	return fastrpc_open(board_fastrpc_source.calls, board_fastrpc_source.root,
			    place ? place + 1 : DEFAULT_DSP, out);
}

static int find_shell(const struct fastrpc *f, char shell[PATH_MAX])
{
	return fastrpc_find_shell(f, board_fastrpc_source.root, shell, PATH_MAX);
}

static struct mortise_dsp_end *end_of(const struct dsp *d)
{
	return (void *)((uint8_t *)d->buffer.base + MORTISE_DSP_WINDOW);
}

/* ---- the call that runs the firmware */

/* Run the firmware until it ends. Return: a negative status, always: a firmware does not end by itself. */
static int run_firmware(struct dsp *d)
{
	const struct mortise_dsp_run run = { (uint32_t)d->address, MORTISE_DSP_WINDOW };
	const struct fastrpc_argument argument = { (void *)(uintptr_t)&run, sizeof(run), -1 };
	struct fastrpc_call call = { 0, MORTISE_DSP_RUN, &argument, 1, 0 };
	int32_t result = 0;
	int err = fastrpc_open_library(&d->session, MORTISE_DSP_LIBRARY, &call.handle);

	if (!err)
		err = fastrpc_invoke(&d->session, &call, &result);
	if (err)
		return err;
	if (result)
		return tenon_error(-TENON_E_DEVICE, "%s: the firmware ended with status 0x%x",
				   d->session.path, (unsigned int)result);
	return tenon_error(-TENON_E_LOST, "%s: the firmware ended", d->session.path);
}

static void *await_end(void *arg)
{
	struct dsp *d = arg;

	d->status = run_firmware(d);
	snprintf(d->why, sizeof(d->why), "%s", tenon_error_message());
	tenon_error_clear();
	__atomic_store_n(&d->ended, true, __ATOMIC_RELEASE);
	return NULL;
}

/* Signals belong to the program: its handlers never run on this thread. */
static int start_thread(struct dsp *d)
{
	sigset_t all, old;
	int err;

	d->ended = false;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&d->thread, NULL, await_end, d);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	d->runs = !err;
	if (err) {
		d->status = -TENON_E_NOMEM;
		snprintf(d->why, sizeof(d->why), "no thread for the DSP");
		d->ended = true;
	}
	return err ? tenon_error(-TENON_E_NOMEM, "no thread for a DSP: %s", strerror(err)) : 0;
}

static bool has_ended(const struct dsp *d)
{
	return __atomic_load_n(&d->ended, __ATOMIC_ACQUIRE);
}

/* Wait until the firmware has ended. With the lock. */
static void await_until(struct dsp *d, uint64_t until)
{
	const struct timespec pause = { 0, PAUSE_NS };

	while (!has_ended(d) && clock_now() < until)
		nanosleep(&pause, NULL);
	if (has_ended(d)) {
		pthread_join(d->thread, NULL);
		d->runs = false;
	}
}

/*
 * Tell the firmware to end, wait for that until @wait_ns have passed since it was first told, and end its process. With
 * the lock.
 *
 * Return: whether there is no firmware any more.
 */
static bool try_to_end(struct dsp *d, uint64_t wait_ns)
{
	if (d->runs) {
		if (!d->asked_at) {
			d->asked_at = clock_now();
			mortise_release(&end_of(d)->end, 1);
		}
		await_until(d, d->asked_at + wait_ns);
	}
	if (!d->runs && !d->stuck)
		fastrpc_close(&d->session);
	return !d->runs;
}

/* Tell the firmware to end, and end its process. A function on the DSP that does not return keeps both. */
static void end_session(struct dsp *d)
{
	pthread_mutex_lock(&d->lock);
	if (!try_to_end(d, board_fastrpc_source.stop_ns)) {
		d->runs = false;
		d->stuck = true;
		pthread_detach(d->thread);
	}
	pthread_mutex_unlock(&d->lock);
}

/* ---- begin */

static int create_process(struct dsp *d)
{
	char shell[PATH_MAX];
	int err = find_shell(&d->session, shell);

	return err ? err : fastrpc_create(&d->session, shell);
}

/* The kernel allocates it coherent, so accesses of the CPU need no brackets. It outlives the session that it is of. */
static int allocate(struct board *board)
{
	struct dsp *d = board->state;
	int err = fastrpc_allocate(&d->session, MORTISE_DSP_WINDOW + sizeof(struct mortise_dsp_end),
				   &d->buffer);

	if (!err)
		err = dmabuf_map(&d->buffer);
	if (err)
		return err;
	board->memory = (struct shm){ d->buffer.base, MORTISE_DSP_WINDOW, -1 };
	return 0;
}

static int map(struct dsp *d)
{
	int err = fastrpc_map(&d->session, &d->buffer, &d->address);

	if (err || d->address <= UINT32_MAX - d->buffer.size)
		return err;
	return tenon_error(-TENON_E_DEVICE,
			   "%s: the DSP has the buffer at 0x%" PRIx64 ", where its cores of 32 "
			   "bits reach none",
			   d->session.path, d->address);
}

static int await_firmware(struct board *board, uint64_t until)
{
	const struct mortise_identity *identity =
		(const void *)(board->memory.base + MORTISE_CONTROL_OFFSET);
	const struct timespec pause = { 0, PAUSE_NS };
	uint64_t size;
	struct dsp *d = board->state;
	int err;

	while (mortise_load(&identity->magic) != MORTISE_MAGIC) {
		if (has_ended(d))
			return tenon_error(d->status, "%s", d->why);
		if (clock_now() >= until)
			return tenon_error(-TENON_E_TIMEOUT,
					   "%s: the DSP has not loaded the firmware; its loader "
					   "searches the file of " MORTISE_DSP_LIBRARY,
					   board->name);
		nanosleep(&pause, NULL);
	}
	err = board_read_window(board, &size);
	if (!err && (board->address != d->address || size != MORTISE_DSP_WINDOW))
		err = tenon_error(-TENON_E_DEVICE,
				  "%s: the firmware has %" PRIu64 " bytes at 0x%" PRIx64
				  ", not the buffer at 0x%" PRIx64,
				  board->name, size, board->address, d->address);
	return err;
}

/* @until: when the firmware has to be there */
static int begin_session(struct board *board, uint64_t until)
{
	struct dsp *d = board->state;
	int err = open_node(strchr(board->name, '/'), &d->session);

	if (!err && !d->buffer.base)
		err = allocate(board);
	if (!err)
		err = create_process(d);
	if (!err)
		err = map(d);
	if (err)
		return err;
	/* the firmware's memory and the control block are as after power-on */
	memset(board->memory.base, 0, MORTISE_SHARED_OFFSET);
	mortise_put(&end_of(d)->end, 0);
	d->asked_at = 0;
	err = start_thread(d);
	return err ? err : await_firmware(board, until);
}

static int start_until(struct board *board, uint64_t until)
{
	struct dsp *d = calloc(1, sizeof(*d));
	int err;

	if (!d)
		return tenon_error(-TENON_E_NOMEM, "no memory for a board");
	d->session = (struct fastrpc){ .calls = system_calls_or_kernel(NULL), .fd = -1 };
	dmabuf_adopt(board_fastrpc_source.calls, -1, 0, &d->buffer);
	pthread_mutex_init(&d->lock, NULL);
	board->state = d;
	board->port = (struct ring_port){ board, NULL, NULL };
	err = begin_session(board, until);
	if (err)
		end_session(d);
	return err;
}

static int start(struct board *board)
{
	return start_until(board, clock_now() + BOOT_NS);
}

static int attach(struct board *board, const struct board_place *place)
{
	return start_until(board, place->deadline ? place->deadline : clock_now() + BOOT_NS);
}

/* ---- the other slots */

static int check_stuck(const struct board *board)
{
	const struct dsp *d = board->state;

	if (!d->stuck)
		return 0;
	return tenon_error(
		-TENON_E_TIMEOUT,
		"%s: the DSP runs a function that does not return; its process ends with "
		"this one",
		board->name);
}

/* The ring and what was loaded have the DSP's address of the buffer, so it must be the same again. */
static int restart(struct board *board)
{
	struct dsp *d = board->state;
	const uint64_t address = d->address;
	int err;

	end_session(d);
	err = check_stuck(board);
	if (err)
		return err;
	err = begin_session(board, clock_now() + BOOT_NS);
	if (!err && d->address != address)
		err = tenon_error(-TENON_E_LOST,
				  "%s: the DSP has the buffer at 0x%" PRIx64
				  ", and had it at 0x%" PRIx64 "; open the device again",
				  board->name, d->address, address);
	if (err)
		end_session(d);
	return err;
}

static int stop(struct board *board)
{
	struct dsp *d = board->state;

	end_session(d);
	/* without words: those of what failed before stay */
	if (d->stuck)
		return -TENON_E_TIMEOUT;
	board->memory = (struct shm)SHM_INIT;
	dmabuf_close(&d->buffer);
	pthread_mutex_destroy(&d->lock);
	free(d);
	return 0;
}

static int alive(struct board *board)
{
	const struct dsp *d = board->state;

	return has_ended(d) ? tenon_error(-TENON_E_LOST, "%s: %s", board->name, d->why) : 0;
}

static int inject(struct board *board, enum board_fault fault)
{
	return tenon_error(-TENON_E_UNSUPPORTED, "%s: fault %d", board->name, fault);
}

/* The mapping is not inherited, and the parent's descriptors keep the process on the DSP. */
static void forget(struct board *board)
{
	struct dsp *d = board->state;

	board->memory = (struct shm)SHM_INIT;
	d->buffer.base = NULL;
	dmabuf_close(&d->buffer);
	fastrpc_close(&d->session);
	free(d);
}

/* Another session begins next: the DSP has few. */
static void halt(struct board *board)
{
	end_session(board->state);
}

/*
 * The thread that finds the loss calls this, and it may be the program's. A firmware that is silent may never end, so
 * halt(), a reset, or the board's close, waits for the rest. If another thread ends the session already, there is nothing
 * to do.
 */
static void leave(struct board *board)
{
	struct dsp *d = board->state;

	if (pthread_mutex_trylock(&d->lock))
		return;
	(void)try_to_end(d, board_fastrpc_source.leave_ns);
	pthread_mutex_unlock(&d->lock);
}

/* ---- what there is */

static int find_dsp(struct fastrpc *out)
{
	return fastrpc_find(board_fastrpc_source.calls, board_fastrpc_source.root, DEFAULT_DSP,
			    out);
}

int board_fastrpc_ready(const struct board_kind *kind)
{
	char shell[PATH_MAX];
	struct fastrpc f;
	int err = find_dsp(&f);

	return err ? err : find_shell(&f, shell);
}

/* Most machines have no DSP, which is no finding. */
static int describe_fastrpc(const struct board_kind *kind, struct tenon_buffer *out)
{
	char shell[PATH_MAX];
	struct fastrpc f;
	int err = find_dsp(&f);

	if (err == -TENON_E_NOT_FOUND) {
		tenon_error_clear();
		return 0;
	}
	if (!err)
		err = find_shell(&f, shell);
	if (!err)
		tenon_buffer_printf(out, "%s: %s, %s\n", kind->name, f.path, shell);
	if (err == -TENON_E_NOMEM || !err)
		return err ? err : out->status;
	tenon_buffer_printf(out, "%s: %s\n", kind->name, tenon_error_message());
	tenon_error_clear();
	return out->status;
}

const struct board_ops board_fastrpc_ops = {
	.describe = describe_fastrpc,
	.start = start,
	.attach = attach,
	.restart = restart,
	.stop = stop,
	.alive = alive,
	.inject = inject,
	.halt = halt,
	.forget = forget,
	.leave = leave,
};
