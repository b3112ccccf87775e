/* SPDX-License-Identifier: MIT */
/* Share memory with Python's buffer protocol, in both directions. */
#include "buffer.h"

#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "scalars.h"

/* ---- from buffers */

static bool is_little(void)
{
	const uint16_t one = 1;

	return *(const uint8_t *)&one;
}

/* The kind of element that a character of the struct module stands for; -1 for none. */
static int code_of(const char *format)
{
	if (format[0] == 'Z' && (format[1] == 'f' || format[1] == 'd') && !format[2])
		return TENON_DTYPE_COMPLEX;
	if (!format[0] || format[1])
		return -1;
	if (strchr("bhilqn", format[0]))
		return TENON_DTYPE_INT;
	if (strchr("BHILQN", format[0]))
		return TENON_DTYPE_UINT;
	if (strchr("efd", format[0]))
		return TENON_DTYPE_FLOAT;
	return format[0] == '?' ? TENON_DTYPE_BOOL : -1;
}

static int dtype_of(const Py_buffer *view, DLDataType *out)
{
	const char *format = view->format ? view->format : "B";
	int code;

	if (*format == '@' || *format == '=' || *format == '|' ||
	    *format == (is_little() ? '<' : '>'))
		format++;
	code = code_of(format);
	if (code >= 0 && view->itemsize >= 1 && view->itemsize <= 16) {
		*out = tenon_dtype((unsigned int)code, (unsigned int)view->itemsize * 8, 1);
		return 0;
	}
	PyErr_Format(PyExc_TypeError, "no dtype describes elements of the format \"%s\"",
		     view->format ? view->format : "B");
	return -1;
}

int buffer_describe(const Py_buffer *view, DLTensor *dl, int64_t *extents)
{
	int i;

	memset(dl, 0, sizeof(*dl));
	if (dtype_of(view, &dl->dtype))
		return -1;
	dl->data = view->buf;
	dl->device.device_type = kDLCPU;
	dl->ndim = view->ndim;
	dl->shape = extents;
	for (i = 0; i < view->ndim; i++) {
		extents[i] = view->shape[i];
		if (!view->strides)
			continue;
		if (view->strides[i] % view->itemsize) {
			PyErr_SetString(
				PyExc_ValueError,
				"the strides of the buffer are no multiples of its elements");
			return -1;
		}
		extents[view->ndim + i] = view->strides[i] / view->itemsize;
	}
	dl->strides = view->strides ? extents + view->ndim : NULL;
	return 0;
}

/**
 * struct held_buffer - a buffer that a tensor keeps
 * @managed: the tensor
 * @view: released with it
 * @extents: shape and strides
 */
struct held_buffer {
	DLManagedTensorVersioned managed;
	Py_buffer view;
	int64_t extents[];
};

static void held_delete(DLManagedTensorVersioned *managed)
{
	struct held_buffer *held = (struct held_buffer *)managed;
	PyGILState_STATE state;

	/* what is released after the interpreter ended stays */
	if (Py_IsInitialized()) {
		state = PyGILState_Ensure();
		PyBuffer_Release(&held->view);
		PyGILState_Release(state);
	}
	free(held);
}

/* Describe the bytes as elements of a dtype. */
static int retype(struct held_buffer *held, DLDataType dtype)
{
	DLTensor *dl = &held->managed.dl_tensor;
	uint64_t bits = (uint64_t)dtype.bits * dtype.lanes, have = (uint64_t)held->view.len * 8;

	if (!bits || have % bits) {
		PyErr_Format(PyExc_ValueError,
			     "the buffer has %zd bytes, which are no whole elements of the dtype",
			     held->view.len);
		return -1;
	}
	dl->dtype = dtype;
	dl->ndim = 1;
	dl->strides = NULL;
	held->extents[0] = (int64_t)(have / bits);
	return 0;
}

/* Give a compact tensor another shape of the same size. */
static int reshape(struct held_buffer *held, const int64_t *extents, Py_ssize_t ndim)
{
	DLTensor *dl = &held->managed.dl_tensor;
	uint64_t had, has;

	if (!tenon_tensor_compact(dl)) {
		PyErr_SetString(PyExc_ValueError,
				"the buffer has strides: only a compact one can get a shape");
		return -1;
	}
	if (errors_check(tenon_tensor_elements(dl, &had)))
		return -1;
	memcpy(held->extents, extents, (size_t)ndim * sizeof(*extents));
	dl->ndim = (int32_t)ndim;
	dl->shape = held->extents;
	dl->strides = NULL;
	if (errors_check(tenon_tensor_elements(dl, &has)))
		return -1;
	if (has == had)
		return 0;
	PyErr_Format(PyExc_ValueError, "the buffer has %llu elements, and the shape %llu",
		     (unsigned long long)had, (unsigned long long)has);
	return -1;
}

static struct tenon_tensor *import_held(struct held_buffer *held, const DLDataType *dtype,
					const int64_t *extents, Py_ssize_t ndim)
{
	struct tenon_tensor *made = NULL;

	if (dtype ? retype(held, *dtype)
		  : buffer_describe(&held->view, &held->managed.dl_tensor, held->extents))
		return NULL;
	if (extents && reshape(held, extents, ndim))
		return NULL;
	errors_check(tenon_tensor_from_dlpack_versioned(&held->managed, 0, false, &made));
	return made;
}

struct tenon_tensor *buffer_import(PyObject *from, const DLDataType *dtype, PyObject *shape)
{
	struct held_buffer *held = NULL;
	struct tenon_tensor *made;
	int64_t *extents = NULL;
	Py_ssize_t ndim = 0;
	Py_buffer view;

	if (shape && (ndim = scalars_read_extents(shape, &extents)) < 0)
		return NULL;
	if (PyObject_GetBuffer(from, &view, dtype ? PyBUF_SIMPLE : PyBUF_FULL_RO)) {
		PyMem_Free(extents);
		return NULL;
	}
	if (view.suboffsets) {
		PyErr_SetString(PyExc_BufferError, "the buffer is not in one piece of memory");
		goto release;
	}
	held = calloc(1,
		      sizeof(*held) + (2 * (size_t)view.ndim + (size_t)ndim + 1) * sizeof(int64_t));
	if (!held) {
		PyErr_NoMemory();
		goto release;
	}
	held->view = view;
	held->managed.version.major = 1;
	held->managed.deleter = held_delete;
	held->managed.flags = view.readonly ? DLPACK_FLAG_BITMASK_READ_ONLY : 0;
	held->managed.dl_tensor.data = view.buf;
	held->managed.dl_tensor.device.device_type = kDLCPU;
	held->managed.dl_tensor.shape = held->extents;
	made = import_held(held, dtype, extents, ndim);
	PyMem_Free(extents);
	if (made)
		return made;
	/* view.shape may point into the view that it was made in */
	PyBuffer_Release(&held->view);
	free(held);
	return NULL;

release:
	PyMem_Free(extents);
	PyBuffer_Release(&view);
	return NULL;
}

/* ---- to buffers */

/* The format of elements; NULL for those that the struct module has no character for. */
static const char *format_of(DLDataType dtype)
{
	static const struct {
		uint8_t code, bits;
		char format[3];
	} formats[] = {
		{ TENON_DTYPE_INT, 8, "b" },	    { TENON_DTYPE_INT, 16, "h" },
		{ TENON_DTYPE_INT, 32, "i" },	    { TENON_DTYPE_INT, 64, "q" },
		{ TENON_DTYPE_UINT, 1, "?" },	    { TENON_DTYPE_UINT, 8, "B" },
		{ TENON_DTYPE_UINT, 16, "H" },	    { TENON_DTYPE_UINT, 32, "I" },
		{ TENON_DTYPE_UINT, 64, "Q" },	    { TENON_DTYPE_FLOAT, 16, "e" },
		{ TENON_DTYPE_FLOAT, 32, "f" },	    { TENON_DTYPE_FLOAT, 64, "d" },
		{ TENON_DTYPE_BOOL, 8, "?" },	    { TENON_DTYPE_COMPLEX, 64, "Zf" },
		{ TENON_DTYPE_COMPLEX, 128, "Zd" },
	};
	size_t i;

	for (i = 0; dtype.lanes == 1 && i < sizeof(formats) / sizeof(formats[0]); i++)
		if (formats[i].code == dtype.code && formats[i].bits == dtype.bits)
			return formats[i].format;
	return NULL;
}

static int refuse(Py_buffer *view, const char *why)
{
	view->obj = NULL;
	PyErr_SetString(PyExc_BufferError, why);
	return -1;
}

/* Shape and strides in bytes behind each other, which the view keeps until it is released. */
static int describe_view(const DLTensor *dl, Py_buffer *view)
{
	Py_ssize_t *extents = PyMem_Malloc((2 * (size_t)dl->ndim + 1) * sizeof(*extents));
	int32_t i;

	if (!extents) {
		view->obj = NULL;
		PyErr_NoMemory();
		return -1;
	}
	for (i = 0; i < dl->ndim; i++) {
		extents[i] = (Py_ssize_t)dl->shape[i];
		extents[dl->ndim + i] = (Py_ssize_t)dl->strides[i] * view->itemsize;
	}
	view->internal = extents;
	view->shape = extents;
	view->strides = extents + dl->ndim;
	return 0;
}

/* A copy of borrowed data, which the buffer then is of. */
static int export_copy(PyObject *tensor, Py_buffer *view, int flags)
{
	struct tenon_tensor *made;
	PyObject *owner;
	int err;

	if (flags & PyBUF_WRITABLE)
		return refuse(view, "the data of a callback's argument ends with the call, so only "
				    "a copy can be had: write to it by tensor.copy_from()");
	made = tensor_copied(tensor, core_tensor_of(tensor)->tensor->dl.device);
	owner = made ? tensor_wrap(made) : NULL;
	if (!owner) {
		view->obj = NULL;
		return -1;
	}
	/* what is written to a copy would be lost */
	atomic_store(&core_tensor_of(owner)->read_only, 1);
	err = PyObject_GetBuffer(owner, view, flags);
	Py_DECREF(owner);
	return err;
}

/* Test whether the elements are in the order that a request for a buffer wants. */
static bool has_order(const DLTensor *dl, int flags)
{
	const int orders =
		(PyBUF_C_CONTIGUOUS | PyBUF_F_CONTIGUOUS | PyBUF_ANY_CONTIGUOUS) & ~PyBUF_STRIDES;
	const int columns = PyBUF_F_CONTIGUOUS & ~PyBUF_STRIDES;

	if ((flags & PyBUF_STRIDES) == PyBUF_STRIDES && !(flags & orders))
		return true;
	return tenon_tensor_compact(dl) && (!(flags & columns) || dl->ndim < 2);
}

int buffer_export(PyObject *tensor, Py_buffer *view, int flags)
{
	const struct core_tensor *t = core_tensor_of(tensor);
	const DLTensor *dl = &t->tensor->dl;
	const char *format = format_of(dl->dtype);
	int read_only;
	size_t bytes;

	if (dl->device.device_type != kDLCPU)
		return refuse(view, "the data is on a device: copy it by tensor.to(\"cpu\")");
	if (t->borrowed)
		return export_copy(tensor, view, flags);
	read_only = tensor_is_read_only(tensor);
	if (read_only < 0 || errors_check(tenon_tensor_bytes(dl, &bytes))) {
		view->obj = NULL;
		return -1;
	}
	if (read_only && flags & PyBUF_WRITABLE)
		return refuse(view, "the tensor is read-only");
	if (!format && (flags & PyBUF_FORMAT || flags & PyBUF_ND))
		return refuse(view, "buffers have no format for elements of this dtype: use "
				    "DLPack, tensor.tobytes() or "
				    "tensor.tolist()");
	if (!has_order(dl, flags))
		return refuse(view,
			      "the tensor's elements are not in the order that was asked for");
	memset(view, 0, sizeof(*view));
	view->buf = (char *)dl->data + dl->byte_offset;
	view->len = (Py_ssize_t)bytes;
	view->readonly = read_only;
	view->itemsize = format ? dl->dtype.bits < 8 ? 1 : dl->dtype.bits / 8 : 1;
	view->ndim = dl->ndim;
	if (describe_view(dl, view))
		return -1;
	if (!(flags & PyBUF_ND))
		view->shape = NULL;
	if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES)
		view->strides = NULL;
	if (flags & PyBUF_FORMAT)
		view->format = (char *)format;
	view->obj = Py_NewRef(tensor);
	return 0;
}

void buffer_release(PyObject *self, Py_buffer *view)
{
	PyMem_Free(view->internal);
	view->internal = NULL;
}
