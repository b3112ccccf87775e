/* SPDX-License-Identifier: MIT */
/* A thread that shows the current step and ends the process at the timeout. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tools/cli/cli.h"
#include "tools/cli/progress.h"
#include "tools/text/text.h"

#define SHOW_AFTER 0.5 /* seconds */
#define SHOW_EVERY 0.2
#define LINE_AFTER 10.0

static struct watch {
	pthread_mutex_t lock;
	pthread_cond_t change;
	pthread_t thread;
	bool running; /* the thread exists */
	bool stop;
	bool terminal;
	bool shown;
	bool lines;	/* print a line for a step that takes long */
	bool line_said; /* for this step */
	double step;	/* when it began */
	double start, timeout;
	char doing[512];
	size_t kernels_done, kernels; /* that are built in the background */
} watch = { .lock = PTHREAD_MUTEX_INITIALIZER };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static struct timespec at(double seconds)
{
	struct timespec t = { (time_t)seconds, 0 };

	t.tv_nsec = (long)((seconds - (double)t.tv_sec) * 1e9);
	return t;
}

/* Bypass stdio: the thread that hangs may hold its lock. */
static void say(const char *format, ...) TENON_PRINTF(1, 2);

static void say(const char *format, ...)
{
	char text[640];
	va_list args;
	int size;

	va_start(args, format);
	size = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (size >= (int)sizeof(text))
		size = sizeof(text) - 1;
	if (write(STDERR_FILENO, text, (size_t)size) < 0)
		return; /* No way to report this error. */
}

static void show(double time)
{
	char kernels[64] = "";

	if (watch.kernels_done < watch.kernels)
		snprintf(kernels, sizeof(kernels), ", kernel %zu of %zu", watch.kernels_done + 1,
			 watch.kernels);
	say("\r\033[K%s%s, %.1f s", watch.doing, kernels, time - watch.start);
	watch.shown = true;
}

/* Wake up at least once an hour: a timeout may exceed the range of a timespec. */
static double next_wake(double time)
{
	double end = watch.timeout > 0 ? watch.start + watch.timeout : time + 3600;
	double wake = end < time + 3600 ? end : time + 3600;
	double show =
		time < watch.start + SHOW_AFTER ? watch.start + SHOW_AFTER : time + SHOW_EVERY;

	if (watch.lines && !watch.line_said && watch.step + LINE_AFTER < wake)
		wake = watch.step + LINE_AFTER;
	return watch.terminal && show < wake ? show : wake;
}

static void *keep_watch(void *unused)
{
	int err = 0;

	pthread_mutex_lock(&watch.lock);
	while (!watch.stop && (!err || err == ETIMEDOUT)) {
		double time = now();
		struct timespec wake;

		if (watch.timeout > 0 && time >= watch.start + watch.timeout) {
			say("%stenon: timeout: still %s after %g s\n",
			    watch.shown ? "\r\033[K" : "", watch.doing, watch.timeout);
			_exit(CLI_TIMEOUT);
		}
		if (watch.terminal && time >= watch.start + SHOW_AFTER)
			show(time);
		if (watch.lines && !watch.line_said && time >= watch.step + LINE_AFTER) {
			say("tenon: still %s after %.0f s\n", watch.doing, time - watch.step);
			watch.line_said = true;
		}
		wake = at(next_wake(time));
		err = pthread_cond_timedwait(&watch.change, &watch.lock, &wake);
	}
	pthread_mutex_unlock(&watch.lock);
	return NULL;
}

int progress_start(double timeout, bool terminal)
{
	pthread_condattr_t monotonic;
	sigset_t all, before;
	int err;

	snprintf(watch.doing, sizeof(watch.doing), "starting");
	watch.lines &= !terminal;
	if (timeout <= 0 && !terminal && !watch.lines)
		return 0;
	watch.start = watch.step = now();
	watch.line_said = false;
	watch.timeout = timeout;
	watch.terminal = terminal;
	watch.stop = watch.shown = false;
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&watch.change, &monotonic);
	pthread_condattr_destroy(&monotonic);
	/* Block all signals: the main thread handles them. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&watch.thread, NULL, keep_watch, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	watch.running = !err;
	return err ? tenon_error(-TENON_E_NOMEM, "no thread for the timeout: %s", strerror(err))
		   : 0;
}

void progress_report_waits(void)
{
	watch.lines = true;
}

void progress_say(const char *format, ...)
{
	struct tenon_buffer shown = TENON_BUFFER_INIT;
	char text[sizeof(watch.doing)];
	va_list args;

	if (!watch.running)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	/* it has names of files */
	printable_append(&shown, tenon_slice_of(text), sizeof(text));
	pthread_mutex_lock(&watch.lock);
	if (shown.size)
		snprintf(watch.doing, sizeof(watch.doing), "%.*s", (int)shown.size, shown.data);
	else
		snprintf(watch.doing, sizeof(watch.doing), "working");
	watch.step = now();
	watch.line_said = false;
	/* it may sleep until the timeout */
	if (watch.lines)
		pthread_cond_signal(&watch.change);
	pthread_mutex_unlock(&watch.lock);
	tenon_buffer_fini(&shown);
	va_end(args);
}

void progress_kernels(size_t done, size_t total)
{
	pthread_mutex_lock(&watch.lock);
	watch.kernels_done = done;
	watch.kernels = total;
	pthread_mutex_unlock(&watch.lock);
}

void progress_stop(void)
{
	if (!watch.running)
		return;
	pthread_mutex_lock(&watch.lock);
	watch.stop = true;
	pthread_cond_signal(&watch.change);
	pthread_mutex_unlock(&watch.lock);
	pthread_join(watch.thread, NULL);
	pthread_cond_destroy(&watch.change);
	if (watch.shown)
		say("\r\033[K");
	watch.running = false;
}
