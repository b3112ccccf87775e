/* SPDX-License-Identifier: MIT */
/* tenon.DType, tenon.Pointer and tenon.Shape, and reading them from other objects. */
#include "scalars.h"

#include <string.h>

#include "errors.h"

PyTypeObject *core_dtype_type;
PyTypeObject *core_pointer_type;
PyTypeObject *core_shape_type;

PyObject *scalars_dtype(DLDataType dtype)
{
	char name[TENON_DTYPE_NAME];

	return PyObject_CallFunction((PyObject *)core_dtype_type, "s",
				     tenon_dtype_name(dtype, name));
}

/* "float32" of numpy.dtype("float32") and of numpy.float32 */
static PyObject *name_of(PyObject *from)
{
	if (PyUnicode_Check(from))
		return Py_NewRef(from);
	return PyType_Check(from) ? PyObject_GetAttrString(from, "__name__") : PyObject_Str(from);
}

int scalars_read_dtype(PyObject *from, DLDataType *out)
{
	PyObject *name = name_of(from);
	Py_ssize_t size = 0;
	const char *text = name ? PyUnicode_AsUTF8AndSize(name, &size) : NULL;
	int err = -1;

	if (text)
		err = errors_check(
			tenon_dtype_parse((struct tenon_slice){ text, (size_t)size }, out));
	Py_XDECREF(name);
	return err;
}

/* DType(text): a name that is no dtype is an error */
static PyObject *dtype_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
	newfunc make = (newfunc)PyType_GetSlot(&PyUnicode_Type, Py_tp_new);
	PyObject *from, *text, *name, *inner;
	DLDataType dtype;
	char has[TENON_DTYPE_NAME];

	if ((keywords && PyDict_Size(keywords)) || !PyArg_ParseTuple(args, "O:DType", &from))
		return PyErr_Occurred() ? NULL
					: PyErr_Format(PyExc_TypeError, "DType() takes a name");
	if (scalars_read_dtype(from, &dtype))
		return NULL;
	text = PyUnicode_FromString(tenon_dtype_name(dtype, has));
	inner = text ? PyTuple_Pack(1, text) : NULL;
	name = inner ? make(type, inner, NULL) : NULL;
	Py_XDECREF(inner);
	Py_XDECREF(text);
	return name;
}

PyObject *scalars_pointer(void *address)
{
	PyObject *number = PyLong_FromVoidPtr(address), *made = NULL;

	if (number)
		made = PyObject_CallFunctionObjArgs((PyObject *)core_pointer_type, number, NULL);
	Py_XDECREF(number);
	return made;
}

PyObject *scalars_tuple(const int64_t *numbers, size_t count)
{
	PyObject *tuple = PyTuple_New((Py_ssize_t)count), *number;
	size_t i;

	for (i = 0; tuple && i < count; i++) {
		number = PyLong_FromLongLong(numbers[i]);
		if (!number || PyTuple_SetItem(tuple, (Py_ssize_t)i, number))
			Py_CLEAR(tuple);
	}
	return tuple;
}

PyObject *scalars_shape(const int64_t *extents, size_t count)
{
	PyObject *tuple = scalars_tuple(extents, count), *made = NULL;

	if (tuple)
		made = PyObject_CallFunctionObjArgs((PyObject *)core_shape_type, tuple, NULL);
	Py_XDECREF(tuple);
	return made;
}

static int read_extent(PyObject *from, int64_t *out)
{
	PyObject *number = PyNumber_Index(from);

	*out = number ? PyLong_AsLongLong(number) : -1;
	Py_XDECREF(number);
	return *out == -1 && PyErr_Occurred() ? -1 : 0;
}

Py_ssize_t scalars_read_extents(PyObject *from, int64_t **out)
{
	PyObject *items = PyIndex_Check(from) ? PyTuple_Pack(1, from) : PySequence_Tuple(from);
	Py_ssize_t i, count = items ? PyTuple_Size(items) : -1;

	*out = NULL;
	if (count < 0)
		return -1;
	*out = PyMem_Malloc(((size_t)count + 1) * sizeof(**out));
	if (!*out) {
		Py_DECREF(items);
		PyErr_NoMemory();
		return -1;
	}
	for (i = 0; i < count; i++)
		if (read_extent(PyTuple_GetItem(items, i), *out + i))
			break;
	Py_DECREF(items);
	if (i == count)
		return count;
	PyMem_Free(*out);
	*out = NULL;
	return -1;
}

int scalars_unsigned(PyObject *from, void *out)
{
	PyObject *number = PyNumber_Index(from);

	if (!number)
		return 0;
	*(uint64_t *)out = PyLong_AsUnsignedLongLong(number);
	Py_DECREF(number);
	if (!PyErr_Occurred())
		return 1;
	if (PyErr_ExceptionMatches(PyExc_OverflowError))
		PyErr_Format(PyExc_OverflowError, "a number from 0 to 2^64 - 1 expected, found %S",
			     from);
	return 0;
}

const char *scalars_name(PyObject *from, const char *what)
{
	const char *text;
	Py_ssize_t size;

	if (!PyUnicode_Check(from)) {
		PyErr_Format(PyExc_TypeError, "%s is a str, not %R", what,
			     (PyObject *)Py_TYPE(from));
		return NULL;
	}
	text = PyUnicode_AsUTF8AndSize(from, &size);
	if (!text || !memchr(text, 0, (size_t)size))
		return text;
	PyErr_Format(PyExc_ValueError, "%s has a character of the code 0: %R", what, from);
	return NULL;
}

static PyType_Slot dtype_slots[] = {
	{ Py_tp_doc,
	  "DType(name)\n\nA dtype, such as \"float32\": a str that functions take as a dtype." },
	{ Py_tp_new, dtype_new },
	{ 0, NULL },
};
static PyType_Spec dtype_spec = { "tenon.DType", 0, 0, Py_TPFLAGS_DEFAULT, dtype_slots };

static PyType_Slot pointer_slots[] = {
	{ Py_tp_doc, "Pointer(address)\n\nAn address: an int that functions take as a pointer." },
	{ 0, NULL },
};
static PyType_Spec pointer_spec = { "tenon.Pointer", 0, 0, Py_TPFLAGS_DEFAULT, pointer_slots };

static PyType_Slot shape_slots[] = {
	{ Py_tp_doc, "Shape(extents)\n\nA shape: a tuple of int that functions take as tvm-ffi's "
		     "ffi.Shape, not as an array." },
	{ 0, NULL },
};
static PyType_Spec shape_spec = { "tenon.Shape", 0, 0, Py_TPFLAGS_DEFAULT, shape_slots };

int scalars_init(PyObject *module)
{
	core_dtype_type = core_add_type(module, &dtype_spec, (PyObject *)&PyUnicode_Type);
	core_pointer_type = core_add_type(module, &pointer_spec, (PyObject *)&PyLong_Type);
	core_shape_type = core_add_type(module, &shape_spec, (PyObject *)&PyTuple_Type);
	return core_dtype_type && core_pointer_type && core_shape_type ? 0 : -1;
}
