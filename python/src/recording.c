/* SPDX-License-Identifier: MIT */
/*
 * The type tenon.Recording: operations that are recorded once and run many times.
 *
 * The functions of the library that record are called in the recording's critical section, and with the GIL, which keep threads
 * apart that record into one: none of them waits for a device. While a recording follows a queue, what is submitted to it records, too: then the queue's lock is
 * held. A call runs without the GIL: until it has ended, other methods of the recording raise an exception.
 */
#include "recording.h"

#include <string.h>

#include "device.h"
#include "errors.h"
#include "function.h"
#include "place.h"
#include "queue.h"
#include "scalars.h"
#include "tensor.h"

static PyTypeObject *recording_type;

/**
 * struct slot - what operations do with a slot
 * @end: they use its first bytes up to here; 0 when none uses it
 * @written: whether one writes it; not known of calls
 * @stand_in: tensor that stands for it, one reference; NULL for none
 */
struct slot {
	uint64_t end;
	bool written;
	PyObject *stand_in;
};

/**
 * struct core_recording - a recording as an object of Python
 * @commands: one reference
 * @device: one reference
 * @kept: list of tensors whose memory it names
 * @followed: queue that it follows; NULL for none
 * @calling: a thread is in call()
 * @slot_count: highest slot that is used, plus one
 * @slots: what operations do with each
 */
struct core_recording {
	CORE_HEAD struct tenon_commands *commands;
	struct tenon_device *device;
	PyObject *kept;
	PyObject *followed;
	bool calling;
	uint32_t slot_count;
	struct slot slots[PLACE_SLOTS_MOST];
};

static struct core_recording *recording_of(PyObject *o)
{
	return core_part(o, recording_type);
}

bool recording_check(PyObject *o)
{
	return Py_TYPE(o) == recording_type;
}

struct tenon_commands *recording_commands(PyObject *recording)
{
	return recording_of(recording)->commands;
}

uint32_t recording_slots(PyObject *recording)
{
	uint32_t count;

	Py_BEGIN_CRITICAL_SECTION(recording);
	count = recording_of(recording)->slot_count;
	Py_END_CRITICAL_SECTION();
	return count;
}

PyObject *recording_make(struct tenon_device *device)
{
	PyObject *made = PyObject_New(PyObject, recording_type);
	struct core_recording *r;

	if (!made) {
		tenon_object_unref(device);
		return NULL;
	}
	r = recording_of(made);
	memset(&r->commands, 0, sizeof(*r) - offsetof(struct core_recording, commands));
	r->device = device;
	r->kept = PyList_New(0);
	if (r->kept && !errors_check(tenon_commands_create(device, &r->commands)))
		return made;
	Py_DECREF(made);
	return NULL;
}

static void recording_dealloc(PyObject *self)
{
	struct core_recording *r = recording_of(self);
	uint32_t i;

	/* one that follows a queue leaves it */
	if (r->followed)
		queue_lock_always(r->followed);
	tenon_object_unref(r->commands);
	if (r->followed) {
		queue_set_recorded(r->followed, NULL);
		queue_unlock(r->followed);
	}
	Py_XDECREF(r->followed);
	Py_XDECREF(r->kept);
	for (i = 0; i < r->slot_count; i++)
		Py_XDECREF(r->slots[i].stand_in);
	tenon_object_unref(r->device);
	core_free(self);
}

/* ---- operations */

static int usage_error(const char *message)
{
	return errors_check(tenon_error(-TENON_E_USAGE, "%s", message));
}

/* Begin to record; 0, then record_end() with what @locked receives: the queue that the recording follows, or NULL. */
static int record_begin(const struct core_recording *r, PyObject **locked)
{
	*locked = NULL;
	if (r->calling)
		return usage_error("the recording records a call");
	*locked = Py_XNewRef(r->followed);
	if (!*locked || !queue_lock(*locked))
		return 0;
	Py_CLEAR(*locked);
	return -1;
}

/* What a method that recorded returns: None, or NULL with the exception that @err says is set. */
static PyObject *record_end(PyObject *locked, int err)
{
	if (locked)
		queue_unlock(locked);
	Py_XDECREF(locked);
	return err ? NULL : Py_NewRef(Py_None);
}

/* The slot that a tensor stands for; NULL for none. */
static struct slot *slot_of(struct core_recording *r, PyObject *tensor)
{
	uint32_t i;

	for (i = 0; i < r->slot_count; i++)
		if (r->slots[i].stand_in == tensor)
			return &r->slots[i];
	return NULL;
}

/* Remember what an operation uses: the tensor, or how much of the slot. */
static int use(struct core_recording *r, const struct place *p, uint64_t size,
	       enum place_access access)
{
	struct slot *slot;

	if (!p->is_slot) {
		slot = slot_of(r, p->tensor);
		if (slot)
			slot->written |= access == PLACE_WRITE;
		return slot ? 0 : PyList_Append(r->kept, p->tensor);
	}
	slot = &r->slots[p->slot];
	if (p->offset + size > slot->end)
		slot->end = p->offset + size;
	slot->written |= access == PLACE_WRITE;
	if (p->slot >= r->slot_count)
		r->slot_count = p->slot + 1;
	return 0;
}

static PyObject *record_copy(struct core_recording *r, const struct place *to,
			     const struct place *from, PyObject *size)
{
	PyObject *locked;
	uint64_t bytes;
	int err;

	if (place_copied(to, from, size, &bytes) || record_begin(r, &locked))
		return NULL;
	err = errors_check(
		tenon_commands_copy(r->commands, place_range(to), place_range(from), bytes));
	if (!err)
		err = use(r, to, bytes, PLACE_WRITE);
	if (!err)
		err = use(r, from, bytes, PLACE_READ);
	return record_end(locked, err);
}

static PyObject *recording_copy(PyObject *self, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "to", "source", "size", "to_offset", "source_offset", NULL };
	struct core_recording *r = recording_of(self);
	uint64_t to_offset = 0, from_offset = 0;
	PyObject *to, *from, *size = Py_None, *done;
	struct place to_place, from_place;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO|$OO&O&:copy", names, &to, &from, &size,
					 scalars_unsigned, &to_offset, scalars_unsigned,
					 &from_offset) ||
	    place_of_slot(to, r->device, to_offset, PLACE_WRITE, &to_place))
		return NULL;
	if (place_of_slot(from, r->device, from_offset, PLACE_READ, &from_place)) {
		place_end(&to_place);
		return NULL;
	}
	Py_BEGIN_CRITICAL_SECTION(self);
	done = record_copy(r, &to_place, &from_place, size);
	Py_END_CRITICAL_SECTION();
	place_end(&from_place);
	place_end(&to_place);
	return done;
}

static PyObject *record_fill(struct core_recording *r, const struct place *to, PyObject *pattern,
			     PyObject *size)
{
	struct pattern with;
	PyObject *locked;
	uint64_t bytes;
	int err;

	if (place_filled(to, pattern, size, &with, &bytes) || record_begin(r, &locked))
		return NULL;
	err = errors_check(
		tenon_commands_fill(r->commands, place_range(to), bytes, with.bits, with.width));
	if (!err)
		err = use(r, to, bytes, PLACE_WRITE);
	return record_end(locked, err);
}

static PyObject *recording_fill(PyObject *self, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "to", "pattern", "size", "to_offset", NULL };
	struct core_recording *r = recording_of(self);
	PyObject *to, *pattern, *size = Py_None, *done;
	uint64_t offset = 0;
	struct place place;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO|$OO&:fill", names, &to, &pattern,
					 &size, scalars_unsigned, &offset) ||
	    place_of_slot(to, r->device, offset, PLACE_WRITE, &place))
		return NULL;
	Py_BEGIN_CRITICAL_SECTION(self);
	done = record_fill(r, &place, pattern, size);
	Py_END_CRITICAL_SECTION();
	place_end(&place);
	return done;
}

static PyObject *record_barrier(struct core_recording *r)
{
	PyObject *locked;

	if (record_begin(r, &locked))
		return NULL;
	return record_end(locked, errors_check(tenon_commands_barrier(r->commands)));
}

/* Call a function of a recording while no other thread changes it. */
static PyObject *alone(PyObject *self, PyObject *(*call)(struct core_recording *r))
{
	PyObject *done;

	Py_BEGIN_CRITICAL_SECTION(self);
	done = call(recording_of(self));
	Py_END_CRITICAL_SECTION();
	return done;
}

static PyObject *recording_barrier(PyObject *self, PyObject *unused)
{
	return alone(self, record_barrier);
}

/* ---- calls */

/* The library records the slot where the tensor is named. */
static int stand_in(struct core_recording *r, uint32_t slot, PyObject *tensor)
{
	PyObject *locked;
	struct place p;
	int err;

	if (record_begin(r, &locked))
		return -1;
	err = place_of(tensor, r->device, 0, PLACE_READ, &p);
	if (err)
		goto done;
	err = errors_check(tenon_commands_stand_in(r->commands, slot, p.memory, p.size));
	if (!err) {
		r->slots[slot].stand_in = Py_NewRef(p.tensor);
		if (p.size > r->slots[slot].end)
			r->slots[slot].end = p.size;
		if (slot >= r->slot_count)
			r->slot_count = slot + 1;
	}
	place_end(&p);
done:
	Py_XDECREF(record_end(locked, err));
	return err;
}

static PyObject *recording_slot(PyObject *self, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "number", "shape", "dtype", NULL };
	struct core_recording *r = recording_of(self);
	PyObject *shape, *dtype = NULL, *tensor;
	unsigned char number;
	int err;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "bO|O:slot", names, &number, &shape,
					 &dtype))
		return NULL;
	tensor = tensor_empty(shape, dtype, tenon_device_id(r->device));
	if (!tensor)
		return NULL;
	Py_BEGIN_CRITICAL_SECTION(self);
	err = stand_in(r, number, tensor);
	Py_END_CRITICAL_SECTION();
	if (err)
		Py_CLEAR(tensor);
	return tensor;
}

/* Keep the arguments of a call, whose memory is recorded. */
static int keep_arguments(struct core_recording *r, PyObject *const *args, Py_ssize_t count)
{
	Py_ssize_t i;

	for (i = 0; i < count; i++) {
		if (tensor_check(args[i]) && core_tensor_of(args[i])->borrowed) {
			PyErr_SetString(
				PyExc_ValueError,
				"a tensor that is lent for the time of a call cannot be recorded: "
				"use a copy");
			return -1;
		}
		if (PyList_Append(r->kept, args[i]))
			return -1;
	}
	return 0;
}

static int record_call(struct core_recording *r, PyObject *const *args, Py_ssize_t count)
{
	int err;

	if (r->calling)
		return usage_error("the recording records a call");
	if (keep_arguments(r, args, count))
		return -1;
	r->calling = true;
	err = function_record(r->commands, args[0], args + 1, count - 1);
	r->calling = false;
	return err;
}

static PyObject *recording_call(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
	int err;

	if (count < 1 || count > INT32_MAX)
		return PyErr_Format(PyExc_TypeError, "call() takes a function, and its arguments");
	Py_BEGIN_CRITICAL_SECTION(self);
	err = record_call(recording_of(self), args, count);
	Py_END_CRITICAL_SECTION();
	return err ? NULL : Py_NewRef(Py_None);
}

static int follow(struct core_recording *r, PyObject *queue)
{
	int err;

	if (queue_lock(queue))
		return -1;
	/* refused while the recording records a call, which may have begun while this thread waited */
	err = errors_check(tenon_commands_follow(r->commands, queue_of(queue)));
	if (!err) {
		r->followed = Py_NewRef(queue);
		queue_set_recorded(queue, r->kept);
	}
	queue_unlock(queue);
	return err;
}

static PyObject *recording_follow(PyObject *self, PyObject *queue)
{
	int err;

	if (!queue_check(queue))
		return PyErr_Format(PyExc_TypeError, "a recording follows a tenon.Queue, not %R",
				    (PyObject *)Py_TYPE(queue));
	Py_BEGIN_CRITICAL_SECTION(self);
	err = follow(recording_of(self), queue);
	Py_END_CRITICAL_SECTION();
	return err ? NULL : Py_NewRef(Py_None);
}

static PyObject *finish(struct core_recording *r)
{
	PyObject *locked;
	int err;

	if (record_begin(r, &locked))
		return NULL;
	err = errors_check(tenon_commands_finish(r->commands));
	/* not @locked: another thread may have finished it, and another recording may follow that queue */
	if (r->followed)
		queue_set_recorded(r->followed, NULL);
	Py_CLEAR(r->followed);
	return record_end(locked, err);
}

static PyObject *recording_finish(PyObject *self, PyObject *unused)
{
	return alone(self, finish);
}

/* ---- runs */

int recording_bind(PyObject *recording, uint32_t slot, PyObject *tensor, struct place *out)
{
	const struct core_recording *r = recording_of(recording);
	enum place_access access;
	uint64_t end;

	Py_BEGIN_CRITICAL_SECTION(recording);
	access = r->slots[slot].written ? PLACE_WRITE : PLACE_READ;
	end = r->slots[slot].end;
	Py_END_CRITICAL_SECTION();
	if (place_of(tensor, r->device, 0, access, out))
		return -1;
	if (out->host) {
		PyErr_Format(PyExc_ValueError,
			     "the tensor for slot %u is not on the recording's device",
			     (unsigned int)slot);
		return -1;
	}
	if (end <= out->size)
		return 0;
	PyErr_Format(PyExc_ValueError, "slot %u is used up to %llu bytes, the tensor has %llu",
		     (unsigned int)slot, (unsigned long long)end, (unsigned long long)out->size);
	return -1;
}

static PyObject *recording_enter(PyObject *self, PyObject *unused)
{
	return Py_NewRef(self);
}

/* After an exception the recording stays unfinished, so that it cannot be run. */
static PyObject *recording_exit(PyObject *self, PyObject *details)
{
	if (PyTuple_Size(details) > 0 && PyTuple_GetItem(details, 0) != Py_None)
		Py_RETURN_NONE;
	return recording_finish(self, NULL);
}

static PyObject *recording_device(PyObject *self, void *unused)
{
	return device_wrap(tenon_device_id(recording_of(self)->device));
}

static PyObject *recording_slot_count(PyObject *self, void *unused)
{
	return PyLong_FromUnsignedLong(recording_slots(self));
}

static PyGetSetDef recording_attributes[] = {
	{ "device", recording_device, NULL, "The recording's device.", NULL },
	{ "slots", recording_slot_count, NULL, "Number of tensors that a run needs.", NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyMethodDef recording_methods[] = {
	{ "copy", (PyCFunction)(void (*)(void))recording_copy, METH_VARARGS | METH_KEYWORDS,
	  "copy($self, /, to, source, *, size=None, to_offset=0, source_offset=0)\n--\n\n"
	  "Record a copy; each end is a tensor on the device, or the number of a slot. Sizes are "
	  "in "
	  "bytes." },
	{ "fill", (PyCFunction)(void (*)(void))recording_fill, METH_VARARGS | METH_KEYWORDS,
	  "fill($self, /, to, pattern, *, size=None, to_offset=0)\n--\n\n"
	  "Record a fill with a pattern, which is 1, 2 or 4 bytes." },
	{ "barrier", recording_barrier, METH_NOARGS,
	  "barrier($self, /)\n--\n\nLet later operations see what earlier ones wrote." },
	{ "slot", (PyCFunction)(void (*)(void))recording_slot, METH_VARARGS | METH_KEYWORDS,
	  "slot($self, /, number, shape, dtype='float32')\n--\n\n"
	  "A tensor on the device that stands for a slot: what is recorded with it takes, at each "
	  "run, the tensor that the run gives, which must be as large." },
	{ "call", (PyCFunction)(void (*)(void))recording_call, METH_FASTCALL,
	  "call($self, function, /, *args)\n--\n\n"
	  "Call a function, and record what it submits to the device instead of running it: "
	  "kernels, copies and fills, with a barrier behind each. A function that reads results, "
	  "or "
	  "submits nothing, is refused." },
	{ "follow", recording_follow, METH_O,
	  "follow($self, queue, /)\n--\n\n"
	  "Record what is submitted to a queue until finish(), with a barrier behind each "
	  "operation. "
	  "Tensors of compiled functions that are called meanwhile must live as long as the "
	  "recording." },
	{ "finish", recording_finish, METH_NOARGS,
	  "finish($self, /)\n--\n\nEnd recording, so that it can be run." },
	{ "__enter__", recording_enter, METH_NOARGS,
	  "__enter__($self, /)\n--\n\nA with block records, and finishes at its end." },
	{ "__exit__", recording_exit, METH_VARARGS,
	  "__exit__($self, /, *details)\n--\n\nFinish, unless there was an exception." },
	{ NULL, NULL, 0, NULL },
};

static PyType_Slot recording_slots_of_type[] = {
	{ Py_tp_doc,
	  "Operations that are recorded once and run many times by Queue.execute(); from "
	  "Device.recording(). Operations between two barriers may run at the same time. A slot is "
	  "a "
	  "number, for which each run gives a tensor." },
	{ Py_tp_dealloc, recording_dealloc },
	{ Py_tp_getset, recording_attributes },
	{ Py_tp_methods, recording_methods },
	{ 0, NULL },
};
static PyType_Spec recording_spec =
	CORE_TYPE("tenon.Recording", struct core_recording, recording_slots_of_type);

int recording_init(PyObject *module)
{
	recording_type = core_add_type(module, &recording_spec, NULL);
	return recording_type ? 0 : -1;
}
