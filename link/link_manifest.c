/* SPDX-License-Identifier: MIT */
/* Put a module together again from its manifest. */
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>

#include "lib/brief_errors.h"
#include "lib/file_map.h"
#include "link/link_request.h"
#include "link/module/link_host.h"
#include "link/module/link_payload.h"
#include "link/module/manifest.h"

/* A module that is put together again. */
struct relink {
	const char *path; /* of the manifest */
	const char *output;
	struct manifest manifest;
	struct link_host host;
	char *host_path;
	struct artifact_set set;
	struct tenon_buffer *payloads; /* of each module */
	struct tenon_buffer blob;
};

/* Path of a file in the folder of the manifest; allocated. */
static char *beside(const struct relink *r, const char *name)
{
	const char *slash = strrchr(r->path, '/');
	struct tenon_buffer b = TENON_BUFFER_INIT;

	tenon_buffer_printf(&b, "%.*s%s", slash ? (int)(slash - r->path) + 1 : 0, r->path, name);
	if (!b.status)
		return b.data;
	tenon_buffer_fini(&b);
	tenon_error(-TENON_E_NOMEM, "no memory for a path");
	return NULL;
}

static int open_beside(const struct relink *r, const char *name, char **path,
		       struct tenon_slice *bytes)
{
	int err;

	*path = beside(r, name);
	if (!*path)
		return -TENON_E_NOMEM;
	err = link_output_check(r->output, *path);
	return err ? err : file_map_open(*path, bytes);
}

/* Read the payload of a module from its files, and check it. */
static int read_payload(struct relink *r, size_t module)
{
	const struct manifest_names *names = &r->manifest.names[module];
	struct tenon_buffer *payload = &r->payloads[module];
	struct link_program p = { .kind = r->manifest.tree.modules[module].kind,
				  .generation = r->manifest.generation,
				  .dialect = r->manifest.dialect };
	struct tenon_payload_info info = { 0 };
	char *path = NULL, *table = NULL;
	int err;

	err = open_beside(r, names->file, &path, &p.bytes);
	if (!err && *names->table)
		err = open_beside(r, names->table, &table, &p.table);
	p.path = path;
	p.table_path = table ? table : "\"table\" of the manifest";
	if (!err)
		err = link_payload_pack(&p, payload);
	if (!err)
		err = link_payload_check(p.kind,
					 (struct tenon_slice){ payload->data, payload->size }, path,
					 p.generation, p.dialect, &info);
	payload_info_fini(&info);
	r->manifest.tree.modules[module].payload =
		(struct tenon_slice){ payload->data, payload->size };
	file_map_close(&p.table);
	file_map_close(&p.bytes);
	free(table);
	free(path);
	return err;
}

static int read_payloads(struct relink *r)
{
	struct link_tree *t = &r->manifest.tree;
	size_t i;
	int err = 0;

	r->payloads = calloc(t->count, sizeof(*r->payloads));
	if (!r->payloads)
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu payloads", t->count);
	for (i = 0; i < t->count && !err; i++)
		if (!t->modules[i].library)
			err = read_payload(r, i);
	return err;
}

static int add_name(struct relink *r, const struct manifest_names *names, const char *loader,
		    uint64_t module)
{
	struct artifact *a;
	int err;

	err = artifact_add(&r->set,
			   &(struct artifact_names){ names->codegen_id, loader, names->target_key,
						     names->file_name, names->device },
			   &a);
	if (!err)
		a->module = module;
	return err;
}

/* Collect the names for the record, which is in the order of loading. */
static int collect_names(struct relink *r)
{
	const struct manifest *m = &r->manifest;
	uint64_t library = 0;
	size_t i;
	int err = 0;

	for (i = 0; i < m->tree.count; i++)
		if (m->tree.modules[i].library)
			library = i;
	for (i = 0; i < m->host_count && !err; i++)
		err = add_name(r, &m->host_artifacts[i], ARTIFACT_NATIVE, library);
	for (i = 0; i < m->tree.count && !err; i++)
		if (!m->tree.modules[i].library)
			err = add_name(r, &m->names[i], m->names[i].loader, i);
	artifact_sort(&r->set);
	return err;
}

static int open_host(struct relink *r)
{
	int err;

	r->host_path = beside(r, r->manifest.host);
	if (!r->host_path)
		return -TENON_E_NOMEM;
	err = link_output_check(r->output, r->host_path);
	if (!err)
		err = link_host_open(r->host_path, &r->host);
	if (err)
		return err;
	if (!r->host.symbols.has_blob &&
	    (r->manifest.tree.count > 1 || !r->manifest.tree.modules[0].library))
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "%s: has no symbol for an import tree, so it cannot take one: "
				   "link its object files with tenon link",
				   r->host_path);
	if (r->host.symbols.has_blob && r->host.symbols.blob_generation != r->manifest.generation)
		return tenon_error(-TENON_E_VALUE,
				   "%s: its import tree has the other form than "
				   "\"abi\" says; change the manifest",
				   r->host_path);
	return 0;
}

static int write_blob(struct relink *r)
{
	const struct blob_source source = { .file = r->path,
					    .generation = r->manifest.generation,
					    .inspect = true };
	struct import_blob tree = { 0 };
	int err;

	err = link_tree_write_numbered(&r->manifest.tree, r->manifest.generation, &r->blob);
	if (!err)
		err = import_blob_read(&tree, (struct tenon_slice){ r->blob.data, r->blob.size },
				       &source);
	import_blob_fini(&tree);
	return err ? tenon_error_in(err, "%s", r->path) : 0;
}

static int link_it(struct relink *r, struct tenon_buffer *out)
{
	int err;

	err = open_host(r);
	if (err)
		return err;
	if (!r->host.symbols.has_blob)
		return tenon_buffer_slice(out, r->host.bytes);
	err = read_payloads(r);
	if (!err && r->host.has_record)
		err = collect_names(r);
	if (!err)
		err = write_blob(r);
	if (!err)
		err = link_host_write(&r->host, (struct tenon_slice){ r->blob.data, r->blob.size },
				      r->host.has_record ? &r->set : NULL, &r->manifest.tree, out);
	return err;
}

static void relink_fini(struct relink *r)
{
	size_t i;

	for (i = 0; r->payloads && i < r->manifest.tree.count; i++)
		tenon_buffer_fini(&r->payloads[i]);
	free(r->payloads);
	tenon_buffer_fini(&r->blob);
	artifact_set_fini(&r->set);
	link_host_fini(&r->host);
	free(r->host_path);
	manifest_fini(&r->manifest);
}

int link_of_manifest(const struct link_request *request)
{
	const char *manifest = request->inputs[0].path, *output = request->output;
	struct relink r = { .path = manifest, .output = output };
	struct tenon_buffer file = TENON_BUFFER_INIT;
	struct tenon_slice text = { NULL, 0 }, bytes;
	int err;

	err = file_map_open(manifest, &text);
	if (!err)
		err = manifest_read(text, manifest, &r.manifest);
	file_map_close(&text);
	if (!err)
		err = link_it(&r, &file);
	if (!err)
		err = link_cases_put(request, manifest, &file);
	bytes = (struct tenon_slice){ file.data, file.size };
	if (!err)
		err = file_write(output, &bytes, 1);
	tenon_buffer_fini(&file);
	relink_fini(&r);
	return err;
}
