/* SPDX-License-Identifier: MIT */
/* Write manifest.json, from which the module is linked again. */
#include "lib/json_build.h"
#include "link/unpack.h"

static void set_text(cJSON *object, const char *key, const char *text)
{
	json_set(object, key, json_of_text(tenon_slice_of(text)));
}

static cJSON *names_of(const struct artifact *a)
{
	cJSON *item = cJSON_CreateObject();

	set_text(item, "loader", a->loader);
	set_text(item, "codegen_id", a->codegen_id);
	set_text(item, "target_key", a->target_key);
	set_text(item, "file_name", a->file_name);
	if (*a->device)
		set_text(item, "device", a->device);
	return item;
}

static cJSON *imports_of(const struct unpack *u, size_t part)
{
	cJSON *list = cJSON_CreateArray();
	uint64_t from, to, i;

	link_blob_imports(&u->host.tree, part, &from, &to);
	for (i = from; i < to; i++)
		json_append(list, json_of_int((int64_t)link_blob_child(&u->host.tree, i)));
	return list;
}

static cJSON *module_of(const struct unpack *u, size_t part)
{
	const struct unpack_part *p = &u->parts[part];
	cJSON *item;

	if (unpack_is_library(u, part)) {
		item = cJSON_CreateObject();
		set_text(item, "loader", ARTIFACT_NATIVE);
	} else {
		item = names_of(&p->names);
		set_text(item, "file", p->file);
	}
	if (*p->table)
		set_text(item, "table", p->table);
	json_set(item, "imports", imports_of(u, part));
	return item;
}

static cJSON *host_of(const struct unpack *u)
{
	cJSON *host = cJSON_CreateObject(), *list = cJSON_CreateArray();
	const struct artifact_set *set = &u->host.names;
	size_t i;

	set_text(host, "file", UNPACK_HOST);
	set_text(host, "machine", u->host.machine);
	for (i = 0; i < set->count; i++)
		if (artifact_is_native(&set->items[i]))
			json_append(list, names_of(&set->items[i]));
	json_set(host, "artifacts", list);
	return host;
}

static void fill_manifest(void *context, cJSON *root)
{
	const struct unpack *u = context;
	const bool legacy = link_host_generation(&u->host) == TENON_GENERATION_LEGACY;
	cJSON *list = cJSON_CreateArray();
	size_t i;

	json_set(root, "tenon_manifest", json_of_int(1));
	set_text(root, "abi", legacy ? "legacy" : "modern");
	set_text(root, "kernel_tables",
		 u->host.tree.dialect == PAYLOAD_EXTRA_TAGS ? "tagged" : "plain");
	json_set(root, "host", host_of(u));
	for (i = 0; i < u->count; i++)
		json_append(list, module_of(u, i));
	json_set(root, "modules", list);
}

int unpack_manifest(const struct unpack *u)
{
	struct tenon_buffer text = TENON_BUFFER_INIT;
	int err;

	err = json_build(fill_manifest, (void *)(uintptr_t)u, &text);
	if (!err)
		err = unpack_write(u, UNPACK_MANIFEST,
				   (struct tenon_slice){ text.data, text.size });
	tenon_buffer_fini(&text);
	return err;
}
