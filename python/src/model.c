/* SPDX-License-Identifier: MIT */
/* A model as an object of Python, for tenon/_model.py. */
#include "model.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "errors.h"
#include "module.h"
#include "scalars.h"
#include "tensor.h"
#include "values.h"

static PyTypeObject *model_type;

/* models are for one thread at a time, and closed once */
enum { IDLE, BUSY, CLOSED };

/**
 * struct core_model - a model as an object of Python
 * @model: NULL once closed
 * @use: IDLE, BUSY while a thread uses it, or CLOSED
 */
struct core_model {
	CORE_HEAD struct tenon_model *model;
	atomic_int use;
};

static struct core_model *core_model_of(PyObject *self)
{
	return core_part(self, model_type);
}

PyObject *model_wrap(struct tenon_model *model)
{
	PyObject *made = PyObject_New(PyObject, model_type);
	struct core_model *m;

	if (!made) {
		tenon_model_close(model);
		return NULL;
	}
	m = core_model_of(made);
	m->model = model;
	atomic_init(&m->use, IDLE);
	return made;
}

/* Make an idle model BUSY or CLOSED. Returns what it was; nothing but IDLE is changed, and for BUSY an exception is set. */
static int claim(struct core_model *m, int use)
{
	int was = IDLE;

	if (!atomic_compare_exchange_strong(&m->use, &was, use) && was == BUSY)
		errors_set(tenon_error(-TENON_E_USAGE,
				       "the model is in use: open it once for each thread, and do "
				       "not use it in a callback that it calls"));
	return was;
}

/* The model for the calling thread until leave(); NULL with an exception set. */
static struct tenon_model *enter(PyObject *self)
{
	struct core_model *m = core_model_of(self);

	switch (claim(m, BUSY)) {
	case IDLE:
		return m->model;
	case CLOSED:
		errors_closed("model");
	}
	return NULL;
}

static void leave(PyObject *self)
{
	atomic_store(&core_model_of(self)->use, IDLE);
}

static void model_dealloc(PyObject *self)
{
	struct tenon_model *model = core_model_of(self)->model;

	core_free(self);
	/* waits for the devices */
	Py_BEGIN_ALLOW_THREADS tenon_model_close(model);
	Py_END_ALLOW_THREADS
}

static PyObject *model_close(PyObject *self, PyObject *unused)
{
	struct core_model *m = core_model_of(self);
	struct tenon_model *model;

	switch (claim(m, CLOSED)) {
	case BUSY:
		return NULL;
	case CLOSED:
		Py_RETURN_NONE;
	}
	model = m->model;
	m->model = NULL;
	Py_BEGIN_ALLOW_THREADS tenon_model_close(model);
	Py_END_ALLOW_THREADS Py_RETURN_NONE;
}

/* ---- inputs and outputs */

/* (name, dtype or None, shape or None); an extent that varies is None */
static PyObject *describe_port(const struct tenon_port *p)
{
	static const DLDataType none = { 0, 0, 0 };
	PyObject *shape =
		p->ndim < 0 ? Py_NewRef(Py_None) : scalars_tuple(p->shape, (size_t)p->ndim);
	int32_t i;

	for (i = 0; shape && i < p->ndim; i++)
		if (p->shape[i] < 0 && PyTuple_SetItem(shape, i, Py_NewRef(Py_None)))
			Py_CLEAR(shape);
	if (!shape)
		return NULL;
	return Py_BuildValue("(NNN)", values_text(p->name),
			     tenon_dtype_equal(p->dtype, none) ? Py_NewRef(Py_None)
							       : scalars_dtype(p->dtype),
			     shape);
}

static PyObject *list_ports(PyObject *self, size_t (*count)(struct tenon_model *model),
			    int (*get)(struct tenon_model *model, size_t index,
				       struct tenon_port *out))
{
	struct tenon_model *model = enter(self);
	PyObject *list = model ? PyList_New(0) : NULL, *item;
	struct tenon_port port;
	size_t i;
	int err;

	for (i = 0; list && i < count(model); i++) {
		item = errors_check(get(model, i, &port)) ? NULL : describe_port(&port);
		err = item ? PyList_Append(list, item) : -1;
		Py_XDECREF(item);
		if (err)
			Py_CLEAR(list);
	}
	if (model)
		leave(self);
	return list;
}

static PyObject *model_inputs(PyObject *self, PyObject *unused)
{
	return list_ports(self, tenon_model_input_count, tenon_model_input);
}

static PyObject *model_outputs(PyObject *self, PyObject *unused)
{
	return list_ports(self, tenon_model_output_count, tenon_model_output);
}

static PyObject *model_is_set(PyObject *self, PyObject *args)
{
	struct tenon_model *model;
	Py_ssize_t index;
	bool set;

	if (!PyArg_ParseTuple(args, "n:is_set", &index) || !(model = enter(self)))
		return NULL;
	set = index >= 0 && (size_t)index < tenon_model_input_count(model) &&
	      tenon_model_input_is_set(model, (size_t)index);
	leave(self);
	return PyBool_FromLong(set);
}

static int set_input(PyObject *self, Py_ssize_t index, PyObject *from)
{
	struct tenon_model *model;
	struct temporaries t;
	struct tenon_value value;
	int err;

	temporaries_begin(&t);
	err = values_view(&t, from, &value);
	if (!err && (model = enter(self))) {
		Py_BEGIN_ALLOW_THREADS err = tenon_model_set_input(model, (size_t)index, &value);
		Py_END_ALLOW_THREADS leave(self);
		err = errors_check(err);
	} else {
		err = -1;
	}
	temporaries_end(&t);
	return err;
}

static PyObject *model_set_input(PyObject *self, PyObject *args)
{
	Py_ssize_t index;
	PyObject *from;

	if (!PyArg_ParseTuple(args, "nO:set_input", &index, &from) || set_input(self, index, from))
		return NULL;
	Py_RETURN_NONE;
}

static PyObject *model_bind_input(PyObject *self, PyObject *args)
{
	struct tenon_tensor *tensor;
	struct tenon_model *model;
	Py_ssize_t index;
	PyObject *from;
	int err;

	if (!PyArg_ParseTuple(args, "nO:bind_input", &index, &from) ||
	    !(tensor = tensor_from(from)))
		return NULL;
	model = enter(self);
	err = model ? errors_check(tenon_model_bind_input(model, (size_t)index, tensor)) : -1;
	if (model)
		leave(self);
	tenon_object_unref(tensor);
	return err ? NULL : Py_NewRef(Py_None);
}

static PyObject *model_set_params(PyObject *self, PyObject *path)
{
	struct tenon_params *params = NULL;
	struct tenon_model *model;
	PyObject *bytes;
	int err;

	if (!PyUnicode_FSConverter(path, &bytes))
		return NULL;
	model = enter(self);
	if (model) {
		Py_BEGIN_ALLOW_THREADS err = tenon_params_open(PyBytes_AsString(bytes), &params);
		if (!err)
			err = tenon_model_set_params(model, params);
		tenon_object_unref(params);
		Py_END_ALLOW_THREADS leave(self);
		errors_check(err);
	}
	Py_DECREF(bytes);
	return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

static PyObject *model_output(PyObject *self, PyObject *args)
{
	struct tenon_model *model;
	struct tenon_value value;
	Py_ssize_t index;
	int err;

	if (!PyArg_ParseTuple(args, "n:output", &index) || !(model = enter(self)))
		return NULL;
	/* a model on a server sends a request */
	Py_BEGIN_ALLOW_THREADS err = tenon_model_output_value(model, (size_t)index, &value);
	Py_END_ALLOW_THREADS leave(self);
	return err ? errors_set(err) : values_python(&value);
}

/* ---- runs */

static PyObject *model_run(PyObject *self, PyObject *unused)
{
	struct tenon_model *model = enter(self);
	int err;

	if (!model)
		return NULL;
	Py_BEGIN_ALLOW_THREADS err = tenon_model_run(model);
	Py_END_ALLOW_THREADS leave(self);
	return errors_none(err);
}

/* struct op_time - an operator of a run */
struct op_time {
	char *name;
	char *function;
	uint64_t nanoseconds;
};

/* struct op_times - those of a run; collected without the GIL */
struct op_times {
	struct op_time *at;
	size_t count;
	size_t room;
	bool no_memory;
};

static char *copy_of(struct tenon_slice text)
{
	char *copy = malloc(text.size + 1);

	if (!copy)
		return NULL;
	if (text.size)
		memcpy(copy, text.data, text.size);
	copy[text.size] = '\0';
	return copy;
}

static void add_time(void *context, size_t index, const struct tenon_op *op, uint64_t begin,
		     uint64_t end)
{
	struct op_times *times = context;
	struct op_time *more;

	if (times->count == times->room) {
		more = realloc(times->at, (times->room * 2 + 64) * sizeof(*more));
		if (!more) {
			times->no_memory = true;
			return;
		}
		times->at = more;
		times->room = times->room * 2 + 64;
	}
	more = &times->at[times->count++];
	more->name = copy_of(op->name);
	more->function = copy_of(op->function);
	more->nanoseconds = end - begin;
	times->no_memory |= !more->name || !more->function;
}

static PyObject *times_list(const struct op_times *times)
{
	PyObject *list = times->no_memory ? PyErr_NoMemory() : PyList_New((Py_ssize_t)times->count),
		 *item;
	size_t i;

	for (i = 0; list && i < times->count; i++) {
		item = Py_BuildValue("(ssK)", times->at[i].name, times->at[i].function,
				     (unsigned long long)times->at[i].nanoseconds);
		if (!item || PyList_SetItem(list, (Py_ssize_t)i, item))
			Py_CLEAR(list);
	}
	return list;
}

static PyObject *model_profile(PyObject *self, PyObject *unused)
{
	struct op_times times = { .count = 0 };
	struct tenon_profiler profiler = { sizeof(profiler), add_time, &times };
	struct tenon_model *model = enter(self);
	PyObject *list;
	int err;

	if (!model)
		return NULL;
	Py_BEGIN_ALLOW_THREADS err = tenon_model_run_profiled(model, &profiler);
	Py_END_ALLOW_THREADS leave(self);
	list = err ? errors_set(err) : times_list(&times);
	while (times.count--) {
		free(times.at[times.count].name);
		free(times.at[times.count].function);
	}
	free(times.at);
	return list;
}

/* ---- facts */

static PyObject *model_memory(PyObject *self, PyObject *unused)
{
	struct tenon_model *model = enter(self);
	struct tenon_model_memory m;

	if (!model)
		return NULL;
	tenon_model_memory(model, &m);
	leave(self);
	return Py_BuildValue("{sK sK sK sn}", "params", (unsigned long long)m.params, "activations",
			     (unsigned long long)m.activations, "workspace",
			     (unsigned long long)m.workspace, "storages", (Py_ssize_t)m.storages);
}

static int add_operator(void *context, size_t index, const struct tenon_op *op)
{
	PyObject *item = Py_BuildValue("(NN)", values_text(op->name), values_text(op->function));
	int err = item ? PyList_Append(context, item) : -1;

	Py_XDECREF(item);
	return err;
}

static PyObject *model_operators(PyObject *self, PyObject *unused)
{
	struct tenon_model *model = enter(self);
	PyObject *list = model ? PyList_New(0) : NULL;
	int err;

	if (!list)
		return NULL;
	err = tenon_model_each_op(model, add_operator, list);
	leave(self);
	if (!err)
		return list;
	Py_DECREF(list);
	return PyErr_Occurred() ? NULL : errors_set(err);
}

static PyObject *model_kind(PyObject *self, void *unused)
{
	struct tenon_model *model = enter(self);
	PyObject *kind = model ? PyUnicode_FromString(tenon_model_kind(model)) : NULL;

	if (model)
		leave(self);
	return kind;
}

static PyGetSetDef model_attributes[] = {
	{ "kind", model_kind, NULL, "Name of the executor.", NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyMethodDef model_methods[] = {
	{ "inputs", model_inputs, METH_NOARGS,
	  "inputs($self, /)\n--\n\n(name, dtype, shape) of each input and parameter." },
	{ "outputs", model_outputs, METH_NOARGS,
	  "outputs($self, /)\n--\n\n(name, dtype, shape) of each output." },
	{ "is_set", model_is_set, METH_VARARGS,
	  "is_set($self, index, /)\n--\n\nWhether an input has a value." },
	{ "set_input", model_set_input, METH_VARARGS,
	  "set_input($self, index, value, /)\n--\n\nCopy a value into an input." },
	{ "bind_input", model_bind_input, METH_VARARGS,
	  "bind_input($self, index, value, /)\n--\n\nUse a tensor as an input without a copy." },
	{ "set_params", model_set_params, METH_O,
	  "set_params($self, path, /)\n--\n\nSet parameters of a file." },
	{ "run", model_run, METH_NOARGS, "run($self, /)\n--\n\nRun the model once." },
	{ "profile", model_profile, METH_NOARGS,
	  "profile($self, /)\n--\n\nRun once; (name, function, nanoseconds) of each operator." },
	{ "output", model_output, METH_VARARGS,
	  "output($self, index, /)\n--\n\nThe value of an output." },
	{ "operators", model_operators, METH_NOARGS,
	  "operators($self, /)\n--\n\n(name, function) of each operator." },
	{ "memory", model_memory, METH_NOARGS,
	  "memory($self, /)\n--\n\nBytes that the model uses." },
	{ "close", model_close, METH_NOARGS, "close($self, /)\n--\n\nFree the model." },
	{ NULL, NULL, 0, NULL },
};

static PyType_Slot model_slots[] = {
	{ Py_tp_doc, "A model of the library; tenon.Model is for programs." },
	{ Py_tp_dealloc, model_dealloc },
	{ Py_tp_getset, model_attributes },
	{ Py_tp_methods, model_methods },
	{ 0, NULL },
};
static PyType_Spec model_spec = CORE_TYPE("tenon._core.Model", struct core_model, model_slots);

/* ---- opening */

int model_read_devices(PyObject *devices, const char *function, struct model_devices *out)
{
	PyObject *items = PySequence_Tuple(devices);
	Py_ssize_t i, count = items ? PyTuple_Size(items) : -1;

	memset(out, 0, sizeof(*out));
	if (count < 0)
		return -1;
	out->ids = PyMem_Malloc(((size_t)count + 1) * sizeof(*out->ids));
	if (!out->ids)
		PyErr_NoMemory();
	for (i = 0; out->ids && i < count; i++)
		if (device_read(PyTuple_GetItem(items, i), &out->ids[i]))
			break;
	Py_DECREF(items);
	out->options.size = sizeof(out->options);
	out->options.devices = out->ids;
	out->options.device_count = (size_t)count;
	out->options.function = function;
	if (out->ids && i == count)
		return 0;
	PyMem_Free(out->ids);
	return -1;
}

static int open_model(struct tenon_module *module, const struct tenon_slice *graph,
		      const char *params, const struct tenon_model_options *options,
		      struct tenon_model **out)
{
	struct tenon_params *file = NULL;
	int err = params ? tenon_params_open(params, &file) : 0;

	if (!err && graph)
		err = tenon_model_open_graph(module, *graph, file, options, out);
	else if (!err)
		err = tenon_model_open(module, options, out);
	if (!err && file && !graph) {
		err = tenon_model_set_params(*out, file);
		if (err)
			tenon_model_close(*out);
	}
	tenon_object_unref(file);
	return err;
}

/* open_model(module, devices, function, graph, params): None for a module that is no model */
static PyObject *open_python(PyObject *unused, PyObject *args)
{
	const char *function, *params;
	PyObject *module, *devices;
	struct tenon_model *model = NULL;
	struct model_devices d;
	struct tenon_slice graph;
	Py_buffer text;
	int err;

	if (!PyArg_ParseTuple(args, "O!Ozz*z:open_model", core_module_type, &module, &devices,
			      &function, &text, &params))
		return NULL;
	if (model_read_devices(devices, function, &d)) {
		PyBuffer_Release(&text);
		return NULL;
	}
	graph = (struct tenon_slice){ text.buf, (size_t)text.len };
	Py_BEGIN_ALLOW_THREADS err =
		open_model(module_of(module), text.buf ? &graph : NULL, params, &d.options, &model);
	Py_END_ALLOW_THREADS PyMem_Free(d.ids);
	PyBuffer_Release(&text);
	return err ? errors_set(err) : model_wrap(model);
}

static PyMethodDef functions[] = {
	{ "open_model", open_python, METH_VARARGS,
	  "open_model($module, module, devices, function, graph, params, /)\n--\n\nOpen the model "
	  "of a module." },
	{ NULL, NULL, 0, NULL },
};

int model_init(PyObject *module)
{
	model_type = core_add_type(module, &model_spec, NULL);
	return model_type ? PyModule_AddFunctions(module, functions) : -1;
}
