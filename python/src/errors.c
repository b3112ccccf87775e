/* SPDX-License-Identifier: MIT */
/* Convert errors of the library to exceptions, and exceptions of callbacks to errors. */
#include "errors.h"

#include <stdio.h>
#include <string.h>

#include "opaque.h"

/* longest chain of causes that is followed, and most frames that are read of one error */
#define CAUSES_MOST 16
#define FRAMES_MOST 512

static PyObject *base_error;
static PyObject *call_error;
/* classes of errors that called code raised, by the name of the exception of Python that they also are */
static PyObject *call_classes;
/* of errors that the library makes, which have all fields of struct tenon_error */
static void (*own_deleter)(void *self, int flags);

/* classes of errors of the library */
static struct exception_class {
	const char *name;
	const char *builtin; /* the exception of Python that it also is */
	const char *second;  /* another, or NULL */
	const char *document;
	int statuses[3];
	PyObject *made;
} classes[] = {
	{ "ArgumentTypeError",
	  "TypeError",
	  NULL,
	  "A value has the wrong type or dtype.",
	  { TENON_E_TYPE },
	  NULL },
	{ "ArgumentValueError",
	  "ValueError",
	  NULL,
	  "A value has a wrong shape, range or alignment.",
	  { TENON_E_VALUE, TENON_E_OVERFLOW },
	  NULL },
	{ "FormatError",
	  "ValueError",
	  NULL,
	  "The bytes of a file or payload violate their format.",
	  { TENON_E_FORMAT, TENON_E_TRUNCATED, TENON_E_CYCLE },
	  NULL },
	{ "FileError", "OSError", NULL, "A system call failed.", { TENON_E_IO }, NULL },
	{ "OutOfMemoryError", "MemoryError", NULL, "There is no memory.", { TENON_E_NOMEM }, NULL },
	{ "NotFoundError",
	  "AttributeError",
	  "LookupError",
	  "There is no function, input or model of this name.",
	  { TENON_E_NOT_FOUND, TENON_E_NO_FUNCTION },
	  NULL },
	{ "UnsupportedError",
	  "NotImplementedError",
	  NULL,
	  "This build, or this object, does not support the operation.",
	  { TENON_E_UNSUPPORTED, TENON_E_NO_LOADER },
	  NULL },
	{ "DeviceError",
	  "RuntimeError",
	  NULL,
	  "A device is missing or failed.",
	  { TENON_E_DEVICE, TENON_E_LOST },
	  NULL },
	{ "DeadlineError", "TimeoutError", NULL, "A deadline passed.", { TENON_E_TIMEOUT }, NULL },
	{ "UsageError",
	  "RuntimeError",
	  NULL,
	  "The order of calls is wrong.",
	  { TENON_E_USAGE, TENON_E_EXISTS },
	  NULL },
};

/* The class of a status, borrowed; NULL, without an exception set, for one that called code returned. */
static PyObject *class_of_status(int status)
{
	size_t i, k;

	for (i = 0; status && i < sizeof(classes) / sizeof(classes[0]); i++)
		for (k = 0; k < 3; k++)
			if (classes[i].statuses[k] == -status)
				return classes[i].made;
	return NULL;
}

/* An exception of Python by its name; NULL, without an exception set, for any other name. */
static PyObject *builtin_exception(const char *name)
{
	PyObject *key = PyUnicode_FromString(name), *found = NULL;

	if (key)
		found = core_dict_get(PyEval_GetBuiltins(), key);
	Py_XDECREF(key);
	PyErr_Clear();
	/* KeyboardInterrupt and the like are no errors of called code */
	if (found && (!PyType_Check(found) ||
		      !PyType_IsSubtype((PyTypeObject *)found, (PyTypeObject *)PyExc_Exception)))
		Py_CLEAR(found);
	return found;
}

/* A class below tenon.Error and exceptions of Python, @second and @third: these references are taken over. */
static PyObject *make_class(const char *name, const char *document, PyObject *first,
			    PyObject *second, PyObject *third)
{
	PyObject *bases = PyTuple_Pack(third ? 3 : second ? 2 : 1, first, second, third);
	PyObject *made = NULL;

	if (bases)
		made = PyErr_NewExceptionWithDoc(name, document, bases, NULL);
	Py_XDECREF(bases);
	Py_XDECREF(second);
	Py_XDECREF(third);
	return made;
}

/* The class of an error that called code raised with a kind. */
static PyObject *class_of_kind(PyObject *kind)
{
	PyObject *made = core_dict_get(call_classes, kind), *builtin, *first;
	const char *name;
	char full[80];

	if (made || PyErr_Occurred())
		return made;
	/* other texts, such as those with surrogates or a character of the code 0, name no class */
	if (!PyUnicode_IsIdentifier(kind))
		return Py_NewRef(call_error);
	name = PyUnicode_AsUTF8AndSize(kind, NULL);
	if (!name)
		return NULL;
	builtin = strlen(name) < sizeof(full) - 8 ? builtin_exception(name) : NULL;
	if (!builtin)
		return Py_NewRef(call_error);
	snprintf(full, sizeof(full), "tenon.%s", name);
	made = make_class(full, "Called code raised an error of this kind.", call_error, builtin,
			  NULL);
	if (!made)
		return NULL;
	/* threads that make it at the same time all take the first */
	first = PyObject_CallMethod(call_classes, "setdefault", "OO", kind, made);
	Py_DECREF(made);
	return first;
}

static PyObject *text_of(struct tenon_slice text)
{
	return PyUnicode_DecodeUTF8(text.size ? text.data : "", (Py_ssize_t)text.size, "replace");
}

/* "  File "f", line 1, in g" as (file, line, function); NULL without an exception set for other lines */
static PyObject *frame_of_line(const char *line, size_t size)
{
	static const char before[] = "  File \"", between[] = "\", line ", after[] = ", in ";
	const char *end = line + size, *file = line + sizeof(before) - 1, *stop, *function;
	long number = 0;

	if (size < sizeof(before) || memcmp(line, before, sizeof(before) - 1))
		return NULL;
	stop = memmem(file, (size_t)(end - file), between, sizeof(between) - 1);
	if (!stop)
		return NULL;
	function = stop + sizeof(between) - 1;
	while (function < end && *function >= '0' && *function <= '9' && number < 100000000)
		number = number * 10 + (*function++ - '0');
	if ((size_t)(end - function) < sizeof(after) - 1 ||
	    memcmp(function, after, sizeof(after) - 1))
		return NULL;
	function += sizeof(after) - 1;
	return Py_BuildValue("(NlN)", PyUnicode_DecodeUTF8(file, stop - file, "replace"), number,
			     PyUnicode_DecodeUTF8(function, end - function, "replace"));
}

/* The frames of a backtrace, most recent first. */
static PyObject *frames_of(struct tenon_slice text)
{
	const char *at = text.data, *end = text.data + text.size, *stop;
	PyObject *frames = PyList_New(0), *frame;

	while (frames && text.size && at < end && PyList_Size(frames) < FRAMES_MOST) {
		stop = memchr(at, '\n', (size_t)(end - at));
		if (!stop)
			stop = end;
		frame = frame_of_line(at, (size_t)(stop - at));
		if ((!frame && PyErr_Occurred()) || (frame && PyList_Append(frames, frame)))
			Py_CLEAR(frames);
		Py_XDECREF(frame);
		at = stop + 1;
	}
	return frames;
}

/* The exception of a callback that an error carries, borrowed; NULL for none. */
static PyObject *exception_inside(struct tenon_error *error)
{
	PyObject *found;

	/* errors of libraries built with an older tvm-ffi lack the field */
	if (error->object.deleter != own_deleter || !error->extra)
		return NULL;
	found = opaque_python(error->extra);
	return found && PyExceptionInstance_Check(found) ? found : NULL;
}

static int set_number(PyObject *exception, const char *name, long number)
{
	PyObject *value = PyLong_FromLong(number);
	int err = value ? PyObject_SetAttrString(exception, name, value) : -1;

	Py_XDECREF(value);
	return err;
}

static int describe_exception(PyObject *exception, struct tenon_error *error, PyObject *kind,
			      int status)
{
	PyObject *frames = frames_of(error->backtrace);
	int err = -1;

	if (frames)
		err = PyObject_SetAttrString(exception, "frames", frames);
	if (!err)
		err = PyObject_SetAttrString(exception, "kind", kind);
	if (!err)
		err = set_number(exception, "status", status);
	Py_XDECREF(frames);
	return err;
}

static PyObject *exception_of(struct tenon_error *error, int status, int depth)
{
	PyObject *kind = NULL, *message = NULL, *made = NULL, *class = NULL,
		 *cause = exception_inside(error);
	struct tenon_error *led;

	if (cause)
		return Py_NewRef(cause);
	kind = text_of(error->kind);
	message = kind ? text_of(error->message) : NULL;
	if (!message)
		goto done;
	class = Py_XNewRef(class_of_status(status));
	if (!class)
		class = class_of_kind(kind);
	made = class ? PyObject_CallFunctionObjArgs(class, message, NULL) : NULL;
	if (!made || describe_exception(made, error, kind, status)) {
		Py_CLEAR(made);
		goto done;
	}
	led = depth < CAUSES_MOST ? tenon_error_cause(error) : NULL;
	cause = led ? exception_of(led, -TENON_E_CALL, depth + 1) : NULL;
	if (cause)
		PyException_SetCause(made, cause);
	else
		PyErr_Clear();
done:
	Py_XDECREF(class);
	Py_XDECREF(kind);
	Py_XDECREF(message);
	return made;
}

PyObject *errors_exception(struct tenon_error *error, int status)
{
	return exception_of(error, status, 0);
}

PyObject *errors_set(int status)
{
	int raised = tenon_error_status();
	struct tenon_error *error = tenon_error_take();
	PyObject *exception;

	/* an exception of Python that a conversion set */
	if (PyErr_Occurred()) {
		tenon_object_unref(error);
		return NULL;
	}
	if (!error) {
		if (status == -TENON_E_NOMEM || raised == -TENON_E_NOMEM)
			return PyErr_NoMemory();
		PyErr_Format(base_error, "a function failed with status %d and gave no reason",
			     status);
		return NULL;
	}
	/* the status with which it was raised says more than the one that foreign code returned */
	exception = errors_exception(error, raised && raised != -TENON_E_CALL ? raised : status);
	tenon_object_unref(error);
	if (exception)
		PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
	Py_XDECREF(exception);
	return NULL;
}

int errors_check(int status)
{
	if (!status)
		return 0;
	errors_set(status);
	return -1;
}

PyObject *errors_closed(const char *what)
{
	PyErr_Format(class_of_status(-TENON_E_USAGE), "the %s is closed", what);
	return NULL;
}

/* ---- the other way */

/* One frame of a traceback, in tvm-ffi's form; most recent first, so each goes before those so far. */
static PyObject *with_frame(PyObject *text, PyObject *traceback)
{
	PyObject *frame = PyObject_GetAttrString(traceback, "tb_frame"), *code = NULL, *file = NULL;
	PyObject *name = NULL, *line = NULL, *longer = NULL;

	if (frame)
		code = PyObject_GetAttrString(frame, "f_code");
	if (code) {
		file = PyObject_GetAttrString(code, "co_filename");
		name = PyObject_GetAttrString(code, "co_name");
		line = PyObject_GetAttrString(traceback, "tb_lineno");
	}
	if (file && name && line)
		longer = PyUnicode_FromFormat("  File \"%U\", line %S, in %U\n%U", file, line, name,
					      text);
	Py_XDECREF(frame);
	Py_XDECREF(code);
	Py_XDECREF(file);
	Py_XDECREF(name);
	Py_XDECREF(line);
	return longer;
}

static PyObject *backtrace_of(PyObject *exception)
{
	PyObject *at = PyException_GetTraceback(exception), *text = PyUnicode_FromString(""), *next;
	PyObject *longer;
	int frames = 0;

	while (at && at != Py_None && text && frames++ < FRAMES_MOST) {
		longer = with_frame(text, at);
		Py_DECREF(text);
		text = longer;
		next = text ? PyObject_GetAttrString(at, "tb_next") : NULL;
		Py_DECREF(at);
		at = next;
	}
	Py_XDECREF(at);
	return text;
}

static bool slice_of(PyObject *text, struct tenon_slice *out)
{
	Py_ssize_t size = 0;

	out->data = text ? PyUnicode_AsUTF8AndSize(text, &size) : NULL;
	out->size = (size_t)size;
	if (out->data)
		return true;
	/* such as a lone surrogate */
	PyErr_Clear();
	*out = tenon_slice_of("");
	return false;
}

/* The exception that is set, normalized; it is cleared. */
static PyObject *take_exception(void)
{
#if PY_VERSION_HEX >= 0x030c0000
	return PyErr_GetRaisedException();
#else
	PyObject *type, *value, *traceback;

	PyErr_Fetch(&type, &value, &traceback);
	PyErr_NormalizeException(&type, &value, &traceback);
	if (value && traceback)
		PyException_SetTraceback(value, traceback);
	Py_XDECREF(type);
	Py_XDECREF(traceback);
	return value;
#endif
}

int errors_raise(void)
{
	PyObject *exception = take_exception(), *kind = NULL, *message = NULL, *backtrace = NULL;
	struct tenon_slice kind_text, message_text, backtrace_text;
	struct tenon_error *error;

	if (!exception)
		return tenon_error(-TENON_E_CALL, "a callback failed without an exception");
	kind = PyObject_GetAttrString((PyObject *)Py_TYPE(exception), "__name__");
	message = PyObject_Str(exception);
	PyErr_Clear();
	backtrace = backtrace_of(exception);
	PyErr_Clear();
	if (!slice_of(kind, &kind_text))
		kind_text = tenon_slice_of("RuntimeError");
	slice_of(message, &message_text);
	slice_of(backtrace, &backtrace_text);
	error = tenon_error_create(kind_text, message_text, backtrace_text, NULL);
	if (error) {
		error->extra = opaque_create(exception);
		tenon_error_raise(error);
		tenon_object_unref(error);
	} else {
		tenon_error(-TENON_E_NOMEM, "no memory for the error of a callback");
	}
	Py_XDECREF(kind);
	Py_XDECREF(message);
	Py_XDECREF(backtrace);
	Py_DECREF(exception);
	PyErr_Clear();
	return -TENON_E_CALL;
}

/* ---- the classes */

/* call_class(name): the class of errors that called code raised with a kind; LookupError for what is no exception of Python */
static PyObject *call_class(PyObject *module, PyObject *kind)
{
	PyObject *found = PyUnicode_Check(kind) ? class_of_kind(kind) : NULL;

	if (found && found != call_error)
		return found;
	Py_XDECREF(found);
	return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_LookupError, "%R", kind);
}

static PyMethodDef functions[] = {
	{ "call_class", call_class, METH_O, NULL },
	{ NULL, NULL, 0, NULL },
};

static int add_class(PyObject *module, const char *name, PyObject *class)
{
	return class ? PyModule_AddObjectRef(module, name, class) : -1;
}

static int add_defaults(PyObject *class)
{
	PyObject *frames = PyTuple_New(0);
	int err = frames ? PyObject_SetAttrString(class, "frames", frames) : -1;

	Py_XDECREF(frames);
	if (!err)
		err = PyObject_SetAttrString(class, "kind", Py_None);
	return err ? err : PyObject_SetAttrString(class, "status", Py_None);
}

int errors_init(PyObject *module)
{
	struct tenon_slice none = { "", 0 };
	struct tenon_error *error = tenon_error_create(none, none, none, NULL);
	char full[80];
	size_t i;

	if (!error)
		return PyErr_NoMemory() ? 0 : -1;
	own_deleter = error->object.deleter;
	tenon_object_unref(error);
	base_error = make_class("tenon.Error",
				"An error of Tenon, or of code that it called.\n\n"
				"kind: name of the kind of error, as tvm-ffi has it\n"
				"status: the library's status, negative\n"
				"frames: (file, line, function) of called code, most recent first",
				PyExc_Exception, NULL, NULL);
	if (add_class(module, "Error", base_error) || add_defaults(base_error))
		return -1;
	call_error = make_class("tenon.CallError", "Called code raised an error.", base_error, NULL,
				NULL);
	call_classes = PyDict_New();
	if (add_class(module, "CallError", call_error) || !call_classes)
		return -1;
	for (i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		snprintf(full, sizeof(full), "tenon.%s", classes[i].name);
		classes[i].made =
			make_class(full, classes[i].document, base_error,
				   builtin_exception(classes[i].builtin),
				   classes[i].second ? builtin_exception(classes[i].second) : NULL);
		if (add_class(module, classes[i].name, classes[i].made))
			return -1;
	}
	return PyModule_AddFunctions(module, functions);
}
