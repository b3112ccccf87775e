/* SPDX-License-Identifier: MIT */
/* Offer functions of tenon._core to the extensions on libraries beside libtenon. */
#include "core_api.h"

#include <string.h>

#include "device.h"
#include "errors.h"
#include "timeline.h"
#include "values.h"

static struct core_api api = {
	.size = sizeof(api),
	.errors_set = errors_set,
	.values_python = values_python,
	.values_text = values_text,
	.device_read = device_read,
	.timeline_deadline = timeline_deadline,
};

int core_api_init(PyObject *module)
{
	PyObject *capsule = PyCapsule_New(&api, CORE_API_CAPSULE, NULL);
	int err =
		capsule ? PyModule_AddObjectRef(module, strrchr(CORE_API_CAPSULE, '.') + 1, capsule)
			: -1;

	Py_XDECREF(capsule);
	return err;
}
