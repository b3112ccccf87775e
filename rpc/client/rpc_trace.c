/* SPDX-License-Identifier: MIT */
/* The requests of a session in the trace, and what its server did meanwhile. */
#include <stdio.h>
#include <stdlib.h>
#include <tenon/trace.h>

#include "lib/brief_errors.h"
#include "rpc/client/rpc.h"
#include "rpc/wire/wire_codes.h"

/* readings of the server's clock; the one with the fastest reply is the most exact */
#define CLOCK_READINGS 5
/* a server waits for its queues at the end of a trace; longest time for it */
#define END_MS 40000
/* the end of a trace waits so long for requests of the program, of all sessions together */
#define BUSY_MS 5000

void rpc_trace(const struct rpc *r, const char *name, uint64_t start)
{
	char track[256];

	if (!start)
		return;
	snprintf(track, sizeof(track), "remote %u: %s", r->slot, r->address);
	tenon_trace_span(track, name, start, tenon_trace_now());
}

/* Say in the trace why it has nothing of the server. */
static void tell(const struct rpc *r)
{
	char text[512];

	snprintf(text, sizeof(text), "no trace of the server: %s", tenon_error_message());
	tenon_error_clear();
	rpc_trace(r, text, tenon_trace_now());
}

static int read_clock(struct rpc *r, struct trace_clock *out)
{
	uint64_t before, after, i;
	int err = 0;

	*out = (struct trace_clock){ .within = UINT64_MAX };
	for (i = 0; i < CLOCK_READINGS && !err; i++) {
		before = clock_now();
		err = rpc_server_call(r, "tenon.trace.now", NULL, 0);
		after = clock_now();
		if (!err && (r->reply.count != 2 || r->reply.values[1].kind != WIRE_INT))
			err = rpc_fail(r, tenon_error(-TENON_E_FORMAT,
						      "%s: tenon.trace.now returned no number",
						      r->address));
		/* the server read its clock at some time between, most likely in the middle */
		if (err || (after - before + 1) / 2 >= out->within)
			continue;
		out->there = (uint64_t)r->reply.values[1].as.integer;
		out->here = before + (after - before) / 2;
		out->within = (after - before + 1) / 2;
	}
	return err;
}

static int begin(struct rpc *r)
{
	uint64_t function = 0;
	int err = rpc_global(r, "tenon.trace.begin", &function);

	/* an older release */
	if (!err && !function)
		return 0;
	if (!err)
		err = rpc_request(r, PACKET_CALL, function, NULL, 0);
	if (function)
		rpc_free_locked(r, function, LEGACY_FUNCTION);
	r->recorded = !err;
	return err ? err : read_clock(r, &r->clock);
}

/*
 * Run requests of the trace after all requests of the program were answered. A failure that the
 * program has not seen yet stays for it, and the wait is limited.
 */
static int apart(struct rpc *r, int (*run)(struct rpc *r))
{
	const uint64_t limit = r->request_ms;
	const bool failed = r->failed;
	char *failure = r->failure;
	int err;

	if (!limit || limit > END_MS)
		r->request_ms = END_MS;
	r->failed = false;
	r->failure = NULL;
	err = run(r);
	rpc_drop_failure(r);
	r->failed = failed;
	r->failure = failure;
	r->request_ms = limit;
	return err;
}

void rpc_trace_begin(struct rpc *r)
{
	int err;

	/* set first: the requests below call this function again */
	r->traced = trace_number();
	r->recorded = false;
	if (!r->traced || !r->pipelined)
		return;
	trace_collect_with(rpc_trace_end_all);
	/* what the program sent has the program's time */
	err = rpc_drain(r);
	if (!err)
		err = apart(r, begin);
	if (err)
		tell(r);
}

static int end(struct rpc *r)
{
	char name[256];
	struct trace_there there = { .name = name, .begin = r->clock };
	int err;

	snprintf(name, sizeof(name), "remote %u: %s", r->slot, r->address);
	r->recorded = false;
	err = read_clock(r, &there.end);
	if (!err)
		err = rpc_server_call(r, "tenon.trace.end", NULL, 0);
	if (!err)
		err = rpc_text_result(r, &there.events);
	return err ? err : trace_merge(&there);
}

/* Lock a session until a deadline: a request without a time limit may hold the lock. */
static int lock_until(struct rpc *r, uint64_t deadline)
{
	const uint64_t now = clock_now(), left = deadline > now ? deadline - now : 0;
	struct timespec at;

	/* CLOCK_REALTIME: not every C library can wait for a mutex on the monotonic clock */
	clock_gettime(CLOCK_REALTIME, &at);
	at.tv_sec += (time_t)((left + (uint64_t)at.tv_nsec) / 1000000000);
	at.tv_nsec = (long)((left + (uint64_t)at.tv_nsec) % 1000000000);
	if (!pthread_mutex_timedlock(&r->lock, &at))
		return 0;
	return tenon_error(-TENON_E_TIMEOUT, "%s: a request was under way", r->address);
}

void rpc_trace_end(struct rpc *r, uint64_t deadline)
{
	int err;

	/* a closed session has no trace to fetch, and its failure was reported */
	if (!r->recorded || !r->connection || trace_number() != r->traced)
		return;
	err = rpc_drain_until(r, deadline);
	if (!err)
		err = apart(r, end);
	if (err)
		tell(r);
}

static void end_one(struct rpc *r, uint64_t deadline)
{
	if (lock_until(r, deadline)) {
		tell(r);
		return;
	}
	rpc_trace_end(r, deadline);
	pthread_mutex_unlock(&r->lock);
}

void rpc_trace_end_all(void)
{
	const uint64_t deadline = connection_deadline(BUSY_MS);
	struct rpc *r;
	uint32_t slot = 0;

	while ((r = rpc_session_after(slot))) {
		slot = r->slot;
		/* another server records nothing */
		if (r->pipelined)
			end_one(r, deadline);
		rpc_unref(r);
	}
}
