/* SPDX-License-Identifier: MIT */
/* Models, without the conveniences of tenon/_model.py. */
#ifndef PYTHON_MODEL_H
#define PYTHON_MODEL_H

#include "core.h"

/** model_wrap - an object for a model, which it closes */
PyObject *model_wrap(struct tenon_model *model);

/**
 * struct model_devices - options of a model that are read from Python
 * @options: for the library
 * @ids: the devices
 */
struct model_devices {
	struct tenon_model_options options;
	DLDevice *ids;
};

/** model_read_devices - read a sequence of devices, and the name of a function or NULL; free @ids with PyMem_Free() */
int model_read_devices(PyObject *devices, const char *function, struct model_devices *out);

#endif /* PYTHON_MODEL_H */
