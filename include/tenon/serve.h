/* SPDX-License-Identifier: MIT */
#ifndef TENON_SERVE_H
#define TENON_SERVE_H

/**
 * DOC: language models by HTTP
 *
 * What "tenon-serve" does, for programs: clients of OpenAI's interface use an open model of tenon/llm.h. tenon-serve(1) says
 * which requests there are, and docs/language-models.md how to make a model.
 *
 *	struct tenon_llm_serve_options o;
 *
 *	tenon_llm_serve_options_init(&o, sizeof(o));
 *	o.port = 0;
 *	o.listening = print_address;
 *	o.stop = is_over;
 *	err = tenon_llm_serve(llm, &o);
 *
 * There is no encryption: to serve other machines, put a proxy with TLS in front of it.
 *
 * These functions are in libtenon-serve, a library beside libtenon and libtenon-llm (pkg-config: tenon-serve), which needs
 * libmicrohttpd.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tenon/export.h>
#include <tenon/llm.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct tenon_llm_serve_options - how to serve a model
 * @size: size of this struct in the program, which tenon_llm_serve_options_init() writes
 * @host: numeric address to listen on
 * @port: at most 65535; 0 for any free one
 * @connections_most: connections at a time, 1 to 100000
 * @requests_most: requests that wait or are answered, 1 to 100000; others get status 429
 * @key: what clients send as "Authorization: Bearer KEY"; NULL for no key
 * @body_most: bytes of a request, 1 to 2^30
 * @tokens_most: tokens of the longest reply, at most INT32_MAX; 0 for as many as the context has room for
 * @deadline_ms: longest time of a request in milliseconds, at most 10^9; 0 for no limit
 * @listening: called once, with the address of the server, "http://127.0.0.1:8080", which is valid until it returns; or NULL
 * @say: called with a line for people: where the model is, what is worth knowing. It quotes the model's files, so it may have
 *	control characters; it is valid until @say returns. NULL for none
 * @stop: asked after each step, and at least four times a second while there is nothing to do, whether to end; not again once
 *	it said so. NULL to serve until SIGTERM or SIGINT
 * @context: passed to these three. The thread that called tenon_llm_serve() calls them
 */
struct tenon_llm_serve_options {
	size_t size;
	const char *host;
	unsigned int port;
	unsigned int connections_most;
	unsigned int requests_most;
	const char *key;
	size_t body_most;
	size_t tokens_most;
	uint64_t deadline_ms;
	void (*listening)(void *context, const char *address);
	void (*say)(void *context, const char *line);
	bool (*stop)(void *context);
	void *context;
};

/**
 * tenon_llm_serve_options_init - write the defaults of "tenon-serve"
 * @options: receives them
 * @size: sizeof(*options)
 *
 * Port 8080 of this machine alone, without a key; 64 connections, 64 requests of at most ten minutes and 1 MiB.
 */
TENON_API void tenon_llm_serve_options_init(struct tenon_llm_serve_options *options, size_t size);

/**
 * tenon_llm_serve - serve a model to clients, until it is to stop
 * @llm: an open model, which nothing else uses meanwhile; it stays open
 * @options: how
 *
 * The calling thread generates, another one that it starts has the connections. Requests that are not answered when it
 * stops get status 503. It waits until replies are sent, for at most five seconds. The program ignores SIGPIPE.
 *
 * Without @stop, the calling thread blocks SIGTERM and SIGINT while it serves. When it has served, it takes those that came;
 * then it restores its mask. Other threads of the program must not take these signals. Drivers start threads, which inherit
 * the mask: so the program blocks both signals before it opens devices.
 *
 * Return: 0 after it stopped; -TENON_E_VALUE for a host that is no numeric address, and for an option that is out of its
 *	bounds, which the error names; -TENON_E_IO when it cannot listen there.
 */
TENON_API int tenon_llm_serve(struct tenon_llm *llm, const struct tenon_llm_serve_options *options);

#ifdef __cplusplus
}
#endif

#endif /* TENON_SERVE_H */
