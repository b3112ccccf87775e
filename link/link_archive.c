/* SPDX-License-Identifier: MIT */
/* tenon link --format mlf: write an archive in Model Library Format. */
#include <stdlib.h>
#include <tenon/backend/buffer.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "lib/file_map.h"
#include "link/link_request.h"
#include "link/mlf/mlf.h"

/**
 * struct archiving - an archive that is written
 * @set: the artifacts with their files instead of payloads; graph and parameters are none of them
 * @tables: of each artifact
 * @imports: pairs of names
 */
struct archiving {
	struct artifact_set set;
	struct tenon_slice *tables;
	const char *(*imports)[2];
};

static int read_file(const char *path, struct tenon_buffer *out)
{
	struct tenon_slice bytes;
	int err;

	err = file_map_open(path, &bytes);
	if (err)
		return err;
	err = tenon_buffer_slice(out, bytes);
	file_map_close(&bytes);
	return err;
}

static int add_artifact(const struct link_work *w, struct archiving *a, const struct artifact *from)
{
	const struct artifact_names names = { from->codegen_id, from->loader, from->target_key,
					      from->file_name, from->device };
	const char *path = link_path_of(w, from);
	struct artifact *to;
	char *table;
	int err;

	err = artifact_add(&a->set, &names, &to);
	if (!err)
		err = read_file(path, &to->content);
	if (err || artifact_is_native(from))
		return err;
	table = link_table_path(path, "tvm_meta.json");
	if (!table)
		return -TENON_E_NOMEM;
	if (!access(table, F_OK))
		err = file_map_open(table, &a->tables[a->set.count - 1]);
	free(table);
	return err;
}

static int add_artifacts(const struct link_work *w, struct archiving *a)
{
	const struct link_input *in;
	size_t i;
	int err = 0;

	a->tables = calloc(w->set.count + 1, sizeof(*a->tables));
	a->imports = calloc(w->request->import_count + 1, sizeof(*a->imports));
	if (!a->tables || !a->imports)
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu artifacts", w->set.count);
	for (i = 0; i < w->request->import_count; i++) {
		a->imports[i][0] = w->request->imports[i].left;
		a->imports[i][1] = w->request->imports[i].right;
	}
	for (i = 0; i < w->set.count && !err; i++) {
		in = link_input_of(w, &w->set.items[i]);
		if (!in->is_graph && !in->is_constants)
			err = add_artifact(w, a, &w->set.items[i]);
	}
	return err;
}

static int write_archive(const struct link_work *w, const struct archiving *a)
{
	const struct link_request *r = w->request;
	struct mlf_content c = { .model = r->model ? r->model : LINK_MODEL,
				 .set = &a->set,
				 .tables = a->tables,
				 .imports = (const char *const(*)[2])a->imports,
				 .import_count = r->import_count,
				 .modern = r->generation == TENON_GENERATION_FFI,
				 .graph_path = r->graph,
				 .params = w->params };
	struct tenon_buffer out = TENON_BUFFER_INIT;
	struct tenon_slice bytes;
	int err = 0;

	if (r->graph)
		err = file_map_open(r->graph, &c.graph);
	if (!err)
		err = mlf_write(&c, &out);
	bytes = (struct tenon_slice){ out.data, out.size };
	if (!err)
		err = file_write(r->output, &bytes, 1);
	tenon_buffer_fini(&out);
	file_map_close(&c.graph);
	return err;
}

int link_archive(struct link_work *w)
{
	struct archiving a = { 0 };
	size_t i;
	int err;

	/* the archive is checked as the module is that will be made of it */
	err = link_imports(w);
	if (!err)
		err = add_artifacts(w, &a);
	if (!err)
		err = write_archive(w, &a);
	for (i = 0; a.tables && i < a.set.count; i++)
		file_map_close(&a.tables[i]);
	free(a.tables);
	free(a.imports);
	artifact_set_fini(&a.set);
	return err;
}
