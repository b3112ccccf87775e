/* SPDX-License-Identifier: MIT */
/* Describe the modules in a file. */
#include "link_module.h"

/* The items of an array; None for NULL. */
static PyObject *list_of(const struct tenon_array *array)
{
	struct tenon_value view, owned;

	if (!array)
		return Py_NewRef(Py_None);
	view = tenon_arg_object((void *)(uintptr_t)array);
	if (tenon_value_own(&view, &owned))
		return link_core->errors_set(-TENON_E_NOMEM);
	return link_core->values_python(&owned);
}

static PyObject *module_of(const struct tenon_link_module *m)
{
	return Py_BuildValue(
		"{sN sN sI sN sN sN sN sN sN sN sN sN sN sN sN sN sN sN sN sN sN sN sN sN sN}",
		"kind", link_slice(m->kind), "parent", link_index(m->parent), "depth", m->depth,
		"number", link_index(m->number), "format", link_text(m->format), "name",
		link_text(m->name), "machine", link_text(m->machine), "generation",
		link_text(m->generation), "tvm", link_text(m->tvm), "loader", link_text(m->loader),
		"remedy", link_text(m->remedy), "fault", link_text(m->fault), "functions",
		list_of(m->functions), "launch", list_of(m->launch), "regions", list_of(m->regions),
		"nodes", link_number(m->nodes), "parameters", link_number(m->parameters),
		"parameter_bytes", link_number(m->parameter_bytes), "payload_size",
		link_number(m->payload_size), "payload_offset", link_number(m->payload_offset),
		"codegen_id", link_text(m->codegen_id), "target_key", link_text(m->target_key),
		"file_name", link_text(m->file_name), "device", link_text(m->device), "sha256",
		link_text(m->sha256));
}

static PyObject *modules_of(const struct tenon_link_inspection *n)
{
	PyObject *list = PyList_New((Py_ssize_t)n->module_count), *module;
	size_t i;

	for (i = 0; list && i < n->module_count; i++) {
		module = module_of(n->modules[i]);
		if (!module || PyList_SetItem(list, (Py_ssize_t)i, module))
			Py_CLEAR(list);
	}
	return list;
}

PyObject *link_inspect(PyObject *module, PyObject *args)
{
	const struct tenon_link_inspection *inspection = NULL;
	const struct tenon_link_module *library;
	const char *file;
	PyObject *made;
	int err;

	if (!PyArg_ParseTuple(args, "y:inspect", &file))
		return NULL;
	Py_BEGIN_ALLOW_THREADS err = tenon_link_inspect(file, &inspection);
	Py_END_ALLOW_THREADS if (err) return link_core->errors_set(err);
	library = inspection->library;
	made = Py_BuildValue("{sK sN sN sN sN}", "size", (unsigned long long)inspection->file_size,
			     "machine", link_text(library ? library->machine : ""), "generation",
			     link_text(library ? library->generation : ""), "tvm",
			     link_text(library ? library->tvm : ""), "modules",
			     modules_of(inspection));
	tenon_link_inspection_free(inspection);
	return made;
}
