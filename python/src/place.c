/* SPDX-License-Identifier: MIT */
/* Find the memory of tensors for operations, and check its size: memory at an address has none that the library knows. */
#include "place.h"

#include <string.h>

#include "errors.h"
#include "tensor.h"

/* DLPack's kDLROCMHost */
#define ROCM_HOST 11

static bool is_host(int32_t type)
{
	return type == kDLCPU || type == kDLCUDAHost || type == ROCM_HOST;
}

static int refuse(const char *reason)
{
	PyErr_SetString(PyExc_ValueError, reason);
	return -1;
}

/* The tensor object of an object with memory, with one reference. */
static PyObject *tensor_of(PyObject *from)
{
	struct tenon_tensor *made;

	if (tensor_check(from)) {
		if (!core_tensor_of(from)->borrowed)
			return Py_NewRef(from);
		refuse("this tensor is lent for the time of a call, but an operation goes on "
		       "after it: use a copy");
		return NULL;
	}
	made = tensor_from(from);
	return made ? tensor_wrap(made) : NULL;
}

static int check_access(PyObject *tensor, enum place_access access)
{
	int read_only = access == PLACE_WRITE ? tensor_is_read_only(tensor) : 0;

	return read_only > 0 ? refuse("the tensor is read-only") : read_only;
}

static int find_memory(const DLTensor *dl, struct tenon_device *device, struct place *p)
{
	DLDevice id = tenon_device_id(device);

	p->offset += dl->byte_offset;
	if (dl->device.device_type == id.device_type && dl->device.device_id == id.device_id)
		return errors_check(tenon_memory_of_data(device, dl->data, &p->room, &p->memory));
	if (!is_host(dl->device.device_type))
		return refuse("the tensor is on another device: copy it by Tensor.to()");
	p->host = (char *)dl->data + p->offset;
	return 0;
}

int place_of(PyObject *from, struct tenon_device *device, uint64_t offset, enum place_access access,
	     struct place *out)
{
	const DLTensor *dl;
	size_t bytes;

	memset(out, 0, sizeof(*out));
	out->tensor = tensor_of(from);
	dl = out->tensor ? tensor_dl(out->tensor) : NULL;
	if (!dl || check_access(out->tensor, access) ||
	    errors_check(tenon_tensor_bytes(dl, &bytes)))
		goto fail;
	if (!tenon_tensor_compact(dl)) {
		refuse("the tensor has strides: only compact tensors are copied and filled");
		goto fail;
	}
	if (offset > bytes) {
		PyErr_Format(PyExc_ValueError, "the offset %llu is behind the tensor of %zu bytes",
			     (unsigned long long)offset, bytes);
		goto fail;
	}
	out->offset = offset;
	out->size = bytes - offset;
	if (!find_memory(dl, device, out))
		return 0;
fail:
	place_end(out);
	return -1;
}

int place_of_slot(PyObject *from, struct tenon_device *device, uint64_t offset,
		  enum place_access access, struct place *out)
{
	unsigned long number;

	if (!PyLong_Check(from)) {
		if (place_of(from, device, offset, access, out))
			return -1;
		if (!out->host)
			return 0;
		place_end(out);
		return refuse("a recording has no memory of the host: use a tensor on its device, "
			      "or the number of a slot");
	}
	memset(out, 0, sizeof(*out));
	number = PyLong_AsUnsignedLong(from);
	if (PyErr_Occurred())
		return -1;
	if (number >= PLACE_SLOTS_MOST)
		return refuse("a slot has a number below 256");
	out->is_slot = true;
	out->slot = (uint32_t)number;
	out->offset = offset;
	out->size = UINT64_MAX - offset;
	return 0;
}

/* The number of bytes in @size, or @whole for None. */
static int read_size(PyObject *size, uint64_t whole, uint64_t *out)
{
	*out = whole;
	if (size == Py_None)
		return 0;
	*out = PyLong_AsUnsignedLongLong(size);
	return PyErr_Occurred() ? -1 : 0;
}

static int check_size(const struct place *p, uint64_t size)
{
	if (size <= p->size)
		return 0;
	PyErr_Format(PyExc_ValueError, "%llu bytes, where the tensor has %llu",
		     (unsigned long long)size, (unsigned long long)p->size);
	return -1;
}

/* Ranges of one memory must not overlap. The library checks that for memory that it counts; what is at an address is checked here. */
static int check_overlap(const struct place *to, const struct place *from, uint64_t size)
{
	uint64_t a, b;

	if (to->memory != &to->room || from->memory != &from->room)
		return 0;
	a = (uintptr_t)tenon_memory_data(to->memory) + to->offset;
	b = (uintptr_t)tenon_memory_data(from->memory) + from->offset;
	return a < b + size && b < a + size ? refuse("the ranges of a copy overlap") : 0;
}

int place_copied(const struct place *to, const struct place *from, PyObject *size, uint64_t *out)
{
	if (size == Py_None && to->is_slot && from->is_slot)
		return refuse("a copy from slot to slot needs a size");
	if (size == Py_None && !to->is_slot && !from->is_slot && to->size != from->size) {
		PyErr_Format(PyExc_ValueError,
			     "a copy of %llu bytes to %llu: give the size of a part",
			     (unsigned long long)from->size, (unsigned long long)to->size);
		return -1;
	}
	if (read_size(size, to->is_slot ? from->size : to->size, out) || check_size(to, *out) ||
	    check_size(from, *out))
		return -1;
	return check_overlap(to, from, *out);
}

int place_filled(const struct place *to, PyObject *bytes, PyObject *size, struct pattern *pattern,
		 uint64_t *out)
{
	Py_ssize_t width, i;
	char *text;

	if (PyBytes_AsStringAndSize(bytes, &text, &width))
		return -1;
	if (width != 1 && width != 2 && width != 4)
		return refuse("a pattern has 1, 2 or 4 bytes");
	if (size == Py_None && to->is_slot)
		return refuse("a fill of a slot needs a size");
	pattern->bits = 0;
	for (i = 0; i < width; i++)
		pattern->bits |= (uint32_t)(uint8_t)text[i] << (8 * i);
	pattern->width = (uint32_t)width;
	return read_size(size, to->size, out) ? -1 : check_size(to, *out);
}
