/* SPDX-License-Identifier: MIT */
/*
 * What the extension tenon._core does for those on libraries beside libtenon.
 *
 * tenon._link (link_*.c) and tenon._llm (llm_*.c) are extensions of their own, so that "import tenon" needs neither
 * libtenon-link nor libtenon-llm. They get errors and conversions from tenon._core by a capsule. All three are
 * of one build: what is in the struct may change with every one.
 */
#ifndef PYTHON_CORE_API_H
#define PYTHON_CORE_API_H

#include "core.h"

#define CORE_API_CAPSULE "tenon._core._api"

/**
 * struct core_api - functions of tenon._core
 * @size: of this struct; another one is of another build
 * @errors_set: as in errors.h
 * @values_python: as in values.h
 * @values_text: as in values.h
 * @device_read: as in device.h
 * @timeline_deadline: as in timeline.h
 */
struct core_api {
	size_t size;
	PyObject *(*errors_set)(int status);
	PyObject *(*values_python)(struct tenon_value *owned);
	PyObject *(*values_text)(struct tenon_slice text);
	int (*device_read)(PyObject *from, DLDevice *out);
	int (*timeline_deadline)(PyObject *timeout, uint64_t *out);
};

/** core_api_import - find the functions of tenon._core; NULL with an exception set */
static inline const struct core_api *core_api_import(void)
{
	const struct core_api *api = PyCapsule_Import(CORE_API_CAPSULE, 0);

	if (api && api->size != sizeof(*api)) {
		PyErr_SetString(PyExc_ImportError,
				"tenon._core is of another build: install the package anew");
		api = NULL;
	}
	return api;
}

#endif /* PYTHON_CORE_API_H */
