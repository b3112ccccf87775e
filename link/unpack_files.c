/* SPDX-License-Identifier: MIT */
/* Name each part, split payloads into files, write them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>
#include <tenon/tensor.h>

#include "lib/brief_errors.h"
#include "lib/file_map.h"
#include "lib/file_same.h"
#include "lib/json_build.h"
#include "link/module/link_payload.h"
#include "link/unpack.h"

bool unpack_is_library(const struct unpack *u, size_t part)
{
	return part == u->host.tree.library || !u->host.symbols.has_blob;
}

int unpack_write(const struct unpack *u, const char *name, struct tenon_slice bytes)
{
	struct tenon_buffer path = TENON_BUFFER_INIT;
	int err;

	err = tenon_buffer_printf(&path, "%s/%s", u->folder, name);
	if (!err && file_is_same(path.data, u->host.path))
		err = tenon_error(-TENON_E_VALUE,
				  "%s: the output would replace this file, which is taken apart; "
				  "give another folder",
				  path.data);
	if (!err)
		err = file_replace(path.data, &bytes, 1);
	tenon_buffer_fini(&path);
	return err;
}

/* ---- names of files */

/* The names in a record are those of a stranger: take only plain names of files. */
static bool is_plain(const char *name)
{
	const char *at;

	for (at = name; *at; at++)
		if ((unsigned char)*at <= ' ' || *at == 0x7f || strchr("/\\\"'`$&;|<>*?", *at))
			return false;
	return *name && *name != '.' && *name != '-' && strlen(name) < 200;
}

static bool is_used(const struct unpack *u, const char *name)
{
	size_t i;

	if (!strcmp(name, UNPACK_HOST) || !strcmp(name, UNPACK_MANIFEST))
		return true;
	for (i = 0; i < u->count; i++)
		if (!strcmp(u->parts[i].file, name) || !strcmp(u->parts[i].table, name))
			return true;
	return false;
}

static bool has_suffix(const char *name, const char *suffix)
{
	const char *dot = strrchr(name, '.');

	return dot && !strcmp(dot + 1, suffix);
}

/*
 * Name the file of a part: as its artifact is named, with a suffix for which link takes it as the
 * same kind of payload; else by the number of the module, its kind and the suffix.
 */
static void name_file(struct unpack *u, size_t part, const char *suffix, bool any_suffix)
{
	struct unpack_part *p = &u->parts[part];
	const char *own = p->names.file_name;
	const char *dot = strrchr(own, '.');
	char name[UNPACK_NAME_ROOM] = "";

	if (is_plain(own) && (any_suffix || has_suffix(own, suffix)))
		snprintf(name, sizeof(name), "%s", own);
	else if (is_plain(own))
		snprintf(name, sizeof(name), "%.*s.%s", dot ? (int)(dot - own) : 200, own, suffix);
	if (*name && !is_used(u, name)) {
		memcpy(p->file, name, sizeof(name));
		return;
	}
	if (is_plain(p->names.loader) && strlen(p->names.loader) < 100)
		snprintf(name, sizeof(name), "%zu-%s.%s", part, p->names.loader, suffix);
	else
		snprintf(name, sizeof(name), "%zu.%s", part, suffix);
	while (is_used(u, name) && strlen(name) < sizeof(name) - 2)
		memmove(name + 1, name, strlen(name) + 1), name[0] = '_';
	memcpy(p->file, name, sizeof(name));
}

/* The table has the name of its program with another suffix, unless another part has that name. */
static void name_table(struct unpack *u, size_t part, const char *suffix)
{
	struct unpack_part *p = &u->parts[part];
	const char *dot = strrchr(p->file, '.');
	char name[UNPACK_NAME_ROOM];

	snprintf(name, sizeof(name), "%.*s.%.40s", (int)(dot ? dot - p->file : 250), p->file,
		 suffix);
	if (is_used(u, name))
		snprintf(name, sizeof(name), "%.250s.%.40s", p->file, suffix);
	memcpy(p->table, name, sizeof(name));
}

/* ---- kernel tables as JSON */

static cJSON *types_of(const struct tenon_payload_function *f)
{
	cJSON *list = cJSON_CreateArray();
	char name[TENON_DTYPE_NAME];
	const unsigned char *at;
	DLDataType type;
	size_t i;

	for (i = 0; i < f->arg_types.size / 4; i++) {
		at = (const unsigned char *)f->arg_types.data + 4 * i;
		type.code = at[0];
		type.bits = at[1];
		type.lanes = (uint16_t)(at[2] | at[3] << 8);
		json_append(list, json_of_text(tenon_slice_of(tenon_dtype_name(type, name))));
	}
	return list;
}

static cJSON *tags_of(const struct tenon_payload_function *f)
{
	struct tenon_cursor c = tenon_cursor_of(f->tags.data, f->tags.size, "tags", 0);
	cJSON *list = cJSON_CreateArray();
	struct tenon_slice tag;

	while (tenon_cursor_left(&c) && !tenon_cursor_string(&c, &tag))
		json_append(list, json_of_text(tag));
	return list;
}

static cJSON *extra_of(const struct tenon_payload_function *f)
{
	struct tenon_cursor c = tenon_cursor_of(f->extra.data, f->extra.size, "tags", 0);
	cJSON *list = cJSON_CreateArray();
	uint32_t tag;

	while (tenon_cursor_left(&c) && !tenon_cursor_u32(&c, &tag))
		json_append(list, json_of_int(tag));
	return list;
}

/* What a table is made of. @named: each entry has the kernel's name inside too, as TVM 0.20 and later write. */
struct table {
	const struct tenon_payload_info *info;
	bool named;
};

static cJSON *kernel_of(const struct table *t, const struct tenon_payload_function *f)
{
	cJSON *kernel = cJSON_CreateObject();

	json_set(kernel, "name", json_of_text(t->named ? f->name : tenon_slice_of("")));
	json_set(kernel, "arg_types", types_of(f));
	json_set(kernel, "launch_param_tags", tags_of(f));
	if (f->extra.size)
		json_set(kernel, "arg_extra_tags", extra_of(f));
	return kernel;
}

static void fill_table(void *context, cJSON *root)
{
	struct tenon_buffer key = TENON_BUFFER_INIT;
	cJSON *kernels = cJSON_CreateObject();
	const struct table *t = context;
	const struct tenon_payload_function *f;
	size_t i;

	json_set(root, "tvm_version", json_of_text(tenon_slice_of("0.1.0")));
	for (i = 0; i < t->info->function_count; i++) {
		f = &t->info->functions[i];
		key.size = 0;
		/* a failure is raised, and seen by json_build() */
		if (!tenon_buffer_printf(&key, "%.*s", (int)f->name.size, f->name.data))
			json_set(kernels, key.data, kernel_of(t, f));
	}
	json_set(root, "func_info", kernels);
	tenon_buffer_fini(&key);
}

/* ---- parts */

static int no_memory(void)
{
	return tenon_error(-TENON_E_NOMEM, "no memory for the parts of a module");
}

static const struct artifact *recorded(const struct unpack *u, size_t part)
{
	const struct artifact_set *set = &u->host.names;
	size_t i;

	for (i = 0; i < set->count; i++)
		if (set->items[i].module == part && !artifact_is_native(&set->items[i]))
			return &set->items[i];
	return NULL;
}

static char *copy(struct tenon_slice text)
{
	return strndup(text.data, text.size);
}

/* Take the names of the record; without one, the kind stands for generator and target. */
static int take_names(struct unpack *u, size_t part)
{
	struct artifact *a = &u->parts[part].names;
	const struct artifact *r = recorded(u, part);
	struct tenon_slice kind;

	if (unpack_is_library(u, part))
		return 0;
	kind = u->host.tree.entries[part].kind;
	a->loader = copy(kind);
	a->codegen_id = r ? strdup(r->codegen_id) : copy(kind);
	a->target_key = r ? strdup(r->target_key) : copy(kind);
	a->file_name = strdup(r ? r->file_name : "");
	a->device = strdup(r ? r->device : "");
	return a->loader && a->codegen_id && a->target_key && a->file_name && a->device
		       ? 0
		       : no_memory();
}

/* What a payload is written as. */
struct contents {
	struct tenon_slice payload;
	struct tenon_buffer program;
	struct tenon_buffer table;
	const struct tenon_payload_file *file;
};

/* Test whether link makes the same payload of the files. */
static bool is_made_again(const struct unpack *u, size_t part, const struct contents *c)
{
	char path[64];
	struct link_program p = {
		.kind = u->host.tree.entries[part].kind,
		.path = path,
		.bytes = { c->program.data, c->program.size },
		.table_path = "table",
		.table = { c->table.data, c->table.size },
		.generation = u->host.source.generation,
		.dialect = u->host.tree.dialect,
	};
	struct tenon_buffer again = TENON_BUFFER_INIT;
	bool same;
	int err;

	snprintf(path, sizeof(path), "program.%s", c->file->suffix);
	err = link_payload_pack(&p, &again);
	same = !err && again.size == c->payload.size &&
	       (!again.size || !memcmp(again.data, c->payload.data, again.size));
	tenon_buffer_fini(&again);
	if (err)
		tenon_error_clear();
	return same;
}

/* Print the table so that link makes the same payload of it. */
static int add_table(const struct unpack *u, size_t part, const struct tenon_payload_info *info,
		     struct contents *c)
{
	struct table table = { .info = info };
	int named, err = 0;

	for (named = 0; named < 2 && !err; named++) {
		table.named = named;
		c->table.size = 0;
		if (c->file->table)
			err = json_build(fill_table, &table, &c->table);
		if (!err && is_made_again(u, part, c))
			return 0;
	}
	c->file = NULL;
	return err;
}

/* Split a payload into program and table, if that loses nothing. */
static int split(const struct unpack *u, size_t part, struct contents *c)
{
	const struct import_entry *e = &u->host.tree.entries[part];
	struct tenon_payload_info info = { 0 };
	int err;

	err = link_payload_check(e->kind, c->payload, "payload", u->host.source.generation,
				 u->host.tree.dialect, &info);
	if (!err)
		err = link_payload_unpack(e->kind, c->payload, &info, u->host.tree.dialect,
					  &c->program, &c->file);
	if (!err && c->file)
		err = add_table(u, part, &info, c);
	payload_info_fini(&info);
	if (err && err != -TENON_E_NOMEM) {
		/* write a damaged payload as it is */
		tenon_error_clear();
		c->file = NULL;
		err = 0;
	}
	return err;
}

static int write_split(struct unpack *u, size_t part, const struct contents *c)
{
	int err;

	name_file(u, part, c->file->suffix, false);
	if (c->file->table)
		name_table(u, part, c->file->table);
	err = unpack_write(u, u->parts[part].file,
			   (struct tenon_slice){ c->program.data, c->program.size });
	if (!err && c->file->table)
		err = unpack_write(u, u->parts[part].table,
				   (struct tenon_slice){ c->table.data, c->table.size });
	return err;
}

static int write_part(struct unpack *u, size_t part)
{
	const struct import_entry *e = &u->host.tree.entries[part];
	const struct tenon_payload_format *format = payload_format_of(e->kind);
	struct contents c = { .payload = e->bytes };
	int err;

	err = split(u, part, &c);
	if (!err && c.file) {
		err = write_split(u, part, &c);
	} else if (!err) {
		/* a kind without files takes any suffix */
		name_file(u, part, LINK_PAYLOAD_SUFFIX, !PAYLOAD_SLOT(format, files));
		err = unpack_write(u, u->parts[part].file, e->bytes);
	}
	tenon_buffer_fini(&c.program);
	tenon_buffer_fini(&c.table);
	return err;
}

static int write_host(const struct unpack *u)
{
	struct tenon_buffer host = TENON_BUFFER_INIT;
	int err;

	err = link_host_strip(&u->host, &host);
	if (!err)
		err = unpack_write(u, UNPACK_HOST, (struct tenon_slice){ host.data, host.size });
	tenon_buffer_fini(&host);
	return err;
}

int unpack_files(struct unpack *u)
{
	size_t i;
	int err;

	u->count = u->host.symbols.has_blob ? u->host.tree.count : 1;
	u->parts = calloc(u->count ? u->count : 1, sizeof(*u->parts));
	if (!u->parts) {
		u->count = 0;
		return no_memory();
	}
	err = write_host(u);
	for (i = 0; i < u->count && !err; i++)
		err = take_names(u, i);
	for (i = 0; i < u->count && !err; i++)
		if (!unpack_is_library(u, i))
			err = write_part(u, i);
	return err;
}
