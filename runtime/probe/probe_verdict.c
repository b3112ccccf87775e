/* SPDX-License-Identifier: MIT */
/*
 * Results of probing drivers. probe_child.c runs the child process, probe_report.c reads its
 * report.
 */
#include "runtime/probe/probe.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <tenon/backend/backend.h>
#include <tenon/backend/buffer.h>
#include <tenon/error.h>
#include <tenon/probe.h>
#include <tenon/tenon.h>

#include "generated/install_paths.h"
#include "lib/brief_errors.h"
#include "lib/clock.h"
#include "runtime/device/backend_choice.h"
#include "runtime/device/device_table.h"

#define DEFAULT_TIMEOUT UINT64_C(20000000000)

/* @probe points into @answer and @words; never freed once it is in the list */
struct verdict {
	struct tenon_probe probe;
	struct verdict *next;
	struct probe_answer answer;
	const struct tenon_device_properties **devices;
	char words[3 * PROBE_WORDS];
};

static struct verdict *verdicts; /* grows at the front; read without the lock */
static pthread_mutex_t probe_lock = PTHREAD_MUTEX_INITIALIZER;

static void forked(void)
{
	pthread_mutex_init(&probe_lock, NULL);
}

static struct verdict *find_verdict(const struct tenon_backend *backend)
{
	struct verdict *v = __atomic_load_n(&verdicts, __ATOMIC_ACQUIRE);

	while (v && v->probe.backend != backend)
		v = v->next;
	return v;
}

static int check(const struct tenon_backend *backend)
{
	const struct verdict *v = find_verdict(backend);

	if (!v || (v->probe.outcome != TENON_PROBE_CRASHED &&
		   v->probe.outcome != TENON_PROBE_EXITED && v->probe.outcome != TENON_PROBE_HUNG))
		return 0;
	return tenon_error(-TENON_E_DEVICE, "%s is not used any more in this process: %s",
			   backend->name, v->probe.reason);
}

/* ---- asking */

void probe_answer_fini(struct probe_answer *a)
{
	free(a->devices);
	tenon_buffer_fini(&a->reason);
	tenon_buffer_fini(&a->doctor);
}

/* Use the thread's error as the reason, unless there is one. */
static int keep_reason(struct probe_answer *a, int err)
{
	if (!a->reason.size)
		tenon_buffer_printf(&a->reason, "%s", tenon_error_message());
	tenon_error_clear();
	return err == -TENON_E_NOMEM ? err : a->reason.status;
}

static int describe_all(const struct tenon_backend *b, struct probe_answer *a)
{
	uint32_t i;
	int err;

	a->devices = calloc(a->count + 1, sizeof(*a->devices));
	if (!a->devices)
		return tenon_error(-TENON_E_NOMEM, "no memory for a list of devices");
	for (i = 0; i < a->count; i++) {
		err = tenon_backend_describe(b, i, &a->devices[i]);
		if (!err)
			continue;
		*a->devices[i].name = 0;
		err = keep_reason(a, err);
		if (err)
			return err;
	}
	return 0;
}

int probe_ask(const struct tenon_backend *b, struct probe_answer *a)
{
	int err;

	memset(a, 0, sizeof(*a));
	err = tenon_backend_count(b, &a->count);
	if (err) {
		a->outcome = TENON_PROBE_FAILED;
		a->count = 0;
		return keep_reason(a, err);
	}
	if (a->count > PROBE_DEVICES)
		a->count = PROBE_DEVICES;
	err = describe_all(b, a);
	if (!err && backend_opened(b)->doctor)
		err = backend_opened(b)->doctor(&a->doctor);
	return err;
}

/* ---- verdicts */

static const char *text_of(const struct tenon_buffer *b)
{
	return b->data ? b->data : "";
}

/* Make the reason from the answer and the words, once the rest of the verdict is set. */
static void set_reason(struct verdict *v, const char *fault)
{
	struct tenon_buffer *reason = &v->answer.reason;

	if (*fault)
		tenon_buffer_printf(reason, "%s", fault);
	if (v->probe.outcome != TENON_PROBE_WORKS && *v->words)
		tenon_buffer_printf(reason, "; it wrote: %s", v->words);
	v->probe.reason = text_of(reason);
	v->probe.words = v->words;
	v->probe.doctor = text_of(&v->answer.doctor);
}

/* A list of pointers, since a program may be built with a shorter struct of properties. */
static int set_devices(struct verdict *v)
{
	uint32_t i;

	v->devices = calloc(v->answer.count + 1, sizeof(struct tenon_device_properties *));
	if (!v->devices)
		return tenon_error(-TENON_E_NOMEM, "no memory for a list of devices");
	for (i = 0; i < v->answer.count; i++)
		v->devices[i] = &v->answer.devices[i];
	v->probe.devices = v->devices;
	v->probe.device_count = v->answer.count;
	return 0;
}

static const struct tenon_probe *keep_verdict(struct verdict *v, uint64_t start)
{
	v->probe.nanoseconds = clock_now() - start;
	v->next = verdicts;
	__atomic_store_n(&verdicts, v, __ATOMIC_RELEASE);
	return &v->probe;
}

static void drop_verdict(struct verdict *v)
{
	probe_answer_fini(&v->answer);
	free(v->devices);
	free(v);
}

static int verdict_here(struct verdict *v)
{
	int err = probe_ask(v->probe.backend, &v->answer);

	if (err)
		return err;
	v->probe.outcome = v->answer.outcome;
	set_reason(v, "");
	return 0;
}

static const char *signal_name(int number, char text[32])
{
	static const struct {
		int number;
		char name[8];
	} names[] = { { SIGABRT, "SIGABRT" }, { SIGSEGV, "SIGSEGV" }, { SIGBUS, "SIGBUS" },
		      { SIGILL, "SIGILL" },   { SIGFPE, "SIGFPE" },   { SIGSYS, "SIGSYS" },
		      { SIGTRAP, "SIGTRAP" }, { SIGKILL, "SIGKILL" } };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].number == number)
			return names[i].name;
	snprintf(text, 32, "signal %d", number);
	return text;
}

/* Make one printable line: join lines, replace control characters. */
static void set_words(struct verdict *v, const struct probe_child *child)
{
	size_t i = 0, end = child->word_count, n = 0;
	const char *words = child->words;

	while (end && (unsigned char)words[end - 1] <= ' ')
		end--;
	/* the first character may be truncated */
	while (end == PROBE_WORDS && i < end && ((unsigned char)words[i] & 0xc0) == 0x80)
		i++;
	for (; i < end; i++) {
		unsigned char c = (unsigned char)words[i];

		if (c == '\n') {
			v->words[n++] = ' ';
			v->words[n++] = '|';
			c = ' ';
		}
		v->words[n++] = c < ' ' || c == 0x7f ? ' ' : (char)c;
	}
	v->words[n] = 0;
}

static void judge(struct verdict *v, const struct probe_child *child, uint64_t timeout)
{
	struct tenon_probe *p = &v->probe;
	char fault[128] = "", number[32];

	if (child->hung) {
		p->outcome = TENON_PROBE_HUNG;
		snprintf(fault, sizeof(fault), "its driver did not answer within %g s",
			 (double)timeout * 1e-9);
	} else if (child->is_known && WIFSIGNALED(child->status)) {
		p->outcome = TENON_PROBE_CRASHED;
		p->code = WTERMSIG(child->status);
		snprintf(fault, sizeof(fault), "its driver crashed with %s while listing devices",
			 signal_name(p->code, number));
	} else {
		p->outcome = TENON_PROBE_EXITED;
		p->code = child->is_known ? WEXITSTATUS(child->status) : -1;
		snprintf(fault, sizeof(fault),
			 "its driver ended the process (exit status %d) while listing devices",
			 p->code);
	}
	set_reason(v, fault);
}

static int raise_no_command(const struct verdict *v, const char *command)
{
	return tenon_error(-TENON_E_UNSUPPORTED,
			   "%s is not the command of tenon %s, so drivers cannot be probed in a "
			   "separate process%s%s. Install it, or name it in the request",
			   command, tenon_version(), *v->words ? "; it wrote: " : "", v->words);
}

static int read_child(struct verdict *v, const char *command, uint64_t timeout,
		      const struct probe_child *child)
{
	const struct tenon_slice report = { child->report.data, child->report.size };
	int state;

	set_words(v, child);
	state = probe_report_read(report, &v->answer);
	if (state < 0)
		return state;
	if (state == PROBE_REPORT_NONE && !child->hung)
		return raise_no_command(v, command);
	if (state == PROBE_REPORT_UNKNOWN)
		return tenon_error(-TENON_E_NOT_FOUND, "%s has no backend %s", command,
				   v->probe.backend->name);
	if (state != PROBE_REPORT_WHOLE) {
		judge(v, child, timeout);
		return 0;
	}
	v->probe.outcome = v->answer.outcome;
	set_reason(v, "");
	return 0;
}

static int verdict_of_child(struct verdict *v, const struct tenon_probe_request *request)
{
	const char *command = request && request->command ? request->command : TENON_COMMAND_FILE;
	uint64_t timeout = request && request->timeout ? request->timeout : DEFAULT_TIMEOUT;
	struct probe_child child;
	int err;

	err = probe_child_run(command, v->probe.backend->name, timeout, &child);
	if (err)
		return err;
	err = read_child(v, command, timeout, &child);
	tenon_buffer_fini(&child.report);
	return err;
}

static int find_out(struct verdict *v, const struct tenon_probe_request *request, bool here)
{
	if (backend_check_choice(v->probe.backend)) {
		v->probe.outcome = TENON_PROBE_LEFT_OUT;
		set_reason(v, tenon_error_message());
		tenon_error_clear();
		return v->answer.reason.status;
	}
	if (here || v->probe.backend->flags & TENON_BACKEND_FORKS)
		return verdict_here(v);
	return verdict_of_child(v, request);
}

/* Called with the lock held, so that other threads wait for the verdict. */
static int probe_locked(const struct tenon_backend *backend,
			const struct tenon_probe_request *request, bool here,
			const struct tenon_probe **out)
{
	struct verdict *v = find_verdict(backend);
	uint64_t start = clock_now();
	int err;

	if (v) {
		*out = &v->probe;
		return 0;
	}
	v = calloc(1, sizeof(*v));
	if (!v)
		return tenon_error(-TENON_E_NOMEM, "no memory for the verdict on a driver");
	v->probe.backend = backend;
	err = find_out(v, request, here);
	if (!err)
		err = v->answer.reason.status;
	if (!err)
		err = set_devices(v);
	if (err) {
		drop_verdict(v);
		return err;
	}
	*out = keep_verdict(v, start);
	return 0;
}

static int probe(const struct tenon_backend *backend, const struct tenon_probe_request *request,
		 bool here, const struct tenon_probe **out)
{
	int err;

	*out = NULL;
	pthread_mutex_lock(&probe_lock);
	err = probe_locked(backend, request, here, out);
	pthread_mutex_unlock(&probe_lock);
	return err;
}

static int in_this_process(const struct tenon_backend *backend, const struct tenon_probe **out)
{
	return probe(backend, NULL, true, out);
}

static int in_a_child(const struct tenon_backend *backend,
		      const struct tenon_probe_request *request, const struct tenon_probe **out)
{
	return probe(backend, request, false, out);
}

const struct prober probe_prober = {
	.probe = in_a_child,
	.here = in_this_process,
	.report = probe_report,
	.check = check,
	.forked = forked,
};
