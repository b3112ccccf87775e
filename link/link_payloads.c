/* SPDX-License-Identifier: MIT */
/* Turn the files of devices and models into artifacts with payloads. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/module_kind.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "lib/file_map.h"
#include "lib/string_map.h"
#include "link/link_request.h"
#include "link/module/link_graph.h"
#include "link/module/link_payload.h"

const char *link_name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

const struct link_input *link_input_of(const struct link_work *w, const struct artifact *a)
{
	const struct link_request *r = w->request;
	size_t i;

	for (i = 0; i < r->input_count; i++)
		if (!strcmp(link_name_of(r->inputs[i].path), a->file_name))
			return &r->inputs[i];
	return NULL;
}

const char *link_path_of(const struct link_work *w, const struct artifact *a)
{
	const struct link_input *in = link_input_of(w, a);

	return in ? in->path : a->file_name;
}

/* ---- names */

static const char *device_of(const struct link_request *r, const char *key)
{
	size_t i;

	for (i = 0; key && i < r->key_count; i++)
		if (!strcmp(r->keys[i].left, key))
			return r->keys[i].right;
	return "";
}

static const char *generator_of(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot && dot[1] == 'c' ? "c" : "object";
}

static int add_input(struct link_work *w, const struct link_input *in)
{
	struct artifact_names names = { .file_name = link_name_of(in->path) };
	struct artifact *a;

	if (in->kind) {
		names.codegen_id = names.loader = in->kind;
		names.target_key = in->key ? in->key : in->kind;
		names.device = device_of(w->request, names.target_key);
	} else {
		names.codegen_id = generator_of(in->path);
		names.loader = ARTIFACT_NATIVE;
		names.target_key = ARTIFACT_HOST;
		if (access(in->path, R_OK))
			return tenon_error(-TENON_E_IO, "%s: %s", in->path, strerror(errno));
	}
	return artifact_add(&w->set, &names, &a);
}

/* A key that no file has is a mistake of typing. */
static int check_keys(const struct link_work *w)
{
	const struct link_request *r = w->request;
	size_t i, k;

	for (i = 0; i < r->key_count; i++) {
		for (k = 0; k < w->set.count; k++)
			if (!strcmp(w->set.items[k].target_key, r->keys[i].left))
				break;
		if (k == w->set.count)
			return tenon_error(
				-TENON_E_VALUE,
				"--target-key %s: no file has this key; give it to one, as "
				"in FILE=KIND@%s",
				r->keys[i].left, r->keys[i].left);
	}
	return 0;
}

/* ---- contents */

static int check_kind(const struct link_request *r, const struct artifact *a)
{
	struct tenon_buffer known = TENON_BUFFER_INIT;
	struct tenon_slice kind = tenon_slice_of(a->loader);
	const bool legacy = r->generation == TENON_GENERATION_LEGACY;
	bool has_format = payload_format_of(kind) != NULL;
	int err;

	if (has_format || (!legacy && (r->allow_unknown || tenon_module_loader_known(kind))))
		return 0;
	tenon_module_loader_names(&known);
	err = tenon_error(-TENON_E_NO_LOADER,
			  "%s: no loader for modules of kind \"%s\". This build has: %s. %s",
			  a->file_name, a->loader, known.data ? known.data : "none",
			  legacy ? "A module of TVM up to 0.21 cannot hold an unknown kind: link "
				   "with --abi modern"
				 : "Correct the kind, install a plug-in for it, or add --allow "
				   "unknown if only the target has the loader");
	tenon_buffer_fini(&known);
	return err;
}

char *link_table_path(const char *path, const char *suffix)
{
	const char *dot = strrchr(link_name_of(path), '.');
	size_t stem = dot ? (size_t)(dot - path) : strlen(path);
	char *table = malloc(stem + strlen(suffix) + 2);

	if (!table) {
		tenon_error(-TENON_E_NOMEM, "no memory for a path");
		return NULL;
	}
	memcpy(table, path, stem);
	table[stem] = '.';
	strcpy(table + stem + 1, suffix);
	return table;
}

static int pack(const struct link_work *w, struct artifact *a, struct link_program *p)
{
	const struct tenon_payload_file *file;
	char *path = NULL;
	int err;

	err = link_payload_file(p->kind, p->path, p->bytes, &file);
	if (!err && link_payload_is_file(p->kind, file)) {
		a->file = p->bytes;
		p->bytes = (struct tenon_slice){ NULL, 0 };
		return 0;
	}
	if (!err && file->table) {
		path = link_table_path(p->path, file->table);
		err = path ? 0 : -TENON_E_NOMEM;
	}
	p->table_path = path;
	if (!err && path)
		err = link_output_check(w->request->output, path);
	if (!err && path && !access(path, F_OK))
		err = file_map_open(path, &p->table);
	if (!err)
		err = link_payload_pack(p, &a->content);
	file_map_close(&p->table);
	free(path);
	return err;
}

/* All kernels of one target are found by their names. */
static int add_kernels(struct string_map *kernels, const struct artifact *a,
		       const struct tenon_payload_info *info)
{
	const struct artifact *other;
	struct tenon_slice name;
	size_t i;
	void **slot;

	for (i = 0; i < info->function_count; i++) {
		name = info->functions[i].name;
		slot = string_map_slot(kernels, name);
		if (!slot)
			return tenon_error(-TENON_E_NOMEM, "no memory for names of kernels");
		other = *slot;
		if (other && other != a && !strcmp(other->target_key, a->target_key))
			return tenon_error(
				-TENON_E_EXISTS,
				"%s and %s both have a kernel \"%.*s\" for \"%s\": host code "
				"finds a kernel by its name. Rename one, or give the files "
				"different keys (FILE=KIND@KEY)",
				other->file_name, a->file_name, (int)name.size, name.data,
				a->target_key);
		*slot = (void *)(uintptr_t)a;
	}
	return 0;
}

static int open_params(struct link_work *w)
{
	int err;

	if (w->request->params_bytes.size) {
		w->params = w->request->params_bytes;
		return 0;
	}
	err = file_map_open(w->request->params, &w->params_file);
	if (!err)
		w->params = w->params_file;
	return err;
}

/* A graph and its parameters, which are read from two files; of ahead-of-time code the parameters alone. */
static int pack_graph(struct link_work *w, const struct link_program *p, struct tenon_buffer *out)
{
	const struct link_request *r = w->request;
	int err = 0;

	if (tenon_slice_equal(p->kind, tenon_slice_of(LINK_AOT_KIND)))
		return link_aot_payload(p->bytes, p->path, r->model ? r->model : LINK_MODEL, out);
	if (r->params)
		err = open_params(w);
	if (!err)
		err = link_graph_payload(p->bytes, w->params, r->params,
					 r->model ? r->model : LINK_MODEL, out);
	return err;
}

/*
 * Map a payload of a kind whose format is not known: nothing parses it, and to copy it into new
 * pages would take as long as to write it.
 */
static int map_program(const char *path, struct tenon_slice *out)
{
	size_t size;
	int fd, err;

	err = file_open(path, &fd, &size);
	if (err)
		return err;
	err = file_map(fd, path, size, out);
	close(fd);
	return err;
}

/* Make the payload of parameters that belong to no graph. */
static int pack_constants(struct link_work *w, struct tenon_buffer *out)
{
	int err;

	err = open_params(w);
	return err ? err : link_constants_payload(w->params, w->request->params, out);
}

static int read_payload(struct link_work *w, struct artifact *a, struct string_map *kernels)
{
	struct link_program p = { .kind = tenon_slice_of(a->loader),
				  .path = link_path_of(w, a),
				  .generation = w->request->generation,
				  .dialect = w->request->generation == TENON_GENERATION_FFI
						     ? PAYLOAD_EXTRA_TAGS
						     : PAYLOAD_NO_EXTRA_TAGS };
	const struct link_input *in = link_input_of(w, a);
	struct tenon_payload_info info = { 0 };
	int err;

	err = check_kind(w->request, a);
	if (!err && in->is_constants)
		err = pack_constants(w, &a->content);
	else if (!err)
		err = payload_format_of(p.kind) ? file_map_open(p.path, &p.bytes)
						: map_program(p.path, &p.bytes);
	if (!err && !in->is_constants)
		err = in->is_graph ? pack_graph(w, &p, &a->content) : pack(w, a, &p);
	if (!err)
		err = link_payload_check(p.kind, artifact_payload(a), p.path, p.generation,
					 p.dialect, &info);
	if (!err)
		err = add_kernels(kernels, a, &info);
	payload_info_fini(&info);
	file_map_close(&p.bytes);
	return err;
}

int link_payloads(struct link_work *w)
{
	struct string_map kernels = STRING_MAP_INIT;
	size_t i;
	int err = 0;

	for (i = 0; i < w->request->input_count && !err; i++)
		err = add_input(w, &w->request->inputs[i]);
	if (!err)
		err = check_keys(w);
	artifact_sort(&w->set);
	for (i = 0; i < w->set.count && !err; i++)
		if (!artifact_is_native(&w->set.items[i]))
			err = read_payload(w, &w->set.items[i], &kernels);
	string_map_fini(&kernels);
	return err;
}
