/* SPDX-License-Identifier: MIT */
/* What is sent, as clients of OpenAI's interface expect it. */
#include <inttypes.h>
#include <tenon/backend/buffer.h>

#include "lib/json_quote.h"
#include "llm/serve/serve.h"

void serve_write_error(struct tenon_buffer *out, unsigned int status, const char *message)
{
	tenon_buffer_printf(out, "{\"error\":{\"message\":");
	json_quote(out, tenon_slice_of(message));
	tenon_buffer_printf(out, ",\"type\":\"%s\",\"param\":null,\"code\":%s}}",
			    status >= 500 ? "server_error" : "invalid_request_error",
			    status == 404 ? "\"model_not_found\"" : "null");
}

const char *serve_finish(enum tenon_llm_end end)
{
	return end == TENON_LLM_STOP ? "stop" : "length";
}

static void put_head(struct tenon_buffer *out, const struct exchange *e, const char *object)
{
	tenon_buffer_printf(out,
			    "{\"id\":\"%s-%" PRIu64 "\",\"object\":\"%s\",\"created\":%" PRIi64
			    ",\"model\":",
			    e->request.chat ? "chatcmpl" : "cmpl", e->number, object, e->created);
	json_quote(out, tenon_slice_of(tenon_llm_info(e->server->llm)->name));
}

static void put_usage(struct tenon_buffer *out, const struct tenon_llm_usage *u)
{
	tenon_buffer_printf(
		out,
		"\"usage\":{\"prompt_tokens\":%zu,\"completion_tokens\":%zu,"
		"\"total_tokens\":%zu,\"prompt_tokens_details\":{\"cached_tokens\":%zu}}",
		u->prompt_tokens, u->tokens, u->prompt_tokens + u->tokens, u->shared_tokens);
}

void serve_write_reply(struct tenon_buffer *out, const struct exchange *e, enum tenon_llm_end end,
		       const struct tenon_llm_usage *usage)
{
	const struct tenon_slice text = { e->text.data, e->text.size };

	put_head(out, e, e->request.chat ? "chat.completion" : "text_completion");
	tenon_buffer_printf(out, ",\"choices\":[{\"index\":0,%s",
			    e->request.chat ? "\"message\":{\"role\":\"assistant\",\"content\":"
					    : "\"text\":");
	json_quote(out, text);
	tenon_buffer_printf(out, "%s,\"logprobs\":null,\"finish_reason\":\"%s\"}],",
			    e->request.chat ? "}" : "", serve_finish(end));
	put_usage(out, usage);
	tenon_buffer_append(out, "}", 1);
}

void serve_write_part(struct tenon_buffer *out, const struct exchange *e,
		      const struct tenon_slice *text, const char *finish)
{
	tenon_buffer_printf(out, "data: ");
	put_head(out, e, e->request.chat ? "chat.completion.chunk" : "text_completion");
	tenon_buffer_printf(out, ",\"choices\":[{\"index\":0,%s",
			    !e->request.chat ? "\"text\":" : "\"delta\":{");
	if (e->request.chat && !text && !finish)
		tenon_buffer_printf(out, "\"role\":\"assistant\",\"content\":\"\"");
	if (e->request.chat && text)
		tenon_buffer_printf(out, "\"content\":");
	if (text || !e->request.chat)
		json_quote(out, text ? *text : tenon_slice_of(""));
	tenon_buffer_printf(out, "%s,\"logprobs\":null,\"finish_reason\":%s%s%s}]}\n\n",
			    e->request.chat ? "}" : "", finish ? "\"" : "",
			    finish ? finish : "null", finish ? "\"" : "");
}

void serve_write_usage(struct tenon_buffer *out, const struct exchange *e,
		       const struct tenon_llm_usage *usage)
{
	tenon_buffer_printf(out, "data: ");
	put_head(out, e, e->request.chat ? "chat.completion.chunk" : "text_completion");
	tenon_buffer_printf(out, ",\"choices\":[],");
	put_usage(out, usage);
	tenon_buffer_printf(out, "}\n\n");
}

void serve_write_model(struct tenon_buffer *out, const struct server *s)
{
	tenon_buffer_printf(out, "{\"id\":");
	json_quote(out, tenon_slice_of(tenon_llm_info(s->llm)->name));
	tenon_buffer_printf(out, ",\"object\":\"model\",\"created\":0,\"owned_by\":\"tenon\"}");
}

void serve_write_models(struct tenon_buffer *out, const struct server *s)
{
	tenon_buffer_printf(out, "{\"object\":\"list\",\"data\":[");
	serve_write_model(out, s);
	tenon_buffer_printf(out, "]}");
}
