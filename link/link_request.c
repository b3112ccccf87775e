/* SPDX-License-Identifier: MIT */
/* Check which options of tenon_link() go together, and recognise what each file is. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "lib/elf.h"
#include "lib/options.h"
#include "link/link_request.h"
#include "link/mlf/mlf.h"
#include "link/module/link_graph.h"
#include "link/module/link_payload.h"

void tenon_link_options_init(struct tenon_link_options *options, size_t size)
{
	const struct tenon_link_options o = { .size = size };

	memcpy(options, &o, size < sizeof(o) ? size : sizeof(o));
}

static int no_memory(void)
{
	return tenon_error(-TENON_E_NOMEM, "no memory for the files to link");
}

/* ---- names */

/* A prefix becomes part of names of functions. */
static int check_prefix(const struct tenon_link_options *o)
{
	const char *at;

	if (o->prefix && o->form != TENON_LINK_SYSTEM_LIB)
		return tenon_error(-TENON_E_USAGE, "--prefix without --format system-lib");
	for (at = o->prefix; at && *at; at++)
		if (!(*at == '_' || (*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'z') ||
		      (*at >= 'A' && *at <= 'Z')))
			return tenon_error(-TENON_E_USAGE,
					   "--prefix %s: want letters, digits and \"_\"",
					   o->prefix);
	return 0;
}

/* The name of a model becomes part of names of files and functions. */
static int check_model(const struct tenon_link_options *o)
{
	const char *name = o->model;

	if (name && (!*name || *name == '.' || strchr(name, '/') || strlen(name) > 128))
		return tenon_error(-TENON_E_USAGE, "--model %s: want a name, without \"/\"", name);
	return 0;
}

/* ---- files */

bool link_is_manifest(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot && !strcmp(dot, ".json");
}

bool link_is_alone(const char *path)
{
	return link_is_manifest(path) || mlf_is_archive(path);
}

static bool is_host_code(const char *path)
{
	static const char *const suffixes[] = { ".c", ".o", ".a", ".s", ".S", ".cc", ".cpp" };
	const char *dot = strrchr(path, '.');
	size_t i;

	for (i = 0; dot && i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		if (!strcmp(dot, suffixes[i]))
			return true;
	return false;
}

static bool ends_in(const char *word, const char *suffix)
{
	size_t n = strlen(word), m = strlen(suffix);

	return n >= m && !strcmp(word + n - m, suffix);
}

static bool is_elf(const char *path)
{
	char head[4];
	/* a named pipe without a writer has no bytes; nothing waits for them */
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, head, sizeof(head));

	if (fd >= 0)
		close(fd);
	return file_is_elf((struct tenon_slice){ head, n < 0 ? 0 : (size_t)n });
}

/* Refuse a file that is no code for the host. */
static int not_host_code(const char *path)
{
	if (link_is_manifest(path))
		return tenon_error(
			-TENON_E_USAGE,
			"%s: a manifest is linked alone, without other files; a graph is "
			"given by --graph",
			path);
	if (ends_in(path, ".tar") || ends_in(path, ".tgz") || ends_in(path, ".tar.gz"))
		return tenon_error(-TENON_E_USAGE,
				   "%s: an archive is linked alone, without other files", path);
	if (ends_in(path, ".so") && is_elf(path))
		return tenon_error(-TENON_E_USAGE,
				   "%s is linked already; give its sources or objects, or the "
				   "manifest.json that tenon unpack makes of it",
				   path);
	return tenon_error(-TENON_E_USAGE,
			   "%s: not a source, object or archive of the host; for the program of a "
			   "device give its kind, as in %s=opencl",
			   path, path);
}

/* Copy a text that may be NULL; false when memory runs out. */
static bool copy(const char *text, char **out)
{
	*out = text ? strdup(text) : NULL;
	return !text || *out;
}

static int take_file(const struct tenon_link_file *file, struct link_input *in)
{
	if (!file->path || !*file->path || (file->kind && !*file->kind) ||
	    (file->key && (!file->kind || !*file->key)))
		return tenon_error(
			-TENON_E_USAGE,
			"%s: a file to link has a path, and a target key only with a kind",
			file->path ? file->path : "");
	if (!file->kind && !is_host_code(file->path))
		return not_host_code(file->path);
	return copy(file->path, &in->path) && copy(file->kind, &in->kind) &&
			       copy(file->key, &in->key)
		       ? 0
		       : no_memory();
}

/* Add the graph as a program without a device. take_lists() allocated an item for it. */
static int take_graph(struct link_request *r)
{
	struct link_input *in = &r->inputs[r->input_count++];

	in->is_graph = true;
	return copy(r->graph, &in->path) && copy(LINK_GRAPH_KIND, &in->kind) ? 0 : no_memory();
}

bool link_add_constants(struct link_request *r)
{
	struct link_input *in = &r->inputs[r->input_count++];

	in->path = link_table_path(link_name_of(r->params), LINK_PAYLOAD_SUFFIX);
	in->kind = strdup(r->generation == TENON_GENERATION_LEGACY ? LINK_LEGACY_CONSTANTS_KIND
								   : LINK_CONSTANTS_KIND);
	in->is_constants = true;
	return in->path && in->kind;
}

static int take_files(const struct tenon_link_options *o, struct link_request *r)
{
	size_t i;
	int err = 0;

	if (!r->generation)
		r->generation = TENON_GENERATION_FFI;
	for (i = 0; i < o->file_count && !err; i++)
		err = take_file(&o->files[i], &r->inputs[r->input_count++]);
	if (!err && r->graph)
		err = take_graph(r);
	else if (!err && r->params && !link_add_constants(r))
		err = no_memory();
	return err;
}

/* Test for an option of making a module, which a finished one or its manifest contradicts. */
static bool makes_anew(const struct link_request *r)
{
	return r->generation || r->key_count || r->import_count || r->include_count ||
	       r->allow_weak || r->allow_unknown || r->graph || r->params || r->model ||
	       r->archive || r->system;
}

/* Take a manifest, which is linked without other files and contains what the options would say. */
static int take_manifest(const char *path, struct link_request *r)
{
	if (makes_anew(r))
		return tenon_error(-TENON_E_USAGE,
				   "%s: with a manifest the only options are --output and --case",
				   path);
	return copy(path, &r->inputs[r->input_count++].path) ? 0 : no_memory();
}

/* Take a shared object, which gets cases. */
static int take_shared(const char *path, struct link_request *r)
{
	if (makes_anew(r))
		return tenon_error(-TENON_E_USAGE,
				   "%s is linked already; the only options are --output and --case",
				   path);
	r->shared = true;
	return copy(path, &r->inputs[r->input_count++].path) ? 0 : no_memory();
}

/* Take an archive, which is linked without other files. Its modules have the older form unless it says otherwise. */
static int take_archive(const char *path, struct link_request *r)
{
	if (r->generation || r->key_count || r->import_count || r->allow_unknown || r->graph ||
	    r->params || r->archive)
		return tenon_error(-TENON_E_USAGE,
				   "%s: with an archive the only options are --output, --model, "
				   "--format system-lib, --prefix, --allow weak, --include and "
				   "--case",
				   path);
	r->generation = TENON_GENERATION_LEGACY;
	return copy(path, &r->inputs[r->input_count++].path) ? 0 : no_memory();
}

/* ---- lists */

/* Append a pair of texts to a list that has room for it; @lacks: what is said of half a pair. */
static int take_pair(const char *left, const char *right, const char *lacks, struct link_pair *list,
		     size_t *count)
{
	struct link_pair *p = &list[(*count)++];

	if (!copy(left, &p->left) || !copy(right, &p->right))
		return no_memory();
	return p->left && p->right ? 0 : tenon_error(-TENON_E_USAGE, "%s", lacks);
}

static int take_pairs(const struct tenon_link_options *o, struct link_request *r)
{
	size_t i;
	int err = 0;

	for (i = 0; i < o->target_count && !err; i++)
		err = take_pair(o->targets[i].key, o->targets[i].device,
				"a target key without a device", r->keys, &r->key_count);
	for (i = 0; i < o->import_count && !err; i++)
		err = take_pair(o->imports[i].parent, o->imports[i].child,
				"an import without both of its names", r->imports,
				&r->import_count);
	return err;
}

static int take_lists(const struct tenon_link_options *o, struct link_request *r)
{
	const char *const *folder = o->includes;

	while (folder && folder[r->include_count])
		r->include_count++;
	r->includes = calloc(r->include_count + 1, sizeof(*r->includes));
	r->keys = calloc(o->target_count + 1, sizeof(*r->keys));
	r->imports = calloc(o->import_count + 1, sizeof(*r->imports));
	/* two more: for the graph, and for the parameters */
	r->inputs = calloc(o->file_count + 2, sizeof(*r->inputs));
	if (!r->includes || !r->keys || !r->imports || !r->inputs)
		return no_memory();
	if (r->include_count)
		memcpy(r->includes, folder, r->include_count * sizeof(*folder));
	return take_pairs(o, r);
}

int link_request_make(const struct tenon_link_options *options, const char *output,
		      struct link_request *r)
{
	struct tenon_link_options o;
	const char *only;
	int err = options_read(options, &o, sizeof(o));

	if (err)
		return err;
	*r = (struct link_request){ .output = output,
				    .generation = o.generation,
				    .allow_weak = o.allow_weak,
				    .allow_unknown = o.allow_unknown,
				    .graph = o.graph,
				    .params = o.params,
				    .params_bytes = o.params_bytes,
				    .model = o.model,
				    .archive = o.form == TENON_LINK_ARCHIVE,
				    .system = o.form == TENON_LINK_SYSTEM_LIB,
				    .prefix = o.prefix,
				    .cases = o.cases,
				    .case_count = o.case_count,
				    .progress = o.progress,
				    .context = o.context };
	err = check_model(&o);
	if (!err && !output)
		err = tenon_error(-TENON_E_USAGE, "which file to write? -o FILE");
	err = err ? err : check_prefix(&o);
	if (!err && r->case_count && o.form != TENON_LINK_SHARED)
		err = tenon_error(-TENON_E_USAGE, "--case and --format: a shared object has cases");
	if (!err && !o.file_count)
		err = tenon_error(-TENON_E_USAGE, "no files to link");
	err = err ? err : take_lists(&o, r);
	if (err)
		return err;
	only = o.file_count == 1 && !o.files[0].kind ? o.files[0].path : NULL;
	if (only && link_is_manifest(only))
		return take_manifest(only, r);
	if (only && r->case_count && ends_in(only, ".so"))
		return take_shared(only, r);
	if (only && mlf_is_archive(only))
		return take_archive(only, r);
	return take_files(&o, r);
}

static void free_pairs(struct link_pair *pairs, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		free(pairs[i].left);
		free(pairs[i].right);
	}
	free(pairs);
}

void link_request_fini(struct link_request *r)
{
	size_t i;

	for (i = 0; i < r->input_count; i++) {
		free(r->inputs[i].path);
		free(r->inputs[i].kind);
		free(r->inputs[i].key);
	}
	free(r->inputs);
	free_pairs(r->keys, r->key_count);
	free_pairs(r->imports, r->import_count);
	free(r->includes);
}
