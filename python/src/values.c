/* SPDX-License-Identifier: MIT */
/* Convert objects of Python to values of the library, and values to objects. */
#include "values.h"

#include <string.h>

#include "buffer.h"
#include "device.h"
#include "dlpack.h"
#include "errors.h"
#include "function.h"
#include "module.h"
#include "object.h"
#include "opaque.h"
#include "scalars.h"
#include "tensor.h"

/* ---- temporaries */

static struct temporary *temporary_more(struct temporaries *t)
{
	struct temporary **more, *fresh;
	size_t room = t->more_room ? t->more_room * 2 : 8;

	if (t->more_used == t->more_room) {
		more = PyMem_Realloc(t->more, room * sizeof(*more));
		if (!more)
			return NULL;
		t->more = more;
		t->more_room = room;
	}
	fresh = PyMem_Malloc(sizeof(*fresh));
	if (fresh)
		t->more[t->more_used++] = fresh;
	return fresh;
}

static struct temporary *temporary_add(struct temporaries *t)
{
	struct temporary *fresh =
		t->used < TEMPORARIES_INSIDE ? &t->inside[t->used++] : temporary_more(t);

	if (!fresh) {
		PyErr_NoMemory();
		return NULL;
	}
	fresh->object = NULL;
	fresh->pinned = NULL;
	return fresh;
}

static void temporary_end(struct temporary *t)
{
	tenon_object_unref(t->object);
	if (t->pinned)
		tensor_unpin(t->pinned);
}

void temporaries_release(struct temporaries *t)
{
	size_t i;

	for (i = 0; i < t->used; i++)
		temporary_end(&t->inside[i]);
	for (i = 0; i < t->more_used; i++) {
		temporary_end(t->more[i]);
		PyMem_Free(t->more[i]);
	}
	PyMem_Free(t->more);
}

/* Keep an object of the library, whose reference is taken over, and make a view of it. */
static int keep_object(struct temporaries *t, void *object, struct tenon_value *out)
{
	struct temporary *kept;

	if (!object)
		return -1;
	kept = temporary_add(t);
	if (!kept) {
		tenon_object_unref(object);
		return -1;
	}
	kept->object = object;
	*out = tenon_arg_object(object);
	return 0;
}

/* ---- from Python */

static int view_int(PyObject *from, struct tenon_value *out)
{
	int overflow;
	int64_t number = PyLong_AsLongLongAndOverflow(from, &overflow);

	if (overflow)
		PyErr_SetString(PyExc_OverflowError, "an integer does not fit 64 bits");
	else if (number == -1 && PyErr_Occurred())
		return -1;
	if (overflow)
		return -1;
	*out = tenon_arg_int(number);
	return 0;
}

static int view_str(struct temporaries *t, PyObject *from, struct tenon_value *out)
{
	struct tenon_value owned;
	Py_ssize_t size;
	const char *text = PyUnicode_AsUTF8AndSize(from, &size);

	if (!text)
		return -1;
	if (size > 7 && !memchr(text, 0, (size_t)size)) {
		*out = tenon_arg_string(text);
		return 0;
	}
	/* up to 7 bytes are in the value itself */
	if (errors_check(tenon_string_value((struct tenon_slice){ text, (size_t)size }, &owned)))
		return -1;
	if (owned.type >= TENON_TYPE_OBJECT)
		return keep_object(t, owned.as.object, out);
	*out = owned;
	return 0;
}

static int view_bytes(struct temporaries *t, PyObject *from, struct tenon_value *out)
{
	struct temporary *kept = temporary_add(t);
	Py_ssize_t size;
	char *bytes;

	if (!kept || PyBytes_AsStringAndSize(from, &bytes, &size))
		return -1;
	kept->bytes = (struct tenon_slice){ bytes, (size_t)size };
	*out = tenon_arg_bytes(&kept->bytes);
	return 0;
}

static int view_tensor(struct temporaries *t, PyObject *from, struct tenon_value *out)
{
	struct core_tensor *tensor = core_tensor_of(from);
	struct temporary *kept;

	if (!tensor->borrowed) {
		*out = tenon_arg_object(tensor->tensor);
		return 0;
	}
	kept = temporary_add(t);
	if (!kept)
		return -1;
	/* a called function must not keep what is borrowed, and uses it without the GIL */
	if (!tensor_pin(from))
		return -1;
	kept->pinned = tensor;
	*out = tenon_arg_tensor(&tensor->tensor->dl);
	return 0;
}

enum number { NO_NUMBER, NUMBER, TRUTH };

/* A number of numpy has the buffer protocol, too: it has no dimensions and no __dlpack__. */
static int number_of_numpy(PyObject *from)
{
	Py_buffer view;
	int number;

	if (!PyNumber_Check(from) || dlpack_offered(from))
		return NO_NUMBER;
	if (PyObject_GetBuffer(from, &view, PyBUF_FULL_RO))
		return -1;
	number = view.ndim ? NO_NUMBER : view.format && !strcmp(view.format, "?") ? TRUTH : NUMBER;
	PyBuffer_Release(&view);
	return number;
}

static int view_number(PyObject *from, struct tenon_value *out)
{
	PyObject *number;
	int err;

	if (PyIndex_Check(from)) {
		number = PyNumber_Index(from);
		err = number ? view_int(number, out) : -1;
	} else {
		number = PyNumber_Float(from);
		err = number ? 0 : -1;
		if (!err)
			*out = tenon_arg_float(PyFloat_AsDouble(number));
	}
	Py_XDECREF(number);
	return err;
}

/* A called function may keep the tensor, which keeps the buffer. */
static int view_buffer(struct temporaries *t, PyObject *from, struct tenon_value *out)
{
	int number = number_of_numpy(from);

	if (number == TRUTH)
		*out = tenon_arg_bool(PyObject_IsTrue(from) == 1);
	if (number != NO_NUMBER)
		return number < 0 ? -1 : number == TRUTH ? 0 : view_number(from, out);
	return keep_object(t, buffer_import(from, NULL, NULL), out);
}

static int own_items(PyObject *items, struct tenon_value *values, Py_ssize_t count,
		     Py_ssize_t *made)
{
	for (*made = 0; *made < count; ++*made)
		if (values_own(PyTuple_GetItem(items, *made), &values[*made]))
			return -1;
	return 0;
}

static void release_items(struct tenon_value *values, Py_ssize_t count)
{
	while (count--)
		tenon_value_release(&values[count]);
	PyMem_Free(values);
}

/* An array, or with @map a map of keys and values behind each other, of the items of a tuple, which is dropped. */
static void *container_of(PyObject *items, bool map)
{
	Py_ssize_t count = items ? PyTuple_Size(items) : -1, made = 0;
	struct tenon_value *values;
	struct tenon_array *array = NULL;
	struct tenon_map *pairs = NULL;
	int err = -1;

	if (count < 0)
		return NULL;
	values = PyMem_Malloc(((size_t)count + 1) * sizeof(*values));
	if (!values)
		PyErr_NoMemory();
	else if (!Py_EnterRecursiveCall(" while a container is converted")) {
		err = own_items(items, values, count, &made);
		Py_LeaveRecursiveCall();
	}
	if (!err)
		err = errors_check(map ? tenon_map_create(values, (size_t)count / 2, &pairs)
				       : tenon_array_create(values, (size_t)count, &array));
	if (values)
		release_items(values, made);
	Py_DECREF(items);
	return err ? NULL : map ? (void *)pairs : (void *)array;
}

static PyObject *pairs_of(PyObject *dict)
{
	/* a copy that no other thread changes */
	PyObject *copy = PyDict_Copy(dict), *items, *key, *value;
	Py_ssize_t at = 0, next = 0;

	items = copy ? PyTuple_New(2 * PyDict_Size(copy)) : NULL;
	while (items && PyDict_Next(copy, &at, &key, &value)) {
		PyTuple_SetItem(items, next++, Py_NewRef(key));
		PyTuple_SetItem(items, next++, Py_NewRef(value));
	}
	Py_XDECREF(copy);
	return items;
}

static void *shape_of(PyObject *from)
{
	struct tenon_shape *shape = NULL;
	int64_t *extents;
	Py_ssize_t count = scalars_read_extents(from, &extents);

	if (count >= 0)
		errors_check(tenon_shape_create(extents, (size_t)count, &shape));
	PyMem_Free(extents);
	return shape;
}

static void *opaque_of(PyObject *from)
{
	struct tenon_object *made = opaque_create(from);

	if (!made)
		PyErr_NoMemory();
	return made;
}

/* What is an instance of a class that is derived from one of these, or of another library's. */
static int view_other(struct temporaries *t, PyObject *from, struct tenon_value *out)
{
	if (PyLong_Check(from))
		return view_int(from, out);
	if (PyFloat_Check(from)) {
		*out = tenon_arg_float(PyFloat_AsDouble(from));
		return 0;
	}
	if (PyUnicode_Check(from))
		return view_str(t, from, out);
	if (PyBytes_Check(from))
		return view_bytes(t, from, out);
	if (PyList_Check(from) || PyTuple_Check(from))
		return keep_object(t, container_of(PySequence_Tuple(from), false), out);
	if (PyDict_Check(from))
		return keep_object(t, container_of(pairs_of(from), true), out);
	if (PyObject_CheckBuffer(from))
		return view_buffer(t, from, out);
	if (dlpack_offered(from))
		return keep_object(t, dlpack_import(from), out);
	if (PyCallable_Check(from))
		return keep_object(t, function_callback(from), out);
	if (PyComplex_Check(from)) {
		PyErr_SetString(PyExc_TypeError, "a complex number is no argument: use a tensor");
		return -1;
	}
	if (PyNumber_Check(from))
		return view_number(from, out);
	return keep_object(t, opaque_of(from), out);
}

/* What is of a class of this package. */
static int view_own(struct temporaries *t, PyObject *from, struct tenon_value *out)
{
	PyTypeObject *type = Py_TYPE(from);
	DLDataType dtype;

	if (type == core_function_type)
		return keep_object(t, function_of(from), out);
	if (type == core_module_type) {
		*out = tenon_arg_object(module_of(from));
		return 0;
	}
	if (type == core_object_type) {
		*out = tenon_arg_object(object_of(from));
		return 0;
	}
	if (type == core_device_type) {
		*out = tenon_arg_device(device_id(from));
		return 0;
	}
	if (type == core_dtype_type) {
		if (scalars_read_dtype(from, &dtype))
			return -1;
		*out = tenon_arg_dtype(dtype);
		return 0;
	}
	if (type == core_pointer_type) {
		*out = tenon_arg_pointer(PyLong_AsVoidPtr(from));
		return PyErr_Occurred() ? -1 : 0;
	}
	if (type == core_shape_type)
		return keep_object(t, shape_of(from), out);
	return view_other(t, from, out);
}

int values_view(struct temporaries *t, PyObject *from, struct tenon_value *out)
{
	PyTypeObject *type = Py_TYPE(from);

	if (type == core_tensor_type)
		return view_tensor(t, from, out);
	if (type == &PyLong_Type)
		return view_int(from, out);
	if (type == &PyFloat_Type) {
		*out = tenon_arg_float(PyFloat_AsDouble(from));
		return 0;
	}
	if (type == &PyUnicode_Type)
		return view_str(t, from, out);
	if (from == Py_None) {
		*out = tenon_arg_none();
		return 0;
	}
	if (type == &PyBool_Type) {
		*out = tenon_arg_bool(from == Py_True);
		return 0;
	}
	return view_own(t, from, out);
}

int values_own(PyObject *from, struct tenon_value *out)
{
	struct temporaries t;
	struct tenon_tensor *tensor;
	struct tenon_value view;
	int err;

	temporaries_begin(&t);
	err = values_view(&t, from, &view);
	if (!err && view.type == TENON_TYPE_DLTENSOR) {
		/* borrowed data ends with the call of the callback that got it */
		tensor = tensor_from(from);
		err = tensor ? 0 : -1;
		*out = tenon_arg_object(tensor);
	} else if (!err) {
		err = errors_check(tenon_value_own(&view, out));
	}
	temporaries_end(&t);
	return err;
}

/* ---- to Python */

PyObject *values_text(struct tenon_slice text)
{
	return PyUnicode_DecodeUTF8(text.size ? text.data : "", (Py_ssize_t)text.size,
				    "surrogateescape");
}

static PyObject *python_of_view(const struct tenon_value *view)
{
	struct tenon_value owned;

	return errors_check(tenon_value_own(view, &owned)) ? NULL : values_python(&owned);
}

static PyObject *list_of(const struct tenon_array *array)
{
	PyObject *list = PyList_New((Py_ssize_t)array->size), *item;
	int64_t i;

	for (i = 0; list && i < array->size; i++) {
		item = python_of_view(&array->data[i]);
		if (!item || PyList_SetItem(list, (Py_ssize_t)i, item))
			Py_CLEAR(list);
	}
	return list;
}

static PyObject *dict_of(const struct tenon_map *map)
{
	const struct tenon_value *key, *value;
	PyObject *dict = PyDict_New(), *name, *item;
	const void *at = NULL;

	while (dict && (at = tenon_map_next(map, at, &key, &value))) {
		name = python_of_view(key);
		item = name ? python_of_view(value) : NULL;
		if (!item || PyDict_SetItem(dict, name, item))
			Py_CLEAR(dict);
		Py_XDECREF(name);
		Py_XDECREF(item);
	}
	return dict;
}

/* Containers, whose items are converted, too. */
static PyObject *container_python(struct tenon_object *object)
{
	PyObject *made;

	if (Py_EnterRecursiveCall(" while a container is converted"))
		return NULL;
	if (object->type == TENON_TYPE_MAP || object->type == TENON_TYPE_DICT)
		made = dict_of((struct tenon_map *)object);
	else
		made = list_of((struct tenon_array *)object);
	Py_LeaveRecursiveCall();
	return made;
}

/* What is copied, so that the reference is dropped. */
static PyObject *copied_python(const struct tenon_value *owned)
{
	struct tenon_slice text;
	PyObject *inside;

	switch (owned->type) {
	case TENON_TYPE_STRING:
	case TENON_TYPE_SMALL_STRING:
		return errors_check(tenon_value_text(owned, &text)) ? NULL : values_text(text);
	case TENON_TYPE_BYTES:
	case TENON_TYPE_SMALL_BYTES:
		return errors_check(tenon_value_text(owned, &text))
			       ? NULL
			       : PyBytes_FromStringAndSize(text.data, (Py_ssize_t)text.size);
	case TENON_TYPE_SHAPE:
		return scalars_shape(((struct tenon_shape *)owned->as.object)->data,
				     ((struct tenon_shape *)owned->as.object)->size);
	case TENON_TYPE_ERROR:
		return errors_exception((struct tenon_error *)owned->as.object, -TENON_E_CALL);
	case TENON_TYPE_OPAQUE_PYTHON:
		inside = opaque_python(owned->as.object);
		return inside ? Py_NewRef(inside) : object_wrap(owned->as.object);
	default:
		return container_python(owned->as.object);
	}
}

PyObject *values_python(struct tenon_value *owned)
{
	PyObject *made;

	switch (owned->type) {
	case TENON_TYPE_NONE:
		return Py_NewRef(Py_None);
	case TENON_TYPE_INT:
		return PyLong_FromLongLong(owned->as.integer);
	case TENON_TYPE_BOOL:
		return PyBool_FromLong(owned->as.integer != 0);
	case TENON_TYPE_FLOAT:
		return PyFloat_FromDouble(owned->as.real);
	case TENON_TYPE_POINTER:
		return scalars_pointer(owned->as.pointer);
	case TENON_TYPE_DTYPE:
		return scalars_dtype(owned->as.dtype);
	case TENON_TYPE_DEVICE:
		return device_wrap(owned->as.device);
	case TENON_TYPE_TENSOR:
		return tensor_wrap((struct tenon_tensor *)owned->as.object);
	case TENON_TYPE_FUNCTION:
		return function_wrap((struct tenon_function *)owned->as.object);
	case TENON_TYPE_MODULE:
		return module_wrap((struct tenon_module *)owned->as.object);
	case TENON_TYPE_SMALL_STRING:
	case TENON_TYPE_SMALL_BYTES:
	case TENON_TYPE_STRING:
	case TENON_TYPE_BYTES:
	case TENON_TYPE_SHAPE:
	case TENON_TYPE_ERROR:
	case TENON_TYPE_ARRAY:
	case TENON_TYPE_LIST:
	case TENON_TYPE_MAP:
	case TENON_TYPE_DICT:
	case TENON_TYPE_OPAQUE_PYTHON:
		made = copied_python(owned);
		tenon_value_release(owned);
		return made;
	default:
		break;
	}
	if (owned->type >= TENON_TYPE_OBJECT) {
		made = object_wrap(owned->as.object);
		tenon_value_release(owned);
		return made;
	}
	return PyErr_Format(PyExc_TypeError,
			    "a function returned a value of the type %d, which only arguments have",
			    (int)owned->type);
}
