/* SPDX-License-Identifier: MIT */
/* Requests: they share one batch, and join and leave it at any step. */
#include "llm/llm_batch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <tenon/trace.h>

#include "lib/brief_errors.h"
#include "lib/clock.h"
#include "lib/options.h"
#include "llm/tokenizer.h"

/* ---- the end of a job */

static void free_job(struct llm_job *job)
{
	reply_fini(&job->reply);
	free(job->in_prompt);
	free(job->in_reply);
	free(job->stop_bytes);
	free(job->stops);
	free(job->tokens);
	free(job);
}

/* Add a span to the track of a job: a step of it, or all of it. */
static void trace_sequence(const struct llm_job *job, const char *name, uint64_t begin,
			   uint64_t end)
{
	char track[48];

	if (!begin || !end)
		return;
	snprintf(track, sizeof(track), "sequence %" PRIu64, job->number);
	tenon_trace_span(track, name ? name : track, begin, end);
}

/* Give out the text that is ready, with the tokens that it is of. */
static void give_text(struct llm_job *job, bool at_the_end)
{
	struct tenon_slice text = { job->reply.ready.data, job->reply.ready.size };
	size_t given = job->given;

	if (!text.size && !(at_the_end && given < job->count))
		return;
	job->given = job->count;
	job->reply.ready.size = 0;
	if (job->request.text)
		job->request.text(job->request.context, text.data ? text : tenon_slice_of(""),
				  job->tokens + given, job->count - given);
}

/* End a job. It is freed by the next sweep(), since callers go through the list. */
static void end_job(struct tenon_llm *llm, struct llm_job *job, enum tenon_llm_end end,
		    const char *message)
{
	if (job->ended)
		return;
	job->ended = true;
	trace_sequence(job, NULL, job->traced, tenon_trace_now());
	llm_stop_job(llm, job, end != TENON_LLM_ERROR);
	llm->batch->full = false;
	if (reply_finish(&job->reply))
		tenon_error_clear();
	give_text(job, true);
	if (job->request.end)
		job->request.end(job->request.context, end, message, &job->usage);
}

/* End a job with the thread's error. */
static void fail_job(struct tenon_llm *llm, struct llm_job *job)
{
	struct tenon_error *e = tenon_error_take();
	char *message = e ? strndup(e->message.data, e->message.size) : NULL;

	tenon_object_unref(e);
	tenon_error_clear();
	end_job(llm, job, TENON_LLM_ERROR, message ? message : "memory ran out");
	free(message);
}

static void sweep(struct llm_batch *b)
{
	struct llm_job **at = &b->first, *job;

	while ((job = *at)) {
		if (job->ended) {
			*at = job->next;
			free_job(job);
		} else {
			at = &job->next;
		}
	}
}

void llm_batch_free(struct llm_batch *b)
{
	size_t i;

	if (!b)
		return;
	while (b->first) {
		b->first->ended = true;
		sweep(b);
	}
	for (i = 0; i < b->kept_count; i++)
		free(b->kept[i].tokens);
	free(b->kept);
	free(b->members.jobs);
	free(b->members.parts);
	free(b);
}

/* ---- submitting */

static int make_batch(struct tenon_llm *llm)
{
	const size_t most = (size_t)llm->info.sequences;
	struct llm_batch *b;

	if (llm->batch)
		return 0;
	b = calloc(1, sizeof(*b));
	if (!b)
		return tenon_error(-TENON_E_NOMEM, "no memory for a batch");
	b->kept = calloc(most + 1, sizeof(*b->kept));
	b->members.jobs = calloc(most, sizeof(*b->members.jobs));
	b->members.parts = calloc(most, sizeof(*b->members.parts));
	if (!b->kept || !b->members.jobs || !b->members.parts) {
		llm_batch_free(b);
		return tenon_error(-TENON_E_NOMEM, "no memory for a batch");
	}
	b->next_number = 1;
	llm->batch = b;
	return 0;
}

static int check_request(const struct tenon_llm *llm, const struct tenon_llm_request *r)
{
	const int64_t most =
		llm->info.context < llm->info.tokens ? llm->info.context : llm->info.tokens;
	size_t i;

	if (!r->prompt_count)
		return tenon_error(-TENON_E_VALUE, "the prompt has no tokens");
	if (!llm->info.window && r->prompt_count >= (uint64_t)most)
		return tenon_error(-TENON_E_VALUE,
				   "the prompt has %zu tokens; the %s has room for %" PRIi64
				   ", and a reply needs one",
				   r->prompt_count,
				   most == llm->info.context ? "context" : "key-value cache", most);
	for (i = 0; i < r->prompt_count; i++)
		if (r->prompt[i] < 0 || r->prompt[i] >= llm->info.vocabulary)
			return tenon_error(-TENON_E_VALUE,
					   "token %" PRIi32
					   " at %zu of the prompt; the model has 0 "
					   "to %" PRIi64,
					   r->prompt[i], i, llm->info.vocabulary - 1);
	return llm_sampling_check(&r->sampling);
}

/* Copy the stop strings: those of the request, and those of the model's template. */
static int copy_stops(const struct tenon_llm *llm, const struct tenon_llm_request *r,
		      struct llm_job *job)
{
	const size_t of_model = r->ignore_end ? 0 : llm->template.stop_count;
	size_t size = 1, i;
	char *to;

	for (i = 0; i < r->stop_count; i++)
		size += r->stops[i].size;
	job->stop_bytes = to = malloc(size);
	job->stops = calloc(r->stop_count + of_model + 1, sizeof(*job->stops));
	if (!to || !job->stops)
		return tenon_error(-TENON_E_NOMEM, "no memory for stop strings");
	for (i = 0; i < r->stop_count; i++) {
		if (r->stops[i].size)
			memcpy(to, r->stops[i].data, r->stops[i].size);
		job->stops[i] = (struct tenon_slice){ to, r->stops[i].size };
		to += r->stops[i].size;
	}
	for (i = 0; i < of_model; i++)
		job->stops[r->stop_count + i] = llm->template.stops[i];
	job->reply.stops = job->stops;
	job->reply.stop_count = r->stop_count + of_model;
	return 0;
}

static int count_prompt(const struct tenon_llm *llm, struct llm_job *job)
{
	const struct tenon_llm_sampling *s = &job->request.sampling;
	size_t i;

	if (s->repetition_penalty == 1 && s->presence_penalty == 0 && s->frequency_penalty == 0)
		return 0;
	job->in_prompt = calloc((size_t)llm->info.vocabulary, sizeof(*job->in_prompt));
	job->in_reply = calloc((size_t)llm->info.vocabulary, sizeof(*job->in_reply));
	if (!job->in_prompt || !job->in_reply)
		return tenon_error(-TENON_E_NOMEM, "no memory for penalties");
	for (i = 0; i < job->count; i++)
		job->in_prompt[job->tokens[i]] = 1;
	return 0;
}

static int make_job(const struct tenon_llm *llm, const struct tenon_llm_request *r,
		    struct llm_job *job)
{
	job->request = *r;
	job->id = -1;
	job->count = job->given = job->usage.prompt_tokens = r->prompt_count;
	job->room = r->prompt_count + 64;
	job->tokens = malloc(job->room * sizeof(*job->tokens));
	if (!job->tokens)
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu tokens", job->room);
	memcpy(job->tokens, r->prompt, r->prompt_count * sizeof(*job->tokens));
	job->request.prompt = NULL;
	job->request.stops = NULL;
	job->random = r->sampling.seed;
	job->usage.submitted = clock_now();
	return copy_stops(llm, r, job) ? tenon_error_status() : count_prompt(llm, job);
}

int tenon_llm_submit(struct tenon_llm *llm, const struct tenon_llm_request *request,
		     uint64_t *number)
{
	struct tenon_llm_request r;
	struct llm_job *job, **end;
	int err = options_read(request, &r, sizeof(r));

	if (!err)
		err = make_batch(llm);
	if (!err)
		err = check_request(llm, &r);
	if (err)
		return err;
	job = calloc(1, sizeof(*job));
	if (!job)
		return tenon_error(-TENON_E_NOMEM, "no memory for a request");
	err = make_job(llm, &r, job);
	if (err) {
		free_job(job);
		return err;
	}
	for (end = &llm->batch->first; *end; end = &(*end)->next)
		;
	*end = job;
	*number = job->number = llm->batch->next_number++;
	return 0;
}

void tenon_llm_cancel(struct tenon_llm *llm, uint64_t number)
{
	struct llm_job *job = llm->batch ? llm->batch->first : NULL;

	for (; job; job = job->next)
		if (job->number == number)
			job->cancelled = true;
}

/* ---- tokens of the reply */

/* splitmix64 */
static double next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static bool is_end(const struct tenon_llm *llm, const struct llm_job *job, int32_t token)
{
	size_t i;

	for (i = 0; i < llm->template.end_count && !job->request.ignore_end; i++)
		if (llm->template.ends[i] == token)
			return true;
	return false;
}

static int append_token(struct llm_job *job, int32_t token)
{
	int32_t *more;

	if (job->count == job->room) {
		more = realloc(job->tokens, 2 * job->room * sizeof(*more));
		if (!more)
			return tenon_error(-TENON_E_NOMEM, "no memory for %zu tokens", job->room);
		job->tokens = more;
		job->room *= 2;
	}
	job->tokens[job->count++] = token;
	if (job->in_reply && job->in_reply[token] < UINT16_MAX)
		job->in_reply[token]++;
	job->usage.tokens++;
	return 0;
}

static int add_text(struct tenon_llm *llm, struct llm_job *job, int32_t token, bool *stopped)
{
	struct tenon_slice text = tenon_llm_decode(llm, token);

	if (job->usage.tokens == 1 && text.size && *text.data == ' ' && llm->tokenizer &&
	    tokenizer_strips(llm->tokenizer)) {
		text.data++;
		text.size--;
	}
	return reply_add(&job->reply, text, stopped);
}

/* Choose the next token of a job from its logits. */
static void add_token(struct tenon_llm *llm, struct llm_job *job, float *row)
{
	bool stopped;
	int32_t token;
	int err = llm_sample(llm, row, &job->request.sampling, job->in_prompt, job->in_reply,
			     next_random(&job->random), &token);

	job->usage.last = clock_now();
	if (!job->usage.first)
		job->usage.first = job->usage.last;
	if (!err && is_end(llm, job, token)) {
		end_job(llm, job, TENON_LLM_STOP, "");
		return;
	}
	if (!err)
		err = append_token(job, token);
	if (!err)
		err = add_text(llm, job, token, &stopped);
	if (err)
		fail_job(llm, job);
	else if (stopped)
		end_job(llm, job, TENON_LLM_STOP, "");
	else if (job->usage.tokens == job->request.most ||
		 (!llm->info.window && job->count >= (uint64_t)llm->info.context))
		end_job(llm, job, TENON_LLM_LENGTH, "");
	else
		give_text(job, false);
}

/* ---- steps */

static void end_cancelled(struct tenon_llm *llm)
{
	struct llm_job *job;
	uint64_t now = clock_now();

	for (job = llm->batch->first; job; job = job->next) {
		if (job->cancelled)
			end_job(llm, job, TENON_LLM_CANCELLED, "");
		else if (job->request.deadline && now >= job->request.deadline)
			end_job(llm, job, TENON_LLM_DEADLINE, "");
	}
}

/* Test whether the cache has pages for a job, beside one for each job that runs. */
static bool has_pages(struct tenon_llm *llm, const struct llm_job *job)
{
	int64_t free_pages = tenon_llm_free_pages(llm);
	int64_t count = (int64_t)job->count;

	if (llm->info.window && count > llm->info.window)
		count = llm->info.window;
	return free_pages >= (count + LLM_PAGE - 1) / LLM_PAGE + 1 + (int64_t)llm->batch->running;
}

static void start_jobs(struct tenon_llm *llm)
{
	struct llm_batch *b = llm->batch;
	struct llm_job *job;

	for (job = b->first; job && !b->full; job = job->next) {
		if (job->id >= 0 || job->ended || llm_job_waits(llm, job))
			continue;
		if (b->running >= (size_t)llm->info.sequences)
			return;
		while (!has_pages(llm, job) && b->kept_count > 1 && llm_drop_kept(llm))
			;
		/*
		 * the only job may start without free pages: it may need none beyond those it
		 * shares
		 */
		if (b->running && !has_pages(llm, job))
			return;
		if (llm_start_job(llm, job))
			fail_job(llm, job);
	}
}

/* The job that was submitted last gives up its sequence; false if there is only one. */
static bool suspend_last(struct tenon_llm *llm)
{
	struct llm_job *job, *last = NULL;

	if (llm->batch->running < 2)
		return false;
	for (job = llm->batch->first; job; job = job->next)
		if (job->id >= 0 && !job->ended)
			last = job;
	llm_stop_job(llm, last, false);
	llm->batch->full = true;
	return true;
}

/* Choose the jobs of a step: those with a prompt to read, or those that get another token. */
static void choose_members(const struct tenon_llm *llm, bool prompts, struct llm_members *m)
{
	size_t room = (size_t)llm->info.chunk, left;
	struct llm_job *job;

	m->count = 0;
	for (job = llm->batch->first; job && room; job = job->next) {
		left = job->count - job->done;
		if (job->id < 0 || job->ended || (left > 1) != prompts)
			continue;
		if (left > room)
			left = room;
		m->jobs[m->count] = job;
		m->parts[m->count++] =
			(struct tenon_llm_part){ job->id, job->tokens + job->done, left };
		room -= left;
	}
}

static void take_results(struct tenon_llm *llm, const struct llm_members *m, const float *logits)
{
	struct llm_job *job;
	size_t i;

	/* first all: a callback may fail, cancel or submit */
	for (i = 0; i < m->count; i++)
		m->jobs[i]->done += m->parts[i].count;
	for (i = 0; i < m->count; i++) {
		job = m->jobs[i];
		if (job->done == job->count)
			add_token(llm, job,
				  (float *)(uintptr_t)logits + i * (size_t)llm->info.vocabulary);
	}
}

/* Add a step to the tracks of its jobs. It comes before the results, which may end a job. */
static void trace_step(const struct llm_members *m, bool prompts, uint64_t begin)
{
	const uint64_t end = tenon_trace_now();
	char name[48];
	size_t i;

	for (i = 0; i < m->count && begin && end; i++) {
		if (!m->jobs[i]->traced)
			m->jobs[i]->traced = begin;
		if (prompts)
			snprintf(name, sizeof(name), "prompt, %zu tokens", m->parts[i].count);
		else
			snprintf(name, sizeof(name), "token %zu", m->jobs[i]->usage.tokens + 1);
		trace_sequence(m->jobs[i], name, begin, end);
	}
}

/* One forward step. If the cache is full, with fewer jobs. */
static void forward(struct tenon_llm *llm, bool prompts)
{
	struct llm_members *m = &llm->batch->members;
	const float *logits;
	uint64_t begin;
	size_t i;
	int err;

	for (;;) {
		choose_members(llm, prompts, m);
		if (!m->count)
			return;
		begin = tenon_trace_now();
		err = tenon_llm_forward(llm, m->parts, m->count, &logits);
		if (!err) {
			trace_step(m, prompts, begin);
			take_results(llm, m, logits);
			return;
		}
		if (err != -TENON_E_OVERFLOW || (!llm_drop_kept(llm) && !suspend_last(llm)))
			break;
		tenon_error_clear();
	}
	/* the cache is full with this job alone: its reply ends here */
	if (err == -TENON_E_OVERFLOW && m->jobs[0]->usage.tokens) {
		tenon_error_clear();
		end_job(llm, m->jobs[0], TENON_LLM_LENGTH, "");
		return;
	}
	fail_job(llm, m->jobs[0]);
	for (i = 1; i < m->count; i++)
		end_job(llm, m->jobs[i], TENON_LLM_ERROR, "another request of the batch failed");
}

int tenon_llm_step(struct tenon_llm *llm)
{
	struct llm_batch *b = llm->batch;

	if (!b || !b->first)
		return 0;
	end_cancelled(llm);
	start_jobs(llm);
	forward(llm, true);
	forward(llm, false);
	/* callbacks may have cancelled */
	end_cancelled(llm);
	sweep(b);
	return b->first != NULL;
}
