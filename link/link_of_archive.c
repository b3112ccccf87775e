/* SPDX-License-Identifier: MIT */
/* An archive in Model Library Format becomes a module: its files are linked like those of a user. */
#include <cjson/cJSON.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tenon/backend/buffer.h>

#include "lib/brief_errors.h"
#include "link/link_crt_headers.h"
#include "link/link_request.h"
#include "link/mlf/mlf.h"
#include "link/module/link_graph.h"

/**
 * struct unpacking - an archive that is linked
 * @archive: the archive
 * @model: the model
 * @folder: where its files are written
 * @request: what they amount to as a command line
 * @params: of @request; allocated
 */
struct unpacking {
	struct mlf archive;
	const struct mlf_model *model;
	char folder[LINK_FOLDER_ROOM];
	struct link_request request;
	char *params;
};

static int no_memory(void)
{
	return tenon_error(-TENON_E_NOMEM, "no memory to link an archive");
}

/* Write a file to the folder; @out receives its path, allocated. */
static int write_file(struct unpacking *u, const char *name, struct tenon_slice bytes, char **out)
{
	struct tenon_buffer path = TENON_BUFFER_INIT;

	*out = NULL;
	if (tenon_buffer_printf(&path, "%s/%s", u->folder, name))
		return no_memory();
	*out = path.data;
	return link_folder_write(u->folder, name, bytes);
}

/* Write a file of the archive to the folder; @out receives its path, allocated. */
static int extract(struct unpacking *u, const struct archive_file *file, char **out)
{
	return write_file(u, link_name_of(file->path),
			  (struct tenon_slice){ file->bytes.data, file->bytes.size }, out);
}

/* ---- host code */

static int make_folder(const struct unpacking *u, const char *name)
{
	struct tenon_buffer path = TENON_BUFFER_INIT;
	int err = 0;

	if (tenon_buffer_printf(&path, "%s/%s", u->folder, name))
		return no_memory();
	if (mkdir(path.data, 0700))
		err = tenon_error(-TENON_E_IO, "%s: cannot make the folder: %s", path.data,
				  strerror(errno));
	tenon_buffer_fini(&path);
	return err;
}

/* Write the headers that sources include: the archive's own, and those of TVM. */
static int write_headers(struct unpacking *u)
{
	const char *const *folder;
	const struct link_crt_header *h;
	struct tenon_buffer name = TENON_BUFFER_INIT;
	const struct archive_file *file;
	size_t i;
	int err;

	err = make_folder(u, "include");
	for (folder = link_crt_folders; *folder && !err; folder++)
		err = make_folder(u, *folder);
	for (h = link_crt_headers; h->path && !err; h++)
		err = link_folder_write(u->folder, h->path, tenon_slice_of(h->text));
	for (i = 0; i < u->archive.files.count && !err; i++) {
		file = &u->archive.files.items[i];
		if (strncmp(file->path, MLF_HEADERS, strlen(MLF_HEADERS)) ||
		    strchr(file->path + strlen(MLF_HEADERS), '/'))
			continue;
		name.size = 0;
		if (tenon_buffer_printf(&name, "include/%s", link_name_of(file->path)))
			err = no_memory();
		else
			err = link_folder_write(
				u->folder, name.data,
				(struct tenon_slice){ file->bytes.data, file->bytes.size });
	}
	tenon_buffer_fini(&name);
	return err;
}

/* Let sources find the headers, behind the folders that the user gives. */
static int add_include(struct unpacking *u, const struct link_request *r)
{
	struct tenon_buffer path = TENON_BUFFER_INIT;

	u->request.includes = calloc(r->include_count + 1, sizeof(*u->request.includes));
	if (!u->request.includes || tenon_buffer_printf(&path, "%s/include", u->folder)) {
		tenon_buffer_fini(&path);
		return no_memory();
	}
	if (r->include_count)
		memcpy(u->request.includes, r->includes, r->include_count * sizeof(*r->includes));
	u->request.includes[r->include_count] = path.data;
	u->request.include_count = r->include_count + 1;
	return 0;
}

static int check_host_name(const struct unpacking *u, const struct archive_file *file)
{
	static const char *const suffixes[] = { ".c", ".cc", ".cpp", ".o" };
	const char *dot = strrchr(link_name_of(file->path), '.');
	size_t i;

	for (i = 0; dot && i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		if (!strcmp(dot, suffixes[i]))
			return 0;
	return tenon_error(-TENON_E_VALUE,
			   "%s: \"%s\" is neither a source nor an object file of the host",
			   u->archive.path, file->path);
}

static struct link_input *next_input(struct unpacking *u)
{
	return &u->request.inputs[u->request.input_count++];
}

static int add_host(struct unpacking *u)
{
	const size_t before = u->request.input_count;
	const struct archive_file *file;
	size_t i;
	int err = 0;

	for (i = 0; i < u->archive.files.count && !err; i++) {
		file = &u->archive.files.items[i];
		if (!mlf_is_host_file(&u->archive, u->model, file))
			continue;
		err = check_host_name(u, file);
		if (!err)
			err = extract(u, file, &next_input(u)->path);
	}
	if (!err && u->request.input_count == before)
		err = tenon_error(-TENON_E_NOT_FOUND,
				  "%s: no code of the host in " MLF_SOURCES " or " MLF_OBJECTS,
				  u->archive.path);
	return err;
}

/* ---- programs of devices, which Tenon wrote */

static int bad_program(const struct unpacking *u, const char *what)
{
	return tenon_error(-TENON_E_FORMAT, "%s: " MLF_METADATA ": \"programs\": %s",
			   u->archive.path, what);
}

static const char *text_of(const cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

	return cJSON_IsString(item) ? item->valuestring : "";
}

/* Write the table of a program's kernels, if there is one. */
static int extract_table(struct unpacking *u, const struct archive_file *program)
{
	const struct archive_file *file;
	char *path, *ignored = NULL;
	int err = 0;

	path = link_table_path(program->path, "tvm_meta.json");
	if (!path)
		return -TENON_E_NOMEM;
	file = archive_files_find(&u->archive.files, path);
	if (file)
		err = extract(u, file, &ignored);
	free(ignored);
	free(path);
	return err;
}

static int add_device(struct unpacking *u, const char *key, const char *device)
{
	struct link_request *r = &u->request;
	size_t i;

	for (i = 0; i < r->key_count; i++)
		if (!strcmp(r->keys[i].left, key))
			return strcmp(r->keys[i].right, device)
				       ? bad_program(u, "one target key has two devices")
				       : 0;
	r->keys[r->key_count].left = strdup(key);
	r->keys[r->key_count].right = strdup(device);
	return r->keys[r->key_count].left && r->keys[r->key_count++].right ? 0 : no_memory();
}

static int add_program(struct unpacking *u, const cJSON *item)
{
	const char *path = text_of(item, "path"), *key = text_of(item, "target_key");
	const struct archive_file *file = archive_files_find(&u->archive.files, path);
	struct link_input *in;
	int err;

	if (!file || strncmp(path, "codegen/", 8))
		return bad_program(u, "\"path\" names no file in codegen/");
	if (!*text_of(item, "loader") || !*key)
		return bad_program(u, "an item has no \"loader\" or no \"target_key\"");
	in = next_input(u);
	err = extract(u, file, &in->path);
	if (err)
		return err;
	in->kind = strdup(text_of(item, "loader"));
	in->key = strdup(key);
	if (!in->kind || !in->key)
		return no_memory();
	err = extract_table(u, file);
	return err || !*text_of(item, "device") ? err : add_device(u, key, text_of(item, "device"));
}

static int add_import(struct unpacking *u, const cJSON *pair)
{
	const cJSON *left = cJSON_GetArrayItem(pair, 0), *right = cJSON_GetArrayItem(pair, 1);
	struct link_pair *p = &u->request.imports[u->request.import_count];

	if (!cJSON_IsString(left) || !cJSON_IsString(right))
		return bad_program(u, "\"imports\" has an item that is no pair of names");
	u->request.import_count++;
	p->left = strdup(left->valuestring);
	p->right = strdup(right->valuestring);
	return p->left && p->right ? 0 : no_memory();
}

/* Without this part there are programs that only their writer knows how to load. */
static int check_known(const struct unpacking *u)
{
	const struct archive_file *file;
	size_t i;

	for (i = 0; i < u->archive.files.count; i++) {
		file = &u->archive.files.items[i];
		if (!strncmp(file->path, "codegen/", 8) && strncmp(file->path, "codegen/host/", 13))
			return tenon_error(-TENON_E_UNSUPPORTED,
					   "%s: \"%s\" is a program of a device, and " MLF_METADATA
					   " does not tell its loader. Link the files with tenon "
					   "link",
					   u->archive.path, file->path);
	}
	return 0;
}

static int add_programs(struct unpacking *u)
{
	const cJSON *own = cJSON_GetObjectItemCaseSensitive(u->model->json, "tenon");
	const cJSON *programs = cJSON_GetObjectItemCaseSensitive(own, "programs");
	const cJSON *imports = cJSON_GetObjectItemCaseSensitive(own, "imports"), *item;
	int err = 0;

	if (!own)
		return check_known(u);
	if (!strcmp(text_of(own, "abi"), "modern"))
		u->request.generation = TENON_GENERATION_FFI;
	u->request.imports =
		calloc((size_t)cJSON_GetArraySize(imports) + 1, sizeof(*u->request.imports));
	u->request.keys =
		calloc((size_t)cJSON_GetArraySize(programs) + 1, sizeof(*u->request.keys));
	if (!u->request.imports || !u->request.keys)
		return no_memory();
	/* each program is a file of its own: two of one name are refused, so there is room */
	if ((size_t)cJSON_GetArraySize(programs) > u->archive.files.count)
		return bad_program(u, "more items than files");
	cJSON_ArrayForEach(item, programs) if (!err) err = add_program(u, item);
	cJSON_ArrayForEach(item, imports) if (!err) err = add_import(u, item);
	return err;
}

/* ---- the graph */

/* Parameters that belong to no graph. */
static int add_constants(struct unpacking *u, const struct archive_file *params)
{
	int err = extract(u, params, &u->params);

	if (err)
		return err;
	u->request.params = u->params;
	return link_add_constants(&u->request) ? 0 : no_memory();
}

static int add_graph(struct unpacking *u)
{
	const struct archive_file *graph = mlf_graph(&u->archive, u->model);
	const struct archive_file *params = mlf_params(&u->archive, u->model);
	struct link_input *in;
	int err;

	if (!u->model->graph)
		return u->model->aot || !params ? 0 : add_constants(u, params);
	if (!graph)
		return tenon_error(-TENON_E_NOT_FOUND, "%s: the graph of model \"%s\" is missing",
				   u->archive.path, u->model->name);
	in = next_input(u);
	in->is_graph = true;
	err = extract(u, graph, &in->path);
	in->kind = strdup(LINK_GRAPH_KIND);
	if (!err && !in->kind)
		err = no_memory();
	if (!err && params)
		err = extract(u, params, &u->params);
	u->request.graph = in->path;
	u->request.params = u->params;
	return err;
}

/* ---- ahead-of-time code */

static int add_aot(struct unpacking *u)
{
	const struct archive_file *params = mlf_params(&u->archive, u->model);
	struct tenon_buffer source = TENON_BUFFER_INIT;
	struct link_input *in;
	int err;

	if (!u->model->aot)
		return 0;
	err = mlf_aot_source(&u->archive, u->model, &source);
	if (!err)
		err = write_file(u, "tenon_aot.c", (struct tenon_slice){ source.data, source.size },
				 &next_input(u)->path);
	tenon_buffer_fini(&source);
	if (err)
		return err;
	in = next_input(u);
	in->is_graph = true;
	in->kind = strdup(LINK_AOT_KIND);
	if (!in->kind)
		return no_memory();
	return params ? extract(u, params, &in->path)
		      : write_file(u, "tenon_aot.params", (struct tenon_slice){ NULL, 0 },
				   &in->path);
}

/* ---- linking */

static int unpack(struct unpacking *u, const struct link_request *r)
{
	int err;

	/* at most an input for each file, twice for a list that names files again */
	u->request.inputs = calloc(2 * u->archive.files.count + 3, sizeof(*u->request.inputs));
	if (!u->request.inputs)
		return no_memory();
	err = link_folder_make(u->folder);
	if (!err)
		err = write_headers(u);
	if (!err)
		err = add_include(u, r);
	if (!err)
		err = add_aot(u);
	if (!err)
		err = add_host(u);
	if (!err)
		err = add_programs(u);
	return err ? err : add_graph(u);
}

int link_of_archive(const struct link_request *r, struct tenon_slice bytes)
{
	struct unpacking *u = calloc(1, sizeof(*u));
	int err;

	if (!u)
		return no_memory();
	u->request.output = r->output;
	u->request.generation = r->generation;
	u->request.allow_weak = r->allow_weak;
	u->request.system = r->system;
	u->request.prefix = r->prefix;
	u->request.cases = r->cases;
	u->request.case_count = r->case_count;
	link_say(r, "compiling the code of", r->inputs[0].path);
	err = mlf_read(bytes, r->inputs[0].path, &u->archive);
	if (!err)
		err = mlf_find(&u->archive, r->model, &u->model);
	if (!err) {
		u->request.model = u->model->name;
		err = unpack(u, r);
	}
	if (!err) {
		err = link_files(&u->request);
		if (err)
			tenon_error_in(err, "%s", r->inputs[0].path);
	}
	link_folder_remove(u->folder);
	if (u->request.include_count)
		free((char *)(uintptr_t)u->request.includes[u->request.include_count - 1]);
	link_request_fini(&u->request);
	free(u->params);
	mlf_fini(&u->archive);
	free(u);
	return err;
}
