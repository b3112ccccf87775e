/* SPDX-License-Identifier: MIT */
/* tenon.Module: functions by name, imports, loading. */
#include "module.h"

#include <string.h>

#include "device.h"
#include "errors.h"
#include "function.h"
#include "scalars.h"
#include "values.h"

/* import trees are less deep; modules of foreign code may be cyclic */
#define DEEPEST 300

PyTypeObject *core_module_type;

/**
 * struct core_module - a module as an object of Python
 * @module: one reference
 * @found: functions that were looked up, by name
 */
struct core_module {
	CORE_HEAD struct tenon_module *module;
	PyObject *found;
};

static struct core_module *core_module_of(PyObject *self)
{
	return core_part(self, core_module_type);
}

struct tenon_module *module_of(PyObject *module)
{
	return core_module_of(module)->module;
}

PyObject *module_wrap(struct tenon_module *module)
{
	PyObject *found = PyDict_New();
	PyObject *made = found ? PyObject_New(PyObject, core_module_type) : NULL;
	struct core_module *m;

	if (!made) {
		Py_XDECREF(found);
		tenon_object_unref(module);
		return NULL;
	}
	m = core_module_of(made);
	m->module = module;
	m->found = found;
	return made;
}

static void module_dealloc(PyObject *self)
{
	struct core_module *m = core_module_of(self);
	struct tenon_module *module = m->module;

	Py_DECREF(m->found);
	core_free(self);
	/* unloads the file, if nothing else uses it */
	Py_BEGIN_ALLOW_THREADS tenon_object_unref(module);
	Py_END_ALLOW_THREADS
}

/* ---- functions */

static PyObject *find(PyObject *self, PyObject *name)
{
	struct core_module *m = core_module_of(self);
	PyObject *found = core_dict_get(m->found, name);
	struct tenon_function *function = NULL;
	const char *text;
	int err;

	if (found || PyErr_Occurred())
		return found;
	text = scalars_name(name, "a function's name");
	if (!text)
		return NULL;
	Py_BEGIN_ALLOW_THREADS err = tenon_module_get_function(m->module, text, &function);
	Py_END_ALLOW_THREADS if (err) return errors_set(err);
	found = function_wrap(function);
	if (found && PyDict_SetItem(m->found, name, found))
		Py_CLEAR(found);
	return found;
}

static PyObject *module_attribute(PyObject *self, PyObject *name)
{
	PyObject *found = PyObject_GenericGetAttr(self, name);
	const char *text;

	if (found || !PyErr_ExceptionMatches(PyExc_AttributeError))
		return found;
	/* Python asks for names such as __iter__ and __array__, which are no functions of a module */
	text = PyUnicode_AsUTF8AndSize(name, NULL);
	if (!text || !strncmp(text, "__", 2))
		return NULL;
	PyErr_Clear();
	return find(self, name);
}

static int module_contains(PyObject *self, PyObject *name)
{
	struct tenon_function *function = NULL;
	struct tenon_slice text;
	Py_ssize_t size;
	int err;

	text.data = PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, &size) : NULL;
	if (!text.data)
		return PyErr_Occurred() ? -1 : 0;
	text.size = (size_t)size;
	err = tenon_module_find_function(module_of(self), text, true, &function);
	tenon_object_unref(function);
	return errors_check(err) ? -1 : function != NULL;
}

static int add_name(void *context, struct tenon_slice name)
{
	PyObject *text = values_text(name);
	int err = text ? PyList_Append(context, text) : -1;

	Py_XDECREF(text);
	return err;
}

static PyObject *module_functions(PyObject *self, void *unused)
{
	PyObject *list = PyList_New(0);
	int err = list ? tenon_module_each_function(module_of(self), add_name, list) : -1;

	if (err == -TENON_E_UNSUPPORTED) {
		/* this kind does not list its names */
		tenon_error_clear();
		err = 0;
	}
	if (err && list)
		Py_CLEAR(list);
	return err && !PyErr_Occurred() ? errors_set(err) : list;
}

static PyObject *module_kind(PyObject *self, void *unused)
{
	return values_text(tenon_module_kind(module_of(self)));
}

static PyObject *module_imports(PyObject *self, void *unused)
{
	size_t i, count = tenon_module_import_count(module_of(self));
	PyObject *list = PyList_New((Py_ssize_t)count), *item;
	struct tenon_module *import;

	for (i = 0; list && i < count; i++) {
		import = tenon_module_import_at(module_of(self), i);
		tenon_object_ref(import);
		item = module_wrap(import);
		if (!item || PyList_SetItem(list, (Py_ssize_t)i, item))
			Py_CLEAR(list);
	}
	return list;
}

static PyObject *module_source(PyObject *self, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "format", NULL };
	struct tenon_value source;
	const char *format = "";

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "|s:source", names, &format) ||
	    errors_check(tenon_module_source(module_of(self), format, &source)))
		return NULL;
	return values_python(&source);
}

static PyObject *module_save(PyObject *self, PyObject *unused)
{
	struct tenon_buffer bytes = { 0 };
	PyObject *made = NULL;
	int err;

	Py_BEGIN_ALLOW_THREADS err = tenon_module_save(module_of(self), &bytes);
	Py_END_ALLOW_THREADS if (!errors_check(err)) made =
		PyBytes_FromStringAndSize(bytes.size ? bytes.data : "", (Py_ssize_t)bytes.size);
	tenon_buffer_fini(&bytes);
	return made;
}

static PyObject *module_import(PyObject *self, PyObject *other)
{
	if (Py_TYPE(other) != core_module_type)
		return PyErr_Format(PyExc_TypeError, "a module imports a tenon.Module, not %R",
				    (PyObject *)Py_TYPE(other));
	return errors_check(tenon_module_import(module_of(self), module_of(other)))
		       ? NULL
		       : Py_NewRef(Py_None);
}

static PyObject *module_directory(PyObject *self, PyObject *unused)
{
	PyObject *list = PyObject_Dir((PyObject *)Py_TYPE(self)), *names = NULL, *all = NULL;

	if (list)
		names = module_functions(self, NULL);
	if (names)
		all = PySequence_Concat(list, names);
	Py_XDECREF(list);
	Py_XDECREF(names);
	return all;
}

static PyObject *module_repr(PyObject *self)
{
	PyObject *kind = module_kind(self, NULL), *text = NULL;

	if (kind)
		text = PyUnicode_FromFormat("<tenon.Module %U, %zu imports>", kind,
					    tenon_module_import_count(module_of(self)));
	Py_XDECREF(kind);
	return text;
}

/* ---- devices that a module has kernels for */

static PyObject *device_of_kind(struct tenon_slice kind)
{
	const struct tenon_backend *backend = tenon_backend_of_kind(kind);
	DLDevice device;

	if (backend)
		return tenon_backend_device_type(backend) == kDLCPU
			       ? NULL
			       : PyUnicode_FromString(tenon_backend_name(backend));
	/* a kind without a backend here is a device if DLPack has one of that name */
	if (!tenon_device_parse(kind, &device))
		return values_text(kind);
	tenon_error_clear();
	return NULL;
}

static int add_devices(PyObject *set, struct tenon_module *m, int depth)
{
	PyObject *name = device_of_kind(tenon_module_kind(m));
	int err = name ? PySet_Add(set, name) : PyErr_Occurred() ? -1 : 0;
	size_t i;

	Py_XDECREF(name);
	for (i = 0; !err && depth < DEEPEST && i < tenon_module_import_count(m); i++)
		err = add_devices(set, tenon_module_import_at(m, i), depth + 1);
	return err;
}

static PyObject *module_device_types(PyObject *self, void *unused)
{
	PyObject *set = PySet_New(NULL);

	if (set && add_devices(set, module_of(self), 0))
		Py_CLEAR(set);
	return set;
}

static PyGetSetDef module_attributes[] = {
	{ "kind", module_kind, NULL, "Kind of the module, such as \"library\" or \"opencl\".",
	  NULL },
	{ "functions", module_functions, NULL,
	  "Names of the functions of this module, without those of its imports.", NULL },
	{ "imports", module_imports, NULL, "Modules that it imports.", NULL },
	{ "device_types", module_device_types, NULL,
	  "Kinds of devices that it, or an import, has kernels for.", NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyMethodDef module_methods[] = {
	{ "source", (PyCFunction)(void (*)(void))module_source, METH_VARARGS | METH_KEYWORDS,
	  "source($self, /, format='')\n--\n\nThe source text of the module, where it has one." },
	{ "save", module_save, METH_NOARGS,
	  "save($self, /)\n--\n\nThe bytes from which a loader of its kind makes the module again, "
	  "without its imports." },
	{ "import_module", module_import, METH_O,
	  "import_module($self, module, /)\n--\n\nAdd an import." },
	{ "__dir__", module_directory, METH_NOARGS,
	  "__dir__($self, /)\n--\n\nNames of attributes, and of functions." },
	{ NULL, NULL, 0, NULL },
};

static PyType_Slot module_slots[] = {
	{ Py_tp_doc, "A module that was loaded. module[\"name\"] and module.name are its functions "
		     "and those of its imports." },
	{ Py_tp_dealloc, module_dealloc },
	{ Py_tp_repr, module_repr },
	{ Py_tp_getattro, module_attribute },
	{ Py_tp_getset, module_attributes },
	{ Py_tp_methods, module_methods },
	{ Py_mp_subscript, find },
	{ Py_sq_contains, module_contains },
	{ 0, NULL },
};
static PyType_Spec module_spec = CORE_TYPE("tenon.Module", struct core_module, module_slots);

/* ---- loading */

/* The module that a function of the library makes of a file. */
static PyObject *from_file(PyObject *path, int (*load)(const char *path, struct tenon_module **out))
{
	struct tenon_module *module = NULL;
	PyObject *bytes;
	int err;

	if (!PyUnicode_FSConverter(path, &bytes))
		return NULL;
	Py_BEGIN_ALLOW_THREADS err = load(PyBytes_AsString(bytes), &module);
	Py_END_ALLOW_THREADS Py_DECREF(bytes);
	return err ? errors_set(err) : module_wrap(module);
}

/* load_module(path): a file by its path, with what loads files of models */
static PyObject *load_module(PyObject *unused, PyObject *path)
{
	return from_file(path, tenon_module_load);
}

/* inspect_module(path): what is in a file, of any machine; nothing of it runs */
static PyObject *inspect_module(PyObject *unused, PyObject *path)
{
	return from_file(path, tenon_module_inspect);
}

/* load_bytes(kind, data): a module from the bytes of a kind */
static PyObject *load_bytes(PyObject *unused, PyObject *args)
{
	struct tenon_module *module = NULL;
	const char *kind;
	Py_buffer data;
	int err;

	if (!PyArg_ParseTuple(args, "sy*:load_bytes", &kind, &data))
		return NULL;
	Py_BEGIN_ALLOW_THREADS err = tenon_module_load_bytes(
		kind, (struct tenon_slice){ data.buf, (size_t)data.len }, &module);
	Py_END_ALLOW_THREADS PyBuffer_Release(&data);
	return err ? errors_set(err) : module_wrap(module);
}

static PyObject *system_module(PyObject *unused, PyObject *args)
{
	struct tenon_module *module = NULL;
	const char *prefix = "";

	if (!PyArg_ParseTuple(args, "|s:system_module", &prefix) ||
	    errors_check(tenon_system_lib(prefix, &module)))
		return NULL;
	return module_wrap(module);
}

/* set_current_device(device): where kernels that the thread calls run, among devices of this type */
static PyObject *set_current_device(PyObject *unused, PyObject *from)
{
	struct tenon_device *device = NULL;
	DLDevice id;
	int err;

	if (device_read(from, &id))
		return NULL;
	Py_BEGIN_ALLOW_THREADS err = tenon_device_get(id, &device);
	if (!err)
		err = tenon_device_set_current(device);
	tenon_object_unref(device);
	Py_END_ALLOW_THREADS return errors_none(err);
}

static PyMethodDef functions[] = {
	{ "load_module", load_module, METH_O,
	  "load_module($module, path, /)\n--\n\nLoad a file as a module, also if it is a model." },
	{ "load_bytes", load_bytes, METH_VARARGS,
	  "load_bytes($module, kind, data, /)\n--\n\nLoad a module from the bytes that "
	  "Module.save() "
	  "gave." },
	{ "inspect_module", inspect_module, METH_O,
	  "inspect_module($module, path, /)\n--\n\nThe modules in a file, of any machine, to be "
	  "listed; none of its code runs." },
	{ "system_module", system_module, METH_VARARGS,
	  "system_module($module, prefix='', /)\n--\n\nThe module of statically linked symbols." },
	{ "set_current_device", set_current_device, METH_O,
	  "set_current_device($module, device, /)\n--\n\n"
	  "Run kernels that the calling thread calls on this device, where they run on devices of "
	  "its kind." },
	{ NULL, NULL, 0, NULL },
};

int module_init(PyObject *module)
{
	core_module_type = core_add_type(module, &module_spec, NULL);
	return core_module_type ? PyModule_AddFunctions(module, functions) : -1;
}
