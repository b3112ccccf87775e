/* SPDX-License-Identifier: MIT */
/* Objects of Python that pass through the library, in tvm-ffi's ffi.OpaquePyObject. */
#ifndef PYTHON_OPAQUE_H
#define PYTHON_OPAQUE_H

#include "core.h"

/** opaque_create - wrap an object of Python, which is referenced; NULL when out of memory */
struct tenon_object *opaque_create(PyObject *python);

/** opaque_python - the object inside, borrowed; NULL for an object of any other type or extension */
PyObject *opaque_python(struct tenon_object *object);

#endif /* PYTHON_OPAQUE_H */
