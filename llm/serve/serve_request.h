/* SPDX-License-Identifier: MIT */
/* The JSON of a request, which comes from anyone who can connect. */
#ifndef LLM_SERVE_SERVE_REQUEST_H
#define LLM_SERVE_SERVE_REQUEST_H

#include <tenon/llm.h>

#define SERVE_MESSAGES_MOST 1024
#define SERVE_STOPS_MOST    16

/**
 * struct serve_request - a request to generate text
 * @strings: decoded strings, in which the others point
 * @model: the model it asks for; empty for any
 * @chat: a conversation, not a text to continue
 * @messages: @message_count messages of a conversation; the names of roles are those of tenon/llm.h
 * @prompt: text to continue, if there are no @tokens
 * @tokens: @token_count tokens to continue
 * @sampling: begins as the caller set it
 * @most: longest reply in tokens; 0 for the default
 * @stops: @stop_count strings
 * @stream: send parts of the reply as they come
 * @stream_usage: send what it took at the end of a stream
 */
struct serve_request {
	char *strings;
	struct tenon_slice model;
	bool chat;
	struct tenon_llm_message *messages;
	size_t message_count;
	struct tenon_slice prompt;
	int32_t *tokens;
	size_t token_count;
	struct tenon_llm_sampling sampling;
	size_t most;
	struct tenon_slice stops[SERVE_STOPS_MOST];
	size_t stop_count;
	bool stream;
	bool stream_usage;
};

/**
 * serve_request_read - read the body of a request
 * @body: JSON
 * @chat: it is one of /v1/chat/completions, not of /v1/completions
 * @sampling: what is used where the request says nothing
 * @out: receives the request; serve_request_fini() frees it
 *
 * Members that are not known are ignored; known ones that ask for something that is not supported are
 * an error.
 *
 * Return: 0; -TENON_E_FORMAT, -TENON_E_TRUNCATED, -TENON_E_VALUE, -TENON_E_UNSUPPORTED for a wrong
 *	request; -TENON_E_NOMEM.
 */
int serve_request_read(struct tenon_slice body, bool chat,
		       const struct tenon_llm_sampling *sampling, struct serve_request *out);

void serve_request_fini(struct serve_request *r);

#endif /* LLM_SERVE_SERVE_REQUEST_H */
