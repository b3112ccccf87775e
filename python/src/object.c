/* SPDX-License-Identifier: MIT */
/* tenon.Object: an object of called code that has no other type in Python. */
#include "object.h"

PyTypeObject *core_object_type;

struct core_object {
	CORE_HEAD struct tenon_object *object;
};

PyObject *object_wrap(struct tenon_object *object)
{
	PyObject *made = PyObject_New(PyObject, core_object_type);

	if (!made)
		return NULL;
	tenon_object_ref(object);
	((struct core_object *)core_part(made, core_object_type))->object = object;
	return made;
}

struct tenon_object *object_of(PyObject *object)
{
	return ((struct core_object *)core_part(object, core_object_type))->object;
}

static void object_dealloc(PyObject *self)
{
	tenon_object_unref(object_of(self));
	core_free(self);
}

static PyObject *object_type_key(PyObject *self, void *unused)
{
	return PyUnicode_FromString(tenon_type_key(object_of(self)->type));
}

static PyObject *object_repr(PyObject *self)
{
	return PyUnicode_FromFormat("<tenon.Object %s>", tenon_type_key(object_of(self)->type));
}

static PyGetSetDef object_attributes[] = {
	{ "type_key", object_type_key, NULL, "Name of the object's type.", NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot object_slots[] = {
	{ Py_tp_doc, "An object of called code, to be given back to it." },
	{ Py_tp_dealloc, object_dealloc },
	{ Py_tp_repr, object_repr },
	{ Py_tp_getset, object_attributes },
	{ 0, NULL },
};
static PyType_Spec object_spec = CORE_TYPE("tenon.Object", struct core_object, object_slots);

int object_init(PyObject *module)
{
	core_object_type = core_add_type(module, &object_spec, NULL);
	return core_object_type ? 0 : -1;
}
