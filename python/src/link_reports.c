/* SPDX-License-Identifier: MIT */
/* Take modules apart, check and sign them. */
#include "link_module.h"

static PyObject *part_of(const struct tenon_link_part *p)
{
	return Py_BuildValue("{sn sN sN sN sK}", "module", (Py_ssize_t)p->module, "kind",
			     link_slice(p->kind), "file", link_text(p->file), "table",
			     link_text(p->table), "bytes", (unsigned long long)p->bytes);
}

static PyObject *finding_of(const struct tenon_link_finding *f)
{
	return Py_BuildValue("{sO sN sN sN}", "fault", f->fault ? Py_True : Py_False, "module",
			     link_index(f->module), "kind", link_slice(f->kind), "text",
			     link_core->values_text(tenon_slice_of(f->text)));
}

static PyObject *parts_of(const struct tenon_link_unpacked *u)
{
	PyObject *list = PyList_New((Py_ssize_t)u->part_count), *part;
	size_t i;

	for (i = 0; list && i < u->part_count; i++) {
		part = part_of(u->parts[i]);
		if (!part || PyList_SetItem(list, (Py_ssize_t)i, part))
			Py_CLEAR(list);
	}
	return list;
}

static PyObject *findings_of(const struct tenon_link_report *r)
{
	PyObject *list = PyList_New((Py_ssize_t)r->finding_count), *finding;
	size_t i;

	for (i = 0; list && i < r->finding_count; i++) {
		finding = finding_of(r->findings[i]);
		if (!finding || PyList_SetItem(list, (Py_ssize_t)i, finding))
			Py_CLEAR(list);
	}
	return list;
}

PyObject *link_unpack(PyObject *module, PyObject *args)
{
	const struct tenon_link_unpacked *unpacked = NULL;
	const char *file, *folder;
	PyObject *made;
	int err;

	if (!PyArg_ParseTuple(args, "yy:unpack", &file, &folder))
		return NULL;
	Py_BEGIN_ALLOW_THREADS err = tenon_link_unpack(file, folder, &unpacked);
	Py_END_ALLOW_THREADS if (err) return link_core->errors_set(err);
	made = Py_BuildValue("{sN sN sN sO sN}", "machine", link_text(unpacked->machine),
			     "manifest", link_text(unpacked->manifest), "host",
			     link_text(unpacked->host), "same", unpacked->same ? Py_True : Py_False,
			     "parts", parts_of(unpacked));
	tenon_link_unpacked_free(unpacked);
	return made;
}

PyObject *link_verify(PyObject *module, PyObject *args)
{
	struct tenon_link_verify_options options = { .size = sizeof(options) };
	const struct tenon_link_report *report = NULL;
	const char *file;
	PyObject *made;
	int err;

	if (!PyArg_ParseTuple(args, "yO&O&:verify", &file, link_path, &options.key, link_path,
			      &options.signature))
		return NULL;
	Py_BEGIN_ALLOW_THREADS err = tenon_link_verify(file, &options, &report);
	Py_END_ALLOW_THREADS if (err) return link_core->errors_set(err);
	made = Py_BuildValue("{sn sO sN sN sn sN}", "faults", (Py_ssize_t)report->faults,
			     "readable", report->readable ? Py_True : Py_False, "machine",
			     link_text(report->machine), "tvm", link_text(report->tvm), "modules",
			     (Py_ssize_t)report->modules, "findings", findings_of(report));
	tenon_link_report_free(report);
	return made;
}

PyObject *link_sign(PyObject *module, PyObject *args)
{
	struct tenon_buffer out = TENON_BUFFER_INIT;
	const char *file, *key;
	PyObject *made = NULL;
	int err;

	if (!PyArg_ParseTuple(args, "yy:sign", &file, &key))
		return NULL;
	Py_BEGIN_ALLOW_THREADS err = tenon_link_sign(file, key, &out);
	Py_END_ALLOW_THREADS if (err) link_core->errors_set(err);
	else made = PyBytes_FromStringAndSize(out.data, (Py_ssize_t)out.size);
	tenon_buffer_fini(&out);
	return made;
}
