/* SPDX-License-Identifier: MIT */
/* tenon.Timeline, which asyncio can wait for. */
#include "timeline.h"

#include <string.h>

#include "errors.h"
#include "scalars.h"

static PyTypeObject *timeline_type;

struct core_timeline {
	CORE_HEAD struct tenon_timeline *timeline;
};

static struct tenon_timeline *timeline_of(PyObject *self)
{
	return ((struct core_timeline *)core_part(self, timeline_type))->timeline;
}

static PyObject *timeline_wrap(struct tenon_timeline *timeline)
{
	PyObject *made = PyObject_New(PyObject, timeline_type);

	if (made)
		((struct core_timeline *)core_part(made, timeline_type))->timeline = timeline;
	else
		tenon_object_unref(timeline);
	return made;
}

static PyObject *timeline_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "value", NULL };
	struct tenon_timeline *timeline;
	uint64_t value = 0;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O&:Timeline", names, scalars_unsigned,
					 &value) ||
	    errors_check(tenon_timeline_create(value, &timeline)))
		return NULL;
	return timeline_wrap(timeline);
}

static void timeline_dealloc(PyObject *self)
{
	tenon_object_unref(timeline_of(self));
	core_free(self);
}

int timeline_deadline(PyObject *timeout, uint64_t *out)
{
	double seconds;

	*out = TENON_FOREVER;
	if (timeout == Py_None)
		return 0;
	seconds = PyFloat_AsDouble(timeout);
	if (PyErr_Occurred())
		return -1;
	if (!(seconds >= 0)) {
		PyErr_SetString(PyExc_ValueError, "a timeout is a number of seconds, at least 0");
		return -1;
	}
	/* nanoseconds of more than 95 years could overflow: these wait without limit */
	if (seconds < 3e9)
		*out = tenon_deadline((uint64_t)(seconds * 1e9));
	return 0;
}

int timeline_stop(void *unused)
{
	PyGILState_STATE state = PyGILState_Ensure();
	int raised = PyErr_CheckSignals();

	PyGILState_Release(state);
	return raised;
}

static PyObject *timeline_value(PyObject *self, void *unused)
{
	uint64_t value;

	return errors_check(tenon_timeline_value(timeline_of(self), &value))
		       ? NULL
		       : PyLong_FromUnsignedLongLong(value);
}

static PyObject *timeline_signal(PyObject *self, PyObject *args)
{
	uint64_t value;
	int err;

	if (!PyArg_ParseTuple(args, "O&:signal", scalars_unsigned, &value))
		return NULL;
	Py_BEGIN_ALLOW_THREADS err = tenon_timeline_signal(timeline_of(self), value);
	Py_END_ALLOW_THREADS return errors_none(err);
}

static PyObject *timeline_fail(PyObject *self, PyObject *args)
{
	const char *reason;

	if (!PyArg_ParseTuple(args, "s:fail", &reason))
		return NULL;
	Py_BEGIN_ALLOW_THREADS tenon_timeline_fail(timeline_of(self),
						   tenon_error(-TENON_E_CALL, "%s", reason));
	tenon_error_clear();
	Py_END_ALLOW_THREADS Py_RETURN_NONE;
}

/* how long a wait goes on before handlers of signals run: nanoseconds */
#define SIGNALS_EVERY 50000000

/* As tenon_timeline_wait(), without the GIL; handlers of signals run meanwhile. */
static int wait_or_stop(struct tenon_timeline *timeline, uint64_t value, uint64_t deadline)
{
	uint64_t until;
	int err;

	do {
		until = tenon_deadline(SIGNALS_EVERY);
		if (until > deadline)
			until = deadline;
		err = tenon_timeline_wait(timeline, value, until);
		/* a failure may have this status, too: it arrives before its time */
		if (err != -TENON_E_TIMEOUT || until == deadline || tenon_now() < until)
			return err;
		tenon_error_clear();
	} while (!timeline_stop(NULL));
	return -TENON_E_TIMEOUT;
}

static PyObject *timeline_wait(PyObject *self, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "value", "timeout", NULL };
	PyObject *timeout = Py_None;
	uint64_t value;
	uint64_t deadline;
	int err;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "O&|O:wait", names, scalars_unsigned,
					 &value, &timeout) ||
	    timeline_deadline(timeout, &deadline))
		return NULL;
	Py_BEGIN_ALLOW_THREADS err = wait_or_stop(timeline_of(self), value, deadline);
	Py_END_ALLOW_THREADS return errors_none(err);
}

/* _descriptor(value): an eventfd that is readable once the value is reached, or the timeline failed; the caller closes it */
static PyObject *timeline_descriptor(PyObject *self, PyObject *args)
{
	struct tenon_point point = { timeline_of(self), 0 };
	uint64_t value;
	int err, fd;

	if (!PyArg_ParseTuple(args, "O&:_descriptor", scalars_unsigned, &value))
		return NULL;
	point.value = value;
	Py_BEGIN_ALLOW_THREADS err = tenon_fence_export(&point, TENON_FENCE_EVENTFD, &fd);
	Py_END_ALLOW_THREADS return err ? errors_set(err) : PyLong_FromLong(fd);
}

static PyObject *awaitable(PyObject *timeline, uint64_t value)
{
	PyObject *module = PyImport_ImportModule("tenon._awaiting"), *made = NULL;

	if (module)
		made = PyObject_CallMethod(module, "reached", "OK", timeline,
					   (unsigned long long)value);
	Py_XDECREF(module);
	return made;
}

static PyObject *timeline_reached(PyObject *self, PyObject *args)
{
	uint64_t value;

	return PyArg_ParseTuple(args, "O&:reached", scalars_unsigned, &value)
		       ? awaitable(self, value)
		       : NULL;
}

PyObject *timeline_awaitable(struct tenon_timeline *timeline, uint64_t value)
{
	PyObject *wrapped = timeline_wrap(timeline), *made = NULL;

	if (wrapped)
		made = awaitable(wrapped, value);
	Py_XDECREF(wrapped);
	return made;
}

/* ---- points */

static int point_read(PyObject *pair, struct tenon_point *out)
{
	PyObject *timeline, *value;

	if (!PyTuple_Check(pair) || PyTuple_Size(pair) != 2 ||
	    Py_TYPE(timeline = PyTuple_GetItem(pair, 0)) != timeline_type) {
		PyErr_Format(PyExc_TypeError, "a point is a tuple (tenon.Timeline, value), not %R",
			     pair);
		return -1;
	}
	value = PyTuple_GetItem(pair, 1);
	out->timeline = timeline_of(timeline);
	out->value = PyLong_AsUnsignedLongLong(value);
	return PyErr_Occurred() ? -1 : 0;
}

static PyObject *tuple_of(PyObject *pairs)
{
	return pairs == Py_None ? PyTuple_New(0) : PySequence_Tuple(pairs);
}

int points_read(PyObject *wait, PyObject *signal, struct points *out)
{
	PyObject *waits = tuple_of(wait), *signals = waits ? tuple_of(signal) : NULL;
	Py_ssize_t i, count;

	memset(out, 0, sizeof(*out));
	if (signals)
		out->kept = PySequence_Concat(waits, signals);
	count = out->kept ? PyTuple_Size(out->kept) : -1;
	if (count >= 0 && !(out->at = PyMem_Calloc((size_t)count + 1, sizeof(*out->at))))
		PyErr_NoMemory();
	for (i = 0; out->at && i < count; i++)
		if (point_read(PyTuple_GetItem(out->kept, i), &out->at[i]))
			break;
	if (out->at && i == count) {
		out->sync.wait = out->at;
		out->sync.wait_count = (size_t)PyTuple_Size(waits);
		out->sync.signal = out->at + out->sync.wait_count;
		out->sync.signal_count = (size_t)PyTuple_Size(signals);
	}
	Py_XDECREF(waits);
	Py_XDECREF(signals);
	if (out->sync.wait)
		return 0;
	points_end(out);
	return -1;
}

void points_end(struct points *p)
{
	PyMem_Free(p->at);
	Py_XDECREF(p->kept);
	p->at = NULL;
	p->kept = NULL;
}

static PyGetSetDef timeline_attributes[] = {
	{ "value", timeline_value, NULL, "The value that it has reached.", NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyMethodDef timeline_methods[] = {
	{ "signal", timeline_signal, METH_VARARGS,
	  "signal($self, value, /)\n--\n\nAdvance it to a larger value." },
	{ "fail", timeline_fail, METH_VARARGS,
	  "fail($self, reason, /)\n--\n\nFail it: those that wait for it raise an error with the "
	  "reason." },
	{ "wait", (PyCFunction)(void (*)(void))timeline_wait, METH_VARARGS | METH_KEYWORDS,
	  "wait($self, /, value, timeout=None)\n--\n\nWait until it has a value; timeout in "
	  "seconds." },
	{ "reached", timeline_reached, METH_VARARGS,
	  "reached($self, value, /)\n--\n\nAn awaitable for a value." },
	{ "_descriptor", timeline_descriptor, METH_VARARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

static PyType_Slot timeline_slots[] = {
	{ Py_tp_doc, "Timeline(value=0)\n\nA number that only grows, which devices and this "
		     "process signal and wait for." },
	{ Py_tp_new, timeline_new },
	{ Py_tp_dealloc, timeline_dealloc },
	{ Py_tp_getset, timeline_attributes },
	{ Py_tp_methods, timeline_methods },
	{ 0, NULL },
};
static PyType_Spec timeline_spec = {
	"tenon.Timeline", CORE_SIZE(struct core_timeline), 0, Py_TPFLAGS_DEFAULT, timeline_slots,
};

int timeline_init(PyObject *module)
{
	timeline_type = core_add_type(module, &timeline_spec, NULL);
	return timeline_type ? 0 : -1;
}
