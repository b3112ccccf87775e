/* SPDX-License-Identifier: MIT */
/* Print a reply as it comes, then its figures. */
#include "tools/chat/chat_reply.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <tenon/backend/buffer.h>

#include "tools/json/json_value.h"
#include "tools/text/text.h"

void chat_reply_text(void *context, struct tenon_slice text, const int32_t *tokens, size_t count)
{
	struct chat_reply *r = context;

	tenon_buffer_slice(&r->text, text);
	tenon_buffer_append(&r->tokens, tokens, count * sizeof(*tokens));
	chat_reply_print(r);
}

void chat_reply_end(void *context, enum tenon_llm_end end, const char *message,
		    const struct tenon_llm_usage *usage)
{
	struct chat_reply *r = context;

	r->end = end;
	r->message = strdup(message);
	r->usage = *usage;
}

static void print_tokens(struct chat_reply *r)
{
	const int32_t *tokens = (const int32_t *)(const void *)r->tokens.data;
	size_t count = r->tokens.size / sizeof(*tokens);

	for (; r->printed < count; r->printed++)
		fprintf(r->out, r->printed ? ",%" PRIi32 : "%" PRIi32, tokens[r->printed]);
}

void chat_reply_print(struct chat_reply *r)
{
	struct tenon_slice rest;

	if (!r->out)
		return;
	if (r->numbers) {
		print_tokens(r);
	} else if (r->printed < r->text.size) {
		rest = (struct tenon_slice){ r->text.data + r->printed, r->text.size - r->printed };
		if (r->terminal)
			printable_lines(rest, r->out);
		else
			fwrite(rest.data, 1, rest.size, r->out);
		r->printed = r->text.size;
	}
	fflush(r->out);
}

static double speed(const struct tenon_llm_usage *u)
{
	/* the first token is the prompt's */
	return u->tokens > 1 && u->last > u->first
		       ? (double)(u->tokens - 1) * 1e9 / (double)(u->last - u->first)
		       : 0;
}

static uint64_t process_memory(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_SELF, &usage) ? 0 : (uint64_t)usage.ru_maxrss * 1024;
}

void chat_reply_figures(const struct chat_reply *r, const struct tenon_llm_info *info, FILE *to)
{
	char first[TIMING_TEXT], weights[SIZE_TEXT], cache[SIZE_TEXT], process[SIZE_TEXT];
	const struct tenon_llm_usage *u = &r->usage;

	fprintf(to, "%zu tokens, %.1f tokens/s, first after %s; prompt %zu tokens (%zu shared); ",
		u->tokens, speed(u),
		u->first ? timing_text(u->first - u->submitted, first) : "nothing",
		u->prompt_tokens, u->shared_tokens);
	fprintf(to, "memory: weights %s, cache %s, process %s%s\n",
		size_text(info->weight_bytes, weights), size_text(info->cache_bytes, cache),
		size_text(process_memory(), process),
		r->end == TENON_LLM_LENGTH ? "; ended at the limit of tokens" : "");
}

#ifdef CONFIG_JSON
static const char *const ends[] = {
	[TENON_LLM_STOP] = "stop",	     [TENON_LLM_LENGTH] = "length",
	[TENON_LLM_CANCELLED] = "cancelled", [TENON_LLM_DEADLINE] = "deadline",
	[TENON_LLM_ERROR] = "error",
};

int chat_reply_json(const struct chat_reply *r, const struct tenon_llm_info *info, FILE *out)
{
	const int32_t *tokens = (const int32_t *)(const void *)r->tokens.data;
	const struct tenon_llm_usage *u = &r->usage;
	cJSON *json = cJSON_CreateObject(), *list = cJSON_CreateArray(),
	      *memory = cJSON_CreateObject();
	size_t i;

	json_set(json, "text",
		 json_of_text(
			 (struct tenon_slice){ r->text.data ? r->text.data : "", r->text.size }));
	for (i = 0; i < r->tokens.size / sizeof(*tokens); i++)
		json_append(list, json_of_int(tokens[i]));
	json_set(json, "tokens", list);
	json_set(json, "end", cJSON_CreateString(ends[r->end]));
	if (r->end == TENON_LLM_ERROR)
		json_set(json, "error", json_of_text(tenon_slice_of(r->message)));
	json_set(json, "prompt_tokens", json_of_int((int64_t)u->prompt_tokens));
	json_set(json, "shared_tokens", json_of_int((int64_t)u->shared_tokens));
	json_set(json, "reply_tokens", json_of_int((int64_t)u->tokens));
	json_set(json, "first_token_ns",
		 json_of_int(u->first ? (int64_t)(u->first - u->submitted) : 0));
	json_set(json, "tokens_per_second", json_of_real(speed(u)));
	json_set(memory, "weights", json_of_int((int64_t)info->weight_bytes));
	json_set(memory, "cache", json_of_int((int64_t)info->cache_bytes));
	json_set(memory, "process", json_of_int((int64_t)process_memory()));
	json_set(json, "memory", memory);
	return json_print_line(json, out);
}
#endif

void chat_reply_fini(struct chat_reply *r)
{
	tenon_buffer_fini(&r->text);
	tenon_buffer_fini(&r->tokens);
	free(r->message);
}
