/* SPDX-License-Identifier: MIT */
/* Requests to a language model, and their replies as objects of Python. */
#include "llm_module.h"

#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>

/**
 * struct llm_reply - what a request got, until it is taken; under the lock of its model
 * @owners: the object of Python, and the model's list until the reply is complete
 * @unwanted: to be cancelled in the next step; without the lock
 * @next: in the model's list
 * @job: number of the request
 * @text: not taken yet
 * @tokens: those of @text
 * @end: 0 while it is not complete
 * @message: the reason for TENON_LLM_ERROR; NULL for no memory
 * @usage: once it is complete
 */
struct llm_reply {
	atomic_int owners;
	atomic_bool unwanted;
	struct llm_reply *next;
	uint64_t job;
	struct tenon_buffer text;
	struct tenon_buffer tokens;
	enum tenon_llm_end end;
	char *message;
	struct tenon_llm_usage usage;
};

/** struct reply_object - a reply as an object of Python, with a reference of its model */
struct reply_object {
	CORE_HEAD PyObject *model;
	struct llm_reply *reply;
};

static PyTypeObject *reply_type;

static struct reply_object *reply_object_of(PyObject *self)
{
	return core_part(self, reply_type);
}

static void reply_unref(struct llm_reply *r)
{
	if (atomic_fetch_sub(&r->owners, 1) > 1)
		return;
	tenon_buffer_fini(&r->text);
	tenon_buffer_fini(&r->tokens);
	free(r->message);
	free(r);
}

/* ---- in a step, without the GIL */

static void take_text(void *context, struct tenon_slice text, const int32_t *tokens, size_t count)
{
	struct llm_reply *r = context;

	tenon_buffer_slice(&r->text, text);
	tenon_buffer_append(&r->tokens, tokens, count * sizeof(*tokens));
}

static void take_end(void *context, enum tenon_llm_end end, const char *message,
		     const struct tenon_llm_usage *usage)
{
	struct llm_reply *r = context;

	r->end = end;
	r->message = end == TENON_LLM_ERROR ? strdup(message) : NULL;
	r->usage = *usage;
}

void llm_replies_cancel(struct llm_model *m)
{
	struct llm_reply *r;

	for (r = m->replies; r; r = r->next)
		if (atomic_load(&r->unwanted))
			tenon_llm_cancel(m->llm, r->job);
}

void llm_replies_sweep(struct llm_model *m, bool all)
{
	struct llm_reply **at = &m->replies, *r;

	while ((r = *at)) {
		if (all && !r->end)
			r->end = TENON_LLM_CANCELLED;
		if (!r->end) {
			at = &r->next;
			continue;
		}
		*at = r->next;
		reply_unref(r);
	}
}

/* ---- requests */

/* The strings of a tuple of bytes, which lives longer; NULL with an exception set. */
static struct tenon_slice *read_stops(PyObject *tuple, size_t *count)
{
	struct tenon_slice *stops;
	Py_ssize_t size;
	char *text;
	size_t i;

	*count = (size_t)PyTuple_Size(tuple);
	stops = PyMem_Calloc(*count + 1, sizeof(*stops));
	if (!stops)
		PyErr_NoMemory();
	for (i = 0; stops && i < *count; i++) {
		if (PyBytes_AsStringAndSize(PyTuple_GetItem(tuple, (Py_ssize_t)i), &text, &size)) {
			PyMem_Free(stops);
			return NULL;
		}
		stops[i] = (struct tenon_slice){ text, (size_t)size };
	}
	return stops;
}

/* An object with a reply that nothing was written to. */
static PyObject *reply_new(PyObject *model)
{
	PyObject *made = PyObject_New(PyObject, reply_type);
	struct reply_object *o;

	if (!made)
		return NULL;
	o = reply_object_of(made);
	o->model = Py_NewRef(model);
	o->reply = calloc(1, sizeof(*o->reply));
	if (!o->reply) {
		Py_DECREF(made);
		return PyErr_NoMemory();
	}
	atomic_init(&o->reply->owners, 1);
	return made;
}

/* Hand a request over; a reply that the model writes to is in its list. */
static int submit(struct llm_model *m, const struct tenon_llm_request *request, struct llm_reply *r)
{
	int err = llm_enter(m);

	if (err)
		return err;
	err = tenon_llm_submit(m->llm, request, &r->job);
	if (!err) {
		atomic_fetch_add(&r->owners, 1);
		r->next = m->replies;
		m->replies = r;
	}
	llm_leave(m);
	return err;
}

/* submit(tokens, most, (temperature, ...), seed, stops, timeout, ignore_end) */
PyObject *llm_submit(PyObject *self, PyObject *args)
{
	struct tenon_llm_request request = { .size = sizeof(request),
					     .text = take_text,
					     .end = take_end };
	struct tenon_llm_sampling *s = &request.sampling;
	struct tenon_buffer tokens = TENON_BUFFER_INIT;
	struct llm_model *m = llm_model_of(self);
	struct tenon_slice *stops = NULL;
	PyObject *numbers, *strings, *timeout, *made = NULL;
	struct llm_reply *reply;
	unsigned long long seed;
	Py_ssize_t most;
	int ignore_end, err = -1;

	if (!PyArg_ParseTuple(args, "O!n(ddddd)KO!Op:submit", &PyTuple_Type, &numbers, &most,
			      &s->temperature, &s->top_p, &s->repetition_penalty,
			      &s->presence_penalty, &s->frequency_penalty, &seed, &PyTuple_Type,
			      &strings, &timeout, &ignore_end) ||
	    llm_core->timeline_deadline(timeout, &request.deadline) ||
	    llm_read_tokens(numbers, &tokens))
		goto done;
	stops = read_stops(strings, &request.stop_count);
	made = stops ? reply_new(self) : NULL;
	if (!made)
		goto done;
	reply = reply_object_of(made)->reply;
	request.prompt = (const void *)tokens.data;
	request.prompt_count = tokens.size / sizeof(int32_t);
	request.most = (size_t)most;
	s->seed = seed;
	request.stops = stops;
	request.ignore_end = ignore_end;
	request.context = reply;
	Py_BEGIN_ALLOW_THREADS err = submit(m, &request, reply);
	Py_END_ALLOW_THREADS if (err) llm_core->errors_set(err);
done:
	PyMem_Free(stops);
	tenon_buffer_fini(&tokens);
	if (err)
		Py_XDECREF(made);
	return err ? NULL : made;
}

/* ---- replies */

static void reply_dealloc(PyObject *self)
{
	struct reply_object *o = reply_object_of(self);

	if (o->reply) {
		atomic_store(&o->reply->unwanted, true);
		reply_unref(o->reply);
	}
	Py_DECREF(o->model);
	core_free(self);
}

static PyObject *reply_cancel(PyObject *self, PyObject *unused)
{
	atomic_store(&reply_object_of(self)->reply->unwanted, true);
	Py_RETURN_NONE;
}

static PyObject *usage_of(const struct tenon_llm_usage *u)
{
	return Py_BuildValue("{sn sn sn sd sd}", "prompt_tokens", (Py_ssize_t)u->prompt_tokens,
			     "shared_tokens", (Py_ssize_t)u->shared_tokens, "tokens",
			     (Py_ssize_t)u->tokens, "first_seconds",
			     u->first ? (double)(u->first - u->submitted) / 1e9 : 0.0, "seconds",
			     u->last ? (double)(u->last - u->submitted) / 1e9 : 0.0);
}

/* take(): text and tokens that came since the last call; and once it is complete how it ended, why, and what it took */
static PyObject *reply_take(PyObject *self, PyObject *unused)
{
	static const char *const ends[] = {
		[TENON_LLM_STOP] = "stop",	     [TENON_LLM_LENGTH] = "length",
		[TENON_LLM_CANCELLED] = "cancelled", [TENON_LLM_DEADLINE] = "deadline",
		[TENON_LLM_ERROR] = "error",
	};
	struct reply_object *o = reply_object_of(self);
	struct tenon_buffer text, tokens;
	struct llm_model *m = llm_model_of(o->model);
	struct llm_reply *r = o->reply;
	enum tenon_llm_end end;
	PyObject *made;

	Py_BEGIN_ALLOW_THREADS pthread_mutex_lock(&m->lock);
	text = r->text;
	tokens = r->tokens;
	r->text = r->tokens = (struct tenon_buffer)TENON_BUFFER_INIT;
	end = r->end;
	pthread_mutex_unlock(&m->lock);
	/* nothing writes to a reply that is complete */
	Py_END_ALLOW_THREADS if (text.status || tokens.status) made = PyErr_NoMemory();
	else made = Py_BuildValue(
		"NNzzN",
		PyUnicode_DecodeUTF8(text.size ? text.data : "", (Py_ssize_t)text.size, "replace"),
		llm_list_of_tokens(&tokens), ends[end],
		end != TENON_LLM_ERROR ? NULL
		: r->message	       ? r->message
				       : "memory ran out",
		end ? usage_of(&r->usage) : Py_NewRef(Py_None));
	tenon_buffer_fini(&text);
	tenon_buffer_fini(&tokens);
	return made;
}

static PyMethodDef methods[] = {
	{ "take", reply_take, METH_NOARGS, NULL },
	{ "cancel", reply_cancel, METH_NOARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

static PyType_Slot slots[] = {
	{ Py_tp_doc, "A reply of a language model; tenon.Reply is for programs." },
	{ Py_tp_dealloc, reply_dealloc },
	{ Py_tp_methods, methods },
	{ 0, NULL },
};
static PyType_Spec spec = CORE_TYPE("tenon._llm.Reply", struct reply_object, slots);

int llm_reply_init(void)
{
	reply_type = (PyTypeObject *)PyType_FromSpec(&spec);
	return reply_type ? 0 : -1;
}
