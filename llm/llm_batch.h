/* SPDX-License-Identifier: MIT */
/* Requests in one batch, and the sequences that they use. */
#ifndef LLM_LLM_BATCH_H
#define LLM_LLM_BATCH_H

#include "llm/llm_engine.h"
#include "llm/llm_reply.h"

struct llm_job {
	struct llm_job *next;
	uint64_t number;
	struct tenon_llm_request request; /* its prompt and stops are not used */
	struct tenon_llm_usage usage;
	int32_t *tokens; /* prompt, then reply */
	size_t count, room;
	size_t given; /* tokens whose text was given out */
	int64_t id;   /* sequence; -1: the job waits */
	size_t done;  /* tokens in the cache */
	struct reply reply;
	struct tenon_slice *stops;
	char *stop_bytes;
	uint16_t *in_prompt, *in_reply; /* how often each token occurs; NULL without penalties */
	uint64_t random;
	uint64_t traced; /* when its first step in a trace began; 0 for none */
	bool cancelled;
	bool ended;
};

/* a sequence that no job uses, whose tokens a later prompt may begin with */
struct llm_kept {
	int64_t id;
	int32_t *tokens;
	size_t count;
	uint64_t used; /* when, as a number that grows */
};

/* what one forward step has of each job; room for all sequences of the model */
struct llm_members {
	struct llm_job **jobs;
	struct tenon_llm_part *parts;
	size_t count;
};

struct llm_batch {
	struct llm_job *first; /* in the order of submission */
	uint64_t next_number;
	struct llm_kept *kept; /* room for all sequences of the model */
	size_t kept_count;
	struct llm_members members; /* of the running step */
	size_t running;
	uint64_t clock;
	/* a job had to give up its sequence: begin no other before one ends */
	bool full;
};

/* Give a job a sequence; one that has the beginning of its tokens already if there is one. */
int llm_start_job(struct tenon_llm *llm, struct llm_job *job);

/* Test whether a running job is about to read tokens that this one could share. */
bool llm_job_waits(const struct tenon_llm *llm, const struct llm_job *job);

/* Take the sequence of a job away: keep it for later prompts, or remove it. */
void llm_stop_job(struct tenon_llm *llm, struct llm_job *job, bool keep);

/* Remove the kept sequence that was not used for the longest time; false if there is none. */
bool llm_drop_kept(struct tenon_llm *llm);

#endif /* LLM_LLM_BATCH_H */
