/* SPDX-License-Identifier: MIT */
/* The bytes are whether a conversation is asked for, and the body of a request to tenon-serve. */
#include <stdlib.h>

#include "tests/fuzz/fuzz.h"
#include "llm/serve/serve_request.h"

/* tokens of JSON take 32 bytes each, for one byte of the text */
const size_t fuzz_memory_per_byte = 256;

void fuzz_seeds(void (*visit)(void *context, const char *name, struct tenon_slice bytes),
		void *context)
{
	static const char chat[] =
		"c{\"model\":\"m\",\"messages\":[{\"role\":\"system\",\"content\":\"Be \\u00e9\"},"
		"{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a\\n\"},{\"type\":"
		"\"text\","
		"\"text\":\"b\"}],\"name\":\"x\"},{\"role\":\"assistant\",\"content\":null,\"tool_"
		"calls\":null}],"
		"\"temperature\":0.5,\"top_p\":1e-1,\"n\":1,\"stream\":true,\"stream_options\":"
		"{\"include_usage\":true},\"stop\":[\"</s>\",\"x\"],\"max_tokens\":12,\"seed\":-4,"
		"\"presence_penalty\":0.25,\"tools\":[],\"response_format\":{\"type\":\"text\"},"
		"\"user\":\"u\"}";
	static const char text[] =
		"t{\"prompt\":\"Once\",\"stop\":\"x\",\"logprobs\":null,\"echo\":false,"
		"\"max_completion_tokens\":3,\"best_of\":1}";
	static const char tokens[] = "t{\"prompt\":[[1,2,300]],\"repetition_penalty\":1.1}";

	visit(context, "chat", (struct tenon_slice){ chat, sizeof(chat) - 1 });
	visit(context, "text", (struct tenon_slice){ text, sizeof(text) - 1 });
	visit(context, "tokens", (struct tenon_slice){ tokens, sizeof(tokens) - 1 });
}

/* What was read can be used: all strings and lists are inside the request's memory. */
static size_t use(const struct serve_request *r)
{
	size_t sum = r->model.size ? (unsigned char)r->model.data[0] : 0, i;

	for (i = 0; i < r->message_count; i++)
		sum += strlen(r->messages[i].role.data) + r->messages[i].content.size;
	for (i = 0; i < r->token_count; i++)
		sum += (size_t)r->tokens[i];
	for (i = 0; i < r->stop_count; i++)
		sum += r->stops[i].size ? (unsigned char)r->stops[i].data[r->stops[i].size - 1] : 0;
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct tenon_llm_sampling sampling = { 1, 1, 1, 0, 0, 0 };
	struct tenon_slice body = { (const char *)data + 1, size - 1 };
	struct serve_request r;
	int err;

	if (!size)
		return 0;
	err = serve_request_read(body, data[0] == 'c', &sampling, &r);
	fuzz_check(err);
	if (err)
		return 0;
	/* the defaults, or within what tenon_llm_submit() takes */
	if (!(r.sampling.temperature >= 0 && r.sampling.top_p <= 1) ||
	    r.stop_count > SERVE_STOPS_MOST || r.message_count > SERVE_MESSAGES_MOST)
		abort();
	/* never so much: the sum is there to be worked out */
	if (use(&r) == SIZE_MAX)
		abort();
	serve_request_fini(&r);
	return 0;
}
