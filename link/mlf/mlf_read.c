/* SPDX-License-Identifier: MIT */
/* Check metadata.json, and find graph, parameters and code in an archive. */
#include "link/mlf/mlf.h"

#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>
#include <tenon/error.h>

#include "lib/brief_errors.h"
#include "lib/file_map.h"
#include "lib/json_tree.h"
#include "lib/tvm_versions.h"

/* A model's name becomes part of names of files. */
#define NAME_MOST 128

static int bad(const struct mlf *m, const char *what)
{
	return tenon_error(-TENON_E_FORMAT, "%s: " MLF_METADATA ": %s", m->path, what);
}

bool mlf_is_archive(const char *path)
{
	static const char *const suffixes[] = { ".tar", ".tar.gz", ".tgz" };
	const size_t size = strlen(path);
	size_t i, n;

	for (i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		n = strlen(suffixes[i]);
		if (size > n && !strcmp(path + size - n, suffixes[i]))
			return true;
	}
	return false;
}

/* ---- metadata.json */

static bool has_text(const cJSON *list, const char *text)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, list) if (cJSON_IsString(item) &&
					   !strcmp(item->valuestring, text)) return true;
	return false;
}

static bool is_name(const char *name)
{
	return *name && *name != '.' && strlen(name) <= NAME_MOST && !strchr(name, '/');
}

static int add_model(struct mlf *m, const cJSON *json)
{
	struct mlf_model *model = &m->models[m->count];
	const cJSON *name = cJSON_GetObjectItemCaseSensitive(json, "model_name");
	const cJSON *style = cJSON_GetObjectItemCaseSensitive(json, "style");
	const cJSON *executors = cJSON_GetObjectItemCaseSensitive(json, "executors");

	if (cJSON_IsString(style) && strcmp(style->valuestring, "full-model"))
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "%s: holds single operators and no model (style \"%.40s\"): "
				   "link its files with tenon link",
				   m->path, style->valuestring);
	if (!cJSON_IsString(name) || !is_name(name->valuestring))
		return bad(m, "\"model_name\" is missing, or is no name");
	if (!cJSON_IsArray(executors))
		return bad(m, "\"executors\" is missing, or is no list");
	*model = (struct mlf_model){ name->valuestring, json, has_text(executors, "graph"),
				     has_text(executors, "aot") };
	m->count++;
	return 0;
}

static int add_models(struct mlf *m)
{
	const cJSON *modules, *item;
	int err = 0, count = 1;

	if (m->version < 7) {
		modules = m->metadata;
	} else {
		modules = cJSON_GetObjectItemCaseSensitive(m->metadata, "modules");
		if (!modules && cJSON_GetObjectItemCaseSensitive(m->metadata, "style"))
			modules = m->metadata; /* single operators: add_model() says so */
		else if (!cJSON_IsObject(modules) || !modules->child)
			return bad(m, "\"modules\" is missing, or names no model");
		else
			count = cJSON_GetArraySize(modules);
	}
	m->models = calloc((size_t)count, sizeof(*m->models));
	if (!m->models)
		return tenon_error(-TENON_E_NOMEM, "no memory for %d models", count);
	if (modules == m->metadata)
		return add_model(m, modules);
	cJSON_ArrayForEach(item, modules) if (!err) err = add_model(m, item);
	return err;
}

static int read_metadata(struct mlf *m)
{
	const struct archive_file *file = archive_files_find(&m->files, MLF_METADATA);
	const cJSON *version;
	int err;

	if (!file)
		return tenon_error(-TENON_E_NOT_FOUND,
				   "%s: no " MLF_METADATA
				   " in the archive: not Model Library Format",
				   m->path);
	err = json_tree_read((struct tenon_slice){ file->bytes.data, file->bytes.size },
			     MLF_METADATA, &m->metadata);
	if (err)
		return tenon_error_in(err, "%s", m->path);
	if (!cJSON_IsObject(m->metadata))
		return bad(m, "not a JSON object");
	version = cJSON_GetObjectItemCaseSensitive(m->metadata, "version");
	if (!cJSON_IsNumber(version))
		return bad(m, "\"version\" is missing, or is no number");
	m->version = version->valueint;
	if (m->version < MLF_OLDEST || m->version > MLF_NEWEST)
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "%s: version %d of Model Library Format; versions %d to %d, of "
				   "TVM " TVM_MLF ", are known. Export the model with one of these",
				   m->path, m->version, MLF_OLDEST, MLF_NEWEST);
	return add_models(m);
}

int mlf_read(struct tenon_slice bytes, const char *path, struct mlf *m)
{
	int err;

	m->path = path;
	err = archive_read(bytes, path, &m->files);
	return err ? err : read_metadata(m);
}

int mlf_open(const char *path, struct mlf *m)
{
	struct tenon_slice bytes;
	int err;

	err = file_map_open(path, &bytes);
	if (err)
		return err;
	err = mlf_read(bytes, path, m);
	file_map_close(&bytes);
	return err;
}

void mlf_fini(struct mlf *m)
{
	free(m->models);
	cJSON_Delete(m->metadata);
	archive_files_fini(&m->files);
	memset(m, 0, sizeof(*m));
}

/* ---- models and their files */

int mlf_find(const struct mlf *m, const char *name, const struct mlf_model **out)
{
	struct tenon_buffer names = TENON_BUFFER_INIT;
	size_t i;
	int err;

	*out = NULL;
	for (i = 0; i < m->count; i++) {
		if (name ? !strcmp(name, m->models[i].name) : m->count == 1) {
			*out = &m->models[i];
			tenon_buffer_fini(&names);
			return 0;
		}
		tenon_buffer_printf(&names, "%s%s", i ? ", " : "", m->models[i].name);
	}
	err = tenon_error(-TENON_E_NOT_FOUND, "%s: %s; choose a model with --model: %s", m->path,
			  name ? "no model has this name" : "has several models",
			  names.data ? names.data : "");
	tenon_buffer_fini(&names);
	return err;
}

static const struct archive_file *find_file(const struct mlf *m, const char *format,
					    const char *name)
{
	const struct archive_file *file = NULL;
	struct tenon_buffer path = TENON_BUFFER_INIT;

	tenon_buffer_printf(&path, format, name);
	if (!path.status)
		file = archive_files_find(&m->files, path.data);
	tenon_buffer_fini(&path);
	return file;
}

const struct archive_file *mlf_graph(const struct mlf *m, const struct mlf_model *model)
{
	if (!model->graph)
		return NULL;
	return m->version < 7 ? archive_files_find(&m->files, "executor-config/graph/graph.json")
			      : find_file(m, "executor-config/graph/%s.graph", model->name);
}

const struct archive_file *mlf_params(const struct mlf *m, const struct mlf_model *model)
{
	return find_file(m, "parameters/%s.params", model->name);
}

const struct archive_file *mlf_program(const struct mlf *m, const struct mlf_model *model)
{
	return m->version < 7 ? archive_files_find(&m->files, "src/relay.txt")
			      : find_file(m, "src/%s.relay", model->name);
}

const struct archive_file *mlf_header(const struct mlf *m, const char *name)
{
	return find_file(m, MLF_HEADERS "tvmgen_%s.h", name);
}

/* Files of several models have the name of theirs in front. */
bool mlf_is_host_file(const struct mlf *m, const struct mlf_model *model,
		      const struct archive_file *file)
{
	const size_t size = strlen(model->name);
	const char *name;

	if (!strncmp(file->path, MLF_SOURCES, strlen(MLF_SOURCES)))
		name = file->path + strlen(MLF_SOURCES);
	else if (!strncmp(file->path, MLF_OBJECTS, strlen(MLF_OBJECTS)))
		name = file->path + strlen(MLF_OBJECTS);
	else
		return false;
	return m->count == 1 ||
	       (!strncmp(name, model->name, size) && !strncmp(name + size, "_lib", 4));
}
