/* SPDX-License-Identifier: MIT */
/* Build the kernels of many executables on several threads; report progress, and stop on request. */
#include "runtime/device/device_prepare.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "lib/brief_errors.h"
#include "lib/options.h"
#include "runtime/core/processors.h"
#include "runtime/device/device_core.h"

/* Compilers recurse; a C library may give threads less. */
#define STACK_SIZE ((size_t)8 << 20)

/**
 * struct unit - an executable
 * @executable: held (executable_hold())
 * @first: number of its first kernel among all
 * @next: next kernel to build
 * @whole: its backend builds for one thread at a time
 * @busy: a thread builds, and @whole is set
 */
struct unit {
	struct tenon_executable *executable;
	size_t first;
	size_t next;
	bool whole;
	bool busy;
};

/* @lock protects all that changes, except what @reporting protects: @done, @status and @failure. */
struct tenon_preparation {
	struct tenon_object object;
	struct tenon_prepare how;
	uint32_t forks; /* device_forks when it was made */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool stop;
	size_t working; /* threads that build */
	pthread_mutex_t reporting;
	size_t done, total;
	int status;
	struct tenon_error *failure;
	pthread_t *threads;
	size_t thread_count;
	size_t unit_count;
	struct unit units[];
};

static size_t kernels_of(const struct unit *u)
{
	return u->executable->program->kernel_count;
}

/* ---- one kernel */

static void report(struct tenon_preparation *p, const struct unit *u, size_t index, size_t count,
		   int status)
{
	struct tenon_prepare_progress progress = { .index = u->first + index, .status = status };

	pthread_mutex_lock(&p->reporting);
	p->done += count;
	progress.done = p->done;
	progress.total = p->total;
	progress.kernel = u->executable->program->kernels[index].name;
	if (p->how.progress)
		p->how.progress(p->how.context, &progress);
	if (status && !p->status) {
		p->status = status;
		p->failure = tenon_error_take();
	}
	pthread_mutex_unlock(&p->reporting);
	tenon_error_clear();
}

static bool is_chosen(const struct tenon_preparation *p, const struct unit *u, size_t index)
{
	if (!p->how.choose || (u->whole && index))
		return true;
	return p->how.choose(p->how.context, u->first + index,
			     u->executable->program->kernels[index].name);
}

/*
 * Build a kernel and report it. Returns how many kernels that finishes: all if they are one program
 * that is not chosen or does not build.
 */
static size_t make(struct tenon_preparation *p, const struct unit *u, size_t index)
{
	size_t finished = 1;
	int err = 0;
	bool chosen = is_chosen(p, u, index);

	if (chosen)
		err = executable_prepare(u->executable, index);
	if (u->whole && (!chosen || err))
		finished = kernels_of(u) - index;
	report(p, u, index, finished, err);
	if (err == -TENON_E_LOST) {
		pthread_mutex_lock(&p->lock);
		p->stop = true;
		pthread_mutex_unlock(&p->lock);
	}
	return finished;
}

/* ---- threads */

enum picked { PICKED, PICK_LATER, NONE_LEFT };

/* Take the next kernel that no thread builds. Caller holds the lock. */
static enum picked pick(struct tenon_preparation *p, struct unit **unit, size_t *index)
{
	enum picked result = NONE_LEFT;
	struct unit *u;

	for (u = p->units; u < p->units + p->unit_count; u++) {
		if (u->next < kernels_of(u) && !u->busy && executable_is_dropped(u->executable))
			u->next = kernels_of(u);
		if (u->next >= kernels_of(u))
			continue;
		if (u->busy) {
			result = PICK_LATER;
			continue;
		}
		*unit = u;
		*index = u->next++;
		u->busy = u->whole;
		return PICKED;
	}
	return result;
}

/* Build kernels until none is left. Caller holds the lock. */
static void work(struct tenon_preparation *p)
{
	struct unit *u = NULL;
	size_t index = 0, finished;
	enum picked picked;

	while (!p->stop && (picked = pick(p, &u, &index)) != NONE_LEFT) {
		if (picked == PICK_LATER) {
			pthread_cond_wait(&p->changed, &p->lock);
			continue;
		}
		pthread_mutex_unlock(&p->lock);
		finished = make(p, u, index);
		pthread_mutex_lock(&p->lock);
		u->busy = false;
		if (u->whole)
			u->next = index + finished;
		pthread_cond_broadcast(&p->changed);
	}
}

static void *worker_main(void *context)
{
	struct tenon_preparation *p = context;

	prctl(PR_SET_NAME, "tenon-kernels");
	pthread_mutex_lock(&p->lock);
	work(p);
	p->working--;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

void preparation_help(struct tenon_preparation *p)
{
	pthread_mutex_lock(&p->lock);
	work(p);
	pthread_mutex_unlock(&p->lock);
}

/* As many threads as can build at a time. */
static size_t threads_wanted(const struct tenon_preparation *p)
{
	size_t most = p->how.threads, tasks = 0, i;
	const struct tenon_device *device;

	for (i = 0; i < p->unit_count; i++)
		tasks += p->units[i].whole ? kernels_of(&p->units[i]) != 0
					   : kernels_of(&p->units[i]);
	if (!most && p->unit_count) {
		device = p->units[0].executable->device;
		most = device->properties->flags & TENON_DEVICE_SERIAL_BUILDS
			       ? 1
			       : (size_t)processors_allowed();
	}
	return most < tasks ? most : tasks;
}

static bool start_thread(struct tenon_preparation *p, const pthread_attr_t *attributes)
{
	sigset_t all, before;
	int failed;

	pthread_mutex_lock(&p->lock);
	p->working++;
	pthread_mutex_unlock(&p->lock);
	/* Block all signals, so that the program's own threads receive them. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failed = pthread_create(&p->threads[p->thread_count], attributes, worker_main, p);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!failed) {
		p->thread_count++;
		return true;
	}
	pthread_mutex_lock(&p->lock);
	p->working--;
	pthread_mutex_unlock(&p->lock);
	return false;
}

int preparation_start(struct tenon_preparation *p, bool helps)
{
	size_t wanted = threads_wanted(p);
	pthread_attr_t attributes;

	if (helps && wanted)
		wanted--;
	if (!wanted)
		return 0;
	p->threads = calloc(wanted, sizeof(*p->threads));
	if (p->threads && !pthread_attr_init(&attributes)) {
		pthread_attr_setstacksize(&attributes, STACK_SIZE);
		while (p->thread_count < wanted && start_thread(p, &attributes))
			;
		pthread_attr_destroy(&attributes);
	}
	if (p->thread_count || helps)
		return 0;
	return tenon_error(-TENON_E_NOMEM, "no thread to build kernels");
}

/* In a child process after fork() the threads do not exist, and their locks may be held. */
static bool is_parents(const struct tenon_preparation *p)
{
	return p->forks != __atomic_load_n(&device_forks, __ATOMIC_RELAXED);
}

int tenon_preparation_wait(struct tenon_preparation *p)
{
	if (is_parents(p))
		return tenon_error(-TENON_E_LOST,
				   "the threads that build these kernels are of the "
				   "parent process; prepare the module after fork()");
	pthread_mutex_lock(&p->lock);
	while (p->working)
		pthread_cond_wait(&p->changed, &p->lock);
	pthread_mutex_unlock(&p->lock);
	if (p->failure)
		tenon_error_raise(p->failure);
	else if (p->status)
		tenon_error(p->status, "a kernel was not built; no memory for the reason");
	return p->status;
}

/* ---- the object */

static void preparation_delete(void *self, int flags)
{
	struct tenon_preparation *p = self;
	size_t i;

	if (!(flags & TENON_DELETE_MEMORY) || is_parents(p))
		return;
	pthread_mutex_lock(&p->lock);
	p->stop = true;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
	for (i = 0; i < p->thread_count; i++)
		pthread_join(p->threads[i], NULL);
	for (i = 0; i < p->unit_count; i++)
		executable_release(p->units[i].executable);
	tenon_object_unref(p->failure);
	pthread_cond_destroy(&p->changed);
	pthread_mutex_destroy(&p->reporting);
	pthread_mutex_destroy(&p->lock);
	free(p->threads);
	free(p);
}

int preparation_create(struct tenon_executable *const *executables, size_t count,
		       const struct tenon_prepare *how, struct tenon_preparation **out)
{
	struct tenon_preparation *p;
	struct tenon_prepare all;
	size_t i;
	int err = options_read(how, &all, sizeof(all));

	*out = NULL;
	if (err)
		return err;
	p = calloc(1, sizeof(*p) + count * sizeof(p->units[0]));
	if (!p)
		return tenon_error(-TENON_E_NOMEM, "no memory to prepare %zu programs", count);
	tenon_object_init(&p->object, device_object_type(DEVICE_OBJECT_PREPARATION),
			  preparation_delete);
	p->how = all;
	p->forks = __atomic_load_n(&device_forks, __ATOMIC_RELAXED);
	pthread_mutex_init(&p->lock, NULL);
	pthread_mutex_init(&p->reporting, NULL);
	pthread_cond_init(&p->changed, NULL);
	p->unit_count = count;
	for (i = 0; i < count; i++) {
		struct unit *u = &p->units[i];

		u->executable = executables[i];
		executable_hold(u->executable);
		u->first = p->total;
		u->whole = !(u->executable->device->ops->executable->build_flags &
			     TENON_BUILD_CONCURRENT);
		p->total += kernels_of(u);
	}
	*out = p;
	return 0;
}
