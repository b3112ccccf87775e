/* SPDX-License-Identifier: MIT */
/* The list of an archive's files: find one by name, add one, free all. */
#include "driver/archive/archive.h"

#include <stdlib.h>
#include <string.h>
#include <tenon/error.h>

#include "lib/brief_errors.h"

struct archive_file *archive_files_find(const struct archive_files *files, const char *path)
{
	size_t i;

	for (i = 0; i < files->count; i++)
		if (!strcmp(files->items[i].path, path))
			return &files->items[i];
	return NULL;
}

int archive_files_add(struct archive_files *files, const char *path, struct archive_file **out)
{
	struct archive_file *bigger;
	char *copy;

	if (archive_files_find(files, path))
		return tenon_error(-TENON_E_EXISTS, "\"%s\" is in the archive twice", path);
	bigger = reallocarray(files->items, files->count + 1, sizeof(*bigger));
	copy = strdup(path);
	if (bigger)
		files->items = bigger;
	if (!bigger || !copy) {
		free(copy);
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu files of an archive",
				   files->count + 1);
	}
	*out = &bigger[files->count++];
	**out = (struct archive_file){ copy, TENON_BUFFER_INIT };
	return 0;
}

void archive_files_fini(struct archive_files *files)
{
	size_t i;

	for (i = 0; i < files->count; i++) {
		free(files->items[i].path);
		tenon_buffer_fini(&files->items[i].bytes);
	}
	free(files->items);
	memset(files, 0, sizeof(*files));
}
