/* SPDX-License-Identifier: MIT */
/* Replies as text that is printed as it comes, as numbers, or as JSON. */
#ifndef TOOLS_CHAT_CHAT_REPLY_H
#define TOOLS_CHAT_CHAT_REPLY_H

#include <tenon/llm.h>

#include "tools/cli/cli.h"

/**
 * struct chat_reply - a reply that is being generated
 * @out: where it is printed; NULL until it is this reply's turn
 * @numbers: print tokens instead of text
 * @terminal: replace control characters
 * @text: all of it
 * @tokens: all of them, int32_t
 * @printed: what was printed: bytes of @text, or @tokens
 * @end: why it ended; 0 while it goes on
 * @message: reason for TENON_LLM_ERROR
 * @usage: what it took
 */
struct chat_reply {
	FILE *out;
	bool numbers;
	bool terminal;
	struct tenon_buffer text;
	struct tenon_buffer tokens;
	size_t printed;
	enum tenon_llm_end end;
	char *message;
	struct tenon_llm_usage usage;
};

/* callbacks of a request, whose context is a struct chat_reply */
void chat_reply_text(void *context, struct tenon_slice text, const int32_t *tokens, size_t count);
void chat_reply_end(void *context, enum tenon_llm_end end, const char *message,
		    const struct tenon_llm_usage *usage);

/* Print what was not printed yet. */
void chat_reply_print(struct chat_reply *r);

/* Print speed and memory in a line. */
void chat_reply_figures(const struct chat_reply *r, const struct tenon_llm_info *info, FILE *to);

/* Print the reply as a line of JSON; a status. */
int chat_reply_json(const struct chat_reply *r, const struct tenon_llm_info *info, FILE *out);

void chat_reply_fini(struct chat_reply *r);

#endif /* TOOLS_CHAT_CHAT_REPLY_H */
