/* SPDX-License-Identifier: MIT */
/* tenon.Object, for objects of the library that have no type of their own in Python. */
#ifndef PYTHON_OBJECT_H
#define PYTHON_OBJECT_H

#include "core.h"

/** object_wrap - an object of Python for one of the library, which is referenced */
PyObject *object_wrap(struct tenon_object *object);

/** object_of - what is inside, borrowed */
struct tenon_object *object_of(PyObject *object);

#endif /* PYTHON_OBJECT_H */
