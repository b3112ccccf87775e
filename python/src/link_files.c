/* SPDX-License-Identifier: MIT */
/* Link files to a module. */
#include "link_module.h"

/* what points into the tuples that are the arguments of a call */
struct lists {
	struct tenon_link_file *files;
	struct tenon_target *targets;
	struct tenon_link_import *imports;
	const char **includes;
};

static void lists_end(struct lists *l)
{
	PyMem_Free(l->files);
	PyMem_Free(l->targets);
	PyMem_Free(l->imports);
	PyMem_Free(l->includes);
}

/* Allocate an array of an element for each item of a tuple, and one more that stays zero; @count may be NULL. */
static void *room_for(PyObject *tuple, size_t size, size_t *count)
{
	size_t items = (size_t)PyTuple_Size(tuple);
	void *room = PyMem_Calloc(items + 1, size);

	if (!room)
		PyErr_NoMemory();
	else if (count)
		*count = items;
	return room;
}

static bool read_files(PyObject *tuple, struct lists *l, struct tenon_link_options *o)
{
	size_t i;

	o->files = l->files = room_for(tuple, sizeof(*l->files), &o->file_count);
	for (i = 0; l->files && i < o->file_count; i++) {
		if (!PyArg_ParseTuple(PyTuple_GetItem(tuple, (Py_ssize_t)i), "yzz",
				      &l->files[i].path, &l->files[i].kind, &l->files[i].key))
			return false;
	}
	return l->files;
}

static bool read_targets(PyObject *tuple, struct lists *l, struct tenon_link_options *o)
{
	size_t i;

	o->targets = l->targets = room_for(tuple, sizeof(*l->targets), &o->target_count);
	for (i = 0; l->targets && i < o->target_count; i++) {
		if (!PyArg_ParseTuple(PyTuple_GetItem(tuple, (Py_ssize_t)i), "ss",
				      &l->targets[i].key, &l->targets[i].device))
			return false;
	}
	return l->targets;
}

static bool read_imports(PyObject *tuple, struct lists *l, struct tenon_link_options *o)
{
	size_t i;

	o->imports = l->imports = room_for(tuple, sizeof(*l->imports), &o->import_count);
	for (i = 0; l->imports && i < o->import_count; i++) {
		if (!PyArg_ParseTuple(PyTuple_GetItem(tuple, (Py_ssize_t)i), "ss",
				      &l->imports[i].parent, &l->imports[i].child))
			return false;
	}
	return l->imports;
}

static bool read_includes(PyObject *tuple, struct lists *l, struct tenon_link_options *o)
{
	size_t count, i;

	o->includes = l->includes = room_for(tuple, sizeof(*l->includes), &count);
	for (i = 0; l->includes && i < count; i++) {
		l->includes[i] = PyBytes_AsString(PyTuple_GetItem(tuple, (Py_ssize_t)i));
		if (!l->includes[i])
			return false;
	}
	return l->includes;
}

/* Call the progress function of tenon/_linking.py, which catches what the program's own function raises. */
static void report(void *context, const char *step)
{
	PyGILState_STATE state = PyGILState_Ensure();
	PyObject *result = PyObject_CallFunction(context, "s", step);

	if (!result)
		PyErr_WriteUnraisable(context);
	Py_XDECREF(result);
	PyGILState_Release(state);
}

PyObject *link_files(PyObject *module, PyObject *args)
{
	PyObject *files, *targets, *imports, *includes, *progress;
	struct lists lists = { NULL, NULL, NULL, NULL };
	struct tenon_link_options options;
	int generation, form, weak, unknown, err;
	const char *output;

	tenon_link_options_init(&options, sizeof(options));
	if (!PyArg_ParseTuple(args, "O!yO!O!O!O&O&zziippO:link", &PyTuple_Type, &files, &output,
			      &PyTuple_Type, &targets, &PyTuple_Type, &imports, &PyTuple_Type,
			      &includes, link_path, &options.graph, link_path, &options.params,
			      &options.model, &options.prefix, &generation, &form, &weak, &unknown,
			      &progress))
		return NULL;
	options.generation = (enum tenon_generation)generation;
	options.form = (enum tenon_link_form)form;
	options.allow_weak = weak;
	options.allow_unknown = unknown;
	if (progress != Py_None) {
		options.progress = report;
		options.context = progress;
	}
	if (!read_files(files, &lists, &options) || !read_targets(targets, &lists, &options) ||
	    !read_imports(imports, &lists, &options) ||
	    !read_includes(includes, &lists, &options)) {
		lists_end(&lists);
		return NULL;
	}
	Py_BEGIN_ALLOW_THREADS err = tenon_link(&options, output);
	Py_END_ALLOW_THREADS lists_end(&lists);
	return err ? link_core->errors_set(err) : Py_NewRef(Py_None);
}
