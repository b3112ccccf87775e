/* SPDX-License-Identifier: MIT */
/* Exchange tensors by capsules of DLPack, and by the table of functions of DLPack 1.3. */
#include "dlpack.h"

#include <string.h>

#include "device.h"
#include "errors.h"

#define VERSIONED   "dltensor_versioned"
#define UNVERSIONED "dltensor"
#define EXCHANGE    "dlpack_exchange_api"

/*
 * The table of functions that DLPack 1.3 defines for types of tensors; declared here because the headers of
 * distributions are older.
 */
struct exchange_header {
	uint32_t major;
	uint32_t minor;
	struct exchange_header *previous;
};

struct exchange {
	struct exchange_header header;
	int (*allocate)(DLTensor *like, DLManagedTensorVersioned **out, void *context,
			void (*fail)(void *context, const char *kind, const char *message));
	int (*from_object)(void *object, DLManagedTensorVersioned **out);
	int (*to_object)(DLManagedTensorVersioned *managed, void **out);
	int (*view_object)(void *object, DLTensor *out);
	int (*current_stream)(int32_t type, int32_t id, void **out);
};

/* names of attributes, and the keyword arguments of __dlpack__ */
static PyObject *name_dlpack, *name_exchange, *keyword_names, *newest;

/*
 * What is known of types: an int each, the address of the table of functions or 0, and 1 added for a type with
 * __dlpack__. A failed look-up of an attribute costs as much as an exchange. Few types have tensors; if there are many,
 * the dict begins anew.
 */
#define TYPES_MOST 256
static PyObject *known_types;

static const struct exchange *look_up_table(PyTypeObject *type)
{
	PyObject *capsule = PyObject_GetAttr((PyObject *)type, name_exchange);
	const struct exchange *table = NULL;

	if (capsule && PyCapsule_IsValid(capsule, EXCHANGE))
		table = PyCapsule_GetPointer(capsule, EXCHANGE);
	Py_XDECREF(capsule);
	PyErr_Clear();
	while (table && table->header.major != 1)
		table = (const struct exchange *)table->header.previous;
	return table && table->from_object ? table : NULL;
}

static uintptr_t look_up(PyTypeObject *type)
{
	PyObject *found = PyObject_GetAttr((PyObject *)type, name_dlpack), *number;
	uintptr_t known = (uintptr_t)look_up_table(type) + (found != NULL);

	PyErr_Clear();
	Py_XDECREF(found);
	number = PyLong_FromVoidPtr((void *)known);
	if (PyDict_Size(known_types) >= TYPES_MOST)
		PyDict_Clear(known_types);
	if (number)
		PyDict_SetItem(known_types, (PyObject *)type, number);
	Py_XDECREF(number);
	PyErr_Clear();
	return known;
}

static uintptr_t know(PyTypeObject *type)
{
	PyObject *number = core_dict_get(known_types, (PyObject *)type);
	uintptr_t known;

	if (!number)
		return look_up(type);
	known = (uintptr_t)PyLong_AsVoidPtr(number);
	Py_DECREF(number);
	return known;
}

bool dlpack_offered(PyObject *from)
{
	return know(Py_TYPE(from)) & 1;
}

/* ---- from others */

/*
 * `data` of a tensor on a device without addresses is an object of the library that has it, which no other can
 * use.
 */
static int check_data(DLDevice id)
{
	struct tenon_device *device = NULL;
	bool shared;
	int err;

	if (id.device_type == kDLCPU)
		return 0;
	Py_BEGIN_ALLOW_THREADS err = tenon_device_get(id, &device);
	Py_END_ALLOW_THREADS if (errors_check(err)) return -1;
	shared = tenon_device_properties(device)->flags & TENON_DEVICE_ADDRESSES;
	tenon_object_unref(device);
	if (shared)
		return 0;
	PyErr_SetString(PyExc_BufferError,
			"memory of this device has no addresses that libraries could exchange: "
			"copy the tensor to the processor");
	return -1;
}

static struct tenon_tensor *take_versioned(DLManagedTensorVersioned *managed)
{
	struct tenon_tensor *made = NULL;

	/* of another major version nothing but the deleter may be read */
	if (managed->version.major == 1 && check_data(managed->dl_tensor.device))
		return NULL;
	return errors_check(tenon_tensor_from_dlpack_versioned(managed, 0, false, &made)) ? NULL
											  : made;
}

static struct tenon_tensor *import_by_table(const struct exchange *table, PyObject *from)
{
	DLManagedTensorVersioned *managed = NULL;
	struct tenon_tensor *made;

	if (table->from_object(from, &managed))
		return NULL;
	made = take_versioned(managed);
	if (!made && managed->deleter)
		managed->deleter(managed);
	return made;
}

/* What a capsule of a name holds, for one thread alone, as a used capsule has another name; NULL for none. */
static void *use_capsule(PyObject *capsule, const char *name, const char *used)
{
	void *held = NULL;

	Py_BEGIN_CRITICAL_SECTION(capsule);
	if (PyCapsule_IsValid(capsule, name)) {
		held = PyCapsule_GetPointer(capsule, name);
		PyCapsule_SetName(capsule, used);
	}
	Py_END_CRITICAL_SECTION();
	return held;
}

/* What a capsule holds becomes the tensor's. */
static struct tenon_tensor *import_capsule(PyObject *capsule)
{
	DLManagedTensorVersioned *managed = use_capsule(capsule, VERSIONED, "used_" VERSIONED);
	struct tenon_tensor *made = NULL;
	DLManagedTensor *old;

	if (managed) {
		made = take_versioned(managed);
		if (!made)
			PyCapsule_SetName(capsule, VERSIONED);
		return made;
	}
	old = use_capsule(capsule, UNVERSIONED, "used_" UNVERSIONED);
	if (!old) {
		PyErr_SetString(PyExc_BufferError,
				"__dlpack__ gave no capsule of a tensor, or a used one");
		return NULL;
	}
	if (check_data(old->dl_tensor.device) ||
	    errors_check(tenon_tensor_from_dlpack(old, 0, false, &made)))
		PyCapsule_SetName(capsule, UNVERSIONED);
	return made;
}

static PyObject *capsule_of(PyObject *from)
{
	PyObject *args[] = { from, newest };
	PyObject *capsule = PyObject_VectorcallMethod(name_dlpack, args, 1, keyword_names);

	if (capsule || !PyErr_ExceptionMatches(PyExc_TypeError))
		return capsule;
	/* a library from before DLPack 1.0 */
	PyErr_Clear();
	return PyObject_VectorcallMethod(name_dlpack, args, 1, NULL);
}

struct tenon_tensor *dlpack_import(PyObject *from)
{
	const struct exchange *table =
		(const struct exchange *)(know(Py_TYPE(from)) & ~(uintptr_t)1);
	struct tenon_tensor *made;
	PyObject *capsule;

	if (table)
		return import_by_table(table, from);
	capsule = PyCapsule_CheckExact(from) ? Py_NewRef(from) : capsule_of(from);
	made = capsule ? import_capsule(capsule) : NULL;
	Py_XDECREF(capsule);
	return made;
}

/* ---- to others */

static void versioned_capsule_delete(PyObject *capsule)
{
	DLManagedTensorVersioned *managed;

	if (!PyCapsule_IsValid(capsule, VERSIONED))
		return;
	managed = PyCapsule_GetPointer(capsule, VERSIONED);
	managed->deleter(managed);
}

static void unversioned_capsule_delete(PyObject *capsule)
{
	DLManagedTensor *managed;

	if (!PyCapsule_IsValid(capsule, UNVERSIONED))
		return;
	managed = PyCapsule_GetPointer(capsule, UNVERSIONED);
	managed->deleter(managed);
}

static PyObject *export_versioned(struct tenon_tensor *tensor, bool copied)
{
	DLManagedTensorVersioned *managed;
	PyObject *capsule;

	if (errors_check(tenon_tensor_to_dlpack_versioned(tensor, &managed)))
		return NULL;
	if (copied)
		managed->flags |= DLPACK_FLAG_BITMASK_IS_COPIED;
	capsule = PyCapsule_New(managed, VERSIONED, versioned_capsule_delete);
	if (!capsule)
		managed->deleter(managed);
	return capsule;
}

static PyObject *export_unversioned(struct tenon_tensor *tensor)
{
	DLManagedTensor *managed;
	PyObject *capsule;

	if (errors_check(tenon_tensor_to_dlpack(tensor, &managed)))
		return NULL;
	capsule = PyCapsule_New(managed, UNVERSIONED, unversioned_capsule_delete);
	if (!capsule)
		managed->deleter(managed);
	return capsule;
}

/* Wait for what writes the tensor on its device, so that the receiver may read it at once. */
static int finish_writes(DLDevice id)
{
	struct tenon_device *device = NULL;
	int err;

	if (id.device_type == kDLCPU)
		return 0;
	Py_BEGIN_ALLOW_THREADS err = tenon_device_get(id, &device);
	if (!err)
		err = tenon_device_sync(device, TENON_FOREVER);
	tenon_object_unref(device);
	Py_END_ALLOW_THREADS return errors_check(err);
}

/*
 * The tensor to export: the object's own, or a copy.
 * @on: where it is wanted; -1 for anywhere
 * @copy: None, True or False of the caller
 */
static struct tenon_tensor *choose(PyObject *tensor, DLDevice on, PyObject *copy, bool *copied)
{
	const struct core_tensor *t = core_tensor_of(tensor);
	const DLTensor *dl = &t->tensor->dl;
	bool elsewhere =
		(int)on.device_type >= 0 && ((int)on.device_type != (int)dl->device.device_type ||
					     on.device_id != dl->device.device_id);

	*copied = t->borrowed || elsewhere || copy == Py_True;
	if (!*copied) {
		tenon_object_ref(t->tensor);
		return t->tensor;
	}
	if (copy == Py_False) {
		PyErr_SetString(PyExc_BufferError,
				"the tensor cannot be exported as asked without a copy");
		return NULL;
	}
	return tensor_copied(tensor, elsewhere ? on : dl->device);
}

static int read_device(PyObject *from, DLDevice *out)
{
	int type, id;

	memset(out, 0xff, sizeof(*out));
	if (from == Py_None)
		return 0;
	if (!PyTuple_Check(from)) {
		PyErr_Format(PyExc_TypeError, "dl_device is a pair of type and number, not %R",
			     from);
		return -1;
	}
	if (!PyArg_ParseTuple(from, "ii;dl_device is a pair of type and number", &type, &id))
		return -1;
	out->device_type = type;
	out->device_id = id;
	return 0;
}

/* Test whether the receiver reads the struct of DLPack 1. */
static int wants_version(PyObject *most)
{
	int major, minor;

	if (most == Py_None)
		return 0;
	if (!PyTuple_Check(most) ||
	    !PyArg_ParseTuple(most, "ii;max_version is a pair of numbers", &major, &minor)) {
		if (!PyErr_Occurred())
			PyErr_SetString(PyExc_TypeError, "max_version is a pair of numbers");
		return -1;
	}
	return major >= 1;
}

PyObject *dlpack_method(PyObject *self, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "stream", "max_version", "dl_device", "copy", NULL };
	PyObject *stream = Py_None, *most = Py_None, *on = Py_None, *copy = Py_None,
		 *capsule = NULL;
	struct tenon_tensor *tensor;
	int versioned, read_only;
	DLDevice device;
	bool copied;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "|$OOOO:__dlpack__", names, &stream, &most,
					 &on, &copy) ||
	    !tensor_dl(self) || read_device(on, &device) || (versioned = wants_version(most)) < 0)
		return NULL;
	tensor = choose(self, device, copy, &copied);
	if (!tensor)
		return NULL;
	read_only = copied ? 0 : tensor_is_read_only(self);
	if (read_only < 0 || check_data(tensor->dl.device) || finish_writes(tensor->dl.device))
		goto done;
	if (read_only && !versioned)
		PyErr_SetString(PyExc_BufferError,
				"the tensor is read-only, which DLPack before 1.0 cannot say: pass "
				"max_version, or copy=True");
	else
		capsule = versioned ? export_versioned(tensor, copied) : export_unversioned(tensor);
done:
	tenon_object_unref(tensor);
	return capsule;
}

PyObject *dlpack_device_method(PyObject *self, PyObject *unused)
{
	const DLTensor *dl = tensor_dl(self);

	return dl ? Py_BuildValue("(ii)", (int)dl->device.device_type, (int)dl->device.device_id)
		  : NULL;
}

/* ---- the table of tenon.Tensor */

static int exchange_allocate(DLTensor *like, DLManagedTensorVersioned **out, void *context,
			     void (*fail)(void *context, const char *kind, const char *message))
{
	struct tenon_tensor *tensor = NULL;
	int err =
		tenon_tensor_create_on(like->device, like->shape, like->ndim, like->dtype, &tensor);

	*out = NULL;
	if (!err)
		err = tenon_tensor_to_dlpack_versioned(tensor, out);
	tenon_object_unref(tensor);
	if (!err)
		return 0;
	fail(context, tenon_error_kind(), tenon_error_message());
	tenon_error_clear();
	return -1;
}

static int exchange_from_object(void *object, DLManagedTensorVersioned **out)
{
	struct tenon_tensor *tensor;
	DLDevice anywhere;
	bool copied;
	int err = -1;

	*out = NULL;
	memset(&anywhere, 0xff, sizeof(anywhere));
	if (!tensor_dl(object))
		return -1;
	tensor = choose(object, anywhere, Py_None, &copied);
	if (!tensor)
		return -1;
	if (!check_data(tensor->dl.device))
		err = errors_check(tenon_tensor_to_dlpack_versioned(tensor, out));
	tenon_object_unref(tensor);
	if (!err && copied)
		(*out)->flags |= DLPACK_FLAG_BITMASK_IS_COPIED;
	return err;
}

static int exchange_to_object(DLManagedTensorVersioned *managed, void **out)
{
	struct tenon_tensor *tensor = take_versioned(managed);

	/* the tensor is taken over also on failure */
	if (!tensor && managed->deleter)
		managed->deleter(managed);
	*out = tensor ? tensor_wrap(tensor) : NULL;
	return *out ? 0 : -1;
}

static int exchange_view_object(void *object, DLTensor *out)
{
	const DLTensor *dl = tensor_dl(object);

	if (!dl || check_data(dl->device))
		return -1;
	*out = *dl;
	return 0;
}

static int exchange_current_stream(int32_t type, int32_t id, void **out)
{
	*out = NULL;
	return 0;
}

static struct exchange exchange = {
	{ 1, 3, NULL },	    exchange_allocate,	  exchange_from_object,
	exchange_to_object, exchange_view_object, exchange_current_stream,
};

int dlpack_init(PyObject *module)
{
	PyObject *capsule = PyCapsule_New(&exchange, EXCHANGE, NULL);
	int err;

	name_dlpack = PyUnicode_InternFromString("__dlpack__");
	name_exchange = PyUnicode_InternFromString("__dlpack_c_exchange_api__");
	keyword_names = Py_BuildValue("(s)", "max_version");
	newest = Py_BuildValue("(ii)", 1, 3);
	known_types = PyDict_New();
	if (!capsule || !known_types || !name_dlpack || !name_exchange || !keyword_names ||
	    !newest) {
		Py_XDECREF(capsule);
		return -1;
	}
	err = PyObject_SetAttr((PyObject *)core_tensor_type, name_exchange, capsule);
	Py_DECREF(capsule);
	return err;
}
