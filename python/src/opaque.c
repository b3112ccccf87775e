/* SPDX-License-Identifier: MIT */
/* Carry objects of Python through the library. */
#include "opaque.h"

#include <stdlib.h>

/**
 * struct opaque - an object of Python as an object of the library
 * @object: header; type TENON_TYPE_OPAQUE_PYTHON
 * @python: one reference
 */
struct opaque {
	struct tenon_object object;
	PyObject *python;
};

static void opaque_delete(void *self, int flags)
{
	struct opaque *o = self;
	PyGILState_STATE state;

	/* what is released after the interpreter ended stays */
	if (flags & TENON_DELETE_CONTENT && Py_IsInitialized()) {
		state = PyGILState_Ensure();
		Py_DECREF(o->python);
		PyGILState_Release(state);
	}
	if (flags & TENON_DELETE_MEMORY)
		free(o);
}

struct tenon_object *opaque_create(PyObject *python)
{
	struct opaque *o = malloc(sizeof(*o));

	if (!o)
		return NULL;
	tenon_object_init(&o->object, TENON_TYPE_OPAQUE_PYTHON, opaque_delete);
	o->python = Py_NewRef(python);
	return &o->object;
}

PyObject *opaque_python(struct tenon_object *object)
{
	/* tvm_ffi has objects of this type, too, which only it can read */
	return object->deleter == opaque_delete ? ((struct opaque *)object)->python : NULL;
}
