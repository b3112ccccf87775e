/* SPDX-License-Identifier: MIT */
/* A session with a server of RPC as an object of Python, for tenon/_model.py. */
#include <tenon/remote.h>

#include "device.h"
#include "errors.h"
#include "function.h"
#include "model.h"
#include "module.h"
#include "scalars.h"
#include "values.h"

static PyTypeObject *session_type;

/** struct core_session - a session with a server of RPC; @remote is NULL once closed */
struct core_session {
	CORE_HEAD struct tenon_remote *remote;
};

static struct core_session *core_session_of(PyObject *self)
{
	return core_part(self, session_type);
}

/* The session, referenced so that another thread may close it meanwhile; NULL with an exception set. */
static struct tenon_remote *enter(PyObject *self)
{
	struct tenon_remote *remote;

	Py_BEGIN_CRITICAL_SECTION(self);
	remote = core_session_of(self)->remote;
	tenon_object_ref(remote);
	Py_END_CRITICAL_SECTION();
	if (!remote)
		errors_closed("session");
	return remote;
}

static PyObject *session_close(PyObject *self, PyObject *unused)
{
	struct core_session *s = core_session_of(self);
	struct tenon_remote *remote;

	Py_BEGIN_CRITICAL_SECTION(self);
	remote = s->remote;
	s->remote = NULL;
	Py_END_CRITICAL_SECTION();
	Py_BEGIN_ALLOW_THREADS tenon_remote_close(remote);
	Py_END_ALLOW_THREADS Py_RETURN_NONE;
}

static void session_dealloc(PyObject *self)
{
	Py_XDECREF(session_close(self, NULL));
	core_free(self);
}

static PyObject *session_enter(PyObject *self, PyObject *unused)
{
	return Py_NewRef(self);
}

static PyObject *session_exit(PyObject *self, PyObject *unused)
{
	return session_close(self, unused);
}

static PyObject *session_ping(PyObject *self, PyObject *unused)
{
	struct tenon_remote *remote = enter(self);
	int err;

	if (!remote)
		return NULL;
	Py_BEGIN_ALLOW_THREADS err = tenon_remote_ping(remote);
	tenon_object_unref(remote);
	Py_END_ALLOW_THREADS return errors_none(err);
}

static PyObject *session_load_module(PyObject *self, PyObject *path)
{
	struct tenon_remote *remote;
	struct tenon_module *module = NULL;
	PyObject *bytes;
	int err = 0;

	if (!PyUnicode_FSConverter(path, &bytes))
		return NULL;
	remote = enter(self);
	if (remote) {
		Py_BEGIN_ALLOW_THREADS err =
			tenon_remote_open(remote, PyBytes_AsString(bytes), &module);
		tenon_object_unref(remote);
		Py_END_ALLOW_THREADS errors_check(err);
	}
	Py_DECREF(bytes);
	return PyErr_Occurred() ? NULL : module_wrap(module);
}

static PyObject *session_device(PyObject *self, PyObject *name)
{
	struct tenon_remote *remote;
	struct tenon_device *device = NULL;
	struct tenon_slice text;
	PyObject *made = NULL;
	DLDevice there;
	int err;

	text.data = scalars_name(name, "a device's name");
	text.size = text.data ? strlen(text.data) : 0;
	if (!text.data || errors_check(tenon_device_parse(text, &there)) || !(remote = enter(self)))
		return NULL;
	Py_BEGIN_ALLOW_THREADS err = tenon_remote_device(remote, there, &device);
	tenon_object_unref(remote);
	Py_END_ALLOW_THREADS if (!errors_check(err)) made = device_wrap(tenon_device_id(device));
	tenon_object_unref(device);
	return made;
}

static PyObject *session_function(PyObject *self, PyObject *name)
{
	const char *text = scalars_name(name, "a function's name");
	struct tenon_function *function = NULL;
	struct tenon_remote *remote = text ? enter(self) : NULL;
	int err;

	if (!remote)
		return NULL;
	Py_BEGIN_ALLOW_THREADS err = tenon_remote_function(remote, text, &function);
	tenon_object_unref(remote);
	if (!err && !function)
		err = tenon_error(-TENON_E_NOT_FOUND, "the server has no global function \"%s\"",
				  text);
	Py_END_ALLOW_THREADS return err ? errors_set(err) : function_wrap(function);
}

static PyObject *session_open_model(PyObject *self, PyObject *args)
{
	struct tenon_model *model = NULL;
	struct tenon_remote *remote;
	PyObject *module, *devices;
	struct model_devices d;
	const char *function;
	int err;

	if (!PyArg_ParseTuple(args, "O!Oz:open_model", core_module_type, &module, &devices,
			      &function) ||
	    model_read_devices(devices, function, &d))
		return NULL;
	remote = enter(self);
	if (!remote) {
		PyMem_Free(d.ids);
		return NULL;
	}
	Py_BEGIN_ALLOW_THREADS err =
		tenon_remote_open_model(remote, module_of(module), &d.options, &model);
	tenon_object_unref(remote);
	Py_END_ALLOW_THREADS PyMem_Free(d.ids);
	return err ? errors_set(err) : model_wrap(model);
}

static PyObject *session_upload(PyObject *self, PyObject *args)
{
	struct tenon_remote *remote;
	struct tenon_slice bytes;
	const char *name;
	Py_buffer view;
	int err;

	if (!PyArg_ParseTuple(args, "sy*:upload", &name, &view))
		return NULL;
	bytes = (struct tenon_slice){ view.buf, (size_t)view.len };
	remote = enter(self);
	err = remote ? 0 : -1;
	if (remote) {
		Py_BEGIN_ALLOW_THREADS err = tenon_remote_upload(remote, name, bytes);
		tenon_object_unref(remote);
		Py_END_ALLOW_THREADS err = errors_check(err);
	}
	PyBuffer_Release(&view);
	return err ? NULL : Py_NewRef(Py_None);
}

static PyObject *session_download(PyObject *self, PyObject *name)
{
	const char *text = scalars_name(name, "a file's name");
	struct tenon_buffer out = TENON_BUFFER_INIT;
	struct tenon_remote *remote = text ? enter(self) : NULL;
	PyObject *made = NULL;
	int err;

	if (!remote)
		return NULL;
	Py_BEGIN_ALLOW_THREADS err = tenon_remote_download(remote, text, &out);
	tenon_object_unref(remote);
	Py_END_ALLOW_THREADS if (!errors_check(err)) made =
		PyBytes_FromStringAndSize(out.data, (Py_ssize_t)out.size);
	tenon_buffer_fini(&out);
	return made;
}

static PyObject *session_facts(PyObject *self, void *unused)
{
	struct tenon_remote *remote = enter(self);
	struct tenon_remote_facts facts;
	PyObject *made;

	if (!remote)
		return NULL;
	tenon_remote_facts(remote, &facts);
	made = Py_BuildValue("{ss ss sO sK sK}", "address", facts.address, "server", facts.server,
			     "pipelined", facts.pipelined ? Py_True : Py_False, "requests",
			     (unsigned long long)facts.requests, "waits",
			     (unsigned long long)facts.waits);
	tenon_object_unref(remote);
	return made;
}

static PyGetSetDef session_attributes[] = {
	{ "facts", session_facts, NULL, "Address, server and requests so far, as a dict.", NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyMethodDef session_methods[] = {
	{ "ping", session_ping, METH_NOARGS,
	  "ping($self, /)\n--\n\nSend the smallest request and wait for its answer." },
	{ "load_module", session_load_module, METH_O,
	  "load_module($self, path, /)\n--\n\nSend a file, for the server's machine, and load it "
	  "there." },
	{ "device", session_device, METH_O,
	  "device($self, name, /)\n--\n\nA device of the server." },
	{ "function", session_function, METH_O,
	  "function($self, name, /)\n--\n\nA global function of the server." },
	{ "open_model", session_open_model, METH_VARARGS, NULL },
	{ "upload", session_upload, METH_VARARGS,
	  "upload($self, name, data, /)\n--\n\nWrite a file in the session's folder." },
	{ "download", session_download, METH_O,
	  "download($self, name, /)\n--\n\nThe bytes of a file of the session's folder." },
	{ "close", session_close, METH_NOARGS, "close($self, /)\n--\n\nEnd the session." },
	{ "__enter__", session_enter, METH_NOARGS, "__enter__($self, /)\n--\n\nThe session." },
	{ "__exit__", session_exit, METH_VARARGS,
	  "__exit__($self, /, *details)\n--\n\nEnd the session." },
	{ NULL, NULL, 0, NULL },
};

static PyType_Slot session_slots[] = {
	{ Py_tp_doc, "A session of the library; tenon.Session is for programs." },
	{ Py_tp_dealloc, session_dealloc },
	{ Py_tp_getset, session_attributes },
	{ Py_tp_methods, session_methods },
	{ 0, NULL },
};
static PyType_Spec session_spec =
	CORE_TYPE("tenon._core.Session", struct core_session, session_slots);

/* seconds as milliseconds; None is 0, the default */
static int read_seconds(PyObject *from, uint32_t *out)
{
	double seconds = from == Py_None ? 0 : PyFloat_AsDouble(from);

	if (PyErr_Occurred())
		return -1;
	if (seconds >= 0 && seconds < 4e6) {
		*out = (uint32_t)(seconds * 1000);
		return 0;
	}
	PyErr_SetString(PyExc_ValueError, "a time limit is a number of seconds, at least 0");
	return -1;
}

static PyObject *connect_session(PyObject *module, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "address",	    "key", "secret_file", "connect_timeout",
				 "request_timeout", NULL };
	struct tenon_remote_options options = { .size = sizeof(options) };
	PyObject *connecting = Py_None, *request = Py_None;
	struct tenon_remote *remote = NULL;
	const char *address;
	PyObject *made;
	int err;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "s|$zzOO:connect", names, &address,
					 &options.key, &options.secret_file, &connecting,
					 &request) ||
	    read_seconds(connecting, &options.connect_ms) ||
	    read_seconds(request, &options.request_ms))
		return NULL;
	made = PyObject_New(PyObject, session_type);
	if (!made)
		return NULL;
	Py_BEGIN_ALLOW_THREADS err = tenon_remote_connect(address, &options, &remote);
	Py_END_ALLOW_THREADS core_session_of(made)->remote = remote;
	if (!err)
		return made;
	Py_DECREF(made);
	return errors_set(err);
}

static PyMethodDef functions[] = {
	{ "connect", (PyCFunction)(void (*)(void))connect_session, METH_VARARGS | METH_KEYWORDS,
	  "connect($module, /, address, *, key=None, secret_file=None, connect_timeout=None, "
	  "request_timeout=None)\n--\n\n"
	  "Open a session with a server of TVM's RPC." },
	{ NULL, NULL, 0, NULL },
};

int remote_init(PyObject *module)
{
	session_type = core_add_type(module, &session_spec, NULL);
	return session_type ? PyModule_AddFunctions(module, functions) : -1;
}
