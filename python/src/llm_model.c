/* SPDX-License-Identifier: MIT */
/* A language model as an object of Python. */
#include "llm_module.h"

#include <tenon/backend/buffer.h>

static PyTypeObject *model_type;

struct llm_model *llm_model_of(PyObject *self)
{
	return core_part(self, model_type);
}

int llm_enter(struct llm_model *m)
{
	pthread_mutex_lock(&m->lock);
	if (m->llm)
		return 0;
	pthread_mutex_unlock(&m->lock);
	return tenon_error(-TENON_E_USAGE, "the language model is closed");
}

void llm_leave(struct llm_model *m)
{
	pthread_mutex_unlock(&m->lock);
}

static PyObject *model_close(PyObject *self, PyObject *unused)
{
	struct llm_model *m = llm_model_of(self);

	Py_BEGIN_ALLOW_THREADS pthread_mutex_lock(&m->lock);
	tenon_llm_close(m->llm);
	m->llm = NULL;
	llm_replies_sweep(m, true);
	pthread_mutex_unlock(&m->lock);
	Py_END_ALLOW_THREADS Py_RETURN_NONE;
}

static void model_dealloc(PyObject *self)
{
	Py_XDECREF(model_close(self, NULL));
	pthread_mutex_destroy(&llm_model_of(self)->lock);
	core_free(self);
}

static PyObject *info_of(const struct tenon_llm_info *i)
{
	PyObject *context =
		i->context == INT64_MAX ? Py_NewRef(Py_None) : PyLong_FromLongLong(i->context);

	return Py_BuildValue("{ss ss ss ss sN sL sL sL sL sL sK sK sO}", "name", i->name, "type",
			     i->type, "quantization", i->quantization, "tokenizer", i->tokenizer,
			     "context", context, "window", (long long)i->window, "chunk",
			     (long long)i->chunk, "sequences", (long long)i->sequences, "tokens",
			     (long long)i->tokens, "vocabulary", (long long)i->vocabulary,
			     "weight_bytes", (unsigned long long)i->weight_bytes, "cache_bytes",
			     (unsigned long long)i->cache_bytes, "has_template",
			     i->has_template ? Py_True : Py_False);
}

static PyObject *sampling_of(const struct tenon_llm *llm)
{
	struct tenon_llm_sampling s = tenon_llm_sampling(llm);

	return Py_BuildValue("{sd sd sd sd sd sK}", "temperature", s.temperature, "top_p", s.top_p,
			     "repetition_penalty", s.repetition_penalty, "presence_penalty",
			     s.presence_penalty, "frequency_penalty", s.frequency_penalty, "seed",
			     (unsigned long long)s.seed);
}

/* open(path, device, weights, sequences, tokens, chunk, bytes): the model, its description, and its sampling */
static PyObject *open_model(PyObject *module, PyObject *args)
{
	struct tenon_llm_options options = { .size = sizeof(options), .weights = NULL };
	long long sequences, tokens, chunk;
	PyObject *made, *device, *weights;
	struct llm_model *m;
	char *folder = NULL;
	const char *path;
	int bytes, err;

	if (!PyArg_ParseTuple(args, "yOOLLLp:open", &path, &device, &weights, &sequences, &tokens,
			      &chunk, &bytes) ||
	    llm_core->device_read(device, &options.device) ||
	    (weights != Py_None && PyBytes_AsStringAndSize(weights, &folder, NULL)))
		return NULL;
	options.weights = folder;
	options.sequences = sequences;
	options.tokens = tokens;
	options.chunk = chunk;
	options.bytes = bytes;
	made = PyObject_New(PyObject, model_type);
	if (!made)
		return NULL;
	m = llm_model_of(made);
	pthread_mutex_init(&m->lock, NULL);
	m->llm = NULL;
	m->replies = NULL;
	Py_BEGIN_ALLOW_THREADS err = tenon_llm_open(path, &options, &m->llm);
	Py_END_ALLOW_THREADS if (!err) return Py_BuildValue(
		"NNN", made, info_of(tenon_llm_info(m->llm)), sampling_of(m->llm));
	m->llm = NULL;
	Py_DECREF(made);
	return llm_core->errors_set(err);
}

/* The text of a str, which lives longer. */
static int read_text(PyObject *from, struct tenon_slice *out)
{
	Py_ssize_t size = 0;

	out->data = PyUnicode_AsUTF8AndSize(from, &size);
	out->size = (size_t)size;
	return out->data ? 0 : -1;
}

static PyObject *model_encode(PyObject *self, PyObject *args)
{
	struct llm_model *m = llm_model_of(self);
	struct tenon_buffer tokens = TENON_BUFFER_INIT;
	PyObject *from, *made = NULL;
	struct tenon_slice text;
	int special, err;

	if (!PyArg_ParseTuple(args, "Up:encode", &from, &special) || read_text(from, &text))
		return NULL;
	Py_BEGIN_ALLOW_THREADS err = llm_enter(m);
	if (!err) {
		err = tenon_llm_encode(m->llm, text, special ? TENON_LLM_SPECIAL : 0, &tokens);
		llm_leave(m);
	}
	Py_END_ALLOW_THREADS made = err ? llm_core->errors_set(err) : llm_list_of_tokens(&tokens);
	tenon_buffer_fini(&tokens);
	return made;
}

static PyObject *model_decode(PyObject *self, PyObject *args)
{
	struct tenon_buffer tokens = TENON_BUFFER_INIT, text = TENON_BUFFER_INIT;
	struct llm_model *m = llm_model_of(self);
	PyObject *numbers, *made = NULL;
	const int32_t *token;
	size_t i;
	int err;

	if (!PyArg_ParseTuple(args, "O!:decode", &PyTuple_Type, &numbers) ||
	    llm_read_tokens(numbers, &tokens))
		goto done;
	token = (const void *)tokens.data;
	Py_BEGIN_ALLOW_THREADS err = llm_enter(m);
	if (!err) {
		for (i = 0; i < tokens.size / sizeof(*token); i++)
			tenon_buffer_slice(&text, tenon_llm_decode(m->llm, token[i]));
		llm_leave(m);
		err = text.status;
	}
	Py_END_ALLOW_THREADS made = err ? llm_core->errors_set(err)
					: PyUnicode_DecodeUTF8(text.size ? text.data : "",
							       (Py_ssize_t)text.size, "replace");
done:
	tenon_buffer_fini(&tokens);
	tenon_buffer_fini(&text);
	return made;
}

/* The messages of a tuple of (role, content), which lives longer; NULL with an exception set. */
static struct tenon_llm_message *read_messages(PyObject *tuple, size_t *count)
{
	struct tenon_llm_message *messages;
	PyObject *role, *content;
	size_t i;

	*count = (size_t)PyTuple_Size(tuple);
	messages = PyMem_Calloc(*count + 1, sizeof(*messages));
	if (!messages)
		PyErr_NoMemory();
	for (i = 0; messages && i < *count; i++) {
		if (!PyArg_ParseTuple(PyTuple_GetItem(tuple, (Py_ssize_t)i), "UU", &role,
				      &content) ||
		    read_text(role, &messages[i].role) ||
		    read_text(content, &messages[i].content)) {
			PyMem_Free(messages);
			return NULL;
		}
	}
	return messages;
}

static PyObject *model_prompt(PyObject *self, PyObject *args)
{
	struct llm_model *m = llm_model_of(self);
	struct tenon_buffer tokens = TENON_BUFFER_INIT;
	struct tenon_llm_message *messages;
	PyObject *tuple, *made;
	size_t count;
	int err;

	if (!PyArg_ParseTuple(args, "O!:prompt", &PyTuple_Type, &tuple))
		return NULL;
	messages = read_messages(tuple, &count);
	if (!messages)
		return NULL;
	Py_BEGIN_ALLOW_THREADS err = llm_enter(m);
	if (!err) {
		err = tenon_llm_prompt(m->llm, messages, count, &tokens);
		llm_leave(m);
	}
	Py_END_ALLOW_THREADS PyMem_Free(messages);
	made = err ? llm_core->errors_set(err) : llm_list_of_tokens(&tokens);
	tenon_buffer_fini(&tokens);
	return made;
}

static PyObject *model_step(PyObject *self, PyObject *unused)
{
	struct llm_model *m = llm_model_of(self);
	int err, more = 0;

	Py_BEGIN_ALLOW_THREADS err = llm_enter(m);
	if (!err) {
		llm_replies_cancel(m);
		more = tenon_llm_step(m->llm);
		llm_replies_sweep(m, false);
		llm_leave(m);
	}
	Py_END_ALLOW_THREADS return err ? llm_core->errors_set(err) : PyBool_FromLong(more);
}

static PyMethodDef methods[] = {
	{ "close", model_close, METH_NOARGS, NULL },
	{ "encode", model_encode, METH_VARARGS, NULL },
	{ "decode", model_decode, METH_VARARGS, NULL },
	{ "prompt", model_prompt, METH_VARARGS, NULL },
	{ "submit", llm_submit, METH_VARARGS, NULL },
	{ "step", model_step, METH_NOARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

static PyType_Slot slots[] = {
	{ Py_tp_doc, "An open language model; tenon.LanguageModel is for programs." },
	{ Py_tp_dealloc, model_dealloc },
	{ Py_tp_methods, methods },
	{ 0, NULL },
};
static PyType_Spec spec = CORE_TYPE("tenon._llm.Model", struct llm_model, slots);

static PyMethodDef functions[] = {
	{ "open", open_model, METH_VARARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

int llm_model_init(PyObject *module)
{
	model_type = (PyTypeObject *)PyType_FromSpec(&spec);
	return model_type ? PyModule_AddFunctions(module, functions) : -1;
}
