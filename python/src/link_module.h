/* SPDX-License-Identifier: MIT */
/* What the files of the extension tenon._link share: tenon/link.h, as functions that return plain data. */
#ifndef PYTHON_LINK_MODULE_H
#define PYTHON_LINK_MODULE_H

#include "core_api.h"

#include <tenon/link.h>

/* set when the module is made */
extern const struct core_api *link_core;

/** link_text - a str of a text; None for an empty one, which is unknown */
PyObject *link_text(const char *text);

/** link_slice - as link_text() */
PyObject *link_slice(struct tenon_slice text);

/** link_number - an int; None for a negative one, which is unknown */
PyObject *link_number(int64_t number);

/** link_index - an int; None for SIZE_MAX, which is none */
PyObject *link_index(size_t index);

/** link_path - converter of PyArg_ParseTuple(): bytes as a borrowed const char *, NULL for None */
int link_path(PyObject *from, void *out);

/* functions of the module, by the file that they are in; tenon/_linking.py describes them */
PyObject *link_files(PyObject *module, PyObject *args);
PyObject *link_inspect(PyObject *module, PyObject *args);
PyObject *link_unpack(PyObject *module, PyObject *args);
PyObject *link_verify(PyObject *module, PyObject *args);
PyObject *link_sign(PyObject *module, PyObject *args);

#endif /* PYTHON_LINK_MODULE_H */
