/* SPDX-License-Identifier: MIT */
/* tenon.Device, and the list of the devices of this machine. */
#include "device.h"

#include <string.h>

#include "errors.h"
#include "queue.h"
#include "recording.h"
#include "scalars.h"
#include "timeline.h"

/* the library has fewer backends */
#define BACKENDS_MOST 64

PyTypeObject *core_device_type;

/** struct core_device - type and number of a device; the library keeps devices that were opened */
struct core_device {
	CORE_HEAD DLDevice id;
};

PyObject *device_wrap(DLDevice id)
{
	PyObject *made = PyObject_New(PyObject, core_device_type);

	if (made)
		((struct core_device *)core_part(made, core_device_type))->id = id;
	return made;
}

DLDevice device_id(PyObject *device)
{
	return ((struct core_device *)core_part(device, core_device_type))->id;
}

static int open_by_name(const char *name, DLDevice *out)
{
	struct tenon_device *device = NULL;
	int err;

	memset(out, 0, sizeof(*out));
	out->device_type = kDLCPU;
	/* the memory of the processor needs no device */
	if (!strcmp(name, "cpu") || !strcmp(name, "cpu:0"))
		return 0;
	Py_BEGIN_ALLOW_THREADS err = tenon_device_open(name, &device);
	Py_END_ALLOW_THREADS if (errors_check(err)) return -1;
	*out = tenon_device_id(device);
	tenon_object_unref(device);
	return 0;
}

int device_read(PyObject *from, DLDevice *out)
{
	const char *name;

	if (Py_TYPE(from) == core_device_type) {
		*out = device_id(from);
		return 0;
	}
	if (from == Py_None)
		return open_by_name("cpu", out);
	name = PyUnicode_Check(from) ? scalars_name(from, "a device's name") : NULL;
	if (name)
		return open_by_name(name, out);
	if (!PyErr_Occurred())
		PyErr_Format(PyExc_TypeError,
			     "a device is a name, such as \"opencl:0\", or a tenon.Device, not %R",
			     (PyObject *)Py_TYPE(from));
	return -1;
}

static PyObject *device_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "name", NULL };
	PyObject *from;
	DLDevice id;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "O:Device", names, &from) ||
	    device_read(from, &id))
		return NULL;
	return device_wrap(id);
}

/* The backend's name for types of devices that DLPack has no name for. */
static const char *type_name(int32_t type)
{
	const struct tenon_backend *backend = tenon_backend_of_type(type);

	return backend ? tenon_backend_name(backend) : tenon_device_name(type);
}

static PyObject *device_name(PyObject *self)
{
	DLDevice id = device_id(self);

	return PyUnicode_FromFormat("%s:%d", type_name(id.device_type), (int)id.device_id);
}

static PyObject *device_repr(PyObject *self)
{
	DLDevice id = device_id(self);

	return PyUnicode_FromFormat("tenon.Device('%s:%d')", type_name(id.device_type),
				    (int)id.device_id);
}

static PyObject *device_compare(PyObject *self, PyObject *other, int how)
{
	DLDevice a, b;
	bool equal;

	if ((how != Py_EQ && how != Py_NE) || Py_TYPE(other) != core_device_type)
		return Py_NewRef(Py_NotImplemented);
	a = device_id(self);
	b = device_id(other);
	equal = a.device_type == b.device_type && a.device_id == b.device_id;
	return PyBool_FromLong(equal == (how == Py_EQ));
}

static Py_hash_t device_hash(PyObject *self)
{
	DLDevice id = device_id(self);

	return ((Py_hash_t)id.device_type << 16) ^ id.device_id;
}

struct tenon_device *device_opened(PyObject *self)
{
	struct tenon_device *device = NULL;
	int err;

	Py_BEGIN_ALLOW_THREADS err = tenon_device_get(device_id(self), &device);
	Py_END_ALLOW_THREADS return errors_check(err) ? NULL : device;
}

static PyObject *describe_properties(const char *name, const struct tenon_device_properties *p)
{
	static const char *const classes[] = { "other", "cpu", "gpu", "integrated gpu",
					       "accelerator" };
	uint32_t class = p->device_class < 5 ? p->device_class : 0;

	return Py_BuildValue("{ss ss ss ss ss ss ss sI sK sK sI}", "device", name, "name", p->name,
			     "vendor", p->vendor, "driver", p->driver, "compute_version",
			     p->compute_version, "architecture", p->architecture, "class",
			     classes[class], "processors", (unsigned int)p->processors,
			     "total_memory", (unsigned long long)p->total_memory, "max_allocation",
			     (unsigned long long)p->max_allocation, "queues",
			     (unsigned int)p->queues);
}

static PyObject *device_properties(PyObject *self, void *unused)
{
	struct tenon_device *device = device_opened(self);
	PyObject *name = device ? device_name(self) : NULL, *made = NULL;

	if (name)
		made = describe_properties(PyUnicode_AsUTF8AndSize(name, NULL),
					   tenon_device_properties(device));
	Py_XDECREF(name);
	tenon_object_unref(device);
	return made;
}

static PyObject *device_type(PyObject *self, void *unused)
{
	return PyUnicode_FromString(type_name(device_id(self).device_type));
}

static PyObject *device_index(PyObject *self, void *unused)
{
	return PyLong_FromLong(device_id(self).device_id);
}

static PyGetSetDef device_attributes[] = {
	{ "type", device_type, NULL, "Name of the kind of device, such as \"opencl\".", NULL },
	{ "index", device_index, NULL, "Number among the devices of its kind.", NULL },
	{ "properties", device_properties, NULL,
	  "What the driver says of the device, as a dict. Opens the device.", NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyObject *device_sync(PyObject *self, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "timeout", NULL };
	PyObject *timeout = Py_None;
	struct tenon_device *device;
	uint64_t deadline;
	int err;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O:sync", names, &timeout) ||
	    timeline_deadline(timeout, &deadline) || !(device = device_opened(self)))
		return NULL;
	Py_BEGIN_ALLOW_THREADS err =
		tenon_device_sync_or_stop(device, deadline, timeline_stop, NULL);
	tenon_object_unref(device);
	Py_END_ALLOW_THREADS return errors_none(err);
}

static PyObject *device_reset(PyObject *self, PyObject *unused)
{
	struct tenon_device *device = device_opened(self), *fresh = NULL;
	int err;

	if (!device)
		return NULL;
	Py_BEGIN_ALLOW_THREADS err = tenon_device_reset(device, &fresh);
	tenon_object_unref(device);
	tenon_object_unref(fresh);
	Py_END_ALLOW_THREADS return errors_none(err);
}

/* Submit a signal behind all that the thread submitted to its queue of a device. */
static int submit_signal(struct tenon_device *device, const struct tenon_point *point)
{
	struct tenon_sync sync = { .signal = point, .signal_count = 1 };
	struct tenon_queue *queue;
	int err = tenon_queue_current(device, &queue);

	if (!err)
		err = tenon_queue_join(queue, &sync);
	return err ? err : tenon_queue_flush(queue);
}

static PyObject *device_done(PyObject *self, PyObject *unused)
{
	struct tenon_device *device = device_opened(self);
	struct tenon_point point = { NULL, 1 };
	int err;

	if (!device)
		return NULL;
	Py_BEGIN_ALLOW_THREADS err = tenon_timeline_create(0, &point.timeline);
	if (!err)
		err = submit_signal(device, &point);
	tenon_object_unref(device);
	if (err)
		tenon_object_unref(point.timeline);
	Py_END_ALLOW_THREADS return err ? errors_set(err) : timeline_awaitable(point.timeline, 1);
}

static PyObject *device_queue(PyObject *self, PyObject *unused)
{
	struct tenon_device *device = device_opened(self);

	return device ? queue_make(device) : NULL;
}

static PyObject *device_recording(PyObject *self, PyObject *unused)
{
	struct tenon_device *device = device_opened(self);

	return device ? recording_make(device) : NULL;
}

static PyMethodDef device_methods[] = {
	{ "queue", device_queue, METH_NOARGS, "queue($self, /)\n--\n\nA new queue." },
	{ "recording", device_recording, METH_NOARGS,
	  "recording($self, /)\n--\n\nBegin a recording of operations, which queues run as often "
	  "as wanted." },
	{ "sync", (PyCFunction)(void (*)(void))device_sync, METH_VARARGS | METH_KEYWORDS,
	  "sync($self, /, timeout=None)\n--\n\nWait for all that was submitted to the device; "
	  "timeout in seconds." },
	{ "done", device_done, METH_NOARGS,
	  "done($self, /)\n--\n\nAn awaitable for what the calling thread has submitted to the "
	  "device so far." },
	{ "reset", device_reset, METH_NOARGS,
	  "reset($self, /)\n--\n\nReset the device and open it again; whatever uses it fails." },
	{ NULL, NULL, 0, NULL },
};

static PyType_Slot device_slots[] = {
	{ Py_tp_doc, "Device(name)\n\nA device by its name, such as \"opencl:0\" or "
		     "\"vulkan://lavapipe\"; it is opened." },
	{ Py_tp_new, device_new },
	{ Py_tp_dealloc, core_free },
	{ Py_tp_repr, device_repr },
	{ Py_tp_str, device_name },
	{ Py_tp_richcompare, device_compare },
	{ Py_tp_hash, device_hash },
	{ Py_tp_getset, device_attributes },
	{ Py_tp_methods, device_methods },
	{ 0, NULL },
};
static PyType_Spec device_spec = { "tenon.Device", CORE_SIZE(struct core_device), 0,
				   Py_TPFLAGS_DEFAULT, device_slots };

/* ---- the devices of this machine */

struct backend_list {
	const struct tenon_backend *at[BACKENDS_MOST];
	size_t count;
};

static int add_backend(void *context, const struct tenon_backend *backend)
{
	struct backend_list *list = context;

	if (list->count < BACKENDS_MOST)
		list->at[list->count++] = backend;
	return 0;
}

static int append(PyObject *list, PyObject *item)
{
	int err = item ? PyList_Append(list, item) : -1;

	Py_XDECREF(item);
	return err;
}

static int add_device(PyObject *list, const struct tenon_backend *backend, uint32_t index,
		      const struct tenon_device_properties *properties)
{
	PyObject *name = PyUnicode_FromFormat("%s:%u", tenon_backend_name(backend), index);
	int err = -1;

	if (name)
		err = append(list,
			     describe_properties(PyUnicode_AsUTF8AndSize(name, NULL), properties));
	Py_XDECREF(name);
	return err;
}

static int add_problem(PyObject *list, const struct tenon_backend *backend, const char *reason)
{
	return append(list, Py_BuildValue("{ss ss}", "backend", tenon_backend_name(backend),
					  "problem", reason));
}

/* The devices of a driver that was called in a process of its own. */
static int add_probed(PyObject *list, const struct tenon_backend *backend,
		      const struct tenon_probe *probe, bool all)
{
	uint32_t i;
	int err = 0;

	if (probe->outcome != TENON_PROBE_WORKS)
		return all ? add_problem(list, backend, probe->reason) : 0;
	for (i = 0; !err && i < probe->device_count; i++)
		if (probe->devices[i]->name[0])
			err = add_device(list, backend, i, probe->devices[i]);
	return err;
}

/* The devices of a driver that is called in this process, where the command tenon is not installed. */
static int add_counted(PyObject *list, const struct tenon_backend *backend, bool all)
{
	struct tenon_device_properties properties;
	uint32_t i, count = 0;
	int err;

	Py_BEGIN_ALLOW_THREADS err = tenon_backend_count(backend, &count);
	Py_END_ALLOW_THREADS if (err)
	{
		err = all ? add_problem(list, backend, tenon_error_message()) : 0;
		tenon_error_clear();
		return err;
	}
	for (i = 0; !err && i < count; i++) {
		memset(&properties, 0, sizeof(properties));
		properties.size = sizeof(properties);
		Py_BEGIN_ALLOW_THREADS err = tenon_backend_describe(backend, i, &properties);
		Py_END_ALLOW_THREADS if (err) tenon_error_clear();
		err = err ? 0 : add_device(list, backend, i, &properties);
	}
	return err;
}

static PyObject *devices(PyObject *module, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "all", "command", NULL };
	struct tenon_probe_request request = { .size = sizeof(request) };
	PyObject *list = PyList_New(0);
	const struct tenon_probe *probe;
	struct backend_list backends = { .count = 0 };
	int all = 0, err = 0;
	size_t i;

	if (!list || !PyArg_ParseTupleAndKeywords(args, keywords, "|$pz:devices", names, &all,
						  &request.command)) {
		Py_XDECREF(list);
		return NULL;
	}
	Py_BEGIN_ALLOW_THREADS tenon_backend_each(add_backend, &backends);
	Py_END_ALLOW_THREADS for (i = 0; !err && i < backends.count; i++)
	{
		Py_BEGIN_ALLOW_THREADS err = tenon_backend_probe(backends.at[i], &request, &probe);
		if (err)
			tenon_error_clear();
		Py_END_ALLOW_THREADS err = err ? add_counted(list, backends.at[i], all)
					       : add_probed(list, backends.at[i], probe, all);
	}
	if (err)
		Py_CLEAR(list);
	return list;
}

static PyMethodDef functions[] = {
	{ "devices", (PyCFunction)(void (*)(void))devices, METH_VARARGS | METH_KEYWORDS,
	  "devices($module, /, *, all=False, command=None)\n--\n\n"
	  "The devices of this machine, a dict each. With all=True also the drivers that do not "
	  "work, and why. Drivers are "
	  "called in a process of the command tenon, where it is installed." },
	{ NULL, NULL, 0, NULL },
};

int device_init(PyObject *module)
{
	core_device_type = core_add_type(module, &device_spec, NULL);
	return core_device_type ? PyModule_AddFunctions(module, functions) : -1;
}
