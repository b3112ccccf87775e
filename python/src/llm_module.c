/* SPDX-License-Identifier: MIT */
/* Make the module tenon._llm, and convert tokens. */
#include "llm_module.h"

const struct core_api *llm_core;

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

static struct PyModuleDef definition = {
	PyModuleDef_HEAD_INIT,
	.m_name = "tenon._llm",
	.m_doc = "What tenon/_language.py uses of libtenon-llm.",
	.m_size = -1,
};

PyMODINIT_FUNC PyInit__llm(void);

PyMODINIT_FUNC PyInit__llm(void)
{
	PyObject *module;

	llm_core = core_api_import();
	module = llm_core ? PyModule_Create(&definition) : NULL;
	if (module && (llm_reply_init() || llm_model_init(module)))
		Py_CLEAR(module);
	return module;
}
