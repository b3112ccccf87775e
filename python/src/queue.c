/* SPDX-License-Identifier: MIT */
/*
 * The type tenon.Queue, which keeps the objects that its operations use.
 *
 * An operation goes on after the method that submitted it has returned, so the queue keeps the objects whose memory it uses.
 * Each operation signals a timeline of the queue; what is kept is dropped by the first method that finds the value reached.
 */
#include "queue.h"

#include <pthread.h>
#include <string.h>

#include "device.h"
#include "errors.h"
#include "place.h"
#include "recording.h"
#include "scalars.h"
#include "timeline.h"

static PyTypeObject *queue_type;

/**
 * struct kept - objects of an operation
 * @done: signalled when it is done; @done.timeline is referenced
 * @objects: one reference
 */
struct kept {
	struct tenon_point done;
	PyObject *objects;
};

/**
 * struct core_queue - a queue as an object of Python
 * @queue: one reference
 * @device: one reference
 * @lock: the library lets one thread at a time submit. Taken without the GIL.
 * @done: timeline that operations signal; another one after each done(), so that each reports failures of its own
 * @submitted: value that the last operation signals; goes on in the next timeline
 * @kept: @kept_count entries, oldest first, with room for @kept_room
 * @taken: number of entries that were taken out of @kept
 * @recorded: list of the recording that follows the queue, which keeps the objects of operations, too; NULL when none does
 * @previous: the current queue of the thread that entered this one; NULL when none did
 * @thread: that thread
 */
struct core_queue {
	CORE_HEAD struct tenon_queue *queue;
	struct tenon_device *device;
	pthread_mutex_t lock;
	struct tenon_timeline *done;
	uint64_t submitted;
	struct kept *kept;
	size_t kept_count;
	size_t kept_room;
	uint64_t taken;
	PyObject *recorded;
	struct tenon_queue *previous;
	unsigned long thread;
};

static struct core_queue *core_queue_of(PyObject *self)
{
	return core_part(self, queue_type);
}

struct tenon_queue *queue_of(PyObject *queue)
{
	return core_queue_of(queue)->queue;
}

bool queue_check(PyObject *o)
{
	return Py_TYPE(o) == queue_type;
}

PyObject *queue_make(struct tenon_device *device)
{
	PyObject *made = PyObject_New(PyObject, queue_type);
	struct core_queue *q;
	int err;

	if (!made) {
		tenon_object_unref(device);
		return NULL;
	}
	q = core_queue_of(made);
	memset(&q->queue, 0, sizeof(*q) - offsetof(struct core_queue, queue));
	q->device = device;
	pthread_mutex_init(&q->lock, NULL);
	Py_BEGIN_ALLOW_THREADS err = tenon_queue_create(device, &q->queue);
	if (!err)
		err = tenon_timeline_create(0, &q->done);
	Py_END_ALLOW_THREADS if (!errors_check(err)) return made;
	Py_DECREF(made);
	return NULL;
}

/* ---- the lock */

static int usage_error(const char *message)
{
	return errors_check(tenon_error(-TENON_E_USAGE, "%s", message));
}

void queue_lock_always(PyObject *queue)
{
	Py_BEGIN_ALLOW_THREADS pthread_mutex_lock(&core_queue_of(queue)->lock);
	Py_END_ALLOW_THREADS
}

int queue_lock(PyObject *queue)
{
	struct core_queue *q = core_queue_of(queue);

	queue_lock_always(queue);
	if (!q->previous || q->thread == PyThread_get_thread_ident())
		return 0;
	pthread_mutex_unlock(&q->lock);
	return usage_error("another thread runs in a with block of this queue");
}

void queue_unlock(PyObject *queue)
{
	pthread_mutex_unlock(&core_queue_of(queue)->lock);
}

void queue_set_recorded(PyObject *queue, PyObject *list)
{
	struct core_queue *q = core_queue_of(queue);
	PyObject *former = q->recorded;

	q->recorded = Py_XNewRef(list);
	Py_XDECREF(former);
}

/* ---- what operations use */

/* Keep objects for the next operation; the caller holds the lock. */
static int keep(struct core_queue *q, PyObject *objects)
{
	size_t room = q->kept_room ? 2 * q->kept_room : 8;
	struct kept *more;

	if (q->kept_count == q->kept_room) {
		more = PyMem_Realloc(q->kept, room * sizeof(*more));
		if (!more)
			return PyErr_NoMemory() ? 0 : -1;
		q->kept = more;
		q->kept_room = room;
	}
	tenon_object_ref(q->done);
	q->kept[q->kept_count++] =
		(struct kept){ { q->done, q->submitted + 1 }, Py_NewRef(objects) };
	return 0;
}

/* Take the newest entry back, whose operation was not submitted; the objects are the caller's. */
static PyObject *unkeep(struct core_queue *q)
{
	struct kept *newest = &q->kept[--q->kept_count];

	tenon_object_unref(newest->done.timeline);
	return newest->objects;
}

/* How many entries, from the oldest on, are of operations that are done: a queue keeps their order. */
static size_t count_done(const struct core_queue *q)
{
	size_t i = q->kept_count;
	uint64_t value;

	for (; i; i--) {
		/* a failed timeline has the value that it had before, and says nothing of later operations */
		if (tenon_timeline_value(q->kept[i - 1].done.timeline, &value))
			tenon_error_clear();
		if (value >= q->kept[i - 1].done.value)
			break;
	}
	return i;
}

/*
 * Take the oldest entries out; the caller holds the lock, and drops them without it: that may run code of Python, which may
 * use this queue.
 */
static struct kept *take(struct core_queue *q, size_t count)
{
	struct kept *taken = count ? PyMem_Malloc(count * sizeof(*taken)) : NULL;

	/* without memory they are dropped another time */
	if (!taken)
		return NULL;
	memcpy(taken, q->kept, count * sizeof(*taken));
	q->kept_count -= count;
	q->taken += count;
	memmove(q->kept, q->kept + count, q->kept_count * sizeof(*taken));
	return taken;
}

static void drop(struct kept *taken, size_t count)
{
	size_t i;

	for (i = 0; taken && i < count; i++) {
		tenon_object_unref(taken[i].done.timeline);
		Py_DECREF(taken[i].objects);
	}
	PyMem_Free(taken);
}

static void queue_dealloc(PyObject *self)
{
	struct core_queue *q = core_queue_of(self);

	/* The last reference may be that of a thread that entered it, so dropping ours does not wait until the queue is idle. */
	Py_BEGIN_ALLOW_THREADS if (q->kept_count && tenon_queue_sync(q->queue, TENON_FOREVER))
		tenon_error_clear();
	tenon_object_unref(q->previous);
	tenon_object_unref(q->queue);
	Py_END_ALLOW_THREADS drop(q->kept, q->kept_count);
	Py_XDECREF(q->recorded);
	tenon_object_unref(q->done);
	tenon_object_unref(q->device);
	pthread_mutex_destroy(&q->lock);
	core_free(self);
}

/* ---- submitting */

/**
 * struct submission - an operation
 * @submit: submits it; without the GIL
 * @to: what it writes; unused by some
 * @from: what it reads; unused by some
 * @size: bytes
 * @pattern: of a fill
 * @commands: of a recording
 * @bindings: @binding_count places for its slots
 * @binding_count: number of them
 */
struct submission {
	int (*submit)(struct tenon_queue *queue, const struct submission *s,
		      const struct tenon_sync *sync);
	struct place to;
	struct place from;
	uint64_t size;
	struct pattern pattern;
	struct tenon_commands *commands;
	struct tenon_memory **bindings;
	size_t binding_count;
};

/* Take back the entry of an operation that failed. A part of a recording may have been submitted, and use the objects. */
static PyObject *unkeep_failed(struct core_queue *q, const struct submission *s)
{
	if (s->commands) {
		Py_BEGIN_ALLOW_THREADS if (tenon_queue_sync(q->queue, TENON_FOREVER))
			tenon_error_clear();
		Py_END_ALLOW_THREADS
	}
	return unkeep(q);
}

/* Submit an operation, and keep the objects that it uses until it is done. */
static PyObject *submit(PyObject *self, const struct submission *s, PyObject *objects,
			PyObject *wait, PyObject *signal)
{
	struct core_queue *q = core_queue_of(self);
	PyObject *unused = NULL;
	struct kept *taken;
	struct points points;
	size_t count;
	int err;

	if (points_read(wait, signal, &points))
		return NULL;
	if (queue_lock(self)) {
		points_end(&points);
		return NULL;
	}
	count = count_done(q);
	taken = take(q, count);
	err = q->recorded ? PyList_Append(q->recorded, objects) : 0;
	if (!err)
		err = keep(q, objects);
	if (!err) {
		/* what signals cannot be recorded: then the next operation that is not signals for this one */
		if (!q->recorded)
			points_add_signal(&points, q->done, q->submitted + 1);
		Py_BEGIN_ALLOW_THREADS err = s->submit(q->queue, s, &points.sync);
		Py_END_ALLOW_THREADS if (errors_check(err)) unused = unkeep_failed(q, s);
		else if (!q->recorded) q->submitted++;
	}
	queue_unlock(self);
	Py_XDECREF(unused);
	drop(taken, count);
	points_end(&points);
	return err ? NULL : Py_NewRef(Py_None);
}

static int submit_copy(struct tenon_queue *queue, const struct submission *s,
		       const struct tenon_sync *sync)
{
	if (s->from.host)
		return tenon_queue_write(queue, s->to.memory, s->to.offset, s->from.host, s->size,
					 sync);
	if (s->to.host)
		return tenon_queue_read(queue, s->to.host, s->from.memory, s->from.offset, s->size,
					sync);
	return tenon_queue_copy(queue, s->to.memory, s->to.offset, s->from.memory, s->from.offset,
				s->size, sync);
}

static int check_ends(const struct submission *s)
{
	if (!s->to.host || !s->from.host)
		return 0;
	PyErr_SetString(PyExc_ValueError,
			"a queue copies on its device, from it and to it: neither tensor is there");
	return -1;
}

static PyObject *queue_copy(PyObject *self, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "to",	 "source", "size", "to_offset", "source_offset",
				 "wait", "signal", NULL };
	struct tenon_device *device = core_queue_of(self)->device;
	PyObject *to, *from, *size = Py_None, *wait = Py_None, *signal = Py_None, *objects, *done;
	struct submission s = { .submit = submit_copy };
	uint64_t to_offset = 0, from_offset = 0;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO|$OO&O&OO:copy", names, &to, &from,
					 &size, scalars_unsigned, &to_offset, scalars_unsigned,
					 &from_offset, &wait, &signal) ||
	    place_of(to, device, to_offset, PLACE_WRITE, &s.to))
		return NULL;
	if (place_of(from, device, from_offset, PLACE_READ, &s.from)) {
		place_end(&s.to);
		return NULL;
	}
	objects = PyTuple_Pack(2, s.to.tensor, s.from.tensor);
	done = objects && !check_ends(&s) && !place_copied(&s.to, &s.from, size, &s.size)
		       ? submit(self, &s, objects, wait, signal)
		       : NULL;
	Py_XDECREF(objects);
	place_end(&s.from);
	place_end(&s.to);
	return done;
}

static int submit_fill(struct tenon_queue *queue, const struct submission *s,
		       const struct tenon_sync *sync)
{
	return tenon_queue_fill(queue, s->to.memory, s->to.offset, s->size, s->pattern.bits,
				s->pattern.width, sync);
}

static PyObject *queue_fill(PyObject *self, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "to", "pattern", "size", "to_offset", "wait", "signal", NULL };
	struct tenon_device *device = core_queue_of(self)->device;
	PyObject *to, *bytes, *size = Py_None, *wait = Py_None, *signal = Py_None, *done = NULL;
	struct submission s = { .submit = submit_fill };
	uint64_t offset = 0;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO|$OO&OO:fill", names, &to, &bytes,
					 &size, scalars_unsigned, &offset, &wait, &signal) ||
	    place_of(to, device, offset, PLACE_WRITE, &s.to))
		return NULL;
	if (s.to.host)
		PyErr_SetString(PyExc_ValueError, "the tensor is not on the queue's device");
	else if (!place_filled(&s.to, bytes, size, &s.pattern, &s.size))
		done = submit(self, &s, s.to.tensor, wait, signal);
	place_end(&s.to);
	return done;
}

static int submit_join(struct tenon_queue *queue, const struct submission *s,
		       const struct tenon_sync *sync)
{
	return tenon_queue_join(queue, sync);
}

static PyObject *queue_join(PyObject *self, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "wait", "signal", NULL };
	PyObject *wait = Py_None, *signal = Py_None;
	struct submission s = { .submit = submit_join };

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "|$OO:join", names, &wait, &signal))
		return NULL;
	return submit(self, &s, Py_None, wait, signal);
}

/* ---- recordings */

static int submit_recording(struct tenon_queue *queue, const struct submission *s,
			    const struct tenon_sync *sync)
{
	return tenon_queue_execute(queue, s->commands, s->bindings, s->binding_count, sync);
}

/* Memory of a tensor for a slot; @kept receives an object of the library to release, or NULL. */
static int bind(PyObject *recording, uint32_t slot, PyObject *tensor, struct place *p,
		struct tenon_memory **kept)
{
	if (recording_bind(recording, slot, tensor, p))
		return -1;
	if (!p->offset)
		return 0;
	if (p->memory == &p->room)
		return errors_check(tenon_error(
			-TENON_E_UNSUPPORTED, "a tensor with an offset cannot be bound to a slot"));
	if (errors_check(tenon_memory_subrange(p->memory, p->offset, p->size, kept)))
		return -1;
	p->memory = *kept;
	return 0;
}

/* Bind a tuple of tensors and run; @places and @kept have room for all, zeroed. */
static PyObject *execute(PyObject *self, PyObject *recording, PyObject *tensors,
			 struct place *places, struct tenon_memory **bindings, size_t count,
			 PyObject *wait, PyObject *signal)
{
	struct tenon_memory **kept = bindings + count;
	struct submission s = { .submit = submit_recording,
				.commands = recording_commands(recording),
				.bindings = bindings,
				.binding_count = count };
	PyObject *objects = PyTuple_New((Py_ssize_t)s.binding_count + 1), *done = NULL;
	size_t i;

	for (i = 0; objects && i < s.binding_count; i++) {
		if (bind(recording, (uint32_t)i, PyTuple_GetItem(tensors, (Py_ssize_t)i),
			 &places[i], &kept[i]))
			goto end;
		bindings[i] = places[i].memory;
		PyTuple_SetItem(objects, (Py_ssize_t)i, Py_NewRef(places[i].tensor));
	}
	if (objects) {
		PyTuple_SetItem(objects, (Py_ssize_t)i, Py_NewRef(recording));
		done = submit(self, &s, objects, wait, signal);
	}
end:
	for (i = 0; i < s.binding_count; i++) {
		place_end(&places[i]);
		tenon_object_unref(kept[i]);
	}
	Py_XDECREF(objects);
	return done;
}

static PyObject *queue_execute(PyObject *self, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "recording", "tensors", "wait", "signal", NULL };
	PyObject *recording, *given = Py_None, *wait = Py_None, *signal = Py_None, *tensors;
	PyObject *done = NULL;
	struct tenon_memory **bindings;
	struct place *places;
	size_t slots;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|O$OO:execute", names, &recording,
					 &given, &wait, &signal))
		return NULL;
	if (!recording_check(recording))
		return PyErr_Format(PyExc_TypeError, "a queue executes a tenon.Recording, not %R",
				    (PyObject *)Py_TYPE(recording));
	tensors = given == Py_None ? PyTuple_New(0) : PySequence_Tuple(given);
	if (!tensors)
		return NULL;
	slots = recording_slots(recording);
	places = PyMem_Calloc(slots + 1, sizeof(*places));
	bindings = PyMem_Calloc(2 * slots + 1, sizeof(struct tenon_memory *));
	if ((size_t)PyTuple_Size(tensors) != slots)
		PyErr_Format(PyExc_ValueError, "%zd tensors for a recording with %zu slots",
			     PyTuple_Size(tensors), slots);
	else if (!places || !bindings)
		PyErr_NoMemory();
	else
		done = execute(self, recording, tensors, places, bindings, slots, wait, signal);
	PyMem_Free(places);
	PyMem_Free(bindings);
	Py_DECREF(tensors);
	return done;
}

/* ---- waiting */

static PyObject *queue_flush(PyObject *self, PyObject *unused)
{
	int err;

	if (queue_lock(self))
		return NULL;
	Py_BEGIN_ALLOW_THREADS err = tenon_queue_flush(queue_of(self));
	Py_END_ALLOW_THREADS queue_unlock(self);
	return errors_none(err);
}

/* Operations signal another timeline from now on; the caller holds the lock. The former one is the caller's. */
static struct tenon_timeline *next_timeline(struct core_queue *q)
{
	struct tenon_timeline *former = q->done, *fresh;

	if (errors_check(tenon_timeline_create(0, &fresh)))
		return NULL;
	q->done = fresh;
	return former;
}

static PyObject *queue_sync(PyObject *self, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "timeout", NULL };
	struct core_queue *q = core_queue_of(self);
	PyObject *timeout = Py_None;
	struct kept *taken = NULL;
	uint64_t deadline, goal;
	size_t count;
	int err;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O:sync", names, &timeout) ||
	    timeline_deadline(timeout, &deadline) || queue_lock(self))
		return NULL;
	goal = q->taken + q->kept_count;
	queue_unlock(self);
	/* without the lock: signal handlers and other threads may use the queue meanwhile */
	Py_BEGIN_ALLOW_THREADS err =
		tenon_queue_sync_or_stop(q->queue, deadline, timeline_stop, NULL);
	Py_END_ALLOW_THREADS if (err == -TENON_E_TIMEOUT) return errors_set(err);
	queue_lock_always(self);
	count = goal > q->taken ? goal - q->taken : 0;
	taken = take(q, count);
	if (err) {
		errors_set(err);
		/* without memory the old one stays, and so does its failure */
		tenon_object_unref(next_timeline(q));
	}
	queue_unlock(self);
	drop(taken, count);
	return err ? NULL : Py_NewRef(Py_None);
}

static PyObject *queue_done(PyObject *self, PyObject *unused)
{
	struct core_queue *q = core_queue_of(self);
	struct tenon_point point = { NULL, 0 };
	struct tenon_sync sync = { .signal = &point, .signal_count = 1 };
	int err = 0;

	if (queue_lock(self))
		return NULL;
	point.value = q->submitted + 1;
	point.timeline = next_timeline(q);
	if (point.timeline) {
		Py_BEGIN_ALLOW_THREADS err = tenon_queue_join(q->queue, &sync);
		if (!err)
			err = tenon_queue_flush(q->queue);
		Py_END_ALLOW_THREADS q->submitted += !err;
	}
	queue_unlock(self);
	if (!point.timeline)
		return NULL;
	if (!err)
		return timeline_awaitable(point.timeline, point.value);
	tenon_object_unref(point.timeline);
	return errors_set(err);
}

/* ---- a thread's current queue */

static PyObject *queue_enter(PyObject *self, PyObject *unused)
{
	struct core_queue *q = core_queue_of(self);
	struct tenon_queue *current = NULL;
	int err;

	if (queue_lock(self))
		return NULL;
	if (q->previous) {
		queue_unlock(self);
		usage_error("this thread is in a with block of this queue already");
		return NULL;
	}
	Py_BEGIN_ALLOW_THREADS err = tenon_queue_current(q->device, &current);
	if (!err) {
		tenon_object_ref(current);
		err = tenon_queue_set_current(q->device, q->queue);
	}
	if (err)
		tenon_object_unref(current);
	Py_END_ALLOW_THREADS if (!err)
	{
		q->previous = current;
		q->thread = PyThread_get_thread_ident();
	}
	queue_unlock(self);
	return err ? errors_set(err) : Py_NewRef(self);
}

static PyObject *queue_exit(PyObject *self, PyObject *args)
{
	struct core_queue *q = core_queue_of(self);
	struct tenon_queue *previous;
	int err;

	if (queue_lock(self))
		return NULL;
	previous = q->previous;
	q->previous = NULL;
	Py_BEGIN_ALLOW_THREADS err = previous ? tenon_queue_set_current(q->device, previous) : 0;
	tenon_object_unref(previous);
	Py_END_ALLOW_THREADS queue_unlock(self);
	return errors_none(err);
}

static PyObject *queue_device(PyObject *self, void *unused)
{
	return device_wrap(tenon_device_id(core_queue_of(self)->device));
}

static PyGetSetDef queue_attributes[] = {
	{ "device", queue_device, NULL, "The queue's device.", NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyMethodDef queue_methods[] = {
	{ "copy", (PyCFunction)(void (*)(void))queue_copy, METH_VARARGS | METH_KEYWORDS,
	  "copy($self, /, to, source, *, size=None, to_offset=0, source_offset=0, wait=None, "
	  "signal=None)\n--\n\n"
	  "Submit a copy between tensors, of which at least one is on the queue's device. Those in "
	  "memory of the processor must not be used until it is done. Sizes are in bytes." },
	{ "fill", (PyCFunction)(void (*)(void))queue_fill, METH_VARARGS | METH_KEYWORDS,
	  "fill($self, /, to, pattern, *, size=None, to_offset=0, wait=None, signal=None)\n--\n\n"
	  "Submit a fill with a pattern, which is 1, 2 or 4 bytes." },
	{ "execute", (PyCFunction)(void (*)(void))queue_execute, METH_VARARGS | METH_KEYWORDS,
	  "execute($self, /, recording, tensors=(), *, wait=None, signal=None)\n--\n\n"
	  "Submit a recording, with a tensor for each of its slots." },
	{ "join", (PyCFunction)(void (*)(void))queue_join, METH_VARARGS | METH_KEYWORDS,
	  "join($self, /, *, wait=None, signal=None)\n--\n\n"
	  "Let what is submitted from now on wait for points, and signal points after all "
	  "before." },
	{ "flush", queue_flush, METH_NOARGS,
	  "flush($self, /)\n--\n\nStart what was submitted, without waiting." },
	{ "sync", (PyCFunction)(void (*)(void))queue_sync, METH_VARARGS | METH_KEYWORDS,
	  "sync($self, /, timeout=None)\n--\n\nWait for what was submitted before; timeout in "
	  "seconds. "
	  "Raises the first failure since the last sync." },
	{ "done", queue_done, METH_NOARGS,
	  "done($self, /)\n--\n\nAn awaitable for what was submitted so far. It raises the failure "
	  "of "
	  "an operation that was submitted since the last done()." },
	{ "__enter__", queue_enter, METH_NOARGS,
	  "__enter__($self, /)\n--\n\nCalls of this thread submit to the queue." },
	{ "__exit__", queue_exit, METH_VARARGS,
	  "__exit__($self, /, *details)\n--\n\nCalls of this thread submit to the queue as "
	  "before." },
	{ NULL, NULL, 0, NULL },
};

static PyType_Slot queue_slots[] = {
	{ Py_tp_doc,
	  "A queue of a device, which runs operations in the order of submission; from "
	  "Device.queue(). Methods that submit do not wait. In a with block the calls of this "
	  "thread "
	  "on the queue's device submit to it, too; no await may be inside. Points to wait for and "
	  "to "
	  "signal are sequences of (timeline, value). A queue that is dropped waits until it is "
	  "idle." },
	{ Py_tp_dealloc, queue_dealloc },
	{ Py_tp_getset, queue_attributes },
	{ Py_tp_methods, queue_methods },
	{ 0, NULL },
};
static PyType_Spec queue_spec = CORE_TYPE("tenon.Queue", struct core_queue, queue_slots);

int queue_init(PyObject *module)
{
	queue_type = core_add_type(module, &queue_spec, NULL);
	return queue_type ? 0 : -1;
}
