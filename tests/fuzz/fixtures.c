/* SPDX-License-Identifier: MIT */
/* Visit the files of folders that real compilers made. */
#include "tests/fuzz/fixtures.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tenon/error.h>

#include "lib/file_map.h"

#define FOLDERS_MOST 8

static const char *folders[FOLDERS_MOST + 1];

/* nftw() has no context */
static struct search {
	const char *suffix;
	size_t most;
	char **paths;
	size_t count;
} search;

static const char *const *all_folders(void)
{
	static char own[1024];
	const char *source = getenv("TENON_SOURCE");

	snprintf(own, sizeof(own), "%s/tests/interop/data", source ? source : ".");
	folders[0] = own;
	return folders;
}

void fixtures_add_folder(const char *path)
{
	size_t i = 1;

	while (folders[i])
		i++;
	if (i == FOLDERS_MOST) {
		fprintf(stderr, "%d folders of fixtures at most\n", FOLDERS_MOST - 1);
		exit(2);
	}
	folders[i] = path;
}

const char *fixture_find(const char *name)
{
	static char path[1024];
	const char *const *folder;

	for (folder = all_folders(); *folder; folder++) {
		int n = snprintf(path, sizeof(path), "%s/%s", *folder, name);

		if (n > 0 && (size_t)n < sizeof(path) && !access(path, R_OK))
			return path;
	}
	return NULL;
}

static int collect(const char *path, const struct stat *st, int flag, struct FTW *at)
{
	size_t n = strlen(path), k = strlen(search.suffix);
	char **paths;

	(void)at;
	if (flag != FTW_F || n < k || strcmp(path + n - k, search.suffix) ||
	    (uint64_t)st->st_size > search.most)
		return 0;
	paths = realloc(search.paths, (search.count + 1) * sizeof(*paths));
	if (!paths)
		abort();
	search.paths = paths;
	search.paths[search.count++] = strdup(path);
	return 0;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The files of a folder, in order; a visitor may look for others. */
static struct search find_files(const char *folder, const char *suffix, size_t most)
{
	search = (struct search){ .suffix = suffix, .most = most };
	nftw(folder, collect, 16, FTW_PHYS);
	if (search.count)
		qsort(search.paths, search.count, sizeof(*search.paths), by_path);
	return search;
}

static void visit_file(const char *path, void (*visit)(void *context, struct tenon_slice bytes),
		       void *context)
{
	struct tenon_slice bytes;

	if (file_map_open(path, &bytes)) {
		fprintf(stderr, "%s\n", tenon_error_message());
		abort();
	}
	visit(context, bytes);
	file_map_close(&bytes);
}

void fixtures_each(const char *suffix, size_t most,
		   void (*visit)(void *context, struct tenon_slice bytes), void *context)
{
	const char *const *folder;
	struct search found;
	size_t i;

	for (folder = all_folders(); *folder; folder++) {
		found = find_files(*folder, suffix, most);
		for (i = 0; i < found.count; i++) {
			visit_file(found.paths[i], visit, context);
			free(found.paths[i]);
		}
		free(found.paths);
	}
}
