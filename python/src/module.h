/* SPDX-License-Identifier: MIT */
/* The type tenon.Module, for the files that make modules or take them as arguments. */
#ifndef PYTHON_MODULE_H
#define PYTHON_MODULE_H

#include "core.h"

/** module_wrap - a module object; takes over the reference, also on failure */
PyObject *module_wrap(struct tenon_module *module);

/** module_of - the module of a module object, borrowed */
struct tenon_module *module_of(PyObject *module);

#endif /* PYTHON_MODULE_H */
