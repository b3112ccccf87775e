/* SPDX-License-Identifier: MIT */
/*
 * Share the sequences of jobs. The sequence of a job that ended is kept until its place or its pages are
 * needed: the next message of a conversation begins with all that was said before.
 */
#include <stdlib.h>

#include "llm/llm_batch.h"

/* fewer common tokens are not worth a sequence of their own */
#define SHARED_LEAST 16

static size_t common(const struct llm_job *job, const int32_t *tokens, size_t count)
{
	/* the last token must go through the model to give logits */
	size_t most = count < job->count - 1 ? count : job->count - 1, i;

	for (i = 0; i < most && job->tokens[i] == tokens[i]; i++)
		;
	return i;
}

static void forget(struct llm_batch *b, size_t at)
{
	free(b->kept[at].tokens);
	b->kept[at] = b->kept[--b->kept_count];
}

bool llm_drop_kept(struct tenon_llm *llm)
{
	struct llm_batch *b = llm->batch;
	size_t i, oldest = 0;

	if (!b->kept_count)
		return false;
	for (i = 1; i < b->kept_count; i++)
		if (b->kept[i].used < b->kept[oldest].used)
			oldest = i;
	if (tenon_llm_remove(llm, b->kept[oldest].id))
		tenon_error_clear();
	forget(b, oldest);
	return true;
}

void llm_stop_job(struct tenon_llm *llm, struct llm_job *job, bool keep)
{
	struct llm_batch *b = llm->batch;
	struct llm_kept *k = &b->kept[b->kept_count];

	if (job->id < 0)
		return;
	b->running--;
	/* positions in a sliding window change, so nothing can be shared */
	if (keep && !llm->info.window && job->done >= SHARED_LEAST) {
		*k = (struct llm_kept){ job->id, malloc(job->done * sizeof(*k->tokens)), job->done,
					b->clock++ };
		if (k->tokens) {
			memcpy(k->tokens, job->tokens, job->done * sizeof(*k->tokens));
			b->kept_count++;
			job->id = -1;
		}
	}
	if (job->id >= 0 && tenon_llm_remove(llm, job->id))
		tenon_error_clear();
	job->id = -1;
	job->done = 0;
}

/* Continue a kept sequence, without the tokens that differ. */
static int take_over(struct tenon_llm *llm, struct llm_job *job, size_t at, size_t shared)
{
	struct llm_kept *k = &llm->batch->kept[at];
	int err = 0;

	if (k->count > shared)
		err = tenon_llm_pop(llm, k->id, (int64_t)(k->count - shared));
	if (err)
		return err;
	job->id = k->id;
	job->done = shared;
	forget(llm->batch, at);
	return 0;
}

/* Find the sequence with the longest common prefix: a kept one, or that of a running job. */
static size_t find_shared(const struct tenon_llm *llm, const struct llm_job *job, int64_t *parent,
			  size_t *kept)
{
	const struct llm_batch *b = llm->batch;
	const struct llm_job *other;
	size_t best = 0, i, n;

	*kept = SIZE_MAX;
	*parent = -1;
	if (llm->info.window)
		return 0;
	for (other = b->first; other; other = other->next) {
		n = other->id < 0 ? 0 : common(job, other->tokens, other->done);
		if (n > best) {
			best = n;
			*parent = other->id;
		}
	}
	for (i = 0; i < b->kept_count; i++) {
		n = common(job, b->kept[i].tokens, b->kept[i].count);
		if (n > best) {
			best = n;
			*parent = b->kept[i].id;
			*kept = i;
		}
	}
	return best >= SHARED_LEAST ? best : 0;
}

bool llm_job_waits(const struct tenon_llm *llm, const struct llm_job *job)
{
	const struct llm_job *other;
	size_t n;

	if (llm->info.window)
		return false;
	for (other = llm->batch->first; other; other = other->next) {
		/* one token is left when the prompt was read */
		if (other->id < 0 || other->count - other->done < 2)
			continue;
		n = common(job, other->tokens, other->count - 1);
		if (n >= SHARED_LEAST && n > other->done)
			return true;
	}
	return false;
}

static bool has_place(const struct tenon_llm *llm)
{
	return llm->batch->running + llm->batch->kept_count < (size_t)llm->info.sequences;
}

int llm_start_job(struct tenon_llm *llm, struct llm_job *job)
{
	struct llm_batch *b = llm->batch;
	int64_t parent;
	size_t kept, shared = find_shared(llm, job, &parent, &kept);
	int err;

	if (shared && kept != SIZE_MAX) {
		b->kept[kept].used = b->clock++;
		if (shared == b->kept[kept].count || !has_place(llm)) {
			err = take_over(llm, job, kept, shared);
			goto done;
		}
	}
	/* this cannot drop @parent: it was used last, or belongs to a job */
	while (!has_place(llm) && llm_drop_kept(llm))
		;
	if (shared)
		err = tenon_llm_fork(llm, parent, (int64_t)shared, &job->id);
	else
		err = tenon_llm_add(llm, &job->id);
	if (err)
		job->id = -1;
	else
		job->done = shared;
done:
	if (!err) {
		b->running++;
		job->usage.shared_tokens = shared;
	}
	return err;
}
