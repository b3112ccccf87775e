/* SPDX-License-Identifier: MIT */
/* Compare outputs with the files on the command line, then write them. */
#include "tools/file/output.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <tenon/backend/buffer.h>

#include "lib/brief_errors.h"
#include "lib/file_map.h"
#include "lib/file_same.h"

static char **words;
static int word_count;

void output_words(int argc, char **argv)
{
	words = argv;
	word_count = argc;
}

/* Test whether a part of a word is the name of the output's file; of "a=@b" the parts are a=@b, @b, b, a. */
static bool names_it(const char *part, size_t size, const char *output)
{
	char path[PATH_MAX];

	if (!size || size >= sizeof(path))
		return false;
	memcpy(path, part, size);
	path[size] = '\0';
	return file_is_same(output, path);
}

static bool word_names_it(const char *word, const char *output)
{
	const char *at = word, *sign;

	for (;;) {
		if (names_it(at, strlen(at), output) || names_it(at, strcspn(at, "=@"), output))
			return true;
		sign = strpbrk(at, "=@");
		if (!sign)
			return false;
		at = sign + 1;
	}
}

int output_check(const char *path)
{
	int i;

	for (i = 1; i < word_count; i++) {
		/* the word that @path is a part of */
		if (path >= words[i] && path <= words[i] + strlen(words[i]))
			continue;
		if (word_names_it(words[i], path))
			return tenon_error(
				-TENON_E_VALUE,
				"%s: the output would replace this file, which \"%s\" names "
				"too; give another name",
				path, words[i]);
	}
	return 0;
}

int output_write(const char *path, const struct tenon_slice *parts, size_t count)
{
	int err = output_check(path);

	return err ? err : file_write(strcmp(path, "-") ? path : "/dev/stdout", parts, count);
}

int output_replace(const char *path, const struct tenon_slice *parts, size_t count)
{
	int err = output_check(path);

	return err ? err : file_replace(path, parts, count);
}

int output_write_in(const char *folder, const char *name, struct tenon_slice bytes)
{
	struct tenon_buffer path = TENON_BUFFER_INIT;
	int err;

	err = tenon_buffer_printf(&path, "%s/%s", folder, name);
	if (!err)
		err = output_replace(path.data, &bytes, 1);
	tenon_buffer_fini(&path);
	return err;
}
