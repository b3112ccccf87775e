/* SPDX-License-Identifier: MIT */
/* The JSON of requests to tenon-serve: what is read, what is refused and why, and each value in the place of each other. */
#include "tests/unit/suite.h"

#include <stdlib.h>
#include <string.h>

#include "tests/llm/refused.h"
#include "tests/llm/replaced_value.h"
#include "llm/serve/serve_request.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct tenon_llm_sampling sampling = { 1, 1, 1, 0, 0, 0 };

static int read_body(bool chat, struct tenon_slice body, struct serve_request *out)
{
	return serve_request_read(body, chat, &sampling, out);
}

/* ---- what is read */

static const char whole_chat[] =
	"{\"model\":\"m\",\"messages\":[{\"role\":\"developer\",\"content\":\"Be \\u00e9\"},"
	"{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a\\n\",\"x\":1},"
	"{\"type\":\"text\",\"text\":\"b\"}],\"name\":\"x\"},"
	"{\"role\":\"assistant\",\"content\":null,\"tool_calls\":null}],"
	"\"temperature\":0.5,\"top_p\":1e-1,\"repetition_penalty\":1.5E+0,\"presence_penalty\":-2,"
	"\"frequency_penalty\":0.25,\"n\":1,\"stream\":true,"
	"\"stream_options\":{\"include_usage\":true,\"other\":[]},\"stop\":[\"</s>\",\"x\"],"
	"\"max_tokens\":12,\"seed\":-4,\"tools\":[],\"logit_bias\":{},\"logprobs\":false,"
	"\"top_logprobs\":0,\"audio\":null,\"response_format\":{\"type\":\"text\",\"y\":2},"
	"\"user\":\"u\"}";

static const char whole_text[] = "{\"prompt\":[[1,2,300]],\"stop\":\"x\",\"echo\":false,"
				 "\"max_completion_tokens\":3,\"best_of\":1,\"suffix\":null}";

static void a_conversation_is_read(void **state)
{
	struct serve_request r;

	(void)state;
	assert_int_equal(read_body(true, tenon_slice_of(whole_chat), &r), 0);
	assert_slice(r.model, "m");
	assert_int_equal(r.message_count, 3);
	/* the new name of an old role */
	assert_slice(r.messages[0].role, "system");
	assert_slice(r.messages[0].content, "Be \303\251");
	assert_slice(r.messages[1].content, "a\nb");
	assert_slice(r.messages[2].content, "");
	assert_true(r.sampling.temperature == 0.5 && r.sampling.repetition_penalty == 1.5);
	assert_true(r.sampling.presence_penalty == -2 && r.sampling.frequency_penalty == 0.25);
	assert_true(r.sampling.top_p > 0.0999 && r.sampling.top_p < 0.1001);
	assert_true(r.sampling.seed == (uint64_t)-4);
	assert_true(r.stream && r.stream_usage);
	assert_int_equal(r.most, 12);
	assert_int_equal(r.stop_count, 2);
	assert_slice(r.stops[0], "</s>");
	serve_request_fini(&r);
}

static void a_text_to_continue_is_read(void **state)
{
	static const int32_t tokens[] = { 1, 2, 300 };
	static const char *const texts[] = {
		"{\"prompt\":\"Once\"}",
		"{\"prompt\":[\"Once\"],\"messages\":1}",
		"{\"prompt\":\"Once\",\"temperature\":null,\"max_tokens\":null,\"seed\":null,"
		"\"n\":null,\"best_of\":null,\"stream\":null,\"stream_options\":null,\"stop\":null,"
		"\"response_format\":null,\"tools\":null,\"functions\":[],\"modalities\":{}}",
	};
	struct serve_request r;

	(void)state;
	assert_int_equal(read_body(false, tenon_slice_of(whole_text), &r), 0);
	assert_int_equal(r.token_count, 3);
	assert_memory_equal(r.tokens, tokens, sizeof(tokens));
	assert_int_equal(r.most, 3);
	assert_int_equal(r.stop_count, 1);
	serve_request_fini(&r);
	for (size_t i = 0; i < COUNT(texts); i++) {
		assert_int_equal(read_body(false, tenon_slice_of(texts[i]), &r), 0);
		assert_slice(r.prompt, "Once");
		assert_true(r.sampling.temperature == 1 && !r.most && !r.stop_count && !r.stream);
		serve_request_fini(&r);
	}
}

/* ---- what is refused */

#define CHAT(more)     "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]," more "}"
#define PROMPT(more)   "{\"prompt\":\"a\"," more "}"
#define MESSAGE(parts) "{\"messages\":[{" parts "}]}"

#define NUMBER_TEXT(number) #number
#define TEXT_OF(macro)	    NUMBER_TEXT(macro)

static const struct refused refused_chats[] = {
	{ -TENON_E_FORMAT, "no object", "" },
	{ -TENON_E_FORMAT, "not JSON", "{]" },
	{ -TENON_E_TRUNCATED, "ends too early", "{\"messages\":[" },
	{ -TENON_E_FORMAT, "is an array, want an object", "[]" },
	{ -TENON_E_FORMAT, "something follows", "{} {}" },
	{ -TENON_E_FORMAT, "byte 0xff at 1 is not UTF-8", "{\377}" },
	{ -TENON_E_FORMAT, "byte 0xc3 at 2 is not UTF-8", "{\"\303" },
	{ -TENON_E_FORMAT, "there are no messages", "{}" },
	{ -TENON_E_FORMAT, "there are no messages", "{\"prompt\":\"a\"}" },
	{ -TENON_E_FORMAT, "not JSON", "{1:2}" },
	{ -TENON_E_FORMAT, "want an array", "{\"messages\":1}" },
	{ -TENON_E_VALUE, "0 messages", "{\"messages\":[]}" },
	{ -TENON_E_VALUE, "1 messages, want 1 to " TEXT_OF(SERVE_MESSAGES_MOST) ", once",
	  CHAT("\"messages\":[{\"role\":\"user\",\"content\":\"b\"}]") },
	{ -TENON_E_FORMAT, "want an object", "{\"messages\":[1]}" },
	{ -TENON_E_FORMAT, "a message without role or content", MESSAGE("\"role\":\"user\"") },
	{ -TENON_E_FORMAT, "a message without role or content", MESSAGE("\"content\":\"a\"") },
	{ -TENON_E_FORMAT, "a message without role or content",
	  MESSAGE("\"role\":\"\",\"content\":\"a\"") },
	{ -TENON_E_FORMAT, "role is a number", MESSAGE("\"role\":1,\"content\":\"a\"") },
	{ -TENON_E_FORMAT, "content is neither", MESSAGE("\"role\":\"user\",\"content\":1") },
	{ -TENON_E_FORMAT, "content is neither", MESSAGE("\"role\":\"user\",\"content\":{}") },
	{ -TENON_E_UNSUPPORTED, "tool_calls is not supported",
	  MESSAGE("\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{}]") },
	{ -TENON_E_FORMAT, "a part of a message", MESSAGE("\"role\":\"user\",\"content\":[1]") },
	{ -TENON_E_FORMAT, "the type of a part",
	  MESSAGE("\"role\":\"user\",\"content\":[{\"type\":1}]") },
	{ -TENON_E_FORMAT, "the text of a part",
	  MESSAGE("\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":[]}]") },
	{ -TENON_E_UNSUPPORTED, "a part of type \"image_url\"",
	  MESSAGE("\"role\":\"user\",\"content\":[{\"type\":\"image_url\",\"image_url\":{}}]") },
	{ -TENON_E_UNSUPPORTED, "a part of type \"text\"",
	  MESSAGE("\"role\":\"user\",\"content\":[{\"type\":\"text\"}]") },
	{ -TENON_E_UNSUPPORTED, "a part of type \"\"",
	  MESSAGE("\"role\":\"user\",\"content\":[{\"text\":\"a\"}]") },
	{ -TENON_E_FORMAT, "temperature is no number", CHAT("\"temperature\":\"1\"") },
	{ -TENON_E_FORMAT, "temperature is true", CHAT("\"temperature\":true") },
	{ -TENON_E_FORMAT, "want a number", CHAT("\"temperature\":-") },
	{ -TENON_E_FORMAT, "want a number", CHAT("\"temperature\":1.") },
	{ -TENON_E_FORMAT, "want a number", CHAT("\"temperature\":1e") },
	{ -TENON_E_FORMAT, "want a number", CHAT("\"temperature\":1e+") },
	{ -TENON_E_FORMAT, "want a number", CHAT("\"temperature\":1x") },
	{ -TENON_E_FORMAT, "want a number", CHAT("\"temperature\":1e999999") },
	{ -TENON_E_VALUE, "temperature is 101, want 0 to 100", CHAT("\"temperature\":101") },
	{ -TENON_E_VALUE, "temperature is -1", CHAT("\"temperature\":-1.0e0") },
	{ -TENON_E_VALUE, "want 0 to 100", CHAT("\"temperature\":123456789012345678901234567890") },
	{ -TENON_E_VALUE, "top_p is 1.5", CHAT("\"top_p\":1.5") },
	{ -TENON_E_VALUE, "repetition_penalty is 0", CHAT("\"repetition_penalty\":1e-999") },
	{ -TENON_E_UNSUPPORTED, "tools is not supported", CHAT("\"tools\":[{}]") },
	{ -TENON_E_UNSUPPORTED, "logit_bias is not supported", CHAT("\"logit_bias\":{\"1\":2}") },
	{ -TENON_E_UNSUPPORTED, "logprobs is not supported", CHAT("\"logprobs\":true") },
	{ -TENON_E_UNSUPPORTED, "top_logprobs is not supported", CHAT("\"top_logprobs\":1") },
	{ -TENON_E_UNSUPPORTED, "suffix is not supported", CHAT("\"suffix\":\"\"") },
	{ -TENON_E_UNSUPPORTED, "audio is not supported", CHAT("\"audio\":\"null\"") },
	{ -TENON_E_FORMAT, "model is", CHAT("\"model\":null") },
	{ -TENON_E_VALUE, "max_tokens is 0", CHAT("\"max_tokens\":0") },
	{ -TENON_E_FORMAT, "max_tokens", CHAT("\"max_completion_tokens\":\"1\"") },
	{ -TENON_E_FORMAT, "stop is", CHAT("\"stop\":1") },
	{ -TENON_E_FORMAT, "stop is", CHAT("\"stop\":[\"a\",null]") },
	{ -TENON_E_VALUE, "more than 16 stop strings",
	  CHAT("\"stop\":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]") },
	{ -TENON_E_VALUE, "more than 16 stop strings",
	  CHAT("\"stop\":[\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\","
	       "\"\",\"\"],"
	       "\"stop\":\"a\"") },
	{ -TENON_E_FORMAT, "seed", CHAT("\"seed\":1.5") },
	{ -TENON_E_VALUE, "n is 2", CHAT("\"n\":2") },
	{ -TENON_E_VALUE, "best_of is 0", CHAT("\"best_of\":0") },
	{ -TENON_E_FORMAT, "stream is neither true nor false", CHAT("\"stream\":1") },
	{ -TENON_E_FORMAT, "stream_options is", CHAT("\"stream_options\":true") },
	{ -TENON_E_FORMAT, "include_usage is neither",
	  CHAT("\"stream_options\":{\"include_usage\":0}") },
	{ -TENON_E_FORMAT, "a key", CHAT("\"stream_options\":{\"include_usage\"}") },
	{ -TENON_E_FORMAT, "response_format is", CHAT("\"response_format\":\"text\"") },
	{ -TENON_E_FORMAT, "type is", CHAT("\"response_format\":{\"type\":null}") },
	{ -TENON_E_UNSUPPORTED, "response_format \"json_object\"",
	  CHAT("\"response_format\":{\"type\":\"json_object\"}") },
};

static const struct refused refused_texts[] = {
	{ -TENON_E_FORMAT, "there is no prompt", "{}" },
	{ -TENON_E_UNSUPPORTED, "0 prompts in a request", "{\"prompt\":[]}" },
	{ -TENON_E_FORMAT, "there is no prompt", CHAT("\"n\":1") },
	{ -TENON_E_FORMAT, "two prompts", PROMPT("\"prompt\":\"b\"") },
	{ -TENON_E_FORMAT, "two prompts", "{\"prompt\":[1],\"prompt\":[2]}" },
	{ -TENON_E_FORMAT, "prompt is", "{\"prompt\":null}" },
	{ -TENON_E_FORMAT, "prompt is", "{\"prompt\":[{}]}" },
	{ -TENON_E_UNSUPPORTED, "2 prompts in a request", "{\"prompt\":[\"a\",\"b\"]}" },
	{ -TENON_E_UNSUPPORTED, "2 prompts in a request", "{\"prompt\":[[1],[2]]}" },
	{ -TENON_E_VALUE, "a token is -1", "{\"prompt\":[-1]}" },
	{ -TENON_E_VALUE, "a token", "{\"prompt\":[1,2147483648]}" },
	{ -TENON_E_FORMAT, "a token", "{\"prompt\":[1,\"a\"]}" },
	{ -TENON_E_FORMAT, "a token", "{\"prompt\":[[true]]}" },
};

static int read_any(bool chat, struct tenon_slice body)
{
	struct serve_request r;
	int err = read_body(chat, body, &r);

	if (!err)
		serve_request_fini(&r);
	return err;
}

static int read_chat(struct tenon_slice body)
{
	return read_any(true, body);
}

static int read_text(struct tenon_slice body)
{
	return read_any(false, body);
}

static void a_wrong_request_is_refused_with_the_reason(void **state)
{
	(void)state;
	assert_int_equal(count_wrong(refused_chats, COUNT(refused_chats), read_chat) +
				 count_wrong(refused_texts, COUNT(refused_texts), read_text),
			 0);
}

static void a_conversation_may_have_so_many_messages(void **state)
{
	static const char message[] = "{\"role\":\"user\",\"content\":\"a\"}";
	const size_t most = SERVE_MESSAGES_MOST;
	char *text = malloc((most + 1) * sizeof(message) + 32), *at, words[64];
	struct serve_request r;

	(void)state;
	assert_non_null(text);
	for (size_t count = most; count <= most + 1; count++) {
		at = stpcpy(text, "{\"messages\":[");
		for (size_t i = 0; i < count; i++)
			at = stpcpy(stpcpy(at, i ? "," : ""), message);
		strcpy(at, "]}");
		if (count > most) {
			assert_int_equal(read_body(true, tenon_slice_of(text), &r), -TENON_E_VALUE);
			snprintf(words, sizeof(words), "%zu messages, want 1 to %zu", count, most);
			assert_error_has(words);
		} else {
			assert_int_equal(read_body(true, tenon_slice_of(text), &r), 0);
			assert_int_equal(r.message_count, most);
			serve_request_fini(&r);
		}
	}
	free(text);
}

/* ---- what anyone may send */

/* It is read, or refused with a reason, and then nothing is left to be freed. */
static void check_any(bool chat, struct tenon_slice body)
{
	struct serve_request r;

	if (!read_body(chat, body, &r)) {
		assert_true(chat ? r.message_count : r.prompt.data || r.token_count);
		serve_request_fini(&r);
		return;
	}
	if (!message_has("the request"))
		fail_msg("%.*s: \"%s\"", (int)body.size, body.data, tenon_error_message());
	assert_null(r.strings);
	assert_null(r.messages);
	assert_null(r.tokens);
}

static void check_chat(struct tenon_slice body)
{
	check_any(true, body);
}

static void check_text(struct tenon_slice body)
{
	check_any(false, body);
}

static void each_value_may_be_any_other(void **state)
{
	(void)state;
	each_replaced_value(whole_chat, check_chat);
	each_replaced_value(whole_text, check_text);
}

static void a_request_that_ends_early_is_refused(void **state)
{
	struct serve_request r;

	(void)state;
	for (size_t size = 0; size < sizeof(whole_chat) - 1; size++) {
		/* a copy of this size, so that a sanitizer sees what is read behind it */
		char *copy = malloc(size + !size);

		assert_non_null(copy);
		memcpy(copy, whole_chat, size);
		if (!read_body(true, (struct tenon_slice){ copy, size }, &r))
			fail_msg("%zu bytes are a request", size);
		assert_error_has("the request");
		tenon_error_clear();
		free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_conversation_is_read),
		cmocka_unit_test(a_text_to_continue_is_read),
		cmocka_unit_test(a_wrong_request_is_refused_with_the_reason),
		cmocka_unit_test(a_conversation_may_have_so_many_messages),
		cmocka_unit_test(each_value_may_be_any_other),
		cmocka_unit_test(a_request_that_ends_early_is_refused),
	};

	return cmocka_run_group_tests_name("requests of tenon-serve", tests, NULL, NULL);
}
