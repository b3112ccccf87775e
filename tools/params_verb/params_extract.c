/* SPDX-License-Identifier: MIT */
/* tenon params extract: write single parameters as array files. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tenon/string.h>

#include "tools/tensor/npy.h"
#include "tools/params_verb/params.h"
#include "tools/text/text.h"

/* a parameter and its output file */
struct part {
	const struct tenon_param *param;
	char *path;
};

struct parts {
	struct part *part;
	size_t count;
};

static int no_memory(size_t count)
{
	return tenon_error(-TENON_E_NOMEM, "no memory for %zu names", count);
}

/* Make a file name in the folder; refuse names that lead outside it. */
static char *path_of(const char *folder, struct tenon_slice name)
{
	size_t i, n = folder ? strlen(folder) : 0;
	char *text = malloc(n + name.size + sizeof("/_.npy"));

	if (!text)
		return NULL;
	if (n) {
		memcpy(text, folder, n);
		if (text[n - 1] != '/')
			text[n++] = '/';
	}
	if (!name.size || name.data[0] == '.' || name.data[0] == '-')
		text[n++] = '_';
	for (i = 0; i < name.size; i++) {
		unsigned char c = (unsigned char)name.data[i];

		text[n++] = c <= ' ' || c == '/' || c == '\\' || c == 127 ? '_' : (char)c;
	}
	strcpy(text + n, ".npy");
	return text;
}

static int choose(struct tenon_params *params, const struct words *w, struct parts *parts)
{
	size_t i, count = w->count > 1 ? (size_t)w->count - 1 : tenon_params_count(params);
	const struct tenon_param *p;

	parts->part = calloc(count + 1, sizeof(*parts->part));
	if (!parts->part)
		return no_memory(count);
	for (i = 0; i < count; i++) {
		p = w->count > 1 ? tenon_params_find(params, tenon_slice_of(w->word[i + 1]))
				 : tenon_params_at(params, i);
		if (!p)
			return tenon_error(-TENON_E_NOT_FOUND, "%s has no parameter \"%s\"",
					   w->word[0], w->word[i + 1]);
		parts->part[i] = (struct part){ p, path_of(w->output, p->name) };
		if (!parts->part[i].path)
			return no_memory(count);
		parts->count++;
	}
	return 0;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct part *)a)->path, ((const struct part *)b)->path);
}

static int shared_file(const struct tenon_param *a, const struct tenon_param *b, const char *path)
{
	if (tenon_slice_equal(a->name, b->name))
		return tenon_error(-TENON_E_EXISTS,
				   "two parameters are called \"%.*s\": extract by name, which "
				   "takes the last of them, as models do",
				   (int)a->name.size, a->name.data);
	return tenon_error(-TENON_E_EXISTS,
			   "parameters \"%.*s\" and \"%.*s\" would both be written to %s: "
			   "extract them by name, each to a different folder with -o",
			   (int)a->name.size, a->name.data, (int)b->name.size, b->name.data, path);
}

/* Refuse two parameters with the same file name: one would overwrite the other. */
static int refuse_shared_files(const struct parts *parts)
{
	struct part *sorted = calloc(parts->count + 1, sizeof(*sorted));
	size_t i;
	int err = 0;

	if (!sorted)
		return no_memory(parts->count);
	memcpy(sorted, parts->part, parts->count * sizeof(*sorted));
	qsort(sorted, parts->count, sizeof(*sorted), by_path);
	for (i = 1; i < parts->count && !err; i++) {
		const struct part *a = &sorted[i - 1], *b = &sorted[i];

		if (a->param != b->param && !by_path(a, b))
			err = shared_file(a->param, b->param, b->path);
	}
	free(sorted);
	return err;
}

static int make_folder(const char *folder)
{
	struct stat st;

	if (!mkdir(folder, 0777) || (errno == EEXIST && !stat(folder, &st) && S_ISDIR(st.st_mode)))
		return 0;
	if (errno == EEXIST)
		return tenon_error(-TENON_E_IO, "%s: is no folder", folder);
	return tenon_error(-TENON_E_IO, "%s: cannot make this folder: %s", folder, strerror(errno));
}

static int write_one(struct cli *cli, struct tenon_params *params, const struct part *part)
{
	struct tenon_tensor *tensor;
	int err;

	err = tenon_params_tensor(params, part->param, 0, &tensor);
	if (err)
		return err;
	err = npy_write(part->path, &tensor->dl, true);
	tenon_object_unref(tensor);
	if (!err)
		printable_format(cli->out, "%s\n", part->path);
	return err;
}

int params_extract(struct cli *cli, const struct words *w)
{
	struct parts parts = { NULL, 0 };
	struct tenon_params *params;
	size_t i;
	int err;

	err = params_open(w, &params);
	if (!err)
		err = choose(params, w, &parts);
	if (!err)
		err = refuse_shared_files(&parts);
	if (!err && w->output)
		err = make_folder(w->output);
	for (i = 0; !err && i < parts.count; i++)
		err = write_one(cli, params, &parts.part[i]);
	for (i = 0; i < parts.count; i++)
		free(parts.part[i].path);
	free(parts.part);
	tenon_object_unref(params);
	return err ? params_failed(cli) : CLI_OK;
}
