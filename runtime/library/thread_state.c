/* SPDX-License-Identifier: MIT */
/* Create and free the state of a thread. */
#include "runtime/library/thread_state.h"

#include "lib/brief_errors.h"

#include <pthread.h>
#include <stdlib.h>

static pthread_key_t state_key;
static pthread_once_t state_once = PTHREAD_ONCE_INIT;

static void state_free(void *state)
{
	struct thread_state *s = state;

	tenon_buffer_fini(&s->backtrace);
	tenon_value_release(&s->legacy_text);
	free(s->streams);
	free(s);
}

static void state_key_make(void)
{
	pthread_key_create(&state_key, state_free);
}

struct thread_state *thread_state_peek(void)
{
	pthread_once(&state_once, state_key_make);
	return pthread_getspecific(state_key);
}

struct thread_state *thread_state(void)
{
	struct thread_state *s = thread_state_peek();

	if (s)
		return s;
	s = calloc(1, sizeof(*s));
	if (s && pthread_setspecific(state_key, s)) {
		free(s);
		s = NULL;
	}
	if (!s)
		tenon_error(-TENON_E_NOMEM, "no memory for the state of a thread");
	return s;
}
