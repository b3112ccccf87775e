/* SPDX-License-Identifier: MIT */
/* tenon.Tensor, and the functions that make tensors. */
#include "tensor.h"

#include <sched.h>
#include <string.h>

#include "buffer.h"
#include "device.h"
#include "dlpack.h"
#include "errors.h"
#include "scalars.h"

PyTypeObject *core_tensor_type;

PyObject *tensor_wrap(struct tenon_tensor *tensor)
{
	PyObject *made = PyObject_New(PyObject, core_tensor_type);
	struct core_tensor *t;

	if (!made) {
		tenon_object_unref(tensor);
		return NULL;
	}
	t = core_tensor_of(made);
	t->tensor = tensor;
	atomic_init(&t->read_only, -1);
	t->borrowed = false;
	atomic_init(&t->pins, 0);
	return made;
}

PyObject *tensor_borrow(const DLTensor *dl)
{
	struct tenon_tensor *tensor = NULL;
	PyObject *made;

	if (errors_check(tenon_tensor_view(dl, NULL, &tensor)))
		return NULL;
	made = tensor_wrap(tensor);
	if (made)
		core_tensor_of(made)->borrowed = true;
	return made;
}

void tensor_end(PyObject *tensor)
{
	struct core_tensor *t = core_tensor_of(tensor);

	atomic_fetch_or(&t->pins, TENSOR_ENDED);
	/* a thread that the callback started may be copying */
	while (atomic_load(&t->pins) != TENSOR_ENDED) {
		Py_BEGIN_ALLOW_THREADS sched_yield();
		Py_END_ALLOW_THREADS
	}
}

static void tensor_dealloc(PyObject *self)
{
	tenon_object_unref(core_tensor_of(self)->tensor);
	core_free(self);
}

const DLTensor *tensor_dl(PyObject *tensor)
{
	const struct core_tensor *t = core_tensor_of(tensor);

	if (!t->borrowed || !(atomic_load(&t->pins) & TENSOR_ENDED))
		return &t->tensor->dl;
	PyErr_SetString(PyExc_ValueError,
			"this tensor was an argument of a callback, whose data ended "
			"with the call: keep a copy (tensor.copy())");
	return NULL;
}

const DLTensor *tensor_pin(PyObject *tensor)
{
	struct core_tensor *t = core_tensor_of(tensor);
	const DLTensor *dl;

	atomic_fetch_add(&t->pins, 1);
	dl = tensor_dl(tensor);
	if (!dl)
		tensor_unpin(t);
	return dl;
}

int tensor_is_read_only(PyObject *tensor)
{
	struct core_tensor *t = core_tensor_of(tensor);
	int known = atomic_load_explicit(&t->read_only, memory_order_relaxed);
	DLManagedTensorVersioned *managed;

	if (known >= 0)
		return known;
	/* the library has no other function for it than the flags of an export */
	if (errors_check(tenon_tensor_to_dlpack_versioned(t->tensor, &managed)))
		return -1;
	known = managed->flags & DLPACK_FLAG_BITMASK_READ_ONLY ? 1 : 0;
	atomic_store_explicit(&t->read_only, known, memory_order_relaxed);
	managed->deleter(managed);
	return known;
}

/* ---- copies */

/* Copy a part of a tensor in host memory, from dimension @at on, into compact memory; returns its end. */
static char *gather(const DLTensor *dl, int32_t at, const char *from, char *to, size_t item)
{
	int64_t i;

	if (at == dl->ndim) {
		memcpy(to, from, item);
		return to + item;
	}
	for (i = 0; i < dl->shape[at]; i++)
		to = gather(dl, at + 1, from + i * dl->strides[at] * (int64_t)item, to, item);
	return to;
}

/* Make a tensor with strides compact, in host memory. */
static int make_compact(const DLTensor *dl, struct tenon_tensor *to)
{
	size_t bits = (size_t)dl->dtype.bits * dl->dtype.lanes;

	if (dl->device.device_type != kDLCPU)
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "a tensor with strides is on a device: only compact "
				   "tensors can be copied from there");
	if (bits % 8)
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "a tensor with strides has elements that are no whole bytes");
	gather(dl, 0, (const char *)dl->data + dl->byte_offset, to->dl.data, bits / 8);
	return 0;
}

/* Copy between tensors without the GIL; the target is compact. */
static int copy(const DLTensor *from, const DLTensor *to)
{
	struct tenon_tensor *compact = NULL;
	int err;

	if (tenon_tensor_compact(from))
		return tenon_tensor_copy(from, to);
	err = tenon_tensor_create(from->shape, from->ndim, from->dtype, &compact);
	if (err)
		return err;
	err = make_compact(from, compact);
	if (!err)
		err = tenon_tensor_copy(&compact->dl, to);
	tenon_object_unref(compact);
	return err;
}

struct tenon_tensor *tensor_copied(PyObject *tensor, DLDevice device)
{
	const DLTensor *dl = tensor_pin(tensor);
	struct tenon_tensor *made = NULL;
	int err;

	if (!dl)
		return NULL;
	Py_BEGIN_ALLOW_THREADS err =
		tenon_tensor_create_on(device, dl->shape, dl->ndim, dl->dtype, &made);
	if (!err)
		err = copy(dl, &made->dl);
	Py_END_ALLOW_THREADS tensor_unpin(core_tensor_of(tensor));
	if (!err)
		return made;
	tenon_object_unref(made);
	errors_set(err);
	return NULL;
}

static const DLDevice processor = { kDLCPU, 0 };

struct tenon_tensor *tensor_from(PyObject *from)
{
	struct tenon_tensor *tensor;

	if (tensor_check(from)) {
		if (core_tensor_of(from)->borrowed)
			return tensor_copied(from, processor);
		tensor = core_tensor_of(from)->tensor;
		tenon_object_ref(tensor);
		return tensor;
	}
	if (dlpack_offered(from))
		return dlpack_import(from);
	return buffer_import(from, NULL, NULL);
}

/* ---- attributes */

static PyObject *get_shape(PyObject *self, void *unused)
{
	const DLTensor *dl = tensor_dl(self);

	return dl ? scalars_tuple(dl->shape, (size_t)dl->ndim) : NULL;
}

static PyObject *get_strides(PyObject *self, void *unused)
{
	const DLTensor *dl = tensor_dl(self);

	return dl ? scalars_tuple(dl->strides, dl->strides ? (size_t)dl->ndim : 0) : NULL;
}

static PyObject *get_dtype(PyObject *self, void *unused)
{
	const DLTensor *dl = tensor_dl(self);

	return dl ? scalars_dtype(dl->dtype) : NULL;
}

static PyObject *get_device(PyObject *self, void *unused)
{
	const DLTensor *dl = tensor_dl(self);

	return dl ? device_wrap(dl->device) : NULL;
}

static PyObject *get_ndim(PyObject *self, void *unused)
{
	const DLTensor *dl = tensor_dl(self);

	return dl ? PyLong_FromLong(dl->ndim) : NULL;
}

static PyObject *get_size(PyObject *self, void *unused)
{
	const DLTensor *dl = tensor_dl(self);
	uint64_t count;

	if (!dl || errors_check(tenon_tensor_elements(dl, &count)))
		return NULL;
	return PyLong_FromUnsignedLongLong(count);
}

static PyObject *get_bytes(PyObject *self, void *unused)
{
	const DLTensor *dl = tensor_dl(self);
	size_t bytes;

	return dl && !errors_check(tenon_tensor_bytes(dl, &bytes)) ? PyLong_FromSize_t(bytes)
								   : NULL;
}

static PyObject *get_read_only(PyObject *self, void *unused)
{
	int read_only = tensor_dl(self) ? tensor_is_read_only(self) : -1;

	return read_only < 0 ? NULL : PyBool_FromLong(read_only);
}

static PyGetSetDef tensor_attributes[] = {
	{ "shape", get_shape, NULL, "Extents of the dimensions.", NULL },
	{ "strides", get_strides, NULL, "Distance of neighbours in each dimension, in elements.",
	  NULL },
	{ "dtype", get_dtype, NULL, "Type of the elements.", NULL },
	{ "device", get_device, NULL, "Device that has the data.", NULL },
	{ "ndim", get_ndim, NULL, "Number of dimensions.", NULL },
	{ "size", get_size, NULL, "Number of elements.", NULL },
	{ "nbytes", get_bytes, NULL, "Size of the data in bytes, when compact.", NULL },
	{ "read_only", get_read_only, NULL, "Whether the data must not be written.", NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

/* ---- methods */

static PyObject *tensor_to(PyObject *self, PyObject *to)
{
	const DLTensor *dl = tensor_dl(self);
	struct tenon_tensor *made;
	DLDevice device;

	if (!dl || device_read(to, &device))
		return NULL;
	if (!core_tensor_of(self)->borrowed && dl->device.device_type == device.device_type &&
	    dl->device.device_id == device.device_id)
		return Py_NewRef(self);
	made = tensor_copied(self, device);
	return made ? tensor_wrap(made) : NULL;
}

static PyObject *tensor_copy(PyObject *self, PyObject *unused)
{
	const DLTensor *dl = tensor_dl(self);
	struct tenon_tensor *made = dl ? tensor_copied(self, dl->device) : NULL;

	return made ? tensor_wrap(made) : NULL;
}

static PyObject *tensor_copy_from(PyObject *self, PyObject *from)
{
	struct core_tensor *t = core_tensor_of(self);
	const DLTensor *dl = tensor_dl(self);
	int read_only = dl ? tensor_is_read_only(self) : -1, err;
	struct tenon_tensor *source;

	if (read_only < 0)
		return NULL;
	if (read_only) {
		PyErr_SetString(PyExc_ValueError, "the tensor is read-only");
		return NULL;
	}
	/* before code of Python runs, which may let the callback end that lent the tensor */
	if (!tensor_pin(self))
		return NULL;
	source = tensor_from(from);
	if (!source) {
		tensor_unpin(t);
		return NULL;
	}
	Py_BEGIN_ALLOW_THREADS if (!tenon_dtype_equal(source->dl.dtype, dl->dtype)) err =
		tenon_error(-TENON_E_TYPE, "the tensors have different dtypes");
	else err = copy(&source->dl, dl);
	Py_END_ALLOW_THREADS tensor_unpin(t);
	tenon_object_unref(source);
	return errors_none(err);
}

static PyObject *tensor_tobytes(PyObject *self, PyObject *unused)
{
	struct tenon_tensor *host = tensor_copied(self, processor);
	PyObject *made = NULL;
	size_t bytes;

	if (!host)
		return NULL;
	if (!errors_check(tenon_tensor_bytes(&host->dl, &bytes)))
		made = PyBytes_FromStringAndSize(host->dl.data, (Py_ssize_t)bytes);
	tenon_object_unref(host);
	return made;
}

/* call a function of a module that is imported when it is first needed */
static PyObject *call_elsewhere(const char *module, const char *function, PyObject *argument)
{
	PyObject *imported = PyImport_ImportModule(module);
	PyObject *result = imported ? PyObject_CallMethod(imported, function, "O", argument) : NULL;

	Py_XDECREF(imported);
	return result;
}

static PyObject *tensor_tolist(PyObject *self, PyObject *unused)
{
	return call_elsewhere("tenon._elements", "to_list", self);
}

static PyObject *tensor_item(PyObject *self, PyObject *unused)
{
	return call_elsewhere("tenon._elements", "to_number", self);
}

static PyObject *tensor_numpy(PyObject *self, PyObject *unused)
{
	PyObject *host = tensor_to(self, Py_None), *array = NULL;

	if (host)
		array = call_elsewhere("numpy", "asarray", host);
	Py_XDECREF(host);
	return array;
}

static PyMethodDef tensor_methods[] = {
	{ "to", tensor_to, METH_O,
	  "to($self, device, /)\n--\n\nThe tensor on a device; itself if it is there, else a "
	  "copy." },
	{ "copy", tensor_copy, METH_NOARGS,
	  "copy($self, /)\n--\n\nA compact copy on the same device." },
	{ "copy_from", tensor_copy_from, METH_O,
	  "copy_from($self, source, /)\n--\n\nCopy the data of a tensor or array of the same dtype "
	  "and size." },
	{ "tobytes", tensor_tobytes, METH_NOARGS,
	  "tobytes($self, /)\n--\n\nA copy of the data, in row-major order." },
	{ "tolist", tensor_tolist, METH_NOARGS,
	  "tolist($self, /)\n--\n\nThe elements as nested lists; a number without dimensions. "
	  "Elements of bfloat16 and "
	  "float8 become floats." },
	{ "item", tensor_item, METH_NOARGS,
	  "item($self, /)\n--\n\nThe only element, as a number." },
	{ "numpy", tensor_numpy, METH_NOARGS,
	  "numpy($self, /)\n--\n\nA numpy array: the same memory on the processor, a copy from a "
	  "device. Needs numpy." },
	{ "__dlpack__", (PyCFunction)(void (*)(void))dlpack_method, METH_VARARGS | METH_KEYWORDS,
	  "__dlpack__($self, /, *, stream=None, max_version=None, dl_device=None, "
	  "copy=None)\n--\n\n"
	  "Export the data as a capsule of DLPack." },
	{ "__dlpack_device__", dlpack_device_method, METH_NOARGS,
	  "__dlpack_device__($self, /)\n--\n\nDLPack's type and number of the device." },
	{ NULL, NULL, 0, NULL },
};

static PyObject *tensor_repr(PyObject *self)
{
	const struct core_tensor *t = core_tensor_of(self);
	char dtype[TENON_DTYPE_NAME];
	PyObject *shape, *device, *text = NULL;

	if (atomic_load(&t->pins) & TENSOR_ENDED)
		return PyUnicode_FromString("<tenon.Tensor of a callback that has returned>");
	shape = get_shape(self, NULL);
	device = get_device(self, NULL);
	if (shape && device)
		text = PyUnicode_FromFormat("<tenon.Tensor %R %s on %S>", shape,
					    tenon_dtype_name(t->tensor->dl.dtype, dtype), device);
	Py_XDECREF(shape);
	Py_XDECREF(device);
	return text;
}

static Py_ssize_t tensor_length(PyObject *self)
{
	const DLTensor *dl = tensor_dl(self);

	if (!dl)
		return -1;
	if (dl->ndim)
		return (Py_ssize_t)dl->shape[0];
	PyErr_SetString(PyExc_TypeError, "a tensor without dimensions has no length");
	return -1;
}

static int tensor_buffer(PyObject *self, Py_buffer *view, int flags)
{
	return tensor_dl(self) ? buffer_export(self, view, flags) : -1;
}

static PyType_Slot tensor_slots[] = {
	{ Py_tp_doc, "A tensor, on the processor or on a device. empty(), tensor(), from_dlpack() "
		     "and from_buffer() make "
		     "one, and functions and models return some." },
	{ Py_tp_dealloc, tensor_dealloc },
	{ Py_tp_repr, tensor_repr },
	{ Py_tp_getset, tensor_attributes },
	{ Py_tp_methods, tensor_methods },
	{ Py_mp_length, tensor_length },
	{ Py_bf_getbuffer, tensor_buffer },
	{ Py_bf_releasebuffer, buffer_release },
	{ 0, NULL },
};
static PyType_Spec tensor_spec = CORE_TYPE("tenon.Tensor", struct core_tensor, tensor_slots);

/* ---- functions that make tensors */

PyObject *tensor_empty(PyObject *shape, PyObject *dtype, DLDevice device)
{
	DLDataType of = tenon_dtype(TENON_DTYPE_FLOAT, 32, 1);
	struct tenon_tensor *made = NULL;
	int64_t *extents;
	Py_ssize_t ndim;
	int err;

	if (dtype && scalars_read_dtype(dtype, &of))
		return NULL;
	ndim = scalars_read_extents(shape, &extents);
	if (ndim < 0)
		return NULL;
	Py_BEGIN_ALLOW_THREADS err = tenon_tensor_create_on(
		device, extents, (int32_t)(ndim > INT32_MAX ? INT32_MAX : ndim), of, &made);
	Py_END_ALLOW_THREADS PyMem_Free(extents);
	return err ? errors_set(err) : tensor_wrap(made);
}

static PyObject *empty(PyObject *module, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "shape", "dtype", "device", NULL };
	PyObject *shape, *dtype = NULL, *on = Py_None;
	DLDevice device;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|OO:empty", names, &shape, &dtype,
					 &on) ||
	    device_read(on, &device))
		return NULL;
	return tensor_empty(shape, dtype, device);
}

static PyObject *from_buffer(PyObject *module, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "buffer", "dtype", "shape", NULL };
	PyObject *from, *dtype = Py_None, *shape = Py_None;
	struct tenon_tensor *made;
	DLDataType of;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|OO:from_buffer", names, &from, &dtype,
					 &shape) ||
	    (dtype != Py_None && scalars_read_dtype(dtype, &of)))
		return NULL;
	made = buffer_import(from, dtype == Py_None ? NULL : &of, shape == Py_None ? NULL : shape);
	return made ? tensor_wrap(made) : NULL;
}

static PyObject *from_dlpack(PyObject *module, PyObject *from)
{
	struct tenon_tensor *made;

	if (tensor_check(from) && !core_tensor_of(from)->borrowed)
		return Py_NewRef(from);
	made = tensor_check(from) ? tensor_from(from) : dlpack_import(from);
	return made ? tensor_wrap(made) : NULL;
}

static PyMethodDef functions[] = {
	{ "empty", (PyCFunction)(void (*)(void))empty, METH_VARARGS | METH_KEYWORDS,
	  "empty($module, /, shape, dtype='float32', device=None)\n--\n\n"
	  "A new tensor: zeros on the processor, undefined elsewhere." },
	{ "from_buffer", (PyCFunction)(void (*)(void))from_buffer, METH_VARARGS | METH_KEYWORDS,
	  "from_buffer($module, /, buffer, dtype=None, shape=None)\n--\n\n"
	  "A tensor on the memory of an object with the buffer protocol, which it keeps alive. "
	  "With a dtype the bytes "
	  "are taken as elements of it." },
	{ "from_dlpack", from_dlpack, METH_O,
	  "from_dlpack($module, x, /)\n--\n\nA tensor on the memory of an object with __dlpack__, "
	  "which it keeps alive." },
	{ NULL, NULL, 0, NULL },
};

int tensor_init(PyObject *module)
{
	core_tensor_type = core_add_type(module, &tensor_spec, NULL);
	return core_tensor_type ? PyModule_AddFunctions(module, functions) : -1;
}
