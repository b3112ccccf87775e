/* SPDX-License-Identifier: MIT */
/* Lay the files of an archive out and write metadata.json. */
#include "link/mlf/mlf.h"

#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>
#include <tenon/error.h>
#include <time.h>

#include "lib/brief_errors.h"
#include "lib/json_build.h"

struct writing {
	const struct mlf_content *content;
	struct archive_files files;
	cJSON *metadata;
	cJSON *programs; /* of "tenon" in metadata.json */
	size_t sources, objects;
};

static int no_memory(void)
{
	return tenon_error(-TENON_E_NOMEM, "no memory for an archive");
}

/* ---- files */

static int add_file(struct writing *w, const char *path, struct tenon_slice bytes)
{
	struct archive_file *file;
	int err;

	err = archive_files_add(&w->files, path, &file);
	return err ? err : tenon_buffer_slice(&file->bytes, bytes);
}

static int add_host(struct writing *w, const struct artifact *a)
{
	const char *dot = strrchr(a->file_name, '.');
	const bool is_object = dot && !strcmp(dot, ".o");
	struct tenon_buffer path = TENON_BUFFER_INIT;
	int err;

	if (!dot || !strcmp(dot, ".a"))
		return tenon_error(-TENON_E_VALUE,
				   "%s: Model Library Format holds sources and object files; give "
				   "the objects that are in this archive",
				   a->file_name);
	err = tenon_buffer_printf(&path, "%s%s_lib%zu%s", is_object ? MLF_OBJECTS : MLF_SOURCES,
				  w->content->model, is_object ? w->objects++ : w->sources++, dot);
	if (!err)
		err = add_file(w, path.data,
			       (struct tenon_slice){ a->content.data, a->content.size });
	tenon_buffer_fini(&path);
	return err;
}

/* The name of the kernel table of a file: the same stem. */
static int table_path(const char *path, struct tenon_buffer *out)
{
	const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
	int stem = dot && dot > slash ? (int)(dot - path) : (int)strlen(path);

	return tenon_buffer_printf(out, "%.*s.tvm_meta.json", stem, path);
}

static int describe_program(struct writing *w, const struct artifact *a, const char *path)
{
	cJSON *item = cJSON_CreateObject();

	if (!cJSON_AddItemToArray(w->programs, item)) {
		cJSON_Delete(item);
		return no_memory();
	}
	return cJSON_AddStringToObject(item, "path", path) &&
			       cJSON_AddStringToObject(item, "loader", a->loader) &&
			       cJSON_AddStringToObject(item, "target_key", a->target_key) &&
			       cJSON_AddStringToObject(item, "device", a->device)
		       ? 0
		       : no_memory();
}

static int add_program(struct writing *w, const struct artifact *a, struct tenon_slice table)
{
	struct tenon_buffer path = TENON_BUFFER_INIT, beside = TENON_BUFFER_INIT;
	int err;

	if (strchr(a->target_key, '/') || a->target_key[0] == '.' ||
	    !strcmp(a->target_key, ARTIFACT_HOST))
		return tenon_error(-TENON_E_VALUE,
				   "%s: the target key \"%s\" cannot be the name of a folder in "
				   "codegen/: choose another",
				   a->file_name, a->target_key);
	err = tenon_buffer_printf(&path, "codegen/%s/%s", a->target_key, a->file_name);
	if (!err)
		err = add_file(w, path.data,
			       (struct tenon_slice){ a->content.data, a->content.size });
	if (!err && table.size)
		err = table_path(path.data, &beside);
	if (!err && table.size)
		err = add_file(w, beside.data, table);
	if (!err)
		err = describe_program(w, a, path.data);
	tenon_buffer_fini(&beside);
	tenon_buffer_fini(&path);
	return err;
}

static int add_artifacts(struct writing *w)
{
	const struct artifact_set *set = w->content->set;
	size_t i;
	int err = 0;

	for (i = 0; i < set->count && !err; i++)
		err = artifact_is_native(&set->items[i])
			      ? add_host(w, &set->items[i])
			      : add_program(w, &set->items[i], w->content->tables[i]);
	return err;
}

static int add_named(struct writing *w, const char *format, struct tenon_slice bytes)
{
	struct tenon_buffer path = TENON_BUFFER_INIT;
	int err = 0;

	if (bytes.size)
		err = tenon_buffer_printf(&path, format, w->content->model);
	if (!err && bytes.size)
		err = add_file(w, path.data, bytes);
	tenon_buffer_fini(&path);
	return err;
}

/* ---- metadata.json */

static void print_time(char text[32])
{
	const char *epoch = getenv("SOURCE_DATE_EPOCH");
	time_t t = epoch ? (time_t)strtoll(epoch, NULL, 10) : 0;
	struct tm tm;

	if (!gmtime_r(&t, &tm) || !strftime(text, 32, "%Y-%m-%d %H:%M:%SZ", &tm))
		strcpy(text, "1970-01-01 00:00:00Z");
}

static bool add_targets(const struct mlf_content *c, cJSON *list)
{
	const struct artifact_set *set = c->set;
	size_t i, next;

	for (i = 0; i < set->count; i = next) {
		next = artifact_group(set, i);
		if (!json_append(list, cJSON_CreateString(artifact_is_native(&set->items[i])
								  ? "c"
								  : set->items[i].loader)))
			return false;
	}
	return true;
}

static bool add_imports(const struct mlf_content *c, cJSON *list)
{
	size_t i;

	for (i = 0; i < c->import_count; i++)
		if (!json_append(list, cJSON_CreateStringArray(c->imports[i], 2)))
			return false;
	return true;
}

static int add_memory(struct writing *w, cJSON *model)
{
	const struct mlf_content *c = w->content;
	cJSON *memory;
	int err;

	if (!c->graph.size)
		return cJSON_AddObjectToObject(model, "memory") ? 0 : no_memory();
	err = mlf_memory(c->graph, c->graph_path, c->params, &memory);
	return err || json_set(model, "memory", memory) ? err : no_memory();
}

static int make_metadata(struct writing *w)
{
	const struct mlf_content *c = w->content;
	cJSON *model, *executors, *own;
	char when[32];
	int err;

	print_time(when);
	w->metadata = cJSON_CreateObject();
	model = cJSON_AddObjectToObject(cJSON_AddObjectToObject(w->metadata, "modules"), c->model);
	executors = cJSON_AddArrayToObject(model, "executors");
	if (c->graph.size && !json_append(executors, cJSON_CreateString("graph")))
		return no_memory();
	if (!executors || !cJSON_AddStringToObject(model, "export_datetime", when))
		return no_memory();
	err = add_memory(w, model);
	if (err)
		return err;
	own = cJSON_AddObjectToObject(model, "tenon");
	w->programs = cJSON_AddArrayToObject(own, "programs");
	return cJSON_AddStringToObject(own, "abi", c->modern ? "modern" : "legacy") &&
			       add_imports(c, cJSON_AddArrayToObject(own, "imports")) &&
			       cJSON_AddStringToObject(model, "model_name", c->model) &&
			       cJSON_AddStringToObject(model, "style", "full-model") &&
			       add_targets(c, cJSON_AddArrayToObject(model, "target")) &&
			       cJSON_AddNumberToObject(w->metadata, "version", MLF_NEWEST) &&
			       w->programs
		       ? 0
		       : no_memory();
}

static int add_metadata(struct writing *w)
{
	char *text = cJSON_Print(w->metadata);
	int err;

	err = text ? add_file(w, MLF_METADATA, tenon_slice_of(text)) : no_memory();
	cJSON_free(text);
	return err;
}

int mlf_write(const struct mlf_content *content, struct tenon_buffer *out)
{
	struct writing w = { .content = content };
	int err;

	err = make_metadata(&w);
	if (!err)
		err = add_artifacts(&w);
	if (!err)
		err = add_named(&w, "executor-config/graph/%s.graph", content->graph);
	if (!err)
		err = add_named(&w, "parameters/%s.params", content->params);
	if (!err)
		err = add_metadata(&w);
	if (!err)
		err = archive_write(&w.files, out);
	cJSON_Delete(w.metadata);
	archive_files_fini(&w.files);
	return err;
}
