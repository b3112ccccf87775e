/* SPDX-License-Identifier: MIT */
/* The type tenon.Device, for the files that take devices as arguments. */
#ifndef PYTHON_DEVICE_H
#define PYTHON_DEVICE_H

#include "core.h"

/** device_wrap - a device object; opens nothing */
PyObject *device_wrap(DLDevice id);

/** device_read - read a tenon.Device, a name or None, which is the processor; opens the device of a name. 0 or -1 */
int device_read(PyObject *from, DLDevice *out);

/** device_opened - the device, opened if it is not yet, with one reference; NULL with an exception set */
struct tenon_device *device_opened(PyObject *device);

/** device_id - type and number of a device object */
DLDevice device_id(PyObject *device);

#endif /* PYTHON_DEVICE_H */
