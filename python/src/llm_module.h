/* SPDX-License-Identifier: MIT */
/*
 * What the files of the extension tenon._llm share: tenon/llm.h, for tenon/_language.py.
 *
 * A language model is used by one thread at a time: each use takes the model's lock, without the GIL. A step writes
 * replies to buffers of their requests under this lock, and runs no code of Python.
 */
#ifndef PYTHON_LLM_MODULE_H
#define PYTHON_LLM_MODULE_H

#include "core_api.h"

#include <pthread.h>
#include <stdatomic.h>
#include <tenon/llm.h>

/* set when the module is made */
extern const struct core_api *llm_core;

struct llm_reply;

/**
 * struct llm_model - an open language model as an object of Python
 * @lock: of all below, of the model, and of the replies that it writes
 * @llm: NULL once closed
 * @replies: those that are not complete
 */
struct llm_model {
	CORE_HEAD pthread_mutex_t lock;
	struct tenon_llm *llm;
	struct llm_reply *replies;
};

/** llm_model_of - the struct of an object */
struct llm_model *llm_model_of(PyObject *self);

/** llm_enter - take the lock of a model, without the GIL; -TENON_E_USAGE, and no lock, for one that is closed */
int llm_enter(struct llm_model *m);

/** llm_leave - release the lock */
void llm_leave(struct llm_model *m);

/** llm_read_tokens - append the numbers of a tuple to a buffer, as int32_t; 0, or -1 with an exception set */
int llm_read_tokens(PyObject *tuple, struct tenon_buffer *out);

/** llm_list_of_tokens - a list of the numbers in a buffer */
PyObject *llm_list_of_tokens(const struct tenon_buffer *tokens);

/** llm_submit - the method of a model that begins a request: an object for its reply */
PyObject *llm_submit(PyObject *self, PyObject *args);

/** llm_replies_cancel - before a step, cancel requests whose reply is not wanted. Caller holds the lock. */
void llm_replies_cancel(struct llm_model *m);

/** llm_replies_sweep - drop complete replies from the list; with @all, end the others and drop them, too. Caller holds the lock. */
void llm_replies_sweep(struct llm_model *m, bool all);

/* make the types; 0 or -1 */
int llm_model_init(PyObject *module);
int llm_reply_init(void);

#endif /* PYTHON_LLM_MODULE_H */
