/* SPDX-License-Identifier: MIT */
/* tenon-serve in the test's process, without its main(): functions that let it listen, generate in a thread, and end. */
#ifndef TESTS_LLM_SERVE_IN_PROCESS_H
#define TESTS_LLM_SERVE_IN_PROCESS_H

#include <stdlib.h>
#include <string.h>

#include "llm/serve/serve.h"

struct running {
	struct tenon_llm_serve_options options;
	struct server s;
	pthread_t thread;
	char address[128];
	unsigned int port;
};

static inline void running_init(struct running *r, struct tenon_llm *llm,
				const struct tenon_llm_serve_options *options)
{
	*r = (struct running){ .options = *options };
	r->s.options = &r->options;
	r->s.llm = llm;
	serve_init(&r->s);
}

static inline void running_fini(struct running *r)
{
	serve_fini(&r->s);
}

/* Listen; nothing generates yet. Return: 0, or a status; then there is no daemon to stop */
static inline int running_listen(struct running *r)
{
	int err = serve_listen(&r->s, r->address, sizeof(r->address));

	if (!err)
		r->port = (unsigned int)atoi(strrchr(r->address, ':') + 1);
	return err;
}

static inline void *running_thread(void *server)
{
	serve_run(server);
	return NULL;
}

/* Begin to generate. Return: 0, or an error number */
static inline int running_start(struct running *r)
{
	return pthread_create(&r->thread, NULL, running_thread, &r->s);
}

/* New requests are refused from here on. */
static inline void running_begin_stop(struct running *r)
{
	pthread_mutex_lock(&r->s.lock);
	r->s.stopping = true;
	pthread_cond_signal(&r->s.work);
	pthread_mutex_unlock(&r->s.lock);
}

/* Stop to generate. */
static inline void running_stop(struct running *r)
{
	running_begin_stop(r);
	pthread_join(r->thread, NULL);
}

#endif /* TESTS_LLM_SERVE_IN_PROCESS_H */
