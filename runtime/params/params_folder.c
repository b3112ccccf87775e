/* SPDX-License-Identifier: MIT */
/* Open a folder whose parameters are in one file of safetensors, or in several that an index lists. */
#include "runtime/params/params_interface.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tenon/backend/buffer.h>
#include <tenon/string.h>

#include "lib/brief_errors.h"
#include "lib/file_map.h"
#include "lib/json_read.h"
#include "lib/string_map.h"
#include "runtime/core/reference.h"

#define ONE_FILE   "model.safetensors"
#define INDEX_FILE "model.safetensors.index.json"

/* a row of the index: a parameter, and the file that has it */
struct row {
	struct tenon_slice name;
	struct tenon_params *params;
};

struct folder {
	struct json_text json;
	const char *path; /* of the index */
	int folder_size;  /* of the path, with its slash */
	char *room;	  /* for the next string */
	struct row *rows;
	uint32_t row_count;
	struct string_map files; /* struct tenon_params by name */
	struct tenon_params_part *parts;
	size_t part_count;
};

/* A file's name in the index leads to no other folder, and an index is no file of it. */
static bool is_plain(struct tenon_slice name)
{
	return name.size && name.data[0] != '.' && !memchr(name.data, '/', name.size) &&
	       !memchr(name.data, 0, name.size);
}

static int open_file(struct folder *f, struct tenon_slice name, struct tenon_params **out)
{
	struct tenon_buffer path = TENON_BUFFER_INIT;
	void **slot = string_map_slot(&f->files, name);
	int err;

	*out = slot ? *slot : NULL;
	if (*out)
		return 0;
	tenon_buffer_printf(&path, "%.*s%.*s", f->folder_size, f->path, (int)name.size, name.data);
	if (!slot || path.status)
		err = tenon_error(-TENON_E_NOMEM, "%s: no memory for its files", f->path);
	else
		err = params_open_file(path.data, out);
	tenon_buffer_fini(&path);
	if (err)
		return err;
	*slot = *out;
	f->parts[f->part_count++].params = *out;
	return 0;
}

static int read_row(struct folder *f, uint32_t *at)
{
	struct row *row = &f->rows[f->row_count++];
	struct tenon_slice file;
	uint32_t value;
	int err;

	err = json_key_string(&f->json, at, &f->room, &row->name);
	value = *at;
	if (!err)
		err = json_string(&f->json, at, "a file's name", &f->room, &file);
	if (!err && !is_plain(file))
		err = json_error(&f->json, value, -TENON_E_FORMAT,
				 "\"%.*s\" is no name of a file in this folder", json_shown(file),
				 file.data);
	return err ? err : open_file(f, file, &row->params);
}

static int read_rows(struct folder *f)
{
	uint32_t i, count, keys, at = 0;
	struct tenon_slice key;
	bool found = false;
	int err;

	err = json_enter(&f->json, &at, JSMN_OBJECT, "the index", &keys);
	while (!err && keys-- && !found) {
		err = json_key(&f->json, &at, &key);
		found = !err && tenon_slice_equal(key, tenon_slice_of("weight_map"));
		if (!err && !found)
			json_skip(&f->json, &at);
	}
	if (!err && !found)
		err = json_error(&f->json, 0, -TENON_E_FORMAT, "the index has no weight_map");
	if (!err)
		err = json_enter(&f->json, &at, JSMN_OBJECT, "weight_map", &count);
	for (i = 0; !err && i < count; i++)
		err = read_row(f, &at);
	return err;
}

/* Each parameter of the index is in the file that it says. */
static int check_rows(const struct folder *f, const struct tenon_params *list)
{
	struct string_map map = STRING_MAP_INIT;
	const struct params_origin *found;
	int err = string_map_reserve(&map, list->count);
	size_t i;

	if (err)
		return tenon_error(err, "%s: no memory for its names", f->path);
	for (i = 0; i < list->count; i++)
		*string_map_slot(&map, list->items[i].name) = &list->origins[i];
	for (i = 0; i < f->row_count && !err; i++) {
		found = string_map_get(&map, f->rows[i].name);
		if (!found || found->params != f->rows[i].params)
			err = tenon_error(-TENON_E_FORMAT,
					  "%s: %s has no tensor \"%.*s\", which the index says",
					  f->path, f->rows[i].params->path,
					  json_shown(f->rows[i].name), f->rows[i].name.data);
	}
	string_map_fini(&map);
	return err;
}

static int read_index(struct folder *f, struct tenon_params **out)
{
	char *room;
	size_t i;
	int err;

	room = f->room = malloc(f->json.text.size + 1);
	f->rows = calloc(f->json.count, sizeof(*f->rows));
	f->parts = calloc(f->json.count, sizeof(*f->parts));
	if (room && f->rows && f->parts)
		err = read_rows(f);
	else
		err = tenon_error(-TENON_E_NOMEM, "%s: no memory for its names", f->path);
	if (!err)
		err = params_files_join(f->parts, f->part_count, NULL, 0, out);
	if (!err)
		err = check_rows(f, *out);
	for (i = 0; i < f->part_count; i++)
		tenon_object_unref(f->parts[i].params);
	string_map_fini(&f->files);
	free(f->parts);
	free(f->rows);
	free(room);
	return err;
}

static int open_index(const char *path, struct tenon_params **out)
{
	const char *slash = strrchr(path, '/');
	struct folder f = { .path = path, .folder_size = slash ? (int)(slash + 1 - path) : 0 };
	struct tenon_slice text;
	int err;

	*out = NULL;
	err = file_map_open(path, &text);
	if (err)
		return err;
	err = json_text_read(text, path, &f.json);
	if (!err) {
		err = read_index(&f, out);
		json_text_fini(&f.json);
	}
	file_map_close(&text);
	return object_made(err, out);
}

static bool is_folder(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

int params_open_folder(const char *path, struct tenon_params **out)
{
	static const char *const names[] = { INDEX_FILE, ONE_FILE };
	struct tenon_buffer file = TENON_BUFFER_INIT;
	size_t i;
	int err;

	*out = NULL;
	if (!is_folder(path))
		return open_index(path, out);
	err = tenon_error(-TENON_E_IO, "%s: a folder without " ONE_FILE " and " INDEX_FILE, path);
	for (i = 0; i < 2; i++) {
		file.size = 0;
		if (tenon_buffer_printf(&file, "%s/%s", path, names[i])) {
			err = tenon_error(-TENON_E_NOMEM, "no memory for a path");
			break;
		}
		if (access(file.data, F_OK))
			continue;
		tenon_error_clear();
		err = i ? params_open_file(file.data, out) : open_index(file.data, out);
		break;
	}
	tenon_buffer_fini(&file);
	return err;
}
