/* SPDX-License-Identifier: MIT */
/* Make the module tenon._link, and convert what its functions return. */
#include "link_module.h"

const struct core_api *link_core;

PyObject *link_slice(struct tenon_slice text)
{
	return text.size ? link_core->values_text(text) : Py_NewRef(Py_None);
}

PyObject *link_text(const char *text)
{
	return link_slice(tenon_slice_of(text));
}

PyObject *link_number(int64_t number)
{
	return number < 0 ? Py_NewRef(Py_None) : PyLong_FromLongLong(number);
}

PyObject *link_index(size_t index)
{
	return index == SIZE_MAX ? Py_NewRef(Py_None) : PyLong_FromSize_t(index);
}

int link_path(PyObject *from, void *out)
{
	char *path = NULL;

	if (from != Py_None && PyBytes_AsStringAndSize(from, &path, NULL))
		return 0;
	*(const char **)out = path;
	return 1;
}

static PyMethodDef functions[] = {
	{ "link", link_files, METH_VARARGS, NULL },
	{ "inspect", link_inspect, METH_VARARGS, NULL },
	{ "unpack", link_unpack, METH_VARARGS, NULL },
	{ "verify", link_verify, METH_VARARGS, NULL },
	{ "sign", link_sign, METH_VARARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

static int fill(PyObject *module)
{
	link_core = core_api_import();
	return link_core ? 0 : -1;
}

CORE_MODULE(_link, "The functions of tenon/_linking.py, on libtenon-link.", functions, fill)
