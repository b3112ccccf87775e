/* SPDX-License-Identifier: MIT */
/* Read manifest.json and check that its modules and imports fit together. */
#include "link/module/manifest.h"

#include <stdlib.h>
#include <string.h>
#include <tenon/error.h>

#include "lib/brief_errors.h"
#include "lib/json_read.h"
#include "lib/slice_text.h"
#include "link/module/artifact.h"

#define VERSION 1

/* Modules of one tree; reading a blob has the same order of limits. */
#define MODULES_MOST (1 << 20)

struct reading {
	struct json_text json;
	struct manifest *m;
	char *room; /* for decoded texts */
};

static int read_text(struct reading *r, uint32_t *at, const char *what, const char **out)
{
	const uint32_t from = *at;
	struct tenon_slice text;
	int err;

	err = json_string(&r->json, at, what, &r->room, &text);
	if (!err && memchr(text.data, 0, text.size))
		err = json_error(&r->json, from, -TENON_E_FORMAT, "%s has a zero byte", what);
	*out = text.data;
	return err;
}

/* A file in the folder of the manifest, so that a manifest names no other files. */
static int read_file_name(struct reading *r, uint32_t *at, const char **out)
{
	const uint32_t from = *at;
	int err = read_text(r, at, "the name of a file", out);

	if (!err && (!**out || **out == '.' || strchr(*out, '/')))
		err = json_error(
			&r->json, from, -TENON_E_VALUE,
			"\"%.80s\" is not the name of a file in the folder of the manifest", *out);
	return err;
}

static int read_word(struct reading *r, uint32_t *at, const char *what, const char *first,
		     const char *second, int *out)
{
	const uint32_t from = *at;
	const char *text;
	int err;

	err = read_text(r, at, what, &text);
	if (err)
		return err;
	*out = !strcmp(text, second);
	if (!*out && strcmp(text, first))
		return json_error(&r->json, from, -TENON_E_VALUE,
				  "%s is \"%.40s\", want \"%s\" or \"%s\"", what, text, first,
				  second);
	return 0;
}

static const struct name_key {
	const char *key;
	size_t place;
} name_keys[] = {
	{ "loader", offsetof(struct manifest_names, loader) },
	{ "codegen_id", offsetof(struct manifest_names, codegen_id) },
	{ "target_key", offsetof(struct manifest_names, target_key) },
	{ "file_name", offsetof(struct manifest_names, file_name) },
	{ "device", offsetof(struct manifest_names, device) },
};

/* Read the value of a key of an artifact; skip that of an unknown one. */
static int read_name(struct reading *r, uint32_t *at, struct tenon_slice key,
		     struct manifest_names *names)
{
	size_t i;

	for (i = 0; i < sizeof(name_keys) / sizeof(name_keys[0]); i++)
		if (slice_is(key, name_keys[i].key))
			return read_text(r, at, name_keys[i].key,
					 (const char **)((char *)names + name_keys[i].place));
	if (slice_is(key, "file"))
		return read_file_name(r, at, &names->file);
	if (slice_is(key, "table"))
		return read_file_name(r, at, &names->table);
	json_skip(&r->json, at);
	return 0;
}

static int read_imports(struct reading *r, uint32_t *at, size_t module)
{
	int64_t child = 0;
	uint32_t count, i;
	int err;

	err = json_enter(&r->json, at, JSMN_ARRAY, "imports", &count);
	for (i = 0; i < count && !err; i++) {
		err = json_integer(&r->json, at, "the number of a module", (int64_t)module + 1,
				   (int64_t)r->m->tree.count - 1, &child);
		if (!err)
			err = link_tree_import(&r->m->tree, module, (size_t)child);
	}
	return err;
}

/* Read an artifact; @module is SIZE_MAX for one that was linked into the host code. */
static int read_artifact(struct reading *r, uint32_t *at, struct manifest_names *names,
			 size_t module)
{
	struct tenon_slice key;
	uint32_t count;
	int err;

	*names = (struct manifest_names){ "", "", "", "", "", "", "" };
	err = json_enter(&r->json, at, JSMN_OBJECT, "an artifact", &count);
	while (json_next(&r->json, at, &count, &key, &err)) {
		if (module != SIZE_MAX && slice_is(key, "imports"))
			err = read_imports(r, at, module);
		else
			err = read_name(r, at, key, names);
	}
	return err;
}

static int make_names(struct reading *r, uint32_t at, uint32_t count, struct manifest_names **out)
{
	if (count > MODULES_MOST)
		return json_error(&r->json, at, -TENON_E_VALUE, "%u modules are too many",
				  (unsigned int)count);
	*out = calloc(count ? count : 1, sizeof(**out));
	if (!*out)
		return tenon_error(-TENON_E_NOMEM, "no memory for %u modules", (unsigned int)count);
	return 0;
}

static int twice(struct reading *r, uint32_t at)
{
	return json_error(&r->json, at, -TENON_E_FORMAT, "a key that was given before");
}

static int read_host_artifacts(struct reading *r, uint32_t *at)
{
	struct manifest *m = r->m;
	const uint32_t from = *at;
	uint32_t count, i;
	int err;

	if (m->host_artifacts)
		return twice(r, from);
	err = json_enter(&r->json, at, JSMN_ARRAY, "artifacts", &count);
	if (!err)
		err = make_names(r, from, count, &m->host_artifacts);
	for (i = 0; i < count && !err; i++)
		err = read_artifact(r, at, &m->host_artifacts[i], SIZE_MAX);
	m->host_count = err ? 0 : count;
	return err;
}

static int read_host(struct reading *r, uint32_t *at)
{
	struct tenon_slice key;
	uint32_t count;
	int err;

	err = json_enter(&r->json, at, JSMN_OBJECT, "host", &count);
	while (json_next(&r->json, at, &count, &key, &err)) {
		if (slice_is(key, "file"))
			err = read_file_name(r, at, &r->m->host);
		else if (slice_is(key, "artifacts"))
			err = read_host_artifacts(r, at);
		else
			json_skip(&r->json, at);
	}
	return err;
}

static int add_module(struct reading *r, uint32_t at, size_t module, bool *has_library)
{
	const struct manifest_names *names = &r->m->names[module];
	struct link_module *m = &r->m->tree.modules[module];

	m->library = !strcmp(names->loader, ARTIFACT_NATIVE);
	m->kind = tenon_slice_of(m->library ? "_lib" : names->loader);
	if (!m->kind.size)
		return json_error(&r->json, at, -TENON_E_FORMAT, "module %zu has no loader",
				  module);
	if (m->library && *has_library)
		return json_error(&r->json, at, -TENON_E_VALUE,
				  "module %zu is a second one that is native code", module);
	*has_library |= m->library;
	if (!m->library && !*names->file)
		return json_error(&r->json, at, -TENON_E_FORMAT, "module %zu has no file", module);
	return 0;
}

static int read_modules(struct reading *r, uint32_t *at)
{
	struct manifest *m = r->m;
	bool has_library = false;
	uint32_t from = *at, count, i;
	int err;

	if (m->names)
		return twice(r, from);
	err = json_enter(&r->json, at, JSMN_ARRAY, "modules", &count);
	if (!err && !count)
		err = json_error(&r->json, from, -TENON_E_VALUE, "there are no modules");
	if (!err)
		err = make_names(r, from, count, &m->names);
	if (!err)
		err = link_tree_create(&m->tree, count);
	for (i = 0; i < count && !err; i++) {
		from = *at;
		err = read_artifact(r, at, &m->names[i], i);
		if (!err)
			err = add_module(r, from, i, &has_library);
	}
	return err;
}

static int read_key(struct reading *r, uint32_t *at, struct tenon_slice key, int64_t *version)
{
	int word = 0, err;

	if (slice_is(key, "tenon_manifest"))
		return json_integer(&r->json, at, "tenon_manifest", 0, INT32_MAX, version);
	if (slice_is(key, "abi")) {
		err = read_word(r, at, "abi", "legacy", "modern", &word);
		r->m->generation = word ? TENON_GENERATION_FFI : TENON_GENERATION_LEGACY;
		return err;
	}
	if (slice_is(key, "kernel_tables")) {
		err = read_word(r, at, "kernel_tables", "plain", "tagged", &word);
		r->m->dialect = word ? PAYLOAD_EXTRA_TAGS : PAYLOAD_NO_EXTRA_TAGS;
		return err;
	}
	if (slice_is(key, "host"))
		return read_host(r, at);
	if (slice_is(key, "modules"))
		return read_modules(r, at);
	json_skip(&r->json, at);
	return 0;
}

static int read_all(struct reading *r)
{
	struct tenon_slice key;
	int64_t version = 0;
	uint32_t at = 0, count;
	int err;

	err = json_enter(&r->json, &at, JSMN_OBJECT, "a manifest", &count);
	while (json_next(&r->json, &at, &count, &key, &err))
		err = read_key(r, &at, key, &version);
	if (err)
		return err;
	if (!version)
		return json_error(
			&r->json, 0, -TENON_E_FORMAT,
			"no manifest that tenon unpack wrote: it has no \"tenon_manifest\". "
			"A graph.json is run with its library: tenon run lib.so --graph "
			"graph.json");
	if (version != VERSION)
		return json_error(&r->json, 0, -TENON_E_UNSUPPORTED,
				  "want \"tenon_manifest\": %d, as tenon unpack writes it",
				  VERSION);
	if (!r->m->generation || !r->m->host || !r->m->names)
		return json_error(&r->json, 0, -TENON_E_FORMAT, "there is no \"%s\"",
				  !r->m->generation ? "abi"
				  : !r->m->host	    ? "host"
						    : "modules");
	return 0;
}

int manifest_read(struct tenon_slice text, const char *path, struct manifest *m)
{
	struct reading r = { .m = m };
	int err;

	err = json_text_read(text, path, &r.json);
	if (err)
		return err;
	m->texts = r.room = malloc(2 * text.size + 1);
	err = r.room ? read_all(&r)
		     : tenon_error(-TENON_E_NOMEM, "no memory for the texts of %s", path);
	json_text_fini(&r.json);
	return err;
}

void manifest_fini(struct manifest *m)
{
	link_tree_fini(&m->tree);
	free(m->names);
	free(m->host_artifacts);
	free(m->texts);
	memset(m, 0, sizeof(*m));
}
