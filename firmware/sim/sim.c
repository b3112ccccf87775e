/* SPDX-License-Identifier: MIT */
/* The port of mortise to a thread: doorbell and interrupt by eventfds. */
#include "firmware/sim/sim.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/error.h>
#include <unistd.h>

#include "firmware/core/mortise.h"
#include "lib/brief_errors.h"
#include "lib/clock.h"
#include "lib/fence_fd.h"

#define IDLE_POLLS   4000
#define STOP_SECONDS 1

enum run { RUN, FREEZE, KILL };

/**
 * struct sim - a simulated board
 * @m: the firmware; first, so that a port finds its board
 * @port: the board as the firmware sees it
 * @thread: runs the firmware
 * @doorbell: eventfd that wakes the firmware
 * @interrupt: eventfd that wakes the host
 * @look_ns: as in sim_start()
 * @run: enum run
 * @parked: the thread stands still
 * @lock: guards @run and @parked for @changed
 * @ended: the thread is behind the loop
 */
struct sim {
	struct mortise m;
	struct mortise_port port;
	pthread_t thread;
	int doorbell;
	int interrupt;
	uint64_t look_ns;
	uint32_t run;
	bool parked;
	bool ended;
	pthread_mutex_t lock;
	pthread_cond_t changed;
};

static struct sim *sim_of(struct mortise *m)
{
	return (struct sim *)m;
}

static void signal_fd(int fd)
{
	fence_eventfd_signal(fd, 0);
}

/* Wait for a signal and take it; false when there was none. */
static bool await_fd(int fd, uint64_t deadline)
{
	uint64_t counter;

	/* the read fails when another thread took it */
	return fence_fd_wait(fd, deadline) && read(fd, &counter, sizeof(counter)) >= 0;
}

/* ---- the port */

static uint64_t port_ticks(struct mortise *m)
{
	return clock_now();
}

static void port_sleep(struct mortise *m)
{
	struct sim *sim = sim_of(m);
	uint64_t until;

	do
		until = sim->look_ns ? clock_now() + sim->look_ns : UINT64_MAX;
	while (!await_fd(sim->doorbell, until) && !mortise_has_work(m));
}

static void port_interrupt(struct mortise *m)
{
	signal_fd(sim_of(m)->interrupt);
}

/* x86 needs nothing; elsewhere the loader has cleared the cache of what it wrote */
static void port_fence_code(void)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static void port_relax(struct mortise *m)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#endif
}

static bool port_ended(struct mortise *m)
{
	struct sim *sim = sim_of(m);
	uint32_t run = __atomic_load_n(&sim->run, __ATOMIC_ACQUIRE);

	if (run == FREEZE) {
		pthread_mutex_lock(&sim->lock);
		sim->parked = true;
		pthread_cond_broadcast(&sim->changed);
		while (sim->run == FREEZE)
			pthread_cond_wait(&sim->changed, &sim->lock);
		sim->parked = false;
		run = sim->run;
		pthread_mutex_unlock(&sim->lock);
	}
	return run == KILL;
}

static void set_run(struct sim *sim, uint32_t run)
{
	pthread_mutex_lock(&sim->lock);
	if (sim->run != KILL)
		__atomic_store_n(&sim->run, run, __ATOMIC_RELEASE);
	pthread_cond_broadcast(&sim->changed);
	pthread_mutex_unlock(&sim->lock);
	signal_fd(sim->doorbell);
}

static void port_stop(struct mortise *m)
{
	set_run(sim_of(m), KILL);
}

static uint32_t machine(void)
{
#if defined(__x86_64__)
	return MORTISE_MACHINE_X86_64;
#elif defined(__aarch64__)
	return MORTISE_MACHINE_AARCH64;
#elif defined(__arm__)
	return MORTISE_MACHINE_ARM;
#elif defined(__riscv)
	return MORTISE_MACHINE_RISCV;
#else
	return 0;
#endif
}

static void describe_window(struct mortise_port *port, void *window, size_t size)
{
	*port = (struct mortise_port){
		.machine = machine(),
		.features = MORTISE_FEATURE_CALL | MORTISE_FEATURE_DOORBELL |
			    MORTISE_FEATURE_INTERRUPT | MORTISE_FEATURE_TIMESTAMP,
		.tick_hz = 1000000000,
		.idle_polls = IDLE_POLLS,
		.window_address = (uintptr_t)window,
		.window_size = size,
		.ticks = port_ticks,
		.sleep = port_sleep,
		.interrupt = port_interrupt,
		.fence_code = port_fence_code,
		.relax = port_relax,
		.ended = port_ended,
		.stop = port_stop,
	};
}

static void *run_firmware(void *arg)
{
	struct sim *sim = arg;

	mortise_boot(&sim->m, &sim->port);
	mortise_loop(&sim->m);
	pthread_mutex_lock(&sim->lock);
	sim->ended = true;
	pthread_cond_broadcast(&sim->changed);
	pthread_mutex_unlock(&sim->lock);
	return NULL;
}

/* ---- for the host */

void sim_doorbell(struct sim *sim)
{
	signal_fd(sim->doorbell);
}

void sim_await_interrupt(struct sim *sim, uint64_t deadline)
{
	await_fd(sim->interrupt, deadline);
}

/* Wait until the thread has said something, or is inside a function for too long. */
static void await_thread(struct sim *sim, const bool *said)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += STOP_SECONDS;
	pthread_mutex_lock(&sim->lock);
	while (!*said && !sim->ended && !pthread_cond_timedwait(&sim->changed, &sim->lock, &until))
		;
	pthread_mutex_unlock(&sim->lock);
}

void sim_freeze(struct sim *sim, bool frozen)
{
	set_run(sim, frozen ? FREEZE : RUN);
	if (frozen)
		await_thread(sim, &sim->parked);
}

void sim_kill(struct sim *sim)
{
	set_run(sim, KILL);
	await_thread(sim, &sim->ended);
}

bool sim_is_running(struct sim *sim)
{
	return __atomic_load_n(&sim->run, __ATOMIC_ACQUIRE) != KILL;
}

/* Signals belong to the program: its handlers never run on the firmware's thread. */
static int start_thread(struct sim *sim)
{
	sigset_t all, old;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&sim->thread, NULL, run_firmware, sim);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return err ? tenon_error(-TENON_E_NOMEM, "no thread for the simulator: %s", strerror(err))
		   : 0;
}

static void release(struct sim *sim)
{
	if (sim->doorbell >= 0)
		close(sim->doorbell);
	if (sim->interrupt >= 0)
		close(sim->interrupt);
	pthread_cond_destroy(&sim->changed);
	pthread_mutex_destroy(&sim->lock);
	free(sim);
}

int sim_start(void *window, size_t size, uint64_t look_ns, struct sim **out)
{
	struct sim *sim = calloc(1, sizeof(*sim));
	int err;

	*out = NULL;
	if (!sim)
		return tenon_error(-TENON_E_NOMEM, "no memory for a simulator");
	pthread_mutex_init(&sim->lock, NULL);
	pthread_cond_init(&sim->changed, NULL);
	describe_window(&sim->port, window, size);
	sim->look_ns = look_ns;
	sim->interrupt = -1;
	sim->doorbell = fence_eventfd_create();
	if (sim->doorbell >= 0)
		sim->interrupt = fence_eventfd_create();
	err = sim->interrupt < 0 ? -TENON_E_IO : start_thread(sim);
	if (err) {
		release(sim);
		return err;
	}
	*out = sim;
	return 0;
}

int sim_stop(struct sim *sim)
{
	struct timespec until;

	sim_kill(sim);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += STOP_SECONDS;
	if (pthread_timedjoin_np(sim->thread, NULL, &until)) {
		pthread_detach(sim->thread);
		return tenon_error(
			-TENON_E_TIMEOUT,
			"the simulator's thread is inside a function that does not return");
	}
	release(sim);
	return 0;
}

void sim_forget(struct sim *sim)
{
	close(sim->doorbell);
	close(sim->interrupt);
	free(sim);
}
