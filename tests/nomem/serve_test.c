/* SPDX-License-Identifier: MIT */
/*
 * What tenon-serve does with requests, once for each allocation in it, with that one failing: a client gets its whole reply, an error that
 * is the server's and not its own, or the end of the connection; and the next clients get their replies.
 */
#include "tests/unit/suite.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/llm/serve_client.h"
#include "tests/llm/serve_in_process.h"
#include "tests/nomem/deeds.h"
#include "tests/nomem/failing_malloc.h"

#define FOLDER "tests/llm/data/bytes"

static const struct serve_exchange exchanges[] = {
	{ GET("/v1/models"), 200, "\"object\":\"list\"" },
	{ GET("/v1/other"), 404, "/v1/models" },
	{ POST("/v1/models", "{}"), 405, "GET, HEAD" },
	{ POST("/v1/chat/completions",
	       "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}],\"max_tokens\":2}"),
	  200, "\"completion_tokens\":2" },
	{ POST("/v1/chat/completions",
	       "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}],\"max_tokens\":2,"
	       "\"stream\":true,\"stream_options\":{\"include_usage\":true}}"),
	  200, "data: [DONE]" },
	{ POST("/v1/completions", "{\"prompt\":[72,105,33],\"max_tokens\":2,\"stop\":[\"a\"]}"),
	  200, "\"finish_reason\":\"" },
	{ POST("/v1/completions", "{\"prompt\":1}"), 400, "prompt is" },
};

#define EXCHANGES (sizeof(exchanges) / sizeof(exchanges[0]))

static struct tenon_llm *llm;

/* ---- clients, whose own memory does not fail */

/* Return: whether all is well. What failed for want of memory is no fault of the client. */
static bool is_whole(const struct serve_exchange *e, const char *reply)
{
	const int status = serve_status(reply);

	/* not in parts, and with two tokens of text */
	if (status == 200 && strstr(reply, "\"chat.completion\"") &&
	    strstr(reply, "\"content\":\"\"")) {
		fprintf(stderr, "a reply without its text: %s\n", reply);
		abort();
	}
	if (status == e->status && strstr(reply, e->words))
		return true;
	/* a wrong request is refused, perhaps without memory for the words; a stream has its status before it fails */
	if (status && status != e->status && status < 500) {
		fprintf(stderr, "%s%s: %s\n", e->head, e->body ? e->body : "", reply);
		abort();
	}
	return false;
}

static bool ask_all(unsigned int port)
{
	char reply[8192];
	bool whole = true;

	for (size_t i = 0; i < EXCHANGES; i++) {
		serve_ask(port, &exchanges[i], reply, sizeof(reply));
		whole &= is_whole(&exchanges[i], reply);
	}
	return whole;
}

/* ---- the server */

/* Return: whether each client got what it asked for */
static bool serve_clients(struct running *r)
{
	bool whole = false;

	if (running_listen(r))
		return false;
	if (!running_start(r)) {
		failing_malloc_pass(true);
		whole = ask_all(r->port);
		failing_malloc_pass(false);
		running_stop(r);
	}
	MHD_stop_daemon(r->s.daemon);
	return whole;
}

static int serve(uint64_t *facts)
{
	const struct tenon_llm_serve_options o = { .host = "127.0.0.1",
						   .body_most = 1000,
						   .connections_most = 8,
						   .requests_most = 4,
						   .deadline_ms = 60000 };
	struct running r;
	bool whole;

	(void)facts;
	running_init(&r, llm, &o);
	whole = serve_clients(&r);
	running_fini(&r);
	/* what was left of a failure, the last client heard */
	tenon_error_clear();
	return whole ? 0 : tenon_error(-TENON_E_NOMEM, "the server had no memory");
}

/* The model is there before: llm_test opens it without memory. */
static int make_ready(void **state)
{
	return tenon_llm_open(FOLDER, NULL, &llm) || deeds_prepare(state);
}

static int end(void **state)
{
	(void)state;
	tenon_llm_close(llm);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		DEED("a_server_answers_requests", serve),
	};

#if defined(__x86_64__) && defined(__GLIBC__)
	return cmocka_run_group_tests(tests, make_ready, end);
#else
	(void)tests;
	(void)make_ready;
	(void)end;
	printf("1..0 # SKIP the model is for x86-64 and glibc\n");
	return 77;
#endif
}
