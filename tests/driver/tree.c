/* SPDX-License-Identifier: MIT */
/* Make and remove the folder that stands for / in a test. */
#include "tests/driver/tree.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/suite.h"

char tree[512];

int tree_setup(void **state)
{
	const char *folder = getenv("TMPDIR");

	(void)state;
	snprintf(tree, sizeof(tree), "%.400s/tree.XXXXXX", folder ? folder : "/tmp");
	return mkdtemp(tree) ? 0 : -1;
}

void tree_pretend(const char *path)
{
	snprintf(tree, sizeof(tree), "%s", path);
}

static int drop(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

int tree_teardown(void **state)
{
	(void)state;
	return nftw(tree, drop, 16, FTW_DEPTH | FTW_PHYS);
}

static const char *full(const char *path)
{
	static char name[1024];

	snprintf(name, sizeof(name), "%s%s", tree, path);
	for (char *slash = strchr(name + strlen(tree) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = 0;
		mkdir(name, 0700);
		*slash = '/';
	}
	return name;
}

void tree_text(const char *path, const char *text)
{
	FILE *f = fopen(full(path), "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

void tree_zeroes(const char *path, size_t size)
{
	tree_text(path, "");
	assert_int_equal(truncate(full(path), (off_t)size), 0);
}

void tree_link(const char *path, const char *target)
{
	assert_int_equal(symlink(target, full(path)), 0);
}

void tree_drop(const char *path)
{
	assert_int_equal(remove(full(path)), 0);
}

const char *tree_read(const char *path)
{
	static char text[4096];
	FILE *f = fopen(full(path), "r");
	size_t n;

	assert_non_null(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = 0;
	fclose(f);
	return text;
}
