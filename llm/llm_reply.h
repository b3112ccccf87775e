/* SPDX-License-Identifier: MIT */
/* The text of a reply as it grows: whole characters, and no part of a stop string. */
#ifndef LLM_LLM_REPLY_H
#define LLM_LLM_REPLY_H

#include <tenon/buffer.h>
#include <tenon/string.h>

/**
 * struct reply - text of a reply
 * @held: text that is not given out yet
 * @ready: what reply_add() and reply_finish() gave out; the caller empties it
 * @stops: strings that end it
 * @stop_count: how many
 */
struct reply {
	struct tenon_buffer held;
	struct tenon_buffer ready;
	const struct tenon_slice *stops;
	size_t stop_count;
};

/**
 * reply_add - add the bytes of a token
 * @stopped: receives whether a stop string was found; it and what follows are dropped
 *
 * Return: 0; -TENON_E_NOMEM.
 */
int reply_add(struct reply *r, struct tenon_slice bytes, bool *stopped);

/** reply_finish - give out all that is held; invalid bytes become U+FFFD */
int reply_finish(struct reply *r);

void reply_fini(struct reply *r);

#endif /* LLM_LLM_REPLY_H */
