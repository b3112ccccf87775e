/* SPDX-License-Identifier: MIT */
/* Make the module tenon._llm, and convert tokens. */
#include "llm_module.h"

#include <tenon/backend/buffer.h>

const struct core_api *llm_core;

static PyMethodDef functions[] = {
	{ NULL, NULL, 0, NULL },
};

int llm_read_tokens(PyObject *tuple, struct tenon_buffer *out)
{
	Py_ssize_t count = PyTuple_Size(tuple), i;
	int32_t token;
	long number;

	for (i = 0; i < count; i++) {
		number = PyLong_AsLong(PyTuple_GetItem(tuple, i));
		if (number == -1 && PyErr_Occurred())
			return -1;
		token = (int32_t)number;
		if (token != number) {
			PyErr_Format(PyExc_ValueError, "there is no token %ld", number);
			return -1;
		}
		tenon_buffer_append(out, &token, sizeof(token));
	}
	if (out->status)
		PyErr_NoMemory();
	return out->status ? -1 : 0;
}

PyObject *llm_list_of_tokens(const struct tenon_buffer *tokens)
{
	const int32_t *token = (const void *)tokens->data;
	Py_ssize_t count = (Py_ssize_t)(tokens->size / sizeof(*token)), i;
	PyObject *list = PyList_New(count), *number;

	for (i = 0; list && i < count; i++) {
		number = PyLong_FromLong(token[i]);
		if (!number || PyList_SetItem(list, i, number))
			Py_CLEAR(list);
	}
	return list;
}

static int fill(PyObject *module)
{
	llm_core = core_api_import();
	return !llm_core || llm_reply_init() || llm_model_init(module) ? -1 : 0;
}

CORE_MODULE(_llm, "What tenon/_language.py uses of libtenon-llm.", functions, fill)
